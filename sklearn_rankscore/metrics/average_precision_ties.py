"""Expected precision at relevant documents when scores tie: McSherry and Najork (ECIR 2008)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import Array
from ..ranking import Block
from ..ranking.label_functions import relevant
from ..ranking.ties import BY_INPUT_ORDER, accumulate


def precision_at_relevant(block: Block, threshold: float, ties: Any) -> Array:
    """Expected precision at each rank if its document is relevant, 0 otherwise.

    In a tie group of m documents of which r are relevant, the document at position j is relevant
    with probability e = r/m, and then each of the j - 1 before it with (r - 1)/(m - 1). Up to it
    there are on average (1 - e)(1 - (j - 1)/(m - 1)) relevant documents more than the sum of e.
    """
    expected = block.by_rank(relevant(threshold), ties)
    up_to = accumulate(np.add, expected.copy(order="K"))
    if (tied := block._tied_rows(ties)) is not None:
        # in place, for the sake of queries of millions of documents
        rows, offset, size = tied
        more = offset / np.maximum(size - 1, 1)
        del tied, offset, size
        np.subtract(1.0, more, out=more)
        more *= 1.0 - expected[rows]
        up_to[rows] += more
    up_to *= expected
    up_to /= block.ranks
    return up_to


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
    offset, size = (np.broadcast_to(a, share.shape)[:, k - 1] for a in block.tie_groups())
    start, share = k - 1 - offset, share[:, k - 1]
    rows = np.flatnonzero((start + size > k) & (start < block.retrieved))
    if not len(rows):
        return np.asarray(means), hits
    start, size = start[rows], size[rows]
    within_start = np.arange(k) < start[:, None]
    group = DividedGroups(
        start,
        k - start,
        size,
        np.rint(share[rows] * size),
        (expected[rows] * within_start).sum(axis=1),
        (precisions[rows] * within_start).sum(axis=1),
    )
    if ties == "average":
        means[rows] = group.expected_mean()
    else:
        means[rows] = group.extreme_mean(ties)
    return np.asarray(means), hits


@dataclass
class DividedGroups:
    """Tie groups that the cut-off divides.

    Parameters
    ----------
    start, within, size, n_relevant : array of shape (n_groups,)
        Number of ranks before the group, of its documents within the cut-off, of its documents,
        and of the relevant ones.
    hits_before, sum_before : array of shape (n_groups,)
        Relevant documents before the group, and the sum of their precisions.
    """

    start: Array
    within: Array
    size: Array
    n_relevant: Array
    hits_before: Array
    sum_before: Array

    def expected_mean(self) -> Array:
        """Expectation of the mean precision over the number of hits within the cut-off."""
        most = int(self.within.max())
        start, within, hits_before = self.start[:, None], self.within[:, None], self.hits_before
        positions, counts = np.arange(1, most + 1), np.arange(most + 1)
        reciprocals = (positions <= within) / (start + positions)
        first, later = reciprocals.sum(axis=1), (reciprocals * (positions - 1)).sum(axis=1)
        others = (counts - 1) / np.maximum(within - 1, 1)
        sums = (hits_before + 1)[:, None] * first[:, None] + others * later[:, None]
        values = self.sum_before[:, None] + counts / within * sums
        values /= np.maximum(hits_before[:, None] + counts, 1)
        return np.asarray(np.einsum("gh,gh->g", values, self._probability(counts)))

    def extreme_mean(self, ties: str) -> Array:
        """The largest or smallest mean precision, with the relevant documents first or last."""
        counts = np.arange(int(self.within.max()) + 1)
        start, within, hits_before = self.start[:, None], self.within[:, None], self.hits_before
        values = np.repeat(self.sum_before[:, None], len(counts), axis=1)
        if ties == "optimistic":
            precisions = (hits_before[:, None] + counts[1:]) / (start + counts[1:])
            values[:, 1:] += np.cumsum(precisions, axis=1)
        else:  # each hit raises the precision at itself and at the later ones by 1 / their ranks
            ranks = np.maximum(start + within - counts[:-1], 1)  # from the last one upwards
            reciprocals = np.cumsum(1.0 / ranks, axis=1)
            values[:, 1:] += hits_before[:, None] * reciprocals + np.cumsum(reciprocals, axis=1)
        values /= np.maximum(hits_before[:, None] + counts, 1)
        extreme, excluded = (np.max, -np.inf) if ties == "optimistic" else (np.min, np.inf)
        return np.asarray(extreme(np.where(self._possible(counts), values, excluded), axis=1))

    def _possible(self, counts: Array) -> Array:
        """Whether each number of relevant documents within the cut-off may occur."""
        within, n_relevant = self.within[:, None], self.n_relevant[:, None]
        most = np.minimum(within, n_relevant)
        return np.asarray((counts <= most) & (counts >= within - self.size[:, None] + n_relevant))

    def _probability(self, counts: Array) -> Array:
        """Hypergeometric probability of each number of hits, from the ratios of neighbors."""
        within, n_relevant = self.within[:, None], self.n_relevant[:, None]
        n_irrelevant, possible = self.size[:, None] - n_relevant, self._possible(counts)
        h = counts[:-1]
        more = (n_relevant - h) * (within - h)
        fewer = (h + 1.0) * (n_irrelevant - within + h + 1)
        both = possible[:, 1:] & possible[:, :-1]
        log_ratio = np.log(np.where(both, more, 1.0)) - np.log(np.where(both, fewer, 1.0))
        weights = np.zeros(possible.shape)
        np.cumsum(log_ratio, axis=1, out=weights[:, 1:])
        weights = np.exp(weights - weights.max(axis=1)[:, None]) * possible
        return np.asarray(weights / weights.sum(axis=1)[:, None])
