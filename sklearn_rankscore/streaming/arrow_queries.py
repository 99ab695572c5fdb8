"""The queries of an Arrow table in which the rows of each query are adjacent."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import Array
from ..metrics.segment import varying_segment_error
from ..query_ids.read import check_no_missing, of_python
from .column_names import ColumnNames
from .rows import AdjacentQueries, starts_of
from .segments import plain, with_missing


def adjacent_queries(table: Any, columns: ColumnNames) -> AdjacentQueries:
    """Query ids and sizes, and the value of each query in the columns of segments."""
    ids = [_combined(table[name]) for name in columns.ids]
    changes = np.logical_or.reduce([_changes(column) for column in ids])
    starts = np.flatnonzero(changes)
    values = _values_at(ids[0], starts) if isinstance(columns.group, str) else _tuples(ids, starts)
    # codes of a dictionary differ where its values are equal
    distinct = starts_of(values)
    values, starts = values[distinct], starts[distinct]
    check_no_missing(values)
    segments = {
        name: _segments(name, _combined(table[name]), values, starts) for name in columns.by
    }
    return AdjacentQueries(values, np.diff(starts, append=table.num_rows), segments)


def _combined(column: Any) -> Any:
    """One array of a column, with one dictionary, of a type that Arrow can compare."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_dictionary(kind):
        # an index of eight bits, as pandas writes it, is too small for the categories of all chunks
        common = pa.dictionary(pa.int32(), _without_view(kind.value_type), kind.ordered)
        column = column if kind == common else column.cast(common)
    elif kind != (plain_kind := _without_view(kind)):
        column = column.cast(plain_kind)
    return column.unify_dictionaries().combine_chunks()


def _without_view(kind: Any) -> Any:
    """The type of a column, or for the views of polars, of which Arrow lacks functions, a copy."""
    import pyarrow as pa

    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_without_view(field.type)) for field in kind])
    views = {"string_view": pa.large_string(), "binary_view": pa.large_binary()}
    return views.get(str(kind), kind)


def _segments(name: str, column: Any, ids: Array, starts: Array) -> Array:
    changes = _changes(column)
    changes[starts] = False
    within = np.flatnonzero(changes)
    # equal values of a dictionary may have different codes, and NaN differs from itself
    around = np.concatenate([within - 1, within])
    before, after = np.split(with_missing(name, _values_at(column, around)), 2)
    varies = within[np.flatnonzero(before != after)]
    if len(varies):
        queries = np.unique(np.searchsorted(starts, varies, "right") - 1)
        raise varying_segment_error(name, ids[queries])
    return plain(with_missing(name, _values_at(column, starts)))


def _changes(column: Any) -> Array:
    """Whether each value differs from the one before; missing values are equal."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if isinstance(kind, pa.BaseExtensionType):
        return _changes(column.storage)
    if pa.types.is_dictionary(kind):
        return _changes(column.indices)
    if pa.types.is_null(kind):
        return np.append(True, np.zeros(len(column) - 1, dtype=bool))
    if pa.types.is_struct(kind):
        parts = [column.is_null(), *column.flatten()]
        return np.asarray(np.logical_or.reduce([_changes(part) for part in parts]))
    if (pa.types.is_integer(kind) or pa.types.is_floating(kind)) and not column.null_count:
        values = column.to_numpy(zero_copy_only=False)
        return np.append(True, values[1:] != values[:-1])
    try:
        differs = pc.fill_null(pc.not_equal(column[1:], column[:-1]), False)
    except pa.ArrowNotImplementedError:
        raise TypeError(
            f"query ids and segments cannot be of the Arrow type {kind}. Convert them, for example "
            "to text."
        ) from None
    missing = column.is_null().to_numpy(zero_copy_only=False)
    return np.append(True, differs.to_numpy(zero_copy_only=False) | (missing[1:] != missing[:-1]))


def _values_at(column: Any, rows: Array) -> Array:
    """Some values of a column: numbers, or Python objects of anything else."""
    import pyarrow as pa

    chosen = column.take(pa.array(rows))
    if pa.types.is_dictionary(chosen.type):
        chosen = chosen.dictionary_decode()
    kind = chosen.type
    if (pa.types.is_integer(kind) or pa.types.is_floating(kind)) and not chosen.null_count:
        return np.asarray(chosen.to_numpy(zero_copy_only=False))
    if pa.types.is_temporal(kind):
        try:
            return np.asarray(chosen.to_numpy(zero_copy_only=False))
        except pa.ArrowInvalid as error:  # Python's times have microseconds
            raise ValueError(
                f"query ids and segments of the Arrow type {kind} must be whole microseconds "
                f"({error}). Convert them, for example to text."
            ) from error
    if pa.types.is_struct(kind):
        return _tuples(chosen.flatten(), np.arange(len(chosen)))
    return np.fromiter(chosen.to_pylist(), dtype=object, count=len(chosen))


def _tuples(columns: list[Any], rows: Array) -> Array:
    """The values of several columns as one tuple per row."""
    parts = [of_python(_values_at(column, rows)) for column in columns]
    return np.fromiter(zip(*parts, strict=True), dtype=object, count=len(rows))
