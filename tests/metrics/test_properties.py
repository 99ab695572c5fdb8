"""Properties that hold for all metrics, and the exceptions with their reasons."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis_profiles import examples

from sklearn_rankscore import evaluate
from sklearn_rankscore.metrics.names import METRICS
from sklearn_rankscore.ranking import block
from sklearn_rankscore.ranking.fast import width_buckets

INF = math.inf
SCORES = [-INF, -2.0, -1.0, -0.0, 0.0, 1.0, 3.0]
LABELS = {
    name: [0, 1, 2, 3, 4]
    if {"gain", "max_grade"} & metric.options.keys()
    else [0, 1, 2, 4, 0.75, -1]
    for name, metric in METRICS.items()
} | {"pfound": [0, 1, 0.5, 0.25]}

# why a property does not hold for a metric, or the options with which it holds
NOT_ONE = "perfect ranking is one"
BEYOND = "a cut-off beyond the query is none"
EXCEPTIONS = {
    (NOT_ONE, "dcg"): "a sum of gains has no bound",
    (NOT_ONE, "hits"): "a count",
    (NOT_ONE, "precision"): "k or n may be more than there are relevant documents",
    (NOT_ONE, "f1"): "as precision",
    (NOT_ONE, "err"): "no grade satisfies every user",
    (NOT_ONE, "rbp"): "the sum over infinitely many relevant documents is one",
    (NOT_ONE, "pfound"): "a label is a probability",
    (NOT_ONE, "recall"): {"k": None},
    (NOT_ONE, "infap"): "the prior of a document above being relevant is not 1",
    (BEYOND, "precision"): {"denominator": "min"},
    (BEYOND, "f1"): {"denominator": "min"},
}


def values(metric, y, s, g=None, **options):
    """The value of every query."""
    (ours,) = evaluate(y, s, metric, groups=g, average=None, **options).values()
    return ours


def close(a, b):
    np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)


@st.composite
def documents(draw, metric, scores=SCORES, most=16):
    """Labels, scores and ids of up to four queries in any row order."""
    row = st.tuples(st.sampled_from(LABELS[metric]), st.sampled_from(scores), st.integers(0, 3))
    rows = draw(st.lists(row, min_size=1, max_size=most))
    y, s, g = (np.array(column) for column in zip(*rows, strict=True))
    return y, s, g


@st.composite
def options_of(draw, metric):
    """Options, among them the tie rules that do not depend on the order of rows."""
    ties = ["average", "optimistic", "pessimistic"][: 3 if METRICS[metric].best_order else 1]
    rules = {"ties": ties, "k": [None, 1, 2, 3, 5, 10]}
    chosen = {name: draw(st.sampled_from(v)) for name, v in rules.items()}
    return {name: v for name, v in chosen.items() if name in METRICS[metric].options}


def row_order(metric, data, options):
    y, s, g = data.draw(documents(metric))
    order = np.array(data.draw(st.permutations(range(len(y)))))
    close(
        values(metric, y, s, g, **options), values(metric, y[order], s[order], g[order], **options)
    )


def names_of_queries(metric, data, options):
    y, s, g = data.draw(documents(metric))
    used = np.unique(g)
    names = np.array(data.draw(st.permutations(["b", "a", "", "ä"])))
    ours = dict(zip(np.unique(names[g]), values(metric, y, s, names[g], **options), strict=True))
    expected = dict(zip(names[used], values(metric, y, s, g, **options), strict=True))
    np.testing.assert_equal(ours, expected)


def monotone_transforms(metric, data, options):
    y, s, g = data.draw(documents(metric))
    growing = [np.exp, np.cbrt, np.arctan, lambda x: 2 * x - 7, lambda x: 1e300 * x]
    transform = data.draw(st.sampled_from(growing))
    t = np.where(np.isfinite(s), transform(np.where(np.isfinite(s), s, 0.0)), s)
    np.testing.assert_array_equal(
        values(metric, y, s, g, **options), values(metric, y, t, g, **options)
    )


def perfect_is_one(metric, data, options):
    label = st.sampled_from([y for y in LABELS[metric] if y > 0])
    y = np.array([0, *data.draw(st.lists(label, min_size=1, max_size=10))], dtype=float)
    assert values(metric, y, y, **options) == pytest.approx(1, abs=1e-14)


def perfect_is_best(metric, data, options):
    y, s, _ = data.draw(documents(metric, SCORES[1:]))
    replacement = {"replace_undefined_by": -2.0}
    best = values(metric, y, y * 1.0, **options, **replacement)
    assert values(metric, y, s, **options, **replacement) <= best + 1e-12


def swapping_an_inversion(metric, data, options):
    y, s, _ = data.draw(documents(metric))
    s = np.argsort(np.argsort(s)) * 1.0
    by_rank = np.argsort(-s)
    options["replace_undefined_by"] = 0.0
    before = values(metric, y, s, **options)
    for upper, lower in itertools.pairwise(by_rank):
        if y[upper] < y[lower]:
            t = s.copy()
            t[[upper, lower]] = s[[lower, upper]]
            assert values(metric, y, t, **options) >= before - 1e-12


def weights_are_repetitions(metric, data, options):
    y, s, g = data.draw(documents(metric))
    times = np.array(data.draw(st.lists(st.integers(0, 3), min_size=4, max_size=4)))
    times[g[0]] = max(times[g[0]], 1)
    rows = np.repeat(np.arange(len(y)), times[g])
    copy = np.concatenate([np.arange(n) for n in times[g]])
    for average in METRICS[metric].ratio * ["micro"] + ["macro"]:
        kw = {"average": average, **options}
        (weighted,) = evaluate(y, s, metric, groups=g, sample_weight=times[g], **kw).values()
        repeated = evaluate(y[rows], s[rows], metric, groups=10 * g[rows] + copy, **kw)
        close(weighted, *repeated.values())


def beyond_is_none(metric, data, options):
    if "k" not in METRICS[metric].options:
        return
    y, s, g = data.draw(documents(metric))
    beyond = {**options, "k": data.draw(st.sampled_from([len(y), len(y) + 1, 10**9]))}
    close(values(metric, y, s, g, **beyond), values(metric, y, s, g, **{**options, "k": None}))


def alone(metric, data, options):
    y, s, g = data.draw(documents(metric))
    among = values(metric, y, s, g, **options)
    each = [values(metric, y[g == q], s[g == q], **options)[0] for q in np.unique(g)]
    np.testing.assert_array_equal(among, each)


def rows_of_a_matrix(metric, data, options):
    y, s, _ = data.draw(documents(metric))
    # columns of one document each are refused
    widths = [w for w in range(1, len(y) + 1) if len(y) % w == 0 and (w > 1 or len(y) == 1)]
    width = data.draw(st.sampled_from(widths))
    ours = values(metric, y.reshape(-1, width), s.reshape(-1, width), **options)
    g = np.repeat(np.arange(len(y) // width), width)
    np.testing.assert_array_equal(ours, values(metric, y, s, g, **options))


def results_are_floats(metric, data, options):
    y, s, g = data.draw(documents(metric))
    averages = ["macro"] + ["micro"] * METRICS[metric].ratio
    for average in averages:
        assert type(METRICS[metric].function(y, s, groups=g, average=average, **options)) is float
    each = METRICS[metric].function(y, s, groups=g, average=None, **options)
    assert (each.dtype, each.shape) == (np.float64, np.unique(g).shape)


def input_is_not_changed(metric, data, options):
    y, s, g = data.draw(documents(metric))
    before = y.tobytes(), s.tobytes(), g.tobytes()
    values(metric, y, s, g, **options)
    assert (y.tobytes(), s.tobytes(), g.tobytes()) == before


def deeper_is_not_lower(metric, data, options):
    if metric not in ("dcg", "mrr", "hits", "hit_rate", "recall", "err", "rbp", "pfound"):
        return
    y, s, g = data.draw(documents(metric))
    by_k = [values(metric, y, s, g, **{**options, "k": k}) for k in (1, 2, 3, 8, None)]
    assert (np.diff(by_k, axis=0) >= -1e-12).all()


PROPERTIES = {
    "row order": row_order,
    "names and order of queries": names_of_queries,
    "monotone transforms of scores": monotone_transforms,
    NOT_ONE: perfect_is_one,
    "perfect ranking is best": perfect_is_best,
    "swapping an adjacent inversion never lowers": swapping_an_inversion,
    "weights are repetitions of queries": weights_are_repetitions,
    BEYOND: beyond_is_none,
    "a query alone is itself among others": alone,
    "two-dimensional rows are queries": rows_of_a_matrix,
    "a result is a Python float": results_are_floats,
    "input is not changed": input_is_not_changed,
    "a deeper cut-off is not lower": deeper_is_not_lower,
}


def test_every_metric_is_in_the_table():
    assert {metric for _, metric in EXCEPTIONS} <= set(METRICS)
    assert {name for name, _ in EXCEPTIONS} <= set(PROPERTIES)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("name", PROPERTIES)
@examples(12)
@given(data=st.data())
def test_property(name, metric, data):
    exception = EXCEPTIONS.get((name, metric), {})
    if isinstance(exception, str):
        return
    PROPERTIES[name](metric, data, {**data.draw(options_of(metric)), **exception})


@pytest.mark.parametrize(("name", "metric"), EXCEPTIONS)
def test_exceptions_are_needed(name, metric):
    """Each exception has a query on which the property fails."""
    k = {"k": 3} if "k" in METRICS[metric].options else {}
    queries = np.array([[1.0, 0, 0, 0, 0], [1.0, 1, 1, 1, 0], [0.5, 0.5, 0, 0, 0]])
    if name == NOT_ONE:
        assert any(values(metric, y, y, **k) != 1 for y in queries)
    else:
        y = queries[0, :2]
        assert values(metric, y, y, **k) != values(metric, y, y)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:in nearly all queries:UserWarning")
@pytest.mark.parametrize("documents_in_a_block", [1, 7, 64, 2**10])
@pytest.mark.parametrize("n_jobs", [1, 2, 4])
@pytest.mark.parametrize("labels", ["grades", "reals"])
def test_blocks_of_any_size_and_threads_give_the_same_bits(
    documents_in_a_block, n_jobs, labels, monkeypatch
):
    random = np.random.default_rng(0)
    n = 1500
    g, s = random.integers(0, 50, n), random.normal(size=n).round(1)
    y = random.integers(0, 2, n) if labels == "grades" else random.random(n)
    names = [*METRICS, "ndcg@3", "map@5", "err@4", "hit_rate@2"]
    before = evaluate(y, s, names, groups=g, average=None)
    monkeypatch.setattr(width_buckets, "LARGE_BLOCK", documents_in_a_block)
    for module in (block, width_buckets):
        monkeypatch.setattr(module, "BLOCK_DOCUMENTS", documents_in_a_block)
    after = evaluate(y, s, names, groups=g, average=None, n_jobs=n_jobs)
    np.testing.assert_equal(
        {name: v.tobytes() for name, v in after.items()},
        {name: v.tobytes() for name, v in before.items()},
    )
