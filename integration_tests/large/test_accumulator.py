"""Accumulators: what is merged, what is refused, and what they tell."""

import math
import runpy
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from html_structure import Structure
from hypothesis import given
from hypothesis import strategies as st
from hypothesis_profiles import examples
from many_queries import EXACT, METRICS, in_memory, make_documents
from scipy import stats

from sklearn_rankscore import RankingAccumulator, query_scores


def take(columns, rows):
    """Labels, scores and ids of some rows."""
    return tuple(columns[name][rows] for name in ("label", "score", "qid"))


@examples(30)
@given(
    seed=st.integers(0, 2**16),
    parts=st.lists(st.integers(0, 5), min_size=20, max_size=20),
    order=st.randoms(use_true_random=False),
)
def test_parts_may_be_merged_in_any_order(seed, parts, order):
    columns = make_documents(20, seed=seed)
    of_row = np.array(parts)[columns["qid"]]
    accumulators = [
        RankingAccumulator(METRICS).update(*take(columns, of_row == part))
        for part in np.unique(of_row)
    ]
    accumulators.append(RankingAccumulator(METRICS))
    order.shuffle(accumulators)
    while len(accumulators) > 1:  # merged in a random tree
        second = accumulators.pop(order.randrange(len(accumulators)))
        accumulators[order.randrange(len(accumulators))].merge(second)
    whole = RankingAccumulator(METRICS).update(*take(columns, slice(None))).result()
    merged = accumulators[0].result()
    assert accumulators[0].scores() == pytest.approx(in_memory(columns), nan_ok=True, **EXACT)
    for name in METRICS:
        assert merged[name] == pytest.approx(whole[name], nan_ok=True, **EXACT)


WEIGHTS = [np.full(12, 3.0), np.arange(12.0), np.array([50.0, *[1] * 11]), 2.0 ** np.arange(12)]


@pytest.mark.parametrize("w", WEIGHTS, ids=["equal", "integers", "one is large", "powers"])
@pytest.mark.parametrize("average", ["macro", "micro"])
def test_weighted_error_is_unbiased_for_equal_variances(w, average):
    """By the matrix of the quadratic form, of which the docstring has the trace."""
    random, queries = np.random.default_rng(0), np.arange(12)
    sizes = random.integers(1, 4, 12)
    block = np.repeat(queries, sizes)
    label, score = random.integers(0, 2, len(block)), random.random(len(block))
    total = RankingAccumulator("precision", average=average)
    for rows in (block < 6, block >= 6):
        total.update(label[rows], score[rows], block[rows], sample_weight=w[block][rows])
    hits = np.bincount(block, weights=label)
    numerator, denominator = w * hits, w * sizes
    if average == "macro":
        numerator, denominator = w * hits / sizes, w
    h = denominator / denominator.sum()
    ratio = numerator.sum() / denominator.sum()
    residual = (numerator - ratio * denominator) / denominator.sum()
    center = np.eye(12) - np.outer(np.ones(12), h)
    form = center.T @ np.diag(h**2) @ center
    error = math.sqrt((residual**2).sum() * (h**2).sum() / np.trace(form))
    freedom = np.trace(form) ** 2 / np.trace(form @ form)
    summary = total.result()["precision"]
    assert summary.mean == pytest.approx(ratio, **EXACT)
    assert summary.standard_error == pytest.approx(error, rel=1e-9)
    assert summary.degrees_of_freedom == pytest.approx(freedom, rel=1e-9)
    assert type(summary.degrees_of_freedom) is float  # not np.float64(...) where it is shown


SIMULATED = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "simulations.py"))
POPULATIONS = [
    *(("MEANS", "summary", name) for name in ("MRR", "hit rate .97", "NDCG")),
    ("DIFFERENCES", "difference", "hits 2.5 % won"),
    ("DIFFERENCES", "difference", "95 % won about .01, 5 % lost .5"),
]


@pytest.mark.slow
@pytest.mark.parametrize("n", [20, 50, 200, 1000])
@pytest.mark.parametrize(("table", "kind", "name"), POPULATIONS)
def test_intervals_cover(table, kind, name, n):
    """As those in memory do, which are bounds from the range where the queries show too little."""
    interval = SIMULATED["streamed"](kind)
    covered, none = SIMULATED["coverage"](name, SIMULATED[table], interval, "equal", n)
    assert covered >= 0.94 - 2 * 0.007
    assert none < 0.01


def always(block):
    return np.full(len(block.sizes), 0.1)


def test_standard_error_of_a_constant_is_zero():
    total = RankingAccumulator(always)
    for query in range(100):
        total.update([0, 1], [1, 2], [query, query])
    assert total.result()["always"].mean == pytest.approx(0.1, **EXACT)
    assert total.result()["always"].standard_error < 1e-15


def test_too_few_queries_have_no_error():
    for metric in ("mrr", "dcg"):
        single = one(metric).update([1], [1], ["a"]).result()[metric]
        assert math.isnan(single.standard_error)
        known = query_scores([1], [1], metric, groups=["a"]).interval()[metric]
        assert single.interval() == pytest.approx(known, nan_ok=True, abs=0.003)
    weight = RankingAccumulator("mrr").update([1, 0], [1, 1], ["a", "b"], sample_weight=[1, 0])
    assert math.isnan(weight.result()["mrr"].standard_error)
    assert weight.result()["mrr"][2] == 2


def test_batches_without_ids():
    y_true, y_score = [[1, 0], [0, 1]], [[0.1, 0.4], [0.3, 0.6]]
    assert RankingAccumulator("mrr").update(y_true, y_score).scores() == {"mrr": 0.75}
    single = RankingAccumulator("mrr").update([1, 0], [1, 2]).update([1, 0], [1, 2])
    assert single.result()["mrr"].n_queries == 2
    labels = pd.Series([1, 0, 1], index=pd.Index([5, 5, 6], name="qid"))
    level = RankingAccumulator("mrr", per_query=True).update(labels, [1, 2, 3])
    assert level.query_values()[0].tolist() == [5, 6]


def test_chunks_of_integers_below_and_above_2_63():
    """pandas reads the lower ones as int64 and the others as uint64; together, as floats."""
    ids = [2**63 - 2, 2**63 - 1, 2**63, 2**63 + 1]
    total = RankingAccumulator("mrr", per_query=True)
    for part in (slice(0, 2), slice(2, 4)):
        total.update([1, 1], [1, 1], ids[part])
    assert total.query_values()[0].tolist() == ids


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table, dict])
def test_frames_of_segments(frame):
    columns = {"s": ["x", None, "y", "y"], "t": [1, 1, 2, 2]}
    data = [1, 0, 0, 1], [4, 3, 2, 1], [0, 1, 2, 2]
    result = RankingAccumulator("mrr", by=["s", "t"]).update(*data, segments=frame(columns))
    means = [(*segment, of["mrr"].mean) for segment, of in result.by_segment().items()]
    of_s = [("s", "x", 1), ("s", "y", 0.5), ("s", "missing", 0)]
    assert means == [*of_s, ("t", 1, 0.5), ("t", 2, 0.5)]
    total = RankingAccumulator("mrr", by="s").update(*data, segments=columns["s"])
    assert [*total.by_segment()] == [("s", "x"), ("s", "y"), ("s", "missing")]


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_segments_by_query_id_in_another_column(frame):
    total = RankingAccumulator("mrr", by="country")
    users = frame({"user": ["v", "u"], "country": ["de", "fr"]})
    total.update([1, 0, 0, 1], [2, 1, 2, 1], list("uuvv"), segments=users)
    means = {segment.value: of["mrr"].mean for segment, of in total.by_segment().items()}
    assert means == {"de": 0.5, "fr": 1}


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, dict])
def test_segments_in_the_frame_of_the_documents(frame):
    """Whose other columns vary within queries."""
    rows = {"qid": [1, 1, 2, 2], "label": [1, 0, 0, 1], "score": [2, 1, 2, 1]}
    given = frame(rows | {"country": ["fr", "fr", "de", "de"]})
    total = RankingAccumulator("mrr", by="country").update(
        given["label"], given["score"], given["qid"], segments=given
    )
    means = {segment.value: of["mrr"].mean for segment, of in total.by_segment().items()}
    assert means == {"de": 0.5, "fr": 1}


def rows(segments, n=3, **options):
    return lambda: RankingAccumulator("mrr", **options).update(
        [1] * n, [1] * n, [0, 0, *range(1, n - 1)], segments=segments
    )


def one(metric="mrr", **options):
    return RankingAccumulator(metric, **options)


def two():
    return one().update([1, 0], {"a": [1, 2], "b": [2, 1]}, [1, 2])


INDEXED = [pd.Series(values, index=pd.Index(["b", "b"], name="qid")) for values in ([1, 0], [1, 2])]
MICRO = one("ndcg", average="micro").update([1], {"a": [1], "b": [1]}, [3])
WRONG = [
    (lambda: one(average=None), "per_query=True"),
    (lambda: one().result(), "no documents"),
    (lambda: one().merge(one("map")), "are the same; got mrr"),
    (lambda: one(k=1).merge(one(k=2)), "'k': 1.*'k': 2"),
    (lambda: one().query_values(), "only with per_query=True"),
    (lambda: one().update([1], [2], [3], sample_weight=[0]).result(), "none whose .* weight"),
    (
        lambda: one().update([1, 0], [2, 1], ["a", "b"]).update([1], [2], ["b"]),
        "query b is split: .*evaluate_batches",
    ),
    (lambda: one().update(*INDEXED).update(*INDEXED), "query b is split"),
    (rows(["missing", "missing", None], by="s"), "'s' has both. Replace one"),
    (rows(["a"], by="s"), r"per document \(3\), .* 's' has shape \(1,\)"),
    (rows(None, by="s"), r"hold the columns of by=, \['s'\]"),
    (rows({"t": ["a"] * 3}, by="s"), r"has no column 's' of by=; it has \['t'\]"),
    (rows(["a"] * 3), r"of by=, \[\]"),
    (rows([0, 0, *range(1, 14)], 15, by="s"), "more than 10 distinct numbers"),
    (lambda: two().update([1], [1], [3]), "the same systems"),
    (lambda: two().update([1], {}, [3]), "at least one model"),
    (lambda: two().differences("c"), "baseline must be one of 'a', 'b'; got 'c'"),
    (MICRO.differences, "macro"),
]


@pytest.mark.parametrize(("wrong", "message"), WRONG, ids=range(len(WRONG)))
def test_invalid_input_is_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        wrong()


def test_labels_that_alone_decide_the_value_warn_once():
    total = one()
    with pytest.warns(UserWarning, match="nearly all queries have one document"):
        total.update(np.arange(12) % 2, np.zeros(12), range(12))
    total.update(np.arange(12) % 2, np.zeros(12), range(20, 32))


def test_systems_may_come_in_any_order():
    assert two().update([1], {"b": [1], "a": [2]}, [3]).result()["a"]["mrr"].n_queries == 3


@pytest.mark.parametrize("name", [1, ("a", "b")])
def test_names_of_systems_are_text(name):
    with pytest.raises(TypeError, match="names as keys, which are strings"):
        one().update([1], {name: [1]}, [3])


def test_functions_are_compared_by_name():
    def mean_label(block, *, times):
        return block.total(lambda labels: labels * times) / block.sizes

    once, again, twice = (RankingAccumulator(partial(mean_label, times=i)) for i in (1, 1, 2))
    with pytest.raises(ValueError, match=r"mean_label\(times=1\).*mean_label\(times=2\)"):
        once.merge(twice)
    assert once.merge(again.update([3], [1], [0])).scores() == {"mean_label(times=1)": 3}


def test_refused_rows_do_not_change_the_accumulator():
    total = RankingAccumulator("err").update([1, 0, 1], [3, 2, 1], [1, 1, 2])
    before = total.result()
    for labels, scores in (([0, 9, 0], [1, 1, 1]), ([0, 0, 0], [1, math.nan, 1])):
        with pytest.raises(ValueError, match=r"max_grade|NaN"):
            total.update(labels, scores, [3, 4, 5])
    assert total.result() == before
    assert total.n_documents == 3


@pytest.mark.parametrize("system", ["", "<b>"])
def test_tables(system):
    columns, name = make_documents(30, seed=7), "ndcg@10(replace_undefined_by=nan)"
    scores = {system: columns["score"]} if system else columns["score"]
    total = one(name).update(columns["label"], scores, columns["qid"])
    of = total.result().get(system, total.result())[name]
    numbers = f"{of.mean:.4f}", f"{of.standard_error:.4f}", "30", str(of.n_undefined)
    row, title = [f"{system} {name}".strip(), *numbers], repr(total).split("\n")[0]
    assert title == f"RankingAccumulator of {len(columns['qid'])} documents"
    assert repr(total).split("\n")[2].split() == " ".join(row).split()
    (table,) = Structure(total._repr_html_()).tables
    assert table == [["", "mean", "std. error", "queries", "undefined"], row]
    assert repr(one()).split("\n")[2:] == []  # nothing to show


def test_bounds_where_fewer_than_six_queries_differ():
    """Those of Clopper and Pearson for the shares of wins and losses, or none without a range."""
    labels, ids = np.tile([1, 0], 200), np.repeat(range(200), 2)
    model = np.tile([1.0, 2.0], 200)
    for n_wins in (5, 6):
        model[: 2 * n_wins] = np.tile([2.0, 1.0], n_wins)
        systems = {"a": np.tile([1.0, 2.0], 200), "b": model}
        total = RankingAccumulator(["precision@1", "dcg@1"]).update(labels, systems, ids)
        d, dcg = total.differences()["b"].values()
        assert (d.wins, d.ties, d.losses) == (n_wins, 200 - n_wins, 0)
        of_wins, of_losses = (stats.binomtest(n, 200).proportion_ci().high for n in (n_wins, 0))
        bounds = pytest.approx((-of_losses, of_wins))
        assert (d.interval() == bounds) == (n_wins == 5)
        hits = total.result()["b"]["precision@1"].interval()
        assert (hits == pytest.approx((0, of_wins))) == (n_wins == 5)
        assert np.isnan(dcg.interval()).all() == (n_wins == 5)
