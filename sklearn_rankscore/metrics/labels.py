"""What a metric says about labels: which it takes, which decide its value, and how far it goes."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np

from .._typing import Array, ArrayFunction
from .._validation import stacklevel_of_caller
from ..ranking import Queries
from .options import gain_function


def check_gains(queries: Queries, *, gain: Any, **_: Any) -> None:
    """Refuse labels whose gain is undefined, negative or infinite."""
    labels, (low, high) = queries.y_true, queries.label_range
    if isinstance(gain, str):
        if gain == "binary":
            return
        if low < 0:
            raise ValueError(
                f"y_true has negative labels (smallest {low:g}), which have no {gain} gain. "
                "Shift them if they are grades, pass a callable as gain, or, if nobody judged "
                "these documents, replace the labels by NaN and choose unjudged=."
            )
        largest = high if gain == "linear" else 2.0**high if high < 1024 else math.inf
    elif callable(gain):
        largest = gain_function(gain)(labels.astype(np.float64)).max()
    else:
        largest = max(gain)
        are_whole = labels.dtype.kind != "f" or not (labels % 1).any()
        if low < 0 or high >= len(gain) or not are_whole:
            has_entry = (labels >= 0) & (labels < len(gain)) & (labels % 1 == 0)
            raise ValueError(
                f"gain has {len(gain)} entries, for integer labels 0 to {len(gain) - 1}; y_true "
                f"has the label {labels[~has_entry][0]:g}. Pass a gain for each label, or a "
                "function of labels."
            )
    if not largest <= np.finfo(np.float64).max / len(labels):
        raise ValueError(
            f"y_true has labels up to {high:g} with gains up to {largest:g}, whose sum may not be "
            "finite. Rescale the labels or the gains."
        )


def check_grades(queries: Queries, *, max_grade: float | None = None, **_: Any) -> None:
    """Refuse labels outside of [0, max_grade], or of [0, 1], as probabilities."""
    high = 1 if max_grade is None else max_grade
    smallest, largest = queries.label_range
    if smallest < 0 or largest > high:
        why = "labels are probabilities" if max_grade is None else "max_grade"
        raise ValueError(
            f"y_true must lie in [0, {high:g}] ({why}); got labels from {smallest:g} to "
            f"{largest:g}."
        )


# The lowest and the highest value of a metric, from which intervals of its mean follow. Both are
# infinite if they depend on the labels, as those of sums of gains, which a sample need not hold.
Limits: TypeAlias = tuple[float, float]

UNKNOWN: Limits = (-math.inf, math.inf)


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
        message = (
            "nearly all queries have one document, which any scores rank first: groups must hold "
            "the id of the query of each document, not that of the document."
        )
    elif fixed := next((m for m in metrics if _is_fixed(queries, m.relevance)), None):
        message = (
            "in nearly all queries with a relevant document all are equally relevant to "
            f"{fixed.name or 'the metric'}, so that its value does not depend on the scores: "
            "ratings need a threshold=, the highest label that is not relevant, and clicks or "
            "purchases the documents without one."
        )
    else:
        return
    warnings.warn(message, UserWarning, stacklevel=stacklevel_of_caller())


def _is_fixed(queries: Queries, relevance: ArrayFunction | None) -> bool:
    """Whether in nearly all queries with a relevant document all are equally relevant."""
    if relevance is None:
        return False
    first = relevance(queries.y_true[:FIRST])
    if not first.min() == first.max() > 0:
        return False
    starts = np.sort(queries.grouping.starts)
    by_entry = queries.grouping.by_entry(relevance(queries.y_true))
    lowest: Array = np.minimum.reduceat(by_entry, starts)
    highest: Array = np.maximum.reduceat(by_entry, starts)
    has_relevant = highest > 0  # of most sessions, none is clicked
    is_lesson = np.count_nonzero(has_relevant) < LEAST_QUERIES
    return not is_lesson and bool((lowest == highest)[has_relevant].mean() >= NEARLY_ALL)
