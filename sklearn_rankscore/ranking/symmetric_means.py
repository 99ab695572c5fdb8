"""Means of products over random subsets: elementary symmetric means of groups of factors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._typing import Array
from .few_factors import (
    count_factors,
    distinct_factors,
    is_counted,
    means_by_counts,
    top_degrees,
)

# a mean below this changes no sum in double precision
NEGLIGIBLE = 1e-24

# factors per step: few enough to need little memory
STEP = 2**18

# up to this number of distinct factors, it is counted how often each occurs in each group
COUNTED = 64

# from this mean size on, groups are sorted one by one: a sort of numbers is faster than one of
# positions, by more than the call for each group takes
SORTED_ALONE = 32


@dataclass
class Sets:
    """Disjoint sets of factors, and the symmetric means of each.

    Parameters
    ----------
    groups : int array of shape (n_sets,)
        The group to which a set belongs.
    sizes : float array of shape (n_sets,)
        Its number of factors.
    means : array of shape (n_degrees, n_sets)
        The mean product over all subsets of 0, 1, 2, … factors; arbitrary beyond the size.
    """

    groups: Array
    sizes: Array
    means: Array

    def take(self, chosen: Array) -> Sets:
        """Some of the sets."""
        return Sets(self.groups[chosen], self.sizes[chosen], self.means.take(chosen, axis=1))


def symmetric_means(factors: Array, starts: Array, sizes: Array, n_degrees: Array) -> Array:
    """e_j(factors) / C(m, j) for j = 1, …, n_degrees of each group of m factors in [0, 1].

    e_j is the elementary symmetric polynomial of degree j, so this is the mean product over all
    subsets of j factors. A group's factors are `factors[start : start + size]`; the result holds
    one group after another.
    """
    if not len(sizes):
        return np.empty(0)
    step = np.cumsum(sizes) // STEP
    edges = np.append(np.flatnonzero(np.diff(step, prepend=-1)), len(sizes))
    parts = [slice(a, b) for a, b in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)]
    return np.concatenate(
        [_means_of_part(factors, starts[p], sizes[p], n_degrees[p]) for p in parts]
    )


def _means_of_part(factors: Array, starts: Array, sizes: Array, n_degrees: Array) -> Array:
    """From counts where factors are few, else by merging sets."""
    heads = np.cumsum(sizes) - sizes
    values = factors[starts[0] : starts[-1] + sizes[-1]]
    if len(values) > heads[-1] + sizes[-1]:  # other factors lie between the groups
        values = factors.take(np.arange(heads[-1] + sizes[-1]) + np.repeat(starts - heads, sizes))
    distinct, counts, equal = distinct_factors(values), None, None
    if len(distinct) <= COUNTED:
        counts = count_factors(values, distinct, sizes)
        n_distinct = np.count_nonzero(counts, axis=0)
    else:
        equal = _equal_factors(values, heads, sizes)
        n_distinct = np.bincount(equal[-1])
    counted = is_counted(values, distinct, n_distinct, sizes)
    if not counted.any():
        return _means_of_groups(equal or _equal_factors(values, heads, sizes), sizes, n_degrees)
    if counted.all():
        if len(sizes) == 1 and counts is None:
            counts = count_factors(values, distinct, sizes)
        if counts is not None:
            return means_by_counts(distinct, counts, n_degrees)
        counted[: len(sizes) // 2] = False  # half of the groups have fewer distinct factors
    means, places = np.empty(n_degrees.sum()), np.repeat(counted, n_degrees)
    for chosen, of_chosen in ((counted, places), (~counted, ~places)):
        part = (starts[chosen], sizes[chosen], n_degrees[chosen])
        means[of_chosen] = _means_of_part(factors, *part)
    return means


def _means_of_groups(equal: tuple[Array, Array, Array], sizes: Array, n_degrees: Array) -> Array:
    """Equal factors form a set, whose means are powers; sets of a group are merged in pairs.

    Sets of similar size are merged first, so that the work is proportional to the number of
    factors times the degree.
    """
    result, first = np.zeros(n_degrees.sum()), np.cumsum(n_degrees) - n_degrees
    values, counts, groups = equal
    mean = np.bincount(groups, values * counts) / sizes
    top = int(np.minimum(n_degrees, top_degrees(mean)).max())
    merged, level, levels = Sets(groups[:0], counts[:0], np.ones((1, 0))), 0, np.frexp(counts)[1]
    last = int(levels.max())
    while level <= last or len(merged.groups):
        fresh = np.flatnonzero(levels == level)
        powers = values[fresh] ** np.arange(min(top, 1 << level) + 1)[:, None]
        sets = _joined(merged, Sets(groups[fresh], counts[fresh], powers))
        whole = sets.sizes == sizes[sets.groups]
        _store(sets.take(np.flatnonzero(whole)), first, n_degrees, result)
        merged = _merge_pairs(sets.take(np.flatnonzero(~whole)), top)
        level += 1
    return result


def _equal_factors(values: Array, heads: Array, sizes: Array) -> tuple[Array, Array, Array]:
    """Distinct factors of each group, how often each occurs, and the groups."""
    groups = np.repeat(np.arange(len(sizes)), sizes)
    rises, falls = values[1:] > values[:-1], values[1:] < values[:-1]
    rises[heads[1:] - 1] = falls[heads[1:] - 1] = False
    if rises.any() and falls.any():
        values = _sorted(values, heads, groups)
    differs = np.append(True, values[1:] != values[:-1])
    differs[heads] = True
    first = np.flatnonzero(differs)
    counts = np.diff(first, append=len(values)).astype(np.float64)
    return values[first], counts, groups[first]


def _sorted(values: Array, heads: Array, groups: Array) -> Array:
    """The values of each group in ascending order."""
    if len(values) < SORTED_ALONE * len(heads):
        return values[np.lexsort((values, groups))]
    values = values.copy()
    for group in np.split(values, heads[1:]):
        group.sort()
    return values


def _joined(a: Sets, b: Sets) -> Sets:
    """The sets of both, those of a group adjacent."""
    if not len(a.groups) or not len(b.groups):
        return a if len(a.groups) else b
    n_a, groups = len(a.groups), np.append(a.groups, b.groups)
    order = np.argsort(groups, kind="stable")
    means = np.zeros((max(len(a.means), len(b.means)), len(groups)))
    means[: len(a.means), :n_a], means[: len(b.means), n_a:] = a.means, b.means
    return Sets(groups, np.append(a.sizes, b.sizes), means).take(order)


def _store(sets: Sets, first: Array, n_degrees: Array, result: Array) -> None:
    """Write the means of whole groups to their places."""
    n_known = np.minimum(n_degrees[sets.groups], len(sets.means) - 1)
    heads = np.cumsum(n_known) - n_known
    degree = np.arange(n_known.sum()) - np.repeat(heads, n_known)
    column = np.repeat(np.arange(len(n_known)), n_known)
    result[np.repeat(first[sets.groups], n_known) + degree] = sets.means[degree + 1, column]


def _merge_pairs(sets: Sets, top: int) -> Sets:
    """Sets of which two of each group are merged, and those that have no partner."""
    if not len(sets.groups):
        return sets
    is_first = np.append(True, sets.groups[1:] != sets.groups[:-1])
    head = np.flatnonzero(is_first)
    place = np.arange(len(is_first)) - np.repeat(head, np.diff(head, append=len(is_first)))
    left = np.flatnonzero((place % 2 == 0) & np.append(~is_first[1:], False))
    is_alone = np.ones(len(is_first), dtype=bool)
    is_alone[left] = is_alone[left + 1] = False
    alone = sets.take(np.flatnonzero(is_alone))
    return _joined(_union(sets.take(left), sets.take(left + 1), top), alone) if len(left) else alone


def _union(a: Sets, b: Sets, top: int) -> Sets:
    """The means of pairs of sets together.

    Of j factors drawn from both sets, i are from the first with the hypergeometric probability
    C(a, i) C(b, j - i) / C(a + b, j), which grows from j to j + 1 without cancellation.
    """
    if len(a.sizes) == 1:  # doubled, because NumPy sums a single column in another order
        a, b = a.take(np.zeros(2, dtype=np.intp)), b.take(np.zeros(2, dtype=np.intp))
        both = _union(a, b, top)
        return both.take(np.zeros(1, dtype=np.intp))
    a, b = _smaller_first(a, b)
    sizes, n_first, n_second = a.sizes + b.sizes, _n_degrees(a), _n_degrees(b)
    top = min(top, int(sizes.max()))
    drawn = np.arange(float(n_first))[:, None]
    left_of_a, left_of_b = np.maximum(a.sizes - drawn, 0.0), b.sizes + drawn + 1.0
    means, probability = np.zeros((top + 1, len(sizes))), np.zeros((n_first, len(sizes)))
    means[0] = probability[0] = 1.0
    for j in range(1, top + 1):
        n = min(j, n_first - 1)  # the largest number from the first set
        share = probability[: n + 1] / np.maximum(sizes - (j - 1), 1.0)
        np.multiply(share, np.maximum(left_of_b[: n + 1] - j, 0.0), out=probability[: n + 1])
        probability[1 : n + 1] += share[:n] * left_of_a[:n]
        least = max(0, j - n_second + 1)
        if least <= n:
            of_b = b.means[j - n : j - least + 1][::-1]
            terms = probability[least : n + 1] * a.means[least : n + 1]
            means[j] = np.einsum("is,is->s", terms, of_b)
    return Sets(a.groups, sizes, means)


def _smaller_first(a: Sets, b: Sets) -> tuple[Sets, Sets]:
    """The smaller and the larger set of each pair."""
    swapped = np.flatnonzero(a.sizes > b.sizes)
    means = np.zeros((2, max(len(a.means), len(b.means)), len(a.sizes)))
    means[0, : len(a.means)], means[1, : len(b.means)] = a.means, b.means
    sizes = np.stack([a.sizes, b.sizes])
    means[:, :, swapped], sizes[:, swapped] = means[::-1, :, swapped], sizes[::-1, swapped]
    return Sets(a.groups, sizes[0], means[0]), Sets(b.groups, sizes[1], means[1])


def _n_degrees(sets: Sets) -> int:
    """Number of degrees up to the last one with a mean that is not negligible."""
    return 1 + int(np.flatnonzero((sets.means > NEGLIGIBLE**2).any(axis=1)).max(initial=0))
