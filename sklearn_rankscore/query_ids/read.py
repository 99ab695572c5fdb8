"""Query ids of any library as NumPy arrays."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from .._columns import column_names, detached, large_integers, to_numpy
from .._typing import Array
from .instants import as_type, in_one_form

# types of most ids, among which nothing is missing
NEVER_MISSING = {str, bytes, int, bool}


def as_ids(given: Any, name: str = "groups") -> tuple[Array, Array | None]:
    """Ids and None, or the codes of a categorical column and its values in sorted order.

    `name` is what errors call them: that of an argument, or a description in the plural.
    """
    categorical = _categorical(given, name)
    if categorical is not None:
        categories, codes = categorical
        if (codes.size and codes.min() < 0) or any_missing(categories.tolist()):
            raise missing_ids_error(name)
        if categories.dtype.kind == "f":
            _check_not_rounded(categories[np.unique(codes)], name)
        try:
            values, codes = in_sorted_order(categories, codes)
        except TypeError:  # they cannot be compared
            return categories[codes], None
        return codes, values
    ids = _as_array(given, name)
    if ids.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, one id per row; got {_describe(given)}.")
    if _has_missing(ids, given):
        raise missing_ids_error(name)
    _check_not_rounded(ids, name)
    return ids, None


def _check_not_rounded(ids: Array, name: str) -> None:
    """Refuse floats so large that they cannot tell neighboring integers apart."""
    if ids.dtype.kind != "f":
        return
    n_bits = np.finfo(ids.dtype).nmant + 1
    largest = np.maximum(ids.max(initial=0), -ids.min(initial=0))
    if not np.isfinite(largest):
        largest = np.max(np.abs(ids), initial=0, where=np.isfinite(ids))
    if largest >= 2.0**n_bits:
        raise ValueError(
            f"{name} must not hold numbers of the type {ids.dtype.name} up to {largest:.6g}; from "
            f"2**{n_bits} on it rounds different integers to the same number. Pass ids as integers "
            "or strings; a join with missing rows, or an array that also holds features, makes "
            "them floats."
        )


def check_no_row_numbers(given: Any, name: str) -> None:
    """Refuse the index of a table whose rows have no names."""
    if hasattr(given, "get_level_values") and hasattr(given, "step") and given.name is None:
        raise ValueError(
            f"{name} must not be the row numbers of a table (a RangeIndex), with which each row "
            "has an id of its own. Pass the ids, such as X['qid'], or make them the index by "
            "X.set_index('qid')."
        )


def as_id_column(given: Any, name: str = "groups") -> Array:
    """Ids, one value per row, none of them NaN."""
    ids, values = as_ids(given, name)
    check_no_nan(ids, name)
    return ids if values is None else values[ids]


def check_no_nan(ids: Array, name: str = "groups") -> None:
    """Refuse NaN and NaT; `factorize` refuses missing values among objects."""
    is_nan = np.isnan if ids.dtype.kind == "f" else np.isnat
    if ids.dtype.kind in "fmM" and is_nan(ids).any():
        raise missing_ids_error(name)


def check_no_missing(ids: Array, name: str = "groups") -> None:
    """Refuse NaN, NaT and None, among objects too."""
    check_no_nan(ids, name)
    if ids.dtype.kind == "O" and any_missing(ids.tolist()):
        raise missing_ids_error(name)


def _describe(given: Any) -> str:
    """What was given instead of one-dimensional ids."""
    if isinstance(given, str):
        return f"the string {given!r}. Pass the ids themselves, such as X[{given!r}]"
    if isinstance(given, Iterator):
        return f"a {type(given).__name__}, which can be read only once. Pass list(ids)"
    if hasattr(given, "columns"):
        names = column_names(given)
        columns = ", ".join(f"X[{name!r}]" for name in names)
        way = columns if len(names) == 1 else f"one tuple per row, list(zip({columns}))"
        return f"a frame of shape {np.shape(given)}. Pass {way}"
    if isinstance(given, Mapping):
        return "a dict. Pass a list or an array with one id per row"
    dtype = getattr(given, "dtype", None)
    shape = np.shape(given)
    if len(shape) == 1 and dtype is not None:
        return f"a column of {dtype}. Pass one tuple per row, list(zip(*columns))"
    if isinstance(given, list | tuple) and len(shape) == 2:
        way = "list(zip(a, b))" if shape[0] == 2 else "list(zip(*columns))"
        return f"a {type(given).__name__} of shape {shape}. For ids of several columns, pass {way}"
    return f"an array of shape {shape}" if shape else f"the single value {given!r}"


def missing_ids_error(name: str = "groups") -> ValueError:
    """The error for rows without an id."""
    return ValueError(f"{name} must not have missing values; every row needs an id.")


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, NaT or pandas.NA, or a tuple that holds one of them."""
    if isinstance(value, tuple):
        return any(map(is_missing, value))
    if value is None or type(value).__name__ == "NAType":
        return True
    differs = value != value  # of an array, an array
    return isinstance(differs, bool | np.bool_) and bool(differs)


def any_missing(values: Collection[Any]) -> bool:
    """Whether some of several objects are missing."""
    return not set(map(type, values)) <= NEVER_MISSING and any(map(is_missing, values))


def which_missing(values: Array) -> Array:
    """Which values of a one-dimensional array of any dtype are missing."""
    if values.dtype.kind in "fcmM":
        return np.asarray(values != values)
    if values.dtype.kind not in "biuUS" and any_missing(listed := values.tolist()):
        return np.array(list(map(is_missing, listed)), dtype=bool)
    return np.zeros(len(values), dtype=bool)


def in_sorted_order(unique: Array, codes: Array) -> tuple[Array, Array]:
    """Distinct ids in sorted order, and codes that refer to them."""
    order = np.argsort(unique, kind="stable")
    position = np.empty(len(order), dtype=np.intp)
    position[order] = np.arange(len(order))
    return unique[order], position[codes]


def as_objects(ids: Any) -> Array:
    """A one-dimensional array of Python objects; tuples stay tuples."""
    return np.fromiter(ids, dtype=object, count=len(ids))


def array_of_one(query_id: Any) -> Array:
    """One id as an array; that of NumPy keeps its type."""
    return np.array([query_id]) if isinstance(query_id, np.generic) else as_objects([query_id])


def concatenate_ids(parts: Sequence[Array]) -> Array:
    """Ids of several arrays as one, in which different ids stay different."""
    dtypes = {ids.dtype for ids in parts}
    kinds = {dtype.kind for dtype in dtypes}
    if not kinds.isdisjoint("mM"):
        # a finer unit may not reach as far
        if len(kinds) == 1:
            converted = [as_type(ids, np.result_type(*dtypes)) for ids in parts]
            if all(are_exact.all() for _, are_exact in converted):
                return np.concatenate([values for values, _ in converted])
        return as_objects([in_one_form(value) for ids in parts for value in ids])
    if len(kinds) == 1 or (kinds <= set("biu") and np.result_type(*dtypes).kind in "iu"):
        return np.concatenate(parts)
    # NumPy would round integers to floats, and convert numbers and bytes to text
    return as_objects([value for ids in parts for value in ids.tolist()])


def _as_array(given: Any, name: str) -> Array:
    if isinstance(given, np.ma.MaskedArray):
        if np.ma.is_masked(given):
            raise ValueError(f"{name} must not have masked values; every row needs an id.")
        given = given.data
    given = detached(given, name)
    is_list = isinstance(given, list | tuple)
    if is_list and _would_be_changed(given):
        return as_objects(given)
    try:
        ids = to_numpy(given)
    except ValueError as error:
        raise ValueError(f"{name} must hold one hashable id per row ({error}).") from error
    if is_list and ids.dtype.kind == "f" and large_integers(ids, given):
        return as_objects(given)  # the conversion has rounded them
    return ids


def _has_missing(ids: Array, given: Any) -> bool:
    """Whether pandas holds missing values as objects, of which NA cannot even be compared."""
    has_objects = ids.dtype.kind == "O" and hasattr(given, "isna")
    return bool(has_objects and not hasattr(given, "levels") and given.isna().any())


def _would_be_changed(given: list[Any] | tuple[Any, ...]) -> bool:
    """Whether NumPy would change the ids: tuples into rows, 1 and "1" into the same text."""
    kinds = set(map(type, given))
    mixed = len(kinds) > 1 and any(issubclass(kind, str | bytes | None) for kind in kinds)
    if mixed or any(issubclass(kind, tuple | frozenset) for kind in kinds):
        return True
    # NumPy removes zeros at the end of text
    zeros = {str: "\0", bytes: b"\0"}
    ends = (zero for of_text, zero in zeros.items() if any(issubclass(k, of_text) for k in kinds))
    return any(value.endswith(zero) for zero in ends for value in given)


def _categorical(column: Any, name: str) -> tuple[Array, Array] | None:
    """(values, codes) of a categorical column of pandas, polars or pyarrow; None for others."""
    if hasattr(column, "combine_chunks"):  # a pyarrow ChunkedArray
        column = column.combine_chunks()
    if hasattr(column, "dictionary") and hasattr(column, "indices"):
        if column.null_count:
            raise missing_ids_error(name)
        if column.dictionary.null_count or len(column.dictionary.unique()) < len(column.dictionary):
            return None  # its indices are not codes of distinct ids
        return np.asarray(column.dictionary), np.asarray(column.indices)
    dtype = getattr(column, "dtype", None)
    if hasattr(column, "to_physical"):
        is_categorical = str(dtype).split("(")[0] in ("Categorical", "Enum")
        return _polars_categorical(column, name) if is_categorical else None
    if dtype is not None and hasattr(dtype, "categories"):
        data = column.cat if hasattr(column, "cat") else column
        return np.asarray(data.categories), np.asarray(data.codes)
    return None


def _polars_categorical(column: Any, name: str) -> tuple[Array, Array]:
    if column.null_count():
        raise missing_ids_error(name)
    # physical codes are shared by all columns of the process, so few of them may occur here
    used, physical = column.unique(), column.to_physical().to_numpy()
    table = np.zeros(int(physical.max(initial=0)) + 1, dtype=np.intp)
    table[used.to_physical().to_numpy()] = np.arange(len(used))
    return as_objects(used.to_list()), table[physical]
