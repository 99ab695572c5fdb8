"""Resampled queries and flipped signs: intervals and p-values of weighted means.

Every kernel here takes `values` of shape (n_queries, n_metrics) without nan and positive `weights`
of shape (n_queries,).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import stats
from sklearn.utils import check_random_state
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from ..ranking.arrays import Array

# resampled queries at a time: the counts stay in cache and memory does not grow
BATCH = 2**20

# products this narrow wait for memory: more threads gain nothing, and where other work shares the
# machine they wait for one another
one_thread = threadpool_limits.wrap(limits=1, user_api="blas")

# sums of the same terms in another order differ by rounding, which must not break a tie
ROUNDING = 1e-12


def generator(random_state: Any) -> np.random.Generator:
    """A NumPy generator from what scikit-learn takes as random_state."""
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
    """Standard error of the weighted mean; s / sqrt(n) where all weights are equal.

    The ratio estimator's, sqrt(n / (n - 1) · Σ w² (v - mean)²) / Σ w: Cochran, Sampling
    Techniques, 1977, section 6.4.
    """
    n = len(values)
    if n < 2:
        return np.full(values.shape[1], np.nan)
    squares = weights**2 @ (values - mean(values, weights)) ** 2
    return np.asarray(np.sqrt(n / (n - 1) * squares) / weights.sum())


def t_interval(values: Array, weights: Array, confidence: float) -> tuple[Array, Array]:
    """Student's interval for the mean."""
    t = stats.t.ppf((1 + confidence) / 2, max(len(values) - 1, 1))
    centre, margin = mean(values, weights), t * standard_error(values, weights)
    return centre - margin, centre + margin


def bootstrap_interval(
    values: Array, weights: Array, confidence: float, n_resamples: int, random: np.random.Generator
) -> tuple[Array, Array]:
    """Interval for the mean from resampled queries, bias-corrected and accelerated (BCa).

    B. Efron. Better Bootstrap Confidence Intervals. JASA 82, 1987.
    """
    centre = mean(values, weights)
    if len(values) < 2:
        return np.full_like(centre, np.nan), np.full_like(centre, np.nan)
    deviations = values - centre
    resampled = resampled_means(deviations, weights, n_resamples, random)
    levels = _bca_levels(resampled, deviations, weights, confidence)
    ends = np.column_stack(
        [np.quantile(column, level) for column, level in zip(resampled.T, levels.T, strict=True)]
    )
    constant = np.ptp(values, axis=0) == 0
    low, high = np.where(constant, centre, centre + ends)
    return low, high


@one_thread
def resampled_means(
    values: Array, weights: Array, n_resamples: int, random: np.random.Generator
) -> Array:
    """Weighted means of resampled queries, of shape (n_resamples, n_metrics)."""
    terms = np.column_stack([weights[:, None] * values, weights])
    sums = np.concatenate(
        [counts @ terms for counts in _resampled_counts(len(values), n_resamples, random)]
    )
    return np.asarray(sums[:, :-1] / sums[:, -1:])


def _resampled_counts(
    n_queries: int, n_resamples: int, random: np.random.Generator
) -> Iterator[Array]:
    """How often each query was drawn, some resamples at a time."""
    for rows in _batches(n_queries, n_resamples):
        drawn = random.integers(0, n_queries, size=(rows, n_queries))
        drawn += np.arange(rows)[:, None] * n_queries
        counts = np.bincount(drawn.ravel(), minlength=drawn.size)
        yield counts.reshape(drawn.shape).astype(np.float64)


def _batches(n_queries: int, n_rows: int) -> Iterator[int]:
    size = max(1, BATCH // n_queries)
    for done in range(0, n_rows, size):
        yield min(size, n_rows - done)


def _bca_levels(resampled: Array, deviations: Array, weights: Array, confidence: float) -> Array:
    """Which quantiles of the resampled means are the ends, of shape (2, n_metrics).

    The jackknife of a weighted mean needs no loop: without query i it moves by
    -w_i (v_i - mean) / (W - w_i).
    """
    rounding = ROUNDING * np.abs(deviations).max(axis=0)
    below = ((resampled < -rounding).mean(axis=0) + (resampled <= rounding).mean(axis=0)) / 2
    edge = 0.5 / len(resampled)
    bias = stats.norm.ppf(np.clip(below, edge, 1 - edge))
    w = weights[:, None]
    left_out = -w * deviations / (weights.sum() - w)
    influence = left_out.mean(axis=0) - left_out
    spread = (influence**2).sum(axis=0) ** 1.5
    cubes = (influence**3).sum(axis=0)
    acceleration = np.divide(cubes, 6 * spread, out=np.zeros_like(spread), where=spread > 0)
    z = bias + stats.norm.ppf([[(1 - confidence) / 2], [(1 + confidence) / 2]])
    return np.asarray(stats.norm.cdf(bias + z / np.maximum(1 - acceleration * z, 1e-12)))


@one_thread
def sign_flip_p_values(
    differences: Array, weights: Array, n_resamples: int, random: np.random.Generator
) -> Array:
    """Two-sided p-values of a mean difference of zero: every query's sign is a coin.

    All assignments of signs if there are no more than `n_resamples`, else that many random ones,
    of which the observed one is one more: (b + 1) / (m + 1).
    """
    terms = weights[:, None] * differences
    terms = terms[terms.any(axis=1)]  # a difference of zero has no sign
    least = np.abs(terms.sum(axis=0)) - ROUNDING * np.abs(terms).sum(axis=0)
    n = len(terms)
    exact = n < 63 and 2**n <= n_resamples
    flips = _all_flips(n) if exact else _random_flips(n, n_resamples, random)
    as_far = np.zeros(differences.shape[1])
    for flipped in flips:
        # signs are 1 - 2 · flipped
        as_far += (np.abs(terms.sum(axis=0) - 2 * flipped @ terms) >= least).sum(axis=0)
    return as_far / 2**n if exact else (as_far + 1) / (n_resamples + 1)


def _all_flips(n: int) -> Iterator[Array]:
    yield ((np.arange(2**n)[:, None] >> np.arange(n)) & 1).astype(np.float64)


def _random_flips(n: int, n_resamples: int, random: np.random.Generator) -> Iterator[Array]:
    for rows in _batches(n, n_resamples):
        bits = random.integers(0, 256, size=(rows, -(-n // 8)), dtype=np.uint8)
        yield np.unpackbits(bits, axis=1, count=n).astype(np.float64)


def t_p_values(differences: Array, weights: Array) -> Array:
    """Two-sided p-values of Student's paired test."""
    n, centre = len(differences), mean(differences, weights)
    if n < 2:
        return np.full_like(centre, np.nan)
    error = standard_error(differences, weights)
    t = np.divide(np.abs(centre), error, out=np.full_like(error, np.inf), where=error > 0)
    t[centre == 0] = 0.0
    return np.asarray(2 * stats.t.sf(t, n - 1))


def wilcoxon_p_values(differences: Array, weights: Array) -> Array:
    """Two-sided p-values of Wilcoxon's signed-rank test; weights play no part."""
    return np.array([stats.wilcoxon(d).pvalue if d.any() else 1.0 for d in differences.T])


def holm(p_values: Array) -> Array:
    """p-values corrected for their number: S. Holm, Scand. J. Statist. 6, 1979; nan stays out."""
    corrected = np.full(len(p_values), np.nan)
    tested = np.flatnonzero(~np.isnan(p_values))
    order = tested[np.argsort(p_values[tested], kind="stable")]
    steps = p_values[order] * np.arange(len(order), 0, -1)
    corrected[order] = np.minimum(np.maximum.accumulate(steps), 1.0) if len(order) else steps
    return corrected
