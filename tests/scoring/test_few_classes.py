"""Classifiers of a fold with one class, of text, and without probabilities."""

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import HistGradientBoostingClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier, RidgeClassifierCV
from sklearn.model_selection import cross_val_score, cross_validate
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from sklearn_rankscore import QueryKFold, QueryRanker, make_ranking, make_ranking_scorer, ndcg_score
from sklearn_rankscore.rankers.booster import expected_classes

IDS = np.repeat(np.arange(6), 4)
IS_GOOD = np.array([0, 0, 0, 1] * 3 + [0] * 12)  # the first three queries have a relevant document
FRAME = pd.DataFrame(np.random.default_rng(0).normal(size=(24, 3)), index=pd.Index(IDS, name="qid"))
TRAINED_WITHOUT = [(np.arange(12, 24), np.arange(12))]
TEXTS = [["bad", "good"], ["0", "1"], ["no", "yes"]]


@pytest.mark.parametrize("model", [HistGradientBoostingClassifier, DecisionTreeClassifier])
@pytest.mark.parametrize("names", [[0, 1], [2, 5], *TEXTS])
@pytest.mark.filterwarnings("ignore:the labels are text:UserWarning")
def test_a_fold_that_was_trained_on_one_class_has_tied_scores(model, names):
    labels, grades = np.array(names)[IS_GOOD], IS_GOOD
    if names == [2, 5]:
        grades = labels
    expected = ndcg_score(grades[:12], np.zeros(12), groups=IDS[:12], k=2)
    options = {"cv": TRAINED_WITHOUT, "error_score": "raise"}
    for estimator in (model(), QueryRanker(model())):
        score = cross_val_score(estimator, FRAME, labels, scoring="ndcg@2", **options)
        assert score == pytest.approx(expected)
        several = cross_validate(estimator, FRAME, labels, scoring=["ndcg@2", "mrr"], **options)
        assert several["test_ndcg@2"] == pytest.approx(expected)


def test_text_that_is_everywhere_the_same_is_refused():
    with pytest.raises(ValueError, match=r"all labels are 'bad', .*Encode labels as numbers"):
        cross_val_score(
            HistGradientBoostingClassifier(), FRAME, np.array(["bad"] * 24), scoring="ndcg@2",
            cv=TRAINED_WITHOUT, error_score="raise",
        )  # fmt: skip


@pytest.fixture(scope="module")
def data():
    return make_ranking(n_queries=30, random_state=0)


def score(model, X, labels, ids):
    cv = QueryKFold(3)
    return cross_val_score(
        model, X, labels, groups=ids, scoring="ndcg@10", cv=cv, error_score="raise"
    )


def test_predicted_classes_that_are_numeric_text(data):
    X, y, ids = data
    assert score(LinearSVC(), X, y.astype(str), ids) == pytest.approx(score(LinearSVC(), X, y, ids))


@pytest.mark.parametrize("names", TEXTS)
@pytest.mark.filterwarnings("ignore:the labels are text:UserWarning")
def test_predicted_classes_that_are_text(data, names):
    X, y, ids = data
    is_relevant = (y > 1).astype(int)
    tree = DecisionTreeClassifier(random_state=0, max_depth=3)
    model = VotingClassifier([("a", LogisticRegression(max_iter=1000)), ("b", tree)])
    expected = score(model, X, is_relevant, ids)
    assert score(model, X, np.array(names)[is_relevant], ids) == pytest.approx(expected)


def test_rows_of_one_class_are_no_ranking(data):
    X, y, ids = data
    X = pd.DataFrame(X, index=pd.Index(ids, name="qid"))
    model = RidgeClassifierCV([0.1, 1000.0], scoring="ndcg@10")
    with pytest.raises(ValueError, match=r"each row would rank one class\. .*cv=QueryKFold\(5\)"):
        QueryRanker(model).fit(X, (y > 1).astype(int))


@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_weights_of_classes_do_not_weigh_scores(data, class_weight):
    X, y, ids = data
    is_relevant, alphas = (y > 1).astype(int), [0.1, 10.0, 1000.0]
    with config_context(enable_metadata_routing=True):
        scorer = make_ranking_scorer("ndcg@10").set_score_request(sample_weight=False)
        model = RidgeClassifierCV(
            alphas, scoring=scorer, cv=QueryKFold(3), class_weight=class_weight
        )
        fitted = QueryRanker(model).fit(X, is_relevant, groups=ids).estimator_
    means = [
        score(RidgeClassifier(alpha=alpha, class_weight=class_weight), X, is_relevant, ids).mean()
        for alpha in alphas
    ]
    assert fitted.alpha_ == alphas[np.argmax(means)]
    assert fitted.best_score_ == pytest.approx(max(means))


class Probabilities(ClassifierMixin, BaseEstimator):
    """Documents of few kinds, each with its own probabilities of ten grades."""

    def __init__(self, layout="C"):
        self.layout = layout

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        kinds = np.random.default_rng(0).dirichlet(np.ones(10), size=20)
        return np.asarray(kinds[X[:, 0].astype(int)], order=self.layout)


@pytest.mark.parametrize("layout", ["C", "F"])
def test_equal_documents_have_equal_scores(layout):
    """A matrix product rounds rows by their positions."""
    X = np.random.default_rng(1).integers(0, 20, size=(3003, 1))
    model = Probabilities(layout).fit(X, np.arange(3003) % 10)
    scores = QueryRanker(model).fit(X, np.arange(3003) % 10).predict(X)
    assert len(np.unique(scores)) == 20
    np.testing.assert_allclose(scores, model.predict_proba(X) @ np.arange(10))
    in_training = expected_classes(model.predict_proba(X), model.classes_)
    np.testing.assert_array_equal(in_training, scores)


@pytest.mark.parametrize("n_neighbors", [5, 7, 10])
def test_equal_votes_are_ties(n_neighbors):
    """The mean grade of neighbors, which a regressor computes from their grades."""
    X, y = make_ranking(n_queries=60, as_frame=True, random_state=0)
    X = X.set_index("qid")[["x0", "x1"]]
    options = {"scoring": ["ndcg@5", "map@5(threshold=1)"], "cv": QueryKFold(3)}
    expected = cross_validate(KNeighborsRegressor(n_neighbors), X, y, **options)
    votes = KNeighborsClassifier(n_neighbors)
    for model in (votes, QueryRanker(votes)):
        scores = cross_validate(model, X, y, **options)
        for name in options["scoring"]:
            np.testing.assert_allclose(scores[f"test_{name}"], expected[f"test_{name}"], rtol=1e-12)
