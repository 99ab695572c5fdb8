"""Query ids given as `groups` to scikit-learn, which passes them to the splitter alone.

`whole_queries` is 1 for a query if its ids have arrived, aligned with the rows of a fold, and
`Recorder` is a ranker that notes in the ids of a fit the same.
"""

import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pandas as pd
import pytest
from id_alignment import N_DOCUMENTS, N_QUERIES, QID, X, Y, whole_queries
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import BaggingRegressor, RandomForestRegressor, VotingRegressor
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_selection import RFECV
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import make_scorer, r2_score
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    GroupShuffleSplit,
    HalvingGridSearchCV,
    KFold,
    RandomizedSearchCV,
    cross_val_predict,
    cross_val_score,
    cross_validate,
    learning_curve,
    permutation_test_score,
    validation_curve,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from small_rankers import LGBM, make_ranker

from sklearn_rankscore import (
    NoGroupsError,
    PartialQueryWarning,
    QueryKFold,
    QueryRanker,
    make_ranking_scorer,
    map_score,
    mrr_score,
    ndcg_score,
)

CV = QueryKFold(3)
ALIGNED = make_ranking_scorer(whole_queries)


class Recorder(RegressorMixin, BaseEstimator):
    """A ranker whose predictions are 1 if its fit got ids of whole queries, and 0 otherwise."""

    def __init__(self, alpha=0):
        self.alpha = alpha

    def fit(self, X, y, group=None):
        sizes = np.asarray(group)
        query = np.asarray(y) // 10
        starts = np.cumsum(sizes) - sizes
        whole = (sizes == N_DOCUMENTS).all()
        self.whole_ = whole and (query == np.repeat(query[starts], sizes)).all()
        self.n_queries_ = len(sizes)
        self.coef_ = np.ones(np.shape(X)[1])
        return self

    def predict(self, X):
        return np.full(len(X), float(self.whole_))


def ranker():
    return QueryRanker(Recorder(), group_param="group")


def mean_prediction(estimator, X, y):
    return np.mean(estimator.predict(X))


LIST = {"metric": ALIGNED, "theirs": "r2", "fit": mean_prediction}


def search(estimator=None, grid=None, **kwargs):
    estimator = ranker() if estimator is None else estimator
    return GridSearchCV(estimator, grid or {"estimator__alpha": [0, 1]}, cv=CV, **kwargs)


def arrived(scores):
    """What a list of scorers says of the ids that reached the metric and the fit."""
    return [*scores["test_metric"], *scores["test_fit"]]


def searched(fitted):
    best = fitted.best_estimator_
    values = [fitted.best_score_, mean_prediction(fitted, X, Y)]
    return [*values, getattr(best, "n_queries_", N_QUERIES) / N_QUERIES]


def halving():
    model = QueryRanker(Recorder(), group_param="group")
    options = {"resource": "max_queries", "min_resources": 6, "max_resources": 12, "factor": 2}
    return HalvingGridSearchCV(
        model, {"estimator__alpha": [0, 1]}, cv=CV, scoring=ALIGNED, random_state=0, **options
    )


PIPELINE = make_pipeline(StandardScaler(), ranker())
CURVE = {"cv": CV, "scoring": ALIGNED}

ARRIVES = {
    "cross_val_score": lambda g: cross_val_score(ranker(), X, Y, groups=g, scoring=ALIGNED, cv=CV),
    "two processes": lambda g: cross_val_score(
        ranker(), X, Y, groups=g, scoring=ALIGNED, cv=CV, n_jobs=2
    ),
    "several scorers": lambda g: arrived(
        cross_validate(ranker(), X, Y, groups=g, scoring=LIST, cv=CV)
    ),
    "training scores": lambda g: cross_validate(
        ranker(), X, Y, groups=g, scoring=LIST, cv=CV, return_train_score=True
    )["train_metric"],
    "pipeline": lambda g: arrived(cross_validate(PIPELINE, X, Y, groups=g, scoring=LIST, cv=CV)),
    "transformed target": lambda g: arrived(
        cross_validate(
            TransformedTargetRegressor(ranker(), check_inverse=False),
            X,
            Y,
            groups=g,
            scoring=LIST,
            cv=CV,
        )
    ),
    "grid search": lambda g: searched(search(scoring=ALIGNED).fit(X, Y, groups=g)),
    "grid search, two processes": lambda g: searched(
        search(scoring=ALIGNED, n_jobs=2).fit(X, Y, groups=g)
    ),
    "grid search, several scorers": lambda g: searched(
        search(scoring=LIST, refit="metric").fit(X, Y, groups=g)
    ),
    "grid search of pipelines": lambda g: searched(
        search(PIPELINE, {"queryranker__estimator__alpha": [0, 1]}, scoring=ALIGNED).fit(
            X, Y, groups=g
        )
    ),
    "models as candidates": lambda g: searched(
        search(PIPELINE, {"queryranker": [ranker(), ranker()]}, scoring=ALIGNED).fit(X, Y, groups=g)
    ),
    "random search": lambda g: searched(
        RandomizedSearchCV(
            ranker(), {"estimator__alpha": [0, 1]}, n_iter=2, cv=CV, scoring=ALIGNED
        ).fit(X, Y, groups=g)
    ),
    "halving": lambda g: [halving().fit(X, Y, groups=g).best_score_],
    "nested search": lambda g: arrived(
        cross_validate(search(scoring=ALIGNED), X, Y, groups=g, scoring=LIST, cv=CV)
    ),
    "nested search, two processes": lambda g: arrived(
        cross_validate(search(scoring=ALIGNED), X, Y, groups=g, scoring=LIST, cv=CV, n_jobs=2)
    ),
    "learning curve": lambda g: learning_curve(
        Ridge(), X, Y, groups=g, **CURVE, train_sizes=[0.5, 1.0]
    )[2],
    "validation curve": lambda g: validation_curve(
        ranker(), X, Y, groups=g, **CURVE, param_name="estimator__alpha", param_range=[0, 1]
    )[1],
    "cross_val_predict": lambda g: cross_val_predict(ranker(), X, Y, groups=g, cv=CV),
    "folds made before": lambda g: cross_val_score(
        ranker(), X, Y, scoring=ALIGNED, cv=list(CV.split(X, Y, groups=g))
    ),
}
INDEXED = pd.DataFrame(X).set_index(pd.Index(QID, name="qid"))


def ndcg_by_hand(scores_of, folds):
    """The score of QueryRanker, NDCG over all ranks, of each fold."""
    return [ndcg_score(Y[test], scores_of(train, test), groups=QID[test]) for train, test in folds]


def ridge_scores(train, test):
    return Ridge().fit(X[train], Y[train]).predict(X[test])


RIDGE = QueryRanker(Ridge())
DEFAULT = {
    "a ranker": RIDGE,
    "a pipeline": make_pipeline(FunctionTransformer(), RIDGE),
    "a pipeline of arrays": make_pipeline(FunctionTransformer(np.asarray), RIDGE),
    "a pipeline of one step": make_pipeline(RIDGE),
    "a search": GridSearchCV(RIDGE, {"max_queries": [None]}, cv=CV),
    "a search by a metric": GridSearchCV(RIDGE, {}, cv=CV, scoring="ndcg"),
    "a search by several": GridSearchCV(RIDGE, {}, cv=CV, scoring=["r2", "ndcg"], refit="ndcg"),
    "a search by a function": GridSearchCV(RIDGE, {}, cv=CV, scoring=make_scorer(ndcg_score)),
    "a search of pipelines": GridSearchCV(
        make_pipeline(FunctionTransformer(np.asarray), RIDGE), {}, cv=CV
    ),
    "a pipeline of a search": make_pipeline(
        FunctionTransformer(np.asarray), GridSearchCV(RIDGE, {}, cv=CV)
    ),
}


@pytest.mark.parametrize("name", DEFAULT)
@pytest.mark.parametrize("rows", [X, INDEXED], ids=["array", "index"])
def test_the_default_score_is_that_of_the_ranker(name, rows):
    folds = list(CV.split(X, Y, groups=QID))
    values = cross_val_score(DEFAULT[name], rows, Y, groups=QID, cv=CV)
    np.testing.assert_allclose(values, ndcg_by_hand(ridge_scores, folds), rtol=1e-9)


def test_the_default_score_of_a_search_by_another_metric():
    by_r2 = GridSearchCV(RIDGE, {}, cv=CV, scoring=["ndcg", "r2"], refit="r2")
    folds = list(CV.split(X, Y, groups=QID))
    values = cross_val_score(by_r2, X, Y, groups=QID, cv=CV)
    expected = [r2_score(Y[test], ridge_scores(train, test)) for train, test in folds]
    np.testing.assert_allclose(values, expected, rtol=1e-9)


def test_the_default_score_of_a_pipeline_needs_ids():
    model = make_pipeline(FunctionTransformer(), RIDGE)
    with pytest.raises(NoGroupsError, match=r"the scorer Pipeline.score: pass groups=ids"):
        cross_val_score(model, X, Y, cv=3)


@pytest.mark.parametrize("scoring", [make_scorer(ndcg_score), "ndcg"])
def test_ids_of_x_are_the_queries_of_every_kind_of_scorer(scoring):
    """Those of the splitter may be coarser."""
    folds = list(CV.split(X, Y, groups=QID // 2))
    values = cross_val_score(Ridge(), INDEXED, Y, groups=QID // 2, cv=CV, scoring=scoring)
    np.testing.assert_allclose(values, ndcg_by_hand(ridge_scores, folds), rtol=1e-9)


@pytest.mark.parametrize("library", ["xgboost", "catboost"])
def test_a_ranker_takes_its_own_ids_of_rows(library):
    name = {"xgboost": "qid", "catboost": "group_id"}[library]
    model = make_ranker(library)
    by_query = np.argsort(QID, kind="stable")
    rows, labels, ids = X[by_query], Y[by_query] % 10, QID[by_query]
    values = cross_val_score(
        model, rows, labels, groups=ids, cv=CV, scoring="ndcg", params={name: ids}
    )
    expected = [
        ndcg_score(
            labels[test],
            clone(model).fit(rows[train], labels[train], **{name: ids[train]}).predict(rows[test]),
            groups=ids[test],
        )
        for train, test in CV.split(rows, labels, groups=ids)
    ]
    np.testing.assert_allclose(values, expected, rtol=1e-9)


@pytest.mark.parametrize("name", ARRIVES)
def test_ids_arrive_aligned(name):
    np.testing.assert_array_equal(ARRIVES[name](QID), 1.0)


@pytest.mark.parametrize("cv", [GroupKFold(3), GroupShuffleSplit(3, random_state=0)], ids=repr)
@pytest.mark.parametrize("name", sorted(set(ARRIVES) - {"folds made before"}))
def test_ids_arrive_aligned_by_splitters_of_scikit_learn(name, cv, monkeypatch):
    monkeypatch.setitem(globals(), "CV", cv)
    monkeypatch.setitem(CURVE, "cv", cv)
    if name != "cross_val_predict" or isinstance(cv, GroupKFold):  # which needs a partition
        np.testing.assert_array_equal(ARRIVES[name](QID), 1.0)


@pytest.mark.parametrize("name", [name for name in ARRIVES if "processes" not in name])
def test_a_later_call_without_ids_is_refused(name):
    ARRIVES[name](QID)
    with pytest.raises(NoGroupsError, match="No query ids reached"):
        ARRIVES[name](None)


def test_calls_at_the_same_time_keep_their_own_ids():
    def score(seed):
        order = np.random.default_rng(seed).permutation(len(Y))
        scores = cross_val_score(
            ranker(), X[order], Y[order], groups=QID[order], scoring=ALIGNED, cv=CV
        )
        return scores.tolist()

    with ThreadPoolExecutor(4) as pool:
        assert set(map(tuple, pool.map(score, range(12)))) == {(1.0, 1.0, 1.0)}


def test_the_arguments_of_the_caller_are_not_changed():
    params, scoring = {}, dict(LIST)
    cross_validate(ranker(), X, Y, groups=QID, scoring=scoring, cv=CV, params=params)
    fitted = search(scoring=ALIGNED).fit(X, Y, groups=QID)
    assert params == {}
    assert scoring == LIST
    assert fitted.scorer_ is ALIGNED
    with pytest.raises(NoGroupsError):
        fitted.score(X, Y)


def test_metrics_are_of_the_queries_of_x_and_folds_of_coarser_groups():
    users = QID // 2
    rows = pd.DataFrame(X).set_index(pd.Index(QID, name="qid"))
    result = cross_validate(
        ranker(), rows, Y, groups=users, scoring=LIST, cv=CV, return_indices=True
    )
    np.testing.assert_array_equal(arrived(result), 1.0)
    for test in result["indices"]["test"]:
        assert not set(users[test]) & set(np.delete(users, test))


def test_groups_by_name():
    rows = pd.DataFrame(X, columns=list("abc")).assign(session=QID)
    fitted = GridSearchCV(Ridge(), {"alpha": [1, 10]}, cv=CV, scoring=ALIGNED)
    assert fitted.fit(rows, Y, groups="session").best_score_ == 1


def test_halving_of_rows_warns_and_keeps_the_ids():
    search = HalvingGridSearchCV(
        Ridge(), {"alpha": [1, 10]}, cv=CV, scoring="mrr", min_resources=60, random_state=0
    )
    with pytest.warns(PartialQueryWarning, match="resource='max_queries'"):
        search.fit(X, Y, groups=QID)
    assert np.isfinite(search.best_score_)


def test_indices_are_arrays_to_everyone_else():
    train, _ = next(CV.split(X, Y, groups=QID))
    plain, _ = next(CV.split(pd.DataFrame(X, index=pd.Index(QID, name="qid")), Y))
    assert repr(train) == repr(plain)
    assert type(pickle.loads(pickle.dumps(train))) is np.ndarray
    np.testing.assert_array_equal(train, plain)
    assert (train + 1).query_ids is None
    assert train[:3].query_ids is QID


def refuse(call, first_line):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PartialQueryWarning)
        with pytest.raises(NoGroupsError) as raised:
            call()
    assert first_line in str(raised.value).splitlines()[0]


class NeverFitted(Recorder):
    """A ranker whose fit is an error."""

    def fit(self, X, y, group=None):
        raise AssertionError("fitted before the call was refused")


def never():
    return QueryRanker(NeverFitted(), group_param="group")


FUNCTION = make_scorer(ndcg_score, k=10)
FRAME = pd.DataFrame(X, columns=list("abc"))
ROWS = list(KFold(3).split(X))  # the splitter itself warns that it ignores groups
REFUSED = {
    "rows as folds": (
        lambda: cross_val_score(never(), X, Y, scoring="ndcg@3", cv=3),
        "NeverFitted.fit: pass groups=ids and cv=QueryKFold(5)",
    ),
    "rows of a frame": (
        lambda: cross_val_score(never(), FRAME, Y, scoring="r2", cv=3),
        "X.set_index('qid')",
    ),
    "RFECV": (lambda: RFECV(Ridge(), scoring="ndcg@3").fit(X, Y), "the metric 'ndcg@3'"),
    "permutation test": (
        lambda: permutation_test_score(never(), X, Y, scoring="ndcg@3", cv=3),
        "or enable metadata routing",
    ),
    "pointwise": (
        lambda: cross_val_score(NeverFitted(), X, Y, groups=QID, scoring="ndcg@3", cv=CV),
        "wrap the ranker as QueryRanker(NeverFitted(...))",
    ),
    "a metric function among others": (
        lambda: cross_validate(Ridge(), X, Y, scoring={"a": FUNCTION, "b": "r2"}, cv=3),
        "make_scorer(ndcg_score",
    ),
    "ensemble": (
        lambda: cross_val_score(
            VotingRegressor([("a", never())]), X, Y, groups=QID, scoring="r2", cv=CV
        ),
        "NeverFitted.fit: pass groups=ids; where scikit-learn does not pass them on, have them in",
    ),
    "inner folds": (
        lambda: cross_val_score(
            GridSearchCV(never(), {}, cv=3, scoring="ndcg@3"), X, Y, groups=QID, cv=CV
        ),
        "the folds of the inner GridSearchCV: give it cv=QueryKFold(3)",
    ),
    "sizes of queries": (
        lambda: GridSearchCV(LGBM, {}, cv=CV, scoring="ndcg@3").fit(
            X, Y, groups=QID, group=np.unique(QID, return_counts=True)[1]
        ),
        "wrap the ranker as QueryRanker(LGBMRanker(...))",
    ),
    "candidates of two kinds": (
        lambda: search(PIPELINE, {"queryranker": [Ridge(), ranker()]}, scoring=ALIGNED).fit(
            X, Y, groups=QID
        ),
        "wrap every candidate of the search, and the model that they replace, in QueryRanker",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_served_is_refused_before_the_first_fit(name):
    refuse(*REFUSED[name])


@pytest.mark.parametrize("function", [map_score, partial(ndcg_score, k=10), {"a": mrr_score}])
def test_a_function_is_no_scorer(function):
    message = r"(map_score|ndcg_score\(k=10\)|mrr_score) is a .*scoring='(ndcg@10|map@10|mrr@10)'"
    with pytest.raises(TypeError, match=message):
        cross_validate(NeverFitted(), X, Y, groups=QID, scoring=function, cv=CV)


def test_ids_of_all_rows_fit_no_fold():
    scoring = make_scorer(ndcg_score, groups=QID)
    with pytest.raises(ValueError, match="Leave groups out there, and pass groups=ids and cv=Que"):
        cross_val_score(NeverFitted(), X, Y, scoring=scoring, cv=3)
    fitted = Ridge().fit(X, Y)
    assert scoring(fitted, X, Y) == ndcg_score(Y, fitted.predict(X), groups=QID)
    assert permutation_importance(fitted, X, Y, scoring=scoring, n_repeats=1).importances.size == 3


@pytest.mark.parametrize("data", ["column", "level", "y level"])
def test_a_metric_function_gets_the_ids_that_a_ranker_finds_in_the_data(data):
    index = pd.Index(QID, name="qid")
    rows = {"column": FRAME.assign(qid=QID), "level": FRAME.set_index(index)}.get(data, FRAME)
    labels = pd.Series(Y, index) if data == "y level" else Y
    scores, by_name = (
        cross_val_score(QueryRanker(Ridge()), rows, labels, scoring=scoring, cv=CV)
        for scoring in (FUNCTION, "ndcg@10")
    )
    np.testing.assert_array_equal(scores, by_name)


@pytest.mark.parametrize("function", [FUNCTION, make_scorer(partial(ndcg_score, k=10))])
@pytest.mark.parametrize("data", ["column", "level", "y level"])
def test_a_metric_function_gets_the_ids_in_the_data(data, function):
    index = pd.Index(QID, name="qid")
    rows = {"column": FRAME.assign(qid=QID), "level": FRAME.set_index(index)}.get(data, FRAME)
    labels = pd.Series(Y % 10, index) if data == "y level" else Y % 10
    model = Ridge().fit(FRAME, Y)
    scores = cross_validate(
        Ridge(), rows, labels, scoring=function, cv=CV, return_estimator=True, return_indices=True
    )
    for test, model, value in zip(
        scores["indices"]["test"], scores["estimator"], scores["test_score"], strict=True
    ):
        predicted = model.predict(rows.iloc[test])
        assert value == ndcg_score(Y[test] % 10, predicted, groups=QID[test], k=10)


def test_classifiers_of_several_classes_need_no_ids():
    model = LogisticRegression()
    values = cross_val_score(model, X, QID % 3, scoring="mrr(groups=rows)", cv=KFold(3))
    assert np.isfinite(values).all()


def test_unrelated_parallel_calls_are_left_alone():
    forest = RandomForestRegressor(5, n_jobs=2).fit(X, Y)
    assert len(forest.predict(X[:3])) == 3
    bagged = BaggingRegressor(clone(forest), 2).fit(X, Y)
    assert not hasattr(type(bagged).fit, "_sklearn_rankscore")
