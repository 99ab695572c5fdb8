"""What an option of a metric may be: words become functions, anything else one clear error."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from functools import lru_cache, partial
from typing import Any

import numpy as np

from ..ranking import Queries
from ..ranking.arrays import Array, ArrayFunction, GradeFunction
from ..ranking.ties import TIES

AVERAGES = ("macro", "micro", None)


class WrongTypeError(TypeError, ValueError):
    """An argument of another type, which scikit-learn's splitters call a wrong value."""


def choice(name: str, value: Any, allowed: tuple[Any, ...]) -> Any:
    """`value` if it is one of the allowed ones."""
    if isinstance(value, str | None) and value in allowed:
        return value
    words = ", ".join(repr(a) for a in allowed)
    raise ValueError(f"{name} must be one of {words}; got {value!r}.{did_you_mean(value, allowed)}")


def did_you_mean(value: Any, allowed: Iterable[Any]) -> str:
    """The allowed word most like a wrong one, as a question; nothing if none is."""
    words = [word for word in allowed if isinstance(word, str)]
    near = get_close_matches(value, words, 1) if isinstance(value, str) else []
    return f" Did you mean {near[0]!r}?" if near else ""


def check_count(name: str, value: Any, least: int) -> int:
    """An integer of at least `least`."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Integral):
        raise WrongTypeError(f"{name} must be an integer of at least {least}; got {value!r}.")
    if value < least:
        raise ValueError(f"{name} must be an integer of at least {least}; got {value!r}.")
    return int(value)


def cutoff(k: Any) -> int | None:
    """k: a positive integer, or None for no cut-off."""
    if k is None:
        return None
    if isinstance(k, bool | np.bool_) or not isinstance(k, numbers.Integral):
        raise TypeError(f"k must be a positive integer or None (no cut-off); got {k!r}.")
    if k < 1:
        raise ValueError(f"k must be at least 1, or None for no cut-off; got {k!r}.")
    return int(k)


def number(
    name: str,
    value: Any,
    low: float = -math.inf,
    high: float = math.inf,
    *,
    nan: bool = False,
) -> float:
    """A real number in [low, high]; nan only where it has a meaning."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be a number; got {value!r}.")
    try:
        given = float(value)
    except OverflowError:
        given = math.inf
    if math.isnan(given) and nan:
        return math.nan
    if not (low <= given <= high) or math.isinf(given):
        bounds = "finite" if math.isinf(low) else f"in [{low:g}, {high:g}]"
        raise ValueError(f"{name} must be {bounds}; got {value!r}.")
    return given


@GradeFunction
def linear(labels: Array) -> Array:
    """The label itself."""
    return np.asarray(labels, dtype=np.float64)


@GradeFunction
def exponential(labels: Array) -> Array:
    """2 to the power of the label, minus 1."""
    return np.asarray(np.exp2(np.asarray(labels, dtype=np.float64)) - 1.0)


@lru_cache(maxsize=256)
def above(threshold: float) -> ArrayFunction:
    """1 for a relevant document, one whose label is above the threshold, else 0."""

    @GradeFunction
    def relevant(labels: Array) -> Array:
        return np.asarray(labels > threshold, dtype=np.float64)

    return relevant


@lru_cache(maxsize=256)
def below_or_at(threshold: float) -> ArrayFunction:
    """1 for a document that is not relevant, else 0."""

    @GradeFunction
    def irrelevant(labels: Array) -> Array:
        return np.asarray(labels <= threshold, dtype=np.float64)

    return irrelevant


@lru_cache(maxsize=256)
def _looked_up(table: tuple[float, ...]) -> ArrayFunction:
    gains = np.array(table)

    @GradeFunction
    def lookup(labels: Array) -> Array:
        return gains.take(np.asarray(labels, dtype=np.intp), mode="clip")

    return lookup


def gain_function(gain: Any, threshold: float = 0.0) -> ArrayFunction:
    """The gain of an array of labels, from a word, a table by integer label, or a callable."""
    words: dict[str, ArrayFunction] = {
        "linear": linear,
        "exponential": exponential,
        "binary": above(threshold),
    }
    if isinstance(gain, str):
        return words[choice("gain", gain, tuple(words))]
    if callable(gain):
        return _checked(gain)
    try:
        table = np.asarray(gain, dtype=np.float64)
    except (TypeError, ValueError):
        table = np.empty(0)
    if table.ndim != 1 or not table.size:
        raise TypeError(
            "gain must be 'linear', 'exponential', 'binary', a sequence of gains by integer label, "
            f"or a callable; got {gain!r}."
        )
    if not np.isfinite(table).all() or table.min() < 0:
        raise ValueError(f"gain must hold finite values of at least 0; got {gain!r}.")
    return _looked_up(tuple(table.tolist()))


def _checked(gain: ArrayFunction) -> ArrayFunction:
    def call(labels: Array) -> Array:
        gains = np.asarray(gain(labels), dtype=np.float64)
        if gains.shape != labels.shape:
            raise ValueError(
                f"the gain callable must return one gain per label: it was given shape "
                f"{labels.shape} and returned {gains.shape}."
            )
        if gains.size and (not np.isfinite(gains).all() or gains.min() < 0):
            raise ValueError("the gain callable returned a negative, infinite or NaN gain.")
        return gains

    return call


def check_gains(queries: Queries, *, gain: Any, **_: Any) -> None:
    """Refuse labels that have no gain, or a negative or infinite one."""
    low, high = queries.label_range
    if callable(gain):
        largest = gain_function(gain)(queries.y_true.astype(np.float64)).max()
    elif isinstance(gain, str):
        largest = _largest_gain(low, high, gain)
    else:
        largest = max(gain)
        whole = queries.y_true.dtype.kind != "f" or not (queries.y_true % 1).any()
        if low < 0 or high >= len(gain) or not whole:
            raise ValueError(
                f"gain has {len(gain)} entries, for integer labels 0 to {len(gain) - 1}; y_true "
                f"has labels from {low:g} to {high:g}."
            )
    if largest > np.finfo(np.float64).max / queries.sizes.max():
        raise ValueError(
            f"y_true has labels up to {high:g} with gains up to {largest:g}, whose sum over a "
            "query may not be finite. Rescale the labels or the gains."
        )


def _largest_gain(low: float, high: float, gain: str) -> float:
    if gain == "binary":
        return 1.0
    if low < 0:
        raise ValueError(
            f"y_true has negative labels (smallest {low:g}), which have no {gain} gain. Shift "
            "them, or pass a sequence or a callable as gain."
        )
    if gain == "linear":
        return high
    if high >= 1024:
        raise ValueError(
            f"y_true has labels up to {high:g}; 2**y - 1 is not finite from 1024 on. Use "
            "gain='linear', or a sequence of gains by label."
        )
    return float(2.0**high)


def check_range(queries: Queries, low: float, high: float, why: str) -> None:
    """Refuse labels outside [low, high]."""
    smallest, largest = queries.label_range
    if smallest < low or largest > high:
        raise ValueError(
            f"y_true must lie in [{low:g}, {high:g}] {why}; got labels from {smallest:g} to "
            f"{largest:g}."
        )


def _after_first(ranks: Array) -> Array:
    return np.asarray(1.0 / np.maximum(1.0, np.log2(ranks)))


def _log2(ranks: Array) -> Array:
    values = ranks + 1.0
    np.log2(values, out=values)
    return np.reciprocal(values, out=values)


def _reciprocal(ranks: Array) -> Array:
    return np.asarray(1.0 / ranks)


def _none(ranks: Array) -> Array:
    return np.ones(len(ranks))


DISCOUNTS = {
    "log2": _log2,
    "log2_after_first": _after_first,
    "reciprocal": _reciprocal,
    None: _none,
}


def discount_function(discount: Any) -> ArrayFunction:
    """The discount of an array of ranks, from a word, None, or a callable."""
    if not callable(discount):
        return DISCOUNTS[choice("discount", discount, tuple(DISCOUNTS))]

    def call(ranks: Array) -> Array:
        values = np.asarray(discount(ranks), dtype=np.float64)
        if values.shape != ranks.shape or not np.isfinite(values).all() or (values < 0).any():
            raise ValueError(
                "the discount callable must return one finite value of at least 0 for each rank."
            )
        return values

    return call


def tie_rule(ties: Any) -> str:
    """What equal scores mean."""
    return str(choice("ties", ties, TIES))


def patience(p: Any) -> float:
    """The probability of going on to the next document."""
    if number("p", p, 0, 1) == 1:
        raise ValueError("p must be below 1: a user who never stops sees every document.")
    return float(p)


def highest_grade(max_grade: Any) -> float | None:
    """The label that always satisfies, or None where labels are probabilities."""
    return None if max_grade is None else number("max_grade", max_grade, 0, 1023)


# what becomes of an option, whatever the metric; what may not be is an error
READERS: dict[str, Callable[[Any], Any]] = {
    "k": cutoff,
    "ties": tie_rule,
    "threshold": partial(number, "threshold"),
    "discount": discount_function,
    "p": patience,
    "decay": partial(number, "decay", low=0, high=1),
    "max_grade": highest_grade,
}


def check_average(average: Any, *, ratio: bool) -> None:
    """Refuse unknown averages, and micro for a metric that is no ratio of sums."""
    if choice("average", average, AVERAGES) == "micro" and not ratio:
        raise ValueError(
            "average='micro' is a ratio of sums over queries, and this metric is no ratio; use "
            "'macro' or None."
        )
