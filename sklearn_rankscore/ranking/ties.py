"""Tie groups: what documents with equal scores count when their order is open.

The first j of m tied documents are a random subset, so that the expected product of their factors
is its mean over all subsets of j documents: the elementary symmetric polynomial of degree j over
the number of subsets, e_j / C(m, j). All numbers are positive and nothing cancels, except in
alternating sums of which each term is at most half as large as the one before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Literal

import numpy as np

from .._typing import Array
from .._validation import check_choice

# rows up to this width are stored and averaged column by column, and sorted by a network
SHORT = 16

TIES = ("average", "stable", "reversed", "optimistic", "pessimistic")

# rules that rank equal scores by the order of the input
BY_INPUT_ORDER = ("stable", "reversed")

# a probability below this changes no sum of probabilities of about 1 in double precision
NEGLIGIBLE = 1e-17
LOG = -np.log(NEGLIGIBLE)

# entries of an array that are computed at once: few enough to stay in cache, and enough that
# threads, which wait for Python's lock between operations, seldom wait
AT_ONCE = 50_000

# groups up to this size are computed from coefficients, together with others of the same size;
# larger ones in the way that costs least
SMALL = 16

# coefficients are at most e to this power; up to this degree, which is less than e / 2 times
# as high, none that counts is too small
GROWTH, MOST_DEGREES = 700, 900

# what a call of NumPy costs, in operations on a number
CALL = 1000

# the highest ratio of terms of an alternating sum
RATIO = 1 / 2

# from this number of rows on, columns are accumulated one by one if the array is stored by column
# or its rows are short: NumPy, which computes one row after another, takes two to ten times as long
MANY_ROWS = 128


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
        """Values up to the depth under a tie rule, from those of the window.

        For "stable" and "reversed", those of equal scores are in input order. The values may be
        overwritten, for the sake of queries of millions of documents.
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
        means[np.repeat(reached, self.visible)] = expected_products(
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
    width : int
        Number of columns of the block.
    in_input_order : callable
        Returns the labels by rank, those of equal scores in input order.
    """

    def __init__(
        self,
        rows: Array,
        labels: Array,
        equals_next: Array,
        depth: int,
        width: int,
        in_input_order: Callable[[], Array],
    ) -> None:
        self.rows = rows
        self.tie_groups = (TieColumns if width <= SHORT else TieGroups)(equals_next, depth)
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
        return self.among_others(offset, ranked, lambda: np.zeros_like(ranked, offset.dtype))

    def sizes(self, ranked: Array) -> Array:
        """The size of each rank's tie group, in all rows of a block."""
        size = self.tie_groups.size()
        return self.among_others(size, ranked, lambda: np.ones_like(ranked, size.dtype))

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


class TieColumns(TieGroups):
    """`TieGroups` in many short rows: averages cost some operations per column.

    Other tie rules and `survival` need the positions of groups: a `TieGroups` that is created when
    one of them is asked for.
    """

    order = "F"

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
        """Values up to the depth under a tie rule, from those of the window."""
        if ties != "average":
            if ties == "stable":
                return values[:, : self.shape[1]]
            groups = self._positions()
            return np.asfortranarray(groups.apply_tie_rule(_rows(values, groups), ties))
        sums = np.array(values.T)
        self._sum_up_to(sums)
        self._take_last(sums)
        return np.asarray((sums / self._sizes)[: self.shape[1]].T)

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


def accumulate(function: np.ufunc, values: Array) -> Array:
    """As `function.accumulate(values, axis=1)`, in place."""
    by_column = values.flags.f_contiguous or len(values) > 8 * values.shape[1]
    if len(values) < MANY_ROWS or not by_column:
        return np.asarray(function.accumulate(values, axis=1, out=values))
    for column, following in pairwise(values.T):
        function(column, following, out=following)
    return values


def expected_products(factors: Array, starts: Array, sizes: Array, n_degrees: Array) -> Array:
    """Mean product of j of m factors in [0, 1] over all choices, for j = 1, …, n_degrees.

    A group's factors are `factors[start : start + size]`; groups do not overlap, and their starts
    ascend. The result holds one group after another; no value depends on other groups.
    """
    tops, way, parameter = (
        n_degrees.copy(),
        np.zeros(len(sizes), dtype=np.intp),
        np.ones(len(sizes)),
    )
    large = np.flatnonzero(sizes > SMALL)
    if len(large):
        given = starts[large], sizes[large], n_degrees[large]
        tops[large], way[large], parameter[large] = _cheapest_way(factors, *given)
    result, first = np.zeros(n_degrees.sum()), np.cumsum(n_degrees) - n_degrees
    for number, compute in enumerate((_from_coefficients, _from_stops, _from_power_sums)):
        for some in _similar(np.flatnonzero(way == number), sizes, tops):
            means = compute(factors, starts[some], sizes[some], tops[some], parameter[some])
            # rounding must not make differences, which are probabilities, negative
            accumulate(np.minimum, np.minimum(means, 1.0, out=means).T)
            degree = np.arange(len(means))[:, None]
            place, within = first[some] + degree, degree < tops[some]
            if within.all():
                result[place] = means
            else:
                result[place[within]] = means[within]
    return result


def _cheapest_way(
    factors: Array, starts: Array, sizes: Array, n_degrees: Array
) -> tuple[Array, Array, Array]:
    """The degrees that count in each group, the number of a way to compute them, and its parameter.

    It depends on each group alone; otherwise its rounding would depend on other groups.
    """
    total, highest = (reduce_groups(f, factors, starts, sizes) for f in (np.add, np.maximum))
    n_stopping = reduce_groups(np.add, (factors < 1.0).astype(np.int32), starts, sizes)
    total = np.maximum(total, 1e-300)
    # a mean product is at most the mean factor to the power of the degree (Maclaurin)
    mean = np.minimum(total / sizes, 1 - 1e-16)
    tops = np.minimum(n_degrees, (-LOG / np.log(mean)).astype(np.intp) + 1)
    # a power of two, which changes no digits
    scale = np.exp2(np.floor(np.log2(np.minimum(tops, GROWTH) / total)))
    most = _most_stops(sizes - total, n_stopping)
    n_terms = _number_of_terms(tops, total / np.maximum(highest, 1e-300))
    call = CALL * np.minimum(sizes / AT_ONCE, 1.0)  # of each group, as several are computed at once
    costs = [
        np.where(tops <= MOST_DEGREES, sizes * (2 * tops + 2 * call) - tops**2, np.inf),
        n_stopping * (3 * most + 4 * call) + most * (3 * tops + 4 * call),
        n_terms * (3 * sizes + 4 * tops) + 6 * tops * call,
    ]
    way = np.argmin(costs, axis=0)
    return tops, way, np.choose(way, [scale, most, n_terms])


def _similar(members: Array, sizes: Array, tops: Array) -> Iterator[Array]:
    """Groups of equal size or similar highest degree, computed at once; the largest group first."""
    kinds = np.where(sizes > SMALL, SMALL + np.frexp(tops)[1], sizes)[members]
    for kind in np.flatnonzero(np.bincount(kinds)).tolist():
        some = members[kinds == kind]
        if kind > SMALL:
            some = some[np.argsort(-sizes[some], kind="stable")]
        step = max(1, AT_ONCE // max(tops[some].max(), sizes[some[0]] // 16))
        yield from (some[start : start + step] for start in range(0, len(some), step))


def reduce_groups(function: np.ufunc, values: Array, starts: Array, sizes: Array) -> Array:
    """A sum or product over each group; groups do not overlap, and their starts ascend."""
    edges = np.stack([starts, starts + sizes], axis=1).ravel()
    return np.asarray(function.reduceat(values, edges[edges < len(values)])[::2])


def _from_coefficients(
    factors: Array, starts: Array, sizes: Array, tops: Array, scale: Array
) -> Array:
    """The coefficients of the product of 1 + q x over the documents, over those of (1 + x)^m.

    In groups of descending size, with x in units of the `scale`, so that no number is too large.
    """
    top = int(tops.max())
    coefficients, more = np.zeros((top + 1, len(sizes))), np.empty((top, len(sizes)))
    coefficients[0] = 1.0
    n_groups = np.searchsorted(-sizes, -np.arange(sizes[0] + 1), side="right").tolist()
    scaled = factors.take(starts + np.arange(sizes[0])[:, None], mode="clip") * scale
    for i, q in enumerate(scaled, start=1):
        n, degree = n_groups[i], min(i, top)
        added = np.multiply(coefficients[:degree, :n], q[:n], out=more[:degree, :n])
        coefficients[1 : degree + 1, :n] += added
    n_subsets = np.ones(len(sizes))
    for j, mean in enumerate(coefficients[1:]):
        n_subsets *= np.maximum(sizes - j, 1) * scale / (j + 1)
        mean /= n_subsets
    return coefficients[1:]


def _most_stops(expected: Array, n_stopping: Array) -> Array:
    """The number of stops that is not exceeded, by Bernstein's inequality."""
    far = LOG / 3 + np.sqrt((LOG / 3) ** 2 + 2 * LOG * expected)
    return np.asarray(np.minimum(n_stopping, (expected + far).astype(np.intp) + 1))


def _from_stops(factors: Array, starts: Array, sizes: Array, tops: Array, most: Array) -> Array:
    """From the number of documents that stop the user, each with the probability 1 - q.

    If k of m would, then none of them is among the first j with the probability
    C(m - k, j) / C(m, j) = (m - j) / m · (m - j - 1) / (m - 1) · … of k ratios.
    """
    groups = [factors[a : a + n] for a, n in zip(starts.tolist(), sizes.tolist(), strict=True)]
    stopping = [group[group < 1.0] for group in groups]
    padded, n_stops = np.ones((max(map(len, stopping)), len(sizes))), int(most.max())
    for column, group in zip(padded.T, stopping, strict=True):
        column[: len(group)] = group
    probability = np.zeros((n_stops + 1, len(sizes)))
    probability[0] = 1.0
    for i, q in enumerate(padded, start=1):
        n = min(i, n_stops)
        more = (1.0 - q) * probability[:n]
        probability[: n + 1] *= q
        probability[1 : n + 1] += more
    probability[np.arange(n_stops + 1)[:, None] > most] = 0.0  # as if it were alone
    left = sizes - np.arange(1.0, int(tops.max()) + 1)[:, None]
    means, none_of = np.repeat(probability[-1:], len(left), axis=0), np.empty_like(left)
    for k in range(n_stops - 1, -1, -1):
        means *= np.subtract(
            left, k, out=none_of
        )  # of the negative ones, each meets a 0 at k = m - j
        means *= 1.0 / np.maximum(sizes - k, 1)
        means += probability[k]
    return means


def _number_of_terms(tops: Array, relative: Array) -> Array:
    """The number of terms of Newton's identities that matter; inf if they may not be used.

    Given the sum of the factors relative to the highest. The number of successes, each of the
    probability q x / (1 + q x), has probabilities proportional to e_j x**j, which ascend up to its
    mean, less 1 (Darroch's theorem). For x = r / max(q), the mean is at least r / (1 + r) times
    the relative sum, so that e_{j-1} / e_j is at most x for any j up to this mean, less 1.
    """
    degree = tops + 1.0
    ratio = degree / np.maximum(relative - degree, 1.0)  # at least 2 if the bound is below 1
    terms = np.ceil(-LOG / np.log(np.minimum(ratio, RATIO))) + 1
    return np.where(ratio <= RATIO, np.minimum(terms, tops), np.inf)


def _from_power_sums(
    factors: Array, starts: Array, sizes: Array, tops: Array, n_terms: Array
) -> Array:
    """By Newton's identities, j e_j = p_1 e_{j-1} - p_2 e_{j-2} + …, where p_i sums q**i."""
    if len(sizes) == 1:  # doubled, because NumPy may sum a single column in another order
        doubled = (np.repeat(each, 2) for each in (starts, sizes, tops, n_terms))
        return _from_power_sums(factors, *doubled)[:, :1]
    top, edges = int(tops.max()), np.cumsum(sizes) - sizes
    power_sums = np.empty((int(n_terms.max()), len(sizes)))
    groups = zip(starts.tolist(), (starts + sizes).tolist(), strict=True)
    given = np.concatenate([factors[start:end] for start, end in groups])
    power = given.copy()
    for sums in power_sums:
        np.add.reduceat(power, edges, out=sums)
        power *= given
    power_sums[1::2] *= -1.0
    power_sums[np.arange(len(power_sums))[:, None] >= n_terms] = 0.0  # as if it were alone
    means, terms = np.empty((top, len(sizes))), np.zeros(power_sums.shape)
    terms[0] = 1.0  # the means of the degrees j, j - 1, …, times C(m, j - i) / C(m, j)
    for j, mean in enumerate(means):
        np.einsum("is,is->s", power_sums, terms, out=mean)
        mean /= sizes - j
        terms[1:] = terms[:-1] * ((j + 1) / (sizes - j))
        terms[0] = mean
    return means
