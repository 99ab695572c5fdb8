"""Tune a learning-to-rank model with scoring="ndcg@10", then evaluate it on held-out queries.

By default, a pointwise model is tuned on web search queries, which the package contains.
``--data FILE`` reads a LETOR file; ``--ranker lightgbm``, ``xgboost`` or ``catboost`` selects a
booster, if installed.
"""

# sphinx_gallery_thumbnail_path = "_static/thumb_tune.svg"

from __future__ import annotations

import argparse
import sys
import time
from typing import Any

import numpy as np
import sklearn
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.model_selection import GridSearchCV

from sklearn_rankscore import QueryKFold, QueryRanker, evaluate, load_lambdarank, load_letor

CUTOFFS = (1, 3, 5, 10)
# verbosity of the search: one line per fit
VERBOSE = 2


def ranker(name: str) -> tuple[Any, dict[str, list[Any]]]:
    """Return a ranker and its parameter grid."""
    if name == "hist":
        model = HistGradientBoostingRegressor(max_iter=60, learning_rate=0.05, random_state=0)
        return model, {"max_leaf_nodes": [7, 15]}
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
        return (
            *load_lambdarank(return_X_y=True, subset="train"),
            *load_lambdarank(return_X_y=True, subset="test"),
        )
    files = [file for file in (arguments.data, arguments.test) if file is not None]
    parts = load_letor(files, repeated_features="last")
    if arguments.test is not None:
        return tuple(array for part in parts for array in part)
    X, y, groups = parts[0]
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
