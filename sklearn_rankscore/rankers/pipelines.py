"""The steps of a pipeline before the ranker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer

from .._columns import column_names
from .._typing import Array
from ..scoring.pipelines import is_pipeline
from .training_data import TrainingData


def last_step(estimator: Any) -> tuple[Any, str]:
    """The estimator at the end of nested pipelines, and the prefix of its `fit` parameters."""
    prefix = ""
    while is_pipeline(estimator):
        name, estimator = estimator.steps[-1]
        prefix += f"{name}__"
    return estimator, prefix


def leaves_out(estimator: Any, X: Any, column: int) -> bool:
    """Whether a pipeline begins with a ColumnTransformer that leaves a column of `X` out."""
    while is_pipeline(estimator):
        estimator = estimator.steps[0][1]
    if not isinstance(estimator, ColumnTransformer):
        return False
    uses = [use for _, use, chosen in estimator.transformers if column in _positions(chosen, X)]
    return all(use == "drop" for use in uses or [estimator.remainder])


def _positions(chosen: Any, X: Any) -> Array:
    """The positions of columns that a ColumnTransformer is given in any form."""
    names = column_names(X)
    positions = np.arange(len(names) or np.shape(X)[1])
    chosen = chosen(X) if callable(chosen) else chosen
    if isinstance(chosen, slice):
        is_by_name = isinstance(chosen.start, str) or isinstance(chosen.stop, str)
        return positions if is_by_name else positions[chosen]
    listed = np.atleast_1d(np.asarray(chosen))
    is_by_name = listed.dtype.kind in "OUS"
    return positions[[name in listed for name in names]] if is_by_name else positions[listed]


def fit_transformers(
    estimator: Any, train: TrainingData, sets: Sequence[TrainingData]
) -> tuple[TrainingData, list[TrainingData]]:
    """Fit the steps before the last one on the training data, and transform all data."""
    sets = list(sets)
    while is_pipeline(estimator):
        transformers, (name, last) = estimator[:-1], estimator.steps[-1]
        prefix = f"{name}__"
        others = {k: v for k, v in train.params.items() if not k.startswith(prefix)}
        if transformers.steps:
            X = transformers.fit_transform(train.X, train.y, **others)
            # with `memory`, a pipeline fits clones of its steps
            estimator.steps[:-1] = transformers.steps
            sets = [replace(data, X=transformers.transform(data.X)) for data in sets]
            train = replace(train, X=X)
        train, *sets = (_for_step(data, prefix) for data in (train, *sets))
        estimator = last
    return train, sets


def _for_step(data: TrainingData, prefix: str) -> TrainingData:
    """Data with the parameters of one step, under their names in its `fit`."""
    of_step = {k.removeprefix(prefix): v for k, v in data.params.items() if k.startswith(prefix)}
    return replace(data, params=of_step)
