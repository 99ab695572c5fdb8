"""Queries of equal size as blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise

import numpy as np

from .._typing import Array
from .block import Block, block_of_rows
from .queries import Queries

# documents in a block: few enough that the arrays of a block fit into the memory that is retained
# (`fast/memory.py`), and enough that threads seldom wait
BLOCK_DOCUMENTS = 2**19

Task = Callable[[], Block]


def blocks_of_equal_size(queries: Queries, depth: int | None) -> list[Task]:
    """Functions that each rank one block, the longest queries first; no row needs padding."""
    by_size = np.argsort(queries.sizes, kind="stable")[::-1]
    sizes = queries.sizes[by_size]
    cuts = np.flatnonzero(np.diff(sizes, prepend=-1, append=-1))
    return [
        partial(_rank, queries, by_size[a:b], depth)
        for start, end in pairwise(cuts.tolist())
        for a, b in _parts(start, end, int(sizes[start]))
    ]


def _parts(start: int, end: int, size: int) -> Iterator[tuple[int, int]]:
    step = max(1, BLOCK_DOCUMENTS // size)
    for first in range(start, end, step):
        yield first, min(first + step, end)


def _rank(queries: Queries, members: Array, depth: int | None) -> Block:
    grouping, sizes = queries.grouping, queries.sizes[members]
    width = int(sizes[0])
    documents = grouping.starts[members][:, None] + np.arange(width)
    if grouping.rows is not None:
        documents = grouping.rows[documents]
    labels, scores = queries.y_true[documents], queries.y_score[documents]
    depth = width if depth is None else min(depth, width)
    return block_of_rows(members, labels, scores, sizes, depth)
