"""Rows of a stream sorted by query: which queries are complete, and which may have more rows."""

from __future__ import annotations

from bisect import bisect
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import pairwise
from operator import itemgetter
from typing import Any

import numpy as np

from .._typing import Array
from ..query_ids import Grouping
from ..query_ids.read import as_objects, of_python
from .instants import are_equal, in_one_form
from .rows import Rows


@dataclass(frozen=True)
class OpenQueries:
    """The first and the last query of each interval of a sorted stream.

    An interval is a part of the stream without gaps. All its queries are complete except for the
    first and the last, which may have more rows in an interval that is merged later.

    Parameters
    ----------
    rows : dict of id to list of Rows
        The rows of each open query so far.
    intervals : list of (id, id)
        The first and the last query id of each interval, in ascending order.
    last_id : query id or None
        The query of the last row, if it came in a batch of complete queries.
    """

    rows: dict[Any, list[Rows]] = field(default_factory=dict)
    intervals: list[tuple[Any, Any]] = field(default_factory=list)
    last_id: Any = None

    def after_complete(self, grouping: Grouping | None) -> OpenQueries:
        """The same open queries after a batch of complete ones; refuse a query that is both."""
        if grouping is None:
            return replace(self, last_id=None)
        ends = grouping.starts + grouping.sizes - 1
        last_rows = grouping.rows_at(ends)
        first = in_one_form(grouping.ids[grouping.first_rows.argmin()])
        self._check_new(first)
        both = self.rows.keys() & set(map(in_one_form, grouping.ids)) if self.rows else set()
        if both:
            raise ValueError(
                f"query {min(both)} is split: update_sorted() has left it open, so it would count "
                "twice. Pass its other rows to update_sorted(), or close() the stream first."
            )
        return replace(self, last_id=in_one_form(grouping.ids[last_rows.argmax()]))

    def extended(self, batch: Rows) -> tuple[Rows | None, OpenQueries]:
        """The queries that a further batch completes, and those that are open after it."""
        n_queries = len(batch.ids)
        first, last = map(in_one_form, batch.ids[[0, -1]])
        self._check_new(first)
        previous = self._interval_before(first)
        start, end = previous
        _check_ascending(end, batch.ids)
        rows = self._with_rows(batch.at_edges())
        complete = [name for name in dict.fromkeys((end, first)) if start < name < last]
        parts = [part for name in complete for part in rows.pop(name)]
        if n_queries > 2:
            parts.append(batch[1:-1])
        others = [interval for interval in self.intervals if interval is not previous]
        opened = OpenQueries(rows, _with_interval(others, (start, last)))
        return Rows.concatenate(parts) if parts else None, opened

    def merged(self, other: OpenQueries) -> OpenQueries:
        """The open queries of both, with the parts of each query together."""
        for start, _ in other.intervals:
            self._check_new(start)
        rows = self._with_rows(other.rows)
        intervals = reduce(_with_interval, other.intervals, self.intervals)
        return OpenQueries(rows, intervals, self.last_id)

    def all(self) -> Rows | None:
        """Every open query, as if it had no more rows."""
        parts = [part for parts in self.rows.values() for part in parts]
        return Rows.concatenate(parts) if parts else None

    def _check_new(self, first: Any) -> None:
        """Refuse a batch that starts with the last query of a batch of complete queries."""
        if self.last_id is not None and are_equal(first, self.last_id):
            raise ValueError(
                f"query {first} is split: it ends the previous batch and starts this one. Pass "
                "complete queries to update(), or use update_sorted() for a stream sorted by query."
            )

    def _interval_before(self, first: Any) -> tuple[Any, Any]:
        """The interval that a batch extends; after a merge it need not be the latest."""
        try:
            ended = [interval for interval in self.intervals if interval[1] <= first]
        except TypeError:  # ids that cannot be compared are refused by _check_ascending
            ended = []
        default = self.intervals[0] if self.intervals else (first, first)
        return max(ended, key=itemgetter(1), default=default)

    def _with_rows(self, rows: dict[Any, list[Rows]]) -> dict[Any, list[Rows]]:
        for name in rows.keys() & self.rows.keys():
            rows[name][0].check_continues(self.rows[name][-1])
        # only the few that are added, so that thousands of merges take little time
        added = {name: self.rows.get(name, []) + parts for name, parts in rows.items()}
        return self.rows | added


def _with_interval(intervals: list[tuple[Any, Any]], new: tuple[Any, Any]) -> list[tuple[Any, Any]]:
    """Sorted intervals and one more; refuse an overlap, whose queries would count twice."""
    i = bisect(intervals, new)
    for (_, end), (start, _) in pairwise(
        [*intervals[max(i - 1, 0) : i], new, *intervals[i : i + 1]]
    ):
        if start < end:
            raise ValueError(
                f"two sorted streams overlap: one ends with query {end}, the other starts "
                f"with query {start}, so they may share queries. Split a single sorted stream "
                "into consecutive parts, or call close() on each if they share none."
            )
    return [*intervals[:i], new, *intervals[i:]]


def _check_ascending(end: Any, ids: Array) -> None:
    """Refuse a query id that comes after a larger one, or comes back."""
    try:
        falls = np.flatnonzero(~(ids[1:] > ids[:-1]))
        falls_at_start = in_one_form(ids[0]) < end
    except TypeError as error:
        kinds = {type(value).__name__ for value in of_python(as_objects([end, *ids]))}
        got = f"ids of the types {', '.join(sorted(kinds))}" if len(kinds) > 1 else str(error)
        raise TypeError(
            f"the query ids of a sorted stream must have an order; got {got}. Convert them to one "
            "type, or set order='grouped' if the rows of each query are adjacent."
        ) from error
    if falls_at_start or len(falls):
        before, after = (end, ids[0]) if falls_at_start else ids[falls[0] : falls[0] + 2]
        raise ValueError(
            f"the stream is not sorted by query: {after} comes after {before}. Sort the rows by "
            "query id in ascending order, set order='grouped' if the rows of each query are "
            "adjacent anyway, or pass batches of complete queries to update()."
        )
