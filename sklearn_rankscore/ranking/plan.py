"""Queries of equal size as blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

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
    members = queries_of_equal_size(queries.sizes, BLOCK_DOCUMENTS)
    return [partial(_rank, queries, some, depth) for some in members]


def queries_of_equal_size(sizes: Array, n_documents: int) -> Iterator[Array]:
    """Queries of one size with up to `n_documents` documents, then others, the longest first."""
    by_size = np.argsort(sizes, kind="stable")[::-1]
    starts = np.flatnonzero(np.diff(sizes[by_size], prepend=-1))
    for same in np.split(by_size, starts)[1:]:  # nothing is before the first start
        step = max(1, n_documents // int(sizes[same[0]]))
        for start in range(0, len(same), step):
            yield same[start : start + step]


def _rank(queries: Queries, members: Array, depth: int | None) -> Block:
    documents = queries.grouping.rows_of(members)
    labels, scores = queries.y_true[documents], queries.y_score[documents]
    width = int(documents.shape[1])
    n_ranks = width if depth is None else min(depth, width)
    return block_of_rows(members, labels, scores, queries.sizes[members], n_ranks)
