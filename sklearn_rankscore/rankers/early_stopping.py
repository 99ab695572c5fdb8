"""The fit of the wrapped estimator: plain, with evaluation sets, or with early stopping."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import sklearn
from sklearn.base import clone
from sklearn.utils.metadata_routing import MetadataRequest, MetadataRouter, get_routing_for_object

from .._typing import RandomState
from .._validation import check_count, check_flag
from ..metrics.evaluate import MetricLike
from ..scoring.predictions import is_pipeline
from ..scoring.register import find_groups_param, ignores_groups
from .booster import EvaluatedSet, Stopping, TrainingMetric, classes_of
from .boosters import booster_of, find_booster, fit_arguments, last_step
from .training_data import TrainingData


@dataclass(frozen=True)
class EarlyStopping:
    """The parameters of QueryRanker for early stopping."""

    metric: MetricLike | None
    fraction: float
    n_rounds: int
    refit_all: bool
    random_state: RandomState

    @classmethod
    def read(cls, ranker: Any) -> EarlyStopping | None:
        """The checked parameters, or None without early stopping."""
        value = ranker.early_stopping
        if isinstance(value, bool | np.bool_):
            metric = None
        elif isinstance(value, str) or callable(value):
            TrainingMetric(value, {})  # an unknown name is an error before anything is fitted
            metric = value
        else:
            raise ValueError(
                "early_stopping must be False, True (stop on the ranker's own first metric), the "
                f"name of a metric such as 'ndcg@10', or a metric function; got {value!r}."
            )
        if metric is None and not value:
            return None
        n_rounds = check_count("n_iter_no_change", ranker.n_iter_no_change, 1)
        fraction = ranker.validation_fraction
        refit_all = check_flag("refit_all", ranker.refit_all)
        return cls(metric, fraction, n_rounds, refit_all, ranker.random_state)

    def fit(
        self,
        estimator: Any,
        data: TrainingData,
        sets: Sequence[TrainingData],
        group_param: str | None,
    ) -> tuple[Any, int]:
        """The fitted estimator and its number of boosting rounds.

        Given evaluation sets take the place of held-out queries.
        """
        unfitted, train = clone(estimator), data
        if not sets:
            train, held_out = data.hold_out(self.fraction, self.random_state)
            sets = [held_out]
        # LightGBM does not stop on the object that it knows as the labels of the training data
        sets = [*sets[:-1], replace(sets[-1], y=copy(sets[-1].y))]
        fit_with_evaluation_sets(estimator, train, sets, group_param, self)
        ranker, _ = last_step(estimator)
        booster = find_booster(ranker)
        rows = data if self.refit_all else train
        if rows is not train or booster.predicts_by_all_rounds(ranker):
            estimator = _refit(unfitted, ranker, rows, group_param)
        return estimator, booster.n_iterations(last_step(estimator)[0])


def _refit(unfitted: Any, stopped: Any, data: TrainingData, group_param: str | None) -> Any:
    """Fit to the data, with the number of rounds after which a ranker stopped."""
    ranker, prefix = last_step(unfitted)
    booster = find_booster(ranker)
    arguments = fit_arguments(data, group_param, prefix)
    of_ranker = {name.removeprefix(prefix): value for name, value in arguments.items()}
    ranker.set_params(**booster.fixed_rounds(stopped, of_ranker))
    fitted = unfitted.fit(data.X, data.y, **arguments)
    booster.use_all_rounds(last_step(fitted)[0])
    return fitted


def fit_estimator(
    estimator: Any,
    data: TrainingData,
    sets: Sequence[TrainingData],
    group_param: str | None,
    stopping: EarlyStopping | None,
) -> tuple[Any, int | None]:
    """The fitted estimator, and the number of boosting rounds of early stopping."""
    ranker, prefix = last_step(estimator)
    routing, is_routed = routing_of(estimator), sklearn.get_config()["enable_metadata_routing"]
    passes_on = group_param is None and isinstance(routing_of(ranker), MetadataRouter)
    if is_routed and passes_on and stopping is None:
        return _fit_routed(estimator, data, routing), None
    # the arguments below go straight to the ranker, whatever metadata it requests
    with sklearn.config_context(enable_metadata_routing=False):
        _check_one_stopping(ranker, prefix, data, is_watched=bool(sets), stopping=stopping)
        if stopping is not None:
            return stopping.fit(estimator, data, sets, group_param)
        if sets:
            fit_with_evaluation_sets(estimator, data, sets, group_param)
            return estimator, None
        arguments = fit_arguments(data, group_param, prefix)
        if group_param is None and data.codes is not None:
            param, model = find_groups_param(estimator)
            if param and not ignores_groups(model):
                arguments[param] = data.codes
        return estimator.fit(data.X, data.y, **arguments), None


def _check_one_stopping(
    ranker: Any,
    prefix: str,
    data: TrainingData,
    *,
    is_watched: bool,
    stopping: EarlyStopping | None,
) -> None:
    """Refuse early stopping by a booster itself without an evaluation set, or beside ours."""
    booster = booster_of(ranker)
    if booster is None or (is_watched and stopping is None):
        return
    name = booster.stops_by(ranker, {k.removeprefix(prefix): v for k, v in data.params.items()})
    if name is not None and stopping is None:
        raise ValueError(
            f"early stopping of {type(ranker).__name__} by {name} needs an evaluation set: use "
            "QueryRanker(..., early_stopping=True) instead, which holds out whole queries, or pass "
            "eval_set=[(X_valid, y_valid)] to fit."
        )
    if name is not None:
        raise ValueError(
            f"both QueryRanker and {type(ranker).__name__}, by {name}, are to stop early: leave "
            f"out {name}, and set n_iter_no_change of QueryRanker."
        )


def routing_of(estimator: Any) -> MetadataRequest | MetadataRouter:
    """What an estimator requests and passes on; nothing if it does not tell."""
    try:
        return get_routing_for_object(estimator)
    # RidgeCV without `scoring` takes itself for a scorer, and AdaBoost does not support routing
    except (RecursionError, NotImplementedError):
        return MetadataRequest(owner=type(estimator).__name__)


def _fit_routed(estimator: Any, data: TrainingData, routing: Any) -> Any:
    """Fit with metadata routing, which passes on what is requested inside of the estimator."""
    params = {name.rpartition("__")[2]: value for name, value in data.params.items()}
    if data.weights is not None:
        params["sample_weight"] = data.weights
    if data.codes is not None and routing.consumes("fit", {"groups"}):
        params["groups"] = data.codes
    return estimator.fit(data.X, data.y, **params)


def fit_with_evaluation_sets(
    estimator: Any,
    train: TrainingData,
    sets: Sequence[TrainingData],
    group_param: str | None,
    stopping: EarlyStopping | None = None,
) -> None:
    """Fit a pipeline or a booster; evaluation sets pass through the steps of the pipeline."""
    ranker, _ = last_step(estimator)
    booster, params, ranks = find_booster(ranker), ranker.get_params(), group_param is not None
    _check_classes(ranker, train, sets)
    train, sets = _fit_transformers(estimator, train, sets)
    arguments = fit_arguments(train, group_param)
    arguments |= booster.evaluation_arguments(ranker, train, sets, ranks=ranks)
    if stopping is not None:
        if stopping.metric is not None:
            _check_metric(stopping.metric, ranker, train, sets[-1])
        when = Stopping(stopping.n_rounds, stopping.metric, train, sets)
        arguments |= booster.stop_early(ranker, when, arguments)
    ranker.fit(train.X, train.y, **arguments)
    if stopping is not None:
        booster.restore(ranker, params)


def _check_classes(ranker: Any, train: TrainingData, sets: Sequence[TrainingData]) -> None:
    """Refuse labels of evaluation sets for which a classifier has no class."""
    if (classes := classes_of(ranker, train)) is None:
        return
    for i, data in enumerate(sets):
        unseen = np.setdiff1d(np.asarray(data.y), classes)
        if len(unseen):
            raise ValueError(
                f"evaluation set {i}, or the queries that early_stopping holds out, have the "
                f"labels {unseen.tolist()}, but {type(ranker).__name__} knows only those of the "
                f"rows that it is trained on: {classes.tolist()}. Join rare grades with their "
                "neighbors, as by numpy.minimum(y, 3), or use a regressor or ranker."
            )


def _check_metric(metric: Any, ranker: Any, train: TrainingData, watched: TrainingData) -> None:
    """Refuse weights and labels of the watched queries that leave the metric undefined."""
    known = EvaluatedSet.read(watched, classes_of(ranker, train))
    if not known.has_value:
        raise ValueError(
            "sample_weight varies within a query, but early_stopping stops on a metric that "
            "averages over queries: use early_stopping=True, which watches the first metric of the "
            "ranker itself, or pass eval_set=[(X_valid, y_valid)] to fit, without weights."
        )
    stopping = TrainingMetric(metric, {})
    if not np.any(known.weights) or not stopping.is_defined(known):
        raise ValueError(
            f"early_stopping stops on {stopping.metric.name!r}, which is undefined for each of the "
            f"{len(watched.sizes)} queries to watch, so that it cannot tell rankings apart: for "
            "most metrics, because no label is above the threshold, or all weights are 0. Choose "
            "another metric, threshold, validation_fraction or random_state, or pass "
            "eval_set=[(X_valid, y_valid)] to fit, with queries that define the metric."
        )


def _fit_transformers(
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
