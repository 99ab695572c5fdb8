"""Blocks made of a block: in a random or in the ideal order, or with weighted gains."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from .._typing import Array, ArrayFunction, Ties
from .block import Block, FirstGroup
from .label_functions import linear
from .plain import Labels, stable_order, zero_from
from .ties import accumulate, expected_products


def in_random_order(block: Block) -> Block:
    """The block with all documents of each query retrieved and tied.

    With ``ties="average"``, a formula then has its expectation over all orders of the documents.
    """
    if "random" not in block._derived:
        block._derived["random"] = RandomOrder(block)
    return block._derived["random"]


def in_ideal_order(block: Block, gain: ArrayFunction) -> Block:
    """The block with all documents of each query retrieved and ranked by descending gain."""
    if gain not in block._derived:
        block._derived[gain] = _ideal_order(block, gain)
    return block._derived[gain]


class RandomOrder(Block):
    """A block of which each query is a single tie group.

    What a formula asks for follows from the number of documents and the sum of their gains, which
    `given`, the block in the order of the scores, has computed once. No document is ranked.
    """

    def __init__(self, given: Block) -> None:
        sizes, ranked = given.sizes, given._ranked
        super().__init__(given.queries, sizes, sizes, given._labels, ranked, None, given._scores_of)
        self._given = given

    def total(self, gain: ArrayFunction) -> Array:
        """The sum of the gains of all documents of each query."""
        return self._given.total(gain)

    def ideal(self, gain: ArrayFunction) -> Array:
        """The gain at each rank of the ideal order."""
        return self._given.ideal(gain)

    def tie_groups(self, ties: Ties = "average") -> tuple[Array | int, Array | int]:
        """Each rank's offset in its tie group, and the size of the group."""
        if ties != "average":
            return 0, 1
        within = self._within()
        return np.where(within, self.ranks - 1, 0), np.where(within, self.sizes[:, None], 1)

    def first_group(
        self, condition: ArrayFunction, ties: Ties = "average", k: int | None = None
    ) -> FirstGroup:
        """The group of all documents, if one of them meets the condition."""
        count = np.rint(self.total(condition)).astype(np.intp)
        return FirstGroup(np.zeros_like(count), np.where(count > 0, self.sizes, 0), count)

    def complete(self) -> Block:
        """The block itself, because all documents are retrieved."""
        return self

    def _tied_rows(self, ties: Ties = "average") -> tuple[Array | slice, Array, Array] | None:
        offset, size = map(np.asarray, self.tie_groups(ties))
        return (slice(None), offset, size) if offset.ndim else None

    def _by_rank(self, gain: ArrayFunction, ties: str) -> Array:
        if ties == "average":
            means = self.total(gain) / np.maximum(self.sizes, 1)
            return np.where(self._within(), means[:, None], 0.0)
        # of pairs alone: ties in the best order
        best = -self._ascending(lambda labels: -gain(labels), np.inf)[:, : len(self.ranks)]
        return zero_from(self.sizes, best)

    def _survival(self, continue_prob: ArrayFunction, ties: str) -> Array:
        labels, sizes, some = self._labels.labels, self.sizes, np.flatnonzero(self.sizes)
        factors = self._labels.values(continue_prob, labels, sizes).ravel()
        n_degrees = np.minimum(sizes, len(self.ranks))
        survival = np.ones((len(sizes), len(self.ranks)))
        survival[np.arange(len(self.ranks)) < n_degrees[:, None]] = expected_products(
            factors, some * labels.shape[1], sizes[some], n_degrees[some]
        )
        # beyond the last document of a query nobody stops
        return accumulate(np.minimum, survival)

    def _ascending(self, function: ArrayFunction, padding: float) -> Array:
        """A function of the labels of each query in ascending order, followed by padding."""
        labels = self._labels.labels
        values = self._labels.values(function, labels, self.sizes)
        values[np.arange(labels.shape[1]) >= self.sizes[:, None]] = padding
        values.sort(axis=1)
        return values

    def _within(self) -> Array:
        return np.asarray(self.ranks <= self.sizes[:, None])


def _ideal_order(block: Block, gain: ArrayFunction) -> Block:
    labels, sizes, depth = block._labels.labels, block.sizes, len(block.ranks)
    beyond = np.arange(labels.shape[1]) >= sizes[:, None]

    def scores_of(rows: Any) -> Array:
        gains = block._labels.values(gain, labels[rows], sizes[rows])
        gains[np.isnan(gains)] = -np.finfo(np.float64).max  # unjudged documents come last
        gains[beyond[rows]] = -np.inf
        return gains

    if gain is linear and labels.size and labels.min() >= 0:
        ranked = np.sort(np.where(beyond, 0, labels), axis=1)[:, ::-1][:, :depth]
    else:
        order = stable_order(scores_of(slice(None)))
        ranked = np.take_along_axis(labels, order, axis=1)[:, :depth]
    return Block(block.queries, sizes, sizes, block._labels, ranked, None, scores_of)


class WeightedLabels(Labels):
    """Labels of a block whose entries are row numbers; each gain is multiplied by a weight.

    Parameters
    ----------
    rows : int array of shape (n_queries, n_documents)
        Row numbers, followed by padding in rows of shorter queries.
    sizes : int array of shape (n_queries,)
        Number of documents of each query.
    y_true, weights : array of shape (n_rows,)
        The label and the weight of each row.
    """

    def __init__(self, rows: Array, sizes: Array, y_true: Array, weights: Array) -> None:
        super().__init__(rows, sizes)
        self.y_true, self.weights = y_true, weights

    def values(
        self, function: ArrayFunction, labels: Array, ends: Array, *, all_retrieved: bool = True
    ) -> Array:
        """A function of the labels of some rows times their weights, 0 from each row's end on."""
        gains = function(self.y_true[labels].astype(np.float64))
        return zero_from(ends, np.asarray(gains * self.weights[labels], dtype=np.float64))


def weighted_block(block: Block, y_true: Array, weights: Array) -> Block:
    """A block of labels that are row numbers as one of the labels of these rows, with weights."""
    weighted = copy.copy(block)
    weighted._labels = WeightedLabels(block._labels.labels, block.sizes, y_true, weights)
    weighted._cache, weighted._derived = {}, {}
    return weighted
