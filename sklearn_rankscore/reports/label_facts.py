"""Uncertainty due to unjudged documents and to clicks weighted by propensities."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ..inspection.intervals import Interval
from ..inspection.query_scores import QueryScores
from ..metrics.label_bounds import default_max_label, metric_bounds
from ..metrics.metric import Metric
from ..ranking import Queries


def bounds_of_means(queries: Queries, metrics: Mapping[str, Metric]) -> dict[str, Interval]:
    """The least and the greatest mean that any labels of unjudged documents give.

    Metrics without exact bounds are left out.
    """
    bounds: dict[str, Interval] = {}
    for name, metric in metrics.items():
        if metric.propensity is not None:
            continue
        given = replace(metric, unjudged="error")
        try:
            values = metric_bounds(queries, given, default_max_label(queries))
        except ValueError:  # it has no exact bounds
            continue
        both = QueryScores(queries.ids, np.column_stack(values), ("low", "high"), queries.weights)
        bounds[name] = Interval(**both.mean())
    return bounds


def click_facts(scores: QueryScores) -> dict[str, float]:
    """Number of clicks, their effective number, and the share of clipped documents.

    They are those of the first metric with propensities; empty if there is none.
    """
    for summary in scores.propensity_summary().values():
        return {
            "clicks": summary.n_clicks,
            "effective_clicks": summary.effective_clicks,
            "documents_clipped": summary.clipped_share,
        }
    return {}
