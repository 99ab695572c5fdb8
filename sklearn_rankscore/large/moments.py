"""Sums that can be added, from which means, differences and their standard errors follow."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from .._table import html_of_fields
from .._typing import Array
from .._validation import check_fraction

# with fewer queries that differ, no interval covers the difference often enough, as in `compare`
FEWEST_DIFFERING = 6 * (1 - 1e-12)

# a variance below this is that of rounding
VARIES = 1e-24


def _interval(center: float, of: Any, confidence: float) -> tuple[float, float]:
    """Student's interval, each end of which skewness can only move away from the mean.

    P. Hall. On the Removal of Skewness by Transformation. Journal of the Royal Statistical Society
    B 54, 1992.
    """
    t = stats.t.ppf((1 + check_fraction("confidence", confidence)) / 2, of.degrees_of_freedom)
    ends, skewness = np.array([-t, t]), of.skewness
    moved = ends
    if not abs(skewness) < 1e-8:
        moved = -3 / skewness * (np.cbrt(1 - skewness * (ends + skewness / 6)) - 1)
    low, high = np.minimum(ends, moved)[0], np.maximum(ends, moved)[1]
    return float(center + of.standard_error * low), float(center + of.standard_error * high)


class MetricSummary(NamedTuple):
    """A metric over all queries so far.

    Parameters
    ----------
    mean : float
        What `evaluate` returns: the mean over queries, or the ratio of sums.
    standard_error : float
        The standard error of the mean; nan for fewer than two queries.
    n_queries : int
        Number of queries.
    n_undefined : int
        Number of queries for which the metric is undefined.
    degrees_of_freedom : float
        Those of the standard error: one less than the number of queries that count if their weights
        are equal.
    skewness : float
        That of the mean, from which the interval follows.
    """

    mean: float
    standard_error: float
    n_queries: int
    n_undefined: int
    degrees_of_freedom: float
    skewness: float

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Confidence interval of the mean: Student's with a correction for skewness.

        Parameters
        ----------
        confidence : float, default=0.95
            The probability that it covers the expectation.

        Returns
        -------
        tuple of (low, high)
            Its ends; nan for fewer than two queries.
        """
        return _interval(self.mean, self, confidence)

    def _repr_html_(self) -> str:
        return html_of_fields(self)


class DifferenceSummary(NamedTuple):
    """The difference of two systems in a metric, over the queries for which it is defined for both.

    Parameters
    ----------
    difference : float
        The mean of the model minus that of the baseline.
    standard_error : float
        The standard error of the difference; nan for fewer than two queries.
    n_queries : int
        Number of queries that count.
    wins, ties, losses : int
        Number of these for which the value of the model is higher, equal and lower.
    degrees_of_freedom, skewness : float
        As in `MetricSummary`; the skewness is nan if effectively fewer than six queries differ.
    """

    difference: float
    standard_error: float
    n_queries: int
    wins: int
    ties: int
    losses: int
    degrees_of_freedom: float
    skewness: float

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Confidence interval of the difference, as in `MetricSummary`.

        Parameters
        ----------
        confidence : float, default=0.95
            The probability that it covers the expectation.

        Returns
        -------
        tuple of (low, high)
            Its ends; nan if effectively fewer than six queries differ.
        """
        return _interval(self.difference, self, confidence)

    def _repr_html_(self) -> str:
        return html_of_fields(self)


@dataclass(frozen=True)
class Moments:
    """Sums over queries that determine a ratio ``numerator / denominator`` and its standard error.

    A weighted mean of values v is the ratio of the sums of ``w * v`` and ``w``, so that one form
    serves both averages. The residual of a query is ``numerator - ratio * denominator``. Products
    of residuals refer to the ratio of these queries and are moved when moments are added [1]_; a
    difference of raw sums of squares would suffer from cancellation.

    Parameters
    ----------
    counts : int array
        Number of queries, of those for which the metric is undefined, that count, and that have a
        positive and a negative numerator.
    sums : float array
        Sums of numerators and of denominators.
    products : float array of shape (2, 4, 6)
        Sums of residual**i * denominator**j over the queries that count, each without and with its
        weight; they are of use for i + j up to 5.

    References
    ----------
    .. [1] T. F. Chan, G. H. Golub, R. J. LeVeque. Algorithms for computing the sample variance:
       analysis and recommendations. The American Statistician 37(3), 1983.
    """

    counts: Array
    sums: Array
    products: Array

    @classmethod
    def of(
        cls, values: Array, sizes: Array, weights: Array, counted: Array, undefined: Array
    ) -> Moments:
        """The sums over queries of ``weights * values`` and ``weights * sizes``, if they count."""
        counted = counted & (weights > 0)
        numerator, sizes = np.where(counted, values, 0.0), np.where(counted, sizes, 0.0)
        sums = np.array([(weights * numerator).sum(), (weights * sizes).sum()])
        residual, products = numerator - _ratio(*sums) * sizes, []
        for weight in (1.0, weights):
            powers = (np.vander(weight * of, 6, increasing=True) for of in (residual, sizes))
            # no matrix product, which would start threads of its own
            products.append(np.einsum("qi,qj->ij", *powers)[:4])
        of = map(np.count_nonzero, (undefined, counted, numerator > 0, numerator < 0))
        return cls(np.array([len(counted), *of]), sums, np.array(products))

    def __add__(self, other: Moments) -> Moments:
        sums = self.sums + other.sums
        ratio = _ratio(*sums)
        products = self._products_about(ratio) + other._products_about(ratio)
        return Moments(self.counts + other.counts, sums, products)

    def _products_about(self, ratio: float) -> Array:
        """The products for residuals about another ratio, by the binomial theorem."""
        step, moved = _ratio(*self.sums) - ratio, self.products.copy()
        for i in range(1, 4):
            for k in range(1, i + 1):
                moved[:, i, : 6 - k] += math.comb(i, k) * step**k * self.products[:, i - k, k:]
        return moved

    def _shape(self) -> tuple[float, float, float]:
        """Standard error of the ratio for a random sample of queries, its freedom and skewness.

        With shares h of the denominators, the squared error is Σ h² r² over residuals r, divided by
        its expectation for equal variances of the queries relative to their variance: Σ h² r² has
        the matrix A = M' diag(h²) M with M = I - 1 h', of which tr A = Σh² - 2 Σh³ + (Σh²)², and
        the degrees of freedom are Satterthwaite's (tr A)² / tr(A²). The skewness of a query is that
        of the residuals without weights, of which few are among the largest weights.
        """
        n, total = int(self.counts[2]), float(self.sums[1])
        if n < 2 or total <= 0:
            return math.nan, math.nan, math.nan
        s2, s3, s4, s5 = (self.products[1, 0, p] / total**p for p in range(2, 6))
        trace = s2 - 2 * s3 + s2**2
        of_square = s4 - 4 * s5 + 2 * s3**2 + 4 * s2 * s4 - 4 * s2**2 * s3 + s2**4
        if trace <= 2.0**-52 * s2 or of_square <= 0:  # the weight of one query is all of it
            return math.nan, math.nan, math.nan
        error = math.sqrt(max(self.products[1, 2, 0], 0.0) / total**2 * s2 / trace)
        first, second, third = (self.products[0, 1:, 0] / n).tolist()
        variance = second - first**2
        skewness = third - 3 * first * second + 2 * first**3
        skewness *= 0.0 if variance < VARIES else s3 / (s2 * variance) ** 1.5
        return error, trace**2 / of_square, float(skewness)

    def summary(self, replace_undefined_by: float) -> MetricSummary:
        """Mean, standard error and numbers of queries."""
        n, n_undefined, n_counted = self.counts[:3].tolist()
        mean = _ratio(*self.sums) if self.sums[1] else replace_undefined_by
        error, *shape = self._shape()
        return MetricSummary(mean if n_counted else math.nan, error, n, n_undefined, *shape)

    def difference(self) -> DifferenceSummary:
        """The same for differences of two systems, with wins, ties and losses."""
        n, wins, losses = self.counts[2:].tolist()
        error, freedom, skewness = self._shape()
        mean = _ratio(*self.sums) if n else math.nan
        share = self.sums[1] ** 2 / (n * self.products[1, 0, 2]) if n else 0.0  # effective
        if share * (wins + losses) < FEWEST_DIFFERING:
            skewness = math.nan
        counts = n, wins, n - wins - losses, losses
        return DifferenceSummary(mean, error, *counts, freedom, skewness)


def _ratio(numerator: float, denominator: float) -> float:
    return float(numerator / denominator) if denominator else 0.0
