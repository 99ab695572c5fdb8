"""A warning where no scores could change a value: most often a wrong argument, never a result."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np

from .._typing import Array
from .._validation import stacklevel_of_caller
from ..ranking import Queries

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


def relevance_of(options: dict[str, Any]) -> Callable[[Array], Array]:
    """What a formula with these options tells apart in labels; an unjudged document has none."""
    gain = options.get("gain", "binary" if "threshold" in options else None)
    if isinstance(gain, str) and gain == "binary":
        return partial(np.less, options.get("threshold", 0.0))
    return partial(np.nan_to_num, neginf=0.0)


def _warn(message: str) -> None:
    warnings.warn(message, UserWarning, stacklevel=stacklevel_of_caller())
