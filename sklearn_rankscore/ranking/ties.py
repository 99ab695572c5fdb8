"""Tie groups: what documents with equal scores count when their order is open."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np

from .._typing import Array

TIES = ("average", "stable", "reversed", "optimistic", "pessimistic")

# rules that rank equal scores by the order of the input
BY_INPUT_ORDER = ("stable", "reversed")

# a term below this share of the largest one changes no sum in double precision
NEGLIGIBLE = 1e-20


class TieGroups:
    """Groups of equal scores in ranked rows.

    Parameters
    ----------
    equals_next : bool array of shape (n_rows, n_ranks - 1)
        Whether the score at each rank equals the one at the next rank.

    Attributes
    ----------
    tied : bool array of shape (n_rows, n_ranks)
        Whether each position belongs to a tie group.
    group_starts, group_sizes : int arrays of shape (n_groups,)
        First position of each group in the flattened array, and its length, at least 2.
    """

    def __init__(self, equals_next: Array) -> None:
        self.shape = len(equals_next), equals_next.shape[1] + 1
        self.tied = np.zeros(self.shape, dtype=bool)
        self.tied[:, 1:] = equals_next
        first = np.zeros(self.shape, dtype=bool)
        np.greater(equals_next, self.tied[:, :-1], out=first[:, :-1])
        last = self.tied.copy()
        np.greater(self.tied[:, :-1], equals_next, out=last[:, :-1])
        self.tied[:, :-1] |= equals_next
        self.group_starts = np.flatnonzero(first)
        self.group_sizes = np.flatnonzero(last) + 1 - self.group_starts

    def broadcast(self, values: Array, others: Array) -> Array:
        """`others`, overwritten at each position of a group by the value of the group."""
        others[self.tied] = np.repeat(values, self.group_sizes)
        return others

    @property
    def start(self) -> Array:
        """Column where the group of each position starts."""
        width = self.shape[1]
        return self.broadcast(
            self.group_starts % width, np.tile(np.arange(width), (self.shape[0], 1))
        )

    @property
    def offset(self) -> Array:
        """Number of positions of the group before each position."""
        return np.arange(self.shape[1]) - self.start

    @property
    def size(self) -> Array:
        """Length of the group of each position, 1 outside of groups."""
        return self.broadcast(self.group_sizes, np.ones(self.shape, dtype=np.intp))

    def apply_tie_rule(self, values: Array, ties: str) -> Array:
        """Values under a tie rule, from values with ties in input order, which are overwritten."""
        if ties == "average":
            return self.broadcast(self._reduce(np.add, values) / self.group_sizes, values)
        if ties == "reversed":
            mirrored = 2 * self.start + self.size - 1 - np.arange(self.shape[1])
            return np.take_along_axis(values, mirrored, axis=1)
        if ties in ("optimistic", "pessimistic"):
            sign = -1.0 if ties == "optimistic" else 1.0
            order = np.lexsort((sign * values, self.start), axis=1)
            return np.take_along_axis(values, order, axis=1)
        return values

    def survival(self, continue_prob: Array, depth: int) -> Array:
        """Expected product of `continue_prob` over the first ranks, over all orders of the ties.

        The first j of m tied documents are a random subset, so their expected product is the
        elementary symmetric mean of degree j; tie groups are independent of one another.
        """
        flat, factors = continue_prob.ravel(), continue_prob.copy()
        within = factors.ravel()
        first_rank = self.group_starts % self.shape[1]
        for size, groups in self._by_size():
            if (needed := first_rank[groups] < depth).any():
                positions = self.group_starts[groups[needed], None] + np.arange(size)
                degree = min(size, depth)
                means = _symmetric_means(flat[positions], degree)
                within[positions[:, :degree]] = means[:, 1:]
        return (self._product_before(continue_prob) * factors)[:, :depth]

    def _reduce(self, function: np.ufunc, values: Array) -> Array:
        """A sum or product over each group."""
        edges = np.stack([self.group_starts, self.group_starts + self.group_sizes], axis=1).ravel()
        return np.asarray(function.reduceat(values.ravel(), edges[edges < values.size])[::2])

    def _by_size(self) -> Iterator[tuple[int, Array]]:
        order = np.argsort(self.group_sizes, kind="stable")
        sizes, heads = np.unique(self.group_sizes[order], return_index=True)
        for size, (head, end) in zip(sizes, pairwise([*heads, len(order)]), strict=True):
            yield int(size), order[head:end]

    def _product_before(self, factors: Array) -> Array:
        """Product of the factors before each position, or before its tie group."""
        whole = factors.copy()
        whole[self.tied] = 1.0
        whole.ravel()[self.group_starts] = self._reduce(np.multiply, factors)
        before = np.ones(self.shape)
        np.cumprod(whole[:, :-1], axis=1, out=before[:, 1:])
        return self.broadcast(before.ravel()[self.group_starts], before)


class TiedRows:
    """The rows of a block in which ties matter for the ranks up to the cut-off.

    Parameters
    ----------
    rows : int array of shape (n_tied,)
        Positions in the block.
    labels : array of shape (n_tied, n_ranks)
        Labels by rank, those of equal scores in any fixed order.
    tie_groups : TieGroups
        The groups of equal scores in these rows.
    in_input_order : callable
        Returns the labels by rank, those of equal scores in input order.
    """

    def __init__(
        self,
        rows: Array,
        labels: Array,
        tie_groups: TieGroups,
        in_input_order: Callable[[], Array],
    ) -> None:
        self.rows, self.labels, self.tie_groups = rows, labels, tie_groups
        self._in_input_order = in_input_order
        self._labels_in_input_order: Array | None = None

    @property
    def labels_in_input_order(self) -> Array:
        """Labels by rank, those of equal scores in input order."""
        if self._labels_in_input_order is None:
            self._labels_in_input_order = self._in_input_order()[:, : self.labels.shape[1]]
        return self._labels_in_input_order


def _symmetric_means(factors: Array, degree: int) -> Array:
    """e_j(factors) / C(m, j) for j = 0, …, degree, for each row of m factors in [0, 1].

    e_j is the elementary symmetric polynomial of degree j. Factors enter one at a time: with t of
    them, the mean of degree j is the convex combination (1 - j/t) · (mean without the t-th) +
    j/t · (t-th factor × mean of degree j - 1), so nothing cancels.
    """
    n_rows, size = factors.shape
    factors = -np.sort(-factors, axis=1)
    # Maclaurin's inequality: the mean of degree j is at most the arithmetic mean to the power j
    mean = np.clip(factors.mean(axis=1), 1e-300, 1 - 1e-16)
    last = np.minimum(degree, np.log(NEGLIGIBLE) / np.log(mean) + 1)[:, None]
    means = np.ones((n_rows, degree + 1))
    n_ones = int((factors == 1).all(axis=0).sum())  # leading factors of 1 leave the means at 1
    for t in range(n_ones + 1, size + 1):
        top = min(t, int(last.max()))
        share, factor = np.arange(1, top + 1) / t, factors[:, t - 1 : t]
        grown = (1 - share) * means[:, 1 : top + 1] + share * factor * means[:, :top]
        means[:, 1 : top + 1] = np.where(factor == 1, 1.0, grown)
    return np.where(np.arange(degree + 1) <= last, means, 0.0)
