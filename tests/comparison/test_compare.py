"""compare: differences of models, paired by query."""

import math
import re

import numpy as np
import pytest
from query_values import pair_of, scores_of

from sklearn_rankscore import QueryScores, compare
from sklearn_rankscore.comparison.significance import holm


def pair(n_queries=40, n_metrics=2, seed=0, effect=0.03):
    random = np.random.default_rng(seed)
    first = random.beta(2, 1, size=(n_queries, n_metrics))
    second = np.clip(first + random.normal(effect, 0.1, size=first.shape), 0, 1)
    return {"first": scores_of(first), "second": scores_of(second)}


def test_large_values_that_differ_by_rounding_are_ties():
    """Such as clicks weighted by propensities of about 1e-4, summed in another order."""
    terms = 1 / np.random.default_rng(0).uniform(1e-4, 1e-3, (40, 5))
    sums = terms.sum(axis=1), np.array([math.fsum(of) for of in terms])
    assert np.ptp(sums, axis=0).max() > 1e-12
    (one,) = compare({"a": scores_of(sums[0]), "b": scores_of(sums[1])}, test="t")
    assert (one.wins, one.ties, one.losses, one.p_value) == (0, 40, 0, 1)


FAMILIES = {
    "metric": lambda d: (d.metric, d.segment.column),
    "metrics": lambda d: d.segment.column,
    "all": lambda d: None,
}


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("pairs", ["baseline", "all"])
def test_holm_adjusts_each_family_by_itself(family, pairs):
    systems = {**pair(60, 2), "third": pair(60, 2, 9)["second"], "fourth": pair(60, 2, 5)["second"]}
    by = {"device": np.arange(60) % 2, "country": np.arange(60) % 3}
    given = {"by": by, "pairs": pairs, "margin": 0.02, "test": "t"}
    raw = compare(systems, **given, correction=None)
    adjusted = compare(systems, **given, family=family)
    # significance is a mark, and the interval is the interval
    assert [one.interval for one in raw] == [one.interval for one in adjusted]
    keys = [*map(FAMILIES[family], raw)]
    for kind in ("adjusted", "rest", "noninferiority", "equivalence"):
        before, after = (
            np.array([getattr(one, f"{kind}_p_value") for one in of], dtype=float)
            for of in (raw, adjusted)
        )
        for key in set(keys):
            rows = [row for row, of in enumerate(keys) if of == key]
            np.testing.assert_allclose(after[rows], holm(before[rows]))


BY_HOLM = "adjusted by holm for all"
NOTES = [
    ({}, "t test", f"{BY_HOLM} comparisons with first, each metric by itself"),
    ({"family": "metrics"}, "t test", f"{BY_HOLM} comparisons with first, all metrics together"),
    ({"family": "all"}, "t test", f"{BY_HOLM} tests"),
    ({"pairs": "all"}, "t test", f"{BY_HOLM} pairs, each metric by itself"),
    ({"correction": "tukey", "pairs": "all"}, "Tukey HSD test", "by tukey for the pairs"),
]


@pytest.mark.parametrize(("given", "test", "note"), NOTES)
def test_every_table_says_which_test_and_which_family(given, test, note):
    systems = {**pair(60, 2), "third": pair(60, 2, 9)["second"]}
    segments = {} if "correction" in given else {"by": np.arange(60) % 2}
    compared = compare(systems, test="t", **segments, **given)
    for text in (str(compared), str(compared.system_table())):
        assert note in text
        assert f" {test}" in text
    of_segments = "; those of segments, for the segments of a column" in str(compared)
    assert of_segments == ("by" in segments and "all tests" not in note)
    plain = compare(systems, test="t", correction=None)
    assert "adjusted" not in str(plain) + str(plain.system_table())


LOSSES = np.append(0.09 - 0.0001 * np.arange(30), 1.0) - 0.1
SKEWED = np.append(0.02 * np.random.default_rng(0).random(60), -0.25)
WINS = [0.01 + 0.005 * spread * np.linspace(-1, 1, n) for n in (10, 30) for spread in (0, 1)]
# differences, metric, options, verdict, and the system that is significantly better
VERDICTS = [
    # equal differences get a verdict where the range bounds all others
    (np.ones(40), "mrr", {}, "better", "b"),
    # thirty small losses and one large win: the ranks and the mean have different signs
    (LOSSES, "mrr", {"test": "wilcoxon"}, "undecided", ""),
    (-LOSSES, "mrr", {"test": "wilcoxon"}, "undecided", ""),
    # one large loss among many small wins, which the ranks alone call a gain
    (SKEWED, "mrr", {"test": "wilcoxon"}, "undecided", "b"),
    # ten wins of about .01 say nothing of a query that loses .5
    *((wins, "ndcg", {"method": method}, "undecided", "")
      for wins in WINS for method in ("auto", "t", "bootstrap")),
    *((wins, "dcg", {}, "undecided", "") for wins in WINS[::2]),
]  # fmt: skip


@pytest.mark.parametrize(("values", "metric", "options", "verdict", "marked"), VERDICTS)
def test_a_verdict_needs_a_test_and_an_interval(values, metric, options, verdict, marked):
    systems = pair_of(values, [metric], start=0.0 if values.max() == 1 else 0.5)
    compared = compare(systems, margin=0.001, random_state=0, **options)
    (one,) = compared
    assert one.p_value < 0.01
    assert one.verdict == verdict
    assert {system for system, _ in compared.system_table().better_than} == {*marked}


def test_means_differences_and_counts_by_hand():
    first = scores_of([[0.1, 1.0], [0.5, 0.0], [0.3, 0.2], [0.9, 0.4], [0.7, np.nan]])
    second = scores_of([[0.3, 0.0], [0.5, 0.0], [0.1 + 0.2, 0.3], [0.7, 0.4], [np.nan, 0.9]])
    one, two = compare({"a": first, "b": second})  # 0.1 + 0.2 > 0.3
    for of, difference in ((one, 0.0), (two, -0.225)):
        assert (of.queries, of.wins, of.ties, of.losses) == (4, 1, 2, 1)
        assert of.difference == pytest.approx(difference, abs=1e-12)
        assert of.interval.low < difference < of.interval.high
    assert (two.baseline_mean, two.model_mean) == pytest.approx((0.4, 0.175))
    (never,) = compare({"a": scores_of([0.1, 0.2]), "b": scores_of([np.nan] * 2)})
    assert np.isnan([never.p_value, never.difference]).all()


@pytest.mark.parametrize("test", ["permutation", "t"])
def test_order_of_queries_and_metrics_and_queries_without_weight_do_not_matter(test):
    systems = pair(20, 2)
    second, order = systems["second"], np.random.default_rng(1).permutation(20)
    mixed = QueryScores(second.ids[order], second.values[order][:, ::-1], ["m1", "m0"])
    expected = compare(systems, random_state=0, test=test)
    assert [*compare({**systems, "second": mixed}, random_state=0, test=test)] == [*expected]
    weights = np.repeat([1.0, 0.0], [20, 20])
    values = {name: np.vstack([of.values, 1 - 2 * of.values]) for name, of in systems.items()}
    longer = {name: scores_of(of, weights=weights) for name, of in values.items()}
    back = compare(systems, baseline="second", test=test)
    for one, same in zip(expected, compare(longer, random_state=0, test=test), strict=True):
        for name in ("difference", "p_value", "interval", "wins", "ties", "losses"):
            assert getattr(same, name) == pytest.approx(getattr(one, name))
        turned = back[one.metric, "first"]
        assert turned.difference == pytest.approx(-one.difference)
        assert (turned.wins, turned.losses) == (one.losses, one.wins)


@pytest.mark.parametrize("test", ["permutation", "t", "wilcoxon"])
def test_equal_models_are_not_different(test):
    same = pair(25, 1)["first"]
    one = compare({"a": same, "b": same}, test=test)["m0", "b"]
    assert (one.p_value, one.difference, one.ties) == (1.0, 0.0, 25)
    # no difference in 25 queries: more than 1 - .025 ** (1 / 25) of the queries would have shown
    assert one.few_distinct
    assert one.interval == pytest.approx((0.025 ** (1 / 25) - 1, 1 - 0.025 ** (1 / 25)), abs=1e-3)


def test_a_table_names_the_level_and_has_a_row_of_each_difference():
    """The README shows one with a margin."""
    comparison = compare(pair(30, 2), pairs="all", test="t", confidence=0.9)
    title, header, _, row, _ = (re.split("  +", line) for line in repr(comparison).splitlines())
    assert title == ["All pairs by the t test"]
    columns = ["metric", "model", "versus", "baseline", "mean", "difference", "90 % interval"]
    assert header == [*columns, "p (holm)", "wins/ties/losses"]
    one = comparison["m1", "second", "first"]
    assert row[5] == f"{one.difference:+.4f}"
    assert row[-1] == f"{one.wins}/{one.ties}/{one.losses}"
    for key in ("m9", ("m9", "second"), 0, slice(2), ("m0", 0)):
        with pytest.raises(KeyError, match=r"no comparison \(.*; the comparisons are \('m0', 'se"):
            comparison[key]


SYSTEMS = pair(10, 1)
VALUES = SYSTEMS["first"].values
WEIGHTED = {name: scores_of(of.values, weights=np.arange(10)) for name, of in SYSTEMS.items()}


def with_third(**given):
    return {"systems": {**SYSTEMS, "third": scores_of(VALUES, **given)}}


REFUSED = [
    (with_third(ids=[*range(8), "new", "newer"]), r"same queries; found 4 queries in "),
    (with_third(metrics=["other"]), "the same metrics; only one of them has m0, other"),
    (with_third(weights=np.arange(10)), "the same query weights"),
    ({"systems": {**WEIGHTED, "third": scores_of(VALUES, weights=range(1, 11))}}, "same query wei"),
    (with_third(ids=list("0123456789")), r"ids of different types, such as 0 and '0'"),
    ({"systems": WEIGHTED, "test": "wilcoxon"}, "'wilcoxon' does not support query weights"),
    ({"systems": {"a": SYSTEMS["first"]}}, "at least two models; got 1"),
    ({"systems": {"a": np.ones(3)}}, r"systems\['a'\] must be a QueryScores; got a ndarray"),
    ({"systems": [SYSTEMS["first"]]}, r"\{'a': a, 'b': b\}; got a list"),
    ({"systems": SYSTEMS["first"]}, r"'b': b\}; got a QueryScores\."),
    ({"baseline": "x"}, "baseline must be one of 'first', 'second'; got 'x'"),
    ({"test": "anova"}, "test must be one of"),
    ({"correction": "bonferroni"}, "correction must be one of 'holm', 'tukey', None"),
    ({"correction": "tukey"}, "use it with pairs='all' and without by="),
    ({"correction": "tukey", "pairs": "all", "by": np.arange(10)}, "use it with pairs='all' and"),
    ({"pairs": "every"}, "pairs must be one of 'baseline', 'all'"),
    ({"n_resamples": 1.5}, "n_resamples must be an integer of at least 1"),
    ({"confidence": 0}, "confidence must be between 0 and 1"),
    *(({"margin": of}, "margin must be") for of in (0, -0.1, {"mrr": 0.1}, math.nan)),
]


@pytest.mark.parametrize(("given", "message"), REFUSED)
def test_refusals(given, message):
    with pytest.raises((TypeError, ValueError), match=message):
        compare(**{"systems": SYSTEMS, **given})
