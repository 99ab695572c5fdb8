"""Expected precision at relevant documents when scores tie: McSherry and Najork (ECIR 2008)."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import hypergeom

from .._typing import Array
from ..ranking import Block
from ..ranking.label_functions import relevant
from ..ranking.ties import BY_INPUT_ORDER


def precision_at_relevant(block: Block, threshold: float, ties: Any) -> Array:
    """Expected precision at each rank if its document is relevant, 0 otherwise.

    In a tie group of m documents of which r are relevant, the document at position j is relevant
    with probability r/m, and then each of the j - 1 before it with (r - 1)/(m - 1).
    """
    expected = block.by_rank(relevant(threshold), ties)
    offset, size = block.tie_groups(ties)
    earlier = np.cumsum(expected, axis=1) - (offset + 1) * expected
    others = (expected * size - 1) / np.maximum(size - 1, 1)
    return np.asarray(expected * (earlier + 1 + offset * others) / block.ranks)


def mean_precision_of_hits(
    block: Block, precisions: Array, threshold: float, ties: Any
) -> tuple[Array, Array]:
    """Expected mean precision over the relevant documents within the cut-off, and their number.

    If the cut-off leaves t of m tied documents, r of them relevant, the number h of them within the
    cut-off has the hypergeometric distribution, and the mean is known for each h.
    """
    k = precisions.shape[1]
    fixed_order = ties in BY_INPUT_ORDER
    hits = block.by_rank(relevant(threshold), ties if fixed_order else "average")[:, :k].sum(axis=1)
    expected = block.by_rank(relevant(threshold), ties)[:, :k]
    means = precisions.sum(axis=1) / np.maximum(expected.sum(axis=1), 1e-300)
    if fixed_order:
        return np.asarray(means), hits
    share = block.by_rank(relevant(threshold))
    for row, start, size in block.tie_groups_across(k):
        within, n_relevant = k - start, round(share[row, start] * size)
        hits_before, sum_before = expected[row, :start].sum(), precisions[row, :start].sum()
        counts = np.arange(max(0, within - size + n_relevant), min(within, n_relevant) + 1)
        values = [
            (sum_before + _sum_of_precisions(h, start, within, hits_before, ties))
            / max(hits_before + h, 1)
            for h in counts
        ]
        if ties == "average":
            means[row] = values @ hypergeom.pmf(counts, size, n_relevant, within)
        else:
            means[row] = max(values) if ties == "optimistic" else min(values)
    return np.asarray(means), hits


def _sum_of_precisions(h: int, start: int, within: int, hits_before: float, ties: Any) -> float:
    """Sum of the precisions at h relevant documents among the `within` ranks after `start`."""
    positions = np.arange(1, within + 1)
    if ties != "average":
        taken = positions[:h] if ties == "optimistic" else positions[within - h :]
        return float(((hits_before + np.arange(1, h + 1)) / (start + taken)).sum())
    others = (h - 1) / max(within - 1, 1)
    precisions = (hits_before + 1 + (positions - 1) * others) / (start + positions)
    return float((h / within * precisions).sum())
