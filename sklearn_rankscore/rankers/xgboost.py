"""XGBoost: sorted query ids, one weight per query, early stopping by callbacks."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import softmax

from ..metrics.evaluate import MetricLike
from .booster import Booster, EarlyStopping, Fit, MetricOfSets, TrainingMetric
from .training_data import TrainingData, ids_from_sizes

DEFAULT_METRIC = "disable_default_eval_metric"


class XGBoost(Booster):
    """Estimators of XGBoost."""

    package = "xgboost"
    start_param = "base_margin"
    own_stopping = ("early_stopping_rounds",)

    def evaluation_arguments(self, estimator: Any, data: Fit) -> dict[str, Any]:
        """Query ids and weights in lists; weights are per query for rankers."""
        given: dict[str, Any] = {"eval_set": [(one.X, one.y) for one in data.sets]}
        weights = [one.query_weights if data.ranks else one.weights for one in data.sets]
        given |= self.of_sets(
            eval_qid=[one.codes for one in data.sets if data.ranks],
            sample_weight_eval_set=weights,
            base_margin_eval_set=[one.params.get(self.start_param) for one in data.sets],
        )
        return given | {"verbose": data.train.params.get("verbose", False)}

    def stop_early(
        self, estimator: Any, data: Fit, stopping: EarlyStopping, arguments: dict[str, Any]
    ) -> dict[str, Any]:
        """Add callbacks to the parameter of the estimator, where XGBoost stops on the last metric.

        Metrics of the estimator are computed before functions, and functions before callbacks.
        """
        from xgboost.callback import EarlyStopping as Stop

        params = estimator.get_params()
        own, callbacks = params.get("eval_metric"), list(params.get("callbacks") or ())
        metric = MetricOfSets.of(stopping, estimator, data, data.sets[-1:])
        if metric is None:
            first = own[0] if isinstance(own, list) and isinstance(own[0], str) else None
            stop = Stop(rounds=stopping.n_rounds, metric_name=first)
        else:
            stop = _stop_on(metric, params, data.sets, stopping.n_rounds)
        if own is None and metric is not None:
            # its default metric is one that nobody asked for, and fails at labels above 31
            estimator.set_params(**{DEFAULT_METRIC: True})
        # before the callbacks of the user, which may read the log
        estimator.set_params(callbacks=[stop, *callbacks])
        return {}

    def restore(self, estimator: Any, params: dict[str, Any]) -> None:
        """Remove the callbacks, of which one holds data, from the parameters."""
        # set_params of a fitted model would pass lists to XGBoost as text, which fails
        estimator.callbacks = params.get("callbacks")
        others: dict[str, Any] = getattr(estimator, "kwargs", None) or {}
        if DEFAULT_METRIC not in params and others.pop(DEFAULT_METRIC, None):
            # a model that continues this one would keep it
            estimator.get_booster().set_param({DEFAULT_METRIC: False})

    def is_schedule(self, callback: Any) -> bool:
        """Of XGBoost's own callbacks, that of learning rates."""
        return type(callback).__name__ == "LearningRateScheduler"

    def n_iterations(self, estimator: Any) -> int:
        """XGBoost counts rounds from 0."""
        model = estimator.get_booster()
        best = model.attr("best_iteration")
        return int(model.num_boosted_rounds() if best is None else 1 + int(best))

    def fixed_rounds(self, estimator: Any, arguments: dict[str, Any]) -> dict[str, Any]:
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


def _stop_on(
    metric: MetricOfSets, params: dict[str, Any], sets: Sequence[TrainingData], n_rounds: int
) -> Any:
    """A callback that logs the metric of the last evaluation set, and stops on it.

    It is one, because XGBoost 3.0 calls several in any order. XGBoost keeps the predictions for a
    DMatrix, so that each round costs the prediction of the newest trees only.
    """
    from xgboost import DMatrix
    from xgboost.callback import EarlyStopping as Stop

    (known,), data = metric.sets, sets[-1]
    given = {name: params.get(name) for name in ("missing", "feature_types")}
    matrix = DMatrix(
        data.X,
        base_margin=data.params.get(XGBoost.start_param),
        nthread=params.get("n_jobs"),
        enable_categorical=bool(params.get("enable_categorical")),
        **{name: value for name, value in given.items() if value is not None},
    )

    class StopOnMetric(Stop):
        def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
            scores = model.predict(matrix, output_margin=True)
            scores = softmax(scores, axis=1) if scores.ndim == 2 else scores
            of_set = evals_log.setdefault(f"validation_{len(sets) - 1}", {})
            of_set.setdefault(metric.log_name, []).append(metric.value_of_set(known, scores))
            return bool(super().after_iteration(model, epoch, evals_log))

    return StopOnMetric(rounds=n_rounds, maximize=True)


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
        self.check_library(data, "xgboost")
        if not hasattr(data, "get_label"):
            raise TypeError(
                "XGBRanker weights queries by their documents. Use xgboost.train(custom_metric=..."
                "), or a metric of XGBoost by its name, XGBRanker(eval_metric='ndcg@10')."
            )
        y_true, sizes, weight = data.get_label(), data.get_group(), data.get_weight()
        problem = f"the DMatrix has no queries for its {len(y_true)} rows; give it qid=ids."
        ids = ids_from_sizes(sizes, len(y_true), problem)
        # a DMatrix has one weight per query
        weight = np.repeat(weight, sizes) if len(weight) else None
        return self.__name__, self.value(y_true, y_score, ids, weight)
