"""Rows of labels, one per query, and their order as anyone would write it: what a block means.

`fast` gives the same blocks in a fraction of the time. Short rows are stored by column, and
computed column by column: the rounding of sums over a row depends on its memory order, which
follows from its width alone.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from .._columns import descending
from .._typing import Array, ArrayFunction

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


def stable_order(scores: Array) -> Array:
    """The order of each row by descending score, equal scores in input order."""
    return np.argsort(descending(scores), axis=1, kind="stable")


def sort_rows(labels: Array, scores: Array, sizes: Array) -> tuple[Array, Array]:
    """Labels by rank, equal scores in input order, and whether each score equals the next one.

    Rows of shorter queries end in padding with the score -inf, which a stable order keeps behind
    documents that were not retrieved.
    """
    order = stable_order(scores)
    order += np.arange(0, scores.size, scores.shape[1])[:, None]
    return labels.take(order), equal_to_next(scores.take(order), sizes)


def equal_to_next(ordered: Array, sizes: Array) -> Array:
    """Whether each score of sorted rows equals the next one; padding equals nothing."""
    equals_next, width = ordered[:, 1:] == ordered[:, :-1], ordered.shape[1]
    if sizes.min() < width:
        equals_next &= np.arange(1, width) < sizes[:, None]
    return np.asarray(equals_next)


class Labels:
    """Labels of all documents of a block, one row per query, in any order.

    Parameters
    ----------
    labels : array of shape (n_queries, n_documents)
        Labels, followed by padding in rows of shorter queries.
    sizes : int array of shape (n_queries,)
        Number of documents of each query.
    """

    def __init__(self, labels: Array, sizes: Array) -> None:
        self.labels, self.sizes = labels, sizes
        # what does not depend on ranks, for all blocks of these labels
        self.cache: dict[Any, Array] = {}

    def values(
        self,
        function: ArrayFunction,
        labels: Array,
        ends: Array,
        *,
        all_retrieved: bool = True,
        fill: float = 0.0,
    ) -> Array:
        """A function of some of the labels, and `fill` from each row's end on.

        If `all_retrieved`, only padding follows the ends, and no document without a rank.
        """
        values = np.array(function(labels.astype(np.float64)), dtype=np.float64)
        if ends.min() < labels.shape[1]:
            values[np.arange(labels.shape[1]) >= ends[:, None]] = fill
        return values

    def total(self, function: ArrayFunction) -> Array:
        """Sum of a function of the labels of all documents of each query."""
        return np.asarray(np.einsum("qd->q", self.values(function, self.labels, self.sizes)))

    def ideal(self, function: ArrayFunction, depth: int) -> Array:
        """The `depth` largest values of each row, in descending order."""
        # zeros of padding would stand above negative gains; NaN stands behind all
        negated = -self.values(function, self.labels, self.sizes, fill=np.nan)
        negated.sort(axis=1)
        return fill_from(self.sizes, np.asarray(-negated[:, :depth]))
