"""Blocks made of a block: in a random or in the ideal order, or with weighted gains."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from .._typing import Array, ArrayFunction
from .block import Block
from .plain import Labels, stable_order, zero_from
from .ties import tied_rows


def in_random_order(block: Block) -> Block:
    """The block with all documents of each query retrieved and tied.

    With ``ties="average"``, a formula then has its expectation over all orders of the documents.
    """
    if "random" not in block._derived:
        labels, sizes, ranked = block._labels.labels, block.sizes, block._ranked
        width, rows = labels.shape[1], np.arange(len(labels))
        equals_next = np.arange(1, width) < sizes[:, None]
        tied = None
        if equals_next.any():
            tied = tied_rows(width, rows, labels, equals_next, ranked.shape[1], in_input_order=True)
        no_scores = lambda some: np.where(  # noqa: E731
            np.arange(width) < sizes[some, None], 0.0, -np.inf
        )
        order: Any = "F" if ranked.flags.fnc else "C"
        ranked = np.array(labels[:, : ranked.shape[1]], order=order)
        random = Block(block.queries, sizes, sizes, block._labels, ranked, tied, no_scores)
        block._derived["random"] = _with_sums_of(block, random)
    return block._derived["random"]


def in_ideal_order(block: Block, gain: ArrayFunction) -> Block:
    """The block with all documents of each query retrieved and ranked by descending gain."""
    key = "ideal order", gain
    if key not in block._derived:
        labels, sizes = block._labels.labels, block.sizes
        gains = block._labels.of_all(gain)
        gains[np.isnan(gains)] = -np.finfo(np.float64).max  # unjudged documents come last
        gains[np.arange(labels.shape[1]) >= sizes[:, None]] = -np.inf
        columns = stable_order(gains)[:, : block._ranked.shape[1]]
        ranked = np.take_along_axis(labels, columns, axis=1)
        ideal = Block(block.queries, sizes, sizes, block._labels, ranked, None, gains.__getitem__)
        block._derived[key] = _with_sums_of(block, ideal)
    return block._derived[key]


def _with_sums_of(block: Block, other: Block) -> Block:
    """The other block, which need not compute again what no order changes."""
    other._cache.update({k: v for k, v in block._cache.items() if k[0] in ("ideal", "total")})
    return other


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

    def values(self, function: ArrayFunction, labels: Array, ends: Array) -> Array:
        """A function of the labels of some rows times their weights, 0 from each row's end on."""
        gains = function(self.y_true[labels].astype(np.float64))
        return zero_from(ends, np.asarray(gains * self.weights[labels], dtype=np.float64))


def weighted_block(block: Block, y_true: Array, weights: Array) -> Block:
    """A block of labels that are row numbers as one of the labels of these rows, with weights."""
    weighted = copy.copy(block)
    weighted._labels = WeightedLabels(block._labels.labels, block.sizes, y_true, weights)
    weighted._cache, weighted._derived = {}, {}
    return weighted
