"""Symmetric means, compared with exact fractions."""

import itertools
from fractions import Fraction
from math import comb, prod

import numpy as np
import pytest

from sklearn_rankscore.ranking import symmetric_means as module
from sklearn_rankscore.ranking.symmetric_means import symmetric_means


def exact(factors, degree):
    """e_j / C(m, j), from the coefficients of the product of (1 + f x)."""
    e = [Fraction(1)] + [Fraction(0)] * degree
    for factor in map(Fraction, factors):
        e = [e[0], *(e[j] + factor * e[j - 1] for j in range(1, degree + 1))]
    return [float(e[j] / comb(len(factors), j)) for j in range(1, degree + 1)]


@pytest.mark.parametrize("pool", [[0.0, 1.0], [0.25, 0.5, 1.0], np.linspace(0, 1, 97)])
@pytest.mark.parametrize("step", [1, 2**15])
def test_means_of_several_groups(pool, step, monkeypatch):
    monkeypatch.setattr(module, "STEP", step)
    random = np.random.default_rng(0)
    sizes = np.array([2, 3, 2, 7, 40, 5, 300, 2])
    factors = random.choice(pool, sizes.sum() + 5)
    starts, n_degrees = 5 + np.cumsum(sizes) - sizes, np.minimum(sizes, 12)
    groups = [factors[start : start + size] for start, size in zip(starts, sizes, strict=True)]
    expected = [exact(group, n) for group, n in zip(groups, n_degrees, strict=True)]
    actual = symmetric_means(factors, starts, sizes, n_degrees)
    np.testing.assert_allclose(actual, np.concatenate(expected), rtol=1e-13, atol=1e-20)


def test_the_definition_over_all_subsets():
    factors = np.array([0.9, 0.1, 0.1, 0.6, 0.0])
    actual = symmetric_means(factors, np.array([0]), np.array([5]), np.array([5]))
    for j, mean in enumerate(actual, start=1):
        products = [prod(subset) for subset in itertools.combinations(factors, j)]
        assert mean == pytest.approx(np.mean(products), rel=1e-14, abs=1e-20)


def test_many_distinct_factors_of_one_group():
    """Two factors of two, of many: the mean of degree 2 from sums of powers."""
    factors = np.random.default_rng(0).random(200_000)
    actual = symmetric_means(factors, np.array([0]), np.array([len(factors)]), np.array([2]))
    pairs = (factors.sum() ** 2 - (factors**2).sum()) / len(factors) / (len(factors) - 1)
    np.testing.assert_allclose(actual, [factors.mean(), pairs], rtol=1e-12)
