"""What a fitted QueryRanker offers: ranks, scores, attributes, and a place in other estimators."""

import re

import numpy as np
import pandas as pd
import pytest
import sklearn
from native_fits import fit, make
from scipy.stats import rankdata
from sklearn import config_context
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.ensemble import BaggingRegressor, StackingRegressor, VotingRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import get_scorer, roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.fixes import parse_version

from sklearn_rankscore import (
    PartialQueryWarning,
    QueryKFold,
    QueryRanker,
    ndcg_score,
)

METHODS = {"average": "average", "optimistic": "min", "pessimistic": "max", "stable": "ordinal"}
CV = QueryKFold(3)


@parametrize_with_checks([QueryRanker(Ridge()), QueryRanker(LogisticRegression())])
def test_scikit_learns_checks(estimator, check):
    check(estimator)


class AsGiven(Ridge):
    """Scores are the first feature; of a column, if there is no other."""

    def predict(self, X):
        return np.asarray(X)[:, 0] if np.shape(X)[1] > 1 else np.asarray(X)


@pytest.fixture(scope="module")
def tied():
    """Scores with ties, of interleaved queries: fitted ranker, X, ids."""
    random = np.random.default_rng(0)
    ids = np.array(["b", "a", "c", "d"])[random.integers(0, 4, 200)]
    ids[7] = "e"  # a query of one document
    X = np.column_stack([random.integers(0, 8, 200) / 2.0, random.normal(size=200)])
    return QueryRanker(AsGiven()).fit(X, np.zeros(200), groups=ids), X, ids


@pytest.mark.parametrize("ties", METHODS)
def test_ranks_equal_those_of_scipy(ties, tied):
    ranker, X, ids = tied
    ranks = ranker.rank(X, groups=ids, ties=ties)
    for query in np.unique(ids):
        rows = ids == query
        np.testing.assert_array_equal(ranks[rows], rankdata(-X[rows, 0], method=METHODS[ties]))
    assert ranks.dtype.kind == ("f" if ties == "average" else "i")
    first = ranker.rank(X, 5, qid=ids, ties=ties)
    np.testing.assert_array_equal(first, np.where(ranks <= 5, ranks, np.nan))
    reversed_rows = ranker.rank(X[::-1], groups=ids[::-1], ties="reversed")[::-1]
    np.testing.assert_array_equal(reversed_rows, ranker.rank(X, groups=ids))


@pytest.mark.parametrize("dtype", ["bool", "u1", "u8", "i1", "f4", "f8"])
def test_ranks_of_predictions_of_any_type(dtype):
    """Unsigned integers and flags have no negative, nor has the smallest signed integer."""
    scores = np.array([1, 0, 3, 2, 0, 1]).astype(dtype)
    scores[1] = -128 if dtype == "i1" else scores[1]
    expected = rankdata(-scores.astype(float), method="min")
    for X in (scores[:, np.newaxis], np.column_stack([scores, scores])):
        ranker = QueryRanker(AsGiven()).fit(X.astype(float), np.zeros(6), groups=np.zeros(6))
        ranks = ranker.rank(X, groups=np.zeros(6), ties="optimistic")
        np.testing.assert_array_equal(ranks, expected)


def test_a_model_without_ids_has_one_query(rows):
    X, y, ids = rows
    plain = QueryRanker(Ridge()).fit(X, y)
    assert plain.n_queries_ is None
    scores = Ridge().fit(X, y).predict(X)
    assert plain.score(X, y) == pytest.approx(ndcg_score(y, scores))
    assert plain.score(X, y, groups=ids) == pytest.approx(ndcg_score(y, scores, groups=ids))
    assert plain.score(X, y, qid=ids) == plain.score(X, y, groups=ids)
    np.testing.assert_array_equal(plain.rank(X), rankdata(-scores, method="ordinal"))
    assert not hasattr(plain, "decision_function")
    with pytest.raises(AttributeError, match="no attribute 'decision_function'"):
        _ = plain.decision_function
    weights = 1.0 + ids % 3
    weighted = ndcg_score(y, scores, groups=ids, sample_weight=weights)
    assert plain.score(X, y, ids, sample_weight=weights) == pytest.approx(weighted)


# --- attributes


def test_attributes_are_those_of_the_fitted_model(ranker, rows):
    X, y, ids = rows
    native = fit(make(ranker), X, y, ids)
    expected = (
        # the default for a ranking loss needs the training data
        native.get_feature_importance(type="PredictionValuesChange") if ranker[0] == "C"
        else native.feature_importances_
    )  # fmt: skip
    for model in (make(ranker), make_pipeline("passthrough", make(ranker))):
        fitted = QueryRanker(model).fit(X, y, groups=ids)
        np.testing.assert_array_equal(fitted.feature_importances_, expected)
        assert not hasattr(fitted, "coef_")
        assert not hasattr(fitted, "n_iter_")
        assert hasattr(fitted, "classes_") == hasattr(native, "classes_")
    regressor = make(ranker.replace("Ranker", "Regressor"))
    fitted = QueryRanker(regressor).fit(X, y, groups=ids)
    expected = clone(regressor).fit(X, y).feature_importances_
    np.testing.assert_array_equal(fitted.feature_importances_, expected)
    for name in ("feature_importances_", "coef_", "classes_", "predict_proba"):
        assert not hasattr(QueryRanker(make(ranker)), name)
    piped = QueryRanker(make_pipeline(StandardScaler(), Ridge())).fit(X, y, groups=ids)
    np.testing.assert_array_equal(piped.coef_, piped.estimator_[-1].coef_)
    assert not hasattr(piped, "feature_importances_")


def test_probabilities_and_thresholds(rows):
    X, y, ids = rows
    model = LogisticRegression(max_iter=1000)
    for labels in (y, (y > 1).astype(int)):
        fitted, alone = QueryRanker(model).fit(X, labels, groups=ids), clone(model).fit(X, labels)
        np.testing.assert_allclose(fitted.predict_proba(X), alone.predict_proba(X))
        np.testing.assert_array_equal(fitted.classes_, alone.classes_)
        # of several classes scikit-learn expects one score each
        assert hasattr(fitted, "decision_function") == (labels is not y)
    for estimator in (Ridge(), model, make("LGBMRanker", 5)):
        fitted = QueryRanker(estimator).fit(X, labels, groups=ids)
        np.testing.assert_array_equal(fitted.decision_function(X), fitted.predict(X))
        expected = roc_auc_score(labels, fitted.predict(X))
        assert get_scorer("roc_auc")(fitted, X, labels) == expected
        if parse_version(sklearn.__version__) >= parse_version("1.9"):
            # before, scikit-learn takes a pipeline with this method for a classifier or refuses it
            assert get_scorer("roc_auc")(make_pipeline(fitted), X, labels) == expected
    assert not hasattr(QueryRanker(Ridge()).fit(X, y, groups=ids), "predict_proba")
    for estimator in (Ridge(), make("LGBMRanker")):
        assert is_regressor(QueryRanker(estimator))
    assert not is_regressor(QueryRanker(model))
    assert not is_classifier(QueryRanker(model))


# --- parts of queries


def test_parts_of_trained_queries_warn(rows):
    X, y, ids = rows
    search = GridSearchCV(Ridge(), {}, scoring="ndcg", cv=CV)
    half = np.arange(len(y)) % 2 == 0
    for model in (Ridge(), search):
        fitted = QueryRanker(model).fit(X[half], y[half], groups=ids[half])
        for part in (~half, np.full(len(y), True)):
            with pytest.warns(PartialQueryWarning, match=r"trained on .*query_train_test_split"):
                fitted.score(X[part], y[part], groups=ids[part])


def test_other_queries_and_the_training_rows_do_not_warn(rows):
    order = np.argsort(rows[2], kind="stable")[::-1]
    X, y, ids = (values[order] for values in rows)
    first = ids < 20

    def fitted_to(part, numbers=ids, **params):
        return QueryRanker(Ridge(), **params).fit(X[part], y[part], groups=numbers[part])

    every = np.full(len(y), True)
    last = ids >= 25
    for trained, scored, numbers in (
        (first, first, ids),
        (first, ~first, ids),
        (first, every, ids),  # half of the queries are new
        # those of a test set of its own, numbered from 0 or 1 like those of the training set
        (first, last, np.where(first, ids, ids - 25)),
        (first, last, np.where(first, ids + 1, ids - 24)),
    ):
        fitted_to(trained, numbers).score(X[scored], y[scored], groups=numbers[scored])
    fitted_to(every, max_queries=10, random_state=0).score(X, y, groups=ids)
    QueryRanker(Ridge()).fit(X, y).score(X, y, groups=ids)
    cross_val_score(QueryRanker(Ridge()), X, y, groups=ids, cv=CV)
    # as many queries, or numbers that do not start at 0 or 1, are parts of others
    for shift in (0, 5):
        numbers = np.where(first, ids, ids - 20) + shift
        with pytest.warns(PartialQueryWarning):
            fitted_to(first, numbers).score(X[~first], y[~first], groups=numbers[~first])


# --- inside of other estimators


def test_it_stands_in_votes_stacks_and_bagging(ranker, rows):
    X, y, ids = rows
    frame = pd.DataFrame(X).add_prefix("x").assign(qid=ids)
    members = [("ranker", QueryRanker(make(ranker, 5))), ("ridge", QueryRanker(Ridge()))]
    alone = fit(make(ranker, 5), X, y, ids).predict(X), Ridge().fit(X, y).predict(X)
    vote = VotingRegressor(members).fit(frame, y)
    np.testing.assert_allclose(vote.predict(frame), np.mean(alone, axis=0))
    columns = np.zeros((len(y), 2))
    for train, test in CV.split(X, y, ids):
        columns[test, 0] = fit(make(ranker, 5), X[train], y[train], ids[train]).predict(X[test])
        columns[test, 1] = Ridge().fit(X[train], y[train]).predict(X[test])
    stack = StackingRegressor(members, final_estimator=Ridge(), cv=CV).fit(frame, y)
    final = Ridge().fit(columns, y)
    np.testing.assert_allclose(stack.predict(frame), final.predict(np.column_stack(alone)))
    bagging = BaggingRegressor(members[0][1], 2, random_state=0, bootstrap=False)
    with config_context(enable_metadata_routing=True):
        bagging.fit(X, y, groups=ids)
    np.testing.assert_allclose(bagging.predict(X), alone[0])


class Derived(QueryRanker):
    """A ranker that another project derives, of which our documentation knows nothing."""


def test_its_html_links_to_a_page_that_exists():
    ours, other = (
        re.findall(r'href="([^"]*)"', ranker(Ridge())._repr_html_())
        for ranker in (QueryRanker, Derived)
    )
    page = r"https://sklearn-rankscore\.readthedocs\.io/.*api/sklearn_rankscore\.QueryRanker\.html"
    assert any(re.fullmatch(page, link) for link in ours)
    assert not any("Derived.html" in link for link in other)
