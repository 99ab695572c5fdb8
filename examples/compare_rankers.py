"""Test whether two rankers differ significantly.

Trains two rankers, prints a report for the second, compares both on each query and saves two plots.
Without ``--data``, it uses the web search queries that the package contains.

    python compare_rankers.py
    python compare_rankers.py --data rank.train --query rank.train.query --out plots
    python compare_rankers.py --data mslr/Fold1/train.txt --rankers boosting lightgbm
"""

import argparse
from functools import partial
from importlib import import_module
from pathlib import Path

import numpy as np
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import Ridge

from sklearn_rankscore import (
    CutoffCurveDisplay,
    QueryDeltaDisplay,
    QueryKFold,
    QueryRanker,
    compare,
    cross_val_query_scores,
    load_lambdarank,
    load_letor,
    ranking_report,
)

FOLDS = QueryKFold(5)
METRICS = ["ndcg@5", "ndcg@10", "map@10", "mrr"]


def boosting():
    """Gradient boosting of scikit-learn, a pointwise model."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    return HistGradientBoostingRegressor(
        max_iter=60, learning_rate=0.05, max_leaf_nodes=15, random_state=0
    )


def lightgbm():
    return import_module("lightgbm").LGBMRanker(n_estimators=100, random_state=0, verbose=-1)


def xgboost():
    return import_module("xgboost").XGBRanker(n_estimators=100, random_state=0)


RANKERS = {
    "ridge": partial(Ridge, 300),
    "boosting": boosting,
    "lightgbm": lightgbm,
    "xgboost": xgboost,
}


def read(data, query):
    """Return X, y and query ids from an svmlight file or a directory with a file ``*.train``."""
    if data is None:
        return load_lambdarank(return_X_y=True)
    if data.is_dir():
        data = next(data.glob("*.train"))
    if query is None:
        return load_letor(data)
    sizes = np.loadtxt(query, dtype=int)
    X, y = load_svmlight_file(data)
    return X.toarray(), y, np.repeat(np.arange(len(sizes)), sizes)


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="svmlight file, or a directory with *.train")
    parser.add_argument("--query", type=Path, help="file of query sizes, if DATA has no qid:")
    parser.add_argument("--rankers", nargs=2, choices=RANKERS, default=["ridge", "boosting"])
    parser.add_argument("--out", type=Path, default=Path(), help="directory for the plots")
    parser.add_argument("--jobs", type=int, help="number of folds processed in parallel")
    return parser.parse_args(arguments)


def cross_validate(rankers, X, y, groups, n_jobs):
    """Return the scores of every query, each from a model that was not trained on it."""
    scores = {}
    for name, ranker in rankers.items():
        print(f"cross-validating {name} …", flush=True)
        scores[name] = cross_val_query_scores(
            ranker, X, y, groups=groups, cv=FOLDS, metrics=METRICS, n_jobs=n_jobs, verbose=10
        )
    return scores


def fit(rankers, X, y, groups):
    for name, ranker in rankers.items():
        print(f"training {name} on {len(y):,} documents …", flush=True)
        ranker.fit(X, y, groups=groups)


def save(plots, out):
    out.mkdir(parents=True, exist_ok=True)
    for name, display in plots.items():
        display.figure_.savefig(out / name, dpi=150)
        print(f"saved {out / name}")


def main(arguments=None):
    given = parse(arguments)
    X, y, groups = read(given.data, given.query)
    rankers = {name: QueryRanker(RANKERS[name]()) for name in given.rankers}
    scores = cross_validate(rankers, X, y, groups, given.jobs)
    train, test = next(FOLDS.split(X, y, groups))
    fit(rankers, X[train], y[train], groups[train])

    X, y, groups = X[test], y[test], groups[test]
    last = given.rankers[-1]
    print(f"\n{last}, evaluated on one fifth of the queries\n")
    print(ranking_report(y, rankers[last].predict(X), groups=groups, random_state=0))
    print("\nAll queries, each scored by a model that was not trained on it\n")
    print(compare(scores, random_state=0), end="\n\n")
    curve = CutoffCurveDisplay.from_estimator(rankers, X, y, groups=groups, random_state=0)
    delta = QueryDeltaDisplay.from_query_scores(scores, metric="ndcg@10", random_state=0)
    save({"cutoff_curve.png": curve, "query_delta.png": delta}, given.out)


if __name__ == "__main__":
    main()
