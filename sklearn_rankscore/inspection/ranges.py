"""The range of values that a metric can take, which bounds what a few queries can hide."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._typing import Array
from ..metrics.labels import UNKNOWN, Limits
from ..metrics.metric import Metric
from ..metrics.names import is_metric
from ..metrics.resolve import resolve

# of a metric that is not one of this package, the first that holds all values
COMMON_RANGES: tuple[Limits, ...] = ((0.0, 1.0), (-1.0, 1.0))

# by which a value may be outside of a range, because of rounding
ROUNDING = 1e-9


class LimitedName(str):
    """The name of a metric with the limits of its values, which the name alone would not imply."""

    limits: Limits | None

    def __new__(cls, name: str, limits: Limits | None) -> LimitedName:
        """A name that equals `name`."""
        self = super().__new__(cls, name)
        self.limits = limits
        return self

    def __reduce__(self) -> Any:
        return LimitedName, (str(self), self.limits)


def value_ranges(metrics: Sequence[str], values: Array) -> tuple[Array, Array]:
    """The lowest and the highest value that each metric can take, infinite if that is not known.

    The range of a metric that is not one of this package is taken to be [0, 1], or else [-1, 1], if
    all its values lie within.
    """
    defined = ~np.isnan(values)
    lowest = np.min(values, axis=0, initial=np.inf, where=defined)
    highest = np.max(values, axis=0, initial=-np.inf, where=defined)
    ranges = [_range(*given) for given in zip(metrics, lowest, highest, strict=True)]
    low, high = np.array(ranges).T
    return low, high


def metric_name(name: str, metric: Metric) -> str:
    """The name under which the values of a metric are stored, from which its range is known."""
    return name if metric.limits == _limits(name) else LimitedName(name, metric.limits)


def _range(metric: str, lowest: float, highest: float) -> Limits:
    limits = _limits(metric)
    for low, high in COMMON_RANGES if limits is None else (limits,):
        if low - ROUNDING <= lowest and highest <= high + ROUNDING:
            return low, high
    return UNKNOWN


def _limits(name: str) -> Limits | None:
    """The limits of a metric; None if its name is not that of one of this package."""
    if isinstance(name, LimitedName):
        return name.limits
    if not is_metric(name):  # the error of `resolve` looks for similar names, which takes long
        return None
    try:
        return resolve(name).limits
    except (TypeError, ValueError):
        return None
