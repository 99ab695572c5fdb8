"""Significance tests of many queries, where resampling gives way to an approximation."""

import itertools

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
    monkeypatch.setattr(permutation_test, "MOST_RESAMPLED", 10)
    approximate = p_values(differences, weights)
    assert (approximate != resampled).all()
    error = np.sqrt(resampled / 100_000)
    np.testing.assert_array_less(np.abs(approximate - resampled), 4 * error + 0.02 * resampled)


@pytest.mark.parametrize("exponent", [0.8, 1.0, 1.3])
def test_the_approximation_holds_if_few_queries_have_most_of_the_weight(exponent, monkeypatch):
    """Weights by traffic, of which the first one has up to 97 % of the variance."""
    random = np.random.default_rng(0)
    differences = random.uniform(0.1, 0.2, size=(400, 6)) * random.choice([-1, 1], size=(400, 6))
    weights = np.arange(1.0, 401) ** -exponent
    resampled = p_values(differences, weights, n_resamples=100_000)
    monkeypatch.setattr(permutation_test, "MOST_RESAMPLED", 10)
    approximate = p_values(differences, weights, n_resamples=300)
    assert (approximate != resampled).all()
    error = np.sqrt(resampled * (1 - resampled) / 100_000)
    np.testing.assert_array_less(np.abs(approximate - resampled), 4 * error + 0.002)


def exact_p_value(differences):
    """Of integers, by the product of the characteristic functions of the random signs."""
    sizes, counts = np.unique(np.abs(differences[differences != 0]), return_counts=True)
    n = 2 ** int(2 * sizes @ counts + 1).bit_length()
    angles = 2 * np.pi * np.arange(n) / n
    functions = [
        np.cos(size * angles) ** int(count) for size, count in zip(sizes, counts, strict=True)
    ]
    probabilities = np.fft.ifft(np.prod(functions, axis=0)).real
    sums = np.fft.fftfreq(n, 1 / n)
    return probabilities[np.abs(sums) >= abs(differences.sum())].sum()


def of_sizes(positive, negative):
    sizes = np.arange(1, len(positive) + 1)
    return np.concatenate([np.repeat(sizes, positive), -np.repeat(sizes, negative)])


@pytest.mark.parametrize(
    ("differences", "step"),
    [
        (of_sizes([432, 99, 30], [350, 99, 28]), 5),
        (of_sizes([540, 0, 30], [480, 0, 28]), 10),
        (of_sizes([500, 99, 30, 5], [430, 130, 28, 1]), 4),
        # reciprocal ranks up to 10, whose steps are as good as none
        (2520 // np.random.default_rng(0).integers(1, 11, size=(2, 3000)), 2520),
    ],
)
def test_the_approximation_of_sums_in_equal_steps(differences, step):
    integers = differences[1] - differences[0] if differences.ndim == 2 else differences
    (approximate,) = p_values(integers[:, None] / step)
    assert approximate == pytest.approx(exact_p_value(integers), rel=1e-3)


def test_differences_that_rounding_tells_apart_are_equal():
    """The test of precision at 5 is that of hits at 5, which enumerates all sums."""
    hits = np.random.default_rng(1).integers(1, 5, size=200)
    others = hits + np.where(np.arange(200) < 112, 1, -1)
    assert len(np.unique(np.abs(others / 5 - hits / 5))) > 1
    expected = 2 * stats.binom.sf(111, 200, 0.5)
    for k, seed in itertools.product((1, 5), (0, 1)):
        systems = {"a": hits / k, "b": others / k}
        of_queries = {
            name: QueryScores(range(200), values[:, None], ["m"])
            for name, values in systems.items()
        }
        compared = compare(of_queries, random_state=seed)
        assert compared["m", "b"].p_value == pytest.approx(expected)


def test_the_approximation_of_equal_sizes_beside_few_large_ones():
    """A large difference among equal ones, against the two binomial distributions it leaves."""
    sizes = np.append(np.ones(300), 50.5)
    for n_negative in (128, 145, 150, 165, 175):
        terms = sizes * np.where(np.arange(301) < n_negative, -1, 1)
        at = [abs(terms.sum()) - sign * 50.5 for sign in (-1, 1)]
        tails = [stats.binom.sf(np.ceil((300 + a) / 2 - 1e-9) - 1, 300, 0.5) for a in at]
        measured = permutation_test._approximate(terms[:, None])
        assert measured == pytest.approx(min(2 * np.mean(tails), 1))


@pytest.mark.parametrize("deviation", [1, 1e-7])
@pytest.mark.parametrize("n_heavy", [6, 9, 13, 16])
def test_the_approximation_beside_several_heavy_queries(n_heavy, deviation):
    """Against the normal distribution of the others, for all signs of the heavy queries."""
    random = np.random.default_rng(n_heavy)
    heavy = random.uniform(0.5, 1.5, size=(6, n_heavy)) * random.choice([-1, 1], size=(6, n_heavy))
    others = random.normal(scale=deviation, size=(6, 1092))
    differences = np.hstack([heavy, others]).T
    weights = np.append(np.full(n_heavy, 3000.0), np.ones(1092))
    measured = p_values(differences, weights)
    signs = np.array(list(itertools.product((-1, 1), repeat=n_heavy)))
    left = np.abs(weights @ differences) - 3000 * signs @ np.abs(heavy).T
    expected = 2 * stats.norm.sf(left / np.sqrt((others**2).sum(axis=1))).mean(axis=0)
    np.testing.assert_allclose(measured, np.minimum(expected, 1), rtol=0.02, atol=1e-3)


@pytest.mark.parametrize(
    "classes",
    [
        {1: (9, 3)},
        {1: (11, 3)},
        {1: (14, 6)},
        {1: (38, 22)},
        {1: (2, 0), 0.9: (13, 7)},
        {1: (8, 4), 0.5: (31, 19)},
        {1: (1, 0), 0.8: (12, 6)},
    ],
)
def test_the_approximation_beside_equal_heavy_queries(classes):
    """Hits and misses of some sizes among tiny differences, which decide between equal sums."""
    random = np.random.default_rng(3)
    others = random.normal(scale=1e-3, size=1100)
    heavy = [size * sign for size, n in classes.items() for sign in np.repeat([1, -1], n)]
    (measured,) = p_values(np.append(heavy, others)[:, None])
    sums, probabilities = np.zeros(1), np.ones(1)
    for size, n in classes.items():
        k = np.arange(sum(n) + 1)
        sums = np.add.outer(sums, size * (2 * k - sum(n))).ravel()
        probabilities = np.outer(probabilities, stats.binom.pmf(k, sum(n), 0.5)).ravel()
    left = abs(sum(heavy) + others.sum()) - sums
    expected = probabilities @ (2 * stats.norm.sf(left / np.sqrt((others**2).sum())))
    assert measured == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize(("scale", "deviation"), [(1, 1e-9), (1e6, 3e-6), (1e100, 1e92)])
def test_differences_of_very_different_sizes(scale, deviation):
    """The tiny ones decide between the sum of the heavy ones, 2, and its equals."""
    random = np.random.default_rng(0)
    others = random.normal(scale=deviation, size=1100)
    terms = np.append(scale * np.array([1, 1, -1, 1.0]), others)
    (measured,) = permutation_test._approximate(terms[:, None])
    # of 16 sums of the heavy ones, one is 4 and four are 2
    tail = stats.norm.sf(others.sum() / deviation / 1100**0.5)
    assert measured == pytest.approx(2 * (1 + 4 * tail) / 16, rel=0.03)


def test_tails_near_and_beyond_the_largest_sum():
    """Of twelve sizes with tiny ones beside them, where the saddle point is infinite."""
    random = np.random.default_rng(3)
    heavy, tiny = random.uniform(0.9, 1.1, 12), np.full(1092, 1e-7)
    sizes = np.append(heavy, tiny)[:, None]
    signs = np.array(list(itertools.product((-1, 1), repeat=12)))
    for at in (0.9 * heavy.sum(), heavy.sum() - 1e-9, 1.0001 * sizes.sum(), 2 * sizes.sum()):
        exact = (signs @ heavy >= at).mean()
        assert permutation_test._upper_tail(sizes, np.array([at]))[0] <= max(5 * exact, 5 / 2**12)
    assert permutation_test._upper_tail(sizes, np.array([1.0001 * sizes.sum()]))[0] == 0


def lattice_p_value(multiples):
    """By the distribution of the sum of signed integers, one convolution for each."""
    probabilities = np.ones(1)
    for m in np.abs(multiples[multiples != 0]):
        probabilities = np.convolve(probabilities, np.bincount([0, 2 * m]) / 2)
    sums = np.arange(len(probabilities)) - len(probabilities) // 2
    return probabilities[np.abs(sums) >= abs(multiples.sum())].sum()


@pytest.mark.parametrize("n_resamples", [9999, 400])
def test_differences_of_few_sizes(n_resamples):
    """Exact if at most `n_resamples` sums are possible, and otherwise sampled."""
    random = np.random.default_rng(0)
    multiples = random.choice([-3, -2, 0, 2, 3], size=(180, 5))
    multiples[:8] = [[0, 3, 3, 3, 3]]
    measured = p_values(multiples / 7, n_resamples=n_resamples)
    expected = [lattice_p_value(column) for column in multiples.T]
    if n_resamples == 9999:
        np.testing.assert_allclose(measured, expected, rtol=1e-10)
    else:
        np.testing.assert_array_less(np.abs(measured - expected), 4 * 0.5 / 400**0.5)
        np.testing.assert_allclose(measured * 401, np.round(measured * 401))


def test_weights_of_few_sizes_are_sampled():
    random = np.random.default_rng(1)
    multiples = random.choice([-3, -2, -1, 1, 2, 3], size=(300, 6))
    weights = random.choice([1, 2, 5], size=300)
    measured = p_values(multiples / 3, weights.astype(float))
    expected = np.array([lattice_p_value(column * weights) for column in multiples.T])
    error = np.sqrt(expected * (1 - expected) / 9999)
    np.testing.assert_array_less(np.abs(measured - expected), 4 * error + 1e-4)


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


def test_the_t_test_of_equal_differences_is_undefined_unless_they_are_zero():
    for n in (2, 3, 7):  # the mean of 0.1 is rounded for some of them
        differences = np.repeat([[0.1, 0.0]], n, axis=0)
        different, equal = p_values(differences, np.full(n, 2.0), "t")
        assert np.isnan(different)
        assert equal == 1
