"""RankingAccumulator: metrics over batches, in parts that can be merged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike

from .._typing import Array, Library, QueryIds, QueryOrder
from .._validation import check_choice, check_flag
from ..metrics.evaluate import Metrics
from ..metrics.resolve import list_metrics
from ..query_ids.lookup import check_same_order, index_ids
from ..ranking import Queries, read_queries
from .batch_errors import name_batch
from .configuration import Configuration, comparable, resolve_averaged
from .grouped_queries import in_order
from .open_queries import OpenQueries
from .results import StreamResults
from .rows import AdjacentQueries, Rows
from .segments import check_order_of_segments, columns_of, segment_names, values_of_queries
from .state import State
from .totals import Totals


class RankingAccumulator(StreamResults):
    """Ranking metrics over batches of documents, as partial results that can be merged.

    An accumulator stores a few numbers per metric and the incomplete queries of a sorted stream. It
    can be pickled and merged in any order; the result is that of `evaluate` on all rows at once.
    Each thread or process needs an accumulator of its own, to be merged at the end.

    Parameters
    ----------
    metrics : str, callable or iterable of them
        As in `evaluate`. Functions must be importable for the accumulator to be pickled.
    like : str, default=None
        Library whose conventions to use, as in `evaluate`.
    by : str or list of str, default=None
        Names of columns that define segments, such as ``"country"``, for `by_segment`.
    per_query : bool, default=False
        Whether to store the value of every query for `query_values`, which requires more memory.
    n_jobs : int, default=None
        Number of threads; None means 1 unless in a joblib context, -1 all processors.
    **options
        Options of the metrics, as in `evaluate`; `average` is ``"macro"`` or ``"micro"``.

    Raises
    ------
    ValueError
        For an unknown name or option, and for ``average=None``.

    See Also
    --------
    evaluate : The same for data in memory.
    evaluate_parquet : The same for Parquet files.

    Notes
    -----
    The standard error of a mean with query weights w, unlike that of `QueryScores`, which needs all
    values at once, is that of a ratio of sums,
    ``sqrt(n / (n - 1) * sum(w**2 * (v - mean)**2)) / sum(w)`` over the n queries that count [1]_;
    without weights it is the standard deviation over the square root of n. With
    ``average="micro"`` the residual is that of the numerator about the ratio.

    References
    ----------
    .. [1] W. G. Cochran. Sampling Techniques, 3rd edition, section 6.4. Wiley, 1977.

    Examples
    --------
    >>> from sklearn_rankscore import RankingAccumulator
    >>> monday, tuesday = RankingAccumulator("mrr"), RankingAccumulator("mrr")
    >>> monday.update([0, 1, 1, 0], [0.9, 0.4, 0.8, 0.1], ["a", "a", "b", "b"]).scores()
    {'mrr': 0.75}
    >>> week = tuesday.update([0, 0], [0.9, 0.8], ["c", "c"]).merge(monday)
    >>> week.result()["mrr"]
    MetricSummary(mean=0.5, standard_error=0.28867513459481287, n_queries=3, n_undefined=1)
    """

    def __init__(
        self,
        metrics: Metrics,
        *,
        like: Library | None = None,
        by: str | Sequence[str] | None = None,
        per_query: bool = False,
        n_jobs: int | None = None,
        **options: Any,
    ) -> None:
        self.metrics = list_metrics(metrics)
        self.options = {name: comparable(value) for name, value in options.items()}
        self.like, self.by = like, segment_names(by)
        self.per_query, self.n_jobs = check_flag("per_query", per_query), n_jobs
        self._resolved = resolve_averaged(self.metrics, like, self.options)
        shown = {"like": like, "per_query": per_query, **self.options}
        shown |= {"by": self.by} if self.by else {}
        self._configuration = Configuration.of(self.names, self.metrics, shown)
        self._state = State.empty(self._resolved)

    @name_batch
    def update(
        self,
        y_true: ArrayLike,
        y_score: ArrayLike,
        groups: QueryIds | None = None,
        *,
        sample_weight: ArrayLike | None = None,
        segments: Any = None,
    ) -> RankingAccumulator:
        """Add a batch of complete queries.

        Parameters
        ----------
        y_true, y_score : array-like of shape (n_documents,) or (n_queries, n_documents)
            Relevance and score of each document.
        groups : array-like of shape (n_documents,), default=None
            Query id of each document, in any row order; no id may occur in two batches. None takes
            those of an index level ``qid``; without one, a batch is a single query, or each row of
            2-D input is one.
        sample_weight : array-like of shape (n_documents,) or (n_queries,), default=None
            Query weights, constant within each query.
        segments : array-like of shape (n_documents,), mapping or DataFrame of them, default=None
            The columns named by `by`, constant within each query.

        Returns
        -------
        RankingAccumulator
            The accumulator itself.

        Raises
        ------
        ValueError
            For any input that `evaluate` refuses, and if the batch starts with the query with which
            the previous batch ended.
        """
        if groups is None:
            ids = index_ids(y_true=y_true, y_score=y_score)
            # each row of two-dimensional input is a query
            groups = ids if ids is not None and np.ndim(y_true) == np.ndim(y_score) == 1 else None
        if groups is None and (self.per_query or self.by):
            option = "per_query=True" if self.per_query else "by="
            raise ValueError(f"{option} needs groups, the ids of the queries.")
        queries = read_queries(
            y_true, y_score, groups=groups, sample_weight=sample_weight, allow_zero_weights=True
        )
        state, grouping, columns = self._state, queries.grouping, columns_of(segments, self.by)
        check_order_of_segments(y_true, groups, columns)
        of_queries = {
            name: values_of_queries(name, column, grouping) for name, column in columns.items()
        }
        opened = state.open.after_complete(None if groups is None else grouping)
        totals = self._totals_of(queries, of_queries)
        self._replace(state, state.plus(totals, opened, len(queries.y_true)))
        return self

    @name_batch
    def update_sorted(
        self,
        y_true: ArrayLike,
        y_score: ArrayLike,
        groups: QueryIds,
        *,
        sample_weight: ArrayLike | None = None,
        segments: Any = None,
        order: QueryOrder = "ascending",
    ) -> RankingAccumulator:
        """Add the next rows of a stream sorted by query, which may end within a query.

        Parameters
        ----------
        y_true, y_score : array-like of shape (n_documents,)
            Relevance and score of each document.
        groups : array-like of shape (n_documents,)
            Query id of each document.
        sample_weight : array-like of shape (n_documents,), default=None
            Query weights, constant within each query.
        segments : array-like of shape (n_documents,), mapping or DataFrame of them, default=None
            The columns named by `by`, constant within each query.
        order : {"ascending", "grouped"}, default="ascending"
            Order of the ids over the whole stream. With "grouped", the rows of each query must be
            adjacent, and queries may be in any order. Until `close`, eight bytes per query are
            stored, to raise an error if a query recurs. For ids that are not numbers these are hash
            values, so that two different ids cause this error with a probability of 2**-64.

        Returns
        -------
        RankingAccumulator
            The accumulator itself.

        Raises
        ------
        ValueError
            For any input that `evaluate` refuses, and if the ids are not in this order.
        """
        check_choice("order", order, get_args(QueryOrder))
        check_same_order(y_true=y_true, y_score=y_score, groups=groups, sample_weight=sample_weight)
        queries: Any = groups
        if not isinstance(queries, AdjacentQueries):
            columns = columns_of(segments, self.by)
            check_order_of_segments(y_true, groups, columns)
            queries = AdjacentQueries.read(groups, columns)
        state, batch = self._state, Rows.read(y_true, y_score, sample_weight, queries)
        complete, opened = in_order(state.open, order).extended(batch)
        edges = batch.edges().queries()
        for metric in self._resolved.values():
            metric.check(edges)
        totals = (
            None if complete is None else self._totals_of(complete.queries(), complete.segments)
        )
        self._replace(state, state.plus(totals, opened, len(batch.columns["y_true"])))
        return self

    def merge(self, other: RankingAccumulator) -> RankingAccumulator:
        """Add the queries of another accumulator of the same metrics.

        Parts of one sorted stream may be merged in any order; a query that is divided between two
        parts is joined. With ``ties="stable"`` or ``"reversed"``, merge them in the order of the
        stream.

        No batch counts twice: copies of an accumulator, by pickle or fork too, can be merged with
        one another, or with it, if they were made before its first batch. Afterwards they share
        batches, which is refused, as is an accumulator that was merged before. The same rows
        added to two accumulators are not noticed.

        Parameters
        ----------
        other : RankingAccumulator
            The other accumulator, which is not changed.

        Returns
        -------
        RankingAccumulator
            The accumulator itself.

        Raises
        ------
        ValueError
            If the metrics or options differ, two sorted streams overlap, or both accumulators
            hold the same batch.
        TypeError
            If `other` is not a RankingAccumulator.
        """
        if not isinstance(other, RankingAccumulator):
            raise TypeError(
                f"merge() takes another RankingAccumulator; got {type(other).__name__}."
            )
        if other is self:
            raise ValueError(
                "an accumulator cannot be merged with itself: all its queries would count twice."
            )
        self._configuration.check_same(other._configuration)
        state = self._state
        self._replace(state, state.merged(other._state))
        return self

    def close(self) -> RankingAccumulator:
        """End the sorted stream, and complete all of its queries.

        `result` includes incomplete queries as well; `close` releases their rows, and allows the
        ids of later streams to overlap with those of this one.

        Returns
        -------
        RankingAccumulator
            The accumulator itself.
        """
        state = self._state
        rows, closed = state.open.all(), OpenQueries(last_id=state.open.last_id)
        totals = None if rows is None else self._totals_of(rows.queries(), rows.segments)
        self._replace(state, state.plus(totals, closed, 0))
        return self

    def _totals_of(self, queries: Queries, segments: dict[str, Array]) -> Totals:
        return Totals.of(queries, self._resolved, self.per_query, self.n_jobs, segments)
