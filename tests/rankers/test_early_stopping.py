"""QueryRanker stops early by the mechanism of each library, on held-out queries."""

import numpy as np
import pandas as pd
import pytest
from gathered_rows import gather
from lightgbm import LGBMRanker, early_stopping
from requires import requires
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from small_rankers import LGBM, XGB, make_ranker
from training_rounds import sizes_of
from xgboost import XGBRanker

from sklearn_rankscore import (
    QueryKFold,
    QueryRanker,
    QueryShuffleSplit,
    lightgbm_metric,
    make_ranking,
)

POINTWISE = {
    "lightgbm.LGBMRegressor": {"n_estimators": 50, "verbose": -1, "n_jobs": 1},
    "xgboost.XGBRegressor": {"n_estimators": 50, "n_jobs": 1},
    "catboost.CatBoostRegressor": {"iterations": 50, "verbose": 0, "allow_writing_files": False},
}


def held_out(X, y, qid, seed, fraction=0.2):
    """Training rows and held-out rows, both gathered by query."""
    qid, X, y = gather(qid, X, y)
    cv = QueryShuffleSplit(1, test_size=fraction, random_state=seed, skip_constant_queries=True)
    ((train, test),) = cv.split(X, y, qid)
    return (X[train], y[train], qid[train]), (X[test], y[test], qid[test])


def native_early_stopping(library, train, test):
    """Fitted ranker and number of rounds, from the library itself."""
    (X, y, q), (X_test, y_test, q_test) = train, test
    if library == "lightgbm":
        ranker = LGBMRanker(**LGBM.get_params()).fit(
            X, y, group=sizes_of(q), eval_X=(X_test,), eval_y=(y_test,),
            eval_group=[sizes_of(q_test)], callbacks=[early_stopping(5, verbose=False)],
        )  # fmt: skip
        return ranker, ranker.best_iteration_
    if library == "xgboost":
        ranker = XGBRanker(**{**XGB.get_params(), "early_stopping_rounds": 5}).fit(
            X, y, qid=q, eval_set=[(X_test, y_test)], eval_qid=[q_test]
        )
        return ranker, ranker.best_iteration + 1
    pool = requires("catboost").Pool(X_test, y_test, group_id=q_test)
    ranker = make_ranker("catboost").fit(X, y, group_id=q, eval_set=pool, early_stopping_rounds=5)
    return ranker, ranker.tree_count_


def test_early_stopping_equals_that_of_the_library(library, data):
    X, y, qid = data
    train, test = held_out(X, y, qid, seed=3)
    expected, rounds = native_early_stopping(library, train, test)
    ranker = QueryRanker(
        make_ranker(library),
        early_stopping=True,
        validation_fraction=0.2,
        n_iter_no_change=5,
        random_state=3,
    ).fit(X, y, groups=qid)
    assert ranker.n_iter_ == rounds
    np.testing.assert_array_equal(ranker.predict(X), expected.predict(X))


def test_early_stopping_in_a_pipeline_transforms_the_held_out_rows(library, data, tmp_path):
    X, y, qid = data
    options = {"early_stopping": True, "validation_fraction": 0.2, "random_state": 3}
    train, test = held_out(X, y, qid, seed=3)
    scale = StandardScaler().fit(train[0])
    expected, rounds = None, None
    for memory in (None, str(tmp_path)):
        pipe = make_pipeline(
            StandardScaler(), FunctionTransformer(), make_ranker(library), memory=memory
        )
        ranker = QueryRanker(pipe, n_iter_no_change=5, **options).fit(X, y, groups=qid)
        if expected is None:
            expected, rounds = native_early_stopping(
                library,
                (scale.transform(train[0]), *train[1:]),
                (scale.transform(test[0]), *test[1:]),
            )
        assert ranker.n_iter_ == rounds
        np.testing.assert_array_equal(ranker.predict(X), expected.predict(scale.transform(X)))


def test_early_stopping_uses_weights(library, data):
    X, y, qid = data
    ranker = QueryRanker(make_ranker(library), early_stopping=True, random_state=0)
    weighted = ranker.fit(X, y, groups=qid, sample_weight=1.0 + 9 * (qid % 2)).predict(X)
    assert not np.array_equal(weighted, ranker.fit(X, y, groups=qid).predict(X))


@pytest.mark.parametrize("name", ["sample_weight", "group_weight"])
def test_weights_by_the_names_of_a_booster_count_among_held_out_queries(name):
    X, y, groups = make_ranking(n_queries=60, n_features=4, n_informative=2, random_state=3)
    model = make_ranker("catboost" if name == "group_weight" else "lightgbm")
    ranker = QueryRanker(make_pipeline("passthrough", model), early_stopping="ndcg@5")
    ranker.set_params(validation_fraction=0.3, n_iter_no_change=3, random_state=0)
    weights = np.where(groups % 4 == 0, 30.0, 1.0)
    expected = ranker.fit(X, y, groups=groups, sample_weight=weights).predict(X)
    of_step = {f"{type(model).__name__.lower()}__{name}": weights}
    np.testing.assert_array_equal(ranker.fit(X, y, groups=groups, **of_step).predict(X), expected)
    with pytest.raises(ValueError, match=f"weights are given twice, as .*__{name}= and"):
        ranker.fit(X, y, groups=groups, sample_weight=weights + 1, **of_step)


@pytest.mark.parametrize("name", POINTWISE)
def test_pointwise_boosters_stop_early_on_held_out_queries(name, data):
    X, y, qid = data
    library, _, regressor = name.partition(".")
    model = getattr(requires(library), regressor)(**POINTWISE[name])
    ranker = QueryRanker(model, early_stopping=True, n_iter_no_change=3, random_state=0)
    ranker.fit(X, y, groups=qid, sample_weight=1.0 + qid % 2)
    assert 1 <= ranker.n_iter_ < 50


def test_n_iter_is_removed_by_a_fit_without_early_stopping(data):
    X, y, qid = data
    ranker = QueryRanker(LGBM, early_stopping=True).fit(X, y, groups=qid)
    assert ranker.n_iter_ <= 30
    assert not hasattr(ranker.set_params(early_stopping=False).fit(X, y, groups=qid), "n_iter_")


def test_grid_search_holds_out_other_queries_in_each_fold(lambdarank):
    X, y, qid = lambdarank
    booster = LGBMRanker(n_estimators=100, num_leaves=7, verbose=-1, n_jobs=1)
    ranker = QueryRanker(booster, early_stopping=True, random_state=0)
    frame = pd.DataFrame(X).add_prefix("x").assign(qid=qid)
    search = GridSearchCV(
        ranker,
        {"estimator__learning_rate": [0.05, 0.2]},
        scoring={"ndcg@10": "ndcg@10", "rounds": lambda ranker, X, y: ranker.n_iter_},
        refit="ndcg@10",
        cv=QueryKFold(3),
        error_score="raise",
    ).fit(frame, y)
    folds = cross_validate(
        search.best_estimator_, frame, y, cv=QueryKFold(3), scoring="ndcg@10", return_estimator=True
    )
    rounds = [fitted.n_iter_ for fitted in folds["estimator"]]
    assert len(set(rounds)) > 1
    reported = [search.cv_results_[f"split{f}_test_rounds"][search.best_index_] for f in range(3)]
    assert reported == rounds
    assert np.mean(folds["test_score"]) == pytest.approx(search.best_score_, abs=1e-12)
    assert 1 <= search.best_estimator_.n_iter_ <= 100


def test_early_stopping_by_lightgbm_metric(data):
    X, y, qid = data
    booster = LGBMRanker(**LGBM.get_params(), metric="None")
    ranker = QueryRanker(booster, early_stopping=True, n_iter_no_change=5, random_state=0)
    ranker.fit(X, y, groups=qid, eval_metric=lightgbm_metric("mrr@10"))
    history = ranker.estimator_.evals_result_["valid_0"]
    assert list(history) == ["mrr@10_rankscore"]
    assert ranker.n_iter_ == 1 + int(np.argmax(history["mrr@10_rankscore"]))


@pytest.mark.parametrize("piped", [False, True])
def test_training_data_among_the_sets_of_lightgbm_do_not_stop(piped):
    """LightGBM knows them by identity; their NDCG@1 no longer improves after a few rounds."""
    X, y, groups = make_ranking(n_queries=60, n_features=5, random_state=0)
    order = np.random.default_rng(0).permutation(len(y))
    X, y, groups = X[order], y[order], groups[order]
    is_valid = groups % 3 == 0
    train, valid = ((X[rows], y[rows], groups[rows]) for rows in (~is_valid, is_valid))
    (q, X_q, y_q), (q_test, X_test, y_test) = (
        gather(part[2], *part[:2]) for part in (train, valid)
    )
    model = LGBMRanker(n_estimators=100, n_jobs=1, verbose=-1, early_stopping_round=30)
    expected = clone(model).fit(
        X_q, y_q, group=sizes_of(q), eval_X=(X_q, X_test), eval_y=(y_q, y_test),
        eval_group=[sizes_of(q), sizes_of(q_test)], eval_at=[1],
    )  # fmt: skip
    ranker = QueryRanker(make_pipeline("passthrough", clone(model)) if piped else clone(model))
    name = "lgbmranker__eval_at" if piped else "eval_at"
    sets = {"eval_set": [train[:2], valid[:2]], "eval_qid": [train[2], valid[2]], name: [1]}
    fitted = ranker.fit(*train[:2], groups=train[2], **sets).estimator_
    fitted = fitted[-1] if piped else fitted
    assert fitted.evals_result_ == expected.evals_result_
    assert fitted.best_iteration_ == expected.best_iteration_
    # fewer queries than those of the set, and early stopping of QueryRanker on its last set
    few = ranker.set_params(max_queries=20).fit(*train[:2], groups=train[2], **sets).estimator_
    assert list((few[-1] if piped else few).evals_result_) == ["valid_0", "valid_1"]
    ranker.set_params(max_queries=None, early_stopping=True, n_iter_no_change=5)
    sets |= {"eval_set": [train[:2]], "eval_qid": [train[2]]}
    assert ranker.fit(*train[:2], groups=train[2], **sets).n_iter_ < 100


def test_other_labels_of_the_training_rows_are_a_set_of_their_own():
    X, y, groups = make_ranking(n_queries=20, n_features=3, random_state=0)
    ids = {"groups": groups, "eval_qid": [groups]}
    ranker = QueryRanker(LGBMRanker(n_estimators=5, n_jobs=1, verbose=-1))
    histories = [
        ranker.fit(X, y, **ids, eval_set=[(given, y.max() - y)]).estimator_.evals_result_
        for given in (X, X.copy())
    ]
    assert histories[0] == histories[1]


@pytest.mark.parametrize("labels", [np.asarray, pd.Series])
def test_training_data_may_be_the_set_that_stops_lightgbm(labels):
    """Rows that are already together are passed on unchanged, so that LightGBM knows them."""
    X, y, groups = make_ranking(n_queries=60, n_features=4, random_state=0)
    groups, X, y = gather(groups, X, y)
    y = labels(y)
    ranker = QueryRanker(LGBMRanker(**LGBM.get_params()), early_stopping="ndcg@5")
    ranker.set_params(estimator__n_estimators=300)
    rounds = [
        ranker.fit(X, y, groups=groups, eval_set=[rows], eval_qid=[groups]).n_iter_
        for rows in ((X.copy(), y.copy()), (X, y))
    ]
    assert rounds[0] == rounds[1] < 300


@pytest.mark.parametrize("in_order", [True, False])
@pytest.mark.parametrize("of_set", ["eval_qid", "eval_sample_weight"])
def test_training_data_with_other_queries_or_weights_are_a_set_of_their_own(in_order, of_set):
    """LightGBM would evaluate the queries and weights of the training."""
    X, y, groups = make_ranking(n_queries=30, n_features=4, random_state=0)
    groups, X, y = gather(groups, X, y)
    if not in_order:
        order = np.random.default_rng(0).permutation(len(y))
        X, y, groups = X[order], y[order], groups[order]
    given = {"eval_qid": [groups], "eval_sample_weight": [groups + 1.0]}
    given[of_set] = [np.zeros(len(y), int)] if of_set == "eval_qid" else [31.0 - groups]
    ranker = QueryRanker(LGBMRanker(**LGBM.get_params()))
    histories = [
        ranker.fit(
            X, y, groups=groups, sample_weight=groups + 1.0, eval_set=[rows], **given
        ).estimator_.evals_result_
        for rows in ((X.copy(), y.copy()), (X, y))
    ]
    assert histories[0] == histories[1]
    assert list(histories[0]) == ["valid_0"]
