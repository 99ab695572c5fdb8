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
from sklearn_rankscore.ranking import queries, ties
from sklearn_rankscore.ranking.fast import choices, documents, engine, keys

KINDS = [
    "few ties",
    "LightGBM, 5 rounds",
    "rounded to 0.1",
    "rounded to 1",
    "probabilities near 1",
]
COLUMNS = ["30,000 x 120", "300,000 x 10", "3,000 x 1,200", "30,000 lognormal"]
NEVER = 2**60


def _gathered_by_index(values: np.ndarray, starts: np.ndarray, width: int) -> np.ndarray:
    return values.take(starts[:, None] + np.arange(width), mode="clip")


def _no_grades(labels: np.ndarray, values: object) -> tuple[None, float, float]:
    return None, float(labels.min()), float(labels.max())


# what is replaced, by what: (module, name, replacement)
OPTIMIZATIONS: dict[str, list[tuple[object, str, object]]] = {
    "labels as bytes, keys": [(queries, "encode_grades", _no_grades)],
    "keys of 32 bits": [(choices, "SHALLOW", -1)],
    "longer keys where short ones collide": [(choices, "COLLIDING", 1e9)],
    "exact keys where many tie": [
        (choices, "MANY_TIES", 1e9),
        (choices, "MANY_TIES_IN_SHORT", 1e9),
    ],
    "few distinct scores as ranks": [(keys, "write_ranks", lambda *_: False)],
    "columns in keys": [(choices, "COLUMN_BESIDE_SINGLE", 0)],
    "candidates": [(choices, "FEW", 0)],
    "gains of bytes by comparisons": [(choices, "COMPARED", NEVER)],
    "sorting network": [(choices, "NETWORK_ROWS", NEVER)],
    "ties of short rows by column": [(ties, "TieColumns", ties.TieGroups)],
    "tournament": [(choices, "TOURNAMENT_RATIO", NEVER)],
    "rows copied as one item": [
        (documents, "gather", _gathered_by_index),
        (keys, "gather", _gathered_by_index),
    ],
    "padding to similar width": [(documents, "padded_width", lambda sizes: sizes)],
    "small buckets joined": [(choices, "SMALL_BUCKET", 0)],
    "larger blocks of few ranks": [(choices, "LARGE_BLOCK", documents.BLOCK_DOCUMENTS)],
    "keys written in steps": [(choices, "STEP", 2**30)],
    "freed memory retained": [(engine, "retain_freed_memory", lambda: None)],
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
