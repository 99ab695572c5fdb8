"""What intervals and tests promise, on simulated populations; and what they cost."""

import time
import tracemalloc

import numpy as np
import pytest

from sklearn_rankscore import QueryScores, compare

pytestmark = pytest.mark.slow

REPETITIONS = 2_000


def ndcg_like(random, shape):
    """Mostly high, a tenth at 0 and a fifth at 1."""
    kind = random.random(shape)
    values = random.beta(1.2, 0.6, size=shape)
    return np.where(kind < 0.1, 0.0, np.where(kind > 0.8, 1.0, values))


def precision_like(random, shape):
    """Half at 0, the rest low."""
    return np.where(random.random(shape) < 0.5, 0.0, random.beta(0.8, 2.5, size=shape))


# name: (population, its mean)
POPULATIONS = {
    "ndcg": (ndcg_like, 0.2 + 0.7 * 1.2 / 1.8),
    "precision": (precision_like, 0.5 * 0.8 / 3.3),
}


def repetitions(values):
    """Every column is a repetition of its own."""
    return QueryScores(np.arange(len(values)), values, [str(i) for i in range(values.shape[1])])


def coverage(intervals, mean):
    return np.mean([low <= mean <= high for low, high in intervals.values()])


@pytest.mark.parametrize("population", POPULATIONS)
@pytest.mark.parametrize("n_queries", [50, 500])
@pytest.mark.parametrize("method", ["bootstrap", "t"])
def test_intervals_cover_the_mean(population, n_queries, method):
    draw, mean = POPULATIONS[population]
    # Student's interval is cheap and, at 50 queries of low precision, close to the border
    n_repetitions = REPETITIONS if method == "bootstrap" else 5 * REPETITIONS
    scores = repetitions(draw(np.random.default_rng(0), (n_queries, n_repetitions)))
    intervals = scores.interval(method=method, n_resamples=4_999, random_state=1)
    assert 0.93 <= coverage(intervals, mean) <= 0.97


@pytest.mark.parametrize("n_queries", [50, 500])
def test_intervals_cover_the_mean_of_weighted_queries(n_queries):
    """Weights that go with the values: the mean of the population is E[w v] / E[w]."""
    random = np.random.default_rng(2)
    values = random.random((n_queries, 400)) ** 2
    covered = []
    for column in values.T:
        weights = 1 + (random.random(n_queries) < column) * 2.0
        scores = QueryScores(np.arange(n_queries), column[:, None], ["m"], weights)
        covered.append(coverage(scores.interval(method="t"), (1 / 3 + 2 / 5) / (1 + 2 / 3)))
    assert 0.92 <= np.mean(covered) <= 0.98


@pytest.mark.parametrize("test", ["permutation", "t", "wilcoxon"])
@pytest.mark.parametrize("n_queries", [10, 50])
def test_a_true_null_hypothesis_is_rejected_one_time_in_twenty(test, n_queries):
    random = np.random.default_rng(3)
    shared = random.normal(size=(n_queries, REPETITIONS))
    systems = {name: repetitions(shared + random.laplace(size=shared.shape)) for name in ("a", "b")}
    comparison = compare(
        systems, test=test, correction=None, method="t", n_resamples=4_999, random_state=4
    )
    rejected = np.mean([one.p_value <= 0.05 for one in comparison.differences])
    assert 0.04 <= rejected <= 0.06


def test_holm_keeps_the_chance_of_any_false_difference():
    random = np.random.default_rng(5)
    wrong = []
    for _ in range(400):
        first, second = random.normal(size=(2, 20, 5))
        comparison = compare(
            {"a": repetitions(first), "b": repetitions(second)}, test="t", method="t"
        )
        wrong.append(any(one.adjusted_p_value <= 0.05 for one in comparison.differences))
    assert np.mean(wrong) <= 0.05 + 2 * 0.011


def test_ten_thousand_resamples_of_thirty_thousand_queries():
    values = np.random.default_rng(0).beta(2, 1, size=(30_000, 5))
    scores = QueryScores(np.arange(30_000), values, list("abcde"))
    start = time.process_time()  # of this process alone: other work may share the machine
    for _ in range(10):
        np.bincount(np.random.default_rng(0).integers(0, 30_000, size=3_000_000))
    drawing_a_tenth = time.process_time() - start
    start = time.process_time()
    scores.interval(n_resamples=10_000, random_state=0)
    # most of the time is that of drawing queries and counting them
    assert time.process_time() - start < 5 * 10 * drawing_a_tenth
    tracemalloc.start()
    scores.interval(n_resamples=1_000, random_state=0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # the means of nine thousand further resamples are all that grows
    assert peak + 9_000 * 5 * 8 * 4 < 2**30
