"""Dates, times and durations as query ids and segments: equal ones of any unit and type."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from typing import Any, TypeAlias

import numpy as np

from .._columns import INSTANTS
from .._typing import Array

# units of no fixed length, and that of NaT alone
_CALENDAR = ("Y", "M", "generic")
# the types of NumPy, of dates and of durations
Instant: TypeAlias = np.datetime64 | np.timedelta64


def of_python(values: Array, *, dates: bool = True) -> list[Any]:
    """Values as objects of Python, among which equal ones of different types of NumPy are equal.

    Days are dates or, with ``dates=False``, times at midnight, which equal those of other units.
    """
    if dates and values.dtype == "M8[D]":
        return list(values.tolist())
    if values.dtype.kind in "mM" and np.datetime_data(values.dtype)[0] not in _CALENDAR:
        # those in nanoseconds would become integers, as would those beyond the year 9999
        in_microseconds, are_exact = in_unit(values, "us")
        listed, is_exact = in_microseconds.tolist(), are_exact.tolist()
        if all(is_exact) and int not in set(map(type, listed)):
            return list(listed)
        return [
            value if exact and not isinstance(value, int) else scalar
            for value, exact, scalar in zip(listed, is_exact, values, strict=True)
        ]
    if values.dtype.kind != "O":
        return list(values.tolist())
    return [
        _one_of_python(value, dates) if isinstance(value, np.generic) else value
        for value in values.tolist()
    ]


def _one_of_python(value: np.generic, dates: bool) -> Any:
    if isinstance(value, np.datetime64 | np.timedelta64):
        return of_python(np.array([value]), dates=dates)[0]
    return value.item()


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


def in_unit(values: Any, unit: str) -> tuple[Any, Any]:
    """Dates or durations in another unit, and which of them it can express."""
    return as_type(values, np.dtype(f"{values.dtype.kind}8[{unit}]"))


def as_type(values: Any, dtype: np.dtype[Any]) -> tuple[Any, Any]:
    """Dates or durations as another type of these, and which of them it can express."""
    converted = _cast(values, dtype)
    return converted, _cast(converted, values.dtype) == values


def _cast(values: Any, dtype: np.dtype[Any]) -> Any:
    """Dates or durations as another type; those out of its range become others."""
    try:
        return values.astype(dtype)  # before NumPy 2.5 those out of range wrap around
    except OverflowError:  # from NumPy 2.5 on they become NaT, and only they
        if values.size == 1:
            return np.full_like(values, "NaT", dtype=dtype)
        halves = values[: values.size // 2], values[values.size // 2 :]
        return np.concatenate([_cast(half, dtype) for half in halves])


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


def as_key(value: Any) -> Any:
    """A query id as a key of a dict, for which a day is a time at midnight."""
    value = _one_of_python(value, dates=False) if isinstance(value, np.generic) else value
    is_day = isinstance(value, date) and not isinstance(value, datetime)
    return datetime.combine(value, time()) if is_day else value


def as_keys(values: Array) -> list[Any]:
    """Query ids as keys, among which equal dates, times and durations of any type are equal."""
    listed = of_python(values, dates=False)
    if values.dtype.kind != "O":
        return listed
    return [as_key(value) if isinstance(value, date) else value for value in listed]
