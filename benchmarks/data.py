"""Data of the benchmarks: lengths of queries, labels, and scores as models give them."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

# the threads of LightGBM and XGBoost sleep while they wait for work: by default they spin for
# milliseconds after a call, which slows down what is measured next, and makes their calls no faster
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

SEED = 0
N_FEATURES = 8
TRAINING_DOCUMENTS = 200_000


@dataclass
class Data:
    y: np.ndarray
    score: np.ndarray
    sizes: np.ndarray

    @property
    def groups(self) -> np.ndarray:
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    @property
    def tied_share(self) -> float:
        """Return the share of documents whose score another document of their query has."""
        groups = self.groups
        order = np.lexsort((self.score, groups))
        score, groups = self.score[order], groups[order]
        equal = (score[1:] == score[:-1]) & (groups[1:] == groups[:-1])
        tied = np.zeros(len(score), dtype=bool)
        tied[1:] |= equal
        tied[:-1] |= equal
        return float(tied.mean())

    def first_queries(self, documents: int) -> Data:
        """Return the first queries, with about this many documents, for slower libraries."""
        n = max(1, int(np.searchsorted(np.cumsum(self.sizes), documents)))
        rows = int(self.sizes[:n].sum())
        return Data(self.y[:rows], self.score[:rows], self.sizes[:n])


def around(n_queries: int, length: int) -> np.ndarray:
    return np.random.default_rng(1).integers(length * 2 // 3, length * 4 // 3 + 1, n_queries)


def lognormal(n_queries: int) -> np.ndarray:
    """Return query lengths as in public ranking sets: 1 to about 1,250, a median of 110."""
    lengths = np.random.default_rng(1).lognormal(np.log(110), 0.7, n_queries).astype(np.intp)
    lengths[:: n_queries // max(1, n_queries // 50)] = 1
    return np.clip(lengths, 1, 1_250)


def zipf(total: int, longest: int) -> np.ndarray:
    """Return query lengths longest / 1, longest / 2, …, 1, repeated up to the given total."""
    sizes = np.tile(longest // np.arange(1, longest + 1), 1 + total // longest)
    return np.random.default_rng(1).permutation(sizes[: np.searchsorted(np.cumsum(sizes), total)])


SHAPES: dict[str, Callable[[int], np.ndarray]] = {
    "30,000 x 120": lambda small: around(30_000 // small, 120),
    "300,000 x 10": lambda small: around(300_000 // small, 10),
    "3,000 x 1,200": lambda small: around(3_000 // small, 1_200),
    "30,000 lognormal": lambda small: lognormal(30_000 // small),
    "50 x 100,000": lambda small: around(max(2, 50 // small), 100_000),
    "Zipf 1 .. 100,000": lambda small: zipf(3_000_000 // small, 100_000 // small),
}


def make(sizes: np.ndarray, seed: int = SEED) -> Data:
    """Return labels 0 to 4 and noisy scores, of which few are tied."""
    random = np.random.default_rng(seed)
    n = int(sizes.sum())
    y = np.minimum(random.geometric(0.5, n) - 1, 4).astype(np.int64)
    # float32 values, so that libraries in single precision obtain the same order; ties are rare
    return Data(y, (y + random.normal(0, 2, n)).astype(np.float32).astype(np.float64), sizes)


def with_scores(data: Data, names: list[str]) -> dict[str, Data]:
    """Return the data with each of the given :data:`SCORES`."""
    X = _features(data) if any(name in _MODELS for name in names) else None
    return {name: replace(data, score=_scores(data, name, X)) for name in names}


def _features(data: Data) -> np.ndarray:
    """Return features of which one is rounded and one binary."""
    random = np.random.default_rng(SEED)
    noise = random.normal(0, 2 + 0.3 * np.arange(N_FEATURES), (len(data.y), N_FEATURES))
    X = (data.y[:, None] + noise).astype(np.float32)
    X[:, -2], X[:, -1] = np.round(X[:, -2]), X[:, -1] > 1
    return X


def _scores(data: Data, kind: str, X: np.ndarray | None) -> np.ndarray:
    if kind in _MODELS:
        return np.asarray(_MODELS[kind](data.first_queries(TRAINING_DOCUMENTS), X), np.float64)
    return _TRANSFORMS[kind](data.score)


def _lightgbm(rounds: int) -> Callable[[Data, np.ndarray], np.ndarray]:
    def predict(training: Data, X: np.ndarray) -> np.ndarray:
        import lightgbm as lgb

        params = {"objective": "lambdarank", "verbosity": -1, "num_leaves": 31, "num_threads": 2}
        n = len(training.y)
        sizes = training.sizes if training.sizes.max() <= 10_000 else [5_000] * (n // 5_000)
        n = int(np.sum(sizes))
        data = lgb.Dataset(X[:n], training.y[:n], group=sizes)
        return np.asarray(lgb.train(params, data, rounds).predict(X))

    return predict


def _xgboost(training: Data, X: np.ndarray) -> np.ndarray:
    import xgboost as xgb

    matrix = xgb.DMatrix(X[: len(training.y)], training.y)
    matrix.set_group(training.sizes)
    booster = xgb.train({"objective": "rank:ndcg", "nthread": 2}, matrix, 100)
    return np.asarray(booster.predict(xgb.DMatrix(X)))


def _linear(training: Data, X: np.ndarray) -> np.ndarray:
    from sklearn.linear_model import Ridge

    return np.asarray(Ridge().fit(X[: len(training.y)], training.y).predict(X))


_MODELS: dict[str, Callable] = {
    "LightGBM, 100 rounds": _lightgbm(100),
    "LightGBM, 20 rounds": _lightgbm(20),
    "LightGBM, 5 rounds": _lightgbm(5),
    "LightGBM, 1 round": _lightgbm(1),
    "XGBoost, 100 rounds": _xgboost,
    "linear model": _linear,
}
_TRANSFORMS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "few ties": lambda score: score,
    "rounded to 0.1": lambda score: np.round(score, 1),
    "rounded to 1": np.round,
    "all tied": np.zeros_like,
    # not among SCORES, because most of them are equal in single precision
    "probabilities near 1": lambda score: 1 / (1 + np.exp(-score - 12)),
}
SCORES = ["few ties", *_MODELS, "rounded to 0.1", "rounded to 1", "all tied"]


def machine() -> str:
    """Return the processor and the instruction sets that NumPy uses on it."""
    name = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        lines = [x for x in cpuinfo.read_text().splitlines() if x.startswith("model name")]
        name = lines[0].partition(":")[2].strip() if lines else name
    from numpy._core._multiarray_umath import __cpu_features__  # NumPy has no public name for it

    used = [feature for feature, usable in __cpu_features__.items() if usable]
    best = [f for f in ("NEON", "SVE", "AVX2", "AVX512_SKX", "AVX512_SPR") if f in used]
    return f"{name}; NumPy {np.__version__} with {', '.join(best) or 'its baseline'}"
