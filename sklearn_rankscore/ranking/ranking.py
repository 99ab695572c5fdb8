"""Queries ranked once, for any number of metrics, and the values of a metric averaged."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from .._typing import Array
from ..query_ids import Grouping
from .block import Block, Task, plan_blocks
from .fast import engine
from .fast.fill import SHALLOW
from .plain import Labels
from .queries import Queries, apply_rule
from .threads import check_n_jobs, number_of_threads, parallel_for

# calls on up to this number of documents are ranked by the plain sort, which takes less time for
# few; a private switch ranks all calls so, to test that everything else gives the same
PLAIN_UP_TO = math.inf if os.environ.get("SKLEARN_RANKSCORE_PLAIN") == "1" else 256

# with a shallow cut-off, other threads pay from this many documents on: below it they wait for
# Python's lock about as long as they compute
PARALLEL_SHALLOW = 3 * 2**18


class MetricValues:
    """The value of a metric for each query: numerator, denominator, and whether it is defined.

    Parameters
    ----------
    n_queries : int
        Number of queries, each of which must be given a value by `set`.

    Attributes
    ----------
    defined : bool array of shape (n_queries,)
        Whether the metric is defined for each query.
    """

    def __init__(self, n_queries: int) -> None:
        self._ratio, self.defined = np.empty(n_queries), np.ones(n_queries, dtype=bool)
        self._parts: list[tuple[Array, Array, Array]] = []

    def set(self, queries: Array, result: Any) -> None:
        """Store what a formula returned for some queries: values, or a tuple of three arrays."""
        if not (isinstance(result, tuple) and queries.shape in map(np.shape, result)):
            values = np.asarray(result, float)
            if values.shape != queries.shape:
                raise ValueError(
                    "a metric must return one value per query of the block: "
                    f"{len(queries)} queries, got an array of shape {values.shape}."
                )
            result = values, 1.0, ~np.isnan(values)
        numerator, denominator, defined = result
        # copied, because they may be views of larger arrays
        numerator, denominator = np.array(numerator, float), np.array(denominator, float)
        defined = np.asarray(defined, dtype=bool)
        if not numerator.shape == defined.shape == queries.shape:  # some may be numbers
            numerator, defined = (np.full(queries.shape, part) for part in (numerator, defined))
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = numerator / denominator
        ratio[(denominator == 0) & defined] = 0.0
        # only what is always needed, because writing to queries that are far apart is slow
        self._ratio[queries] = ratio
        self._parts.append((queries, numerator, denominator))
        self.defined[queries[np.flatnonzero(~defined)]] = False

    @property
    def numerator(self) -> Array:
        """One numerator per query."""
        return self._in_order([(queries, numerator) for queries, numerator, _ in self._parts])

    @property
    def denominator(self) -> Array:
        """One denominator per query."""
        return self._in_order([(queries, denominator) for queries, _, denominator in self._parts])

    def _in_order(self, parts: list[tuple[Array, Array]]) -> Array:
        of_all = np.empty(len(self.defined))
        for queries, values in parts:
            of_all[queries] = values
        return of_all

    def per_query(self, replace_undefined_by: float) -> Array:
        """One value per query."""
        ratio = self._ratio.copy()
        # by positions, because an irregular mask is several times slower
        ratio[np.flatnonzero(~self.defined)] = replace_undefined_by
        return ratio


class Ranking:
    """Queries as ranked blocks, created when metrics are computed.

    Parameters
    ----------
    queries : Queries
        What `read_queries` returned.
    depth : int or None
        The largest cut-off of the metrics; None if one of them needs all ranks.
    ties : str, default="average"
        "stable" if that is the only rule of ties that the metrics ask for.
    """

    def __init__(self, queries: Queries, depth: int | None = None, ties: str = "average") -> None:
        self.queries, self.depth, self.ties = queries, depth, ties
        self._blocks: list[Block] | None = None
        self._others: dict[Any, Ranking] = {}
        self._is_cached = False

    def cached(self) -> Ranking:
        """Rank once, when a metric is computed, for metrics that are computed one at a time."""
        self._is_cached = True
        return self

    def numbered(self) -> Ranking:
        """The ranking of the same documents with row numbers as labels."""
        return self._other("numbered", self.queries.numbered)

    def under_rules(self, unjudged: str, ties: str) -> Ranking:
        """The ranking under a rule for unjudged documents, and for one of ties.

        It is this one if no document is unjudged, unless the rule of ties is "stable" and this
        one is for others as well.
        """
        ties = ties if ties == "stable" else "average"
        if ties == self.ties and not self.queries.has_unjudged:
            return self
        return self._other(unjudged, partial(apply_rule, self.queries, unjudged), ties)

    def _other(self, key: str, read: Callable[[], Queries], ties: str = "average") -> Ranking:
        if (key, ties) not in self._others:
            self._others[key, ties] = other = Ranking(read(), self.depth, ties)
            other._is_cached = self._is_cached
        return self._others[key, ties]

    def apply(
        self, formulas: Sequence[Callable[[Block], Any]], n_jobs: int | None = None
    ) -> list[MetricValues]:
        """The value of each formula for every query, from a single sort."""
        jobs, n_queries = self._threads(n_jobs), len(self.queries.grouping.sizes)
        results = [MetricValues(n_queries) for _ in formulas]
        if self._is_cached and self._blocks is None:
            self._blocks = [task() for task in self._tasks(jobs)]

        def measure(ranked: Block | Task) -> None:
            block = ranked if isinstance(ranked, Block) else ranked()
            for formula, values in zip(formulas, results, strict=True):
                values.set(block.queries, formula(block))

        tasks = self._tasks(jobs) if self._blocks is None else self._blocks
        if jobs == 1:
            for task in tasks:
                measure(task)
        else:
            parallel_for(measure, tasks, jobs)
        return results

    def _threads(self, n_jobs: int | None) -> int:
        if n_jobs is not None:
            check_n_jobs(n_jobs)
        if len(self.queries.y_score) <= PLAIN_UP_TO < math.inf:
            return 1
        few = len(self.queries.y_score) < PARALLEL_SHALLOW
        if few and self.depth is not None and self.depth <= SHALLOW:
            return 1
        return number_of_threads(n_jobs)

    def _tasks(self, jobs: int) -> list[Task]:
        """Functions that each rank one block."""
        sizes, queries = self.queries.grouping.sizes, self.queries
        if sizes.all():
            return _plan(self, queries, jobs)
        others = np.flatnonzero(sizes)
        kept = queries.grouping
        grouping = Grouping(kept.ids[others], kept.starts[others], sizes[others], kept.rows)
        tasks = _plan(self, replace(queries, grouping=grouping), jobs) if len(others) else []
        empty = partial(_empty_block, queries, np.flatnonzero(sizes == 0))
        return [*(partial(_at_positions, task, others) for task in tasks), empty]


def _plan(ranking: Ranking, queries: Queries, jobs: int) -> list[Task]:
    if len(queries.y_score) <= PLAIN_UP_TO:
        return plan_blocks(queries, ranking.depth)
    return engine.plan_blocks(queries, ranking.depth, jobs, ranking.ties)


def _at_positions(task: Task, positions: Array) -> Block:
    """The block of a task, with its queries at other positions of the result."""
    block = task()
    block.queries = positions[block.queries]
    return block


def _empty_block(queries: Queries, positions: Array) -> Block:
    """Queries without documents, as rows of padding."""
    # padding takes a label that occurs, because a gain need not be defined for others
    label = queries.y_true[:1] if len(queries.y_true) else np.zeros(1)
    padding, sizes = np.repeat(label[None], len(positions), axis=0), np.zeros_like(positions)
    no_scores = np.full(padding.shape, -np.inf)
    labels = Labels(padding, sizes)
    return Block(positions, sizes, sizes, labels, padding, None, no_scores.__getitem__)


def scaled_weights(weights: Array) -> Array:
    """Weights divided by a power of two, exactly, so that their sum is finite."""
    return np.asarray(np.ldexp(weights, -np.frexp(weights.max(initial=0.0))[1]))


def aggregate(
    values: MetricValues,
    average: str | None,
    replace_undefined_by: float,
    weights: Array | None,
) -> float | Array:
    """Mean over queries, ratio of sums, or the value of each query."""
    if average is None:
        return values.per_query(replace_undefined_by)
    if average == "macro" and weights is None:
        scores = values.per_query(replace_undefined_by)
        scores = scores[values.defined] if np.isnan(replace_undefined_by) else scores
        return float(scores.sum() / len(scores)) if len(scores) else float("nan")
    counted = values.defined if np.isnan(replace_undefined_by) else np.ones_like(values.defined)
    w = counted.astype(np.float64) if weights is None else scaled_weights(weights * counted)
    if not w.any():
        return float("nan")
    if average == "micro":
        denominator = float((w * values.denominator)[counted].sum())
        numerator = float((w * values.numerator)[counted].sum())
        return numerator / denominator if denominator else float(replace_undefined_by)
    return float((w * values.per_query(replace_undefined_by))[counted].sum() / w.sum())
