"""Blocks made of a block: in a random or in the ideal order, or with weighted gains."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from .._typing import Array, ArrayFunction
from .block import Block
from .label_functions import linear
from .plain import Labels, accumulate, fill_from, order_of, stable_order
from .ties import TieGroups, expected_products


def in_random_order(block: Block) -> Block:
    """The block with all documents of each query retrieved and tied.

    With ``ties="average"``, a formula then has its expectation over all orders of the documents.
    """
    if "random" not in block._derived:
        block._derived["random"] = _random_order(block)
    return block._derived["random"]


def in_ideal_order(block: Block, gain: ArrayFunction) -> Block:
    """The block with all documents of each query retrieved and ranked by descending gain."""
    if gain not in block._derived:
        block._derived[gain] = _ideal_order(block, gain)
    return block._derived[gain]


class QueriesTied(TieGroups):
    """`TieGroups` of rows that are one group each: the documents of a query."""

    def __init__(self, labels: Labels, depth: int) -> None:
        of_rows, self._sizes = labels.labels, labels.sizes[:, None]
        self.order = order_of(of_rows.shape[1])
        equals_next = np.arange(1, of_rows.shape[1]) < self._sizes
        super().__init__(np.arange(len(of_rows)), of_rows, equals_next, depth, lambda: of_rows)
        self._within = np.asarray(np.arange(depth) < self._sizes, order=self.order)

    def offset(self) -> Array:
        """Number of documents of the query before each rank."""
        return np.where(self._within, np.arange(self.depth), 0)

    def size(self) -> Array:
        """Number of documents of the query."""
        return np.where(self._within, self._sizes, 1)

    def survival(self, continue_prob: Array) -> Array:
        """Expected product over the first ranks; beyond a query's end it does not change."""
        factors, sizes = np.ascontiguousarray(continue_prob), self._sizes.ravel()
        some = np.flatnonzero(sizes)
        product = np.ones((len(sizes), self.depth))
        product[np.arange(self.depth) < self._sizes] = expected_products(
            factors.ravel(),
            some * factors.shape[1],
            sizes[some],
            np.minimum(sizes[some], self.depth),
        )
        return np.asarray(accumulate(np.minimum, product), order=self.order)

    def _means(self, values: Array) -> Array:
        means = np.einsum("qd->q", values)[:, None] / np.maximum(self._sizes, 1)
        return np.where(self._within, means, 0.0)


def _random_order(block: Block) -> Block:
    labels, sizes, depth = block._labels, block.sizes, len(block.ranks)
    ranked, width = labels.labels[:, :depth], labels.labels.shape[1]

    def scores_of(rows: Array) -> Array:
        return np.where(np.arange(width) < sizes[rows, None], 0.0, -np.inf)

    tied = QueriesTied(labels, depth)
    return Block(block.queries, sizes, sizes, labels, ranked, tied, scores_of)


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
        self, function: ArrayFunction, labels: Array, ends: Array, fill: float = 0.0, **_: Any
    ) -> Array:
        """A function of the labels of some rows times their weights; see `Labels.values`."""
        gains = function(self.y_true[labels].astype(np.float64))
        return fill_from(ends, np.asarray(gains * self.weights[labels], dtype=np.float64), fill)


def weighted_block(block: Block, y_true: Array, weights: Array) -> Block:
    """A block of labels that are row numbers as one of the labels of these rows, with weights."""
    weighted = copy.copy(block)
    weighted._labels = WeightedLabels(block._labels.labels, block.sizes, y_true, weights)
    weighted._cache, weighted._derived = {}, {}
    return weighted
