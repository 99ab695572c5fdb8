"""What an accumulator has counted so far: numbers, arrays and query ids, but no functions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from .grouped_queries import merged
from .moments import Moments
from .open_queries import OpenQueries
from .totals import QueryValues, Totals


@dataclass(frozen=True)
class State:
    """The totals of complete queries and the rows of open ones.

    A state is never changed, only replaced, so that an interrupted update leaves a valid one.

    Parameters
    ----------
    totals : Totals
        Totals over complete queries.
    open : OpenQueries
        The open queries of the sorted stream.
    n_documents : int
        Number of documents of both.
    """

    totals: Totals
    open: OpenQueries
    n_documents: int = 0

    @classmethod
    def empty(cls, names: Iterable[str]) -> State:
        """The state before the first document."""
        return cls(Totals(dict.fromkeys(names, Moments())), OpenQueries())

    def plus(self, totals: Totals | None, opened: OpenQueries, n_documents: int) -> State:
        """The state after a batch of `n_documents`, which adds `totals` and leaves `opened`."""
        sums = self.totals if totals is None else self.totals + totals
        return State(sums, opened, self.n_documents + n_documents)

    def merged(self, other: State) -> State:
        """The state after the documents of both."""
        opened = merged(self.open, other.open)
        return State(self.totals + other.totals, opened, self.n_documents + other.n_documents)

    def without_values(self) -> State:
        """The same without the values of each query."""
        return replace(self, totals=replace(self.totals, values=QueryValues()))
