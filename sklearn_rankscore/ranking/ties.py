"""Tie groups: what documents with equal scores count when their order is open."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from .._typing import Array
from .._validation import check_choice
from .accumulate import accumulate
from .factor_groups import reduce_groups
from .polynomials import NEGLIGIBLE
from .symmetric_means import symmetric_means

TIES = ("average", "stable", "reversed", "optimistic", "pessimistic")

# rules that rank equal scores by the order of the input
BY_INPUT_ORDER = ("stable", "reversed")


class TieGroups:
    """Groups of equal scores among the first ranks of ranked rows.

    Parameters
    ----------
    equals_next : bool array of shape (n_rows, n_documents - 1)
        Whether the score at each rank equals the one at the next rank.
    depth : int
        Number of ranks that matter.

    Attributes
    ----------
    window : int
        Number of ranks that fully contain every group that starts within the depth.
    rows, starts, sizes, visible : int arrays of shape (n_groups,)
        Row and first column of each group, its length, at least 2, and how much of it is within
        the depth.
    positions : int array of shape (n_tied,)
        Positions within the depth that belong to a group, in the flattened array.
    """

    order: Literal["C", "F"] = "C"  # memory order of what is read and returned
    takes_bytes = False  # whether values may be bytes

    def __init__(self, equals_next: Array, depth: int) -> None:
        n_rows, width = len(equals_next), equals_next.shape[1] + 1
        overhang = leading(equals_next[:, depth - 1 :])
        self.shape, self.window = (n_rows, depth), depth + int(overhang.max(initial=0))
        self._equals_next = equals_next[:, : self.window - 1]
        tied, head = np.zeros((2, n_rows, depth), dtype=bool)
        tied[:, : width - 1] = equals_next[:, :depth]
        head[:, 0] = tied[:, 0]
        np.greater(tied[:, 1:], equals_next[:, : depth - 1], out=head[:, 1:])
        tied[:, 1:] |= equals_next[:, : depth - 1]
        self.positions = np.flatnonzero(tied)
        first = np.flatnonzero(head.ravel()[self.positions])
        self.visible = np.diff(first, append=len(self.positions))
        heads = self.positions[first]
        self.rows = heads // depth
        self.starts = heads - self.rows * depth
        cut = self.starts + self.visible == depth
        self.sizes = self.visible + cut * overhang[self.rows]

    def broadcast(self, values: Array, others: Array) -> Array:
        """`others`, overwritten at each position of a group by the value of the group."""
        others.ravel()[self.positions] = np.repeat(values, self.visible)
        return others

    def offset(self) -> Array:
        """Number of positions of the group before each position, 0 outside of groups."""
        offset = np.zeros(self.shape, dtype=np.intp)
        # in four bytes if they suffice, for the sake of queries of millions of documents
        heads = self._heads().astype(np.min_scalar_type(-offset.size))
        of_each = np.repeat(heads, self.visible)
        np.subtract(self.positions, of_each, out=of_each, casting="unsafe")
        offset.ravel()[self.positions] = of_each
        return offset

    def size(self) -> Array:
        """Length of the group of each position, 1 outside of groups."""
        return self.broadcast(self.sizes, np.ones(self.shape, dtype=np.intp))

    def size_at(self, columns: Array) -> Array:
        """Length of the group at one position of each row."""
        return np.asarray(self.size()[np.arange(len(columns)), columns])

    def apply_tie_rule(self, values: Array, ties: str) -> Array:
        """Values up to the depth under a tie rule, from those of the window in input order.

        It may overwrite the values, for the sake of queries of millions of documents.
        """
        if check_choice("ties", ties, TIES) == "average":
            starts = self.rows * self.window + self.starts
            means = reduce_groups(np.add, values.ravel(), starts, self.sizes) / self.sizes
            return self.broadcast(means, np.ascontiguousarray(values[:, : self.shape[1]]))
        if ties == "reversed":
            return self._mirrored(values)
        if ties not in ("optimistic", "pessimistic"):
            return values[:, : self.shape[1]]
        ascending = values[:, 1:] >= values[:, :-1]
        if not (ascending | ~self._equals_next).all():
            group = np.zeros(values.shape, dtype=np.intp)
            np.cumsum(~self._equals_next, axis=1, out=group[:, 1:])
            values = np.take_along_axis(values, np.lexsort((values, group), axis=1), axis=1)
        return self._mirrored(values) if ties == "optimistic" else values[:, : self.shape[1]]

    def _mirrored(self, values: Array) -> Array:
        """Values with the order within each group reversed."""
        depth = self.shape[1]
        # a position in the window, plus the mirrored one, and a position within the depth
        both = self.rows * (self.window + depth) + 2 * self.starts + self.sizes - 1
        mirrored = np.repeat(both, self.visible) - self.positions
        result = np.array(values[:, :depth])
        result.ravel()[self.positions] = values.ravel().take(mirrored)
        return result

    def survival(self, continue_prob: Array) -> Array:
        """Expected product of `continue_prob` over the first ranks, over all orders of the ties.

        The first j of m tied documents are a random subset, so their expected product is the
        elementary symmetric mean of degree j; tie groups are independent of one another.
        """
        within = np.array(continue_prob[:, : self.shape[1]])
        # the product over a whole group stands at its last position, and 1 at its others
        products, heads = self.broadcast(np.ones(len(self.rows)), within.copy()), self._heads()
        of_groups = reduce_groups(np.multiply, within.ravel(), heads, self.visible)
        products.ravel()[heads + self.visible - 1] = of_groups
        before = np.ones(self.shape)
        before[:, 1:] = products[:, :-1]
        accumulate(np.multiply, before)
        reached = before.ravel()[heads] > NEGLIGIBLE
        starts, sizes = (self.rows * self.window + self.starts)[reached], self.sizes[reached]
        means = np.zeros(len(self.positions))
        means[np.repeat(reached, self.visible)] = symmetric_means(
            continue_prob.ravel(), starts, sizes, self.visible[reached]
        )
        within.ravel()[self.positions] = means
        return np.asarray(before * within)

    def _heads(self) -> Array:
        """First position of each group within the depth, in the flattened array."""
        return np.asarray(self.rows * self.shape[1] + self.starts)


class TiedRows:
    """The rows of a block in which ties matter for the ranks up to the cut-off.

    Parameters
    ----------
    rows : int array of shape (n_tied,)
        Positions in the block.
    labels : array of shape (n_tied, n_documents)
        Labels by rank, those of equal scores in any fixed order.
    equals_next : bool array of shape (n_tied, n_documents - 1)
        Whether the score at each rank equals the one at the next rank.
    depth : int
        Number of ranks that matter.
    in_input_order : callable
        Returns the labels by rank, those of equal scores in input order.
    """

    groups: type[TieGroups] = TieGroups

    def __init__(
        self,
        rows: Array,
        labels: Array,
        equals_next: Array,
        depth: int,
        in_input_order: Callable[[], Array],
    ) -> None:
        self.rows, self.tie_groups = rows, self.groups(equals_next, depth)
        self._labels = {False: self._in_window(labels)}
        self._in_input_order = in_input_order

    def labels(self, *, in_input_order: bool = False) -> Array:
        """Labels by rank up to the end of the last group, those of equal scores in any order."""
        if in_input_order not in self._labels:
            self._labels[in_input_order] = self._in_window(self._in_input_order())
        return self._labels[in_input_order]

    def _in_window(self, labels: Array) -> Array:
        return np.asarray(labels[:, : self.tie_groups.window], order=self.tie_groups.order)

    def offsets(self, ranked: Array) -> Array:
        """Each rank's offset in its tie group, in all rows of a block."""
        offset = self.tie_groups.offset()
        return self.among_others(offset, ranked, lambda: np.zeros(ranked.shape, offset.dtype))

    def sizes(self, ranked: Array) -> Array:
        """The size of each rank's tie group, in all rows of a block."""
        size = self.tie_groups.size()
        return self.among_others(size, ranked, lambda: np.ones(ranked.shape, size.dtype))

    def sizes_at(self, columns: Array) -> Array:
        """The size of the tie group at one rank of each row of a block."""
        size = np.ones(len(columns), dtype=np.intp)
        size[self.rows] = self.tie_groups.size_at(columns[self.rows])
        return size

    def among_others(self, values: Array, ranked: Array, untied: Callable[[], Array]) -> Array:
        """Values of all rows of a block, of which `untied` computes those without ties."""
        if len(self.rows) == len(ranked) and values.flags.c_contiguous == ranked.flags.c_contiguous:
            return values  # in the same memory order, on which the rounding of sums depends
        of_all = untied()
        of_all[self.rows] = values
        return of_all


def leading(flags: Array) -> Array:
    """Number of true entries at the beginning of each row."""
    if not flags.shape[1]:
        return np.zeros(len(flags), dtype=np.intp)
    if flags.flags.fnc and flags.shape[1] < 2**8:  # short rows, stored by column
        count, all_true = np.zeros(len(flags), dtype=np.uint8), np.ones(len(flags), dtype=bool)
        for column in flags.T:
            all_true &= column
            count += all_true
        return count.astype(np.intp)
    first = flags.argmin(axis=1)
    return np.asarray(np.where(flags[np.arange(len(flags)), first], flags.shape[1], first))
