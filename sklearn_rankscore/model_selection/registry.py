"""Names such as "ndcg@10" wherever scikit-learn takes a string for scoring.

Three places are touched, each put back by `unregister`:

* the table of scorers becomes a dict that resolves the open family of names by itself;
* the check of string parameters, frozen in many modules, accepts those names;
* `sklearn.utils.parallel.Parallel` makes worker processes import this package, and is where a
  split that cuts queries can be seen.
"""

from __future__ import annotations

import functools
import pydoc
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from sklearn.utils.parallel import Parallel

from ..metrics.names import METRICS
from .cut_queries import CutQueries
from .scorer import RankingScorer

_lock = threading.RLock()
_undo: list[Callable[[], None]] = []


def register() -> None:
    """Make the names of ranking metrics known to scikit-learn; importing the package does it.

    Warns
    -----
    RuntimeWarning
        Where a future scikit-learn has moved what this needs; `make_ranking_scorer` still works.
    """
    with _lock:
        if _undo:
            return
        try:
            _replace_table()
            _widen_check()
            _wrap_parallel()
            _try_out()
        except Exception as error:
            unregister()
            warnings.warn(
                "sklearn_rankscore could not make its metrics known to this scikit-learn by name "
                f"({error!r}); pass scoring=make_ranking_scorer('ndcg@10') instead.",
                RuntimeWarning,
                stacklevel=2,
            )


def unregister() -> None:
    """Undo `register`: scikit-learn is as it was."""
    with _lock:
        while _undo:
            _undo.pop()()


def claims(name: Any) -> bool:
    """Whether a string is meant for us, well formed or not: ``"ndcg@0"`` gets our explanation."""
    if not isinstance(name, str):
        return False
    family = name.replace(" ", "").partition("(")[0].partition("@")
    return family[0] in METRICS


class _OpenScorers(dict[str, Any]):
    """The table of scorers, with a scorer for every name of ours; listing it stays finite."""

    def __contains__(self, name: object) -> bool:
        return dict.__contains__(self, name) or claims(name)

    def __missing__(self, name: str) -> Any:
        if claims(name):
            return RankingScorer(name, None, {})
        raise KeyError(name)

    def get(self, name: str, default: Any = None) -> Any:
        return self[name] if name in self else default  # noqa: SIM401 - that calls itself


def _replace_table() -> None:
    from sklearn.metrics import _scorer

    old = _scorer._SCORERS
    new = _OpenScorers(old)

    def swap(before: Any, after: Any) -> None:
        # some modules have imported the table by name
        for module in list(sys.modules.values()):
            for name in ("_SCORERS", "SCORERS"):
                if getattr(module, "__dict__", {}).get(name) is before:
                    setattr(module, name, after)

    swap(old, new)
    _undo.append(lambda: swap(new, old))


def _widen_check() -> None:
    from sklearn.utils._param_validation import StrOptions

    own = "is_satisfied_by" in vars(StrOptions)
    check = StrOptions.is_satisfied_by

    @functools.wraps(check)
    def is_satisfied_by(self: Any, value: Any) -> bool:
        return bool(check(self, value)) or (claims(value) and {"r2", "roc_auc"} <= self.options)

    def restore() -> None:
        if own:
            StrOptions.is_satisfied_by = check
        else:
            del StrOptions.is_satisfied_by

    StrOptions.is_satisfied_by = is_satisfied_by
    _undo.append(restore)


class _ImportHere:
    """Travels with a task; unpickling it imports this package, or gives None where it is absent."""

    def __reduce__(self) -> tuple[Any, ...]:
        return pydoc.locate, (__name__,)


def _wrap_parallel() -> None:
    call = Parallel.__call__
    luggage = _ImportHere()

    @functools.wraps(call)
    def __call__(self: Any, iterable: Iterable[Any]) -> Any:
        watch = CutQueries()

        def tasks() -> Iterator[Any]:
            for task in iterable:
                if isinstance(task, tuple) and task and hasattr(task[0], "__dict__"):
                    task[0]._sklearn_rankscore = luggage
                    watch.look(task)
                yield task

        return call(self, tasks())

    def restore() -> None:
        Parallel.__call__ = call

    Parallel.__call__ = __call__
    _undo.append(restore)


def _try_out() -> None:
    """Fail where the patched places no longer decide what a name means."""
    from sklearn.linear_model import LinearRegression
    from sklearn.metrics import check_scoring

    if not isinstance(check_scoring(LinearRegression(), scoring="ndcg@10"), RankingScorer):
        raise TypeError("check_scoring did not return our scorer")
