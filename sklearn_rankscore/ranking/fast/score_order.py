"""Rows ranked by keys that end in the column of a document, for labels that are not grades."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._typing import Array, ArrayFunction
from .. import plain
from ..ties import SHORT, ShortTiedRows, TiedRows
from .candidates import FEW
from .keys import collides, write_keys
from .row_sorts import smallest

# wider rows are sorted by their scores: columns leave too few bits of keys for scores
WIDEST_SORTED = 2**16


def rank_rows(
    labels: Array, scores: Array, sizes: Array, depth: int, *, whole: bool
) -> tuple[Array, TiedRows | None]:
    """Labels by rank and ties, as `plain.rank_rows` returns them.

    If `whole`, rows are sorted to the end. Otherwise each has more documents than `depth`.
    """
    order: Any = "F" if labels.shape[1] <= SHORT else "C"
    if whole:
        rows = np.arange(len(labels))
        by_rank, equals_next = _sort(labels, scores, sizes)
        # the rounding of sums depends on the order
        ranked = np.asarray(by_rank[:, :depth], order=order)
    else:
        columns, rows = _first_columns(scores, depth)
        ranked = np.asarray(_take(labels, columns), order=order)
        if not len(rows):
            return ranked, None
        by_rank, equals_next = _sort(*_candidates(labels[rows], scores[rows], sizes[rows], depth))
        ranked[rows] = by_rank[:, :depth]
    tied = np.flatnonzero(equals_next[:, :depth].any(axis=1))
    if not len(tied):
        return ranked, None
    if len(tied) < len(rows):
        rows, by_rank, equals_next = rows[tied], by_rank[tied], equals_next[tied]
    tied_rows = ShortTiedRows if labels.shape[1] <= SHORT else TiedRows
    return ranked, tied_rows(rows, by_rank, equals_next, depth, lambda: by_rank)


def _first_columns(scores: Array, depth: int) -> tuple[Array, Array]:
    """The columns of the first ranks, and the rows in which they are tied or not certain."""
    keys, mask = _keys(scores)
    first = smallest(keys, depth + 1)[:, : depth + 1]
    columns = first & mask
    ordered = _take(scores, columns)
    ambiguous = ordered[:, 1:] >= ordered[:, :-1]
    ambiguous[:, -1:] |= collides(first[:, -2:], mask)
    return columns[:, :depth], np.flatnonzero(ambiguous.any(axis=1))


def _candidates(
    labels: Array, scores: Array, sizes: Array, depth: int
) -> tuple[Array, Array, Array]:
    """The documents of each row that can be among the first ranks, or all if these are many."""
    keys, mask = _keys(scores)
    last = smallest(keys, depth, overwrite=False)[:, depth - 1 : depth]
    chosen = keys <= (last | mask)
    counts = np.count_nonzero(chosen, axis=1)
    width = int(counts.max())
    if width > FEW * labels.shape[1]:
        return labels, scores, sizes
    starts, columns = np.cumsum(counts) - counts, np.arange(width)
    padding = columns >= counts[:, None]
    # padded with the first one of the row, as a gain need not be defined for other labels
    nth = np.where(padding, 0, columns) + starts[:, None]
    places = np.flatnonzero(chosen).take(nth)
    return labels.take(places), np.where(padding, -np.inf, scores.take(places)), counts


def _sort(labels: Array, scores: Array, sizes: Array) -> tuple[Array, Array]:
    """Labels by rank, equal scores in input order, and whether each score equals the next one."""
    width = labels.shape[1]
    if width > WIDEST_SORTED:
        order = plain.stable_order(scores)
    else:
        keys, mask = _keys(scores)
        order = smallest(keys, width) & mask
    ordered = _take(scores, order)
    misranked = np.flatnonzero((ordered[:, 1:] > ordered[:, :-1]).any(axis=1))
    if len(misranked):
        order[misranked] = again = plain.stable_order(scores[misranked])
        ordered[misranked] = _take(scores[misranked], again)
    equals_next = ordered[:, 1:] == ordered[:, :-1]
    if sizes.min() < width:
        equals_next &= np.arange(1, width) < sizes[:, None]
    return _take(labels, order), equals_next


def _keys(scores: Array) -> tuple[Array, int]:
    """Keys that end in the column, and the mask of its bits."""
    mask = (1 << (scores.shape[1] - 1).bit_length()) - 1
    keys = _empty_keys(scores.shape)
    write_keys(keys, np.arange(scores.shape[1]), scores, mask)
    return keys, mask


def _empty_keys(shape: tuple[int, ...]) -> Array:
    order: Any = "F" if shape[1] <= SHORT else "C"  # as sorts need them
    return np.empty(shape, np.int64, order)


def _take(rows: Array, columns: Array) -> Array:
    """Entries of each row, in the memory order of the columns."""
    starts = np.arange(0, rows.size, rows.shape[1])
    if columns.flags.fnc:  # stored by column
        return rows.take(columns.T + starts).T
    return rows.take(columns + starts[:, None])


class RawLabels(plain.Labels):
    """Labels that are not grades."""

    def ideal(self, function: ArrayFunction, depth: int) -> Array:
        """The `depth` largest values of each row, in descending order."""
        values = self._all(function)
        if self.sizes.min() < values.shape[1] and not values.min() >= 0:
            return super().ideal(function, depth)  # padding is above negative gains
        keys = _empty_keys(values.shape)
        write_keys(keys, 0, values, 0)
        order: Any = "F" if keys.shape[1] <= SHORT else "C"
        first = np.asarray(smallest(keys, depth)[:, :depth], order=order)
        # back from the order of integers to that of floats
        flip = first >> 63
        flip &= np.iinfo(np.int64).max
        first ^= flip
        return np.asarray(0.0 - first.view(np.float64))
