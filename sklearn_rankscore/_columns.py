"""Columns of any library as NumPy arrays of numbers."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any

import numpy as np

from ._typing import Array

LARGEST_EXACT_INTEGER = 2**53

_KINDS = {
    "U": "strings",
    "S": "bytes",
    "M": "dates",
    "m": "durations",
    "c": "complex numbers",
}
# NumPy converts its own to nanoseconds, silently
INSTANTS = (date, timedelta, np.datetime64, np.timedelta64)


# how to replace NaN, if not by dropping or filling documents
_REMEDIES = {
    "y_score": (
        "Drop or fill these documents first; a document that was not retrieved has the score -inf."
    ),
    "sample_weight": "Give every query a finite weight; the weight 0 leaves a query out.",
}


# names of columns of frames with one row per query and item, such as a log of ratings
_LONG_FRAME_COLUMNS = {
    *("user", "user_id", "userid", "query", "query_id", "qid", "session", "session_id"),
    *("item", "item_id", "itemid", "document", "doc_id", "docid", "docno", "movieid", "movie_id"),
    *("rating", "relevance", "label", "score", "rank", "timestamp"),
}

_FROM_ITEMS = " Convert lists of items by from_ranked_lists(actual, predicted)."
_FROM_GRADES = " Map text such as {!r} to grades. Classes must be numbers, 1 if relevant."
_FROM_LISTS = f"{_FROM_ITEMS} Flatten lists of numbers and their ids by df.explode([...]).dropna()."


def column_names(data: Any) -> list[Any]:
    """Column names of a DataFrame of any library; empty for anything else."""
    columns = getattr(data, "column_names", getattr(data, "columns", None))  # pyarrow has both
    return [] if columns is None or callable(columns) else list(np.asarray(columns, dtype=object))


def names_ids(columns: list[Any]) -> bool:
    """Whether these are the columns of a frame with one row per query and document."""
    return not _LONG_FRAME_COLUMNS.isdisjoint(str(column).lower() for column in columns)


def _column_of(name: str, columns: list[Any]) -> Any:
    """The column of a long frame that probably holds the values of an argument."""
    values = ["relevance", "label", "rating", "score"]
    wanted = values[::-1] if name == "y_score" else values
    by_name = {str(column).lower(): column for column in columns}
    others = [column for key, column in by_name.items() if key not in _LONG_FRAME_COLUMNS]
    return next((by_name[key] for key in wanted if key in by_name), [*columns, *others][-1])


class NotNumbersError(TypeError, ValueError):
    """Wrong kind of values: a TypeError to callers, a ValueError to scikit-learn's checks."""


def as_numbers(
    values: Any, name: str, *, allow_nan: bool = False, remedy: str | None = None
) -> Array:
    """One- or two-dimensional numbers; a numeric column is not copied.

    NaN is an error, which ends with the remedy.
    """
    array = as_column(values, name)
    check_range(array, values, name, allow_nan=allow_nan, remedy=remedy)
    return array


def as_column(values: Any, name: str) -> Array:
    """One- or two-dimensional numbers, not yet checked for NaN; a numeric column is not copied."""
    array = _as_array(values, name)
    if array.dtype.kind not in "biuf":
        array = _as_float(array, name)
    if array.ndim not in (1, 2):
        raise ValueError(
            f"{name} must be one-dimensional (one value per document) or two-dimensional "
            f"(n_queries, n_documents); got an array of shape {array.shape}."
        )
    if array.size == 0:
        raise ValueError(f"{name} is empty; at least one document is needed.")
    # in the byte order of the processor, because ranks are computed from the bits of scores
    if array.dtype.kind == "f" and array.dtype not in (np.dtype("f4"), np.dtype("f8")):
        array = array.astype(np.float64)
    return array


def descending(values: Array) -> Array:
    """Numbers that ascend as the values descend; unsigned integers and bools have no -values."""
    return np.asarray(np.subtract(0.0, values))


def check_range(
    array: Array,
    values: Any,
    name: str,
    *,
    need_maximum: bool = True,
    allow_nan: bool = False,
    remedy: str | None = None,
) -> tuple[float, float]:
    """Minimum and maximum of `array`, which was made of `values`; refuses NaN and huge integers.

    Without `need_maximum` the maximum of a float column is not computed, and is nan. With
    `allow_nan` both are nan if some value is.
    """
    low = array.min()
    # only columns that were not given as floats can hold integers that floats cannot represent
    given_as_float = array is values and array.dtype.kind == "f"
    high = array.max() if need_maximum or not given_as_float else np.nan
    if np.isnan(low):  # the minimum propagates NaN and needs no temporary array
        if allow_nan:
            return np.nan, np.nan
        position = int(np.isnan(array).argmax())
        remedy = remedy or _REMEDIES.get(name, "Drop or fill these documents first.")
        raise ValueError(f"{name} contains NaN (first at position {position}). {remedy}")
    largest = max(float(high), -float(low))
    if largest >= LARGEST_EXACT_INTEGER and (large := large_integers(array, values)):
        raise ValueError(
            f"{name} contains the integer {large[0]}; beyond 2**53 floating point cannot represent "
            "all integers. Rescale them first."
        )
    return float(low), float(high)


def large_integers(array: Array, values: Any) -> list[int]:
    """The integers beyond 2**53, in lists and object columns as well."""
    objects = isinstance(values, list | tuple) or str(getattr(values, "dtype", "")) == "object"
    if array.dtype.kind == "f" and not objects:
        return []
    given = array if array.dtype.kind in "iu" else np.asarray(values, dtype=object)
    return [
        int(v)
        for v in given.ravel().tolist()
        if isinstance(v, int | np.integer) and abs(int(v)) > LARGEST_EXACT_INTEGER
    ]


def to_numpy(values: Any) -> Array:
    """A NumPy array, without a copy if the column of another library is contiguous."""
    # to_numpy of a pyarrow column refuses booleans and text, and that of a table is slow
    if hasattr(values, "to_pylist") or hasattr(values, "dtypes"):
        return np.asarray(values)
    return np.asarray(values.to_numpy() if hasattr(values, "to_numpy") else values)


def check_in_memory(table: Any, name: str) -> None:
    """Refuse a relation of a database and a lazy frame."""
    # a data frame may have columns of these names
    if hasattr(type(table), "fetchall"):
        raise TypeError(
            f"{name} must be read from the database first, as a relation of DuckDB is by df()."
        )
    if hasattr(type(table), "collect") and hasattr(type(table), "lazy"):
        raise TypeError(f"{name} is a lazy frame; compute it first, as polars does by collect().")


def detached(values: Any, name: str) -> Any:
    """An array of another library in main memory, without gradient; anything else unchanged.

    A tensor on another device is copied once; one in main memory shares its data.
    """
    if isinstance(values, np.ndarray):
        return values
    check_in_memory(values, name)
    if not _is_foreign(values):
        return values
    try:
        if hasattr(values, "detach"):  # torch
            values = values.detach().cpu()
            return (values.float() if str(values.dtype) == "torch.bfloat16" else values).numpy()
        if hasattr(values, "__cuda_array_interface__"):  # CuPy
            return values.get()
        return np.from_dlpack(values) if _is_dlpack_only(values) else np.asarray(values)
    except (TypeError, RuntimeError, NotImplementedError, BufferError) as error:
        raise TypeError(
            f"{name} is an array that NumPy cannot read ({error}). Copy it to the CPU as a dense "
            "array first."
        ) from error


def _is_foreign(values: Any) -> bool:
    # pyarrow has DLPack too, but not for text and missing values
    return hasattr(values, "__dlpack__") and not hasattr(values, "to_pylist")


def _is_dlpack_only(values: Any) -> bool:
    """Whether NumPy has no other way to read an array, of which those of pandas have several."""
    return not any(
        hasattr(values, way) for way in ("__array__", "__buffer__", "__array_interface__")
    )


def _as_array(values: Any, name: str) -> Array:
    """A NumPy array; refuses sparse, masked and ragged input and scalars."""
    if isinstance(values, Mapping):
        fix = (
            "Look up the weight of each document's query, [weights[query] for query in groups]."
            if name == "sample_weight"
            else "Pass a dict of systems to evaluate, query_scores, ranking_report or a display, "
            "and a dict by query to from_trec or from_ranked_lists."
        )
        raise TypeError(f"{name} must be an array of numbers, one per document; got a dict. {fix}")
    values = detached(values, name)
    columns = column_names(values)
    if len(columns) > 1 and names_ids(columns):
        raise TypeError(
            f"{name} is a DataFrame with the columns {columns}; here each row would be a query. "
            f"Pass one column, such as df[{_column_of(name, columns)!r}], and groups=, or use "
            "from_frames to match the rows of two frames by query and document. If each column is "
            "a document, pass df.to_numpy()."
        )
    if hasattr(values, "toarray"):
        raise TypeError(
            f"{name} is a sparse matrix; pass a dense array, or use from_recommendations "
            "for a sparse matrix of relevance."
        )
    refuse_masked(values, name)
    try:
        array = to_numpy(values)
    except ValueError as error:
        raise _ragged(name) from error
    if array.ndim == 0:
        is_column = isinstance(values, str) and values != "balanced"
        fix = f" Pass the column itself, such as df[{values!r}]." if is_column else ""
        raise TypeError(
            f"{name} must be an array of numbers, one per document; got {values!r}.{fix}"
        )
    return array


def refuse_masked(values: Any, name: str) -> None:
    """Refuse masked values, which NumPy would read."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise ValueError(f"{name} has masked values; drop or fill these documents first.")


def shape_of(values: Any, name: str) -> tuple[int, ...]:
    """The shape of an array or of nested lists; ragged lists are refused."""
    try:
        return np.shape(values)
    except ValueError as error:
        raise _ragged(name) from error


def _ragged(name: str) -> ValueError:
    return ValueError(
        f"{name} is ragged: its rows have different lengths. Pass one flat array with groups=, "
        "or use from_relevance_lists or from_ranked_lists."
    )


def _fix_of(name: str, array: Array) -> str:
    """How to convert strings."""
    first = next((value for value in array.flat if isinstance(value, str)), "")
    try:
        float(first)
    except ValueError:
        if name not in ("y_true", "y_score"):
            return f" Map text such as {str(first)!r} to numbers first." if first else ""
        is_label = first and (name, array.ndim) == ("y_true", 1)
        return _FROM_ITEMS + (_FROM_GRADES.format(str(first)) if is_label else "")
    return f" {str(first)!r} is text: convert the values, for example by astype(float)."


def _as_float(array: Array, name: str) -> Array:
    """Numbers held as Python objects (nullable integers, decimals) as floats."""
    if array.dtype.kind != "O":
        kind = _KINDS.get(array.dtype.kind, array.dtype)
        raise NotNumbersError(f"{name} must hold numbers; got {kind}.{_fix_of(name, array)}")
    if any(isinstance(value, str | bytes) for value in array.flat):
        raise NotNumbersError(f"{name} must hold numbers; got strings.{_fix_of(name, array)}")
    if any(isinstance(value, INSTANTS) for value in array.flat):
        raise NotNumbersError(f"{name} must hold numbers; got dates or durations.")
    is_na = np.array([type(value).__name__ == "NAType" for value in array.flat], dtype=bool)
    if is_na.any():  # pandas' missing value, which has no conversion to a float
        array = np.where(is_na.reshape(array.shape), np.nan, array)
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        if any(isinstance(value, list | tuple | set | np.ndarray) for value in array.flat):
            raise NotNumbersError(f"{name} must hold numbers; got lists.{_FROM_LISTS}") from error
        raise ValueError(
            f"{name} must hold one number per document; got an object array with missing, "
            f"too large or non-numeric values ({error})."
        ) from error
