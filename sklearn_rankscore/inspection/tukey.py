"""The randomized Tukey HSD test of all pairs of systems."""

from __future__ import annotations

import numpy as np
from scipy import stats

from .._typing import Array
from .intervals import TOLERANCE
from .resampling import batch_sizes

# with more values of a metric than this, the range of the means is that of normal variables, if the
# queries differ by as much as this many of equal weight and spread
MOST_PERMUTED, MANY_QUERIES = 5000, 100


def tukey_p_values(
    values: Array, weights: Array, n_resamples: int, random: np.random.Generator
) -> Array:
    """p-values of all pairs of systems, of shape (n_systems, n_systems).

    `values` has shape (n_queries, n_systems) and no nan. Under the null hypothesis that all systems
    are equal, the values of each query can be permuted; a difference is compared with the largest
    difference of two permuted means. B. Carterette. Multiple Testing in Statistical Analysis of
    Systems-Based Information Retrieval Experiments. ACM TOIS 30, 2012.
    """
    terms = weights[:, None] * (values - values.mean(axis=1, keepdims=True)) / weights.sum()
    sums = terms.sum(axis=0)
    observed = np.abs(sums[:, None] - sums)
    terms = terms[np.ptp(values, axis=1) > TOLERANCE]  # the permutations of others are all equal
    if not len(terms):
        return np.ones_like(observed)
    scale = TOLERANCE * np.abs(terms).sum()
    error = 0.0
    if terms.size > MOST_PERMUTED:
        squares = (terms**2).sum(axis=1)
        if squares.sum() ** 2 >= MANY_QUERIES * (squares**2).sum():
            return _of_normal_range(observed, terms)
        # those that differ most are permuted, and the sum of the others is normal
        order = np.argsort(-squares)
        few = max(1, MOST_PERMUTED // terms.shape[1])
        terms, error = terms[order[:few]], _error_of_sums(terms[order[few:]])
    n_extreme = np.zeros(observed.shape)
    for n_rows in batch_sizes(terms.size, n_resamples):
        order = random.random((n_rows, *terms.shape)).argsort(axis=2)
        means = np.take_along_axis(terms[None], order, axis=2).sum(axis=1)
        means += error * random.normal(size=means.shape)
        ranges = np.sort(np.ptp(means, axis=1))
        n_extreme += n_rows - np.searchsorted(ranges, observed - scale)
    return np.asarray((n_extreme + 1) / (n_resamples + 1))


def _of_normal_range(observed: Array, terms: Array) -> Array:
    """With the studentized range of means that are normal, as those of many queries are."""
    n_systems, error = terms.shape[1], _error_of_sums(terms)
    if error == 0:
        return np.ones_like(observed)
    first, second = np.triu_indices(n_systems, 1)
    p_values = np.ones_like(observed)
    tail = stats.studentized_range.sf(observed[first, second] / error, n_systems, np.inf)
    p_values[first, second] = p_values[second, first] = np.clip(tail, 0, 1)
    return p_values


def _error_of_sums(terms: Array) -> float:
    """Standard deviation of the normal variables with the range of sums of permuted terms."""
    return float(np.sqrt((terms**2).sum() / (terms.shape[1] - 1)))
