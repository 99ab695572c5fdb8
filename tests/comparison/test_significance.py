"""Significance tests of paired differences, against enumeration, exact distributions and SciPy."""

import itertools
import math

import numpy as np
import pytest
from query_values import error_and_freedom, pair_of, scores_of
from scipy import stats

from sklearn_rankscore import compare
from sklearn_rankscore.comparison.significance import holm


def p_values(differences, weights=None, test="permutation", **options):
    given = {"test": test, "correction": None, "random_state": 0, **options}
    compared = compare(pair_of(differences, None, weights), **given)
    return np.array([one.p_value for one in compared])


def exact_p_value(integers):
    """By the product of the characteristic functions of the random signs."""
    sizes, counts = np.unique(np.abs(integers[integers != 0]), return_counts=True)
    n = 2 ** int(2 * sizes @ counts + 1).bit_length()
    angles = 2 * np.pi * np.arange(n) / n
    functions = [np.cos(size * angles) ** int(c) for size, c in zip(sizes, counts, strict=True)]
    probabilities = np.fft.ifft(np.prod(functions, axis=0)).real
    return max(probabilities[np.abs(np.fft.fftfreq(n, 1 / n)) >= abs(integers.sum())].sum(), 0)


@pytest.mark.parametrize("n", [2, 5, 9, 12])
@pytest.mark.parametrize("is_grid", [False, True])
def test_few_queries_are_scipys_exact_test(n, is_grid):
    random = np.random.default_rng(n)
    for _ in range(4):
        differences = random.normal(0.05, 0.1, n)
        # differences that tie, cancel and vanish
        differences = differences.round(1) if is_grid else differences
        given = {"permutation_type": "samples", "n_resamples": np.inf}
        expected = stats.permutation_test((differences,), np.mean, **given).pvalue
        assert p_values(differences) == pytest.approx([expected], abs=1e-12)


def test_differences_of_few_sizes_are_exact():
    """Hits are the sign test; values in steps are enumerated if their sums are not too many."""
    weights, tenths = np.array([1, 2, 3, 1, 0, 2, 1, 5]), np.arange(-3, 5)
    assert p_values(tenths / 10, weights) == pytest.approx([exact_p_value(weights * tenths)])
    hits = np.repeat([0.5, -0.5, 0], [1200, 1100, 700])
    assert p_values(hits) == pytest.approx([stats.binomtest(1200, 2300).pvalue])
    random = np.random.default_rng(0)
    multiples = random.choice([-3, -2, 0, 2, 3], size=(180, 5))
    multiples[:8] = [[0, 3, 3, 3, 3]]
    expected = [exact_p_value(column) for column in multiples.T]
    np.testing.assert_allclose(p_values(multiples / 7), expected, rtol=1e-9)


def test_differences_that_rounding_tells_apart_are_equal():
    """The test of precision at 5 is that of hits at 5."""
    hits = np.random.default_rng(1).integers(1, 5, size=200)
    others = hits + np.where(np.arange(200) < 112, 1, -1)
    assert len(np.unique(np.abs(others / 5 - hits / 5))) > 1
    expected = 2 * stats.binom.sf(111, 200, 0.5)
    assert p_values(others / 5 - hits / 5) == pytest.approx([expected])


@pytest.mark.parametrize("n_resamples", [999, 40_000])
@pytest.mark.parametrize("weighted", [False, True])
def test_random_flips_estimate_the_exact_p_value(weighted, n_resamples):
    """Also of 300 queries, if the differences of a few are much larger than all others."""
    random = np.random.default_rng(0)
    integers = np.rint(random.normal(size=(300, 6)) ** 3 * 9 + 3 * np.arange(6)).astype(int)
    weights = random.choice([1, 2, 5], size=300) if weighted else np.ones(300, dtype=int)
    measured = p_values(integers, weights.astype(float), n_resamples=n_resamples)
    expected = np.array([exact_p_value(column * weights) for column in integers.T])
    error = np.sqrt(expected * (1 - expected) / n_resamples)
    np.testing.assert_array_less(np.abs(measured - expected), 4 * error + 1 / n_resamples)
    np.testing.assert_allclose(measured * (n_resamples + 1), np.rint(measured * (n_resamples + 1)))


def test_p_values_of_flips_are_bounded_by_their_number_and_printed_so():
    differences = np.linspace(0.1, 0.2, 40)
    for n_resamples in (19, 999, 9999):
        (p_value,) = p_values(differences, n_resamples=n_resamples)
        assert p_value == pytest.approx(1 / (n_resamples + 1))
    assert " <0.0001 " in str(compare(pair_of(differences, ["mrr"])))


SIZES = {
    "precision@5": lambda random, n: random.choice([0, 1, 1, 1, 2], n),
    "precision@10": lambda random, n: random.integers(1, 4, n),
    "normal": lambda random, n: np.rint(random.normal(0, 20, n)).astype(int),
    "weighted hits": lambda random, n: random.integers(1, 9, n),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SIZES)
def test_the_normal_limit_has_the_error_that_is_stated(name):
    random = np.random.default_rng(0)
    for n, z in itertools.product((800, 1_600), (0.05, 0.5, 1, 1.6, 2, 2.5)):
        sizes = np.abs(SIZES[name](random, n))
        # signs with which the sum is about z standard deviations above 0
        n_lost = np.searchsorted(2 * sizes.cumsum(), sizes.sum() - z * np.sqrt((sizes**2).sum()))
        integers = np.where(np.arange(n) < n_lost, -sizes, sizes)
        (measured,), expected = p_values(integers, n_resamples=9), exact_p_value(integers)
        assert abs(measured - expected) < 0.019
        assert expected > 0.05 or abs(measured - expected) < 0.003


OPTIONS = [{}, {"correction": "tukey"}, {"method": "bootstrap", "n_resamples": 99}]


@pytest.mark.parametrize("options", OPTIONS, ids=["permutation", "tukey", "bootstrap"])
def test_a_p_value_does_not_depend_on_other_metrics_or_segments(options):
    """Those of flips, of the Tukey test and the ends of the bootstrap, for one seed."""
    values = np.random.default_rng(0).random((3, 400, 3))
    values[2, 5, 2] = np.nan

    def compared(*columns, by=None):
        names = [["ndcg", "mrr", "map"][column] for column in columns]
        systems = {f"s{i}": scores_of(of[:, columns], names) for i, of in enumerate(values)}
        return compare(systems, pairs="all", random_state=0, by=by, **options)

    half, third = {"half": np.arange(400) % 2}, {"third": np.arange(400) % 3}
    pairs = [(compared(0), compared(1, 0, 2))]
    if "correction" not in options:
        by_half = compared(0, by=half)
        pairs += [(pairs[0][0], by_half), (by_half, compared(2, 0, by=half | third))]
    for some, more in pairs:
        for one in some:
            segment = [tuple(one.segment)] if one.segment.column else []
            assert more["ndcg", one.model, one.baseline, *segment] == one


def test_holm_by_hand():
    # sorted: .005 · 4, .01 · 3, .03 · 2, .04 · 1, each at least the one before
    adjusted = holm(np.array([0.01, 0.04, np.nan, 0.03, 0.005]))
    np.testing.assert_allclose(adjusted, [0.03, 0.06, np.nan, 0.06, 0.02])
    assert holm(np.array([0.6, 0.7])).tolist() == [1, 1]
    assert np.isnan(holm(np.array([np.nan]))).all()


def test_t_and_wilcoxon_are_scipys():
    random = np.random.default_rng(1)
    differences = random.normal(0.1, 1, size=(35, 4))
    expected = stats.ttest_1samp(differences, 0).pvalue
    assert p_values(differences, test="t") == pytest.approx(expected)
    assert p_values(differences, np.full(35, 2.0), "t") == pytest.approx(expected)
    weights = random.lognormal(size=35)
    error, freedom = error_and_freedom(differences[:, 0], weights)
    t = np.average(differences[:, 0], weights=weights) / error
    measured = p_values(differences[:, 0], weights, "t")
    assert measured == pytest.approx([2 * stats.t.sf(abs(t), freedom)])
    expected = stats.wilcoxon(differences, axis=0).pvalue
    assert p_values(differences, test="wilcoxon") == pytest.approx(expected)
    # small differences beside a huge one
    huge = np.append(np.linspace(0.5, 1.5, 20), -1e11)
    assert p_values(huge, test="wilcoxon") == pytest.approx([stats.wilcoxon(huge).pvalue])
    # of many queries the permutation test is nearly the t-test
    many = random.normal(0.0012, 0.1, size=(20_000, 3))
    assert p_values(many) == pytest.approx(stats.ttest_1samp(many, 0).pvalue, rel=1e-3)
    # without variation no error can be estimated; the mean of 0.1 is rounded for some n
    for n in (2, 3, 7):
        different, equal = p_values(np.repeat([[0.1, 0.0]], n, axis=0), np.full(n, 2.0), "t")
        assert math.isnan(different)
        assert equal == 1


def test_wilcoxon_ties_differences_that_are_equal_but_for_rounding():
    tenths = np.array([1, -1, 2, 3, -2, 0, 4, 1, -3, 5, 1, 2, -1, 3, 2])
    second = np.arange(15) / 7  # adding and subtracting these rounds
    first = second + np.where(np.arange(15) % 2, tenths / 10, tenths * 0.1)
    assert len(np.unique(np.abs(first - second))) > len(np.unique(np.abs(tenths)))
    measured = p_values(first - second, test="wilcoxon")
    assert measured == pytest.approx([stats.wilcoxon(tenths).pvalue], rel=1e-12)
