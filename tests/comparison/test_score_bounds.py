"""Bounds over the labels of unjudged documents, against all labels that they could have."""

import itertools
import math
from importlib import import_module

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis_profiles import examples

from sklearn_rankscore import query_scores, score_bounds
from sklearn_rankscore.metrics.names import METRICS

NAN, INF = math.nan, math.inf
TIES = ["average", "stable", "reversed", "optimistic", "pessimistic"]
NAMES = [
    "dcg", "dcg@2(gain=exponential)", "ndcg", "ndcg@2", "ndcg@3(gain=exponential)",
    "ndcg(gain=binary)", "ndcg(discount=reciprocal)", "map", "map@2", "map@2(denominator=relevant)",
    "map(threshold=1)", "mrr", "mrr@2", "precision@2", "precision", "precision@3(denominator=min)",
    "precision@2(denominator=attainable)", "recall@2", "recall@2(denominator=min)",
    "recall(threshold=1)", "f1@2", "f1", "f1@3(denominator=min)", "hits@2", "hit_rate@2",
    "r_precision", "err", "err@2(max_grade=3)", "rbp", "rbp@2(gain=linear)", "pfound",
]  # fmt: skip


def by_enumeration(y, s, names, max_label, **options):
    """The least and the greatest value of each metric over all labels 0, 1, …, max_label."""
    unjudged = np.flatnonzero(np.isnan(y))
    combinations = list(itertools.product(range(max_label + 1), repeat=len(unjudged)))
    labels = np.tile(y, (len(combinations), 1))
    labels[:, unjudged] = combinations
    groups, scores = np.repeat(np.arange(len(labels)), len(y)), np.tile(s, len(labels))
    values = query_scores(labels.ravel(), scores, names, groups=groups, **options).values
    return np.column_stack([values.min(axis=0), values.max(axis=0)])


def check_bounds(data, labels, names, max_label, **options):
    """Of a few documents with some of these labels."""
    scores = st.sampled_from([2.0, 1.0, 1.0, 0.0, -INF])
    drawn = st.lists(st.tuples(labels, scores), min_size=1, max_size=8 - max_label)
    y, s = map(np.array, zip(*data.draw(drawn), strict=True))
    options["ties"] = data.draw(st.sampled_from(TIES))
    if options["ties"] == "optimistic" and max_label > 1:
        names = [n for n in names if not n.startswith("ndcg") or "gain=binary" in n]
    bounds = score_bounds(y, s, names, max_label=max_label, **options).mean()
    expected = by_enumeration(y, s, names, max_label, **options)
    np.testing.assert_allclose([*bounds.values()], expected, rtol=1e-12, atol=1e-12)


@examples(200)
@given(data=st.data())
def test_bounds_equal_enumeration(data):
    labels = st.sampled_from([0, 0, 1, 2, 3, 0.5, NAN, NAN, NAN, NAN])
    names = [name for name in NAMES if name != "pfound"]
    check_bounds(data, labels, names, data.draw(st.integers(1, 3)))
    # whose labels are probabilities
    check_bounds(data, st.sampled_from([0, 1, 0.5, NAN, NAN]), ["pfound"], 1)


GAINS = [[1, 2, 4, 8], [0.0, 0.0, 3.0, 3.0], lambda y: (y + 2) ** 2]
RISING = {"discount": lambda ranks: ranks * 1.0}  # the greatest NDCG may be above 1
DISCOUNTS = [
    "log2",
    lambda ranks: 1.0 / np.sqrt(ranks),
    lambda ranks: 0.5 * (ranks < 3),
    lambda ranks: np.where(ranks == 3, 2.0, 1.0),  # rises beyond a cut-off of 2
]


@pytest.mark.parametrize("gain", GAINS)
@examples(40)
@given(data=st.data())
def test_gains_and_discounts_of_ones_own(gain, data):
    """Also those that give irrelevant documents a gain, and labels below 0."""
    known = [0, 1, 2, 3] if isinstance(gain, list) else [-1, 0, 1, 2, 0.5]
    discount = data.draw(st.sampled_from(DISCOUNTS))
    names = ["dcg@3", "ndcg@2", *(["ndcg"] if discount is not DISCOUNTS[-1] else [])]
    labels = st.sampled_from([*known, NAN, NAN, NAN])
    check_bounds(data, labels, names, 3, gain=gain, discount=discount)


NO_LABELS = ["query_auc", "pair_accuracy", "kendall_tau", "spearman", "judged@2", "bpref", "infap"]
REFUSED = {
    **dict.fromkeys(NO_LABELS, "no labels are known to be its best"),
    "map(denominator=hits)": "it divides by the hits themselves",
    "rbp(normalize=true)": "normalize=True divides by the highest label",
    "ndcg(unjudged=drop)": "score_bounds replaces the rule",
    "ndcg@1(adjusted=true)": "adjusted=True rescales it",
    "map(adjusted=true)": "adjusted=True rescales it",
    "rbp@1(gain=linear, normalize=true,adjusted=true)": "adjusted=True rescales it",
    "dcg(propensity=seen)": "a document without a click is not an unjudged one",
}
UNDEFINED = r"undefined for some labels.*replace_undefined_by=0"
OTHERS = [
    (lambda block: block.sizes * 1.0, {}, "no labels are known"),
    *((name, RISING, "its discount rises") for name in ("ndcg", "ndcg@2", "ndcg(gain=binary)")),
    *((name, {"propensity": [1, 0.5]}, f"no exact bounds of .*: {REFUSED['dcg(propensity=seen)']}")
      for name in ("dcg", "precision@2(clip=0.1)")),
    # whose least value may be that of a grade in between
    ("ndcg@2", {"ties": "optimistic", "max_label": 2}, "no exact bounds of 'ndcg@2': with several"),
    ("err", {"max_label": 5}, r"y_true must lie in \[0, 4\]"),
    ("err", {"max_label": 0}, "max_label must be an integer of at least 1"),
    ("dcg", {"max_label": 2, "gain": [0, 3, 1]}, "its gain decreases with the label"),
    *(("recall", {"y": [0, NAN], "replace_undefined_by": of}, UNDEFINED) for of in (NAN, 1.0)),
    # between 0.5 and 0.693, the values of the other labels
    ("ndcg", {"y": [0, NAN, NAN], "replace_undefined_by": 0.6}, "only if it is 0, the least poss"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("metric", "options", "message"), [*((name, {}, why) for name, why in REFUSED.items()), *OTHERS]
)
def test_refusals_state_the_reason(metric, options, message):
    y, options = options.get("y", [1, NAN]), {o: of for o, of in options.items() if o != "y"}
    with pytest.raises(ValueError, match=message):
        score_bounds(y, -np.arange(len(y)), metric, **options)


def test_all_metrics_are_bounded_or_refused():
    names = {name.partition("@")[0].partition("(")[0] for name in [*NAMES, *REFUSED]}
    assert names == set(METRICS)


Y = np.array([NAN, 2, 0, NAN, 1, NAN, NAN, 0, 1])
S = np.array([9, 8, 7, 6, 5, 2, 1, 4, 3])
G = np.array(["b", "b", "b", "b", "b", "c", "c", "a", "a"])


@pytest.mark.parametrize("dtype", ["u1", "u8", "i1", "f4"])
def test_queries_in_any_row_order_with_weights_and_several_systems(dtype):
    order = np.random.default_rng(0).permutation(9)
    weights, names = np.where(G == "c", 3.0, 1.0), ["ndcg@3", "map", "precision@2"]
    systems = {"one": S[order].astype(dtype), "two": -S[order]}
    given = {"groups": G[order], "sample_weight": weights[order]}
    bounds = score_bounds(Y[order], systems, names, **given)["one"]
    assert bounds.lower.ids.tolist() == ["a", "b", "c"]
    for name in names:
        low, high = np.vstack([by_enumeration(Y[q == G], S[q == G], name, 2) for q in "abc"]).T
        assert bounds.lower[name].tolist() == pytest.approx(low)
        assert bounds.upper[name].tolist() == pytest.approx(high)
        expected = np.average(low, weights=[1, 1, 3]), np.average(high, weights=[1, 1, 3])
        assert bounds.mean()[name] == pytest.approx(expected)
    frame = bounds.to_frame()
    assert list(frame) == ["query", *(f"{n} {end}" for n in names for end in ("low", "high"))]
    assert frame.shape == (3, 7)
    assert "ScoreBounds of 3 queries" in repr(bounds)
    y = np.nan_to_num(Y)
    known, values = (f(y, S, names, groups=G) for f in (score_bounds, query_scores))
    assert known.lower.values.tolist() == known.upper.values.tolist() == values.values.tolist()


BY_HAND = [
    # the highest label: that of y_true, and at least 1
    ([NAN, 2], "hits", {}, (1, 2)),
    ([NAN, 2], "dcg@1", {}, (0, 2)),
    ([NAN, 2], "dcg@1", {"max_label": 5}, (0, 5)),
    ([NAN, 0], "dcg", {}, (0, 1)),
    # a query that only some labels define, always or never
    ([NAN, 0], "recall@1", {}, (0, 1)),
    ([[NAN, 1, 0], [0, 0, 0]], "recall", {"replace_undefined_by": NAN}, (1, 1)),
]


@pytest.mark.parametrize(("y", "metric", "options", "expected"), BY_HAND)
def test_by_hand(y, metric, options, expected):
    y = np.array(y)
    s = np.broadcast_to(-np.arange(y.shape[-1]), y.shape)
    assert score_bounds(y, s, metric, **options).mean()[metric] == expected


def test_bounds_under_another_name_have_the_range_of_the_metric():
    bounds = score_bounds([[1.0, NAN]] * 10, [[2.0, 1.0]] * 10, {"ndcg": "dcg@1"})
    assert np.isnan(bounds.lower.interval()["ndcg"]).all()  # of equal values without a range


@pytest.mark.integration
def test_cwl_eval_on_random_rankings():
    """Grades, unjudged documents anywhere, several queries and values of p."""
    rbp = import_module("cwl.ruler.measures.cwl_rbp")
    ranking = import_module("cwl.ruler.ranking")
    random = np.random.default_rng(0)
    for p in random.uniform(0.3, 0.95, 10).round(3).tolist():
        groups = np.repeat(np.arange(20), random.integers(1, 40, 20))
        gains = random.choice([0, 0.25, 0.5, 1, NAN], len(groups))
        name = f"rbp(p={p},gain=linear)"
        given = {"groups": groups, "max_label": 1, "replace_undefined_by": 0}
        bounds = score_bounds(gains, -np.arange(len(groups)), name, **given)
        for q, (low, high) in enumerate(zip(bounds.lower[name], bounds.upper[name], strict=True)):
            theirs, own = rbp.RBPCWLMetric(p), gains[groups == q]
            theirs.residuals = True
            measured = theirs.measure(ranking.Ranking("q", own, np.ones(len(own)), max_n=2000))
            assert low == pytest.approx(measured, rel=1e-12, abs=1e-15)
            residual = pytest.approx(theirs.residual_expected_utility, rel=1e-12)
            assert high - low + p ** len(own) == residual


# rbp_resid.p=… as trec_eval 10.0 (f425365) printed it, with 4 digits, for labels in rank order and
# a relevant document that was not retrieved
TREC_EVAL = [
    (0.5, [1, NAN, 0, 0, 0, 0], 0.2656),
    (0.5, [1, 1, 0, 0, 0, 1, 1], 0.0),
    (0.8, [NAN, 0, NAN, 0, 0, NAN], 0.6557),
    (0.95, [0, 1, NAN, 0, NAN, 1, NAN, 0, 1, NAN, NAN], 0.7529),
    (0.95, [0, 0, 1, 0, NAN, 0, 0, 0], 0.7041),
]


@pytest.mark.parametrize(("p", "labels", "residual"), TREC_EVAL)
def test_trec_eval_10(p, labels, residual):
    """It adds p**n for the ranks after the list, but only if some document is unjudged."""
    name, order = f"rbp(p={p})", [*range(0, -len(labels), -1), -INF]
    low, high = score_bounds([*labels, 1], order, name, max_label=1).mean()[name]
    after = p ** len(labels) if np.isnan(labels).any() else 0.0
    assert high - low + after == pytest.approx(residual, abs=5e-5)


def test_long_lists_lie_within_and_attain_their_bounds(monkeypatch):
    """The candidates of Dinkelbach's method against thousands of random labels of a long list."""
    monkeypatch.setattr("sklearn_rankscore.metrics.label_bounds.BATCH", 1000)
    random = np.random.default_rng(1)
    y = random.integers(0, 4, 60) * 1.0
    unjudged = random.random(60) < 0.6
    y[unjudged] = NAN
    s = random.integers(0, 25, 60)
    names = ["ndcg@10", "ndcg(gain=exponential)", "map", "recall@10", "f1@10"]
    low, high = np.transpose([*score_bounds(y, s, names, max_label=3).mean().values()])
    labels = np.tile(y, (4000, 1))
    ranks = np.argsort(np.argsort(-s[unjudged]))
    levels = np.sort(random.integers(0, unjudged.sum() + 1, (4000, 3)), axis=1)
    labels[:, unjudged] = (ranks[None, :, None] < levels[:, None, :]).sum(axis=2)
    values = query_scores(labels, np.tile(s, (4000, 1)), names).values
    assert (low <= values.min(axis=0)).all()
    assert (values.max(axis=0) <= high).all()
    assert values[:, 0].max() > high[0] - 0.02
