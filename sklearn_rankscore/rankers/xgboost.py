"""XGBoost: sorted query ids, one weight per query, early stopping as a parameter."""

from __future__ import annotations

import inspect
import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import softmax

from ..metrics.evaluate import MetricLike
from .booster import (
    Booster,
    EvaluatedSet,
    FitArguments,
    Stopping,
    TrainingMetric,
    arrow_types,
    check_library,
    classes_of,
    expected_classes,
)
from .training_data import TrainingData, ids_from_sizes

DEFAULT_METRIC = "disable_default_eval_metric"
# the Arrow types of text, as pyarrow and polars name them
TEXT = ("string", "large_string", "string_view")


class XGBoost(Booster):
    """Estimators of XGBoost."""

    package = "xgboost"
    group_param = "qid"
    start_param = "base_margin"
    own_stopping = ("early_stopping_rounds",)

    def fit_arguments(self, data: TrainingData) -> FitArguments:
        """Query ids in ascending order, and one weight per query."""
        return {"qid": data.codes, "sample_weight": data.query_weights}

    def read_features(self, X: Any) -> Any:
        """`X`; pyarrow tables with dictionary columns as pandas, because XGBoost fails on some."""
        types = arrow_types(X)
        text = [name for name, of in types.items() if of.lower() in TEXT]
        if text:
            raise TypeError(
                "XGBoost takes numbers, booleans and categories from frames of polars and pyarrow; "
                f"got text in {', '.join(map(repr, text[:5]))}. Convert it to categories, by "
                "cast(polars.Categorical) or dictionary_encode(), and set enable_categorical=True."
            )
        if any(of.startswith("dictionary") for of in types.values()):
            return X.to_pandas(ignore_metadata=True)
        return super().read_features(X)

    def evaluation_arguments(
        self, estimator: Any, train: TrainingData, sets: Sequence[TrainingData], *, ranks: bool
    ) -> FitArguments:
        """Query ids and weights in lists; weights are per query for rankers."""
        given: FitArguments = {"eval_set": [(data.X, data.y) for data in sets]}
        weights = [data.query_weights if ranks else data.weights for data in sets]
        if ranks:
            given["eval_qid"] = [data.codes for data in sets]
        if any(weight is not None for weight in weights):
            given["sample_weight_eval_set"] = weights
        if (starts := self.starts(sets)) is not None:
            given["base_margin_eval_set"] = starts
        if "verbose" in inspect.signature(estimator.fit).parameters:
            given["verbose"] = train.params.get("verbose", False)
        return given

    def stop_early(
        self, estimator: Any, stopping: Stopping, arguments: FitArguments, *, ranks: bool
    ) -> FitArguments:
        """Add a callback to the parameter of the estimator."""
        params, ours = estimator.get_params(), stopping.metric
        if ours is not None and params.get("eval_metric") is None:
            # its default metric is one that nobody asked for, and fails at labels above 31
            estimator.set_params(**{DEFAULT_METRIC: True})
        log, stop = _callbacks(params, estimator, stopping)
        # logged before the callbacks of the user read the log
        estimator.set_params(callbacks=[*log, *(params.get("callbacks") or ()), stop])
        return {}

    def restore(self, estimator: Any, params: dict[str, Any]) -> None:
        """Remove the callback, which holds data, from the parameters."""
        # set_params of a fitted model would pass lists and dicts to XGBoost as text, which fails
        for name in (*self.own_stopping, "callbacks"):
            setattr(estimator, name, params.get(name))
        others: dict[str, Any] = getattr(estimator, "kwargs", None) or {}
        if DEFAULT_METRIC not in params and others.pop(DEFAULT_METRIC, None):
            # a model that continues this one would keep it
            estimator.get_booster().set_param({DEFAULT_METRIC: False})

    def n_iterations(self, estimator: Any) -> int:
        """XGBoost counts rounds from 0."""
        model = estimator.get_booster()
        best = model.attr("best_iteration")
        return int(model.num_boosted_rounds() if best is None else 1 + int(best))

    def fixed_rounds(self, estimator: Any, arguments: FitArguments) -> dict[str, Any]:
        """The number of rounds after those of `xgb_model`, which are in no log."""
        logged = next(iter(next(iter(estimator.evals_result().values())).values()))
        n_before = estimator.get_booster().num_boosted_rounds() - len(logged)
        return {"n_estimators": self.n_iterations(estimator) - n_before}

    def predicts_by_all_rounds(self, estimator: Any) -> bool:
        """XGBoost cannot discard the rounds of a linear model, and DART rescales earlier trees."""
        model = json.loads(estimator.get_booster().save_config())["learner"]["gradient_booster"]
        # from XGBoost 3.4 on, DART is any booster of trees that drops some of them
        dropout = model.get("dart_train_param", {})
        is_dart = any(float(dropout.get(name, 0)) > 0 for name in ("rate_drop", "one_drop"))
        return is_dart or model["name"] == "gblinear"

    def use_all_rounds(self, estimator: Any) -> None:
        """Forget the best round of `xgb_model`, of which XGBoost keeps the attributes."""
        estimator.get_booster().set_attr(best_iteration=None, best_score=None)


class HeldOutMetric(TrainingMetric):
    """A metric of the last evaluation set.

    XGBoost keeps the predictions for a DMatrix, so that each round costs the prediction of the
    newest trees only.
    """

    def __init__(self, metric: MetricLike, estimator: Any, stopping: Stopping) -> None:
        super().__init__(metric, {})
        self._params, self._data = estimator.get_params(), stopping.sets[-1]
        self._classes = classes_of(estimator, stopping.train)
        self._labels = EvaluatedSet.read(self._data, self._classes)
        self._matrix: Any = None

    def of_model(self, model: Any) -> float:
        """The metric after a boosting round."""
        if self._matrix is None:
            self._matrix = self._read_matrix()
        # a softmax is predicted as the most probable class
        is_softmax = self._params.get("objective") == "multi:softmax"
        scores = model.predict(self._matrix, output_margin=is_softmax)
        scores = expected_classes(softmax(scores, axis=1) if is_softmax else scores, self._classes)
        return self.value(self._labels.y_true, scores, self._labels.codes, self._data.weights)

    def _read_matrix(self) -> Any:
        from xgboost import DMatrix

        given = {name: self._params.get(name) for name in ("missing", "feature_types")}
        return DMatrix(
            self._data.X,
            base_margin=self._data.params.get("base_margin"),
            nthread=self._params.get("n_jobs"),
            enable_categorical=bool(self._params.get("enable_categorical")),
            **{name: value for name, value in given.items() if value is not None},
        )


def _callbacks(params: dict[str, Any], estimator: Any, stopping: Stopping) -> tuple[list[Any], Any]:
    """Callbacks that log the metric of the last evaluation set, if it is ours, and stop on it."""
    from xgboost.callback import EarlyStopping, TrainingCallback

    ours, set_name = stopping.metric, f"validation_{len(stopping.sets) - 1}"
    metric = None if ours is None else HeldOutMetric(ours, estimator, stopping)

    class LogMetric(TrainingCallback):
        def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
            if metric is not None:
                values = evals_log.setdefault(set_name, {}).setdefault(metric.log_name, [])
                values.append(metric.of_model(model))
            return False

    class StopOnMetric(TrainingCallback):
        """XGBoost's own early stopping on one metric, whose name is known after a round."""

        stop: Any = None
        first_round = 0

        def before_training(self, model: Any) -> Any:
            self.first_round = model.num_boosted_rounds()  # of a model that is trained further
            return model

        def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
            if self.stop is None:
                names = list(evals_log[set_name])
                # XGBoost computes the metric of the objective before a function
                is_last = metric is not None or callable(params.get("eval_metric"))
                self.stop = EarlyStopping(
                    rounds=stopping.n_rounds,
                    metric_name=names[-1 if is_last else 0],
                    data_name=set_name,
                    maximize=None if metric is None else True,
                )
                self.stop.starting_round = self.first_round
            return bool(self.stop.after_iteration(model, epoch, evals_log))

    return ([] if metric is None else [LogMetric()]), StopOnMetric()


def xgboost_metric(metric: MetricLike, **options: Any) -> XGBoostMetric:
    """Make a metric for ``xgboost.train(custom_metric=...)``.

    Parameters
    ----------
    metric : str or callable
        A name such as ``"ndcg@10"`` or ``"map@5(threshold=1)"``, a metric function of this
        package, or any function of a block of ranked queries.
    **options
        Options of the metric, such as ``gain="exponential"`` or ``like="xgboost"``.

    Returns
    -------
    callable
        ``metric(y_score, DMatrix)``, which returns name and value; higher is better.

    Raises
    ------
    ValueError
        If the metric or an option is unknown. During training, if the DMatrix has no queries.
    TypeError
        During training, if it is the `eval_metric` of an XGBRanker; see the notes.

    See Also
    --------
    lightgbm_metric, catboost_metric : The same for other boosters.

    Notes
    -----
    XGBoost infers from the name of a metric which way is better: it minimizes metrics whose names
    do not start with "auc", "pre", "map" or "ndcg". Other names get the prefix ``"pre_"``, as in
    "pre_mrr@10_rankscore", so that early stopping works without ``maximize=True``. All names end
    in ``_rankscore``, because XGBoost has metrics of the same names. XGBoost rounds values to six
    decimals.

    XGBRanker calls its `eval_metric` separately for each query, weights the values by the number
    of documents, and sets those of queries with one document to 1. A function of one query cannot
    undo this, so the metric raises an error. Use ``xgboost.train``, or one of XGBoost's own
    metrics, such as ``XGBRanker(eval_metric="ndcg@10")``, which are averaged over queries.

    Examples
    --------
    >>> from sklearn_rankscore import xgboost_metric
    >>> xgboost_metric("mrr@10").__name__
    'pre_mrr@10_rankscore'
    """
    return XGBoostMetric(metric, options)


class XGBoostMetric(TrainingMetric):
    """What `xgboost_metric` returns."""

    @property
    def __name__(self) -> str:
        """The name in the log, from which XGBoost infers that higher is better."""
        is_maximized = self.log_name.startswith(("auc", "pre", "map", "ndcg"))
        return self.log_name if is_maximized else f"pre_{self.log_name}"

    def __call__(self, y_score: Any, data: Any) -> tuple[str, float]:
        """Name and value."""
        check_library(data, "xgboost")
        if not hasattr(data, "get_label"):
            raise TypeError(
                "xgboost_metric is for xgboost.train(custom_metric=...). XGBRanker calls its "
                "eval_metric query by query and averages the values by the number of documents, "
                "which no metric can undo. Use xgboost.train, or a metric of XGBoost by its name, "
                "such as XGBRanker(eval_metric='ndcg@10')."
            )
        y_true, sizes, weight = data.get_label(), data.get_group(), data.get_weight()
        problem = f"the DMatrix has no queries for its {len(y_true)} rows; give it qid=ids."
        ids = ids_from_sizes(sizes, len(y_true), problem)
        # a DMatrix has one weight per query
        weight = np.repeat(weight, sizes) if len(weight) else None
        return self.__name__, self.value(y_true, y_score, ids, weight)
