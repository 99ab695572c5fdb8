"""Symmetric means, compared with exact fractions."""

import itertools
from fractions import Fraction
from math import comb, prod

import numpy as np
import pytest

from sklearn_rankscore.ranking import factor_groups, polynomials, power_sums
from sklearn_rankscore.ranking import symmetric_means as module
from sklearn_rankscore.ranking.symmetric_means import LOW_DEGREE, symmetric_means


def exact(factors, degree):
    """e_j / C(m, j), from the coefficients of the product of (1 + f x)."""
    e = [Fraction(1)] + [Fraction(0)] * degree
    for factor in map(Fraction, factors):
        e = [e[0], *(e[j] + factor * e[j - 1] for j in range(1, degree + 1))]
    return [float(e[j] / comb(len(factors), j)) for j in range(1, degree + 1)]


@pytest.mark.parametrize("pool", [[0.0, 1.0], [0.25, 0.5, 1.0], np.linspace(0, 1, 97)])
@pytest.mark.parametrize("step", [1, 2**15])
def test_means_of_several_groups(pool, step, monkeypatch):
    for file in (factor_groups, module):
        monkeypatch.setattr(file, "AT_ONCE", step)
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


@pytest.mark.parametrize("size", [LOW_DEGREE, LOW_DEGREE + 1, 700, 1500])
def test_equal_factors_near_one(size):
    """All degrees matter, with coefficients that are large or small unless they are scaled."""
    actual = symmetric_means(np.full(size, 0.99), np.array([0]), np.array([size]), np.array([size]))
    np.testing.assert_allclose(actual, 0.99 ** np.arange(1, size + 1), rtol=1e-13, atol=1e-19)


GRADES = 1 - (2.0 ** np.arange(5) - 1) / 16


@pytest.mark.parametrize("size", [1, 31, 33, 120])
@pytest.mark.parametrize("pool", [GRADES, GRADES[:1], GRADES[[0, 4]], [1e-9, 0.3, 1 - 1e-9]])
def test_few_distinct_factors(size, pool):
    """All degrees, or few of them."""
    factors = np.random.default_rng(size).choice(pool, size)
    for n in {min(size, n) for n in (5, 32, 33, 150)}:
        actual = symmetric_means(factors, np.array([0]), np.array([size]), np.array([n]))
        np.testing.assert_allclose(actual, exact(factors, n), rtol=1e-13, atol=1e-17)


@pytest.mark.parametrize("part", [1, 2**18])
@pytest.mark.parametrize("at_once", [1, 200, 1000, 2**15, 2**20])
def test_a_group_does_not_depend_on_the_others(part, at_once, monkeypatch):
    """Bit by bit, whichever groups are in the same step, before or after it."""
    random = np.random.default_rng(0)
    sizes = random.permutation(np.repeat([2, 40, 1200, 50, 120, 50, 65, 3001, 900], 4))
    n_degrees = np.minimum(sizes, random.choice([3, 35, 200, 900], len(sizes)))
    factors = random.choice(GRADES, sizes.sum())
    factors[: len(factors) // 2] = random.uniform(0.9, 1, len(factors) // 2)
    factors[-9000:] = random.choice([1.0, 0.5], 9000, p=[0.99, 0.01])
    starts = np.cumsum(sizes) - sizes
    alone = [
        symmetric_means(factors, *(a[i : i + 1] for a in (starts, sizes, n_degrees)))
        for i in range(len(sizes))
    ]
    monkeypatch.setattr(module, "PART", part)
    for place in (factor_groups, power_sums, polynomials):
        monkeypatch.setattr(place, "AT_ONCE", at_once)
    together = symmetric_means(factors, starts, sizes, n_degrees)
    np.testing.assert_array_equal(together, np.concatenate(alone))


@pytest.mark.parametrize(
    ("factors", "n", "top"),
    [
        (GRADES, [400, 400, 300, 200, 201], 150),
        (GRADES[:2], [1450, 50], 1500),  # few would stop, so that all degrees matter
        (np.array([0.0, 1.0]), [2, 1198], 1200),
        (np.array([0.0, 0.5, 1.0]), [3, 30, 1000], 1033),
        (np.array([1 / 960, 1.0]), [240, 960], 150),
        (np.array([1 / 16, 0.5, 1.0]), [40, 30, 1100], 400),
        (np.array([0.5, 0.75, 1.0]), [300, 300, 10_000], 400),
        (np.array([0.5]), [1001], 150),
        (np.array([1.0]), [1001], 1001),
        (np.array([0.0]), [1001], 40),
    ],
)
def test_large_groups_with_few_distinct_factors(factors, n, top):
    """Exact coefficients of the product of (1 + q x)^n, as integers."""
    size, e = sum(n), [1] + [0] * top
    for q, times in zip((round(960 * q) for q in factors), n, strict=True):
        term = [comb(times, i) * q**i for i in range(min(times, top) + 1)]
        while not term[-1]:
            term.pop()
        e = [sum(t * e[j - i] for i, t in enumerate(term[: j + 1])) for j in range(top + 1)]
    expected = [float(Fraction(e[j], comb(size, j) * 960**j)) for j in range(1, top + 1)]
    values = np.random.default_rng(0).permutation(np.repeat(factors, n))
    actual = symmetric_means(values, np.array([0]), np.array([size]), np.array([top]))
    np.testing.assert_allclose(actual, expected, rtol=1e-13, atol=1e-17)


def test_large_groups_of_documents_that_almost_surely_stop_the_user():
    """40 with the factor 2^-40, as documents of the grade 40 in ERR, among 1,100 with 1."""
    expected, scale = [], 2**40
    for j in range(1, 201):
        ways = [comb(40, i) * comb(1100, j - i) * scale ** (j - i) for i in range(min(j, 40) + 1)]
        expected.append(float(Fraction(sum(ways), comb(1140, j) * scale**j)))
    factors = np.repeat([1 / scale, 1.0], [40, 1100])
    actual = symmetric_means(factors, np.array([0]), np.array([1140]), np.array([200]))
    np.testing.assert_allclose(actual, expected, rtol=1e-13, atol=1e-17)


BLOCK = polynomials.BLOCK


@pytest.mark.parametrize("size", [2, BLOCK, BLOCK + 1, 3 * BLOCK + 3])
@pytest.mark.parametrize("least", [0, 0.9])
def test_many_distinct_factors(size, least):
    """One block, two, and several of which one has no partner; some factors twice."""
    factors = np.random.default_rng(0).uniform(least, 1, size)
    factors[: size // 3] = factors[size // 3 : 2 * (size // 3)]
    actual = symmetric_means(factors, np.array([0]), np.array([size]), np.array([size]))
    np.testing.assert_allclose(actual, exact(factors, size), rtol=1e-13, atol=1e-17)


@pytest.mark.parametrize(("size", "top"), [(LOW_DEGREE + 30, LOW_DEGREE), (730, 700), (1500, 1500)])
@pytest.mark.parametrize("least", [0, 0.8])
def test_many_distinct_factors_of_which_most_degrees_matter(size, top, least):
    """On both sides of the degree up to which coefficients are computed; multiples of 2^-8."""
    random, scale = np.random.default_rng(0), 2**8
    factors = np.rint(scale * random.uniform(least, 1, size)) / scale
    factors[random.random(size) < 0.9] = 1.0
    e = [1] + [0] * top
    for factor in (factors * scale).astype(int).tolist():
        e = [1, *(e[j] + factor * e[j - 1] for j in range(1, top + 1))]
    expected = [float(Fraction(e[j], comb(size, j) * scale**j)) for j in range(1, top + 1)]
    actual = symmetric_means(factors, np.array([0]), np.array([size]), np.array([top]))
    np.testing.assert_allclose(actual, expected, rtol=1e-13, atol=1e-17)


def test_a_small_group_beside_a_large_one():
    """As many degrees as documents: no overflow at those that the small one does not have."""
    factors = np.append(np.ones(300_000), np.resize([0.8, 0.9], 300))
    sizes = np.array([300_000, 300])
    actual = symmetric_means(factors, np.array([0, 300_000]), sizes, sizes)
    assert (actual[:300_000] == 1.0).all()
    alone = symmetric_means(factors[300_000:], np.array([0]), sizes[1:], sizes[1:])
    np.testing.assert_array_equal(actual[300_000:], alone)


def test_the_mean_of_many_factors_near_one():
    factors = 1 - 1e-10 * np.random.default_rng(0).random(100_000)
    actual = symmetric_means(factors, np.array([0]), np.array([100_000]), np.array([1000]))
    assert 1 - actual[0] == pytest.approx(np.mean(1 - factors), abs=1e-15)


def test_equal_factors_of_adjacent_groups():
    sizes, tops = np.array([500, 400, 300]), np.array([300, 400, 300])
    starts = np.cumsum(sizes) - sizes
    actual = symmetric_means(np.full(1200, 0.99), starts, sizes, tops)
    expected = np.concatenate([0.99 ** np.arange(1, top + 1) for top in tops])
    np.testing.assert_allclose(actual, expected, rtol=1e-13)


def test_each_group_has_few_factors_of_its_own():
    """Bit by bit as alone, and exact; groups whose factors all differ are among them."""
    random = np.random.default_rng(0)
    sizes = random.permutation(np.repeat([1, 3, 40, 300], 20))
    groups = [random.choice(random.random(3 if size > 3 else size), size) for size in sizes]
    starts, n_degrees = np.cumsum(sizes) - sizes, np.minimum(sizes, 60)
    actual = symmetric_means(np.concatenate(groups), starts, sizes, n_degrees)
    alone = [
        symmetric_means(group, np.array([0]), np.array([len(group)]), np.array([n]))
        for group, n in zip(groups, n_degrees, strict=True)
    ]
    np.testing.assert_array_equal(actual, np.concatenate(alone))
    expected = [exact(group, n) for group, n in zip(groups[:20], n_degrees, strict=False)]
    np.testing.assert_allclose(np.concatenate(alone[:20]), np.concatenate(expected), 1e-12, 1e-17)


@pytest.mark.parametrize("noise", [0, 9e-13])
def test_a_large_group_of_many_multiples(noise):
    """Rounded to 60,000 values; the mean of degree 2 from sums of powers."""
    random = np.random.default_rng(0)
    factors = random.integers(0, 961, 80_000) / 960
    factors = np.clip(factors + random.uniform(-noise, noise, len(factors)), 0, 1)
    m = len(factors)
    actual = symmetric_means(factors, np.array([0]), np.array([m]), np.array([2]))
    pairs = (factors.sum() ** 2 - (factors**2).sum()) / m / (m - 1)
    np.testing.assert_allclose(actual, [factors.mean(), pairs], rtol=1e-12)


@pytest.mark.parametrize(("size", "top"), [(250, 250), (600, 600), (600, 60)])
def test_groups_with_different_numbers_of_terms(size, top):
    """Bit by bit as alone: of power sums, and of the number of stops, few or many distinct."""
    random = np.random.default_rng(0)
    low = np.repeat([0.1, 0.5, 0.85, 0.95], 10)
    groups = [random.uniform(least, 1, size) for least in low]
    groups += [np.full(size, factor) for factor in np.linspace(0.5, 0.95, 200)]
    groups += [random.choice([least, 0.7, 1.0], size, p=[0.2, 0.1, 0.7]) for least in low]
    starts = size * np.arange(len(groups))
    sizes, tops = np.full(len(groups), size), np.full(len(groups), top)
    actual = symmetric_means(np.concatenate(groups), starts, sizes, tops)
    alone = [symmetric_means(group, starts[:1], sizes[:1], tops[:1]) for group in groups]
    np.testing.assert_array_equal(actual, np.concatenate(alone))


@pytest.mark.parametrize("size", [63, 100, 250, 300, 1000, 1700, 2000, 3000])
def test_means_do_not_increase(size):
    """Otherwise, their differences would be negative probabilities."""
    for factors in (np.ones(size), 1 - 1e-15 * np.random.default_rng(0).random(size)):
        means = symmetric_means(
            factors, np.array([0]), np.array([size]), np.array([min(size, 300)])
        )
        assert (np.diff(means, prepend=1.0) <= 0).all()


@pytest.mark.parametrize("pool", [[15 / 16, 1], np.linspace(15 / 16, 1, 40)])
def test_a_small_group_does_not_overflow_beside_one_with_more_stops(pool):
    sizes, tops = np.array([1030, 250_000]), np.array([1030, 1300])
    factors = np.random.default_rng(0).choice(pool, sizes.sum())
    starts = np.array([0, 1030])
    actual = symmetric_means(factors, starts, sizes, tops)
    alone = symmetric_means(factors, starts[:1], sizes[:1], tops[:1])
    np.testing.assert_array_equal(actual[:1030], alone)
