"""What intervals and tests promise, on simulated populations; and what they cost."""

import itertools
import re
import time
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from populations import PAIRS, POPULATIONS, WEIGHTS

from sklearn_rankscore import QueryScores, compare

pytestmark = pytest.mark.slow

GUIDE = Path(__file__).parents[2] / "benchmarks" / "coverage.md"
SIZES = (10, 20, 50, 100)
REPETITIONS = 1_000


def repetitions(values, weights=None):
    """Every column is a repetition of its own."""
    names = [str(i) for i in range(values.shape[1])]
    return QueryScores(np.arange(len(values)), values, names, weights)


def samples(population, weights, n, random):
    """Samples of queries with weights, of which twenty sets are drawn."""
    n_sets = 1 if weights == "equal" else 20
    for _ in range(n_sets):
        yield population(random, (n, REPETITIONS // n_sets)), WEIGHTS[weights](random, n)


def coverage(intervals, mean):
    return np.mean([low - 1e-9 <= mean <= high + 1e-9 for low, high in intervals])


def coverage_of_mean(name, weights, n, **options):
    draw, mean = POPULATIONS[name]
    random = np.random.default_rng(n)
    return np.mean(
        [
            coverage(repetitions(values, w).interval(random_state=1, **options).values(), mean)
            for values, w in samples(draw, weights, n, random)
        ]
    )


def coverage_of_difference(name, weights, n, **options):
    draw, mean = PAIRS[name]
    random = np.random.default_rng(n)
    covered = []
    for pair, w in samples(draw, weights, n, random):
        systems = {name: repetitions(values, w) for name, values in zip("ab", pair, strict=True)}
        compared = compare(systems, test="t", correction=None, random_state=1, **options)
        covered.append(coverage([one.interval for one in compared], mean))
    return np.mean(covered)


def rows_of_the_guide():
    """Population, method and coverage at each number of queries, of means and of differences."""
    for line in GUIDE.read_text("utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 2 + len(SIZES) and re.fullmatch(r"`\w+`", cells[1]):
            yield cells[0], cells[1].strip("`"), [float(cell) for cell in cells[2:]]


def test_the_guide_has_a_row_of_every_population():
    rows = {(population, method) for population, method, _ in rows_of_the_guide()}
    assert rows >= {(name, method) for name in POPULATIONS for method in ("auto", "t")}
    assert rows >= {(name, method) for name in PAIRS for method in ("auto", "t")}


@pytest.mark.parametrize("row", list(rows_of_the_guide()), ids=lambda row: f"{row[0]}, {row[1]}")
def test_coverage_is_that_of_the_guide(row):
    population, method, expected = row
    measure = coverage_of_mean if population in POPULATIONS else coverage_of_difference
    n_resamples = 1_999
    measured = [
        measure(population, "equal", n, method=method, n_resamples=n_resamples) for n in SIZES
    ]
    # four standard errors of this simulation and of one with twice as many samples
    errors = (
        4 * np.sqrt(1.5 * np.multiply(expected, np.subtract(1, expected)) / REPETITIONS) + 0.002
    )
    assert (np.abs(np.subtract(measured, expected)) <= errors).all(), measured


BOUNDED = [name for name in POPULATIONS if name != "lognormal"]


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("name", [*BOUNDED, *PAIRS])
def test_intervals_cover_with_few_queries(name, weights):
    measure = coverage_of_mean if name in POPULATIONS else coverage_of_difference
    for n in SIZES:
        # 94 %, up to two standard errors of the simulation
        assert measure(name, weights, n) >= 0.94 - 2 * 0.0075, n


def test_the_guide_says_what_unequal_weights_of_rare_differences_cost():
    text = " ".join(GUIDE.read_text("utf-8").split())
    (stated,) = re.findall(
        r"with lognormal weights and \"(.+?)\", the coverage of `auto` is (\.\d+) for 400 queries "
        r"and (\.\d+) for 1,000, instead of (\.\d+) and (\.\d+) with equal weights",
        text,
    )
    name, *expected = stated
    cases = itertools.product(("lognormal", "equal"), (400, 1_000))
    measured = [coverage_of_difference(name, weights, n) for weights, n in cases]
    assert measured == pytest.approx([float(one) for one in expected], abs=0.03)


@pytest.mark.parametrize("name", ["NDCG", "precision"])
def test_intervals_of_many_queries_are_not_too_wide(name):
    for method in ("auto", "t", "bootstrap"):
        assert 0.935 <= coverage_of_mean(name, "equal", 500, method=method) <= 0.975


@pytest.mark.parametrize("test", ["permutation", "t", "wilcoxon"])
@pytest.mark.parametrize("n_queries", [10, 50])
def test_a_true_null_hypothesis_is_rejected_one_time_in_twenty(test, n_queries):
    random = np.random.default_rng(3)
    shared = random.normal(size=(n_queries, REPETITIONS))
    systems = {name: repetitions(shared + random.laplace(size=shared.shape)) for name in ("a", "b")}
    comparison = compare(systems, test=test, correction=None, n_resamples=4_999, random_state=4)
    rejected = np.mean([one.p_value <= 0.05 for one in comparison])
    assert 0.04 <= rejected <= 0.06


@pytest.mark.parametrize("test", ["permutation", "t"])
@pytest.mark.parametrize("n_queries", [10, 50])
def test_weighted_tests_keep_their_level(test, n_queries):
    random = np.random.default_rng(6)
    rejected = []
    for _ in range(40):
        weights = random.lognormal(0, 1, size=n_queries)
        systems = {
            name: repetitions(random.laplace(size=(n_queries, 100)), weights) for name in ("a", "b")
        }
        options = {"n_resamples": 999, "random_state": 4}
        compared = compare(systems, test=test, correction=None, **options)
        rejected.append(np.mean([one.p_value <= 0.05 for one in compared]))
    assert 0.01 <= np.mean(rejected) <= 0.057


def levels_of_the_guide():
    """Population, weights, test and level at each number of queries."""
    for line in GUIDE.read_text("utf-8").splitlines():
        cells = [cell.strip(" `") for cell in line.strip("|").split("|")]
        if len(cells) == 3 + len(SIZES) and cells[1] in WEIGHTS:
            yield *cells[:3], [float(cell) for cell in cells[3:]]


def test_the_guide_has_the_levels_of_both_tests():
    rows = [row[:3] for row in levels_of_the_guide()]
    names = {name for name, *_ in rows}
    assert rows == [(n, w, t) for n in sorted(names, reverse=True) for w in WEIGHTS
                    for t in ("permutation", "t")]  # fmt: skip
    assert {PAIRS[name][1] for name in names} == {0}
    assert len(names) > 1


@pytest.mark.parametrize("row", list(levels_of_the_guide()), ids=lambda row: ", ".join(row[:3]))
def test_tests_have_the_level_of_the_guide(row):
    name, weights, test, expected = row
    for n, level in zip(SIZES, expected, strict=True):
        rejected = []
        for pair, w in samples(PAIRS[name][0], weights, n, np.random.default_rng(n)):
            systems = {s: repetitions(values, w) for s, values in zip("ab", pair, strict=True)}
            options = {"test": test, "n_resamples": 999, "random_state": 4}
            compared = compare(systems, correction=None, **options)
            rejected.append(np.mean([one.p_value <= 0.05 for one in compared]))
        # 5 %, up to two standard errors of the simulation
        assert np.mean(rejected) < 0.0645, n
        assert np.mean(rejected) == pytest.approx(level, abs=0.02)


def test_holm_keeps_the_chance_of_any_false_difference():
    random = np.random.default_rng(5)
    wrong = []
    for _ in range(400):
        first, second = random.normal(size=(2, 20, 5))
        comparison = compare({"a": repetitions(first), "b": repetitions(second)}, test="t")
        wrong.append(any(one.adjusted_p_value <= 0.05 for one in comparison))
    assert np.mean(wrong) <= 0.05 + 2 * 0.011


def test_ten_thousand_resamples_of_thirty_thousand_queries():
    values = np.random.default_rng(0).beta(2, 1, size=(30_000, 5))
    scores = QueryScores(np.arange(30_000), values, list("abcde"))
    start = time.process_time()  # of this process alone: other work may share the machine
    for _ in range(10):
        np.bincount(np.random.default_rng(0).integers(0, 30_000, size=3_000_000))
    drawing_a_tenth = time.process_time() - start
    start = time.process_time()
    scores.interval(method="bootstrap", n_resamples=10_000, random_state=0)
    # most of the time is that of drawing queries and counting them
    assert time.process_time() - start < 5 * 10 * drawing_a_tenth
    tracemalloc.start()
    scores.interval(method="bootstrap", n_resamples=1_000, random_state=0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # the means of nine thousand further resamples are all that grows
    assert peak + 9_000 * 5 * 8 * 4 < 2**30
