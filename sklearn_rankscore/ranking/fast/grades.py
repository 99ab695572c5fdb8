"""Grades: labels that are small integers, encoded as bytes, for which a gain is a table look-up."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._columns import check_range
from ..._typing import Array, ArrayFunction
from ..label_functions import is_tabulated, table
from ..plain import Labels, zero_from
from ..ties import SHORT
from . import choices
from .sorts import smallest

# the largest label that is encoded
HIGHEST_GRADE = 62

# number of labels that are encoded at once, which are still in cache when they are read again
ENCODED = 2**16

# number of flags whose sum fits into a byte
BYTE_SUM = 128


def encode_grades(labels: Array, values: Any) -> tuple[Array | None, float, float]:
    """Labels plus one as bytes, or None if some are not small integers; their minimum and maximum.

    `labels` were made of `values`. Code 0 is reserved for padding. If a label is NaN, minimum and
    maximum are nan.
    """
    flat, codes = labels.ravel(), np.empty(labels.size, dtype=np.uint8)
    is_integer = labels.dtype.kind != "f"
    if is_integer:  # viewed as unsigned, negative labels are large
        flat = flat.view(flat.dtype.str.replace("i", "u"))
    with np.errstate(invalid="ignore"):
        for start in range(0, len(flat), ENCODED):
            part, code = flat[start : start + ENCODED], codes[start : start + ENCODED]
            np.copyto(code, part, casting="unsafe")
            highest = part.max() if is_integer else code.max()
            if highest > HIGHEST_GRADE or not (is_integer or np.array_equal(code, part)):
                return None, *check_range(labels, values, "y_true", allow_nan=True)
    low, high = float(codes.min()), float(codes.max())
    codes += 1
    return codes.reshape(labels.shape), low, high


class GradedLabels(Labels):
    """Labels of a block, encoded as grades; rows end in zeros where a query is shorter."""

    def __init__(self, labels: Array, sizes: Array, n_grades: int) -> None:
        super().__init__(labels, sizes)
        self.n_grades = n_grades
        self._highest: dict[int, Array] = {}

    def values(self, function: ArrayFunction, labels: Array, ends: Array) -> Array:
        """A function of some of the labels, 0 from each row's end on; bytes are small integers."""
        if is_tabulated(function):
            values = look_up(table(function, self.n_grades), labels)
            return values if ends is self.sizes else zero_from(ends, values)
        # padding takes a label that occurs: the function may not be defined for others
        occurring = np.where(labels > 0, labels, labels.max()) - 1.0
        return zero_from(ends, np.array(function(occurring), dtype=np.float64))

    def total(self, function: ArrayFunction) -> Array:
        """Sum of a function of the labels of all documents of each query."""
        if is_tabulated(function):
            steps = np.diff(table(function, self.n_grades).astype(np.float64))
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
            return look_up(values, self._highest[depth]).astype(np.float64, copy=False)
        # the grades in ascending order of value take the place of the labels
        order = np.append(0, 1 + np.argsort(values[1:], kind="stable"))
        position_of = np.empty(len(values), dtype=np.uint8)
        position_of[order] = np.arange(len(values))
        positions = look_up(position_of, self.labels)
        best = highest(positions, self.sizes, self.n_grades, depth)
        return look_up(values[order], best).astype(np.float64, copy=False)


def highest(labels: Array, sizes: Array, n_grades: int, n: int) -> Array:
    """The n highest grades of each row in descending order; 0 where there are no more."""
    width = labels.shape[1]
    if width <= SHORT or n > choices.SHALLOW:
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
    cut = flags.shape[1] // BYTE_SUM * BYTE_SUM
    parts = np.einsum("qpd->qp", ones[:, :cut].reshape(len(flags), -1, BYTE_SUM))
    rest = np.einsum("qd->q", ones[:, cut:])
    return np.asarray(parts.sum(axis=1, dtype=np.intp) + rest)


def look_up(table: Array, codes: Array) -> Array:
    """Entries of a table that begins with 0, in the memory order of the codes."""
    if table.dtype == np.uint8 and codes.size >= choices.COMPARED:
        steps = np.diff(table)  # modulo 256, as are their sums
        (grades,) = steps.nonzero()
        if len(grades) <= choices.FEW_STEPS:
            return _sum_steps(grades.tolist(), steps[grades].tolist(), codes)
    if codes.flags.fnc:  # stored by column
        return table.take(codes.T, mode="clip").T
    return np.asarray(table.take(codes, mode="clip"))


def _sum_steps(grades: list[int], steps: list[int], codes: Array) -> Array:
    """The steps up to each code: operations on bytes cost a fraction of a look-up."""
    total, reached = np.zeros_like(codes), np.empty_like(codes, dtype=bool)
    step_or_0 = reached.view(np.uint8)
    for grade, step in zip(grades, steps, strict=True):
        np.greater(codes, grade, out=reached)
        if step != 1:
            step_or_0 *= np.uint8(step)
        total += step_or_0
    return total
