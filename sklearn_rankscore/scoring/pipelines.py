"""Pipelines, and the query ids that a ranker finds after their other steps."""

from __future__ import annotations

from typing import Any

from ..query_ids import find_query_ids


def is_pipeline(estimator: Any) -> bool:
    """Whether an estimator has named steps; other models have a parameter `steps` too."""
    steps = getattr(estimator, "steps", None)
    if not isinstance(steps, list | tuple) or not steps:
        return False
    return all(
        isinstance(step, list | tuple) and len(step) == 2 and isinstance(step[0], str)
        for step in steps
    )


def ids_after_steps(estimator: Any, X: Any) -> Any:
    """The ids that the ranker of a fitted pipeline reads from what the steps before it return."""
    if not is_pipeline(estimator) or len(estimator.steps) == 1:
        return None
    _, ranker = estimator.steps[-1]
    if not hasattr(type(ranker), "needs_query_ids") or ranker.groups is None:
        return None
    return find_query_ids(estimator[:-1].transform(X), None, id_source=ranker.groups)
