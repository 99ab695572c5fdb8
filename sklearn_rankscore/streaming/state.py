"""What an accumulator has counted so far: numbers, arrays and query ids, but no functions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from .grouped_queries import merged
from .key_set import KeySet, random_key
from .moments import Moments
from .open_queries import OpenQueries
from .totals import StoredValues, Totals


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
    origins : KeySet
        A random key for the first batch, which all copies share, and those of whatever was merged.
        Two states with a batch in common have a key in common, and the reverse.
    """

    totals: Totals
    open: OpenQueries
    n_documents: int = 0
    origins: KeySet = field(default_factory=KeySet)

    @classmethod
    def empty(cls, names: Iterable[str]) -> State:
        """The state before the first document."""
        return cls(Totals(dict.fromkeys(names, Moments())), OpenQueries())

    def plus(self, totals: Totals | None, opened: OpenQueries, n_documents: int) -> State:
        """The state after a batch of `n_documents`, which adds `totals` and leaves `opened`."""
        sums = self.totals if totals is None else self.totals + totals
        is_first = n_documents and not len(self.origins)
        origins = KeySet((random_key(),)) if is_first else self.origins
        return State(sums, opened, self.n_documents + n_documents, origins)

    def merged(self, other: State) -> State:
        """The state after the documents of both; refuse a batch that would count twice."""
        if any(self.origins.among(keys).any() for keys in other.origins.levels):
            raise ValueError(
                "both accumulators hold the same batches, which would count twice: one is a copy "
                "of the other, or was merged before. Merge each accumulator once, after its last "
                "batch, and copy accumulators before their first one."
            )
        opened, n_documents = merged(self.open, other.open), self.n_documents + other.n_documents
        origins = self.origins.merged(other.origins)
        return State(self.totals + other.totals, opened, n_documents, origins)

    def without_values(self) -> State:
        """The same without the values of each query."""
        return replace(self, totals=replace(self.totals, values=StoredValues()))
