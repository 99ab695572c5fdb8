"""XGBoost: sorted query ids, one weight per query, early stopping as a parameter."""

from __future__ import annotations

import inspect
import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...metrics.evaluate import MetricLike
from ..training_data import TrainingData, ids_from_sizes
from .booster import Booster, FitArguments, Stopping, arrow_types
from .training_metric import TrainingMetric, check_library

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
        from .xgboost_callback import HeldOutMetric, LogMetric, StopOnMetric

        params, n_sets, ours = estimator.get_params(), len(stopping.sets), stopping.metric
        callbacks: list[Any] = list(params.get("callbacks") or ())
        if ours is not None:  # logged before the callbacks of the user read the log
            callbacks.insert(0, LogMetric(HeldOutMetric(ours, estimator, stopping), n_sets))
        # XGBoost computes the metric of the objective before a function
        last = ours is not None or callable(params.get("eval_metric"))
        maximize = None if ours is None else True
        stop = StopOnMetric(stopping.n_rounds, n_sets, last=last, maximize=maximize)
        estimator.set_params(callbacks=[*callbacks, stop])
        if ours is not None and params.get("eval_metric") is None:
            # its default metric is one that nobody asked for, and fails at labels above 31
            estimator.set_params(**{DEFAULT_METRIC: True})
        return {}

    def restore(self, estimator: Any, params: dict[str, Any]) -> None:
        """Remove the callback, which holds data, from the parameters."""
        # set_params of a fitted model would pass lists and dicts to XGBoost as text, which fails
        for name in (*self.own_stopping, "callbacks"):
            setattr(estimator, name, params.get(name))
        if DEFAULT_METRIC not in params:
            getattr(estimator, "kwargs", {}).pop(DEFAULT_METRIC, None)

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
