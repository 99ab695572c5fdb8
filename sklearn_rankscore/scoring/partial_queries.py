"""Warning about test folds that hold parts of queries, whose ranking metrics mean little."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from .._sklearn_compat import num_samples
from .._typing import Array
from .._validation import stacklevel_of_caller
from ..query_ids import find_query_ids, group_rows
from ..query_ids.optuna_search import optuna_search
from .task_ids import ids_of_metrics
from .tasks import FoldTask

# more documents are relevant by chance in a short list, and more lists have no relevant document
DISTORTED = "which biases their metrics upwards, or downwards if few documents are relevant"

SAMPLED_ROWS = (
    f"max_samples samples rows and leaves queries incomplete, {DISTORTED}. Use "
    "max_samples=1.0; if that takes too long, take fewer queries (query_train_test_split)."
)

SUBSAMPLE = (
    f"subsample of OptunaSearchCV samples rows and leaves queries incomplete, {DISTORTED}. "
    "Use subsample=1.0; if that takes too long, tune QueryRanker(..., "
    "max_queries=...) or take fewer queries (query_train_test_split)."
)


class PartialQueryWarning(UserWarning):
    """A test fold holds only some documents of a query."""


class FoldChecker:
    """Check the tasks of one parallel call for test folds that split queries; warn once."""

    def __init__(self) -> None:
        self._warned = False
        # by identity, with the rows themselves: their number may be that of others once they die
        self._checked: dict[int, Any] = {}
        self._codes: dict[int, tuple[Any, Array]] = {}

    def check(self, task: FoldTask) -> None:
        """Warn if this task scores or predicts parts of queries."""
        if self._warned:
            return
        try:
            message = self._find_fault(task)
        except (AttributeError, TypeError, ValueError, KeyError, IndexError):
            # a task with other parameters, or query ids that the scorer itself refuses
            return
        if message:
            self._warned = True
            warnings.warn(message, PartialQueryWarning, stacklevel=stacklevel_of_caller())

    def _find_fault(self, task: FoldTask) -> str | None:
        ids = _ids_of_all_rows(task)
        if ids is None:
            return None
        if task.arguments.get("max_samples", np.inf) < num_samples(task.X):
            return SAMPLED_ROWS
        if getattr(optuna_search(), "subsample", 1.0) != 1.0:
            return SUBSAMPLE
        if task.test is None or id(task.test) in self._checked:
            return None
        self._checked[id(task.test)] = task.test
        if id(task.X) not in self._codes:
            self._codes[id(task.X)] = task.X, group_rows(ids, num_samples(task.X)).codes
        return _describe_partial_queries(self._codes[id(task.X)][1], task.test)


def _ids_of_all_rows(task: FoldTask) -> Any:
    """The query ids that a scorer, or else the ranker, reads; None where neither needs them."""
    if task.scorer is None and getattr(task.estimator, "needs_query_ids", False):
        return find_query_ids(
            task.X, task.y, groups=task.carried_ids, id_source=task.estimator.groups
        )
    return ids_of_metrics(task)


def _describe_partial_queries(codes: Array, test: Any) -> str | None:
    sizes = np.bincount(codes)
    tested = np.bincount(codes[test], minlength=len(sizes))
    n_tested, n_partial = (tested > 0).sum(), ((tested > 0) & (tested < sizes)).sum()
    if not n_partial:
        return None
    return (
        f"{n_partial} of the {n_tested} queries in a test fold are incomplete: the fold holds only "
        f"some of their documents, {DISTORTED}. Use QueryKFold or another splitter that keeps "
        "queries whole; for successive halving use QueryRanker, resource='max_queries' and "
        "max_resources=, the number of training queries of a fold."
    )
