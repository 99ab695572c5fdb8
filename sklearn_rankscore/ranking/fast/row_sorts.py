"""The smallest values of each row of integers: by a sort, or by less than a sort."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ..._typing import Array
from ..plain import SHORT

# short rows are sorted by a network over columns, because NumPy's sort costs more per row; with
# fewer rows than this for each comparison of the network, they are sorted one by one
ROWS_PER_COMPARISON = 50

# up to these widths NumPy's sorts of integers of 32 and of 64 bits are free of branches
MEDIUM, MEDIUM_LONG = 512, 256

# wider rows use a tournament if they have at least this many times as many columns as are needed
TOURNAMENT_RATIO = 16


def smallest(rows: Array, n: int, *, overwrite: bool = True) -> Array:
    """The n smallest values of each row or all of them, in ascending order."""
    width = rows.shape[1]
    if width > MEDIUM and width >= TOURNAMENT_RATIO * n:
        return _tournament(rows, n)
    rows = rows if overwrite else rows.copy()
    if width <= SHORT and len(rows) >= ROWS_PER_COMPARISON * len(_comparisons(width)):
        return _sort_columns(np.asfortranarray(rows), n)
    rows.sort(axis=1)
    return rows


def _tournament(rows: Array, n: int) -> Array:
    """Divide each row into lanes: its n smallest values are in the n lanes of smallest minimum."""
    width = rows.shape[1]
    height = round((width / n) ** 0.5)
    n_lanes = width // height
    minima = rows[:, : height * n_lanes].reshape(len(rows), height, n_lanes).min(axis=1)
    firsts = np.argpartition(minima, n - 1, axis=1)[:, :n] + np.arange(0, rows.size, width)[:, None]
    positions = firsts[:, None] + np.arange(0, height * n_lanes, n_lanes)[:, None]
    finalists = rows.ravel().take(positions.reshape(len(rows), height * n), mode="clip")
    finalists = np.hstack([finalists, rows[:, height * n_lanes :]])
    finalists.sort(axis=1)
    return finalists[:, :n]


def _sort_columns(rows: Array, n: int) -> Array:
    """The n smallest values of many short rows, by a sorting network over columns."""
    columns = [*rows.T]
    spare = np.empty_like(columns[0])
    for i, j in _comparisons(len(columns)):
        smaller = np.minimum(columns[i], columns[j], out=spare)
        np.maximum(columns[i], columns[j], out=columns[j])
        columns[i], spare = smaller, columns[i]
    return np.array(columns[:n]).T


@lru_cache
def _comparisons(n: int) -> list[tuple[int, int]]:
    """Pairs of positions that a sorting network compares, in turn.

    Batcher's odd-even merge sort: K. E. Batcher. Sorting networks and their applications.
    AFIPS 1968.
    """
    powers = [1 << i for i in range((n - 1).bit_length())]
    return [
        (i + j, i + j + gap)
        for size in powers
        for gap in reversed(powers[: powers.index(size) + 1])
        for j in range(gap % size, n - gap, 2 * gap)
        for i in range(min(gap, n - j - gap))
        if (i + j) // (2 * size) == (i + j + gap) // (2 * size)
    ]
