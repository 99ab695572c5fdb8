"""Every metric, cut-off and option equals the oracle, which is written from the definitions."""

import inspect
import itertools
import math
from fractions import Fraction

import numpy as np
import oracle
import pytest
from draws import SEEDS, Draw
from hypothesis import given
from hypothesis_profiles import examples

from sklearn_rankscore import evaluate
from sklearn_rankscore.metrics import formulas
from sklearn_rankscore.metrics.names import METRICS

KS = [1, 2, 3, 5, 10, None]
INF = math.inf


def squared(label):
    return label * label


def hyperbolic(rank):
    return 1 / (rank + 1)


# the values to try of each option, and the labels that a metric takes
VALUES = {
    "ties": list(oracle.TIES),
    "threshold": [0, 1, 0.5, -1],
    "gain": ["linear", "exponential", "binary", [0, 0.5, 1, 4, 2], squared],
    "discount": ["log2", "log2_after_first", "reciprocal", None, hyperbolic],
    "max_grade": [4, 5.5, None],
    "p": [0.8, 0],
    "normalize": [False, True],
    "decay": [0.85, 1, 0],
}
INCOMPLETE = [0, 1, 2, 0, 1, math.nan, -1]
ANY_LABEL = [0, 1, 2, 4, 0.75, -1, -1.5]
SHARED = {"k", "average", "replace_undefined_by", "unjudged", "propensity", "clip", "adjusted"}


def values_of(metric, option):
    """The values to try of an option."""
    if option == "denominator":
        return METRICS[metric].denominators
    if option == "ties" and not METRICS[metric].best_order:
        return ["average", "stable", "reversed"]
    if option == "threshold" and METRICS[metric].reads_unjudged:
        return [0, 1, 0.5]
    return VALUES[option]


def labels_of(metric):
    """The labels to try."""
    if metric == "pfound":
        return [0, 1, 0.5, 0.25]
    if metric == "err":
        return [0, 1, 2, 4, 0.5]
    if METRICS[metric].reads_unjudged:
        return INCOMPLETE
    return [0, 1, 2, 3, 4] if "gain" in METRICS[metric].options else ANY_LABEL


OPTIONS = {
    metric: {option: values_of(metric, option) for option in known.options if option not in SHARED}
    for metric, known in METRICS.items()
}
LABELS = {metric: labels_of(metric) for metric in METRICS}
CUT = [(metric, k) for metric in OPTIONS for k in KS if k is None or "k" in METRICS[metric].options]
ALL_IDS = [np.array([3, -5, 2**62, 0, 7, 1, 4, -9]), np.array([*"bca", "", *"äzde"])]


@pytest.mark.parametrize("metric", METRICS)
def test_every_metric_is_defined_in_the_oracle(metric):
    assert METRICS[metric].ratio == oracle.METRICS[metric].is_ratio, "is it a ratio of sums?"


def test_every_formula_has_a_metric():
    declared = {metric.formula for metric in METRICS.values()}
    for name, formula in inspect.getmembers(formulas, inspect.isfunction):
        if formula.__module__ == formulas.__name__ and not name.startswith("_"):
            assert formula in declared, f"the formula {name} has no metric: declare its function"


def averages(metric, options):
    has_micro = METRICS[metric].ratio and options.get("denominator") != "hits"
    return ["macro", None] + ["micro"] * has_micro


def labels_for(metric, options):
    """Labels that suit the options: max_grade=None takes probabilities."""
    return LABELS["pfound" if options.get("max_grade", 4) is None else metric]


def assert_equal(metric, y_true, y_score, groups, **options):
    (ours,) = evaluate(y_true, y_score, metric, groups=groups, **options).values()
    plain = {"sample_weight": None, **options}
    for name in {"sample_weight", "propensity"} & plain.keys():
        plain[name] = None if plain[name] is None else plain[name].tolist()
    if METRICS[metric].reads_unjudged:  # a rule changes nothing for them
        plain.pop("unjudged", None)
    expected = oracle.score(metric, y_true.tolist(), y_score.tolist(), groups.tolist(), **plain)
    differences = 10 if options.get("adjusted") else 1  # of values that lie close together
    np.testing.assert_allclose(ours, expected, rtol=1e-10 * differences, atol=1e-12 * differences)


def drawn(draw, metric, k, **tried):
    """Options of the metric, with the cut-off."""
    options = {name: draw.one_of(values) for name, values in (OPTIONS[metric] | tried).items()}
    return options if k is None else {**options, "k": k}


def ragged(draw, labels, longest=5):
    """Rows of up to eight queries in any order, with ties, weights and documents not retrieved."""
    n = draw.one_of([1, 3, 8])
    rows = draw.rows(labels, [1.0, 0.0, -0.0, -2.5, -INF], n, 5 * n)
    earlier = np.array([(rows[2][:i] == q).sum() for i, q in enumerate(rows[2])])
    y_true, y_score, query = (column[earlier < longest] for column in rows)
    weights = draw.some_of([1, 0.5, 0, 3], n)[query]
    sample_weight = draw.one_of([None, weights if weights.any() else None])
    return y_true, y_score, draw.one_of(ALL_IDS)[query], sample_weight


# the options to try in addition, and whether labels may be NaN
KINDS = {
    "judged": {},
    "unjudged": {"unjudged": ["irrelevant", "drop"]},
    "clicks": {"clip": [None, 0.1, 0.5, 1], "unjudged": ["error", "irrelevant", "drop"]},
    "adjusted": {"adjusted": [True]},
}
# options under which a document without a click counts nothing
OF_CLICKS = {"threshold": [0, 1, 0.5], "normalize": [False]}
DENOMINATORS_OF_CLICKS = {"precision": ["k", "min"], "recall": ["relevant"]}


def takes(kind, metric, k):
    if kind == "clicks":
        return "propensity" in METRICS[metric].options
    adjustable = ("always", "is adjusted", "within cut-off")[: 2 + (k is not None)]
    return kind != "adjusted" or METRICS[metric].adjustable in adjustable


RAGGED = [(kind, *cut) for kind in KINDS for cut in CUT if takes(kind, *cut)]


@pytest.mark.parametrize(("kind", "metric", "k"), RAGGED)
@examples(16)
@given(seed=SEEDS)
def test_ragged_queries(kind, metric, k, seed):
    """With unjudged documents, with clicks, and adjusted for the mean over all orders."""
    draw, tried = Draw(seed, kind, metric, k), dict(KINDS[kind])
    if kind == "clicks":
        tried |= {name: OF_CLICKS[name] for name in OPTIONS[metric].keys() & OF_CLICKS.keys()}
        if "denominator" in OPTIONS[metric]:
            tried["denominator"] = DENOMINATORS_OF_CLICKS[metric]
    options = drawn(draw, metric, k, **tried)
    if options.get("unjudged") == "irrelevant":
        options |= {"threshold": max(0, options["threshold"])} if "threshold" in options else {}
    has_unjudged = options.get("unjudged", "error") != "error"
    labels = [*labels_for(metric, options), *[math.nan] * 2 * has_unjudged]
    y_true, y_score, groups, weight = ragged(draw, labels)
    if kind == "clicks":
        options["propensity"] = draw.some_of([1, 0.7, 0.25, 0.01], len(y_true))
    average = draw.one_of(averages(metric, options))
    if kind == "adjusted" and average == "micro":  # test_adjusted.py has its ratio of sums
        average = None
    is_sum = kind == "clicks" and METRICS[metric].clicks == "unbiased"
    undefined = draw.one_of([0.0] if is_sum else [0.0, 1.0, -0.25, math.nan])
    rows = {"groups": groups, "sample_weight": weight, "average": average}
    assert_equal(metric, y_true, y_score, **rows, replace_undefined_by=undefined, **options)


@pytest.mark.parametrize(("metric", "k"), CUT)
@pytest.mark.parametrize("labels", ["graded", "binary"])
@examples(3)
@given(seed=SEEDS)
def test_ties_over_all_permutations(metric, k, labels, seed):
    """Queries of up to seven documents: the mean, best and worst over all orders of ties."""
    draw = Draw(seed, metric, k, labels)
    options, query = drawn(draw, metric, k), np.repeat(np.arange(3), draw.random.integers(2, 8, 3))
    allowed = [y for y in labels_for(metric, options) if labels == "graded" or y in (0, 1)]
    y_true = draw.some_of(allowed, len(query)) * 1.0
    scores = [draw.some_of(values, len(query)) for values in ([0.0], [0.0, 1.0], [0, 1.0, -INF])]
    y_score = np.choose(query, scores)
    for ties in OPTIONS[metric].get("ties", [None]):
        rule = {} if ties is None else {"ties": ties}
        assert_equal(metric, y_true, y_score, query, **options | rule)


def small_set(labels):
    """Four queries: all tied, none relevant, a single document, some documents not retrieved."""
    rng = np.random.default_rng(1)
    groups = np.repeat([2, 0, 1, 3], [4, 4, 1, 4])
    y_true = rng.choice(labels, len(groups))
    y_true[groups == 0] = min(labels)
    y_true[groups == 2] = rng.permutation([min(labels), max(labels), *labels[:2]])
    y_score = rng.choice([2.0, 1.0], len(groups))
    y_score[groups == 2] = 0.0
    y_score[10] = -INF
    return y_true, y_score, groups, np.array([1.0, 2.0, 0.5, 3.0])[groups]


def slow_if(name, *values, slow):
    """A parameter of a test, which takes long."""
    return pytest.param(*values, marks=[pytest.mark.slow] * slow, id=name)


@pytest.mark.parametrize("metric", [slow_if(m, m, slow=m == "rbp") for m in OPTIONS])
def test_every_combination_of_options(metric):
    cuts = [3, 5, None] if "k" in METRICS[metric].options else [None]  # of four documents
    for k, *values in itertools.product(cuts, *OPTIONS[metric].values()):
        options = dict(zip(OPTIONS[metric], values, strict=True))
        y_true, y_score, groups, weight = small_set(labels_for(metric, options))
        if k is not None:
            options["k"] = k
        rows = {"groups": groups, "sample_weight": weight, "average": None}
        assert_equal(metric, y_true, y_score, **rows, replace_undefined_by=-0.25, **options)


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize(("metric", "k"), [cut for cut in CUT if cut[1] in (10, None)])
def test_padded_queries(metric, k, whole):
    """Queries long enough for their rows to be padded, with ties and not all retrieved."""
    rng = np.random.default_rng(8)
    sizes = np.append(rng.integers(17, 45, 8), [100, 130])
    groups = rng.permutation(np.repeat(np.arange(10), sizes))
    labels = [label for label in LABELS[metric] if not whole or label in (0, 1, 2, 3, 4)]
    y_true = rng.choice(labels, len(groups))
    y_score = rng.permutation(len(groups)) * 1.0
    for q in range(10):
        some = rng.permutation(np.flatnonzero(groups == q))
        first = some[np.argsort(-y_score[some])]
        y_score[first[1:4]], y_score[some[4:6]] = y_score[first[1]], y_score[some[4]]
        y_score[some[6 : 6 + q]] = -INF
        y_score[some[16]] = INF
    rows = (y_true.tolist(), y_score.tolist(), groups.tolist())
    cut = {} if k is None else {"k": k}
    for ties in OPTIONS[metric].get("ties", [None]):
        given = cut if ties is None else {**cut, "ties": ties}
        expected = oracle.score(metric, *rows, average=None, **given)
        ours = evaluate(y_true, y_score, metric, groups=groups, average=None, **given)
        np.testing.assert_allclose(*ours.values(), expected, rtol=1e-10, atol=1e-12, err_msg=ties)


def exact_hit_rate(m, r, k):
    return 1 - Fraction(math.comb(m - k, r), math.comb(m, r))


def exact_reciprocal_rank(m, r, k):
    first = [Fraction(math.comb(m - j, r - 1), math.comb(m, r)) for j in range(1, k + 1)]
    return sum(p / j for j, p in enumerate(first, start=1))


def exact_precision_sum(m, r, k):
    """Precision at the relevant documents among the first k of m, of which r are relevant."""
    pairs = Fraction(r - 1, max(m - 1, 1))
    return sum(Fraction(r, m) * (1 + (j - 1) * pairs) / j for j in range(1, k + 1))


def exact_map(m, r, k):
    return exact_precision_sum(m, r, k) / min(r, k)


def exact_map_over_hits(m, r, k):
    possible = range(max(1, k - m + r), min(r, k) + 1)
    ways = {h: math.comb(r, h) * math.comb(m - r, k - h) for h in possible}
    return sum(
        Fraction(w, math.comb(m, k)) * exact_precision_sum(k, h, k) / h for h, w in ways.items()
    )


@pytest.mark.parametrize(
    ("m", "r"), [(90, 1), (90, 7), (90, 89), (1000, 40), (1000, 999), (2000, 3), (2000, 400)]
)
@pytest.mark.parametrize("k", [1, 10, 80])
def test_one_large_tie_group(m, r, k):
    """Closed forms in exact fractions, for more orders than can be enumerated."""
    y_true = np.random.default_rng(m).permutation(np.arange(m) < r)
    exact = {
        f"hit_rate@{k}": exact_hit_rate(m, r, k),
        f"mrr@{k}": exact_reciprocal_rank(m, r, k),
        f"map@{k}": exact_map(m, r, k),
        f"map@{k}(denominator=hits)": exact_map_over_hits(m, r, k),
        f"recall@{k}": Fraction(k, m),
        "mrr": exact_reciprocal_rank(m, r, m),
    }
    ours = evaluate(y_true, np.zeros(m), list(exact), groups="none")
    for name, value in exact.items():
        assert ours[name] == pytest.approx(float(value), rel=1e-12), name
