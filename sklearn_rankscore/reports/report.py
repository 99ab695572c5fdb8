"""A report on one or several rankings: properties of the data, metrics by cut-off, segments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired, TypedDict, overload

from numpy.typing import ArrayLike

from .._typing import IntervalMethod, Library, QueryIds, Seed
from .._validation import check_count, check_flag
from ..inspection.segments import Segments
from ..metrics.evaluate import Metrics
from ..ranking import read_queries
from .cells import Cutoffs, read_cells
from .measure import measure_all, measure_each, measure_system
from .measurements import SystemMeasurements
from .report_object import RankingReport


class Report(TypedDict):
    """What `ranking_report` returns with ``output_dict=True``."""

    data: dict[str, float]
    metrics: dict[str, dict[str, float]]
    segments: NotRequired[list[dict[str, Any]]]


@overload
def ranking_report(
    y_true: ArrayLike,
    y_score: ArrayLike | Mapping[str, ArrayLike],
    *,
    groups: QueryIds | None = None,
    metrics: Metrics = ...,
    k: Cutoffs = ...,
    threshold: float | None = None,
    by: Segments | str | Sequence[str] | None = None,
    bounds: bool = False,
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
) -> RankingReport: ...
@overload
def ranking_report(
    y_true: ArrayLike,
    y_score: Mapping[str, ArrayLike],
    *,
    groups: QueryIds | None = None,
    metrics: Metrics = ...,
    k: Cutoffs = ...,
    threshold: float | None = None,
    by: Segments | str | Sequence[str] | None = None,
    bounds: bool = False,
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
) -> dict[str, Report]: ...
@overload
def ranking_report(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    groups: QueryIds | None = None,
    metrics: Metrics = ...,
    k: Cutoffs = ...,
    threshold: float | None = None,
    by: Segments | str | Sequence[str] | None = None,
    bounds: bool = False,
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
    by: Segments | str | Sequence[str] | None = None,
    bounds: bool = False,
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
        Relevance labels, finite numbers; higher is more relevant. NaN means that nobody judged the
        document, and requires the option `unjudged`.
    y_score : array-like of the same shape as `y_true`, or dict of str to array-like
        Scores; higher ranks first. -inf means not retrieved; NaN is an error. For several systems,
        a dict from their names to their scores of the same documents.
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
        metric or of `like`, and 0 for the statistics of the data.
    by : array-like, mapping, DataFrame, str or list of str, default=None
        Segments of the queries for which means are tabulated, and differences between systems: one
        value per document, constant within each query, or one per query; several such columns by
        name; a mapping from query ids to values; or the names of index levels of `y_true`,
        `y_score` or `groups`. Numbers with more than ten distinct values are divided into
        quartiles.
    bounds : bool, default=False
        Whether to add a second interval, the smallest and the largest mean over all possible labels
        of unjudged documents, see `score_bounds`. Metrics without exact bounds are left out.
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
        Query weights, constant within each query; one per row of 2-D input. The statistics of the
        data are not weighted.
    labels : array-like of shape (n_classes,), default=None
        Classes of the columns of `y_score` if `y_true` holds class labels (:doc:`/guide/inputs`).
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
    RankingReport or dict
        A text that notebooks display as tables, with a method `to_html`; or ``{"data": {...},
        "metrics": {"ndcg@1": {"mean", "low", "high", "queries", "random_order"}, ...}}``, where
        "queries" is the number of queries for which the metric is defined, and "random_order" the
        expected mean for random orders of the documents; with `bounds`, also "lowest" and
        "highest". With `by`, the dict contains a list "segments" with one entry per metric and
        segment, as in `QueryScores.by`. For several systems, the text also contains their
        differences from the first, and the result is a dict of such dicts.

    Raises
    ------
    ValueError
        For any input that `query_scores`, `QueryScores.interval` or `QueryScores.by` refuses.

    See Also
    --------
    compare : Differences between systems with p-values.
    sklearn.metrics.classification_report : The counterpart for classifiers.

    Notes
    -----
    Below each metric, the row "random order" shows its expectation over all orders of the
    documents, which is computed exactly. It is omitted, and nan in the dict, if it is 0 (for
    correlations and with ``adjusted=True``) or unknown: with propensities, for functions of a
    block, and if some documents were not retrieved, because those that a system could have
    retrieved are then not known.

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
      random order        0.276                 0.457
    """
    digits, as_dict = check_count("digits", digits, 0), check_flag("output_dict", output_dict)
    resolved, cells = read_cells(metrics, k, threshold=threshold, like=like, **options)
    inference: Any = {
        "confidence": confidence, "method": method, "n_resamples": n_resamples,
        "random_state": random_state,
    }  # fmt: skip

    def compute(scores: Any, groups: Any) -> SystemMeasurements:
        queries = read_queries(
            y_true, scores, groups=groups, sample_weight=sample_weight, labels=labels, n_jobs=n_jobs
        )
        given = (by, inference, n_jobs, (y_true, scores, groups), bounds)
        return measure_system(queries, resolved, threshold or 0, *given)

    systems = measure_each(compute, y_true, y_score, groups)
    conventions = {"like": like, "threshold": threshold, **options}
    measured = measure_all(systems, cells, inference, digits, conventions)
    return measured.summary() if as_dict else RankingReport(measured)
