"""A small ranker of each boosting library."""

from importlib import import_module

from lightgbm import LGBMRanker
from xgboost import XGBRanker

LGBM = LGBMRanker(n_estimators=30, num_leaves=7, verbose=-1, n_jobs=1)
XGB = XGBRanker(n_estimators=30, max_depth=3, n_jobs=1)


def make_catboost_ranker(**params):
    return import_module("catboost").CatBoostRanker(
        verbose=0, thread_count=1, allow_writing_files=False, **params
    )


def make_ranker(library):
    if library == "catboost":
        return make_catboost_ranker(iterations=30, depth=3, random_seed=0)
    return {"lightgbm": LGBM, "xgboost": XGB}[library]
