"""Ids in columns of any library as integer codes, the same in all columns for equal ids."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Number
from typing import Any

import numpy as np

from .._typing import Array
from .._validation import shown
from ..query_ids.read import (
    as_ids,
    as_objects,
    check_no_nan,
    factorize,
    in_unit,
    missing_ids_error,
    of_python,
)
from .id_text import mixes_text, refuse_lookalikes

_KINDS = {
    **dict.fromkeys("biuf", "numbers"),
    **dict.fromkeys("OU", "text"),
    "S": "bytes",
    "M": "dates",
    "m": "durations",
}


def encode(columns: Sequence[Any], name: str) -> tuple[list[Array], Array]:
    """The code of each id in each column, and the distinct ids.

    Numbers and text are different ids, and columns of both are refused.
    """
    encoded = [_encode_one(column, name) for column in columns]
    if len(encoded) == 1:
        only, values = encoded[0]
        return [only], values
    kinds = {_kind(values): values for _, values in encoded if len(values)}
    if len(kinds) > 1:
        examples = " and ".join(f"{kind}, such as {shown(v[0])}," for kind, v in kinds.items())
        never = "never equal" if kinds.keys() <= {"numbers", "text", "bytes"} else "not compared"
        raise TypeError(f"{name} are {examples} which are {never}. Convert one of the columns.")
    common, positions = _common(_in_one_unit([values for _, values in encoded], name))
    if common.dtype.kind == "O" and mixes_text(common.tolist()):
        refuse_lookalikes([values.tolist() for _, values in encoded], name)
    return [at[own] for at, (own, _) in zip(positions, encoded, strict=True)], common


def _encode_one(column: Any, name: str) -> tuple[Array, Array]:
    """Codes and distinct ids of a column."""
    try:
        native = _native(column)
        if native is not None:
            codes, values = native
            if codes.size and codes.min() < 0:
                raise missing_ids_error(name)
            return codes, values
        ids, categories = as_ids(column, name)
        check_no_nan(ids, name)
        if not len(ids):
            return np.zeros(0, dtype=np.intp), ids
        values, codes = factorize(ids, name)
    except TypeError as error:
        if "unhashable" not in str(error):
            raise
        raise TypeError(
            f"{name} must hold one id per row; got lists. Give each item a row of its own, as "
            "explode does, or pass a dict {query: items} of each frame to from_ranked_lists."
        ) from error
    return codes, values if categories is None else categories[values]


def _native(column: Any) -> tuple[Array, Array] | None:
    """What the library of a column of text itself computes, much faster than over its objects."""
    dtype = str(getattr(column, "dtype", getattr(column, "type", "")))
    is_text = dtype in ("object", "str", "string", "String", "large_string")
    if hasattr(column, "factorize") and (is_text or dtype.startswith("string")):  # pandas
        codes, values = column.factorize()
        return codes, np.asarray(values, dtype=object)
    if hasattr(column, "dictionary_encode") and is_text:  # pyarrow
        column = column.combine_chunks() if hasattr(column, "combine_chunks") else column
        encoded = column.dictionary_encode()
        codes = np.asarray(encoded.indices.fill_null(-1))
        return codes, as_objects(encoded.dictionary.to_pylist())
    if hasattr(column, "to_physical") and is_text:  # polars
        if column.null_count():
            return np.array([-1]), np.zeros(0)
        values = column.unique(maintain_order=True)
        physical = column.cast(_enum(values)).to_physical().to_numpy()
        return physical, as_objects(values.to_list())
    return None


def _enum(values: Any) -> Any:
    import polars

    return polars.Enum(values)


def _in_one_unit(columns: list[Array], name: str) -> list[Array]:
    """Dates or durations of different units as those of one; other ids unchanged."""
    types = {values.dtype for values in columns}
    if len(types) == 1 or not {dtype.kind for dtype in types} <= set("mM"):
        return columns
    for unit in ("us", "ns"):
        converted = [in_unit(values, unit) for values in columns]
        if all(are_exact.all() for _, are_exact in converted):
            return [values for values, _ in converted]
    raise ValueError(f"no unit of time holds all of {name}. Convert them to one, or to text.")


def _common(columns: list[Array]) -> tuple[Array, list[Array]]:
    """The distinct values of several columns of distinct values, and the codes of each."""
    kinds = {values.dtype.kind for values in columns}
    # together, integers and floats would become floats, which cannot hold all integers
    if kinds <= set("bi") or kinds <= set("bu") or (len(kinds) == 1 and kinds <= set("fmM")):
        values, codes = np.unique(np.concatenate(columns), return_inverse=True)
    else:
        listed = [value for values in columns for value in of_python(values, dates=False)]
        table = {value: code for code, value in enumerate(dict.fromkeys(listed))}
        values = as_objects(list(table))
        codes = np.fromiter(map(table.__getitem__, listed), dtype=np.intp, count=len(listed))
    return values, np.split(codes, np.cumsum([len(values) for values in columns])[:-1])


def _kind(values: Array) -> str:
    """Numbers or text, for a message."""
    if values.dtype.kind == "O":
        value = values[0]
        kinds = {"text": str, "numbers": Number}
        matching = (kind for kind, of_type in kinds.items() if isinstance(value, of_type))
        return next(matching, type(value).__name__)
    return _KINDS.get(values.dtype.kind, str(values.dtype))
