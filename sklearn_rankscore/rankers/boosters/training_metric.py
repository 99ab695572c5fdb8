"""Metrics that are computed during training and equal those computed afterwards."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._typing import Array
from ...metrics.evaluate import MetricLike
from ...metrics.metric import measure
from ...metrics.resolve import resolve
from ...ranking import read_queries


class TrainingMetric:
    """A metric for the training loop of a booster; higher is better."""

    def __init__(self, metric: MetricLike, options: dict[str, Any]) -> None:
        self.metric = resolve(metric, **options)
        if self.metric.average is None:
            raise ValueError("average=None gives one per query, but a booster needs one value.")
        self.log_name = self.metric.name.replace(" ", "")  # logs end a name at a blank

    def value(self, y_true: Any, y_score: Any, groups: Any, weight: Any = None) -> float:
        """The metric after a boosting round."""
        queries = read_queries(y_true, y_score, groups=groups, sample_weight=weight)
        (values,) = measure(queries, [self.metric])
        return float(self.metric.aggregate(values, queries))

    def __deepcopy__(self, memo: Any) -> TrainingMetric:
        # CatBoost copies its parameters, and clone refuses a parameter that is not the same object
        return self


def ids_from_sizes(sizes: Any, n_rows: int, *, data: str, remedy: str) -> Array:
    """Query ids of the rows from the sizes of the queries."""
    if sizes is None or int(np.sum(sizes)) != n_rows:
        raise ValueError(f"{data} has no queries for its {n_rows} rows; give it {remedy}.")
    return np.repeat(np.arange(len(sizes)), np.asarray(sizes, dtype=np.intp))
