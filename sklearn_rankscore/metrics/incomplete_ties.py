"""What incompletely judged rankings count when scores tie, exactly, over all orders of the ties."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import gammaln

from .._typing import Array
from ..ranking import Block
from ..ranking.label_functions import judged_irrelevant, judged_relevant, pooled_unjudged

# trec_eval's INFAP_EPSILON: half of the prior of a judged document above being relevant
EPSILON = 0.00001
# a tie group is taken in parts of at most this many pairs of a position and a number of documents
PAIRS = 2**20
# ranks of which the precision is computed at a time
RANKS = 2**14


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


def inferred_precisions(block: Block, threshold: float, ties: Any) -> Array:
    """Expected inferred precision at each rank if its document is relevant, 0 otherwise."""
    kinds = judged_relevant(threshold), judged_irrelevant(threshold), pooled_unjudged
    relevant, irrelevant, unjudged = (block.by_rank(kind, ties) for kind in kinds)
    heads = _tied_heads(block, relevant, ties)
    above = [_before(part) for part in (relevant, irrelevant, unjudged)]
    values = np.empty(relevant.shape)
    for first in range(0, len(block.ranks), RANKS):
        ranks = slice(first, first + RANKS)
        precision = _precision(block.ranks[ranks], *(part[:, ranks] for part in above))
        np.multiply(relevant[:, ranks], precision, out=values[:, ranks])
    known: dict[tuple[int, ...], Array] = {}  # groups of equal counts, of which there are many
    for row, start, m in heads:
        in_group = (round(float(p[row, start]) * m) for p in (relevant, irrelevant, unjudged))
        before = (round(float(part[row, start])) for part in above)
        counts = (start, m, *before, *in_group)
        if counts not in known:
            known[counts] = _expected_in_group(*counts)
        values[row, start : start + m] = known[counts]
    return np.asarray(values)


def _tied_heads(block: Block, relevant: Array, ties: Any) -> list[tuple[int, int, int]]:
    """Row, first column and size of each tie group with a relevant document."""
    offset, size = block.tie_groups(ties)
    rows, starts = np.nonzero((size > 1) & (offset == 0) & (relevant > 0))
    if not len(rows):
        return []
    sizes = np.asarray(size)[rows, starts]
    return list(zip(rows.tolist(), starts.tolist(), sizes.tolist(), strict=True))


def _before(part: Array) -> Array:
    """Documents of a kind above each rank: a whole number, except within tie groups."""
    above = np.cumsum(part, axis=1)
    above -= part
    return np.asarray(np.rint(above, out=above))


def _expected_in_group(start: int, m: int, *counts: int) -> Array:
    """Expected contribution of each position of a group of m ties after rank `start`.

    `counts` are those of the relevant, irrelevant and unjudged documents before it, and in it.
    """
    before, within = list(counts[:3]), list(counts[3:])
    judged = within[0] - 1 + within[1]
    # by Hoeffding's inequality, further numbers of judged documents have a probability of 5e-18
    reach = 4.5 * judged**0.5 + 1
    step = min(1 + int(2 * reach * m / (judged + 1)), max(1, int(PAIRS / (4 * reach))))
    values = []
    for first in range(0, m, step):
        j = np.arange(first, min(first + step, m))[:, None]
        low, high = (judged * int(end) / max(m - 1, 1) for end in (j[0, 0], j[-1, 0]))
        count = np.arange(max(int(low - reach), 0), min(int(high + reach) + 1, judged) + 1)
        values.append(_expected(start, m, j, count, before, within))
    return np.concatenate(values)


def _precision(rank: Any, relevant: Any, irrelevant: Any, unjudged: Any) -> Any:
    """Inferred precision at a relevant document, from the documents of the pool above it.

    It is relevant itself; those above it outside of the pool are irrelevant, and those in the pool
    are relevant in the proportion of the judged ones.
    """
    judged = relevant + irrelevant
    share = (relevant + EPSILON) / (judged + 2 * EPSILON)
    return (1 + (judged + unjudged) * share) / rank


def _expected(
    start: int, m: int, j: Array, count: Array, before: list[int], in_group: list[int]
) -> Array:
    """Expected contribution of the positions j = 0, 1, … of a group of m ties after rank `start`.

    A position is relevant with probability r/m. Then the number of judged documents among the j
    before it has the hypergeometric distribution, of which `count` are the likely values. Given
    that number, those that are relevant and those of the pool that are not judged are independent;
    the precision is linear in both.
    """
    (relevant, irrelevant, unjudged), (r, n, u) = before, in_group
    judged, others = r - 1 + n, m - r - n
    probability = _hypergeometric(count, m - 1, judged, j)
    expected = _precision(
        start + j + 1,
        relevant + count * (r - 1) / max(judged, 1),
        irrelevant + count * n / max(judged, 1),
        unjudged + (j - count) * u / max(others, 1),
    )
    return np.asarray(r / m * (probability * expected).sum(axis=1))


def _hypergeometric(count: Array, total: int, good: int, drawn: Array) -> Array:
    """Probability of `count` good ones among those drawn without replacement."""
    possible = (count <= drawn) & (drawn - count <= total - good)
    others = np.where(possible, drawn - count, 0)
    taken = np.where(possible, count, 0)
    log_factorial = gammaln(np.arange(total + 1) + 1.0)

    def log_choose(n: int, k: Array) -> Array:
        return np.asarray(log_factorial[n] - log_factorial[k] - log_factorial[n - k])

    logs = log_choose(good, taken) + log_choose(total - good, others)
    return np.asarray(np.where(possible, np.exp(logs - log_choose(total, drawn)), 0.0))
