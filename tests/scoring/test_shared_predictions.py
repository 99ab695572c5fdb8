"""Metrics of one call share a prediction and a sort."""

import threading

import numpy as np
import pandas as pd
import pytest
from id_alignment import FOLDS, QID, X, Y
from joblib import parallel_config
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.tree import DecisionTreeRegressor
from threadpoolctl import threadpool_limits

from sklearn_rankscore import make_ranking_scorer
from sklearn_rankscore.ranking import ranking
from sklearn_rankscore.ranking.fast import engine

pytestmark = pytest.mark.filterwarnings(
    # scikit-learn 1.6 sets options that SciPy has since deprecated
    "ignore:scipy.optimize:DeprecationWarning"
)

METRICS = ["ndcg@5", "map", "mrr@3", "precision@3(threshold=1)", "ndcg@10(gain=exponential)"]
LABELS = Y % 10
ROWS = pd.DataFrame(X, columns=list("abc"), index=pd.Index(QID, name="qid"))
MODELS = [
    Ridge(),
    LogisticRegression(tol=1e-2),
    DecisionTreeRegressor(max_depth=3),
]


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Threads cost more than they save for models this small."""
    with threadpool_limits(1):
        yield


class Counter:
    def __init__(self):
        self.calls, self._lock = 0, threading.Lock()

    def up(self):
        with self._lock:
            self.calls += 1


@pytest.fixture
def sorts(monkeypatch):
    """Sorts of scores: all queries have five documents, so that a fold is one block."""
    counter, rank = Counter(), engine.rank_by_keys
    monkeypatch.setattr(ranking, "PLAIN", False)  # sorts are counted on the fast path

    def counted(*args):
        counter.up()
        return rank(*args)

    monkeypatch.setattr(engine, "rank_by_keys", counted)
    return counter


PREDICTED = Counter()


@pytest.fixture
def predicts():
    PREDICTED.calls = 0
    return PREDICTED


class Counted(RegressorMixin, BaseEstimator):
    def __init__(self, alpha=1.0):
        self.alpha = alpha

    def fit(self, X, y):
        self.model_ = Ridge(self.alpha).fit(X, y)
        return self

    def predict(self, X):
        PREDICTED.up()
        return self.model_.predict(X)


class CountedClassifier(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        self.model_ = LogisticRegression(max_iter=1000).fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict_proba(self, X):
        PREDICTED.up()
        return self.model_.predict_proba(X)


def validate(scoring, model=None, **kwargs):
    return cross_validate(model or Counted(), ROWS, LABELS, scoring=scoring, cv=FOLDS, **kwargs)


def test_cross_validate_predicts_and_sorts_once_a_fold(sorts, predicts):
    validate(METRICS)
    assert (predicts.calls, sorts.calls) == (3, 3)


def test_metrics_of_sklearn_share_the_prediction(sorts, predicts):
    validate([*METRICS, "r2"])
    assert (predicts.calls, sorts.calls) == (3, 3)


def test_train_scores_need_their_own_sort(sorts, predicts):
    validate(METRICS, return_train_score=True)
    assert (predicts.calls, sorts.calls) == (6, 6)


def test_search_predicts_and_sorts_once_a_candidate_and_fold(sorts, predicts):
    search = GridSearchCV(
        Counted(), {"alpha": [1, 10]}, scoring=METRICS, refit="ndcg@5", cv=FOLDS
    ).fit(ROWS, LABELS)
    assert (predicts.calls, sorts.calls) == (6, 6)
    search.score(ROWS, LABELS)
    assert (predicts.calls, sorts.calls) == (7, 7)


def test_two_jobs(sorts, predicts):
    with parallel_config(backend="threading"):  # processes would have counters of their own
        validate(METRICS, n_jobs=2)
    assert (predicts.calls, sorts.calls) == (3, 3)


def test_classifier_predicts_once(sorts, predicts):
    validate(METRICS, CountedClassifier())
    assert (predicts.calls, sorts.calls) == (3, 3)


def test_routed_groups(sorts, predicts):
    with config_context(enable_metadata_routing=True):
        cross_validate(Counted(), X, LABELS, scoring=METRICS, cv=FOLDS, params={"groups": QID})
    assert (predicts.calls, sorts.calls) == (3, 3)


def test_scorers_with_other_query_ids_sort_separately(sorts, predicts):
    rows = ROWS.assign(session=0)
    scoring = {"qid": "ndcg", "session": make_ranking_scorer("ndcg", groups="session")}
    scores = cross_validate(Counted(), rows, LABELS, scoring=scoring, cv=FOLDS)
    assert (predicts.calls, sorts.calls) == (3, 6)
    assert (scores["test_qid"] != scores["test_session"]).all()


@pytest.mark.parametrize("model", MODELS)
def test_shared_values_equal_separate_ones(model):
    together = validate(METRICS, model)
    for name in METRICS:
        np.testing.assert_array_equal(together[f"test_{name}"], validate(name, model)["test_score"])
