"""Labels of documents that count with weights, looked up by the number of the document."""

from __future__ import annotations

import copy

import numpy as np

from .._typing import Array, ArrayFunction
from .block import Block
from .plain import Labels, zero_from


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
        self, function: ArrayFunction, labels: Array, ends: Array, *, padded: bool = True
    ) -> Array:
        """A function of the labels of some rows times their weights, 0 from each row's end on."""
        gains = function(self.y_true[labels].astype(np.float64))
        return zero_from(ends, np.asarray(gains * self.weights[labels], dtype=np.float64))


def weighted_block(block: Block, y_true: Array, weights: Array) -> Block:
    """A block of labels that are row numbers as one of the labels of these rows, with weights."""
    weighted = copy.copy(block)
    weighted._labels = WeightedLabels(block._labels.labels, block.sizes, y_true, weights)
    weighted._cache = {}
    return weighted
