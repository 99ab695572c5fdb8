"""Totals over complete queries: the moments of each metric, and on request every value."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .._typing import Array
from ..metrics.metric import Metric, measure
from ..metrics.segment import Segment
from ..query_ids import group_rows
from ..ranking import Queries
from .instants import concatenate_ids
from .moments import MetricSummary, Moments
from .segments import check_number_of_segments, in_order_of_values, segments_of


@dataclass(frozen=True)
class StoredValues:
    """The ids of queries and the values of each metric, one part per batch."""

    parts: tuple[tuple[Array, dict[str, Array]], ...] = ()

    def __add__(self, other: StoredValues) -> StoredValues:
        return StoredValues(self.parts + other.parts)

    def concatenated(self) -> tuple[Array, dict[str, Array]] | None:
        """Ids and values in the order of the batches; None without any."""
        if not self.parts:
            return None
        ids = concatenate_ids([ids for ids, _ in self.parts])
        names = self.parts[0][1]
        return ids, {name: np.concatenate([v[name] for _, v in self.parts]) for name in names}

    def sorted(self) -> tuple[Array, dict[str, Array]]:
        """Ids and values in the order of the ids, which must be distinct."""
        concatenated = self.concatenated()
        if concatenated is None:
            raise ValueError("no documents given; at least one is needed.")
        ids, values = concatenated
        grouping = group_rows(ids, len(ids))
        if len(grouping) < len(ids):
            raise ValueError(
                f"query {grouping.ids[grouping.sizes > 1][0]} is split over several batches. Pass "
                "complete queries to update(), or use update_sorted()."
            )
        return grouping.ids, {name: v[grouping.first_rows] for name, v in values.items()}


@dataclass(frozen=True)
class Totals:
    """Totals over complete queries.

    Parameters
    ----------
    moments : dict of str to Moments
        The moments of each metric.
    values : StoredValues
        The values of each query, if they are stored.
    has_positive_weight : bool
        Whether some query has a positive weight.
    segments : dict of Segment to dict of str to Moments
        The moments of each metric over the queries of each segment.
    """

    moments: dict[str, Moments]
    values: StoredValues = StoredValues()
    has_positive_weight: bool = False
    segments: dict[Segment, dict[str, Moments]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        queries: Queries,
        metrics: dict[str, Metric],
        per_query: bool,
        n_jobs: int | None,
        segments: dict[str, Array],
    ) -> Totals:
        """Measure queries, whose values in columns of segments are given."""
        weights, metric_values = queries.weights, measure(queries, metrics.values(), n_jobs=n_jobs)
        measured = list(zip(metrics.items(), metric_values, strict=True))
        moments = {name: Moments.of(values, m, weights) for (name, m), values in measured}
        stored = StoredValues()
        if per_query:
            columns = {name: v.per_query(m.replace_undefined_by) for (name, m), v in measured}
            stored = StoredValues(((queries.ids, columns),))
        has_positive_weight = weights is None or bool(weights.any())
        of_segments = {
            segment: {
                name: Moments.of(v.take(rows), m, None if weights is None else weights[rows])
                for (name, m), v in measured
            }
            for segment, rows in segments_of(segments)
        }
        check_number_of_segments(of_segments)
        return cls(moments, stored, has_positive_weight, of_segments)

    def __add__(self, other: Totals) -> Totals:
        return Totals(
            _sums(self.moments, other.moments),
            self.values + other.values,
            self.has_positive_weight or other.has_positive_weight,
            self._segments_with(other),
        )

    def _segments_with(self, other: Totals) -> dict[Segment, dict[str, Moments]]:
        both = dict(self.segments)
        for segment, theirs in other.segments.items():
            mine = both.get(segment)
            both[segment] = theirs if mine is None else _sums(mine, theirs)
        if len(both) > len(self.segments):
            check_number_of_segments(both)
        return both

    def summaries(self, metrics: dict[str, Metric]) -> dict[str, MetricSummary]:
        """The summary of each metric."""
        if not self.has_positive_weight:
            raise ValueError(
                "sample_weight is zero for every query; at least one weight must be positive."
            )
        return _summaries(self.moments, metrics)

    def summaries_by_segment(
        self, metrics: dict[str, Metric], columns: tuple[str, ...]
    ) -> dict[Segment, dict[str, MetricSummary]]:
        """The summary of each metric for each segment, in the order of columns and values."""
        if not self.segments:
            raise ValueError("no documents given; at least one is needed.")
        return {
            segment: _summaries(self.segments[segment], metrics)
            for column in columns
            for segment in in_order_of_values(s for s in self.segments if s.column == column)
        }


def _sums(mine: dict[str, Moments], theirs: dict[str, Moments]) -> dict[str, Moments]:
    return {name: moments + theirs[name] for name, moments in mine.items()}


def _summaries(moments: dict[str, Moments], metrics: dict[str, Metric]) -> dict[str, MetricSummary]:
    return {name: moments[name].summary(m.replace_undefined_by) for name, m in metrics.items()}
