"""`groups` of a call reach a pointwise QueryRanker, whatever the metric, as ids in X do."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    cross_val_predict,
    cross_val_score,
)

from sklearn_rankscore import QueryKFold, QueryRanker, make_ranking

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
