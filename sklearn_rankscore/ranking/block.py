"""What a metric sees: some queries of similar length, ranked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import numpy as np

from .arrays import Array, ArrayFunction, GradeFunction
from .row_sorts import highest
from .ties import BY_INPUT, Runs

# entries of a table that are looked up at once, and from how many on in pairs
AT_ONCE, MANY = 2**16, 2**14


class TiedRows:
    """The rows of a block in which documents within reach of the cut-off have equal scores.

    Parameters
    ----------
    rows : int array of shape (n_tied,)
        Positions in the block.
    labels : array of shape (n_tied, n_places)
        Labels by rank, those of equal scores in any fixed order.
    runs : Runs
        The runs of equal scores.
    in_input_order : callable
        Returns the labels by rank with those of equal scores in input order.
    """

    def __init__(
        self, rows: Array, labels: Array, runs: Runs, in_input_order: Callable[[], Array]
    ) -> None:
        self.rows, self.labels, self.runs = rows, labels, runs
        self._in_input_order = in_input_order

    @cached_property
    def labels_in_input_order(self) -> Array:
        """Labels by rank, those of equal scores in input order."""
        return self._in_input_order()[:, : self.labels.shape[1]]


class Block:
    """Some queries of similar length, ranked: one row a query, one column a rank.

    A metric asks it for the worth of documents, where `worth` is any function of an array of
    labels; answers are float arrays with zeros where a query has no (further) document. Blocks are
    made by the package and handed to metrics; the parameters are its own business.

    Attributes
    ----------
    queries : int array of shape (n_queries,)
        Positions of these queries in the result.
    sizes : int array of shape (n_queries,)
        Number of documents.
    retrieved : int array of shape (n_queries,)
        Number of documents that hold a rank, those with a score above -inf; `sizes` itself where
        that is all of them.
    ranks : int array of shape (n_ranks,)
        1, 2, …; as many as the deepest cut-off of the call needs.
    """

    def __init__(
        self,
        queries: Array,
        sizes: Array,
        retrieved: Array,
        labels: Array,
        ranked: Array,
        tied: TiedRows | None,
        n_grades: int,
    ) -> None:
        self.queries, self.sizes, self.retrieved = queries, sizes, retrieved
        self._labels, self._ranked, self._tied, self._n_grades = labels, ranked, tied, n_grades
        self._memory: dict[Any, Array] = {}

    @property
    def ranks(self) -> Array:
        """1, 2, …; as many as the deepest cut-off needs, not kept because they may be many."""
        return np.arange(1, self._ranked.shape[1] + 1)

    def by_rank(self, worth: ArrayFunction, ties: str = "average") -> Array:
        """Return the worth of the document at each rank.

        Parameters
        ----------
        worth : callable
            Function of an array of labels.
        ties : {"average", "stable", "reversed", "optimistic", "pessimistic"}, default="average"
            What equal scores mean.

        Returns
        -------
        ndarray of float of shape (n_queries, n_ranks)
            Zeros where no document holds the rank.
        """
        return self._once(("by_rank", worth, ties), lambda: self._by_rank(worth, ties))

    def ideal(self, worth: ArrayFunction) -> Array:
        """Return the worth at each rank if all documents stood in the best order.

        Parameters
        ----------
        worth : callable
            Function of an array of labels.

        Returns
        -------
        ndarray of float of shape (n_queries, n_ranks)
            Documents that were not retrieved are among them.
        """
        return self._once(("ideal", worth), lambda: self._ideal(worth))

    def total(self, worth: ArrayFunction) -> Array:
        """Return the sum of the worth of all documents of each query.

        Parameters
        ----------
        worth : callable
            Function of an array of labels.

        Returns
        -------
        ndarray of float of shape (n_queries,)
            Documents that were not retrieved are among them.
        """
        return self._once(("total", worth), lambda: self._total(worth))

    def survival(self, keep: ArrayFunction, ties: str = "average") -> Array:
        """Return the product of `keep` over the documents up to each rank.

        Parameters
        ----------
        keep : callable
            Function of an array of labels, with values from 0 to 1: the probability of going on.
        ties : {"average", "stable", "reversed", "optimistic", "pessimistic"}, default="average"
            What equal scores mean; "average" is the expectation of the product.

        Returns
        -------
        ndarray of float of shape (n_queries, n_ranks)
            The probability of getting past each rank.
        """
        return self._once(("survival", keep, ties), lambda: self._survival(keep, ties))

    def tie_runs(self, ties: str = "average") -> tuple[Array | int, Array | int]:
        """Return the place of each rank in its run of equal scores, and how long the run is.

        Parameters
        ----------
        ties : {"average", "stable", "reversed", "optimistic", "pessimistic"}, default="average"
            What equal scores mean.

        Returns
        -------
        before, size : int arrays of shape (n_queries, n_ranks)
            How many documents of the run stand before the rank, and how many there are in all;
            plain 0 and 1 if nothing is tied, or if `ties` fixes the order.
        """
        if ties != "average" or self._tied is None:
            return 0, 1
        offset = np.zeros_like(self._ranked, dtype=np.intp)
        size = np.ones_like(self._ranked, dtype=np.intp)
        offset[self._tied.rows] = self._tied.runs.offset[:, : self._ranked.shape[1]]
        size[self._tied.rows] = self._tied.runs.size[:, : self._ranked.shape[1]]
        return offset, size

    def runs_across(self, k: int) -> Iterator[tuple[int, int, int]]:
        """Generate the runs of equal scores that a cut-off goes through.

        Parameters
        ----------
        k : int
            The cut-off.

        Yields
        ------
        row, before, size : int
            The query's row, how many ranks come before the run, and its length.
        """
        if self._tied is None or k >= self._tied.runs.shape[1]:
            return
        start, size = self._tied.runs.start[:, k - 1], self._tied.runs.size[:, k - 1]
        for i in np.flatnonzero((start + size > k) & (start < self.retrieved[self._tied.rows])):
            yield int(self._tied.rows[i]), int(start[i]), int(size[i])

    def complete(self) -> Block:
        """Return the block with documents that were not retrieved ranked last, tied.

        Returns
        -------
        Block
            All its documents are retrieved.
        """
        ranking = self._labels, self._ranked, self._tied, self._n_grades
        return Block(self.queries, self.sizes, self.sizes, *ranking)

    def _once(self, key: Any, compute: Callable[[], Array]) -> Array:
        if key not in self._memory:
            self._memory[key] = compute()
        return self._memory[key]

    def _table(self, worth: ArrayFunction) -> Array | None:
        """Worth of padding, 0, and of each grade, if that says it all."""
        if self._n_grades and isinstance(worth, GradeFunction):
            return worth.table(self._n_grades)
        return None

    def _worth(self, worth: ArrayFunction, labels: Array, ends: Array, *, padding: bool) -> Array:
        """Worth of labels, 0 from each row's end on, where `padding` says there is nothing else."""
        table = self._table(worth)
        if table is not None:
            values = _look_up(table, labels)
            if padding:
                return values
        elif self._n_grades:
            # padding, 0, takes a label that occurs: the function may know of no other
            known = np.where(labels > 0, labels, labels.max()) - 1.0
            values = np.array(worth(known), dtype=np.float64)
        else:
            values = np.array(worth(labels.astype(np.float64)), dtype=np.float64)
        if ends.min() < values.shape[1]:
            values[np.arange(values.shape[1]) >= ends[:, None]] = 0.0
        return values

    def _everything(self, worth: ArrayFunction) -> Array:
        """Worth of every document of each query, in any order."""
        return self._worth(worth, self._labels, self.sizes, padding=True)

    def _ranked_worth(self, worth: ArrayFunction, labels: Array, retrieved: Array) -> Array:
        """Worth of the documents that hold a rank."""
        return self._worth(worth, labels, retrieved, padding=self.retrieved is self.sizes)

    def _by_rank(self, worth: ArrayFunction, ties: str) -> Array:
        if self._tied is None:
            return self._ranked_worth(worth, self._ranked, self.retrieved)
        rows, runs = self._tied.rows, self._tied.runs
        fixed = ties in BY_INPUT
        labels = self._tied.labels_in_input_order if fixed else self._tied.labels
        tied = runs.arrange(self._ranked_worth(worth, labels, self.retrieved[rows]), ties)
        tied = tied[:, : self._ranked.shape[1]]
        if len(rows) == 1 == len(self._ranked):  # no second array where a query may have millions
            return tied
        values = self._ranked_worth(worth, self._ranked, self.retrieved)
        values[rows] = tied
        return values

    def _total(self, worth: ArrayFunction) -> Array:
        return np.asarray(np.einsum("qd->q", self._everything(worth)))

    def _survival(self, keep: ArrayFunction, ties: str) -> Array:
        def loss(labels: Array) -> Array:
            return 1.0 - keep(labels)

        lost_by: ArrayFunction = GradeFunction(loss) if isinstance(keep, GradeFunction) else loss
        values = np.cumprod(1.0 - self._by_rank(lost_by, ties), axis=1)
        if ties == "average" and self._tied is not None:
            rows, runs = self._tied.rows, self._tied.runs
            lost = self._ranked_worth(lost_by, self._tied.labels, self.retrieved[rows])
            values[rows] = runs.survival(1.0 - lost, self._ranked.shape[1])
        return values

    def _ideal(self, worth: ArrayFunction) -> Array:
        depth = self._ranked.shape[1]
        table = self._table(worth)
        if table is None:
            return np.asarray(-np.sort(-self._everything(worth), axis=1)[:, :depth])
        if (table[2:] >= table[1:-1]).all():
            return _look_up(table, self._highest_grades)
        # grades in rising order of worth take the place of the labels
        order = np.append(0, 1 + np.argsort(table[1:], kind="stable"))
        place_of = np.empty(len(table), dtype=np.uint8)
        place_of[order] = np.arange(len(table))
        return _look_up(table[order], self._highest(_look_up(place_of, self._labels)))

    @cached_property
    def _highest_grades(self) -> Array:
        return self._highest(self._labels)

    def _highest(self, labels: Array) -> Array:
        return highest(labels, self.sizes, self._n_grades, self._ranked.shape[1])


def _look_up(table: Array, codes: Array) -> Array:
    """Entries of a table, stored in the same order as the codes."""
    order: Any = "F" if codes.flags.f_contiguous else "C"
    flat = codes.ravel(order)
    found = np.empty(flat.shape, table.dtype)
    if len(flat) >= MANY and table.dtype == np.float64:
        # two numbers are found as fast as one: a complex number is a pair of them
        even = len(flat) // 2 * 2
        _take(_pairs(table), flat[:even].view("<u2"), found[:even].view(np.complex128))
        found[even:] = table[flat[even:]]
    else:
        _take(table, flat, found)
    return found.reshape(codes.shape, order=order)


def _pairs(table: Array) -> Array:
    """Two entries of a table for every two codes, read as one number of 16 bits."""
    pairs = np.zeros((len(table), 2**8), np.complex128)
    pairs.real[:, : len(table)] = table
    pairs.imag[:, : len(table)] = table[:, None]
    return pairs.ravel()


def _take(table: Array, codes: Array, found: Array) -> None:
    # in parts, because each is converted to indices of eight bytes
    for start in range(0, len(codes), AT_ONCE):
        part = slice(start, start + AT_ONCE)
        table.take(codes[part], out=found[part], mode="clip")
