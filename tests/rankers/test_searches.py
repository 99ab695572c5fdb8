"""Searches over rankers and inside of them, with ids in the index, as groups= and by routing."""

import numpy as np
import pandas as pd
import pytest
from lightgbm import record_evaluation
from native_fits import fit, make
from ranking_rows import BY_ID, FRAME, IDS, INDEX, INDEXED, ROWS, X, Y, last
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.feature_selection import SelectFromModel
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from sklearn_rankscore import (
    QueryKFold,
    QueryRanker,
    lightgbm_metric,
    make_ranking_scorer,
    ndcg_score,
)

LGBM = make("LGBMRanker", 5)
RANKER = QueryRanker(LGBM)
CV, BY_GROUP = QueryKFold(2), GroupKFold(2)
SPLITS = list(CV.split(*ROWS))
WEIGHTS = 1.0 + 50 * (IDS % 3 == 0)
ROUTING = pytest.mark.parametrize("routing", [False, True], ids=["legacy", "routing"])
STOP = {"early_stopping": True, "validation_fraction": 0.3, "random_state": 0}


def mean_of_folds(alpha, splits):
    """The mean NDCG@10 over folds of a ridge regression."""
    values = []
    for train, test in splits:
        scores = Ridge(alpha).fit(X[train], Y[train]).predict(X[test])
        values.append(ndcg_score(Y[test], scores, groups=IDS[test], k=10))
    return np.mean(values)


# --- searches inside of a ranker

# X, arguments of fit, and names of the ids
WAYS = {
    "index": (INDEXED, {}, None),
    "column": (FRAME.assign(qid=IDS), {}, None),
    "array": (X, BY_ID, None),
    # the numbers of queries in the order of their first rows make other folds
    "two names": (FRAME.assign(user=IDS // 2, visit=IDS % 2), {}, ["user", "visit"]),
}
CASES = [  # a way, a splitter, and whether there are a pipeline and metadata routing
    *((way, CV, False, False) for way in WAYS),
    ("index", CV, True, False), ("index", CV, False, True), ("index", BY_GROUP, True, True),
    ("array", CV, True, True), ("array", BY_GROUP, True, False), ("array", BY_GROUP, False, True),
]  # fmt: skip


@pytest.mark.parametrize(("way", "cv", "piped", "routing"), CASES)
def test_a_search_inside_chooses_by_whole_queries(way, cv, piped, routing):
    (given, params, source), alphas = WAYS[way], [0.1, 1e4, 1e6]
    search = GridSearchCV(Ridge(), {"alpha": alphas}, scoring="ndcg@10", cv=cv, error_score="raise")
    model = make_pipeline("passthrough", search) if piped else search
    before = repr(model.get_params())
    with config_context(enable_metadata_routing=routing):
        fitted = QueryRanker(model, groups=source).fit(given, Y, **params)
    assert repr(model.get_params()) == before
    splits = list(cv.split(X, Y, pd.factorize(IDS)[0]))
    means = {alpha: mean_of_folds(alpha, splits) for alpha in alphas}
    best, inner = max(means, key=means.get), last(fitted.estimator_)
    assert inner.best_params_ == {"alpha": best}
    assert inner.best_score_ == pytest.approx(means[best], rel=1e-9)
    np.testing.assert_allclose(fitted.predict(given), Ridge(best).fit(X, Y).predict(X), rtol=1e-9)


def test_ids_reach_rankers_inside_of_a_ranker():
    weighted = fit(LGBM, *ROWS, WEIGHTS).predict(X)
    for model in (RANKER, make_pipeline("passthrough", RANKER)):
        fitted = QueryRanker(model).fit(*ROWS, sample_weight=WEIGHTS)
        np.testing.assert_array_equal(fitted.predict(X), weighted)
    alone, fitted = fit(LGBM, *ROWS), QueryRanker(TransformedTargetRegressor(RANKER)).fit(*ROWS)
    np.testing.assert_allclose(fitted.predict(X), alone.predict(X), rtol=1e-9)
    chosen = QueryRanker(make_pipeline(SelectFromModel(RANKER), LGBM)).fit(INDEXED, Y)
    support, importances = chosen.estimator_[0].get_support(), alone.feature_importances_
    np.testing.assert_array_equal(support, importances >= importances.mean())
    expected = fit(LGBM, X[:, support], Y, IDS).predict(X[:, support])
    np.testing.assert_array_equal(chosen.predict(INDEXED), expected)


def models_of_folds(ranker, **params):
    """The rankers that a cross-validation fits."""
    # a scorer takes the weights that scikit-learn would refuse if nobody requested them
    scorer = make_ranking_scorer("ndcg@10").set_score_request(sample_weight=True)
    return cross_validate(
        ranker, X, Y, cv=CV, scoring=scorer, error_score="raise", return_estimator=True,
        params=BY_ID | params,
    )["estimator"]  # fmt: skip


def test_weights_pass_through_a_ranker_to_a_search_inside():
    with config_context(enable_metadata_routing=True):
        model = Ridge().set_fit_request(sample_weight=True)
        scorer = make_ranking_scorer("ndcg@10").set_score_request(sample_weight=False)
        search = GridSearchCV(model, {"alpha": [1.0]}, cv=CV, scoring=scorer)
        ranker = QueryRanker(search).set_fit_request(sample_weight=True)
        folds = models_of_folds(ranker, sample_weight=WEIGHTS)
    for (train, _), fold in zip(SPLITS, folds, strict=True):
        expected = Ridge().fit(X[train], Y[train], sample_weight=WEIGHTS[train])
        np.testing.assert_allclose(fold.predict(X), expected.predict(X))


# --- parameters of fit in a search, with and without metadata routing


def search_of(ranker, routing, X=X, scoring="ndcg@10", **params):
    """The best ranker of a search; ids by routing, or in the index of y."""
    search = GridSearchCV(ranker, {}, cv=QueryKFold(2), error_score="raise", scoring=scoring)
    labels, ids = (Y, BY_ID) if routing else (pd.Series(Y, INDEX), {})
    with config_context(enable_metadata_routing=routing):
        return search.fit(X, labels, **ids, **params).best_estimator_


@ROUTING
def test_parameters_of_the_booster_arrive(routing):
    log = {}
    best = search_of(
        QueryRanker(LGBM, **STOP), routing, eval_metric=lightgbm_metric("mrr@10"), eval_at=[7],
        callbacks=[record_evaluation(log)],
    )  # fmt: skip
    assert list(log["valid_0"]) == ["ndcg@7", "mrr@10_rankscore"]
    assert best.estimator_.evals_result_ == log
    whole = X.copy()
    whole[:, 3] = np.digitize(X[:, 3], [-1, 0, 1])
    best = search_of(RANKER, routing, whole, categorical_feature=[3])
    expected = fit(LGBM, whole, Y, IDS, categorical_feature=[3])
    np.testing.assert_array_equal(best.predict(whole), expected.predict(whole))
    with pytest.raises(TypeError, match="eval_att"):
        search_of(RANKER, routing, eval_att=[1])


@ROUTING
@pytest.mark.parametrize("piped", [False, True])
def test_categories_of_catboost(routing, piped):
    """CatBoost has no metadata requests of its own."""
    model, keep = make("CatBoostRanker", 5), FunctionTransformer().set_output(transform="pandas")
    ranker = QueryRanker(make_pipeline(keep, model) if piped else model)
    name = ("catboostranker__" if piped and not routing else "") + "cat_features"
    best = search_of(ranker, routing, FRAME.assign(x3=IDS % 3), **{name: ["x3"]}).estimator_
    assert last(best).get_cat_feature_indices() == [3]


def test_requests_of_the_inner_ranker_are_honoured():
    requests = {"eval_metric": "my_metric", "init_score": False, "sample_weight": True}
    given = {"eval_at": [3], "sample_weight": WEIGHTS}
    with config_context(enable_metadata_routing=True):
        inner = clone(LGBM).set_fit_request(eval_at=True, **requests)
        scorer = make_ranking_scorer("ndcg@10").set_score_request(sample_weight=False)
        best = search_of(QueryRanker(inner, **STOP), True, scoring=scorer, my_metric="map", **given)
        with pytest.raises(TypeError, match="init_score"):
            search_of(QueryRanker(inner), True, init_score=np.zeros(len(Y)))
    assert list(best.estimator_.evals_result_["valid_0"]) == ["map@3", "ndcg@3"]
    expected = QueryRanker(LGBM, **STOP).fit(*ROWS, eval_metric="map", **given)
    np.testing.assert_array_equal(best.predict(X), expected.predict(X))


# what the ranker and QueryRanker request, and the metadata that the fit takes as weights
REQUESTED_WEIGHTS = {
    "declined": (None, False, None),
    "declined by the ranker alone": (False, True, None),
    "requested by the ranker": (True, None, "sample_weight"),
    "requested by the ranker alone": (True, False, "sample_weight"),
    "another name by the ranker": ("own", None, "own"),
    "undecided": (None, None, ValueError),
}


@pytest.mark.parametrize("case", REQUESTED_WEIGHTS)
def test_weights_are_those_that_are_requested(case):
    """The ranker's own request takes precedence over that of QueryRanker."""
    of_ranker, of_wrapper, weights = REQUESTED_WEIGHTS[case]
    metadata = {"sample_weight": WEIGHTS} | ({"own": 1.0 + IDS % 2} if weights == "own" else {})
    with config_context(enable_metadata_routing=True):
        inner = clone(LGBM).set_fit_request(sample_weight=of_ranker)
        ranker = QueryRanker(make_pipeline("passthrough", inner))
        ranker.set_fit_request(sample_weight=of_wrapper)
        if weights is ValueError:
            with pytest.raises(ValueError, match="sample_weight"):
                models_of_folds(ranker, **metadata)
            return
        folds = models_of_folds(ranker, **metadata)
    for (train, _), fold in zip(SPLITS, folds, strict=True):
        weight = None if weights is None else metadata[weights][train]
        expected = fit(LGBM, X[train], Y[train], IDS[train], weight)
        np.testing.assert_array_equal(fold.predict(X), expected.predict(X))
