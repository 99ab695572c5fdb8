"""Work that several threads share."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any


def share(function: Callable[[Any], None], items: Iterable[Any], jobs: int) -> None:
    """Call a function once on each item, in any order, from so many threads, this one among them.

    Items of different size best come largest first.
    """
    todo = deque(items)

    # each thread takes its next item by itself: to be handed one costs a wake-up of two threads
    def work(take: Callable[[], Any]) -> None:
        while todo:
            try:
                item = take()
            except IndexError:  # another thread took the last one
                return
            function(item)

    if jobs == 1 or len(todo) == 1:
        work(todo.popleft)
        return
    # NumPy lets go of the interpreter lock in sorts and arithmetic; threads that come from both
    # ends, one with small items and many calls, the others with large ones, seldom wait for it
    with ThreadPoolExecutor(jobs - 1) as pool:
        others = [pool.submit(work, todo.popleft) for _ in range(jobs - 1)]
        work(todo.pop)
    for other in others:
        other.result()
