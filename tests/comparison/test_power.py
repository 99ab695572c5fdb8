"""Sample sizes, non-inferiority and equivalence, against statsmodels and simulation."""

import itertools
import math
from importlib import import_module

import numpy as np
import pytest
from query_values import pair_of
from scipy import stats

from sklearn_rankscore import compare


@pytest.fixture
def differences():
    return np.random.default_rng(0).normal(0.01, 0.1, size=60)


@pytest.mark.integration
def test_sample_sizes_are_those_of_statsmodels(differences):
    solver = import_module("statsmodels.stats.power").TTestPower()
    compared = compare(pair_of(differences, ["dcg"]), test="t", confidence=0.9)
    deviation = differences.std(ddof=1)
    for power, difference in itertools.product([0.5, 0.8, 0.95], [0.003, -0.02, 0.1]):
        given = {"effect_size": abs(difference) / deviation, "alpha": 0.1, "power": power}
        expected = {("dcg", "b"): math.ceil(solver.solve_power(**given))}
        assert compared.queries_needed(difference, power) == expected
    for n in (None, 25, 4000):
        effect = solver.solve_power(nobs=n or 60, alpha=0.1, power=0.8)
        (detectable,) = compared.detectable_difference(n_queries=n).values()
        assert detectable == pytest.approx(effect * deviation, rel=1e-4)


@pytest.mark.parametrize(("effect", "n"), [(0.2, 199), (0.5, 34), (0.8, 15)])
def test_sample_sizes_of_small_medium_and_large_effects(differences, effect, n):
    """As G*Power has them for pairs, a power of .8 and a level of .05."""
    compared = compare(pair_of(differences, ["dcg"]), test="t")
    difference = effect * differences.std(ddof=1)
    assert compared.queries_needed(difference) == {("dcg", "b"): n}
    (fewer,), (as_many,) = (
        compared.detectable_difference(n_queries=of).values() for of in (n - 1, n)
    )
    assert as_many <= difference < fewer


def test_sample_sizes_at_the_limits(differences):
    same, shifted, single, observed = (
        compare(pair_of(of, ["dcg"]), test="t")
        for of in (np.zeros(20), np.full(20, 0.1), [0.5], differences)
    )
    assert same.queries_needed() == {("dcg", "b"): math.inf}
    for one in (same, shifted):
        for numbers in (one.queries_needed(0.1), one.detectable_difference(n_queries=50)):
            assert math.isnan(numbers["dcg", "b"])
    for one in (same, shifted, single):
        assert math.isnan(one.detectable_difference()["dcg", "b"])
    assert observed.queries_needed() == observed.queries_needed(differences.mean())


REFUSED = [
    *(("detectable_difference", {"n_queries": n}, "n_queries must be an integer of at least 2")
      for n in (0, 1, -5, 2.5)),
    ("queries_needed", {"power": 80}, "power must be between 0 and 1"),
    ("queries_needed", {"difference": "x"}, "difference must be a number; got 'x'"),
    ("queries_needed", {"difference": math.nan}, "difference must be finite"),
]  # fmt: skip


@pytest.mark.parametrize(("method", "options", "message"), REFUSED)
def test_refusals(differences, method, options, message):
    compared = compare(pair_of(differences), test="t")
    with pytest.raises((TypeError, ValueError), match=message):
        getattr(compared, method)(**options)


@pytest.mark.integration
def test_one_sided_tests_without_skewness_are_ttost_paired(differences):
    ttost_paired = import_module("statsmodels.stats.weightstats").ttost_paired
    differences = np.concatenate([differences, 2 * differences.mean() - differences])
    second = differences + 0.5
    for margin in (0.005, 0.03, 0.2):
        (one,) = compare(pair_of(differences, ["dcg"]), test="t", margin=margin)
        p, lower, upper = ttost_paired(second, np.full(120, 0.5), -margin, margin)
        assert one.equivalence_p_value == pytest.approx(p)
        assert one.noninferiority_p_value == pytest.approx(lower[1])
        assert max(lower[1], upper[1]) == p


@pytest.mark.parametrize(
    ("n", "margin"), [(50, 0.2), (100, 0.1), (200, 0.05), (200, 0.1), (500, 0.05), (2000, 0.02)]
)
def test_losses_as_frequent_as_the_margin_are_rarely_no_worse(n, margin):
    """Few losses, whose variance is underestimated with the mean, against the binomial test."""
    n_lost = np.arange(1, int(n * margin))
    lost, names = (np.arange(n)[:, None] < n_lost) * -1.0, [f"hit_rate@{i}" for i in n_lost]
    compared = compare(pair_of(lost, names, start=1), test="t", margin=margin, correction=None)
    p_values = np.array([one.noninferiority_p_value for one in compared])
    assert (np.diff(p_values) > 0).all()  # one more loss is no argument for the model
    exact = stats.binom.cdf(n_lost, n, margin)
    relevant = (exact > 0.01) & (exact < 0.2)
    np.testing.assert_allclose(p_values[relevant], exact[relevant], rtol=0.2)
    probabilities = stats.binom.pmf(n_lost, n, margin)
    assert probabilities[p_values <= 0.05].sum() < 0.06


@pytest.mark.parametrize(
    ("center", "margin", "expected"),
    [
        (0.1, 0.01, "better"),
        (-0.1, 0.01, "worse"),
        (0.0, 0.05, "equivalent"),
        (0.02, 0.022, "no worse"),
        (0.0, 0.005, "undecided"),
    ],
)
def test_verdicts(center, margin, expected):
    noise = np.random.default_rng(0).normal(size=40)
    noise = (noise - noise.mean()) / noise.std() * 0.08
    compared = compare(pair_of(noise + center, ["dcg"]), test="t", margin=margin)
    assert compared["dcg", "b"].verdict == expected
    assert repr(compared).splitlines()[2].endswith(expected)
    assert compared.to_frame()["verdict"].tolist() == [expected]


@pytest.mark.parametrize("n", [10, 400])
def test_equal_systems_are_equivalent_only_with_enough_queries(n):
    (one,) = compare(pair_of(np.zeros(n), ["mrr"]), margin=0.05)
    # with a share x of queries that are worse by 1, none of n is seen with probability (1 - x)**n
    assert one.equivalence_p_value == pytest.approx(0.95**n, abs=0.02)
    assert one.verdict == ("undecided" if n == 10 else "equivalent")


def test_margins_by_metric(differences):
    both = pair_of(np.column_stack([differences, differences]), ["dcg", "hits"])
    compared = compare(both, margin={"hits": 0.02, "dcg": 0.05}, test="t", correction=None)
    for one, margin in zip(compared, [0.05, 0.02], strict=True):
        (alone,) = compare(pair_of(differences, ["dcg"]), test="t", margin=margin)
        assert one.equivalence_p_value == pytest.approx(alone.equivalence_p_value)
