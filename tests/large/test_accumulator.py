"""Accumulators: what is merged, what is refused, and what they tell."""

import math
import statistics
from functools import partial
from threading import Event, Thread

import numpy as np
import oracle
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from html_structure import Structure
from hypothesis import given
from hypothesis import strategies as st
from hypothesis_profiles import examples
from many_queries import EXACT, METRICS, in_memory, make_documents

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
    accumulators = [RankingAccumulator(METRICS)]
    for part in np.unique(of_row):
        one = RankingAccumulator(METRICS).update(*take(columns, of_row == part))
        accumulators.append(one)
    order.shuffle(accumulators)
    while len(accumulators) > 1:  # merged in a random tree
        second = accumulators.pop(order.randrange(len(accumulators)))
        accumulators[order.randrange(len(accumulators))].merge(second)
    whole = RankingAccumulator(METRICS).update(*take(columns, slice(None))).result()
    merged = accumulators[0].result()
    assert accumulators[0].scores() == pytest.approx(in_memory(columns), nan_ok=True, **EXACT)
    for name in METRICS:
        assert merged[name] == pytest.approx(whole[name], nan_ok=True, **EXACT)


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
    summary = RankingAccumulator(metric, replace_undefined_by=replacement).update(*small).result()
    expected = (
        statistics.fmean(kept),
        statistics.stdev(kept) / math.sqrt(len(kept)),
        len(values),
        sum(map(math.isnan, raw)),
        len(kept) - 1,
    )
    assert summary[metric] == pytest.approx(expected, rel=1e-9)


WEIGHTS = {
    "equal": np.full(12, 3.0),
    "integers": np.arange(12.0),
    "one is large": np.array([50.0, *[1] * 11]),
    "powers": 2.0 ** np.arange(12),
}


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("average", ["macro", "micro"])
def test_weighted_error_is_unbiased_for_equal_variances(weights, average):
    """By the matrix of the quadratic form, of which the docstring has the trace."""
    random, w = np.random.default_rng(0), WEIGHTS[weights]
    sizes, queries = random.integers(1, 4, 12), np.arange(12)
    block = np.repeat(queries, sizes)
    label, score = random.integers(0, 2, len(block)), random.random(len(block))
    given = label, score, block
    total = RankingAccumulator("precision", average=average)
    for part in (slice(0, 6), slice(6, 12)):
        rows = np.isin(block, queries[part])
        total.update(*(c[rows] for c in given), sample_weight=w[block][rows])
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


def test_intervals_cover():
    """As those of QueryScores; 1,000 samples of 200 queries of unequal weights."""
    random, covered = np.random.default_rng(0), 0
    population = random.beta(0.6, 0.8, 5000)
    metric = lambda block: block.by_rank(lambda labels: labels)[:, 0]  # noqa: E731
    for _ in range(1000):
        sample, w = random.choice(population, 200), random.exponential(size=200)
        total = RankingAccumulator(metric)
        total.update(sample, sample, np.arange(200), sample_weight=w)
        ((_, summary),) = total.result().items()
        low, high = summary.interval()
        covered += low <= population.mean() <= high
    assert covered >= 0.94 * 1000


def always(block):
    return np.full(len(block.sizes), 0.1)


def test_standard_error_of_a_constant_is_zero():
    total = RankingAccumulator(always)
    for query in range(100):
        total.update([0, 1], [1, 2], [query, query])
    assert total.result()["always"].mean == pytest.approx(0.1, **EXACT)
    assert total.result()["always"].standard_error < 1e-15


def test_too_few_queries_have_no_error():
    one = RankingAccumulator("mrr").update([1], [1], ["a"]).result()["mrr"]
    assert math.isnan(one.standard_error)
    assert all(map(math.isnan, one.interval()))
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
    means = {segment: of["mrr"].mean for segment, of in result.by_segment().items()}
    assert means == {
        ("s", "x"): 1,
        ("s", "y"): 0.5,
        ("s", "missing"): 0,
        ("t", 1): 0.5,
        ("t", 2): 0.5,
    }
    one = RankingAccumulator("mrr", by="s").update(*data, segments=columns["s"])
    assert [*one.by_segment()] == [("s", "x"), ("s", "y"), ("s", "missing")]


def test_differences_of_unequal_weights():
    columns, other = make_documents(), make_documents(seed=1)
    systems = {"a": columns["score"], "b": np.resize(other["score"], len(columns["qid"]))}
    total = RankingAccumulator("map").update(
        columns["label"], systems, columns["qid"], sample_weight=columns["weight"]
    )
    scores = query_scores(
        columns["label"], systems, "map", groups=columns["qid"], sample_weight=columns["weight"]
    )
    d = scores["b"]["map"] - scores["a"]["map"]
    mine = total.differences()["b"]["map"]
    w = scores["a"].weights
    assert mine.difference == pytest.approx(np.average(d, weights=w), **EXACT)
    back = total.differences("b")["a"]["map"]
    assert back == pytest.approx(
        (-mine[0], mine[1], mine[2], mine.losses, mine.ties, mine.wins, mine[6]), **EXACT
    )
    assert mine.interval() == pytest.approx(tuple(-end for end in back.interval()[::-1]), **EXACT)


def rows(segments, n=3, **options):
    return lambda: RankingAccumulator("mrr", **options).update(
        [1] * n, [1] * n, [0, 0, *range(1, n - 1)], segments=segments
    )


def two(**options):
    return RankingAccumulator("mrr", **options).update([1, 0], {"a": [1, 2], "b": [2, 1]}, [1, 2])


WRONG = [
    (lambda: RankingAccumulator("mrr", average=None), "per_query=True"),
    (lambda: RankingAccumulator("mrr").result(), "no documents"),
    (lambda: RankingAccumulator("mrr").merge(RankingAccumulator("map")), "are the same; got mrr"),
    (lambda: RankingAccumulator("mrr", k=1).merge(RankingAccumulator("mrr", k=2)), "k=1.*k=2"),
    (lambda: RankingAccumulator("mrr").query_values(), "only with per_query=True"),
    (lambda: RankingAccumulator("mrr", per_query=True).update([1], [1]), "needs groups"),
    (lambda: RankingAccumulator("mrr").update([1], [1, 2], [1, 1]), "inconsistent"),
    (lambda: RankingAccumulator("mrr").update([], [], []), "at least one document"),
    (lambda: RankingAccumulator(infinite).update([1], [1]), "'infinite' is infinite"),
    (lambda: (a := RankingAccumulator("mrr")).merge(a), "cannot be merged with itself"),
    (
        lambda: RankingAccumulator("mrr").update([1], [2], ["a"], sample_weight=[0]).result(),
        "zero for every query",
    ),
    (
        lambda: (
            RankingAccumulator("mrr")
            .update([1, 0], [2, 1], ["a", "b"])
            .update([1, 0], [2, 1], ["b", "c"])
        ),
        "query b is split: .*evaluate_batches",
    ),
    (rows(["a", "b", "b"], by="s"), "'s' varies within query 0"),
    (rows(["missing", "missing", None], by="s"), "'s' has both. Replace one"),
    (rows(["a", "a"], by="s"), r"one value per document \(3\); 's' has 2"),
    (rows(None, by="s"), r"one column for each name of by, \['s'\]; got none"),
    (rows(["a"] * 3), "needs an accumulator with by="),
    (rows({"t": ["a"] * 3}, by="s"), "no column 's'; it has t"),
    (rows(["a"] * 3, by=["s", "t"]), r"the columns \['s', 't'\] by name"),
    (rows([0, 0, *range(1, 14)], 15, by="s"), "more than 10 distinct numbers"),
    (rows([[1]] * 3, by="s"), "'s' is not a column"),
    (lambda: RankingAccumulator("mrr", by=["s", "s"]), "distinct ones"),
    (lambda: RankingAccumulator("mrr", by="s").by_segment(), "no documents"),
    (lambda: RankingAccumulator("mrr").by_segment(), "segments need by="),
    (lambda: RankingAccumulator("mrr", by="s").update([1], [1]), "needs groups"),
    (lambda: two().update([1], [1], [3]), "the same systems"),
    (lambda: two().update([1], {"a": [1]}, [3]), "the same systems"),
    (lambda: two().merge(RankingAccumulator("mrr").update([1], [1], [3])), "the same systems"),
    (lambda: two().update([1], {}, [3]), "at least one model"),
    (lambda: two().differences("c"), "baseline must be one of 'a', 'b'; got 'c'"),
    (lambda: two().differences(segment=("s", 1)), "no segment"),
    (lambda: RankingAccumulator("mrr").update([1], [1], [3]).differences(), "several systems"),
    (
        lambda: (
            RankingAccumulator("ndcg", average="micro")
            .update([1], {"a": [1], "b": [1]}, [3])
            .differences()
        ),
        "macro",
    ),
]


def infinite(block):
    return np.full(len(block.sizes), np.inf)


@pytest.mark.parametrize(("wrong", "message"), WRONG, ids=range(len(WRONG)))
def test_invalid_input_is_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        wrong()


def test_only_accumulators_are_merged():
    with pytest.raises(TypeError, match="takes another RankingAccumulator; got dict"):
        RankingAccumulator("ndcg").merge({"ndcg": 0.5})


def mean_label(block, *, times):
    return block.total(lambda labels: labels * times) / block.sizes


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ({"k": 3}, {"k": np.int64(3)}, True),
        ({"gain": [0, 1, 3]}, {"gain": np.array([0.0, 1, 3])}, True),
        ({"gain": "exponential"}, {"gain": "linear"}, False),
        ({"replace_undefined_by": math.nan}, {"replace_undefined_by": float("nan")}, True),
        ({"like": "ranx"}, {}, False),
        ({"per_query": True}, {}, False),
        ({"n_jobs": 2}, {}, True),
    ],
)
def test_options_are_compared(first, second, same):
    accumulators = [RankingAccumulator("ndcg", **options) for options in (first, second)]
    for i, accumulator in enumerate(accumulators):
        accumulator.update([1, 0], [2, 1], [i, i])
    if same:
        assert accumulators[0].merge(accumulators[1]).result()["ndcg"].n_queries == 2
        return
    with pytest.raises(ValueError, match="can be merged if their metrics and options are the same"):
        accumulators[0].merge(accumulators[1])


def test_functions_are_compared_by_name():
    one, two = (RankingAccumulator(partial(mean_label, times=i)) for i in (1, 2))
    with pytest.raises(ValueError, match=r"mean_label\(times=1\).*mean_label\(times=2\)"):
        one.merge(two)
    again = RankingAccumulator(partial(mean_label, times=1)).update([3], [1], [0])
    assert one.merge(again).scores() == {"mean_label(times=1)": 3}


def test_refused_rows_do_not_change_the_accumulator():
    total = RankingAccumulator("err").update([1, 0, 1], [3, 2, 1], [1, 1, 2])
    before = total.result()
    for labels, scores in (([0, 9, 0], [1, 1, 1]), ([0, 0, 0], [1, math.nan, 1])):
        with pytest.raises(ValueError, match=r"max_grade|NaN"):
            total.update(labels, scores, [3, 4, 5])
    assert total.result() == before
    assert total.n_documents == 3


def test_a_batch_that_another_thread_overtakes_is_refused():
    begun, added, errors = Event(), Event(), []

    def slow(block):
        if not begun.is_set():
            begun.set()
            assert added.wait(60)
        return block.sizes * 1.0

    total = RankingAccumulator(slow)

    def overtaken():
        try:
            total.update([1, 0, 1], [1, 2, 3], ["b", "c", "d"])
        except RuntimeError as error:
            errors.append(str(error))

    thread = Thread(target=overtaken)
    thread.start()
    assert begun.wait(60)
    total.update([1], [1], ["a"])
    added.set()
    thread.join()
    assert [error[:14] for error in errors] == ["another thread"]
    assert total.result()["slow"].n_queries == total.n_documents == 1


NAMES = ["ndcg@10", "map(replace_undefined_by=nan)"]


@pytest.mark.parametrize("systems", [None, {"a": 1, "<b>": -1}])
def test_tables(systems):
    columns = make_documents(30, seed=7)
    score = columns["score"]
    given = score if systems is None else {name: sign * score for name, sign in systems.items()}
    total = RankingAccumulator(NAMES).update(columns["label"], given, columns["qid"])
    (table,) = Structure(total._repr_html_()).tables
    title, header, *lines = repr(total).split("\n")
    assert title == f"RankingAccumulator of {len(score)} documents"
    assert len({len(line) for line in [header, *lines]}) == 1
    assert table[0] == ["", "mean", "std. error", "queries", "undefined"]
    result = total.result()
    rows = [
        [f"{system} {name}".strip(), f"{of.mean:.4f}", f"{of.standard_error:.4f}", "30",
         str(of.n_undefined)]
        for system, summaries in ({"": result} if systems is None else result).items()
        for name, of in summaries.items()
    ]  # fmt: skip
    assert table[1:] == rows
    assert [" ".join(line.split()) for line in lines] == [" ".join(row) for row in rows]


def test_nothing_to_show_is_no_error():
    weightless = RankingAccumulator("mrr").update([1], [1], groups=[1], sample_weight=[0])
    for accumulator in (RankingAccumulator("mrr"), weightless):
        assert repr(accumulator).split("\n")[2].split() == ["mrr", *"----"]
        assert accumulator._repr_html_().count("<td>-</td>") == 4
