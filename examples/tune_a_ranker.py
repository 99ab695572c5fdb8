"""Tune a learning-to-rank model with scoring="ndcg@10", then evaluate it on held-out queries.

By default, a pointwise model is tuned on synthetic data. ``--data FILE`` reads an svmlight file
with ``qid:``; ``--ranker lightgbm``, ``xgboost`` or ``catboost`` selects a booster, if installed.
"""

from __future__ import annotations

import argparse
import sys
import time
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from sklearn.datasets import load_svmlight_files
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.model_selection import GridSearchCV

from sklearn_rankscore import QueryKFold, QueryRanker, evaluate, make_ranking

CUTOFFS = (1, 3, 5, 10)
# verbosity of the search: one line per fit
VERBOSE = 2


def load(*paths: str) -> list[Any]:
    """Return features, labels and query ids of each file, with the same number of features."""
    parts = load_svmlight_files([normalized(path) for path in paths], query_id=True)
    for path, groups in zip(paths, parts[2::3], strict=True):
        if len(np.unique(groups)) < 2:
            sys.exit(f"{path} has no query ids: each line needs qid:ID after the label.")
    return [part.toarray() if hasattr(part, "toarray") else part for part in parts]


def normalized(path: str) -> BytesIO:
    """Return the file with the features of each line sorted and duplicates removed.

    scikit-learn requires sorted, unique features, which not all published files provide. Of
    duplicate features the last value is retained.
    """
    lines = []
    for line in Path(path).read_text().splitlines():
        label_and_qid, features = [], {}
        for field in line.partition("#")[0].split():
            name, _, value = field.partition(":")
            if name.isdigit() and value:
                features[int(name)] = value
            else:
                label_and_qid.append(field)
        lines.append(label_and_qid + [f"{i}:{features[i]}" for i in sorted(features)])
    return BytesIO("\n".join(" ".join(line) for line in lines if line).encode())


def ranker(name: str) -> tuple[Any, dict[str, list[Any]]]:
    """Return a ranker and its parameter grid."""
    if name == "hist":
        return HistGradientBoostingRegressor(max_iter=60, random_state=0), {
            "max_leaf_nodes": [7, 15],
            "learning_rate": [0.05, 0.1],
        }
    try:
        if name == "lightgbm":
            from lightgbm import LGBMRanker

            return LGBMRanker(n_estimators=60, verbose=-1, n_jobs=1), {
                "num_leaves": [7, 15],
                "learning_rate": [0.05, 0.1],
            }
        if name == "xgboost":
            from xgboost import XGBRanker

            return XGBRanker(n_estimators=60, n_jobs=1), {
                "max_depth": [3, 5],
                "learning_rate": [0.05, 0.1],
            }
        from catboost import CatBoostRanker

        return CatBoostRanker(
            iterations=60, verbose=0, thread_count=1, allow_writing_files=False
        ), {"depth": [3, 5], "learning_rate": [0.05, 0.1]}
    except ImportError:
        sys.exit(f"--ranker {name} needs the package {name}: pip install {name}")


def data(arguments: argparse.Namespace) -> tuple[Any, ...]:
    """Return features, labels and query ids of the training data and of the test data."""
    if arguments.data is None:
        X, y, groups = make_ranking(n_queries=300, shuffle=True, random_state=0)
    elif arguments.test is None:
        X, y, groups = load(arguments.data)
    else:
        return tuple(load(arguments.data, arguments.test))
    # without a test file, hold out every fourth query
    held_out = np.isin(groups, np.unique(groups)[::4])
    return X[~held_out], y[~held_out], groups[~held_out], X[held_out], y[held_out], groups[held_out]


def main() -> None:
    """Search, refit on all training queries, and print a table of scores on the test data."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", metavar="FILE", help="svmlight file with qid:")
    parser.add_argument("--test", metavar="FILE", help="svmlight file of held-out queries")
    parser.add_argument(
        "--ranker", default="hist", choices=["hist", "lightgbm", "xgboost", "catboost"]
    )
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=None, help="number of processes of the search")
    arguments = parser.parse_args()
    if arguments.test and not arguments.data:
        parser.error("--test needs --data")

    X, y, groups, X_test, y_test, groups_test = data(arguments)
    print(f"{len(y)} documents of {len(np.unique(groups))} queries for tuning")
    model, grid = ranker(arguments.ranker)

    # a single groups= is routed to the splitter, the ranker and the scorer
    sklearn.set_config(enable_metadata_routing=True)
    search = GridSearchCV(
        QueryRanker(model),
        {f"estimator__{name}": values for name, values in grid.items()},
        scoring=["ndcg@10", "ndcg@5"],
        refit="ndcg@10",
        cv=QueryKFold(arguments.folds),
        n_jobs=arguments.jobs,
        error_score="raise",
        verbose=VERBOSE,
    )
    start = time.perf_counter()
    search.fit(X, y, groups=groups)
    best = {name.removeprefix("estimator__"): v for name, v in search.best_params_.items()}
    print(f"search took {time.perf_counter() - start:.1f} s; best: {best}")
    print(f"cross-validated NDCG@10 {search.best_score_:.4f}\n")

    scores = evaluate(
        y_test,
        search.predict(X_test),
        [f"ndcg@{k}" for k in CUTOFFS] + [f"map@{k}" for k in CUTOFFS],
        groups=groups_test,
    )
    print(f"held out: {len(y_test)} documents of {len(np.unique(groups_test))} queries")
    print(f"{'k':>4}{'NDCG@k':>10}{'MAP@k':>10}")
    for k in CUTOFFS:
        print(f"{k:>4}{scores[f'ndcg@{k}']:>10.4f}{scores[f'map@{k}']:>10.4f}")


if __name__ == "__main__":
    main()
