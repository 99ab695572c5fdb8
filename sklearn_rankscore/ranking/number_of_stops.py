"""Symmetric means from the number of documents of a tie group that would stop the user.

A document whose factor is q would stop the user with the probability 1 - q, independently of the
others. If k of m documents would, then none of them is among the first j with the probability
C(m - k, j) / C(m, j), so that the mean of degree j is the expectation over k. All terms are
positive, so that nothing cancels.
"""

from __future__ import annotations

import numpy as np

from .._typing import Array
from .polynomials import (
    BLOCK,
    NEGLIGIBLE,
    blocks,
    in_columns,
    merge_pairs,
    pairs,
    product_of_lines,
)

# degrees that are computed at once, so few that their falling factorials do not underflow
SPAN = 2**8


def means_from_stops(least: Array, probability: Array, sizes: Array, tops: Array) -> Array:
    """The means of degree 1, 2, … of each group, in rows, up to its own degree of `tops`.

    `probability` is that of the least number of stops, and of 1, 2, … more, in rows.
    """
    degrees, n = np.arange(int(tops.max())), sizes - least
    # if only the least number of documents would stop the user
    means = np.maximum(n[:, None] - degrees, 0) / np.maximum(sizes[:, None] - degrees, 1)
    np.cumprod(means, axis=1, out=means)
    last, rows = np.minimum(tops, n).astype(np.intp), probability.T
    n_terms = rows.shape[1] - (rows[:, ::-1] > 0).argmax(axis=1)
    for first in range(0, len(degrees), SPAN):
        some = np.flatnonzero(last > first)
        sequences = _falling_factorials(rows[some], n[some, None], n_terms[some, None], first)
        ends = np.minimum(last[some] - first, SPAN).tolist()
        numbers = some.tolist(), ends, n_terms[some].tolist()
        for i, end, n_of_row, weights, falling in zip(*numbers, *sequences, strict=True):
            sums = np.correlate(falling[: end + n_of_row - 1], weights[:n_of_row], "valid")
            means[i, first : first + end] *= sums / falling[:end]
    return np.asarray(means.T)


def _falling_factorials(
    probability: Array, n: Array, n_terms: Array, first: int
) -> tuple[Array, Array]:
    """Two sequences of each group, in rows, whose correlation sums over the number of stops.

    With f_t = (n - first)! / (n - first - t)!, the ratio C(n - k, j) / C(n, j) is f_{j - first + k}
    / f_{j - first} times (n - k)! / n!. Both are relative to powers of n - first.
    """
    k, t = np.arange(probability.shape[1] - 1), np.arange(probability.shape[1] - 1 + SPAN)
    left = n - first
    weights = probability.copy()
    # beyond its own terms, a small group beside large ones would overflow
    weights[:, 1:] *= np.cumprod(np.where(k < n_terms - 1, left / np.maximum(n - k, 1), 1), axis=1)
    return weights, np.cumprod(np.maximum(left - t, 0) / left, axis=1)


def stops_of_counts(factors: Array, counts: Array) -> tuple[Array, Array]:
    """The least number of stops, and the probabilities from it on.

    The distinct factors of a group, and how often each of them occurs, are in columns.
    """
    least, probability = np.zeros(counts.shape[1]), np.ones((1, counts.shape[1]))
    for q, n in zip(factors, counts, strict=True):
        least += n * (q == 0)
        n = n * ((q > 0) & (q < 1))
        first, terms = _binomial(n, np.minimum(q, 1 - q))
        other = np.flatnonzero(q < 0.5)  # of these, documents that do not stop the user are counted
        terms[:, other] = terms[::-1, other]
        first[other] = n[other] - first[other] - len(terms) + 1
        total = np.zeros((len(probability) + len(terms) - 1, len(n)))
        for i, term in enumerate(terms):
            total[i : i + len(probability)] += term * probability
        n_below, probability = _without_negligible(total)
        least += first + n_below
    return least, probability


def stops_of_many(factors: Array, starts: Array, sizes: Array) -> tuple[Array, Array]:
    """As `stops_of_counts`, of `factors[start : start + size]` for each group."""
    n_blocks, starts, lengths = blocks(starts, sizes)
    least, terms = np.zeros(len(starts)), np.zeros((BLOCK + 1, len(starts)))
    for columns, given in in_columns(factors, starts, lengths, 1.0, BLOCK):
        terms[: len(given) + 1, columns] = product_of_lines(1.0 - given, BLOCK, given)
    while terms.shape[1] > len(sizes):
        first, has_second = pairs(n_blocks)
        sums = least[first]
        sums[has_second] += least[first[has_second] + 1]
        n_below, terms = _without_negligible(merge_pairs(terms, first, has_second))
        least, n_blocks = sums + n_below, (n_blocks + 1) // 2
    return least, terms / np.cumsum(terms, axis=0)[-1]


def _binomial(n: Array, p: Array) -> tuple[Array, Array]:
    """The least number of successes in n trials that matters, and the probabilities from it on.

    p is at most 1/2; otherwise the ratio of the largest to the first probability could overflow.
    """
    # Bernstein's inequality for the distance from the mean
    log, mean = -np.log(NEGLIGIBLE), n * p
    reach = np.ceil(log / 3 + np.sqrt((log / 3) ** 2 + 2 * log * mean * (1 - p))) + 1
    first = np.maximum(np.floor(mean) - reach, 0)
    k = first + np.arange(2 * reach.max() + 1)[:, None]
    ratios = np.maximum(n - k, 0) / (k + 1) * (p / (1 - p))
    probability = np.cumprod(np.vstack([np.ones(len(n)), ratios]), axis=0)
    probability /= probability.max(axis=0)
    n_below, probability = _without_negligible(probability)
    return first + n_below, probability / np.cumsum(probability, axis=0)[-1]


def _without_negligible(probability: Array) -> tuple[Array, Array]:
    """The number of rows before the first that matters in each column, and those from it on.

    Beyond the last that matters they are 0, as no sum of a group may depend on other groups.
    """
    matters = probability > NEGLIGIBLE
    n_below, n_until = matters.argmax(axis=0), len(matters) - matters[::-1].argmax(axis=0)
    rows = n_below + np.arange((n_until - n_below).max())[:, None]
    chosen = np.take_along_axis(probability, np.minimum(rows, n_until - 1), axis=0)
    return n_below, np.where(rows < n_until, chosen, 0.0)
