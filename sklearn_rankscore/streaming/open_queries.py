"""Rows of a stream sorted by query: which queries are whole, and which may go on."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np

from ..ranking import Queries, read_queries
from ..ranking.arrays import Array, as_ids, as_numbers, graded
from .batches import read_batch


@dataclass(frozen=True)
class Rows:
    """Documents of a few queries in a row: `ids` and `sizes` hold one entry per query."""

    y_true: Array
    y_score: Array
    weight: Array | None
    ids: Array
    sizes: Array

    @classmethod
    def read(cls, y_true: Any, y_score: Any, groups: Any, sample_weight: Any) -> Rows:
        """Validate a batch, and see where its queries begin."""
        ids, values = as_ids(groups)
        documents = read_queries(y_true, y_score)
        _check_length(documents.y_true, "y_true", ids)
        weight = None
        if sample_weight is not None:
            weight = as_numbers(sample_weight, "sample_weight")
            _check_length(weight, "sample_weight", ids)
        heads = np.flatnonzero(np.concatenate(([True], ids[1:] != ids[:-1])))
        names = ids[heads] if values is None else values[ids[heads]]
        return cls(
            documents.y_true, documents.y_score, weight, names, np.diff(heads, append=len(ids))
        )

    def queries(self) -> Queries:
        """What they are to a metric; rows that were read once need no second look."""
        if self.weight is not None:
            groups = np.repeat(np.arange(len(self.ids)), self.sizes)
            return read_batch(self.y_true, self.y_score, groups, self.weight)
        grades, low, high = graded(self.y_true, self.y_true)
        return Queries(
            self.y_true,
            self.y_score,
            self.ids,
            np.cumsum(self.sizes) - self.sizes,
            self.sizes,
            (low, high),
            grades,
            float(self.y_score.min()),
        )

    @classmethod
    def join(cls, parts: list[Rows]) -> Rows:
        """One after the other; parts of the same query that follow one another become one."""
        if len(parts) == 1:
            return parts[0]
        ids = np.concatenate([part.ids for part in parts])
        sizes = np.concatenate([part.sizes for part in parts])
        new = np.flatnonzero(np.concatenate(([True], ids[1:] != ids[:-1])))
        return cls(
            np.concatenate([part.y_true for part in parts]),
            np.concatenate([part.y_score for part in parts]),
            _join_weights(parts),
            ids[new],
            np.add.reduceat(sizes, new),
        )

    def query(self, place: int) -> Rows:
        """The documents of one query, on their own: the batch they came in can go."""
        part = self.cut(place, place + 1)
        weight = None if part.weight is None else part.weight.copy()
        return replace(part, y_true=part.y_true.copy(), y_score=part.y_score.copy(), weight=weight)

    def cut(self, first: int, last: int) -> Rows:
        """The queries from one place up to another."""
        ends = np.concatenate(([0], np.cumsum(self.sizes)))
        rows = slice(int(ends[first]), int(ends[last]))
        weight = None if self.weight is None else self.weight[rows]
        return Rows(
            self.y_true[rows],
            self.y_score[rows],
            weight,
            self.ids[first:last],
            self.sizes[first:last],
        )


@dataclass
class OpenQueries:
    """The first and the last query of every stretch of a sorted stream.

    A stretch is what came in without a gap, from its first id to its last. Any other query in it
    is whole; these two may have more rows in a stretch that is merged later.
    """

    rows: dict[Any, list[Rows]] = field(default_factory=dict)
    stretches: list[tuple[Any, Any]] = field(default_factory=list)

    def after(self, batch: Rows) -> tuple[Rows | None, OpenQueries]:
        """Return the queries that a further batch makes whole, and those then open."""
        first, last = batch.ids[0], batch.ids[-1]
        here = self._stretch_before(first)
        start, end = self.stretches[here] if self.stretches else (first, first)
        _check_ascending(end, batch.ids)
        rows = {name: list(parts) for name, parts in self.rows.items()}
        n = len(batch.ids)
        for place in {0, n - 1}:
            rows.setdefault(batch.ids[place], []).append(batch.query(place))
        whole = [name for name in dict.fromkeys((end, first)) if start < name < last]
        parts = [part for name in whole for part in rows.pop(name)]
        if n > 2:
            parts.append(batch.cut(1, n - 1))
        others = [stretch for place, stretch in enumerate(self.stretches) if place != here]
        opened = OpenQueries(rows, [(start, last), *others]).checked()
        return Rows.join(parts) if parts else None, opened

    def _stretch_before(self, first: Any) -> int:
        """Which stretch a batch goes on with: after a merge it need not be one's own."""
        try:
            before = [place for place, (_, end) in enumerate(self.stretches) if end <= first]
        except TypeError:  # ids without an order are refused further on
            before = []
        return max(before, key=lambda place: self.stretches[place][1], default=0)

    def merged(self, other: OpenQueries) -> OpenQueries:
        """Both, the parts of a query joined."""
        rows = {name: list(parts) for name, parts in self.rows.items()}
        for name, parts in other.rows.items():
            rows.setdefault(name, []).extend(parts)
        return OpenQueries(rows, self.stretches + other.stretches).checked()

    def all(self) -> Rows | None:
        """Every open query, as if no more rows came."""
        parts = [part for parts in self.rows.values() for part in parts]
        return Rows.join(parts) if parts else None

    def checked(self) -> OpenQueries:
        """Refuse stretches that overlap: their queries would be counted twice."""
        ordered = sorted(self.stretches)
        for (_, end), (start, _) in pairwise(ordered):
            if start < end:
                raise ValueError(
                    f"two sorted streams overlap: one holds queries up to {end}, the other from "
                    f"{start} on, so a query may be in both. Cut one sorted stream into parts, "
                    "or call close() on each if no query is in two of them."
                )
        return self


def _check_ascending(end: Any, ids: Array) -> None:
    """Refuse a query id that comes after a larger one, or comes back."""
    try:
        falls = np.flatnonzero(~(ids[1:] > ids[:-1]))
        back = ids[0] < end
    except TypeError as error:
        raise TypeError(f"the query ids of a sorted stream must have an order: {error}.") from error
    if back or len(falls):
        before, after = (end, ids[0]) if back else (ids[falls[0]], ids[falls[0] + 1])
        raise ValueError(
            f"the stream is not sorted by query: {after} comes after {before}. Sort the rows by "
            "query id in ascending order, or pass batches of whole queries to update()."
        )


def _check_length(column: Array, name: str, ids: Array) -> None:
    if column.shape != ids.shape:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: groups has {len(ids)} "
            f"query ids, {name} has shape {column.shape}."
        )


def _join_weights(parts: list[Rows]) -> Array | None:
    if all(part.weight is None for part in parts):
        return None
    weights = [np.ones(len(p.y_true)) if p.weight is None else p.weight for p in parts]
    return np.concatenate(weights)
