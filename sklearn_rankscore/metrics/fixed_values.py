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


def warn_of_fixed_values(queries: Queries, metrics: Iterable[Any]) -> None:
    """Warn once if labels and ids alone decide the values of nearly all queries."""
    n_queries = len(queries)
    if n_queries < LEAST_QUERIES:
        return
    n_single = np.count_nonzero(queries.sizes == 1)
    if n_single >= NEARLY_ALL * n_queries:
        _warn(
            "nearly all queries have one document, which any scores rank first: groups must hold "
            "the id of the query of each document, not that of the document."
        )
        return
    for metric in metrics:
        # the first queries alone tell in nearly all cases that values depend on the scores
        if metric.relevance is None or not _are_fixed(queries, metric, slice(20), least=0.5):
            continue
        if _are_fixed(queries, metric, slice(None), least=NEARLY_ALL):
            _warn(
                "in nearly all queries all documents are equally relevant to "
                f"{metric.name or 'the metric'}, so that its value does not depend on the scores: "
                "ratings need a threshold=, the highest label that is not relevant, and clicks or "
                "purchases the documents without one."
            )
            return


def _are_fixed(queries: Queries, metric: Any, which: slice, least: float) -> bool:
    """Whether that share of the queries with relevant documents have equally relevant ones only."""
    starts, sizes = queries.grouping.starts[which], queries.sizes[which]
    firsts = np.cumsum(sizes) - sizes
    entries = np.arange(int(sizes.sum())) + np.repeat(starts - firsts, sizes)
    relevance = metric.relevance(queries.y_true[queries.grouping.rows_at(entries)])
    lowest: Array = np.minimum.reduceat(relevance, firsts)
    highest: Array = np.maximum.reduceat(relevance, firsts)
    has_relevant = highest > 0  # of most sessions, none is clicked
    n_fixed = np.count_nonzero(has_relevant & (lowest == highest))
    return bool(n_fixed >= max(LEAST_QUERIES // 2, least * np.count_nonzero(has_relevant)))


def relevance_of(options: dict[str, Any]) -> Callable[[Array], Array]:
    """What a formula with these options tells apart in labels; an unjudged document has none."""
    gain = options.get("gain", "binary" if "threshold" in options else None)
    if isinstance(gain, str) and gain == "binary":
        return partial(np.less, options.get("threshold", 0.0))
    return partial(np.nan_to_num, neginf=0.0)


def _warn(message: str) -> None:
    warnings.warn(message, UserWarning, stacklevel=stacklevel_of_caller())
