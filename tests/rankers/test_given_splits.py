"""Splits of the given rows inside of a QueryRanker, whose rows are in any order."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor, StackingRegressor
from sklearn.feature_selection import SelectFromModel
from sklearn.linear_model import LassoCV, Ridge
from sklearn.model_selection import GridSearchCV, PredefinedSplit
from sklearn.pipeline import make_pipeline
from small_rankers import LGBM

from sklearn_rankscore import (
    QueryKFold,
    QueryRanker,
    QueryShuffleSplit,
    QueryTimeSeriesSplit,
    make_ranking,
)

ALPHAS = [0.001, 0.01, 0.1]


@pytest.fixture(scope="module")
def rows():
    X, y, q = make_ranking(n_queries=60, n_features=8, random_state=0)
    order = np.random.default_rng(1).permutation(len(y))
    return X[order], y[order], q[order]


def splits(way, rows):
    """A splitter for `QueryRanker`, and the same splits for a model without it."""
    X, y, q = rows
    listed = list(QueryKFold(3).split(X, y, groups=q))
    if way == "list":
        return listed, listed
    if way == "masks":
        masks = [tuple(np.isin(np.arange(len(y)), part) for part in split) for split in listed]
        return masks, listed
    if way == "PredefinedSplit":
        return PredefinedSplit(q % 3), PredefinedSplit(q % 3)
    cv = QueryTimeSeriesSplit(3, times=np.random.default_rng(3).permutation(60)[q].astype(float))
    return cv, list(cv.split(X, y, groups=q))


WAYS = pytest.mark.parametrize("way", ["list", "masks", "PredefinedSplit", "times"])


@WAYS
def test_a_pointwise_model_is_fitted_to_the_given_rows(way, rows):
    X, y, q = rows
    cv, same = splits(way, rows)
    lasso = QueryRanker(LassoCV(cv=cv, alphas=ALPHAS)).fit(X, y, groups=q).estimator_
    expected = LassoCV(cv=same, alphas=ALPHAS).fit(X, y)
    np.testing.assert_allclose(lasso.mse_path_, expected.mse_path_, rtol=1e-9)
    search = GridSearchCV(Ridge(), {"alpha": [1, 100]}, cv=cv, scoring="r2")
    search = QueryRanker(search).fit(X, y, groups=q).estimator_
    plain = GridSearchCV(Ridge(), {"alpha": [1, 100]}, cv=same, scoring="r2").fit(X, y)
    for name in ("split0_test_score", "split2_test_score"):
        np.testing.assert_allclose(search.cv_results_[name], plain.cv_results_[name], rtol=1e-9)


def test_a_stack_is_fitted_to_the_given_rows(rows):
    X, y, q = rows
    cv, same = splits("list", rows)
    members = [("ridge", Ridge()), ("stiff", Ridge(1e4))]
    stack = QueryRanker(StackingRegressor(members, cv=cv)).fit(X, y, groups=q)
    expected = StackingRegressor(members, cv=same).fit(X, y)
    np.testing.assert_allclose(stack.predict(X), expected.predict(X), rtol=1e-9)


def test_results_by_row_are_in_the_order_of_the_rows(rows):
    X, y, q = rows
    forest = RandomForestRegressor(30, oob_score=True, random_state=0, n_jobs=1)
    fitted = QueryRanker(forest).fit(X, y, groups=q)
    np.testing.assert_array_equal(
        fitted.estimator_.oob_prediction_, forest.fit(X, y).oob_prediction_
    )
    assert fitted.n_queries_ == 60


def selecting(cv):
    return make_pipeline(SelectFromModel(LassoCV(cv=cv, alphas=ALPHAS)), LGBM)


@WAYS
def test_splits_are_renumbered_where_a_ranker_needs_other_rows(way, rows):
    X, y, q = rows
    cv, same = splits(way, rows)
    pipe = QueryRanker(selecting(cv)).fit(X, y, groups=q).estimator_
    expected = LassoCV(cv=same, alphas=ALPHAS).fit(X, y)
    np.testing.assert_allclose(pipe[0].estimator_.mse_path_, expected.mse_path_, rtol=1e-9)


@pytest.mark.parametrize("option", ["max_queries", "early_stopping"])
def test_splits_of_some_of_the_queries(option, rows):
    X, y, q = rows
    cv, _ = splits("list", rows)
    sizes = {"max_queries": {"train_size": 40}, "early_stopping": {"test_size": 20}}[option]
    options = {
        "max_queries": {"max_queries": 40},
        "early_stopping": {"early_stopping": "ndcg@10", "validation_fraction": 20},
    }[option]
    ranker = QueryRanker(selecting(cv), random_state=0, **options).fit(X, y, groups=q)
    first = {query: row for row, query in reversed(list(enumerate(q)))}
    codes = np.array([first[query] for query in q])
    gathered = np.argsort(codes, kind="stable")
    ((chosen, _),) = QueryShuffleSplit(1, random_state=0, **sizes).split(X, qid=codes[gathered])
    kept = gathered[chosen].tolist()
    same = [tuple([kept.index(r) for r in part if r in kept] for part in split) for split in cv]
    expected = LassoCV(cv=same, alphas=ALPHAS).fit(X[kept], y[kept])
    lasso = ranker.estimator_[0].estimator_
    np.testing.assert_allclose(lasso.mse_path_, expected.mse_path_, rtol=1e-9)


@pytest.mark.parametrize("refit_all", [False, True])
def test_a_splitter_by_query_splits_the_queries_that_are_not_held_out(refit_all, rows):
    X, y, q = rows
    ranker = QueryRanker(
        selecting(QueryKFold(3)), early_stopping="ndcg@10", refit_all=refit_all, random_state=0
    ).fit(X, y, groups=q)
    assert ranker.estimator_[0].estimator_.mse_path_.shape == (3, 3)
