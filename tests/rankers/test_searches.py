"""Searches and feature selection with QueryRanker on real data equal loops over the folds."""

import warnings
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from lightgbm import LGBMRanker
from requires import requires
from sklearn import config_context
from sklearn.base import clone
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_selection import RFECV, SequentialFeatureSelector
from sklearn.inspection import permutation_importance
from sklearn.linear_model import Ridge
from sklearn.metrics import ndcg_score as scikit_learns_ndcg
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    cross_val_score,
    cross_validate,
    validation_curve,
)

from sklearn_rankscore import PartialQueryWarning, QueryKFold, QueryRanker, evaluate

LGBM = QueryRanker(LGBMRanker(n_estimators=10, num_leaves=7, verbose=-1, n_jobs=1))
RIDGE = QueryRanker(Ridge())
CV = QueryKFold(3)


def ndcg10(y, scores, qid):
    """NDCG@10 by scikit-learn, for queries of equal length at once; 0 if none is relevant."""
    ids, length = np.unique(qid, return_counts=True)
    total = 0.0
    for n in np.unique(length):
        rows = np.concatenate([np.flatnonzero(qid == q) for q in ids[length == n]]).reshape(-1, n)
        if n == 1:
            total += (y[rows] > 0).sum()
        else:
            total += len(rows) * scikit_learns_ndcg(y[rows], scores[rows], k=10)
    return total / len(ids)


def fold_scores(model, X, y, qid, cv=CV):
    """Scores of the folds."""
    values = []
    for train, test in cv.split(X, y, qid):
        fitted = clone(model).fit(X[train], y[train], groups=qid[train])
        values.append(ndcg10(y[test], fitted.predict(X[test]), qid[test]))
    return values


@pytest.fixture(scope="module")
def data(lambdarank):
    """Ten features that vary, labels and query ids, rows shuffled."""
    X, y, qid = lambdarank
    return X[:, np.argsort(-X.var(axis=0), kind="stable")[:10]], y, qid


@pytest.fixture(scope="module")
def labelled(data):
    """Features, and labels that carry the query ids in their index."""
    X, y, qid = data
    return X, pd.Series(y, index=pd.Index(qid, name="qid"))


@pytest.fixture(scope="module")
def frame(data):
    """Features with a column of query ids."""
    X, _, qid = data
    return pd.DataFrame(X).add_prefix("x").assign(qid=qid)


def warned(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [w for w in caught if issubclass(w.category, PartialQueryWarning)]


# --- Optuna


@pytest.mark.filterwarnings("ignore:OptunaSearchCV is experimental")
@pytest.mark.filterwarnings("ignore:`optuna.terminator` module:FutureWarning")
@pytest.mark.parametrize("how", ["index of y", "column of X"])
def test_optuna_search(how, data, labelled, frame):
    optuna, optuna_sklearn = requires("optuna"), requires("optuna_integration.sklearn")
    X, y = (frame, data[1]) if how == "column of X" else labelled
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    space = {"estimator__num_leaves": optuna.distributions.IntDistribution(2, 15)}
    search = optuna_sklearn.OptunaSearchCV(
        LGBM,
        space,
        scoring="ndcg@10",
        cv=CV,
        n_trials=3,
        random_state=0,
        error_score="raise",
    )
    search.fit(X, y)
    for trial in search.study_.trials:
        model = clone(LGBM).set_params(**trial.params)
        assert trial.value == pytest.approx(np.mean(fold_scores(model, *data)), abs=1e-9)
    assert search.best_score_ == max(trial.value for trial in search.study_.trials)
    best = search.best_estimator_.predict(X)
    assert search.score(X, y) == pytest.approx(ndcg10(data[1], best, data[2]), abs=1e-9)


def test_optuna_study(data, frame):
    optuna = requires("optuna")
    optuna.logging.set_verbosity(optuna.logging.WARNING)

    def objective(trial):
        model = clone(RIDGE).set_params(estimator__alpha=trial.suggest_float("alpha", 1e-3, 1e3))
        return cross_val_score(model, frame, data[1], scoring="ndcg@10", cv=CV).mean()

    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.RandomSampler(0))
    study.optimize(objective, n_trials=3)
    for trial in study.trials:
        model = clone(RIDGE).set_params(estimator__alpha=trial.params["alpha"])
        assert trial.value == pytest.approx(np.mean(fold_scores(model, *data)), abs=1e-9)


# --- importance and selection


def test_permutation_importance(data, labelled):
    X, y, qid = data
    fitted = clone(LGBM).fit(*labelled)
    importances = permutation_importance(
        fitted, *labelled, scoring="ndcg@10", n_repeats=2, random_state=0
    ).importances

    def by_hand(model, X, _):
        return ndcg10(y, model.predict(X), qid)

    expected = permutation_importance(
        fitted, X, y, scoring=by_hand, n_repeats=2, random_state=0
    ).importances
    np.testing.assert_allclose(importances, expected, rtol=0, atol=1e-9)
    assert importances.max() > 0.01


@pytest.mark.parametrize("how", ["index of y", "routing"])
def test_sequential_feature_selector(how, data, labelled):
    X, y, qid = data
    chosen = []
    while len(chosen) < 2:
        values = {
            j: np.mean(fold_scores(RIDGE, X[:, [*chosen, j]], y, qid))
            for j in range(X.shape[1])
            if j not in chosen
        }
        chosen.append(max(values, key=values.get))
    select = SequentialFeatureSelector(RIDGE, n_features_to_select=2, scoring="ndcg@10", cv=CV)
    with config_context(enable_metadata_routing=how == "routing"):
        if how == "routing":
            select.fit(X, y, groups=qid)
        else:
            select.fit(*labelled)
    assert sorted(chosen) == np.flatnonzero(select.get_support()).tolist()


def test_rfecv(data):
    X, y, qid = data
    by_fold = []
    for train, test in CV.split(X, y, qid):
        kept, values = np.arange(X.shape[1]), []
        while len(kept):
            fitted = clone(LGBM).fit(X[train][:, kept], y[train], groups=qid[train])
            values.append(ndcg10(y[test], fitted.predict(X[test][:, kept]), qid[test]))
            weakest = np.argsort(fitted.feature_importances_**2)[:3]
            kept = np.delete(kept, weakest[: max(1, min(3, len(kept) - 1))])
        by_fold.append(values)
    with config_context(enable_metadata_routing=True):
        search = RFECV(LGBM, step=3, scoring="ndcg@10", cv=CV)
        search.fit(X, y, groups=qid)
    means = search.cv_results_["mean_test_score"]
    np.testing.assert_allclose(means[::-1], np.mean(by_fold, axis=0), rtol=0, atol=1e-9)


# --- searches


def grid(model=LGBM, **kwargs):
    space = {"estimator__num_leaves": [3, 15]}
    return GridSearchCV(model, space, scoring="ndcg@10", cv=CV, error_score="raise", **kwargs)


@pytest.mark.parametrize("how", ["index of y", "column of X", "routing"])
def test_nested_cross_validation(how, data, labelled, frame):
    X, y, qid = data
    outer, expected = QueryKFold(3, shuffle=True, random_state=1), []
    for train, test in outer.split(X, y, qid):
        models = [clone(LGBM).set_params(estimator__num_leaves=n) for n in (3, 15)]
        inner = [np.mean(fold_scores(m, X[train], y[train], qid[train])) for m in models]
        best = models[int(np.argmax(inner))].fit(X[train], y[train], groups=qid[train])
        expected.append(ndcg10(y[test], best.predict(X[test]), qid[test]))
    with config_context(enable_metadata_routing=how == "routing"):
        given = {
            "index of y": labelled,
            "column of X": (frame, y),
            "routing": (X, y),
        }[how]
        params = {"groups": qid} if how == "routing" else None
        scores = cross_validate(
            grid(), *given, scoring="ndcg@10", cv=outer, params=params, error_score="raise"
        )["test_score"]
    np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-9)


@contextmanager
def backend(name):
    if name != "dask":
        with parallel_config(name, n_jobs=2):
            yield
        return
    with (
        requires("distributed").Client(n_workers=1, threads_per_worker=2, dashboard_address=":0"),
        parallel_config("dask"),
    ):
        yield


@pytest.mark.parametrize("name", ["threading", "loky", "dask"])
def test_every_backend_of_joblib_finds_the_same(name, data, frame):
    expected = [np.mean(fold_scores(m, *data)) for m in _both()]
    with backend(name):
        search = grid(n_jobs=2).fit(frame, data[1])
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], expected, rtol=0, atol=1e-9)


def _both():
    return [clone(LGBM).set_params(estimator__num_leaves=n) for n in (3, 15)]


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("lightgbm.LGBMRanker", {"n_estimators": 60, "verbose": -1, "n_jobs": 1}),
        ("xgboost.XGBRanker", {"n_estimators": 60, "max_depth": 3, "n_jobs": 1}),
        (
            "catboost.CatBoostRanker",
            {"iterations": 60, "depth": 3, "verbose": 0, "thread_count": 1,
             "allow_writing_files": False},
        ),
    ],
    ids=["LGBMRanker", "XGBRanker", "CatBoostRanker"],
)  # fmt: skip
def test_early_stopping_in_a_search_equals_a_loop(name, params, data, frame):
    X, y, qid = data
    library, _, ranker = name.partition(".")
    booster = getattr(requires(library), ranker)(**params)
    model = QueryRanker(booster, early_stopping=True, n_iter_no_change=5, random_state=0)
    results = cross_validate(
        model, frame, y, scoring="ndcg@10", cv=CV, return_estimator=True, error_score="raise"
    )
    np.testing.assert_allclose(
        results["test_score"], fold_scores(model, X, y, qid), rtol=0, atol=1e-9
    )
    rounds = [fitted.n_iter_ for fitted in results["estimator"]]
    assert len(set(rounds)) > 1
    assert all(1 <= n <= 60 for n in rounds)


# --- halving, and queries that are split


def halving(**kwargs):
    alphas = {"estimator__alpha": [1e-2, 1, 1e2, 1e4]}
    model = clone(RIDGE).set_params(random_state=0)
    return HalvingGridSearchCV(
        model, alphas, scoring="ndcg@10", cv=CV, factor=2, random_state=0, **kwargs
    )


def test_halving_by_queries_does_not_overstate(data, frame):
    X, y, qid = data
    search = halving(resource="max_queries", max_resources=120, min_resources=30)
    assert not warned(lambda: search.fit(frame, y))
    assert search.n_resources_ == [30, 60, 120]
    results = search.cv_results_
    for params, queries, mean in zip(
        results["params"], results["n_resources"], results["mean_test_score"], strict=True
    ):
        model = clone(search.estimator).set_params(**params)
        assert params["max_queries"] == queries
        assert mean == pytest.approx(np.mean(fold_scores(model, X, y, qid)), abs=1e-9)
    assert search.best_estimator_.n_queries_ == 120


def test_halving_by_rows_overstates_and_warns(data, frame):
    X, y, qid = data
    search = halving(resource="n_samples", min_resources=300)
    assert warned(lambda: search.fit(frame, y))
    first = search.cv_results_["mean_test_score"][search.cv_results_["iter"] == 0]
    honest = [
        np.mean(fold_scores(clone(RIDGE).set_params(estimator__alpha=alpha), X, y, qid))
        for alpha in (1e-2, 1, 1e2, 1e4)
    ]
    assert (first > np.array(honest) + 0.03).all()


def test_learning_curve_by_queries(data, frame):
    X, y, qid = data
    model = clone(RIDGE).set_params(random_state=0)
    _, scores = validation_curve(
        model,
        frame,
        y,
        param_name="max_queries",
        param_range=[10, 100],
        scoring="ndcg@10",
        cv=CV,
    )
    expected = [fold_scores(clone(model).set_params(max_queries=n), X, y, qid) for n in (10, 100)]
    np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-9)


def test_a_separate_test_set_may_use_the_same_ids(frame, data, lambdarank_test):
    X, y, qid = lambdarank_test
    test = pd.DataFrame(X[:, :10], columns=frame.columns[:-1]).assign(qid=qid)
    assert set(qid) <= set(data[2])
    search = grid(RIDGE)
    search.param_grid = {"estimator__alpha": [1, 10]}

    def call():
        search.fit(frame, data[1])
        search.score(test, y)
        permutation_importance(search, test, y, scoring="ndcg@10", n_repeats=1)

    assert not warned(call)
    scores = search.predict(test)
    assert search.score(test, y) == pytest.approx(
        evaluate(y, scores, "ndcg@10", groups=qid)["ndcg@10"]
    )
