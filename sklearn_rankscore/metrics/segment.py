"""Segment: some of the queries, by a value that they have in common."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np

from .._columns import refuse_masked, to_numpy
from .._typing import Array
from .._validation import counted, shown
from ..query_ids import Grouping
from ..query_ids.read import which_missing

# numbers with more distinct values than this are no categories
MOST_CATEGORIES = 10
MISSING = "missing"


class Segment(NamedTuple):
    """Some of the queries.

    Parameters
    ----------
    column : str
        Name of the column of segments, empty for all queries.
    value : hashable
        Its value for these queries; a text for the bin of a number.
    """

    column: str
    value: Hashable


ALL_QUERIES = Segment("", "all queries")


def values_and_missing(column: Any) -> tuple[Array, Array]:
    """A column of segments as an array, and where values are missing; integers stay integers."""
    refuse_masked(column, "segments")
    values = to_numpy(column, "segments")
    if values.ndim != 1:
        return values, np.zeros(values.shape, dtype=bool)
    missing = which_missing(values)
    if values.dtype.kind == "f" and missing.any() and _holds_integers(column):
        listed = column.to_pylist() if hasattr(column, "to_pylist") else list(column)
        values = np.fromiter(listed, dtype=object, count=len(values))
    return values, missing


def refuse_missing_as_text(name: str, values: Array, missing: Array) -> None:
    """Refuse a column in which missing values would share a segment with the text "missing"."""
    if missing.any() and MISSING in values[~missing].tolist():
        raise ValueError(
            f"segments must not hold missing values beside the text {MISSING!r}, because their "
            f"segment has this name; {name!r} has both. Replace one of them by another text."
        )


def constant_within(name: str, values: Array, grouping: Grouping) -> Array:
    """The value of each query, from one value per row."""
    by_entry = grouping.by_entry(values)
    changes = np.append(True, by_entry[1:] != by_entry[:-1])
    changes[grouping.starts] = False
    if changes.any():
        rows = grouping.rows_at(np.flatnonzero(changes))
        raise varying_segment_error(name, grouping.ids[np.unique(grouping.codes[rows])])
    return np.asarray(values[grouping.first_rows])


def varying_segment_error(name: str, queries: Array) -> ValueError:
    """The error for queries in several segments of a column."""
    example = shown(queries[0])
    n_queries = counted(len(queries), "query")
    where = f"query {example}" if len(queries) == 1 else f"{n_queries} (such as {example})"
    return ValueError(
        f"segments must be constant within each query; {name!r} varies within {where}."
    )


def _holds_integers(column: Any) -> bool:
    """Whether the library of the column has integers with missing values, unlike NumPy."""
    kind = getattr(column, "type", getattr(column, "dtype", ""))
    return "int" in str(kind).lower()
