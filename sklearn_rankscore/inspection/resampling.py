"""Bootstrap intervals of weighted means, by resampling queries.

Throughout, `values` has shape (n_queries, n_metrics) and no nan, and `weights` has shape
(n_queries,) and is positive.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from scipy import stats
from sklearn.utils import check_random_state
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from .._typing import Array, Seed
from .intervals import TOLERANCE, mean
from .progress import with_progress

# the counts or signs of one batch of resamples, so that they fit in cache
BATCH_SIZE = 2**18

# these narrow matrix products are bound by memory: further threads do not speed them up, and on a
# busy machine they wait for each other
with_single_threaded_blas: Callable[[Callable[..., Array]], Callable[..., Array]] = (
    threadpool_limits.wrap(limits=1, user_api="blas")
)


def generator(random_state: Seed) -> np.random.Generator:
    """A NumPy generator from any `random_state` that scikit-learn accepts."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31))
    if random_state is not None:
        check_random_state(random_state)
    return np.random.default_rng(random_state)


def bootstrap_interval(
    values: Array, weights: Array, confidence: float, n_resamples: int, random: np.random.Generator
) -> Array:
    """Bias-corrected and accelerated (BCa) bootstrap interval of the mean.

    B. Efron. Better Bootstrap Confidence Intervals. JASA 82, 1987.
    """
    center = mean(values, weights)
    if len(values) < 2:
        return np.full((2, len(center)), np.nan)
    deviations = values - center
    resampled = resampled_means(deviations, weights, n_resamples, random)
    levels = _bca_levels(resampled, deviations, weights, confidence)
    quantiles = np.column_stack(
        [np.quantile(column, level) for column, level in zip(resampled.T, levels.T, strict=True)]
    )
    is_constant = np.ptp(values, axis=0) == 0
    return np.where(is_constant, center, center + quantiles)


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
    sizes = list(batch_sizes(n_queries, n_resamples))
    for n_rows in with_progress(sizes, len(sizes), "batches of resamples"):
        drawn = random.integers(0, n_queries, size=(n_rows, n_queries))
        drawn += np.arange(n_rows)[:, None] * n_queries
        counts = np.bincount(drawn.ravel(), minlength=drawn.size)
        yield counts.reshape(drawn.shape).astype(np.float64)


def batch_sizes(n_queries: int, n_resamples: int, batch_size: int = BATCH_SIZE) -> Iterator[int]:
    """Numbers of resamples in each batch."""
    size = max(1, batch_size // n_queries)
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
