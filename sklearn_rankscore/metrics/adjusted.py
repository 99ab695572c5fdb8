"""Metrics adjusted for chance: 0 for the expectation over random orders, 1 for the ideal order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._typing import Array
from ..ranking import Block
from ..ranking.derived import in_ideal_order, in_random_order
from ..ranking.label_functions import linear

# the part of the maximum that rounding may leave between it and an equal expectation
ROUNDING = 1e-12

Formula = Callable[..., tuple[Array, Any, Array]]


def adjusted(formula: Formula, block: Block, **options: Any) -> Any:
    """What a formula returns, rescaled to (value - expected) / (best - expected).

    `expected` is the expectation over all orders of the documents of the query, retrieved or not,
    and `best` the value of the ideal order, by descending gain. A query of which all orders are
    equal is undefined. Numerator and denominator have the scale of those of the ideal order, so
    that a ratio of their sums adjusts the ratio of sums.
    """
    ideal = in_ideal_order(block, options.get("gain", linear))
    numerator, scale, is_defined = formula(ideal, **{**options, "ties": "average"})
    best, (expected, _, _) = _ratio(numerator, scale), random_order(formula, block, **options)
    possible = (best - expected) * scale
    measured, denominator, of_scores = formula(block, **options)
    is_defined = is_defined & of_scores & (best - expected > ROUNDING * np.abs(best))
    gained = (_ratio(measured, denominator) - expected) * scale
    return np.where(is_defined, gained, 0.0), np.where(is_defined, possible, 0.0), is_defined


def random_order(formula: Formula, block: Block, **options: Any) -> Any:
    """The expectation of a formula over all orders of the documents of each query."""
    tied, options = in_random_order(block), {**options, "ties": "average"}
    numerator, denominator, is_defined = formula(tied, **options)
    return _ratio(numerator, denominator), 1.0, is_defined


def _ratio(numerator: Array, denominator: Any) -> Array:
    zeros = np.zeros(len(numerator))
    return np.asarray(np.divide(numerator, denominator, out=zeros, where=denominator != 0))
