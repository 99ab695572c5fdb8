"""Threads that share the work of one call."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from sklearn_rankscore.ranking import threads
from sklearn_rankscore.ranking.threads import parallel_for


@pytest.mark.parametrize("jobs", [1, 2, 3])
@pytest.mark.parametrize("n_items", [0, 1, 2, 50])
def test_each_item_is_processed_once(n_items, jobs):
    done, used, n_threads = [], set(), min(jobs, n_items)
    together = threading.Barrier(max(1, n_threads))

    def work(item):
        if threading.get_ident() not in used:
            used.add(threading.get_ident())
            together.wait(60)  # until each thread has an item
        done.append(item)

    parallel_for(work, range(n_items), jobs)
    assert sorted(done) == list(range(n_items))
    assert len(used) == n_threads
    assert n_items == 0 or threading.get_ident() in used


@pytest.mark.parametrize("jobs", [1, 2])
def test_work_starts_in_another_thread(jobs):
    started = threading.Event()
    result = threads.submit(lambda: started.set() or threading.get_ident(), jobs)
    assert started.wait(10 if jobs > 1 else 0) == (jobs > 1)
    assert (result() == threading.get_ident()) == (jobs == 1)


def test_work_that_no_thread_has_started_runs_in_the_calling_thread(monkeypatch):
    enough = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        pool.submit(enough.wait, 5)
        monkeypatch.setattr(threads, "_pool", lambda: pool)
        try:
            assert threads.submit(threading.get_ident, 2)() == threading.get_ident()
            done = []
            parallel_for(done.append, range(5), 2)
            assert sorted(done) == [0, 1, 2, 3, 4]
        finally:
            enough.set()


@pytest.mark.parametrize("here", [True, False])
def test_an_error_in_any_thread_is_raised(here):
    this, together = threading.get_ident(), threading.Barrier(2)

    def work(item):
        together.wait(60)  # until each of two threads has an item
        if (threading.get_ident() == this) == here:
            raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        parallel_for(work, range(2), 2)
