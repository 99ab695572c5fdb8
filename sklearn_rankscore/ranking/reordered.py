"""Blocks of the same documents in a random or in the ideal order, against which metrics compare."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import Array, ArrayFunction, Ties
from .block import Block
from .first_group import FirstGroup
from .plain import stable_order, zero_from
from .symmetric_means import symmetric_means


def in_random_order(block: Block) -> Block:
    """The block with all documents of each query retrieved and tied.

    With ``ties="average"``, a formula then has its expectation over all orders of the documents.
    """
    return _cached(block, "random", RandomOrder)


def in_ideal_order(block: Block, gain: ArrayFunction) -> Block:
    """The block with all documents of each query retrieved and ranked by descending gain."""
    return _cached(block, ("ideal order", gain), lambda block: _ideal_order(block, gain))


def _cached(block: Block, key: Any, reorder: Any) -> Block:
    cache: dict[Any, Any] = block._cache
    if key not in cache:
        cache[key] = reorder(block)
    return cache[key]  # type: ignore[no-any-return]


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

    def _by_rank(self, gain: ArrayFunction, ties: str) -> Array:
        if ties == "average":
            means = self.total(gain) / np.maximum(self.sizes, 1)
            return np.where(self._within(), means[:, None], 0.0)
        # of pairs alone: ties in the best order
        best = -self._ascending(lambda labels: -gain(labels), np.inf)[:, : len(self.ranks)]
        return zero_from(self.sizes, best)

    def _survival(self, continue_prob: ArrayFunction, ties: str) -> Array:
        rows, of_query = distinct_rows(self._ascending(continue_prob, np.inf))
        sizes, width = np.isfinite(rows).sum(axis=1), rows.shape[1]
        n_degrees, some = np.minimum(sizes, len(self.ranks)), np.flatnonzero(sizes)
        survival = np.ones((len(rows), len(self.ranks)))
        survival[np.arange(len(self.ranks)) < n_degrees[:, None]] = symmetric_means(
            rows.ravel(), some * width, sizes[some], n_degrees[some]
        )
        # beyond the last document of a query nobody stops
        return np.asarray(np.minimum.accumulate(survival, axis=1)[of_query])

    def _ascending(self, function: ArrayFunction, padding: float) -> Array:
        """A function of the labels of each query in ascending order, followed by padding."""
        labels = self._labels.labels
        values = self._labels.values(function, labels, self.sizes)
        values[np.arange(labels.shape[1]) >= self.sizes[:, None]] = padding
        values.sort(axis=1)
        return values

    def _within(self) -> Array:
        return np.asarray(self.ranks <= self.sizes[:, None])


def distinct_rows(values: Array) -> tuple[Array, Array]:
    """The distinct rows of an array, and for each row the position among them."""
    weights = np.random.default_rng(0).random(values.shape[1])
    # not a matrix product, which may round equal rows differently
    hashes = (np.where(np.isfinite(values), values, -1.0) * weights).sum(axis=1)
    _, first, inverse = np.unique(hashes, return_index=True, return_inverse=True)
    rows = values[first]
    if (rows[inverse] == values).all():
        return rows, inverse
    return values, np.arange(len(values))  # different rows with equal sums


def _ideal_order(block: Block, gain: ArrayFunction) -> Block:
    labels, sizes = block._labels.labels, block.sizes
    gains = block._labels.values(gain, labels, sizes)
    gains[np.isnan(gains)] = -np.finfo(np.float64).max  # unjudged documents come last
    gains[np.arange(labels.shape[1]) >= sizes[:, None]] = -np.inf
    ranked = np.take_along_axis(labels, stable_order(gains), axis=1)[:, : len(block.ranks)]
    all_labels, queries = block._labels, block.queries
    return Block(queries, sizes, sizes, all_labels, ranked, None, lambda rows: gains[rows])
