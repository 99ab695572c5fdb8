"""Names such as "ndcg@10" wherever scikit-learn takes a string for `scoring`.

Three objects of scikit-learn are patched, and restored by `unregister`:

* the table of scorers becomes a dict that makes the scorer of any metric name on demand;
* the check of parameters that accept one of a set of strings, which many modules have built at
  import, accepts metric names among names of scorers;
* `sklearn.utils.parallel.Parallel` makes worker processes import this package, and checks the
  test folds it is given for partial queries.
"""

from __future__ import annotations

import functools
import pydoc
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from sklearn.linear_model import LinearRegression
from sklearn.metrics import check_scoring

from .._sklearn_compat import replace_scorers, scoring_hooks
from ..metrics.names import METRICS
from .partial_queries import FoldChecker
from .scorer import RankingScorer

_lock = threading.RLock()
_restorers: list[Callable[[], None]] = []


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


def names_metric(name: Any) -> bool:
    """Whether a string starts with the name of a metric, well formed (``"ndcg@10"``) or not."""
    if not isinstance(name, str):
        return False
    return name.replace(" ", "").partition("(")[0].partition("@")[0] in METRICS


class _ScorerTable(dict[str, Any]):
    """The table of scorers, with a scorer for every metric name; iteration leaves these out."""

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or names_metric(name)

    def __missing__(self, name: str) -> Any:
        if names_metric(name):
            return RankingScorer(name)
        raise KeyError(name)

    def get(self, name: str, default: Any = None) -> Any:
        return self[name] if name in self else default  # noqa: SIM401 - recursion


def _patch_scorers(scorers: dict[str, Any]) -> None:
    table = _ScorerTable(scorers)
    replace_scorers(scorers, table)
    _restorers.append(lambda: replace_scorers(table, scorers))


def _patch_string_options(string_options: Any) -> None:
    check = string_options.is_satisfied_by
    inherited = "is_satisfied_by" not in vars(string_options)

    @functools.wraps(check)
    def is_satisfied_by(self: Any, value: Any) -> bool:
        # only options that are names of scorers include both of these
        return bool(check(self, value)) or (
            names_metric(value) and {"r2", "roc_auc"} <= self.options
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
    marker = _ImportOnUnpickling()

    @functools.wraps(call)
    def __call__(self: Any, iterable: Iterable[Any]) -> Any:
        checker = FoldChecker()

        def tasks() -> Iterator[Any]:
            for task in iterable:
                if isinstance(task, tuple) and task and hasattr(task[0], "__dict__"):
                    task[0]._sklearn_rankscore = marker
                    checker.check(task)
                yield task

        return call(self, tasks())

    def restore() -> None:
        parallel.__call__ = call

    parallel.__call__ = __call__
    _restorers.append(restore)


def _check_registered() -> None:
    """Raise where the patched objects no longer decide what a string means."""
    if not isinstance(check_scoring(LinearRegression(), scoring="ndcg@10"), RankingScorer):
        raise TypeError("check_scoring('ndcg@10') returned another scorer")
