"""Means of products over random subsets: elementary symmetric means of groups of factors."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.special import comb

from .._typing import Array
from .accumulate import accumulate
from .factor_groups import FactorGroups, join_groups, reduce_groups
from .number_of_stops import means_from_stops, stops_of_counts, stops_of_many
from .polynomials import (
    AT_ONCE,
    BLOCK,
    NEGLIGIBLE,
    blocks,
    in_columns,
    merge_pairs,
    pairs,
    positions,
    product_of_lines,
    steps,
)
from .power_sums import means_from_power_sums, number_of_terms

# up to this number of distinct factors, it is counted how often each occurs
FEW = 16

# up to this degree, coefficients take less time than the number of stops
LOW_DEGREE = 300

# groups of up to this size are computed at once with all others of the same size
SMALL = 16

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
    for chosen, by_degree in _means(FactorGroups(factors, starts, sizes, tops)):
        # rounding must not make differences, which are probabilities, negative
        accumulate(np.minimum, np.minimum(by_degree, 1.0, out=by_degree).T)
        degree = np.arange(len(by_degree))[:, None]
        place, within = first[chosen] + degree, degree < tops[chosen]
        if within.all():
            result[place] = by_degree
        else:
            result[place[within]] = by_degree[within]
    return result


def _top_degrees(mean: Array) -> Array:
    """The highest degree whose mean product is not negligible, given the mean of the factors.

    Maclaurin's inequality: the mean of degree j is at most the arithmetic mean to the power j.
    """
    last = np.log(NEGLIGIBLE) / np.log(np.clip(mean, 1e-300, 1 - 1e-16)) + 1
    return np.asarray(last.astype(np.int64))


def _means(groups: FactorGroups) -> Iterator[tuple[Array, Array]]:
    """Some groups, and their means of degree 1, 2, … in rows, by their fastest method.

    The choice depends on the group alone; otherwise its rounding would depend on other groups.
    """
    is_small = groups.sizes <= SMALL
    for size in range(1, SMALL + 1):
        members = np.flatnonzero(is_small & (groups.sizes == size))
        for step in steps(len(members), AT_ONCE // size):
            yield members[step], _of_size(size, groups.factors, groups.starts[members[step]])
    n_terms = number_of_terms(groups)
    chosen = np.flatnonzero(n_terms)
    for some in groups.take(chosen).batches():
        members = chosen[some]
        yield members, means_from_power_sums(groups.take(members), n_terms[members])
    others = np.flatnonzero((n_terms == 0) & ~is_small)
    for some, means in _from_products(groups.take(others)):
        yield others[some], means


def _of_size(size: int, factors: Array, starts: Array) -> Array:
    """The means of all degrees of groups of one size."""
    coefficients = product_of_lines(factors[starts + np.arange(size)[:, None]], size)[1:]
    return coefficients / comb(size, np.arange(1, size + 1))[:, None]


def _from_products(groups: FactorGroups) -> Iterator[tuple[Array, Array]]:
    """As `_means`, from products of the polynomials of single documents."""
    is_low = groups.tops <= LOW_DEGREE
    low, high = np.flatnonzero(is_low), np.flatnonzero(~is_low)
    for some in groups.take(low).batches():
        yield low[some], _from_coefficients(groups.take(low[some]))
    part = np.cumsum(groups.sizes[high]) // PART
    for members in np.split(high, np.flatnonzero(np.diff(part)) + 1) if len(high) else []:
        factors, counts, is_few = _distinct_factors(groups.take(members))
        few, many = members[is_few], members[~is_few]
        for some in groups.take(few).batches():
            stops = stops_of_counts(factors[:, some], counts[:, some])
            yield few[some], _from_stops(groups.take(few[some]), stops)
        for some in groups.take(many).batches():
            chosen = groups.take(many[some])
            stops = stops_of_many(chosen.factors, chosen.starts, chosen.sizes)
            yield many[some], _from_stops(chosen, stops)


def _from_stops(groups: FactorGroups, stops: tuple[Array, Array]) -> Array:
    return means_from_stops(*stops, groups.sizes, groups.tops)


def _from_coefficients(groups: FactorGroups) -> Array:
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
    return np.asarray(terms[1:] * accumulate(np.multiply, ratios.T).T)


def _distinct_factors(groups: FactorGroups) -> tuple[Array, Array, Array]:
    """Distinct factors of each group that has few, and how often each occurs; which groups have.

    Factors are in rows, groups in columns.
    """
    sizes = groups.sizes
    columns = np.repeat(np.arange(len(sizes)), sizes)
    values, heads = join_groups(groups.factors, groups.starts, sizes)
    for part in np.split(values, heads[1:]):
        part.sort()
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
