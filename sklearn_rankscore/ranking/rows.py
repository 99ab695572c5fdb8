"""Arrays with one row per query: short rows are stored by column, and computed column by column.

The rounding of sums over a row depends on its memory order, which follows from its width alone.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from .._typing import Array

# NumPy computes one row after another, which takes several times as long for rows up to this width
SHORT = 16


def order_of(width: int) -> Any:
    """The memory order of rows of this width."""
    return "F" if width <= SHORT else "C"


def fill_from(ends: Array, values: Array, fill: float = 0.0) -> Array:
    """Set the values of each row to a number from its end on, in place."""
    if ends.min() < values.shape[1]:
        values[np.arange(values.shape[1]) >= ends[:, None]] = fill
    return values


def leading(flags: Array) -> Array:
    """Number of true entries at the beginning of each row."""
    if not flags.shape[1]:
        return np.zeros(len(flags), dtype=np.intp)
    if flags.flags.fnc and flags.shape[1] < 2**8:  # short rows, stored by column
        count, all_true = np.zeros(len(flags), dtype=np.uint8), np.ones(len(flags), dtype=bool)
        for column in flags.T:
            all_true &= column
            count += all_true
        return count.astype(np.intp)
    first = flags.argmin(axis=1)
    return np.asarray(np.where(flags[np.arange(len(flags)), first], flags.shape[1], first))


def accumulate(function: np.ufunc, values: Array) -> Array:
    """As `function.accumulate(values, axis=1)`, in place."""
    if not (values.flags.fnc or len(values) > 8 * values.shape[1]):
        return np.asarray(function.accumulate(values, axis=1, out=values))
    for column, following in pairwise(values.T):
        function(column, following, out=following)
    return values
