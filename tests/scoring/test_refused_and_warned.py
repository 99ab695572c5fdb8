"""What no ids reach, or wrong ones: one error before the first fit, and a warning of split queries.

Table: call, class of the error, and what its first line tells.
"""

import re
import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
from id_alignment import FOLDS, QID, X, Y
from sklearn import config_context
from sklearn.ensemble import VotingRegressor
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.frozen import FrozenEstimator
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifierCV
from sklearn.metrics import get_scorer, make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    KFold,
    TunedThresholdClassifierCV,
    cross_val_predict,
    cross_val_score,
    cross_validate,
    learning_curve,
    permutation_test_score,
)
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer

from sklearn_rankscore import (
    NoGroupsError,
    PartialQueryWarning,
    QueryKFold,
    QueryRanker,
    make_ranking,
    make_ranking_scorer,
    map_score,
    mrr_score,
    ndcg_score,
)

LABELS, CV = Y % 10, QueryKFold(3)
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


NEVER = QueryRanker(NeverFitted(), group_param="group")
RIDGE = QueryRanker(Ridge())
FITTED = Ridge().fit(X, LABELS)
PIPELINE = make_pipeline(FunctionTransformer(), NEVER)
ALL_IDS = make_scorer(ndcg_score, groups=QID)


def routed(call):
    def with_routing():
        with config_context(enable_metadata_routing=True):
            return call()

    return with_routing


def declining():
    scorer = make_ranking_scorer("ndcg@3").set_score_request(groups="session_id")
    return cross_val_score(RIDGE, X, Y, scoring=scorer, cv=CV, params={"groups": QID})


def tuned(rows, labels, **place):
    scorer = make_ranking_scorer("precision@3", **place)
    model = TunedThresholdClassifierCV(LogisticRegression(), scoring=scorer, cv=FOLDS)
    return model.fit(rows, labels)


def candidates(estimator, values):
    search = GridSearchCV(make_pipeline(FunctionTransformer(), estimator), values, **BY_NDCG)
    return search.fit(X, LABELS, groups=QID)


WITH_TWO = FRAME.assign(qid=QID).set_index(pd.Index(QID[::-1], name="qid"))
WORDS = pd.Series(np.where(RELEVANT, "yes", "no"), LEVEL)
REFUSED = {
    # no ids at all
    "rows as folds": (
        lambda: cross_val_score(NEVER, X, Y, scoring="ndcg@3", cv=3),
        "NeverFitted.fit: pass groups=ids and cv=QueryKFold(5)",
    ),
    "errors as nan": (
        lambda: cross_val_score(Never(), X, Y, scoring="ndcg@3", cv=FOLDS, error_score=np.nan),
        "the metric 'ndcg@3': pass groups=ids and cv=QueryKFold(5)",
    ),
    "labels of any kind": (
        lambda: cross_val_score(Never(), X, Y - 99, scoring="ndcg@3", cv=3),
        "No query ids reached the metric 'ndcg@3'",
    ),
    "another metric": (
        lambda: cross_val_score(NEVER, FRAME, Y, scoring="r2", cv=3),
        "make the column that holds them an index level 'qid' of X: X.set_index('qid')",
    ),
    "a permutation test": (
        lambda: permutation_test_score(NEVER, X, Y, scoring="ndcg@3", cv=3),
        "or enable metadata routing",
    ),
    "a function among others": (
        lambda: cross_validate(
            Never(), X, Y, scoring={"a": make_scorer(ndcg_score), "b": "r2"}, cv=3
        ),
        "the scorer make_scorer(ndcg_score",
    ),
    "the score of a pipeline": (
        lambda: cross_val_score(make_pipeline(FunctionTransformer(), RIDGE), X, Y, cv=3),
        "the scorer Pipeline.score: pass groups=ids",
    ),
    "routing without ids": (
        routed(lambda: cross_val_score(Never(), X, Y, scoring="ndcg@3", cv=FOLDS)),
        "pass params={'groups': ids}",
    ),
    "routing to a scorer that declines": (routed(declining), "let scorers request them"),
    "threshold tuning does not see X": (
        lambda: tuned(SESSIONS.set_index(LEVEL), RELEVANT),
        "No query ids reached",
    ),
    # ids that do not reach the fit
    "a bare ranker": (
        lambda: cross_val_score(NeverFitted(), X, Y, **GIVEN),
        "wrap the ranker as QueryRanker(NeverFitted(...))",
    ),
    "a vote": (
        lambda: cross_val_score(VotingRegressor([("a", NEVER)]), X, Y, **GIVEN),
        "NeverFitted.fit: pass groups=ids; where scikit-learn does not pass them on, have them in",
    ),
    "a vote of a frozen ranker and another": (
        lambda: cross_val_score(
            VotingRegressor(
                [("a", FrozenEstimator(RIDGE.fit(X, Y, groups=QID))), ("b", NEVER)]
            ),
            X, Y, **GIVEN,
        ),
        "NeverFitted.fit: pass groups=ids",
    ),
    "the folds of an inner search": (
        lambda: cross_val_score(
            GridSearchCV(NEVER, {}, cv=3, scoring="ndcg@3"), X, Y, groups=QID, cv=CV
        ),
        "the folds of the inner GridSearchCV: give it cv=QueryKFold(3)",
    ),
    "candidates, the first no ranker": (
        lambda: candidates(NEVER, {"queryranker": [Ridge(), NEVER]}),
        "wrap every candidate of the search, and the model that they replace, in QueryRanker",
    ),
    "candidates in place of another": (
        lambda: candidates(Never(), {"never": [NEVER]}),
        "wrap every candidate of the search, and the model that they replace, in QueryRanker",
    ),
    "no column of that name": (
        lambda: make_ranking_scorer("ndcg", groups="session")(FITTED, FRAME, Y, groups=QID),
        "groups='session' names no column or index level of X and no index level of y",
    ),
    "no column of that name, beside one": (
        lambda: make_ranking_scorer("ndcg", groups="session")(FITTED, FRAME.assign(qid=QID), Y),
        "Leave it out: the data have 'qid', which is found without groups=",
    ),
}  # fmt: skip
OTHERS = {
    "a function": (
        lambda: cross_validate(Never(), X, Y, groups=QID, scoring=map_score, cv=CV),
        TypeError, "scoring=map_score is a function of labels and scores, not a scorer: use "
        "scoring='map@10'",
    ),
    "a partial function": (
        lambda: cross_val_score(
            Never(), X, Y, groups=QID, scoring=partial(ndcg_score, k=10), cv=CV
        ),
        TypeError, "scoring=ndcg_score(k=10) is a function",
    ),
    "a dict of functions": (
        lambda: cross_validate(Never(), X, Y, groups=QID, scoring={"a": mrr_score}, cv=CV),
        TypeError, "use scoring='mrr@10', or make_ranking_scorer('mrr', ...)",
    ),
    "ids of all rows for each fold": (
        lambda: cross_val_score(Never(), X, Y, scoring=ALL_IDS, cv=3),
        ValueError, "Leave groups out there, and pass groups=ids and cv=QueryKFold(5)",
    ),
    "pairs of rows": (
        lambda: cross_val_score(NEVER, X, Y, **GIVEN, params={"pairs": [[0, 1]]}),
        ValueError, "pairs number the rows of the whole data",
    ),
    "labels of nan": (
        lambda: cross_val_score(
            RIDGE, X, np.where(QID, Y, np.nan), **GIVEN, error_score="raise"
        ),
        ValueError, "y contains NaN (first at row",
    ),
    "ids that contradict each other": (
        lambda: get_scorer("ndcg")(FITTED, WITH_TWO, Y),
        ValueError, "'qid' is both a column and an index level, and they differ",
    ),
    "one value per query": (
        lambda: make_ranking_scorer("ndcg@3(average=none)"),
        ValueError, "average=None gives one per query",
    ),
    "one value of one list": (
        lambda: make_ranking_scorer("ndcg@3(groups=none)", average=None),
        ValueError, "average=None gives one per query",
    ),
    "several targets": (
        lambda: get_scorer("ndcg")(Ridge().fit(X, np.c_[Y, -Y]), X, Y, groups=QID),
        ValueError, "a ranking metric takes one score for each document",
    ),
    "importance takes no ids": (
        routed(lambda: permutation_importance(FITTED, X, Y, scoring="ndcg", groups=QID)),
        TypeError, "groups",
    ),
    "weights without a request": (
        routed(lambda: RidgeClassifierCV(scoring="ndcg", cv=CV).fit(X, RELEVANT, groups=QID)),
        ValueError, "sample_weight",
    ),
    "text for threshold tuning": (
        lambda: tuned(X, WORDS),
        ValueError, "y_true holds strings, such as",
    ),
}  # fmt: skip
REFUSED = {name: (call, NoGroupsError, told) for name, (call, told) in REFUSED.items()} | OTHERS


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.filterwarnings("ignore::sklearn_rankscore.PartialQueryWarning")
def test_one_error(name):
    call, kind, told = REFUSED[name]
    with pytest.raises(kind, match=re.escape(told)) as raised:
        call()
    assert told in str(raised.value).splitlines()[0]


NO_PLACES = [QID, QID.tolist(), pd.Series(QID), True, 0, len, np.True_, 1.0, [], ["a", 1], b"q"]


@pytest.mark.parametrize("source", [*NO_PLACES, (0, 1)], ids=lambda source: type(source).__name__)
def test_what_is_no_place_of_ids(source):
    message = "groups must be the name of a column .* got .* Pass query ids to fit"
    with pytest.raises(TypeError, match=message):
        make_ranking_scorer("mrr", groups=source)
    for rows in (X, pd.DataFrame(X)):
        for given in ({}, {"groups": QID}):
            with pytest.raises(TypeError, match=message):
                next(QueryKFold(3, groups=source).split(rows, Y, **given))
            with pytest.raises(TypeError, match=message):
                QueryRanker(Ridge(), groups=source).fit(rows, Y, **given)


def test_ids_of_all_rows_are_right_for_all_rows():
    assert ALL_IDS(FITTED, X, LABELS) == ndcg_score(LABELS, FITTED.predict(X), groups=QID)
    importance = permutation_importance(FITTED, X, LABELS, scoring=ALL_IDS, n_repeats=1)
    assert np.isfinite(importance.importances).all()


def test_a_request_for_weights_serves_ridge_classifier_cv():
    with config_context(enable_metadata_routing=True):
        scorer = get_scorer("ndcg@3").set_score_request(sample_weight=True)
        model = RidgeClassifierCV(alphas=[1, 10], cv=CV, scoring=scorer)
        assert model.fit(X, RELEVANT, groups=QID).best_score_ > 0


def test_groups_of_another_kind_of_model_are_no_place():
    """Models with a parameter of that name, such as a group lasso, mean groups of features."""

    class GroupLasso(Ridge):
        groups = ((0, 1), (2,))

    values = cross_val_score(GroupLasso(), FRAME.set_index(LEVEL), LABELS, **BY_NDCG)
    assert np.isfinite(values).all()


def warned(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [w for w in caught if issubclass(w.category, PartialQueryWarning)]


def score(model=None, rows=X, labels=BY_Y, scoring="ndcg@3", **options):
    return lambda cv: cross_validate(
        Ridge() if model is None else model, rows, labels, scoring=scoring, cv=cv, **options
    )


def replaced(cv):
    model = Pipeline([("model", Ridge())])
    grid = {"model": [QueryRanker(Ridge(), groups="session")]}
    return GridSearchCV(model, grid, scoring="mrr", cv=cv).fit(SESSIONS, LABELS)


SPLIT = {  # calls with a splitter, which warn unless it keeps queries whole
    "a name": score(),
    "several": score(scoring=["r2", "mrr", "ndcg@3"]),
    "two processes": score(n_jobs=2),
    "a search": lambda cv: GridSearchCV(Ridge(), {}, scoring="mrr", cv=cv).fit(X, BY_Y),
    "a named column": score(rows=SESSIONS, scoring="ndcg(groups=session)"),
    "a column of the ranker": score(QueryRanker(Ridge(), groups="session"), SESSIONS, LABELS),
    "a default score": score(QueryRanker(Ridge(), groups="session"), SESSIONS, LABELS, None),
    "a ranker in a search": replaced,
    "routing": lambda cv: routed(lambda: score(labels=LABELS, params={"groups": QID})(cv))(),
    "predictions of a ranker": lambda cv: cross_val_predict(RIDGE, X, BY_Y, cv=cv),
}


@pytest.mark.parametrize("name", SPLIT)
def test_split_queries_warn(name):
    cut, whole = (warned(lambda: SPLIT[name](cv)) for cv in (KFold(3), FOLDS))  # noqa: B023
    assert cut
    assert {w.filename for w in cut} == {__file__}
    assert not whole


QUIET = {
    "one list": lambda: score(scoring="ndcg@3(groups=none)")(KFold(3)),
    "no ranking metric": lambda: score(scoring="r2")(KFold(3)),
    "rows of ours": lambda: score()(CV),
    "split training queries": lambda: learning_curve(
        Ridge(), X, BY_Y, scoring="ndcg@3", cv=FOLDS, train_sizes=[17]
    ),
}


@pytest.mark.parametrize("name", QUIET)
def test_no_warning(name):
    assert not warned(QUIET[name])


@pytest.mark.filterwarnings("ignore::sklearn_rankscore.PartialQueryWarning")
def test_metrics_of_split_queries_are_too_high_or_too_low():
    X, y = make_ranking(n_queries=60, n_documents=100, noise=3.0, as_frame=True, random_state=0)
    X, rows = X.set_index("qid"), KFold(5, shuffle=True, random_state=0)
    purchases = np.random.default_rng(0).random(len(y)) < 0.02 * (y == y.max())
    for labels, is_higher in ((y, True), (purchases, False)):
        split_up, whole = (
            cross_val_score(Ridge(), X, np.asarray(labels, float), scoring="ndcg@10", cv=cv).mean()
            for cv in (rows, QueryKFold(5))
        )
        assert (split_up > 1.1 * whole) == is_higher
        assert (split_up < 0.9 * whole) == (not is_higher)


def test_the_advice_for_halving_runs():
    grid, options = {"estimator__alpha": [0.1, 10]}, BY_NDCG | {"random_state": 0, "factor": 2}
    search = HalvingGridSearchCV(RIDGE, grid, min_resources=30, **options)
    (warning, *_) = warned(lambda: search.fit(X, LABELS, groups=QID))
    assert np.isfinite(search.best_score_)
    advised = str(warning.message).partition("for successive halving use ")[2]
    assert "resource='max_queries' and max_resources=, the number of training queries" in advised
    search = HalvingGridSearchCV(RIDGE, grid, resource="max_queries", max_resources=16, **options)
    assert not warned(lambda: search.fit(X, LABELS, groups=QID))
    assert max(search.n_resources_) <= 16


@pytest.mark.parametrize("at", [60, 600, 1140])
def test_every_fold_of_a_generator_is_checked(at):
    """Folds that are made one by one may get the identity of one that was freed."""
    ids = np.arange(1200) // 3
    ids[at - 1] = ids[at]  # one query lies in two of the folds
    rows = pd.DataFrame({"x": np.arange(1200.0)}, index=pd.Index(ids, name="qid"))
    assert warned(lambda: score(rows=rows, labels=np.arange(1200) % 3)(KFold(20)))
