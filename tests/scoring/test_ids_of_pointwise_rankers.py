"""`groups` of a call reach a pointwise QueryRanker, whatever the metric, as ids in X do."""

import numpy as np
import pytest
from lightgbm import LGBMRanker
from sklearn.base import clone
from sklearn.feature_selection import RFECV
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    cross_val_predict,
    cross_val_score,
    permutation_test_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from sklearn_rankscore import NoGroupsError, QueryKFold, QueryRanker, make_ranking

X, GRADES, QID = make_ranking(n_queries=24, random_state=0)
Y = (GRADES >= 2).astype(int)
SPLITTERS = {
    "QueryKFold": QueryKFold(3),
    "GroupKFold": GroupKFold(3),
    "splits": list(GroupKFold(3).split(X, Y, QID)),
}


def confidence(model, train, test):
    fitted = clone(model).fit(X[train], Y[train])
    name = "decision_function" if isinstance(model, LogisticRegression) else "predict"
    return getattr(fitted, name)(X[test])


def by_hand(model, cv):
    folds = cv if isinstance(cv, list) else cv.split(X, Y, groups=QID)
    return [roc_auc_score(Y[test], confidence(model, train, test)) for train, test in folds]


@pytest.mark.parametrize("model", [Ridge(), LogisticRegression()], ids=["Ridge", "logistic"])
@pytest.mark.parametrize("cv", SPLITTERS.values(), ids=SPLITTERS)
def test_a_metric_of_thresholds(cv, model):
    ranker, expected = QueryRanker(model), by_hand(model, cv)
    options = {"groups": QID, "cv": cv, "scoring": "roc_auc"}
    np.testing.assert_allclose(cross_val_score(ranker, X, Y, **options), expected)
    test = permutation_test_score(ranker, X, Y, n_permutations=1, **options)
    assert test[0] == pytest.approx(np.mean(expected))


def test_a_search_over_models():
    cv = SPLITTERS["GroupKFold"]
    models = [Ridge(100), LogisticRegression()]
    search = GridSearchCV(QueryRanker(Ridge()), {"estimator": models}, scoring="roc_auc", cv=cv)
    search.fit(X, Y, groups=QID)
    expected = [np.mean(by_hand(model, cv)) for model in models]
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], expected)


def test_confidences_of_folds():
    cv, model = QueryKFold(3), LogisticRegression()
    predicted = cross_val_predict(
        QueryRanker(model), X, Y, groups=QID, cv=cv, method="decision_function"
    )
    for train, test in cv.split(X, Y, groups=QID):
        np.testing.assert_allclose(predicted[test], confidence(model, train, test))


def test_no_confidences_of_several_grades():
    """scikit-learn would number the grades 0, 1 and 4 before the fit."""
    ranker, cv = QueryRanker(LogisticRegression()), QueryKFold(3)
    grades = np.where(GRADES >= 2, 4, GRADES)
    with pytest.raises(AttributeError, match="'QueryRanker' has no attribute 'decision_function'"):
        cross_val_predict(ranker, X, grades, groups=QID, cv=cv, method="decision_function")
    predicted = cross_val_predict(ranker, X, grades, groups=QID, cv=cv)
    for train, test in cv.split(X, grades, groups=QID):
        fitted = LogisticRegression().fit(X[train], grades[train])
        expected = fitted.predict_proba(X[test]) @ [0, 1, 4]
        np.testing.assert_allclose(predicted[test], expected)


@pytest.mark.parametrize(
    "ranked", [{"queryranker": [QueryRanker(Ridge())]}, {"queryranker__estimator__alpha": [1]}]
)
@pytest.mark.parametrize("order", [1, -1])
def test_candidates_of_other_kinds_are_given_none(ranked, order):
    pipeline = make_pipeline(FunctionTransformer(), QueryRanker(Ridge()))
    cv = GroupKFold(3)
    candidates = [ranked, {"queryranker": [Ridge()]}][::order]
    search = GridSearchCV(pipeline, candidates, scoring="r2", cv=cv)
    first, second = search.fit(X, Y, groups=QID).cv_results_["mean_test_score"]
    assert first == second == cross_val_score(Ridge(), X, Y, groups=QID, cv=cv).mean()


@pytest.mark.parametrize("order", [1, -1])
def test_candidates_that_need_ids_beside_one_that_takes_none(order):
    pipeline = make_pipeline(FunctionTransformer(), QueryRanker(Ridge()))
    models = [QueryRanker(Ridge()), QueryRanker(LGBMRanker(verbose=-1)), Ridge()][::order]
    search = GridSearchCV(pipeline, {"queryranker": models}, scoring="r2", cv=GroupKFold(3))
    with pytest.raises(NoGroupsError, match="wrap every candidate of the search in QueryRanker"):
        search.fit(X, Y, groups=QID)


@pytest.mark.parametrize("order", [1, -1])
def test_an_inner_search_needs_ids_beside_a_candidate_that_takes_none(order):
    inner = GridSearchCV(Ridge(), {"alpha": [1, 2]}, cv=GroupKFold(2))
    pipeline = make_pipeline(FunctionTransformer(), Ridge())
    models = {"ridge": [inner, Ridge()][::order]}
    search = GridSearchCV(pipeline, models, scoring="r2", cv=QueryKFold(3))
    with pytest.raises(NoGroupsError, match="wrap every candidate of the search in QueryRanker"):
        search.fit(X, Y, groups=QID)


def test_elimination_of_features():
    selector = RFECV(QueryRanker(Ridge()), cv=GroupKFold(3), scoring="roc_auc")
    means = selector.fit(X, Y, groups=QID).cv_results_["mean_test_score"]
    assert means[-1] == pytest.approx(np.mean(by_hand(Ridge(), GroupKFold(3))))
