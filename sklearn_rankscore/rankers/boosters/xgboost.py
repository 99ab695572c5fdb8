"""XGBoost: sorted query ids, one weight per query, early stopping as a parameter."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from ...metrics.evaluate import MetricLike
from ..training_data import TrainingData
from .booster import Booster, FitArguments
from .training_metric import TrainingMetric, ids_from_sizes


class XGBoost(Booster):
    """Estimators of XGBoost."""

    package = "xgboost"
    group_param = "qid"

    def fit_arguments(self, data: TrainingData) -> FitArguments:
        """Query ids in ascending order, and one weight per query."""
        return {"qid": data.codes, "sample_weight": data.query_weights}

    def stop_early(self, estimator: Any, held_out: TrainingData, n_rounds: int) -> FitArguments:
        """Set the parameter of the estimator; evaluation weights are per query for rankers."""
        estimator.set_params(early_stopping_rounds=n_rounds)
        arguments: FitArguments = {"eval_set": [(held_out.X, held_out.y)]}
        weights = held_out.weights
        if held_out.codes is not None:
            arguments["eval_qid"], weights = [held_out.codes], held_out.query_weights
        if weights is not None:
            arguments["sample_weight_eval_set"] = [weights]
        if "verbose" in inspect.signature(estimator.fit).parameters:
            arguments["verbose"] = False
        return arguments

    def n_iterations(self, estimator: Any) -> int:
        """XGBoost counts rounds from 0."""
        return 1 + int(estimator.best_iteration)


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
    XGBoost infers from the name of a metric which way is better: it minimises metrics whose names
    do not start with "auc", "pre", "map" or "ndcg". Other names get the prefix ``"pre_"``, as in
    "pre_mrr@10", so that early stopping works without ``maximize=True``. XGBoost rounds values to
    six decimals.

    XGBRanker calls its `eval_metric` separately for each query, weights the values by the number
    of documents, and sets those of queries with one document to 1. A function of one query cannot
    undo this, so the metric raises an error. Use ``xgboost.train``, or one of XGBoost's own
    metrics, such as ``XGBRanker(eval_metric="ndcg@10")``, which are averaged over queries.

    Examples
    --------
    >>> from sklearn_rankscore import xgboost_metric
    >>> xgboost_metric("mrr@10").__name__
    'pre_mrr@10'
    """
    return XGBoostMetric(metric, options)


class XGBoostMetric(TrainingMetric):
    """What `xgboost_metric` returns."""

    @property
    def __name__(self) -> str:
        """The name in the log, from which XGBoost infers that higher is better."""
        is_maximised = self.log_name.startswith(("auc", "pre", "map", "ndcg"))
        return self.log_name if is_maximised else f"pre_{self.log_name}"

    def __call__(self, y_score: Any, data: Any) -> tuple[str, float]:
        """Name and value."""
        if not hasattr(data, "get_label"):
            raise TypeError(
                "xgboost_metric is for xgboost.train(custom_metric=...). XGBRanker calls its "
                "eval_metric query by query and averages the values by the number of documents, "
                "which no metric can undo. Use xgboost.train, or a metric of XGBoost by its name, "
                "such as XGBRanker(eval_metric='ndcg@10')."
            )
        y_true, sizes, weight = data.get_label(), data.get_group(), data.get_weight()
        ids = ids_from_sizes(sizes, len(y_true), data="the DMatrix", remedy="qid=ids")
        # a DMatrix has one weight per query
        weight = np.repeat(weight, sizes) if len(weight) else None
        return self.__name__, self.value(y_true, y_score, ids, weight)
