"""cross_val_query_scores: every query scored once, by a model that has not seen it."""

import joblib
import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn import model_selection as ms
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import sklearn_rankscore as rs

METRICS = ["ndcg@5", "map"]
RECALL = "recall@5(target=orders)"


@pytest.fixture(scope="module")
def arrays():
    return rs.make_ranking(n_queries=30, shuffle=True, random_state=0)


@pytest.fixture(scope="module")
def table():
    return rs.make_ranking(n_queries=30, shuffle=True, as_frame=True, random_state=0)


@pytest.fixture(scope="module")
def with_orders(table):
    """Documents with the index level "orders", by which models are judged but not trained."""
    X, y = table
    orders = np.random.default_rng(1).permutation(y) > 2
    return X.assign(orders=orders.astype(int)).set_index("orders", append=True), y, orders


class Unfit(Ridge):
    def fit(self, X, y):
        raise AssertionError("fitted")


@pytest.mark.parametrize("cv", [rs.QueryKFold(4), ms.GroupKFold(3), ms.LeaveOneGroupOut()])
@pytest.mark.parametrize("kind", ["regressor", "weighted", "classifier"])
def test_every_query_is_scored_in_its_own_fold(arrays, cv, kind):
    """By hand, one fold after the other; parameters of the fit are cut to the training fold."""
    X, y, groups = arrays
    names = np.array([f"q{g:02}" for g in groups])
    weights = np.random.default_rng(0).uniform(0.01, 5, size=len(y))
    predicted, is_classifier = np.zeros(len(y)), kind == "classifier"
    model = LogisticRegression(max_iter=20, tol=0.1) if is_classifier else Ridge()
    for train, test in cv.split(X, y, names):
        given = {"sample_weight": weights[train]} if kind == "weighted" else {}
        fitted = clone(model).fit(X[train], y[train], **given)
        predicted[test] = (  # a classifier ranks by its expected grade
            fitted.predict_proba(X[test]) @ fitted.classes_ if is_classifier
            else fitted.predict(X[test])
        )  # fmt: skip
    of_queries = np.arange(1.0, 31)
    given = {"groups": names, "sample_weight": of_queries[groups], "gain": "exponential"}
    expected = rs.query_scores(y, predicted, METRICS, **given)
    params = {"sample_weight": weights} if kind == "weighted" else None
    scores = rs.cross_val_query_scores(model, X, y, METRICS, cv=cv, params=params, **given)
    np.testing.assert_array_equal(scores.ids, expected.ids)
    np.testing.assert_array_equal(scores.weights, of_queries)
    np.testing.assert_allclose(scores.values, expected.values)
    assert scores.metrics == ("ndcg@5", "map")


class Grouped(Ridge):
    """A ranker, which is fitted to the sizes of queries."""

    def fit(self, X, y, group):
        assert sum(group) == len(y)
        return super().fit(X, y)


GROUPED = rs.QueryRanker(Grouped(), group_param="group")
PIPELINE = make_pipeline(FunctionTransformer(), GROUPED)
SEARCH = ms.GridSearchCV(PIPELINE, {}, scoring="mrr", cv=rs.QueryKFold(2))


def test_ids_and_folds_may_come_in_any_way(arrays, table):
    """`tests/query_ids/test_places.py` has every place of the ids."""
    X, y, groups = arrays
    frame, labels = table
    by_index = frame.set_index("qid")
    session = frame.rename(columns={"qid": "session"})
    of_session = rs.QueryKFold(3, groups="session")
    expected = rs.cross_val_query_scores(Ridge(), X, y, METRICS, groups=groups, cv=3)
    for model, *data, given in (
        (GROUPED, frame, labels, {}),
        (GROUPED, frame, labels, {"cv": rs.QueryKFold(3)}),
        (rs.QueryRanker(Ridge(), groups="session"), session, labels, {"cv": of_session}),
        (Ridge(), X.tolist(), y.tolist(), {"groups": groups.tolist()}),
        (Ridge(), X, y, {"groups": groups, "cv": list(rs.QueryKFold(3).split(X, y, groups))}),
        (Ridge(), X, y, {"groups": groups, "n_jobs": 2}),
        *((model, X, y, {"groups": groups}) for model in (GROUPED, PIPELINE, SEARCH)),
        *((model, by_index, y, {}) for model in (GROUPED, PIPELINE, SEARCH)),
        (PIPELINE, X, y, {"params": {"queryranker__groups": groups}, "groups": groups}),
        (SEARCH, X, y, {"params": {"groups": groups}}),
    ):
        with joblib.parallel_config("threading"):  # processes take long to start
            scores = rs.cross_val_query_scores(model, *data, METRICS, **{"cv": 3, **given})
        np.testing.assert_allclose(scores.values, expected.values)
        np.testing.assert_array_equal(scores.ids, expected.ids)
    # a splitter of scikit-learn gets the ids of the data
    assert len(rs.cross_val_query_scores(GROUPED, frame, labels, "mrr", cv=ms.GroupKFold(3))) == 30


@pytest.mark.parametrize("cv", [rs.QueryKFold(3), ms.GroupKFold(3)])
def test_folds_of_users_rank_the_queries_of_the_data(table, cv):
    """As `cross_val_score` does, for the same arguments."""
    X, y = table
    given = {"cv": cv, "groups": X["qid"].to_numpy() // 4}
    by_fold = ms.cross_val_score(GROUPED, X, y, scoring="ndcg@5", **given)
    scores = rs.cross_val_query_scores(GROUPED, X, y, "ndcg@5", **given)
    np.testing.assert_array_equal(scores.ids, np.arange(30))
    of_fold = [X["qid"].iloc[test].unique() for _, test in cv.split(X, y, given["groups"])]
    np.testing.assert_allclose(
        [scores["ndcg@5"][ids].mean() for ids in of_fold], by_fold, rtol=1e-12
    )


def test_metadata_routing_feeds_splitter_and_ranker(arrays):
    X, y, groups = arrays
    expected = rs.cross_val_query_scores(Ridge(), X, y, METRICS, groups=groups, cv=3)
    with sklearn.config_context(enable_metadata_routing=True):
        plain = Ridge().set_fit_request(sample_weight=True)
        for model, given in (
            (GROUPED, {"params": {"groups": groups}}),
            (GROUPED, {"groups": groups}),
            (plain, {"groups": groups, "params": {"sample_weight": np.ones(len(y))}}),
        ):
            scores = rs.cross_val_query_scores(model, X, y, METRICS, cv=3, **given)
            np.testing.assert_allclose(scores.values, expected.values)


def test_metrics_that_judge_by_another_target(with_orders):
    """The models, folds and scores are those of cross_val_predict."""
    X, y, orders = with_orders
    given = {"estimator": rs.QueryRanker(Ridge()), "X": X, "y": y, "cv": rs.QueryKFold(3)}
    data = {"y_score": ms.cross_val_predict(**given), "groups": X["qid"]}
    by_orders = rs.query_scores(orders, **data, metrics="recall@5")["recall@5"]
    by_labels = rs.query_scores(y, **data, metrics=["ndcg@5", "recall@5"])
    assert not np.allclose(by_orders, by_labels["recall@5"])
    scores = rs.cross_val_query_scores(metrics=["ndcg@5", RECALL, "recall@5"], **given)
    assert scores.metrics == ("ndcg@5", RECALL, "recall@5")
    expected = [by_labels["ndcg@5"], by_orders, by_labels["recall@5"]]
    np.testing.assert_allclose(scores.values.T, expected)
    given["denominator"] = "min"
    one = rs.cross_val_query_scores(metrics="recall@5", target="orders", **given)
    named = rs.cross_val_query_scores(metrics=["mrr", RECALL], **given)
    np.testing.assert_array_equal(one["recall@5"], named[RECALL])
    expected = rs.evaluate(orders, **data, metrics="recall@5(denominator=min)")
    assert [*one.mean().values()] == pytest.approx([*expected.values()])


WRONG_FOLDS = [
    (ms.KFold(3), r"30 of 30 are in none, in several or in parts \(0, 1, 2, 3, 4, …\)"),
    (ms.ShuffleSplit(1, test_size=0.5, random_state=0), "30 of 30 are"),
    (rs.QueryKFold(3, skip_constant_queries=True), r"1 of 30 are in none.* \(7\)"),
    ("twice", "30 of 30 are"),
]


@pytest.mark.parametrize(("cv", "message"), WRONG_FOLDS)
@pytest.mark.filterwarnings("ignore:The groups parameter is ignored")
def test_refuses_folds_that_do_not_test_each_query_once(arrays, cv, message):
    X, y, groups = arrays
    y = np.where(groups == 7, 1, y)
    y[groups == 3] = np.arange((groups == 3).sum()) % 2
    if cv == "twice":
        cv = [fold for k in (3, 2) for fold in rs.QueryKFold(k).split(X, y, groups)]
    with pytest.raises(ValueError, match=message):
        rs.cross_val_query_scores(Unfit(), X, y, groups=groups, cv=cv, metrics="mrr")


T, V = TypeError, ValueError
REFUSED = [
    ("recall@5(target=sold)", {}, V, "target='sold' is neither a column of X nor"),
    ("recall@5", {"target": "sold"}, V, "target='sold' is neither a column of X nor"),
    ("recall@5(target=f0)", {}, V, r"'f0' .* target of .*\(target=f0\)', is"),
    ("dcg@5", {"target": "f0"}, V, "'f0' of X, .* target of the metric 'dcg@5', is a"),
    ("dcg@5(propensity=f0)", {}, V, r"propensity of .*=f0\)', is a feature"),
    ([RECALL, RECALL], {}, V, "'recall@5.target=orders.' twice"),
    (rs.make_ranking_scorer("mrr"), {}, T, "RankingScorer is not.*go by name"),
    ("recall@5(target=orders,average=micro)", {}, V, "'micro', a ratio of sums"),
    ("mrr", {"target": [1, 0]}, T, "target must be the name of a column"),
    ("dcg@5", {"propensity": [0.5]}, T, r"propensity must be.*X.assign\(propensity="),
    ("ndgc@3", {}, V, "Did you mean 'ndcg@3'"),
    ("mrr", {"cv": 31}, V, "more than the number of queries"),
    ("mrr", {"y": [1, 0]}, V, "inconsistent numbers of samples"),
    ("mrr", {"y": "text"}, V, "are text, such as 'n'"),
    ("mrr", {"estimator": {"a": Unfit()}}, T, "takes one estimator; got a dict"),
    ("mrr", {"X": "array"}, rs.NoGroupsError, "No query ids reached cross_val_query_scores"),
]


@pytest.mark.parametrize(("metrics", "change", "error", "message"), REFUSED)
def test_refusals_come_before_any_fit(with_orders, metrics, change, error, message):
    X, y, _ = with_orders
    X = X.rename(columns={X.columns[1]: "f0"})
    model = Ridge() if "f0" in f"{metrics} {change}" else Unfit()  # which features it would use
    given = {"estimator": rs.QueryRanker(model), "X": X, "y": y, "metrics": metrics, **change}
    given["X"] = X.to_numpy() if change.get("X") else X
    if change.get("y") == "text":
        given |= {"y": np.where(y > 1, "y", "n"), "estimator": LogisticRegression()}
    with pytest.raises(error, match=message):
        rs.cross_val_query_scores(**given)


def test_segments_are_those_of_query_scores(table):
    X, y = table
    country = np.array(["de", "fr"])[X["qid"] % 2]
    levels = X.set_index(pd.Index(country, name="country"), append=True)
    for given, segments in ((X, {"country": country}), (levels, "country")):
        scores = rs.cross_val_query_scores(
            rs.QueryRanker(Ridge()), given, y, "ndcg@5", cv=rs.QueryKFold(3), segments=segments
        )
        expected = np.where(scores.ids % 2, "fr", "de")
        assert scores.segments["country"].tolist() == expected.tolist()
