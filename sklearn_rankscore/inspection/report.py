"""A report on one ranking: properties of the data, then metrics by cut-off."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any, Literal, TypeAlias, TypedDict, overload

import numpy as np
from numpy.typing import ArrayLike

from .._typing import Array, IntervalMethod, Library, QueryIds, Seed
from .._validation import check_cutoff, check_number
from ..metrics.evaluate import MetricLike, Metrics
from ..metrics.names import METRICS, display_name, name_of_function, parse_name
from ..metrics.resolve import has_option
from ..metrics.systems import by_system
from ..ranking import Block, Queries, Ranking, read_queries
from ..ranking.label_functions import relevant
from ..ranking.unjudged import AS_GIVEN
from .intervals import Interval
from .per_query import measure_per_query, resolve_per_query
from .query_results import QueryScores
from .report_text import Cell, report_text, titled

Cutoffs: TypeAlias = int | Iterable[int | None] | None


class Report(TypedDict):
    """What `ranking_report` returns with ``output_dict=True``."""

    data: dict[str, float]
    metrics: dict[str, dict[str, float]]


@overload
def ranking_report(
    y_true: ArrayLike,
    y_score: ArrayLike | Mapping[str, ArrayLike],
    *,
    groups: QueryIds | None = None,
    metrics: Metrics = ...,
    k: Cutoffs = ...,
    threshold: float | None = None,
    confidence: float = 0.95,
    method: IntervalMethod = "auto",
    n_resamples: int = 9999,
    random_state: Seed = None,
    like: Library | None = None,
    sample_weight: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    n_jobs: int | None = None,
    digits: int = 3,
    output_dict: Literal[False] = False,
    **options: Any,
) -> str: ...
@overload
def ranking_report(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    groups: QueryIds | None = None,
    metrics: Metrics = ...,
    k: Cutoffs = ...,
    threshold: float | None = None,
    confidence: float = 0.95,
    method: IntervalMethod = "auto",
    n_resamples: int = 9999,
    random_state: Seed = None,
    like: Library | None = None,
    sample_weight: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    n_jobs: int | None = None,
    output_dict: Literal[True],
    **options: Any,
) -> Report: ...
def ranking_report(
    y_true: ArrayLike,
    y_score: ArrayLike | Mapping[str, ArrayLike],
    *,
    groups: QueryIds | None = None,
    metrics: Metrics = ("ndcg", "map", "mrr", "precision", "recall"),
    k: Cutoffs = (1, 5, 10, None),
    threshold: float | None = None,
    confidence: float = 0.95,
    method: IntervalMethod = "auto",
    n_resamples: int = 9999,
    random_state: Seed = None,
    like: Library | None = None,
    sample_weight: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    n_jobs: int | None = None,
    digits: int = 3,
    output_dict: bool = False,
    **options: Any,
) -> Any:
    """Build a report of the main ranking metrics, as `classification_report` does for classes.

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Relevance labels, finite numbers; higher is more relevant.
    y_score : array-like of the same shape as `y_true`, or dict of str to array-like
        Scores; higher ranks first. -inf means not retrieved; NaN is an error. The scores that
        several systems gave the same documents are passed as a dict by name.
    groups : array-like of shape (n_documents,), default=None
        Query ids of any hashable dtype, in any row order. None takes those of an index level
        ``qid`` of `y_true` or `y_score`; without one, all documents are a single query, or each
        row of 2-D input is one.
    metrics : str, callable or iterable of them, default=("ndcg", "map", "mrr", "precision", \
"recall")
        One row each. A metric with the option `k` and no cut-off in its name is computed at each
        `k`.
    k : int, None or iterable of them, default=(1, 5, 10, None)
        Cut-offs, one column each; None means no cut-off.
    threshold : float, default=None
        A document is relevant if its label exceeds this value. None means the default of each
        metric or of `like`, and 0 for the properties of the data.
    confidence : float, default=0.95
        Confidence level of the intervals.
    method : {"auto", "t", "bootstrap"}, default="auto"
        How intervals are computed, see `QueryScores.interval`.
    n_resamples : int, default=9999
        Number of bootstrap resamples.
    random_state : int, RandomState instance, Generator or None, default=None
        Seed of the bootstrap.
    like : str, default=None
        Library whose conventions to use, as in `evaluate`.
    sample_weight : array-like of shape (n_documents,) or (n_queries,), default=None
        Query weights, constant within each query. The properties of the data are not weighted.
    labels : array-like of shape (n_classes,), default=None
        Classes of the columns of `y_score` when `y_true` holds class labels; see the guide.
    n_jobs : int, default=None
        Number of threads; -1 uses all processors.
    digits : int, default=3
        Number of decimals in the text.
    output_dict : bool, default=False
        Whether to return a dict of unrounded numbers instead of the text.
    **options
        Options of the metrics except `average`. An option applies to each metric that has it.

    Returns
    -------
    str or dict
        The text; or ``{"data": {...}, "metrics": {"ndcg@1": {"mean", "low", "high", "queries"},
        ...}}``, where "queries" is the number of queries for which the metric is defined. For
        several systems, their texts one after the other, or a dict of such dicts.

    Raises
    ------
    ValueError
        For whatever `query_scores` and `QueryScores.interval` refuse.

    See Also
    --------
    sklearn.metrics.classification_report : The counterpart for classifiers.

    Examples
    --------
    >>> from sklearn_rankscore import make_ranking, ranking_report
    >>> X, y, groups = make_ranking(random_state=0)
    >>> print(ranking_report(y, X[:, 0], groups=groups, k=(1, 10), metrics="ndcg", random_state=0))
    queries                             100
    documents                           1,973
    documents of a query                10 to 30, median 19
    queries without relevant documents  2.0%
    queries of one document             0.0%
    queries with all scores tied        0.0%
    documents tied with another one     0.0%
    <BLANKLINE>
    mean [95 % interval]                    @1                   @10
    ndcg                  0.830 [0.762, 0.881]  0.830 [0.777, 0.863]
    """
    cells = dict(_cells(metrics, k))
    if threshold is not None and any(has_option(metric, "threshold") for metric in cells):
        options["threshold"] = threshold
    resolved = resolve_per_query(cells, like=like, **options)
    interval = partial(
        QueryScores.interval,
        confidence=confidence, method=method, n_resamples=n_resamples, random_state=random_state,
    )  # fmt: skip

    def compute(scores: Any, groups: Any) -> Any:
        queries = read_queries(
            y_true, scores, groups=groups, sample_weight=sample_weight, labels=labels, n_jobs=n_jobs
        )
        report = _report(queries, resolved, threshold or 0, interval, n_jobs)
        return report if output_dict else report_text(report, cells.values(), digits, confidence)

    if not isinstance(y_score, Mapping):
        return compute(y_score, groups)
    reports = by_system(compute, y_true, y_score, groups)
    return reports if output_dict else titled(reports)


def _report(
    queries: Queries, metrics: Any, threshold: Any, interval: Any, n_jobs: int | None
) -> Report:
    data = _describe(queries, check_number("threshold", threshold), n_jobs)
    per_query = measure_per_query(queries, metrics, n_jobs)
    return Report(data=data, metrics=_summaries(per_query, interval(per_query)))


def _describe(queries: Queries, threshold: float, n_jobs: int | None) -> dict[str, float]:
    """Properties of labels, query sizes and ties that metrics depend on."""
    sizes, is_relevant = queries.sizes, relevant(threshold)
    formulas = (lambda block: block.total(is_relevant), _count_tied, _all_tied)
    ranking = Ranking(queries).under_rule(AS_GIVEN)
    n_relevant, n_tied, all_tied = (values.numerator for values in ranking.apply(formulas, n_jobs))
    return {
        "queries": len(sizes),
        "documents": int(sizes.sum()),
        "fewest_documents": int(sizes.min()),
        "median_documents": float(np.median(sizes)),
        "most_documents": int(sizes.max()),
        "queries_without_relevant": float((n_relevant == 0).mean()),
        "queries_of_one_document": float((sizes == 1).mean()),
        "queries_all_tied": float(all_tied.mean()),
        "documents_tied": float(n_tied.sum() / sizes.sum()),
        "documents_unjudged": float(np.isnan(queries.y_true).mean()),
    }


def _count_tied(block: Block) -> Array:
    """Number of retrieved documents that share their score with another one."""
    _, size = block.tie_groups()
    is_tied = (size > 1) & (block.ranks <= block.retrieved[:, None])
    return np.asarray(is_tied.sum(axis=1), dtype=np.float64)


def _all_tied(block: Block) -> Array:
    """Whether all documents of a query, at least two, have the same score."""
    _, size = block.tie_groups()
    first = size[:, 0] if isinstance(size, np.ndarray) else size
    return np.asarray((first == block.sizes) & (block.sizes > 1), dtype=np.float64)


def _summaries(scores: QueryScores, intervals: dict[str, Interval]) -> dict[str, dict[str, float]]:
    means, counts = scores.mean(), scores.included().sum(axis=0).tolist()
    return {
        name: {"mean": means[name], **intervals[name]._asdict(), "queries": count}
        for name, count in zip(scores.metrics, counts, strict=True)
    }


def _cells(metrics: Metrics, k: Cutoffs) -> Iterator[tuple[MetricLike, Cell]]:
    """Each metric to compute, and its cell in the table."""
    cutoffs = [check_cutoff(cutoff) for cutoff in (k if isinstance(k, Iterable) else [k])]
    for metric in [metrics] if isinstance(metrics, str) or callable(metrics) else metrics:
        metric = name_of_function(metric) or metric
        if isinstance(metric, str):
            yield from _cells_of_name(metric, cutoffs)
        else:
            yield metric, (display_name(metric), None)


def _cells_of_name(metric: str, cutoffs: list[int | None]) -> Iterator[tuple[str, Cell]]:
    name, pairs = parse_name(metric)
    options = dict(pairs)
    has_own_cutoff, own = "k" in options, options.pop("k", None)
    listed = ", ".join(f"{option}={value}" for option, value in options.items())
    label = f"{name}({listed})" if listed else name
    if has_own_cutoff or "k" not in METRICS[name].options:
        yield metric, (label, own)
        return
    for k in cutoffs:
        yield metric if k is None else label.replace(name, f"{name}@{k}", 1), (label, k)
