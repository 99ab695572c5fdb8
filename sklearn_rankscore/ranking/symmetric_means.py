"""Means of products over random subsets: elementary symmetric means of groups of factors."""

from __future__ import annotations

import numpy as np

from .._typing import Array
from .few_factors import COUNTED, count_factors, distinct_factors, is_counted, means_by_counts
from .merged_sets import means_by_merging

# factors per step: few enough to need little memory
STEP = 2**18

# from this mean size on, groups are sorted one by one: a sort of numbers is faster than one of
# positions, by more than the call for each group takes
SORTED_ALONE = 32


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
        return means_by_merging(*(equal or _equal_factors(values, heads, sizes)), sizes, n_degrees)
    if counted.all():
        if counts is not None:
            return means_by_counts(distinct, counts, n_degrees)
        counted[: len(sizes) // 2] = False  # half of the groups have fewer distinct factors
    means, places = np.empty(n_degrees.sum()), np.repeat(counted, n_degrees)
    for chosen, of_chosen in ((counted, places), (~counted, ~places)):
        part = (starts[chosen], sizes[chosen], n_degrees[chosen])
        means[of_chosen] = _means_of_part(factors, *part)
    return means


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
