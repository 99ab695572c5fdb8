"""Tie groups of many short rows, computed column by column."""

from __future__ import annotations

import numpy as np

from ..._typing import Array
from ..ties import TiedRows, TieGroups


class TieColumns(TieGroups):
    """`TieGroups` in rows of few documents: averages cost some operations per column.

    Other tie rules and `survival` need the positions of groups: a `TieGroups` that is created when
    one of them is asked for.
    """

    order = "F"

    def __init__(self, equals_next: Array, depth: int) -> None:
        n_rows, n_tests = equals_next.shape
        self.shape, self.window = (n_rows, depth), n_tests + 1
        self._equals_next = np.asarray(equals_next, order="F")
        self._groups: TieGroups | None = None
        # the number of documents of a group up to each position, and in the whole group
        self._until = np.ones((self.window, n_rows), dtype=np.uint8)
        for j, tied in enumerate(self._equals_next.T):
            self._until[j + 1] += self._until[j] * tied
        self._sizes = self._until.copy()
        _take_last(self._sizes, self._equals_next.T)

    def offset(self) -> Array:
        """Number of positions of the group before each position, 0 outside of groups."""
        return self._until[: self.shape[1]].T.astype(np.intp) - 1

    def size(self) -> Array:
        """Length of the group of each position, 1 outside of groups."""
        return self._sizes[: self.shape[1]].T.astype(np.intp)

    def apply_tie_rule(self, values: Array, ties: str) -> Array:
        """Values up to the depth under a tie rule, from those of the window in input order."""
        if ties == "stable":
            return values[:, : self.shape[1]]
        if ties != "average":
            groups = self._positions()
            return np.asfortranarray(groups.apply_tie_rule(_rows(values, groups), ties))
        means = np.array(values.T)
        for j, tied in enumerate(self._equals_next.T):
            means[j + 1] += np.where(tied, means[j], 0.0)
        _take_last(means, self._equals_next.T)
        means /= self._sizes
        return means[: self.shape[1]].T

    def survival(self, continue_prob: Array) -> Array:
        """Expected product of `continue_prob` over the first ranks, over all orders of the ties."""
        groups = self._positions()
        return np.asfortranarray(groups.survival(_rows(continue_prob, groups)))

    def _positions(self) -> TieGroups:
        if self._groups is None:
            self._groups = TieGroups(np.ascontiguousarray(self._equals_next), self.shape[1])
        return self._groups


def _take_last(columns: Array, tied: Array) -> None:
    """Overwrite the values of each group by that at its last position."""
    for j in reversed(range(len(tied))):
        columns[j] = np.where(tied[j], columns[j + 1], columns[j])


def _rows(values: Array, groups: TieGroups) -> Array:
    return np.ascontiguousarray(values[:, : groups.window])


class ShortTiedRows(TiedRows):
    """`TiedRows` of few documents each."""

    groups = TieColumns
