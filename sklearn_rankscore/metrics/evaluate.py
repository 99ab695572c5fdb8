"""Many metrics at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias, overload

from numpy.typing import ArrayLike

from .._typing import Array, Library, QueryIds
from ..ranking import Block, read_queries
from .fixed_values import warn_of_fixed_values
from .metric import Metric, measure
from .resolve import resolve_all
from .systems import by_system

MetricLike: TypeAlias = str | Callable[[Block], Any] | Callable[..., Any]
Metrics: TypeAlias = MetricLike | Iterable[MetricLike] | Mapping[str, MetricLike]


@overload
def evaluate(
    y_true: ArrayLike,
    y_score: Mapping[str, ArrayLike],
    metrics: Metrics,
    *,
    groups: QueryIds | None = None,
    like: Library | None = None,
    sample_weight: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    n_jobs: int | None = None,
    **options: Any,
) -> dict[str, dict[str, Any]]: ...
@overload
def evaluate(
    y_true: ArrayLike, y_score: ArrayLike, metrics: Metrics, *, average: None, **options: Any
) -> dict[str, Array]: ...
@overload
def evaluate(
    y_true: ArrayLike,
    y_score: ArrayLike,
    metrics: Metrics,
    *,
    groups: QueryIds | None = None,
    like: Library | None = None,
    sample_weight: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    n_jobs: int | None = None,
    **options: Any,
) -> dict[str, float]: ...
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

    def compute(scores: ArrayLike, groups: Any) -> dict[str, Any]:
        return _evaluate(
            resolved, y_true, scores,
            groups=groups, sample_weight=sample_weight, labels=labels, n_jobs=n_jobs,
        )  # fmt: skip

    if isinstance(y_score, Mapping):
        return by_system(compute, y_true, y_score, groups, sample_weight)
    return compute(y_score, groups)


def _evaluate(
    resolved: dict[str, Metric], y_true: Any, y_score: Any, *, n_jobs: int | None, **data: Any
) -> dict[str, Any]:
    """The value of each metric for one system."""
    queries = read_queries(y_true, y_score, n_jobs=n_jobs, **data)
    warn_of_fixed_values(queries, resolved.values())
    values = measure(queries, resolved.values(), n_jobs=n_jobs, data=(y_true, y_score))
    return {
        name: metric.aggregate(of_queries, queries)
        for (name, metric), of_queries in zip(resolved.items(), values, strict=True)
    }
