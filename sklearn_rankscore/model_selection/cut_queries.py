"""Seeing that a split cuts queries, which makes every ranking metric look better than it is."""

from __future__ import annotations

import inspect
import sys
import warnings
from types import FrameType
from typing import Any

import numpy as np

from ..ranking.arrays import Array
from ..ranking.grouping import number_queries
from .carriers import find_groups
from .scorer import SINGLE_QUERY, RankingScorer


class PartialQueryWarning(UserWarning):
    """A test fold holds only some documents of a query."""


class CutQueries:
    """Look at the tasks of one parallel call for a test fold that cuts queries; warn once."""

    def __init__(self) -> None:
        self._folds: set[int] = set()
        self._codes: dict[int, Array] = {}
        self._warned = False

    def look(self, task: tuple[Any, ...]) -> None:
        """Warn if this task scores by a ranking metric on parts of queries."""
        if self._warned:
            return
        try:
            self._look(task)
        except (AttributeError, TypeError, ValueError, KeyError, IndexError):
            # a task of another shape, or ids that the scorer itself will complain about
            return

    def _look(self, task: tuple[Any, ...]) -> None:
        function, args, kwargs = task
        function = getattr(function, "function", function)
        given = inspect.signature(function).bind_partial(*args, **kwargs).arguments
        test, scorer = given.get("test"), _ranking_scorer(given.get("scorer"))
        if scorer is not None and given.get("max_samples", np.inf) < given["X"].shape[0]:
            self._warned = True
            _warn_of_drawn_rows()
            return
        if test is None or scorer is None or id(test) in self._folds:
            return
        self._folds.add(id(test))
        X = given["X"]
        if id(X) not in self._codes:
            self._codes[id(X)] = self._read(scorer, given)
        codes = self._codes[id(X)]
        whole, tested = np.bincount(codes), np.bincount(codes[test], minlength=codes.max() + 1)
        cut = int(((tested > 0) & (tested < whole)).sum())
        if cut:
            self._warned = True
            warnings.warn(
                f"{cut} of the {int((tested > 0).sum())} queries in a test fold are cut: the fold "
                "holds only some of their documents, which overstates ranking metrics. Split with "
                "QueryKFold or another splitter that keeps queries whole; for successive halving "
                "use QueryRanker and resource='max_queries' instead of n_samples.",
                PartialQueryWarning,
                stacklevel=_level_of_user(),
            )

    @staticmethod
    def _read(scorer: RankingScorer, given: dict[str, Any]) -> Array:
        routed = given.get("score_params") or {}
        ids = find_groups(
            given["X"],
            given.get("y"),
            groups=routed.get("groups"),
            qid=routed.get("qid"),
            bound=scorer.groups,
        )
        return number_queries(ids, given["X"].shape[0])[0]


def _level_of_user() -> int:
    """Frames up to the one that called scikit-learn, as `stacklevel` counts them."""
    frame, level = sys._getframe(1), 1
    while frame.f_back and _package(frame) in ("sklearn", "joblib", __package__.partition(".")[0]):
        frame, level = frame.f_back, level + 1
    return level


def _package(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]


def _ranking_scorer(scorer: Any) -> RankingScorer | None:
    """The first scorer that ranks within queries, alone or among several."""
    several = getattr(scorer, "_scorers", scorer)
    for one in several.values() if isinstance(several, dict) else [several]:
        if isinstance(one, RankingScorer) and one.groups != SINGLE_QUERY:
            return one
    return None


def _warn_of_drawn_rows() -> None:
    warnings.warn(
        "max_samples draws rows, which cuts queries and overstates ranking metrics. Use "
        "max_samples=1.0, and fewer queries if it takes too long (query_train_test_split).",
        PartialQueryWarning,
        stacklevel=_level_of_user(),
    )
