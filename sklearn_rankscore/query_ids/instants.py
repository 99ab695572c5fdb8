"""Dates, times and durations among ids and segments: equal ones of any unit and type."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime, time
from typing import Any

import numpy as np

from .._typing import Array

# units of no fixed length, and that of NaT alone
_CALENDAR = ("Y", "M", "generic")


def of_python(values: Array, *, dates: bool = True) -> list[Any]:
    """Values as objects of Python, among which equal ones of different types of NumPy are equal.

    Days are dates or, with ``dates=False``, times at midnight, which equal those of other units.
    """
    if values.dtype.kind == "O":
        return [
            of_python(np.array([value]), dates=dates)[0] if isinstance(value, np.generic) else value
            for value in values.tolist()
        ]
    is_instant = values.dtype.kind in "mM" and np.datetime_data(values.dtype)[0] not in _CALENDAR
    if not is_instant or (dates and values.dtype == "M8[D]"):
        return list(values.tolist())
    # those in nanoseconds would become integers, as would those beyond the year 9999
    in_microseconds, are_exact = in_unit(values, "us")
    listed: list[Any] = in_microseconds.tolist()
    if are_exact.all() and int not in set(map(type, listed)):
        return listed
    return [
        value if is_exact and not isinstance(value, int) else scalar
        for value, is_exact, scalar in zip(listed, are_exact.tolist(), values, strict=True)
    ]


def as_keys(values: Iterable[Any]) -> list[Any]:
    """Ids as keys of a dict, among which equal dates, times and durations of any type are equal."""
    if isinstance(values, np.ndarray):
        listed = of_python(values, dates=False)
        if values.dtype.kind != "O":
            return listed
        values = listed
    return [as_key(value) for value in values]


def as_key(value: Any) -> Any:
    """One id as a key of a dict, for which a day is a time at midnight."""
    if isinstance(value, np.generic):
        (value,) = of_python(np.array([value]), dates=False)
    is_day = isinstance(value, date) and not isinstance(value, datetime)
    return datetime.combine(value, time()) if is_day else value


def in_unit(values: Any, unit: str) -> tuple[Any, Any]:
    """Dates or durations in another unit, and which of them it can express."""
    return as_type(values, np.dtype(f"{values.dtype.kind}8[{unit}]"))


def as_type(values: Any, dtype: np.dtype[Any]) -> tuple[Any, Any]:
    """Dates or durations as another type of these, and which of them it can express."""
    try:
        converted = values.astype(dtype)  # before NumPy 2.5 those out of range wrap around
        return converted, converted.astype(values.dtype) == values
    except OverflowError:
        if values.size == 1:
            return np.full_like(values, "NaT", dtype=dtype), np.zeros(values.shape, dtype=bool)
        converted, exact = zip(
            *(as_type(values[i : i + 1], dtype) for i in range(len(values))), strict=True
        )
        return np.concatenate(converted), np.concatenate(exact)
