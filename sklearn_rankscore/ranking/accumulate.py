"""Running sums, products and minima of the rows of an array, in any memory order."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from .._typing import Array

# from this number of rows on, columns are accumulated one by one if the array is stored by column
# or its rows are short: NumPy, which computes one row after another, takes two to ten times as long
MANY_ROWS = 128


def accumulate(function: np.ufunc, values: Array) -> Array:
    """As `function.accumulate(values, axis=1)`, in place."""
    by_column = values.flags.f_contiguous or len(values) > 8 * values.shape[1]
    if len(values) < MANY_ROWS or not by_column:
        return np.asarray(function.accumulate(values, axis=1, out=values))
    for column, following in pairwise(values.T):
        function(column, following, out=following)
    return values
