"""Query ids of several batches, among which equal dates of any unit and type are equal."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import Any, TypeAlias

import numpy as np

from .._columns import INSTANTS
from .._typing import Array
from ..query_ids.read import as_objects, as_type, in_unit

# the types of NumPy, of dates and of durations
Instant: TypeAlias = np.datetime64 | np.timedelta64


def as_numpy(value: Any) -> Instant:
    """A date, time or duration of NumPy; one of a time zone is converted to UTC."""
    for method in ("to_datetime64", "to_timedelta64"):  # of pandas, to the nanosecond
        if hasattr(value, method):
            converted: Instant = getattr(value, method)()
            return converted
    if isinstance(value, datetime):
        offset = value.utcoffset() or timedelta()
        return np.datetime64(value.replace(tzinfo=None), "us") - np.timedelta64(offset, "us")
    if isinstance(value, date):
        return np.datetime64(value, "D")
    return np.timedelta64(value, "us") if isinstance(value, timedelta) else value


def in_one_form(value: Any) -> Any:
    """A query id; dates, times and durations as NumPy scalars, in microseconds if exact.

    Before NumPy 2.2, equal ones of two units have different hash values. Numbers of NumPy become
    those of Python, with which a Decimal can be compared.
    """
    if not isinstance(value, INSTANTS) or getattr(value, "tzinfo", None) is not None:
        return value.item() if isinstance(value, np.number) else value
    instant = as_numpy(value)
    in_microseconds, is_exact = in_unit(instant, "us")
    return in_microseconds if is_exact else instant


def are_equal(first: Any, second: Any) -> bool:
    """Whether two query ids are equal."""
    try:
        return bool(first == second)
    except OverflowError:  # from NumPy 2.5 on, if one is beyond the range of the other's unit
        return False


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
