"""Queries ranked once, for any number of metrics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from . import blocks
from .aggregate import Values
from .block import Block
from .documents import Documents
from .queries import Queries
from .threads import number_of_threads, share


class Ranking:
    """Queries as ranked blocks, made when they are asked for.

    Parameters
    ----------
    queries : Queries
        What `read_queries` returned.
    depth : int or None
        How many ranks the metrics look at; None for all of them.
    """

    def __init__(self, queries: Queries, depth: int | None = None) -> None:
        self.queries, self.depth = queries, depth
        self._kept: list[Block] | None = None

    def keep(self) -> Ranking:
        """Rank now and keep the blocks, for metrics that come one at a time."""
        documents = Documents(self.queries)
        pieces = blocks.pieces(documents, self.depth, jobs=1)
        self._kept = [blocks.rank(documents, self.depth, piece) for piece in pieces]
        return self

    def apply(
        self, kernels: Sequence[Callable[[Block], Any]], n_jobs: int | None = None
    ) -> list[Values]:
        """Each kernel's value for every query, after one sort."""
        jobs = number_of_threads(n_jobs)
        results = [Values.empty(len(self.queries)) for _ in kernels]

        def measure(block: Block) -> None:
            for kernel, values in zip(kernels, results, strict=True):
                values.put(block.queries, kernel(block))

        if self._kept is not None:
            share(measure, self._kept, jobs)
            return results
        documents = Documents(self.queries)

        def work(piece: blocks.Piece) -> None:
            measure(blocks.rank(documents, self.depth, piece))

        share(work, blocks.pieces(documents, self.depth, jobs), jobs)
        return results
