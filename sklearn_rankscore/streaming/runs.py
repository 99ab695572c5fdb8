"""The accumulator of a run over many batches."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any, TypeAlias

from .._typing import Library
from .._validation import installed
from ..metrics.evaluate import Metrics
from ..metrics.segment import ALL_QUERIES, Segment
from .accumulator import RankingAccumulator
from .state import State

ScoresBySegment: TypeAlias = dict[Segment, dict[str, float]]


def accumulator_of(
    caller: str,
    metrics: Metrics | RankingAccumulator,
    like: Library | None,
    by: str | Sequence[str] | None,
    n_jobs: int | None,
    options: dict[str, Any],
) -> RankingAccumulator:
    """The accumulator given as metrics, or one of the metrics, to which Arrow tables are added."""
    installed("pyarrow", caller)
    if not isinstance(metrics, RankingAccumulator):
        return RankingAccumulator(metrics, like=like, by=by, n_jobs=n_jobs, **options)
    if like is not None or by is not None or n_jobs is not None or options:
        raise ValueError("pass like=, by=, n_jobs= and options to the RankingAccumulator itself.")
    return metrics


def scores_of(
    accumulator: RankingAccumulator, by: str | Sequence[str] | None
) -> dict[str, float] | ScoresBySegment:
    """The value of each metric; with `by`, for all queries and for those of each segment."""
    if by is None:
        return accumulator.scores()
    of_segments = {
        segment: {name: summary.mean for name, summary in summaries.items()}
        for segment, summaries in accumulator.by_segment().items()
    }
    return {ALL_QUERIES: accumulator.scores(), **of_segments}


def emptied(accumulator: RankingAccumulator) -> RankingAccumulator:
    """An accumulator of the same metrics without documents.

    A run counts into it and is added at its end, so that an error leaves the given one unchanged.
    """
    run = copy(accumulator)
    run._state = State.empty(run.names)
    return run


def add_run(
    accumulator: RankingAccumulator, run: RankingAccumulator, by: str | Sequence[str] | None
) -> dict[str, float] | ScoresBySegment:
    """Add a run to the given accumulator, unless its last queries or its weights are refused."""
    state = accumulator._state
    both = copy(accumulator).merge(run)
    scores = scores_of(both, by)
    accumulator._replace(state, both._state)
    return scores
