"""Queries ranked once, for any number of metrics."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from .aggregate import MetricValues
from .block import Block
from .fast import engine
from .plan import Task, blocks_of_equal_size
from .queries import Queries
from .threads import number_of_threads, parallel_for

# private switch: rank by the plain sort alone, to test that everything else gives the same
PLAIN = os.environ.get("SKLEARN_RANKSCORE_PLAIN") == "1"


class Ranking:
    """Queries as ranked blocks, created when metrics are computed.

    Parameters
    ----------
    queries : Queries
        What `read_queries` returned.
    depth : int or None
        The largest cut-off of the metrics; None if one of them needs all ranks.
    """

    def __init__(self, queries: Queries, depth: int | None = None) -> None:
        self.queries, self.depth = queries, depth
        self._blocks: list[Block] | None = None

    def precompute(self) -> Ranking:
        """Rank now and keep the blocks, for metrics that are computed one at a time."""
        self._blocks = [task() for task in self._tasks(jobs=1)]
        return self

    def apply(
        self, formulas: Sequence[Callable[[Block], Any]], n_jobs: int | None = None
    ) -> list[MetricValues]:
        """The value of each formula for every query, from a single sort."""
        jobs = number_of_threads(n_jobs)
        results = [MetricValues.empty(len(self.queries)) for _ in formulas]

        def measure(block: Block) -> None:
            for formula, values in zip(formulas, results, strict=True):
                values.set(block.queries, formula(block))

        if self._blocks is not None:
            parallel_for(measure, self._blocks, jobs)
        else:
            parallel_for(lambda task: measure(task()), self._tasks(jobs), jobs)
        return results

    def _tasks(self, jobs: int) -> list[Task]:
        if PLAIN:
            return blocks_of_equal_size(self.queries, self.depth)
        return engine.plan_blocks(self.queries, self.depth, jobs)
