"""The entry of each query in a sequence, a dict, an array or a DataFrame."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Set
from numbers import Real
from typing import Any

from .._columns import check_in_memory, column_names, names_ids
from ..query_ids.read import is_missing


def read_entries(queries: Any, name: str, *, with_missing: bool = False) -> list[Any]:
    """One entry per query, from a sequence, dict, array, Series, or the rows of a DataFrame.

    Missing cells of a DataFrame are left out, or None with `with_missing`.
    """
    if isinstance(queries, Set | str | bytes) or not isinstance(queries, Iterable):
        raise TypeError(
            f"{name} must be a sequence or dict with one entry per query; got a "
            f"{type(queries).__name__}."
        )
    if hasattr(queries, "toarray"):
        raise TypeError(
            f"{name} is a sparse matrix, which has no lists of items. Use from_recommendations("
            "matrix, recommended) with the column numbers of the recommended items."
        )
    entries = (
        list(queries.values()) if isinstance(queries, Mapping) else _rows(queries, with_missing)
    )
    if not entries:
        raise ValueError(f"{name} is empty; at least one query is needed.")
    return without_tensors(entries)


def without_tensors(entries: list[Any]) -> list[Any]:
    """Entries in which tensors and arrays of pyarrow, whose items equal no others, are lists."""
    ways = {kind: way for kind in set(map(type, entries)) if (way := _way_to_list(kind))}
    if not ways:
        return entries
    return [
        getattr(entry, ways[type(entry)])() if type(entry) in ways else entry for entry in entries
    ]


def _way_to_list(kind: type) -> str | None:
    """The name of the method that converts an array of torch or pyarrow to Python objects."""
    if hasattr(kind, "detach"):
        return "tolist"
    return next((way for way in ("to_pylist", "as_py") if hasattr(kind, way)), None)


def is_items_and_scores(predicted: Any) -> bool:
    """Whether it is a tuple of item numbers and their scores, as returned by implicit."""
    if not isinstance(predicted, tuple) or len(predicted) != 2:
        return False
    shapes = [getattr(part, "shape", ()) for part in predicted]
    # types of other libraries than NumPy have no kind
    kinds = [getattr(getattr(part, "dtype", None), "kind", "O") for part in predicted]
    return shapes[0] == shapes[1] and len(shapes[0]) == 2 and kinds[0] in "iu" and kinds[1] == "f"


def refuse_long_frame(queries: Any, name: str) -> None:
    """Refuse a DataFrame with one row per query and item, such as a log of ratings."""
    check_in_memory(queries, name)
    columns = column_names(queries)
    if not columns:
        return
    is_named = names_ids(columns)
    kinds = {_kind(queries[column]) for column in columns} - {None}
    # items are all text or all numbers, and relevant items are not given by rank
    if not is_named and len(kinds) <= 1 and (name != "actual" or len(columns) == 1):
        return
    raise TypeError(
        f"{name} is a DataFrame with the columns {columns}; here each row would be a query and "
        "each cell an item. For frames with one row per query and item, use from_frames(truth, "
        "predictions, query=..., document=..., score=... or rank=...)."
    )


def _kind(column: Any) -> str | None:
    """Whether the first value of a column that is not missing is text or a number."""
    value = next((value for value in column if not is_missing(value)), None)
    return "text" if isinstance(value, str) else "number" if isinstance(value, Real) else None


def _rows(queries: Any, with_missing: bool) -> list[Any]:
    if hasattr(queries, "iloc"):  # pandas marks missing values by None, NaN or NA
        queries = queries.astype(object).where(queries.notna(), None)
        if queries.ndim == 1:
            return list(queries.array)
        return _cells(queries.itertuples(index=False, name=None), with_missing)
    if hasattr(queries, "rows"):  # a polars DataFrame
        return _cells(queries.rows(), with_missing)
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(queries, method):
            return list(getattr(queries, method)())
    return list(queries)


def _cells(rows: Iterable[Any], with_missing: bool) -> list[Any]:
    return [[item for item in row if with_missing or item is not None] for row in rows]


def as_collections(entries: list[Any]) -> list[Any]:
    """Entries in which each single item is a collection of one."""
    single = {kind for kind in set(map(type, entries)) if not _is_collection(kind)}
    return [(entry,) if type(entry) in single else entry for entry in entries]


def check_ordered(entries: list[Any], name: str, content: str) -> None:
    """Refuse strings, sets, dicts and single values where lists are needed."""
    for kind in set(map(type, entries)):
        if _is_collection(kind) and not issubclass(kind, Set | Mapping):
            continue
        at = next(i for i, entry in enumerate(entries) if type(entry) is kind)
        problem = f"query number {at} is the {kind.__name__} {entries[at]!r}."
        if entries[at] is None:
            problem = f"that of query number {at} is missing. An empty list means that it has none."
        elif issubclass(kind, Mapping) and name.startswith("predicted"):
            problem += (
                " Scores by item need query ids, as in dict(enumerate(actual)) and "
                "dict(enumerate(predicted))."
            )
        raise TypeError(f"{name} must hold a list of {content} for each query; {problem}")


def _is_collection(entry: type) -> bool:
    return issubclass(entry, Collection) and not issubclass(entry, str | bytes)
