"""Inferred precision when scores tie, exactly, over all orders of the ties."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.polynomial.chebyshev import chebval, chebvander

from .._typing import Array
from ..ranking import Block
from ..ranking.label_functions import judged_irrelevant, judged_relevant, pooled_unjudged
from ..ranking.polynomials import positions

# trec_eval's INFAP_EPSILON: added to the numbers of relevant and of irrelevant documents above
EPSILON = 0.00001

# ranks, and positions in tie groups, that are computed at once
AT_ONCE = 2**14

# sums that are computed at once, of similar length
SUMMED = 2**12

# the logarithm of a probability that changes no sum in double precision
LOG_NEGLIGIBLE = -46.0

# beyond this position of a tie group, expectations between each position and twice it are
# interpolated by a polynomial in this number of nodes
DENSE, NODES = 2**8, 24


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
    values = np.empty(shares[0].shape)
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
    relevant, judged = shares[0], shares[0] + shares[1]
    n_judged = judged * size
    some = (offset == 0) & (relevant > 0) & (n_judged > 1.5) & (n_judged < size - 0.5)
    rows, starts = np.nonzero(some)
    if not len(rows):
        return
    sizes = size[rows, starts]
    within = [np.rint(share[rows, starts] * sizes) for share in shares]
    counts = np.stack([sizes, *within, *(part[rows, starts] for part in above)])
    # many groups have the same counts
    distinct, of_group = np.unique(counts, axis=1, return_inverse=True)
    expected, heads = _relevant_above(distinct)
    position = positions(sizes)
    row, rank = np.repeat(rows, sizes), np.repeat(starts, sizes) + position
    expected = expected.take(np.repeat(heads[of_group.ravel()], sizes) + position)
    values[row, rank] = relevant[row, rank] * (1 + expected) / (rank + 1)


def _relevant_above(counts: Array) -> tuple[Array, Array]:
    """Expected number of relevant documents above each position of groups, and where each begins.

    Of a large group it is computed at some positions, and interpolated.
    """
    sizes = counts[0].astype(np.intp)
    dense, large = np.minimum(sizes, DENSE), np.flatnonzero(sizes > DENSE)
    large = large[np.argsort(sizes[large], kind="stable")]
    nodes = [_nodes(m) for m in sizes[large].tolist()]
    position = positions(dense)
    groups = np.repeat(np.arange(len(sizes)), dense)
    groups = np.append(groups, np.repeat(large, [len(of_group) for of_group in nodes]))
    computed, of_all = np.empty(len(groups)), np.concatenate([position, *nodes])
    for first in range(0, len(groups), AT_ONCE):
        some = slice(first, first + AT_ONCE)
        computed[some] = _expected(of_all[some], *counts[:, groups[some]])
    heads = np.cumsum(sizes) - sizes
    expected, at_nodes = np.empty(sizes.sum()), computed[len(position) :]
    expected[np.repeat(heads, dense) + position] = computed[: len(position)]
    for m, n_groups in zip(*np.unique(sizes[large], return_counts=True), strict=True):
        members, large = large[:n_groups], large[n_groups:]
        of_members, at_nodes = np.split(at_nodes, [n_groups * len(_nodes(int(m)))])
        places = heads[members, None] + np.arange(DENSE, m)
        expected[places] = _interpolated(of_members.reshape(n_groups, -1), int(m))
    return expected, heads


def _intervals(m: int) -> list[tuple[int, int]]:
    """First and last positions of the intervals of a group of m ties, from `DENSE` on."""
    firsts = [DENSE << i for i in range((m // DENSE).bit_length())]
    return [(first, min(2 * first, m) - 1) for first in firsts if first < m]


@lru_cache
def _nodes(m: int) -> Array:
    """Positions of a group of m ties between which others are interpolated."""
    chebyshev = (1 - np.cos(np.linspace(0, np.pi, NODES))) / 2
    nodes = [first + (last - first) * chebyshev for first, last in _intervals(m)]
    return np.unique(np.rint(np.concatenate(nodes)).astype(np.intp))


def _interpolated(values: Array, m: int) -> Array:
    """Values of groups of m ties from the position `DENSE` on, from those at the nodes, in rows."""
    nodes, result = _nodes(m), np.empty((len(values), m - DENSE))
    for first, last in _intervals(m):
        chosen = slice(*np.searchsorted(nodes, [first, last + 1]).tolist())
        x = _scaled(nodes[chosen], first, last)
        coefficients = np.zeros((len(x), len(values)))
        # not a matrix product, whose rounding may depend on the other groups
        for column, value in zip(
            np.linalg.inv(chebvander(x, len(x) - 1)).T, values[:, chosen].T, strict=True
        ):
            coefficients += column[:, None] * value
        for start in range(first, last + 1, AT_ONCE):
            stop = min(start + AT_ONCE, last + 1)
            places = _scaled(np.arange(start, stop), first, last)
            result[:, start - DENSE : stop - DENSE] = chebval(places, coefficients)
    return result


def _scaled(positions: Array, first: int, last: int) -> Array:
    """Positions mapped to the interval from -1 to 1."""
    return np.asarray((2 * positions - first - last) / max(last - first, 1))


def _expected(j: Array, m: Array, *counts: Array) -> Array:
    """Expected relevant documents of the pool above position j = 0, 1, … of groups of m ties.

    The number c of judged documents among the j is hypergeometric. Given c, the product of the
    number in the pool and of the share that is relevant is a linear function of c, plus a multiple
    of 1 / (c + a).
    """
    r, n, u, relevant, irrelevant, unjudged = counts
    judged = r - 1 + n
    per_judged, per_other = (r - 1) / judged, u / (m - r - n)
    a, b = relevant + irrelevant + 2 * EPSILON, relevant + EPSILON
    pooled, more = relevant + irrelevant + unjudged + j * per_other, 1 - per_other
    # (pooled + more c) (b + per_judged c) / (c + a)
    linear = more * per_judged * j * judged / (m - 1)
    constant = pooled * per_judged + more * (b - per_judged * a)
    rest = (pooled - more * a) * (b - per_judged * a)
    return np.asarray(linear + constant + rest * _mean_reciprocal(a, m - 1, judged, j))


def _mean_reciprocal(a: Array, total: Array, judged: Array, drawn: Array) -> Array:
    """Mean of 1 / (c + a) for c judged documents among those drawn without replacement."""
    mean = drawn * judged / total
    variance = mean * (1 - judged / total) * (total - drawn) / np.maximum(total - 1, 1)
    # Bernstein's inequality: the number has the distribution of a sum of independent indicators
    third = -LOG_NEGLIGIBLE / 3
    reach = np.ceil(third + np.sqrt(third**2 - 2 * LOG_NEGLIGIBLE * variance)) + 1
    least = np.maximum(np.maximum(np.floor(mean - reach), drawn + judged - total), 0.0)
    most = np.minimum(np.minimum(np.ceil(mean + reach), drawn), judged)
    result, n_terms = np.empty(len(mean)), 1 + (most - least).astype(np.intp)
    order = np.argsort(n_terms)
    for first in range(0, len(order), SUMMED):
        some = order[first : first + SUMMED]
        unlike = (total - judged - drawn)[some]
        given = a[some], judged[some], drawn[some], unlike, least[some]
        result[some] = _sum_of_reciprocals(*given, int(n_terms[some[-1]]))
    return result


def _sum_of_reciprocals(
    a: Array, judged: Array, drawn: Array, unlike: Array, c: Array, n_terms: int
) -> Array:
    """As `_mean_reciprocal`, from the least c on; probabilities are products of ratios."""
    probability, factor = np.ones(len(c)), np.empty(len(c))
    total, reciprocals = np.zeros((2, len(c)))
    for _ in range(n_terms):
        total += probability
        reciprocals += np.divide(probability, np.add(c, a, out=factor), out=factor)
        probability *= np.subtract(judged, c, out=factor)
        probability *= np.subtract(drawn, c, out=factor)
        c += 1
        probability /= c
        probability /= np.add(c, unlike, out=factor)
    return np.asarray(reciprocals / total)
