"""Expected products over tie groups, compared with exact fractions; running sums and products."""

import itertools
from fractions import Fraction
from math import comb, prod

import numpy as np
import pytest

from sklearn_rankscore.ranking import ties
from sklearn_rankscore.ranking.plain import accumulate
from sklearn_rankscore.ranking.ties import expected_products

GRADES = 1 - (2.0 ** np.arange(5) - 1) / 16


def exact(factors, n):
    """e_j / C(m, j), from the coefficients of the product of (1 + f x), as integers."""
    m, scale = len(factors), max(Fraction(f).denominator for f in set(factors))
    e = [1] + [0] * n
    for factor in [int(Fraction(f) * scale) for f in factors]:
        e = [1, *(e[j] + factor * e[j - 1] for j in range(1, n + 1))]
    return [float(Fraction(e[j], comb(m, j) * scale**j)) for j in range(1, n + 1)]


def exact_of_counts(factors, counts, n):
    """The same of factors that are multiples of 1/960, of which each occurs many times."""
    e = [1] + [0] * n
    for q, times in zip((round(960 * f) for f in factors), counts, strict=True):
        term = [comb(times, i) * q**i for i in range(min(times, n) + 1)]
        while not term[-1]:
            term.pop()
        e = [sum(t * e[j - i] for i, t in enumerate(term[: j + 1])) for j in range(n + 1)]
    return [float(Fraction(e[j], comb(sum(counts), j) * 960**j)) for j in range(1, n + 1)]


def of_one(factors, n):
    return expected_products(factors, np.array([0]), np.array([len(factors)]), np.array([n]))


def test_the_definition_over_all_subsets():
    factors = np.array([0.9, 0.1, 0.1, 0.6, 0.0])
    for j, mean in enumerate(of_one(factors, 5), start=1):
        products = [prod(subset) for subset in itertools.combinations(factors, j)]
        assert mean == pytest.approx(np.mean(products), rel=1e-14, abs=1e-20)


@pytest.mark.parametrize("pool", [[0.0, 1.0], [0.25, 0.5, 1.0], np.arange(97) / 96])
@pytest.mark.parametrize("at_once", [1, 2**15])
def test_several_groups(pool, at_once, monkeypatch):
    monkeypatch.setattr(ties, "AT_ONCE", at_once)
    random = np.random.default_rng(0)
    sizes = np.array([2, 3, 2, 7, 40, 5, 300, 2])
    factors = random.choice(pool, sizes.sum() + 5)
    starts, n_degrees = 5 + np.cumsum(sizes) - sizes, np.minimum(sizes, 12)
    groups = [factors[start : start + size] for start, size in zip(starts, sizes, strict=True)]
    expected = [exact(group, n) for group, n in zip(groups, n_degrees, strict=True)]
    actual = expected_products(factors, starts, sizes, n_degrees)
    np.testing.assert_allclose(actual, np.concatenate(expected), rtol=1e-13, atol=1e-20)


@pytest.mark.parametrize("size", [1, 16, 17, 33, 120, 700])
@pytest.mark.parametrize("pool", [GRADES, GRADES[:1], GRADES[[0, 4]], [0.0, 1.0], [0.5]])
def test_grades(size, pool):
    """All degrees, or few of them."""
    factors = np.random.default_rng(size).choice(pool, size)
    for n in {min(size, n) for n in (5, 32, 150, size)}:
        np.testing.assert_allclose(of_one(factors, n), exact(factors, n), rtol=1e-12, atol=1e-17)


@pytest.mark.slow
@pytest.mark.parametrize(("size", "n"), [(2, 2), (31, 31), (93, 93), (730, 700), (1500, 1500)])
@pytest.mark.parametrize("least", [0, 0.9])
@pytest.mark.parametrize("share", [1.0, 0.1])
def test_distinct_factors(size, n, least, share):
    """Multiples of 2^-8; of the last case, only some documents can stop the user."""
    random = np.random.default_rng(0)
    factors = np.rint(2**8 * random.uniform(least, 1, size)) / 2**8
    factors[random.random(size) > share] = 1.0
    np.testing.assert_allclose(of_one(factors, n), exact(factors, n), rtol=1e-12, atol=1e-17)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("factors", "counts", "n"),
    [
        (GRADES, [400, 400, 300, 200, 201], 150),
        (GRADES[:2], [1450, 50], 1500),  # few would stop, so that all degrees matter
        (np.array([0.0, 1.0]), [2, 1198], 1200),
        (np.array([0.0, 0.5, 1.0]), [3, 30, 1000], 1033),
        (np.array([1 / 960, 1.0]), [240, 960], 150),
        (np.array([1 / 16, 0.5, 1.0]), [40, 30, 1100], 400),
        (np.array([0.5, 0.75, 1.0]), [300, 300, 10_000], 400),
        (np.array([1 / 16, 1.0]), [30_000, 10], 40),  # few would not stop
        (np.array([15 / 16, 1.0]), [10, 99_990], 300),
        (np.array([15 / 16, 1.0]), [9_000, 91_000], 300),
        (np.array([1.0]), [1001], 1001),
        (np.array([0.0]), [1001], 40),
    ],
)
def test_large_groups(factors, counts, n):
    expected = exact_of_counts(factors, counts, n)
    values = np.random.default_rng(0).permutation(np.repeat(factors, counts))
    np.testing.assert_allclose(of_one(values, n), expected, rtol=1e-12, atol=1e-17)


def test_documents_that_almost_surely_stop_the_user():
    """40 with the factor 2^-40, as documents of the grade 40 in ERR, among 1,100 with 1."""
    factors = np.repeat([2.0**-40, 1.0], [40, 1100])
    np.testing.assert_allclose(of_one(factors, 200), exact(factors, 200), rtol=1e-12, atol=1e-17)


@pytest.mark.parametrize("few", [10, 1000])
def test_the_last_degree_of_a_huge_group(few):
    """Of 100,000 documents, `few` relevant: the product of all factors, and its memory."""
    factors = np.repeat([15 / 16, 1.0], [few, 100_000 - few])
    actual = of_one(factors, 100_000)
    assert actual[-1] == pytest.approx((15 / 16) ** few, rel=1e-11, abs=1e-17)
    assert actual[0] == pytest.approx(1 - few / 100_000 / 16, rel=1e-14)


@pytest.mark.parametrize("n", [1001, 200_000])
def test_the_first_degrees_from_sums(n):
    factors = np.random.default_rng(0).random(n)
    pairs = (factors.sum() ** 2 - (factors**2).sum()) / n / (n - 1)
    np.testing.assert_allclose(of_one(factors, 2), [factors.mean(), pairs], rtol=1e-12)


def test_many_factors_near_one():
    factors = 1 - 1e-10 * np.random.default_rng(0).random(100_000)
    assert 1 - of_one(factors, 1000)[0] == pytest.approx(np.mean(1 - factors), abs=1e-15)


def test_equal_factors_of_adjacent_groups():
    sizes, tops = np.array([500, 400, 300]), np.array([300, 400, 300])
    actual = expected_products(np.full(1200, 0.99), np.cumsum(sizes) - sizes, sizes, tops)
    expected = np.concatenate([0.99 ** np.arange(1, top + 1) for top in tops])
    np.testing.assert_allclose(actual, expected, rtol=1e-12)


@pytest.mark.parametrize("at_once", [1, 1000, 50_000, 2**20])
def test_a_group_does_not_depend_on_the_others(at_once, monkeypatch):
    """Bit by bit, whichever groups are in the same step, before or after it."""
    random = np.random.default_rng(0)
    sizes = random.permutation(np.repeat([1, 2, 16, 40, 1200, 50, 120, 65, 3001, 900, 20_000], 4))
    n_degrees = np.minimum(sizes, random.choice([3, 35, 200, 900], len(sizes)))
    factors = random.choice(GRADES, sizes.sum())
    factors[: len(factors) // 2] = random.uniform(0.9, 1, len(factors) // 2)
    factors[-29000:] = random.choice([1.0, 0.5], 29000, p=[0.99, 0.01])
    starts = np.cumsum(sizes) - sizes
    alone = [
        expected_products(factors, *(a[i : i + 1] for a in (starts, sizes, n_degrees)))
        for i in range(len(sizes))
    ]
    together = expected_products(factors, starts, sizes, n_degrees)
    np.testing.assert_array_equal(together, np.concatenate(alone))
    monkeypatch.setattr(ties, "AT_ONCE", at_once)
    one_by_one = expected_products(factors, starts, sizes, n_degrees)
    np.testing.assert_allclose(one_by_one, together, rtol=1e-12, atol=1e-17)


def test_a_small_group_beside_large_ones():
    """As many degrees as documents: no overflow at those that the small ones do not have."""
    factors = np.concatenate([np.ones(300_000), np.resize([0.8, 0.9], 300), np.full(16_100, 0.05)])
    sizes = np.array([300_000, 300, 16_100])
    starts = np.cumsum(sizes) - sizes
    actual = expected_products(factors, starts, sizes, sizes)
    assert (actual[:300_000] == 1.0).all()
    alone = of_one(factors[300_000:300_300], 300)
    np.testing.assert_array_equal(actual[300_000:300_300], alone)


@pytest.mark.parametrize("size", [10, 63, 300, 1000, 1700, 3000])
def test_products_do_not_increase(size):
    """Otherwise, their differences would be negative probabilities."""
    for factors in (np.ones(size), 1 - 1e-15 * np.random.default_rng(0).random(size)):
        means = of_one(factors, min(size, 300))
        assert (np.diff(means, prepend=1.0) <= 0).all()


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("function", [np.add, np.multiply, np.minimum])
@pytest.mark.parametrize("shape", [(128, 3), (127, 3), (128, 40), (128, 1), (0, 3), (1, 500)])
def test_running_sums_and_products(function, order, shape):
    values = np.array(np.random.default_rng(0).random(shape), order=order)
    expected = function.accumulate(values, axis=1)
    result = accumulate(function, values)
    np.testing.assert_array_equal(result, expected)
    assert np.shares_memory(result, values) or not values.size
    assert result.strides == values.strides
