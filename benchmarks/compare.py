"""Compare the time of NDCG@10 with exponential gain with that of other libraries.

``python benchmarks/compare.py`` prints nanoseconds per document and, in parentheses, the ratio of
our time to that of each other library, on the same data with the same number of threads. Timed runs
of both libraries alternate, and each ratio is a ratio of medians. Rows are shapes of the data and
kinds of scores; tied scores are ranked in input order, as LightGBM and XGBoost rank them, because
values must agree. Two further columns show what ties cost: the ratio of the expected value over
ties, and of four metrics together, to NDCG@10 of the same shape without ties.

``--quick`` uses a tenth of the documents; ``--shape``, ``--scores`` and ``--peer`` select some,
``--threads 1`` compares single threads and ``--labels float`` passes labels as floats. Libraries
that are not installed or reject the data are skipped.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable

import numpy as np
from data import SCORES, SHAPES, Data, machine, make, with_scores
from peers import PEERS

from sklearn_rankscore import evaluate

LIGHTGBM_LONGEST = 10_000  # LightGBM's NDCG rejects longer queries
RANKED_IN_INPUT_ORDER = ("LightGBM", "XGBoost")
FOUR = ["ndcg@10", "map@10", "mrr", "precision@10"]


def ours(data: Data, threads: int, metrics: str | list[str], **options: str) -> Callable:
    groups = data.groups
    options = {"gain": "exponential"} | options if metrics == "ndcg@10" else options
    return lambda: evaluate(
        data.y,
        data.score,
        metrics,
        groups=groups,
        replace_undefined_by=1.0,
        n_jobs=threads,
        **options,
    )


def alternate(
    first: Callable[[], object], second: Callable[[], object], runs: int
) -> tuple[float, float]:
    """Return the median seconds of both functions, called alternately."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(runs):
        for function, seconds in zip((first, second), times, strict=True):
            start = time.perf_counter()
            function()
            seconds.append(time.perf_counter() - start)
    return statistics.median(times[0]), statistics.median(times[1])


def measure(data: Data, peer: str, runs: int, threads: int) -> tuple[float, float] | None:
    """Return nanoseconds per document of both libraries, after checking that their values agree."""
    build, max_documents = PEERS[peer]
    if peer == "LightGBM" and data.sizes.max() > LIGHTGBM_LONGEST:
        return None
    data = data if len(data.y) <= max_documents else data.first_queries(max_documents)
    try:
        theirs = build(data, threads)
    except ImportError:
        return None
    ties = "stable" if peer in RANKED_IN_INPUT_ORDER else "average"
    mine = ours(data, threads, "ndcg@10", ties=ties)
    value = next(iter(mine().values()))
    if not np.isclose(value, theirs(), rtol=2e-5):
        message = f"{peer}: values differ, {value} and {theirs()}"
        raise SystemExit(message)
    seconds = alternate(mine, theirs, runs)
    return seconds[0] / len(data.y) * 1e9, seconds[1] / len(data.y) * 1e9


def row(data: Data, untied: Data, peers: list[str], runs: int, threads: int) -> list[str]:
    """Return the cells of one row."""
    base = ours(untied, threads, "ndcg@10")
    cells, mine = [], None
    for metrics in ("ndcg@10", FOUR):
        seconds, base_seconds = alternate(ours(data, threads, metrics), base, runs)
        mine = mine or seconds / len(data.y) * 1e9
        cells.append(f"{seconds / base_seconds:.2f}")
    cells.insert(0, f"{mine:.1f}")
    few_ties = data.score is untied.score
    for peer in peers:
        if not few_ties and peer not in RANKED_IN_INPUT_ORDER:
            cells.append("-")
            continue
        result = measure(data, peer, runs, threads)
        cells.append(f"{result[1]:.1f} ({result[0] / result[1]:.3f})" if result else "-")
    return cells


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the documents")
    parser.add_argument("--shape", choices=SHAPES, action="append")
    parser.add_argument("--scores", choices=SCORES, action="append")
    parser.add_argument("--peer", choices=PEERS, action="append")
    parser.add_argument("--labels", choices=["int", "float"], default="int")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--runs", type=int, default=7)
    arguments = parser.parse_args()
    peers, kinds = arguments.peer or list(PEERS), arguments.scores or SCORES
    print(f"{machine()}\n")
    print(f"NDCG@10, exponential gain, {arguments.threads} threads each; ns per document", end="")
    print(", (ours / theirs)\n")
    print(f"{'shape':20}{'scores':22}{'tied':>6}{'ours':>8}{'/untied':>9}{'four':>7}", end="")
    print("".join(f"{p:>16}" for p in peers))
    for shape in arguments.shape or SHAPES:
        untied = make(SHAPES[shape](10 if arguments.quick else 1))
        if arguments.labels == "float":
            untied.y = untied.y.astype(np.float64)
        for kind, data in with_scores(untied, kinds).items():
            print(f"\r{shape}, {kind} ...", end="", file=sys.stderr, flush=True)
            cells = row(data, untied, peers, arguments.runs, arguments.threads)
            print("\r" + " " * 60 + "\r", end="", file=sys.stderr)
            numbers = "".join(f"{c:>{w}}" for c, w in zip(cells, (8, 9, 7), strict=False))
            ratios = "".join(f"{c:>16}" for c in cells[3:])
            print(f"{shape:20}{kind:22}{data.tied_share:>6.2f}{numbers}{ratios}", flush=True)


if __name__ == "__main__":
    main()
