"""Runs of equal scores: what the documents of a run are worth when their order is open."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .arrays import Array

TIES = ("average", "stable", "reversed", "optimistic", "pessimistic")

# a survival below this share of itself changes no result in double precision
NEGLIGIBLE = 1e-20


class Runs:
    """Runs of equal scores in ranked rows; a document without equals is a run of one.

    Parameters
    ----------
    same : bool array of shape (n_rows, n_ranks - 1)
        Whether the score at each rank equals the next one.
    """

    def __init__(self, same: Array) -> None:
        self.shape = len(same), same.shape[1] + 1
        begins = np.ones(self.shape, dtype=bool)
        np.logical_not(same, out=begins[:, 1:])
        self.starts = np.flatnonzero(begins)
        self.sizes = np.diff(self.starts, append=begins.size)

    def spread(self, values: Array) -> Array:
        """One value per run, given to each of its places."""
        return np.repeat(values, self.sizes).reshape(self.shape)

    @property
    def start(self) -> Array:
        """First place of the run that each place belongs to, in its row."""
        return self.spread(self.starts % self.shape[1])

    @property
    def offset(self) -> Array:
        """How many places of the run stand before each place."""
        return np.arange(self.shape[1]) - self.start

    @property
    def size(self) -> Array:
        """Length of the run that each place belongs to."""
        return self.spread(self.sizes)

    def arrange(self, values: Array, ties: str) -> Array:
        """Values by rank under a tie rule; they come in with ties in input order."""
        if ties == "average":
            return self.spread(np.add.reduceat(values.ravel(), self.starts) / self.sizes)
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
        factors = np.ones(keep.size)
        flat = keep.ravel()
        totals = np.multiply.reduceat(flat, self.starts)
        first_rank = self.starts % self.shape[1]
        for size, runs in self._by_size():
            places = self.starts[runs, None] + np.arange(size)
            reach = min(size, depth)
            if size == 1:
                factors[places] = flat[places]
            elif (wanted := first_rank[runs] < depth).any():
                means = _symmetric_means(flat[places[wanted]], reach)
                factors[places[wanted][:, :reach]] = means[:, 1:]
        earlier = self._product_of_earlier_runs(totals)
        return (self.spread(earlier) * factors.reshape(self.shape))[:, :depth]

    def _by_size(self) -> Iterator[tuple[int, Array]]:
        order = np.argsort(self.sizes, kind="stable")
        sizes, heads = np.unique(self.sizes[order], return_index=True)
        for size, runs in zip(sizes, np.split(order, heads[1:]), strict=True):
            yield int(size), runs

    def _product_of_earlier_runs(self, totals: Array) -> Array:
        """Product of the totals of the runs before each run of the same row."""
        by_place = np.ones(self.shape)
        by_place.ravel()[self.starts] = totals
        through = np.cumprod(by_place, axis=1)
        before = np.ones(self.shape)
        before[:, 1:] = through[:, :-1]
        return np.asarray(before.ravel()[self.starts])


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
    means[:, first + 1 :] = 0.0
    for t in range(first + 1, size + 1):
        top = min(t, int(last.max()))
        share, factor = np.arange(1, top + 1) / t, keep[:, t - 1 : t]
        grown = (1 - share) * means[:, 1 : top + 1] + share * factor * means[:, :top]
        means[:, 1 : top + 1] = np.where(factor == 1, 1.0, grown)
    return np.where(np.arange(reach + 1) <= last, means, 0.0)
