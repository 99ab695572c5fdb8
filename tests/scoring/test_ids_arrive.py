"""Ids reach the fit and the metric, whichever way they are given, by every tool and kind of scorer.

`Checked` refuses a fit without the ids of its rows, and a loop over the folds has the scores: wrong
ids at either place fail. The ways that do not reach a tool are refused. What `groups` of a call
means beside other ids, and in searches within searches, is below.
"""

import pickle
from functools import cache, partial
from typing import ClassVar

import numpy as np
import oracle
import pandas as pd
import pytest
import scipy.sparse
import sklearn
from frames import pa, pl
from id_alignment import FOLDS, N_DOCUMENTS, QID, X, Y, whole_queries
from joblib import parallel_config
from lightgbm import LGBMModel
from sklearn import config_context
from sklearn import model_selection as ms
from sklearn.compose import TransformedTargetRegressor
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import Ridge
from sklearn.metrics import make_scorer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import sklearn_rankscore as rs

LABELS, USERS, CV, GROUP_K_FOLD = Y % 10, QID // 2, rs.QueryKFold(2), ms.GroupKFold(2)
FRAME, LEVEL = pd.DataFrame(X, columns=list("abc")), pd.Index(QID, name="qid")
INDEXED, NAMED = FRAME.set_index(LEVEL), FRAME.assign(session=QID)
RIDGE, ALIGNED = rs.QueryRanker(Ridge()), rs.make_ranking_scorer(whole_queries)
BY_FUNCTION = make_scorer(rs.ndcg_score)
PLAIN, ARRAYS = FunctionTransformer(), FunctionTransformer(np.asarray)


def by_hand(folds, k=None, fit=None, labels=LABELS):
    """The NDCG of the queries of each fold."""
    values = []
    for train, test in folds:
        scores = (fit or Ridge().fit)(X[train], labels[train]).predict(X[test])
        data = (part.tolist() for part in (labels[test], scores, QID[test]))
        values.append(oracle.score("ndcg", *data, k=k))
    return pytest.approx(values, rel=1e-9)


def folds_of(cv, groups=QID, labels=LABELS):
    if isinstance(cv, ms.PredefinedSplit):  # which takes no groups
        return list(cv.split())
    return cv if isinstance(cv, list) else list(cv.split(X, labels, groups=groups))


class Checked(Ridge):
    """Its fit refuses sizes that are not those of the queries of its rows."""

    def fit(self, X, y, group=None):
        query, starts = np.asarray(y) // 10, np.cumsum(group) - group
        assert (group == N_DOCUMENTS).all()
        assert (query == np.repeat(query[starts], group)).all()
        return super().fit(X, y)


def ranker(place=None):
    return rs.QueryRanker(Checked(), group_param="group", groups=place)


@cache
def expected(way, k=3):
    return by_hand(folds_of(WAYS[way][-1], labels=Y), k, labels=Y)


TWO = {"user": QID // 3, "session": QID % 3}  # together they tell queries apart
# X, y, the place of the ids, what the call is given, and its splitter
WAYS = {
    "groups=": (X, Y, None, {"groups": QID}, CV),
    "groups= of a frame": (FRAME, Y, None, {"groups": QID}, CV),
    "groups= beside a list": (X.tolist(), Y, None, {"groups": QID}, CV),
    "groups=, GroupKFold": (X, Y, None, {"groups": QID}, GROUP_K_FOLD),
    "groups=, folds": (X, Y, None, {"groups": QID}, FOLDS),
    "folds of ours": (X, Y, None, {}, folds_of(CV, labels=Y)),
    "level": (INDEXED, Y, None, {}, CV),
    "level, folds": (INDEXED, Y, None, {}, FOLDS),
    "level of two": (FRAME.assign(day=1, qid=QID).set_index(["day", "qid"]), Y, None, {}, CV),
    "named level": (FRAME.set_index(LEVEL.rename("session")), Y, "session", {}, CV),
    "column": (FRAME.assign(qid=QID), Y, None, {}, CV),
    "column of polars": (pl.from_pandas(FRAME.assign(qid=QID)), Y, None, {}, CV),
    "column of pyarrow": (pa.Table.from_pandas(FRAME.assign(qid=QID)), Y, None, {}, CV),
    "named column": (NAMED, Y, "session", {}, CV),
    "two columns": (FRAME.assign(**TWO), Y, ["user", "session"], {}, CV),
    "y level": (X, pd.Series(Y, LEVEL), None, {}, CV),
    "y level, sparse": (scipy.sparse.csr_matrix(X), pd.Series(Y, LEVEL), None, {}, CV),
    "named y level": (X, pd.Series(Y, LEVEL.rename("session")), "session", {}, CV),
    "routed groups": (X, Y, None, {"params": {"groups": QID}}, CV),
    "routed, GroupKFold": (X, Y, None, {"params": {"groups": QID}}, GROUP_K_FOLD),
    "routed qid": (X, Y, None, {"params": {"qid": QID}}, CV),
}
if pa:
    WAYS["level in Arrow"] = FRAME.set_index(LEVEL.astype("int64[pyarrow]")), Y, None, {}, CV
if sklearn.__version__.startswith("1.6."):  # it takes no rows of pyarrow
    del WAYS["column of pyarrow"]
ROUTED = {way for way in WAYS if "routed" in way}
ON_Y = {way for way in WAYS if "y level" in way}
ON_X = {way for way in WAYS if "level" in way or "column" in way} - ON_Y


def by_name(place):
    if isinstance(place, list):
        return rs.make_ranking_scorer("ndcg@3", groups=place)
    return "ndcg@3" if place is None else f"ndcg@3(groups={place})"


def requesting_groups(scorer):
    is_routed = sklearn.get_config()["enable_metadata_routing"]
    return scorer.set_score_request(groups=True) if is_routed else scorer


KINDS = {
    "name": by_name,
    "scorer": lambda place: rs.make_ranking_scorer("ndcg", k=3, groups=place),
    "several": lambda place: {"ndcg": by_name(place), "r2": "r2"},
    "sum": lambda place: rs.make_weighted_scorer({"ndcg@3": 1}, groups=place),
    "function": lambda _: requesting_groups(make_scorer(rs.ndcg_score, k=3)),
    "partial": lambda _: requesting_groups(make_scorer(partial(rs.ndcg_score, k=3))),
    "none": lambda _: None,
}


def searched(kind, model, grid, given, X, y, **options):
    """The scores by fold of the last candidate of a search."""
    if isinstance(options["scoring"], dict):
        options["refit"] = "ndcg"
    results = kind(model, grid, **options).fit(X, y, **(given.get("params") or given)).cv_results_
    name = "ndcg" if "split0_test_ndcg" in results else "score"
    return [results[f"split{i}_test_{name}"][-1] for i in range(2)]


def validated(model, given, X, y, **options):
    scores = ms.cross_validate(model, X, y, **given, **options, return_train_score=True)
    name = "ndcg" if "test_ndcg" in scores else "score"
    assert np.isfinite(scores[f"train_{name}"]).all()
    return scores[f"test_{name}"]


def nested(model, given, X, y, cv, **options):
    inner = ms.GridSearchCV(model, {}, cv=CV if isinstance(cv, list) else cv, **options)
    return ms.cross_val_score(inner, X, y, **given, cv=cv, **options)


def permuted(model, given, X, y, error_score, **options):
    model = rs.QueryRanker(Ridge(), groups=model.groups)  # which is fitted to shuffled labels too
    return ms.permutation_test_score(model, X, y, **given, **options, n_permutations=1)[0]


ALPHAS, ALPHA = {"estimator__alpha": [9, 1.0]}, {"estimator__alpha": [1.0]}
ROUNDS = {"resource": "estimator__max_iter", "min_resources": 10, "max_resources": 20, "factor": 2}
TARGET = {"func": np.positive, "inverse_func": np.positive}
TOOLS = {  # the scores of the folds, of a model, what the call is given, X, y and options
    "cross_validate": validated,
    "pipeline": lambda m, *a, **o: validated(make_pipeline(PLAIN, m), *a, **o),
    "target": lambda m, *a, **o: validated(TransformedTargetRegressor(m, **TARGET), *a, **o),
    "grid": lambda m, *a, **o: searched(ms.GridSearchCV, m, ALPHAS, *a, **o),
    "candidates": lambda m, *a, **o: searched(
        ms.GridSearchCV, make_pipeline(PLAIN, m), {"queryranker": [m]}, *a, **o
    ),
    "halving": lambda m, *a, **o: searched(ms.HalvingGridSearchCV, m, ALPHA, *a, **ROUNDS, **o),
    "nested": nested,
    "learning curve": lambda m, g, *data, **o: ms.learning_curve(
        m, *data, **g, **o, train_sizes=[1.0]
    )[2][0],
    "permutation test": permuted,
}
# it has no fold to bring the ids along, and hands the groups of the call to its shuffles
LOST = {"permutation test": set(WAYS) - ON_X - ON_Y - ROUTED}


def call(tool, way, kind="name", **more):
    rows, labels, place, given, cv = WAYS[way]
    cv = rs.QueryKFold(2, groups=place) if cv is CV else cv
    with config_context(enable_metadata_routing=way in ROUTED):
        options = {"scoring": KINDS[kind](place), "cv": cv, "error_score": "raise", **more}
        return TOOLS[tool](ranker(place), given, rows, labels, **options)


# every way to a pipeline and a search, one way of each sort to the other tools and to each kind of
# scorer; two kinds, which are bound in ways of their own, also get ids of another name
OF_EACH_SORT = ["groups=", "groups=, GroupKFold", "level", "column", "y level", "routed groups"]
OF_A_NAME = ["named level", "named column", "two columns", "named y level"]
CASES = [
    *((tool, way, "name") for tool in TOOLS for way in WAYS
      if tool in ("grid", "pipeline") or way in OF_EACH_SORT),
    *(("grid", way, kind) for kind in KINDS for way in OF_EACH_SORT),
    *(("grid", way, kind) for kind in ("several", "function") for way in OF_A_NAME),
    *(("cross_validate", way, kind) for kind in KINDS for way in ("groups=", "level")),
]  # fmt: skip


@pytest.mark.parametrize(("tool", "way", "kind"), dict.fromkeys(CASES))
def test_every_tool_and_kind_of_scorer(tool, way, kind):
    if way in LOST.get(tool, ()):
        with pytest.raises(rs.NoGroupsError):
            call(tool, way)
        return
    value, by_fold = call(tool, way, kind), expected(way, None if kind == "none" else 3)
    is_mean = tool == "permutation test"
    assert value == (pytest.approx(np.mean(by_fold.expected)) if is_mean else by_fold)


# --- what `groups` of a call means


def scores(model, rows=X, **options):
    options = {"groups": QID, "scoring": "ndcg", "cv": CV, "error_score": "raise"} | options
    return ms.cross_val_score(model, rows, LABELS, **options)


ALL = by_hand(folds_of(CV))
BY_R2 = pytest.approx(ms.cross_val_score(Ridge(), X, LABELS, cv=folds_of(CV), scoring="r2"))
OF_USERS = folds_of(CV, USERS)
SPLITS = [
    ms.GroupShuffleSplit(2, random_state=0),
    ms.StratifiedGroupKFold(2),
    ms.PredefinedSplit(QID % 2),
    OF_USERS,
    [(~np.isin(QID, q), np.isin(QID, q)) for q in ([0, 1], [2, 3])],  # masks
]
BY_SESSION = rs.QueryRanker(Ridge(), groups="session")


def search_of(model, scoring=None, cv=CV, **options):
    return ms.GridSearchCV(model, {}, cv=cv, scoring=scoring, **options)


DEFAULT = [  # models whose own score ranks queries
    make_pipeline(PLAIN, RIDGE),
    make_pipeline(ARRAYS, RIDGE),
    search_of(RIDGE, ["r2", "ndcg"], refit="ndcg"),
    search_of(RIDGE, BY_FUNCTION),
    search_of(make_pipeline(ARRAYS, RIDGE)),
    make_pipeline(ARRAYS, search_of(RIDGE)),
]
FITTED = rs.QueryRanker(Ridge()).fit(X, LABELS, groups=QID)
OF_PIPELINE = make_pipeline(PLAIN, RIDGE).fit(X, LABELS, queryranker__groups=QID)
FROZEN = [
    FrozenEstimator(FITTED),
    make_pipeline(PLAIN, FrozenEstimator(FITTED)),
    FrozenEstimator(OF_PIPELINE),
    FrozenEstimator(search_of(RIDGE, "ndcg").fit(X, LABELS, groups=QID)),
]


class OfRows(Ridge):
    """A ranker that is told the ids of its rows by a name of its own, or reads a column `qid`."""

    def fit(self, X, y, group_id=None, qid=None):
        assert len(X["qid"] if group_id is None else group_id) == len(y)
        return super().fit(np.asarray(X)[:, :3], y)

    def predict(self, X):
        return super().predict(np.asarray(X)[:, :3])


CALLS = [  # a model, X, options of the call, and its scores
    (OfRows(), X, {"params": {"group_id": QID}}, ALL),
    (BY_SESSION, X, {}, ALL),  # of which an array has no column
    (OfRows(), FRAME.assign(qid=QID), {"groups": None}, ALL),  # as XGBRanker does
    *((model, X, {"cv": cv}, by_hand(folds_of(cv)))
      for cv in SPLITS for model in (Ridge(), RIDGE)),
    # ids in X are the queries, and coarser groups those of the splits
    *((Ridge(), INDEXED, {"groups": USERS, "scoring": scoring, "cv": cv},
       by_hand(folds_of(cv, USERS)))
      for scoring in ("ndcg", BY_FUNCTION) for cv in (CV, GROUP_K_FOLD)),
    # scikit-learn would warn that the splitter of the inner search ignores the ids
    *((search_of(Ridge(), cv=cv), X, {}, ALL) for cv in (2, ms.KFold(2))),
    *((model, rows, {"scoring": None}, ALL) for model in DEFAULT for rows in (X, INDEXED)),
    (search_of(RIDGE, ["ndcg", "r2"], refit="r2"), X, {"scoring": None}, BY_R2),
    *((model, X, {"scoring": "ndcg@3"}, by_hand(folds_of(CV), 3, lambda X, y: FITTED))
      for model in FROZEN),
]  # fmt: skip


@pytest.mark.parametrize(("model", "rows", "options", "expected"), CALLS)
@pytest.mark.filterwarnings("ignore:The groups parameter is ignored:UserWarning")
def test_scores_of_the_folds(model, rows, options, expected):
    assert scores(model, rows, **options) == expected


def test_groups_by_name_and_folds_of_other_ids():
    search = search_of(BY_SESSION, "ndcg", OF_USERS).fit(NAMED, LABELS, groups="session")
    assert [search.cv_results_[f"split{i}_test_score"][0] for i in range(2)] == by_hand(OF_USERS)


def test_routed_groups_are_those_of_the_splits_beside_ids_in_y():
    with config_context(enable_metadata_routing=True):
        for cv in (CV, GROUP_K_FOLD):
            options = {"scoring": ALIGNED, "cv": cv, "params": {"groups": USERS}}
            for labels, expected in ((pd.Series(Y, LEVEL), 1), (Y, 0)):
                values = ms.cross_val_score(Ridge(), X, labels, **options)
                np.testing.assert_array_equal(values, expected)


@pytest.mark.parametrize("name", ["groups", "qid"])
def test_ids_among_the_parameters_of_a_fit_are_its_queries(name):
    given = {"groups": USERS, "scoring": "r2", "params": {name: QID}}
    assert np.isfinite(ms.cross_val_score(ranker(), X, Y, cv=CV, **given)).all()


class OwnSplitter(ms.BaseCrossValidator):
    """A splitter of a user, which does not tell scikit-learn that it requests groups."""

    seen: ClassVar = []

    def split(self, X, y=None, groups=None):
        self.seen.append(groups)
        return ms.GroupKFold(2).split(X, y, groups)

    def get_n_splits(self, X=None, y=None, groups=None):
        return 2


INNER = [
    *((RIDGE, inner_cv, scoring, cv)
      for inner_cv in (ms.GroupKFold(2), ms.StratifiedGroupKFold(2), OwnSplitter())
      for scoring, cv in (("ndcg", GROUP_K_FOLD), ("r2", CV))),
    *((Ridge(), ms.GroupKFold(2), scoring, CV) for scoring in ("r2", "ndcg")),
]  # fmt: skip


@pytest.mark.parametrize(("model", "inner_cv", "scoring", "cv"), INNER)
def test_inner_searches_split_by_the_ids_of_the_call(model, inner_cv, scoring, cv):
    inner, options = search_of(model, scoring, inner_cv), {"scoring": scoring, "cv": cv}
    result = ms.cross_validate(inner, X, LABELS, groups=QID, return_estimator=True, **options)
    for (train, _), search in zip(folds_of(cv), result["estimator"], strict=True):
        options = {"cv": inner_cv, "scoring": scoring, "groups": QID[train]}
        alone = ms.cross_val_score(Ridge(), X[train], LABELS[train], **options)
        assert search.best_score_ == pytest.approx(alone.mean(), rel=1e-9)


def test_an_inner_search_splits_by_the_groups_of_the_call_beside_ids_in_x():
    OwnSplitter.seen.clear()
    scores(search_of(RIDGE, "ndcg", OwnSplitter()), INDEXED, groups=USERS, cv=GROUP_K_FOLD)
    for (train, _), groups in zip(folds_of(GROUP_K_FOLD, USERS), OwnSplitter.seen, strict=True):
        np.testing.assert_array_equal(groups, USERS[train])


WITHOUT_QUERIES = [
    LGBMModel(objective="regression", n_estimators=2, verbose=-1, n_jobs=1),
    FrozenEstimator(ranker().fit(X, Y, groups=QID)),
    make_pipeline(PLAIN, FrozenEstimator(ranker().fit(X, Y, groups=QID))),
]


@pytest.mark.parametrize("model", WITHOUT_QUERIES)
def test_a_fit_without_queries_needs_no_ids(model):
    assert np.isfinite(scores(model, groups=None, scoring="r2", cv=2)).all()


@pytest.mark.parametrize("model", FROZEN)
def test_a_frozen_ranker_needs_ids_to_be_scored(model):
    with pytest.raises(rs.NoGroupsError, match="No query ids reached"):
        scores(model, groups=None, scoring="ndcg@3", cv=2)


@pytest.mark.parametrize(
    ("step", "levels"), [(StandardScaler(), ["qid", "user"]), (PLAIN, ["user"])]
)
def test_a_pipeline_ranks_by_the_level_of_its_ranker(step, levels):
    ids = pd.MultiIndex.from_frame(pd.DataFrame({"qid": QID, "user": USERS})[levels])
    result = ms.cross_validate(
        make_pipeline(step, rs.QueryRanker(Ridge(), groups="user")),
        pd.DataFrame(X, ids), LABELS, groups=USERS, cv=GROUP_K_FOLD,
        scoring="ndcg(groups=user)", return_estimator=True, return_indices=True,
    )  # fmt: skip
    for pipeline, train in zip(result["estimator"], result["indices"]["train"], strict=True):
        assert pipeline[-1].n_queries_ == len(np.unique(USERS[train]))


TEXT = np.array([f"s{number:02}" for number in QID])
FORMS = {  # of many of which scikit-learn cannot select rows
    "list": TEXT.tolist,
    "Int64": lambda: pd.array(QID, dtype="Int64"),
    "categories": lambda: pd.Categorical(TEXT),
    "pyarrow": lambda: pa.array(QID),
    "pyarrow chunks": lambda: pa.chunked_array([TEXT[:50].tolist(), TEXT[50:].tolist()]),
    "index of Arrow text": lambda: pd.Index(TEXT, dtype="string[pyarrow]", name="qid"),
}
ROWS = {"array": X, "list": X.tolist(), "frame": pd.DataFrame(X)}


@pytest.mark.parametrize("form", FORMS)
def test_groups_in_any_array(form):
    ids = FORMS[form]()
    pipeline, params = make_pipeline(StandardScaler(), RIDGE), {"groups": ids}
    for rows in ROWS.values():
        assert scores(pipeline, rows, groups=ids) == ALL
    with config_context(enable_metadata_routing=True):
        assert scores(pipeline, X, groups=None, params=params) == ALL
    assert params["groups"] is ids


def test_a_list_of_ids_that_are_names_of_columns():
    frame = pd.DataFrame({"a": np.arange(8.0), "b": np.arange(8.0)[::-1]})
    ids = np.array(list("aabbabab"))
    for groups in (ids, ids.tolist()):
        folds = [test for _, test in rs.QueryKFold(2).split(frame, groups=groups)]
        assert {tuple(sorted(set(ids[test]))) for test in folds} == {("a",), ("b",)}
    # one name is a column; two are two columns, whose values together are the id
    for names in (["a"], ["a", "b"]):
        assert sum(len(test) for _, test in rs.QueryKFold(2).split(frame, groups=names)) == 8


def test_the_arguments_of_the_caller_are_not_changed():
    params, scoring = {}, {"ours": ALIGNED, "theirs": "r2"}
    ms.cross_validate(RIDGE, X, Y, groups=QID, scoring=scoring, cv=CV, params=params)
    fitted = search_of(RIDGE, ALIGNED).fit(X, Y, groups=QID)
    assert (params, scoring) == ({}, {"ours": ALIGNED, "theirs": "r2"})
    assert fitted.scorer_ is ALIGNED
    for later in (fitted.score, fitted.fit):
        with pytest.raises(rs.NoGroupsError, match="No query ids reached"):
            later(X, Y)


def test_rows_of_folds_are_arrays_to_everyone_else():
    (train, _), (plain, _) = next(CV.split(X, Y, groups=QID)), next(CV.split(INDEXED, Y))
    assert repr(train) == repr(plain)
    assert type(pickle.loads(pickle.dumps(train))) is np.ndarray
    np.testing.assert_array_equal(train, plain)
    for other in (train + 1, np.sort(train)[::-1] % 7):
        with pytest.raises(rs.NoGroupsError):
            scores(RIDGE, groups=None, cv=[(other, other)])


def test_routed_ids_reach_every_task_of_a_pipeline_in_parallel():
    """joblib prepares all but the first tasks in threads that do not have the configuration."""
    cv, model = rs.QueryKFold(6), make_pipeline(StandardScaler(), RIDGE)
    with config_context(enable_metadata_routing=True), parallel_config("threading"):
        values = scores(model, groups=None, cv=cv, params={"groups": QID}, n_jobs=2)
    assert values == by_hand(folds_of(cv))


def test_requests_of_scorers():
    with config_context(enable_metadata_routing=True):
        scorer = rs.make_ranking_scorer(whole_queries).set_score_request(groups="session")
        options = {"cv": GROUP_K_FOLD, "params": {"session": QID, "groups": USERS}}
        values = ms.cross_val_score(Ridge(), X, Y, scoring=scorer, **options)
        np.testing.assert_array_equal(values, 1)
        with pytest.raises(TypeError, match=r"a ranking scorer requests groups, qid, .* got 'ids'"):
            scorer.set_score_request(ids=True)
    with pytest.raises(RuntimeError, match="only available when metadata routing is enabled"):
        scorer.set_score_request(groups=True)


def test_requested_weights_reach_the_scorer():
    params = {"groups": QID, "sample_weight": 1.0 + QID}
    with config_context(enable_metadata_routing=True):
        scorer = rs.make_ranking_scorer("mrr(threshold=3)").set_score_request(sample_weight=True)
        model = Ridge().set_fit_request(sample_weight=False)
        values = scores(model, groups=None, scoring=scorer, cv=GROUP_K_FOLD, params=params)
    for (train, test), value in zip(FOLDS, values, strict=True):
        s = Ridge().fit(X[train], LABELS[train]).predict(X[test])
        y, s, q, w = (part.tolist() for part in (LABELS[test], s, QID[test], 1.0 + QID[test]))
        expected = oracle.score("mrr", y, s, q, threshold=3, sample_weight=w)
        assert value == pytest.approx(expected, rel=1e-12)
