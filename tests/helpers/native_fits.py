"""Boosters used directly, with their own parameters for queries, weights and rounds."""

from importlib import import_module

import lightgbm
import numpy as np
import xgboost
from sklearn.base import clone
from training_rounds import sizes_of

from sklearn_rankscore import QueryShuffleSplit, evaluate

RANKERS = ("LGBMRanker", "XGBRanker", "CatBoostRanker")
POINTWISE = tuple(
    library + kind
    for library in ("LGBM", "XGB", "CatBoost")
    for kind in ("Regressor", "Classifier")
)
N_ROUNDS, N_WITHOUT = 25, 3
PARAMS = {
    "L": {"num_leaves": 7, "min_child_samples": 5, "verbose": -1, "n_jobs": 1},
    "X": {"max_depth": 3, "n_jobs": 1},
    "C": {"depth": 3, "verbose": 0, "thread_count": 1, "allow_writing_files": False},
}
START = {"L": "init_score", "X": "base_margin", "C": "baseline"}


def gather(qid, *arrays):
    """Queries in the order of their first rows, numbered in that order: numbers, other arrays."""
    _, first, codes = np.unique(qid, return_index=True, return_inverse=True)
    order = np.argsort(first[codes], kind="stable")
    numbers = np.unique(first[codes][order], return_inverse=True)[1]
    return [numbers, *(None if array is None else array[order] for array in arrays)]


def make(name, n_rounds=N_ROUNDS, **params):
    """An estimator of LightGBM, XGBoost or CatBoost; the first letter of a name tells which."""
    if name[0] == "C":
        module, rounds = import_module("catboost"), {"iterations": n_rounds}
    else:
        module, rounds = {"L": lightgbm, "X": xgboost}[name[0]], {"n_estimators": n_rounds}
    # LightGBM's default fills a table of a million numbers for each fit
    loss = {"objective": "rank_xendcg"} if name == "LGBMRanker" else {}
    options = {"learning_rate": 0.3, **PARAMS[name[0]], **loss, **rounds, **params}
    return getattr(module, name)(**options)


def is_ranker(model):
    return type(model).__name__.endswith("Ranker")


def fit(model, X, y, ids, weights=None, start=None, **params):
    """The model on rows gathered by query; a pointwise model takes the rows unchanged."""
    letter = type(model).__name__[0]
    if is_ranker(model):
        ids, X, y, weights, start = gather(ids, X, y, weights, start)
        first = np.unique(ids, return_index=True)[1]
        given = {
            "L": {"group": sizes_of(ids), "sample_weight": weights},
            "X": {"qid": ids, "sample_weight": None if weights is None else weights[first]},
            "C": {"group_id": ids, "group_weight": weights},
        }[letter]
    else:
        given = {"sample_weight": weights}
    if start is not None:
        given[START[letter]] = start
    return clone(model).fit(X, y, **given, **params)


def predict_rounds(model, X, n, **params):
    """Scores of the first n rounds: the expected class of a classifier."""
    name = type(model).__name__
    limit = {"L": {"num_iteration": n}, "X": {"iteration_range": (0, n)}, "C": {"ntree_end": n}}
    if name.endswith("Classifier"):
        return model.predict_proba(X, **limit[name[0]]) @ model.classes_
    return model.predict(X, **limit[name[0]], **params)


def n_rounds_of(model):
    """All rounds of a fitted model, those after the best one included."""
    return {
        "L": lambda: model.booster_.num_trees(),
        "X": lambda: model.get_booster().num_boosted_rounds(),
        "C": lambda: model.tree_count_,
    }[type(model).__name__[0]]()


def log_of(model):
    """The values of each metric on the last evaluation set, round by round."""
    sets = {
        "L": lambda: model.evals_result_,
        "X": lambda: model.evals_result(),
        "C": lambda: model.get_evals_result(),
    }[type(model).__name__[0]]()
    return next(reversed(sets.values()))


def hold_out(model, *data, ids, seed=0, size=0.3):
    """Rows to train on and rows to watch, in the order in which the model is given them.

    Each is a list: the ids, then the other arrays.
    """
    data = gather(ids, *data) if is_ranker(model) else [ids, *data]
    cv = QueryShuffleSplit(1, test_size=size, random_state=seed, skip_constant_queries=True)
    ((train, watched),) = cv.split(data[1], data[2], data[0])
    return [[None if a is None else a[rows] for a in data] for rows in (train, watched)]


def best_number_of_rounds(scores_after, y, ids, metric, weights=None, n_without=N_WITHOUT):
    """The number of rounds after which a metric of the predictions was best.

    `scores_after(n)` are those of n rounds.
    """
    best, value_of_best = 0, -np.inf
    for n in range(1, N_ROUNDS + 1):
        values = evaluate(y, scores_after(n), metric, groups=ids, sample_weight=weights)
        if (value := next(iter(values.values()))) > value_of_best:
            best, value_of_best = n, value
        elif n - best >= n_without:
            break
    return best
