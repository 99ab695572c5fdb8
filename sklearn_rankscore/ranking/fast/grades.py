"""Grades: labels that are small integers, encoded as bytes, for which a gain is a table look-up."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._typing import Array, ArrayFunction
from ..label_functions import is_tabulated, table
from ..plain import SHORT, Labels, fill_from
from .row_sorts import smallest

# number of labels per call of `take`: their indices, of eight bytes, stay in cache
LOOK_UP = 2**15

# up to these numbers of ranks and grades a counting sort takes less time than a sort of few
# distinct values, and in wider rows always less memory
COUNTED_RANKS, COUNTED_GRADES, WIDEST_OF_MANY = 32, 7, 2**16


class GradedLabels(Labels):
    """Labels of a block, encoded as grades; rows end in zeros where a query is shorter."""

    def __init__(self, labels: Array, sizes: Array, n_grades: int) -> None:
        super().__init__(labels, sizes)
        self.n_grades = n_grades
        self._highest: dict[int, Array] = {}

    def values(
        self,
        function: ArrayFunction,
        labels: Array,
        ends: Array,
        *,
        all_retrieved: bool = True,
        fill: float = 0.0,
    ) -> Array:
        """A function of some of the labels, and `fill` from each row's end on."""
        if is_tabulated(function):
            values = look_up(table(function, self.n_grades, fill), labels)
            return values if all_retrieved else fill_from(ends, values, fill)
        # padding takes a label that occurs: the function may not be defined for others
        occurring = np.where(labels > 0, labels, labels.max()) - 1.0
        return fill_from(ends, np.array(function(occurring), dtype=np.float64), fill)

    def total(self, function: ArrayFunction) -> Array:
        """Sum of a function of the labels of all documents of each query."""
        if is_tabulated(function):
            steps = np.diff(table(function, self.n_grades))
            (grades,) = steps.nonzero()
            if len(grades) == 1 and steps[grades] == 1.0:  # such as whether it is relevant
                return count_flags(self.labels > grades).astype(np.float64)
        return super().total(function)

    def ideal(self, function: ArrayFunction, depth: int) -> Array:
        """The `depth` largest values of each row, in descending order."""
        if not is_tabulated(function):
            return super().ideal(function, depth)
        values = table(function, self.n_grades)
        if (values[2:] >= values[1:-1]).all():
            if depth not in self._highest:
                self._highest[depth] = highest(self.labels, self.sizes, self.n_grades, depth)
            return look_up(values, self._highest[depth])
        # the grades in ascending order of value take the place of the labels
        order = np.append(0, 1 + np.argsort(values[1:], kind="stable"))
        position_of = np.empty(len(values), dtype=np.uint8)
        position_of[order] = np.arange(len(values))
        positions = look_up(position_of, self.labels)
        return look_up(values[order], highest(positions, self.sizes, self.n_grades, depth))


def highest(labels: Array, sizes: Array, n_grades: int, n: int) -> Array:
    """The n highest grades of each row in descending order; 0 where there are no more."""
    width = labels.shape[1]
    many = n > COUNTED_RANKS or n_grades > COUNTED_GRADES
    if width <= SHORT or (many and width <= WIDEST_OF_MANY):
        complement = ~labels
        if width > SHORT:  # 32-bit integers are sorted by vector instructions on all machines
            complement = complement.astype(np.int32)
        return ~smallest(complement, n)[:, :n].astype(np.uint8, copy=False)
    # a counting sort: grade g stands at every rank up to the number of grades of at least g
    order: Any = "F" if n <= len(labels) else "C"  # the longer axis is contiguous
    grades = np.zeros((len(labels), n), dtype=np.uint8, order=order)
    reached = np.empty_like(grades, dtype=bool)
    for grade in range(n_grades, 0, -1):
        counts = sizes if grade == 1 else count_flags(labels >= grade)
        np.greater(counts[:, None], np.arange(n, dtype=counts.dtype), out=reached)
        grades += reached
        if counts.min() >= n:
            grades += np.uint8(grade - 1)
            break
    return np.ascontiguousarray(grades)


def count_flags(flags: Array) -> Array:
    """Number of true entries of each row."""
    ones = flags.view(np.uint8)
    if flags.shape[1] < 2**8:  # a sum of bytes fits into a byte
        return np.asarray(np.einsum("qd->q", ones))
    return np.asarray(ones.sum(axis=1, dtype=np.uint32))


def look_up(table: Array, codes: Array) -> Array:
    """Entries of a table, in the memory order of the codes."""
    order: Any = "F" if codes.flags.f_contiguous else "C"
    flat = codes.ravel(order)
    values = np.empty(flat.shape, table.dtype)
    for start in range(0, len(flat), LOOK_UP):
        part = slice(start, start + LOOK_UP)
        table.take(flat[part], out=values[part], mode="clip")
    return values.reshape(codes.shape, order=order)
