"""Paired significance tests of weighted mean differences, and corrections of their p-values.

Throughout, `differences` has shape (n_queries, n_metrics) and no nan, and `weights` has shape
(n_queries,) and is positive.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import stats

from .._typing import Array, SignificanceTest
from .intervals import TOLERANCE, degrees_of_freedom, mean, standard_error
from .resampling import batch_sizes, with_single_threaded_blas

# with more differences than this, the error of the saddlepoint approximation is below that of
# 9,999 resamples
MOST_RESAMPLED = 1000

# differences up to this size are rounding errors; those that agree to this number of decimals,
# relative to the largest one, are tied
ROUNDING, DECIMALS = 1e-14, 10


def paired_p_values(
    differences: Array,
    weights: Array,
    test: SignificanceTest,
    n_resamples: int,
    random: np.random.Generator,
) -> Array:
    """Two-sided p-values of the null hypothesis that the mean difference is 0."""
    if test == "permutation":
        return _permutation_p_values(differences, weights, n_resamples, random)
    if test == "t":
        return _t_p_values(differences, weights)
    if np.ptp(weights) > 0:
        raise ValueError(
            "test='wilcoxon' does not support query weights. Use test='permutation' or test='t', "
            "or omit sample_weight."
        )
    return np.array([_wilcoxon_p_value(d) for d in differences.T])


def _wilcoxon_p_value(differences: Array) -> float:
    """Wilcoxon's signed-rank test, in which differences that are equal but for rounding tie."""
    largest = np.abs(differences).max()
    if largest <= ROUNDING:
        return 1.0
    return float(stats.wilcoxon(np.round(differences / largest, DECIMALS)).pvalue)


def _permutation_p_values(
    differences: Array, weights: Array, n_resamples: int, random: np.random.Generator
) -> Array:
    """Paired permutation test: randomly flip the signs of the differences.

    The distribution is enumerated or sampled for metrics of which at most `MOST_RESAMPLED` queries
    differ, and approximated for the others.
    """
    terms = weights[:, None] * differences
    resampled = np.count_nonzero(terms, axis=0) <= MOST_RESAMPLED
    p_values = np.empty(terms.shape[1])
    p_values[resampled] = _flip_signs(terms[:, resampled], n_resamples, random)
    p_values[~resampled] = _approximate_flips(terms[:, ~resampled])
    return p_values


@with_single_threaded_blas
def _flip_signs(terms: Array, n_resamples: int, random: np.random.Generator) -> Array:
    """The test is exact if there are at most `n_resamples` assignments of signs.

    Otherwise it draws m = `n_resamples` of them. If b are as extreme as the observed one, which
    also counts, the p-value is (b + 1) / (m + 1).
    """
    terms = terms[terms.any(axis=1)]  # flipping the sign of 0 changes nothing
    observed = np.abs(terms.sum(axis=0)) - TOLERANCE * np.abs(terms).sum(axis=0)
    n = len(terms)
    is_exact = n < 63 and 2**n <= n_resamples
    n_extreme = np.zeros(terms.shape[1])
    for flipped in _all_flips(n) if is_exact else _random_flips(n, n_resamples, random):
        # each sign is 1 - 2 · flipped
        sums = terms.sum(axis=0) - 2 * flipped @ terms
        n_extreme += (np.abs(sums) >= observed).sum(axis=0)
    return n_extreme / 2**n if is_exact else (n_extreme + 1) / (n_resamples + 1)


def _all_flips(n: int) -> Iterator[Array]:
    yield ((np.arange(2**n)[:, None] >> np.arange(n)) & 1).astype(np.float64)


def _random_flips(n: int, n_resamples: int, random: np.random.Generator) -> Iterator[Array]:
    for n_rows in batch_sizes(n, n_resamples):
        bits = random.integers(0, 256, size=(n_rows, -(-n // 8)), dtype=np.uint8)
        yield np.unpackbits(bits, axis=1, count=n).astype(np.float64)


def _approximate_flips(terms: Array) -> Array:
    """Saddlepoint approximation of the permutation test; binomial if all differences are equal.

    J. Robinson. Saddlepoint Approximations for Permutation Tests and Confidence Intervals. Journal
    of the Royal Statistical Society B 44, 1982.
    """
    sizes, sums = np.abs(terms), np.abs(terms.sum(axis=0))
    largest, n = sizes.max(axis=0, initial=0), np.count_nonzero(terms, axis=0)
    saddle, curvature = np.zeros(len(sums)), np.einsum("qm,qm->m", terms, terms)
    reachable = np.minimum(sums, sizes.sum(axis=0) * (1 - 1e-9))
    for _ in range(60):
        tanh = np.tanh(saddle * sizes)
        slope = np.einsum("qm,qm->m", sizes, tanh) - reachable
        curvature = np.einsum("qm,qm->m", sizes**2, 1 - tanh**2)
        step = slope / np.maximum(curvature, np.finfo(np.float64).tiny)
        if (np.abs(slope) <= 1e-10 * np.sqrt(curvature)).all():
            break
        saddle = np.maximum(saddle - np.clip(step, -2 / largest, 2 / largest), 0)
    exponents = saddle * sizes
    cumulant = (exponents + np.log1p(np.exp(-2 * exponents)) - np.log(2)).sum(axis=0)
    root = np.sqrt(np.maximum(2 * (saddle * reachable - cumulant), 0))
    with np.errstate(divide="ignore", invalid="ignore"):
        modified = root + np.log(saddle * np.sqrt(curvature) / root) / root
    modified = np.where(root < 1e-4, root, modified)
    n_same = (n + np.round(sums / largest)) / 2
    is_binomial = n * largest - sizes.sum(axis=0) <= TOLERANCE * n * largest
    tail = np.where(is_binomial, stats.binom.sf(n_same - 1, n, 0.5), stats.norm.sf(modified))
    return np.asarray(np.minimum(2 * tail, 1.0))


def _t_p_values(differences: Array, weights: Array) -> Array:
    """Student's paired t-test."""
    n, center = len(differences), mean(differences, weights)
    if n < 2:
        return np.full_like(center, np.nan)
    error = standard_error(differences, weights)
    t = np.divide(np.abs(center), error, out=np.full_like(error, np.inf), where=error > 0)
    t[center == 0] = 0.0
    return np.asarray(2 * stats.t.sf(t, degrees_of_freedom(weights)))


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
