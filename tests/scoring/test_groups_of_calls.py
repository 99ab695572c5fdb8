"""What `groups` of a call means: with other splitters, in searches within searches, beside ids."""

import pickle
import warnings
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
RIDGE, ALIGNED = rs.QueryRanker(Ridge()), rs.make_ranking_scorer(whole_queries)
BY_NDCG = {"scoring": "ndcg", "cv": CV, "error_score": "raise"}


def by_hand(folds, k=None, model=None):
    """The NDCG of the queries of each fold."""
    values = []
    for train, test in folds:
        scores = (model or Ridge()).fit(X[train], LABELS[train]).predict(X[test])
        labels, ids = LABELS[test].tolist(), QID[test].tolist()
        values.append(oracle.score("ndcg", labels, scores.tolist(), ids, k=k))
    return pytest.approx(values, rel=1e-9)


def folds_of(cv, groups=QID):
    return cv if isinstance(cv, list) else list(cv.split(X, LABELS, groups=groups))


ALL = folds_of(CV)
SPLITS = {
    "GroupShuffleSplit": ms.GroupShuffleSplit(3, random_state=0),
    "StratifiedGroupKFold": ms.StratifiedGroupKFold(3),
    "LeaveOneGroupOut": ms.LeaveOneGroupOut(),
    "of users": folds_of(CV, USERS),
    "masks": [(~np.isin(QID, q), np.isin(QID, q)) for q in ([0, 1], [2, 3])],
}


@pytest.mark.parametrize("name", SPLITS)
@pytest.mark.parametrize("model", [Ridge(), RIDGE], ids=type)
def test_groups_of_the_call_are_the_queries(model, name):
    cv = SPLITS[name]
    values = ms.cross_val_score(model, X, LABELS, groups=QID, scoring="ndcg", cv=cv)
    assert values == by_hand(folds_of(cv))
    search = ms.GridSearchCV(model, {}, cv=cv, scoring="ndcg").fit(X, LABELS, groups=QID)
    assert search.best_score_ == pytest.approx(np.mean(values))


@pytest.mark.filterwarnings("ignore:The groups parameter is ignored:UserWarning")
def test_groups_with_folds_by_number():
    cv = ms.PredefinedSplit(QID % 3)
    values = ms.cross_val_score(RIDGE, X, LABELS, groups=QID, scoring="ndcg", cv=cv)
    assert values == by_hand(list(cv.split()))


@pytest.mark.parametrize("cv", [CV, ms.GroupKFold(3)], ids=type)
@pytest.mark.parametrize("scoring", ["ndcg", make_scorer(rs.ndcg_score)], ids=type)
def test_ids_in_x_are_the_queries_and_coarser_groups_those_of_the_splits(scoring, cv):
    values = ms.cross_val_score(Ridge(), INDEXED, LABELS, groups=USERS, scoring=scoring, cv=cv)
    assert values == by_hand(folds_of(cv, USERS))
    with config_context(enable_metadata_routing=True):
        y, params = pd.Series(Y, LEVEL), {"groups": USERS}
        options = {"scoring": ALIGNED, "cv": cv, "params": params}
        np.testing.assert_array_equal(ms.cross_val_score(Ridge(), X, y, **options), 1)
        np.testing.assert_array_equal(ms.cross_val_score(Ridge(), X, Y, **options), 0)


def test_groups_by_name_and_folds_of_other_ids():
    rows = pd.DataFrame(X, columns=list("abc")).assign(session=QID)
    cv = SPLITS["of users"]
    search = ms.GridSearchCV(rs.QueryRanker(Ridge(), groups="session"), {}, scoring="ndcg", cv=cv)
    search.fit(rows, LABELS, groups="session")
    assert search.best_score_ == pytest.approx(np.mean(by_hand(cv).expected))


class OwnSplitter(ms.BaseCrossValidator):
    """A splitter of a user, which does not tell scikit-learn that it requests groups."""

    seen: ClassVar = []

    def split(self, X, y=None, groups=None):
        self.seen.append(groups)
        return ms.GroupKFold(2).split(X, y, groups)

    def get_n_splits(self, X=None, y=None, groups=None):
        return 2


@pytest.mark.parametrize(("scoring", "cv"), [("ndcg", ms.GroupKFold(3)), ("r2", CV), ("ndcg", CV)])
@pytest.mark.parametrize("inner_cv", [ms.GroupKFold(2), ms.StratifiedGroupKFold(2), OwnSplitter()])
@pytest.mark.parametrize("model", [RIDGE, Ridge()], ids=type)
def test_inner_searches_split_by_the_ids_of_the_call(model, inner_cv, scoring, cv):
    inner = ms.GridSearchCV(model, {}, cv=inner_cv, scoring=scoring)
    result = ms.cross_validate(
        inner, X, LABELS, groups=QID, scoring=scoring, cv=cv, return_estimator=True
    )
    for (train, _), search in zip(folds_of(cv), result["estimator"], strict=True):
        options = {"cv": inner_cv, "scoring": scoring, "groups": QID[train]}
        alone = ms.cross_val_score(Ridge(), X[train], LABELS[train], **options)
        assert search.best_score_ == pytest.approx(alone.mean(), rel=1e-9)


def test_an_inner_search_splits_by_the_groups_of_the_call_beside_ids_in_x():
    inner = ms.GridSearchCV(RIDGE, {}, cv=OwnSplitter(), scoring="ndcg")
    OwnSplitter.seen.clear()
    ms.cross_val_score(inner, INDEXED, LABELS, groups=USERS, cv=ms.GroupKFold(3), scoring="ndcg")
    folds = folds_of(ms.GroupKFold(3), USERS)
    for (train, _), groups in zip(folds, OwnSplitter.seen, strict=True):
        np.testing.assert_array_equal(groups, USERS[train])


@pytest.mark.parametrize("cv", [2, ms.KFold(2)])
def test_an_inner_search_that_ranks_nothing_gets_no_ids(cv):
    """scikit-learn would warn that its splitter ignores them."""
    inner = ms.GridSearchCV(Ridge(), {}, cv=cv)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        values = ms.cross_val_score(inner, X, LABELS, groups=QID, **BY_NDCG)
    assert values == by_hand(ALL)


def test_a_booster_of_other_models_needs_no_ids():
    regression = LGBMModel(objective="regression", n_estimators=2, verbose=-1, n_jobs=1)
    assert np.isfinite(ms.cross_val_score(regression, X, LABELS, scoring="r2", cv=3)).all()


ARRAYS = FunctionTransformer(np.asarray)
DEFAULT = {  # models whose own score ranks queries
    "a ranker": RIDGE,
    "a pipeline": make_pipeline(FunctionTransformer(), RIDGE),
    "a pipeline of arrays": make_pipeline(ARRAYS, RIDGE),
    "a pipeline of one step": make_pipeline(RIDGE),
    "a search": ms.GridSearchCV(RIDGE, {}, cv=CV),
    "a search by a metric": ms.GridSearchCV(RIDGE, {}, cv=CV, scoring="ndcg"),
    "a search by several": ms.GridSearchCV(RIDGE, {}, cv=CV, scoring=["r2", "ndcg"], refit="ndcg"),
    "a search by a function": ms.GridSearchCV(RIDGE, {}, cv=CV, scoring=make_scorer(rs.ndcg_score)),
    "a search of pipelines": ms.GridSearchCV(make_pipeline(ARRAYS, RIDGE), {}, cv=CV),
    "a pipeline of a search": make_pipeline(ARRAYS, ms.GridSearchCV(RIDGE, {}, cv=CV)),
}


@pytest.mark.parametrize("name", DEFAULT)
@pytest.mark.parametrize("rows", [X, INDEXED], ids=["array", "index"])
def test_the_default_score_is_that_of_the_ranker(name, rows):
    values = ms.cross_val_score(DEFAULT[name], rows, LABELS, groups=QID, cv=CV)
    assert values == by_hand(ALL)


def test_the_default_score_of_a_search_by_another_metric():
    by_r2 = ms.GridSearchCV(RIDGE, {}, cv=CV, scoring=["ndcg", "r2"], refit="r2")
    predicted = [(Ridge().fit(X[a], LABELS[a]).predict(X[b]), LABELS[b]) for a, b in folds_of(CV)]
    values = ms.cross_val_score(by_r2, X, LABELS, groups=QID, cv=CV)
    np.testing.assert_allclose(values, [r2_score(y, s) for s, y in predicted], rtol=1e-9)


FITTED = rs.QueryRanker(Ridge()).fit(X, LABELS, groups=QID)
FROZEN = {
    "a ranker": FrozenEstimator(FITTED),
    "in a pipeline": make_pipeline(FunctionTransformer(), FrozenEstimator(FITTED)),
    "a pipeline": FrozenEstimator(
        make_pipeline(FunctionTransformer(), RIDGE).fit(X, LABELS, queryranker__groups=QID)
    ),
    "a search": FrozenEstimator(
        ms.GridSearchCV(RIDGE, {}, scoring="ndcg", cv=CV).fit(X, LABELS, groups=QID)
    ),
}


class Frozen:
    """Predicts as the frozen rankers do, whatever it is fitted to."""

    def fit(self, X, y):
        return FITTED


@pytest.mark.parametrize("name", FROZEN)
def test_a_frozen_ranker_is_scored_and_not_fitted(name):
    scores = ms.cross_val_score(FROZEN[name], X, LABELS, groups=QID, scoring="ndcg@3", cv=CV)
    assert scores == by_hand(folds_of(CV), 3, Frozen())
    with pytest.raises(rs.NoGroupsError, match="No query ids reached"):
        ms.cross_val_score(FROZEN[name], X, LABELS, scoring="ndcg@3", cv=3)


@pytest.mark.parametrize("step", [StandardScaler(), FunctionTransformer()], ids=repr)
@pytest.mark.parametrize("levels", [["qid", "user"], ["user"]])
def test_a_pipeline_ranks_by_the_level_of_its_ranker(step, levels):
    rows = pd.DataFrame(X, pd.MultiIndex.from_arrays([QID, USERS], names=["qid", "user"]))
    dropped = [name for name in rows.index.names if name not in levels]
    result = ms.cross_validate(
        make_pipeline(step, rs.QueryRanker(Ridge(), groups="user")),
        rows.reset_index(dropped, drop=True), LABELS, groups=USERS, cv=ms.GroupKFold(3),
        scoring="ndcg(groups=user)", return_estimator=True, return_indices=True,
    )  # fmt: skip
    for pipeline, train in zip(result["estimator"], result["indices"]["train"], strict=True):
        assert pipeline[-1].n_queries_ == len(np.unique(USERS[train]))


def test_catboost_takes_its_own_ids_of_rows():
    order = np.argsort(QID, kind="stable")
    model, rows, labels = make_catboost_ranker(iterations=3, depth=2), X[order], LABELS[order]
    ids = QID[order]
    given = {"groups": ids, "params": {"group_id": ids}}
    values = ms.cross_val_score(model, rows, labels, **given, **BY_NDCG)
    for (train, test), value in zip(CV.split(rows, labels, groups=ids), values, strict=True):
        fitted = make_catboost_ranker(iterations=3, depth=2)
        fitted.fit(rows[train], labels[train], group_id=ids[train])
        assert value == rs.ndcg_score(labels[test], fitted.predict(rows[test]), groups=ids[test])


@pytest.mark.parametrize("model", [Ridge(), LogisticRegression()], ids=type)
@pytest.mark.parametrize("cv", [CV, ms.GroupKFold(3), FOLDS], ids=type)
def test_a_ranker_gets_the_ids_for_a_metric_of_thresholds(cv, model):
    y, is_classifier = (LABELS > 2).astype(int), isinstance(model, LogisticRegression)
    method = "decision_function" if is_classifier else "predict"
    options = {"groups": QID, "cv": cv}
    values = ms.cross_val_score(rs.QueryRanker(model), X, y, scoring="roc_auc", **options)
    predicted = ms.cross_val_predict(rs.QueryRanker(model), X, y, method=method, **options)
    folds = cv if isinstance(cv, list) else cv.split(X, y, groups=QID)
    for (train, test), value in zip(folds, values, strict=True):
        scores = getattr(model.fit(X[train], y[train]), method)(X[test])
        np.testing.assert_allclose(predicted[test], scores)
        assert value == pytest.approx(roc_auc_score(y[test], scores))


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
    pipeline, expected = make_pipeline(StandardScaler(), RIDGE), by_hand(ALL)
    params = {"groups": ids}
    assert ms.cross_val_score(pipeline, rows, LABELS, groups=ids, **BY_NDCG) == expected
    search = ms.GridSearchCV(Ridge(), {}, **BY_NDCG).fit(rows, LABELS, groups=ids)
    assert search.best_score_ == pytest.approx(np.mean(expected.expected))
    scores = rs.cross_val_query_scores(Ridge(), X, LABELS, metrics="mrr", cv=CV, groups=ids)
    assert len(scores) == 24
    *_, train, test = rs.query_train_test_split(rows, QID, groups=ids, random_state=0)
    assert set(train) ^ set(test) == set(QID)
    with config_context(enable_metadata_routing=True):
        assert ms.cross_val_score(pipeline, rows, LABELS, params=params, **BY_NDCG) == expected
    assert params["groups"] is ids


def test_a_list_of_ids_that_are_names_of_columns():
    frame = pd.DataFrame({"a": np.arange(8.0), "b": np.arange(8.0)[::-1]})
    ids = list("aabbabab")
    folds = [
        [test.tolist() for _, test in rs.QueryKFold(2).split(frame, groups=groups)]
        for groups in (ids, np.array(ids))
    ]
    assert folds[0] == folds[1]
    assert {tuple(sorted({ids[row] for row in test})) for test in folds[0]} == {("a",), ("b",)}
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
    fitted = ms.GridSearchCV(RIDGE, {}, cv=CV, scoring=ALIGNED).fit(X, Y, groups=QID)
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
            ms.cross_val_score(RIDGE, X, LABELS, scoring="ndcg", cv=[(other, other)])


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_routed_ids_reach_every_task_of_a_pipeline_in_parallel(backend):
    """joblib prepares all but the first tasks in threads that do not have the configuration."""
    options = {"scoring": "ndcg", "cv": rs.QueryKFold(8), "params": {"groups": QID}, "n_jobs": 2}
    with config_context(enable_metadata_routing=True), parallel_config(backend):
        values = ms.cross_val_score(make_pipeline(StandardScaler(), RIDGE), X, LABELS, **options)
    assert values == by_hand(folds_of(rs.QueryKFold(8)))


def test_requests_of_scorers():
    request = get_scorer("ndcg@10").get_metadata_routing().score.requests
    on_demand = dict.fromkeys(["sample_weight", "propensity", "target"])
    assert request == {"groups": True, "qid": True, **on_demand}
    with config_context(enable_metadata_routing=True):
        scorer = rs.make_ranking_scorer(whole_queries).set_score_request(groups="session")
        params = {"session": QID, "groups": USERS}
        options = {"scoring": scorer, "cv": ms.GroupKFold(3), "params": params}
        np.testing.assert_array_equal(ms.cross_val_score(Ridge(), X, Y, **options), 1)
        with pytest.raises(TypeError, match=r"a ranking scorer requests groups, qid, .* got 'ids'"):
            scorer.set_score_request(ids=True)
    with pytest.raises(RuntimeError, match="only available when metadata routing is enabled"):
        scorer.set_score_request(groups=True)


def test_requested_weights_reach_the_scorer():
    weights = 1.0 + QID
    with config_context(enable_metadata_routing=True):
        scorer = rs.make_ranking_scorer("mrr(threshold=3)").set_score_request(sample_weight=True)
        model = Ridge().set_fit_request(sample_weight=False)
        params = {"groups": QID, "sample_weight": weights}
        values = ms.cross_val_score(
            model, X, LABELS, scoring=scorer, cv=ms.GroupKFold(3), params=params
        )
    for (train, test), value in zip(FOLDS, values, strict=True):
        scores = Ridge().fit(X[train], LABELS[train]).predict(X[test])
        y, s, q, w = (part.tolist() for part in (LABELS[test], scores, QID[test], weights[test]))
        expected = oracle.score("mrr", y, s, q, threshold=3, sample_weight=w)
        assert value == pytest.approx(expected, rel=1e-12)
