"""Warning about test folds that hold parts of queries and so overstate every ranking metric."""

from __future__ import annotations

import inspect
import sys
import warnings
from typing import Any

import numpy as np

from .._sklearn_compat import list_scorers
from .._typing import Array
from ..query_ids import find_query_ids, group_rows
from .scorer import SINGLE_QUERY, RankingScorer

SAMPLED_ROWS = (
    "max_samples draws rows, so that queries are incomplete, which overstates ranking metrics. Use "
    "max_samples=1.0; if that takes too long, take fewer queries (query_train_test_split)."
)


class PartialQueryWarning(UserWarning):
    """A test fold holds only some documents of a query."""


class FoldChecker:
    """Check the tasks of one parallel call for test folds that split queries; warn once."""

    def __init__(self) -> None:
        self._warned = False
        self._checked: set[int] = set()
        self._codes: dict[int, Array] = {}

    def check(self, task: tuple[Any, ...]) -> None:
        """Warn if this task, ``(function, args, kwargs)``, scores parts of queries."""
        if self._warned:
            return
        try:
            message = self._find_fault(task)
        except (AttributeError, TypeError, ValueError, KeyError, IndexError):
            # a task with other parameters, or query ids that the scorer itself refuses
            return
        if message:
            self._warned = True
            warnings.warn(message, PartialQueryWarning, stacklevel=_stacklevel_of_caller())

    def _find_fault(self, task: tuple[Any, ...]) -> str | None:
        function, args, kwargs = task
        arguments = inspect.signature(function).bind_partial(*args, **kwargs).arguments
        scorer = _query_scorer(arguments.get("scorer"))
        if scorer is None:
            return None
        if arguments.get("max_samples", np.inf) < arguments["X"].shape[0]:
            return SAMPLED_ROWS
        test = arguments.get("test")
        if test is None or id(test) in self._checked:
            return None
        self._checked.add(id(test))
        return _describe_partial_queries(self._query_codes(scorer, arguments), test)

    def _query_codes(self, scorer: RankingScorer, arguments: dict[str, Any]) -> Array:
        """The query of each row of X, as the scorer will read it."""
        X = arguments["X"]
        if id(X) not in self._codes:
            routed = arguments.get("score_params") or {}
            ids = find_query_ids(
                X,
                arguments.get("y"),
                groups=routed.get("groups"),
                qid=routed.get("qid"),
                id_source=scorer.groups,
            )
            self._codes[id(X)] = group_rows(ids, X.shape[0]).codes
        return self._codes[id(X)]


def _query_scorer(scorer: Any) -> RankingScorer | None:
    """The first of one or several scorers that ranks within queries."""
    for candidate in list_scorers(scorer):
        if isinstance(candidate, RankingScorer) and candidate.groups != SINGLE_QUERY:
            return candidate
    return None


def _describe_partial_queries(codes: Array, test: Any) -> str | None:
    sizes = np.bincount(codes)
    tested = np.bincount(codes[test], minlength=len(sizes))
    n_tested, n_partial = (tested > 0).sum(), ((tested > 0) & (tested < sizes)).sum()
    if not n_partial:
        return None
    return (
        f"{n_partial} of the {n_tested} queries in a test fold are incomplete: the fold holds only "
        "some of their documents, which overstates ranking metrics. Use QueryKFold or another "
        "splitter that keeps queries whole; for successive halving use QueryRanker and "
        "resource='max_queries' instead of n_samples."
    )


def _stacklevel_of_caller() -> int:
    """The `stacklevel` of the line that called scikit-learn."""
    internal = ("sklearn", "joblib", __name__.partition(".")[0])
    frame, level = sys._getframe(1), 1
    while frame.f_back and str(frame.f_globals.get("__name__")).partition(".")[0] in internal:
        frame, level = frame.f_back, level + 1
    return level
