"""Work that several threads share."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from numbers import Integral
from typing import Any, TypeVar

from joblib import effective_n_jobs

Result = TypeVar("Result")

# more than anyone asks for; threads are started when all others are busy
MOST_THREADS = 1024


@lru_cache
def _helpers() -> ThreadPoolExecutor:
    """Threads that are kept, because one takes longer to start than many a call."""
    return ThreadPoolExecutor(MOST_THREADS, thread_name_prefix="sklearn_rankscore")


if hasattr(os, "register_at_fork"):  # a process that was forked has none of them
    os.register_at_fork(after_in_child=_helpers.cache_clear)


def number_of_threads(n_jobs: int | None) -> int:
    """How many threads an `n_jobs` of scikit-learn stands for."""
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral | None):
        raise TypeError(f"n_jobs must be an integer or None; got {n_jobs!r}.")
    return int(effective_n_jobs(n_jobs))


def begin(function: Callable[[], Result], jobs: int) -> Callable[[], Result]:
    """Start a function beside this thread if there are more of them; the answer returns its result.

    If no other thread has come to it, it runs when it is asked for its result.
    """
    if jobs == 1:
        return function
    begun = _helpers().submit(function)
    return lambda: function() if begun.cancel() else begun.result()


def share(function: Callable[[Any], None], items: Iterable[Any], jobs: int) -> None:
    """Call a function once on each item, in any order, from so many threads, this one among them.

    Items of different size best come largest first.
    """
    todo = deque(items)

    # each thread takes its next item by itself: to be handed one costs a wake-up of two threads
    def work() -> None:
        while todo:
            try:
                item = todo.popleft()
            except IndexError:  # another thread took the last one
                return
            function(item)

    others = [_helpers().submit(work) for _ in range(min(jobs, len(todo)) - 1)]
    try:
        work()
    finally:
        todo.clear()
        for other in others:
            if not other.cancel():  # it has begun
                other.result()
