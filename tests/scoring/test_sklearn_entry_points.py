"""A scoring string gives what a function of an estimator, X and y gives, in each tool.

The function scores by the oracle; it knows the ids from the index of y or, of arrays, from their
first column. Tools that test_ids_arrive.py and test_first_calls.py show are not shown again.
"""

import inspect

import numpy as np
import oracle
import pandas as pd
import pytest
import sklearn
from sklearn import clone, config_context
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.inspection import permutation_importance
from sklearn.linear_model import (
    LogisticRegression,
    LogisticRegressionCV,
    Ridge,
    RidgeClassifierCV,
    RidgeCV,
)
from sklearn.metrics import check_scoring, get_scorer, get_scorer_names, make_scorer
from sklearn.model_selection import (
    KFold,
    LeaveOneOut,
    TunedThresholdClassifierCV,
    cross_val_predict,
    cross_val_score,
)
from sklearn.utils.fixes import parse_version
from threadpoolctl import threadpool_limits

from sklearn_rankscore import QueryKFold

RNG = np.random.default_rng(0)
QID = np.repeat(np.arange(36), 6)  # adjacent, so that KFold never splits one
X = RNG.normal(size=(216, 4)) * [1, 1, 3, 1]
GRADES = np.digitize(X @ [1.0, 0.6, -0.2, 0.0] + RNG.normal(size=216), [0, 1, 2])
Y = pd.Series(GRADES, pd.Index(QID, name="qid"))
INDEXED = pd.DataFrame(X, Y.index)
RELEVANT = (Y > 0).astype(int)
FOLDS, ALPHAS = list(KFold(3).split(X)), [1e-2, 30.0, 3000.0]
FOLDS_OF_OURS = list(QueryKFold(3).split(X, GRADES, groups=QID))  # whose rows carry the ids
FITTED = Ridge().fit(X, Y)
ID_OF_ROW = dict(zip(X[:, 0].tolist(), QID.tolist(), strict=True))
ONE_LIST = "ndcg@50(groups=none,ties=stable)"
METRICS = {  # what the oracle is given for each name
    "ndcg": ("ndcg", {}),
    "ndcg@3": ("ndcg", {"k": 3}),
    "mrr": ("mrr", {}),
    ONE_LIST: ("ndcg", {"k": 50, "ties": "stable"}),
}


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Threads cost more than they save for models this small."""
    with threadpool_limits(1):
        yield


def by_oracle(name, y, scores, ids):
    metric, options = METRICS[name]
    labels, scores, ids = (np.asarray(part).tolist() for part in (y, scores, ids))
    return oracle.score(metric, list(map(float, labels)), scores, ids, **options)


def by_hand(scoring):
    """A function for one name, or a dict of them for several."""
    if isinstance(scoring, list):
        return {name: by_hand(name) for name in scoring}

    def score(estimator, X, y):
        method, classes = "predict", getattr(estimator, "classes_", ())
        if len(classes):
            method = "decision_function" if len(classes) == 2 else "predict_proba"
        scores = getattr(estimator, method)(X)
        scores = scores @ classes if len(classes) > 2 else np.ravel(scores)
        if scoring == ONE_LIST:
            ids = np.zeros(len(y))
        else:
            ids = next((table.index for table in (X, y) if hasattr(table, "index")), None)
            ids = [ID_OF_ROW[row] for row in X[:, 0].tolist()] if ids is None else ids
        return by_oracle(scoring, y, scores, ids)

    return score


def logistic_regression(scoring):
    # 1.8 and 1.9 warn if these are not set
    new = {"use_legacy_attributes": False, "l1_ratios": (0.0,)}
    known = inspect.signature(LogisticRegressionCV).parameters
    new = new if "use_legacy_attributes" in known else {}
    model = LogisticRegressionCV(Cs=[0.01, 1.0], scoring=scoring, cv=FOLDS, max_iter=999, **new)
    given = {"groups": QID} if isinstance(scoring, str) else {}  # which only the strings need
    with config_context(enable_metadata_routing=True):
        model.fit(X, GRADES, **given)
        return [*np.ravel(model.C_), model.score(X, GRADES, **given)]


def best(model, y):
    model.fit(X, y)
    return [model.alpha_, model.best_score_]


def tuned(scoring):
    if not isinstance(scoring, str):  # a function of thresholded scores, which gets no X
        scoring = make_scorer(lambda y, labels: by_oracle("ndcg@3", y, labels, y.index))
    model = TunedThresholdClassifierCV(
        LogisticRegression(), scoring=scoring, thresholds=[0.3, 0.5, 0.7], cv=FOLDS,
        store_cv_results=True,
    )  # fmt: skip
    return model.fit(X, RELEVANT).cv_results_["scores"]


def importance(scoring, rows=X, labels=Y):
    options = {"n_repeats": 2, "random_state": 0, "scoring": scoring}
    result = permutation_importance(clone(FITTED).fit(rows, labels), rows, labels, **options)
    result = result if "importances" in result else result["ndcg@3"]
    return result["importances"]


def selected(scoring):
    selector = SequentialFeatureSelector(Ridge(), n_features_to_select=2, scoring=scoring, cv=FOLDS)
    return selector.fit(X, Y).get_support()


TOOLS = [  # names, and a call with them as `scoring`
    *((name, lambda s: get_scorer(s)(FITTED, X, Y)) for name in METRICS),
    (["ndcg@3", "mrr"], lambda s: [*check_scoring(FITTED, scoring=s)(FITTED, X, Y).values()]),
    (["mrr", "ndcg@3"], importance),
    ("ndcg@3", lambda s: importance(s, INDEXED, GRADES)),
    ("ndcg@3", lambda s: best(RidgeCV(ALPHAS, scoring=s, cv=FOLDS), Y)),
    ("ndcg@3", selected),
    ("ndcg@3", logistic_regression),
    ("ndcg@3", lambda s: best(RidgeClassifierCV(ALPHAS, scoring=s, cv=FOLDS_OF_OURS), GRADES > 0)),
    ("ndcg@3", tuned),
]


@pytest.mark.parametrize(("scoring", "tool"), TOOLS)
# which is true of the function
@pytest.mark.filterwarnings("ignore:.*does not support sample_weight:UserWarning")
def test_a_string_scores_as_a_function_does(scoring, tool):
    expected = tool(by_hand(scoring))
    np.testing.assert_allclose(tool(scoring), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.skipif(parse_version(sklearn.__version__) < parse_version("1.8"), reason="no routing")
def test_ridge_cv_without_folds_ranks_the_documents_left_out():
    with config_context(enable_metadata_routing=True):
        model = RidgeCV([30.0], scoring="ndcg@3").fit(X, GRADES, groups=QID)
    left_out = cross_val_predict(Ridge(30.0), X, GRADES, cv=LeaveOneOut())
    expected = by_oracle("ndcg@3", GRADES, left_out, QID)
    assert model.best_score_ == pytest.approx(expected, rel=1e-9)


MALFORMED = {
    "ndcg@0": "positive integer, got '0'",
    "ndcg@5(gain=lineal)": "Did you mean 'linear'",
    "accurracy": "'scoring' parameter of .* must be|valid scoring value",
}


@pytest.mark.parametrize("name", MALFORMED)
def test_wrong_names_are_explained_by_us_or_scikit_learn(name):
    with pytest.raises(ValueError, match=MALFORMED[name]):
        cross_val_score(Ridge(), X, Y, scoring=name, cv=FOLDS)
    with pytest.raises(ValueError, match=MALFORMED[name]):
        get_scorer(name)


def test_names_of_sklearn_keep_their_meaning():
    for name in ("average_precision", "accuracy", "precision", "recall", "f1", "r2"):
        assert type(get_scorer(name)).__module__.startswith("sklearn.metrics")
    assert not any(name.startswith("ndcg") for name in get_scorer_names())
