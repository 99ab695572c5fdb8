"""`groups` of cross-validation and searches with splits that do not bring ids of their own."""

import warnings
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from id_alignment import QID, X, Y
from lightgbm import LGBMModel
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.compose import TransformedTargetRegressor
from sklearn.linear_model import Ridge
from sklearn.metrics import make_scorer
from sklearn.model_selection import (
    BaseCrossValidator,
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    PredefinedSplit,
    StratifiedGroupKFold,
    cross_val_score,
    cross_validate,
    permutation_test_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from small_rankers import LGBM

from sklearn_rankscore import QueryKFold, QueryRanker, ndcg_score

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


class OwnSplitter(BaseCrossValidator):
    """A splitter of a user, which does not tell scikit-learn that it requests groups."""

    def split(self, X, y=None, groups=None):
        return GroupKFold(2).split(X, y, groups)

    def get_n_splits(self, X=None, y=None, groups=None):
        return 2


@pytest.mark.parametrize(("scoring", "cv"), [("ndcg", GroupKFold(3)), ("r2", QueryKFold(3))])
def test_an_inner_search_with_a_splitter_of_the_user(scoring, cv):
    inner = GridSearchCV(Ridge(), {"alpha": [1]}, cv=OwnSplitter(), scoring=scoring)
    result = cross_validate(
        inner, X, LABELS, groups=QID, scoring=scoring, cv=cv, return_estimator=True
    )
    for (train, _), search in zip(cv.split(X, LABELS, QID), result["estimator"], strict=True):
        expected = cross_val_score(
            Ridge(), X[train], LABELS[train], groups=QID[train], cv=GroupKFold(2), scoring=scoring
        )
        assert search.best_score_ == pytest.approx(expected.mean(), rel=1e-9)


@pytest.mark.parametrize("cv", [2, KFold(2)])
def test_an_inner_search_that_ranks_nothing_gets_no_ids(cv):
    """scikit-learn would warn that its splitter ignores them."""
    inner = GridSearchCV(Ridge(), {"alpha": [1]}, cv=cv)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        values = cross_val_score(inner, X, LABELS, groups=QID, scoring="ndcg", cv=GroupKFold(3))
    assert values == pytest.approx(by_hand(WHOLE, QID), rel=1e-9)


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


class OfQuerySizes(RegressorMixin, BaseEstimator):
    """A model of other things whose fit has an argument `group`, as rankers have."""

    def fit(self, X, y, group=None):
        assert group is None
        self.mean_ = np.mean(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)


def test_models_that_rank_nothing_are_left_alone():
    """Also where scikit-learn hands `groups` to a task, and with a splitter of this package."""
    assert cross_val_score(OfQuerySizes(), X, LABELS, cv=3).shape == (3,)
    regression = LGBMModel(objective="regression", n_estimators=2, verbose=-1, n_jobs=1)
    assert np.isfinite(cross_val_score(regression, X, LABELS, scoring="r2", cv=3)).all()
    for cv in (GroupKFold(3), QueryKFold(3)):
        score, _, _ = permutation_test_score(
            OfFeatures(), X, LABELS, groups=QID, cv=cv, scoring="r2", n_permutations=1
        )
        assert np.isfinite(score)


USER_LEVEL = pd.DataFrame(X, index=pd.MultiIndex.from_arrays([QID, USERS], names=["qid", "user"]))


@pytest.mark.parametrize("levels", [["qid", "user"], ["user"]])
@pytest.mark.parametrize("step", [StandardScaler(), FunctionTransformer()], ids=repr)
def test_a_pipeline_ranks_by_the_level_of_its_ranker(step, levels):
    ranker = QueryRanker(Ridge(), groups="user")
    X = USER_LEVEL.reset_index(
        [name for name in USER_LEVEL.index.names if name not in levels], drop=True
    )
    result = cross_validate(
        make_pipeline(step, ranker), X, LABELS, groups=USERS, cv=GroupKFold(3),
        scoring="ndcg(groups=user)", return_estimator=True, return_indices=True,
    )  # fmt: skip
    for pipeline, train in zip(result["estimator"], result["indices"]["train"], strict=True):
        assert pipeline[-1].n_queries_ == len(np.unique(USERS[train]))


def test_an_inner_search_splits_by_the_groups_of_the_call():
    """As the outer one does, also where X has ids of queries."""
    inner = GridSearchCV(QueryRanker(Ridge()), {"estimator__alpha": [1]}, cv=Recorded(2))
    X = USER_LEVEL.droplevel("user")
    Recorded.groups.clear()
    cross_val_score(inner, X, LABELS, groups=USERS, cv=GroupKFold(3), scoring="ndcg")
    assert len(Recorded.groups) == 3
    for (train, _), groups in zip(
        GroupKFold(3).split(X, LABELS, USERS), Recorded.groups, strict=True
    ):
        np.testing.assert_array_equal(groups, USERS[train])


@pytest.mark.parametrize("place", ["X", "y"])
def test_a_target_is_transformed_with_ids_in_an_index(place):
    model = TransformedTargetRegressor(QueryRanker(LGBM), func=np.rint, inverse_func=np.positive)
    index = pd.Index(QID, name="qid")
    rows = pd.DataFrame(X, index) if place == "X" else X
    labels = pd.Series(LABELS, index) if place == "y" else LABELS
    options = {"scoring": "ndcg", "cv": QueryKFold(3)}
    values = cross_val_score(model, rows, labels, error_score="raise", **options)
    assert values.tolist() == cross_val_score(model, X, LABELS, groups=QID, **options).tolist()


class Recorded(GroupKFold):
    """Notes the groups that it is given."""

    groups: ClassVar = []

    def split(self, X, y=None, groups=None):
        self.groups.append(groups)
        return super().split(X, y, groups)


def names_of(scoring):
    return ["score"] if isinstance(scoring, str) else scoring


def forwards_weights():
    """Whether scikit-learn passes weights of a fit to the scorer without metadata routing."""
    seen = []

    def score(y_true, y_pred, sample_weight=None):
        seen.append(sample_weight is not None)
        return 0.0

    search = GridSearchCV(Ridge(), {}, scoring=make_scorer(score), refit=False, cv=2)
    search.fit(X, LABELS, sample_weight=np.ones(len(Y)))
    return all(seen)
