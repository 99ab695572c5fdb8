"""Sums that can be added, from which means, differences and their intervals follow."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from .._table import html_of_fields
from .._typing import Array
from .._validation import check_fraction
from ..comparison.intervals import (
    FARTHEST,
    FEWEST_DISTINCT,
    TOLERANCE,
    Interval,
    of_equal_variances,
    skewed_ends,
)
from ..comparison.query_scores import value_range
from ..metrics.labels import Limits
from ..metrics.metric import Metric


class _Estimate:
    """What a summary has besides its numbers."""

    _ends: partial[Interval]

    def interval(self, confidence: float = 0.95) -> Interval:
        """Confidence interval of the expectation, like that of `QueryScores` and `compare`.

        Parameters
        ----------
        confidence : float, default=0.95
            The probability that it covers the expectation.

        Returns
        -------
        Interval
            ``(low, high)``; nan if the queries do not determine it.
        """
        return self._ends(check_fraction("confidence", confidence))

    def _repr_html_(self) -> str:
        return html_of_fields(self)


class _MeanFields(NamedTuple):
    mean: float
    standard_error: float
    n_queries: int
    n_undefined: int
    degrees_of_freedom: float


class MetricSummary(_Estimate, _MeanFields):
    """A metric over all queries so far, a named tuple.

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


class _DifferenceFields(NamedTuple):
    difference: float
    standard_error: float
    n_queries: int
    wins: int
    ties: int
    losses: int
    degrees_of_freedom: float


class DifferenceSummary(_Estimate, _DifferenceFields):
    """The difference of two systems over the queries that count for both, a named tuple.

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
        Number of queries, of those for which the metric is undefined, that count, whose value is
        positive, negative, and 1, and whose weight is positive.
    sums : float array
        Sums of numerators and of denominators.
    products : float array of shape (2, 4, 6)
        Sums of residual**i * denominator**j over the queries that count, each without and with its
        weight; they are of use for i + j up to 5.
    extremes : float array
        The lowest and the highest value of the metric, from which its range may follow.

    References
    ----------
    .. [1] T. F. Chan, G. H. Golub, R. J. LeVeque. Algorithms for computing the sample variance:
       analysis and recommendations. The American Statistician 37(3), 1983.
    """

    counts: Array
    sums: Array
    products: Array
    extremes: Array

    @classmethod
    def of(cls, weights: Array, values: Any, sizes: Any, undefined: Any, *others: Any) -> Moments:
        """The sums over queries of ``weights * values`` and ``weights * sizes``.

        Values of nan do not count; those of means have no `sizes`. The extremes are those of
        `others`, which a difference has.
        """
        counted = ~np.isnan(values) & (weights > 0)
        kept, used = values[counted], weights[counted]
        denominator = np.ones(len(kept)) if sizes is None else sizes[counted]
        sums = np.array([(used * kept).sum(), (used * denominator).sum()])
        residual = kept - _ratio(*sums) * denominator
        products = np.empty((2, 4, 6))
        # if all denominators and weights are 1, so are their powers
        alike = sizes is None and (weights == 1).all()
        for i, weight in enumerate((1.0,) if alike else (1.0, used)):
            powers = _powers(weight * residual, 3), _powers(weight * denominator, 0 if alike else 5)
            # no matrix product, which would start threads of its own
            products[i:] = np.einsum("iq,jq->ij", *powers)
        ones = kept == (1 if sizes is None else np.nan)
        of = undefined, counted, kept > 0, kept < 0, ones, weights
        counts = np.array([len(values), *map(np.count_nonzero, of)])
        extremes = np.array([-np.inf, np.inf])  # a numerator may be anything
        if sizes is None:
            extremes = _extremes(*(others or [values]))
        return cls(counts, sums, products, extremes)

    def __add__(self, other: Moments) -> Moments:
        sums = self.sums + other.sums
        ratio = _ratio(*sums)
        products = self._products_about(ratio) + other._products_about(ratio)
        extremes = _extremes(self.extremes, other.extremes)
        return Moments(self.counts + other.counts, sums, products, extremes)

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
        its expectation for equal variances of the queries relative to their variance, see
        `of_equal_variances`. The skewness of a query is that of the residuals without weights, of
        which few are among the largest weights.
        """
        n, total = int(self.counts[2]), float(self.sums[1])
        if n < 2 or total <= 0:
            return math.nan, math.nan, math.nan
        s2, s3, s4, s5 = (self.products[1, 0, p] / total**p for p in range(2, 6))
        trace, of_square = of_equal_variances(s2, s3, s4, s5)
        if trace <= 2.0**-52 * s2 or of_square <= 0:  # the weight of one query is all of it
            return math.nan, math.nan, math.nan
        error = math.sqrt(max(self.products[1, 2, 0], 0.0) / total**2 * s2 / trace)
        first, second, third = (self.products[0, 1:, 0] / n).tolist()
        variance = second - first**2
        skewness = third - 3 * first * second + 2 * first**3
        skewness *= 0.0 if variance < TOLERANCE**2 else s3 / (s2 * variance) ** 1.5
        return error, float(trace**2 / of_square), float(skewness)

    def _ends(self, limits: Limits | None, is_difference: bool, confidence: float) -> Interval:
        """Ends by skewness, or bounds where the queries show too little, as in memory.

        The bounds are those of Clopper and Pearson for the shares of queries below and above the
        most common value, each of which could have the lowest or the highest value.
        """
        low, high = value_range(limits, *self.extremes.tolist())
        if is_difference:
            low, high = low - high, high - low
        error, freedom, skewness = self._shape()
        n, above, below, ones = self.counts[2:6].tolist()
        if not n:
            return Interval(math.nan, math.nan)
        share = float(self.sums[1] ** 2 / self.products[1, 0, 2]) / n  # of effective queries
        common, differing = min((0.0, above + below), (1.0, n - ones), key=lambda of: of[1])
        width = high - low if math.isfinite(high - low) else 0.0
        shows_enough = differing * share >= FEWEST_DISTINCT * (1 - TOLERANCE)
        if shows_enough and FARTHEST * error >= width / 2 / (n * share):
            center, errors, skew = np.array([[_ratio(*self.sums)], [error], [skewness]])
            ends = skewed_ends(center, errors, skew, freedom, confidence)[:, 0]
        elif width:
            counts = (below, above) if common == 0 else (differing, differing * (high > 1))
            seen = np.array(counts) * share
            unseen = np.maximum(n * share - seen, 1e-9)
            most = stats.beta.ppf((1 + confidence) / 2, seen + 1, unseen)
            ends = common + np.array([low - common, high - common]) * most
        else:
            ends = np.full(2, math.nan)
        return Interval(*np.clip(ends, low, high).tolist())

    def summary(self, metric: Metric) -> MetricSummary:
        """Mean, standard error and numbers of queries."""
        error, freedom, _ = self._shape()
        n, n_undefined, n_counted = self.counts[:3].tolist()
        mean = _ratio(*self.sums) if self.sums[1] else metric.replace_undefined_by
        summary = MetricSummary(mean if n_counted else math.nan, error, n, n_undefined, freedom)
        summary._ends = partial(self._ends, metric.limits, False)
        return summary

    def difference(self, metric: Metric) -> DifferenceSummary:
        """The same for differences of two systems, with wins, ties and losses."""
        error, freedom, _ = self._shape()
        n, wins, losses = self.counts[2:5].tolist()
        mean = _ratio(*self.sums) if n else math.nan
        summary = DifferenceSummary(mean, error, n, wins, n - wins - losses, losses, freedom)
        summary._ends = partial(self._ends, metric.limits, True)
        return summary


def _extremes(*values: Array) -> Array:
    """The lowest and the highest of all values that are not nan."""
    lowest = (np.fmin.reduce(of, initial=np.inf) for of in values)
    return np.array([min(lowest), max(np.fmax.reduce(of, initial=-np.inf) for of in values)])


def _powers(values: Array, highest: int) -> Array:
    """The powers of values from 0 on, one per row."""
    powers = np.ones((highest + 1, len(values)))
    for i in range(highest):
        powers[i + 1] = powers[i] * values
    return powers


def _ratio(numerator: float, denominator: float) -> float:
    return float(numerator / denominator) if denominator else 0.0
