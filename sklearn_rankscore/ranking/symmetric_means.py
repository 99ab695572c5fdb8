"""Means of products over random subsets: elementary symmetric means of groups of factors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .._typing import Array
from .number_of_stops import NEGLIGIBLE, means_from_stops, stops_of_counts, stops_of_many
from .polynomials import (
    AT_ONCE,
    BLOCK,
    blocks,
    in_columns,
    merge_pairs,
    pairs,
    positions,
    product_of_lines,
    steps,
)

# up to this number of distinct factors, it is counted how often each occurs
FEW = 16

# up to this degree, coefficients take less time than these counts
LOW_DEGREE = 256

# up to this degree, scaled coefficients are far from overflow
MAX_DEGREE = 700

# factors of which the distinct ones are found at once, for the sake of memory
PART = 2**18


def symmetric_means(factors: Array, starts: Array, sizes: Array, n_degrees: Array) -> Array:
    """e_j(factors) / C(m, j) for j = 1, …, n_degrees of each group of m factors in [0, 1].

    e_j is the elementary symmetric polynomial of degree j, so this is the mean product over all
    subsets of j factors. A group's factors are `factors[start : start + size]`; groups do not
    overlap, and their starts ascend. The result holds one group after another.
    """
    if not len(sizes):
        return np.empty(0)
    tops, many = n_degrees.copy(), np.flatnonzero(sizes > BLOCK)
    if len(many):
        means = reduce_groups(np.add, factors, starts[many], sizes[many]) / sizes[many]
        tops[many] = np.minimum(tops[many], _top_degrees(means))
    first, result = np.cumsum(n_degrees) - n_degrees, np.zeros(n_degrees.sum())
    for chosen, by_degree in _means(Groups(factors, starts, sizes, tops)):
        degree = np.arange(len(by_degree))
        within = degree < tops[chosen, None]
        result[(first[chosen, None] + degree)[within]] = by_degree.T[within]
    return result


def reduce_groups(function: np.ufunc, values: Array, starts: Array, sizes: Array) -> Array:
    """A sum or product over each group; groups do not overlap, and their starts ascend."""
    edges = np.stack([starts, starts + sizes], axis=1).ravel()
    return np.asarray(function.reduceat(values, edges[edges < len(values)])[::2])


def _top_degrees(mean: Array) -> Array:
    """The highest degree whose mean product is not negligible, given the mean of the factors.

    Maclaurin's inequality: the mean of degree j is at most the arithmetic mean to the power j.
    """
    last = np.log(NEGLIGIBLE) / np.log(np.clip(mean, 1e-300, 1 - 1e-16)) + 1
    return np.asarray(last.astype(np.int64))


@dataclass
class Groups:
    """Groups of factors, and the highest degree of each whose mean is computed."""

    factors: Array
    starts: Array
    sizes: Array
    tops: Array

    def take(self, chosen: Array) -> Groups:
        """Some of the groups."""
        return Groups(self.factors, self.starts[chosen], self.sizes[chosen], self.tops[chosen])

    def batches(self) -> Iterator[Array]:
        """Groups of similar degrees and sizes at once."""
        exponent = np.frexp(self.tops)[1]
        order = np.lexsort((self.sizes, exponent))
        for part in np.split(order, np.flatnonzero(np.diff(exponent[order])) + 1):
            # the coefficients of one block for each group, at most one per document and degree
            columns = AT_ONCE // min(int(self.tops[part].max(initial=1)), BLOCK)
            yield from (part[some] for some in steps(len(part), columns))


def _means(groups: Groups) -> Iterator[tuple[Array, Array]]:
    """Some groups, and their means of degree 1, 2, … in rows, by their fastest method.

    The choice depends on the group alone; otherwise its rounding would depend on other groups.
    """
    by_degree, high = groups.tops <= LOW_DEGREE, np.flatnonzero(groups.tops > LOW_DEGREE)
    part = np.cumsum(groups.sizes[high]) // PART
    for members in np.split(high, np.flatnonzero(np.diff(part)) + 1) if len(high) else []:
        factors, counts, is_few = _distinct_factors(groups.take(members))
        few, many = members[is_few], members[~is_few]
        for some in groups.take(few).batches():
            stops = stops_of_counts(factors[:, some], counts[:, some])
            yield few[some], _from_stops(groups.take(few[some]), stops)
        by_degree[many] = groups.tops[many] <= MAX_DEGREE
        many = many[groups.tops[many] > MAX_DEGREE]
        for some in groups.take(many).batches():
            chosen = groups.take(many[some])
            stops = stops_of_many(chosen.factors, chosen.starts, chosen.sizes)
            yield many[some], _from_stops(chosen, stops)
    low = np.flatnonzero(by_degree)
    for some in groups.take(low).batches():
        yield low[some], _from_coefficients(groups.take(low[some]))


def _from_stops(groups: Groups, stops: tuple[Array, Array]) -> Array:
    return means_from_stops(*stops, groups.sizes, int(groups.tops.max()))


def _from_coefficients(groups: Groups) -> Array:
    """From the coefficients of the product of 1 + q x, up to the highest degree."""
    sizes, top = groups.sizes, int(groups.tops.max())
    # about C(m, top)**(-1 / top), so that no C(m, j) * scale**j is too large or small for a float
    share = groups.tops / sizes
    scale = np.exp2(np.rint(np.log2(share * (1 - share) ** ((1 - share) / share))))
    n_blocks, starts, lengths = blocks(groups.starts, sizes)
    scales = np.repeat(scale, n_blocks)
    terms = np.zeros((min(top, int(lengths.max())) + 1, len(starts)))
    for columns, given in in_columns(groups.factors, starts, lengths, 0.0, len(terms)):
        product = product_of_lines(given * scales[columns], top)
        terms[: len(product), columns] = product
    while terms.shape[1] > len(sizes):
        terms, n_blocks = merge_pairs(terms, *pairs(n_blocks), top), (n_blocks + 1) // 2
    j = np.arange(top)[:, None]
    ratios = (j < groups.tops) * (j + 1) / (np.maximum(sizes - j, 1) * scale)
    return np.asarray(terms[1:] * np.cumprod(ratios, axis=0))


def _distinct_factors(groups: Groups) -> tuple[Array, Array, Array]:
    """Distinct factors of each group that has few, and how often each occurs; which groups have.

    Factors are in rows, groups in columns.
    """
    sizes = groups.sizes
    heads, columns = np.cumsum(sizes) - sizes, np.repeat(np.arange(len(sizes)), sizes)
    ends = (groups.starts + sizes).tolist()
    parts = zip(groups.starts.tolist(), ends, strict=True)
    values = np.concatenate([np.sort(groups.factors[start:end]) for start, end in parts])
    differs = np.append(True, values[1:] != values[:-1])
    differs[heads] = True
    first = np.flatnonzero(differs)
    n_distinct = np.bincount(columns[first])
    is_few = n_distinct <= FEW
    kept, n_few = np.repeat(is_few, n_distinct), n_distinct[is_few]
    place = positions(n_few), np.repeat(np.arange(len(n_few)), n_few)
    factors, counts = np.zeros((2, n_few.max(initial=0), len(n_few)))
    factors[place] = values[first][kept]
    counts[place] = np.diff(first, append=len(values))[kept]
    return factors, counts, is_few
