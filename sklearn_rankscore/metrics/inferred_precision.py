"""Inferred precision when scores tie, exactly, over all orders of the ties."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import Array
from ..ranking import Block
from ..ranking.label_functions import judged_irrelevant, judged_relevant, pooled_unjudged

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
