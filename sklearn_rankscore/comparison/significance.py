"""Paired significance tests of weighted mean differences, their corrections and sample sizes.

Throughout, `differences` has shape (n_queries, n_metrics) and no nan, and `weights` has shape
(n_queries,) and is positive.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from scipy import optimize, special, stats

from .._typing import Array, SignificanceTest
from .._validation import check_fraction
from .intervals import (
    TOLERANCE,
    bounded_tail,
    degrees_of_freedom,
    mean,
    shows_too_little,
    skewness_of_mean,
    standard_error,
    without_skewness,
)

# all sums over the signs are computed if there are at most this many
MOST_SUMS = 2**17

# the sum over random signs is taken as normal if its kurtosis is that of at least this many equal
# differences, and so has an error below that of 9,999 flips
MANY = 200

# the signs of eight differences by the bits of a byte
SIGNS = 2.0 * np.unpackbits(np.arange(2**8, dtype=np.uint8)[:, None], axis=1) - 1

# with more values of a metric than this, the range of the means is that of normal variables, if the
# queries differ by as much as this many of equal weight and spread
MOST_PERMUTED, MANY_QUERIES = 5000, 100

# the resamples of one batch of flips, and the values of one of permutations
AT_ONCE, BATCH_SIZE = 2**14, 2**18

# differences up to this size are rounding errors; those with the same digits are tied
ROUNDING, DIGITS = 1e-14, 10

MOST_QUERIES = 10**12


def significance_level(confidence: float) -> float:
    """The level of tests at this confidence: decimals such as 0.05 without a rounding error."""
    return round(1 - confidence, 12)


def paired_p_values(
    differences: Array, weights: Array, test: SignificanceTest, n_resamples: int, seed: int
) -> Array:
    """Two-sided p-values of the null hypothesis that the mean difference is 0."""
    if test == "permutation":
        return permutation_p_values(weights[:, None] * differences, n_resamples, seed)
    if test == "t":
        return _t_p_values(differences, weights)
    if np.ptp(weights) > 0:
        raise ValueError(
            "test='wilcoxon' does not support query weights. Use test='permutation' or test='t', "
            "or omit sample_weight."
        )
    return np.array([_wilcoxon_p_value(_without_rounding(d)) for d in differences.T])


def directions(differences: Array, weights: Array, test: SignificanceTest) -> Array:
    """The sign of the statistic of each metric."""
    if test != "wilcoxon":
        return np.asarray(np.sign(mean(differences, weights)))
    rounded = [d[d != 0] for d in map(_without_rounding, differences.T)]
    return np.array([np.sign((np.sign(d) * stats.rankdata(np.abs(d))).sum()) for d in rounded])


def _wilcoxon_p_value(differences: Array) -> float:
    return float(stats.wilcoxon(differences).pvalue) if differences.any() else 1.0


def _without_rounding(differences: Array) -> Array:
    """With the same number where differences are equal but for rounding, so that they tie."""
    sizes = np.abs(differences)
    counted = sizes > ROUNDING
    scale = np.median(sizes[counted]) if counted.any() else 1.0
    return np.asarray(np.where(counted, np.round(differences / scale, DIGITS), 0.0))


def _t_p_values(differences: Array, weights: Array) -> Array:
    """Student's paired t-test; nan without variation, from which no error can be estimated."""
    center, error = mean(differences, weights), standard_error(differences, weights)
    varies = np.ptp(differences, axis=0) > TOLERANCE
    t = np.divide(np.abs(center), error, out=np.full_like(error, np.nan), where=varies)
    t[center == 0] = 0.0
    return np.asarray(2 * stats.t.sf(t, degrees_of_freedom(weights)))


def permutation_p_values(terms: Array, n_resamples: int, seed: int) -> Array:
    """Two-sided p-values of the paired permutation test, which flips the signs of all terms.

    `terms` are weighted differences. If b of m random flips are as extreme as the observed sum,
    which also counts, the p-value is (b + 1) / (m + 1). The signs are the same for all metrics, so
    that the p-value of one does not depend on the others.
    """
    p_values, flipped = np.empty(terms.shape[1]), {}
    for j, column in enumerate(terms.T):
        sizes = np.sort(np.abs(column[column != 0]))[::-1]
        # sums of the same terms in another order differ by rounding
        observed = abs(column.sum()) - TOLERANCE * sizes.sum()
        values, counts = _distinct(sizes)
        if np.log(counts + 1.0).sum() <= math.log(MOST_SUMS):
            p_values[j] = _exact_p_value(values, counts, observed)
            continue
        squares = (sizes / sizes[0]) ** 2
        if squares.sum() ** 2 >= MANY * (squares**2).sum():
            p_values[j] = 2 * special.ndtr(-max(observed, 0) / np.sqrt((sizes**2).sum()))
        else:
            flipped[j] = sizes, observed
    if flipped:
        p_values[list(flipped)] = _flip_signs(list(flipped.values()), n_resamples, seed)
    return p_values


def _distinct(sizes: Array) -> tuple[Array, Array]:
    """The distinct sizes, descending, and how often each occurs.

    Differences of values such as .6 - .4 and .4 - .2 differ by rounding, and count as equal.
    """
    differs = np.append(True, -np.diff(sizes) > TOLERANCE * sizes[:-1])[: len(sizes)]
    (first,) = np.nonzero(differs)
    return sizes[first], np.diff(first, append=len(sizes))


def _exact_p_value(values: Array, counts: Array, observed: float) -> float:
    """Of all possible sums, as each number of flips of one size has a binomial distribution."""
    sums, probabilities = np.zeros(1), np.ones(1)
    for value, count in zip(values, counts, strict=True):
        flips = np.arange(count + 1)
        sums = np.add.outer(sums, value * (count - 2 * flips)).ravel()
        probabilities = np.outer(probabilities, stats.binom.pmf(flips, count, 0.5)).ravel()
    return min(float(probabilities[np.abs(sums) >= observed].sum()), 1.0)


def _flip_signs(metrics: Sequence[tuple[Array, float]], n_resamples: int, seed: int) -> Array:
    """p-values of sizes and their observed sums."""
    n_extreme = np.zeros(len(metrics))
    most = max(len(sizes) for sizes, _ in metrics)
    for first in range(0, n_resamples, AT_ONCE):
        random, n = np.random.default_rng([seed, first]), min(AT_ONCE, n_resamples - first)
        sums = [np.zeros(n) for _ in metrics]
        for start in range(0, most, 8):
            signs = np.frombuffer(random.bytes(n), dtype=np.uint8).astype(np.intp)
            for (sizes, _), sum_of in zip(metrics, sums, strict=True):
                part = sizes[start : start + 8]
                if len(part):
                    sum_of += (SIGNS[:, : len(part)] @ part).take(signs)
        for i, (_, observed) in enumerate(metrics):
            n_extreme[i] += np.count_nonzero(np.abs(sums[i]) >= observed)
    return np.asarray((n_extreme + 1) / (n_resamples + 1))


def tukey_p_values(values: Array, weights: Array, n_resamples: int, seed: int) -> Array:
    """p-values of all pairs of systems, of shape (n_systems, n_systems).

    `values` has shape (n_queries, n_systems) and no nan. Under the null hypothesis that all systems
    are equal, the values of each query can be permuted; a difference is compared with the largest
    difference of two permuted means. B. Carterette. Multiple Testing in Statistical Analysis of
    Systems-Based Information Retrieval Experiments. ACM TOIS 30, 2012.
    """
    terms = weights[:, None] * (values - values.mean(axis=1, keepdims=True)) / weights.sum()
    sums, n_systems = terms.sum(axis=0), terms.shape[1]
    observed = np.abs(sums[:, None] - sums)
    terms = terms[np.ptp(values, axis=1) > TOLERANCE]  # the permutations of others are all equal
    if not len(terms):
        return np.ones_like(observed)
    scale, squares = TOLERANCE * np.abs(terms).sum(), (terms**2).sum(axis=1)
    if terms.size > MOST_PERMUTED and squares.sum() ** 2 >= MANY_QUERIES * (squares**2).sum():
        error = np.sqrt(squares.sum() / (n_systems - 1))
        p_values = stats.studentized_range.sf(observed / error, n_systems, np.inf)
        return np.asarray(np.where(observed <= scale, 1.0, np.clip(p_values, 0, 1)))
    random, n_extreme = np.random.default_rng(seed), np.zeros(observed.shape)
    size = max(1, BATCH_SIZE // terms.size)
    for start in range(0, n_resamples, size):
        n_rows = min(size, n_resamples - start)
        order = random.random((n_rows, *terms.shape)).argsort(axis=2)
        means = np.take_along_axis(terms[None], order, axis=2).sum(axis=1)
        ranges = np.sort(np.ptp(means, axis=1))
        n_extreme += n_rows - np.searchsorted(ranges, observed - scale)
    return np.asarray((n_extreme + 1) / (n_resamples + 1))


def one_sided_p_values(
    differences: Array, weights: Array, margin: Array | float, low: Array, high: Array
) -> Array:
    """p-values of a difference of at most -margin and of at least margin, of shape (2, n_metrics).

    One-sided t-tests, of which skewness makes none more liberal; where they show too little,
    the test of the interval that follows from the range [low, high], and nan without a
    range.
    """
    few = shows_too_little(differences, weights, low, high)
    known = np.isfinite(low) & np.isfinite(high)
    at = np.broadcast_to(-np.asarray(margin, dtype=np.float64), few.shape)
    center, error = mean(differences, weights), standard_error(differences, weights)
    skewness, df = skewness_of_mean(differences, weights), degrees_of_freedom(weights)
    p_values = np.empty((2, len(few)))
    for p_value, sign, bound in zip(p_values, (1, -1), (low, -high), strict=True):
        with np.errstate(divide="ignore", invalid="ignore"):
            t = (sign * center - at) / error
            p_value[:] = stats.t.sf(np.fmin(t, without_skewness(t, sign * skewness)), df)
            # if the mean is this skewed, the transformed statistic hardly depends on t
            bounded = (few | (sign * skewness * t < -1)) & known
        p_value[few] = np.nan
        values = sign * differences[:, bounded]
        tails = bounded_tail(values, weights, at[bounded], bound[bounded])
        p_value[bounded] = np.fmin(p_value[bounded], tails)
    return p_values


def holm(p_values: Array) -> Array:
    """p-values adjusted for multiple testing by S. Holm, Scand. J. Statist. 6, 1979.

    A p-value of nan stays nan and does not count as a test.
    """
    adjusted = np.full(len(p_values), np.nan)
    tested = np.flatnonzero(~np.isnan(p_values))
    order = tested[np.argsort(p_values[tested], kind="stable")]
    products = p_values[order] * np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(products), 1.0)
    return adjusted


def holm_by_family(p_values: Array, families: Sequence[object]) -> Array:
    """p-values adjusted within each family."""
    rows_of: dict[object, list[int]] = {}
    for row, family in enumerate(families):
        rows_of.setdefault(family, []).append(row)
    adjusted = np.empty(len(p_values))
    for rows in rows_of.values():
        adjusted[rows] = holm(p_values[rows])
    return adjusted


def power_of_t_test(effect: float, n_queries: float, level: float) -> float:
    """Probability that a two-sided t-test rejects, for an effect in standard deviations."""
    df, center = n_queries - 1, effect * math.sqrt(n_queries)
    if df > 1e6:  # where the noncentral t distribution is the normal one
        z = stats.norm.isf(level / 2)
        return float(stats.norm.sf(z - center) + stats.norm.cdf(-z - center))
    t = stats.t.isf(level / 2, df)
    tails = [stats.nct.sf(t, df, center), stats.nct.cdf(-t, df, center)]
    if math.isnan(tails[0]):  # far from the center, where the sum is 0 or 1
        tails[0] = float(center > t)
    return float(np.nansum(tails))


def queries_for_power(effect: float, power: float, level: float) -> float:
    """The smallest number of queries with this power; infinite beyond 10**12."""
    power = check_fraction("power", power)
    if math.isnan(effect):
        return math.nan
    if power_of_t_test(effect, MOST_QUERIES, level) < power:
        return math.inf
    root = _where_reached(lambda n: power_of_t_test(effect, n, level) - power, 2)
    return math.ceil(root - 1e-9)


def detectable_effect(n_queries: int, power: float, level: float) -> float:
    """The effect in standard deviations that is detected with this power."""
    power = check_fraction("power", power)
    if n_queries < 2:
        return math.nan
    if power <= level:
        return 0.0
    return _where_reached(lambda effect: power_of_t_test(effect, n_queries, level) - power, 0)


def _where_reached(missing: Callable[[float], float], low: float) -> float:
    """The number from which an increasing function is not negative; at least `low`."""
    high = low + 1.0
    while missing(high) < 0:
        high *= 2
    if missing(low) >= 0:
        return low
    return float(optimize.brentq(missing, low, high, xtol=1e-12, rtol=1e-14))
