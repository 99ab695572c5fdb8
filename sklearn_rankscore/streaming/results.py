"""What the totals of a stream tell: means, standard errors, and values of queries."""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import copy
from typing import Self

from .._table import Table
from .._typing import Array
from ..metrics.metric import Metric
from ..metrics.segment import Segment
from .moments import MetricSummary
from .state import State

HEADER = ["", "mean", "std. error", "queries", "undefined"]


class StreamResults(ABC):
    """The results of a `RankingAccumulator`, of which this is the part that reads its state."""

    by: tuple[str, ...]
    per_query: bool
    _resolved: dict[str, Metric]
    _state: State

    @abstractmethod
    def close(self) -> Self:
        """Complete the open queries."""

    @property
    def n_documents(self) -> int:
        """Number of documents so far."""
        return self._state.n_documents

    @property
    def names(self) -> list[str]:
        """Names of the metrics, the keys of the results."""
        return list(self._resolved)

    def result(self) -> dict[str, MetricSummary]:
        """Mean, standard error and numbers of queries of each metric.

        Incomplete queries are included, and can still be continued.

        Returns
        -------
        dict of str to MetricSummary
            The summary of each metric under its name.

        Raises
        ------
        ValueError
            If there are no documents, or no query has a positive weight.
        """
        closed = copy(self).close()
        if not closed.n_documents:
            raise ValueError("no documents given; at least one is needed.")
        return closed._state.totals.summaries(self._resolved)

    def by_segment(self) -> dict[Segment, dict[str, MetricSummary]]:
        """Like `result`, for the queries of each segment.

        Returns
        -------
        dict of Segment to dict of str to MetricSummary
            The summaries of each ``(column, value)``, in the order of `by`, and by value within a
            column; queries whose value is missing are those of ``(column, "missing")``.

        Raises
        ------
        ValueError
            As in `result`, and without `by`.
        """
        if not self.by:
            raise ValueError("segments need by=, the names of their columns.")
        closed = copy(self).close()
        return closed._state.totals.summaries_by_segment(self._resolved, self.by)

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
            The values of each metric.

        Raises
        ------
        ValueError
            If the values were not stored, or a query is split over several batches.
        """
        self._check_stored()
        return copy(self).close()._state.totals.values.sorted()

    def _check_stored(self) -> None:
        if not self.per_query:
            raise ValueError("the values of queries are stored only with per_query=True.")

    def take_values(self) -> tuple[Array, dict[str, Array]] | None:
        """Return the values of the queries completed since the last call, and release them.

        Returns
        -------
        tuple of (ids, values) or None
            As `query_values`, in the order of the batches; None if no query was completed. Use it
            for streams whose values do not fit into memory.

        Raises
        ------
        ValueError
            If the values were not stored.
        """
        self._check_stored()
        state = self._state
        self._replace(state, state.without_values())
        return state.totals.values.concatenated()

    def _replace(self, state: State, following: State) -> None:
        """Take the state that follows from another, unless it is no longer the present one."""
        if self._state is not state:
            raise RuntimeError(
                "another thread changed the accumulator during this call, which has no effect. "
                "Give each thread an accumulator of its own, and merge them at the end."
            )
        self._state = following

    def __repr__(self) -> str:
        return self._table().text()

    def _repr_html_(self) -> str:
        return self._table().html()

    def _table(self) -> Table:
        title = f"{type(self).__name__} of {self.n_documents:,} documents"
        return Table(title, HEADER, self._rows())

    def _rows(self) -> list[list[str]]:
        try:
            result = self.result()
        except ValueError:  # no documents so far, or none with a weight
            return [[name, *["-"] * (len(HEADER) - 1)] for name in self.names]
        return [
            [
                name,
                f"{summary.mean:.4f}",
                f"{summary.standard_error:.4f}",
                f"{summary.n_queries:,}",
                f"{summary.n_undefined:,}",
            ]
            for name, summary in result.items()
        ]
