"""Non-inferiority and equivalence within a margin, and the verdict on a difference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy import stats

from .._typing import Array
from .._validation import check_number
from .intervals import (
    bounded_tail,
    degrees_of_freedom,
    has_few_distinct,
    mean,
    standard_error,
)

Verdict: TypeAlias = Literal["better", "no worse", "equivalent", "worse", "undecided"]
Margin: TypeAlias = float | Mapping[str, float] | None


def read_margin(margin: Any, metrics: Sequence[str]) -> Array | None:
    """The margin of each metric."""
    if margin is None:
        return None
    by_metric = margin if isinstance(margin, Mapping) else dict.fromkeys(metrics, margin)
    if set(by_metric) != set(metrics):
        raise ValueError(
            f"margin must be a number, or a mapping with one for each of {', '.join(metrics)}; got "
            f"{', '.join(map(str, by_metric))}."
        )
    numbers = [check_number("margin", by_metric[metric]) for metric in metrics]
    if not all(0 < number <= 1e300 for number in numbers):
        raise ValueError(f"margin must be positive; got {margin!r}.")
    return np.array(numbers)


def margin_p_values(
    differences: Array, weights: Array, margin: Array, low: Array, high: Array
) -> Array:
    """p-values of a difference of at most -margin and of at least margin, of shape (2, n_metrics).

    One-sided t-tests; where too few queries differ from all others, the test of the interval that
    follows from the range [low, high], and nan without a range.
    """
    p_values = np.full((2, differences.shape[1]), np.nan)
    if len(differences) > 1:
        center, df = mean(differences, weights), degrees_of_freedom(weights)
        with np.errstate(divide="ignore", invalid="ignore"):
            error = standard_error(differences, weights)
            for row, sign in enumerate((1, -1)):
                p_values[row] = stats.t.sf((sign * center + margin) / error, df)
    few = has_few_distinct(differences)
    p_values[:, few] = np.nan
    bounded = few & np.isfinite(low) & np.isfinite(high)
    for row, (sign, bound) in enumerate(((1, low), (-1, high))):
        p_values[row, bounded] = bounded_tail(
            sign * differences[:, bounded], weights, -margin[bounded], (sign * bound)[bounded]
        )
    return p_values


def verdict(
    sign: int, p_value: float, noninferiority: float, equivalence: float, level: float
) -> Verdict:
    """What p-values at a level allow to say of a model; equivalence is stated first.

    `sign` is that of a difference, and 0 if the test speaks for the other model.
    """
    if equivalence <= level:
        return "equivalent"
    if p_value <= level and sign:
        return "better" if sign > 0 else "worse"
    return "no worse" if noninferiority <= level else "undecided"
