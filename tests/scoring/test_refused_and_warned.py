"""What no ids reach, or wrong ones: one error before the first fit, and a warning of split queries.

The first table has the class of the error, what its first line tells, and calls; the second one
advice, a call that is given it, and the call that follows it.
"""

import re
import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
import sklearn
from id_alignment import FOLDS, QID, X, Y
from sklearn import config_context
from sklearn import model_selection as ms
from sklearn.base import clone
from sklearn.ensemble import VotingRegressor
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_selection import RFECV, SelectFromModel, SequentialFeatureSelector
from sklearn.frozen import FrozenEstimator
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifierCV
from sklearn.metrics import make_scorer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer

import sklearn_rankscore as rs

LABELS, CV = Y % 10, rs.QueryKFold(2)
RELEVANT = (LABELS > 2).astype(int)
LEVEL = pd.Index(QID, name="qid")
FRAME = pd.DataFrame(X, columns=list("abc"))
SESSIONS = FRAME.assign(session=QID)
BY_Y = pd.Series(LABELS, LEVEL)
BY_NDCG = {"scoring": "ndcg@3", "cv": CV}
GIVEN = BY_NDCG | {"groups": QID}


class NeverFitted(Ridge):
    """A ranker whose fit is an error."""

    def fit(self, X, y, group=None):
        raise AssertionError("fitted before the call was refused")


class Never(Ridge):
    """A model of single documents whose fit is an error."""

    def fit(self, X, y):
        raise AssertionError("fitted before the call was refused")


NEVER = rs.QueryRanker(NeverFitted(), group_param="group")
RIDGE = rs.QueryRanker(Ridge())
SAMPLING = rs.QueryRanker(Ridge(), max_queries=20, random_state=0)  # which needs ids
BY_SESSION = rs.QueryRanker(Ridge(), groups="session")
FITTED = Ridge().fit(X, LABELS)


def routed(call):
    def with_routing():
        with config_context(enable_metadata_routing=True):
            return call()

    return with_routing


def score(model, rows=X, labels=Y, scoring="ndcg@3", **options):
    return lambda: ms.cross_validate(model, rows, labels, scoring=scoring, **options)


def declining():
    scorer = rs.make_ranking_scorer("ndcg@3").set_score_request(groups="session_id")
    return score(RIDGE, scoring=scorer, cv=CV, params={"groups": QID})()


def tuned(rows, labels):
    model = ms.TunedThresholdClassifierCV(LogisticRegression(), scoring="precision@3", cv=FOLDS)
    return lambda: model.fit(rows, labels)


def candidates(estimator, grid, **options):
    pipeline = make_pipeline(FunctionTransformer(), estimator)
    search = ms.GridSearchCV(pipeline, grid, **BY_NDCG | options)
    return lambda: search.fit(X, LABELS, groups=QID)


def fitted(model, scoring, rows=X, **options):
    return lambda: rs.make_ranking_scorer(scoring, **options)(model, rows, Y, groups=QID)


def searched(labels):
    return lambda: ms.GridSearchCV(RIDGE, {}, **BY_NDCG).fit(X, Y, groups=QID).score(X, labels)


VOTE = VotingRegressor([("a", FrozenEstimator(RIDGE.fit(X, Y, groups=QID))), ("b", NEVER)])
INNER = ms.GridSearchCV(NEVER, {}, cv=3, scoring="ndcg@3")
TWO = {"a": make_scorer(rs.ndcg_score), "b": "r2"}
WORDS = pd.Series(np.where(RELEVANT, "yes", "no"), LEVEL)
WRAP = "wrap every candidate of the search, and the model that they replace, in QueryRanker"
NO_IDS = {  # what a NoGroupsError tells, and its calls
    "NeverFitted.fit: in cross-validation pass groups=ids and cv=QueryKFold(5)": [
        score(NEVER, cv=3), score(NEVER, FRAME, scoring="r2", cv=3),
        score(VOTE, groups=QID, cv=CV)],
    "the metric 'ndcg@3': in cross-validation pass groups=ids and cv=QueryKFold(5)": [
        score(Never(), cv=FOLDS, error_score=np.nan), score(Never(), labels=Y - 99, cv=3)],
    "the scorer make_scorer(ndcg_score": [score(Never(), scoring=TWO, cv=3)],
    "the scorer Pipeline.score: in cross-validation pass groups=ids": [
        score(make_pipeline(FunctionTransformer(), RIDGE), scoring=None, cv=3)],
    # what calls a scorer itself got groups=ids, or does not take them
    "the metric 'ndcg@3': pass groups=ids; where scikit-learn does not pass them on, have them": [
        lambda: RFECV(Ridge(), **BY_NDCG).fit(X, Y, groups=QID),
        lambda: permutation_importance(FITTED, X, Y, scoring="ndcg@3")],
    "pass params={'groups': ids}": [routed(score(Never(), cv=FOLDS))],
    "let scorers request them": [routed(declining)],
    # tuning of thresholds does not pass X on
    "No query ids reached the metric 'precision@3'": [tuned(FRAME.set_index(LEVEL), RELEVANT)],
    "the folds of the inner GridSearchCV: give it cv=QueryKFold(3)": [score(INNER, **GIVEN)],
    WRAP: [candidates(NEVER, {"queryranker": [Ridge(), NEVER]}),
           *(candidates(Never(), {"never": [NEVER]}, scoring=scoring)
             for scoring in ("ndcg@3", "r2"))],
    "Leave it out: the data have 'qid'": [
        fitted(FITTED, "ndcg", FRAME.assign(qid=QID), groups="session")],
}  # fmt: skip
OTHERS = {  # and those of other errors
    "scoring=ndcg_score(k=10) is a function": [
        TypeError, score(Never(), scoring=partial(rs.ndcg_score, k=10), groups=QID, cv=CV)],
    "scoring='ndcg@10', or make_ranking_scorer('mrr', ...)": [
        TypeError, score(Never(), scoring={"a": rs.mrr_score}, groups=QID, cv=CV)],
    "average=None gives one per query": [
        ValueError, lambda: rs.make_ranking_scorer("ndcg@3(average=none)"),
        lambda: rs.make_ranking_scorer("ndcg@3(groups=none)", average=None)],
    "a ranking metric takes one score for each document": [
        ValueError, fitted(Ridge().fit(X, np.c_[Y, -Y]), "ndcg")],
    "groups": [TypeError, routed(
        lambda: permutation_importance(FITTED, X, Y, scoring="ndcg", groups=QID))],
    "sample_weight": [ValueError, routed(
        lambda: RidgeClassifierCV(scoring="ndcg", cv=CV).fit(X, RELEVANT, groups=QID))],
    "y_score must hold numbers; got strings": [ValueError, tuned(X, WORDS)],
}  # fmt: skip
REFUSED = {told: [rs.NoGroupsError, *calls] for told, calls in NO_IDS.items()} | OTHERS


@pytest.mark.parametrize("told", REFUSED)
@pytest.mark.filterwarnings("ignore::sklearn_rankscore.PartialQueryWarning")
def test_one_error(told):
    kind, *calls = REFUSED[told]
    for call in calls:
        with pytest.raises(kind, match=re.escape(told)) as raised:
            call()
        assert told in str(raised.value).splitlines()[0]


def select(labels=Y, **options):
    selector = SequentialFeatureSelector(Ridge(), n_features_to_select=2, scoring="ndcg@3")
    return lambda: selector.set_params(**options).fit(X, labels)


def halving(**options):
    grid, options = {"estimator__alpha": [1, 10]}, BY_NDCG | {"random_state": 0} | options
    return lambda: ms.HalvingGridSearchCV(SAMPLING, grid, **options).fit(X, LABELS, groups=QID)


OF_Y = "pd.Series(numpy.asarray(y), index=pd.Index(ids, name='qid'))"
ON_Y = eval(OF_Y, {"y": LABELS, "ids": QID, "pd": pd, "numpy": np})
ON_X = FRAME.assign(qid=QID).set_index("qid")
SELECT = make_pipeline(SelectFromModel(SAMPLING), SAMPLING)
PIPELINE = Pipeline([("select", SelectFromModel(Ridge())), ("ranker", SAMPLING)])
PLACES = (
    "QueryKFold(5, groups='session'), QueryRanker(..., groups='session') and "
    "'ndcg@10(groups=session)'"
)
OF_SESSIONS = {"cv": rs.QueryKFold(2, groups="session"), "scoring": "ndcg(groups=session)"}
OF_NAMES = [  # a function that calls a metric by its name
    score(Ridge(), groups=QID, cv=CV, scoring=make_scorer(function))
    for function in (lambda y, s: rs.ndcg_score(y, s), lambda y, s: ndcg_score(y, s))
]
ndcg_score = rs.ndcg_score
HALVED = "resource='max_queries' and max_resources=, the number of training queries of a fold"
ADVICE = [
    (score(SELECT, **GIVEN, error_score="raise"),
     "in the index of X or y, as by X.set_index('qid')", score(SELECT, ON_X, **BY_NDCG)),
    *((call, OF_Y, select(ON_Y, cv=CV)) for call in (select(), select(cv=CV))),
    (searched(Y), OF_Y, searched(ON_Y)),
    (halving(min_resources=30), HALVED, halving(resource="max_queries", max_resources=12)),
    (score(BY_SESSION, SESSIONS, cv=CV), PLACES, score(BY_SESSION, SESSIONS, **OF_SESSIONS)),
    (lambda: PIPELINE.fit(X, Y, groups=QID), "stepname__parameter",
     lambda: PIPELINE.fit(X, Y, ranker__groups=QID)),
    *((call, "make_scorer(ndcg_score, k=10), which get the ids; write groups=None in the function",
       score(Ridge(), scoring=make_scorer(rs.ndcg_score, k=10), groups=QID, cv=CV))
      for call in OF_NAMES),
]  # fmt: skip


@pytest.mark.parametrize(("call", "advice", "followed"), ADVICE)
def test_the_advice_runs(call, advice, followed):
    with pytest.raises((ValueError, rs.PartialQueryWarning), match=re.escape(advice)):
        call()
    followed()


@pytest.mark.skipif(sklearn.__version__.startswith("1.6."), reason="its searches weight no metric")
@pytest.mark.parametrize("scoring", ["ndcg@3", make_scorer(rs.ndcg_score, k=3), None, TWO])
def test_weights_of_documents_are_for_training_only(scoring):
    weights = np.arange(1.0, 1 + len(Y))
    search = ms.GridSearchCV(RIDGE, {}, scoring=scoring, cv=CV, refit="a")
    with pytest.raises(ValueError, match=r"^sample_weight varies .*, and a search weights the .*"):
        search.fit(X, Y, groups=QID, sample_weight=weights)
    search.fit(X, Y, groups=QID, sample_weight=1.0 + QID)  # one weight for each query
    assert np.isfinite(search.best_score_)


def test_the_advice_trains_with_weights_of_documents():
    weights = np.arange(1.0, 1 + len(Y))
    with config_context(enable_metadata_routing=True):
        weighted = clone(RIDGE).set_fit_request(sample_weight=True)
        unweighted = rs.make_ranking_scorer("ndcg@3").set_score_request(sample_weight=False)
        search = ms.GridSearchCV(weighted, {}, scoring=unweighted, cv=CV)
        search.fit(X, LABELS, groups=QID, sample_weight=weights)
    # cross-validation of scikit-learn weights fits only
    expected = score(RIDGE, labels=LABELS, **GIVEN, params={"sample_weight": weights})()
    assert search.best_score_ == expected["test_score"].mean()


def test_a_function_may_pass_ids_or_find_them():
    options = {"labels": ON_Y, "cv": CV, "error_score": "raise"}
    expected = score(Ridge(), scoring="map", **options)()["test_score"]
    for function in (
        lambda y, scores: rs.map_score(y, scores),
        lambda y, scores: rs.map_score(y.to_numpy(), scores, groups=y.index),
    ):
        values = score(Ridge(), scoring=make_scorer(function), **options)()["test_score"]
        np.testing.assert_allclose(values, expected)


def test_a_function_may_say_that_its_rows_are_the_queries():
    rows, labels = np.random.default_rng(0).normal(size=(24, 2)), np.tile([0, 1, 2, 0], 6)
    options = {"groups": np.arange(24) // 4, "cv": CV}

    def of_lists(y, predicted):
        return rs.ndcg_score(y.reshape(-1, 4), predicted.reshape(-1, 4), k=3, groups=None)

    values, expected = (
        score(Ridge(), rows, labels, scoring, **options)()["test_score"]
        for scoring in (make_scorer(of_lists), "ndcg@3")
    )
    np.testing.assert_allclose(values, expected)


NO_PLACES = [QID, QID.tolist(), pd.Series(QID), True, 0, len, np.True_, 1.0, [], ["a", 1], b"q"]


@pytest.mark.parametrize("source", [*NO_PLACES, (0, 1)], ids=lambda source: type(source).__name__)
def test_what_is_no_place_of_ids(source):
    message = "groups must be the name of a column .* got .* Pass query ids to fit"
    with pytest.raises(TypeError, match=message):
        rs.make_ranking_scorer("mrr", groups=source)
    for given in ({}, {"groups": QID}):
        with pytest.raises(TypeError, match=message):
            next(rs.QueryKFold(3, groups=source).split(FRAME, Y, **given))
        with pytest.raises(TypeError, match=message):
            rs.QueryRanker(Ridge(), groups=source).fit(X, Y, **given)
    if np.isscalar(source) or callable(source):  # which is no id of a row either
        with pytest.raises(TypeError, match=message):
            rs.query_train_test_split(X, Y, groups=source)


def test_ids_of_all_rows_are_right_for_all_rows():
    all_ids = make_scorer(rs.ndcg_score, groups=QID)
    assert all_ids(FITTED, X, LABELS) == rs.ndcg_score(LABELS, FITTED.predict(X), groups=QID)


def warned(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [w for w in caught if issubclass(w.category, rs.PartialQueryWarning)]


def by_ids(model=RIDGE, rows=X, labels=BY_Y, scoring="ndcg@3", **options):
    return lambda cv: score(model, rows, labels, scoring, cv=cv, **options)()


def replaced(cv):
    model = Pipeline([("model", Ridge())])
    return ms.GridSearchCV(model, {"model": [BY_SESSION]}, scoring="mrr", cv=cv).fit(SESSIONS, Y)


ONE_DOCUMENT = [(np.arange(1, len(Y)), np.array([0]))]
SPLIT = {  # calls with a splitter, which warn unless it keeps queries whole
    "several": by_ids(Ridge(), scoring=["r2", "mrr", "ndcg@3"]),
    # its default lets a thread of joblib make tasks, which knows no file of the caller
    "two processes": by_ids(Ridge(), n_jobs=2, pre_dispatch="all"),
    "a search": lambda cv: ms.GridSearchCV(Ridge(), {}, scoring="mrr", cv=cv).fit(X, BY_Y),
    "a named column": by_ids(Ridge(), SESSIONS, LABELS, "ndcg(groups=session)"),
    "a column of the ranker": by_ids(BY_SESSION, SESSIONS, LABELS),
    "a default score": by_ids(BY_SESSION, SESSIONS, LABELS, None),
    "a ranker in a search": replaced,
    "routing": lambda cv: routed(score(Ridge(), labels=LABELS, params={"groups": QID}, cv=cv))(),
    "one document": lambda cv: by_ids(Ridge())(cv if cv is FOLDS else ONE_DOCUMENT),
    "predictions of a ranker": lambda cv: ms.cross_val_predict(RIDGE, X, BY_Y, cv=cv),
}


@pytest.mark.parametrize("name", SPLIT)
def test_split_queries_warn(name):
    cut, whole = (warned(partial(SPLIT[name], cv)) for cv in (ms.KFold(3), FOLDS))
    assert {w.filename for w in cut} == {__file__}
    assert not whole


def test_samples_of_folds_of_ours_carry_ids():
    folds, options = list(CV.split(X, LABELS, groups=QID)), {"scoring": "ndcg@3", "factor": 2}
    search = ms.HalvingGridSearchCV(
        Ridge(), {"alpha": [1, 10]}, cv=folds, min_resources=60, random_state=0, **options
    )
    assert warned(lambda: search.fit(X, LABELS))
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


QUIET = {
    "one list": lambda: by_ids(scoring="ndcg@3(groups=none)")(ms.KFold(3)),
    "no ranking metric": lambda: by_ids(Ridge(), scoring="r2")(ms.KFold(3)),
    "rows of ours": lambda: by_ids()(CV),
    "split training queries": lambda: ms.learning_curve(
        Ridge(), X, BY_Y, scoring="ndcg@3", cv=FOLDS, train_sizes=[17]
    ),
}


@pytest.mark.parametrize("name", QUIET)
def test_no_warning(name):
    assert not warned(QUIET[name])
