"""Many metrics at once, and several systems that rank the same documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from .._typing import Library, QueryIds
from ..query_ids import group_rows
from ..query_ids.lookup import check_same_index, check_same_order, index_ids
from ..ranking import Block, read_queries
from .labels import warn_of_fixed_values
from .metric import measure
from .resolve import resolve_all

T = TypeVar("T")


def by_system(
    compute: Callable[[Any, Any], T],
    y_true: Any,
    y_score: Mapping[str, Any],
    groups: Any,
    sample_weight: Any = None,
) -> dict[str, T]:
    """Compute something for the scores of each system, ``compute(scores, groups)``.

    All systems must have scored the documents of `y_true` in the same rows; arrays that are known
    to have other rows are refused. The rows are grouped by query only once, and by the same ids for
    all systems.
    """
    check_systems(y_true, y_score)
    others = {"groups": groups, "sample_weight": sample_weight}
    for scores in y_score.values():
        check_same_order(y_true=y_true, y_score=scores, **others)
    if groups is None:
        ids = index_ids(y_true=y_true, **{f"y_score[{n!r}]": s for n, s in y_score.items()})
        # each row of two-dimensional scores is a query
        if ids is not None and all(np.ndim(scores) == 1 for scores in y_score.values()):
            groups = ids
    if groups is not None and not isinstance(groups, str) and hasattr(y_true, "__len__"):
        groups = group_rows(groups, len(y_true))
    return {name: compute(scores, groups) for name, scores in y_score.items()}


def check_systems(y_true: Any, y_score: Mapping[str, Any], name: str = "y_true") -> None:
    """Refuse no systems, one without a name, and documents in other rows than `y_true`.

    `name` is that of `y_true` for the user.
    """
    if not y_score:
        raise ValueError("y_score must hold the scores of at least one model; got an empty dict.")
    if "" in y_score:
        raise ValueError(
            f"y_score has a model with the name ''; the names are {list(y_score)!r:.80}. Give it "
            "another name."
        )
    check_same_index(y_true, y_score, name)


MetricLike: TypeAlias = str | Callable[[Block], Any] | Callable[..., Any]
Metrics: TypeAlias = MetricLike | Iterable[MetricLike] | Mapping[str, MetricLike]


def evaluate(
    y_true: ArrayLike,
    y_score: ArrayLike | Mapping[str, ArrayLike],
    metrics: Metrics,
    *,
    groups: QueryIds | None = None,
    like: Library | None = None,
    sample_weight: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    n_jobs: int | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Compute many ranking metrics from a single sort.

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Relevance labels, finite numbers; higher is more relevant. NaN means that nobody judged the
        document, and requires the option `unjudged`.
    y_score : array-like of the same shape as `y_true`, or dict of str to array-like
        Scores; higher ranks first. -inf means not retrieved; NaN is an error. For several systems,
        a dict from their names to their scores of the same documents.
    metrics : str, callable, iterable of them, or dict of str to str or callable
        Names such as ``"ndcg@10"`` or ``"map@5(threshold=1)"``, metric functions of this
        package, or any function that takes a block of ranked queries and returns one value per
        query. A dict of metrics gives them other names in the result, as in scikit-learn's
        `scoring`.
    groups : array-like of shape (n_documents,), default=None
        Query ids of any hashable dtype, in any row order. None takes those of an index level
        ``qid`` of `y_true` or `y_score`; without one, all documents are a single query, or each
        row of 2-D input is one.
    like : str, default=None
        Library whose conventions to use: "sklearn", "lightgbm", "xgboost", "catboost",
        "trec_eval", "ranx", "torchmetrics", "rax", "beir", "implicit", "recommenders",
        "rectools" or "recbole".
    sample_weight : array-like of shape (n_documents,) or (n_queries,), default=None
        Query weights, constant within each query; one per row of 2-D input.
    labels : array-like of shape (n_classes,), default=None
        Classes of the columns of `y_score` if `y_true` holds class labels (:doc:`/guide/inputs`).
    n_jobs : int, default=None
        Number of threads; -1 uses all processors.
    **options
        Options of the metrics, such as ``gain="exponential"`` or ``average=None``. An option
        applies to each metric that has it and does not set it in its name.

    Returns
    -------
    dict of str to float
        The value of each metric under its name; with ``average=None`` arrays with one entry per
        query, in the order of ``np.unique(groups)``. For several systems, a dict of such dicts.

    Raises
    ------
    ValueError
        For an unknown name or option, and for any input that the metric functions refuse.
    TypeError
        If a metric is neither a name nor a function of a block, or an input does not hold numbers.

    See Also
    --------
    query_scores : Values of every query with their ids, intervals and tests.

    Examples
    --------
    >>> from sklearn_rankscore import evaluate
    >>> y_true = [2, 0, 1, 0, 1]
    >>> y_score = [0.3, 0.2, 0.1, 0.9, 0.4]
    >>> groups = ["a", "a", "a", "b", "b"]
    >>> evaluate(y_true, y_score, ["mrr", "precision@2"], groups=groups)
    {'mrr': 0.75, 'precision@2': 0.5}
    """
    resolved = resolve_all(metrics, like=like, **options)

    def of_scores(scores: Any, groups: Any) -> dict[str, Any]:
        queries = read_queries(
            y_true, scores, groups=groups, sample_weight=sample_weight, labels=labels, n_jobs=n_jobs
        )
        warn_of_fixed_values(queries, resolved.values())
        measured = measure(queries, resolved.values(), n_jobs=n_jobs, data=(y_true, scores))
        values = zip(resolved.items(), measured, strict=True)
        return {name: metric.aggregate(of, queries) for (name, metric), of in values}

    if isinstance(y_score, Mapping):
        return by_system(of_scores, y_true, y_score, groups, sample_weight)
    return of_scores(y_score, groups)
