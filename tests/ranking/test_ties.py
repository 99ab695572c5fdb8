"""Expected products over tie groups, compared with exact fractions."""

from fractions import Fraction
from math import comb, lcm

import numpy as np
import pytest

from sklearn_rankscore.ranking import ties
from sklearn_rankscore.ranking.ties import expected_products

GRADES = 1 - (2.0 ** np.arange(5) - 1) / 16
RANDOM = np.random.default_rng(0)


def exact(factors, counts, n):
    """e_j / C(m, j), from the coefficients of the product of (1 + f x) ** count, as integers."""
    factors = [Fraction(f).limit_denominator(2**40) for f in factors]
    scale, e = lcm(*(f.denominator for f in factors)), [1] + [0] * n
    for factor, count in zip(factors, counts, strict=True):
        q = int(factor * scale)
        term = [comb(count, i) * q**i for i in range(min(count, n) + 1)]
        while not term[-1]:
            term.pop()
        e = [sum(t * e[j - i] for i, t in enumerate(term[: j + 1])) for j in range(n + 1)]
    return [float(Fraction(e[j], comb(sum(counts), j) * scale**j)) for j in range(1, n + 1)]


def of_one(factors, n):
    return expected_products(factors, np.array([0]), np.array([len(factors)]), np.array([n]))


SMALL = [  # all degrees, or few of them, of some factors
    (pool, size, n)
    for pool in (GRADES, GRADES[:1], GRADES[[0, 4]], np.array([0.0, 1.0]), np.arange(97) / 96)
    for size in (1, 5, 16, 17, 33, 120)
    for n in sorted({min(size, n) for n in (5, 32, size)})
]
LARGE = [
    (GRADES, [400, 400, 300, 200, 201], 150),
    (GRADES[:2], [1450, 50], 1500),  # few would stop, so that all degrees matter
    ([0.0, 1.0], [2, 1198], 1200),
    ([0.0, 0.5, 1.0], [3, 30, 1000], 1033),
    ([1 / 960, 1.0], [240, 960], 150),
    ([1 / 16, 0.5, 1.0], [40, 30, 1100], 400),
    ([0.5, 0.75, 1.0], [300, 300, 10_000], 400),
    ([1 / 16, 1.0], [30_000, 10], 40),  # few would not stop
    ([15 / 16, 1.0], [10, 99_990], 300),
    ([15 / 16, 1.0], [9_000, 91_000], 300),
    ([2.0**-40, 1.0], [40, 1100], 200),  # as documents of the grade 40 in ERR
    ([1.0], [1001], 1001),
    ([0.0], [1001], 40),
    # multiples of 2^-8, all distinct or nearly so; of the last, only some can stop the user
    (np.rint(2**8 * RANDOM.uniform(0, 1, 330)) / 2**8, [1] * 330, 300),
    (np.rint(2**8 * RANDOM.uniform(0.9, 1, 93)) / 2**8, [1] * 93, 93),
    ([*(np.rint(2**8 * RANDOM.uniform(0, 1, 50)) / 2**8), 1.0], [1] * 50 + [450], 500),
]


def test_the_first_degrees_of_few_factors():
    for pool, size, n in SMALL:
        counts = np.bincount(RANDOM.integers(0, len(pool), size), minlength=len(pool)).tolist()
        values = RANDOM.permutation(np.repeat(pool, counts))
        np.testing.assert_allclose(
            of_one(values, n), exact(pool, counts, n), rtol=1e-12, atol=1e-17
        )


@pytest.mark.parametrize(("factors", "counts", "n"), LARGE)
def test_large_groups(factors, counts, n):
    values = RANDOM.permutation(np.repeat(factors, counts))
    np.testing.assert_allclose(of_one(values, n), exact(factors, counts, n), rtol=1e-12, atol=1e-17)


@pytest.mark.parametrize("few", [10, 1000])
def test_the_last_degree_of_a_huge_group(few):
    """Of 100,000 documents, `few` relevant: the product of all factors, and its memory."""
    actual = of_one(np.repeat([15 / 16, 1.0], [few, 100_000 - few]), 100_000)
    assert actual[-1] == pytest.approx((15 / 16) ** few, rel=1e-11, abs=1e-17)
    assert actual[0] == pytest.approx(1 - few / 100_000 / 16, rel=1e-14)


@pytest.mark.parametrize("n", [1001, 200_000])
@pytest.mark.parametrize("least", [0, 1 - 1e-10])
def test_the_first_degrees_from_sums(n, least):
    factors = np.random.default_rng(0).uniform(least, 1, n)
    pairs = (factors.sum() ** 2 - (factors**2).sum()) / n / (n - 1)
    np.testing.assert_allclose(of_one(factors, 2), [factors.mean(), pairs], rtol=1e-12)


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
    np.testing.assert_array_equal(actual[300_000:300_300], of_one(factors[300_000:300_300], 300))


@pytest.mark.parametrize("size", [10, 63, 300, 1000, 1700, 3000])
def test_products_do_not_increase(size):
    """Otherwise, their differences would be negative probabilities."""
    for factors in (np.ones(size), 1 - 1e-15 * np.random.default_rng(0).random(size)):
        means = of_one(factors, min(size, 300))
        assert (np.diff(means, prepend=1.0) <= 0).all()
