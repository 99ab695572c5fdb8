"""Columns of any library as NumPy arrays: numbers for labels and scores, ids for queries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
ArrayFunction = Callable[[Array], Array]


class GradeFunction:
    """A function of labels that is defined on all small whole numbers, whether they occur or not.

    It may be evaluated once for each grade instead of once for each document.
    """

    def __init__(self, function: ArrayFunction) -> None:
        self._function = function
        self._tables: dict[int, Array] = {}

    def __call__(self, labels: Array) -> Array:
        """Value of each label."""
        return self._function(labels)

    def table(self, n_grades: int) -> Array:
        """Value of padding, 0, and of each grade: one look-up a document is all that is left."""
        if n_grades not in self._tables:
            grades = np.arange(n_grades, dtype=np.float64)
            self._tables[n_grades] = np.append(0.0, self._function(grades))
        return self._tables[n_grades]


LARGEST_EXACT = 2**53

# labels up to this are kept in a byte
HIGHEST_GRADE = 62


class NotNumbersError(TypeError, ValueError):
    """A column of another kind than numbers: a type error, and for scikit-learn a wrong value."""


def as_numbers(values: Any, name: str) -> Array:
    """One or two-dimensional numbers without NaN; a numeric column is not copied."""
    array = as_column(values, name)
    span(array, values, name)
    return array


def as_column(values: Any, name: str) -> Array:
    """One or two-dimensional numbers, not looked at yet; a numeric column is not copied."""
    array = _plain(values, name)
    if array.dtype.kind not in "biuf":
        array = _to_float(array, values, name)
    if array.ndim not in (1, 2):
        raise ValueError(
            f"{name} must be one-dimensional (one value per document) or two-dimensional "
            f"(n_queries, n_documents); got an array of shape {array.shape}."
        )
    if array.size == 0:
        raise ValueError(f"{name} is empty; at least one document is needed.")
    if array.dtype.kind == "f" and array.dtype.itemsize not in (4, 8):
        array = array.astype(np.float64)
    return array


def span(array: Array, values: Any, name: str, *, greatest: bool = True) -> tuple[float, float]:
    """The least number and the greatest, nan if not asked for; refuses what is no number.

    Both what was given, `values`, and its `array` are looked at.
    """
    low = array.min()
    # integers that floats cannot tell apart need to be looked for only where there may be some
    plain = array is values and array.dtype.kind == "f"
    high = array.max() if greatest or not plain else np.nan
    if np.isnan(low):  # the minimum carries a NaN along and needs no temporary array
        raise ValueError(
            f"{name} contains NaN (first at position {int(np.isnan(array).argmax())}). Drop or "
            "fill these documents first; a document that was not retrieved has the score -inf."
        )
    if max(float(high), -float(low)) >= LARGEST_EXACT and _has_large_integers(array, values):
        raise ValueError(
            f"{name} contains integers, from {low:.0f} to {high:.0f}; beyond 2**53 floating point "
            "cannot tell them apart. Rescale them first."
        )
    return float(low), float(high)


def graded(labels: Array, values: Any) -> tuple[Array | None, float, float]:
    """Labels plus one as bytes, None if they are no small whole numbers; the least, the greatest.

    `labels` are the column of `values`, as were given.
    """
    # one look is enough for integers: without their sign those below zero are large ones
    integers = labels.dtype.kind != "f"
    if integers and labels.view(labels.dtype.str.replace("i", "u")).max() <= HIGHEST_GRADE:
        codes = labels.astype(np.uint8)
        low, high = float(codes.min()), float(codes.max())
    else:
        low, high = span(labels, values, "y_true")
        if low < 0 or high > HIGHEST_GRADE:
            return None, low, high
        codes = labels.astype(np.uint8)
        if not np.array_equal(codes, labels):
            return None, low, high
    codes += 1
    return codes, low, high


def _has_large_integers(array: Array, values: Any) -> bool:
    """Whether integers stand where floats cannot tell them apart, in lists and objects as well."""
    objects = isinstance(values, list | tuple) or str(getattr(values, "dtype", "")) == "object"
    if array.dtype.kind == "f" and not objects:
        return False
    given = array if array.dtype.kind in "iu" else np.asarray(values, dtype=object)
    return any(isinstance(v, int) and abs(v) > LARGEST_EXACT for v in given.ravel().tolist())


def _plain(values: Any, name: str) -> Array:
    """A NumPy array of whatever was given, refusing what has no rows or hides missing values."""
    if hasattr(values, "detach"):  # a torch tensor, possibly with a gradient or on a device
        values = values.detach().cpu()
    if hasattr(values, "toarray"):
        raise TypeError(
            f"{name} is a sparse matrix; pass a dense array, or use from_recommendations "
            "for a sparse matrix of relevance."
        )
    if isinstance(values, np.ma.MaskedArray):
        if np.ma.is_masked(values):
            raise ValueError(f"{name} has masked values; drop or fill these documents first.")
        values = values.data
    try:
        array = _from_column(values)
    except ValueError as error:
        raise ValueError(
            f"{name} is ragged: its rows have different lengths. Pass one flat array with "
            "groups=, or use from_relevance_lists or from_ranked_lists."
        ) from error
    if array.ndim == 0:
        raise TypeError(f"{name} must be an array of numbers, one per document; got {values!r}.")
    return array


def _from_column(values: Any) -> Array:
    """A NumPy array, without a copy where the column of another library lies in one piece."""
    # to_numpy of pyarrow refuses what cannot be shared, booleans and text; that of a table is slow
    if hasattr(values, "to_pylist") or hasattr(values, "dtypes"):
        return np.asarray(values)
    return np.asarray(values.to_numpy() if hasattr(values, "to_numpy") else values)


def _to_float(array: Array, values: Any, name: str) -> Array:
    """Object columns (nullable integers, decimals) that hold numbers; all else is refused."""
    if array.dtype.kind == "O":
        if any(isinstance(value, str | bytes) for value in array.flat):
            raise NotNumbersError(f"{name} must hold numbers; got strings.")
        try:
            return array.astype(np.float64)
        except (TypeError, ValueError, OverflowError) as error:
            raise ValueError(
                f"{name} must hold one number per document; got an object array with missing, "
                f"too large or non-numeric values ({error})."
            ) from error
    kind = {
        "U": "strings",
        "S": "bytes",
        "M": "dates",
        "m": "durations",
        "c": "complex numbers",
    }
    raise NotNumbersError(
        f"{name} must hold numbers; got {kind.get(array.dtype.kind, array.dtype)}."
    )


def as_ids(groups: Any) -> tuple[Array, Array | None]:
    """Query ids as an array; a categorical column as (codes in the order of its values, values)."""
    categories, codes = _categorical(groups)
    if codes is not None and categories is not None:
        if codes.size and codes.min() < 0:
            raise missing_ids()
        values, codes = in_sorted_order(categories, codes)
        return codes, values
    if isinstance(groups, np.ma.MaskedArray):
        if np.ma.is_masked(groups):
            raise ValueError("groups contains masked values; every document needs a query id.")
        groups = groups.data
    if hasattr(groups, "detach"):
        groups = groups.detach().cpu()
    listed = isinstance(groups, list | tuple)
    if listed and _only_as_objects(groups):
        return np.fromiter(groups, dtype=object, count=len(groups)), None
    try:
        ids = _from_column(groups)
    except ValueError as error:
        raise ValueError(
            f"groups must hold one hashable query id per document ({error})."
        ) from error
    if listed and ids.dtype.kind == "f" and _has_large_integers(ids, groups):
        # NumPy has rounded them
        return np.fromiter(groups, dtype=object, count=len(groups)), None
    # pandas' NA cannot even be compared; tuples of a MultiIndex are none
    maybe_missing = ids.dtype.kind == "O" and hasattr(groups, "isna")
    if maybe_missing and not hasattr(groups, "levels") and groups.isna().any():
        raise missing_ids()
    if ids.ndim != 1:
        raise ValueError(
            "groups must be one-dimensional, one query id per document; got "
            f"{'a single value' if ids.ndim == 0 else f'an array of shape {ids.shape}'}."
        )
    return ids, None


def missing_ids() -> ValueError:
    """The error for documents without a query."""
    return ValueError("groups contains missing values; every document needs a query id.")


def in_sorted_order(unique: Array, codes: Array) -> tuple[Array, Array]:
    """Distinct ids in sorted order, and codes that stand for the same ids as before."""
    order = np.argsort(unique, kind="stable")
    rank = np.empty(len(order), dtype=np.intp)
    rank[order] = np.arange(len(order))
    return unique[order], rank[codes]


def _only_as_objects(groups: list[Any] | tuple[Any, ...]) -> bool:
    """Whether NumPy would change the ids: tuples into rows, 1 and "1" into the same string."""
    kinds = {type(g) for g in groups}
    mixed = len(kinds) > 1 and any(issubclass(t, str | bytes | type(None)) for t in kinds)
    return mixed or any(issubclass(t, tuple | frozenset) for t in kinds)


def _categorical(column: Any) -> tuple[Array | None, Array | None]:
    """(values, codes) of a categorical column of pandas, polars or pyarrow, else (None, None)."""
    if hasattr(column, "combine_chunks"):  # a pyarrow ChunkedArray
        column = column.combine_chunks()
    if hasattr(column, "dictionary") and hasattr(column, "indices"):
        if column.null_count:
            raise missing_ids()
        return np.asarray(column.dictionary), np.asarray(column.indices)
    dtype = getattr(column, "dtype", None)
    if dtype is not None and hasattr(dtype, "categories") and not hasattr(column, "to_physical"):
        data = column.cat if hasattr(column, "cat") else column
        return np.asarray(data.categories), np.asarray(data.codes)
    if hasattr(column, "to_physical") and str(dtype).split("(")[0] in (
        "Categorical",
        "Enum",
    ):
        if column.null_count():
            raise missing_ids()
        # physical codes are shared by all columns of the process, so that few of them occur here
        used, physical = column.unique(), column.to_physical().to_numpy()
        table = np.zeros(int(physical.max(initial=0)) + 1, dtype=np.intp)
        table[used.to_physical().to_numpy()] = np.arange(len(used))
        values, codes = np.array(used.to_list(), dtype=object), table[physical]
        return values, codes
    return None, None
