"""Searches over rankers and inside of them, with ids in the index, as groups= and by routing."""

import numpy as np
import pandas as pd
import pytest
from gathered_rows import gather
from lightgbm import record_evaluation
from native_fits import fit, make
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import VotingRegressor
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_selection import SelectFromModel
from sklearn.linear_model import Ridge
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from sklearn_rankscore import (
    QueryKFold,
    QueryRanker,
    lightgbm_metric,
    make_ranking,
    make_ranking_scorer,
    ndcg_score,
)

X, Y, IDS = make_ranking(n_queries=24, n_features=8, random_state=0)
ORDER = np.random.default_rng(0).permutation(len(Y))
X, Y, IDS = X[ORDER], Y[ORDER], IDS[ORDER]
FRAME = pd.DataFrame(X).add_prefix("x")
INDEX = pd.Index(IDS, name="qid")
INDEXED = FRAME.set_index(INDEX)
LGBM = make("LGBMRanker", 5)
RANKER = QueryRanker(LGBM)
CV = QueryKFold(3)
SPLITS = list(CV.split(X, Y, IDS))
WEIGHTS = 1.0 + IDS % 5
ROUTING = pytest.mark.parametrize("routing", [False, True], ids=["legacy", "routing"])


def mean_of_folds(fit_rows, splits=SPLITS):
    """The mean NDCG@10 over folds of what a function fits to the rows of each."""
    values = []
    for train, test in splits:
        scores = fit_rows(train).predict(X[test])
        values.append(ndcg_score(Y[test], scores, groups=IDS[test], k=10))
    return np.mean(values)


def ridge(alpha):
    return lambda train: Ridge(alpha).fit(X[train], Y[train])


# --- searches inside of a ranker

WAYS = {
    "index": lambda: (INDEXED, {}, None),
    "column": lambda: (FRAME.assign(qid=IDS), {}, None),
    "array": lambda: (X, {"groups": IDS}, None),
    "qid": lambda: (X, {"qid": IDS}, None),
    "frame and groups": lambda: (FRAME, {"groups": IDS}, None),
    "name": lambda: (FRAME.assign(session=IDS), {}, "session"),
    "two names": lambda: (FRAME.assign(user=IDS // 2, visit=IDS % 2), {}, ["user", "visit"]),
}


@ROUTING
@pytest.mark.parametrize("piped", [False, True])
@pytest.mark.parametrize("cv", [CV, GroupKFold(3)], ids=["QueryKFold", "GroupKFold"])
@pytest.mark.parametrize("way", WAYS)
def test_a_search_inside_chooses_by_whole_queries(way, cv, piped, routing):
    if isinstance(cv, GroupKFold) and way == "two names":
        return  # the numbers of queries in the order of their first rows make other folds
    given, params, source = WAYS[way]()
    alphas = [0.1, 1e4, 1e6]
    search = GridSearchCV(Ridge(), {"alpha": alphas}, scoring="ndcg@10", cv=cv, error_score="raise")
    model = make_pipeline("passthrough", search) if piped else search
    before = repr(model.get_params())
    with config_context(enable_metadata_routing=routing):
        fitted = QueryRanker(model, groups=source).fit(given, Y, **params)
    assert repr(model.get_params()) == before
    inner = fitted.estimator_[-1] if piped else fitted.estimator_
    splits = list(cv.split(X, Y, pd.factorize(IDS)[0]))
    means = {alpha: mean_of_folds(ridge(alpha), splits) for alpha in alphas}
    best = max(means, key=means.get)
    assert inner.best_params_ == {"alpha": best}
    assert inner.best_score_ == pytest.approx(means[best], rel=1e-9)
    np.testing.assert_allclose(fitted.predict(given), Ridge(best).fit(X, Y).predict(X), rtol=1e-9)


def test_ids_in_the_index_reach_rankers_votes_and_selections():
    alone, linear = fit(LGBM, X, Y, IDS).predict(X), Ridge().fit(X, Y).predict(X)
    weighted = fit(LGBM, X, Y, IDS, WEIGHTS).predict(X)
    for model in (RANKER, make_pipeline("passthrough", RANKER)):
        fitted = QueryRanker(model).fit(X, Y, groups=IDS, sample_weight=WEIGHTS)
        np.testing.assert_array_equal(fitted.predict(X), weighted)
    fitted = QueryRanker(TransformedTargetRegressor(RANKER)).fit(X, Y, groups=IDS)
    np.testing.assert_allclose(fitted.predict(X), alone, rtol=1e-9)
    vote = QueryRanker(VotingRegressor([("ranker", RANKER), ("ridge", Ridge())]))
    vote.fit(INDEXED, Y)
    np.testing.assert_allclose(vote.predict(INDEXED), (alone + linear) / 2, rtol=1e-9)
    with config_context(enable_metadata_routing=True):  # which reaches what requests groups
        vote.fit(X, Y, groups=IDS)
    np.testing.assert_allclose(vote.predict(X), (alone + linear) / 2, rtol=1e-9)
    chosen = QueryRanker(make_pipeline(SelectFromModel(RANKER), LGBM)).fit(INDEXED, Y)
    support = chosen.estimator_[0].get_support()
    importances = fit(LGBM, X, Y, IDS).feature_importances_
    np.testing.assert_array_equal(support, importances >= importances.mean())
    expected = fit(LGBM, X[:, support], Y, IDS).predict(X[:, support])
    np.testing.assert_array_equal(chosen.predict(INDEXED), expected)


class WeightedBy(Ridge):
    """A model that takes weights under another name, of which QueryRanker knows nothing."""

    def fit(self, X, y, own=None):
        return super().fit(X, y, sample_weight=own)


def test_metadata_passes_through_a_ranker_to_a_search_inside():
    with config_context(enable_metadata_routing=True):
        model = WeightedBy().set_fit_request(own=True)
        search = GridSearchCV(model, {"alpha": [1.0]}, cv=CV, scoring="ndcg@10")
        folds = cross_validate(
            QueryRanker(search), X, Y, cv=CV, scoring="ndcg@10", error_score="raise",
            params={"groups": IDS, "own": WEIGHTS}, return_estimator=True,
        )["estimator"]  # fmt: skip
    for (train, _), fold in zip(SPLITS, folds, strict=True):
        expected = Ridge().fit(X[train], Y[train], sample_weight=WEIGHTS[train])
        np.testing.assert_allclose(fold.predict(X), expected.predict(X))


# --- parameters of fit in a search, with and without metadata routing


def search_of(ranker, routing, X=X, scoring="ndcg@10", **params):
    """The best ranker of a search; ids by routing, or in the index of y."""
    search = GridSearchCV(ranker, {}, cv=QueryKFold(2), error_score="raise", scoring=scoring)
    with config_context(enable_metadata_routing=routing):
        if routing:
            return search.fit(X, Y, groups=IDS, **params).best_estimator_
        return search.fit(X, pd.Series(Y, INDEX), **params).best_estimator_


@ROUTING
def test_parameters_of_the_booster_arrive(routing):
    log = {}
    best = search_of(
        QueryRanker(LGBM, early_stopping=True, validation_fraction=0.3, random_state=0), routing,
        eval_metric=lightgbm_metric("mrr@10"), eval_at=[7], callbacks=[record_evaluation(log)],
    )  # fmt: skip
    assert list(log["valid_0"]) == ["ndcg@7", "mrr@10_rankscore"]
    assert best.estimator_.evals_result_ == log
    whole = X.copy()
    whole[:, 3] = np.digitize(X[:, 3], [-1, 0, 1])
    best = search_of(QueryRanker(LGBM), routing, whole, categorical_feature=[3])
    expected = fit(LGBM, whole, Y, IDS, categorical_feature=[3])
    np.testing.assert_array_equal(best.predict(whole), expected.predict(whole))
    with pytest.raises(TypeError, match="eval_att"):
        search_of(QueryRanker(LGBM), routing, eval_att=[1])


@ROUTING
@pytest.mark.parametrize("piped", [False, True])
def test_categories_of_catboost(routing, piped):
    """CatBoost has no metadata requests of its own."""
    frame = FRAME.assign(x3=IDS % 3)
    model = make("CatBoostRanker", 5)
    keep = FunctionTransformer().set_output(transform="pandas")
    prefix = "catboostranker__" if piped and not routing else ""
    ranker = QueryRanker(make_pipeline(keep, model) if piped else model)
    best = search_of(ranker, routing, frame, **{prefix + "cat_features": ["x3"]}).estimator_
    assert (best[-1] if piped else best).get_cat_feature_indices() == [3]


def test_requests_of_the_inner_ranker_are_honoured():
    with config_context(enable_metadata_routing=True):
        inner = clone(LGBM).set_fit_request(
            eval_metric="my_metric", init_score=False, sample_weight=True, eval_at=True
        )
        scorer = make_ranking_scorer("ndcg@10").set_score_request(sample_weight=False)
        options = {"early_stopping": True, "validation_fraction": 0.3, "random_state": 0}
        best = search_of(
            QueryRanker(inner, **options), True, scoring=scorer, my_metric="map", eval_at=[3],
            sample_weight=WEIGHTS,
        )  # fmt: skip
        with pytest.raises(TypeError, match="init_score"):
            search_of(QueryRanker(inner), True, init_score=np.zeros(len(Y)))
    assert list(best.estimator_.evals_result_["valid_0"]) == ["map@3", "ndcg@3"]
    expected = QueryRanker(LGBM, **options)
    expected.fit(X, Y, groups=IDS, eval_metric="map", eval_at=[3], sample_weight=WEIGHTS)
    np.testing.assert_array_equal(best.predict(X), expected.predict(X))


# what the ranker and QueryRanker request, and the metadata that the fit takes as weights
REQUESTED_WEIGHTS = {
    "declined": (None, False, None),
    "declined by the ranker": (False, None, None),
    "declined by the ranker alone": (False, True, None),
    "requested": (None, True, "sample_weight"),
    "requested by the ranker": (True, None, "sample_weight"),
    "requested by the ranker alone": (True, False, "sample_weight"),
    "another name": (None, "own", "own"),
    "another name by the ranker": ("own", None, "own"),
    "undecided": (None, None, ValueError),
}


@pytest.mark.parametrize("piped", [False, True])
@pytest.mark.parametrize("case", REQUESTED_WEIGHTS)
@pytest.mark.parametrize("name", ["LGBMRanker", "XGBRanker"])
def test_weights_are_those_that_are_requested(name, case, piped):
    """The ranker's own request takes precedence over that of QueryRanker."""
    of_ranker, of_wrapper, weights = REQUESTED_WEIGHTS[case]
    metadata = {"sample_weight": 1.0 + 50 * (IDS % 3 == 0)}
    if weights == "own":  # scikit-learn refuses what nobody requests
        metadata["own"] = 1.0 + 50 * (IDS % 2)
    model = make(name, 5)
    with config_context(enable_metadata_routing=True):
        inner = clone(model).set_fit_request(sample_weight=of_ranker)
        ranker = QueryRanker(make_pipeline(StandardScaler(), inner) if piped else inner)
        ranker.set_fit_request(sample_weight=of_wrapper)

        def run():
            return cross_validate(
                ranker, X, Y, cv=CV, error_score="raise", return_estimator=True,
                scoring=make_ranking_scorer("ndcg@10").set_score_request(sample_weight=True),
                params={"groups": IDS, **metadata},
            )["estimator"]  # fmt: skip

        if weights is ValueError:
            with pytest.raises(ValueError, match="sample_weight"):
                run()
            return
        fitted = run()
    for (train, _), fold in zip(SPLITS, fitted, strict=True):
        weight = None if weights is None else metadata[weights][train]
        features, q = X[train], IDS[train]
        scaler = StandardScaler().fit(gather(q, features)[1]) if piped else None
        transform = scaler.transform if piped else np.asarray
        expected = fit(model, transform(features), Y[train], q, weight)
        np.testing.assert_array_equal(fold.predict(X), expected.predict(transform(X)))
