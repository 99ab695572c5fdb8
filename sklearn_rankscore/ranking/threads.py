"""Threads that share the work of one call, and are kept from call to call."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache
from numbers import Integral
from typing import Any, TypeVar

from joblib import cpu_count, effective_n_jobs

Result = TypeVar("Result")

# an upper bound for one call, where it is more than there are processors
MAX_JOBS = 32

# an upper bound for all calls; a thread is started only when all others are busy
MAX_THREADS = 1024


@lru_cache
def _pool() -> ThreadPoolExecutor:
    """Threads are kept, because starting one takes longer than many a call."""
    return ThreadPoolExecutor(MAX_THREADS, thread_name_prefix="sklearn_rankscore")


def _start(function: Callable[[], Result]) -> Future[Result] | None:
    """Start a function in another thread; None if there can be no other.

    None starts after the main thread has ended, as in functions of `atexit`, or where the system
    has reached its limit.
    """
    try:
        return _pool().submit(function)
    except RuntimeError:
        return None


if hasattr(os, "register_at_fork"):  # the threads of the parent do not exist in a forked process
    os.register_at_fork(after_in_child=_pool.cache_clear)


def check_n_jobs(n_jobs: int | None) -> None:
    """Refuse anything but a number of threads."""
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral | None):
        raise TypeError(f"n_jobs must be an integer or None; got {n_jobs!r}.")
    if n_jobs == 0:
        raise ValueError("n_jobs must not be 0; -1 stands for all processors.")


def number_of_threads(n_jobs: int | None) -> int:
    """The number of threads that scikit-learn's `n_jobs` stands for, if that many can help."""
    check_n_jobs(n_jobs)
    jobs = int(effective_n_jobs(n_jobs))
    # counting processors reads files, which takes as long as a small call
    return jobs if jobs <= MAX_JOBS else min(jobs, max(MAX_JOBS, cpu_count()))


def submit(function: Callable[[], Result], jobs: int) -> Callable[[], Result]:
    """Start a function in another thread; calling what is returned gives its result.

    If no thread has started it by then, or `jobs` is 1, the calling thread runs it.
    """
    future = None if jobs == 1 else _start(function)
    if future is None:
        return function
    return lambda: function() if future.cancel() else future.result()


def parallel_for(function: Callable[[Any], None], items: Iterable[Any], jobs: int) -> None:
    """Call a function once on each item, in any order, from `jobs` threads, this one included.

    Items of different size are best given in descending order of size.
    """
    remaining = deque(items)

    # each thread takes its next item itself: handing it one would cost two context switches
    def work() -> None:
        while remaining:
            try:
                item = remaining.popleft()
            except IndexError:  # another thread took the last item
                return
            function(item)

    futures = [_start(work) for _ in range(min(jobs, len(remaining)) - 1)]
    try:
        work()
    finally:
        remaining.clear()
        for future in futures:
            if future is not None and not future.cancel():  # it has started
                future.result()
