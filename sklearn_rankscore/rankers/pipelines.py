"""The steps of a pipeline before the ranker."""

from __future__ import annotations

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
    estimator: Any, train: TrainingData, held_out: TrainingData
) -> tuple[TrainingData, TrainingData]:
    """Fit the steps before the last one on the training data, and transform both parts."""
    while hasattr(estimator, "steps"):
        transformers, (name, last) = estimator[:-1], estimator.steps[-1]
        prefix = f"{name}__"
        of_last = {k: v for k, v in train.params.items() if k.startswith(prefix)}
        others = {k: v for k, v in train.params.items() if k not in of_last}
        if transformers.steps:
            X = transformers.fit_transform(train.X, train.y, **others)
            # with `memory`, a pipeline fits clones of its steps
            estimator.steps[:-1] = transformers.steps
            held_out = replace(held_out, X=transformers.transform(held_out.X))
            train = replace(train, X=X)
        params = {k.removeprefix(prefix): v for k, v in of_last.items()}
        train, held_out = replace(train, params=params), replace(held_out, params=params)
        estimator = last
    return train, held_out
