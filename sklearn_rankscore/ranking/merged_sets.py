"""Symmetric means of groups whose factors have many distinct values.

Equal factors of a group form a set; sets of similar size are merged in pairs, so that the work is
proportional to the number of factors times the degree. A set has a term for each degree.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from .._typing import Array
from .few_factors import product, top_degrees

# a probability below this changes no sum in double precision, nor does a mean below its square
NEGLIGIBLE = 1e-24

# up to this degree, coefficients of polynomials of factors that matter are above 1e-300
LOW_DEGREE = 140

AnySets = TypeVar("AnySets", bound="Sets")


@dataclass
class Sets:
    """Disjoint sets of factors, whose terms are their symmetric means.

    Parameters
    ----------
    groups : int array of shape (n_sets,)
        The group to which a set belongs.
    sizes : float array of shape (n_sets,)
        Its number of factors.
    terms : array of shape (n_degrees, n_sets)
        The mean product over all subsets of 0, 1, 2, … factors; arbitrary beyond the size.
    """

    groups: Array
    sizes: Array
    terms: Array

    @classmethod
    def of_equal(cls, groups: Array, values: Array, counts: Array, top: int) -> Sets:
        """Sets of equal factors."""
        return cls(groups, counts, values ** np.arange(top + 1)[:, None])

    def take(self: AnySets, chosen: Array) -> AnySets:
        """Some of the sets."""
        return type(self)(self.groups[chosen], self.sizes[chosen], self.terms.take(chosen, axis=1))

    def means(self) -> Array:
        """The means of degree 0, 1, 2, … in rows."""
        return self.terms

    def union(self, other: Sets, top: int) -> Sets:
        """Each of the sets together with another one.

        Of j factors drawn from both sets, i are from the first with the hypergeometric probability
        C(a, i) C(b, j - i) / C(a + b, j), which grows from j to j + 1 without cancellation.
        """
        if len(self.sizes) == 1:  # doubled, because NumPy sums a single column in another order
            twice = np.zeros(2, dtype=np.intp)
            return self.take(twice).union(other.take(twice), top).take(twice[:1])
        a, b = _smaller_first(self, other)
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
                of_b = b.terms[j - n : j - least + 1][::-1]
                terms = probability[least : n + 1] * a.terms[least : n + 1]
                means[j] = np.einsum("is,is->s", terms, of_b)
        return Sets(a.groups, sizes, means)


class PolynomialSets(Sets):
    """Sets of n factors whose terms are e_j / n**j: merged in few operations, up to low degrees."""

    @classmethod
    def of_equal(cls, groups: Array, values: Array, counts: Array, top: int) -> Sets:
        """Sets of equal factors."""
        terms, j = np.ones((top + 1, len(groups))), np.arange(top)[:, None]
        np.cumprod(np.maximum(counts - j, 0) / (j + 1) * (values / counts), axis=0, out=terms[1:])
        return cls(groups, counts, terms)

    def means(self) -> Array:
        """The means of degree 0, 1, 2, … in rows."""
        j, means = np.arange(len(self.terms) - 1)[:, None], self.terms.copy()
        left = self.sizes - j
        means[1:] *= np.cumprod((left > 0) * (j + 1) * self.sizes / np.maximum(left, 1), axis=0)
        return means

    def union(self, other: Sets, top: int) -> Sets:
        """Each of the sets together with another one: the product of their polynomials."""
        sizes = self.sizes + other.sizes
        first, second = (_scaled(part.terms, part.sizes / sizes) for part in (self, other))
        return PolynomialSets(self.groups, sizes, product(first, second, top))


def means_by_merging(
    values: Array, counts: Array, groups: Array, sizes: Array, n_degrees: Array
) -> Array:
    """The means of degree 1 to n_degrees of each group, one group after another.

    `counts` tell how often each of the distinct `values` occurs in its group.
    """
    result, first = np.zeros(n_degrees.sum()), np.cumsum(n_degrees) - n_degrees
    tops = np.minimum(n_degrees, top_degrees(np.bincount(groups, values * counts) / sizes))
    is_low = tops <= LOW_DEGREE
    for members, kind in ((is_low, PolynomialSets), (~is_low, Sets)):
        chosen = np.flatnonzero(members[groups])
        given = groups[chosen], values[chosen], counts[chosen]
        for sets in _merged(kind, *given, sizes, int(tops[members].max(initial=0))):
            _store(sets, first, n_degrees, result)
    return result


def _merged(
    kind: type[Sets], groups: Array, values: Array, counts: Array, sizes: Array, top: int
) -> Iterator[Sets]:
    """Sets that are whole groups, those of similar size at once."""
    levels, level = np.frexp(counts)[1], 0
    merged = kind(groups[:0], counts[:0], np.ones((1, 0)))
    while level <= levels.max(initial=-1) or len(merged.groups):
        fresh = np.flatnonzero(levels == level)
        equal = groups[fresh], values[fresh], counts[fresh]
        sets = _joined(merged, kind.of_equal(*equal, min(top, 1 << level)))
        whole = sets.sizes == sizes[sets.groups]
        yield sets.take(np.flatnonzero(whole))
        merged = _merge_pairs(sets.take(np.flatnonzero(~whole)), top)
        level += 1


def _joined(a: Sets, b: Sets) -> Sets:
    """The sets of both, those of a group adjacent."""
    if not len(a.groups) or not len(b.groups):
        return a if len(a.groups) else b
    n_a, groups = len(a.groups), np.append(a.groups, b.groups)
    order = np.argsort(groups, kind="stable")
    terms = np.zeros((max(len(a.terms), len(b.terms)), len(groups)))
    terms[: len(a.terms), :n_a], terms[: len(b.terms), n_a:] = a.terms, b.terms
    return type(a)(groups, np.append(a.sizes, b.sizes), terms).take(order)


def _store(sets: Sets, first: Array, n_degrees: Array, result: Array) -> None:
    """Write the means of whole groups to their places."""
    means = sets.means()
    n_known = np.minimum(n_degrees[sets.groups], len(means) - 1)
    heads = np.cumsum(n_known) - n_known
    degree = np.arange(n_known.sum()) - np.repeat(heads, n_known)
    column = np.repeat(np.arange(len(n_known)), n_known)
    result[np.repeat(first[sets.groups], n_known) + degree] = means[degree + 1, column]


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
    return _joined(sets.take(left).union(sets.take(left + 1), top), alone) if len(left) else alone


def _smaller_first(a: Sets, b: Sets) -> tuple[Sets, Sets]:
    """The smaller and the larger set of each pair."""
    swapped = np.flatnonzero(a.sizes > b.sizes)
    terms = np.zeros((2, max(len(a.terms), len(b.terms)), len(a.sizes)))
    terms[0, : len(a.terms)], terms[1, : len(b.terms)] = a.terms, b.terms
    sizes = np.stack([a.sizes, b.sizes])
    terms[:, :, swapped], sizes[:, swapped] = terms[::-1, :, swapped], sizes[::-1, swapped]
    return Sets(a.groups, sizes[0], terms[0]), Sets(b.groups, sizes[1], terms[1])


def _n_degrees(sets: Sets) -> int:
    """Number of degrees up to the last one with a mean that is not negligible."""
    return 1 + int(np.flatnonzero((sets.terms > NEGLIGIBLE**2).any(axis=1)).max(initial=0))


def _scaled(terms: Array, ratios: Array) -> Array:
    """Terms of degree j times the j-th powers of ratios, one of each set."""
    scaled, power = terms.copy(), np.ones(len(ratios))
    for row in scaled[1:]:
        power *= ratios
        row *= power
    return scaled
