"""RankingAccumulator: metrics over batches, in parts that merge."""

from __future__ import annotations

from copy import copy
from functools import partial
from typing import Any

import numpy as np

from ..metrics.names import NamedMetric, measure, resolve_all
from ..ranking import Queries
from ..ranking.arrays import Array
from .batches import QueryValues, edge_ids, read_batch
from .moments import MetricSummary, Moments
from .open_queries import OpenQueries, Rows


class RankingAccumulator:
    """Ranking metrics over batches of documents, in parts that can be merged.

    It is small (a few numbers a metric, and the queries a sorted stream left open) and can be
    pickled, sent and merged in any order: the result is that of `evaluate` on all rows at once.

    Parameters
    ----------
    metrics : str, callable or iterable of them
        What `evaluate` takes. Functions must be importable for the accumulator to be pickled.
    like : str, default=None
        Take another library's conventions, as in `evaluate`.
    per_query : bool, default=False
        Whether to keep the value of every query for `query_values`; this takes memory.
    n_jobs : int, default=None
        Number of threads; None means 1 unless in a joblib context, -1 all cores.
    **options
        Options of the metrics, as in `evaluate`; `average` is ``"macro"`` or ``"micro"``.

    Attributes
    ----------
    n_documents : int
        Number of rows taken in.
    names : list of str
        Names of the metrics, the keys of the results.

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
    The standard error of a mean with query weights w is that of a ratio of sums,
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
        metrics: Any,
        *,
        like: str | None = None,
        per_query: bool = False,
        n_jobs: int | None = None,
        **options: Any,
    ) -> None:
        one = isinstance(metrics, str) or callable(metrics)
        self.metrics = [metrics] if one else list(metrics)
        self.like = like
        self.options = {name: _frozen(value) for name, value in options.items()}
        self.per_query = per_query
        self.n_jobs = n_jobs
        self.n_documents = 0
        self._named = self._resolve()
        self._moments = {name: Moments() for name in self._named}
        self._open = OpenQueries()
        self._values = QueryValues()
        self._last_id: Any = None
        self._weighty = False

    def update(
        self, y_true: Any, y_score: Any, groups: Any = None, *, sample_weight: Any = None
    ) -> RankingAccumulator:
        """Take in a batch in which every query is whole.

        Parameters
        ----------
        y_true, y_score : array-like of shape (n_documents,) or (n_queries, n_documents)
            Relevance and score of each document.
        groups : array-like of shape (n_documents,), default=None
            Query id of each document, in any row order; no id may come again in a later batch.
        sample_weight : array-like of shape (n_documents,) or (n_queries,), default=None
            Weight of each document's query.

        Returns
        -------
        RankingAccumulator
            Itself.

        Raises
        ------
        ValueError
            For what `evaluate` refuses, and if the batch goes on with the query that the batch
            before ended with.
        """
        edge = self._edge(groups)
        queries = read_batch(y_true, y_score, groups, sample_weight)
        self._add(queries, queries.ids)
        self._last_id = edge
        self.n_documents += len(queries.y_true)
        return self

    def update_sorted(
        self, y_true: Any, y_score: Any, groups: Any, *, sample_weight: Any = None
    ) -> RankingAccumulator:
        """Take in the next rows of a stream sorted by query, cut anywhere.

        Parameters
        ----------
        y_true, y_score : array-like of shape (n_documents,)
            Relevance and score of each document.
        groups : array-like of shape (n_documents,)
            Query id of each document, in ascending order over the whole stream.
        sample_weight : array-like of shape (n_documents,), default=None
            Weight of each document's query.

        Returns
        -------
        RankingAccumulator
            Itself.

        Raises
        ------
        ValueError
            For what `evaluate` refuses, and if the ids are not in ascending order.
        """
        batch = Rows.read(y_true, y_score, groups, sample_weight)
        self._check_new(batch.ids[0])
        whole, still_open = self._open.after(batch)
        self._add_rows(whole)
        self._open, self._last_id = still_open, None
        self.n_documents += len(batch.y_true)
        return self

    def merge(self, other: RankingAccumulator) -> RankingAccumulator:
        """Add what another accumulator of the same metrics took in.

        Parts of one sorted stream may be merged in any order, and a query that they cut is put
        together again; with ``ties="stable"`` or ``"reversed"`` merge them in stream order.

        Parameters
        ----------
        other : RankingAccumulator
            The other one, which stays as it is.

        Returns
        -------
        RankingAccumulator
            Itself.

        Raises
        ------
        ValueError
            If the metrics differ, or two sorted streams overlap.
        TypeError
            If it is no accumulator.
        """
        if not isinstance(other, RankingAccumulator):
            raise TypeError(
                f"merge() takes another RankingAccumulator; got {type(other).__name__}."
            )
        self._check_same(other)
        self._open = self._open.merged(other._open)
        self._moments = {name: m + other._moments[name] for name, m in self._moments.items()}
        self._values = self._values.extended(other._values)
        self._weighty |= other._weighty
        self.n_documents += other.n_documents
        return self

    def close(self) -> RankingAccumulator:
        """Declare the sorted stream over: all its queries are whole.

        `result` counts open queries anyway; this lets go of their rows, and of the check that
        streams do not overlap.

        Returns
        -------
        RankingAccumulator
            Itself.
        """
        self._add_rows(self._open.all())
        self._open = OpenQueries()
        return self

    def result(self) -> dict[str, MetricSummary]:
        """Mean, standard error and numbers of queries of each metric.

        Open queries count as whole, and remain open.

        Returns
        -------
        dict of str to MetricSummary
            The summary of each metric under its name.

        Raises
        ------
        ValueError
            If there are no documents, or no query has a positive weight.
        """
        whole = self._closed()
        if not whole.n_documents:
            raise ValueError("no documents came in; at least one is needed.")
        if not whole._weighty:
            raise ValueError("sample_weight is zero for every query; at least one must count.")
        return {
            name: moments.summary(self._named[name].replace_undefined_by)
            for name, moments in whole._moments.items()
        }

    def scores(self) -> dict[str, float]:
        """Return the mean of each metric under its name, as `evaluate` does.

        Returns
        -------
        dict of str to float
            The value of each metric.
        """
        return {name: summary.mean for name, summary in self.result().items()}

    def query_values(self) -> tuple[Array, dict[str, Array]]:
        """Return the value of every query, if ``per_query=True``.

        Returns
        -------
        ids : ndarray of shape (n_queries,)
            Query ids in sorted order.
        values : dict of str to ndarray of shape (n_queries,)
            Values of each metric.

        Raises
        ------
        ValueError
            If the values were not kept, or a query came in more than one part.
        """
        if not self.per_query:
            raise ValueError("values of queries are kept only with per_query=True.")
        return self._closed()._values.sorted()

    def take_values(self) -> tuple[Array, dict[str, Array]] | None:
        """Return values of the queries measured since the last call, and drop them.

        Returns
        -------
        tuple of (ids, values) or None
            As `query_values`, for a stream whose values do not fit into memory together.
        """
        taken, self._values = self._values, QueryValues()
        return taken.joined()

    @property
    def names(self) -> list[str]:
        """Names of the metrics."""
        return list(self._named)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_named"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._named = self._resolve()

    def _resolve(self) -> dict[str, NamedMetric]:
        named = resolve_all(self.metrics, like=self.like, **self.options)
        if any(metric.average is None for metric in named.values()):
            raise ValueError(
                "average=None gives one value per query, which an accumulator does not keep; use "
                "per_query=True and query_values()."
            )
        return named

    def _add_rows(self, rows: Rows | None) -> None:
        if rows is not None:
            self._add(rows.queries(), rows.ids)

    def _add(self, queries: Queries, ids: Array) -> None:
        named = self._named.values()
        found = measure(queries, named, n_jobs=self.n_jobs)
        of = [
            Moments.of(values, m, queries.weights) for values, m in zip(found, named, strict=True)
        ]
        before = self._moments.items()
        self._moments = {name: m + new for (name, m), new in zip(before, of, strict=True)}
        self._weighty |= queries.weights is None or bool(queries.weights.any())
        if self.per_query:
            pairs = zip(found, named, strict=True)
            values = [v.per_query(m.replace_undefined_by) for v, m in pairs]
            self._values = self._values.extended(QueryValues.of(ids, self.names, values))

    def _closed(self) -> RankingAccumulator:
        """A copy without open queries."""
        return copy(self).close()

    def _edge(self, groups: Any) -> Any:
        """Id of the last row; refuse a first row that goes on with the batch before."""
        if groups is None:
            if self.per_query:
                raise ValueError("per_query=True needs groups, to tell whose the values are.")
            return None
        first, last = edge_ids(groups)
        self._check_new(first)
        if first in self._open.rows:
            raise ValueError(
                f"the batch goes on with query {first}, which update_sorted() has left open: it "
                "would count twice. Go on with update_sorted(), or close() the stream first."
            )
        return last

    def _check_new(self, first: Any) -> None:
        """Refuse a first row that goes on with the last batch of whole queries."""
        if self._last_id is not None and first == self._last_id:
            raise ValueError(
                f"the batch goes on with query {first}, which the batch before ended with. Cut "
                "batches between queries, or use update_sorted() for a stream sorted by query."
            )

    def _check_same(self, other: RankingAccumulator) -> None:
        mine, theirs = ((a.names, a.like, a.options, _codes(a.metrics)) for a in (self, other))
        if mine != theirs or self.per_query != other.per_query:
            raise ValueError(
                "accumulators merge if their metrics and options are the same; got "
                f"{_described(self)} and {_described(other)}."
            )


def _codes(metrics: list[Any]) -> list[Any]:
    """What tells functions of the same name apart."""
    functions = (metric.func if isinstance(metric, partial) else metric for metric in metrics)
    return [getattr(function, "__code__", None) for function in functions]


def _described(a: RankingAccumulator) -> str:
    options = {"like": a.like, "per_query": a.per_query, **a.options}
    return f"{', '.join(a.names)} ({', '.join(f'{k}={v!r}' for k, v in options.items())})"


def _frozen(option: Any) -> Any:
    """A table of gains as a tuple, so that options can be compared."""
    if isinstance(option, list | np.ndarray):
        return tuple(np.asarray(option).tolist())
    return option
