"""Ranking metrics while boosters train: the same numbers as afterwards, so the same best round."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from ..metrics.names import NamedMetric, measure, resolve
from ..ranking import read_queries
from ..ranking.arrays import Array
from .whole_queries import read_split_queries


def lightgbm_metric(metric: Any, **options: Any) -> LightGBMMetric:
    """Make an evaluation metric for LightGBM.

    One object serves ``LGBMRanker.fit(eval_metric=...)`` and ``lightgbm.train(feval=...)``, with
    early stopping and without.

    Parameters
    ----------
    metric : str or callable
        A name such as ``"ndcg@10"`` or ``"map@5(threshold=1)"``, a metric function of this
        package, or any function of a block of ranked queries.
    **options
        Options of the metric, such as ``gain="exponential"`` or ``like="lightgbm"``.

    Returns
    -------
    callable
        ``metric(y_true, y_score, weight, group)`` or ``metric(y_score, Dataset)``, which returns
        name, value and True: higher is better.

    Raises
    ------
    ValueError
        For an unknown metric or option, and for weights that vary within a query.

    See Also
    --------
    xgboost_metric, catboost_metric : The same for other boosters.

    Notes
    -----
    LightGBM evaluates its own metric first. ``LGBMRanker(metric="None")`` or
    ``params["metric"] = "None"`` leaves only this one to stop by.

    Examples
    --------
    >>> from sklearn_rankscore import lightgbm_metric
    >>> metric = lightgbm_metric("mrr@10")
    >>> metric([1, 0, 0, 1], [0.9, 0.1, 0.8, 0.2], None, [2, 2])
    ('mrr@10', 0.75, True)
    """
    return LightGBMMetric(metric, options)


def xgboost_metric(metric: Any, **options: Any) -> XGBoostMetric:
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
        For an unknown metric or option, and for a DMatrix without queries.
    TypeError
        From within ``XGBRanker(eval_metric=...)``, see the notes.

    See Also
    --------
    lightgbm_metric, catboost_metric : The same for other boosters.

    Notes
    -----
    XGBoost guesses from a metric's name which way is better: what does not begin with "auc",
    "pre", "map" or "ndcg" is minimised. Other names are therefore shown with ``"pre_"`` before
    them, such as "pre_mrr@10", so that early stopping is right also without ``maximize=True``.
    XGBoost keeps six decimals of a value.

    XGBRanker calls its `eval_metric` once for each query, weights the values by the number of
    documents, and counts queries of one document as 1. No function of one query can undo that, so
    this metric refuses: use ``xgboost.train``, or one of XGBoost's own metrics by its name, such
    as ``XGBRanker(eval_metric="ndcg@10")``, which are averaged over queries.

    Examples
    --------
    >>> from sklearn_rankscore import xgboost_metric
    >>> xgboost_metric("mrr@10").__name__
    'pre_mrr@10'
    """
    return XGBoostMetric(metric, options)


def catboost_metric(metric: Any, *eval_sets: Any, **options: Any) -> CatBoostMetric:
    """Make an `eval_metric` for CatBoost.

    CatBoost tells a metric neither the query ids nor which set it looks at. So the metric is told
    them here, for each set, and recognises a set by its labels.

    Parameters
    ----------
    metric : str or callable
        A name such as ``"ndcg@10"`` or ``"map@5(threshold=1)"``, a metric function of this
        package, or any function of a block of ranked queries.
    *eval_sets : tuple (y, groups)
        Labels and query ids of the training set and of each evaluation set, rows in the order in
        which CatBoost gets them.
    **options
        Options of the metric, such as ``gain="exponential"`` or ``like="catboost"``.

    Returns
    -------
    object
        For ``CatBoostRanker(eval_metric=...)``; higher is better.

    Raises
    ------
    ValueError
        For an unknown metric or option, for sets that their labels do not tell apart, and from
        CatBoost for a set of which the metric was not told.

    See Also
    --------
    lightgbm_metric, xgboost_metric : The same for other boosters.
    QueryRanker : Stops early by CatBoost's own metrics in a cross-validation.

    Notes
    -----
    In a cross-validation each fold has other sets, so there use CatBoost's own metrics, which
    know the groups, for example ``eval_metric="NDCG:top=10;type=Exp"``.

    Examples
    --------
    >>> from sklearn_rankscore import catboost_metric
    >>> y, groups = [1, 0, 0, 1], ["a", "a", "b", "b"]
    >>> catboost_metric("mrr@10", (y, groups)).evaluate([[0.9, 0.1, 0.8, 0.2]], y, None)
    (0.75, 1.0)
    """
    return CatBoostMetric(metric, eval_sets, options)


class TrainingMetric:
    """A metric that can be computed, copied and pickled while a booster trains."""

    def __init__(self, metric: Any, options: dict[str, Any]) -> None:
        self.metric, self.options = metric, options
        if self.named.average is None:
            raise ValueError("a booster needs one number; average=None gives one per query.")

    @cached_property
    def named(self) -> NamedMetric:
        """The metric, ready to be computed."""
        return resolve(self.metric, **self.options)

    @property
    def shown(self) -> str:
        """Its name in the booster's log, which is cut at blanks."""
        return self.named.name.replace(" ", "")

    def value(self, y_true: Any, y_score: Any, groups: Any, weight: Any = None) -> float:
        """The metric of one round."""
        queries = read_queries(y_true, y_score, groups=groups, sample_weight=weight)
        (values,) = measure(queries, [self.named])
        return float(self.named.aggregate(values, queries))

    def __getstate__(self) -> dict[str, Any]:
        # the ready metric holds functions made on the fly, and is made again from its name
        return {name: value for name, value in vars(self).items() if name != "named"}

    def __deepcopy__(self, memo: Any) -> TrainingMetric:
        # nothing here changes, and CatBoost's estimators refuse to be cloned with an equal copy
        return self


class LightGBMMetric(TrainingMetric):
    """What `lightgbm_metric` returns; LightGBM counts the four parameters of a call."""

    def __call__(
        self, y_true: Any, y_score: Any, weight: Any = None, group: Any = None
    ) -> tuple[str, float, bool]:
        """Name, value, and that higher is better."""
        if hasattr(y_score, "get_label"):  # lightgbm.train hands over scores and their Dataset
            y_true, y_score, data = y_score.get_label(), y_true, y_score
            weight, group = data.get_weight(), data.get_group()
        ids = _ids(group, len(y_true), "LightGBM's data has", "group=sizes")
        return self.shown, self.value(y_true, y_score, ids, weight), True


class XGBoostMetric(TrainingMetric):
    """What `xgboost_metric` returns."""

    @property
    def __name__(self) -> str:
        """The name XGBoost shows, and from which it guesses that higher is better."""
        maximised = self.shown.startswith(("auc", "pre", "map", "ndcg"))
        return self.shown if maximised else f"pre_{self.shown}"

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
        ids = _ids(sizes, len(y_true), "the DMatrix has", "qid=ids")
        # XGBoost has one weight a query
        weight = np.repeat(weight, sizes) if len(weight) else None
        return self.__name__, self.value(y_true, y_score, ids, weight)


class CatBoostMetric(TrainingMetric):
    """What `catboost_metric` returns."""

    no_jit = True  # CatBoost would try to compile `evaluate`, and warn

    def __init__(self, metric: Any, eval_sets: tuple[Any, ...], options: dict[str, Any]) -> None:
        super().__init__(metric, options)
        self.sets = [_labels_and_queries(given) for given in eval_sets]
        if not self.sets:
            raise ValueError(
                "catboost_metric needs the labels and query ids of the training set and of each "
                "evaluation set: catboost_metric('ndcg@10', (y, groups), (y_eval, groups_eval))."
            )
        for i, (labels, queries) in enumerate(self.sets):
            for others, other_queries in self.sets[:i]:
                same = np.array_equal(labels, others)
                if same and not np.array_equal(queries, other_queries):
                    raise ValueError(
                        "two of the eval_sets have equal labels but other queries, and CatBoost "
                        "shows a metric only the labels. Reorder the rows of one of them."
                    )

    def is_max_optimal(self) -> bool:
        """Whether higher is better."""
        return True

    def evaluate(self, approxes: Any, target: Any, weight: Any) -> tuple[float, float]:
        """Value of a whole set, and its weight."""
        y_true = np.asarray(target, dtype=np.float32)
        for labels, queries in self.sets:
            if np.array_equal(labels, y_true):
                return self.value(y_true, np.asarray(approxes[0]), queries, weight), 1.0
        raise ValueError(
            f"CatBoost evaluates a set of {len(y_true)} rows with labels that catboost_metric was "
            "not told of. Give it labels and query ids of every set, the training set too, with "
            "rows in the order of the set: catboost_metric('ndcg@10', (y, groups), ...)."
        )

    def get_final_error(self, error: float, weight: float) -> float:
        """Return the value as it is: it is an average already."""
        return error


def _ids(sizes: Any, n_rows: int, who: str, remedy: str) -> Array:
    """Row-aligned ids from the sizes of queries."""
    if sizes is None or int(np.sum(sizes)) != n_rows:
        raise ValueError(f"{who} no queries for its {n_rows} rows; give it {remedy}.")
    return np.repeat(np.arange(len(sizes)), np.asarray(sizes, dtype=np.intp))


def _labels_and_queries(given: Any) -> tuple[Array, Array]:
    """Labels in the precision that CatBoost keeps, and the query of each row."""
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise TypeError("eval_sets are pairs (y, groups) of labels and query ids.")
    labels = np.asarray(given[0], dtype=np.float32)
    queries = read_split_queries(labels, None, None, qid=given[1], who="catboost_metric")
    return labels, queries.codes
