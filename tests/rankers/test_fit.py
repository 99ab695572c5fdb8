"""QueryRanker fits what the estimator itself fits on rows gathered by query."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from gathered_rows import gather
from native_fits import fit, log_of, make, n_rounds_of
from sklearn import config_context
from sklearn.base import BaseEstimator, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import (
    AdaBoostRegressor,
    BaggingRegressor,
    HistGradientBoostingRegressor,
    VotingRegressor,
)
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from sklearn_rankscore import QueryRanker, make_ranking, make_ranking_scorer, ndcg_score

NAMES = [f"x{i}" for i in range(6)]


def frame_of(X, **columns):
    return pd.DataFrame(X, columns=NAMES).assign(**columns)


def indexed(values, ids, name="qid"):
    return pd.Series(values, index=pd.Index(ids, name=name))


# each way to give ids: (X, y, ids) to X, y, arguments of fit, parameters of QueryRanker
WAYS = {
    "groups": lambda X, y, q: (X, y, {"groups": q}, {}),
    "qid": lambda X, y, q: (X, y, {"qid": q}, {}),
    "text": lambda X, y, q: (X, y, {"groups": [f"query {i:02d}" for i in q]}, {}),
    "more than 32 bits": lambda X, y, q: (X, y, {"groups": q * 2**33}, {}),
    "fractions": lambda X, y, q: (X, y, {"groups": q * 0.25}, {}),
    "column": lambda X, y, q: (frame_of(X, qid=q), pd.Series(y), {}, {}),
    "column of polars": lambda X, y, q: (pl.from_pandas(frame_of(X, qid=q)), pl.Series(y), {}, {}),
    "column of pyarrow": lambda X, y, q: (
        pa.Table.from_pandas(frame_of(X, qid=[f"query {i}" for i in q])), pa.array(y), {}, {}
    ),
    "level of X": lambda X, y, q: (frame_of(X, qid=q).set_index("qid"), y, {}, {}),
    "level of y": lambda X, y, q: (X, indexed(y, q), {}, {}),
    "another name": lambda X, y, q: (frame_of(X, session=q), y, {}, {"groups": "session"}),
    "another name of polars": lambda X, y, q: (
        pl.from_pandas(frame_of(X, session=q)), y, {}, {"groups": "session"}
    ),
    "another level": lambda X, y, q: (
        frame_of(X, session=q).set_index("session"), y, {}, {"groups": "session"}
    ),
    "two columns": lambda X, y, q: (
        frame_of(X, user=q // 7, visit=q % 7), y, {}, {"groups": ["user", "visit"]}
    ),
    "two columns of polars": lambda X, y, q: (
        pl.from_pandas(frame_of(X, user=q // 7, visit=q % 7)), y, {}, {"groups": ["user", "visit"]}
    ),
    "column and level": lambda X, y, q: (
        frame_of(X, user=q // 7, visit=q % 7).set_index("user"), y, {},
        {"groups": ("user", "visit")},
    ),
}  # fmt: skip


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("way", WAYS)
def test_a_ranker_is_fitted_to_rows_gathered_by_query(way, weighted, ranker, rows):
    X, y, ids = rows
    weights = 1.0 + 9 * (ids % 3 == 0) if weighted else None
    model = make(ranker, 10)
    expected = fit(model, X, y, ids, weights).predict(X)
    given, labels, params, options = WAYS[way](X, y, ids)
    fitted = QueryRanker(model, **options).fit(given, labels, sample_weight=weights, **params)
    np.testing.assert_array_equal(fitted.predict(given), expected)
    if way != "level of y":  # `rank` is given no y
        by_hand = pd.Series(expected).groupby(ids).rank(ascending=False, method="first")
        np.testing.assert_array_equal(fitted.rank(given, **params), by_hand)
    score = ndcg_score(y, expected, groups=ids)
    assert fitted.score(given, labels, **params) == pytest.approx(score)
    assert (fitted.n_features_in_, fitted.n_queries_) == (6, 40)
    if isinstance(given, pd.DataFrame):
        assert list(fitted.feature_names_in_) == NAMES
    if weighted:
        assert not np.array_equal(fit(model, X, y, ids).predict(X), expected)


def test_predictions_of_real_data_equal_those_of_the_library(ranker, lambdarank):
    X, y, ids = lambdarank
    weights = np.random.default_rng(1).uniform(0.1, 5, ids.max() + 1)[ids]
    native = fit(make(ranker, 10), X, y, ids, weights)
    ours = QueryRanker(make(ranker, 10)).fit(X, y, groups=ids, sample_weight=weights)
    np.testing.assert_array_equal(ours.predict(X), native.predict(X))


@pytest.mark.parametrize("name", ["has_time", "ordered", "LightGBM", "XGBoost"])
def test_queries_keep_the_order_of_their_first_rows(name):
    """Boosters may depend on it, and not on the ids."""
    models = {
        "has_time": lambda: make("CatBoostRanker", has_time=True),
        "ordered": lambda: make(
            "CatBoostRanker", loss_function="QueryRMSE", boosting_type="Ordered"
        ),
        "LightGBM": lambda: make("LGBMRanker", subsample=0.5, subsample_freq=1),
        "XGBoost": lambda: make("XGBRanker", subsample=0.5),
    }
    X, y, groups = make_ranking(n_queries=30, random_state=0)
    ids = np.random.default_rng(1).permutation(30)[groups]  # contiguous, in no order
    ranker = QueryRanker(models[name]())
    expected = ranker.fit(X, y, groups=ids).predict(X)
    last = np.flatnonzero(ids == ids[0])[-1]
    one_moved = np.append(np.delete(np.arange(len(y)), last), last)
    place = np.arange(len(y)) - np.searchsorted(groups, groups)
    for order in (one_moved, np.lexsort((groups, place))):
        for others in (ids, ids.max() - ids, np.array([f"query {i}" for i in ids])):
            fitted = ranker.fit(X[order], y[order], groups=others[order])
            np.testing.assert_array_equal(fitted.predict(X), expected)
    if name in ("has_time", "ordered"):
        by_id = np.argsort(ids, kind="stable")
        other = ranker.fit(X[by_id], y[by_id], groups=ids[by_id]).predict(X)
        assert np.abs(other - expected).max() > 0.01


@pytest.mark.parametrize("dtype", ["i8", "u1", "f4", ">f8"])
def test_weights_are_numbers_of_any_type(dtype, ranker, rows):
    X, y, ids = rows
    weights = 1.0 + 9 * (ids % 3 == 0)
    model = QueryRanker(make(ranker, 10), early_stopping="ndcg@5", random_state=0)
    expected = model.fit(X, y, groups=ids, sample_weight=weights).predict(X)
    fitted = model.fit(X, y, groups=ids, sample_weight=weights.astype(dtype))
    np.testing.assert_array_equal(fitted.predict(X), expected)


@pytest.mark.parametrize("piped", [False, True])
def test_parameters_with_one_entry_per_row_are_gathered_too(piped, ranker, rows):
    X, y, ids = rows
    start = np.linspace(-3, 3, len(y))
    name = {"L": "init_score", "X": "base_margin", "C": "baseline"}[ranker[0]]
    expected = fit(make(ranker), X, y, ids, start=start)
    model = make_pipeline("passthrough", make(ranker)) if piped else make(ranker)
    prefix = f"{ranker.lower()}__" if piped else ""
    fitted = QueryRanker(model).fit(X, y, groups=ids, **{prefix + name: start}).estimator_
    np.testing.assert_array_equal((fitted[-1] if piped else fitted).predict(X), expected.predict(X))
    assert not np.array_equal(fit(make(ranker), X, y, ids).predict(X), expected.predict(X))


# --- pipelines, and other estimators


def test_pipelines_inside_and_outside_are_the_same(ranker, rows):
    X, y, ids = rows
    scaled = StandardScaler().fit_transform(X)
    expected = fit(make(ranker), scaled, y, ids).predict(scaled)
    outside = make_pipeline(StandardScaler(), QueryRanker(make(ranker)))
    outside.fit(X, y, queryranker__groups=ids)
    np.testing.assert_array_equal(outside.predict(X), expected)
    with config_context(enable_metadata_routing=True):
        routed = clone(outside).fit(X, y, groups=ids)
    np.testing.assert_array_equal(routed.predict(X), expected)
    # a column of ids passes through the steps before
    keep = ColumnTransformer(
        [("scale", StandardScaler(), NAMES)], remainder="passthrough",
        verbose_feature_names_out=False,
    ).set_output(transform="pandas")  # fmt: skip
    kept = make_pipeline(keep, QueryRanker(make(ranker))).fit(frame_of(X, qid=ids), y)
    np.testing.assert_array_equal(kept.predict(frame_of(X, qid=ids)), expected)
    # the scaler is given the rows in another order, so the last bits may differ
    inside = QueryRanker(make_pipeline(StandardScaler(), make_pipeline(make(ranker))))
    np.testing.assert_allclose(
        inside.fit(X, y, groups=ids).estimator_[0].mean_, outside[0].mean_, rtol=1e-9
    )
    q, X_q, y_q = gather(ids, X, y)
    scaler = StandardScaler().fit(X_q)
    expected = fit(make(ranker), scaler.transform(X_q), y_q, q).predict(scaler.transform(X))
    np.testing.assert_array_equal(inside.predict(X), expected)


class RidgeInSteps(Ridge):
    """A model with a parameter `steps` that is no pipeline."""

    def __init__(self, steps=100, alpha=1.0):
        super().__init__(alpha)
        self.steps = steps


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
    *(RidgeInSteps(steps) for steps in (100, (), [(0, 1), (2, 3)])),
    LogisticRegression(max_iter=50, C=0.01),
    BaggingRegressor(Ridge(), 3, random_state=0),
    VotingRegressor([("a", Ridge()), ("b", Ridge(100))]),
    GridSearchCV(Ridge(), {"alpha": [1, 10]}),
    CalibratedClassifierCV(LogisticRegression(max_iter=20, tol=1)),
    AdaBoostRegressor(n_estimators=3, random_state=0),  # without metadata routing
    GridSearchCV(AdaBoostRegressor(n_estimators=3, random_state=0), {"loss": ["square"]}),
    HistGradientBoostingRegressor(max_iter=5, early_stopping=False),
    OneOutput(),
]


@pytest.mark.parametrize("routing", [False, True])
@pytest.mark.parametrize("model", ANY, ids=lambda model: repr(model)[:30])
def test_a_pointwise_model_is_fitted_to_the_given_rows(model, routing, rows):
    X, y, ids = rows
    y = np.minimum(y, 2)
    with config_context(enable_metadata_routing=routing):
        fitted = QueryRanker(model).fit(X, y, groups=ids)
    alone = clone(model).fit(X, y)
    expected = (
        alone.predict_proba(X) @ alone.classes_ if hasattr(alone, "predict_proba")
        else np.ravel(alone.predict(X))
    )  # fmt: skip
    np.testing.assert_allclose(fitted.predict(X), expected, rtol=1e-12)
    assert fitted.score(X, y, groups=ids) == pytest.approx(ndcg_score(y, expected, groups=ids))


def test_weights_and_other_parameters_reach_a_pointwise_model(rows):
    X, y, ids = rows
    weights = np.linspace(1, 5, len(y))  # which may vary within a query
    expected = Ridge().fit(X, y, sample_weight=weights).predict(X)
    fitted = QueryRanker(Ridge()).fit(X, y, groups=ids, sample_weight=weights)
    np.testing.assert_array_equal(fitted.predict(X), expected)
    with config_context(enable_metadata_routing=True):
        piped = make_pipeline(Ridge().set_fit_request(sample_weight=True))
        fitted = QueryRanker(piped).fit(X, y, groups=ids, sample_weight=weights)
    np.testing.assert_array_equal(fitted.predict(X), expected)
    own = QueryRanker(Own(), group_param=None).fit(X, y, groups=ids, depth=3)
    assert own.estimator_.given_ == {"depth": 3}
    own = QueryRanker(Own(), group_param="qid").fit(X, y, groups=ids)
    np.testing.assert_array_equal(own.estimator_.given_["qid"], gather(ids)[0])


@pytest.mark.parametrize("model", [RidgeClassifier(), LinearSVC(), LogisticRegression()], ids=repr)
@pytest.mark.parametrize("words", [False, True])
@pytest.mark.filterwarnings("ignore:the labels are text:UserWarning")
def test_a_binary_classifier_ranks_by_its_decision_function(model, words, rows):
    X, y, ids = rows
    relevant = np.where(y > 0, "yes", "no") if words else (y > 0).astype(int)
    alone = clone(model).fit(X, relevant).decision_function(X)
    fitted = QueryRanker(model).fit(X, relevant, groups=ids)
    score = make_ranking_scorer("ndcg@5")(fitted, X, indexed(relevant, ids))
    assert score == pytest.approx(ndcg_score(y > 0, alone, groups=ids, k=5))
    assert (fitted.classes_ == np.unique(relevant)).all()


@pytest.mark.parametrize("names", [(0, 1), ("no", "yes")])
@pytest.mark.filterwarnings("ignore:the labels are text:UserWarning")
def test_the_higher_class_of_catboost_is_relevant(names, rows):
    """In whatever order its `class_names` are."""
    X, y, ids = rows
    is_relevant = (y > 1).astype(int)
    labels = np.array(sorted(names))[is_relevant]
    model = make("CatBoostClassifier", 10, class_names=names)
    expected = make("CatBoostClassifier", 10).fit(X, labels).predict_proba(X)[:, 1]
    expected = ndcg_score(is_relevant, expected, groups=ids)
    ranker = QueryRanker(model).fit(X, labels, groups=ids)
    score = ndcg_score(is_relevant, ranker.predict(X), groups=ids)
    assert score == pytest.approx(expected, abs=0.05)
    assert make_ranking_scorer("ndcg")(ranker, X, labels, groups=ids) == pytest.approx(score)
    ranker.set_params(early_stopping="ndcg", n_iter_no_change=20)
    ranker.fit(X, labels, groups=ids, eval_set=[(X, labels)], eval_qid=[ids])
    best = max(log_of(ranker.estimator_)["CatBoostMetric"])
    score = ndcg_score(is_relevant, ranker.predict(X), groups=ids)
    assert score == pytest.approx(best, abs=1e-6)


def test_max_queries_draws_nested_sets_of_whole_queries(rows):
    X, y, ids = rows

    class Seen(Ridge):
        def fit(self, X, y, groups, sample_weight=None):
            self.rows_, self.groups_ = {tuple(row) for row in X}, groups
            return super().fit(X, y, sample_weight)

    before = set()
    for most in (5, 20, 39, 40, 1000):
        fitted = QueryRanker(Seen(), max_queries=most, random_state=0).fit(X, y, groups=ids)
        seen = np.array([tuple(row) in fitted.estimator_.rows_ for row in X])
        assert fitted.n_queries_ == len(set(ids[seen])) == min(most, 40)
        assert np.isin(ids, ids[seen]).sum() == seen.sum() == len(fitted.estimator_.groups_)
        assert (np.diff(fitted.estimator_.groups_) >= 0).all()
        assert before <= fitted.estimator_.rows_
        before = fitted.estimator_.rows_
    other = QueryRanker(Seen(), max_queries=20, random_state=1).fit(X, y, groups=ids)
    assert other.estimator_.rows_ != {tuple(row) for row in X[np.isin(ids, ids[seen])]}


# --- models that continue another one


@pytest.mark.parametrize("form", ["model", "QueryRanker", "pipeline", "QueryRanker of a pipeline"])
def test_a_model_is_continued(form, ranker, rows):
    """LightGBM would ignore an object of another class, and train from the start."""
    X, y, ids = rows
    name = "xgb_model" if ranker[0] == "X" else "init_model"
    piped = make_pipeline("passthrough", make(ranker, 4))
    # made anew for each fit, because CatBoost changes the model that it continues
    base = {
        "model": lambda: fit(make(ranker, 4), X, y, ids),
        "QueryRanker": lambda: QueryRanker(make(ranker, 4)).fit(X, y, groups=ids),
        "pipeline": lambda: QueryRanker(piped).fit(X, y, groups=ids).estimator_,
        "QueryRanker of a pipeline": lambda: QueryRanker(piped).fit(X, y, groups=ids),
    }
    expected = fit(make(ranker, 3), X, y, ids, **{name: base["model"]()}).predict(X)
    again = QueryRanker(make(ranker, 3)).fit(X, y, groups=ids, **{name: base[form]()})
    np.testing.assert_array_equal(again.predict(X), expected)
    assert n_rounds_of(again.estimator_) == 7
    step = {f"{ranker.lower()}__{name}": base[form]()}
    longer = QueryRanker(make_pipeline("passthrough", make(ranker, 3))).fit(
        X, y, groups=ids, **step
    )
    np.testing.assert_array_equal(longer.predict(X), expected)


def test_ids_of_documents_are_no_query_ids(rows):
    X, y, _ = rows
    ids = np.arange(len(y))
    with pytest.warns(UserWarning, match="same id for all documents of a query"):
        QueryRanker(make("LGBMRanker", 2)).fit(X, y, groups=ids)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        QueryRanker(Ridge()).fit(X, y, groups=ids)
        for others in (np.zeros(len(y)), np.maximum(ids, 1)):  # one query has two documents
            QueryRanker(make("LGBMRanker", 2)).fit(X, y, groups=others)
        QueryRanker(Ridge()).fit(X[:1], y[:1], groups=[0])


def test_a_column_of_labels_is_flattened_with_a_warning(rows):
    X, y, ids = rows
    with pytest.warns(UserWarning, match="A column-vector y was passed"):
        fitted = QueryRanker(Ridge()).fit(X, pd.DataFrame({"rel": y}), groups=ids)
    np.testing.assert_array_equal(fitted.predict(X), Ridge().fit(X, y).predict(X))
