"""Functions of users around a metric as scorers: the rows of a fold are not one query."""

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.feature_selection import RFECV
from sklearn.linear_model import Ridge
from sklearn.metrics import make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    cross_val_score,
    cross_validate,
    permutation_test_score,
)

from sklearn_rankscore import NoGroupsError, QueryKFold, evaluate, make_ranking, ndcg_score

X, Y, IDS = make_ranking(n_queries=12, n_features=3, random_state=0)


def of_labels(y_true, y_score):
    return ndcg_score(y_true, y_score, k=5)


def of_rows(estimator, X, y):
    return evaluate(y, estimator.predict(X), "ndcg@5")["ndcg@5"]


def each_query(estimator, X, y):
    """A loop over the queries, of which the first column is the id."""
    scores = estimator.predict(X)
    return np.mean([ndcg_score(y[q], scores[q], k=5) for q in (X[:, 0] == i for i in set(X[:, 0]))])


FUNCTIONS = [make_scorer(of_labels), of_rows]


@pytest.mark.parametrize("cv", [QueryKFold(3), GroupKFold(3)])
@pytest.mark.parametrize("scoring", [*FUNCTIONS, {"one": FUNCTIONS[0]}, {"two": of_rows}])
def test_whole_folds_are_refused(scoring, cv):
    options = {"groups": IDS, "cv": cv, "error_score": "raise"}
    with pytest.raises(
        NoGroupsError, match="function in make_scorer or scoring=, which passes labels"
    ):
        cross_validate(Ridge(), X, Y, scoring=scoring, **options)


@pytest.mark.parametrize("cv", [QueryKFold(3), GroupKFold(3)])
def test_other_processes_refuse_whole_folds(cv):
    scoring = make_scorer(lambda y_true, y_score: ndcg_score(y_true, y_score, k=5))
    options = {"groups": IDS, "cv": cv, "error_score": "raise", "n_jobs": 2}
    with pytest.raises(NoGroupsError, match="which passes labels and predictions alone"):
        cross_val_score(Ridge(), X, Y, scoring=scoring, **options)


@pytest.mark.parametrize("cv", [QueryKFold(3), GroupKFold(3)])
@pytest.mark.parametrize("scoring", [make_scorer(of_labels), of_rows])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_folds_outside_of_cross_validation_are_refused(n_jobs, scoring, cv):
    options = {"cv": cv, "scoring": scoring, "n_jobs": n_jobs}
    with pytest.raises(NoGroupsError, match="which passes labels and predictions alone"):
        RFECV(Ridge(), **options).fit(X, Y, groups=IDS)
    with pytest.raises(NoGroupsError, match="which passes labels and predictions alone"):
        permutation_test_score(Ridge(), X, Y, groups=IDS, n_permutations=2, **options)


def test_folds_of_one_query_are_not_outside_of_cross_validation():
    options = {"groups": IDS, "cv": LeaveOneGroupOut(), "n_permutations": 2, "random_state": 0}
    for scoring in (make_scorer(of_labels), of_rows):
        values = permutation_test_score(Ridge(), X, Y, scoring=scoring, **options)
        expected = permutation_test_score(Ridge(), X, Y, scoring="ndcg@5", **options)
        np.testing.assert_array_equal(values[0], expected[0])
    search = [
        RFECV(Ridge(), cv=QueryKFold(12), scoring=scoring).fit(X, Y, groups=IDS).cv_results_
        for scoring in (make_scorer(of_labels), "ndcg@5")
    ]
    np.testing.assert_array_equal(*(of["mean_test_score"] for of in search))


def test_a_search_fails_as_for_the_metric_alone():
    search = GridSearchCV(Ridge(), {"alpha": [1, 2]}, cv=QueryKFold(3), error_score="raise")
    with pytest.raises(NoGroupsError):
        search.set_params(scoring=of_rows).fit(X, Y, groups=IDS)


@pytest.mark.parametrize("cv", [QueryKFold(3), QueryKFold(8), LeaveOneGroupOut()])
def test_a_loop_over_queries_is_not(cv):
    """Of some folds, the only query has all rows."""
    numbered = np.column_stack([np.unique(IDS, return_inverse=True)[1], X])
    options = {"groups": IDS, "cv": cv, "error_score": "raise"}
    values = [
        cross_val_score(DummyRegressor(), numbered, Y, scoring=scoring, **options)
        for scoring in (each_query, "ndcg@5")
    ]
    np.testing.assert_allclose(*values)


@pytest.mark.parametrize("scoring", FUNCTIONS)
@pytest.mark.parametrize("cv", [QueryKFold(12), LeaveOneGroupOut()])
def test_folds_of_one_query_are_not(scoring, cv):
    values = cross_val_score(Ridge(), X, Y, groups=IDS, cv=cv, scoring=scoring)
    expected = cross_val_score(Ridge(), X, Y, groups=IDS, cv=cv, scoring="ndcg@5")
    np.testing.assert_array_equal(values, expected)


class Looping(DummyRegressor):
    """Evaluates something for as many rows as the test fold has while it is fitted."""

    def fit(self, X, y):
        rows = min(len(X), N_TEST)
        of_labels(y[:rows], np.arange(rows))
        return super().fit(X, y)


N_TEST = max(len(test) for _, test in QueryKFold(2).split(X, Y, groups=IDS))


def test_a_metric_while_fitting_is_not():
    folds = QueryKFold(2)
    options = {"groups": IDS, "cv": folds, "scoring": "ndcg@5"}
    assert np.isfinite(cross_val_score(Looping(), X, Y, **options)).all()
    test = permutation_test_score(Looping(), X, Y, n_permutations=2, **options)
    assert np.isfinite(test[0])


@pytest.mark.parametrize("scoring", FUNCTIONS)
def test_ids_in_the_index_of_labels_suffice(scoring):
    labels = pd.Series(Y, pd.Index(IDS, name="qid"))
    options = {"cv": QueryKFold(3), "error_score": "raise"}
    values = cross_val_score(Ridge(), X, labels, scoring=scoring, **options)
    expected = cross_val_score(Ridge(), X, Y, groups=IDS, scoring="ndcg@5", **options)
    np.testing.assert_array_equal(values, expected)


def test_one_query_is_said_to_be_one():
    scoring = make_scorer(lambda y, scores: ndcg_score(y, scores, groups="none"))
    values = cross_val_score(Ridge(), X, Y, groups=IDS, cv=QueryKFold(12), scoring=scoring)
    expected = cross_val_score(Ridge(), X, Y, groups=IDS, cv=QueryKFold(12), scoring="ndcg")
    np.testing.assert_array_equal(values, expected)


class Thirds:
    """A splitter to which groups mean something else."""

    def split(self, X, y=None, groups=None):
        return KFold(3).split(X)

    def get_n_splits(self, X=None, y=None, groups=None):
        return 3


@pytest.mark.parametrize("groups", [[[1], [2]] * 6, [None, *"abcabcabcab"], np.full(12, np.nan)])
def test_groups_of_other_calls_may_be_anything(groups):
    def error(estimator, rows, labels):
        return -np.abs(labels - estimator.predict(rows)).mean()

    given = Ridge(), X[:12], Y[:12]
    options = {"cv": Thirds(), "error_score": "raise"}
    values = cross_val_score(*given, groups=groups, scoring=error, **options)
    expected = cross_val_score(*given, scoring="neg_mean_absolute_error", **options)
    np.testing.assert_allclose(values, expected)
