"""Time of every metric on patterns of ties and layouts of queries, over that without ties.

``python benchmarks/worst.py`` prints metric × pattern as ratios of medians of CPU time in one
thread. Tied scores should cost at most 5 times those without ties, and nothing may be quadratic.
``--documents`` is the size of the data, ``--shape`` selects one query of all documents or queries
of 2,000, 300 or 120, ``--metric`` some metrics. ``--layouts`` prints nanoseconds per document of
NDCG@10 for layouts of queries and kinds of ids and scores instead.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np
from data import machine

from sklearn_rankscore import evaluate, metric_names

RUNS = 3
LIMIT = 5.0  # seconds; a slower call is made once


def seconds(call: Callable[[], object]) -> float:
    times: list[float] = []
    while len(times) < RUNS and sum(times) < LIMIT:
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return statistics.median(times)


def patterns(n: int) -> dict[str, np.ndarray]:
    score = np.random.default_rng(0).normal(size=n)
    return {
        "no ties": score,
        "all tied": np.zeros(n),
        "2 scores": (score > 0) * 1.0,
        "5 scores": np.clip(np.round(score), -2, 2),
        "100 scores": np.clip(np.round(score * 16), -50, 50),
    }


def labels(n: int) -> dict[str, np.ndarray]:
    random = np.random.default_rng(1)
    grades = np.minimum(random.geometric(0.5, n) - 1, 4)
    return {
        "grades 0 to 4": grades,
        "1 % relevant": (random.random(n) < 0.01) * 1,
        "half not judged": np.where(random.random(n) < 0.5, -1, grades),
        "real numbers": 4 * random.random(n),
    }


def all_metrics() -> list[str]:
    names = list(metric_names())
    return [f"{name}@10" for name in names] + names


def ties(n: int, sizes: np.ndarray, metrics: list[str]) -> None:
    groups = np.repeat(np.arange(len(sizes)), sizes)
    scores = patterns(n)
    for kind, y in labels(n).items():
        print(f"\n{len(sizes):,} queries, {kind}\n{'':24}{'ns':>8}", end="")
        print("".join(f"{name:>12}" for name in list(scores)[1:]))
        for metric in metrics:
            given = y / 5 if metric.startswith("pfound") else y
            try:
                untied, *tied = (
                    seconds(lambda s=s, y=given, m=metric: evaluate(y, s, m, groups=groups))
                    for s in scores.values()
                )
            except ValueError:  # a metric without a cut-off, or without such labels
                continue
            print(f"{metric:24}{untied / n * 1e9:>8.1f}", end="")
            print("".join(f"{t / untied:>12.2f}" for t in tied), flush=True)


def layouts(n: int) -> None:
    random = np.random.default_rng(0)
    y, score = np.minimum(random.geometric(0.5, n) - 1, 4), random.normal(size=n)
    queries = np.repeat(np.arange(n // 100), 100)
    shuffled = random.permutation(queries)
    long_ids = np.array([f"{q:0>1000}" for q in range(100)])
    some = n // 100
    cases: dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]] = {
        "queries of 100 documents": (y, score, queries),
        "queries of one document": (y, score, np.arange(n)),
        "one query of all": (y, score, np.zeros(n, dtype=int)),
        "one of half, others of one": (y, score, np.maximum(np.arange(n) - n // 2, 0)),
        "ids in random order": (y, score, shuffled),
        "ids in descending order": (y, score, queries[::-1]),
        "strings of 1,000 characters": (y[:some], score[:some], long_ids[shuffled[:some] % 100]),
        "denormal scores": (y, score * 1e-310, queries),
        "labels that are no grades": (random.random(n), score, queries),
        "the same, one query of all": (random.random(n), score, np.zeros(n, dtype=int)),
        "probabilities near 1": (y, 1 / (1 + np.exp(-2 * score - 12)), queries),
        "times of an hour, in seconds": (y, 1.7e9 + 3600 * random.random(n), queries),
        "scores that differ in their last bits": (y, 1 + score * 1e-15, queries),
        "scores of all magnitudes": (y, score * 10.0 ** random.integers(-300, 300, n), queries),
    }
    for name, (labels, scores, groups) in cases.items():
        took = seconds(lambda d=(labels, scores), g=groups: evaluate(*d, "ndcg@10", groups=g))
        print(f"{name:40}{took / len(labels) * 1e9:>8.1f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--shape", choices=["one", "2000", "300", "120"])
    parser.add_argument("--metric", action="append")
    parser.add_argument("--layouts", action="store_true")
    arguments = parser.parse_args()
    n = arguments.documents // 6000 * 6000  # whole queries of 100, 120, 300 and 2,000
    print(machine())
    if arguments.layouts:
        layouts(n)
        return
    sizes_of = {str(size): np.full(n // size, size) for size in (2000, 300, 120)}
    for name, sizes in {"one": np.array([n]), **sizes_of}.items():
        if arguments.shape in (None, name):
            ties(n, sizes, arguments.metric or all_metrics())


if __name__ == "__main__":
    main()
