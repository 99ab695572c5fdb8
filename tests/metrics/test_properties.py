"""Properties that hold for all metrics, and the exceptions with their reasons."""

import itertools
import math

import numpy as np
import pytest
from draws import SEEDS, Draw
from hypothesis import given
from hypothesis_profiles import examples

from sklearn_rankscore import evaluate
from sklearn_rankscore.metrics.names import METRICS
from sklearn_rankscore.metrics.resolve import resolve

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


def documents(draw, metric, scores=SCORES):
    """Labels, scores and ids of up to four queries in any row order."""
    return draw.rows(LABELS[metric], scores, n_queries=4, most=16)


def options_of(draw, metric):
    """Options, among them the tie rules that do not depend on the order of rows."""
    ties = ["average", "optimistic", "pessimistic"][: 3 if METRICS[metric].best_order else 1]
    rules = {"ties": ties, "k": [None, 1, 2, 3, 5, 10]}
    chosen = {name: draw.one_of(v) for name, v in rules.items()}
    return {name: v for name, v in chosen.items() if name in METRICS[metric].options}


def names_of_queries(metric, draw, options):
    y, s, g = documents(draw, metric)
    used = np.unique(g)
    names = draw.random.permutation(["b", "a", "", "ä"])
    ours = dict(zip(np.unique(names[g]), values(metric, y, s, names[g], **options), strict=True))
    expected = dict(zip(names[used], values(metric, y, s, g, **options), strict=True))
    np.testing.assert_equal(ours, expected)


def monotone_transforms(metric, draw, options):
    y, s, g = documents(draw, metric)
    growing = [np.exp, np.cbrt, np.arctan, lambda x: 2 * x - 7, lambda x: 1e300 * x]
    transform = draw.one_of(growing)
    t = np.where(np.isfinite(s), transform(np.where(np.isfinite(s), s, 0.0)), s)
    np.testing.assert_array_equal(
        values(metric, y, s, g, **options), values(metric, y, t, g, **options)
    )


def perfect_is_one(metric, draw, options):
    positive = [y for y in LABELS[metric] if y > 0]
    y = np.array([0.0, *draw.some_of(positive, draw.random.integers(1, 11))])
    assert values(metric, y, y, **options) == pytest.approx(1, abs=1e-14)


def perfect_is_best(metric, draw, options):
    y, s, _ = documents(draw, metric, SCORES[1:])
    replacement = {"replace_undefined_by": -2.0}
    best = values(metric, y, y * 1.0, **options, **replacement)
    assert values(metric, y, s, **options, **replacement) <= best + 1e-12


def swapping_an_inversion(metric, draw, options):
    y, s, _ = documents(draw, metric)
    s = np.argsort(np.argsort(s)) * 1.0
    by_rank = np.argsort(-s)
    options["replace_undefined_by"] = 0.0
    before = values(metric, y, s, **options)
    for upper, lower in itertools.pairwise(by_rank):
        if y[upper] < y[lower]:
            t = s.copy()
            t[[upper, lower]] = s[[lower, upper]]
            assert values(metric, y, t, **options) >= before - 1e-12


def beyond_is_none(metric, draw, options):
    if "k" not in METRICS[metric].options:
        return
    y, s, g = documents(draw, metric)
    beyond = {**options, "k": draw.one_of([len(y), len(y) + 1, 10**9])}
    close(values(metric, y, s, g, **beyond), values(metric, y, s, g, **{**options, "k": None}))


def alone(metric, draw, options):
    y, s, g = documents(draw, metric)
    among = values(metric, y, s, g, **options)
    each = [values(metric, y[g == q], s[g == q], **options)[0] for q in np.unique(g)]
    np.testing.assert_array_equal(among, each)


def rows_of_a_matrix(metric, draw, options):
    y, s, _ = documents(draw, metric)
    # columns of one document each are refused
    widths = [w for w in range(1, len(y) + 1) if len(y) % w == 0 and (w > 1 or len(y) == 1)]
    width = draw.one_of(widths)
    ours = values(metric, y.reshape(-1, width), s.reshape(-1, width), **options)
    g = np.repeat(np.arange(len(y) // width), width)
    np.testing.assert_array_equal(ours, values(metric, y, s, g, **options))


def results_are_floats(metric, draw, options):
    """And what is given is not changed."""
    y, s, g = documents(draw, metric)
    before = y.tobytes(), s.tobytes(), g.tobytes()
    averages = ["macro"] + ["micro"] * METRICS[metric].ratio
    for average in averages:
        assert type(METRICS[metric].function(y, s, groups=g, average=average, **options)) is float
    each = METRICS[metric].function(y, s, groups=g, average=None, **options)
    assert (each.dtype, each.shape) == (np.float64, np.unique(g).shape)
    assert (y.tobytes(), s.tobytes(), g.tobytes()) == before


def within_limits(metric, draw, options):
    """The declared ones, by which intervals and bounds are computed."""
    y, s, g = documents(draw, metric)
    low, high = resolve(metric, **options).limits
    ours = values(metric, y, s, g, **options)
    assert (np.isnan(ours) | ((low - 1e-12 <= ours) & (ours <= high + 1e-12))).all()


PROPERTIES = {
    "names and order of queries": names_of_queries,
    "monotone transforms of scores": monotone_transforms,
    NOT_ONE: perfect_is_one,
    "perfect ranking is best": perfect_is_best,
    "swapping an adjacent inversion never lowers": swapping_an_inversion,
    BEYOND: beyond_is_none,
    "a query alone is itself among others": alone,
    "two-dimensional rows are queries": rows_of_a_matrix,
    "a result is a Python float, and input is not changed": results_are_floats,
    "values are within the limits": within_limits,
}


def test_every_metric_is_in_the_table():
    assert {metric for _, metric in EXCEPTIONS} <= set(METRICS)
    assert {name for name, _ in EXCEPTIONS} <= set(PROPERTIES)


# but for exceptions with a reason alone
TABLE = [
    pair
    for pair in itertools.product(PROPERTIES, METRICS)
    if not isinstance(EXCEPTIONS.get(pair), str)
]


@pytest.mark.parametrize(("name", "metric"), TABLE)
@examples(8)
@given(seed=SEEDS)
def test_property(name, metric, seed):
    draw, exception = Draw(seed, name, metric), EXCEPTIONS.get((name, metric), {})
    PROPERTIES[name](metric, draw, {**options_of(draw, metric), **exception})


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
