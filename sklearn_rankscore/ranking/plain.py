"""The sort and the ideal order as anyone would write them: what every block means.

`fast` gives the same blocks in a fraction of the time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._columns import descending
from .._typing import Array, ArrayFunction
from .rows import fill_from, order_of
from .ties import TieGroups, tie_groups


def stable_order(scores: Array) -> Array:
    """The order of each row by descending score, equal scores in input order."""
    return np.argsort(descending(scores), axis=1, kind="stable")


def rank_rows(
    labels: Array, scores: Array, sizes: Array, depth: int
) -> tuple[Array, Array, TieGroups | None]:
    """Sort the documents of each row by descending score.

    Rows of shorter queries end in padding with the score -inf, which a stable order keeps behind
    documents that were not retrieved.

    Returns
    -------
    retrieved : int array of shape (n_queries,)
        Number of documents with a rank.
    ranked : array of shape (n_queries, depth)
        Labels by rank.
    tied : TieGroups or None
        Ties that concern these ranks.
    """
    width, order = scores.shape[1], stable_order(scores)
    order += np.arange(0, scores.size, width)[:, None]
    ranked, ordered = labels.take(order), scores.take(order)
    is_retrieved = scores > -np.inf
    retrieved = sizes if is_retrieved.all() else is_retrieved.sum(axis=1)
    equals_next = ordered[:, 1:] == ordered[:, :-1]
    if sizes.min() < width:
        equals_next &= np.arange(1, width) < sizes[:, None]
    tied = None
    if equals_next[:, :depth].any():
        rows = np.flatnonzero(equals_next[:, :depth].any(axis=1))
        every_row = len(rows) == len(ranked)  # such as a single query of millions of documents
        in_order, equal = (a if every_row else a[rows] for a in (ranked, equals_next))
        tied = tie_groups(rows, in_order, equal, depth, width, lambda: in_order)
    return retrieved, np.array(ranked[:, :depth], order=order_of(width)), tied


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
        self._is_full = bool(sizes.min() == labels.shape[1])
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
        return values if all_retrieved and self._is_full else fill_from(ends, values, fill)

    def total(self, function: ArrayFunction) -> Array:
        """Sum of a function of the labels of all documents of each query."""
        return np.asarray(np.einsum("qd->q", self.values(function, self.labels, self.sizes)))

    def ideal(self, function: ArrayFunction, depth: int) -> Array:
        """The `depth` largest values of each row, in descending order."""
        negated = -self.values(function, self.labels, self.sizes)
        if not self._is_full:  # the zeros of padding stand above negative gains, NaN behind all
            negated[np.arange(negated.shape[1]) >= self.sizes[:, None]] = np.nan
        negated.sort(axis=1)
        return fill_from(self.sizes, np.asarray(-negated[:, :depth]))
