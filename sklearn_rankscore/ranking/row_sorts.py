"""The first of each row: keys by a sort, or by less than one, and grades by a count."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from .arrays import Array

# up to this width rows are sorted column by column, because a call for each row costs more, unless
# there are fewer rows than this for each comparison of columns, of which some sixty are needed
SHORT, FEW = 16, 50

# up to this width a sort has no branches; from there on the first ranks are found without it, if
# the row is so many times as long
MEDIUM, MANY_TIMES = 512, 16

# the highest grades are sorted in short rows, up to this width also where documents are few or
# grades many, and else counted one after the other, as a sort of few distinct values is slow
SORTED_GRADES, MANY, COUNTED_GRADES = 128, 2**15, 7

# so many hits are added up as bytes
ADDED_AT_ONCE = 128


def smallest(rows: Array, n: int) -> Array:
    """The n smallest values of each row, in order; the rows are used up."""
    width = rows.shape[1]
    if width <= SHORT and len(rows) >= FEW * len(_comparisons(width)):
        return _sorted_by_columns(rows, n)
    if width <= MEDIUM or width < MANY_TIMES * n:
        rows.sort(axis=1)
        return rows[:, :n]
    # a tournament: the n smallest of a row stand in the n lanes with the smallest winners
    height = round((width / n) ** 0.5)
    n_lanes = width // height
    winners = rows[:, : height * n_lanes].reshape(len(rows), height, n_lanes).min(axis=1)
    firsts = _lanes_of_the_smallest(winners, n) + np.arange(0, rows.size, width)[:, None]
    places = firsts[:, None] + np.arange(0, height * n_lanes, n_lanes)[:, None]
    finalists = rows.ravel().take(places.reshape(len(rows), height * n), mode="clip")
    finalists = np.hstack([finalists, rows[:, height * n_lanes :]])
    finalists.sort(axis=1)
    return finalists[:, :n]


def _lanes_of_the_smallest(winners: Array, n: int) -> Array:
    """Where the n smallest values of each row stand, in any order."""
    if winners.dtype == np.int64:
        return np.argpartition(winners, n - 1, axis=1)[:, :n]
    # a number and its place in one integer: a sort of values is twice as fast as one of places
    both = winners.astype(np.int64)
    both <<= 32
    both |= np.arange(winners.shape[1])
    both.sort(axis=1)
    return both[:, :n] & (2**32 - 1)


def _sorted_by_columns(rows: Array, n: int) -> Array:
    """The n smallest values of each row in order, for short rows of which there are many."""
    columns = [*rows.T]
    spare = np.empty_like(columns[0])
    for i, j in _comparisons(len(columns)):
        smaller = np.minimum(columns[i], columns[j], out=spare)
        np.maximum(columns[i], columns[j], out=columns[j])
        columns[i], spare = smaller, columns[i]
    return np.array(columns[:n]).T


@lru_cache
def _comparisons(n: int) -> list[tuple[int, int]]:
    """Batcher's sorting network: pairs of places to put in order, one after the other.

    K. E. Batcher. Sorting networks and their applications. AFIPS 1968.
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


def highest(labels: Array, sizes: Array, n_grades: int, n: int) -> Array:
    """The n highest grades of each row, in order; 0 where there are no more."""
    width = labels.shape[1]
    cheap = labels.size < MANY or n_grades > COUNTED_GRADES
    if width <= SHORT or (width <= SORTED_GRADES and cheap):
        lowest = ~labels
        if width > SHORT:  # 32-bit integers are sorted by vector instructions on all machines
            lowest = lowest.astype(np.int32)
        return ~smallest(lowest, n).astype(np.uint8)
    # a document of a grade stands at every rank that is not beyond those of this grade and above
    order: Any = "F" if n <= len(labels) else "C"  # what is compared at once should be much
    found = np.zeros((len(labels), n), dtype=np.uint8, order=order)
    reached = np.empty_like(found, dtype=bool)
    for grade in range(n_grades, 0, -1):
        counts = sizes if grade == 1 else _count(labels >= grade)
        np.greater(counts[:, None], np.arange(n, dtype=counts.dtype), out=reached)
        found += reached
        if counts.min() >= n:
            found += np.uint8(grade - 1)
            break
    return np.ascontiguousarray(found)


def _count(hits: Array) -> Array:
    """How many entries of each row are true."""
    ones = hits.view(np.uint8)
    if hits.shape[1] < 2**8:  # a sum of bytes fits into a byte
        return np.asarray(np.einsum("qd->q", ones))
    cut = hits.shape[1] // ADDED_AT_ONCE * ADDED_AT_ONCE
    parts = np.einsum("qpd->qp", ones[:, :cut].reshape(len(hits), -1, ADDED_AT_ONCE))
    rest = np.einsum("qd->q", ones[:, cut:])
    return np.asarray(parts.sum(axis=1, dtype=np.intp) + rest)
