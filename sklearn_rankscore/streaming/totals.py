"""Totals over complete queries: the moments of each metric, and on request every value."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._typing import Array
from ..metrics.metric import Metric, measure
from ..query_ids import group_rows
from ..ranking import Queries
from .moments import MetricSummary, Moments


@dataclass(frozen=True)
class QueryValues:
    """The ids of queries and the values of each metric, one part per batch."""

    parts: tuple[tuple[Array, dict[str, Array]], ...] = ()

    def __add__(self, other: QueryValues) -> QueryValues:
        return QueryValues(self.parts + other.parts)

    def concatenated(self) -> tuple[Array, dict[str, Array]] | None:
        """Ids and values in the order of the batches; None without any."""
        if not self.parts:
            return None
        ids = np.concatenate([ids for ids, _ in self.parts])
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
    values : QueryValues
        The values of each query, if they are stored.
    has_positive_weight : bool
        Whether some query has a positive weight.
    """

    moments: dict[str, Moments]
    values: QueryValues = QueryValues()
    has_positive_weight: bool = False

    @classmethod
    def of(
        cls, queries: Queries, metrics: dict[str, Metric], per_query: bool, n_jobs: int | None
    ) -> Totals:
        """Measure queries."""
        weights, metric_values = queries.weights, measure(queries, metrics.values(), n_jobs=n_jobs)
        measured = list(zip(metrics.items(), metric_values, strict=True))
        moments = {name: Moments.of(values, m, weights) for (name, m), values in measured}
        stored = QueryValues()
        if per_query:
            columns = {name: v.per_query(m.replace_undefined_by) for (name, m), v in measured}
            stored = QueryValues(((queries.ids, columns),))
        return cls(moments, stored, weights is None or bool(weights.any()))

    def __add__(self, other: Totals) -> Totals:
        return Totals(
            {name: mine + other.moments[name] for name, mine in self.moments.items()},
            self.values + other.values,
            self.has_positive_weight or other.has_positive_weight,
        )

    def summaries(self, metrics: dict[str, Metric]) -> dict[str, MetricSummary]:
        """The summary of each metric."""
        if not self.has_positive_weight:
            raise ValueError("sample_weight is zero for every query; at least one must count.")
        return {
            name: self.moments[name].summary(metric.replace_undefined_by)
            for name, metric in metrics.items()
        }
