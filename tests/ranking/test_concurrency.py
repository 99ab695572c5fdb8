"""Threads and processes give the same values; so do very many and very long queries."""

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.metrics import get_scorer
from sklearn.model_selection import cross_val_score

from sklearn_rankscore import (
    QueryKFold,
    evaluate,
    make_ranking,
    make_ranking_scorer,
    ndcg_score,
    patch_sklearn,
    query_auc_score,
    unpatch_sklearn,
)
from sklearn_rankscore.metrics.names import METRICS
from sklearn_rankscore.ranking import queries, ranking, threads

X, Y = make_ranking(n_queries=60, as_frame=True, random_state=0)
MODEL = Ridge().fit(X, Y)
SCORES, IDS, BINARY = MODEL.predict(X), X["qid"].to_numpy(), (Y > 1).to_numpy()


@pytest.fixture(autouse=True)
def registered():
    yield
    patch_sklearn()


@pytest.fixture
def frequent_switching():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def in_threads(call, n=16, times=1):
    """Results of a call made by many threads at the same time."""
    barrier = threading.Barrier(n)

    def wait_and_call(i):
        barrier.wait()
        return [call(i) for _ in range(times)]

    with ThreadPoolExecutor(n) as pool:
        return [result for results in pool.map(wait_and_call, range(n)) for result in results]


def test_all_metrics_at_the_same_time_with_n_jobs(frequent_switching):
    names = list(METRICS)
    expected = {name: evaluate(BINARY, SCORES, name, groups=IDS)[name] for name in names}
    results = in_threads(
        lambda i: evaluate(BINARY, SCORES, names[i], groups=IDS, n_jobs=2), n=len(names)
    )
    assert {name: value for each in results for name, value in each.items()} == expected


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_strings_in_the_workers_of_a_search(backend):
    call = {"scoring": "ndcg@10", "cv": QueryKFold(4), "error_score": "raise"}
    expected = cross_val_score(Ridge(), X, Y, **call)
    with joblib.parallel_backend(backend):
        assert cross_val_score(Ridge(), X, Y, n_jobs=2, **call).tolist() == expected.tolist()


def test_registration_races(frequent_switching):
    """While some threads register and unregister, others get a scorer or scikit-learn's error."""
    expected = make_ranking_scorer("ndcg@10")(MODEL, X, Y)

    def call(i):
        if i % 4 == 0:
            unpatch_sklearn()
            patch_sklearn()
            return expected
        try:
            return get_scorer("ndcg@10")(MODEL, X, Y)
        except ValueError as error:
            assert "not a valid scoring value" in str(error)  # noqa: PT017 - one of two outcomes
            return expected

    assert set(in_threads(call, times=10)) == {expected}
    patch_sklearn()
    assert get_scorer("ndcg@10")(MODEL, X, Y) == expected
    unpatch_sklearn()
    with pytest.raises(ValueError, match="not a valid scoring value"):
        get_scorer("ndcg@10")


@pytest.mark.filterwarnings("ignore:(in )?nearly all queries:UserWarning")
@pytest.mark.parametrize("order", ["sorted", "shuffled"])
def test_very_many_queries_of_one_document(order):
    n = 530_000  # more than a block holds
    random = np.random.default_rng(0)
    y, s = random.integers(0, 2, n, dtype=np.uint8), random.random(n, dtype=np.float32)
    groups = np.arange(n) if order == "sorted" else random.permutation(n)
    names = ["ndcg@10", "map", "precision@1", "recall", "hit_rate@3"]
    for value in evaluate(y, s, names, groups=groups).values():
        assert value == y.mean()
    assert np.isnan(query_auc_score(y, s, groups=groups))
    each = ndcg_score(y, s, groups=groups, average=None)
    assert np.array_equal(each[groups], y)


@pytest.fixture
def large():
    """Labels, scores and ids, enough to be read by two threads."""
    random = np.random.default_rng(0)
    g = np.repeat(np.arange(20_000), random.integers(1, 20, 20_000))
    assert len(g) >= queries.PARALLEL_CHECK
    return random.integers(0, 5, len(g)), random.normal(size=len(g)).round(2), g


@pytest.mark.parametrize("order", ["contiguous", "shuffled"])
def test_ids_are_read_in_parallel_with_labels(large, order, monkeypatch):
    threads, submit = [], queries.submit
    monkeypatch.setattr(queries, "submit", lambda f, jobs: threads.append(jobs) or submit(f, jobs))
    if order == "shuffled":
        large = [column[np.random.default_rng(0).permutation(len(column))] for column in large]
    y, s, g = large
    one, two = (ndcg_score(y, s, groups=g, k=10, average=None, n_jobs=n) for n in (1, 2))
    np.testing.assert_array_equal(one, two)
    assert threads == [2]


@pytest.mark.parametrize(
    ("k", "enough", "in_two"),
    [(32, 2049, False), (32, 2048, True), (33, 2049, True), (None, 2049, True)],
)
def test_a_shallow_cut_off_ranks_few_documents_in_one_thread(k, enough, in_two, monkeypatch):
    jobs, parallel_for = [], ranking.parallel_for
    monkeypatch.setattr(ranking, "PARALLEL_SHALLOW", enough)
    monkeypatch.setattr(
        ranking, "parallel_for", lambda f, items, n: jobs.append(n) or parallel_for(f, items, n)
    )
    random = np.random.default_rng(0)
    y, s, g = random.integers(0, 5, 2048), random.random(2048), np.arange(2048) // 64
    one, two = (ndcg_score(y, s, groups=g, k=k, n_jobs=n) for n in (1, 2))
    assert (two, jobs) == (one, [2] if in_two else [])


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_errors_have_the_same_precedence(large, n_jobs):
    y, s, g = large
    bad_ids, bad_labels = g * 1.0, y * 1.0
    bad_ids[7] = bad_labels[7] = np.nan
    with pytest.raises(ValueError, match="groups must not have missing"):
        ndcg_score(y, s, groups=bad_ids, n_jobs=n_jobs)
    with pytest.raises(ValueError, match="groups must not have missing"):
        ndcg_score(bad_labels, s, groups=bad_ids, n_jobs=n_jobs)
    with pytest.raises(ValueError, match="y_true contains NaN"):
        ndcg_score(bad_labels, s, groups=g, n_jobs=n_jobs)
    with pytest.raises(ValueError, match="got 7 for"):
        ndcg_score(y, s, groups=g[:7], n_jobs=n_jobs)


def test_a_metric_may_use_threads_itself(large):
    y, s, g = large
    inner = ndcg_score(y, s, groups=g)

    def nested(block):
        assert ndcg_score(y, s, groups=g, n_jobs=2) == inner
        return block.sizes * 1.0

    sizes = evaluate(y, s, nested, groups=g, average=None, n_jobs=2)["nested"]
    assert sizes.tolist() == np.bincount(g).tolist()


DATA = """
import atexit, os, signal, sys, threading, time, warnings
import numpy as np
from sklearn_rankscore import evaluate, ndcg_score

warnings.simplefilter("ignore")  # newer Pythons warn of any fork beside threads
g = np.repeat(np.arange(14_000), 10)  # enough to be read by two threads
y, s = np.arange(len(g)) % 3, np.random.default_rng(0).permutation(len(g)) // 4 * 1.0
score = lambda: ndcg_score(y, s, groups=g, n_jobs=2)
"""
FORK = """
expected, stop = score(), threading.Event()

def work():
    while not stop.is_set():
        score()

threads = [threading.Thread(target=work) for _ in range(2 * BUSY)]
for thread in threads:
    thread.start()
failed = 0
for _ in range(10):
    child = os.fork()
    if not child:
        signal.alarm(50)
        os._exit(score() != expected)
    failed += os.waitpid(child, 0)[1] != 0
stop.set()
print("right" if not failed else "wrong", flush=True)
"""
AT_EXIT = """
expected = score() if STARTED else None

def late():
    if threading.current_thread() is not threading.main_thread():
        threading.main_thread().join()
    value = score()
    print("right" if expected in (None, value) else "wrong", flush=True)

REGISTER
"""
DAEMONS = """
computing = threading.Barrier(3)

def work():
    score()
    computing.wait()
    while True:
        score()

for _ in range(2):
    threading.Thread(target=work, daemon=True).start()
computing.wait()
print("right", flush=True)
"""
LATE = ("atexit.register(late)", "threading.Thread(target=late).start()")
SCRIPTS = {
    "forked": FORK.replace("BUSY", "0"),
    "forked while threads compute": FORK.replace("BUSY", "1"),
    "ends while daemons compute": DAEMONS,
    "after threads have computed": AT_EXIT.replace("STARTED", "True").replace(
        "REGISTER", f"{LATE[0]}\n{LATE[1]}"
    ),
} | {late: AT_EXIT.replace("STARTED", "False").replace("REGISTER", late) for late in LATE}


@pytest.mark.slow
@pytest.mark.parametrize("name", SCRIPTS)
def test_processes_that_fork_or_end_beside_threads(name):
    if name.startswith("forked") and not hasattr(os, "fork"):
        pytest.skip("this system cannot fork")
    run = subprocess.run(
        [sys.executable, "-c", DATA + SCRIPTS[name]], capture_output=True, text=True, timeout=300
    )
    assert (set(run.stdout.split()), run.stderr, run.returncode) == ({"right"}, "", 0)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_error_in_any_thread_is_raised(large, n_jobs):
    y, s, g = large

    def fails_for_the_last_query(block):
        if block.queries.max() == g[-1]:
            raise ValueError("no")
        return block.sizes

    with pytest.raises(ValueError, match="no"):
        evaluate(y, s, fails_for_the_last_query, groups=g, n_jobs=n_jobs)


def test_runs_in_the_calling_thread_if_no_other_can_start(monkeypatch):
    expected = ndcg_score(Y, SCORES, groups=IDS)

    def refuse(self):
        raise RuntimeError("can't start new thread")

    threads._pool.cache_clear()
    monkeypatch.setattr(threading.Thread, "start", refuse)
    try:
        for n_jobs in (2, -1):
            assert ndcg_score(Y, SCORES, groups=IDS, n_jobs=n_jobs) == expected
    finally:
        monkeypatch.undo()
        threads._pool.cache_clear()


def test_more_jobs_than_help_start_no_more_threads():
    n_jobs = 10**6
    before = threading.active_count()
    assert ndcg_score(Y, SCORES, groups=IDS, n_jobs=n_jobs) == ndcg_score(Y, SCORES, groups=IDS)
    assert threads.number_of_threads(n_jobs) <= max(32, joblib.cpu_count())
    assert threading.active_count() <= before + threads.number_of_threads(n_jobs)
