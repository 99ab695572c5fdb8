"""Query ids and weights reach searches and rankers inside of ensembles and selections."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import (
    BaggingRegressor,
    HistGradientBoostingRegressor,
    StackingRegressor,
    VotingRegressor,
)
from sklearn.feature_selection import RFE, SelectFromModel
from sklearn.linear_model import Lasso, LassoCV, Ridge, RidgeCV
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from small_rankers import LGBM, make_ranker

from sklearn_rankscore import NoGroupsError, QueryKFold, QueryRanker, make_ranking

RANKER = QueryRanker(clone(LGBM).set_params(n_estimators=5))
SPLITTERS = [QueryKFold(3), GroupKFold(3)]
ALPHAS = [0.1, 1e4, 1e6]
X, Y, IDS = make_ranking(n_queries=24, n_features=8, random_state=0)
ORDER = np.random.default_rng(0).permutation(len(Y))
X, Y = X[ORDER], Y[ORDER]
IDS, _ = pd.factorize(IDS[ORDER])  # GroupKFold divides the queries by the order of their ids
WEIGHTS = 1.0 + IDS % 5 * 4
WAYS = {
    "array": lambda X: (X, {"groups": IDS}),
    "column": lambda X: (pd.DataFrame(X).add_prefix("x").assign(qid=IDS), {}),
}

by_way = pytest.mark.parametrize("way", WAYS)
by_splitter = pytest.mark.parametrize("cv", SPLITTERS, ids=lambda cv: type(cv).__name__)
by_weights = pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])


def fit(model, way, X=X, weights=None):
    given, params = WAYS[way](X)
    fitted = QueryRanker(model).fit(given, Y, sample_weight=weights, **params)
    return fitted, fitted.predict(given)


def search(cv, model=None, **params):
    grid = {"alpha": ALPHAS} if model is None else {"estimator__num_leaves": [2, 15]}
    return GridSearchCV(
        Ridge() if model is None else model, grid,
        **{"scoring": "ndcg@10", "cv": cv, "error_score": "raise", **params},
    )  # fmt: skip


FINAL = {
    "a ranker": lambda cv: RANKER,
    "a ranker in a pipeline": lambda cv: make_pipeline(StandardScaler(), RANKER),
    "LassoCV": lambda cv: LassoCV(cv=cv),
    "RidgeCV": lambda cv: RidgeCV(ALPHAS, scoring="ndcg@10", cv=cv),
    "a search": search,
    "a search in a pipeline": lambda cv: make_pipeline(StandardScaler(), search(cv)),
    "a search over rankers": lambda cv: search(cv, RANKER),
    "a search of given splits": lambda cv: search(list(cv.split(X, Y, IDS))),
}


@by_weights
@by_way
@by_splitter
@pytest.mark.parametrize("name", FINAL)
def test_final_estimators_of_a_stack(name, cv, way, weights):
    members = [("ridge", Ridge()), ("lasso", Lasso(0.1))]
    final = FINAL[name](cv)
    fitted, predicted = fit(StackingRegressor(members, final, cv=cv), way, weights=weights)
    splits = list(cv.split(X, Y, IDS))
    params = {} if weights is None else {"sample_weight": weights}
    columns = [
        cross_val_predict(model, X, Y, cv=splits, params=params or None) for _, model in members
    ]
    features = [clone(model).fit(X, Y, **params).predict(X) for _, model in members]
    by_hand = QueryRanker(final).fit(np.column_stack(columns), Y, groups=IDS, **params)
    expected = by_hand.predict(np.column_stack(features))
    np.testing.assert_allclose(predicted, expected, rtol=1e-6, atol=1e-9)
    assert type(fitted.estimator_.final_estimator_) is type(final)
    assert type(fitted.estimator_.final_estimator) is type(final)


@by_weights
@by_way
@by_splitter
@pytest.mark.parametrize("model", [None, RANKER], ids=["pointwise", "ranker"])
def test_searches_in_a_vote_and_below_a_transformed_target(model, cv, way, weights):
    member = search(cv, model)
    _, alone = fit(member, way, weights=weights)
    ridge = Ridge().fit(X, Y, weights).predict(X)
    vote = VotingRegressor([("search", member), ("ridge", Ridge())])
    _, predicted = fit(vote, way, weights=weights)
    np.testing.assert_allclose(predicted, (alone + ridge) / 2, rtol=1e-6, atol=1e-9)
    _, predicted = fit(TransformedTargetRegressor(member), way, weights=weights)
    np.testing.assert_allclose(predicted, alone, rtol=1e-6, atol=1e-9)


@by_weights
@by_way
@by_splitter
@pytest.mark.parametrize("scoring", ["ndcg@10", ["ndcg@10", "mrr"], None], ids=str)
def test_searches_that_are_members_of_a_stack(scoring, cv, way, weights):
    refit = scoring[0] if isinstance(scoring, list) else True
    member = search(cv, scoring=scoring, refit=refit)
    stack = StackingRegressor([("search", member)], Ridge(), cv=cv)
    _, predicted = fit(stack, way, weights=weights)
    column = np.empty(len(Y))
    for train, test in cv.split(X, Y, IDS):
        part = None if weights is None else weights[train]
        alone = QueryRanker(member).fit(X[train], Y[train], IDS[train], sample_weight=part)
        column[test] = alone.predict(X[test])
    final = Ridge().fit(column[:, None], Y, weights)
    _, alone = fit(member, way, weights=weights)
    np.testing.assert_allclose(predicted, final.predict(alone[:, None]), rtol=1e-6, atol=1e-9)


def test_a_model_that_stops_by_its_loss_beside_a_ranker_and_weights():
    boosted = HistGradientBoostingRegressor(max_iter=3)
    vote = VotingRegressor([("ranker", RANKER), ("boosted", boosted)])
    _, predicted = fit(vote, "array", weights=WEIGHTS)
    _, alone = fit(RANKER, "array", weights=WEIGHTS)
    expected = (alone + boosted.fit(X, Y, WEIGHTS).predict(X)) / 2
    np.testing.assert_allclose(predicted, expected, rtol=1e-9)


@by_weights
@by_way
@pytest.mark.parametrize("last", [Ridge(), RANKER, make_pipeline(RANKER)], ids=type)
@pytest.mark.parametrize("kind", [RFE, SelectFromModel])
def test_features_selected_by_a_ranker_before_the_last_step(kind, last, way, weights):
    selection = kind(RANKER).fit(StandardScaler().fit_transform(X), Y, groups=IDS)
    pipe = make_pipeline(StandardScaler(), kind(RANKER), last)
    fitted, predicted = fit(pipe, way, weights=weights)
    np.testing.assert_array_equal(fitted.estimator_[1].get_support(), selection.get_support())
    chosen = selection.transform(StandardScaler().fit_transform(X))
    _, expected = fit(last, "array", chosen, weights)
    np.testing.assert_allclose(predicted, expected, rtol=1e-6, atol=1e-9)


def test_early_stopping_after_features_selected_by_a_ranker():
    model = clone(LGBM).set_params(n_estimators=30)
    pipe = make_pipeline(RFE(RANKER, n_features_to_select=5), model)
    settings = {"early_stopping": "ndcg@10", "n_iter_no_change": 3, "random_state": 0}
    fitted = QueryRanker(pipe, **settings).fit(X, Y, groups=IDS)
    assert fitted.estimator_[0].get_support().sum() == 5
    assert fitted.n_iter_ <= 30


@by_way
@pytest.mark.parametrize("wrap", [lambda r: r, lambda r: make_pipeline(StandardScaler(), r)])
def test_a_ranker_in_a_ranker_takes_weights(wrap, way):
    _, predicted = fit(wrap(RANKER), way, weights=WEIGHTS)
    _, expected = fit(wrap(RANKER.estimator), way, weights=WEIGHTS)
    _, plain = fit(wrap(RANKER), way)
    np.testing.assert_array_equal(predicted, expected)
    assert np.abs(predicted - plain).max() > 0.01


AROUND = {
    "a selection": lambda model: make_pipeline(SelectFromModel(model), Ridge()),
    "a selection by a pipeline": lambda model: make_pipeline(
        SelectFromModel(make_pipeline(StandardScaler(), model)), model
    ),
    "an elimination": lambda model: make_pipeline(RFE(model), Ridge()),
    "a transformed target": TransformedTargetRegressor,
    "an ensemble": BaggingRegressor,
}


@pytest.mark.parametrize("library", ["lightgbm", "xgboost", "catboost"])
@pytest.mark.parametrize("around", AROUND)
def test_rankers_inside_without_ids_are_refused(around, library):
    ranker = make_ranker(library)
    name = type(ranker).__name__
    message = rf"reached {name}.fit: wrap the ranker as QueryRanker\({name}\("
    with pytest.raises(NoGroupsError, match=message):
        QueryRanker(AROUND[around](ranker)).fit(X, Y, groups=IDS)


def test_rankers_inside_that_are_given_ids():
    order = np.argsort(IDS, kind="stable")
    model, ids = make_ranker("xgboost"), IDS[order]
    selection = RFE(model, n_features_to_select=3).fit(X[order], Y[order], qid=ids)
    ranker = QueryRanker(make_pipeline(RFE(model, n_features_to_select=3), Ridge()))
    ranker.fit(X[order], Y[order], groups=ids, rfe__qid=ids)
    np.testing.assert_array_equal(ranker.estimator_[0].support_, selection.support_)
