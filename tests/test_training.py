"""Metrics at training time: the boosters' own numbers, ours afterwards, and the same best round."""

import pickle

import lightgbm
import numpy as np
import pytest
import xgboost
from catboost import CatBoostError, CatBoostRanker, Pool
from lightgbm import LGBMRanker
from sklearn.base import clone
from sklearn.metrics import ndcg_score as scikit_learns_ndcg
from xgboost import XGBRanker

from sklearn_rankscore import catboost_metric, evaluate, lightgbm_metric, xgboost_metric

ROUNDS, PATIENCE = 60, 8
METRICS = ["ndcg@10", "mrr@10", "map", "precision@3", "err@10", "query_auc"]


@pytest.fixture(scope="module")
def data(lambdarank, lambdarank_test):
    """Training and evaluation part, rows sorted by query: ((X, y, qid), (X, y, qid))."""
    X, y, qid = lambdarank
    order = np.argsort(qid, kind="stable")
    X_test, y_test, qid_test = lambdarank_test
    return (X[order, :80], y[order], qid[order]), (X_test[:, :80], y_test, qid_test)


def sizes(qid):
    return np.unique(qid, return_counts=True)[1]


def recomputed(predict, test, metric, n_rounds, weight=None, **options):
    """Our metric of the model cut after each round."""
    X, y, qid = test
    return [
        evaluate(y, predict(X, i + 1), metric, groups=qid, sample_weight=weight, **options)[metric]
        for i in range(n_rounds)
    ]


def best_round(values, patience=PATIENCE):
    """Where early stopping ends up, by definition: the first best before a run without better."""
    best = 0
    for i, value in enumerate(values):
        if value > values[best]:
            best = i
        elif i - best >= patience:
            break
    return best


# --- LightGBM


def fit_lightgbm(data, eval_metric=None, stop=True, **params):
    (X, y, qid), (X_test, y_test, qid_test) = data
    model = LGBMRanker(n_estimators=ROUNDS, num_leaves=7, verbose=-1, n_jobs=1, **params)
    return model.fit(
        X, y, group=sizes(qid), eval_X=(X_test,), eval_y=(y_test,), eval_group=[sizes(qid_test)],
        eval_at=[10], eval_metric=eval_metric,
        callbacks=[lightgbm.early_stopping(PATIENCE, verbose=False)] if stop else None,
    )  # fmt: skip


def predict_lightgbm(data):
    """Predictions after each round; a booster that stopped early has lost its later trees."""
    booster = fit_lightgbm(data, stop=False).booster_
    return lambda X, n: booster.predict(X, num_iteration=n)


def test_lightgbm_agrees_with_its_own_metric_and_afterwards(data):
    own = fit_lightgbm(data)
    ours = fit_lightgbm(data, lightgbm_metric("ndcg@10", like="lightgbm"), metric="None")
    theirs = own.evals_result_["valid_0"]["ndcg@10"]
    found = ours.evals_result_["valid_0"]["ndcg@10"]
    np.testing.assert_allclose(found, theirs, rtol=0, atol=1e-6)
    after = recomputed(predict_lightgbm(data), data[1], "ndcg@10", len(found), like="lightgbm")
    np.testing.assert_allclose(after, found, rtol=0, atol=1e-6)
    assert own.best_iteration_ == ours.best_iteration_ == best_round(after) + 1 < ROUNDS


@pytest.mark.parametrize("metric", METRICS)
def test_lightgbm_picks_the_round_that_is_best_afterwards(metric, data):
    ours = fit_lightgbm(data, lightgbm_metric(metric), metric="None")
    found = ours.evals_result_["valid_0"][metric]
    after = recomputed(predict_lightgbm(data), data[1], metric, len(found))
    np.testing.assert_allclose(found, after, rtol=0, atol=1e-6)
    assert ours.best_iteration_ == best_round(after) + 1


@pytest.mark.parametrize("weighted", [False, True])
def test_the_same_object_serves_lightgbm_train(weighted, data):
    (X, y, qid), (X_test, y_test, qid_test) = data
    weight = 1.0 + qid_test % 3 if weighted else None
    train = lightgbm.Dataset(X, y, group=sizes(qid))
    valid = train.create_valid(X_test, y_test, group=sizes(qid_test), weight=weight)
    history = {}
    booster = lightgbm.train(
        {"objective": "lambdarank", "metric": "None", "num_leaves": 7, "verbose": -1},
        train,
        ROUNDS,
        [valid],
        feval=lightgbm_metric("mrr@10"),
        callbacks=[
            lightgbm.early_stopping(PATIENCE, verbose=False),
            lightgbm.record_evaluation(history),
        ],
        keep_training_booster=True,
    )
    found = history["valid_0"]["mrr@10"]
    after = recomputed(
        lambda X, n: booster.predict(X, num_iteration=n), data[1], "mrr@10", len(found), weight
    )
    np.testing.assert_allclose(found, after, rtol=0, atol=1e-6)
    assert booster.best_iteration == best_round(after) + 1


def test_lightgbm_without_queries_is_refused(data):
    _, y, _ = data[0]
    with pytest.raises(ValueError, match="no queries for its 3005 rows"):
        lightgbm_metric("ndcg")(y, y.astype(float), None, None)


# --- XGBoost


def train_xgboost(data, weight=None, **options):
    (X, y, qid), (X_test, y_test, qid_test) = data
    history = {}
    params = {"objective": "rank:ndcg", "max_depth": 3, "nthread": 1, **options.pop("params", {})}
    booster = xgboost.train(
        params,
        xgboost.DMatrix(X, y, qid=qid),
        ROUNDS,
        evals=[(xgboost.DMatrix(X_test, y_test, qid=qid_test, weight=weight), "test")],
        early_stopping_rounds=PATIENCE,
        evals_result=history,
        verbose_eval=False,
        **options,
    )
    return booster, history["test"]


def predict_xgboost(booster):
    return lambda X, n: booster.predict(xgboost.DMatrix(X), iteration_range=(0, n))


def test_xgboost_agrees_with_its_own_metric_and_afterwards(data):
    own, theirs = train_xgboost(data, params={"eval_metric": "ndcg@10"})
    ours, found = train_xgboost(data, custom_metric=xgboost_metric("ndcg@10", like="xgboost"))
    found = found["ndcg@10"]
    np.testing.assert_allclose(found, theirs["ndcg@10"], rtol=0, atol=1e-6)
    after = recomputed(predict_xgboost(ours), data[1], "ndcg@10", len(found), like="xgboost")
    np.testing.assert_allclose(found, after, rtol=0, atol=1e-6)
    assert own.best_iteration == ours.best_iteration == best_round(after) < ROUNDS - 1


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("metric", METRICS)
def test_xgboost_maximises_every_metric(metric, weighted, data):
    _, _, qid = data[1]
    per_query = 1.0 + np.arange(len(sizes(qid))) % 3 if weighted else None
    per_row = None if per_query is None else np.repeat(per_query, sizes(qid))
    ours = xgboost_metric(metric)
    booster, history = train_xgboost(data, weight=per_query, custom_metric=ours)
    found = history[ours.__name__]
    after = recomputed(predict_xgboost(booster), data[1], metric, len(found), per_row)
    np.testing.assert_allclose(found, after, rtol=0, atol=1e-6)
    # XGBoost keeps six decimals
    assert booster.best_iteration == best_round(np.round(after, 6))


def test_xgbranker_gets_the_reason_and_what_to_do(data):
    X, y, qid = data[1]
    ranker = XGBRanker(n_estimators=2, n_jobs=1, eval_metric=xgboost_metric("ndcg@10"))
    with pytest.raises(TypeError, match=r"averages the values by the number of.*Use xgboost.train"):
        ranker.fit(X, y, qid=qid, eval_set=[(X, y)], eval_qid=[qid])


def test_xgbrankers_own_average_is_not_over_queries(data):
    """What the refusal says, seen: the day this fails XGBRanker may be let in."""
    X, y, qid = data[1]

    def ndcg_of_query(y_true, y_score):
        return scikit_learns_ndcg([2.0**y_true - 1], [y_score], k=10) if y_true.any() else 0.0

    ranker = XGBRanker(n_estimators=1, n_jobs=1, eval_metric=ndcg_of_query)
    ranker.fit(X, y, qid=qid, eval_set=[(X, y)], eval_qid=[qid])
    found = ranker.evals_result()["validation_0"]["ndcg_of_query"][0]
    score = ranker.predict(X).astype(float)
    values = [ndcg_of_query(y[qid == q], score[qid == q]) for q in np.unique(qid)]
    assert found == pytest.approx(np.average(values, weights=sizes(qid)), abs=1e-6)
    assert abs(found - np.mean(values)) > 1e-3


def test_xgboost_without_queries_is_refused(data):
    X, y, _ = data[1]
    with pytest.raises(ValueError, match="the DMatrix has no queries for its 768 rows"):
        xgboost_metric("ndcg")(y.astype(float), xgboost.DMatrix(X, y))


# --- CatBoost


def fit_catboost(data, eval_metric, weight=None):
    (X, y, qid), (X_test, y_test, qid_test) = data
    model = CatBoostRanker(
        iterations=ROUNDS,
        depth=4,
        learning_rate=0.3,
        random_seed=0,
        verbose=0,
        thread_count=1,
        allow_writing_files=False,
        eval_metric=eval_metric,
    )
    return model.fit(
        X,
        y,
        group_id=qid,
        eval_set=Pool(X_test, y_test, group_id=qid_test, group_weight=weight),
        early_stopping_rounds=PATIENCE,
    )


def told(data, metric, **options):
    return catboost_metric(metric, *[(y, qid) for _, y, qid in data], **options)


def predict_catboost(model):
    return lambda X, n: model.predict(X, ntree_end=n)


def test_catboost_agrees_with_its_own_metric_and_afterwards(data):
    same = {"gain": "exponential", "like": "catboost"}
    own = fit_catboost(data, "NDCG:top=10;type=Exp")
    ours = fit_catboost(data, told(data, "ndcg@10", **same))
    theirs = own.get_evals_result()["validation"]["NDCG:top=10;type=Exp"]
    found = ours.get_evals_result()["validation"]["CatBoostMetric"]
    np.testing.assert_allclose(found, theirs, rtol=0, atol=1e-6)
    kept = ours.tree_count_
    after = recomputed(predict_catboost(ours), data[1], "ndcg@10", kept, **same)
    np.testing.assert_allclose(found[:kept], after, rtol=0, atol=1e-6)
    assert own.get_best_iteration() == ours.get_best_iteration() == best_round(found) < ROUNDS - 1


@pytest.mark.parametrize("weighted", [False, True])
def test_catboost_picks_the_round_that_is_best_afterwards(weighted, data):
    weight = 1.0 + data[1][2] % 3 if weighted else None
    model = fit_catboost(data, told(data, "mrr@10"), weight)
    found = model.get_evals_result()["validation"]["CatBoostMetric"]
    after = recomputed(predict_catboost(model), data[1], "mrr@10", model.tree_count_, weight)
    np.testing.assert_allclose(found[: model.tree_count_], after, rtol=0, atol=1e-6)
    assert model.get_best_iteration() == best_round(found)


def test_catboost_names_the_set_it_was_not_told_of(data):
    (_, y, qid), _ = data
    with pytest.raises(CatBoostError, match="768 rows with labels that catboost_metric was not"):
        fit_catboost(data, catboost_metric("ndcg", (y, qid)))


@pytest.mark.parametrize(
    ("sets", "error", "message"),
    [
        ([], ValueError, "needs the labels and query ids"),
        ([([1, 0], [1, 1, 2])], ValueError, "one query id per document"),
        ([np.ones(3)], TypeError, r"pairs \(y, groups\)"),
        ([([1, 0, 0], [1, 1, 2]), ([1, 0, 0], [1, 2, 2])], ValueError, "equal labels but other"),
    ],
)
def test_catboost_sets_must_be_told_apart(sets, error, message):
    with pytest.raises(error, match=message):
        catboost_metric("ndcg", *sets)


# --- all


@pytest.mark.parametrize("make", [lightgbm_metric, xgboost_metric])
def test_bad_names_and_options_fail_at_once(make):
    with pytest.raises(ValueError, match="Did you mean 'ndcg'"):
        make("ndgc@10")
    with pytest.raises(ValueError, match="average=None gives one per query"):
        make("ndcg", average=None)


def test_metrics_survive_clone_and_pickle(data):
    _, y, qid = data[1]
    estimators = [
        XGBRanker(eval_metric=xgboost_metric("mrr@10(threshold=1)")),
        CatBoostRanker(eval_metric=catboost_metric("mrr@10(threshold=1)", (y, qid))),
    ]
    score = np.random.default_rng(0).normal(size=len(y))
    for estimator in estimators:
        metric = clone(estimator).get_params()["eval_metric"]
        again = pickle.loads(pickle.dumps(metric))
        assert again.value(y, score, qid) == metric.value(y, score, qid)
    assert xgboost_metric("map@5(like=xgboost, ties=stable)").__name__.count(" ") == 0
