"""compare: differences of models, paired by query."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pytest

from sklearn_rankscore import QueryScores, compare, query_scores
from sklearn_rankscore.comparison.significance import holm


def scores(values, ids=None, metrics=None, weights=None):
    values = np.asarray(values, dtype=float)
    values = values[:, None] if values.ndim == 1 else values
    ids = np.arange(len(values)) if ids is None else ids
    return QueryScores(ids, values, metrics or [f"m{i}" for i in range(values.shape[1])], weights)


def pair(n_queries=40, n_metrics=2, seed=0, effect=0.03):
    random = np.random.default_rng(seed)
    first = random.beta(2, 1, size=(n_queries, n_metrics))
    second = np.clip(first + random.normal(effect, 0.1, size=first.shape), 0, 1)
    return {"first": scores(first), "second": scores(second)}


@pytest.mark.filterwarnings("ignore:in nearly all queries:UserWarning")
def test_large_values_that_differ_by_rounding_are_ties():
    """Clicks weighted by propensities of about 1e-4, summed in another order."""
    rng, n = np.random.default_rng(0), 40
    scores, propensity = rng.random((2, 5 * n)), rng.uniform(1e-4, 1e-3, 5 * n)
    both = query_scores(
        np.ones(5 * n),
        {"a": scores[0], "b": scores[1]},
        "hits@5",
        groups=np.repeat(np.arange(n), 5),
        propensity=propensity,
    )
    assert np.ptp([both["a"].values, both["b"].values], axis=0).max() > 1e-12
    result = compare(both, test="t")["hits@5", "b"]
    assert (result.wins, result.ties, result.losses, result.p_value) == (0, n, 0, 1)


def test_a_model_is_not_better_if_the_test_speaks_for_the_baseline():
    """Thirty small losses against one large win: the ranks and the mean have different signs."""
    values = np.append(0.09 - 0.0001 * np.arange(30), 1.0)
    systems = {"first": scores(np.full(31, 0.1)), "second": scores(values)}
    compared = compare(systems, test="wilcoxon", margin=0.001)
    one = compared["m0", "second"]
    assert one.difference > 0
    assert one.direction == -1
    assert one.p_value < 0.001
    assert one.verdict == "undecided"
    assert not compared.system_table().better_than
    reverse = compare(systems, baseline="second", test="wilcoxon", margin=0.001)["m0", "first"]
    assert (reverse.direction, reverse.verdict) == (1, "undecided")
    assert compare(systems)["m0", "second"].direction == 1


@pytest.mark.parametrize(
    ("family", "key"),
    [
        ("metric", lambda d: (d.metric, d.segment.column)),
        ("metrics", lambda d: d.segment.column),
        ("all", lambda d: None),
    ],
)
@pytest.mark.parametrize("pairs", ["baseline", "all"])
def test_holm_adjusts_each_family_by_itself(family, key, pairs):
    systems = {**pair(60, 2), "third": pair(60, 2, 9)["second"], "fourth": pair(60, 2, 5)["second"]}
    by = {"device": np.arange(60) % 2, "country": np.arange(60) % 3}
    given = {"by": by, "pairs": pairs, "margin": 0.02, "test": "t"}
    raw = compare(systems, **given, correction=None)
    adjusted = compare(systems, **given, family=family)
    kinds = ("p_value", "rest_p_value", "noninferiority_p_value", "equivalence_p_value")
    for kind in kinds:
        families = {}
        for one, of in zip(raw, adjusted, strict=True):
            p_value = getattr(one, kind)
            got = getattr(of, "adjusted_p_value" if kind == "p_value" else kind)
            families.setdefault(key(one), []).append((p_value, got))
        for tests in families.values():
            values = np.array([np.nan if p is None else p for p, _ in tests])
            got = [np.nan if p is None else p for _, p in tests]
            np.testing.assert_allclose(got, holm(values))


def test_every_table_says_which_family_was_corrected():
    systems = {**pair(60, 2), "third": pair(60, 2, 9)["second"]}
    by = np.arange(60) % 2
    expected = {
        "metric": "all comparisons with first, each metric by itself",
        "metrics": "all comparisons with first, all metrics together",
        "all": "all tests",
    }
    for family, note in expected.items():
        compared = compare(systems, test="t", by=by, family=family)
        table = compared.system_table()
        for one in (compared, table):
            for text in (str(one), one._repr_html_(), one.to_markdown(), one.to_latex()):
                assert f"adjusted by holm for {note}" in text
        assert ("; those of segments, for the segments of a column" in str(compared)) == (
            family != "all"
        )
    plain = compare(systems, test="t", correction=None)
    assert "adjusted" not in str(plain) + str(plain.system_table())
    tukey = compare(systems, correction="tukey", pairs="all")
    assert "adjusted by tukey for the pairs of each metric" in str(tukey)
    segments = QueryScores(range(60), systems["first"].values, ["m0", "m1"]).by(by)
    assert "adjusted by holm for the segments of a column, each metric by itself" in str(segments)


def test_an_interval_does_not_depend_on_the_correction():
    """Significance is a mark, and the interval is the interval."""
    systems = {**pair(30, 2), "third": pair(30, 2, 9)["second"]}
    by = np.arange(30) % 2
    given = {"by": by, "random_state": 0}
    plain = compare(systems, correction=None, **given)
    for one, other in zip(compare(systems, family="all", **given), plain, strict=True):
        assert one.interval == other.interval


@pytest.mark.parametrize("n", [10, 15, 30])
@pytest.mark.parametrize("deviation", [0, 0.005])
def test_small_wins_that_hide_rare_losses_get_no_verdict(n, deviation):
    """Fifteen wins of about .01 say nothing of a query that loses .5."""
    wins = 0.01 + deviation * np.linspace(-1, 1, n)
    systems = {
        "a": scores(np.full(n, 0.5), metrics=["ndcg"]),
        "b": scores(0.5 + wins, metrics=["ndcg"]),
    }
    for options in ({}, {"method": "t"}, {"method": "bootstrap"}):
        compared = compare(systems, margin=0.001, random_state=0, **options)
        (one,) = compared
        assert one.p_value < 0.01
        assert one.few_distinct
        assert one.verdict == "undecided"
        assert not compared.system_table().better_than
    if not deviation:
        unknown = {name: scores(of.values, metrics=["dcg"]) for name, of in systems.items()}
        (one,) = compare(unknown, margin=0.001)
        assert (one.verdict, one.direction) == ("undecided", 0)


@pytest.mark.parametrize(
    ("values", "test", "verdict"),
    [
        # equal differences get a verdict where the range bounds all others
        (np.ones(40), "permutation", "better"),
        # one large loss among many small wins, which the ranks alone call a gain
        (np.append(0.02 * np.random.default_rng(0).random(60), -0.25), "wilcoxon", "undecided"),
    ],
)
def test_a_verdict_needs_a_test_and_an_interval(values, test, verdict):
    given = {"a": np.full(len(values), 0.0 if values.max() == 1 else 0.5)}
    given["b"] = given["a"] + values
    compared = compare({n: scores(v, metrics=["mrr"]) for n, v in given.items()}, margin=0.001,
                       test=test)  # fmt: skip
    (one,) = compared
    assert one.p_value < 0.001
    assert one.difference > 0
    assert (one.interval.low > 0.8) == (verdict == "better")
    assert one.few_distinct == (verdict == "better")
    assert one.verdict == verdict
    assert compared.system_table().better_than == {("b", "mrr"): ("a",)}


def test_means_differences_and_counts_by_hand():
    first = scores([[0.1, 1.0], [0.5, 0.0], [0.3, 0.2], [0.9, 0.4]])
    second = scores([[0.3, 0.0], [0.5, 0.0], [0.1 + 0.2, 0.3], [0.7, 0.4]])  # 0.1 + 0.2 > 0.3
    comparison = compare({"a": first, "b": second})
    one = comparison["m0", "b"]
    assert (one.wins, one.ties, one.losses) == (1, 2, 1)
    assert one.difference == pytest.approx(0.0, abs=1e-12)
    two = comparison["m1", "b"]
    assert (two.wins, two.ties, two.losses) == (1, 2, 1)
    assert (two.baseline_mean, two.model_mean) == pytest.approx((0.4, 0.175))
    assert two.difference == pytest.approx(-0.225)
    assert two.interval.low < -0.225 < two.interval.high


def test_queries_are_paired_by_id_and_metrics_by_name():
    systems = pair(20, 2)
    order = np.random.default_rng(1).permutation(20)
    second = systems["second"]
    mixed = QueryScores(second.ids[order], second.values[order][:, ::-1], ["m1", "m0"])
    expected = compare(systems, random_state=0)
    comparison = compare({"first": systems["first"], "second": mixed}, random_state=0)
    assert comparison.differences == expected.differences
    for forth in expected:
        back = compare(systems, baseline="second")[forth.metric, "first"]
        assert back.difference == pytest.approx(-forth.difference)
        assert (back.wins, back.losses) == (forth.losses, forth.wins)


def test_a_query_undefined_for_either_is_left_out():
    first = scores([0.1, np.nan, 0.5, 0.6])
    second = scores([np.nan, 0.9, 0.7, 0.7])
    one = compare({"a": first, "b": second})["m0", "b"]
    assert (one.baseline_mean, one.model_mean) == pytest.approx((0.55, 0.7))
    assert one.wins + one.ties + one.losses == 2
    never = compare({"a": first, "b": scores([np.nan] * 4)})["m0", "b"]
    assert math.isnan(never.p_value)
    assert math.isnan(never.difference)


@pytest.mark.parametrize("test", ["permutation", "t", "wilcoxon"])
def test_equal_models_are_not_different(test):
    same = pair(25, 1)["first"]
    one = compare({"a": same, "b": same}, test=test)["m0", "b"]
    assert (one.p_value, one.difference, one.ties) == (1.0, 0.0, 25)
    # no difference in 25 queries: more than 1 - .025 ** (1 / 25) of the queries would have shown
    assert one.few_distinct
    assert one.interval == pytest.approx((0.025 ** (1 / 25) - 1, 1 - 0.025 ** (1 / 25)), abs=1e-3)


@pytest.mark.parametrize("test", ["permutation", "t"])
def test_a_query_of_weight_zero_is_as_if_absent(test):
    systems = pair(40, 1)
    weights = np.where(np.arange(40) < 12, 1.0, 0.0)
    weighted = {n: scores(s.values, weights=weights) for n, s in systems.items()}
    absent = {n: scores(s.values[:12]) for n, s in systems.items()}
    with_zeros, expected = (compare(s, test=test, random_state=0) for s in (weighted, absent))
    for a, b in zip(with_zeros.differences, expected.differences, strict=True):
        assert a.p_value == pytest.approx(b.p_value)
        assert (a.wins, a.ties, a.losses) == (b.wins, b.ties, b.losses)


def test_tables_and_frames():
    comparison = compare(pair(30, 2), test="t", method="t", confidence=0.9)
    lines = repr(comparison).splitlines()
    assert lines[0] == "Compared with 'first' by the t test"
    assert lines[1].split("  ")[-1] == "wins/ties/losses"
    assert "90 % interval" in lines[1]
    assert "p (holm)" in lines[1]
    one = comparison["m1", "second"]
    assert f"{one.difference:+.4f}" in lines[3]
    assert f"<td>{one.wins}/{one.ties}/{one.losses}</td>" in comparison._repr_html_()
    for library, kind in (("pandas", pd.DataFrame), ("polars", pl.DataFrame)):
        frame = comparison.to_frame(library)
        assert isinstance(frame, kind)
        assert frame["p_value"].to_list() == [d.p_value for d in comparison.differences]
        assert frame["high"].to_list()[1] == one.interval.high
    for key in ("m9", ("m9", "second"), 0, slice(2), ("m0", 0)):
        with pytest.raises(KeyError, match=r"no comparison \(.*; the comparisons are \('m0', 'se"):
            comparison[key]


def test_the_test_of_a_table_is_the_one_that_was_used():
    both = compare(pair(), pairs="all", correction="tukey", test="t")
    for text in (str(both), str(both.system_table())):
        assert "randomized Tukey HSD test" in text
        assert "t test" not in text.replace("HSD test", "")
    both = compare(pair(), test="t")
    assert "by the t test" in str(both)
    assert "t test at the level of 0.05, adjusted by holm for all comparisons with first" in str(
        both.system_table()
    )


def test_refuses_what_cannot_be_paired():
    systems = pair(10, 1)
    values, weights = systems["first"].values, np.arange(10)
    text = scores(values, list(map(str, range(10))))
    third = [
        (
            scores(values, [*range(8), "new", "newer"]),
            r"same queries; found 4 queries in ",
        ),
        (scores(values, metrics=["other"]), "the same metrics; only one of them has m0, other"),
        (scores(values, weights=weights), "the same query weights"),
    ]
    for other, message in third:
        with pytest.raises(ValueError, match=message):
            compare({**systems, "third": other})
    with pytest.raises(TypeError, match=r"ids of different types, such as 0 and '0'. Convert"):
        compare({**systems, "third": text})
    weighted = {n: scores(s.values, weights=weights) for n, s in systems.items()}
    with pytest.raises(ValueError, match="'wilcoxon' does not support query weights"):
        compare(weighted, test="wilcoxon")


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"systems": {"a": pair()["first"]}}, ValueError, "at least two models; got 1"),
        (
            {"systems": {"a": np.ones(3), "b": [2.0]}},
            TypeError,
            r"systems\['a'\] must be a QueryScores; got a ndarray. Compute it by query_scores",
        ),
        ({"systems": [pair()["first"]]}, TypeError, r"\{'a': a, 'b': b\}; got a list"),
        ({"systems": pair()["first"]}, TypeError, r"such as .*'b': b\}; got a QueryScores\."),
        ({"baseline": "x"}, ValueError, "baseline must be one of 'first', 'second'; got 'x'"),
        ({"test": "anova"}, ValueError, "test must be one of"),
        (
            {"correction": "bonferroni"},
            ValueError,
            "correction must be one of 'holm', 'tukey', None",
        ),
        ({"n_resamples": 1.5}, ValueError, "n_resamples must be an integer of at least 1"),
        ({"confidence": 0}, ValueError, "confidence must be between 0 and 1"),
    ],
)
def test_refuses_arguments_out_of_range(given, error, message):
    systems = given.pop("systems", pair())
    with pytest.raises(error, match=message):
        compare(systems, **given)
