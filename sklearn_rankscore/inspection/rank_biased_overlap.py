"""Rank-biased overlap of rankings with ties, for rows of documents that two systems scored.

M. Corsi, J. Urbano. The Treatment of Ties in Rank-Biased Overlap. SIGIR 2024.
https://doi.org/10.1145/3626772.3657700. Its symbols: S is the shorter ranking of s documents, L the
longer one of l, X_d the overlap at depth d, and A_d the agreement.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from .._typing import Array
from ..ranking.plain import stable_order
from ..ranking.ties import TieGroups

RBOTies: TypeAlias = Literal["a", "b", "w"]
RBOEstimate: TypeAlias = Literal["ext", "min", "max"]


class Places(NamedTuple):
    """Where each document of some rows is ranked; the arrays have shape (n_queries, n_documents).

    Parameters
    ----------
    before, after : int array
        Number of documents above its tie group, and of those above the end of the group.
    ranked : bool array
        Whether it has a rank, which those with the score -inf have not.
    """

    before: Array
    after: Array
    ranked: Array

    @classmethod
    def of(cls, scores: Array) -> Places:
        """The places of documents with these scores, those of a query in one row."""
        order = stable_order(scores)
        ordered = np.take_along_axis(scores, order, axis=1)
        n_ranks = scores.shape[1]
        groups = TieGroups(ordered[:, 1:] == ordered[:, :-1], n_ranks)
        start = np.arange(n_ranks) - groups.offset()
        before, size = np.empty_like(order), np.empty_like(order)
        np.put_along_axis(before, order, start, axis=1)
        np.put_along_axis(size, order, groups.size(), axis=1)
        return cls(before, before + size, scores > -np.inf)

    @property
    def length(self) -> Array:
        """Number of ranked documents of each row."""
        return np.asarray(self.ranked.sum(axis=1))

    def swapped(self, rows: Array, other: Places) -> Places:
        """The places of `other` in some rows."""
        pairs = zip(self, other, strict=True)
        return Places(*(np.where(rows[:, None], b, a) for a, b in pairs))


def expected_overlap(a: Places, b: Places) -> Array:
    """X_d, the expected overlap at each depth over independent orders of the ties.

    The first d of a ranking hold a document with a probability that rises linearly within its tie
    group, so that a product of two of them is a polynomial of degree two between few depths.
    """
    both = a.ranked & b.ranked
    low, high = np.maximum(a.before, b.before), np.maximum(a.after, b.after)
    first_end = np.minimum(a.after, b.after)
    product = (both & (first_end > low)) / ((a.after - a.before) * (b.after - b.before))
    later = np.where(a.after >= b.after, a.before, b.before)
    ramp = both / (high - later)
    middle = np.maximum(low, first_end)
    # constant, linear and quadratic terms that begin after each of three depths
    starts = [low, middle, high]
    constant = [product * a.before * b.before, -product * a.before * b.before - ramp * later]
    linear = [-product * (a.before + b.before), product * (a.before + b.before) + ramp]
    terms = [
        [*constant, ramp * later + both],
        [*linear, -ramp],
        [product, -product],
    ]
    c, d, e = (_sums_from(starts, values) for values in terms)
    depth = np.arange(1, a.before.shape[1] + 1)
    return np.asarray(c + depth * (d + depth * e))


def rank_biased_overlap(
    a: Places, b: Places, p: float, ties: RBOTies, estimate: RBOEstimate
) -> Array:
    """RBO of each row; nan if one of its rankings is empty."""
    swap = a.length > b.length
    short, long = a.swapped(swap, b), b.swapped(swap, a)
    s, length = short.length[:, None], np.maximum(long.length, 1)[:, None]
    depth = np.arange(1, a.before.shape[1] + 1)
    overlap = _certain_overlap(short, long) if ties == "w" else expected_overlap(short, long)
    size = np.where(s > 0, _size(short, long, ties, depth > s), depth)
    at_s = _at(overlap / size, s)
    if estimate != "min":
        unseen = _unseen_overlap(short, long, overlap, ties, at_s if estimate == "ext" else None)
        agreement = (overlap + np.where(depth > s, unseen, 0.0)) / size
    else:
        agreement = overlap / size
    total = np.where(depth <= length, agreement * p**depth, 0.0).sum(axis=1, keepdims=True)
    total += _beyond(_at(overlap, length), s, length, p, estimate, at_s, depth)
    return np.asarray(np.where(s > 0, total * (1 - p) / p, np.nan)[:, 0])


def _size(short: Places, long: Places, ties: RBOTies, is_beyond: Array) -> Array:
    """What the overlap is divided by: the depth, or what ties make of the sizes of both sets.

    Beyond the shorter ranking, the set of its documents has the size of the depth.
    """
    depth = np.broadcast_to(np.arange(1, is_beyond.shape[1] + 1), is_beyond.shape)
    if ties == "a":
        return depth
    sizes = [
        _certain_overlap(x, x) if ties == "w" else expected_overlap(x, x) for x in (short, long)
    ]
    sizes[0] = np.where(is_beyond, depth, sizes[0])
    return np.asarray((sizes[0] + sizes[1]) / 2 if ties == "w" else np.sqrt(sizes[0] * sizes[1]))


def _certain_overlap(a: Places, b: Places) -> Array:
    """The overlap where all documents of a tie group have its first rank."""
    return _sums_from([np.maximum(a.before, b.before)], [(a.ranked & b.ranked) * 1.0])


def _unseen_overlap(
    short: Places, long: Places, overlap: Array, ties: RBOTies, agreement: Array | None
) -> Array:
    """What the continuation of the shorter ranking adds to the overlap, from its end on.

    It agrees with documents of the longer ranking alone as much as the `agreement` so far, or, if
    that is None, with the first of them.
    """
    depth = np.arange(1, overlap.shape[1] + 1)
    further = np.maximum(depth - short.length[:, None], 0)
    if ties == "w":
        return np.asarray(further * (1.0 if agreement is None else agreement))
    alone = (long.ranked & ~short.ranked) * 1.0
    started, ended = _sums_from([long.before], [alone]), _sums_from([long.after - 1], [alone])
    expected = depth - overlap  # documents of the longer ranking alone, within the depth
    if agreement is not None:
        return np.asarray(further * agreement * expected / np.maximum(started, 1))
    partly = (expected - ended) / np.maximum(started - ended, 1)
    return np.asarray(np.minimum(further, ended) + np.maximum(further - ended, 0) * partly)


def _beyond(
    overlap: Array,
    s: Array,
    length: Array,
    p: float,
    estimate: RBOEstimate,
    at_s: Array,
    depth: Array,
) -> Array:
    """The sum over the depths beyond the longer ranking, given the overlap at its end."""
    if estimate == "ext":
        agreement = (overlap + (length - s) * at_s) / length
        return np.asarray(agreement * p ** (length + 1.0) / (1 - p))
    harmonic = np.broadcast_to(np.cumsum(p**depth / depth), (len(s), len(depth)))
    up_to_length = _at(harmonic, length)
    if estimate == "min":
        return np.asarray(overlap * (-np.log1p(-p) - up_to_length))
    # each further document of either ranking may be one of the other, until all are
    union = length + s - overlap
    last = np.rint(union).astype(np.intp)
    geometric = (p ** (length + 1.0) - p ** (union + 1)) / (1 - p)
    partial = 2 * geometric - union * (_at(harmonic, last) - up_to_length)
    return np.asarray(partial + p ** (union + 1) / (1 - p))


def _sums_from(starts: list[Array], values: list[Array]) -> Array:
    """The sum of the values that start before each depth, of shape (n_queries, n_documents)."""
    n_rows, width = starts[0].shape
    slots = np.arange(n_rows)[:, None] * (width + 1)
    changes = sum(
        np.bincount((slots + start).ravel(), value.ravel(), n_rows * (width + 1))
        for start, value in zip(starts, values, strict=False)
    )
    return np.asarray(np.reshape(changes, (n_rows, width + 1))[:, :width].cumsum(axis=1))


def _at(values: Array, depth: Array) -> Array:
    """The value of each row at a depth of at least 1."""
    return np.take_along_axis(values, np.maximum(depth, 1) - 1, axis=1)
