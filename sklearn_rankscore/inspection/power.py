"""Sample sizes of a paired comparison, from the noncentral t distribution."""

from __future__ import annotations

import math

import numpy as np
from scipy import optimize, stats

from .._validation import check_fraction

MOST_QUERIES = 10**12


def power_of_t_test(effect: float, n_queries: float, level: float) -> float:
    """Probability that a two-sided t-test rejects, for an effect in standard deviations."""
    df, center = n_queries - 1, effect * math.sqrt(n_queries)
    if df > 1e6:  # where the noncentral t distribution is the normal one
        z = stats.norm.isf(level / 2)
        return float(stats.norm.sf(z - center) + stats.norm.cdf(-z - center))
    t = stats.t.isf(level / 2, df)
    tails = [stats.nct.sf(t, df, center), stats.nct.cdf(-t, df, center)]
    if math.isnan(tails[0]):  # far from the center, where the sum is 0 or 1
        tails[0] = float(center > t)
    return float(np.nansum(tails))


def queries_for_power(effect: float, power: float, level: float) -> float:
    """The smallest number of queries with this power; infinite beyond 10**12."""
    power, low, high = check_fraction("power", power), 1, 2
    if math.isnan(effect):
        return math.nan
    if math.isinf(effect):
        return 2
    while power_of_t_test(effect, high, level) < power:
        low, high = high, 2 * high
        if high > MOST_QUERIES:
            return math.inf
    while high - low > 1:
        middle = (low + high) // 2
        if power_of_t_test(effect, middle, level) < power:
            low = middle
        else:
            high = middle
    return high


def detectable_effect(n_queries: int, power: float, level: float) -> float:
    """The effect in standard deviations that is detected with this power."""
    power = check_fraction("power", power)
    if n_queries < 2:
        return math.nan
    if power <= level:
        return 0.0
    high = 1.0
    while power_of_t_test(high, n_queries, level) < power:
        high *= 2
    root = optimize.brentq(
        lambda effect: power_of_t_test(effect, n_queries, level) - power, 0, high, xtol=1e-12
    )
    return float(root)
