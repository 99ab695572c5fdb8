"""`groups` of cross-validation and searches with splits that do not bring ids of their own."""

import numpy as np
import pandas as pd
import pytest
from id_alignment import QID, X, Y
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import Ridge
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    LeaveOneGroupOut,
    PredefinedSplit,
    StratifiedGroupKFold,
    cross_val_score,
    cross_validate,
)

from sklearn_rankscore import NoGroupsError, QueryKFold, QueryRanker, ndcg_score

LABELS, USERS = Y % 10, QID // 2
WHOLE = list(GroupKFold(3).split(X, LABELS, QID))
SPLITS = {
    "GroupKFold": GroupKFold(3),
    "StratifiedGroupKFold": StratifiedGroupKFold(3),
    "LeaveOneGroupOut": LeaveOneGroupOut(),
    "of users": list(QueryKFold(3).split(X, LABELS, groups=USERS)),
    "folds by number": PredefinedSplit(QID % 3),
    "masks": [(~np.isin(QID, q), np.isin(QID, q)) for q in ([0, 1], [2, 3])],
}


def by_hand(splits, ids):
    return [
        ndcg_score(LABELS[test], Ridge().fit(X[train], LABELS[train]).predict(X[test]), groups=ids)
        for train, test, ids in ((train, test, ids[test]) for train, test in splits)
    ]


def splits_of(cv):
    return cv if isinstance(cv, list) else list(cv.split(X, LABELS, QID))


@pytest.mark.parametrize("name", SPLITS)
@pytest.mark.filterwarnings("ignore:The groups parameter is ignored:UserWarning")
def test_groups_of_the_call_are_the_queries(name):
    cv = SPLITS[name]
    expected = by_hand(splits_of(cv), QID)
    options = {"groups": QID, "scoring": "ndcg", "cv": cv}
    assert cross_val_score(Ridge(), X, LABELS, **options) == pytest.approx(expected, rel=1e-9)
    ranked = cross_val_score(QueryRanker(Ridge()), X, LABELS, **options)
    assert ranked == pytest.approx(expected, rel=1e-9)
    search = GridSearchCV(QueryRanker(Ridge()), {"max_queries": [None]}, cv=cv, scoring="ndcg")
    search.fit(X, LABELS, groups=QID)
    assert search.best_score_ == pytest.approx(np.mean(expected), rel=1e-9)


def test_a_name_with_stored_splits():
    rows = pd.DataFrame(X, columns=list("abc")).assign(session=QID)
    cv = SPLITS["of users"]
    search = GridSearchCV(QueryRanker(Ridge(), groups="session"), {}, scoring="ndcg", cv=cv)
    search.fit(rows, LABELS, groups="session")
    assert search.best_score_ == pytest.approx(np.mean(by_hand(cv, QID)), rel=1e-9)


def test_ids_in_x_are_the_queries_and_groups_those_of_the_splits():
    rows = pd.DataFrame(X).set_index(pd.Index(QID, name="qid"))
    splits = list(GroupKFold(3).split(X, LABELS, USERS))
    values = cross_val_score(Ridge(), rows, LABELS, groups=USERS, scoring="ndcg", cv=GroupKFold(3))
    assert values == pytest.approx(by_hand(splits, QID), rel=1e-9)


def test_stored_splits_of_queries_divide_users():
    by_query = list(QueryKFold(4).split(X, LABELS, groups=QID))
    with pytest.raises(NoGroupsError, match="the folds divide the queries of groups="):
        cross_val_score(QueryRanker(Ridge()), X, LABELS, groups=USERS, scoring="ndcg", cv=by_query)


@pytest.mark.parametrize("scoring", ["ndcg", "r2"])
@pytest.mark.parametrize("cv", [GroupKFold(2), StratifiedGroupKFold(2)], ids=repr)
def test_inner_searches(scoring, cv):
    inner = GridSearchCV(QueryRanker(Ridge()), {"estimator__alpha": [1]}, cv=cv, scoring="ndcg")
    result = cross_validate(
        inner, X, LABELS, groups=QID, scoring=scoring, cv=cv, return_estimator=True
    )
    for (train, _), search in zip(cv.split(X, LABELS, QID), result["estimator"], strict=True):
        expected = cross_val_score(
            Ridge(), X[train], LABELS[train], groups=QID[train], cv=cv, scoring="ndcg"
        )
        assert search.best_score_ == pytest.approx(expected.mean(), rel=1e-9)


class OfFeatures(RegressorMixin, BaseEstimator):
    """A model whose `groups` are something else, as in a group lasso."""

    def fit(self, X, y, groups=None):
        assert groups is None
        self.mean_ = np.mean(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)


def test_calls_without_rankings_are_left_alone():
    incomplete = np.where(QID == 0, np.nan, QID)  # which are no query ids
    splits = [(np.arange(20, 50), np.arange(20)), (np.arange(20), np.arange(20, 50))]
    for model in (OfFeatures(), GridSearchCV(OfFeatures(), {}, cv=2)):
        values = cross_val_score(
            model, X, LABELS, groups=incomplete, cv=splits, error_score="raise"
        )
        assert np.isfinite(values).all()
