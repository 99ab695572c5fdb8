"""Accumulators and Parquet streams against the same rows in memory and plain Python."""

import math
import os
import pickle
import statistics
import subprocess
import sys
import time
from functools import partial, reduce
from itertools import pairwise

import numpy as np
import oracle
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from documents import METRICS, RATIOS, make_documents
from hypothesis import given, settings
from hypothesis import strategies as st

from sklearn_rankscore import RankingAccumulator, evaluate, evaluate_parquet

EXACT = {"rel": 1e-12, "abs": 1e-12}


def in_memory(columns, metrics=METRICS, weight=None, **options):
    weights = None if weight is None else columns[weight]
    given = columns["label"], columns["score"], metrics
    return evaluate(*given, groups=columns["qid"], sample_weight=weights, **options)


def take(columns, rows):
    """Labels, scores and ids of some rows."""
    return tuple(columns[name][rows] for name in ("label", "score", "qid"))


def streamed(columns, cuts, metrics=METRICS, weight=None, **options):
    """An accumulator for each part of a stream cut at some rows."""
    edges = [0, *sorted(cuts), len(columns["qid"])]
    parts = []
    for start, end in pairwise(edges):
        part = RankingAccumulator(metrics, **options)
        if start < end:
            rows = slice(start, end)
            weights = None if weight is None else columns[weight][rows]
            part.update_sorted(*take(columns, rows), sample_weight=weights)
        parts.append(part)
    return parts


cut_anywhere = st.lists(st.integers(0, 120), max_size=12)


@settings(max_examples=40)
@given(seed=st.integers(0, 2**16), cuts=cut_anywhere, order=st.randoms(use_true_random=False))
def test_any_cut_and_any_order_of_merges_gives_the_same(seed, cuts, order):
    columns = make_documents(20, seed=seed)
    parts = streamed(columns, [c for c in cuts if c < len(columns["qid"])])
    order.shuffle(parts)
    while len(parts) > 1:  # any tree of merges
        second = parts.pop(order.randrange(len(parts)))
        parts[order.randrange(len(parts))].merge(second)
    whole = RankingAccumulator(METRICS).update(*take(columns, slice(None))).result()
    found = parts[0].result()
    assert parts[0].scores() == pytest.approx(in_memory(columns), nan_ok=True, **EXACT)
    for name in METRICS:
        assert found[name] == pytest.approx(whole[name], nan_ok=True, **EXACT)


@settings(max_examples=25)
@given(seed=st.integers(0, 2**16), cuts=cut_anywhere, average=st.sampled_from(["macro", "micro"]))
def test_one_stream_in_any_batches_with_weights(seed, cuts, average):
    columns = make_documents(20, seed=seed)
    columns["weight"][0:1] += columns["weight"].max() == 0
    columns["weight"][:] = columns["weight"] + (columns["qid"] == 0)
    edges = [0, *sorted({c for c in cuts if c < len(columns["qid"])} - {0}), len(columns["qid"])]
    stream = RankingAccumulator(RATIOS, average=average)
    for start, end in pairwise(edges):
        rows = slice(start, end)
        stream.update_sorted(*take(columns, rows), sample_weight=columns["weight"][rows])
        stream = pickle.loads(pickle.dumps(stream))
    expected = in_memory(columns, RATIOS, "weight", average=average)
    assert stream.scores() == pytest.approx(expected, nan_ok=True, **EXACT)


@pytest.mark.parametrize("replacement", [0.0, 1.0, math.nan])
@pytest.mark.parametrize("metric", METRICS)
def test_mean_error_and_counts_against_plain_python(metric, replacement):
    columns = make_documents(12, seed=3)
    name, options = metric.partition("@")[0].partition("(")[0], {}
    if "@" in metric:
        options["k"] = int(metric.partition("@")[2].partition("(")[0])
    if "exponential" in metric:
        options["gain"] = "exponential"
    lists = [columns[c].tolist() for c in ("label", "score", "qid")]
    small = [values[:40] for values in lists]  # the oracle tries every order of ties
    raw = oracle.score(name, *small, average=None, replace_undefined_by=math.nan, **options)
    values = [replacement if math.isnan(v) else v for v in raw]
    kept = [v for v in values if not math.isnan(v)]
    found = (
        RankingAccumulator(metric, replace_undefined_by=replacement).update_sorted(*small).result()
    )
    expected = (
        statistics.fmean(kept),
        statistics.stdev(kept) / math.sqrt(len(kept)),
        len(values),
        sum(map(math.isnan, raw)),
    )
    assert found[metric] == pytest.approx(expected, rel=1e-9)


def test_weighted_standard_error_is_that_of_a_ratio():
    columns = make_documents(30, seed=5)
    found = sum_of(streamed(columns, [17, 60, 61], "mrr", "weight")).result()["mrr"]
    values = in_memory(columns, ["mrr"], average=None)["mrr"]
    w = [columns["weight"][np.flatnonzero(columns["qid"] == q)[0]] for q in range(30)]
    mean = math.fsum(a * b for a, b in zip(w, values, strict=True)) / math.fsum(w)
    n = sum(a > 0 for a in w)
    squares = math.fsum((a * (b - mean)) ** 2 for a, b in zip(w, values, strict=True))
    assert found.mean == pytest.approx(mean, **EXACT)
    assert found.standard_error == pytest.approx(
        math.sqrt(n / (n - 1) * squares) / math.fsum(w), **EXACT
    )


def test_error_of_a_constant_is_zero_however_it_is_summed():
    constant = [RankingAccumulator(always).update([0, 1], [1, 2], [q, q]) for q in range(100)]
    found = sum_of(constant).result()["always"]
    assert found.mean == 0.1
    assert found.standard_error < 1e-16


def always(block):
    return np.full(len(block.sizes), 0.1)


def sum_of(parts):
    return reduce(RankingAccumulator.merge, parts)


def test_micro_average_equals_memory():
    columns = make_documents()
    parts = streamed(columns, [50, 100], RATIOS, average="micro")
    assert sum_of(parts).scores() == pytest.approx(
        in_memory(columns, RATIOS, average="micro"), **EXACT
    )


def test_whole_batches_in_any_row_order():
    columns = make_documents(strings=True)
    batch = columns["qid"] < "q0030"
    collected = RankingAccumulator(METRICS)
    for rows in (np.flatnonzero(batch), np.flatnonzero(~batch)):
        collected.update(*take(columns, np.random.default_rng(0).permutation(rows)))
    assert collected.scores() == pytest.approx(in_memory(columns), **EXACT)


def test_two_dimensional_batches():
    y_true, y_score = [[1, 0], [0, 1]], [[0.1, 0.4], [0.3, 0.6]]
    assert RankingAccumulator("mrr").update(y_true, y_score).scores() == {"mrr": 0.75}


def test_values_of_queries_come_in_order_of_their_ids():
    columns = make_documents(strings=True)
    parts = streamed(columns, [31, 77, 150], per_query=True)
    ids, values = sum_of([parts[i] for i in (2, 0, 3, 1)]).query_values()
    expected = in_memory(columns, average=None)
    assert ids.tolist() == np.unique(columns["qid"]).tolist()
    for name in METRICS:
        np.testing.assert_allclose(values[name], expected[name], rtol=0, atol=1e-12)


def test_result_in_the_middle_counts_the_open_query_and_keeps_it():
    stream = RankingAccumulator("precision").update_sorted([1], [2.0], ["a"])
    assert stream.scores() == {"precision": 1.0}
    assert stream.update_sorted([0], [1.0], ["a"]).scores() == {"precision": 0.5}
    assert stream.close().result()["precision"].n_queries == 1


def test_an_accumulator_is_small():
    columns = make_documents(2000)
    stream = sum_of(streamed(columns, range(100, 10_000, 100)))
    assert len(pickle.dumps(stream.close())) < 8192


def test_a_batch_without_weight_counts_nothing():
    some = RankingAccumulator("mrr").update([1, 0], [2, 1], ["a", "a"], sample_weight=[2, 2])
    some.update([1, 0], [1, 2], ["b", "b"], sample_weight=[0, 0])
    assert some.result()["mrr"][::2] == (1.0, 2)
    none = RankingAccumulator("mrr").update([1], [2], ["a"], sample_weight=[0])
    with pytest.raises(ValueError, match="zero for every query"):
        none.result()


def test_refused_rows_leave_the_accumulator_as_it_was():
    stream = RankingAccumulator("err").update_sorted([1, 0, 1], [3, 2, 1], [1, 1, 2])
    before = stream.result()
    with pytest.raises(ValueError, match="max_grade"):
        stream.update_sorted([0, 9, 0], [1, 1, 1], [3, 4, 5])
    with pytest.raises(ValueError, match="NaN"):
        stream.update_sorted([0], [math.nan], [3])
    assert stream.result() == before
    assert stream.n_documents == 3


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ([["a", "b"], ["a"]], "a comes after b"),
        ([["a", "c", "b"]], "b comes after c"),
        ([["a", "b", "a"]], "a comes after b"),
        ([["b"], ["a", "b"]], "a comes after b"),
    ],
)
def test_an_unsorted_stream_is_refused(groups, message):
    stream = RankingAccumulator("mrr")
    *fine, wrong = [(np.ones(len(ids)), np.arange(len(ids)), ids) for ids in groups]
    for batch in fine:
        stream.update_sorted(*batch)
    with pytest.raises(ValueError, match=f"not sorted by query: {message}"):
        stream.update_sorted(*wrong)


def test_streams_that_overlap_are_refused():
    one, two = (
        RankingAccumulator("mrr").update_sorted([1] * 3, [3, 2, 1], list(i)) for i in ("acd", "bce")
    )
    with pytest.raises(ValueError, match="two sorted streams overlap"):
        one.merge(two)


def test_a_query_cut_by_two_batches_is_refused():
    batches = RankingAccumulator("mrr").update([1, 0], [2, 1], ["a", "b"])
    with pytest.raises(ValueError, match=r"goes on with query b.*update_sorted"):
        batches.update([1, 0], [2, 1], ["b", "c"])


def test_a_query_in_two_parts_is_seen_where_values_are_kept():
    one, two = (
        RankingAccumulator("mrr", per_query=True).update([1, 1], [1, 2], list(ids))
        for ids in ("ab", "cb")
    )
    with pytest.raises(ValueError, match="query b came in more than one part"):
        one.merge(two).query_values()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: RankingAccumulator("mrr", average=None), "per_query=True"),
        (lambda: RankingAccumulator("mrr").result(), "no documents"),
        (
            lambda: RankingAccumulator("mrr").merge(RankingAccumulator("map")),
            "are the same; got mrr",
        ),
        (lambda: RankingAccumulator("mrr", k=1).merge(RankingAccumulator("mrr", k=2)), "k=1.*k=2"),
        (lambda: RankingAccumulator("mrr").query_values(), "only with per_query=True"),
        (lambda: RankingAccumulator("mrr", per_query=True).update([1], [1]), "needs groups"),
        (lambda: RankingAccumulator("mrr").update_sorted([1], [1, 2], [1, 1]), "inconsistent"),
        (lambda: RankingAccumulator(infinite).update([1], [1]), "'infinite' is infinite"),
    ],
)
def test_what_makes_no_sense_is_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        wrong()


def infinite(block):
    return np.full(len(block.sizes), np.inf)


def test_ids_without_an_order_are_refused():
    with pytest.raises(TypeError, match="must have an order"):
        RankingAccumulator("mrr").update_sorted([1, 1], [1, 2], [1, "a"])


def write(columns, path, **options):
    pq.write_table(pa.table(columns), path, **options)
    return path


@pytest.mark.parametrize("strings", [False, True])
@pytest.mark.parametrize("batch_rows", [7, 100, 10**6])
def test_a_file_equals_memory(tmp_path, strings, batch_rows):
    columns = make_documents(long=600, strings=strings)
    path = write(columns, tmp_path / "rows.parquet", row_group_size=50)
    found = evaluate_parquet(path, METRICS, weight="weight", batch_rows=batch_rows)
    assert found == pytest.approx(in_memory(columns, weight="weight"), **EXACT)


def write_parts(columns, folder, size):
    for i, start in enumerate(range(0, len(columns["qid"]), size)):
        write(
            {name: c[start : start + size] for name, c in columns.items()},
            folder / f"part.{i}.parquet",
        )


def test_a_folder_whose_files_cut_queries(tmp_path):
    columns = make_documents(strings=True)
    columns["qid"] = pa.array(columns["qid"]).dictionary_encode()
    write_parts({**columns, "qid": np.array(columns["qid"].to_pylist())}, tmp_path, 25)
    assert len(list(tmp_path.iterdir())) > 10  # so that names do not sort as strings
    found = evaluate_parquet(tmp_path, METRICS)
    expected = evaluate(columns["label"], columns["score"], METRICS, groups=columns["qid"])
    assert found == pytest.approx(expected, **EXACT)


def test_dictionaries_that_differ_between_files(tmp_path):
    columns = make_documents(strings=True)
    half = len(columns["qid"]) // 2
    for i, rows in enumerate([slice(0, half), slice(half, None)]):
        part = {name: column[rows] for name, column in columns.items()}
        part["qid"] = pa.array(part["qid"]).dictionary_encode()
        write(part, tmp_path / f"{i}.parquet", row_group_size=20)
    found = evaluate_parquet(
        [tmp_path / "0.parquet", tmp_path / "1.parquet"], METRICS, batch_rows=33
    )
    assert found == pytest.approx(in_memory(columns), **EXACT)


def test_an_accumulator_tells_more(tmp_path):
    columns = make_documents()
    collected = RankingAccumulator("mrr")
    found = evaluate_parquet(write(columns, tmp_path / "rows.parquet"), collected)
    assert found["mrr"] == collected.result()["mrr"].mean
    assert collected.result()["mrr"].n_queries == 60
    with pytest.raises(ValueError, match="to the RankingAccumulator itself"):
        evaluate_parquet(tmp_path, collected, like="ranx")


@pytest.mark.parametrize(
    ("change", "given", "message"),
    [
        ({"label": pa.array([1, None, 0])}, {}, "column 'label' has 1 missing values"),
        ({"qid": pa.array(["a", "a", None])}, {}, "column 'qid' has 1 missing values"),
        ({"score": pa.array([1.0, math.nan, 0.0])}, {}, "y_score contains NaN"),
        ({}, {"group": "query"}, "has no column 'query'; it has qid, label, score"),
        ({"qid": pa.array([1, 2, 1])}, {}, "not sorted by query: 1 comes after 2"),
    ],
)
def test_a_file_that_cannot_be_right_is_refused(tmp_path, change, given, message):
    columns = {"qid": [1, 1, 2], "label": [1, 0, 1], "score": [0.1, 0.2, 0.3]}
    path = write(columns | change, tmp_path / "rows.parquet")
    with pytest.raises(ValueError, match=message):
        evaluate_parquet(path, "mrr", **given)


def test_an_empty_folder_is_refused(tmp_path):
    with pytest.raises(ValueError, match="no Parquet files"):
        evaluate_parquet(tmp_path, "mrr")


def test_progress_is_shown(tmp_path, capsys):
    path = write(make_documents(), tmp_path / "rows.parquet")
    evaluate_parquet(path, "mrr", progress=False)
    assert not capsys.readouterr().err
    evaluate_parquet(path, slow, progress=True, batch_rows=100)
    assert "row/s" in capsys.readouterr().err


def slow(block):
    time.sleep(0.3)  # the bar is hidden for the first second
    return np.zeros(len(block.sizes))


KILLED = """
import sys
from sklearn_rankscore import RankingAccumulator, evaluate_parquet
from sklearn_rankscore.streaming import parquet

save = parquet.Checkpoint.save

def save_and_say(self, accumulator):
    save(self, accumulator)
    if accumulator.n_documents >= 200:
        print(accumulator.n_documents, flush=True)
        sys.stdin.read()  # until it is killed

parquet.Checkpoint.save = save_and_say
evaluate_parquet(
    sys.argv[1], sys.argv[3:], weight="weight", checkpoint=sys.argv[2], checkpoint_seconds=0,
    batch_rows=10,
)
"""


def test_a_killed_run_goes_on_where_it_was(tmp_path):
    columns = make_documents(seed=7)
    (tmp_path / "rows").mkdir()
    write_parts(columns, tmp_path / "rows", 90)
    arguments = [str(tmp_path / "rows"), str(tmp_path / "state"), *METRICS]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
    ) as run:
        read = int(run.stdout.readline())
        run.kill()
    state = pickle.loads((tmp_path / "state").read_bytes())["accumulator"]
    assert 200 <= state.n_documents == read < len(columns["qid"])
    found = evaluate_parquet(
        tmp_path / "rows", METRICS, weight="weight", checkpoint=tmp_path / "state"
    )
    assert found == pytest.approx(in_memory(columns, weight="weight"), **EXACT)
    assert not (tmp_path / "state").exists()
    # by hand: the pickled accumulator itself goes on after its rows
    assert evaluate_parquet(tmp_path / "rows", state, weight="weight") == found


def test_a_checkpoint_of_other_files_is_refused(tmp_path):
    path = write(make_documents(), tmp_path / "rows.parquet")
    state = tmp_path / "state"
    state.write_bytes(pickle.dumps({"source": "other", "accumulator": RankingAccumulator("mrr")}))
    with pytest.raises(ValueError, match="belongs to other files or columns"):
        evaluate_parquet(path, "mrr", checkpoint=state)


def test_spark_and_dask_are_imported_only_on_demand():
    code = "import sklearn_rankscore, sys; assert not {'pyspark', 'dask'} & set(sys.modules)"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)


def mean_label(block, *, times):
    return block.total(lambda labels: labels * times) / block.sizes


@pytest.mark.parametrize("same", [True, False])
def test_functions_of_one_name_are_told_apart(same):
    """Two results of one metric add up, those of two metrics do not."""

    def accumulator(metric):
        return RankingAccumulator(metric).update([1, 0], [2, 1], [0, 0])

    ours = accumulator(lambda block: block.sizes * 1.0)
    theirs = accumulator((lambda block: block.sizes * 1.0) if same else (lambda b: b.sizes * 2.0))
    if same:
        (value,) = ours.merge(accumulator(ours.metrics)).scores().values()
        assert value == 2.0
        return
    with pytest.raises(ValueError, match="the same"):
        ours.merge(theirs)
    with pytest.raises(ValueError, match=r"mean_label\(times=1\).*mean_label\(times=2\)"):
        accumulator(partial(mean_label, times=1)).merge(accumulator(partial(mean_label, times=2)))


def test_whole_batches_and_a_sorted_stream_share_no_query():
    rows = [1, 0], [2, 1]
    accumulator = RankingAccumulator("mrr").update(*rows, [0, 0])
    with pytest.raises(ValueError, match="goes on with query 0, which the batch before ended"):
        accumulator.update_sorted(*rows, [0, 1])
    accumulator.update_sorted(*rows, [1, 2])
    with pytest.raises(ValueError, match="goes on with query 2, which update_sorted"):
        accumulator.update(*rows, [2, 2])
    assert accumulator.update(*rows, [3, 3]).result()["mrr"].n_queries == 4


def test_a_stream_goes_on_where_the_part_merged_into_it_ended():
    random = np.random.default_rng(0)
    y, s, g = random.integers(0, 3, 40), random.random(40), np.sort(random.integers(0, 9, 40))
    parts = [slice(0, 7), slice(7, 19), slice(19, 30), slice(30, 40)]
    first, second = (RankingAccumulator("ndcg").update_sorted(y[p], s[p], g[p]) for p in parts[:2])
    first.merge(second)
    for p in parts[2:]:
        first.update_sorted(y[p], s[p], g[p])
    assert first.scores()["ndcg"] == pytest.approx(evaluate(y, s, "ndcg", groups=g)["ndcg"])
    assert first.result()["ndcg"].n_queries == len(np.unique(g))
    with pytest.raises(ValueError, match=r"not sorted|overlap"):
        first.update_sorted(y[:7], s[:7], g[:7])


def test_only_accumulators_are_merged():
    with pytest.raises(TypeError, match="takes another RankingAccumulator; got dict"):
        RankingAccumulator("ndcg").merge({"ndcg": 0.5})
