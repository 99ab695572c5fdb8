"""Bounds of metrics over all labels that unjudged documents could have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from .._table import Table
from .._typing import Library, QueryIds, Unjudged
from .._validation import check_count, counted
from ..metrics.evaluate import Metrics, by_system
from ..metrics.label_bounds import default_max_label, metric_bounds
from ..ranking import read_queries
from .intervals import Interval
from .query_scores import QueryScores, limits_of, resolve_per_query
from .tabular import Tabular


@dataclass(repr=False)
class ScoreBounds(Tabular):
    """Smallest and largest values over all labels of unjudged documents, see `score_bounds`.

    Parameters
    ----------
    lower, upper : QueryScores
        The smallest and the largest value of each metric for each query.

    See Also
    --------
    score_bounds : Computes them.
    """

    lower: QueryScores
    upper: QueryScores

    def mean(self) -> dict[str, Interval]:
        """Bounds of the mean over queries.

        Returns
        -------
        dict of str to Interval
            ``(low, high)`` of each metric.
        """
        low, high = self.lower.mean(), self.upper.mean()
        return {metric: Interval(low[metric], high[metric]) for metric in low}

    def _columns(self) -> dict[str, Any]:
        columns: dict[str, Any] = {"query": self.lower.ids}
        for metric in self.lower.metrics:
            columns |= {f"{metric} low": self.lower[metric], f"{metric} high": self.upper[metric]}
        return columns

    def _table(self) -> Table:
        rows = [(metric, low, high, high - low) for metric, (low, high) in self.mean().items()]
        title = f"ScoreBounds of {counted(len(self.lower), 'query')}"
        return Table(title, ("mean", "low", "high", "width"), rows)


@overload
def score_bounds(
    y_true: ArrayLike, y_score: Mapping[str, ArrayLike], metrics: Metrics, **options: Any
) -> dict[str, ScoreBounds]: ...
@overload
def score_bounds(
    y_true: ArrayLike, y_score: ArrayLike, metrics: Metrics, **options: Any
) -> ScoreBounds: ...
def score_bounds(
    y_true: ArrayLike,
    y_score: ArrayLike | Mapping[str, ArrayLike],
    metrics: Metrics,
    *,
    groups: QueryIds | None = None,
    max_label: int | None = None,
    like: Library | None = None,
    sample_weight: ArrayLike | None = None,
    unjudged: Unjudged = "error",
    **options: Any,
) -> ScoreBounds | dict[str, ScoreBounds]:
    """Compute the smallest and the largest value over all possible labels of unjudged documents.

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Relevance labels, NaN if nobody judged the document; higher is more relevant.
    y_score : array-like of the same shape as `y_true`, or dict of str to array-like
        Scores; higher ranks first. -inf means not retrieved; NaN is an error. For several systems,
        a dict from their names to their scores of the same documents.
    metrics : str, callable or iterable of them
        Names such as ``"ndcg@10"`` or metric functions of this package: dcg, ndcg, map, mrr,
        precision, recall, f1, hits, hit_rate, r_precision, err, rbp and pfound. All others are
        refused.
    groups : array-like of shape (n_documents,), default=None
        Query ids of any hashable dtype, in any row order. None takes those of an index level
        ``qid`` of `y_true` or `y_score`; without one, all documents are a single query, or each
        row of 2-D input is one.
    max_label : int, default=None
        Unjudged documents may have the labels 0, 1, …, `max_label`. None means the highest label
        of `y_true`, rounded up, and at least 1.
    like : str, default=None
        Library whose conventions to use, as in `evaluate`.
    sample_weight : array-like of shape (n_documents,) or (n_queries,), default=None
        Query weights, constant within each query; one per row of 2-D input.
    unjudged : {"error", "irrelevant", "drop"}, default="error"
        Without effect, so that the result of `from_trec` can be passed on: the bounds replace any
        rule for unjudged documents.
    **options
        Options of the metrics except `average`. An option applies to each metric
        that has it.

    Returns
    -------
    ScoreBounds
        The bounds of every query; its method `mean` returns the bounds of the means. For several
        systems, a dict of them.

    Raises
    ------
    ValueError
        For a metric without exact bounds (the message states the reason), for NDCG of graded
        labels with ``ties="optimistic"``, for a gain that decreases with the label, for NDCG with
        a discount that rises with the rank, for a query that is defined for some of the possible
        labels only, unless ``replace_undefined_by=0``, and for any input that `query_scores`
        refuses.

    See Also
    --------
    judged_at_k : The fraction of documents that were judged.
    query_scores : Values with one rule for unjudged documents.

    Notes
    -----
    The bounds are attained, and no labels give a value outside of them. DCG, precision, hits, hit
    rate, MRR, ERR, RBP and pFound are nondecreasing in each label. Recall, F1, R-precision, AP and
    NDCG may decrease, because their denominators increase as well: all numbers of relevant
    documents are tried, with the first or the last unjudged documents as the relevant ones; the
    largest NDCG with graded labels is found by Dinkelbach's method. All unjudged documents are
    taken into account, whether retrieved or not. The bounds of a mean are the means of the bounds,
    because queries are independent of one another.

    For RBP, ``upper - lower`` is the part of the residual [1]_ that is due to the documents given;
    cwl_eval adds ``p ** n`` for the ranks after the n retrieved documents, and so does trec_eval 10
    if one of them is unjudged.

    References
    ----------
    .. [1] A. Moffat, J. Zobel. Rank-Biased Precision for Measurement of Retrieval Effectiveness.
       ACM TOIS 27(1), 2008. https://doi.org/10.1145/1416950.1416952

    Examples
    --------
    >>> from sklearn_rankscore import score_bounds
    >>> y_true, y_score = [2, float("nan"), 0, 1], [4, 3, 2, 1]
    >>> score_bounds(y_true, y_score, ["ndcg", "precision@2"])
    ScoreBounds of 1 query
    mean            low    high   width
    ndcg         0.9239  0.9816  0.0577
    precision@2  0.5000  1.0000  0.5000
    """
    resolved = resolve_per_query(metrics, like=like, **options)
    highest = None if max_label is None else check_count("max_label", max_label, 1)

    def compute(scores: ArrayLike, groups: Any) -> ScoreBounds:
        queries = read_queries(y_true, scores, groups=groups, sample_weight=sample_weight)
        label = default_max_label(queries) if highest is None else highest
        columns = [metric_bounds(queries, metric, label) for metric in resolved.values()]
        limits = limits_of(resolved)
        lower, upper = (
            QueryScores(
                queries.ids, np.column_stack(ends), resolved, queries.weights, limits=limits
            )
            for ends in zip(*columns, strict=True)
        )
        return ScoreBounds(lower, upper)

    if isinstance(y_score, Mapping):
        return by_system(compute, y_true, y_score, groups, sample_weight)
    return compute(y_score, groups)
