"""QueryRanker fits what the estimator itself fits on rows gathered by query."""

import warnings

import numpy as np
import pandas as pd
import pytest
from native_fits import fit, gather, log_of, make, n_rounds_of
from ranking_rows import FRAME, IDS, ROWS, X, Y, last
from sklearn import config_context
from sklearn.base import BaseEstimator, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import AdaBoostRegressor, BaggingRegressor, VotingRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_rankscore import QueryRanker, make_ranking_scorer, ndcg_score

WEIGHTS = 1.0 + 9 * (IDS % 3 == 0)
# each way to give ids: X, y and arguments of fit
WAYS = {
    "groups": (X, Y, {"groups": IDS * 2**33}),
    "qid": (X, Y, {"qid": [f"query {i:02d}" for i in IDS]}),
    "column": (FRAME.assign(qid=IDS), pd.Series(Y), {}),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_ranker_is_fitted_to_rows_gathered_by_query(way, ranker):
    model = make(ranker, 10)
    expected = fit(model, *ROWS, WEIGHTS).predict(X)
    given, labels, params = WAYS[way]
    fitted = QueryRanker(model).fit(given, labels, sample_weight=WEIGHTS, **params)
    np.testing.assert_array_equal(fitted.predict(given), expected)
    by_hand = pd.Series(expected).groupby(IDS).rank(ascending=False, method="first")
    np.testing.assert_array_equal(fitted.rank(given, **params), by_hand)
    score = ndcg_score(Y, expected, groups=IDS)
    assert fitted.score(given, labels, **params) == pytest.approx(score)
    assert (fitted.n_features_in_, fitted.n_queries_) == (6, 40)
    if isinstance(given, pd.DataFrame):
        assert list(fitted.feature_names_in_) == list(FRAME)
    assert not np.array_equal(fit(model, *ROWS).predict(X), expected)


# boosters that depend on the order of the queries
OF_ORDER = {
    "CatBoost, has_time": ("CatBoostRanker", {"has_time": True}),
    "CatBoost, ordered": (
        "CatBoostRanker",
        {"loss_function": "QueryRMSE", "boosting_type": "Ordered"},
    ),
    "LightGBM": ("LGBMRanker", {"subsample": 0.5, "subsample_freq": 1}),
    "XGBoost": ("XGBRanker", {"subsample": 0.5}),
}


@pytest.mark.parametrize("case", OF_ORDER)
def test_queries_keep_the_order_of_their_first_rows(case):
    name, params = OF_ORDER[case]
    model = make(name, 10, **params)
    expected = fit(model, *ROWS).predict(X)
    for ids in (IDS, IDS.max() - IDS, np.array([f"query {i}" for i in IDS])):
        np.testing.assert_array_equal(QueryRanker(model).fit(X, Y, ids).predict(X), expected)
    if name == "CatBoostRanker":
        by_id = np.argsort(IDS, kind="stable")
        other = QueryRanker(model).fit(X[by_id], Y[by_id], IDS[by_id]).predict(X)
        assert np.abs(other - expected).max() > 0.01


def test_weights_are_numbers_of_any_type(ranker):
    model = QueryRanker(make(ranker, 10), early_stopping="ndcg@5", random_state=0)
    expected = model.fit(X, Y, IDS, sample_weight=WEIGHTS).predict(X)
    for dtype in ("i8", "u1", "f4", ">f8"):
        fitted = model.fit(X, Y, IDS, sample_weight=WEIGHTS.astype(dtype))
        np.testing.assert_array_equal(fitted.predict(X), expected)


# --- pipelines, and other estimators


def test_pipelines_inside_and_outside_are_the_same(ranker):
    scaled = StandardScaler().fit_transform(X)
    expected = fit(make(ranker), scaled, Y, IDS).predict(scaled)
    outside = make_pipeline(StandardScaler(), QueryRanker(make(ranker)))
    with config_context(enable_metadata_routing=True):
        routed = clone(outside).fit(X, Y, groups=IDS)
    for piped in (outside.fit(X, Y, queryranker__groups=IDS), routed):
        np.testing.assert_array_equal(piped.predict(X), expected)
    # a column of ids passes through the steps before
    scale = [("scale", StandardScaler(), list(FRAME))]
    keep = ColumnTransformer(scale, remainder="passthrough", verbose_feature_names_out=False)
    kept = make_pipeline(keep.set_output(transform="pandas"), QueryRanker(make(ranker)))
    kept.fit(FRAME.assign(qid=IDS), Y)
    np.testing.assert_array_equal(kept.predict(FRAME.assign(qid=IDS)), expected)
    # the scaler is given the rows in another order, so the last bits may differ
    inside = QueryRanker(make_pipeline(StandardScaler(), make_pipeline(make(ranker))))
    mean = inside.fit(X, Y, IDS).estimator_[0].mean_
    np.testing.assert_allclose(mean, outside[0].mean_, rtol=1e-9)
    q, X_q, y_q = gather(IDS, X, Y)
    scaler = StandardScaler().fit(X_q)
    expected = fit(make(ranker), scaler.transform(X_q), y_q, q).predict(scaler.transform(X))
    np.testing.assert_array_equal(inside.predict(X), expected)


class OneOutput(Ridge):
    """A model that predicts a column, as a neural network with one output."""

    def predict(self, X):
        return super().predict(X)[:, np.newaxis]


class Own(BaseEstimator):
    """A model without a signature, which is given everything."""

    def fit(self, X, y, **params):
        self.given_ = params
        return self


ANY = [
    Ridge(),
    LogisticRegression(max_iter=50, C=0.01),
    BaggingRegressor(Ridge(), 3, random_state=0),
    VotingRegressor([("a", Ridge()), ("b", Ridge(100))]),
    GridSearchCV(Ridge(), {"alpha": [1, 10]}),
    CalibratedClassifierCV(LogisticRegression(max_iter=20, tol=1)),
    AdaBoostRegressor(n_estimators=3, random_state=0),  # without metadata routing
    GridSearchCV(AdaBoostRegressor(n_estimators=3, random_state=0), {"loss": ["square"]}),
    OneOutput(),
]


@pytest.mark.parametrize("routing", [False, True])
@pytest.mark.parametrize("model", ANY, ids=lambda model: repr(model)[:30])
def test_a_pointwise_model_is_fitted_to_the_given_rows(model, routing):
    y = np.minimum(Y, 2)
    with config_context(enable_metadata_routing=routing):
        fitted = QueryRanker(model).fit(X, y, groups=IDS)
    alone = clone(model).fit(X, y)
    has_classes = hasattr(alone, "predict_proba")
    expected = alone.predict_proba(X) @ alone.classes_ if has_classes else alone.predict(X)
    np.testing.assert_allclose(fitted.predict(X), np.ravel(expected), rtol=1e-12)
    expected = ndcg_score(y, np.ravel(expected), groups=IDS)
    assert fitted.score(X, y, groups=IDS) == pytest.approx(expected)


def test_weights_and_other_parameters_reach_a_pointwise_model():
    weights = np.linspace(1, 5, len(Y))  # which may vary within a query
    expected = Ridge().fit(X, Y, sample_weight=weights).predict(X)
    fitted = QueryRanker(Ridge()).fit(X, Y, IDS, sample_weight=weights)
    np.testing.assert_array_equal(fitted.predict(X), expected)
    with config_context(enable_metadata_routing=True):
        piped = make_pipeline(Ridge().set_fit_request(sample_weight=True))
        fitted = QueryRanker(piped).fit(X, Y, IDS, sample_weight=weights)
    np.testing.assert_array_equal(fitted.predict(X), expected)
    own = QueryRanker(Own(), group_param=None).fit(X, Y, IDS, depth=3)
    assert own.estimator_.given_ == {"depth": 3}
    own = QueryRanker(Own(), group_param="qid").fit(X, Y, IDS)
    np.testing.assert_array_equal(own.estimator_.given_["qid"], gather(IDS)[0])


@pytest.mark.parametrize("names", [(0, 1), (1, 0)])
def test_the_higher_class_of_catboost_is_relevant(names):
    """In whatever order its `class_names` are."""
    relevant = (Y > 1).astype(int)
    labels = np.array(sorted(names))[relevant]
    alone = make("CatBoostClassifier", 10).fit(X, labels)
    expected = ndcg_score(relevant, alone.predict_proba(X)[:, 1], groups=IDS)
    ranker = QueryRanker(make("CatBoostClassifier", 10, class_names=names)).fit(X, labels, IDS)
    score = ndcg_score(relevant, ranker.predict(X), groups=IDS)
    assert score == pytest.approx(expected, abs=0.05)
    assert make_ranking_scorer("ndcg")(ranker, X, labels, groups=IDS) == pytest.approx(score)
    ranker.set_params(early_stopping="ndcg", n_iter_no_change=20)
    ranker.fit(X, labels, IDS, eval_set=[(X, labels)], eval_qid=[IDS])
    best = max(log_of(ranker.estimator_)["CatBoostMetric"])
    score = ndcg_score(relevant, ranker.predict(X), groups=IDS)
    assert score == pytest.approx(best, abs=1e-6)


class Seen(Ridge):
    def fit(self, X, y, groups, sample_weight=None):
        self.rows_, self.groups_ = {tuple(row) for row in X}, groups
        return super().fit(X, y, sample_weight)


def test_max_queries_draws_nested_sets_of_whole_queries():
    def seen(most, seed=0):
        ranker = QueryRanker(Seen(), max_queries=most, random_state=seed).fit(X, Y, IDS)
        return ranker.n_queries_, ranker.estimator_.rows_, ranker.estimator_.groups_

    before = set()
    for most in (5, 20, 39, 40, 1000):
        n_queries, rows, groups = seen(most)
        is_seen = np.array([tuple(row) in rows for row in X])
        assert n_queries == len(set(IDS[is_seen])) == min(most, 40)
        assert np.isin(IDS, IDS[is_seen]).sum() == is_seen.sum() == len(groups)
        assert (np.diff(groups) >= 0).all()
        assert before <= rows
        before = rows
    assert seen(20, seed=1)[1] != seen(20)[1]


# --- models that continue another one


@pytest.mark.parametrize("form", ["model", "QueryRanker", "pipeline", "QueryRanker of a pipeline"])
def test_a_model_is_continued(form, ranker):
    """LightGBM would ignore an object of another class, and train from the start."""
    name = "xgb_model" if ranker[0] == "X" else "init_model"
    piped = make_pipeline("passthrough", make(ranker, 4))
    # made anew for each fit, because CatBoost changes the model that it continues
    base = {
        "model": lambda: fit(make(ranker, 4), *ROWS),
        "QueryRanker": lambda: QueryRanker(make(ranker, 4)).fit(*ROWS),
        "pipeline": lambda: QueryRanker(piped).fit(*ROWS).estimator_,
        "QueryRanker of a pipeline": lambda: QueryRanker(piped).fit(*ROWS),
    }
    expected = fit(make(ranker, 3), *ROWS, **{name: base["model"]()}).predict(X)
    for model, step in (
        (make(ranker, 3), name),
        (make_pipeline("passthrough", make(ranker, 3)), f"{ranker.lower()}__{name}"),
    ):
        again = QueryRanker(model).fit(*ROWS, **{step: base[form]()})
        np.testing.assert_array_equal(again.predict(X), expected)
        assert n_rounds_of(last(again.estimator_)) == 7


def test_what_warns():
    ids = np.arange(len(Y))  # those of documents are no query ids
    with pytest.warns(UserWarning, match=r"LGBMRanker\.fit learns little; .* same id for all"):
        QueryRanker(make("LGBMRanker", 2)).fit(X, Y, ids)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        QueryRanker(Ridge()).fit(X, Y, ids)
        for others in (np.zeros(len(Y)), np.maximum(ids, 1)):  # one query has two documents
            QueryRanker(make("LGBMRanker", 2)).fit(X, Y, others)
        QueryRanker(Ridge()).fit(X[:1], Y[:1], groups=[0])
