"""What `groups` of a call means: with other splitters, in searches within searches, beside ids."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import ClassVar

import numpy as np
import oracle
import pandas as pd
import pyarrow as pa
import pytest
from id_alignment import FOLDS, QID, X, Y, whole_queries
from joblib import parallel_config
from lightgbm import LGBMModel
from sklearn import config_context
from sklearn import model_selection as ms
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import get_scorer, make_scorer, r2_score, roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from small_rankers import make_catboost_ranker

import sklearn_rankscore as rs

LABELS, USERS, CV = Y % 10, QID // 2, rs.QueryKFold(3)
LEVEL = pd.Index(QID, name="qid")
INDEXED = pd.DataFrame(X, LEVEL)
NAMED = pd.DataFrame(X, columns=list("abc")).assign(session=QID)
RIDGE, ALIGNED = rs.QueryRanker(Ridge()), rs.make_ranking_scorer(whole_queries)
BY_SESSION = rs.QueryRanker(Ridge(), groups="session")
BY_FUNCTION = make_scorer(rs.ndcg_score)


def by_hand(folds, k=None, fit=None):
    """The NDCG of the queries of each fold."""
    values = []
    for train, test in folds:
        scores = (fit or Ridge().fit)(X[train], LABELS[train]).predict(X[test])
        labels, ids = LABELS[test].tolist(), QID[test].tolist()
        values.append(oracle.score("ndcg", labels, scores.tolist(), ids, k=k))
    return pytest.approx(values, rel=1e-9)


def folds_of(cv, groups=QID):
    return cv if isinstance(cv, list) else list(cv.split(X, LABELS, groups=groups))


def scores(model, rows=X, **options):
    options = {"groups": QID, "scoring": "ndcg", "cv": CV, "error_score": "raise"} | options
    return ms.cross_val_score(model, rows, LABELS, **options)


def searched(model, rows=X, cv=CV, groups=QID):
    search = ms.GridSearchCV(model, {}, cv=cv, scoring="ndcg").fit(rows, LABELS, groups=groups)
    return [search.cv_results_[f"split{i}_test_score"][0] for i in range(search.n_splits_)]


ALL = by_hand(folds_of(CV))
OF_USERS = folds_of(CV, USERS)
SPLITS = [
    ms.GroupShuffleSplit(3, random_state=0),
    ms.StratifiedGroupKFold(3),
    ms.LeaveOneGroupOut(),
    OF_USERS,
    [(~np.isin(QID, q), np.isin(QID, q)) for q in ([0, 1], [2, 3])],  # masks
]
BY_NUMBER, GROUP_K_FOLD = ms.PredefinedSplit(QID % 3), ms.GroupKFold(3)
ARRAYS, PLAIN = FunctionTransformer(np.asarray), FunctionTransformer()
RENAME = FunctionTransformer(pd.DataFrame.rename, kw_args={"columns": {"query": "session"}})
WITH_QUERY = NAMED.rename(columns={"session": "query"})
OF_QUERY = {"groups": None, "scoring": "ndcg(groups=query)", "cv": rs.QueryKFold(3, groups="query")}


def search_of(model, scoring=None, cv=CV, **options):
    return ms.GridSearchCV(model, {}, cv=cv, scoring=scoring, **options)


DEFAULT = [  # models whose own score ranks queries
    RIDGE,
    make_pipeline(PLAIN, RIDGE),
    make_pipeline(ARRAYS, RIDGE),
    make_pipeline(RIDGE),
    search_of(RIDGE),
    search_of(RIDGE, "ndcg"),
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
CALLS = [  # a model, X, options of the call, and its scores
    *((model, X, {"cv": cv}, by_hand(folds_of(cv)))
      for cv in SPLITS for model in (Ridge(), RIDGE)),
    (RIDGE, X, {"cv": BY_NUMBER}, by_hand(list(BY_NUMBER.split()))),
    # ids in X are the queries, and coarser groups those of the splits
    *((Ridge(), INDEXED, {"groups": USERS, "scoring": scoring, "cv": cv},
       by_hand(folds_of(cv, USERS)))
      for scoring in ("ndcg", BY_FUNCTION) for cv in (CV, GROUP_K_FOLD)),
    # a column that a step adds
    (make_pipeline(RENAME, BY_SESSION), WITH_QUERY, OF_QUERY, ALL),
    # scikit-learn would warn that the splitter of the inner search ignores the ids
    *((search_of(Ridge(), cv=cv), X, {}, ALL) for cv in (2, ms.KFold(2))),
    *((model, rows, {"scoring": None}, ALL) for model in DEFAULT for rows in (X, INDEXED)),
    *((model, X, {"scoring": scoring}, by_hand(folds_of(CV), k, lambda X, y: FITTED))
      for model in FROZEN for scoring, k in (("ndcg@3", 3), (None, None))),
]  # fmt: skip


@pytest.mark.parametrize(("model", "rows", "options", "expected"), CALLS)
@pytest.mark.filterwarnings("ignore:The groups parameter is ignored:UserWarning")
def test_scores_of_the_folds(model, rows, options, expected):
    assert scores(model, rows, **options) == expected


@pytest.mark.parametrize("cv", SPLITS)
@pytest.mark.parametrize("model", [Ridge(), RIDGE], ids=type)
def test_scores_of_a_search(model, cv):
    assert searched(model, cv=cv) == by_hand(folds_of(cv))


def test_groups_by_name_and_folds_of_other_ids():
    assert searched(BY_SESSION, NAMED, cv=OF_USERS, groups="session") == by_hand(OF_USERS)


def test_routed_groups_are_those_of_the_splits_beside_ids_in_y():
    with config_context(enable_metadata_routing=True):
        for cv in (CV, GROUP_K_FOLD):
            options = {"scoring": ALIGNED, "cv": cv, "params": {"groups": USERS}}
            for labels, expected in ((pd.Series(Y, LEVEL), 1), (Y, 0)):
                values = ms.cross_val_score(Ridge(), X, labels, **options)
                np.testing.assert_array_equal(values, expected)


class OwnSplitter(ms.BaseCrossValidator):
    """A splitter of a user, which does not tell scikit-learn that it requests groups."""

    seen: ClassVar = []

    def split(self, X, y=None, groups=None):
        self.seen.append(groups)
        return ms.GroupKFold(2).split(X, y, groups)

    def get_n_splits(self, X=None, y=None, groups=None):
        return 2


@pytest.mark.parametrize(("scoring", "cv"), [("ndcg", GROUP_K_FOLD), ("r2", CV), ("ndcg", CV)])
@pytest.mark.parametrize("inner_cv", [ms.GroupKFold(2), ms.StratifiedGroupKFold(2), OwnSplitter()])
@pytest.mark.parametrize("model", [RIDGE, Ridge()], ids=type)
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


def test_a_booster_of_other_models_needs_no_ids():
    regression = LGBMModel(objective="regression", n_estimators=2, verbose=-1, n_jobs=1)
    assert np.isfinite(scores(regression, groups=None, scoring="r2", cv=3)).all()


def test_the_default_score_of_a_search_by_another_metric():
    values = scores(search_of(RIDGE, ["ndcg", "r2"], refit="r2"), scoring=None)
    predicted = [(Ridge().fit(X[a], LABELS[a]).predict(X[b]), LABELS[b]) for a, b in folds_of(CV)]
    np.testing.assert_allclose(values, [r2_score(y, s) for s, y in predicted], rtol=1e-9)


@pytest.mark.parametrize("model", FROZEN)
def test_a_frozen_ranker_needs_ids_to_be_scored(model):
    for scoring in ("ndcg@3", None):
        with pytest.raises(rs.NoGroupsError, match="No query ids reached"):
            scores(model, groups=None, scoring=scoring, cv=3)


@pytest.mark.parametrize("step", [StandardScaler(), PLAIN], ids=repr)
@pytest.mark.parametrize("levels", [["qid", "user"], ["user"]])
def test_a_pipeline_ranks_by_the_level_of_its_ranker(step, levels):
    ids = pd.MultiIndex.from_frame(pd.DataFrame({"qid": QID, "user": USERS})[levels])
    result = ms.cross_validate(
        make_pipeline(step, rs.QueryRanker(Ridge(), groups="user")),
        pd.DataFrame(X, ids), LABELS, groups=USERS, cv=GROUP_K_FOLD,
        scoring="ndcg(groups=user)", return_estimator=True, return_indices=True,
    )  # fmt: skip
    for pipeline, train in zip(result["estimator"], result["indices"]["train"], strict=True):
        assert pipeline[-1].n_queries_ == len(np.unique(USERS[train]))


def test_catboost_takes_its_own_ids_of_rows():
    order = np.argsort(QID, kind="stable")
    rows, labels, ids = X[order], LABELS[order], QID[order]
    given = {"groups": ids, "params": {"group_id": ids}, "scoring": "ndcg", "cv": CV}
    model = make_catboost_ranker(iterations=3, depth=2)
    values = ms.cross_val_score(model, rows, labels, **given)
    for (train, test), value in zip(CV.split(rows, labels, groups=ids), values, strict=True):
        fitted = make_catboost_ranker(iterations=3, depth=2)
        fitted.fit(rows[train], labels[train], group_id=ids[train])
        assert value == rs.ndcg_score(labels[test], fitted.predict(rows[test]), groups=ids[test])


@pytest.mark.parametrize("model", [Ridge(), LogisticRegression()], ids=type)
@pytest.mark.parametrize("cv", [CV, GROUP_K_FOLD, FOLDS], ids=type)
def test_a_ranker_gets_the_ids_for_a_metric_of_thresholds(cv, model):
    y, method = (LABELS > 2).astype(int), "predict"
    if isinstance(model, LogisticRegression):
        method = "decision_function"
    folds = cv if isinstance(cv, list) else list(cv.split(X, y, groups=QID))
    expected = ms.cross_val_predict(model, X, y, cv=folds, method=method)
    given, options = (rs.QueryRanker(model), X, y), {"groups": QID, "cv": cv}
    predicted = ms.cross_val_predict(*given, **options, method=method)
    np.testing.assert_allclose(predicted, expected)
    values = ms.cross_val_score(*given, **options, scoring="roc_auc")
    assert values == pytest.approx([roc_auc_score(y[t], expected[t]) for _, t in folds])


TEXT = np.array([f"s{number:02}" for number in QID])
FORMS = [  # of many of which scikit-learn cannot select rows
    TEXT.tolist(), pd.Series(TEXT).values, pd.array(QID, dtype="Int64"), pd.Categorical(TEXT),
    pd.array(TEXT, dtype=pd.ArrowDtype(pa.string())), pa.array(TEXT.tolist()), pa.array(QID),
    pa.chunked_array([TEXT[:50].tolist(), TEXT[50:].tolist()]),
    *(pd.Index(TEXT, dtype=dtype, name="qid") for dtype in (str, "string[pyarrow]", "category")),
    pd.Index(QID, dtype="int64[pyarrow]"),
]  # fmt: skip


@pytest.mark.parametrize("rows", [X, X.tolist(), pd.DataFrame(X)], ids=type)
@pytest.mark.parametrize("ids", FORMS, ids=type)
def test_groups_in_any_array(ids, rows):
    pipeline, params = make_pipeline(StandardScaler(), RIDGE), {"groups": ids}
    assert scores(pipeline, rows, groups=ids) == ALL
    assert searched(Ridge(), rows, groups=ids) == ALL
    with config_context(enable_metadata_routing=True):
        assert scores(pipeline, rows, groups=None, params=params) == ALL
    assert params["groups"] is ids


def test_a_list_of_ids_that_are_names_of_columns():
    frame = pd.DataFrame({"a": np.arange(8.0), "b": np.arange(8.0)[::-1]})
    ids = np.array(list("aabbabab"))
    for groups in (ids, ids.tolist()):
        folds = [test for _, test in rs.QueryKFold(2).split(frame, groups=groups)]
        assert {tuple(sorted(set(ids[test]))) for test in folds} == {("a",), ("b",)}
    # two names are two columns, whose values together are the id
    assert sum(len(test) for _, test in rs.QueryKFold(2).split(frame, groups=["a", "b"])) == 8


def test_calls_at_the_same_time_keep_their_own_ids():
    def score(seed):
        order = np.random.default_rng(seed).permutation(len(Y))
        given = {"groups": QID[order], "scoring": ALIGNED, "cv": CV}
        return tuple(ms.cross_val_score(RIDGE, X[order], Y[order], **given).tolist())

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(score, range(12))) == {(1.0, 1.0, 1.0)}


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


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_routed_ids_reach_every_task_of_a_pipeline_in_parallel(backend):
    """joblib prepares all but the first tasks in threads that do not have the configuration."""
    cv, model = rs.QueryKFold(8), make_pipeline(StandardScaler(), RIDGE)
    with config_context(enable_metadata_routing=True), parallel_config(backend):
        values = scores(model, groups=None, cv=cv, params={"groups": QID}, n_jobs=2)
    assert values == by_hand(folds_of(cv))


def test_requests_of_scorers():
    request = get_scorer("ndcg@10").get_metadata_routing().score.requests
    on_demand = dict.fromkeys(["sample_weight", "propensity", "target"])
    assert request == {"groups": True, "qid": True, **on_demand}
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
