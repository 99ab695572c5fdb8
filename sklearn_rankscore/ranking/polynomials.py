"""Products of many polynomials a + b x, one for each document of a tie group.

Groups, or blocks of their documents, are in columns, coefficients in rows. Where a and b are not
negative, nothing cancels.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .._typing import Array

# largest number of documents of a block, which are multiplied one by one; blocks are in pairs
BLOCK = 30

# a probability below this changes no sum of probabilities of about 1 in double precision
NEGLIGIBLE = 1e-17

# coefficients that are computed at once: few enough to stay in cache, and enough that threads,
# which wait for Python's lock between operations, seldom wait. Neither this number nor its quotient
# by that of documents is a power of two, because such rows would displace one another from cache
AT_ONCE = 50_000


def blocks(starts: Array, sizes: Array, longest: int = BLOCK) -> tuple[Array, Array, Array]:
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


def steps(n: int, step: int) -> Iterator[slice]:
    """Slices of at most `step`, and at least 1, of n items."""
    step = max(1, step)
    return (slice(start, start + step) for start in range(0, n, step))


def in_columns(
    values: Array, starts: Array, sizes: Array, padding: float, n_terms: int
) -> Iterator[tuple[slice, Array]]:
    """Some columns at once, and the values of their blocks, followed by padding.

    Each column is to have `n_terms` coefficients.
    """
    for columns in steps(len(starts), AT_ONCE // n_terms):
        row = np.arange(sizes[columns].max())[:, None]
        given = values.take(starts[columns] + row, mode="clip")
        given[row >= sizes[columns]] = padding
        yield columns, given


def product_of_lines(slopes: Array, top: int, constants: Array | None = None) -> Array:
    """Coefficients of the product of a + b x over each column, up to a degree.

    `constants` are 1 by default.
    """
    total = np.zeros((min(top, len(slopes)) + 1, slopes.shape[1]))
    total[0], term = 1.0, np.empty_like(total)
    for i, slope in enumerate(slopes):
        n = min(i + 1, len(total) - 1)
        np.multiply(slope, total[:n], out=term[:n])
        if constants is not None:
            total *= constants[i]
        total[1 : n + 1] += term[:n]
    return total


def product(a: Array, b: Array, top: int | None = None) -> Array:
    """The products of polynomials, up to a degree."""
    if a.shape[1] == 1:  # doubled, because NumPy may sum a single one in another order
        return product(np.repeat(a, 2, axis=1), np.repeat(b, 2, axis=1), top)[:, :1]
    n_terms, backward = len(a) + len(b) - 1, b[::-1]
    total = np.empty((n_terms if top is None else min(n_terms, top + 1), a.shape[1]))
    for degree, result in enumerate(total):
        least, end = max(0, degree - len(b) + 1), min(degree + 1, len(a))
        of_b = backward[least + len(b) - 1 - degree : end + len(b) - 1 - degree]
        np.einsum("is,is->s", a[least:end], of_b, out=result)
    return total


def pairs(n_blocks: Array) -> tuple[Array, Array]:
    """Adjacent blocks of each group in pairs: the first of each, and whether it has a second."""
    place = positions(n_blocks)
    first = np.flatnonzero(place % 2 == 0)
    return first, place[first] + 1 < np.repeat(n_blocks, n_blocks)[first]


def merge_pairs(terms: Array, first: Array, has_second: Array, top: int | None = None) -> Array:
    """Multiply the polynomials of `pairs`, up to a degree."""
    left = first[has_second]
    products = product(terms.take(left, axis=1), terms.take(left + 1, axis=1), top)
    if len(left) == len(first):
        return products
    merged = np.zeros((len(products), len(first)))
    merged[: len(terms)] = terms.take(first, axis=1)
    merged[:, has_second] = products
    return merged
