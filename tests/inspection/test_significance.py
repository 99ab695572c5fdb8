"""Significance tests of many queries, where resampling gives way to an approximation."""

import numpy as np
import pytest
from scipy import stats

from sklearn_rankscore import QueryScores, compare
from sklearn_rankscore.inspection import significance


def p_values(differences, weights=None, test="permutation", **options):
    zeros = np.zeros_like(differences)
    names = [f"m{i}" for i in range(differences.shape[1])]
    systems = {
        name: QueryScores(np.arange(len(values)), values, names, weights)
        for name, values in {"a": zeros, "b": differences}.items()
    }
    compared = compare(systems, test=test, correction=None, random_state=0, **options)
    return np.array([one.p_value for one in compared])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n", [60, 400])
def test_the_approximation_is_the_permutation_test(n, weighted, monkeypatch):
    """Skewed differences with effects from none to three standard errors."""
    random = np.random.default_rng(n)
    effects = np.arange(6) * 0.6 * 15**0.5 / n**0.5
    differences = random.normal(size=(n, 6)) ** 3 + effects
    differences[::7] = 0
    weights = random.uniform(0.2, 3, size=n) if weighted else None
    resampled = p_values(differences, weights, n_resamples=100_000)
    monkeypatch.setattr(significance, "MOST_RESAMPLED", 10)
    approximate = p_values(differences, weights)
    assert (approximate != resampled).all()
    error = np.sqrt(resampled / 100_000)
    np.testing.assert_array_less(np.abs(approximate - resampled), 4 * error + 0.02 * resampled)


def test_equal_sizes_of_many_differences_are_the_sign_test():
    differences = np.zeros((3000, 2))
    differences[:1200, 0], differences[1200:2300, 0] = 0.5, -0.5
    differences[:2000, 1] = 1
    expected = stats.binomtest(1200, 2300).pvalue
    assert p_values(differences) == pytest.approx([expected, 0])


def test_many_differences_agree_with_the_t_test():
    differences = np.random.default_rng(0).normal(0.0005, 0.1, size=(200_000, 5))
    expected = stats.ttest_1samp(differences, 0).pvalue
    assert p_values(differences) == pytest.approx(expected, rel=1e-3)
    mirrored = np.vstack([differences, -differences])
    assert p_values(mirrored) == pytest.approx(1, abs=1e-6)


def test_weighted_t_test_of_equal_weights_is_scipys():
    differences = np.random.default_rng(1).normal(0.1, 1, size=(15, 4))
    expected = stats.ttest_1samp(differences, 0).pvalue
    assert p_values(differences, np.full(15, 2.0), "t") == pytest.approx(expected)
