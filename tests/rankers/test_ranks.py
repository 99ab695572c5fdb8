"""Ranks within queries, and a QueryRanker among scikit-learn's scorers and ensembles."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from scipy.stats import rankdata
from sklearn import config_context
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.ensemble import BaggingRegressor, StackingRegressor, VotingRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import get_scorer, roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.fixes import parse_version
from small_rankers import LGBM, make_ranker

from sklearn_rankscore import (
    NoGroupsError,
    QueryKFold,
    QueryRanker,
    dcg_score,
    make_ranking,
    ndcg_score,
)
from sklearn_rankscore.rankers.query_ranker import rank_within_queries

METHODS = {"average": "average", "optimistic": "min", "pessimistic": "max", "stable": "ordinal"}


class AsGiven(Ridge):
    """Scores are the first feature."""

    def predict(self, X):
        return np.asarray(X)[:, 0]


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
        expected = rankdata(-X[rows, 0], method=METHODS[ties])
        np.testing.assert_array_equal(ranks[rows], expected)
    assert ranks.dtype.kind == ("f" if ties == "average" else "i")
    reversed_rows = ranker.rank(X[::-1], groups=ids[::-1], ties="reversed")[::-1]
    np.testing.assert_array_equal(reversed_rows, ranker.rank(X, groups=ids))


@pytest.mark.parametrize("dtype", ["bool", "u1", "u8", "i1", "f4", "f8"])
def test_ranks_of_predictions_of_any_type(dtype):
    """Unsigned integers and flags have no negative, nor has the smallest signed integer."""
    scores = np.array([1, 0, 3, 2, 0, 1]).astype(dtype)
    if dtype == "i1":
        scores[1] = -128

    class Predicts(Ridge):
        def predict(self, X):
            return scores.reshape(self.shape)

    ranker = QueryRanker(Predicts()).fit(np.zeros((6, 1)), np.zeros(6), groups=np.zeros(6))
    expected = rankdata(-scores.astype(float), method="min")
    for shape in [(6,), (6, 1)]:
        ranker.estimator_.shape = shape
        ranks = ranker.rank(np.zeros((6, 1)), groups=np.zeros(6), ties="optimistic")
        np.testing.assert_array_equal(ranks, expected)


def test_several_scores_of_a_document_are_no_ranking():
    with pytest.raises(ValueError, match=r"one score per document.* shape \(2, 3\)"):
        rank_within_queries(np.ones((2, 3)), [0, 0], None, "stable")


def test_documents_after_rank_k_have_none(tied):
    ranker, X, ids = tied
    every = ranker.rank(X, groups=ids)
    first = ranker.rank(X, 5, groups=ids)
    np.testing.assert_array_equal(first, np.where(every <= 5, every, np.nan))
    assert np.isfinite(first).sum() == 4 * 5 + 1


@pytest.mark.parametrize("ties", ["stable", "reversed"])
def test_ranks_are_those_of_the_metrics(ties, tied):
    """DCG by hand from the ranks equals that of the metric with the same rule."""
    ranker, X, ids = tied
    y = np.random.default_rng(1).integers(0, 5, len(ids))
    ranks = ranker.rank(X, groups=ids, ties=ties)
    by_hand = [np.sum(y[ids == q] / np.log2(ranks[ids == q] + 1)) for q in np.unique(ids)]
    expected = dcg_score(y, ranker.predict(X), groups=ids, ties=ties)
    assert np.mean(by_hand) == pytest.approx(expected, rel=1e-12)


def test_ids_of_a_submission_are_found_in_the_frame(library):
    X, y = make_ranking(n_queries=30, as_frame=True, random_state=0)
    ranker = QueryRanker(make_ranker(library)).fit(X, y)
    given = X.assign(score=ranker.predict(X))
    expected = given.groupby("qid")["score"].rank(ascending=False, method="first")
    np.testing.assert_array_equal(ranker.rank(X), expected)
    np.testing.assert_array_equal(ranker.rank(X.set_index("qid")), expected)
    np.testing.assert_array_equal(ranker.rank(X.drop(columns="qid"), qid=X["qid"]), expected)
    with pytest.raises(NoGroupsError, match=r"QueryRanker.rank: call rank\(X, groups=ids\)"):
        ranker.rank(X.drop(columns="qid"))


def test_all_rows_are_one_query_if_they_were_in_fit():
    X, y, _ = make_ranking(n_queries=3, random_state=0)
    ranker = QueryRanker(Ridge()).fit(X, y)
    assert sorted(ranker.rank(X)) == list(range(1, len(y) + 1))


@pytest.mark.parametrize(
    ("options", "message"),
    [({"ties": "first"}, "ties must be one of 'average'"), ({"k": 0}, "k must be at least 1")],
)
def test_bad_options_of_rank(options, message, tied):
    ranker, X, ids = tied
    with pytest.raises(ValueError, match=message):
        ranker.rank(X, groups=ids, **options)


@pytest.fixture(scope="module")
def binary():
    X, y = make_ranking(n_queries=60, as_frame=True, random_state=0)
    return X, (y > 1).astype(int)


def test_thresholds_and_rankings_are_scored_together(library, binary):
    X, y = binary
    ranker = QueryRanker(make_ranker(library))
    scoring = ["ndcg@10", "roc_auc", "average_precision"]
    scores_of_folds = cross_validate(
        ranker, X, y, scoring=scoring, cv=QueryKFold(3), error_score="raise"
    )
    for fold, (train, test) in enumerate(QueryKFold(3).split(X, y)):
        fitted = clone(ranker).fit(X.iloc[train], y.iloc[train])
        scores = fitted.predict(X.iloc[test])
        np.testing.assert_array_equal(fitted.decision_function(X.iloc[test]), scores)
        assert scores_of_folds["test_roc_auc"][fold] == roc_auc_score(y.iloc[test], scores)
        assert scores_of_folds["test_ndcg@10"][fold] == pytest.approx(
            ndcg_score(y.iloc[test], scores, groups=X["qid"].iloc[test], k=10), rel=1e-12
        )


@pytest.mark.parametrize("model", [Ridge(), LogisticRegression(), LGBM])
def test_decision_function_exists_where_there_are_queries(model, binary):
    X, y = binary
    ranker = QueryRanker(model).fit(X, y)
    assert get_scorer("roc_auc")(ranker, X, y) == roc_auc_score(y, ranker.predict(X))
    if parse_version(sklearn.__version__) >= parse_version("1.9"):
        # before, scikit-learn takes a pipeline with this method for a classifier or refuses it
        assert get_scorer("roc_auc")(make_pipeline(ranker), X, y) > 0.5
    plain = QueryRanker(Ridge()).fit(X.drop(columns="qid"), y)
    assert not hasattr(plain, "decision_function")
    with pytest.raises(AttributeError, match="no attribute 'decision_function'"):
        _ = plain.decision_function


def test_it_is_a_regressor_unless_it_holds_a_classifier():
    assert is_regressor(QueryRanker(LGBM))
    assert is_regressor(QueryRanker(Ridge()))
    assert not is_regressor(QueryRanker(LogisticRegression()))
    assert not is_classifier(QueryRanker(LogisticRegression()))


def test_it_stands_in_a_vote(library, binary):
    X, y = binary
    members = [("ranker", QueryRanker(make_ranker(library))), ("ridge", QueryRanker(Ridge()))]
    vote = VotingRegressor(members).fit(X, y)
    expected = np.mean([clone(member).fit(X, y).predict(X) for _, member in members], axis=0)
    np.testing.assert_allclose(vote.predict(X), expected)
    scores = cross_val_score(vote, X, y, scoring="ndcg@10", cv=QueryKFold(3), error_score="raise")
    assert len(scores) == 3
    search = GridSearchCV(
        vote, {"ranker__max_queries": [10, None]}, scoring="ndcg@10", cv=QueryKFold(3),
        error_score="raise",
    )  # fmt: skip
    assert search.fit(X.set_index("qid"), y).best_score_ >= scores.mean() - 1e-12


def test_it_stands_in_a_stack(library, binary):
    X, y = binary
    members = [("ranker", QueryRanker(make_ranker(library))), ("ridge", QueryRanker(Ridge()))]
    stack = StackingRegressor(members, final_estimator=Ridge(), cv=QueryKFold(3)).fit(X, y)
    columns = np.zeros((len(y), 2))
    for train, test in QueryKFold(3).split(X, y):
        for column, (_, member) in enumerate(members):
            fitted = clone(member).fit(X.iloc[train], y.iloc[train])
            columns[test, column] = fitted.predict(X.iloc[test])
    final = Ridge().fit(columns, y)
    fitted = [clone(member).fit(X, y).predict(X) for _, member in members]
    np.testing.assert_allclose(stack.predict(X), final.predict(np.column_stack(fitted)))


def test_bagging_takes_arrays_and_needs_routing(binary):
    X, y = binary
    features, ids = X.drop(columns="qid").to_numpy(), X["qid"].to_numpy()
    bagging = BaggingRegressor(QueryRanker(LGBM), 3, random_state=0, bootstrap=False)
    with pytest.raises(NoGroupsError, match=r"LGBMRanker.fit"):
        bagging.fit(X.set_index("qid"), y)
    with config_context(enable_metadata_routing=True):
        bagging.fit(features, y, groups=ids)
    expected = QueryRanker(LGBM).fit(features, y, groups=ids).predict(features)
    np.testing.assert_allclose(bagging.predict(features), expected)


def test_a_vote_over_random_queries_is_bagging_of_queries(binary):
    X, y = binary
    members = [(f"m{i}", QueryRanker(LGBM, max_queries=30, random_state=i)) for i in range(3)]
    vote = VotingRegressor(members).fit(X, y)
    assert len({tuple(member.predict(X)) for member in vote.estimators_}) == 3


def test_reordered_columns_are_refused(library):
    X, y = make_ranking(n_queries=20, as_frame=True, random_state=0)
    ranker = QueryRanker(make_ranker(library)).fit(X, y)
    assert list(ranker.feature_names_in_) == [name for name in X if name != "qid"]
    assert ranker.n_features_in_ == X.shape[1] - 1
    reordered = X[[*X.columns[5:], *X.columns[:5]]]
    for call in (ranker.predict, ranker.rank):
        with pytest.raises(ValueError, match="must be in the same order as they were in fit"):
            call(reordered)
    with pytest.raises(ValueError, match="seen at fit time, yet now missing"):
        ranker.predict(X.drop(columns=X.columns[3]))
    with (
        pytest.warns(UserWarning, match="X does not have valid feature names"),
        pytest.raises(ValueError, match=r"X has 3 features, but QueryRanker is expecting 20"),
    ):
        ranker.predict(np.ones((4, 3)))
    frame = pl.from_pandas(X)
    fitted = QueryRanker(make_ranker(library)).fit(frame, y)
    with pytest.raises(ValueError, match="same order"):
        fitted.predict(frame[reordered.columns.to_list()])
    moved = X[[*X.columns[1:], X.columns[0]]]
    assert X.columns[0] == "qid"
    np.testing.assert_array_equal(ranker.predict(moved), ranker.predict(X))


def test_names_are_those_before_the_pipeline():
    X, y = make_ranking(n_queries=20, as_frame=True, random_state=0)
    ranker = QueryRanker(make_pipeline(StandardScaler(), Ridge())).fit(X, y)
    assert list(ranker.feature_names_in_) == list(X.columns[1:])
    with pytest.raises(ValueError, match="same order"):
        ranker.predict(X[X.columns[::-1]])


def test_catboost_has_importances_for_a_ranking_loss():
    X, y = make_ranking(n_queries=40, as_frame=True, random_state=0)
    ranker = QueryRanker(make_ranker("catboost")).fit(X, y)
    shares = ranker.feature_importances_
    assert shares.shape == (ranker.n_features_in_,)
    assert shares.sum() == pytest.approx(100)
    noise = pd.Series(np.random.default_rng(0).normal(size=len(y)), index=X.index)
    again = QueryRanker(make_ranker("catboost")).fit(X.assign(noise=noise), y)
    assert again.feature_importances_[-1] < again.feature_importances_.max() / 3


def test_a_column_of_labels_is_flattened_with_a_warning():
    X, y = make_ranking(n_queries=20, as_frame=True, random_state=0)
    with pytest.warns(UserWarning, match="A column-vector y was passed"):
        ranker = QueryRanker(Ridge()).fit(X, pd.DataFrame({"rel": y}))
    np.testing.assert_array_equal(ranker.predict(X), QueryRanker(Ridge()).fit(X, y).predict(X))
    with pytest.raises(ValueError, match="1d"):
        QueryRanker(Ridge()).fit(X, np.column_stack([y, y]))
