"""Columns of any library as NumPy arrays of numbers."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any

import numpy as np

from ._typing import Array

LARGEST_EXACT_INTEGER = 2**53

# NumPy converts its own to nanoseconds, silently
INSTANTS = (date, timedelta, np.datetime64, np.timedelta64)

# names of columns of frames with one row per query and item, such as a log of ratings
_LONG_FRAME_COLUMNS = {
    *("user", "user_id", "userid", "query", "query_id", "qid", "session", "session_id"),
    *("item", "item_id", "itemid", "document", "doc_id", "docid", "docno", "movieid", "movie_id"),
    *("rating", "relevance", "label", "score", "rank", "timestamp"),
}


class NotNumbersError(TypeError, ValueError):
    """Wrong kind of values: a TypeError to callers, a ValueError to scikit-learn's checks."""


def column_names(data: Any) -> list[Any]:
    """Column names of a DataFrame of any library; empty for anything else."""
    columns = getattr(data, "column_names", getattr(data, "columns", None))  # pyarrow has both
    return [] if columns is None or callable(columns) else list(np.asarray(columns, dtype=object))


def column_at(data: Any, position: int) -> Any:
    """A column by position, as scikit-learn reads integers; None if there is none."""
    shape: tuple[int, ...] = getattr(data, "shape", ())
    if len(shape) != 2 or not -shape[1] <= position < shape[1]:
        return None
    if hasattr(data, "iloc"):
        return data.iloc[:, position]
    if hasattr(data, "columns"):
        return data[column_names(data)[position]]
    if hasattr(data, "tocsc"):
        return data.tocsc()[:, [position]].toarray().ravel()
    return np.asarray(data)[:, position]


def names_ids(columns: list[Any]) -> bool:
    """Whether these are the columns of a frame with one row per query and document."""
    return not _LONG_FRAME_COLUMNS.isdisjoint(str(column).lower() for column in columns)


def check_in_memory(table: Any, name: str) -> None:
    """Refuse a relation of a database and a lazy frame of any library."""
    if hasattr(table, "__array__") or isinstance(table, list | tuple) or table is None:
        return
    import narwhals  # which takes as long to import as a small metric to compute

    native = narwhals.from_native(table, pass_through=True)
    if isinstance(native, narwhals.LazyFrame):
        raise TypeError(
            f"{name} is not in memory; read it first, such as a lazy frame by collect() or a "
            "relation of DuckDB by df()."
        )


def as_numbers(values: Any, name: str, *, allow_nan: bool = False) -> Array:
    """One- or two-dimensional numbers; a numeric column is not copied."""
    array = as_column(values, name)
    check_range(array, values, name, allow_nan=allow_nan)
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
        array = _in_double_precision(array, name)
    return array


def _in_double_precision(array: Array, name: str) -> Array:
    doubles = array.astype(np.float64)
    is_rounded = array.dtype.itemsize > doubles.itemsize and (doubles != array).any()
    if is_rounded and len(np.unique(doubles)) < len(np.unique(array)):
        raise ValueError(
            f"{name} has values of the type {array.dtype.name} that differ, but not in double "
            "precision, in which ranks are computed; rescale them first."
        )
    return doubles


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
        raise ValueError(
            f"{name} contains NaN (first at position {position}). Drop or fill these documents "
            "first."
        )
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


def to_numpy(values: Any, name: str) -> Array:
    """A NumPy array, without a copy if the column of another library is contiguous.

    A tensor on another device is copied once; one in main memory shares its data.
    """
    if isinstance(values, np.ndarray | list | tuple):
        return np.asarray(values)
    check_in_memory(values, name)
    # to_numpy of a pyarrow column refuses booleans and text, and that of a table is slow
    if hasattr(values, "to_pylist") or hasattr(values, "dtypes"):
        return np.asarray(values)
    if not hasattr(values, "__dlpack__"):
        return np.asarray(values.to_numpy() if hasattr(values, "to_numpy") else values)
    try:
        if hasattr(values, "detach"):  # torch
            values = values.detach().cpu()
            return np.asarray(values.float() if str(values.dtype) == "torch.bfloat16" else values)
        if hasattr(values, "__cuda_array_interface__"):  # CuPy
            return np.asarray(values.get())
        by_numpy = any(hasattr(values, way) for way in ("__array__", "__buffer__"))
        return np.asarray(values) if by_numpy else np.from_dlpack(values)
    except (TypeError, RuntimeError, NotImplementedError, BufferError) as error:
        raise TypeError(
            f"{name} is an array that NumPy cannot read ({error}). Copy it to the CPU as a dense "
            "array first."
        ) from error


def _as_array(values: Any, name: str) -> Array:
    """A NumPy array; refuses sparse, masked and ragged input, long frames and scalars."""
    if type(values) is np.ndarray and values.ndim:
        return values
    if isinstance(values, Mapping):
        raise TypeError(f"{name} must be an array of numbers, one per document; got a dict.")
    try:
        array = to_numpy(values, name)
    except ValueError as error:
        raise ragged_error(name) from error
    if not isinstance(values, list | tuple):
        _refuse_tables(values, name)
    if array.ndim == 0:
        raise TypeError(
            f"{name} must be an array of numbers, one per document; got {values!r}."
            + (" Pass the column itself." if isinstance(values, str) else "")
        )
    return array


def _refuse_tables(values: Any, name: str) -> None:
    """Refuse masked and sparse arrays, and long frames."""
    refuse_masked(values, name)
    columns = column_names(values)
    if len(columns) > 1 and names_ids(columns):
        raise TypeError(
            f"{name} is a DataFrame with the columns {columns}; pass one of them with groups=, or "
            "match two such frames by from_frames."
        )
    if hasattr(values, "toarray"):
        raise TypeError(
            f"{name} is a sparse matrix; pass a dense array, or use from_recommendations."
        )


def refuse_masked(values: Any, name: str) -> None:
    """Refuse masked values, which NumPy would read."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise ValueError(f"{name} has masked values; drop or fill these documents first.")


def ragged_error(name: str) -> ValueError:
    """The error for nested lists that are no array."""
    return ValueError(
        f"{name} is ragged: its rows have different lengths. Pass one flat array with groups=, "
        "or use from_relevance_lists or from_ranked_lists."
    )


def _as_float(array: Array, name: str) -> Array:
    """Numbers held as Python objects (nullable integers, decimals) as floats."""
    if array.dtype.kind != "O":
        raise _not_numbers(name, array.dtype.type)
    values = array.ravel().tolist()
    kinds = set(map(type, values))
    for kind in kinds:
        if issubclass(kind, (str, bytes, *INSTANTS)):
            raise _not_numbers(name, kind)
    if any(kind.__name__ == "NAType" for kind in kinds):  # pandas', which has no conversion
        values = [np.nan if type(value).__name__ == "NAType" else value for value in values]
    try:
        return np.array(values, dtype=np.float64).reshape(array.shape)
    except (TypeError, ValueError, OverflowError) as error:
        for kind in kinds:
            if issubclass(kind, list | tuple | set | np.ndarray):
                raise _not_numbers(name, kind) from error
        raise ValueError(
            f"{name} must hold one number per document; got an object array with missing, "
            f"too large or non-numeric values ({error})."
        ) from error


def _not_numbers(name: str, kind: type) -> NotNumbersError:
    """The error for values of another type."""
    what = f"values of the type {kind.__name__}"
    if issubclass(kind, str):
        what = "strings; map them to numbers, or pass lists of items to from_ranked_lists"
    elif issubclass(kind, list | tuple | set | np.ndarray):
        what = "lists; pass lists of items to from_ranked_lists"
    return NotNumbersError(f"{name} must hold numbers; got {what}.")
