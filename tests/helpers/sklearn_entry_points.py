"""Every entry point of scikit-learn that takes a string for `scoring`, called with one.

Nothing here imports sklearn_rankscore: the caller imports it before or after scikit-learn. `main`
prints the results as JSON. Queries have six adjacent documents, so that KFold never
splits one.
"""

import copy
import inspect
import json
import pickle
import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
from sklearn import clone, config_context
from sklearn.ensemble import (
    ExtraTreesRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_selection import RFECV, SequentialFeatureSelector
from sklearn.inspection import permutation_importance
from sklearn.linear_model import (
    LogisticRegression,
    LogisticRegressionCV,
    Ridge,
    RidgeClassifierCV,
    RidgeCV,
)
from sklearn.metrics import check_scoring, get_scorer, get_scorer_names
from sklearn.model_selection import (
    GridSearchCV,
    HalvingRandomSearchCV,
    KFold,
    LearningCurveDisplay,
    TunedThresholdClassifierCV,
    cross_val_score,
    cross_validate,
    permutation_test_score,
)
from sklearn.utils import estimator_html_repr

NAME = "ndcg@3"
ONE_LIST = "ndcg@50(groups=none,ties=stable)"
ALPHAS = [1e-2, 30.0, 3000.0]
N_QUERIES, N_DOCUMENTS = 36, 6

ENTRY_POINTS = {}


def make_data():
    random = np.random.default_rng(0)
    X = random.normal(size=(N_QUERIES * N_DOCUMENTS, 4)) * [1, 1, 3, 1]
    utility = X @ [1.0, 0.6, -0.2, 0.0] + random.normal(size=len(X))
    grades = np.digitize(utility, [0, 1, 2])
    qid = np.repeat(np.arange(N_QUERIES), N_DOCUMENTS)
    index = pd.Index(qid, name="qid")
    return SimpleNamespace(
        X=X,
        y=pd.Series(grades, index=index),
        relevant=pd.Series(grades > 0, index=index).astype(int),
        X_indexed=pd.DataFrame(X, index=index),
        qid=qid,
        folds=list(KFold(3).split(X)),
    )


def entry_point(function):
    ENTRY_POINTS[function.__name__] = function
    return function


def candidates(search):
    """Candidates of a search and their mean scores."""
    results = search.cv_results_
    key = next(k for k in (f"mean_test_{NAME}", "mean_test_score") if k in results)
    return {"params": results["params"], "means": results[key]}


def grid_search(**kwargs):
    return GridSearchCV(Ridge(), {"alpha": ALPHAS}, error_score="raise", **kwargs)


@entry_point
def get_scorer_by_name(d):
    fitted = Ridge().fit(d.X, d.y)
    return [get_scorer(name)(fitted, d.X, d.y) for name in (NAME, "ndcg@1", "ndcg@12345", "ndcg")]


@entry_point
def names_listed(d):
    return sum(name.startswith("ndcg") for name in get_scorer_names())


@entry_point
def check_scoring_string(d):
    fitted = Ridge().fit(d.X, d.y)
    return check_scoring(fitted, scoring=NAME)(fitted, d.X, d.y)


@entry_point
def check_scoring_list(d):
    fitted = Ridge().fit(d.X, d.y)
    return check_scoring(fitted, scoring=[NAME, "mrr"])(fitted, d.X, d.y)


@entry_point
def cross_validate_list(d):
    scores = cross_validate(Ridge(), d.X, d.y, scoring=[NAME, "mrr", "r2"], cv=d.folds)
    return [scores[f"test_{name}"] for name in (NAME, "mrr", "r2")]


@entry_point
def grid_search_list_with_refit(d):
    search = grid_search(scoring=["mrr", NAME], refit=NAME, cv=d.folds).fit(d.X, d.y)
    return {**candidates(search), "score": search.score(d.X, d.y)}


HALVING = {
    "resource": "n_estimators",
    "min_resources": 4,
    "max_resources": 8,
    "factor": 2,
    "cv": KFold(3),
    "scoring": NAME,
    "random_state": 0,
}


@entry_point
def halving_random_search(d):
    trees = ExtraTreesRegressor(random_state=0)
    search = HalvingRandomSearchCV(trees, {"max_features": [1, 2, 4]}, n_candidates=2, **HALVING)
    return candidates(search.fit(d.X, d.y))


@entry_point
def learning_curve_display(d):
    display = LearningCurveDisplay.from_estimator(
        Ridge(), d.X, d.y, scoring=NAME, cv=d.folds, train_sizes=[72, 144]
    )
    return [display.train_scores, display.test_scores]


@entry_point
def permutation_test(d):
    # the ids are in the index of X, because the index of y is permuted with y
    score, permuted, _ = permutation_test_score(
        Ridge(), d.X_indexed, d.y, scoring=NAME, cv=d.folds, n_permutations=2, random_state=0
    )
    return [score, *permuted]


@entry_point
def permutation_importance_string(d):
    fitted = Ridge().fit(d.X, d.y)
    importance = permutation_importance(fitted, d.X, d.y, scoring=NAME, n_repeats=2, random_state=0)
    return importance.importances


@entry_point
def permutation_importance_list(d):
    fitted, scoring = Ridge().fit(d.X, d.y), [NAME, "r2"]
    importance = permutation_importance(
        fitted, d.X, d.y, scoring=scoring, n_repeats=2, random_state=0
    )
    return importance[NAME].importances


@entry_point
def sequential_feature_selector(d):
    selector = SequentialFeatureSelector(
        Ridge(), n_features_to_select=2, scoring=NAME, cv=d.folds
    ).fit(d.X, d.y)
    return selector.get_support(indices=True)


@entry_point
def rfecv(d):
    with config_context(enable_metadata_routing=True):
        selector = RFECV(Ridge(), scoring=NAME, cv=d.folds).fit(d.X, d.y, groups=d.qid)
        score = selector.score(d.X, d.y, groups=d.qid)
    return [*selector.cv_results_["mean_test_score"], score]


@entry_point
def logistic_regression_cv(d):
    known = inspect.signature(LogisticRegressionCV).parameters
    # 1.8 and 1.9 warn if these are not set
    new = {"use_legacy_attributes": False, "l1_ratios": (0.0,)}
    kwargs = new if "use_legacy_attributes" in known else {}
    with config_context(enable_metadata_routing=True):
        model = LogisticRegressionCV(
            Cs=[0.01, 1.0], scoring=NAME, cv=d.folds, tol=1e-10, max_iter=10_000, **kwargs
        ).fit(d.X, d.y, groups=d.qid)
        score = model.score(d.X, d.y, groups=d.qid)
    scores = model.scores_
    scores = next(iter(scores.values())) if isinstance(scores, dict) else scores
    return {"scores": np.squeeze(scores), "C": np.squeeze(model.C_).flat[0], "score": score}


@entry_point
def ridge_cv_leave_one_out_one_list(d):
    model = RidgeCV(alphas=ALPHAS, scoring=ONE_LIST).fit(d.X, d.y)
    return [model.alpha_, model.best_score_]


@entry_point
def ridge_classifier_cv(d):
    with config_context(enable_metadata_routing=True):
        # it always passes sample_weight, which a scorer by name does not request
        scorer = get_scorer(NAME).set_score_request(sample_weight=True)
        model = RidgeClassifierCV(alphas=ALPHAS, scoring=scorer, cv=d.folds)
        model.fit(d.X, d.relevant, groups=d.qid)
    return [model.alpha_, model.best_score_]


@entry_point
def ridge_classifier_cv_one_list(d):
    model = RidgeClassifierCV(alphas=ALPHAS, scoring=ONE_LIST, cv=d.folds).fit(d.X, d.relevant)
    return [model.alpha_, model.best_score_]


BOOSTING = {"scoring": ONE_LIST, "max_iter": 4, "early_stopping": True, "random_state": 0}


@entry_point
def hist_gradient_boosting_regressor(d):
    model = HistGradientBoostingRegressor(validation_fraction=None, n_iter_no_change=9, **BOOSTING)
    return model.fit(d.X, d.y).train_score_[1:]


@entry_point
def hist_gradient_boosting_classifier(d):
    model = HistGradientBoostingClassifier(validation_fraction=None, n_iter_no_change=9, **BOOSTING)
    return model.fit(d.X, d.relevant).train_score_[1:]


@entry_point
def hist_gradient_boosting_validation(d):
    model = HistGradientBoostingRegressor(validation_fraction=0.25, n_iter_no_change=9, **BOOSTING)
    return model.fit(d.X, d.y).validation_score_[1:]


@entry_point
def hist_gradient_boosting_plain(d):
    # rows are binned and subsampled, so ids cannot arrive: expect an error of this package
    return HistGradientBoostingRegressor(scoring=NAME, early_stopping=True).fit(d.X, d.y)


@entry_point
def tuned_threshold(d):
    model = TunedThresholdClassifierCV(
        LogisticRegression(), scoring=NAME, thresholds=[0.3, 0.5, 0.7], cv=d.folds
    )
    model.set_params(store_cv_results=True).fit(d.X, d.relevant)
    results = model.cv_results_
    return [results["thresholds"], results["scores"]]


@entry_point
def nested_search_in_workers(d):
    # the inner name is resolved in processes that have not imported the package
    inner = grid_search(scoring=NAME, cv=KFold(2))
    searches = cross_validate(
        inner, d.X, d.y, scoring="r2", cv=d.folds, n_jobs=2, return_estimator=True
    )
    return [[s.best_params_["alpha"], s.best_score_] for s in searches["estimator"]]


@entry_point
def skipped_parameter_validation(d):
    with config_context(skip_parameter_validation=True):
        return cross_val_score(Ridge(), d.X, d.y, scoring=NAME, cv=d.folds)


@entry_point
def clone_repr_and_html(d):
    search = clone(grid_search(scoring=NAME, cv=KFold(3)))
    fitted = clone(search).fit(d.X, d.y)
    texts = [repr(search), estimator_html_repr(search), repr(fitted), estimator_html_repr(fitted)]
    return [NAME in text for text in texts]


@entry_point
def pickle_and_deepcopy(d):
    search = grid_search(scoring=NAME, cv=d.folds)
    unfitted = pickle.loads(pickle.dumps(search)).fit(d.X, d.y)
    fitted = search.fit(d.X, d.y)
    copies = [unfitted, pickle.loads(pickle.dumps(fitted)), copy.deepcopy(fitted)]
    return [c.score(d.X, d.y) for c in copies]


@entry_point
def scoring_monitor(d):
    from sklearn.callback import ScoringMonitor

    # it routes no metadata but sample_weight, and LogisticRegression passes it arrays
    monitor = ScoringMonitor(scoring=ONE_LIST)
    LogisticRegression().set_callbacks(monitor).fit(d.X, d.relevant)
    return [row[ONE_LIST] for row in monitor.get_logs().data if ONE_LIST in row]


def plain(value):
    """Lists, numbers and strings, for JSON."""
    if isinstance(value, dict):
        return {key: plain(v) for key, v in value.items()}
    return np.asarray(value).tolist() if not isinstance(value, list) else [plain(v) for v in value]


def drive(name, d):
    """What an entry point returns, or the error that it raises."""
    try:
        return plain(ENTRY_POINTS[name](d))
    except Exception as error:
        return {"error": type(error).__name__, "message": str(error)}


def main():
    data = make_data()
    json.dump({name: drive(name, data) for name in ENTRY_POINTS}, sys.stdout)
