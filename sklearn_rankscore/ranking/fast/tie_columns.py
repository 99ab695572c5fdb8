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

    order, takes_bytes = "F", True

    def __init__(self, equals_next: Array, depth: int) -> None:
        n_rows, n_tests = equals_next.shape
        self.shape, self.window = (n_rows, depth), n_tests + 1
        self._equals_next = np.asarray(equals_next, order="F")
        self._groups: TieGroups | None = None
        self._masks: dict[int, Array] = {}
        # the number of documents of a group up to each position, and in the whole group
        self._until = np.ones((self.window, n_rows), dtype=np.uint8)
        self._sum_up_to(self._until)
        self._sizes = self._until.copy()
        self._take_last(self._sizes)

    def offset(self) -> Array:
        """Number of positions of the group before each position, 0 outside of groups."""
        offset = self._until[: self.shape[1]].T.astype(np.int32)
        offset -= 1
        return offset

    def size(self) -> Array:
        """Length of the group of each position, 1 outside of groups."""
        return self._sizes[: self.shape[1]].T.astype(np.int32)

    def size_at(self, columns: Array) -> Array:
        """Length of the group at one position of each row."""
        return np.asarray(self._sizes[columns, np.arange(len(columns))])

    def apply_tie_rule(self, values: Array, ties: str) -> Array:
        """Values up to the depth under a tie rule, from those of the window in input order."""
        if ties != "average":
            values = values.astype(np.float64, copy=False)
            if ties == "stable":
                return values[:, : self.shape[1]]
            groups = self._positions()
            return np.asfortranarray(groups.apply_tie_rule(_rows(values, groups), ties))
        # two bytes hold the sum of as many bytes as a short row has
        sums = np.array(values.T, dtype=np.uint16 if values.dtype == np.uint8 else np.float64)
        self._sum_up_to(sums)
        self._take_last(sums)
        means = sums.astype(np.float64, copy=False)
        means /= self._sizes
        return means[: self.shape[1]].T

    def survival(self, continue_prob: Array) -> Array:
        """Expected product of `continue_prob` over the first ranks, over all orders of the ties."""
        groups = self._positions()
        return np.asfortranarray(groups.survival(_rows(continue_prob, groups)))

    def _sum_up_to(self, columns: Array) -> None:
        """Add to each value those before it in its group."""
        integers, before = columns.view(f"i{columns.itemsize}"), np.empty_like(columns[0])
        for j, mask in enumerate(self._mask(columns.itemsize)):
            np.bitwise_and(integers[j], mask, out=before.view(integers.dtype))
            columns[j + 1] += before

    def _take_last(self, columns: Array) -> None:
        """Overwrite the values of each group by that at its last position."""
        integers, masks = columns.view(f"i{columns.itemsize}"), self._mask(columns.itemsize)
        difference = np.empty_like(integers[0])
        for j in reversed(range(len(masks))):
            np.bitwise_xor(integers[j], integers[j + 1], out=difference)
            difference &= masks[j]
            integers[j] ^= difference

    def _mask(self, n_bytes: int) -> Array:
        """One row per column: all bits of a number where its score equals the next, else none."""
        if n_bytes not in self._masks:
            mask = self._equals_next.T.view(np.int8).astype(f"i{n_bytes}")
            self._masks[n_bytes] = np.negative(mask, out=mask)
        return self._masks[n_bytes]

    def _positions(self) -> TieGroups:
        if self._groups is None:
            self._groups = TieGroups(np.ascontiguousarray(self._equals_next), self.shape[1])
        return self._groups


def _rows(values: Array, groups: TieGroups) -> Array:
    return np.ascontiguousarray(values[:, : groups.window])


class ShortTiedRows(TiedRows):
    """`TiedRows` of few documents each."""

    groups = TieColumns
