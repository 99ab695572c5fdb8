"""The interval that `confidence=` and `method=` select."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import get_args

from .._typing import Array, IntervalMethod, Seed
from .._validation import check_choice, check_count, check_fraction
from .intervals import t_interval
from .resampling import bootstrap_interval, generator


def interval_estimate(
    auto: Callable[..., Array],
    confidence: float,
    method: IntervalMethod,
    n_resamples: int,
    random_state: Seed,
) -> Callable[..., Array]:
    """The interval as a statistic of values, weights and the range of each metric."""
    confidence = check_fraction("confidence", confidence)
    n_resamples = check_count("n_resamples", n_resamples, 1)
    random = generator(random_state)
    if check_choice("method", method, get_args(IntervalMethod)) == "auto":
        return partial(_with_range, auto, confidence)
    if method == "t":
        return lambda values, weights, *_: t_interval(values, weights, confidence)
    return lambda values, weights, *_: bootstrap_interval(
        values, weights, confidence, n_resamples, random
    )


def _with_range(
    auto: Callable[..., Array], confidence: float, values: Array, weights: Array, *ranges: Array
) -> Array:
    return auto(values, weights, confidence, *ranges)
