"""What a metric says about labels: which it takes, which decide its value, and how far it goes."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from .._typing import Array
from .._validation import stacklevel_of_caller
from ..ranking import Queries
from .options import gain_function


def check_gains(queries: Queries, *, gain: Any, **_: Any) -> None:
    """Refuse labels whose gain is undefined, negative or infinite."""
    low, high = queries.label_range
    if callable(gain):
        largest = gain_function(gain)(queries.y_true.astype(np.float64)).max()
    elif not isinstance(gain, str):
        largest = max(gain)
        whole = queries.y_true.dtype.kind != "f" or not (queries.y_true % 1).any()
        if low < 0 or high >= len(gain) or not whole:
            raise _no_entry_error(len(gain), queries.y_true)
    elif gain == "binary":
        return
    elif low < 0:
        raise ValueError(
            f"y_true has negative labels (smallest {low:g}), which have no {gain} gain. If nobody "
            "judged these documents, replace the labels by NaN and choose unjudged=. Shift them if "
            "they are grades, or pass a callable as gain."
        )
    elif gain == "exponential" and high >= 1024:
        raise ValueError(
            f"y_true has labels up to {high:g}; 2**y - 1 is not finite from 1024 on. Use "
            "gain='linear', or a sequence of gains by label."
        )
    else:
        largest = high if gain == "linear" else 2.0**high
    if largest > np.finfo(np.float64).max / len(queries.y_true):
        raise ValueError(
            f"y_true has labels up to {high:g} with gains up to {largest:g}, whose sum may not be "
            "finite. Rescale the labels or the gains."
        )


def _no_entry_error(n_entries: int, labels: Array) -> ValueError:
    """The error for a label that is no position in a sequence of gains."""
    has_entry = (labels >= 0) & (labels < n_entries) & (labels % 1 == 0)
    return ValueError(
        f"gain has {n_entries} entries, for integer labels 0 to {n_entries - 1}; y_true has the "
        f"label {labels[~has_entry][0]:g}. Pass a gain for each label, or a function of labels."
    )


def check_grades(queries: Queries, *, max_grade: float | None, **_: Any) -> None:
    """Refuse labels outside of [0, max_grade], or of [0, 1] without a highest grade."""
    if max_grade is None:
        _check_label_range(queries, 1, "(with max_grade=None labels are probabilities)")
    else:
        _check_label_range(queries, max_grade, "(max_grade)")


def check_probabilities(queries: Queries, **_: Any) -> None:
    """Refuse labels outside of [0, 1]."""
    _check_label_range(queries, 1, "(pFound's labels are probabilities)")


def _check_label_range(queries: Queries, high: float, reason: str) -> None:
    smallest, largest = queries.label_range
    if smallest < 0 or largest > high:
        raise ValueError(
            f"y_true must lie in [0, {high:g}] {reason}; got labels from {smallest:g} to "
            f"{largest:g}."
        )


# The lowest and the highest value of a metric, from which intervals of its mean follow. Both are
# infinite if they depend on the labels, as those of sums of gains, which a sample need not hold.
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


# Labels that alone decide a value: most often a wrong argument, never a result.

# fewer queries may be a lesson or a batch; of more, some may have one document or one label
LEAST_QUERIES = 10
NEARLY_ALL = 0.95
# documents whose labels tell, in nearly all calls, that those of the others need not be read
FIRST = 20


def warn_of_fixed_values(queries: Queries, metrics: Iterable[Any]) -> None:
    """Warn if labels and ids alone decide the values of nearly all queries."""
    n_queries = len(queries.grouping.sizes)
    if n_queries < LEAST_QUERIES:
        return
    if np.count_nonzero(queries.sizes == 1) >= NEARLY_ALL * n_queries:
        _warn(
            "nearly all queries have one document, which any scores rank first: groups must hold "
            "the id of the query of each document, not that of the document."
        )
        return
    for metric in metrics:
        if metric.relevance is None or not _are_equal(metric.relevance(queries.y_true[:FIRST])):
            continue
        if _share_of_fixed(queries, metric) >= NEARLY_ALL:
            _warn(
                "in nearly all queries with a relevant document all are equally relevant to "
                f"{metric.name or 'the metric'}, so that its value does not depend on the scores: "
                "ratings need a threshold=, the highest label that is not relevant, and clicks or "
                "purchases the documents without one."
            )
            return


def _are_equal(relevance: Array) -> bool:
    return bool(relevance.min() == relevance.max() > 0)


def _share_of_fixed(queries: Queries, metric: Any) -> float:
    """The share of queries whose documents are equally relevant, of those with a relevant one."""
    grouping = queries.grouping
    starts = np.sort(grouping.starts)
    relevance = grouping.by_entry(metric.relevance(queries.y_true))
    lowest: Array = np.minimum.reduceat(relevance, starts)
    highest: Array = np.maximum.reduceat(relevance, starts)
    has_relevant = highest > 0  # of most sessions, none is clicked
    is_lesson = np.count_nonzero(has_relevant) < LEAST_QUERIES
    return 0.0 if is_lesson else float((lowest == highest)[has_relevant].mean())


def relevance_of(options: dict[str, Any], *, is_own: bool) -> Callable[[Array], Array] | None:
    """What a formula with these options tells apart in labels; an unjudged document has none.

    None if that is not known, because the formula is a user's own.
    """
    gain = options.get("gain", "binary" if "threshold" in options else None)
    if is_own and gain is None:
        return None
    if isinstance(gain, str) and gain == "binary":
        return partial(np.less, options.get("threshold", 0.0))
    return partial(np.nan_to_num, neginf=0.0)


def _warn(message: str) -> None:
    warnings.warn(message, UserWarning, stacklevel=stacklevel_of_caller())
