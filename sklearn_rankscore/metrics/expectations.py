"""Expectations over tied scores where means do not suffice, and counts of pairs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.linalg import solve_banded

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
from ..ranking.plain import accumulate
from ..ranking.ties import BY_INPUT_ORDER

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
    first = block.first_group(relevant(threshold), ties, k)
    columns = first.before, first.size, first.count
    lengths = [int(column.max(initial=0)) + 1 for column in columns]
    if lengths[1] <= 2 or math.prod(lengths) >= len(first.size):
        return _expected_gain(first, k, gain)
    # many queries with few different groups
    every = FirstGroup(*np.indices(lengths).reshape(3, -1))
    return _expected_gain(every, k, gain)[np.ravel_multi_index(columns, lengths)]


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
        rows, groups = tied
        more = groups.offset() / np.maximum(groups.size() - 1, 1)
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
    k, fixed_order = precisions.shape[1], ties in BY_INPUT_ORDER
    hits = block.by_rank(relevant(threshold), ties if fixed_order else "average")[:, :k].sum(axis=1)
    expected = block.by_rank(relevant(threshold), ties)[:, :k]
    means = np.asarray(precisions.sum(axis=1) / np.maximum(expected.sum(axis=1), 1e-300))
    if fixed_order:
        return means, hits
    share = block.by_rank(relevant(threshold))
    offset, size = (np.broadcast_to(a, share.shape)[:, k - 1] for a in block.tie_groups())
    start = k - 1 - offset
    rows = np.flatnonzero((start + size > k) & (start < block.retrieved))
    if len(rows):
        start, size = start[rows, None], size[rows, None]
        above = np.arange(k) < start
        hits_above, sum_above = (
            (of_ranks[rows] * above).sum(axis=1)[:, None] for of_ranks in (expected, precisions)
        )
        n_relevant = np.rint(share[rows, k - 1, None] * size)
        means[rows] = _of_divided_groups(
            start, k - start, size, n_relevant, hits_above, sum_above, ties
        )
    return means, hits


def _of_divided_groups(
    start: Array, within: Array, size: Array, n_relevant: Array, hits_above: Array,
    sum_above: Array, ties: str,
) -> Array:  # fmt: skip
    """Mean precision of hits of queries with a tie group that the cut-off divides.

    For each query, in a column: ranks above the group, its documents within the cut-off and in all,
    the relevant ones of them, and the hits above it with the sum of their precisions.
    """
    h = np.arange(int(within.max()) + 1)  # relevant documents of the group within the cut-off
    possible = (h <= np.minimum(within, n_relevant)) & (h >= within - size + n_relevant)
    if ties == "average":
        before = np.arange(h[-1])  # of a relevant one, (h - 1) of (within - 1) are relevant
        reciprocals = (before < within) / (start + 1 + before)
        first, later = reciprocals.sum(axis=1), (reciprocals * before).sum(axis=1)
        others = (h - 1) / np.maximum(within - 1, 1)
        sums = h / within * ((hits_above + 1) * first[:, None] + others * later[:, None])
    elif ties == "optimistic":
        sums = _after_0(np.cumsum((hits_above + h[1:]) / (start + h[1:]), axis=1))
    else:  # each hit raises the precision at itself and at the later ones by 1 / their ranks
        reciprocals = np.cumsum(1.0 / np.maximum(start + within - h[:-1], 1), axis=1)
        sums = _after_0(hits_above * reciprocals + np.cumsum(reciprocals, axis=1))
    values = (sum_above + sums) / np.maximum(hits_above + h, 1)
    if ties == "average":
        both = possible[:, 1:] & possible[:, :-1]  # probabilities from the ratios of neighbors
        more, fewer = (n_relevant - h) * (within - h), h * (size - n_relevant - within + h)
        ratio = np.divide(more[:, :-1], fewer[:, 1:], out=np.ones(both.shape), where=both)
        logs = _after_0(np.cumsum(np.log(ratio), axis=1))
        weights = np.exp(logs - logs.max(axis=1)[:, None]) * possible
        return np.asarray((values * weights).sum(axis=1) / weights.sum(axis=1))
    if ties == "optimistic":
        return np.asarray(values.max(axis=1, where=possible, initial=-np.inf))
    return np.asarray(values.min(axis=1, where=possible, initial=np.inf))


def _after_0(sums: Array) -> Array:
    return np.pad(sums, ((0, 0), (1, 0)))


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
    above = [np.rint(np.cumsum(share, axis=1) - share * (offset + 1)) for share in shares]
    if not np.ndim(size):
        return np.asarray(shares[0] * _precision(block.ranks, *above))
    share_before = offset / np.maximum(size - 1, 1)
    expected = [
        before + np.maximum(share * size - is_itself, 0) * share_before
        for before, share, is_itself in zip(above, shares, (1, 0, 0), strict=True)
    ]
    values = shares[0] * _precision(block.ranks, *expected)
    del expected, share_before
    # groups of which some documents are judged and others are not
    n_judged = (shares[0] + shares[1]) * size
    some = (offset == 0) & (shares[0] > 0) & (n_judged > 1.5) & (n_judged < size - 0.5)
    rows, starts = np.nonzero(some)
    if len(rows):
        m = size[rows, starts]
        within = [np.rint(share[rows, starts] * m) for share in shares]
        relevant_above = _relevant_above(m, *within, *(part[rows, starts] for part in above))
        rows, ranks = np.repeat(rows, m), np.repeat(starts, m) + _positions(m)
        values[rows, ranks] = shares[0][rows, ranks] * (1 + relevant_above) / (ranks + 1)
    return np.asarray(values)


def _precision(rank: Any, relevant: Any, irrelevant: Any, unjudged: Any) -> Any:
    """Inferred precision at a relevant document, from the documents of the pool above it.

    It is relevant itself; those above it outside of the pool are irrelevant, and those in the pool
    are relevant in the proportion of the judged ones.
    """
    judged = relevant + irrelevant
    share = (relevant + EPSILON) / (judged + 2 * EPSILON)
    return (1 + (judged + unjudged) * share) / rank


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
    j = _positions(m)
    reciprocals = np.repeat((pooled - more * a) * rest, m) + np.repeat(per_other * rest, m) * j
    reciprocals *= _mean_reciprocals(a, m, judged)
    return np.asarray(reciprocals + np.repeat(constant, m) + np.repeat(slope, m) * j)


def _mean_reciprocals(a: Array, m: Array, judged: Array) -> Array:
    """Mean of 1 / (c + a), c of the judged being among j = 0, 1, …, m - 1 drawn from m - 1.

    Let h(j) be the mean, and G(x) the sum of binom(judged, c) x^c / (c + a), so that
    x G' + a G = (1 + x)^judged. The sum of binom(m - 1, j) h(j) x^j is G (1 + x)^(m - 1 - judged),
    whose derivative gives (m - j) (j + a) h(j) = m + j (m - judged - a - j) h(j - 1). Up to the j
    where the factor of h(j - 1) is -1 this is stable, and beyond it is read backwards, from
    h(m - 1) = 1 / (judged + a).
    """
    j = _positions(m)
    a, m, judged = (np.repeat(values, m) for values in (a, m, judged))
    inverse = 1 / ((m - j) * (j + a))
    factor, constant = j * (m - judged - a - j) * inverse, m * inverse
    is_forward = factor > -1  # of j = 0 it is 0
    # h(j) + to_next h(j + 1) = value, for the others
    to_next = np.zeros(len(j))
    value = np.where(is_forward, constant, 1 / (judged + a))
    backward = np.flatnonzero(~is_forward & (j < m - 1))
    to_next[backward] = -1 / factor[backward + 1]
    value[backward] = constant[backward + 1] * to_next[backward]
    bands = np.ones((3, len(j)))
    bands[0, 1:], bands[2, :-1] = to_next[:-1], np.where(is_forward, -factor, 0.0)[1:]
    own = {"overwrite_ab": True, "overwrite_b": True, "check_finite": False}
    return np.asarray(solve_banded((1, 1), bands, value, **own))


def _positions(lengths: Array) -> Array:
    """0, 1, … in each of several parts that follow one another."""
    return np.asarray(np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths))


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


def _pairs_within(equals_previous: Array, labels: Array) -> Array:
    """Pairs within runs of equal neighbors; labels of -inf are no documents."""
    first = _first_of_run(equals_previous)
    before = np.subtract(np.arange(first.shape[1]), first, out=first)
    return np.asarray((before * np.isfinite(labels)).sum(axis=1, dtype=np.float64))


def _first_of_run(equals_previous: Array) -> Array:
    """For each entry the column of the first one in its run of equal neighbors."""
    n_rows, width = equals_previous.shape
    first = np.zeros((n_rows, width + 1), dtype=np.intp)
    np.copyto(first[:, 1:], np.arange(1, width + 1), where=~equals_previous)
    return np.asarray(np.maximum.accumulate(first, axis=1, out=first))


def average_ranks(labels: Array) -> Array:
    """Rank of each entry by descending label, equal labels sharing their mean rank.

    With less memory than `scipy.stats.rankdata`, for queries of millions of documents.
    """
    order = np.argsort(-labels, axis=1, kind="stable")
    descending = np.take_along_axis(labels, order, axis=1)
    equals_previous = descending[:, 1:] == descending[:, :-1]
    del descending
    first = _first_of_run(equals_previous)
    first -= _first_of_run(equals_previous[:, ::-1])[:, ::-1]  # that is the last, from the end
    ranks = np.empty(labels.shape)
    np.put_along_axis(ranks, order, (first + labels.shape[1] + 1) / 2, axis=1)
    return ranks


def inversions(labels: Array) -> Array:
    """Pairs in each row of which the later label is larger, counted by a merge sort."""
    n_rows, n_ranks = labels.shape
    width, half = 1 << (n_ranks - 1).bit_length(), 1
    merged = np.full((n_rows, width), np.inf)
    merged[:, :n_ranks] = -labels
    counts = np.zeros(n_rows)
    while half < width:
        parts = merged.reshape(-1, 2 * half)
        rows = np.arange(len(parts)) // (width // (2 * half))
        step = max(1, PART // (2 * half))
        for first in range(0, len(parts), step):
            chosen = slice(first, first + step)
            counts += np.bincount(rows[chosen], _merge(parts[chosen]), minlength=n_rows)
        half *= 2
    return counts


def _merge(parts: Array) -> Array:
    """Sort rows of which both halves are sorted; returns the inversions of each."""
    half = parts.shape[1] // 2
    order = np.argsort(parts, axis=1, kind="stable")
    parts[:] = np.take_along_axis(parts, order, axis=1)
    is_left = order < half
    return np.asarray((np.cumsum(~is_left, axis=1, out=order) * is_left).sum(axis=1))
