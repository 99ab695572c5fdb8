"""bpref when scores tie, exactly, over all orders of the ties."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import Array
from ..ranking import Block
from ..ranking.label_functions import judged_irrelevant


def preferences_lost(block: Block, threshold: float, ties: Any, n_relevant: Array) -> Array:
    """Expected number of irrelevant documents above each rank if its document is relevant.

    At most R of them count. A relevant document among n irrelevant ones with the same score has
    0, 1, …, n of them above it with equal probabilities; unjudged documents change nothing.
    """
    # in the best order of ties the irrelevant documents come last
    opposite: Any = {"optimistic": "pessimistic", "pessimistic": "optimistic"}.get(ties, ties)
    irrelevant = block.by_rank(judged_irrelevant(threshold), opposite)
    offset, size = block.tie_groups(ties)
    # in place, for the sake of queries of millions of documents
    before = np.cumsum(irrelevant, axis=1)
    before -= (offset + 1) * irrelevant
    within = irrelevant * size
    del offset, size
    np.rint(before, out=before)
    np.rint(within, out=within)
    limit = n_relevant[:, None]
    lost = _sum_to(before + within, limit)
    before -= 1
    lost -= _sum_to(before, limit)
    within += 1
    lost /= within
    return np.asarray(lost)


def _sum_to(n: Array, limit: Array) -> Array:
    """min(0, limit) + min(1, limit) + … + min(n, limit); overwrites `n`."""
    low = np.minimum(n, limit)
    n -= low
    n *= limit
    sums = low + 1
    sums *= low
    sums /= 2
    sums += n
    return np.asarray(sums)
