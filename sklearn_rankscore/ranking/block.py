"""What a formula sees: some queries of similar length, ranked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np

from .._columns import as_numbers
from .._typing import Array, ArrayFunction, Ties
from .label_functions import complement
from .plain import Labels, rank_rows, stable_order
from .ties import BY_INPUT_ORDER, TiedRows


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
        tied: TiedRows | None,
    ) -> None:
        self.queries, self.sizes, self.retrieved = queries, sizes, retrieved
        self._labels, self._ranked, self._tied = labels, ranked, tied
        self._cache: dict[Any, Array] = {}

    @classmethod
    def from_lists(cls, labels: Sequence[Any], scores: Sequence[Any]) -> Block:
        """Rank a few queries, to try out a metric of one's own.

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
            If the lists differ in length, a query has no documents, or a value is NaN.

        Examples
        --------
        >>> from sklearn_rankscore import Block
        >>> block = Block.from_lists([[0, 1], [1, 0]], [[2.0, 1.0], [2.0, 1.0]])
        >>> block.total(lambda labels: labels)
        array([1., 1.])
        """
        sizes = np.array([len(row) for row in labels], dtype=np.intp)
        if [len(row) for row in scores] != sizes.tolist() or not (len(sizes) and sizes.all()):
            raise ValueError(
                "labels and scores must hold one non-empty list per query, of equal length; got "
                f"lists of {sizes.tolist()} labels and {[len(row) for row in scores]} scores."
            )
        as_numbers(list(chain.from_iterable(labels)), "labels")
        as_numbers(list(chain.from_iterable(scores)), "scores")
        width = sizes.max()
        # padding takes a label that occurs, because a gain need not be defined for others
        padded = [[*row, *[row[0]] * (width - len(row))] for row in labels]
        minus_inf = [[*row, *[-np.inf] * (width - len(row))] for row in scores]
        return cls.of_rows(
            np.arange(len(sizes)), np.array(padded), np.array(minus_inf), sizes, depth=width
        )

    @classmethod
    def of_rows(
        cls,
        queries: Array,
        labels: Array,
        scores: Array,
        sizes: Array,
        depth: int,
        order: Callable[[Array], Array] = stable_order,
    ) -> Block:
        """Rank rows of labels and scores, one row per query."""
        retrieved, ranked, tied = rank_rows(labels, scores, sizes, depth, order)
        return cls(queries, sizes, retrieved, Labels(labels, sizes), ranked, tied)

    @property
    def ranks(self) -> Array:
        """1, 2, …; not cached, because a single query may have millions of documents."""
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
        return self._cached(("by_rank", gain, ties), lambda: self._by_rank(gain, ties))

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
        depth = self._ranked.shape[1]
        return self._cached(("ideal", gain), lambda: self._labels.ideal(gain, depth))

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
        return self._cached(("total", gain), lambda: self._labels.total(gain))

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
        key = ("survival", continue_prob, ties)
        return self._cached(key, lambda: self._survival(continue_prob, ties))

    def tie_groups(self, ties: Ties = "average") -> tuple[Array | int, Array | int]:
        """Return each rank's offset in its tie group, and the size of the group.

        Parameters
        ----------
        ties : {"average", "stable", "reversed", "optimistic", "pessimistic"}, default="average"
            How equal scores are ranked.

        Returns
        -------
        offset, size : int arrays of shape (n_queries, n_ranks)
            The number of tied documents before the rank, and in the whole group; the scalars 0
            and 1 if nothing is tied or if `ties` is not "average".
        """
        if ties != "average" or self._tied is None:
            return 0, 1
        depth, groups = self._ranked.shape[1], self._tied.tie_groups
        offset = np.zeros_like(self._ranked, dtype=np.intp)
        size = np.ones_like(self._ranked, dtype=np.intp)
        offset[self._tied.rows] = groups.offset[:, :depth]
        size[self._tied.rows] = groups.size[:, :depth]
        return offset, size

    def tie_groups_across(self, k: int) -> Iterator[tuple[int, int, int]]:
        """Generate the tie groups that a cut-off divides.

        Parameters
        ----------
        k : int
            The cut-off.

        Yields
        ------
        row, start, size : int
            The row of the query, the number of ranks before the group, and its size.
        """
        if self._tied is None or k >= self._tied.tie_groups.shape[1]:
            return
        groups, rows = self._tied.tie_groups, self._tied.rows
        start, size = groups.start[:, k - 1], groups.size[:, k - 1]
        for i in np.flatnonzero((start + size > k) & (start < self.retrieved[rows])):
            yield int(rows[i]), int(start[i]), int(size[i])

    def complete(self) -> Block:
        """Return the block with documents that were not retrieved ranked last, as one tie group.

        Returns
        -------
        Block
            A block in which all documents are retrieved.
        """
        return Block(self.queries, self.sizes, self.sizes, self._labels, self._ranked, self._tied)

    def _cached(self, key: Any, compute: Callable[[], Array]) -> Array:
        if key not in self._cache:
            self._cache[key] = compute()
        return self._cache[key]

    def _values(self, function: ArrayFunction, labels: Array, retrieved: Array) -> Array:
        """A function of the labels of ranked documents."""
        padded = self.retrieved is self.sizes
        return self._labels.values(function, labels, retrieved, padded=padded)

    def _by_rank(self, gain: ArrayFunction, ties: str) -> Array:
        if self._tied is None:
            return self._values(gain, self._ranked, self.retrieved)
        rows, depth = self._tied.rows, self._ranked.shape[1]
        fixed = ties in BY_INPUT_ORDER
        labels = self._tied.labels_in_input_order if fixed else self._tied.labels
        gains = self._values(gain, labels, self.retrieved[rows])
        tied = self._tied.tie_groups.apply_tie_rule(gains, ties)[:, :depth]
        if len(rows) == 1 == len(self._ranked):  # avoids a second array for a query of millions
            return tied
        values = self._values(gain, self._ranked, self.retrieved)
        values[rows] = tied
        return values

    def _survival(self, continue_prob: ArrayFunction, ties: str) -> Array:
        stop_prob = complement(continue_prob)
        values = np.cumprod(1.0 - self._by_rank(stop_prob, ties), axis=1)
        if ties == "average" and self._tied is not None:
            rows = self._tied.rows
            stops = self._values(stop_prob, self._tied.labels, self.retrieved[rows])
            values[rows] = self._tied.tie_groups.survival(1.0 - stops, self._ranked.shape[1])
        return values
