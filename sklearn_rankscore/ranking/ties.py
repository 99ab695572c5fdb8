"""Runs of equal scores: what the documents of a run are worth when their order is open."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from .arrays import Array

TIES = ("average", "stable", "reversed", "optimistic", "pessimistic")

# rules by which the order of the input decides
BY_INPUT = ("stable", "reversed")

# a survival below this share of itself changes no result in double precision
NEGLIGIBLE = 1e-20


class Runs:
    """Runs of equal scores in ranked rows.

    Parameters
    ----------
    same : bool array of shape (n_rows, n_ranks - 1)
        Whether the score at each rank equals the next one.

    Attributes
    ----------
    tied : bool array of shape (n_rows, n_ranks)
        Which places belong to a run.
    starts, sizes : int array of shape (n_runs,)
        First place of each run, in the flattened array, and how many places it has, at least 2.
    """

    def __init__(self, same: Array) -> None:
        self.shape = len(same), same.shape[1] + 1
        self.tied = np.zeros(self.shape, dtype=bool)
        self.tied[:, 1:] = same
        first = np.zeros(self.shape, dtype=bool)
        np.greater(same, self.tied[:, :-1], out=first[:, :-1])
        last = self.tied.copy()
        np.greater(self.tied[:, :-1], same, out=last[:, :-1])
        self.tied[:, :-1] |= same
        self.starts = np.flatnonzero(first)
        self.sizes = np.flatnonzero(last) + 1 - self.starts

    def spread(self, values: Array, others: Array) -> Array:
        """One value per run, given to each of its places; `others`, overwritten, elsewhere."""
        others[self.tied] = np.repeat(values, self.sizes)
        return others

    @property
    def start(self) -> Array:
        """First place of the run that each place belongs to, in its row."""
        width = self.shape[1]
        return self.spread(self.starts % width, np.tile(np.arange(width), (self.shape[0], 1)))

    @property
    def offset(self) -> Array:
        """How many places of the run stand before each place."""
        return np.arange(self.shape[1]) - self.start

    @property
    def size(self) -> Array:
        """Length of the run that each place belongs to, 1 outside of runs."""
        return self.spread(self.sizes, np.ones(self.shape, dtype=np.intp))

    def arrange(self, values: Array, ties: str) -> Array:
        """Values under a tie rule; they come in with ties in input order, and are used up."""
        if ties == "average":
            return self.spread(self._reduce(np.add, values) / self.sizes, values)
        if ties == "reversed":
            mirrored = 2 * self.start + self.size - 1 - np.arange(self.shape[1])
            return np.take_along_axis(values, mirrored, axis=1)
        if ties in ("optimistic", "pessimistic"):
            sign = -1.0 if ties == "optimistic" else 1.0
            order = np.lexsort((sign * values, self.start), axis=1)
            return np.take_along_axis(values, order, axis=1)
        return values

    def survival(self, keep: Array, depth: int) -> Array:
        """Average the product of `keep` over the first ranks over all orders of the ties.

        The first j of m tied documents are a random subset, so their expected product is the
        elementary symmetric mean of degree j; runs are independent of one another.
        """
        flat, factors = keep.ravel(), keep.copy()
        within = factors.ravel()
        first_rank = self.starts % self.shape[1]
        for size, runs in self._by_size():
            if (wanted := first_rank[runs] < depth).any():
                places = self.starts[runs[wanted], None] + np.arange(size)
                reach = min(size, depth)
                within[places[:, :reach]] = _symmetric_means(flat[places], reach)[:, 1:]
        return (self._before(keep) * factors)[:, :depth]

    def _reduce(self, function: np.ufunc, values: Array) -> Array:
        """A sum or product over each run."""
        edges = np.stack([self.starts, self.starts + self.sizes], axis=1).ravel()
        return np.asarray(function.reduceat(values.ravel(), edges[edges < values.size])[::2])

    def _by_size(self) -> Iterator[tuple[int, Array]]:
        order = np.argsort(self.sizes, kind="stable")
        sizes, heads = np.unique(self.sizes[order], return_index=True)
        for size, (head, end) in zip(sizes, pairwise([*heads, len(order)]), strict=True):
            yield int(size), order[head:end]

    def _before(self, keep: Array) -> Array:
        """Product of `keep` over the places before each place, or before the run it belongs to."""
        whole = keep.copy()
        whole[self.tied] = 1.0
        whole.ravel()[self.starts] = self._reduce(np.multiply, keep)
        before = np.ones(self.shape)
        np.cumprod(whole[:, :-1], axis=1, out=before[:, 1:])
        return self.spread(before.ravel()[self.starts], before)


def _symmetric_means(keep: Array, reach: int) -> Array:
    """e_j(keep) / C(m, j) for j = 0 … reach, for each row of m factors in [0, 1].

    Factors enter one at a time: with t of them, the mean of degree j is the convex combination
    (1 - j/t) · (without the t-th) + j/t · (t-th factor × degree j - 1), so nothing cancels.
    """
    n_rows, size = keep.shape
    keep = -np.sort(-keep, axis=1)
    # Maclaurin: the mean of degree j is at most the plain mean to the power j
    mean = np.clip(keep.mean(axis=1), 1e-300, 1 - 1e-16)
    last = np.minimum(reach, np.log(NEGLIGIBLE) / np.log(mean) + 1)[:, None]
    means = np.ones((n_rows, reach + 1))
    first = int((keep == 1).all(axis=0).sum())  # the largest come first, and 1 changes nothing
    for t in range(first + 1, size + 1):
        top = min(t, int(last.max()))
        share, factor = np.arange(1, top + 1) / t, keep[:, t - 1 : t]
        grown = (1 - share) * means[:, 1 : top + 1] + share * factor * means[:, :top]
        means[:, 1 : top + 1] = np.where(factor == 1, 1.0, grown)
    return np.where(np.arange(reach + 1) <= last, means, 0.0)
