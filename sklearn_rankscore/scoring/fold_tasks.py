"""What happens to the tasks of cross-validation and searches before they run."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from .partial_queries import FoldChecker
from .task_ids import pass_query_ids
from .tasks import FoldTask


def prepare_tasks(tasks: Iterable[Any]) -> Iterator[Any]:
    """Tasks of one parallel call, with query ids; warns once if folds split queries."""
    checker = FoldChecker()
    for function, args, kwargs in tasks:
        task = FoldTask(function, args, kwargs)
        checker.check(task)
        if task.fits:
            pass_query_ids(task)
        yield task.as_tuple()


def prepared(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that fits a fold, called with query ids."""

    @functools.wraps(function)
    def with_query_ids(*args: Any, **kwargs: Any) -> Any:
        task = FoldTask(function, args, kwargs)
        pass_query_ids(task)
        return function(**task.arguments)

    return with_query_ids
