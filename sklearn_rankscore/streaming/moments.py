"""A mean over queries, or a ratio of sums, in a few numbers that add up."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from ..metrics.names import NamedMetric
from ..ranking import Values
from ..ranking.arrays import Array


class MetricSummary(NamedTuple):
    """A metric over all queries so far.

    Parameters
    ----------
    mean : float
        What `evaluate` returns: the mean over queries, or the ratio of sums.
    standard_error : float
        Its standard error; nan for fewer than two queries.
    n_queries : int
        Number of queries, defined or not.
    n_undefined : int
        Number of queries on which the metric is undefined.
    """

    mean: float
    standard_error: float
    n_queries: int
    n_undefined: int


@dataclass(frozen=True)
class Moments:
    """Sums over queries of a ratio ``above / below``, and of its residuals.

    A weighted mean of values v is the ratio of the sums of ``w * v`` and ``w``, so one class
    serves both averages. The residual of a query is ``above - ratio * below``. Its square is
    summed about the ratio of these queries and moved when parts are joined, as Chan, Golub and
    LeVeque do for a variance; sums of raw squares would cancel. The sums themselves are fractions:
    joining them rounds nothing, so its order does not matter.
    """

    queries: int = 0
    undefined: int = 0
    counted: int = 0
    above: Fraction = Fraction(0)
    below: Fraction = Fraction(0)
    square: float = 0.0
    cross: float = 0.0
    below_square: float = 0.0

    @classmethod
    def of(cls, values: Values, metric: NamedMetric, weights: Array | None) -> Moments:
        """Sum what a metric found for some queries."""
        above, below = values.per_query(metric.replace_undefined_by), np.ones(len(values.defined))
        if metric.average == "micro":
            above, below = values.numerator, values.denominator
        counted = values.defined | (not math.isnan(metric.replace_undefined_by))
        w = counted if weights is None else weights * counted
        above, below = np.where(counted, w * above, 0.0), w * below
        total, base = float(above.sum()), float(below.sum())
        if not (math.isfinite(total) and math.isfinite(base)):
            raise ValueError(
                f"{metric.name!r} is infinite for some query, or for the sum of all; such values "
                "have no mean."
            )
        start = cls(
            queries=len(counted),
            undefined=int(np.count_nonzero(~values.defined)),
            counted=int(np.count_nonzero(w)),
            above=Fraction(total),
            below=Fraction(base),
        )
        rest = above - start.ratio * below
        pairs = (rest, rest), (rest, below), (below, below)
        # sums, not dot products, which start threads of their own
        return start._with(*(float((x * y).sum()) for x, y in pairs))

    def __add__(self, other: Moments) -> Moments:
        joined = Moments(
            queries=self.queries + other.queries,
            undefined=self.undefined + other.undefined,
            counted=self.counted + other.counted,
            above=self.above + other.above,
            below=self.below + other.below,
        )
        moved = [part._about(joined.ratio) for part in (self, other)]
        return joined._with(*(mine + theirs for mine, theirs in zip(*moved, strict=True)))

    @property
    def ratio(self) -> float:
        """The mean, or the ratio of sums; 0 without anything to divide by."""
        return float(self.above / self.below) if self.below else 0.0

    def summary(self, replace_undefined_by: float) -> MetricSummary:
        """What they say about the metric; `mean` is what `evaluate` returns."""
        mean = self.ratio if self.below else replace_undefined_by
        mean = mean if self.counted else math.nan
        return MetricSummary(mean, self.standard_error, self.queries, self.undefined)

    @property
    def standard_error(self) -> float:
        """Standard error of the ratio, for queries drawn at random; nan below two queries."""
        if self.counted < 2 or not self.below:
            return math.nan
        spread = max(self.square, 0.0) * self.counted / (self.counted - 1)
        return math.sqrt(spread) / float(self.below)

    def _about(self, ratio: float) -> tuple[float, float, float]:
        """Sums of residual², residual * below and below² about another ratio."""
        step = self.ratio - ratio
        square = self.square + 2 * step * self.cross + step**2 * self.below_square
        return square, self.cross + step * self.below_square, self.below_square

    def _with(self, square: float, cross: float, below_square: float) -> Moments:
        return Moments(
            self.queries,
            self.undefined,
            self.counted,
            self.above,
            self.below,
            square,
            cross,
            below_square,
        )
