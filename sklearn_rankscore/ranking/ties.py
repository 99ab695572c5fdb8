"""Tie groups: what documents with equal scores count when their order is open.

The first j of m tied documents are a random subset, so that the expected product of their factors
is its mean over all subsets of j documents: the elementary symmetric polynomial of degree j over
the number of subsets, e_j / C(m, j). All numbers are positive and nothing cancels, except in
alternating sums of which each term is at most half as large as the one before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import Array
from .._validation import check_choice
from .plain import SHORT, accumulate, leading

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


def tie_groups(
    rows: Array,
    by_rank: Array,
    equals_next: Array,
    depth: int,
    width: int,
    sort: Callable[[Array, Array], Array] | None = None,
) -> TieGroups | None:
    """The ties among the first ranks of sorted rows of a block of that width, if any.

    `by_rank` has labels of equal scores in input order, which `sort` may order otherwise.
    """
    tied = np.flatnonzero(equals_next[:, :depth].any(axis=1))
    if not len(tied):
        return None
    if len(tied) < len(rows):  # not if all are, as a single query of millions of documents
        rows, by_rank, equals_next = rows[tied], by_rank[tied], equals_next[tied]
    labels = by_rank if sort is None else sort(by_rank, equals_next)
    return tie_groups_of(width)(rows, labels, equals_next, depth, lambda: by_rank)


def tie_groups_of(width: int) -> type[TieGroups]:
    """How rows of this width store their tie groups."""
    return TieGroupsByColumn if width <= SHORT else TieGroups


@dataclass
class GroupPlaces:
    """Where the groups are.

    Parameters
    ----------
    heads, visible : int arrays of shape (n_groups,)
        First position of each group in the flattened first ranks, and its length within them.
    starts, sizes : int arrays of shape (n_groups,)
        The same in the flattened window, which contains whole groups.
    positions : int array of shape (n_tied,)
        All positions in the flattened first ranks that belong to a group.
    """

    heads: Array
    visible: Array
    starts: Array
    sizes: Array
    positions: Array


class TieGroups:
    """Groups of equal scores among the first ranks, in the rows of a block where there are some.

    Parameters
    ----------
    rows : int array of shape (n_tied,)
        Positions of these rows in the block.
    labels : array of shape (n_tied, n_documents)
        Labels by rank, those of equal scores in any fixed order.
    equals_next : bool array of shape (n_tied, n_documents - 1)
        Whether the score at each rank equals the one at the next rank.
    depth : int
        Number of ranks that matter.
    in_input_order : callable
        Returns the labels by rank, those of equal scores in input order.

    Attributes
    ----------
    window : int
        Number of ranks that fully contain every group that starts within the depth.
    """

    order: Any = "C"  # memory order of what is read and returned

    def __init__(
        self,
        rows: Array,
        labels: Array,
        equals_next: Array,
        depth: int,
        in_input_order: Callable[[], Array],
    ) -> None:
        self.rows, self.depth = rows, depth
        self._overhang = leading(equals_next[:, depth - 1 :])
        self.window = depth + int(self._overhang.max(initial=0))
        self._equals_next = np.asarray(equals_next[:, : self.window - 1], order=self.order)
        self._labels, self._in_input_order = {False: self._in_window(labels)}, in_input_order
        self._located: GroupPlaces | None = None

    def labels(self, *, in_input_order: bool = False) -> Array:
        """Labels by rank up to the end of the window, those of equal scores in any order."""
        if in_input_order not in self._labels:
            self._labels[in_input_order] = self._in_window(self._in_input_order())
        return self._labels[in_input_order]

    def _in_window(self, labels: Array) -> Array:
        return np.asarray(labels[:, : self.window], order=self.order)

    def offset(self) -> Array:
        """Number of documents of the group before each rank, 0 outside of groups."""
        places, offset = self._places(), np.zeros((len(self.rows), self.depth), dtype=np.intp)
        # in four bytes if they suffice, for the sake of queries of millions of documents
        of_each = np.repeat(places.heads.astype(np.min_scalar_type(-offset.size)), places.visible)
        np.subtract(places.positions, of_each, out=of_each, casting="unsafe")
        offset.ravel()[places.positions] = of_each
        return offset

    def size(self) -> Array:
        """Number of documents of the group at each rank, 1 outside of groups."""
        ones = np.ones((len(self.rows), self.depth), dtype=np.intp)
        return self._broadcast(self._places().sizes, ones)

    def by_rule(self, values: Array, ties: str) -> Array:
        """Values up to the depth under a tie rule, from those of the window.

        For "stable" and "reversed", those of equal scores are in input order. The values may be
        overwritten, for the sake of queries of millions of documents.
        """
        if check_choice("ties", ties, TIES) == "average":
            return self._means(values)
        if ties in ("optimistic", "pessimistic"):
            values = self._ascending(values)
        if ties in ("reversed", "optimistic"):
            values = self._mirrored(values)
        return np.asarray(values[:, : self.depth], order=self.order)

    def survival(self, continue_prob: Array) -> Array:
        """Expected product of `continue_prob` over the first ranks, over all orders of the ties.

        The first j of m tied documents are a random subset, so their expected product is the
        elementary symmetric mean of degree j; tie groups are independent of one another.
        """
        places, factors = self._places(), np.ascontiguousarray(continue_prob)
        within = np.array(factors[:, : self.depth])
        # the product over a whole group stands at its last position, and 1 at its others
        products = self._broadcast(np.ones(len(places.heads)), within.copy())
        of_groups = reduce_groups(np.multiply, within.ravel(), places.heads, places.visible)
        products.ravel()[places.heads + places.visible - 1] = of_groups
        before = np.ones(within.shape)
        before[:, 1:] = products[:, :-1]
        accumulate(np.multiply, before)
        reached, means = before.ravel()[places.heads] > NEGLIGIBLE, np.zeros(len(places.positions))
        means[np.repeat(reached, places.visible)] = expected_products(
            factors.ravel(), places.starts[reached], places.sizes[reached], places.visible[reached]
        )
        within.ravel()[places.positions] = means
        return np.asarray(before * within, order=self.order)

    def _means(self, values: Array) -> Array:
        places, within = self._places(), np.ascontiguousarray(values[:, : self.depth])
        sums = reduce_groups(np.add, values.ravel(), places.starts, places.sizes)
        return self._broadcast(sums / places.sizes, within)

    def _ascending(self, values: Array) -> Array:
        """Values with those of each group in ascending order: those given, if they ascend."""
        if ((values[:, 1:] >= values[:, :-1]) | ~self._equals_next).all():
            return values
        group = np.zeros(values.shape, dtype=np.intp)
        np.cumsum(~self._equals_next, axis=1, out=group[:, 1:])
        return np.take_along_axis(values, np.lexsort((values, group), axis=1), axis=1)

    def _mirrored(self, values: Array) -> Array:
        """Values up to the depth with the order within each group reversed."""
        places, result = self._places(), np.array(values[:, : self.depth], order="C")
        # a position in the window, plus the mirrored one within the depth
        both = places.starts + places.sizes - 1 + places.heads
        mirrored = np.repeat(both, places.visible) - places.positions
        result.ravel()[places.positions] = np.ascontiguousarray(values).ravel().take(mirrored)
        return result

    def _broadcast(self, values: Array, others: Array) -> Array:
        """`others`, overwritten at each position of a group by the value of the group."""
        others.ravel()[self._places().positions] = np.repeat(values, self._places().visible)
        return others

    def _places(self) -> GroupPlaces:
        if self._located is None:
            before, after = np.zeros((2, len(self.rows), self.depth), dtype=bool)
            before[:, 1:] = self._equals_next[:, : self.depth - 1]
            after[:, : self._equals_next.shape[1]] = self._equals_next[:, : self.depth]
            positions = np.flatnonzero(before | after)
            first = np.flatnonzero((after > before).ravel()[positions])
            visible, heads = np.diff(first, append=len(positions)), positions[first]
            rows = heads // self.depth
            reaches_depth = heads + visible == (rows + 1) * self.depth
            sizes = visible + reaches_depth * self._overhang[rows]
            starts = heads + rows * (self.window - self.depth)
            self._located = GroupPlaces(heads, visible, starts, sizes, positions)
        return self._located


class TieGroupsByColumn(TieGroups):
    """`TieGroups` of many short rows, stored by column: averages cost some operations for each."""

    order = "F"

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._masks: dict[int, Array] = {}
        self._sizes = self._sums(np.ones((self.window, len(self.rows)), dtype=np.uint8))

    def offset(self) -> Array:
        """Number of documents of the group before each rank, 0 outside of groups."""
        offset = np.zeros((self.depth, len(self.rows)), dtype=np.int32)
        for before, mask, column in zip(offset, self._mask(4), offset[1:], strict=False):
            np.bitwise_and(before + 1, mask, out=column)
        return offset.T

    def size(self) -> Array:
        """Number of documents of the group at each rank, 1 outside of groups."""
        return self._sizes[: self.depth].T.astype(np.int32)

    def _means(self, values: Array) -> Array:
        means = self._sums(np.ascontiguousarray(values.T))[: self.depth]
        means /= self._sizes[: self.depth]
        return means.T

    def _sums(self, columns: Array) -> Array:
        """The sum of the group at each position, in place of the values."""
        integers, masks = columns.view(f"i{columns.itemsize}"), self._mask(columns.itemsize)
        summand = np.empty_like(columns[0])
        difference = summand.view(integers.dtype)
        for j, mask in enumerate(masks):  # the last position of a group has the sum of all
            np.bitwise_and(integers[j], mask, out=difference)
            columns[j + 1] += summand
        for j in reversed(range(len(masks))):
            np.bitwise_xor(integers[j], integers[j + 1], out=difference)
            difference &= masks[j]
            integers[j] ^= difference
        return columns

    def _mask(self, n_bytes: int) -> Array:
        """One row per column: all bits of a number where its score equals the next, else none."""
        if n_bytes not in self._masks:
            mask = self._equals_next.T.view(np.int8).astype(f"i{n_bytes}")
            self._masks[n_bytes] = np.negative(mask, out=mask)
        return self._masks[n_bytes]


def reduce_groups(function: np.ufunc, values: Array, starts: Array, sizes: Array) -> Array:
    """A sum or product over each group; groups do not overlap, and their starts ascend."""
    edges = np.stack([starts, starts + sizes], axis=1).ravel()
    return np.asarray(function.reduceat(values, edges[edges < len(values)])[::2])


def expected_products(factors: Array, starts: Array, sizes: Array, n_degrees: Array) -> Array:
    """Mean product of j of m factors in [0, 1] over all choices, for j = 1, …, n_degrees.

    A group's factors are `factors[start : start + size]`; groups do not overlap, and their starts
    ascend. The result holds one group after another; no value depends on other groups.
    """
    tops, parameter = n_degrees.copy(), np.ones(len(sizes))
    way = np.zeros(len(sizes), dtype=np.intp)
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
        for start in range(0, len(some), step):
            yield some[start : start + step]


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
        # of the negative ones, each meets a 0 at k = m - j
        means *= np.subtract(left, k, out=none_of)
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
