"""The steps of a pipeline before the ranker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from .training_data import TrainingData


def last_step(estimator: Any) -> tuple[Any, str]:
    """The estimator at the end of nested pipelines, and the prefix of its `fit` parameters."""
    prefix = ""
    while hasattr(estimator, "steps"):
        name, estimator = estimator.steps[-1]
        prefix += f"{name}__"
    return estimator, prefix


def fit_transformers(
    estimator: Any, train: TrainingData, sets: Sequence[TrainingData]
) -> tuple[TrainingData, list[TrainingData]]:
    """Fit the steps before the last one on the training data, and transform all data."""
    sets = list(sets)
    while hasattr(estimator, "steps"):
        transformers, (name, last) = estimator[:-1], estimator.steps[-1]
        prefix = f"{name}__"
        of_last = {k: v for k, v in train.params.items() if k.startswith(prefix)}
        others = {k: v for k, v in train.params.items() if k not in of_last}
        if transformers.steps:
            X = transformers.fit_transform(train.X, train.y, **others)
            # with `memory`, a pipeline fits clones of its steps
            estimator.steps[:-1] = transformers.steps
            sets = [replace(data, X=transformers.transform(data.X)) for data in sets]
            train = replace(train, X=X)
        train = replace(train, params={k.removeprefix(prefix): v for k, v in of_last.items()})
        estimator = last
    return train, sets
