"""Segments of queries: columns of values, one per query."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from numbers import Number
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from .._typing import Array
from .._validation import examples
from ..metrics.segment import (
    constant_within,
    values_and_missing,
)
from ..query_ids import Grouping
from ..query_ids.lookup import check_same_order, index_level
from ..query_ids.read import as_key, as_keys, as_objects, of_python

# a column, several by name, or the value of each query by its id
Segments: TypeAlias = ArrayLike | Mapping[Any, Any]


def read_segments(
    segments: Any,
    ids: Array,
    grouping: Grouping | None = None,
    rows: Mapping[str, Any] | None = None,
) -> dict[str, Array]:
    """Columns of one value per query, in the order of `ids`.

    With a `grouping`, whose ids these are, columns may be aligned with rows, which must then be in
    the order of the columns in `rows`. Beside other columns, one of the query ids says which query
    each value belongs to, and is no segment itself.
    """
    if isinstance(segments, str | Number):
        raise TypeError(f"segments must be values of queries, or of documents; got {segments!r}.")
    if hasattr(segments, "columns"):
        # the columns of a PyArrow table are arrays, and its names are apart
        is_arrow = hasattr(segments, "to_pylist")
        names = segments.schema.names if is_arrow else segments.columns
        columns = {str(name): segments[name] for name in names}
    elif isinstance(segments, Mapping):
        by_id = _is_by_id(segments, ids)
        columns = {"segment": _from_mapping(segments, ids)} if by_id else dict(segments)
    else:
        columns = {str(getattr(segments, "name", None) or "segment"): segments}
    if not columns:
        raise ValueError("segments must hold at least one column; got none.")
    position = _positions_by_key(columns, ids, grouping) if len(columns) > 1 else None
    read = {
        name: _per_query(name, column, ids, grouping, rows or {})
        if position is None or isinstance(column, Mapping)
        else _values(column)[position]
        for name, column in columns.items()
    }
    others = {name: values for name, values in read.items() if as_keys(values) != as_keys(ids)}
    return others or read


def _is_by_id(segments: Mapping[Any, Any], ids: Array) -> bool:
    """Whether a mapping has the value of each query by its id, and not columns by name."""
    by_name = all(hasattr(v, "__len__") and not isinstance(v, str) for v in segments.values())
    return not by_name or not set(as_keys(ids)).isdisjoint(map(as_key, segments))


def _positions_by_key(
    columns: Mapping[str, Any], ids: Array, grouping: Grouping | None
) -> list[int] | None:
    """The position of each query in a column that holds every query id once, if there is one."""
    orders: dict[str, list[int]] = {}
    for name, column in columns.items():
        values = [] if isinstance(column, Mapping) else as_keys(_values(column))
        # values of documents are no key, even if those of some column are all distinct
        if _are_of_rows_alone(values, ids, grouping):
            continue
        if all(isinstance(value, Hashable) for value in values) and _holds(values, ids):
            position = {query: row for row, query in enumerate(values)}
            orders[name] = [position[query] for query in as_keys(ids)]
        _refuse_text_of_ids(name, values, ids)
    if len(set(map(tuple, orders.values()))) > 1:
        raise ValueError(
            f"each of the columns {', '.join(map(repr, orders))} of segments holds the query ids, "
            "in different orders. Make the right one the index, or pass a dict by query id."
        )
    return next(iter(orders.values()), None)


def _refuse_text_of_ids(name: str, values: Sequence[Any], ids: Array) -> None:
    """Refuse a column with the query ids as text if they are numbers, or the converse."""
    queries = of_python(ids)
    are_text = [{isinstance(value, str) for value in of} for of in (values, queries)]
    if are_text[0].isdisjoint(are_text[1]) and {*map(str, queries)} <= {*map(str, values)}:
        raise TypeError(
            f"the column {name!r} of segments holds the query ids in another type: {values[0]!r}, "
            f"where a query id is {queries[0]!r}. Convert one of them, for example by astype(str)."
        )


def columns_or_levels(option: str, segments: Any, *data: Any) -> Any:
    """Segments by the names of index levels of the data; anything else unchanged."""
    names = [segments] if isinstance(segments, str) else segments
    if not (isinstance(names, list | tuple) and all(isinstance(name, str) for name in names)):
        return segments
    levels = {name: _first_level(name, data) for name in names}
    absent = [name for name, level in levels.items() if level is None]
    if absent and isinstance(segments, str):
        raise ValueError(
            f"{option}={segments!r} names no index level of y_true, y_score or groups. Pass the "
            f"column itself, such as {option}=X[{segments!r}]."
        )
    return segments if absent else levels


def _first_level(name: str, data: tuple[Any, ...]) -> Any:
    levels = (index_level(one, name) for one in data)
    return next((level for level in levels if level is not None), None)


def select_segments(
    segments: Any, ids: Array, stored: Mapping[str, Array] | None
) -> dict[str, Array]:
    """Columns that are given, or of the stored ones those that are named."""
    stored = stored or {}
    names = [segments] if isinstance(segments, str) else segments
    if names is None:
        names = list(stored)
    if isinstance(segments, Number):
        known = f" of {', '.join(map(repr, stored))}" if stored else ""
        raise TypeError(
            f"segments are selected by their names{known}, or given by their values; got "
            f"{segments!r}."
        )
    listed = isinstance(names, list | tuple) and all(isinstance(name, str) for name in names)
    # a list of strings has the values of queries, or names of columns
    is_values = segments is not None and not isinstance(segments, str) and len(segments) == len(ids)
    if not listed or (is_values and not set(names) <= set(stored)):
        return read_segments(segments, ids)
    if not names or not set(names) <= set(stored):
        named = "" if segments is None else f" {segments!r}"
        known = f"; they have {', '.join(map(repr, stored))}" if stored else ""
        raise ValueError(
            f"the scores have no segments{named}{known}. Pass segments= to query_scores, or one "
            "value per query."
        )
    return {name: stored[name] for name in names}


def _from_mapping(segments: Mapping[Any, Any], ids: Array) -> list[Any]:
    by_key = {as_key(query): value for query, value in segments.items()}
    keys = as_keys(ids)
    missing = [query for query, key in zip(of_python(ids), keys, strict=True) if key not in by_key]
    if missing:
        raise ValueError(
            f"segments must have a value for each query id; {len(missing)} of {len(ids)} are "
            f"missing ({examples(missing)}); the first key is {next(iter(segments), None)!r}."
        )
    return [by_key[key] for key in keys]


def _per_query(
    name: str, column: Any, ids: Array, grouping: Grouping | None, rows: Mapping[str, Any]
) -> Array:
    if isinstance(column, Mapping):
        column = _from_mapping(column, ids)
    values = _values(column)
    index = _index_of(column)
    # a column of values of documents may have any index
    if index is not None and not _are_of_rows_alone(values, ids, grouping) and _holds(index, ids):
        position = {query: row for row, query in enumerate(index)}
        return np.asarray(values[[position[query] for query in as_keys(ids)]])
    if values.ndim == 1 and grouping is not None and len(values) == grouping.n_rows:
        label = "segments" if name == "segment" else f"segments[{name!r}]"
        check_same_order(**rows, **{label: column})
        return constant_within(name, values, grouping)
    if values.ndim == 1 and len(values) == len(ids):
        if index is not None:
            raise _wrong_index_error(name, index, ids)
        _refuse_numbers_in_another_order(name, column, ids)
        return values
    of_rows, hint = "", " Values of documents are passed to query_scores(segments=)."
    if grouping is not None:
        of_rows, hint = f" or one per document ({grouping.n_rows})", ""
    raise ValueError(
        f"segments must hold one value per query ({len(ids)}){of_rows}, several such columns by "
        f"name, or a mapping from query ids to values; {name!r} has shape {values.shape}.{hint}"
    )


def _are_of_rows_alone(values: Any, ids: Array, grouping: Grouping | None) -> bool:
    """Whether a column has as many values as there are documents, and not as there are queries."""
    return grouping is not None and len(values) == grouping.n_rows != len(ids)


def _values(column: Any) -> Array:
    """The values of a column, None if missing."""
    values, missing = values_and_missing(column)
    if missing.any() or values.dtype.kind in "mM":
        values = as_objects(of_python(values))
        values[missing] = None
    return values


def _holds(index: Sequence[Hashable], ids: Array) -> bool:
    """Whether an index has each id, once."""
    return set(as_keys(ids)) <= set(index) and len(set(index)) == len(index)


def _index_of(column: Any) -> list[Hashable] | None:
    """The index of a pandas column, unless it merely counts the values."""
    if not hasattr(column, "iloc"):
        return None
    index = column.index
    counts = (getattr(index, "start", None), getattr(index, "step", None)) == (0, 1)
    return None if counts and index.name is None else as_keys(index.to_numpy())


def _refuse_numbers_in_another_order(name: str, column: Any, ids: Array) -> None:
    """Refuse the index 0, 1, … if these are the query ids as well, in another order."""
    numbers = list(range(len(ids)))
    if hasattr(column, "iloc") and of_python(ids) != numbers and _holds(numbers, ids):
        raise ValueError(
            f"the index of {name!r} may hold the query ids or merely count the values, because the "
            "ids are the same numbers in another order. Pass a dict by query id, or to_numpy() if "
            "the values are in the order of the query ids."
        )


def _wrong_index_error(name: str, index: list[Hashable], ids: Array) -> ValueError:
    known = set(as_keys(ids))
    unknown = [label for label in index if label not in known]
    problem = f"{unknown[0]!r}, which is no query id" if unknown else "some query ids twice"
    return ValueError(
        f"the index of segments must hold the query ids, each once; that of {name!r} holds "
        f"{problem}. If the values are in the order of the query ids, pass them without an index, "
        "as to_numpy() gives them."
    )
