"""The first document that meets a condition, found without ranking the documents."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .._typing import Array


@dataclass
class FirstGroup:
    """The tie group of the highest-ranked document of each query that meets a condition.

    Parameters
    ----------
    before : int array of shape (n_queries,)
        Number of documents that rank above the group.
    size : int array of shape (n_queries,)
        Number of documents in the group, which is 1 if a tie rule orders them; 0 if no document
        meets the condition.
    count : int array of shape (n_queries,)
        Number of documents of the group that meet the condition.
    """

    before: Array
    size: Array
    count: Array

    def distinct(self) -> tuple[FirstGroup, Array | slice]:
        """The different ones, and the row of each query among them; all if they are few."""
        columns = self.before, self.size, self.count
        lengths = [int(column.max(initial=0)) + 1 for column in columns]
        if math.prod(lengths) > len(self.before):
            return self, slice(None)
        codes = (self.before * lengths[1] + self.size) * lengths[2] + self.count
        (present,) = np.bincount(codes).nonzero()
        row_of = np.empty(present[-1] + 1, dtype=np.intp)
        row_of[present] = np.arange(len(present))
        return FirstGroup(*np.unravel_index(present, lengths)), row_of[codes]


def first_group_by_score(meets: Array, scores: Array, ties: str) -> FirstGroup:
    """The first groups in rows of scores, given which documents meet the condition."""
    best = np.where(meets, scores, -np.inf).max(axis=1)[:, None]
    tied = (scores == best) & (best > -np.inf)
    meets = meets & tied
    before, size, count = (_count(flags) for flags in (scores > best, tied, meets))
    before[size == 0] = 0
    if ties == "average":
        return FirstGroup(before, size, count)
    if ties == "pessimistic":
        before += size - count
    elif ties == "stable":
        before += _count(tied & (np.arange(tied.shape[1]) < meets.argmax(axis=1)[:, None]))
    elif ties == "reversed":
        n_after = meets[:, ::-1].argmax(axis=1)[:, None]
        before += _count(tied & (np.arange(tied.shape[1])[::-1] < n_after))
    exists = np.minimum(size, 1)
    return FirstGroup(before, exists, exists)


def _count(flags: Array) -> Array:
    return np.asarray(flags.sum(axis=1, dtype=np.intp))
