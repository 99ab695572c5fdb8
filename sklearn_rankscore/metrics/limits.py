"""The lowest and the highest value of a metric, from which intervals of its mean follow.

Both are infinite if they are not known: those of sums of gains depend on labels that a sample need
not hold.
"""

from __future__ import annotations

import math
from typing import Any, TypeAlias

Limits: TypeAlias = tuple[float, float]

UNKNOWN: Limits = (-math.inf, math.inf)


def from_0_to_1(*, adjusted: bool = False, **options: Any) -> Limits:
    """0 and 1; adjusted for chance, a query may have any value below 0."""
    return UNKNOWN if adjusted else (0.0, 1.0)


def of_normalized_gains(*, discount: Any, adjusted: bool, **options: Any) -> Limits:
    """0 and 1, unless a discount of the user's is higher at a lower rank."""
    return UNKNOWN if callable(discount) else from_0_to_1(adjusted=adjusted)


def of_sums(**options: Any) -> Limits:
    """Those of sums of gains, which are not known."""
    return UNKNOWN


def of_counts(*, k: int | None, adjusted: bool, **options: Any) -> Limits:
    """Those of the number of documents within the cut-off."""
    return UNKNOWN if adjusted or k is None else (0.0, float(k))


def of_mean_gains(*, gain: Any, normalize: bool, adjusted: bool, **options: Any) -> Limits:
    """Those of a weighted mean of gains, known if a gain is at most 1."""
    is_bounded = normalize or (isinstance(gain, str) and gain == "binary")
    return from_0_to_1(adjusted=adjusted) if is_bounded else UNKNOWN


def of_pairs(*, adjusted: bool, **options: Any) -> Limits:
    """Those of a share of pairs, which is 1/2 in random orders."""
    return (-1.0, 1.0) if adjusted else (0.0, 1.0)


def from_minus_1_to_1(**options: Any) -> Limits:
    """-1 and 1."""
    return (-1.0, 1.0)


def with_value(limits: Limits, value: float) -> Limits:
    """Limits that include a further value, if it is not nan."""
    low, high = limits
    return limits if math.isnan(value) else (min(low, value), max(high, value))
