"""Consecutive rows of a stream in which the rows of each query are adjacent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._columns import as_numbers
from .._typing import Array
from ..metrics.segment import varying_segment_error
from ..query_ids import Grouping, as_ids
from ..query_ids.read import as_keys, as_objects, check_no_missing
from ..ranking import Queries, read_queries
from ..ranking.queries import SINGLE_QUERY
from .instants import concatenate_ids, in_one_form
from .segments import values_of_queries


@dataclass(frozen=True)
class AdjacentQueries:
    """The queries of consecutive rows, none of which equals its neighbor.

    Parameters
    ----------
    ids, sizes : array of shape (n_queries,)
        The id of each query, and its number of rows.
    segments : dict of str to object array of shape (n_queries,)
        The value of each query in each column of segments.
    """

    ids: Array
    sizes: Array
    segments: dict[str, Array] = field(default_factory=dict)

    @classmethod
    def read(cls, groups: Any, segments: Mapping[str, Any]) -> AdjacentQueries:
        """Queries by one id per row, and segments by one value per row."""
        ids, values = as_ids(groups)
        starts = starts_of(ids)
        distinct = ids[starts] if values is None else values[ids[starts]]
        check_no_missing(distinct)  # each starts a query, because it equals no neighbor
        grouping = Grouping(distinct, starts, np.diff(starts, append=len(ids)))
        of_queries = {
            name: values_of_queries(name, column, grouping) for name, column in segments.items()
        }
        return cls(distinct, grouping.sizes, of_queries)

    @property
    def n_rows(self) -> int:
        """Number of rows of all queries."""
        return int(self.sizes.sum())


@dataclass(frozen=True)
class Rows:
    """Consecutive rows of a stream.

    Parameters
    ----------
    columns : dict of str to array of shape (n_rows,)
        ``y_true``, ``y_score`` and, if given, ``sample_weight``.
    ids, sizes : array of shape (n_queries,)
        The id of each query, and its number of rows.
    segments : dict of str to object array of shape (n_queries,)
        The value of each query in each column of segments.
    """

    columns: dict[str, Any]
    ids: Array
    sizes: Array
    segments: dict[str, Array] = field(default_factory=dict)

    @classmethod
    def read(cls, y_true: Any, y_score: Any, sample_weight: Any, queries: AdjacentQueries) -> Rows:
        """Validate the columns of a batch."""
        # values alone; the rows of each query follow from the order of the ids
        values = read_queries(y_true, y_score, groups=SINGLE_QUERY)
        columns = {"y_true": values.y_true, "y_score": values.y_score}
        if sample_weight is not None:
            columns["sample_weight"] = as_numbers(sample_weight, "sample_weight")
        for name, column in columns.items():
            if column.shape != (queries.n_rows,):
                raise ValueError(
                    "Found input variables with inconsistent numbers of samples: groups has "
                    f"{queries.n_rows} query ids, {name} has shape {column.shape}."
                )
        return cls(columns, queries.ids, queries.sizes, queries.segments)

    @classmethod
    def concatenate(cls, parts: list[Rows]) -> Rows:
        """The rows of all parts, in which adjacent parts of a query become one."""
        if len(parts) == 1:
            return parts[0]
        if any("sample_weight" in part.columns for part in parts):
            parts = [part.with_weights() for part in parts]
        names = parts[0].columns
        columns = {name: np.concatenate([part.columns[name] for part in parts]) for name in names}
        ids = concatenate_ids([part.ids for part in parts])
        # a day of one batch and a time at midnight of the next are one query
        starts = starts_of(as_objects(as_keys(ids)) if ids.dtype.hasobject else ids)
        sizes = np.add.reduceat(np.concatenate([part.sizes for part in parts]), starts)
        segments = {
            name: np.concatenate([part.segments[name] for part in parts])[starts]
            for name in parts[0].segments
        }
        return cls(columns, ids[starts], sizes, segments)

    def with_weights(self) -> Rows:
        """The same rows, with weight 1 if none is given."""
        ones = np.ones(len(self.columns["y_true"]))
        return Rows({"sample_weight": ones, **self.columns}, self.ids, self.sizes, self.segments)

    def __getitem__(self, queries: slice) -> Rows:
        ends, sizes = np.cumsum(self.sizes)[queries], self.sizes[queries]
        rows = slice(ends[0] - sizes[0], ends[-1])
        columns = {name: column[rows] for name, column in self.columns.items()}
        segments = {name: column[queries] for name, column in self.segments.items()}
        return Rows(columns, self.ids[queries], sizes, segments)

    def copy(self) -> Rows:
        """A copy that does not keep the memory of its batch alive."""
        columns = {name: column.copy() for name, column in self.columns.items()}
        segments = {name: column.copy() for name, column in self.segments.items()}
        return Rows(columns, self.ids.copy(), self.sizes.copy(), segments)

    def edges(self) -> Rows:
        """The rows of the first and the last query, which may have more of them elsewhere."""
        return Rows.concatenate([self[:1], self[-1:]]) if len(self.ids) > 1 else self

    def at_edges(self) -> dict[Any, list[Rows]]:
        """The rows of the first and the last query by id, as a copy."""
        positions = sorted({0, len(self.ids) - 1})
        return {in_one_form(self.ids[i]): [self[i : i + 1].copy()] for i in positions}

    def check_continues(self, before: Rows) -> None:
        """Refuse further rows of one query with another weight or segment than those before."""
        mine, theirs = before._weight_at(-1), self._weight_at(0)
        query = self.ids[0]
        if mine != theirs:
            raise ValueError(
                f"sample_weight varies within query {query}, whose rows so far have {mine:g} and "
                f"whose further rows have {theirs:g}. All documents of a query must have the same "
                "weight."
            )
        for name, values in self.segments.items():
            if values[0] != before.segments[name][-1]:
                raise varying_segment_error(name, self.ids[:1])

    def _weight_at(self, row: int) -> float:
        return float(self.columns["sample_weight"][row]) if "sample_weight" in self.columns else 1.0

    def queries(self) -> Queries:
        """The same rows as queries to be ranked."""
        grouping = Grouping(self.ids, np.cumsum(self.sizes) - self.sizes, self.sizes)
        return read_queries(**self.columns, groups=grouping, allow_zero_weights=True)


def starts_of(ids: Array) -> Array:
    """The positions at which an id differs from the one before."""
    return np.flatnonzero(np.concatenate((np.ones(len(ids[:1]), bool), ids[1:] != ids[:-1])))
