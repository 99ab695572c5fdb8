"""Compare the time of NDCG@10 with exponential gain with that of other libraries.

``python benchmarks/compare.py`` prints a table of nanoseconds per document and, in parentheses, the
ratio of our time to that of each other library, on the same data with two threads each. Timed runs
of both libraries alternate, and each ratio is a ratio of medians. ``--quick`` uses smaller shapes;
``--shape NAME`` selects a single shape. Libraries that are not installed or reject the data are
skipped.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sklearn_rankscore import ndcg_score

THREADS = 2
LIGHTGBM_LONGEST = 10_000  # LightGBM's NDCG rejects longer queries


@dataclass
class Data:
    y: np.ndarray
    score: np.ndarray
    sizes: np.ndarray

    @property
    def groups(self) -> np.ndarray:
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    def first_queries(self, documents: int) -> Data:
        """Return the first queries, with about this many documents, for slower libraries."""
        n = max(1, int(np.searchsorted(np.cumsum(self.sizes), documents)))
        rows = int(self.sizes[:n].sum())
        return Data(self.y[:rows], self.score[:rows], self.sizes[:n])


def make(sizes: np.ndarray, seed: int = 0) -> Data:
    random = np.random.default_rng(seed)
    n = int(sizes.sum())
    y = np.minimum(random.geometric(0.5, n) - 1, 4).astype(np.int64)
    # float32 values, so that libraries in single precision obtain the same order; ties are rare
    return Data(y, (y + random.normal(0, 2, n)).astype(np.float32).astype(np.float64), sizes)


def around(n_queries: int, length: int) -> np.ndarray:
    return np.random.default_rng(1).integers(length * 2 // 3, length * 4 // 3 + 1, n_queries)


def zipf(total: int, longest: int) -> np.ndarray:
    """Return query lengths longest / 1, longest / 2, …, 1, repeated up to the given total."""
    sizes = np.tile(longest // np.arange(1, longest + 1), 1 + total // longest)
    return np.random.default_rng(1).permutation(sizes[: np.searchsorted(np.cumsum(sizes), total)])


SHAPES: dict[str, Callable[[int], np.ndarray]] = {
    "30,000 x 120": lambda small: around(30_000 // small, 120),
    "300,000 x 10": lambda small: around(300_000 // small, 10),
    "3,000 x 1,200": lambda small: around(3_000 // small, 1_200),
    "50 x 100,000": lambda small: around(max(2, 50 // small), 100_000),
    "Zipf 1 .. 100,000": lambda small: zipf(3_000_000 // small, 100_000 // small),
}


def ours(data: Data) -> Callable[[], float]:
    groups = data.groups
    return lambda: ndcg_score(
        data.y,
        data.score,
        groups=groups,
        k=10,
        gain="exponential",
        replace_undefined_by=1.0,
        n_jobs=THREADS,
    )


def lightgbm(data: Data) -> Callable[[], float]:
    import lightgbm as lgb

    train = lgb.Dataset(np.zeros((len(data.y), 1)), data.y, group=data.sizes, init_score=data.score)
    params = {
        "objective": "none",
        "metric": "ndcg",
        "eval_at": [10],
        "num_threads": THREADS,
        "verbosity": -1,
    }
    booster = lgb.Booster(params, train)
    return lambda: booster.eval_train()[0][2]


def xgboost(data: Data) -> Callable[[], float]:
    import xgboost as xgb

    params = {"objective": "rank:ndcg", "eval_metric": "ndcg@10", "nthread": THREADS}
    matrix = xgb.DMatrix(np.zeros((len(data.y), 1)), data.y, nthread=THREADS)
    matrix.set_group(data.sizes)
    matrix.set_base_margin(data.score)
    booster = xgb.Booster(params, [matrix])
    return lambda: float(booster.eval(matrix).rpartition(":")[2])


def catboost(data: Data) -> Callable[[], float]:
    from catboost.utils import eval_metric

    groups = data.groups
    return lambda: eval_metric(
        data.y, data.score, "NDCG:top=10;type=Exp", group_id=groups, thread_count=THREADS
    )[0]


def ranx(data: Data) -> Callable[[], float]:
    import numba
    from ranx import Qrels, Run, evaluate

    numba.set_num_threads(THREADS)
    qrels, run = as_dicts(data)
    qrels, run = Qrels(qrels), Run({q: d for q, d in run.items() if q in qrels})
    # queries without relevant documents have no qrels here; our function scores them as 1
    empty = len(data.sizes) - len(qrels.qrels)
    return lambda: (
        (evaluate(qrels, run, "ndcg_burges@10") * len(qrels.qrels) + empty) / len(data.sizes)
    )


def pytrec_eval(data: Data) -> Callable[[], float]:
    import pytrec_eval

    # trec_eval implements the linear gain only: pass the exponential gains as labels
    qrels, run = as_dicts(Data(2**data.y - 1, data.score, data.sizes))
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut.10"})
    empty = len(data.sizes) - len(qrels)
    return lambda: (
        (sum(q["ndcg_cut_10"] for q in evaluator.evaluate(run).values()) + empty) / len(data.sizes)
    )


def as_dicts(data: Data) -> tuple[dict, dict]:
    qrels: dict = {}
    run: dict = {}
    start = 0
    for query, size in enumerate(data.sizes):
        part = slice(start, start + size)
        start += size
        names = [str(d) for d in range(size)]
        judged = {n: int(y) for n, y in zip(names, data.y[part], strict=True) if y}
        if judged:
            qrels[str(query)] = judged
        run[str(query)] = dict(zip(names, data.score[part].tolist(), strict=True))
    return qrels, run


def scikit_learn(data: Data) -> Callable[[], float]:
    from sklearn.metrics import ndcg_score as their_ndcg

    cuts = np.cumsum(data.sizes)[:-1]
    gains = np.split(2.0**data.y - 1, cuts)
    scores = np.split(data.score, cuts)

    def loop() -> float:
        values = [
            their_ndcg([g], [s], k=10) if len(g) > 1 and g.any() else 1.0
            for g, s in zip(gains, scores, strict=True)
        ]
        return float(np.mean(values))

    return loop


# each library with the number of documents that it can evaluate in acceptable time
PEERS: dict[str, tuple[Callable[[Data], Callable[[], float]], int]] = {
    "LightGBM": (lightgbm, 10**9),
    "XGBoost": (xgboost, 10**9),
    "CatBoost": (catboost, 10**9),
    "ranx": (ranx, 300_000),
    "pytrec_eval": (pytrec_eval, 300_000),
    "scikit-learn": (scikit_learn, 300_000),
}


def alternate(
    first: Callable[[], float], second: Callable[[], float], runs: int
) -> tuple[float, float]:
    """Return the median seconds of both functions, called alternately."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(runs):
        for function, seconds in zip((first, second), times, strict=True):
            start = time.perf_counter()
            function()
            seconds.append(time.perf_counter() - start)
    return statistics.median(times[0]), statistics.median(times[1])


def measure(data: Data, peer: str, runs: int) -> tuple[float, float] | None:
    """Return nanoseconds per document of both libraries, after checking that their values agree."""
    build, max_documents = PEERS[peer]
    if peer == "LightGBM" and data.sizes.max() > LIGHTGBM_LONGEST:
        return None
    data = data if len(data.y) <= max_documents else data.first_queries(max_documents)
    try:
        theirs = build(data)
    except ImportError:
        return None
    mine = ours(data)
    if not np.isclose(mine(), theirs(), rtol=2e-5):
        message = f"{peer}: values differ, {mine()} and {theirs()}"
        raise SystemExit(message)
    seconds = alternate(mine, theirs, runs)
    return seconds[0] / len(data.y) * 1e9, seconds[1] / len(data.y) * 1e9


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the documents")
    parser.add_argument("--shape", choices=SHAPES, action="append")
    parser.add_argument("--peer", choices=PEERS, action="append")
    parser.add_argument("--runs", type=int, default=7)
    arguments = parser.parse_args()
    peers = arguments.peer or list(PEERS)
    print("NDCG@10, exponential gain, two threads each; ns per document, (ours / theirs)\n")
    print(f"{'shape':20}{'documents':>12}{'ours':>8}" + "".join(f"{p:>20}" for p in peers))
    for shape in arguments.shape or SHAPES:
        data = make(SHAPES[shape](10 if arguments.quick else 1))
        results = []
        for peer in peers:
            print(f"\r{shape}: {peer} ...", end="", file=sys.stderr, flush=True)
            results.append(measure(data, peer, arguments.runs))
        print("\r" + " " * 60 + "\r", end="", file=sys.stderr)
        # the first libraries evaluate all documents, the last ones a subset
        mine = next((r[0] for r in results if r), float("nan"))
        cells = [f"{r[1]:.1f} ({r[0] / r[1]:.3f})" if r else "-" for r in results]
        print(f"{shape:20}{len(data.y):>12,}{mine:>8.1f}" + "".join(f"{c:>20}" for c in cells))


if __name__ == "__main__":
    main()
