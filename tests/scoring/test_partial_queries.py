"""A warning if a splitter splits queries, whose metrics are then too high or too low."""

import warnings

import numpy as np
import pandas as pd
import pytest
from id_alignment import FOLDS, QID, X, Y
from sklearn import config_context
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.linear_model import Ridge
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    KFold,
    cross_val_predict,
    cross_val_score,
    cross_validate,
    learning_curve,
)
from sklearn.pipeline import Pipeline

from sklearn_rankscore import (
    PartialQueryWarning,
    QueryKFold,
    QueryRanker,
    make_ranking,
    make_ranking_scorer,
)

LABELS = Y % 10
BY_Y = pd.Series(LABELS, index=pd.Index(QID, name="qid"))
SPLITS_QUERIES = KFold(3)


def warned(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [w for w in caught if issubclass(w.category, PartialQueryWarning)]


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize("scoring", ["ndcg@3", ["r2", "mrr", "ndcg@3"]])
def test_kfold_warns(scoring, n_jobs):
    def call():
        cross_validate(Ridge(), X, BY_Y, scoring=scoring, cv=SPLITS_QUERIES, n_jobs=n_jobs)

    assert warned(call)


@pytest.mark.parametrize("scoring", ["ndcg@3", ["mrr", "ndcg@3"], None])
def test_ids_that_the_ranker_finds_are_checked_too(scoring):
    """The scorer gets them, although it would find none itself."""
    table = pd.DataFrame({"session": QID, "x": np.arange(len(QID)) % 7})
    model = QueryRanker(Ridge(), groups="session")

    def call(cv):
        return warned(lambda: cross_validate(model, table, LABELS, scoring=scoring, cv=cv))

    assert call(SPLITS_QUERIES)
    assert call(QueryKFold(3, groups="session")) == []


def test_ids_are_those_that_the_candidate_of_a_search_finds():
    table = pd.DataFrame({"session": QID, "x": np.arange(len(QID)) % 7})
    model, ranker = Pipeline([("model", Ridge())]), QueryRanker(Ridge(), groups="session")

    def call(cv):
        grid = {"model": [ranker]}
        return warned(lambda: GridSearchCV(model, grid, scoring="mrr", cv=cv).fit(table, LABELS))

    assert call(SPLITS_QUERIES)
    assert call(QueryKFold(3, groups="session")) == []


def test_warning_names_the_callers_line():
    warning, *_ = warned(
        lambda: cross_val_score(Ridge(), X, BY_Y, scoring="ndcg@3", cv=SPLITS_QUERIES)
    )
    assert warning.filename == __file__


def test_search_warns():
    search = GridSearchCV(Ridge(), {"alpha": [1, 10]}, scoring="ndcg@3", cv=SPLITS_QUERIES)
    assert warned(lambda: search.fit(X, BY_Y))


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
    X, y = make_ranking(n_queries=60, as_frame=True, random_state=0)
    grid = {"estimator__alpha": [0.1, 10]}
    options = {"cv": QueryKFold(3), "scoring": "ndcg@10", "random_state": 0, "factor": 2}
    search = HalvingGridSearchCV(QueryRanker(Ridge()), grid, min_resources=300, **options)
    with pytest.warns(PartialQueryWarning) as caught:
        search.fit(X, y)
    advised = str(caught[0].message).partition("for successive halving use ")[2]
    assert "resource='max_queries' and max_resources=, the number of training queries" in advised
    search = HalvingGridSearchCV(
        QueryRanker(Ridge()), grid, resource="max_queries", max_resources=40, **options
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        search.fit(X, y)
    assert max(search.n_resources_) <= 40


def test_halving_of_rows_warns():
    search = HalvingGridSearchCV(
        Ridge(),
        {"alpha": [1, 10]},
        scoring="ndcg@3",
        cv=FOLDS,
        resource="n_samples",
        min_resources=30,
        random_state=0,
    )
    assert warned(lambda: search.fit(X, BY_Y))


def test_a_named_column_warns():
    rows = pd.DataFrame(X, columns=list("abc")).assign(session=QID)
    scorer = make_ranking_scorer("ndcg@3", groups="session")
    assert warned(lambda: cross_val_score(Ridge(), rows, LABELS, scoring=scorer, cv=SPLITS_QUERIES))


def test_routed_ids_warn():
    with config_context(enable_metadata_routing=True):
        call = {"scoring": "ndcg@3", "cv": SPLITS_QUERIES, "params": {"groups": QID}}
        assert warned(lambda: cross_val_score(Ridge(), X, LABELS, **call))


QUIET = {
    "whole queries": {"scoring": "ndcg@3", "cv": FOLDS},
    "QueryKFold": {"scoring": "ndcg@3", "cv": QueryKFold(3)},
    "one list": {"scoring": "ndcg@3(groups=none)", "cv": SPLITS_QUERIES},
    "no ranking metric": {"scoring": "r2", "cv": SPLITS_QUERIES},
}


@pytest.mark.parametrize("call", QUIET.values(), ids=QUIET)
def test_no_warning(call):
    assert not warned(lambda: cross_val_score(Ridge(), X, BY_Y, **call))


def test_no_warning_of_split_training_queries():
    call = {"scoring": "ndcg@3", "cv": FOLDS, "train_sizes": [17]}
    assert not warned(lambda: learning_curve(Ridge(), X, BY_Y, **call))


def test_prediction_by_a_ranker_warns():
    ranker = QueryRanker(Ridge(), max_queries=10)
    assert warned(lambda: cross_val_predict(ranker, X, BY_Y, cv=SPLITS_QUERIES))
    assert not warned(lambda: cross_val_predict(ranker, X, BY_Y, cv=QueryKFold(3)))


def test_default_scores_of_a_ranker_warn():
    assert warned(lambda: cross_val_score(QueryRanker(Ridge()), X, BY_Y, cv=SPLITS_QUERIES))
