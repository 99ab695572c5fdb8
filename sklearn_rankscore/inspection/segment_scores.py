"""Means of metrics by segment, and how segments differ from all other queries."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from .._table import Table, html_of_fields
from .._typing import Array
from .._validation import examples
from ..metrics.segment import ALL_QUERIES, Segment
from ..ranking.aggregate import scaled_weights
from .intervals import Interval, has_few_distinct
from .query_values import QueryValues
from .segment_bins import SegmentColumn
from .significance import holm
from .tabular import Tabular, p_text

# queries that are checked first, because they suffice nearly always
SOME = 1000

# the share of the expected sum of squares below which one query has nearly all the weight
DOMINATED = 1e-6

NO_TEST = (
    "nan: no test, because fewer than six queries of the segment, or of all others, differ from "
    "the most common value, or one of these queries has nearly all the weight"
)


@dataclass(frozen=True)
class SegmentScore:
    """Mean of one metric over the queries of one segment.

    Parameters
    ----------
    metric : str
        Name of the metric.
    segment : Segment
        Column and value.
    queries : int
        Number of queries for which the metric is defined.
    share : float
        Their share of the total weight of these queries in all segments.
    mean : float
        Weighted mean.
    interval : Interval
        Confidence interval of the mean.
    rest_p_value : float
        p-value of Welch's t-test that the mean equals that of all other queries, adjusted for
        multiple testing over all segments and metrics; nan if fewer than six queries of the
        segment, or of all others, differ from the most common value, or if one of these queries has
        more than 99.9 % of the weight.
    """

    metric: str
    segment: Segment
    queries: int
    share: float
    mean: float
    interval: Interval
    rest_p_value: float

    def _repr_html_(self) -> str:
        return html_of_fields(self)


@dataclass(frozen=True, repr=False)
class SegmentScores(Tabular):
    """What `QueryScores.by` returns: one `SegmentScore` for each metric and segment.

    Iteration yields them; ``by["ndcg@10", ("device", "phone")]`` selects one.

    Parameters
    ----------
    scores : tuple of SegmentScore
        By metric, then by segment.
    confidence : float
        Confidence level of the intervals.

    Notes
    -----
    `to_frame` has one row per metric and segment, with the columns "metric", "column", "value",
    "queries", "share", "mean", "low", "high" and "rest_p_value".
    """

    scores: tuple[SegmentScore, ...]
    confidence: float

    def __iter__(self) -> Iterator[SegmentScore]:
        return iter(self.scores)

    def __len__(self) -> int:
        return len(self.scores)

    def __getitem__(self, key: tuple[str, tuple[Any, Any]]) -> SegmentScore:
        keys = [(score.metric, tuple(score.segment)) for score in self.scores]
        if key in keys:
            return self.scores[keys.index(key)]
        raise KeyError(f"no segment {key!r}; the segments are {examples(keys, 10)}.")

    def _columns(self) -> dict[str, Any]:
        rows = [{**vars(s), **s.segment._asdict(), **s.interval._asdict()} for s in self.scores]
        names = ["metric", "column", "value", "queries", "share", "mean", "low", "high"]
        return {name: [row[name] for row in rows] for name in [*names, "rest_p_value"]}

    def _table(self) -> Table:
        interval = f"{self.confidence * 100:g} % interval"
        header = ("", "", "", "queries", "share", "mean", interval, "p (differs from the rest)")
        rows = [
            (
                s.metric, s.segment.column, str(s.segment.value), f"{s.queries:,}",
                f"{s.share:.1%}", f"{s.mean:.4f}", f"{s.interval:.4f}", p_text(s.rest_p_value),
            )
            for s in self.scores
        ]  # fmt: skip
        note = no_test_note(s.rest_p_value for s in self.scores)
        return Table("Means by segment", header, rows, n_labels=3, note=note)


def no_test_note(rest_p_values: Iterable[float]) -> str:
    """Why some segments are not compared with the rest; empty if all are."""
    return NO_TEST if any(map(math.isnan, rest_p_values)) else ""


class SegmentPart(NamedTuple):
    """The queries of one segment, and per metric how they relate to all other queries."""

    segment: Segment
    rows: Array | slice
    shares: Array
    rest_p_values: Array


def whole_part(scores: QueryValues) -> SegmentPart:
    """All queries as one segment."""
    shares = np.where(scores.included().any(axis=0), 1.0, np.nan)
    return SegmentPart(ALL_QUERIES, slice(None), shares, np.full(len(scores.metrics), np.nan))


def segment_parts(scores: QueryValues, column: SegmentColumn) -> list[SegmentPart]:
    """The segments of a column with p-values of Welch's t-test of each and all other queries."""
    order = np.argsort(column.codes, kind="stable")
    starts = np.searchsorted(column.codes[order], np.arange(len(column.values)))
    of_segments = np.array([np.add.reduceat(p, starts) for p in _powers(scores, order)])
    totals = of_segments.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean, error, df = _mean_and_error(of_segments)
        other, other_error, other_df = _mean_and_error(_of_rest(of_segments))
        both = error + other_error
        t = np.abs(mean - other) / np.sqrt(both)
        degrees = both**2 / (error**2 / df + other_error**2 / other_df)
        rows, shares = np.split(order, starts[1:]), (of_segments / totals)[1]
        p_values = np.where(_has_few_distinct(scores, rows), np.nan, 2 * stats.t.sf(t, degrees))
    return [
        SegmentPart(Segment(column.name, value), *of)
        for value, *of in zip(column.values, rows, shares, p_values, strict=True)
    ]


def _powers(scores: QueryValues, order: Array) -> Iterator[Array]:
    """1, w, w v, (w v)², w² v, w², …, w⁵ for centered values v of weight w; 0 if not included."""
    weights = np.ones(len(order)) if scores.weights is None else scaled_weights(scores.weights)
    included = scores.included()[order].astype(np.float64)
    yield included
    w, v = included * weights[order, None], scores.values[order]
    v[included == 0] = 0.0
    # the test does not depend on the origin, and far from it squares would cancel
    v -= (w * v).sum(axis=0) / np.maximum(w.sum(axis=0), np.finfo(np.float64).tiny)
    yield w
    yield w * v
    yield (w * v) ** 2
    yield w**2 * v
    for power in range(2, 6):
        yield w**power


def _of_rest(sums: Array) -> Array:
    """The sums over all other segments; differences from the total would cancel."""
    none = np.zeros_like(sums[:, :1])
    before = np.concatenate([none, sums[:, :-1]], axis=1).cumsum(axis=1)
    after = np.concatenate([none, sums[:, :0:-1]], axis=1).cumsum(axis=1)[:, ::-1]
    return np.asarray(before + after)


def _has_few_distinct(scores: QueryValues, rows: Sequence[Array]) -> Array:
    """Whether fewer than six values of a segment, or of the rest, differ from the most common."""
    return np.array([_few(scores, own) | _few_in_rest(scores, own) for own in rows])


def _few_in_rest(scores: QueryValues, rows: Array) -> Array:
    rest = np.delete(np.arange(len(scores)), rows)
    few = _few(scores, rest[:SOME])
    # more queries can only add values that differ
    return few & _few(scores, rest) if few.any() and len(rest) > SOME else few


def _few(scores: QueryValues, rows: Array) -> Array:
    if not len(rows):
        return np.ones(len(scores.metrics), dtype=bool)
    few = scores.select(rows).aggregate(lambda values, _: has_few_distinct(values))
    return np.asarray(few != 0)  # nan without a value


def _mean_and_error(sums: Array) -> tuple[Array, Array, Array]:
    """Mean, squared standard error and degrees of freedom, from sums of powers.

    As those of `standard_error`, they account for the influence of large weights: the sum of the
    squared residuals is divided by its expectation for values of equal variance, and the degrees of
    freedom are Satterthwaite's.
    """
    n, w, wv, wwvv, wwv, *powers = sums
    mean = wv / w
    two, three, four, five = (power / w**k for k, power in enumerate(powers, 2))
    squares = np.maximum(wwvv - 2 * mean * wwv + mean**2 * powers[0], 0) / w**2
    expected = two - 2 * three + two**2
    expected[expected < DOMINATED * two] = np.nan  # a difference of nearly equal numbers
    cross = two**4 - 4 * two**2 * three + 2 * two * four + 2 * three**2
    df = expected**2 / (four * (1 + 2 * two) - 4 * five + cross)
    return mean, np.where(n > 1, squares * two / expected, np.nan), df


def summarize_segments(
    metrics: Sequence[str],
    parts: Sequence[tuple[SegmentPart, QueryValues]],
    intervals: Sequence[Mapping[str, Interval]],
    confidence: float,
) -> SegmentScores:
    """Means of the parts, with p-values adjusted over all metrics and segments."""
    adjusted = holm(np.array([part.rest_p_values for part, _ in parts]).T.ravel())
    means = [scores.mean() for _, scores in parts]
    counts = [scores.included().sum(axis=0).tolist() for _, scores in parts]
    summaries = [
        SegmentScore(
            metric, parts[i][0].segment, counts[i][j], float(parts[i][0].shares[j]),
            means[i][metric], intervals[i][metric], float(adjusted[j * len(parts) + i]),
        )
        for j, metric in enumerate(metrics)
        for i in range(len(parts))
    ]  # fmt: skip
    return SegmentScores(tuple(summaries), confidence)
