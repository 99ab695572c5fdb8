"""The options of metrics in one table: defaults, checks, and what a formula receives."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from .._typing import Array, ArrayFunction
from .._validation import check_choice, check_cutoff, check_flag, check_number
from ..ranking.label_functions import exponential, gain_table, linear, relevant
from ..ranking.queries import RULES
from ..ranking.ties import TIES


def as_given(value: Any) -> Any:
    """What is read elsewhere: data, or an option that each metric checks itself."""
    return value


def _one_of(name: str, *allowed: str | None) -> Callable[[Any], Any]:
    return partial(check_choice, name, allowed=allowed)


def _persistence(p: Any) -> float:
    if check_number("p", p, 0, 1) == 1:
        raise ValueError("p must be below 1: a user who never stops sees every document.")
    return float(p)


def _max_grade(max_grade: Any) -> float | None:
    return None if max_grade is None else check_number("max_grade", max_grade, 0, 1023)


def check_clip(clip: Any) -> float | None:
    """The least propensity that counts."""
    if clip is not None and check_number("clip", clip, 0, 1) == 0:
        raise ValueError("clip must be above 0, or None for no clipping; got 0.")
    return None if clip is None else float(clip)


def discount_function(discount: Any) -> ArrayFunction:
    """The discount of an array of ranks, from a name, None, or a callable."""
    if callable(discount):
        return _checked("discount", discount, "rank")
    return DISCOUNTS[check_choice("discount", discount, tuple(DISCOUNTS))]


def gain_by_label(gain: Any) -> Any:
    """A gain as a name, a callable or a sequence by label, from these, a dict or a Series."""
    if not hasattr(gain, "items"):
        return gain
    by_label = dict(gain.items())
    if not by_label or set(by_label) != set(range(len(gain))):
        raise ValueError(
            "gain must have one gain for each label from 0 to the highest; got those of the labels "
            f"{', '.join(map(repr, by_label))}."
        )
    return [by_label[label] for label in range(len(by_label))]


def gain_function(gain: Any, threshold: float = 0.0) -> ArrayFunction:
    """The gain of an array of labels, from a name, a sequence by integer label, or a callable."""
    if isinstance(gain, str):
        named = {"linear": linear, "exponential": exponential, "binary": relevant(threshold)}
        return named[check_choice("gain", gain, tuple(named))]
    if callable(gain):
        return _checked("gain", gain, "label")
    table = np.asarray(gain)
    if table.ndim != 1 or not table.size or table.dtype.kind not in "biuf":
        raise TypeError(
            "gain must be 'linear', 'exponential', 'binary', numbers by integer label (a sequence, "
            f"a dict or a Series), or a callable; got {gain!r}."
        )
    if not np.isfinite(table).all() or table.min() < 0:
        raise ValueError(f"gain must hold finite values of at least 0; got {gain!r}.")
    return gain_table(tuple(table.astype(np.float64).tolist()))


def _checked(name: str, function: Callable[..., Any], of: str) -> ArrayFunction:
    """A function of the user's, of which each result is checked."""

    def checked(values: Array) -> Array:
        try:
            result = np.asarray(function(values), dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"the {name} callable must take an array and return one of the same length, but it "
                f"raised {type(error).__name__}: {error}. A function of one number becomes one of "
                "an array by numpy.vectorize(function, otypes=[float])."
            ) from error
        if result.shape != values.shape:
            raise ValueError(
                f"the {name} callable must return one value per {of}: it was given shape "
                f"{values.shape} and returned {result.shape}."
            )
        if result.size and (not np.isfinite(result).all() or result.min() < 0):
            raise ValueError(f"the {name} callable returned a negative, infinite or NaN value.")
        return result

    return checked


def _log2(ranks: Array) -> Array:
    # in place, for the sake of queries of millions of documents
    values = ranks + 1.0
    np.log2(values, out=values)
    return np.reciprocal(values, out=values)


DISCOUNTS: dict[str | None, ArrayFunction] = {
    "log2": _log2,
    "log2_after_first": lambda ranks: 1.0 / np.maximum(1.0, np.log2(ranks)),
    "reciprocal": lambda ranks: 1.0 / ranks,
    None: lambda ranks: np.ones(len(ranks)),
}

# the parameters of metric functions in their order: the default of all metrics but a few, and what
# checks a value and returns what a formula receives
OPTIONS: dict[str, tuple[Any, Callable[[Any], Any]]] = {
    "groups": (None, as_given),
    "k": (None, check_cutoff),
    "gain": ("linear", as_given),
    "normalize": (False, partial(check_flag, "normalize")),
    "threshold": (0, partial(check_number, "threshold")),
    "discount": ("log2", discount_function),
    "denominator": (None, as_given),
    "max_grade": (4, _max_grade),
    "p": (0.8, _persistence),
    "decay": (0.85, partial(check_number, "decay", low=0, high=1)),
    "ties": ("average", _one_of("ties", *TIES)),
    "unjudged": ("error", _one_of("unjudged", *RULES)),
    "adjusted": (False, partial(check_flag, "adjusted")),
    "replace_undefined_by": (0.0, partial(check_number, "replace_undefined_by", allow_nan=True)),
    "average": ("macro", _one_of("average", "macro", "micro", None)),
    "sample_weight": (None, as_given),
    "propensity": (None, as_given),
    "clip": (None, check_clip),
    "labels": (None, as_given),
    "n_jobs": (None, as_given),
}
# those that are no options of a metric
DATA = ("groups", "sample_weight", "labels", "n_jobs")


def read_options(options: dict[str, Any]) -> dict[str, Any]:
    """Options as a formula receives them, each checked alone; a user's own are unchanged."""
    ready = {name: OPTIONS.get(name, (None, as_given))[1](given) for name, given in options.items()}
    if "gain" in ready:
        ready["gain"] = gain_function(ready["gain"], ready.get("threshold", 0.0))
    return ready
