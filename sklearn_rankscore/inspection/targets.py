"""Metrics per query that judge by other labels than those that the models are trained on."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from .._typing import Library
from ..metrics.metric import Metric
from ..metrics.names import METRICS, parse_name
from ..metrics.propensity import find_column
from ..metrics.resolve import list_metrics, resolve_each
from ..ranking import Queries
from ..scoring.scorer import (
    ColumnSource,
    RankingScorer,
    check_no_feature,
    check_source,
    find_target,
)
from ..scoring.weighted_sum import WeightedScorer
from .per_query import check_per_query, measure_per_query
from .query_results import QueryScores


class TargetMetric(NamedTuple):
    """A metric under the name of its values, and where the labels are that it judges by."""

    name: str
    metric: Metric
    target: ColumnSource

    @property
    def resolved(self) -> Metric:
        """The metric, under the name that it has in a scorer."""
        return self.metric

    @property
    def propensity(self) -> Any:
        """The place of the propensities, if they are found by one."""
        given = self.metric.propensity
        return given if isinstance(given, str | int) else None


def resolve_targets(
    metrics: Any, target: ColumnSource, like: Library | None, options: dict[str, Any]
) -> list[TargetMetric]:
    """Metrics and their targets; that of a name or a scorer takes precedence over `target`."""
    listed = list_metrics(metrics)
    parts = [_split(metric, _check_place("target", target)) for metric in listed]
    others = [metric for _, metric, _ in parts if not isinstance(metric, Metric)]
    ready = iter(resolve_each(others, like=like, **options) if others or not listed else [])
    resolved: dict[str, TargetMetric] = {}
    for name, metric, source in parts:
        metric = metric if isinstance(metric, Metric) else next(ready)
        _check_place("propensity", metric.propensity)
        name = name or metric.name
        if name in resolved:
            raise ValueError(f"metrics names {name!r} twice.")
        resolved[name] = TargetMetric(name, metric, source)
    check_per_query({name: one.metric for name, one in resolved.items()})
    return list(resolved.values())


def _check_place(option: str, source: Any) -> Any:
    """A place in X or y, where each fold finds its own values."""
    level = f"X.assign({option}=values).set_index({option!r}, append=True)"
    hint = f"Add the values to X, as an index level that is no feature: {level}."
    return check_source(option, source, hint)


def _split(metric: Any, target: ColumnSource) -> tuple[str | None, Any, ColumnSource]:
    """The name of the values if it is not the metric's own, the metric itself, its target."""
    if isinstance(metric, RankingScorer):
        return _split_scorer(metric, target)
    pairs = dict(parse_name(metric)[1]) if isinstance(metric, str) else {}
    if "target" not in pairs:
        return None, metric, target
    own = check_source("target", pairs.pop("target"))
    return metric, partial(METRICS[parse_name(metric)[0]].function, **pairs), own


def _split_scorer(scorer: RankingScorer, target: ColumnSource) -> tuple[str, Metric, ColumnSource]:
    if isinstance(scorer, WeightedScorer):
        raise TypeError(
            "a weighted sum has no values of queries. Pass its metrics instead, "
            "list(scorer.parts.values())."
        )
    if scorer.groups is not None:
        raise ValueError(
            f"{scorer!r} has groups of its own, but all metrics are computed on the same queries. "
            "Give groups= to cross_val_query_scores instead."
        )
    return scorer.name, scorer.resolved, target if scorer.target is None else scorer.target


def check_targets(metrics: list[TargetMetric], estimator: Any, X: Any, y: Any) -> None:
    """Refuse targets that are missing, hold no numbers, or are features, before the first fit."""
    for one in metrics:
        check_no_feature(one, estimator, X)
        find_target(one, None, X, y)


def measure_targets(
    metrics: list[TargetMetric], read: Callable[[Any], Queries], X: Any, y: Any
) -> QueryScores:
    """The value of each metric for every query, with one sort for each target.

    `read` makes queries of labels.
    """
    scores: dict[ColumnSource, QueryScores] = {}
    for target in dict.fromkeys(one.target for one in metrics):
        labels = y if target is None else find_column(target, (X, y), "target")
        own = {one.name: one.metric for one in metrics if one.target == target}
        scores[target] = measure_per_query(read(labels), own, data=(X, y))
    if len(scores) == 1:
        return next(iter(scores.values()))
    first = scores[metrics[0].target]
    values = np.column_stack([scores[one.target][one.name] for one in metrics])
    names = [name for one in metrics for name in scores[one.target].metrics if name == one.name]
    clicks = {name: sums for one in scores.values() for name, sums in (one.clicks or {}).items()}
    return QueryScores(first.ids, values, names, first.weights, None, clicks or None)
