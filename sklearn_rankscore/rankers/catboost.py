"""CatBoost: contiguous query ids, group weights, pairs of rows, early stopping on a Pool."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, softmax

from .._sklearn_compat import num_samples
from .._typing import Array, QueryIds
from ..metrics.evaluate import MetricLike
from ..query_ids import group_rows, no_groups_error, vary_within_queries
from .booster import Booster, EarlyStopping, EvaluatedSet, Fit, MetricOfSets

# parameters of `fit` and of the constructor that name columns
COLUMNS = ("cat_features", "text_features", "embedding_features")
# logged for training rows whose order is unknown or whose weights vary, and for sets without a
# query that defines the metric; CatBoost fails at nan
NO_VALUE = -1.0


class CatBoost(Booster):
    """Estimators of CatBoost."""

    package = "catboost"
    rounds = ("iterations", "n_estimators", "num_boost_round", "num_trees")
    own_stopping = ("early_stopping_rounds", "od_wait", "od_pval")
    start_param = "baseline"
    clone_advice = (
        "scikit-learn clones no CatBoost model with a list or dict in its constructor: write a "
        "tuple, as cat_features=('color', 'brand'), or text, as monotone_constraints='price:-1'. "
        "custom_metric must be text, as 'NDCG:top=3', because CatBoost makes a list of a tuple."
    )

    def evaluation_arguments(self, estimator: Any, data: Fit) -> dict[str, Any]:
        """Only a Pool holds the query ids of a set; it needs to know the kinds of columns too."""
        from catboost import Pool

        given = data.train.params
        columns = {name: given.get(name, estimator.get_param(name)) for name in COLUMNS}
        pools = [
            Pool(
                one.X,
                one.y,
                group_id=one.codes if data.ranks else None,
                baseline=one.params.get(self.start_param),
                **{"group_weight" if data.ranks else "weight": one.weights},
                **columns,
            )
            for one in data.sets
        ]
        return {"eval_set": pools}

    def stop_early(
        self, estimator: Any, data: Fit, stopping: EarlyStopping, arguments: dict[str, Any]
    ) -> dict[str, Any]:
        """CatBoost stops on its `eval_metric` for the last set, and evaluates the training data."""
        sets = [data.train, *data.sets]
        metric = CatBoostMetric.of(stopping, estimator, data, sets)
        if metric is not None:
            metric.is_one_vs_all = estimator.get_param("loss_function") == "MultiClassOneVsAll"
            estimator.set_params(eval_metric=metric)
        return {"early_stopping_rounds": stopping.n_rounds}

    def restore(self, estimator: Any, params: dict[str, Any]) -> None:
        """Remove the metric and its data from the parameters, to copy and fit the model again."""
        metric, own = estimator.get_params().get("eval_metric"), params.get("eval_metric")
        if not isinstance(metric, CatBoostMetric) or metric is own:
            return
        metric.sets.clear()
        # a fitted model takes no parameters, so this is where CatBoost stores them, and its cache
        stored = getattr(estimator, "_init_params", {})
        stored.pop("eval_metric", None)
        stored.update({} if own is None else {"eval_metric": own})
        estimator._canonized_params = None

    def n_iterations(self, estimator: Any) -> int:
        """The number of trees: each round adds one."""
        return int(estimator.tree_count_)

    def fixed_rounds(self, estimator: Any, arguments: dict[str, Any]) -> dict[str, Any]:
        """The default learning rate depends on the number of rounds, so it is fixed too.

        CatBoost counts rounds from 0, and not those of `init_model`.
        """
        given = estimator.get_params()
        rate = "eta" if "eta" in given else "learning_rate"
        fixed = {rate: estimator.learning_rate_}
        if given.get("use_best_model"):  # CatBoost refuses it without an evaluation set
            fixed["use_best_model"] = False
        return {self.rounds_param(estimator): 1 + int(estimator.best_iteration_), **fixed}

    def feature_importances(self, estimator: Any) -> Any:
        """The default of a ranking loss needs the training data; then how much scores change."""
        importances = estimator.feature_importances_
        if np.ndim(importances) == 0:
            return estimator.get_feature_importance(type="PredictionValuesChange")
        return importances


def catboost_metric(
    metric: MetricLike, *eval_sets: tuple[ArrayLike, QueryIds], **options: Any
) -> CatBoostMetric:
    """Make an `eval_metric` for CatBoost.

    CatBoost passes neither query ids nor the name of the evaluated set to a metric. Therefore the
    metric takes the query ids of each set here, and recognizes a set by its labels.

    Parameters
    ----------
    metric : str or callable
        A name such as ``"ndcg@10"`` or ``"map@5(threshold=1)"``, a metric function of this
        package, or any function of a block of ranked queries.
    *eval_sets : tuple (y, groups)
        Labels and query ids of the training set first, then of each evaluation set, in the order of
        the rows that CatBoost is given.
    **options
        Options of the metric, such as ``gain="exponential"`` or ``like="catboost"``.

    Returns
    -------
    object
        For ``CatBoostRanker(eval_metric=...)``; higher is better.

    Raises
    ------
    ValueError
        If the metric or an option is unknown, or if two sets have equal labels but different
        queries. During training CatBoost raises its own error for a set that is not in
        `eval_sets`.
    TypeError
        If one of `eval_sets` is not a pair.

    See Also
    --------
    lightgbm_metric, xgboost_metric : The same for other boosters.
    QueryRanker : Stops early on any metric, also within a cross-validation.

    Notes
    -----
    In cross-validation the sets differ between folds: use ``early_stopping="ndcg@10"`` of
    `QueryRanker`, or one of CatBoost's own metrics, such as ``eval_metric="NDCG:top=10;type=Exp"``.
    With metric functions and query ids, ``catboost.cv`` crashes.

    With categorical features or ``boosting_type="Ordered"``, CatBoost passes the training rows in a
    random order, in which their queries are unknown: the log has -1 for the training set, as also
    if its weights vary within a query. Values of evaluation sets are not affected. The log has -1
    instead of nan for every set, because CatBoost fails at nan.

    Examples
    --------
    >>> from sklearn_rankscore import catboost_metric
    >>> y, groups = [1, 0, 0, 1], ["a", "a", "b", "b"]
    >>> catboost_metric("mrr@10", (y, groups)).evaluate([[0.9, 0.1, 0.8, 0.2]], y, None)
    (0.75, 1.0)
    """
    known = [_labels_and_codes(eval_set) for eval_set in eval_sets]
    if not known:
        raise ValueError(
            "catboost_metric needs the labels and query ids of every set, the training set first: "
            "catboost_metric('ndcg@10', (y, groups), (y_eval, groups_eval))."
        )
    return CatBoostMetric(metric, options, known)


class CatBoostMetric(MetricOfSets):
    """What `catboost_metric` returns."""

    no_jit = True  # otherwise CatBoost tries to compile `evaluate`, and warns
    is_one_vs_all = False  # whether each class has a probability that depends on no other

    def is_max_optimal(self) -> bool:
        """Whether higher is better."""
        return True

    def evaluate(self, approxes: Any, target: Any, weight: Any) -> tuple[float, float]:
        """The value for a set, and the weight of that value."""
        known = self.find_set(target)
        if known is None:
            labels, trained = np.asarray(target, dtype=np.float32), self.sets[0].passed
            # those of the training set in another order
            if len(self.sets) > 1 and np.array_equal(np.sort(trained), np.sort(labels)):
                return NO_VALUE, 1.0
            raise ValueError(
                f"CatBoost evaluates a set of {len(target)} rows with labels that catboost_metric "
                "was not given, in this order. QueryRanker puts the rows of each query together, "
                "and takes early_stopping='ndcg@10' instead."
            )
        is_weighted = known.weights is None and weight is not None
        is_training = len(self.sets) > 1 and known is self.sets[0]
        if is_weighted and is_training and vary_within_queries(weight, known.codes):
            return NO_VALUE, 1.0
        value = self.value_of_set(known, self._scores(np.asarray(approxes)), weight)
        return NO_VALUE if np.isnan(value) else value, 1.0

    def _scores(self, raw: Array) -> Array:
        """Scores of documents, or probabilities of several classes."""
        if len(raw) == 1:  # of the second of two classes, which may be the lower one
            is_lower = self.classes is not None and self.classes[0] > self.classes[1]
            return np.asarray(-raw[0] if is_lower else raw[0])
        return np.asarray(expit(raw.T) if self.is_one_vs_all else softmax(raw.T, axis=1))

    def get_final_error(self, error: float, weight: float) -> float:
        """The value itself, which is already an average."""
        return error


def _labels_and_codes(eval_set: Any) -> EvaluatedSet:
    """Labels in the precision of CatBoost, and the number of the query of each row."""
    if not isinstance(eval_set, tuple | list) or len(eval_set) != 2:
        raise TypeError(f"eval_sets must be pairs (y, groups); got {type(eval_set).__name__}.")
    labels, ids = np.asarray(eval_set[0], dtype=np.float32), eval_set[1]
    if ids is None:
        raise no_groups_error("catboost_metric")
    y_true = np.asarray(eval_set[0])  # a threshold such as 0.1 applies to the labels as given
    return EvaluatedSet(labels, y_true, group_rows(ids, num_samples(labels)).by_appearance().codes)
