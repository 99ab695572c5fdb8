"""Sums from which a mean over queries, or a ratio of sums, and its standard error follow."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from .._table import html_of_fields
from .._typing import Array
from ..metrics.metric import Metric
from ..ranking import MetricValues


class MetricSummary(NamedTuple):
    """A metric over all queries so far.

    Parameters
    ----------
    mean : float
        What `evaluate` returns: the mean over queries, or the ratio of sums.
    standard_error : float
        The standard error of the mean, as that of a ratio of sums; nan for fewer than two queries.
        If few queries have most of the weight, it is too small: use that of `query_scores`.
    n_queries : int
        Number of queries.
    n_undefined : int
        Number of queries for which the metric is undefined.
    """

    mean: float
    standard_error: float
    n_queries: int
    n_undefined: int

    def _repr_html_(self) -> str:
        return html_of_fields(self)


@dataclass(frozen=True)
class Moments:
    """Sums over queries that determine a ratio ``numerator / denominator`` and its standard error.

    A weighted mean of values v is the ratio of the sums of ``w * v`` and ``w``, so that one class
    serves both averages. The residual of a query is ``numerator - ratio * denominator``. Products
    of residuals refer to the ratio of these queries and are updated when moments are added [1]_; a
    difference of raw sums of squares would suffer from cancellation. Numerator and denominator are
    fractions, whose sums are exact, so that their order has no effect.

    Parameters
    ----------
    n_queries, n_undefined, n_counted : int
        Number of queries, of those for which the metric is undefined, and of those with a value
        and a positive weight.
    numerator, denominator : Fraction
        Sums over queries.
    products : tuple of float
        Sums of residual², residual * denominator, and denominator².

    References
    ----------
    .. [1] T. F. Chan, G. H. Golub, R. J. LeVeque. Algorithms for computing the sample variance:
       analysis and recommendations. The American Statistician 37(3), 1983.
    """

    n_queries: int = 0
    n_undefined: int = 0
    n_counted: int = 0
    numerator: Fraction = Fraction(0)
    denominator: Fraction = Fraction(0)
    products: tuple[float, ...] = (0.0, 0.0, 0.0)

    @classmethod
    def of(cls, values: MetricValues, metric: Metric, weights: Array | None) -> Moments:
        """The moments of the values of a metric."""
        numerator, denominator = values.numerator, values.denominator
        if metric.average != "micro":
            numerator = values.per_query(metric.replace_undefined_by)
            denominator = np.ones_like(numerator)
        counted = values.defined | (not math.isnan(metric.replace_undefined_by))
        w = counted if weights is None else weights * counted
        numerator, denominator = np.where(counted, w * numerator, 0.0), w * denominator
        sums = float(numerator.sum()), float(denominator.sum())
        if not all(map(math.isfinite, sums)):
            raise ValueError(
                f"{metric.name!r} is infinite for a query or in the sum over queries, so it has no "
                "mean."
            )
        exact = Fraction(sums[0]), Fraction(sums[1])
        residual = numerator - _ratio(*exact) * denominator
        pairs = (residual, residual), (residual, denominator), (denominator, denominator)
        # sums, because dot products start threads of their own
        products = tuple(float((x * y).sum()) for x, y in pairs)
        n_undefined = int(np.count_nonzero(~values.defined))
        return cls(len(counted), n_undefined, int(np.count_nonzero(w)), *exact, products)

    def __add__(self, other: Moments) -> Moments:
        numerator = self.numerator + other.numerator
        denominator = self.denominator + other.denominator
        ratio = _ratio(numerator, denominator)
        products = zip(self._products_about(ratio), other._products_about(ratio), strict=True)
        return Moments(
            self.n_queries + other.n_queries,
            self.n_undefined + other.n_undefined,
            self.n_counted + other.n_counted,
            numerator,
            denominator,
            tuple(mine + theirs for mine, theirs in products),
        )

    def summary(self, replace_undefined_by: float) -> MetricSummary:
        """Mean, standard error and numbers of queries."""
        mean = (
            _ratio(self.numerator, self.denominator) if self.denominator else replace_undefined_by
        )
        mean = mean if self.n_counted else math.nan
        return MetricSummary(mean, self.standard_error, self.n_queries, self.n_undefined)

    @property
    def standard_error(self) -> float:
        """Standard error of the ratio for a random sample of queries; nan below two queries."""
        if self.n_counted < 2 or not self.denominator:
            return math.nan
        squares = max(self.products[0], 0.0) * self.n_counted / (self.n_counted - 1)
        return math.sqrt(squares) / float(self.denominator)

    def _products_about(self, ratio: float) -> tuple[float, float, float]:
        """The products for residuals about another ratio."""
        squares, cross, denominator_squares = self.products
        step = _ratio(self.numerator, self.denominator) - ratio
        return (
            squares + 2 * step * cross + step**2 * denominator_squares,
            cross + step * denominator_squares,
            denominator_squares,
        )


def _ratio(numerator: Fraction, denominator: Fraction) -> float:
    return float(numerator / denominator) if denominator else 0.0
