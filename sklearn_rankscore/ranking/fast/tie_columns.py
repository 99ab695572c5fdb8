"""Tie groups of many short rows, computed column by column."""

from __future__ import annotations

from typing import Any

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
        # the number of documents of a group up to each position, and in the whole group
        self._until = np.ones((self.window, n_rows), dtype=np.uint8)
        for j, tied in enumerate(self._equals_next.T):
            self._until[j + 1] += self._until[j] * tied
        self._sizes = self._until.copy()
        _take_last(self._sizes, self._equals_next.T)

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
        for j, tied in enumerate(self._equals_next.T):
            sums[j + 1] += _bits(sums[j], tied).view(sums.dtype)
        _take_last(sums, self._equals_next.T)
        means = sums.astype(np.float64, copy=False)
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
    integers = columns.view(f"i{columns.itemsize}")
    for j in reversed(range(len(tied))):
        difference = integers[j] ^ integers[j + 1]
        difference &= _mask(tied[j], integers.dtype)
        integers[j] ^= difference


def _bits(values: Array, chosen: Array) -> Array:
    """The bits of the chosen values, and those of zero elsewhere."""
    integers = values.view(f"i{values.itemsize}")
    return np.asarray(integers & _mask(chosen, integers.dtype))


def _mask(chosen: Array, integer: np.dtype[Any]) -> Array:
    """All bits where a flag is true, none elsewhere."""
    mask = chosen.view(np.int8).astype(integer)
    np.negative(mask, out=mask)
    return mask


def _rows(values: Array, groups: TieGroups) -> Array:
    return np.ascontiguousarray(values[:, : groups.window])


class ShortTiedRows(TiedRows):
    """`TiedRows` of few documents each."""

    groups = TieColumns
