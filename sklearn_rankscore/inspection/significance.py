"""Paired significance tests of weighted mean differences, and corrections of their p-values.

Throughout, `differences` has shape (n_queries, n_metrics) and no nan, and `weights` has shape
(n_queries,) and is positive.
"""

from __future__ import annotations

import numpy as np
from scipy import stats

from .._typing import Array, SignificanceTest
from .intervals import TOLERANCE, degrees_of_freedom, mean, standard_error
from .permutation_test import permutation_p_values

# differences up to this size are rounding errors; those that differ by no more than this, relative
# to their size, are tied
ROUNDING, EQUAL = 1e-14, 1e-10


def significance_level(confidence: float) -> float:
    """The level of tests at this confidence: decimals such as 0.05 without a rounding error."""
    return round(1 - confidence, 12)


def paired_p_values(
    differences: Array,
    weights: Array,
    test: SignificanceTest,
    n_resamples: int,
    random: np.random.Generator,
) -> Array:
    """Two-sided p-values of the null hypothesis that the mean difference is 0."""
    if test == "permutation":
        return permutation_p_values(weights[:, None] * differences, n_resamples, random)
    if test == "t":
        return _t_p_values(differences, weights)
    if np.ptp(weights) > 0:
        raise ValueError(
            "test='wilcoxon' does not support query weights. Use test='permutation' or test='t', "
            "or omit sample_weight."
        )
    return np.array([_wilcoxon_p_value(d) for d in differences.T])


def directions(differences: Array, weights: Array, test: SignificanceTest) -> Array:
    """The sign of the statistic of each metric."""
    if test == "wilcoxon":
        return np.array([np.sign(_signed_ranks(d).sum()) for d in differences.T])
    return np.asarray(np.sign(mean(differences, weights)))


def _wilcoxon_p_value(differences: Array) -> float:
    ranks = _signed_ranks(differences)
    return float(stats.wilcoxon(ranks).pvalue) if ranks.any() else 1.0


def _signed_ranks(differences: Array) -> Array:
    """Wilcoxon's signed ranks, in which differences that are equal but for rounding tie."""
    sizes = np.abs(differences)
    sizes[sizes <= ROUNDING] = 0.0
    order = np.argsort(sizes)
    gaps = np.diff(sizes[order], prepend=0.0)
    is_next = gaps > EQUAL * np.maximum(sizes[order], np.median(sizes))
    places = np.empty(len(sizes))
    places[order] = np.cumsum(is_next)
    ranks = stats.rankdata(places) - (places == 0).sum()
    return np.asarray(np.where(places > 0, np.sign(differences) * ranks, 0.0))


def _t_p_values(differences: Array, weights: Array) -> Array:
    """Student's paired t-test; nan without variation, from which no error can be estimated."""
    n, center = len(differences), mean(differences, weights)
    if n < 2:
        return np.full_like(center, np.nan)
    error = standard_error(differences, weights)
    varies = np.ptp(differences, axis=0) > TOLERANCE
    t = np.divide(np.abs(center), error, out=np.full_like(error, np.nan), where=varies)
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
