"""Checks of arguments; each failed check is one error that says what is allowed."""

from __future__ import annotations

import math
import numbers
import sys
import warnings
from collections.abc import Collection, Iterable, Mapping
from difflib import get_close_matches
from importlib import import_module
from itertools import islice
from typing import Any

import numpy as np


class WrongTypeError(TypeError, ValueError):
    """An argument of the wrong type, which scikit-learn's splitters report as a ValueError."""


def stacklevel_of_caller() -> int:
    """The `stacklevel` of a warning that shows the line outside of this package and its tools."""
    internal = ("sklearn", "joblib", "optuna", "optuna_integration", __name__.partition(".")[0])
    frame, level = sys._getframe(1), 1
    while frame.f_back and str(frame.f_globals.get("__name__")).partition(".")[0] in internal:
        frame, level = frame.f_back, level + 1
    return level


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """A warning that shows the line outside of this package and its tools."""
    warnings.warn(message, category, stacklevel=stacklevel_of_caller())


def installed(library: str, caller: str) -> Any:
    """An optional library, or an error with the command that installs it."""
    try:
        return import_module(library)
    except ImportError as error:
        raise ImportError(
            f"{caller} needs {library}, which is not installed: pip install {library}"
        ) from error


def check_choice(name: str, value: Any, allowed: tuple[Any, ...]) -> Any:
    """`value`, if it is one of the allowed strings or None."""
    if isinstance(value, str | None) and value in allowed:
        return value
    words = ", ".join(repr(a) for a in allowed)
    hint = did_you_mean(value, allowed)
    raise ValueError(f"{name} must be one of {words}; got {value!r:.200}.{hint}")


def did_you_mean(value: Any, allowed: Iterable[Any]) -> str:
    """A question with the allowed string closest to a misspelled one, or an empty string."""
    words = [word for word in allowed if isinstance(word, str)]
    is_short = isinstance(value, str) and len(value) < 100  # others take long to compare
    near = get_close_matches(value, words, 1) if is_short else []
    return f" Did you mean {near[0]!r}?" if near else ""


def shown(value: Any) -> str:
    """`repr` without the types of NumPy; Python refuses it for integers of over 4,300 digits."""
    if isinstance(value, np.generic) and value.dtype.kind in "biufUS":
        value = value.item()
    try:
        return repr(value)
    except ValueError:
        return "an integer of thousands of digits"


def counted(n: int, noun: str) -> str:
    """``"1 query"`` or ``"1,000 queries"``."""
    if n == 1:
        return f"1 {noun}"
    return f"{n:,} {noun[:-1]}ies" if noun.endswith("y") else f"{n:,} {noun}s"


def examples(values: Collection[Any], most: int = 5) -> str:
    """``"1, 2, …"``: the first values, up to `most`."""
    return ", ".join(map(repr, islice(values, most))) + (", …" if len(values) > most else "")


def is_integer(value: Any) -> bool:
    """Whether a value is an integer of Python or NumPy, which True and False are not."""
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def check_count(name: str, value: Any, least: int) -> int:
    """An integer of at least `least`."""
    if not is_integer(value):
        raise WrongTypeError(f"{name} must be an integer of at least {least}; got {shown(value)}.")
    if value < least:
        raise ValueError(f"{name} must be an integer of at least {least}; got {shown(value)}.")
    return int(value)


def check_flag(name: str, value: Any) -> bool:
    """True or False."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False; got {value!r}.")
    return bool(value)


def check_system_names(name: str, systems: Mapping[Any, Any], hint: str = "") -> None:
    """Refuse a dict without systems, and names of systems other than text."""
    if not systems or not all(isinstance(system, str) and system for system in systems):
        raise TypeError(
            f"{name} must be a dict of at least one system with names as keys, which are strings "
            f"that are not empty; got {list(systems)!r:.80}.{hint}"
        )


def check_cutoff(k: Any) -> int | None:
    """A positive integer, or None for no cut-off."""
    if k is None:
        return None
    if not is_integer(k):
        raise TypeError(
            f"k must be a positive integer or None (no cut-off); got {shown(k)}.{_several(k)}"
        )
    if k < 1:
        raise ValueError(f"k must be at least 1, or None for no cut-off; got {shown(k)}.")
    if int(k) > sys.maxsize:
        raise ValueError(f"k must be at most {sys.maxsize}, or None for no cut-off.")
    return int(k)


def _several(k: Any) -> str:
    """How to compute a metric at each of several cut-offs."""
    if isinstance(k, str | bytes) or not isinstance(k, Collection | np.ndarray):
        return ""
    return ' Several cut-offs are one metric each: evaluate(..., [f"ndcg@{k}" for k in (5, 10)]).'


def check_number(
    name: str,
    value: Any,
    low: float = -math.inf,
    high: float = math.inf,
    *,
    allow_nan: bool = False,
) -> float:
    """A finite real number in [low, high]; nan only where the caller allows it."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be a number; got {shown(value)}.")
    try:
        given = float(value)
    except OverflowError:
        given = math.inf
    if math.isnan(given) and allow_nan:
        return math.nan
    if not (low <= given <= high) or math.isinf(given):
        bounds = f"in [{low:g}, {high:g}]"
        if math.isinf(high):
            bounds = "finite" if math.isinf(low) else f"finite and at least {low:g}"
        raise ValueError(f"{name} must be {bounds}; got {shown(value)}.")
    return given


def check_propensity_range(name: str, values: Any) -> None:
    """Refuse numbers outside of (0, 1]."""
    low, high = values.min(), values.max()
    if low <= 0 or high > 1:
        raise ValueError(
            f"{name} must lie in (0, 1], the probability that the document was examined; got "
            f"values from {low:g} to {high:g}. Leave out documents that nobody could examine."
        )


def check_fraction(name: str, value: Any) -> float:
    """A number strictly between 0 and 1."""
    fraction = check_number(name, value)
    if not 0 < fraction < 1:
        raise ValueError(f"{name} must be between 0 and 1, both excluded; got {value!r}.")
    return fraction
