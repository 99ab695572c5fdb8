"""Queries of similar size as blocks, ranked by the plain sort."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from .._typing import Array
from .block import Block
from .plain import Labels, rank_rows
from .queries import Queries
from .ties import SHORT

# documents in a block: few enough that the arrays of a block fit into the memory that is retained
# (`fast/memory.py`), and enough that threads seldom wait
BLOCK_DOCUMENTS = 2**19

# from this size on a query fills a block alone and needs no padding
LONG = 2**19

Task = Callable[[], Block]


def plan_blocks(queries: Queries, depth: int | None) -> list[Task]:
    """Functions that each rank one block, the longest queries first."""
    widths = padded_width(np.maximum(queries.sizes, SHORT))
    tasks: list[Task] = []
    for width in sorted(set(widths.tolist()), reverse=True):
        members, step = np.flatnonzero(widths == width), max(1, BLOCK_DOCUMENTS // width)
        parts = (members[start : start + step] for start in range(0, len(members), step))
        tasks.extend(partial(_rank, queries, part, width, depth) for part in parts)
    return tasks


def padded_width(sizes: Array) -> Array:
    """Sizes rounded up to four significant bits; long ones unchanged.

    The width depends on a query's own size alone, so that a sum over its ranks has the same
    rounding whatever else is in the block.
    """
    if sizes.max() <= SHORT:
        return sizes
    bits = np.frexp(sizes - 1)[1]
    shift = np.where((bits > 4) & (sizes < LONG), bits - 4, 0)
    return np.asarray(((sizes + (1 << shift) - 1) >> shift) << shift)


def _rank(queries: Queries, members: Array, width: int, depth: int | None) -> Block:
    if width == SHORT and len(members) == 1:
        members = np.repeat(members, 2)  # NumPy sums the columns of a single row in another order
    grouping = queries.grouping
    sizes = grouping.sizes[members]
    width = int(sizes.max()) if width == SHORT else width
    columns = np.arange(width)
    # padding takes the first document, because a gain need not be defined for other labels
    padding = columns >= sizes[:, None]
    rows = grouping.rows_at(grouping.starts[members][:, None] + np.where(padding, 0, columns))
    labels, scores = queries.y_true[rows], queries.y_score[rows]
    if padding.any():
        scores = np.where(padding, -np.inf, scores)
    labels = np.array(labels, order="F" if width <= SHORT else "C")
    ranked = rank_rows(labels, scores, sizes, width if depth is None else min(depth, width))
    return Block(members, sizes, ranked[0], Labels(labels, sizes), *ranked[1:], scores.__getitem__)
