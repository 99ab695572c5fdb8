"""From ranked queries to the measurements of a report."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from .._validation import check_flag, check_number
from ..inspection.compare import compare
from ..inspection.query_scores import measure_per_query
from ..inspection.segments import Segments, columns_or_levels, read_segments
from ..metrics.evaluate import by_system
from ..metrics.metric import Metric
from ..ranking import Queries
from .cells import Cell
from .data_facts import describe
from .label_facts import bounds_of_means, click_facts
from .measurements import UNNAMED, Measurements, SystemMeasurements


def measure_system(
    queries: Queries,
    metrics: Mapping[str, Metric],
    threshold: float,
    by: Segments | str | Sequence[str] | None,
    inference: Mapping[str, Any],
    n_jobs: int | None,
    data: Sequence[Any],
    bounds: bool,
) -> SystemMeasurements:
    """Properties of the data, and means with intervals, of all queries and by segment.

    Propensities and segments that are given by name are looked up in `data`.
    """
    facts = describe(queries, check_number("threshold", threshold), n_jobs)
    scores = measure_per_query(queries, metrics, n_jobs, data)
    facts = replace(facts, clicks=click_facts(scores))
    random_order = _random_order(queries, metrics, n_jobs, data)
    within = bounds_of_means(queries, metrics) if check_flag("bounds", bounds) else {}
    segments = columns_or_levels("by", by, *data)
    by_segment = None
    if segments is not None:
        rows: dict[str, Any] = dict(zip(("y_true", "y_score", "groups"), data, strict=True))
        columns = read_segments(segments, queries.ids, queries.grouping, rows)
        scores = replace(scores, segments=columns)
        by_segment = scores.by(**inference)
    intervals = scores.interval(**inference)
    return SystemMeasurements(facts, scores, intervals, by_segment, random_order, within)


def _random_order(
    queries: Queries, metrics: Mapping[str, Metric], n_jobs: int | None, data: Sequence[Any]
) -> dict[str, float]:
    """Means of the metrics for random orders, where they are known.

    If some documents were not retrieved, those given are the choice of a system, of which a random
    order is better than one of all documents that it could have retrieved.
    """
    if math.isinf(queries.lowest_score):
        return {}
    chance = {name: metric.of_random_order() for name, metric in metrics.items()}
    known = {name: metric for name, metric in chance.items() if metric is not None}
    return measure_per_query(queries, known, n_jobs, data).mean() if known else {}


def measure_all(
    systems: Mapping[str, SystemMeasurements],
    cells: Mapping[str, Cell],
    inference: Mapping[str, Any],
    digits: int,
    conventions: Mapping[str, Any],
) -> Measurements:
    """Several systems together, compared with the first."""
    scores = {name: system.scores for name, system in systems.items()}
    first = next(iter(scores.values()))
    names = None if first.segments is None else list(first.segments)
    comparison = compare(scores, by=names, **inference) if len(scores) > 1 else None
    return Measurements(systems, cells, comparison, inference, digits, conventions)


def measure_each(
    compute: Callable[[Any, Any], SystemMeasurements], y_true: Any, y_score: Any, groups: Any
) -> dict[str, SystemMeasurements]:
    """Measurements by system; a single one that is not given by name has none."""
    if isinstance(y_score, Mapping):
        return by_system(compute, y_true, y_score, groups)
    return {UNNAMED: compute(y_score, groups)}
