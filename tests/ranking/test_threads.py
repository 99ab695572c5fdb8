"""Threads that share the work of one call."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from sklearn_rankscore.ranking import threads
from sklearn_rankscore.ranking.threads import parallel_for


@pytest.mark.parametrize("jobs", [1, 2, 3])
@pytest.mark.parametrize("n_items", [0, 1, 2, 50])
def test_each_item_is_processed_once(n_items, jobs):
    done, used = [], set()

    def work(item):
        time.sleep(0.001)
        used.add(threading.get_ident())
        done.append(item)

    parallel_for(work, range(n_items), jobs)
    assert sorted(done) == list(range(n_items))
    limit = min(jobs, n_items)
    assert len(used) <= limit
    if n_items == 50:
        assert len(used) == jobs
        assert threading.get_ident() in used
    if limit == 1:
        assert used == {threading.get_ident()}


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
    this = threading.get_ident()

    def work(item):
        time.sleep(0.001)
        if (threading.get_ident() == this) == here:
            raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        parallel_for(work, range(50), 2)
