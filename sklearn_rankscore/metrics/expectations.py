"""Expectations over tied scores where means do not suffice, and counts of pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import Array, ArrayFunction
from ..ranking import Block
from ..ranking.block import FirstGroup
from ..ranking.label_functions import (
    judged_irrelevant,
    judged_relevant,
    linear,
    pooled_unjudged,
    relevant,
)
from ..ranking.ties import BY_INPUT_ORDER, TieGroups, accumulate

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


# trec_eval's INFAP_EPSILON: added to the numbers of relevant and of irrelevant documents above
EPSILON = 0.00001

# ranks that are computed at once
AT_ONCE = 2**14

# positions in a tie group that are computed one after another; such stretches are joined
STRETCH = 2**8


def inferred_precisions(block: Block, threshold: float, ties: Any) -> Array:
    """Expected inferred precision at each rank if its document is relevant, 0 otherwise.

    Among m tied documents, r of them relevant, each of the others above a relevant one is relevant
    with probability (r - 1)/(m - 1). The precision is linear in the numbers of relevant and of
    unjudged documents above, so that their means suffice where the number of judged documents above
    is certain.
    """
    kinds = judged_relevant(threshold), judged_irrelevant(threshold), pooled_unjudged
    shares = [block.by_rank(kind, ties) for kind in kinds]
    groups: tuple[Any, Any] = block.tie_groups(ties)
    offset, size = groups
    above = [_above_group(share, offset) for share in shares]
    values = np.empty_like(shares[0])
    for first in range(0, len(block.ranks), AT_ONCE):
        ranks = slice(first, first + AT_ONCE)
        counts = [part[:, ranks] for part in above]
        if np.ndim(size):
            of_others = offset[:, ranks] / np.maximum(size[:, ranks] - 1, 1)
            for i, share in enumerate(shares):  # the document itself is a relevant one
                others = share[:, ranks] * size[:, ranks] - (i == 0)
                counts[i] = counts[i] + np.maximum(others, 0) * of_others
        precision = _precision(block.ranks[ranks], *counts)
        np.multiply(shares[0][:, ranks], precision, out=values[:, ranks])
    if np.ndim(size):
        _overwrite_uncertain(values, shares, above, offset, size)
    return values


def _above_group(share: Array, offset: Array | int) -> Array:
    """Number of documents of a kind above the tie group of each rank."""
    above = np.cumsum(share, axis=1)
    above -= share * (offset + 1)
    return np.asarray(np.rint(above, out=above))


def _precision(rank: Any, relevant: Any, irrelevant: Any, unjudged: Any) -> Any:
    """Inferred precision at a relevant document, from the documents of the pool above it.

    It is relevant itself; those above it outside of the pool are irrelevant, and those in the pool
    are relevant in the proportion of the judged ones.
    """
    judged = relevant + irrelevant
    share = (relevant + EPSILON) / (judged + 2 * EPSILON)
    return (1 + (judged + unjudged) * share) / rank


def _overwrite_uncertain(
    values: Array, shares: list[Array], above: list[Array], offset: Any, size: Any
) -> None:
    """Overwrite the values of tie groups of which some documents are judged and others are not."""
    n_judged = (shares[0] + shares[1]) * size
    some = (offset == 0) & (shares[0] > 0) & (n_judged > 1.5) & (n_judged < size - 0.5)
    rows, starts = np.nonzero(some)
    if not len(rows):
        return
    sizes = size[rows, starts]
    within = [np.rint(share[rows, starts] * sizes) for share in shares]
    expected = _relevant_above(sizes, *within, *(part[rows, starts] for part in above))
    position = positions(sizes)
    rank = np.repeat(starts, sizes) + position
    of_group = np.repeat(shares[0][rows, starts], sizes)
    values[np.repeat(rows, sizes), rank] = of_group * (1 + expected) / (rank + 1)


def _relevant_above(
    m: Array, r: Array, n: Array, u: Array, relevant: Array, irrelevant: Array, unjudged: Array
) -> Array:
    """Expected relevant documents of the pool above each position j = 0, 1, … of groups of m ties.

    The number c of judged documents among the j is hypergeometric. Given c, the product of the
    number in the pool and of the share that is relevant is a linear function of c, plus a multiple
    of 1 / (c + a).
    """
    judged = r - 1 + n
    per_judged, per_other = (r - 1) / judged, u / (m - r - n)
    a, b = relevant + irrelevant + 2 * EPSILON, relevant + EPSILON
    # (pooled + per_other j + more c) (b + per_judged c) / (c + a)
    pooled, more = relevant + irrelevant + unjudged, 1 - per_other
    rest = b - per_judged * a
    constant = pooled * per_judged + more * rest
    slope = per_judged * (per_other + more * judged / (m - 1))
    j = positions(m)
    reciprocals = np.repeat((pooled - more * a) * rest, m) + np.repeat(per_other * rest, m) * j
    reciprocals *= _mean_reciprocals(a, m, judged)
    return np.asarray(reciprocals + np.repeat(constant, m) + np.repeat(slope, m) * j)


def _mean_reciprocals(a: Array, m: Array, judged: Array) -> Array:
    """Mean of 1 / (c + a), c of the judged being among j = 0, 1, …, m - 1 drawn from m - 1.

    The recurrence is stable up to the j where its factor is -1. Beyond, those left are counted:
    judged - c are judged, and 1 / (c + a) is -1 / ((judged - c) - (judged + a)).
    """
    half = 2 * m - judged - 2 * a
    until = np.floor((half + np.sqrt(half**2 + 8 * m * a)) / 4).astype(np.intp) + 1
    until = np.clip(until, 1, m - 1)
    both = np.append(a, -(judged + a)), np.tile(m, 2), np.tile(judged, 2)
    forward, backward = np.split(_recurrence(*both, np.append(until, m - until)), [until.sum()])
    result = np.empty(m.sum())
    heads = np.cumsum(m) - m
    result[np.repeat(heads, until) + positions(until)] = forward
    result[np.repeat(heads + m - 1, m - until) - positions(m - until)] = -backward
    return result


def _recurrence(a: Array, m: Array, judged: Array, lengths: Array) -> Array:
    """As `_mean_reciprocals`, for the first j of each group, as many as in `lengths`.

    Let h(j) be the mean, and G(x) the sum of binom(judged, c) x^c / (c + a), so that
    x G' + a G = (1 + x)^judged. The sum of binom(m - 1, j) h(j) x^j is G (1 + x)^(m - 1 - judged),
    whose derivative gives (m - j) (j + a) h(j) = m + j (m - judged - a - j) h(j - 1).
    """
    heads = np.cumsum(lengths) - lengths
    n_stretches, starts, sizes = blocks(heads, lengths, STRETCH)
    joined = bool((n_stretches > 1).any())
    result = np.empty((1 + joined, lengths.sum()))
    # the values from 0 on, and the factors by which the value before a stretch contributes
    state = np.zeros((1 + joined, len(starts)))
    state[1:] = 1
    order = np.argsort(-sizes, kind="stable")
    places: Any = starts[order]
    j = (starts - np.repeat(heads, n_stretches))[order].astype(float)
    a, m, c = (np.repeat(values, n_stretches)[order] for values in (a, m, m - judged))
    for n in np.searchsorted(-sizes[order], -np.arange(sizes.max())):  # stretches not at their end
        state, j, places, a, m, c = (values[..., :n] for values in (state, j, places, a, m, c))
        inverse = 1 / ((m - j) * (j + a))
        state *= j * (c - j - a) * inverse
        state[0] += m * inverse
        result[:, places] = state
        j += 1
        places += 1
    if joined:
        _join(result, n_stretches, starts, sizes)
    return np.asarray(result[0])


def _join(result: Array, n_stretches: Array, starts: Array, sizes: Array) -> None:
    """Add to each stretch of a recurrence what the last value before it contributes."""
    ends = starts + sizes - 1
    before = np.zeros(len(starts))
    first = np.cumsum(n_stretches) - n_stretches
    for i in range(1, n_stretches.max()):
        some = first[n_stretches > i] + i
        value, factor = result[:, ends[some - 1]]
        before[some] = value + factor * before[some - 1]
    result[0] += np.repeat(before, sizes) * result[1]


def blocks(starts: Array, sizes: Array, longest: int) -> tuple[Array, Array, Array]:
    """Divide groups evenly into blocks: how many each group has, and their starts and sizes."""
    n_blocks = -(-sizes // longest)
    length = np.repeat(-(-sizes // n_blocks), n_blocks)
    before = positions(n_blocks) * length
    return (
        n_blocks,
        np.repeat(starts, n_blocks) + before,
        np.minimum(length, np.repeat(sizes, n_blocks) - before),
    )


def positions(lengths: Array) -> Array:
    """0, 1, … in each of several parts that follow one another."""
    heads = np.cumsum(lengths) - lengths
    return np.asarray(np.arange(lengths.sum()) - np.repeat(heads, lengths))


# entries that are merged at a time
PART = 2**14


def ranked_labels(block: Block, ties: Any) -> tuple[Array, Array, Array]:
    """Labels by rank, -inf where there is no document; offsets and sizes of tie groups."""
    block = block.complete()
    labels = block.by_rank(linear, ties)
    labels = np.where(block.ranks <= block.sizes[:, None], labels, -np.inf)
    offset, size = block.tie_groups()
    return labels, np.broadcast_to(offset, labels.shape), np.broadcast_to(size, labels.shape)


def number_of_pairs(n: Array) -> Array:
    """Pairs among n documents."""
    return np.asarray(n * (n - 1) / 2)


def tied_pairs(labels: Array, offset: Array) -> tuple[Array, Array]:
    """Pairs in each row of equal labels, and of equal labels and equal scores."""
    ascending = np.sort(labels, axis=1)
    equal_label = ascending[:, 1:] == ascending[:, :-1]
    equal_both = (labels[:, 1:] == labels[:, :-1]) & (offset[:, 1:] > 0)
    return _pairs_within(equal_label, ascending), _pairs_within(equal_both, labels)


def _pairs_within(equals_next: Array, labels: Array) -> Array:
    """Pairs within groups of equal neighbors; labels of -inf are no documents."""
    size = TieGroups(equals_next, labels.shape[1]).size()
    return np.asarray(((size - 1) / 2 * np.isfinite(labels)).sum(axis=1))


def average_ranks(labels: Array) -> Array:
    """Rank of each entry by descending label, equal labels sharing their mean rank."""
    order = np.argsort(-labels, axis=1, kind="stable")
    descending = np.take_along_axis(labels, order, axis=1)
    groups = TieGroups(descending[:, 1:] == descending[:, :-1], labels.shape[1])
    descending[:] = np.arange(1, labels.shape[1] + 1)
    by_position = groups.broadcast(groups.starts + (groups.sizes + 1) / 2, descending)
    del groups
    ranks = np.empty(labels.shape)
    np.put_along_axis(ranks, order, by_position, axis=1)
    return ranks


def inversions(labels: Array) -> Array:
    """Pairs in each row of which the later label is larger, counted by a merge sort."""
    n_rows, n_ranks = labels.shape
    width = 1 << (n_ranks - 1).bit_length()
    merged = np.full((n_rows, width), np.inf)
    merged[:, :n_ranks] = -labels
    counts = np.zeros(n_rows)
    half = 1
    while half < width:
        parts = merged.reshape(-1, 2 * half)
        rows = np.arange(len(parts)) // (width // (2 * half))
        count = _merge_halves if 2 * half <= PART else _merge_long_halves
        step = max(1, PART // (2 * half))
        for first in range(0, len(parts), step):
            chosen = slice(first, first + step)
            counts += np.bincount(rows[chosen], count(parts[chosen]), minlength=n_rows)
        half *= 2
    return counts


def _merge_halves(parts: Array) -> Array:
    """Sort rows of which both halves are sorted; returns the inversions of each."""
    half = parts.shape[1] // 2
    order = np.argsort(parts, axis=1, kind="stable")
    from_right = np.cumsum(order >= half, axis=1)
    parts[:] = np.take_along_axis(parts, order, axis=1)
    return np.asarray((from_right * (order < half)).sum(axis=1))


def _merge_long_halves(parts: Array) -> Array:
    """The same for one row, in less memory."""
    left, right = np.split(parts[0], 2)
    steps = range(0, len(right), PART)
    not_above = (np.searchsorted(left, right[i : i + PART], side="right").sum() for i in steps)
    count = len(left) * len(right) - sum(map(int, not_above))
    parts[0].sort(kind="stable")
    return np.array([count])
