"""Metrics adjusted for chance: 0 for the expectation over random orders, 1 for the ideal order."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal, TypeAlias

import numpy as np

from .._typing import Array
from ..ranking import Block
from ..ranking.derived import in_ideal_order, in_random_order
from ..ranking.label_functions import linear

# the part of the maximum that rounding may leave between it and an equal expectation
ROUNDING = 1e-12

Function = Callable[..., tuple[Array, Any, Array]]
Adjustable: TypeAlias = Literal["always", "within cut-off", "is adjusted"]


def of_block(
    function: Function, adjustable: Adjustable, name: str, options: dict[str, Any], *, adjust: bool
) -> tuple[Callable[[Block], Any], Callable[[Block], Any] | None]:
    """A formula with its options, adjusted for chance or not, and what it is for chance."""
    if adjustable == "is adjusted":
        return partial(function, **options), None
    if not adjust:
        return partial(function, **options), partial(random_order, function, options)
    if adjustable == "within cut-off" and options["k"] is None:
        example = f", or '{name.partition('(')[0]}@10' in a name" if name else ""
        raise ValueError(
            f"adjusted=True compares with a random order, but without a cut-off {name or 'it'} "
            f"has the same value for all orders. Give a cut-off: k=10{example}."
        )
    return partial(adjusted, function, options), None


def adjusted(function: Function, options: dict[str, Any], block: Block) -> Any:
    """What a formula returns, rescaled to (value - expected) / (best - expected).

    `expected` is the expectation over all orders of the documents of the query, retrieved or not,
    and `best` the value of the ideal order, by descending gain. A query of which all orders are
    equal is undefined. Numerator and denominator have the scale of those of the ideal order, so
    that a ratio of their sums adjusts the ratio of sums.
    """
    ideal = in_ideal_order(block, options.get("gain", linear))
    numerator, scale, is_defined = function(ideal, **_over_all_orders(options))
    best, (expected, _, _) = _ratio(numerator, scale), random_order(function, options, block)
    possible = (best - expected) * scale
    measured, denominator, of_scores = function(block, **options)
    is_defined = is_defined & of_scores & (best - expected > ROUNDING * np.abs(best))
    gained = (_ratio(measured, denominator) - expected) * scale
    return np.where(is_defined, gained, 0.0), np.where(is_defined, possible, 0.0), is_defined


def random_order(function: Function, options: dict[str, Any], block: Block) -> Any:
    """The expectation of a formula over all orders of the documents of each query."""
    tied = in_random_order(block)
    numerator, denominator, is_defined = function(tied, **_over_all_orders(options))
    return _ratio(numerator, denominator), 1.0, is_defined


def refuse_adjusted_clicks(adjust: bool, propensity: Any) -> None:
    """Refuse weighted clicks, whose estimate has no known expectation over random orders."""
    if adjust and propensity is not None:
        raise ValueError(
            "adjusted=True is not defined for clicks weighted by propensity=. Use one of the two."
        )


def _over_all_orders(options: dict[str, Any]) -> dict[str, Any]:
    return {**options, "ties": "average"}


def _ratio(numerator: Array, denominator: Any) -> Array:
    zeros = np.zeros(len(numerator))
    return np.asarray(np.divide(numerator, denominator, out=zeros, where=denominator != 0))
