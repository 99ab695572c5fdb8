"""Positions in keys, below the score and above or below the label."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._typing import Array
from ..ties import BY_INPUT_ORDER


@dataclass(frozen=True)
class Positions:
    """The bits of a key below the score: the column of the document, and its label.

    Above the label, the column ranks equal scores; below it, equal scores are ranked by ascending
    label.

    Parameters
    ----------
    mask : int
        The mask of the bits of a label, as the lowest bits.
    n_bits : int
        Number of bits of a column.
    ties : str
        How equal scores are ranked; "reversed" flips the bits of columns.
    """

    mask: int
    n_bits: int
    ties: str

    @classmethod
    def up_to(cls, width: int, mask: int, ties: str) -> Positions:
        """Positions in rows up to a width."""
        return cls(mask, (width - 1).bit_length(), ties)

    @property
    def below(self) -> int:
        """The mask of all bits below the score."""
        return (self.mask + 1 << self.n_bits) - 1

    def write(self, keys: Array) -> None:
        """Write the position of each column into rows of keys that end in the label."""
        columns = np.arange(keys.shape[1], dtype=keys.dtype)
        columns ^= self._flip
        columns <<= self._shift
        keys |= columns

    def read(self, keys: Array) -> Array:
        """The columns of keys."""
        columns = keys & self.below
        columns >>= self._shift
        columns &= (1 << self.n_bits) - 1
        columns ^= self._flip
        return columns

    def shifted(self, labels: Array) -> Array:
        """Labels in the place where a key has them."""
        return labels if self._shift else labels.astype(np.int64) << self.n_bits

    @property
    def _shift(self) -> int:
        return self.mask.bit_length() if self.ties in BY_INPUT_ORDER else 0

    @property
    def _flip(self) -> int:
        return (1 << self.n_bits) - 1 if self.ties == "reversed" else 0
