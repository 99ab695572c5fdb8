"""Check the performance guarantees of the package, other than the comparison with other libraries.

``python benchmarks/promises.py`` prints each measured value (a ratio, or nanoseconds per document)
next to its guaranteed maximum.
"""

from __future__ import annotations

import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from functools import wraps
from importlib.util import find_spec
from unittest.mock import patch

import numpy as np
from compare import FOUR, alternate
from data import SHAPES, Data, make
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import Ridge
from sklearn.metrics import ndcg_score as their_ndcg
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_validate

from sklearn_rankscore import (
    QueryKFold,
    QueryRanker,
    compare,
    evaluate,
    make_ranking,
    ndcg_score,
    patch_sklearn,
    query_scores,
    unpatch_sklearn,
)

TEN = [
    *("ndcg@5", "ndcg@10", "map@10", "mrr@10", "precision@5", "precision@10", "recall@10"),
    *("f1@10", "hits@10", "hit_rate@5"),
]


def check(what: str, measured: float, promised: float) -> None:
    verdict = "" if measured <= promised else "   NOT MET"
    print(f"{what:62}{measured:>9.2f}   promised <= {promised:g}{verdict}", flush=True)


def ratio(ours: Callable[[], object], theirs: Callable[[], object], runs: int = 7) -> float:
    ours(), theirs()
    mine, other = alternate(ours, theirs, runs)
    return mine / other


def many_metrics(data: Data) -> None:
    groups = data.groups
    check(
        "ten metrics / one NDCG@10",
        ratio(
            lambda: evaluate(data.y, data.score, TEN, groups=groups),
            lambda: ndcg_score(data.y, data.score, groups=groups, k=10),
        ),
        2.2,
    )


def ties(data: Data, shape: str) -> None:
    """Rounded scores, and few distinct ones that are no decimals, over scores without ties."""
    groups = data.groups
    leaves = np.random.default_rng(0).normal(size=31)
    kinds = {
        "rounded to 0.1": np.round(data.score, 1),
        "rounded to 1": np.round(data.score),
        "31 values": leaves[np.digitize(data.score, np.linspace(-2, 2, 30))],
    }

    def call(metrics: str | list[str], score: np.ndarray, **options: str) -> Callable[[], object]:
        return lambda: evaluate(data.y, score, metrics, groups=groups, **options)

    untied = call("ndcg@10", data.score)
    for kind, score in kinds.items():
        for rule in ("average", "stable"):
            measured = ratio(call("ndcg@10", score, ties=rule), untied)
            check(f"{shape}, {kind}, ties={rule} / no ties", measured, 2.5)
        check(f"{shape}, {kind}, four metrics / no ties", ratio(call(FOUR, score), untied), 4)


def tied_lists() -> None:
    """Metrics whose expectation is the most expensive, without a cut-off."""
    for size in (120, 300, 2000):
        _tied_lists(size)


def _tied_lists(size: int) -> None:
    random = np.random.default_rng(0)
    groups = np.repeat(np.arange(200_000 // size), size)
    y, untied = np.minimum(random.geometric(0.5, len(groups)) - 1, 4), random.random(len(groups))
    y_incomplete = np.where(random.random(len(y)) < 0.5, -1, y)
    cases = [
        ("err", "grades", y),
        ("err", "real numbers", 4 * random.random(len(y))),
        ("pfound", "grades", y / 5),
        ("infap", "grades", y),
        ("infap", "half not judged", y_incomplete),
    ]
    for metric, name, labels in cases:
        for kind, score in (("all tied", np.zeros(len(y))), ("5 scores", np.floor(5 * untied))):
            measured = ratio(
                lambda m=metric, a=labels, s=score: evaluate(a, s, m, groups=groups),
                lambda m=metric, a=labels: evaluate(a, untied, m, groups=groups),
            )
            check(f"lists of {size:,}, {metric}, {name}, {kind} / no ties", measured, 8)


def ids(data: Data) -> None:
    order = np.random.default_rng(0).permutation(len(data.y))
    groups = data.groups
    y, score, shuffled = data.y[order], data.score[order], groups[order]
    names = np.array([f"query-{q}" for q in range(len(data.sizes))])
    contiguous = lambda: ndcg_score(data.y, data.score, groups=groups, k=10)  # noqa: E731
    cases = [
        ("shuffled integer ids", y, score, shuffled, 40.0),
        ("shuffled strings", y, score, names[shuffled], 150.0),
        ("shuffled strings as objects", y, score, names[shuffled].astype(object), 150.0),
        ("contiguous strings", data.y, data.score, names[groups], 40.0),
    ]
    for name, labels, scores, query_ids, promised in cases:
        call = lambda a=labels, b=scores, g=query_ids: ndcg_score(a, b, groups=g, k=10)  # noqa: E731
        call(), contiguous()
        mine, base = alternate(call, contiguous, 5)
        check(f"{name}: additional ns per document", (mine - base) / len(data.y) * 1e9, promised)


def small_call() -> None:
    y, s = [3, 0, 1, 2, 0, 0, 1, 0, 0, 0], np.random.default_rng(0).random(10)
    y, y2, s2 = np.array(y), np.array([y]), s[None]

    def many(call: Callable[[], object]) -> Callable[[], None]:
        return lambda: [call() for _ in range(200)] and None

    check(
        "one query of ten documents / scikit-learn",
        ratio(many(lambda: ndcg_score(y, s)), many(lambda: their_ndcg(y2, s2))),
        0.5,
    )


def imports() -> None:
    base = "import sklearn.metrics, sklearn.model_selection"

    def run(code: str) -> Callable[[], None]:
        return lambda: subprocess.run([sys.executable, "-c", code], check=True) and None

    check(
        "import with the package / without",
        ratio(run(f"{base}, sklearn_rankscore"), run(base), 9),
        1.15,
    )


def unrelated_code() -> None:
    """A forest's predict, which calls Parallel, a search by 50,000 groups, one of small fits."""
    X, y = make_ranking(n_queries=20, random_state=0)[:2]
    forests = {
        "on one row": (RandomForestRegressor(300, random_state=0), X[:1], 20),
        "n_jobs=2": (RandomForestRegressor(300, n_jobs=2, random_state=0), X, 5),
    }
    for name, (forest, rows, times) in forests.items():
        forest.fit(X, y)
        without_import(
            f"a forest's predict, {name}",
            lambda forest=forest, rows=rows, times=times: [
                forest.predict(rows) for _ in range(times)
            ],
        )
    random = np.random.default_rng(0)
    X, groups = random.normal(size=(100_000, 4)), np.arange(100_000) // 2
    search = GridSearchCV(Ridge(), {"alpha": [1, 10]}, scoring="r2", cv=GroupKFold(5))
    without_import(
        "a search of Ridge by r2, 50,000 groups", lambda: search.fit(X, X[:, 0], groups=groups)
    )
    small = GridSearchCV(Ridge(), {"alpha": [1, 2, 3, 4]}, scoring="r2", cv=5)
    without_import("a search of Ridge by r2, 200 rows", lambda: small.fit(X[:200], X[:200, 0]))


def without_import(what: str, call: Callable[[], object]) -> None:
    """Check that what does not use the package takes as long as without our hooks."""

    def run(prepare: Callable[[], None]) -> Callable[[], None]:
        def prepared() -> None:
            prepare()
            call()

        return prepared

    measured = ratio(run(patch_sklearn), run(unpatch_sklearn), 15)
    patch_sklearn()
    check(f"{what}, patched / not", measured, 1.03)


def splits() -> None:
    n, random = 1_000_000, np.random.default_rng(0)
    X, y, order = np.zeros((n, 1)), random.integers(0, 5, n), random.permutation(n)

    def split(splitter: object, ids: np.ndarray) -> Callable[[], object]:
        return lambda: [*splitter.split(X, y, groups=ids)]

    for length in (10, 100):
        adjacent = np.arange(n) // length
        for kind, ids in (("adjacent", adjacent), ("shuffled", adjacent[order])):
            measured = ratio(split(QueryKFold(5), ids), split(GroupKFold(5), ids))
            check(f"QueryKFold / GroupKFold, queries of {length}, {kind}", measured, 1)


def ranker() -> None:
    """`QueryRanker.fit` on a million documents, over the same fit of LightGBM."""
    if find_spec("lightgbm") is None:
        return
    from lightgbm import LGBMRanker

    random = np.random.default_rng(0)
    X, sizes = random.normal(size=(1_000_000, 50)), np.full(10_000, 100)
    y, groups = np.minimum(np.exp(X[:, 0]), 4).astype(int), np.repeat(np.arange(10_000), 100)
    model = LGBMRanker(n_estimators=20, n_jobs=2, verbose=-1)
    measured = ratio(
        lambda: QueryRanker(model).fit(X, y, groups=groups),
        lambda: clone(model).fit(X, y, group=sizes),
        5,
    )
    check("QueryRanker.fit / LightGBM of 20 rounds, 1 M x 50", measured, 1.02)


TEXT_IDS = """
import resource, numpy as np, pandas as pd, pyarrow as pa
from sklearn_rankscore import ndcg_score

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20

n = 20_000_000
queries = pa.array([f"query-{q}" for q in range(n // 20)])
codes = np.repeat(np.arange(n // 20, dtype=np.int32), 20)
if SHUFFLED:
    np.random.default_rng(0).shuffle(codes)
ids = pa.DictionaryArray.from_arrays(codes, queries).cast(pa.string())
ids = ids if LIBRARY == "pyarrow" else pd.Series(ids.to_pandas(types_mapper=pd.ArrowDtype))
random = np.random.default_rng(0)
y, score = random.integers(0, 5, n, np.int8), random.random(n, np.float32)
ndcg_score(y, score, groups=ids, k=10)
print(peak())
"""


def text_ids() -> None:
    """Peak memory of a process with 20 million text ids, including the data."""
    for library in ("pyarrow", "pandas"):
        for shuffled in (False, True):
            code = f"LIBRARY, SHUFFLED = {library!r}, {shuffled}\n{TEXT_IDS}"
            run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
            order = "shuffled" if shuffled else "adjacent"
            check(f"20 M text ids of {library}, {order}: GB", float(run.stdout), 2.5)


def memory() -> None:
    for name, sizes in (
        ("2 M documents, queries of 100", np.full(20_000, 100)),
        ("one query of 2 M documents", np.array([2_000_000])),
    ):
        data = make(sizes)
        groups = data.groups
        inputs = data.y.nbytes + data.score.nbytes + groups.nbytes
        for k in (10, None):
            tracemalloc.start()
            ndcg_score(data.y, data.score, groups=groups, k=k)
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            check(f"peak memory / inputs, {name}, k={k}", peak / inputs, 1.5)


def comparison() -> None:
    """Five systems, twenty metrics and thirty segments of 100,000 queries, with a margin."""
    data = make(np.full(100_000, 10))
    random = np.random.default_rng(0)
    noise = random.normal(size=(5, len(data.y)))
    systems = {f"system {i}": data.y + data.score + noise[i] for i in range(5)}
    metrics = [
        f"{m}@{k}" for m in ("ndcg", "map", "mrr", "precision", "recall") for k in range(1, 5)
    ]
    segments = np.arange(100_000) % 30
    given = {"groups": data.groups, "n_jobs": 1, "segments": segments.astype(str)}
    scores = query_scores(data.y, systems, metrics, **given)

    def compared() -> object:
        return compare(scores, by="segment", margin=0.005, random_state=0)

    measured = ratio(compared, lambda: query_scores(data.y, systems, metrics, **given), 3)
    check("compare by 30 segments with a margin / query_scores", measured, 10)
    tracemalloc.start()
    compared()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    values = sum(system.values.nbytes for system in scores.values())
    check("peak memory of it / the values compared", peak / values, 2)


def cross_validation() -> None:
    X, y = make_ranking(n_queries=1000, n_documents=50, as_frame=True, random_state=0)
    model = QueryRanker(HistGradientBoostingRegressor(max_iter=100, early_stopping=False))
    five = ["ndcg@5", "ndcg@10", "map@10", "mrr", "precision@5"]

    def run(scoring: object) -> Callable[[], object]:
        return lambda: cross_validate(model, X, y, scoring=scoring, cv=QueryKFold(3))

    check("cross_validate with five metrics / with r2", ratio(run(five), run("r2"), 5), 1.15)


def search(data: Data) -> None:
    """A search of LightGBM's ranker with ten metrics, other than its fits and predictions."""
    if find_spec("lightgbm") is None:
        return
    from lightgbm import LGBMRanker

    spent = []

    def timed(method: Callable[..., object]) -> Callable[..., object]:
        @wraps(method)
        def call(*args: object, **given: object) -> object:
            start = time.perf_counter()
            result = method(*args, **given)
            spent.append(time.perf_counter() - start)
            return result

        return call

    random = np.random.default_rng(0)
    X = data.score[:, None] + random.normal(size=(len(data.y), 10))
    model, grid = LGBMRanker(n_estimators=100, verbose=-1), {"estimator__num_leaves": [15, 31]}
    run = GridSearchCV(QueryRanker(model), grid, scoring=TEN, cv=QueryKFold(2), refit=False)
    methods = {name: timed(getattr(LGBMRanker, name)) for name in ("fit", "predict")}
    with patch.multiple(LGBMRanker, **methods):
        start = time.perf_counter()
        run.fit(X, data.y, groups=data.groups)
        total = time.perf_counter() - start
    check("GridSearchCV, ten metrics: % beside fit and predict", 100 * (1 - sum(spent) / total), 2)


def main() -> None:
    data = make(SHAPES["30,000 x 120"](3))
    many_metrics(data)
    ties(data, "30,000 x 120")
    ties(make(SHAPES["300,000 x 10"](3)), "300,000 x 10")
    tied_lists()
    ids(data)
    small_call()
    imports()
    unrelated_code()
    splits()
    ranker()
    text_ids()
    memory()
    comparison()
    cross_validation()
    search(make(SHAPES["30,000 x 120"](10)))


if __name__ == "__main__":
    main()
