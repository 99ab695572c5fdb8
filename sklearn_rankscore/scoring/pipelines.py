"""Recognizing pipelines."""

from __future__ import annotations

from typing import Any


def is_pipeline(estimator: Any) -> bool:
    """Whether an estimator has named steps; other models have a parameter `steps` too."""
    steps = getattr(estimator, "steps", None)
    if not isinstance(steps, list | tuple) or not steps:
        return False
    return all(
        isinstance(step, list | tuple) and len(step) == 2 and isinstance(step[0], str)
        for step in steps
    )
