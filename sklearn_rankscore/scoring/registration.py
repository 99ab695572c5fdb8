"""Names such as "ndcg@10" wherever scikit-learn takes a string for `scoring`.

These objects of scikit-learn are patched, and restored by `unregister`:

* the table of scorers becomes a dict that makes the scorer of any metric name on demand;
* the check of parameters that accept one of a set of strings, which many modules have built at
  import, accepts metric names among names of scorers;
* `sklearn.utils.parallel.Parallel` makes worker processes import this package, passes query ids
  to the fits and scores of cross-validation and searches, and checks their test folds for partial
  queries. The two functions that fit folds without it are wrapped for the same purpose.
"""

from __future__ import annotations

import functools
import pydoc
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any

from sklearn.linear_model import LinearRegression
from sklearn.metrics import check_scoring

from .._sklearn_calls import called_by_sklearn
from .._sklearn_compat import (
    delayed,
    fold_functions,
    replace_scorers,
    scoring_hooks,
    shares_memory,
)
from ..metrics.names import METRICS, names_metric
from .call_groups import CallGroups
from .fold_tasks import prepare_tasks, prepared
from .scorer import RankingScorer
from .tasks import is_fold_task

DELAYED: Any = type(delayed(len)()[0])

_lock = threading.RLock()
# kept when this module is reloaded, so that `unregister` still restores scikit-learn
_restorers: list[Callable[[], None]] = globals().get("_restorers", [])


def register() -> None:
    """Make metric names known to scikit-learn; importing the package does it.

    Warns
    -----
    RuntimeWarning
        If the installed scikit-learn lacks a private name that this needs; `make_ranking_scorer`
        works without it.
    """
    with _lock:
        if _restorers:
            return
        try:
            scorers, string_options, parallel = scoring_hooks()
            _patch_scorers(scorers)
            _patch_string_options(string_options)
            _patch_parallel(parallel)
            _patch_fold_functions(fold_functions())
            _check_registered()
        except Exception as error:
            unregister()
            warnings.warn(
                "this version of scikit-learn does not accept metric names as scoring "
                f"({error!r}). Use scoring=make_ranking_scorer('ndcg@10') instead.",
                RuntimeWarning,
                stacklevel=2,
            )


def unregister() -> None:
    """Undo `register`: scikit-learn no longer knows the names of ranking metrics."""
    with _lock:
        while _restorers:
            _restorers.pop()()


class _ScorerTable(dict[str, Any]):
    """The table of scorers, with a scorer for every metric name; iteration leaves these out."""

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or names_metric(name, super().keys())

    def __missing__(self, name: str) -> Any:
        if names_metric(name, super().keys()):
            return RankingScorer(name)
        raise KeyError(name)

    def get(self, name: str, default: Any = None) -> Any:
        return self[name] if name in self else default  # noqa: SIM401 - recursion

    def keys(self) -> Any:
        """The names, which `get_scorer_names` returns, with an example of each metric."""
        if called_by_sklearn():
            return super().keys()
        return (dict.fromkeys(super().keys()) | dict.fromkeys(example_names())).keys()


def example_names() -> list[str]:
    """A plain name of each metric, such as ``"ndcg@10"``."""
    return [f"{name}@10" if "k" in known.options else name for name, known in METRICS.items()]


def _patch_scorers(scorers: dict[str, Any]) -> None:
    table = _ScorerTable(scorers)
    replace_scorers(scorers, table)

    def restore() -> None:
        # with what others have added or removed in the meantime
        scorers.clear()
        scorers.update(dict.items(table))
        replace_scorers(table, scorers)

    _restorers.append(restore)


def _patch_string_options(string_options: Any) -> None:
    check = string_options.is_satisfied_by
    inherited = "is_satisfied_by" not in vars(string_options)

    @functools.wraps(check)
    def is_satisfied_by(self: Any, value: Any) -> bool:
        # only options that are names of scorers include both of these
        return bool(check(self, value)) or (
            {"r2", "roc_auc"} <= self.options and names_metric(value, self.options)
        )

    def restore() -> None:
        if inherited:
            del string_options.is_satisfied_by
        else:
            string_options.is_satisfied_by = check

    string_options.is_satisfied_by = is_satisfied_by
    _restorers.append(restore)


class _ImportOnUnpickling:
    """Imports this package where it is unpickled; becomes None if it is not installed there."""

    def __reduce__(self) -> tuple[Any, ...]:
        return pydoc.locate, (__name__,)


def _patch_parallel(parallel: Any) -> None:
    call = parallel.__call__

    @functools.wraps(call)
    def __call__(self: Any, iterable: Iterable[Any]) -> Any:
        # most calls have nothing to do with model selection, and must cost nothing: one task tells
        iterator = iter(iterable)
        first = next(iterator, None)
        tasks: Iterable[Any] = () if first is None else chain([first], iterator)
        if is_fold_task(first):
            tasks = prepare_tasks(tasks, CallGroups.read())
        if not shares_memory(self):
            tasks = _with_import(tasks)
        return call(self, tasks)

    def restore() -> None:
        parallel.__call__ = call

    parallel.__call__ = __call__
    _restorers.append(restore)


def _with_import(tasks: Iterable[Any]) -> Iterator[Any]:
    """The tasks, which import this package in the process that runs them."""
    marker = _ImportOnUnpickling()
    for task in tasks:
        # only what sklearn.utils.parallel.delayed makes for each task anew
        if isinstance(task, tuple) and task and isinstance(task[0], DELAYED):
            task[0]._sklearn_rankscore = marker
        yield task


def _patch_fold_functions(functions: list[tuple[Any, str]]) -> None:
    for module, name in functions:
        function = getattr(module, name)
        setattr(module, name, prepared(function))
        _restorers.append(functools.partial(setattr, module, name, function))


def _check_registered() -> None:
    """Raise where the patched objects no longer decide what a string means."""
    if not isinstance(check_scoring(LinearRegression(), scoring="ndcg@10"), RankingScorer):
        raise TypeError("check_scoring('ndcg@10') returned another scorer")
