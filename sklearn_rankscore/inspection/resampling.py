"""Confidence intervals and p-values of weighted means, mostly by resampling queries.

Throughout, `values` and `differences` have shape (n_queries, n_metrics) and no nan, and `weights`
has shape (n_queries,) and is positive.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from scipy import stats
from sklearn.utils import check_random_state
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from .._typing import Array, Seed, SignificanceTest

# the counts or signs of one batch of resamples, so that they fit in cache
BATCH_SIZE = 2**20

# these narrow matrix products are bound by memory: further threads do not speed them up, and on a
# busy machine they wait for each other
with_single_threaded_blas: Callable[[Callable[..., Array]], Callable[..., Array]] = (
    threadpool_limits.wrap(limits=1, user_api="blas")
)

# sums of the same terms in a different order differ by rounding, and must still count as equal
TOLERANCE = 1e-12


class Interval(NamedTuple):
    """A confidence interval.

    Parameters
    ----------
    low, high : float
        Its lower and upper end.
    """

    low: float
    high: float

    def __format__(self, spec: str) -> str:
        return f"[{self.low:{spec}}, {self.high:{spec}}]" if spec else str(self)


def generator(random_state: Seed) -> np.random.Generator:
    """A NumPy generator from any `random_state` that scikit-learn accepts."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31))
    if random_state is not None:
        check_random_state(random_state)
    return np.random.default_rng(random_state)


def mean(values: Array, weights: Array) -> Array:
    """Weighted mean of each column."""
    return np.asarray(weights @ values / weights.sum())


def standard_error(values: Array, weights: Array) -> Array:
    """Standard error of the weighted mean; s / sqrt(n) if all weights are equal.

    That of a ratio estimator, sqrt(n / (n - 1) · Σ w² (v - mean)²) / Σ w: W. G. Cochran, Sampling
    Techniques, 1977, section 6.4.
    """
    n = len(values)
    if n < 2:
        return np.full(values.shape[1], np.nan)
    squares = weights**2 @ (values - mean(values, weights)) ** 2
    return np.asarray(np.sqrt(n / (n - 1) * squares) / weights.sum())


def t_interval(values: Array, weights: Array, confidence: float) -> tuple[Array, Array]:
    """Student's t interval of the mean."""
    t = stats.t.ppf((1 + confidence) / 2, max(len(values) - 1, 1))
    center, margin = mean(values, weights), t * standard_error(values, weights)
    return center - margin, center + margin


def bootstrap_interval(
    values: Array, weights: Array, confidence: float, n_resamples: int, random: np.random.Generator
) -> tuple[Array, Array]:
    """Bias-corrected and accelerated (BCa) bootstrap interval of the mean.

    B. Efron. Better Bootstrap Confidence Intervals. JASA 82, 1987.
    """
    center = mean(values, weights)
    if len(values) < 2:
        return np.full_like(center, np.nan), np.full_like(center, np.nan)
    deviations = values - center
    resampled = resampled_means(deviations, weights, n_resamples, random)
    levels = _bca_levels(resampled, deviations, weights, confidence)
    quantiles = np.column_stack(
        [np.quantile(column, level) for column, level in zip(resampled.T, levels.T, strict=True)]
    )
    is_constant = np.ptp(values, axis=0) == 0
    low, high = np.where(is_constant, center, center + quantiles)
    return low, high


@with_single_threaded_blas
def resampled_means(
    values: Array, weights: Array, n_resamples: int, random: np.random.Generator
) -> Array:
    """Weighted means of bootstrap resamples, of shape (n_resamples, n_metrics)."""
    terms = np.column_stack([weights[:, None] * values, weights])
    sums = np.concatenate(
        [counts @ terms for counts in _resampled_counts(len(values), n_resamples, random)]
    )
    return np.asarray(sums[:, :-1] / sums[:, -1:])


def _resampled_counts(
    n_queries: int, n_resamples: int, random: np.random.Generator
) -> Iterator[Array]:
    """How often each resample draws each query, in batches of resamples."""
    for n_rows in _batch_sizes(n_queries, n_resamples):
        drawn = random.integers(0, n_queries, size=(n_rows, n_queries))
        drawn += np.arange(n_rows)[:, None] * n_queries
        counts = np.bincount(drawn.ravel(), minlength=drawn.size)
        yield counts.reshape(drawn.shape).astype(np.float64)


def _batch_sizes(n_queries: int, n_resamples: int) -> Iterator[int]:
    size = max(1, BATCH_SIZE // n_queries)
    for start in range(0, n_resamples, size):
        yield min(size, n_resamples - start)


def _bca_levels(resampled: Array, deviations: Array, weights: Array, confidence: float) -> Array:
    """Quantiles of the resampled means at which the interval ends, of shape (2, n_metrics).

    The jackknife needs no loop: without query i, a weighted mean changes by
    -w_i (v_i - mean) / (Σ w - w_i).
    """
    tolerance = TOLERANCE * np.abs(deviations).max(axis=0)
    # a resampled mean equal to the estimate counts half, as in scipy.stats.bootstrap
    p_less, p_at_most = (resampled < -tolerance).mean(axis=0), (resampled <= tolerance).mean(axis=0)
    p_min = 0.5 / len(resampled)
    bias = stats.norm.ppf(np.clip((p_less + p_at_most) / 2, p_min, 1 - p_min))
    w = weights[:, None]
    changes = -w * deviations / (weights.sum() - w)
    influence = changes.mean(axis=0) - changes
    cubes, scale = (influence**3).sum(axis=0), (influence**2).sum(axis=0) ** 1.5
    acceleration = np.divide(cubes, 6 * scale, out=np.zeros_like(scale), where=scale > 0)
    z = bias + stats.norm.ppf([[(1 - confidence) / 2], [(1 + confidence) / 2]])
    return np.asarray(stats.norm.cdf(bias + z / np.maximum(1 - acceleration * z, 1e-12)))


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
    return np.array([stats.wilcoxon(d).pvalue if d.any() else 1.0 for d in differences.T])


@with_single_threaded_blas
def _permutation_p_values(
    differences: Array, weights: Array, n_resamples: int, random: np.random.Generator
) -> Array:
    """Paired permutation test: randomly flip the signs of the differences.

    The test is exact if there are at most `n_resamples` assignments of signs. Otherwise it draws
    m = `n_resamples` of them. If b are as extreme as the observed one, which also counts, the
    p-value is (b + 1) / (m + 1).
    """
    terms = weights[:, None] * differences
    terms = terms[terms.any(axis=1)]  # flipping the sign of 0 changes nothing
    observed = np.abs(terms.sum(axis=0)) - TOLERANCE * np.abs(terms).sum(axis=0)
    n = len(terms)
    is_exact = n < 63 and 2**n <= n_resamples
    n_extreme = np.zeros(differences.shape[1])
    for flipped in _all_flips(n) if is_exact else _random_flips(n, n_resamples, random):
        # each sign is 1 - 2 · flipped
        sums = terms.sum(axis=0) - 2 * flipped @ terms
        n_extreme += (np.abs(sums) >= observed).sum(axis=0)
    return n_extreme / 2**n if is_exact else (n_extreme + 1) / (n_resamples + 1)


def _all_flips(n: int) -> Iterator[Array]:
    yield ((np.arange(2**n)[:, None] >> np.arange(n)) & 1).astype(np.float64)


def _random_flips(n: int, n_resamples: int, random: np.random.Generator) -> Iterator[Array]:
    for n_rows in _batch_sizes(n, n_resamples):
        bits = random.integers(0, 256, size=(n_rows, -(-n // 8)), dtype=np.uint8)
        yield np.unpackbits(bits, axis=1, count=n).astype(np.float64)


def _t_p_values(differences: Array, weights: Array) -> Array:
    """Student's paired t-test."""
    n, center = len(differences), mean(differences, weights)
    if n < 2:
        return np.full_like(center, np.nan)
    error = standard_error(differences, weights)
    t = np.divide(np.abs(center), error, out=np.full_like(error, np.inf), where=error > 0)
    t[center == 0] = 0.0
    return np.asarray(2 * stats.t.sf(t, n - 1))


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
