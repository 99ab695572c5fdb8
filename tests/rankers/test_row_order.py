"""Queries keep the order of their first rows, on which boosters may depend."""

import numpy as np
import pytest
from lightgbm import LGBMRanker
from requires import requires
from xgboost import XGBRanker

from sklearn_rankscore import QueryRanker, make_ranking

OPTIONS = {"iterations": 20, "depth": 4, "verbose": 0, "thread_count": 1, "random_seed": 0}


@pytest.fixture(scope="module")
def contiguous():
    """Contiguous rows of queries whose ids are in no order."""
    X, y, groups = make_ranking(n_queries=40, random_state=0)
    ids = np.random.default_rng(1).permutation(40)[groups]
    assert (np.diff(ids[np.flatnonzero(np.diff(ids))]) < 0).any()
    return X, y, ids


@pytest.fixture(scope="module", params=["last row of a query", "interleaved queries"])
def out_of_place(request, contiguous):
    """Rows in another order, in which the first rows of the queries have the order of before."""
    _, _, ids = contiguous
    rows = np.arange(len(ids))
    if request.param == "last row of a query":
        moved = np.flatnonzero(ids == ids[0])[-1]
        return np.append(np.delete(rows, moved), moved)
    within = (
        rows
        - np.flatnonzero(np.append(True, np.diff(ids) != 0))[
            np.cumsum(np.append(False, np.diff(ids) != 0))
        ]
    )
    return np.lexsort((rows, within))


def models():
    catboost = requires("catboost")
    options = {**OPTIONS, "allow_writing_files": False}
    return {
        "has_time": catboost.CatBoostRanker(**options, has_time=True),
        "ordered": catboost.CatBoostRanker(
            **options, loss_function="QueryRMSE", boosting_type="Ordered"
        ),
        "lightgbm": LGBMRanker(n_estimators=20, num_leaves=7, n_jobs=1, verbose=-1, subsample=0.5,
                               subsample_freq=1),
        "xgboost": XGBRanker(n_estimators=20, max_depth=3, n_jobs=1, subsample=0.5),
    }  # fmt: skip


@pytest.mark.parametrize("name", ["has_time", "ordered", "lightgbm", "xgboost"])
def test_rows_out_of_place_join_their_query(name, contiguous, out_of_place):
    X, y, ids = contiguous
    ranker = QueryRanker(models()[name])
    expected = ranker.fit(X, y, groups=ids).predict(X)
    rows = out_of_place
    again = ranker.fit(X[rows], y[rows], groups=ids[rows]).predict(X)
    np.testing.assert_array_equal(again, expected)


@pytest.mark.parametrize("name", ["has_time", "ordered"])
def test_the_order_of_queries_matters_to_catboost(name, contiguous):
    """The reason for keeping it."""
    X, y, ids = contiguous
    ranker = QueryRanker(models()[name])
    order = np.argsort(ids, kind="stable")
    by_id = ranker.fit(X[order], y[order], groups=ids[order]).predict(X)
    assert np.abs(by_id - ranker.fit(X, y, groups=ids).predict(X)).max() > 0.01


def test_the_ids_do_not_decide_the_order(contiguous, out_of_place):
    X, y, ids = (values[out_of_place] for values in contiguous)
    ranker = QueryRanker(models()["has_time"])
    expected = ranker.fit(X, y, groups=ids).predict(X)
    for others in (ids.max() - ids, np.array([f"query {id}" for id in ids])):
        np.testing.assert_array_equal(ranker.fit(X, y, groups=others).predict(X), expected)
