"""The supported boosters, one file each, and how to find the one of an estimator.

To add a booster, implement `Booster` in a file of its own and add it to `BOOSTERS`.
"""

from __future__ import annotations

import inspect
from typing import Any

from sklearn.base import clone

from ..scoring.predictions import is_pipeline
from .booster import Booster, FitArguments
from .catboost import CatBoost
from .lightgbm import LightGBM
from .training_data import TrainingData
from .xgboost import XGBoost

# XGBRanker.fit accepts LightGBM's `group` as well as `qid`, so XGBoost comes before LightGBM
BOOSTERS: tuple[Booster, ...] = (XGBoost(), CatBoost(), LightGBM())


def last_step(estimator: Any) -> tuple[Any, str]:
    """The estimator at the end of nested pipelines, and the prefix of its `fit` parameters."""
    prefix = ""
    while is_pipeline(estimator):
        name, estimator = estimator.steps[-1]
        prefix += f"{name}__"
    return estimator, prefix


def booster_of(estimator: Any) -> Booster | None:
    """The booster whose package defines the class of the estimator or one of its base classes."""
    packages = [cls.__module__.partition(".")[0] for cls in type(estimator).__mro__]
    return next((booster for booster in BOOSTERS if booster.package in packages), None)


def cloned(estimator: Any) -> Any:
    """A clone with the same callbacks; the error for a booster says how to make one possible."""
    try:
        copy = clone(estimator)
    except RuntimeError as error:
        booster = booster_of(last_step(estimator)[0])
        if booster is None or not booster.clone_advice:
            raise
        raise RuntimeError(f"{error}. {booster.clone_advice}") from error
    # they record training for the user, or report it to a trial of Optuna; copies would do neither
    callbacks = {
        name: value
        for name, value in estimator.get_params().items()
        if name.rpartition("__")[2] == "callbacks" and value is not None
    }
    return copy.set_params(**callbacks) if callbacks else copy


def find_booster(estimator: Any) -> Booster:
    """The booster of an estimator; an error for other estimators."""
    booster = booster_of(estimator)
    if booster is None:
        raise ValueError(
            f"early_stopping supports {', '.join(booster.package for booster in BOOSTERS)}; got "
            f"{type(estimator).__name__}. Use the estimator's own early stopping instead."
        )
    return booster


def find_group_param(estimator: Any) -> str | None:
    """The parameter of `estimator.fit` for queries; None for a pointwise model."""
    if type(estimator).__module__.partition(".")[0] == "sklearn":
        return None
    parameters = inspect.signature(estimator.fit).parameters
    # QueryRanker takes `qid` as well, but not one weight per query as XGBoost does
    for name in ("groups", *(booster.group_param for booster in BOOSTERS)):
        if name in parameters:
            return name
    if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        raise ValueError(
            f"{type(estimator).__name__}.fit takes any keyword, so its signature does not tell "
            "whether it takes query ids. Wrap the ranker inside of it in QueryRanker, or set "
            "group_param to 'qid', 'group_id', 'group' (sizes), or None for a pointwise model."
        )
    return None


def fit_arguments(data: TrainingData, group_param: str | None, prefix: str = "") -> FitArguments:
    """All arguments of `fit` except X and y: the given ones, query ids or sizes, weights."""
    arguments: FitArguments = {"sample_weight": data.weights}
    if group_param is not None:
        arguments[group_param] = data.codes
    for booster in BOOSTERS:
        if booster.group_param == group_param:
            arguments = booster.fit_arguments(data)
    return data.params | {prefix + name: v for name, v in arguments.items() if v is not None}
