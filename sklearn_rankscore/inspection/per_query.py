"""Metrics measured query by query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from .._typing import Library, QueryIds
from ..metrics.clicks import ClickSums, click_sums
from ..metrics.evaluate import Metrics, by_system
from ..metrics.labels import warn_of_fixed_values
from ..metrics.metric import Metric, measure
from ..metrics.propensity import read_propensity
from ..metrics.resolve import resolve_all
from ..ranking import Queries, read_queries
from .query_results import QueryScores
from .ranges import metric_name
from .segments import Segments, columns_or_levels, read_segments


@overload
def query_scores(
    y_true: ArrayLike,
    y_score: Mapping[str, ArrayLike],
    metrics: Metrics,
    *,
    groups: QueryIds | None = None,
    like: Library | None = None,
    sample_weight: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    n_jobs: int | None = None,
    segments: Segments | None = None,
    **options: Any,
) -> dict[str, QueryScores]: ...
@overload
def query_scores(
    y_true: ArrayLike,
    y_score: ArrayLike,
    metrics: Metrics,
    *,
    groups: QueryIds | None = None,
    like: Library | None = None,
    sample_weight: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    n_jobs: int | None = None,
    segments: Segments | None = None,
    **options: Any,
) -> QueryScores: ...
def query_scores(
    y_true: ArrayLike,
    y_score: ArrayLike | Mapping[str, ArrayLike],
    metrics: Metrics,
    *,
    groups: QueryIds | None = None,
    like: Library | None = None,
    sample_weight: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    n_jobs: int | None = None,
    segments: Segments | None = None,
    **options: Any,
) -> QueryScores | dict[str, QueryScores]:
    """Compute ranking metrics for each query, with their ids.

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Relevance labels, finite numbers; higher is more relevant. NaN means that nobody judged the
        document, and requires the option `unjudged`.
    y_score : array-like of the same shape as `y_true`, or dict of str to array-like
        Scores; higher ranks first. -inf means not retrieved; NaN is an error. For several systems,
        a dict from their names to their scores of the same documents.
    metrics : str, callable, iterable of them, or dict of str to str or callable
        Names such as ``"ndcg@10"``, metric functions of this package, or any function that takes
        a block of ranked queries and returns one value per query. A dict of metrics gives them
        other names in the result.
    groups : array-like of shape (n_documents,), default=None
        Query ids of any hashable dtype, in any row order. None takes those of an index level
        ``qid`` of `y_true` or `y_score`; without one, all documents are a single query, or each
        row of 2-D input is one, with row numbers as ids.
    like : str, default=None
        Library whose conventions to use, as in `evaluate`.
    sample_weight : array-like of shape (n_documents,) or (n_queries,), default=None
        Query weights, constant within each query; one per row of 2-D input.
    labels : array-like of shape (n_classes,), default=None
        Classes of the columns of `y_score` if `y_true` holds class labels (:doc:`/guide/inputs`).
    n_jobs : int, default=None
        Number of threads; -1 uses all processors.
    segments : array-like, mapping, DataFrame, str or list of str, default=None
        Segments of the queries, for `QueryScores.by` and `compare`: one value per document,
        constant within each query, or one per query in the order of the result; several such
        columns by name; a mapping from query ids to values; or the names of index levels of
        `y_true`, `y_score` or `groups`. A pandas Series or DataFrame whose index holds the query
        ids is aligned by it, and other columns by one that holds every query id once, which is no
        segment itself.
    **options
        Options of the metrics except `average`. An option applies to each metric that has it.

    Returns
    -------
    QueryScores
        One row per query, in the order of ``np.unique(groups)``. Its method `mean` returns what
        `evaluate` does. For several systems, a dict of them, as `compare` takes it.

    Raises
    ------
    ValueError
        For an unknown name or option, for ``average="micro"``, and for any input that the metric
        functions refuse.

    See Also
    --------
    evaluate : Only the means.
    compare : Test differences between models.

    Examples
    --------
    >>> from sklearn_rankscore import make_ranking, query_scores
    >>> X, y, groups = make_ranking(random_state=0)
    >>> scores = query_scores(y, X[:, 0], "ndcg@10", groups=groups)
    >>> round(scores.mean()["ndcg@10"], 3)
    0.83
    >>> low, high = scores.interval(random_state=0)["ndcg@10"]
    >>> low < scores.mean()["ndcg@10"] < high
    True
    """
    resolved = resolve_per_query(metrics, like=like, **options)
    systems = y_score.values() if isinstance(y_score, Mapping) else [y_score]
    segments = columns_or_levels("segments", segments, y_true, *systems, groups)

    def compute(scores: ArrayLike, groups: Any) -> QueryScores:
        queries = read_queries(
            y_true, scores, groups=groups, sample_weight=sample_weight, labels=labels, n_jobs=n_jobs
        )
        columns = None
        if segments is not None:
            rows = {"y_true": y_true, "groups": groups}
            columns = read_segments(segments, queries.ids, queries.grouping, rows)
        values = measure_per_query(queries, resolved, n_jobs, (y_true, scores))
        return replace(values, segments=columns)

    if isinstance(y_score, Mapping):
        return by_system(compute, y_true, y_score, groups, sample_weight)
    return compute(y_score, groups)


def resolve_per_query(
    metrics: Metrics, *, like: Library | None = None, **options: Any
) -> dict[str, Metric]:
    """Metrics by their names; refuses those without a value for each query."""
    resolved = resolve_all(metrics, like=like, **options)
    check_per_query(resolved)
    return resolved


def check_per_query(metrics: Mapping[str, Metric]) -> None:
    """Refuse metrics without a value for each query."""
    for name, metric in metrics.items():
        if metric.average == "micro":
            raise ValueError(
                f"{name!r} has average='micro', a ratio of sums over all queries, which has no "
                "value for a single query. Use average='macro'."
            )


def measure_per_query(
    queries: Queries,
    metrics: Mapping[str, Metric],
    n_jobs: int | None = None,
    data: Sequence[Any] = (),
) -> QueryScores:
    """The value of each metric for every query, from a single sort.

    Propensities that are given by name are looked up in `data`.
    """
    warn_of_fixed_values(queries, metrics.values())
    measured = measure(queries, metrics.values(), n_jobs=n_jobs, data=data)
    columns = [
        values.per_query(metric.replace_undefined_by)
        for values, metric in zip(measured, metrics.values(), strict=True)
    ]
    names = [metric_name(name, metric) for name, metric in metrics.items()]
    clicks = {
        name: _click_sums(queries, metric, data)
        for name, metric in zip(names, metrics.values(), strict=True)
        if metric.propensity is not None
    }
    values = np.column_stack(columns)
    return QueryScores(queries.ids, values, names, queries.weights, None, clicks or None)


def _click_sums(queries: Queries, metric: Metric, data: Sequence[Any]) -> ClickSums:
    """Sums over the clicks of each query under the propensities of a metric."""
    propensity = read_propensity(metric.propensity, queries, data)
    labels = np.nan_to_num(queries.y_true.astype(np.float64))
    return click_sums(labels, propensity, metric.clip or 0.0, queries.grouping.codes, len(queries))
