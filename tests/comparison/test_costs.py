"""What results of many queries cost, in time beside that of simple work, and in memory."""

import time
import tracemalloc
from functools import partial

import numpy as np
import pytest
from query_values import scores_of

from sklearn_rankscore.comparison.significance import permutation_p_values


def seconds(work):
    """Of this process alone: other work may share the machine."""
    start = time.process_time()
    work()
    return time.process_time() - start


def peak(work):
    tracemalloc.start()
    work()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most


def values(n_queries, n_metrics):
    return np.random.default_rng(0).beta(2, 1, size=(n_queries, n_metrics))


def test_a_hundred_thousand_queries_cost_a_few_sorts():
    given = values(100_000, 2)
    sorting = seconds(lambda: [np.sort(given, axis=0) for _ in range(5)])
    assert seconds(scores_of(given, ["ndcg", "map"]).interval) < 20 * sorting


@pytest.mark.slow
def test_ten_thousand_resamples_of_thirty_thousand_queries():
    random, n = np.random.default_rng(0), 30_000
    resample = partial(scores_of(values(n, 5)).interval, method="bootstrap", random_state=0)
    # most of the time is that of drawing queries and counting them
    a_tenth = 10 * seconds(lambda: np.bincount(random.integers(0, n, size=100 * n)))
    assert seconds(lambda: resample(n_resamples=1_000)) < 5 * a_tenth
    # the means of further resamples are all that grows
    assert peak(lambda: resample(n_resamples=200)) + 9_800 * 5 * 8 * 4 < 2**30


def test_ten_thousand_flips_of_ten_thousand_queries():
    terms = np.random.default_rng(0).standard_cauchy(size=(10_000, 1))
    drawing = seconds(lambda: np.random.default_rng(0).random(10**7))
    assert seconds(lambda: permutation_p_values(terms, 9_999, 0)) < 20 * drawing
    assert peak(lambda: permutation_p_values(terms[:1000], 200_000, 0)) < 2**21
