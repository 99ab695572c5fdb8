"""Open queries of a stream in which queries come in any order of their ids."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._typing import Array
from ..query_ids import Grouping
from .instants import array_of_one, in_one_form
from .key_set import KeySet, keys_of
from .open_queries import OpenQueries
from .rows import Rows

IdInterval = tuple[Any, Any]


@dataclass(frozen=True)
class GroupedQueries(OpenQueries):
    """The first and the last query of each interval of a grouped stream, and those that ended.

    Parameters
    ----------
    rows : dict of id to list of Rows
        The rows of each open query so far.
    intervals : list of (id, id)
        The first and the last query id of each interval, in the order in which they were added.
    last_id : query id or None
        The query of the last row, if it came in a batch of complete queries.
    ended : KeySet
        All queries of the intervals but the first and the last of each, none of which may return.
    """

    ended: KeySet = field(default_factory=KeySet)

    def after_complete(self, grouping: Grouping | None) -> OpenQueries:
        """The same open queries after a batch of complete ones; refuse a query that is both."""
        if grouping is not None:
            known = self.ended.among(keys_of(grouping.ids))
            if known.any():
                raise returning_error(grouping.ids[known.argmax()])
        return super().after_complete(grouping)

    def extended(self, batch: Rows) -> tuple[Rows | None, GroupedQueries]:
        """The queries that a further batch completes, and those that are open after it."""
        n_queries = len(batch.ids)
        first, last = map(in_one_form, batch.ids[[0, -1]])
        self._check_new(first)
        start, end = self.intervals[-1] if self.intervals else (first, first)
        keys = keys_of(batch.ids)
        self._check_not_returning(batch.ids, keys, end)
        rows, intervals = self._with_rows(batch.at_edges()), [*self.intervals[:-1], (start, last)]
        still_open = set(_edges(intervals))
        complete = [name for name in rows if name not in still_open]
        ended = self.ended.plus(np.concatenate([keys[1:-1], *map(_keys_of_one, complete)]))
        parts = [part for name in complete for part in rows.pop(name)]
        if n_queries > 2:
            parts.append(batch[1:-1])
        opened = GroupedQueries(rows, intervals, None, ended)
        return Rows.concatenate(parts) if parts else None, opened

    def merged(self, other: OpenQueries) -> GroupedQueries:
        """The open queries of both, with the parts of each query together."""
        theirs = other if isinstance(other, GroupedQueries) else GroupedQueries()
        for start, _ in theirs.intervals:
            self._check_new(start)
        self._check_disjoint(theirs)
        rows, ended = self._with_rows(theirs.rows), self.ended.merged(theirs.ended)
        intervals = self._outside(theirs.joints)
        for interval in theirs._outside(self.joints):
            intervals = _joined(intervals, interval)
        return GroupedQueries(rows, intervals, self.last_id, ended)

    @property
    def joints(self) -> set[Any]:
        """Queries between two intervals that have become one, of which more parts may be merged."""
        return self.rows.keys() - set(_edges(self.intervals))

    def _outside(self, joints: set[Any]) -> list[IdInterval]:
        """The intervals but those that consist of one query, a joint of another stream."""
        shared = joints & self.rows.keys()
        for query in shared:
            if (query, query) not in self.intervals:
                raise returning_error(query)
        return [interval for interval in self.intervals if interval[0] not in shared]

    def _check_not_returning(self, ids: Array, keys: Array, continued: Any) -> None:
        """Refuse a query that ended before, in this batch or an earlier one."""
        order = np.argsort(keys, kind="stable")
        again = order[1:][keys[order[1:]] == keys[order[:-1]]]
        known = np.flatnonzero(self.ended.among(keys))
        open_keys = np.concatenate([_NONE, *map(_keys_of_one, self.rows)])
        returned = np.flatnonzero(np.isin(keys, open_keys))
        continues = len(returned) and in_one_form(ids[0]) == continued
        returned = returned[1:] if continues else returned
        for positions in (again, known, returned):
            if len(positions):
                raise returning_error(ids[positions.min()])

    def _check_disjoint(self, other: GroupedQueries) -> None:
        """Refuse a stream with a query that ended in this one, and the reverse."""
        for mine, theirs in ((self, other), (other, self)):
            for query in theirs.rows:
                if mine.ended.among(_keys_of_one(query)).any():
                    raise returning_error(query)
        small, large = sorted((self.ended, other.ended), key=len)
        if any(large.among(level).any() for level in small.levels):
            raise ValueError(
                "two grouped streams share a query, which would count twice. Merge parts of one "
                "stream only, or call close() on each if its ids stand for other queries."
            )


def _joined(intervals: list[IdInterval], new: IdInterval) -> list[IdInterval]:
    """Intervals with one more, which may continue one of them and be continued by another."""
    before = [i for i in intervals if i[1] == new[0]]
    after = [i for i in intervals if i[0] == new[1] and i not in before]
    joined = ([*before, new][0][0], [new, *after][-1][1])
    others = [i for i in intervals if i not in before + after]
    # the same query at both ends, and others in between
    circle = joined[0] == joined[1] and any(a != b for a, b in [*before, new, *after])
    for query in joined:
        if circle or query in _edges(others):
            raise returning_error(query)
    return [*others, joined]


_NONE = np.empty(0, dtype=np.uint64)


def in_order(opened: OpenQueries, order: str) -> OpenQueries:
    """Open queries to which batches in this order can be added."""
    kind = GroupedQueries if order == "grouped" else OpenQueries
    if type(opened) is kind:
        return opened
    if opened.intervals:
        raise ValueError(
            "a stream in ascending order of its ids and a grouped one cannot be mixed. Use one "
            "order, or close() the first stream if the two share no query."
        )
    return kind(last_id=opened.last_id)


def merged(first: OpenQueries, second: OpenQueries) -> OpenQueries:
    """The open queries of two accumulators, which may be those of one stream."""
    orders = ["grouped" if isinstance(o, GroupedQueries) else "ascending" for o in (first, second)]
    order = orders[0] if first.intervals else orders[1]
    return in_order(first, order).merged(in_order(second, order))


def returning_error(query: Any) -> ValueError:
    """The error for a query that has other queries between its rows."""
    return ValueError(
        f"the stream is not grouped by query: {query} returns after other queries. Bring the rows "
        "of each query together, for example by sorting them."
    )


def _edges(intervals: list[IdInterval]) -> list[Any]:
    """The first and the last query of each interval."""
    return [query for interval in intervals for query in dict.fromkeys(interval)]


def _keys_of_one(query: Any) -> Array:
    return keys_of(array_of_one(query))
