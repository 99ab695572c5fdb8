"""Blocks of the same documents in a random or in the ideal order, against which metrics compare."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import Array, ArrayFunction
from .block import Block
from .plain import stable_order
from .ties import TiedRows


def in_random_order(block: Block) -> Block:
    """The block with all documents of each query retrieved and tied.

    With ``ties="average"``, a formula then has its expectation over all orders of the documents.
    """
    return _cached(block, "random", _random_order)


def in_ideal_order(block: Block, gain: ArrayFunction) -> Block:
    """The block with all documents of each query retrieved and ranked by descending gain."""
    return _cached(block, ("ideal order", gain), lambda block: _ideal_order(block, gain))


def _cached(block: Block, key: Any, reorder: Any) -> Block:
    cache: dict[Any, Any] = block._cache
    if key not in cache:
        cache[key] = reorder(block)
    return cache[key]  # type: ignore[no-any-return]


def _random_order(block: Block) -> Block:
    labels, depth = block._labels.labels, len(block.ranks)
    is_document = np.arange(labels.shape[1]) < block.sizes[:, None]
    equals_next, tied = is_document[:, 1:], None
    rows = np.flatnonzero(equals_next.any(axis=1))
    if len(rows):
        in_order = labels[rows]
        tied = TiedRows(rows, in_order, equals_next[rows], depth, lambda: in_order)
    return _of_scores(block, np.where(is_document, 0.0, -np.inf), labels[:, :depth], tied)


def _ideal_order(block: Block, gain: ArrayFunction) -> Block:
    labels, sizes = block._labels.labels, block.sizes
    gains = block._labels.values(gain, labels, sizes)
    gains[np.isnan(gains)] = -np.finfo(np.float64).max  # unjudged documents come last
    gains[np.arange(labels.shape[1]) >= sizes[:, None]] = -np.inf
    ranked = np.take_along_axis(labels, stable_order(gains), axis=1)[:, : len(block.ranks)]
    return _of_scores(block, gains, ranked, None)


def _of_scores(block: Block, scores: Array, ranked: Array, tied: TiedRows | None) -> Block:
    labels, sizes = block._labels, block.sizes
    return Block(block.queries, sizes, sizes, labels, ranked, tied, lambda rows: scores[rows])
