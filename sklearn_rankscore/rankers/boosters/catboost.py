"""CatBoost: contiguous query ids, group weights, pairs of rows, early stopping on a Pool."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..._sklearn_compat import num_samples
from ..._typing import Array, QueryIds
from ...metrics.evaluate import MetricLike
from ...query_ids import group_rows, no_groups_error
from ..training_data import TrainingData
from .booster import Booster, FitArguments
from .training_metric import TrainingMetric


class CatBoost(Booster):
    """Estimators of CatBoost."""

    package = "catboost"
    group_param = "group_id"

    def fit_arguments(self, data: TrainingData) -> FitArguments:
        """Query ids, and query weights repeated for each row."""
        weights = data.query_weights
        if weights is not None:
            weights = np.repeat(weights, data.sizes)
        return {"group_id": data.codes, "group_weight": weights}

    def stop_early(self, estimator: Any, held_out: TrainingData, n_rounds: int) -> FitArguments:
        """Only a Pool holds the query ids of evaluation data; it needs the categorical features."""
        from catboost import Pool

        weight_param = "weight" if held_out.codes is None else "group_weight"
        aligned: FitArguments = {"group_id": held_out.codes, weight_param: held_out.weights}
        categorical = held_out.params.get("cat_features", estimator.get_param("cat_features"))
        pool = Pool(held_out.X, held_out.y, cat_features=categorical, **aligned)
        return {"eval_set": pool, "early_stopping_rounds": n_rounds}

    def n_iterations(self, estimator: Any) -> int:
        """CatBoost counts rounds from 0."""
        return 1 + int(estimator.best_iteration_)

    def renumber_rows(self, params: FitArguments, rows: Array, n_rows: int) -> FitArguments:
        """Those `pairs` of which both rows are chosen, and their `pairs_weight`."""
        position = np.full(n_rows, -1)
        position[rows] = np.arange(len(rows))
        renumbered: FitArguments = {}
        for name in [name for name in params if name.rpartition("__")[2] == "pairs"]:
            pairs, weight = position[np.asarray(params[name])], f"{name}_weight"
            is_chosen = (pairs >= 0).all(axis=1)
            renumbered[name] = pairs[is_chosen]
            if weight in params:
                renumbered[weight] = np.asarray(params[weight])[is_chosen]
        return renumbered


def catboost_metric(
    metric: MetricLike, *eval_sets: tuple[ArrayLike, QueryIds], **options: Any
) -> CatBoostMetric:
    """Make an `eval_metric` for CatBoost.

    CatBoost passes neither query ids nor the name of the evaluated set to a metric. Therefore the
    metric takes the query ids of each set here, and recognises a set by its labels.

    Parameters
    ----------
    metric : str or callable
        A name such as ``"ndcg@10"`` or ``"map@5(threshold=1)"``, a metric function of this
        package, or any function of a block of ranked queries.
    *eval_sets : tuple (y, groups)
        Labels and query ids of the training set and of each evaluation set, in the order of the
        rows that CatBoost is given.
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
    QueryRanker : Stops early on CatBoost's own metrics within a cross-validation.

    Notes
    -----
    In cross-validation the sets differ between folds. Use CatBoost's own metrics there, which
    receive the query ids, for example ``eval_metric="NDCG:top=10;type=Exp"``.

    Examples
    --------
    >>> from sklearn_rankscore import catboost_metric
    >>> y, groups = [1, 0, 0, 1], ["a", "a", "b", "b"]
    >>> catboost_metric("mrr@10", (y, groups)).evaluate([[0.9, 0.1, 0.8, 0.2]], y, None)
    (0.75, 1.0)
    """
    return CatBoostMetric(metric, eval_sets, options)


class CatBoostMetric(TrainingMetric):
    """What `catboost_metric` returns."""

    no_jit = True  # otherwise CatBoost tries to compile `evaluate`, and warns

    def __init__(self, metric: MetricLike, eval_sets: Any, options: dict[str, Any]) -> None:
        super().__init__(metric, options)
        self.sets = [_labels_and_codes(eval_set) for eval_set in eval_sets]
        if not self.sets:
            raise ValueError(
                "catboost_metric needs the labels and query ids of the training set and of each "
                "evaluation set: catboost_metric('ndcg@10', (y, groups), (y_eval, groups_eval))."
            )
        for (labels, codes), (others, other_codes) in combinations(self.sets, 2):
            if np.array_equal(labels, others) and not np.array_equal(codes, other_codes):
                raise ValueError(
                    "two of the eval_sets have equal labels but other queries, and CatBoost "
                    "passes only the labels to a metric. Reorder the rows of one of them."
                )

    def is_max_optimal(self) -> bool:
        """Whether higher is better."""
        return True

    def evaluate(self, approxes: Any, target: Any, weight: Any) -> tuple[float, float]:
        """The value for a set, and the weight of that value."""
        y_true = np.asarray(target, dtype=np.float32)
        for labels, codes in self.sets:
            if np.array_equal(labels, y_true):
                return self.value(y_true, np.asarray(approxes[0]), codes, weight), 1.0
        raise ValueError(
            f"CatBoost evaluates a set of {len(y_true)} rows with labels that catboost_metric was "
            "not given. Give it labels and query ids of every set, the training set too, in the "
            "order of the rows of the set: catboost_metric('ndcg@10', (y, groups), ...)."
        )

    def get_final_error(self, error: float, weight: float) -> float:
        """The value itself, which is already an average."""
        return error


def _labels_and_codes(eval_set: Any) -> tuple[Array, Array]:
    """Labels in the precision of CatBoost, and the number of the query of each row."""
    if not isinstance(eval_set, tuple | list) or len(eval_set) != 2:
        raise TypeError(f"eval_sets must be pairs (y, groups); got {type(eval_set).__name__}.")
    labels, ids = np.asarray(eval_set[0], dtype=np.float32), eval_set[1]
    if ids is None:
        raise no_groups_error("catboost_metric")
    return labels, group_rows(ids, num_samples(labels)).by_appearance().codes
