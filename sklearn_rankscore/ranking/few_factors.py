"""Symmetric means of factors with few distinct values, such as those of graded labels.

Documents with the same factor q, of which there are n, contribute C(n, i) q**i to the elementary
symmetric polynomials, whose generating functions multiply. All terms are positive, so that nothing
cancels.
"""

from __future__ import annotations

import numpy as np

from .._typing import Array
from .large_groups import NEGLIGIBLE, means_of_large_groups

# beyond this size, a binomial coefficient may be infinite
MAX_SIZE = 1000

# factors are counted where each of a few values occurs at least twice on average, and up to a
# higher number if they are multiples of 1 / 960: of 1/64, as for grades up to 6 in ERR, of 1/3 and
# of 1/5
FEW, COUNTED, SCALE, ROUNDING = 16, 64, 960, 1e-9

# up to this degree, polynomials have fewer terms than the number of documents that stop the user
LOW_DEGREE = 32

# groups per step, of low degree and of others: few enough to stay in cache, and enough that
# threads, which wait for Python's lock between operations, seldom wait
LOW_STEP, STEP = 2**14, 2**10


def is_counted(factors: Array, distinct: Array, n_distinct: Array, sizes: Array) -> Array:
    """Whether the factors of each group are counted.

    The groups follow one another, with `n_distinct` factors each. The choice depends on the group
    alone; otherwise its rounding would depend on its block.
    """
    few = (n_distinct <= FEW) & (2 * n_distinct <= sizes)
    if few.all() or not _is_other(distinct).any():
        return np.asarray(few | (n_distinct <= COUNTED))
    has_other = np.logical_or.reduceat(_is_other(factors), np.cumsum(sizes) - sizes)
    return np.asarray(few | (~has_other & (n_distinct <= COUNTED)))


def _is_other(factors: Array) -> Array:
    scaled = factors * SCALE
    return np.asarray(np.abs(scaled - np.rint(scaled)) > ROUNDING)


def distinct_factors(factors: Array) -> Array:
    """Distinct factors in ascending order."""
    ordered = np.sort(factors)
    return np.asarray(ordered[np.append(True, ordered[1:] != ordered[:-1])])


def count_factors(factors: Array, distinct: Array, sizes: Array) -> Array:
    """How often each distinct factor occurs in each group, in one row per factor.

    The groups follow one another.
    """
    code = np.zeros(len(factors), dtype=np.int16)
    for factor in distinct[1:]:
        code += factors >= factor
    cells = np.repeat(np.arange(len(sizes)) * len(distinct), sizes)
    counts = np.bincount(cells + code, minlength=len(sizes) * len(distinct))
    return np.ascontiguousarray(counts.reshape(len(sizes), -1).T)


def means_by_counts(factors: Array, counts: Array, n_degrees: Array) -> Array:
    """The means of degree 1 to n_degrees of each group, one group after another."""
    (counts, degrees), of_group = _distinct_columns(counts, n_degrees)
    sizes = counts.sum(axis=0)
    tops = np.minimum(degrees, top_degrees(factors @ counts / sizes))
    is_low, is_short = tops <= LOW_DEGREE, sizes <= MAX_SIZE
    first, means = np.cumsum(degrees) - degrees, np.zeros(degrees.sum())
    for compute, is_member, key, step in (
        (_by_polynomials, is_low, tops, LOW_STEP),
        (_by_stops, ~is_low & is_short, sizes, STEP),
        (means_of_large_groups, ~is_low & ~is_short, tops, STEP),
    ):
        members = np.flatnonzero(is_member)
        members = members[np.argsort(key[members], kind="stable")]
        for start in range(0, len(members), step):
            chosen = members[start : start + step]
            by_degree = compute(factors, counts[:, chosen], int(tops[chosen].max()))
            degree = np.arange(len(by_degree))
            within = degree < tops[chosen, None]
            means[(first[chosen, None] + degree)[within]] = by_degree.T[within]
    heads = np.cumsum(n_degrees) - n_degrees
    return means.take(np.repeat(first[of_group] - heads, n_degrees) + np.arange(n_degrees.sum()))


def top_degrees(mean: Array) -> Array:
    """The highest degree whose mean product is not negligible, given the mean of the factors.

    Maclaurin's inequality: the mean of degree j is at most the arithmetic mean to the power j.
    """
    last = np.log(NEGLIGIBLE) / np.log(np.clip(mean, 1e-300, 1 - 1e-16)) + 1
    return np.asarray(last.astype(np.int64))


def _distinct_columns(counts: Array, n_degrees: Array) -> tuple[tuple[Array, Array], Array]:
    """Distinct columns of counts and degrees, and which of them each group has."""
    columns = np.vstack([counts, n_degrees])
    bases = columns.max(axis=1) + 1.0
    if np.log2(bases).sum() > 62:
        return (counts, n_degrees), np.arange(len(n_degrees))
    weights = np.cumprod(np.append(1, bases[:-1].astype(np.int64)))
    _, first, of_group = np.unique(weights @ columns, return_index=True, return_inverse=True)
    return (counts[:, first], n_degrees[first]), of_group


def _by_polynomials(factors: Array, counts: Array, top: int) -> Array:
    """The means of degree 1 to `top` of each group, in rows."""
    total = np.ones((1, counts.shape[1]))
    for factor, n in zip(factors.tolist(), counts, strict=True):
        values, of_group = np.unique(n, return_inverse=True)
        degree = np.arange(min(top, values[-1]) + 1)[:, None]
        terms = _ways(values, len(degree) - 1) * factor**degree
        total = product(total, terms.take(of_group, axis=1), top)
    values, of_group = np.unique(counts.sum(axis=0), return_inverse=True)
    n_subsets = np.maximum(_ways(values, top)[1:], 1.0)
    return np.asarray(total[1:] / n_subsets.take(of_group, axis=1))


def _by_stops(factors: Array, counts: Array, top: int) -> Array:
    """As `_by_polynomials`, from the number of documents that would stop the user.

    A document does with the probability 1 - q. If k of m documents would, then none of them is
    among the first j with the probability C(m - j, k) / C(m, k).
    """
    stops, sizes = np.ones((1, counts.shape[1])), counts.sum(axis=0)
    for factor, n in zip(factors[::-1].tolist(), counts[::-1], strict=True):
        if factor < 1:
            values, of_group = np.unique(n, return_inverse=True)
            stops = product(stops, _binomial(values, 1.0 - factor).take(of_group, axis=1), MAX_SIZE)
            stops = _without_negligible(stops)
    means = np.empty((top, len(sizes)))
    edges = np.append(np.flatnonzero(np.diff(sizes, prepend=-1)), len(sizes)).tolist()
    for of_size in map(slice, edges[:-1], edges[1:]):
        size = int(sizes[of_size.start])
        means[:, of_size] = _none_among_first(stops[: size + 1, of_size], size, top)
    return means


def _binomial(n: Array, p: float) -> Array:
    """Probability of 0, 1, … successes in n trials, in rows."""
    k = np.arange(n.max() + 1)[:, None]
    return _without_negligible(_ways(n, int(n.max())) * p**k * (1.0 - p) ** np.maximum(n - k, 0))


def _ways(n: Array, top: int) -> Array:
    """C(n, 0), C(n, 1), …, C(n, top), in rows."""
    k, ways = np.arange(top + 1)[:, None], np.ones((top + 1, len(n)))
    np.cumprod(np.maximum(n - k[:-1], 0) / k[1:], axis=0, out=ways[1:])
    return ways


def product(a: Array, b: Array, top: int) -> Array:
    """The product of polynomials up to a degree, whose coefficients are in rows.

    The terms of a group are added in an order that does not depend on the other groups.
    """
    total = np.zeros((min(len(a) + len(b) - 1, top + 1), a.shape[1]))
    term = np.empty_like(a)
    for degree, coefficient in enumerate(b[: top + 1]):
        n = min(len(a), top + 1 - degree)
        total[degree : degree + n] += np.multiply(coefficient, a[:n], out=term[:n])
    return total


def _without_negligible(probability: Array) -> Array:
    """0 in place of each negligible probability, without the last rows that are all 0."""
    matters = probability > NEGLIGIBLE
    last = np.flatnonzero(matters.any(axis=1))[-1]
    return np.asarray((probability * matters)[: last + 1])


def _none_among_first(stops: Array, size: int, top: int) -> Array:
    """Probability that no document among the first 1, …, `top` stops the user, in rows."""
    degree, k = np.arange(1, top + 1), np.arange(len(stops) - 1)[:, None]
    none_yet = np.ones((len(stops), top))
    np.cumprod(np.maximum(size - degree - k, 0) / (size - k), axis=0, out=none_yet[1:])
    # not a matrix product, whose rounding may depend on the other groups
    if stops.shape[1] == 1:  # doubled, because NumPy sums a single column in another order
        return _none_among_first(np.repeat(stops, 2, axis=1), size, top)[:, :1]
    return np.asarray(np.einsum("kj,kg->jg", none_yet, stops))
