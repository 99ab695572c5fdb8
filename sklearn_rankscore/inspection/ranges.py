"""The range of values that a metric can take, which bounds what a few queries can hide."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from .._typing import Array
from ..metrics.metric import Metric
from ..metrics.names import is_metric, parse_name
from ..metrics.propensity import SELF_NORMALIZED

CORRELATIONS = ("kendall_tau", "spearman")
UNBOUNDED = ("dcg", "hits")
# their expectation over random orders is 1/2, so that they are from -1 to 1 after adjustment
AUCS = ("query_auc", "pair_accuracy")
COMMON_RANGES = ((0.0, 1.0), (-1.0, 1.0))


def value_ranges(metrics: Sequence[str], values: Array) -> tuple[Array, Array]:
    """The lowest and the highest value that each metric can take, infinite if that is not known.

    The range of a metric that is not one of this package is taken to be [0, 1], or else [-1, 1], if
    all its values lie within.
    """
    defined = ~np.isnan(values)
    lowest = np.min(values, axis=0, initial=math.inf, where=defined)
    highest = np.max(values, axis=0, initial=-math.inf, where=defined)
    ranges = [
        next((r for r in _possible_ranges(metric) if r[0] <= a and b <= r[1]), None)
        or (-math.inf, math.inf)
        for metric, a, b in zip(metrics, lowest, highest, strict=True)
    ]
    low, high = np.array(ranges).T
    return low, high


class Unbounded(str):
    """The name of a metric whose values have no known bound, which its name does not tell."""

    __slots__ = ()


def metric_name(name: str, metric: Metric) -> str:
    """The name under which the values of a metric are stored, which tells unbounded ones apart.

    Those are estimates from clicks, and metrics that are adjusted for chance by an option.
    """
    if metric.propensity is None and not metric.is_adjusted:
        return name
    formula, options = parse_name(name)
    of_clicks = metric.propensity is not None and formula not in SELF_NORMALIZED
    is_told = "adjusted" in dict(options)
    return Unbounded(name) if of_clicks or (metric.is_adjusted and not is_told) else name


def _possible_ranges(metric: str) -> tuple[tuple[float, float], ...]:
    if isinstance(metric, Unbounded):
        return ()
    if not is_metric(metric):  # the error of `parse_name` looks for similar names, which takes long
        return COMMON_RANGES
    try:
        name, pairs = parse_name(metric)
    except ValueError:
        return COMMON_RANGES
    options = dict(pairs)
    if options.get("adjusted") is True and name not in CORRELATIONS:
        return ((-1.0, 1.0),) if name in AUCS else ()
    of_clicks = options.get("propensity") is not None and name not in SELF_NORMALIZED
    if name == "hits" and isinstance(options.get("k"), int) and not of_clicks:
        return ((0.0, float(options["k"])),)
    if name in UNBOUNDED or of_clicks:
        return ()
    return (COMMON_RANGES[name in CORRELATIONS],)
