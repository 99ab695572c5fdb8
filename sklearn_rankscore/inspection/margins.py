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

    One-sided t-tests, of which skewness makes none more liberal; where too few queries differ from
    all others, the test of the interval that follows from the range [low, high], and nan without a
    range.
    """
    few, known = has_few_distinct(differences), np.isfinite(low) & np.isfinite(high)
    bounds = (np.where(known, bound, np.nan) for bound in (low, -high))
    return np.array(
        [
            _p_values(sign * differences, weights, -margin, bound, few)
            for sign, bound in zip((1, -1), bounds, strict=True)
        ]
    )


def _p_values(values: Array, weights: Array, at: Array, low: Array, few: Array) -> Array:
    """p-values of a mean of at most `at`, for values of at least `low`, which is nan if unknown."""
    center, df = mean(values, weights), degrees_of_freedom(weights)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = (center - at) / standard_error(values, weights)
        skewness = _skewness_of_mean(values, weights)
    p_values = stats.t.sf(np.fmin(t, _without_skewness(t, skewness)), df)
    p_values[few] = np.nan
    # if the mean is this skewed, the transformed statistic hardly depends on t
    bounded = (few | (skewness * t < -1)) & ~np.isnan(low)
    tails = bounded_tail(values[:, bounded], weights, at[bounded], low[bounded])
    p_values[bounded] = np.fmin(p_values[bounded], tails)
    return np.asarray(p_values)


def _skewness_of_mean(values: Array, weights: Array) -> Array:
    """Skewness of the weighted mean of each column.

    That of the values is assumed to be the same for all weights, like their variance in
    `standard_error`: cubed weighted residuals miss rare losses if no large weight is among them.
    """
    residuals, scaled = values - values.mean(axis=0), weights / weights.max()
    second, third = (np.mean(residuals**power, axis=0) for power in (2, 3))
    of_weights = (scaled**3).sum() / (scaled**2).sum() ** 1.5
    return np.asarray(of_weights * third / second**1.5)


def _without_skewness(t: Array, skewness: Array) -> Array:
    """The t statistics of means, transformed to have nearly the distribution of Student.

    P. Hall. On the Removal of Skewness by Transformation. Journal of the Royal Statistical Society
    B 54, 1992.
    """
    return np.asarray(t + skewness * t**2 / 3 + skewness**2 * t**3 / 27 + skewness / 6)


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
