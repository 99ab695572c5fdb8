"""An accumulator gives the result of the same rows in memory, however they are divided."""

import math
import pickle
import statistics
from functools import partial, reduce
from itertools import pairwise

import numpy as np
import oracle
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis_profiles import examples
from many_queries import EXACT, METRICS, RATIOS, in_memory, make_documents

from sklearn_rankscore import RankingAccumulator, evaluate, from_trec


def take(columns, rows):
    """Labels, scores and ids of some rows."""
    return tuple(columns[name][rows] for name in ("label", "score", "qid"))


def streamed(columns, cuts, metrics=METRICS, weight=None, **options):
    """An accumulator for each part of a stream that is divided at some rows."""
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


any_rows = st.lists(st.integers(0, 120), max_size=12)


@examples(40)
@given(seed=st.integers(0, 2**16), cuts=any_rows, order=st.randoms(use_true_random=False))
def test_parts_may_be_merged_in_any_order(seed, cuts, order):
    columns = make_documents(20, seed=seed)
    parts = streamed(columns, [c for c in cuts if c < len(columns["qid"])])
    order.shuffle(parts)
    while len(parts) > 1:  # merged in a random tree
        second = parts.pop(order.randrange(len(parts)))
        parts[order.randrange(len(parts))].merge(second)
    whole = RankingAccumulator(METRICS).update(*take(columns, slice(None))).result()
    merged = parts[0].result()
    assert parts[0].scores() == pytest.approx(in_memory(columns), nan_ok=True, **EXACT)
    for name in METRICS:
        assert merged[name] == pytest.approx(whole[name], nan_ok=True, **EXACT)


@examples(25)
@given(seed=st.integers(0, 2**16), cuts=any_rows, average=st.sampled_from(["macro", "micro"]))
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
    summary = (
        RankingAccumulator(metric, replace_undefined_by=replacement).update_sorted(*small).result()
    )
    expected = (
        statistics.fmean(kept),
        statistics.stdev(kept) / math.sqrt(len(kept)),
        len(values),
        sum(map(math.isnan, raw)),
    )
    assert summary[metric] == pytest.approx(expected, rel=1e-9)


def test_weighted_standard_error_is_that_of_a_ratio():
    columns = make_documents(30, seed=5)
    summary = sum_of(streamed(columns, [17, 60, 61], "mrr", "weight")).result()["mrr"]
    values = in_memory(columns, ["mrr"], average=None)["mrr"]
    w = [columns["weight"][np.flatnonzero(columns["qid"] == q)[0]] for q in range(30)]
    mean = math.fsum(a * b for a, b in zip(w, values, strict=True)) / math.fsum(w)
    n = sum(a > 0 for a in w)
    squares = math.fsum((a * (b - mean)) ** 2 for a, b in zip(w, values, strict=True))
    assert summary.mean == pytest.approx(mean, **EXACT)
    assert summary.standard_error == pytest.approx(
        math.sqrt(n / (n - 1) * squares) / math.fsum(w), **EXACT
    )


def test_standard_error_of_a_constant_is_zero():
    constant = [RankingAccumulator(always).update([0, 1], [1, 2], [q, q]) for q in range(100)]
    summary = sum_of(constant).result()["always"]
    assert summary.mean == 0.1
    assert summary.standard_error < 1e-16


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


def test_result_counts_the_open_query_and_leaves_it_open():
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


def test_refused_rows_do_not_change_the_accumulator():
    stream = RankingAccumulator("err").update_sorted([1, 0, 1], [3, 2, 1], [1, 1, 2])
    before = stream.result()
    with pytest.raises(ValueError, match="max_grade"):
        stream.update_sorted([0, 9, 0], [1, 1, 1], [3, 4, 5])
    with pytest.raises(ValueError, match="NaN"):
        stream.update_sorted([0], [math.nan], [3])
    assert stream.result() == before
    assert stream.n_documents == 3


@pytest.mark.parametrize("method", ["update", "update_sorted"])
def test_an_error_names_the_batch(method):
    accumulator = RankingAccumulator("mrr").update_sorted([1, 0, 1], [3, 2, 1], [1, 1, 2])
    with pytest.raises(ValueError, match="y_score contains NaN") as error:
        getattr(accumulator, method)([0], [math.nan], [3])
    assert error.value.__notes__ == ["in the batch after 3 documents, which are unchanged"]


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


def test_a_query_split_between_batches_is_refused():
    batches = RankingAccumulator("mrr").update([1, 0], [2, 1], ["a", "b"])
    with pytest.raises(ValueError, match=r"query b is split: .*update_sorted"):
        batches.update([1, 0], [2, 1], ["b", "c"])


def test_a_query_in_two_parts_is_refused_with_per_query():
    one, two = (
        RankingAccumulator("mrr", per_query=True).update([1, 1], [1, 2], list(ids))
        for ids in ("ab", "cb")
    )
    with pytest.raises(ValueError, match="query b is split over several batches"):
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
def test_invalid_input_is_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        wrong()


def infinite(block):
    return np.full(len(block.sizes), np.inf)


def test_ids_without_an_order_are_refused():
    types = r"must have an order; got ids of the types int, str\. .*order='grouped'"
    with pytest.raises(TypeError, match=types):
        RankingAccumulator("mrr").update_sorted([1, 1], [1, 2], [1, "a"])
    for first, second in (([1, 2], ["a", "b"]), (["a", "b"], [1, 2])):
        stream = RankingAccumulator("mrr").update_sorted([1, 1], [1, 2], first)
        with pytest.raises(TypeError, match=types):
            stream.update_sorted([1, 1], [1, 2], second)
    with pytest.raises(TypeError, match="must have an order; got '>' not supported"):
        RankingAccumulator("mrr").update_sorted([1, 1], [1, 2], [(1, 2), (1, "a")])


def mean_label(block, *, times):
    return block.total(lambda labels: labels * times) / block.sizes


@pytest.mark.parametrize("same", [True, False])
def test_functions_of_one_name_are_distinguished(same):
    """Results of the same function can be merged, those of different functions cannot."""

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


def test_no_query_is_in_a_batch_and_a_sorted_stream():
    rows = [1, 0], [2, 1]
    accumulator = RankingAccumulator("mrr").update(*rows, [0, 0])
    with pytest.raises(ValueError, match="query 0 is split: it ends the previous batch"):
        accumulator.update_sorted(*rows, [0, 1])
    accumulator.update_sorted(*rows, [1, 2])
    with pytest.raises(ValueError, match=r"query 2 is split: update_sorted\(\) has left it open"):
        accumulator.update(*rows, [2, 2])
    assert accumulator.update(*rows, [3, 3]).result()["mrr"].n_queries == 4


def test_a_stream_continues_after_the_part_merged_into_it():
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


@pytest.mark.parametrize(
    ("metric", "labels", "scores", "ids", "weights", "message"),
    [
        ("err", [0, 1, 9], [1, 2, 3], [3, 4, 5], None, "max_grade"),
        ("err", [9, 1, 0], [1, 2, 3], [3, 4, 5], None, "max_grade"),
        ("err", [9, 1, 0], [1, 2, 3], [2, 4, 5], None, "max_grade"),
        ("mrr", [0, 1, 0], [1, 2, 3], [3, 4, 4], [1, 1, 2], "varies within"),
        ("mrr", [0, 1, 0], [1, 2, 3], [3, 4, 5], [1, 1, -2], "not negative"),
        ("mrr", [0, 1, 0], [1, 2, 3], [2, 4, 5], [3, 1, 1], "varies within query 2, .* 1 .* 3"),
        ("mrr", [1.0], [1.0], [math.nan], None, "missing values"),
        ("mrr", [1.0], [1.0], np.array([None]), None, "missing values"),
        ("mrr", [1.0], [1.0], pd.Series([pd.NA], dtype=object).to_numpy(), None, "missing values"),
        ("mrr", [1.0], [1.0], np.array(["NaT"], dtype="M8[s]"), None, "missing values"),
    ],
)
def test_a_bad_batch_is_refused_at_once_and_leaves_the_stream(
    metric, labels, scores, ids, weights, message
):
    """Its first and its last query are open, but a later batch must not be blamed for them."""
    stream = RankingAccumulator(metric).update_sorted([1, 0, 1], [3, 2, 1], [1, 1, 2])
    before = pickle.dumps(stream._state)
    with pytest.raises(ValueError, match=message):
        stream.update_sorted(labels, scores, ids, sample_weight=weights)
    assert pickle.dumps(stream._state) == before
    fine = stream.update_sorted([1, 0, 1], [1, 2, 3], [2, 4, 5]).result()
    assert fine[metric].n_queries == 4


def test_parts_of_a_query_with_different_weights_are_not_merged():
    parts = [
        RankingAccumulator("mrr").update_sorted([1], [2], ["a"], sample_weight=w)
        for w in ([2], None)
    ]
    with pytest.raises(ValueError, match="varies within query a, whose rows so far have 2"):
        parts[0].merge(parts[1])


def test_no_open_query_is_within_a_batch_of_complete_ones():
    accumulator = RankingAccumulator("mrr").update_sorted([1, 0], [2, 1], [1, 2])
    with pytest.raises(ValueError, match=r"query 2 is split: update_sorted\(\) has left it open"):
        accumulator.update([1, 0], [2, 1], [3, 2])


def test_a_long_batch_with_ids_does_not_warn():
    n = 1500
    stream = RankingAccumulator("mrr").update_sorted(np.ones(n), np.arange(n), np.arange(n) // 2)
    assert stream.scores() == {"mrr": 1.0}


def test_unjudged_documents_of_from_trec():
    """The accumulator has the rule for them, so that the batches need none."""
    qrels = {"q": {"a": 1, "b": 0, "c": 1}}
    run = {"q": {"x": 5.0, "y": 4.0, "a": 3.0, "c": 2.0, "b": 1.0}}
    batch, names = from_trec(qrels, run, unjudged="nan"), ["bpref", "map"]
    expected = evaluate(metrics=names, **from_trec(qrels, run))
    assert expected["bpref"] == 1
    for update in (RankingAccumulator.update, RankingAccumulator.update_sorted):
        stream = RankingAccumulator(names, unjudged="irrelevant")
        assert update(stream, **batch).scores() == pytest.approx(expected)
