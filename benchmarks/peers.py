"""NDCG@10 with exponential gain by other libraries, of which only the evaluation is timed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from data import Data


def lightgbm(data: Data, threads: int) -> Callable[[], float]:
    import lightgbm as lgb

    train = lgb.Dataset(np.zeros((len(data.y), 1)), data.y, group=data.sizes, init_score=data.score)
    params = {
        "objective": "none",
        "metric": "ndcg",
        "eval_at": [10],
        "num_threads": threads,
        "verbosity": -1,
    }
    booster = lgb.Booster(params, train)
    return lambda: booster.eval_train()[0][2]


def xgboost(data: Data, threads: int) -> Callable[[], float]:
    import xgboost as xgb

    params = {"objective": "rank:ndcg", "eval_metric": "ndcg@10", "nthread": threads}
    matrix = xgb.DMatrix(np.zeros((len(data.y), 1)), data.y, nthread=threads)
    matrix.set_group(data.sizes)
    matrix.set_base_margin(data.score)
    booster = xgb.Booster(params, [matrix])
    return lambda: float(booster.eval(matrix).rpartition(":")[2])


def catboost(data: Data, threads: int) -> Callable[[], float]:
    from catboost.utils import eval_metric

    groups = data.groups
    return lambda: eval_metric(
        data.y, data.score, "NDCG:top=10;type=Exp", group_id=groups, thread_count=threads
    )[0]


def ranx(data: Data, threads: int) -> Callable[[], float]:
    import numba
    from ranx import Qrels, Run, evaluate

    numba.set_num_threads(threads)
    qrels, run = as_dicts(data)
    qrels, run = Qrels(qrels), Run({q: d for q, d in run.items() if q in qrels})
    # queries without relevant documents have no qrels here; our function scores them as 1
    empty = len(data.sizes) - len(qrels.qrels)
    return lambda: (
        (evaluate(qrels, run, "ndcg_burges@10") * len(qrels.qrels) + empty) / len(data.sizes)
    )


def pytrec_eval(data: Data, threads: int) -> Callable[[], float]:
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


def scikit_learn(data: Data, threads: int) -> Callable[[], float]:
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
PEERS: dict[str, tuple[Callable[[Data, int], Callable[[], float]], int]] = {
    "LightGBM": (lightgbm, 10**9),
    "XGBoost": (xgboost, 10**9),
    "CatBoost": (catboost, 10**9),
    "ranx": (ranx, 300_000),
    "pytrec_eval": (pytrec_eval, 300_000),
    "scikit-learn": (scikit_learn, 300_000),
}
