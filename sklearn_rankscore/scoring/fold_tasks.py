"""What happens to the tasks of cross-validation and searches before they run."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any

from .._sklearn_compat import list_scorers
from ..query_ids.optuna_search import not_nan_in_optuna
from .call_groups import CallGroups
from .columns import check_columns, check_no_feature
from .partial_queries import FoldChecker
from .scorer import RankingScorer
from .scorers_with_ids import check_function
from .task_ids import pass_query_ids
from .tasks import FoldTask
from .weighted_sum import WeightedScorer


def prepare_tasks(tasks: Iterable[Any], call_groups: CallGroups) -> Iterator[Any]:
    """Tasks of one parallel call, with query ids; warns once if folds split queries."""
    checker = FoldChecker()
    checked: set[tuple[int, int]] = set()
    for function, args, kwargs in tasks:
        task = FoldTask(function, args, kwargs, call_groups)
        checker.check(task)
        try:
            if (inputs := (id(task.scorer), id(task.X))) not in checked:
                checked.add(inputs)
                check_scorers(task)
            if task.fits:
                pass_query_ids(task)
        except ValueError as error:
            raise not_nan_in_optuna(error) from error
        yield task.as_tuple()


def prepared(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that fits a fold, called with query ids."""

    @functools.wraps(function)
    def with_query_ids(*args: Any, **kwargs: Any) -> Any:
        task = FoldTask(function, args, kwargs, CallGroups.read())
        check_scorers(task)
        pass_query_ids(task)
        return function(**task.arguments)

    return with_query_ids


def check_scorers(task: FoldTask) -> None:
    """Refuse scorers that cannot score a fold, because scikit-learn would turn errors into nan."""
    for scorer in list_scorers(task.scorer):
        check_function(scorer, task.test)
    for scorer in chain.from_iterable(map(_single_metrics, list_scorers(task.scorer))):
        check_no_feature(scorer, task.estimator, task.X)
        if not (task.is_routed and task.score_params):
            check_columns(scorer, task.X, task.y)


def _single_metrics(scorer: Any) -> Iterable[RankingScorer]:
    """The scorer, or the parts of a weighted sum, if they are ours."""
    if isinstance(scorer, WeightedScorer):
        return scorer.parts.values()
    return [scorer] if isinstance(scorer, RankingScorer) else []
