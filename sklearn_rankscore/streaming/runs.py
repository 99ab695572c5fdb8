"""What a run over many batches counts into."""

from __future__ import annotations

from copy import copy
from typing import Any

from .._typing import Library
from ..metrics.evaluate import Metrics
from .accumulator import RankingAccumulator
from .state import State


def accumulator_of(
    metrics: Metrics | RankingAccumulator,
    like: Library | None,
    n_jobs: int | None,
    options: dict[str, Any],
) -> RankingAccumulator:
    """The accumulator given as metrics, or one of the metrics."""
    if not isinstance(metrics, RankingAccumulator):
        return RankingAccumulator(metrics, like=like, n_jobs=n_jobs, **options)
    if like is not None or n_jobs is not None or options:
        raise ValueError("pass like=, n_jobs= and options to the RankingAccumulator itself.")
    return metrics


def emptied(accumulator: RankingAccumulator) -> RankingAccumulator:
    """An accumulator of the same metrics without documents.

    A run counts into it and is merged at its end, so that an error leaves the given one unchanged.
    """
    run = copy(accumulator)
    run._state = State.empty(run.names)
    return run
