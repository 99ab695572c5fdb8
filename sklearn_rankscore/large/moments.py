"""Sums that can be added, from which means, differences and their standard errors follow."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import stats

from .._table import html_of_fields
from .._typing import Array
from .._validation import check_fraction

# with fewer queries that differ, no interval of Student's covers the difference often enough
FEWEST_DIFFERING = 6


def _interval(
    center: float, error: float, freedom: float, confidence: float
) -> tuple[float, float]:
    margin = stats.t.ppf((1 + check_fraction("confidence", confidence)) / 2, freedom) * error
    return float(center - margin), float(center + margin)


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
    """

    mean: float
    standard_error: float
    n_queries: int
    n_undefined: int
    degrees_of_freedom: float

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Student's confidence interval of the mean.

        Parameters
        ----------
        confidence : float, default=0.95
            The probability that it covers the expectation.

        Returns
        -------
        tuple of (low, high)
            Its ends; nan for fewer than two queries.
        """
        return _interval(self.mean, self.standard_error, self.degrees_of_freedom, confidence)

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
    degrees_of_freedom : float
        As in `MetricSummary`.
    """

    difference: float
    standard_error: float
    n_queries: int
    wins: int
    ties: int
    losses: int
    degrees_of_freedom: float

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Student's confidence interval of the difference.

        Parameters
        ----------
        confidence : float, default=0.95
            The probability that it covers the expectation.

        Returns
        -------
        tuple of (low, high)
            Its ends; nan if fewer than six queries differ.
        """
        few = self.wins + self.losses < FEWEST_DIFFERING
        error = math.nan if few else self.standard_error
        return _interval(self.difference, error, self.degrees_of_freedom, confidence)

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
    products : float array
        Sums of residual², residual * denominator, and of powers 2 to 5 of the denominators.

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
        numerator = np.where(counted, weights * values, 0.0)
        denominator, counted = weights * sizes * counted, counted & (weights > 0)
        sums = np.array([numerator.sum(), denominator.sum()])
        residual = numerator - _ratio(*sums) * denominator
        # sums, because dot products start threads of their own
        second = denominator * denominator
        powers = second, second * denominator, second * second, second * second * denominator
        products = residual * residual, residual * denominator, *powers
        of = map(np.count_nonzero, (undefined, counted, numerator > 0, numerator < 0))
        counts = np.array([len(numerator), *of])
        return cls(counts, sums, np.array([product.sum() for product in products]))

    def __add__(self, other: Moments) -> Moments:
        sums = self.sums + other.sums
        ratio = _ratio(*sums)
        products = self._products_about(ratio) + other._products_about(ratio)
        return Moments(self.counts + other.counts, sums, products)

    def _products_about(self, ratio: float) -> Array:
        """The products for residuals about another ratio."""
        squares, cross, second = self.products[:3]
        step = _ratio(*self.sums) - ratio
        moved = squares + 2 * step * cross + step**2 * second, cross + step * second
        return np.concatenate([moved, self.products[2:]])

    def error_and_freedom(self) -> tuple[float, float]:
        """Standard error of the ratio for a random sample of queries, and its degrees of freedom.

        With shares h of the denominators, the squared error is Σ h² r² over residuals r, divided by
        its expectation for equal variances of the queries relative to their variance: Σ h² r² has
        the matrix A = M' diag(h²) M with M = I - 1 h', of which tr A = Σh² - 2 Σh³ + (Σh²)², and
        the degrees of freedom are Satterthwaite's (tr A)² / tr(A²).
        """
        total = float(self.sums[1])
        if self.counts[2] < 2 or total <= 0:
            return math.nan, math.nan
        squares, _, *powers = self.products.tolist()
        s2, s3, s4, s5 = (power / total**p for p, power in enumerate(powers, 2))
        trace = s2 - 2 * s3 + s2**2
        of_square = s4 - 4 * s5 + 2 * s3**2 + 4 * s2 * s4 - 4 * s2**2 * s3 + s2**4
        if trace <= 2.0**-52 * s2 or of_square <= 0:  # the weight of one query is all of it
            return math.nan, math.nan
        return math.sqrt(max(squares, 0.0) / total**2 * s2 / trace), trace**2 / of_square

    def summary(self, replace_undefined_by: float) -> MetricSummary:
        """Mean, standard error and numbers of queries."""
        n, n_undefined, n_counted = self.counts[:3].tolist()
        mean = _ratio(*self.sums) if self.sums[1] else replace_undefined_by
        error, freedom = self.error_and_freedom()
        return MetricSummary(mean if n_counted else math.nan, error, n, n_undefined, freedom)

    def difference(self) -> DifferenceSummary:
        """The same for differences of two systems, with wins, ties and losses."""
        n, wins, losses = self.counts[2:].tolist()
        error, freedom = self.error_and_freedom()
        mean = _ratio(*self.sums) if n else math.nan
        return DifferenceSummary(mean, error, n, wins, n - wins - losses, losses, freedom)


def _ratio(numerator: float, denominator: float) -> float:
    return float(numerator / denominator) if denominator else 0.0
