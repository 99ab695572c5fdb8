"""What each optimization of `ranking/fast/` gives: the time of NDCG@10 without it, over with it.

``python benchmarks/ablation.py`` prints one row per optimization and one column per shape of the
data and kind of scores. It alternates runs with and without, and prints ratios of the medians of
CPU time in one thread, or with ``--threads 2`` of elapsed time. An optimization that gives less
than 10 % everywhere is removed. ``--metrics`` takes other metrics, ``--quick`` a tenth of the
documents.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from unittest.mock import patch

import numpy as np
from data import SHAPES, Data, machine, make, with_scores

from sklearn_rankscore import evaluate
from sklearn_rankscore.ranking import plain, queries, ties
from sklearn_rankscore.ranking.fast import (
    documents,
    engine,
    fill,
    grades,
    keys,
    row_sorts,
    score_order,
    width_buckets,
)
from sklearn_rankscore.ranking.ties import TieGroups

PACKAGE = "sklearn_rankscore.ranking"
KINDS = [
    "few ties",
    "LightGBM, 5 rounds",
    "rounded to 0.1",
    "rounded to 1",
    "probabilities near 1",
]
COLUMNS = ["30,000 x 120", "300,000 x 10", "3,000 x 1,200", "30,000 lognormal"]
NEVER = 2**60


def _copied_by_index(rows: np.ndarray, keys: np.ndarray, starts: np.ndarray) -> None:
    rows[:] = keys[starts[:, None] + np.arange(rows.shape[1])]


def _gathered_by_index(values: np.ndarray, starts: np.ndarray, width: int) -> np.ndarray:
    return values.take(starts[:, None] + np.arange(width), mode="clip")


def _no_grades(labels: np.ndarray, values: object) -> tuple[None, float, float]:
    return None, float(labels.min()), float(labels.max())


# what is replaced, by what: (module, name, replacement)
OPTIMIZATIONS: dict[str, list[tuple[object, str, object]]] = {
    "labels as bytes, keys": [(queries, "encode_grades", _no_grades)],
    "keys of 32 bits": [(fill, "SHALLOW", -1)],
    "longer keys where short ones collide": [(fill, "COLLIDING", 1e9)],
    "exact keys where many tie": [(documents, "MANY", 1e9), (documents, "MANY_IN_SHORT", 1e9)],
    "decimals as integers": [(fill, "write_decimals", lambda *_: False)],
    "columns in short keys where many tie": [(fill, "MEDIUM_IN_ORDER", 0)],
    "few distinct scores as ranks": [(fill, "write_ranks", lambda *_: False)],
    "candidates": [(engine, "FEW", 0), (score_order, "FEW", 0)],
    "sorting network": [
        (module, "SHORT", 0) for module in (engine, grades, keys, row_sorts, plain, width_buckets)
    ],
    "ties of short rows by column": [
        (ties, "TieGroupsByColumn", TieGroups),
        (engine, "MANY_TIED_ROWS", 1),
    ],
    "tournament": [(row_sorts, "MEDIUM", NEVER)],
    "counting sort of grades": [(grades, "COUNTED_RANKS", 0)],
    "rows copied as one item": [
        (fill, "_copy_rows", _copied_by_index),
        (documents, "_gather", _gathered_by_index),
    ],
    "padding to similar width": [(width_buckets, "padded_width", lambda sizes: sizes)],
    "small buckets joined": [(width_buckets, "SMALL_BUCKET", 0)],
    "larger blocks of few ranks": [(width_buckets, "LARGE_BLOCK", width_buckets.BLOCK_DOCUMENTS)],
    "keys computed in chunks": [(fill, "CHUNK", 2**30)],
}


@contextmanager
def without(optimization: str) -> Iterator[None]:
    with ExitStack() as stack:
        for module, name, replacement in OPTIMIZATIONS[optimization]:
            stack.enter_context(patch.object(module, name, replacement))
        yield


def measure(data: Data, optimization: str, arguments: argparse.Namespace) -> float:
    """Return the time without the optimization, relative to that with it."""
    groups = data.groups
    clock = time.process_time if arguments.threads == 1 else time.perf_counter
    metrics = arguments.metrics or ["ndcg@10"]

    def call() -> dict[str, float]:
        return evaluate(data.y, data.score, metrics, groups=groups, n_jobs=arguments.threads)

    def seconds(function: Callable[[], object]) -> float:
        start = clock()
        function()
        return clock() - start

    expected = call()
    with_it, without_it = [], []
    for _ in range(arguments.runs):
        with_it.append(seconds(call))
        with without(optimization):
            without_it.append(seconds(call))
    with without(optimization):
        for name, value in call().items():
            if not np.isclose(value, expected[name], rtol=1e-12):
                message = f"without {optimization}, {name} is {value} instead of {expected[name]}"
                raise SystemExit(message)
    return statistics.median(without_it) / statistics.median(with_it)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the documents")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--metrics", nargs="+")
    parser.add_argument("--optimization", choices=OPTIMIZATIONS, action="append")
    arguments = parser.parse_args()
    print(f"{machine()}\n{arguments.threads} thread(s): time without / time with\n")
    columns = {}
    for shape in COLUMNS:
        data = make(SHAPES[shape](10 if arguments.quick else 1))
        for kind, scored in with_scores(data, KINDS).items():
            columns[f"{shape}, {kind}"] = scored
    for number, name in enumerate(columns, 1):
        print(f"{number:>3}  {name}")
    print(f"\n| without | {' | '.join(map(str, range(1, len(columns) + 1)))} |")
    print("|---|" + "---:|" * len(columns))
    for optimization in arguments.optimization or OPTIMIZATIONS:
        print(f"| {optimization} |", end="", flush=True)
        for data in columns.values():
            print(f" {measure(data, optimization, arguments):.2f} |", end="", flush=True)
        print()


if __name__ == "__main__":
    sys.exit(main())
