"""The rank of the first relevant document, of which tied scores give the distribution."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import Array, ArrayFunction
from ..ranking import Block
from ..ranking.block import FirstGroup
from ..ranking.label_functions import relevant

# ranks in which the first relevant document is searched before the scores are
SEARCHED_RANKS = 10

# a probability below this changes no sum in double precision
NEGLIGIBLE = 1e-20


def until_first_relevant(k: int | None, **_: Any) -> int:
    """Ranks that a metric of the first relevant document needs."""
    return SEARCHED_RANKS if k is None else k


def at_first(
    block: Block, k: int | None, threshold: float, ties: Any, gain: ArrayFunction
) -> Array:
    """Expected gain of the rank of the first relevant document, 0 beyond the cut-off.

    In a tie group of m documents of which r are relevant, the document at position j is the first
    relevant one with probability r / (m - j + 1), given that none before it is relevant.
    """
    first, row = block.first_group(relevant(threshold), ties, k).distinct()
    return _expected_gain(first, k, gain)[row]


def _expected_gain(first: FirstGroup, k: int | None, gain: ArrayFunction) -> Array:
    last = np.minimum(first.size, np.inf if k is None else k - first.before)
    total, none_yet = np.where(last > 0, gain(first.before + 1.0), 0.0), np.ones(len(last))
    rows, position, n_positions = np.flatnonzero((last > 0) & (first.size > 1)), 0, 4
    total[rows] = 0.0
    while len(rows):
        positions = np.arange(position, position + n_positions)
        left = np.maximum(first.size[rows, None] - positions, 1)
        missed = np.maximum(left - first.count[rows, None], 0) / left
        n_before = np.cumprod(np.hstack([none_yet[rows, None], missed]), axis=1)
        gains = gain(first.before[rows, None] + positions + 1.0)
        gains *= positions < last[rows, None]
        total[rows] += np.einsum("qj,qj->q", n_before[:, :-1] * (1.0 - missed), gains)
        none_yet[rows], position = n_before[:, -1], position + n_positions
        rows = rows[(none_yet[rows] > NEGLIGIBLE) & (position < last[rows])]
        n_positions *= 2
    return total
