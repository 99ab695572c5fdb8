"""What a formula sees: some queries of similar length, ranked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from .._columns import as_numbers
from .._typing import Array, ArrayFunction, Ties
from .._validation import check_choice
from ..query_ids import Grouping
from .plain import SHORT, Labels, accumulate, leading, order_of, sort_rows
from .queries import Queries
from .ties import BY_INPUT_ORDER, TIES, TieGroups, tie_groups

# documents in a block: few enough that the arrays of a block fit into the memory that is retained
# (`fast.engine.retain_freed_memory`), and enough that threads seldom wait
BLOCK_DOCUMENTS = 2**19

# from this size on a query fills a block alone and needs no padding
LONG = 2**19


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


class Block:
    """Some queries of similar length, ranked: one row per query, one column per rank.

    A formula asks a block for the gains of documents, where `gain` is any function of an array of
    labels. Results are float arrays with zeros where a query has no (further) document. Blocks are
    created by the package, or by `from_lists`; the constructor is not public.

    Attributes
    ----------
    queries : int array of shape (n_queries,)
        Positions of these queries in the result.
    sizes : int array of shape (n_queries,)
        Number of documents of each query.
    retrieved : int array of shape (n_queries,)
        Number of documents with a rank, which are those with a score above -inf.
    ranks : int array of shape (n_ranks,)
        1, 2, …, up to the largest cut-off of the call.

    Examples
    --------
    >>> from sklearn_rankscore import Block
    >>> block = Block.from_lists([[0, 2, 1], [1]], [[0.9, 0.5, 0.1], [0.3]])
    >>> block.by_rank(lambda labels: labels)
    array([[0., 2., 1.],
           [1., 0., 0.]])
    """

    def __init__(
        self,
        queries: Array,
        sizes: Array,
        retrieved: Array,
        labels: Labels,
        ranked: Array,
        tied: TieGroups | None,
        scores_of: Callable[[Array], Array],
    ) -> None:
        self.queries, self.sizes, self.retrieved = queries, sizes, retrieved
        self._labels, self._ranked, self._tied = labels, ranked, tied
        self._scores_of = scores_of
        self._cache: dict[Any, Array] = {}
        self._derived: dict[Any, Block] = {}

    def __repr__(self) -> str:
        return f"<Block of {len(self.sizes):,} queries with up to {self.sizes.max():,} documents>"

    @classmethod
    def from_lists(cls, labels: Sequence[Any], scores: Sequence[Any]) -> Block:
        """Rank a few queries, to test a user-defined metric.

        Parameters
        ----------
        labels : sequence of n_queries sequences of float
            Labels of the documents of each query.
        scores : sequence of n_queries sequences of float
            Their scores; higher ranks first, -inf means not retrieved.

        Returns
        -------
        Block
            One row per query, in the order given.

        Raises
        ------
        ValueError
            If labels or scores are not lists by query, or differ in length, a query has no
            documents, or a value is NaN.

        Examples
        --------
        >>> from sklearn_rankscore import Block
        >>> block = Block.from_lists([[0, 1], [1, 0]], [[2.0, 1.0], [2.0, 1.0]])
        >>> block.total(lambda labels: labels)
        array([1., 1.])
        """
        if not all(hasattr(row, "__len__") for row in chain(labels, scores)):
            raise ValueError(
                "labels and scores must hold one list per query; got single values. Those of one "
                "query are passed as [labels] and [scores]."
            )
        sizes = np.array([len(row) for row in labels], dtype=np.intp)
        if [len(row) for row in scores] != sizes.tolist() or not (len(sizes) and sizes.all()):
            raise ValueError(
                "labels and scores must hold one non-empty list per query, of equal length; got "
                f"lists of {sizes.tolist()} labels and {[len(row) for row in scores]} scores."
            )
        y_true = as_numbers(list(chain.from_iterable(labels)), "labels")
        y_score = as_numbers(list(chain.from_iterable(scores)), "scores")
        grouping = Grouping(np.arange(len(sizes)), np.cumsum(sizes) - sizes, sizes)
        return _rank(y_true, y_score, grouping, np.arange(len(sizes)), int(sizes.max()), None)

    @property
    def ranks(self) -> Array:
        """1, 2, …, up to the largest cut-off of the call."""
        # not cached, because a single query may have millions of documents
        return np.arange(1, self._ranked.shape[1] + 1)

    def by_rank(self, gain: ArrayFunction, ties: Ties = "average") -> Array:
        """Return the gain of the document at each rank.

        Parameters
        ----------
        gain : callable
            Function of an array of labels.
        ties : {"average", "stable", "reversed", "optimistic", "pessimistic"}, default="average"
            How equal scores are ranked.

        Returns
        -------
        ndarray of float of shape (n_queries, n_ranks)
            Zeros at ranks that no document holds.
        """
        key = "by_rank", gain, ties
        if key not in self._cache:
            values, tied = self._values(gain), self._tied
            self._cache[key] = (
                values(self._ranked, self.retrieved)
                if tied is None
                else self._by_rule(tied, values, ties)
            )
        return self._cache[key]

    def ideal(self, gain: ArrayFunction) -> Array:
        """Return the gain at each rank of the ideal order, which ranks by descending gain.

        Parameters
        ----------
        gain : callable
            Function of an array of labels.

        Returns
        -------
        ndarray of float of shape (n_queries, n_ranks)
            Documents that were not retrieved are included.
        """
        key, cache = ("ideal", gain, self._ranked.shape[1]), self._labels.cache
        if key not in cache:
            cache[key] = self._labels.ideal(gain, self._ranked.shape[1])
        return cache[key]

    def total(self, gain: ArrayFunction) -> Array:
        """Return the sum of the gains of all documents of each query.

        Parameters
        ----------
        gain : callable
            Function of an array of labels.

        Returns
        -------
        ndarray of float of shape (n_queries,)
            Documents that were not retrieved are included.
        """
        key, cache = ("total", gain), self._labels.cache
        if key not in cache:
            cache[key] = self._labels.total(gain)
        return cache[key]

    def survival(self, continue_prob: ArrayFunction, ties: Ties = "average") -> Array:
        """Return the probability that a user reads past each rank.

        Parameters
        ----------
        continue_prob : callable
            Function of an array of labels, with values from 0 to 1: the probability of continuing
            after a document with this label.
        ties : {"average", "stable", "reversed", "optimistic", "pessimistic"}, default="average"
            How equal scores are ranked; "average" is the expectation of the product.

        Returns
        -------
        ndarray of float of shape (n_queries, n_ranks)
            The product of `continue_prob` over the documents up to each rank.
        """
        key = "survival", continue_prob, ties
        if key not in self._cache:
            values, tied = self._values(continue_prob, fill=1.0), self._tied

            def of_ranked() -> Array:
                return accumulate(np.multiply, values(self._ranked, self.retrieved))

            if tied is None:
                self._cache[key] = of_ranked()
            elif ties == "average":
                expected = tied.survival(values(tied.labels(), self.retrieved[tied.rows]))
                self._cache[key] = self._of_all_rows(tied, expected, of_ranked)
            else:  # in the best order, users stop as early as possible
                reverse = {"optimistic": "pessimistic", "pessimistic": "optimistic"}.get(ties, ties)
                self._cache[key] = accumulate(np.multiply, self._by_rule(tied, values, reverse))
        return self._cache[key]

    def tie_groups(self, ties: Ties = "average") -> tuple[Array | int, Array | int]:
        """Return each rank's offset in its tie group, and the size of the group.

        Parameters
        ----------
        ties : {"average", "stable", "reversed", "optimistic", "pessimistic"}, default="average"
            How equal scores are ranked.

        Returns
        -------
        offset, size : int arrays of shape (n_queries, n_ranks)
            The number of tied documents before the rank, and in the whole group; 0 and 1 if
            nothing is tied or if `ties` is not "average".
        """
        check_choice("ties", ties, TIES)
        if ties != "average" or self._tied is None:
            return 0, 1
        offset, size = self._tied.offset(), self._tied.size()
        return (
            self._of_all_rows(
                self._tied, offset, lambda: np.zeros_like(self._ranked, offset.dtype)
            ),
            self._of_all_rows(self._tied, size, lambda: np.ones_like(self._ranked, size.dtype)),
        )

    def first_group(
        self, condition: ArrayFunction, ties: Ties = "average", k: int | None = None
    ) -> FirstGroup:
        """Return the place of the first retrieved document whose label meets a condition.

        Parameters
        ----------
        condition : callable
            Function of an array of labels: 1 where the condition is met, 0 elsewhere.
        ties : {"average", "stable", "reversed", "optimistic", "pessimistic"}, default="average"
            How equal scores are ranked.
        k : int, default=None
            The cut-off; None if the document may stand anywhere, also beyond the ranks of the
            block.

        Returns
        -------
        FirstGroup
            The tie group of that document in each query: `before`, the number of documents ranked
            above it, `size` (0 if there is none within the cut-off), and `count`, the number that
            meet the condition. With another rule than "average" it is the document alone.
        """
        share = self.by_rank(condition, ties)
        before, every_row = leading(share <= 0) % share.shape[1], np.arange(len(share))
        size = np.ones_like(before)
        if (tied := self._tied_rows(ties)) is not None:
            rows, groups = tied
            sizes = groups.size()
            size[rows] = sizes[np.arange(len(sizes)), before[rows]]
        count = np.rint(share[every_row, before] * size).astype(np.intp)
        first = FirstGroup(before, size, count)
        missing = np.flatnonzero(count == 0)
        first.size[missing] = 0
        if len(missing) and (k is None or k > len(self.ranks)):
            beyond = self._first_by_score(condition, ties, missing)
            first.before[missing], first.size[missing] = beyond.before, beyond.size
            first.count[missing] = beyond.count
        if k is not None:
            first.size[first.before >= k] = 0
        return first

    def complete(self) -> Block:
        """Return the block with documents that were not retrieved ranked last, as one tie group.

        Returns
        -------
        Block
            A block in which all documents are retrieved.
        """
        # also where all are: a block of its own, so that what it computes is not kept with this one
        ranking = (self._labels, self._ranked, self._tied, self._scores_of)
        return Block(self.queries, self.sizes, self.sizes, *ranking)

    def _values(self, function: ArrayFunction, fill: float = 0.0) -> Callable[..., Array]:
        """What gives a function of labels by rank, and `fill` where there is no document."""
        # the same array where all documents have a rank, as blocks are made
        all_retrieved = self.retrieved is self.sizes
        return partial(self._labels.values, function, all_retrieved=all_retrieved, fill=fill)

    def _by_rule(self, groups: TieGroups, values: Callable[..., Array], ties: str) -> Array:
        """Values by rank, those of equal scores by a tie rule."""
        labels = groups.labels(in_input_order=ties in BY_INPUT_ORDER)
        tied = groups.by_rule(values(labels, self.retrieved[groups.rows]), ties)
        return self._of_all_rows(groups, tied, partial(values, self._ranked, self.retrieved))

    def _of_all_rows(self, groups: TieGroups, tied: Array, others: Callable[[], Array]) -> Array:
        """Values of the rows with ties among those of all rows."""
        every_row = len(groups.rows) == len(self._ranked)
        if every_row and tied.flags.c_contiguous == self._ranked.flags.c_contiguous:
            return tied  # in the same memory order, on which the rounding of sums depends
        of_all = others()
        of_all[groups.rows] = tied
        return of_all

    def _tied_rows(self, ties: Ties) -> tuple[Array | slice, TieGroups] | None:
        """The rows with ties, and their tie groups."""
        if ties != "average" or self._tied is None:
            return None
        every_row = len(self._tied.rows) == len(self._ranked)
        return slice(None) if every_row else self._tied.rows, self._tied

    def _first_by_score(self, condition: ArrayFunction, ties: str, rows: Array) -> FirstGroup:
        labels, scores = self._labels.labels[rows], self._scores_of(rows)
        meets = self._labels.values(condition, labels, self.sizes[rows]) > 0
        return _first_group_by_score(meets, scores, ties)


def up_to(last: Array, block: Block) -> Array:
    """Which ranks are up to the last one of each query, in the memory order of gains by rank.

    The rounding of sums depends on it.
    """
    within = np.empty_like(block._ranked, dtype=bool)
    return np.less_equal(block.ranks, last[:, None], out=within)


def _first_group_by_score(meets: Array, scores: Array, ties: str) -> FirstGroup:
    """The first groups in rows of scores, given which documents meet the condition."""
    best = np.where(meets, scores, -np.inf).max(axis=1)[:, None]
    tied = (scores == best) & (best > -np.inf)
    meets = meets & tied
    before, size, count = (
        np.count_nonzero(flags, axis=1) for flags in (scores > best, tied, meets)
    )
    before[size == 0] = 0
    if ties == "average":
        return FirstGroup(before, size, count)
    if ties == "pessimistic":
        before += size - count
    elif ties == "stable":
        n_before = meets.argmax(axis=1)[:, None]
        before += np.count_nonzero(tied & (np.arange(tied.shape[1]) < n_before), axis=1)
    elif ties == "reversed":
        n_after = meets[:, ::-1].argmax(axis=1)[:, None]
        before += np.count_nonzero(tied & (np.arange(tied.shape[1])[::-1] < n_after), axis=1)
    exists = np.minimum(size, 1)
    return FirstGroup(before, exists, exists)


Task = Callable[[], Block]


def plan_blocks(queries: Queries, depth: int | None) -> list[Task]:
    """Functions that each rank one block, the longest queries first."""
    given, sizes = (queries.y_true, queries.y_score, queries.grouping), queries.grouping.sizes
    widths = padded_width(np.maximum(sizes, SHORT))
    tasks: list[Task] = []
    for width in sorted(set(widths.tolist()), reverse=True):
        members, step = np.flatnonzero(widths == width), max(1, BLOCK_DOCUMENTS // width)
        for start in range(0, len(members), step):
            some = members[start : start + step]
            own_width = int(sizes[some].max()) if width == SHORT else width
            if width == SHORT and len(some) == 1:
                some = np.repeat(some, 2)  # NumPy sums the columns of one row in another order
            tasks.append(partial(_rank, *given, some, own_width, depth))
    return tasks


def padded_width(sizes: Array) -> Array:
    """Sizes rounded up to four significant bits; long ones unchanged.

    The width depends on a query's own size alone, so that a sum over its ranks has the same
    rounding whatever else is in the block.
    """
    if sizes.max() <= SHORT:
        return sizes
    bits = np.frexp(sizes - 1)[1]
    shift = np.where((bits > 4) & (sizes < LONG), bits - 4, 0)
    return np.asarray(((sizes + (1 << shift) - 1) >> shift) << shift)


def _rank(
    y_true: Array,
    y_score: Array,
    grouping: Grouping,
    members: Array,
    width: int,
    depth: int | None,
) -> Block:
    sizes, columns = grouping.sizes[members], np.arange(width)
    # padding takes the first document, because a gain need not be defined for other labels
    padding = columns >= sizes[:, None]
    rows = grouping.starts[members][:, None] + np.where(padding, 0, columns)
    rows = rows if grouping.rows is None else grouping.rows[rows]
    labels, scores = y_true[rows], y_score[rows]
    if padding.any():
        scores = np.where(padding, -np.inf, scores)
    depth = width if depth is None else min(depth, width)
    by_rank, equals_next = sort_rows(labels, scores, sizes)
    tied = None
    if equals_next[:, :depth].any():
        tied = tie_groups(np.arange(len(sizes)), by_rank, equals_next, depth, width)
    is_retrieved, order = scores > -np.inf, order_of(width)
    retrieved = sizes if is_retrieved.all() else is_retrieved.sum(axis=1)
    ranked, labels = np.array(by_rank[:, :depth], order=order), np.asarray(labels, order=order)
    return Block(members, sizes, retrieved, Labels(labels, sizes), ranked, tied, scores.__getitem__)
