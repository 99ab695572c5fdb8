"""Which function of scikit-learn calls this package, read from the frames of the running call.

The names of private functions stand here alone; where a future scikit-learn has no such function,
the answer is that it does not call.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

from sklearn.base import BaseEstimator

from ._sklearn_compat import ScorerBase, Search

PACKAGE = __name__.partition(".")[0]
SCORERS = ScorerBase.__mro__[1].__module__
VALIDATION = "sklearn.model_selection._validation"

# functions that fit and score a fold, that score one, and that run a task
FOLD, SCORE = (VALIDATION, "_fit_and_score"), (VALIDATION, "_score")
TASK = ("sklearn.utils.parallel", "__call__")
# what calls a function of the user as a scorer
PERMUTATION = (VALIDATION, "_permutation_test_score")
SCORING = {SCORE, PERMUTATION, (SCORERS, "_score"), (SCORERS, "__call__")}


def called_by_sklearn() -> bool:
    """Whether a module of scikit-learn asks for the names of the scorers, or calls a scorer.

    Its modules ask when they are imported and keep the answer for as long as they live, and its
    tests have an estimator for each of its own scorers.
    """
    modules = (name for name in _modules_outside() if name != "sklearn.metrics._scorer")
    return next(modules, "").partition(".")[0] == "sklearn"


def called_within_sklearn() -> bool:
    """Whether scikit-learn, or joblib for it, calls this package or a function that does."""
    return any(_package(frame) in ("sklearn", "joblib") for frame in _callers())


def called_by_scorer() -> bool:
    """Whether a scorer that `sklearn.metrics.make_scorer` made calls a function of this package."""
    return next(_modules_outside(), "") == str(SCORERS)


def _modules_outside() -> Iterator[str]:
    """Names of the modules that call this package, the last first."""
    frames = (frame for frame in _callers() if _package(frame) != PACKAGE)
    return (str(frame.f_globals.get("__name__")) for frame in frames)


def scored_rows(n_rows: int) -> Any:
    """The indices of the rows that cross-validation scores now, as its task was given them.

    None unless it scores as many rows by a function of the user that calls this package.
    """
    frames = [frame for frame in _callers() if _package(frame) == "sklearn"]
    names = [(frame.f_globals["__name__"], frame.f_code.co_name) for frame in frames]
    if not names or names[0] not in SCORING or _called_by_fit():
        return None
    scored, of_training = None, False
    for name, frame in zip(names, frames, strict=True):
        arguments = frame.f_locals
        if name == SCORE:
            scored = arguments["X_test"]
        if name == FOLD:
            of_training = scored is arguments.get("X_train")
            continue  # it may have made plain arrays of the indices
        if name == TASK:
            arguments = arguments.get("kwargs", {})
        if {"train", "test"}.issubset(arguments):
            rows = arguments["train" if of_training else "test"]
            return rows if hasattr(rows, "__len__") and len(rows) == n_rows else None
    return None


def _called_by_fit() -> bool:
    """Whether a method `fit` of another package calls this one."""
    outside = (frame for frame in _callers() if _package(frame) != PACKAGE)
    return next(outside).f_code.co_name == "fit"


def groups_of_call() -> Any:
    """The `groups` of the call of cross-validation or a search that runs its tasks now, if any."""
    for frame in _callers():
        package = _package(frame)
        if package not in ("sklearn", "joblib", PACKAGE):
            break
        params: Any = frame.f_locals.get("routed_params")
        if hasattr(params, "splitter"):
            return params.splitter.split.get("groups")
    return None


def _package(frame: FrameType) -> str:
    """The package whose code runs in the frame."""
    return str(frame.f_globals.get("__name__")).partition(".")[0]


def _callers() -> Iterator[FrameType]:
    """The frames around the function that asks for them."""
    frame = sys._getframe(2)
    while frame.f_back:
        frame = frame.f_back
        yield frame


def calling_estimator() -> str | None:
    """The class of the outermost estimator of scikit-learn in whose method this runs.

    None within a search or cross-validation alone, and within an estimator of this package, which
    passes query ids on.
    """
    name = None
    for frame in _callers():
        package = _package(frame)
        caller = frame.f_locals.get("self")
        if package not in ("sklearn", "joblib", PACKAGE):
            break
        if name is not None and hasattr(caller, "needs_query_ids"):
            return None
        if isinstance(caller, BaseEstimator) and not isinstance(caller, Search):
            name = type(caller).__name__ if package == "sklearn" else name
    return name
