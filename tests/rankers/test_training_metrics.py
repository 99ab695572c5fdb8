"""lightgbm_metric, xgboost_metric and catboost_metric equal the boosters' own metrics."""

import pickle
from importlib import import_module

import lightgbm
import numpy as np
import pytest
import xgboost
from native_fits import make
from sklearn.base import clone
from training_rounds import ROUNDS, STOPPING_ROUNDS, best_round, recomputed, sizes_of

from sklearn_rankscore import (
    NoGroupsError,
    QueryRanker,
    catboost_metric,
    lightgbm_metric,
    xgboost_metric,
)


def train_lightgbm(parts, metric, weight=None):
    """History of the metric, best round, and a function that predicts with the first rounds."""
    (X, y, ids), (X_test, y_test, ids_test) = parts
    params = {"objective": "lambdarank", "num_leaves": 7, "num_threads": 1, "verbose": -1}
    params |= {"metric": "None"} if callable(metric) else {"metric": "ndcg", "eval_at": [10]}
    train, log = lightgbm.Dataset(X, y, group=sizes_of(ids)), {}
    stop = lightgbm.early_stopping(STOPPING_ROUNDS, verbose=False)
    booster = lightgbm.train(
        params, train, ROUNDS, feval=metric if callable(metric) else None,
        valid_sets=[train.create_valid(X_test, y_test, group=sizes_of(ids_test), weight=weight)],
        callbacks=[stop, lightgbm.record_evaluation(log)], keep_training_booster=True,
    )  # fmt: skip
    (values,) = log["valid_0"].values()
    return values, booster.best_iteration - 1, lambda X, n: booster.predict(X, num_iteration=n)


def train_xgboost(parts, metric, weight=None):
    (X, y, ids), (X_test, y_test, ids_test) = parts
    params, log = {"objective": "rank:ndcg", "max_depth": 3, "nthread": 1}, {}
    given = {"custom_metric": metric} if callable(metric) else {}
    params |= {} if given else {"eval_metric": metric}
    if weight is not None:
        weight = weight[np.unique(ids_test, return_index=True)[1]]
    test = xgboost.DMatrix(X_test, y_test, qid=ids_test, weight=weight)
    booster = xgboost.train(
        params, xgboost.DMatrix(X, y, qid=ids), ROUNDS, evals=[(test, "test")], evals_result=log,
        early_stopping_rounds=STOPPING_ROUNDS, verbose_eval=False, **given,
    )  # fmt: skip

    def predict(X, n):
        return booster.predict(xgboost.DMatrix(X), iteration_range=(0, n))

    name = metric.__name__ if given else metric
    return log["test"][name], booster.best_iteration, predict


def train_catboost(parts, metric, weight=None, **params):
    (X, y, ids), (X_test, y_test, ids_test) = parts
    model = make("CatBoostRanker", ROUNDS, depth=4, random_seed=0, eval_metric=metric, **params)
    pool = import_module("catboost").Pool(X_test, y_test, group_id=ids_test, group_weight=weight)
    model.fit(X, y, group_id=ids, eval_set=pool, early_stopping_rounds=STOPPING_ROUNDS)
    log = model.get_evals_result()["validation"]
    values = log[metric if isinstance(metric, str) else "CatBoostMetric"]
    return values, model.get_best_iteration(), lambda X, n: model.predict(X, ntree_end=n)


def of_catboost(metric, parts, **options):
    return catboost_metric(metric, *[(y, ids) for _, y, ids in parts], **options)


LIBRARIES = {
    "lightgbm": (train_lightgbm, lambda m, parts, **o: lightgbm_metric(m, **o), "ndcg@10"),
    "xgboost": (train_xgboost, lambda m, parts, **o: xgboost_metric(m, **o), "ndcg@10"),
    "catboost": (train_catboost, of_catboost, "NDCG:top=10;type=Exp"),
}


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_metric_equals_that_of_the_library(library, real):
    train, make_metric, own = LIBRARIES[library]
    like = {"like": library} | ({"gain": "exponential"} if library == "catboost" else {})
    theirs, their_best, _ = train(real, own)
    ours, our_best, _ = train(real, make_metric("ndcg@10", real, **like))
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-6)
    assert our_best == their_best < ROUNDS - 1


CASES = [
    *(("lightgbm", metric) for metric in ("ndcg@10", "query_auc")),
    *((library, metric) for library in ("xgboost", "catboost") for metric in ("map", "err@10")),
]


@pytest.mark.parametrize(("library", "metric"), CASES)
def test_the_best_round_is_that_of_the_predictions(library, metric, real):
    train, make_metric, _ = LIBRARIES[library]
    weight = 1.0 + real[1][2] % 3
    values, best, predict = train(real, make_metric(metric, real), weight)
    # CatBoost removes the rounds after the best one
    n = best + 1 if library == "catboost" else len(values)
    after = recomputed(predict, real[1], metric, n, weight)
    np.testing.assert_allclose(values[:n], after, rtol=0, atol=1e-6)
    # XGBoost stores six decimals
    assert best == best_round(np.round(values, 6) if library == "xgboost" else values)


def test_catboost_refuses_sets_that_the_metric_does_not_know(real):
    """A log of -1 in every round would select a model of one tree."""
    (X, y, ids), (X_test, y_test, ids_test) = real
    mixed = np.random.default_rng(0).permutation(len(y_test))
    of_mixed = catboost_metric("ndcg", (y, ids), (y_test[mixed], ids_test[mixed]))
    error = import_module("catboost").CatBoostError
    for metric in (catboost_metric("ndcg", (y, ids)), of_mixed):
        with pytest.raises(error, match=r"768 rows with labels .*early_stopping='ndcg@10'"):
            train_catboost(real, metric)
    valid = {"eval_set": [(X_test[mixed], y_test[mixed])], "eval_qid": [ids_test[mixed]]}
    with pytest.raises(error, match="QueryRanker puts the rows of each query together"):
        QueryRanker(make("CatBoostRanker", 5, eval_metric=of_mixed)).fit(X, y, qid=ids, **valid)


def test_catboost_logs_minus_one_where_the_value_is_unknown(real):
    """Ordered boosting passes training rows in a random order; some weights are not of queries."""
    metric = of_catboost("mrr", ((None, Y, IDS), (None, [0, 0, 0, 1], IDS)))
    assert metric.evaluate([SCORES], [0, 1, 1, 0], None) == (-1, 1)
    assert metric.evaluate([SCORES], Y, SCORES) == (-1, 1)
    assert metric.evaluate([SCORES], Y, [3, 3, 1, 1]) == (0.875, 1)
    with pytest.raises(ValueError, match="within"):  # of the set that is watched
        metric.evaluate([SCORES], [0, 0, 0, 1], SCORES)
    with pytest.raises(ValueError, match="catboost_metric was not given"):
        metric.evaluate([SCORES], [0, 0, 0, 2], None)
    # a threshold applies to labels in their own precision; CatBoost's 0.1 is above 0.1
    tenths = np.array([0.1, 0.0])
    metric = catboost_metric("precision@1(threshold=0.1)", (tenths, [1, 1]))
    assert metric.evaluate([tenths], tenths.astype("f4"), None) == (0.0, 1.0)
    undefined = of_catboost("query_auc", ((None, [0, 0, 0, 0], IDS),))
    assert undefined.evaluate([SCORES], [0, 0, 0, 0], None) == (-1, 1)
    _, best, _ = train_catboost(real, of_catboost("ndcg@10", real), boosting_type="Ordered")
    assert best > 0


Y, IDS = np.array([1, 0, 0, 1]), np.array([0, 0, 1, 1])
SCORES = np.array([0.9, 0.1, 0.8, 0.2])


def dmatrix(ids):
    return xgboost.DMatrix(np.zeros((4, 1)), Y, qid=ids)


def dataset():
    return lightgbm.Dataset(np.zeros((4, 1)), Y, group=[2, 2]).construct()


REFUSED = [
    (lambda: lightgbm_metric("ndgc@10"), ValueError, "mean 'ndcg@10'"),
    (lambda: xgboost_metric("ndgc@10"), ValueError, "mean 'ndcg@10'"),
    (lambda: lightgbm_metric("ndcg", average=None), ValueError, "use average='macro'"),
    (lambda: lightgbm_metric("dcg(propensity=seen)"), ValueError, "take no propensity"),
    (lambda: xgboost_metric("ndcg@10")(Y, SCORES), TypeError, "Use xgboost.train"),
    (lambda: xgboost_metric("map")(SCORES, dataset()), TypeError, "use lightgbm_metric"),
    (lambda: lightgbm_metric("map")(SCORES, dmatrix(IDS)), TypeError, "use xgboost_metric"),
    (lambda: lightgbm_metric("map")(Y, SCORES), ValueError, "no queries for its 4"),
    (lambda: xgboost_metric("map")(SCORES, dmatrix(None)), ValueError, "no queries for its 4"),
    (lambda: lightgbm_metric("map")(Y, SCORES, SCORES, [2, 2]), ValueError, "within"),
    (lambda: catboost_metric("ndcg"), ValueError, "needs the labels and query ids"),
    (lambda: catboost_metric("ndcg", ([1, 0], [1, 1, 2])), ValueError, "one id per row"),
    (lambda: catboost_metric("ndcg", ([1, 0], None)), NoGroupsError, "catboost_metric"),
    (lambda: catboost_metric("ndcg", np.ones(3)), TypeError, r"pairs \(y, groups\)"),
    (lambda: catboost_metric("map", (Y, IDS), (Y, [0, 1, 1, 1])), ValueError, "but other queries"),
]


@pytest.mark.parametrize(("call", "error", "message"), REFUSED)
def test_wrong_metrics_and_data_are_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_what_the_metrics_return():
    """The mean reciprocal rank of two queries whose relevant documents are first and second."""
    assert lightgbm_metric("mrr")(Y, SCORES, None, [2, 2]) == ("mrr_rankscore", 0.75, True)
    assert lightgbm_metric("mrr")(SCORES, dataset()) == ("mrr_rankscore", 0.75, True)
    assert xgboost_metric("mrr")(SCORES, dmatrix(IDS)) == ("pre_mrr_rankscore", 0.75)
    assert xgboost_metric("map")(SCORES, dmatrix(IDS)) == ("map_rankscore", 0.75)
    metric = catboost_metric("mrr", (Y, IDS))
    assert metric.evaluate([SCORES], Y, None) == (0.75, 1.0)
    assert metric.evaluate([SCORES], Y, np.array([3.0, 3, 1, 1])) == (0.875, 1.0)
    assert metric.is_max_optimal()
    assert metric.get_final_error(0.5, 2.0) == 0.5
    # one value per set of weights that vary, of the training rows among others
    assert lightgbm_metric("mrr")(Y, SCORES, [3.0, 3, 1, 1], [2, 2])[1] == 0.875
    # XGBoost maximizes metrics by the start of their names, and minimizes the others
    names = {"map": "map", "ndcg": "ndcg", "precision@3": "precision@3", "err": "pre_err"}
    for name, start in names.items():
        assert xgboost_metric(name).__name__ == f"{start}_rankscore"
    assert xgboost_metric("map@5(like=xgboost, ties=stable)").__name__.count(" ") == 0
    assert "mrr@3" in repr(xgboost_metric("mrr@3"))


@pytest.mark.parametrize("ranker", ["XGBRanker", "CatBoostRanker"])
def test_metrics_survive_clone_and_pickle(ranker):
    metric, value = {
        "XGBRanker": (
            xgboost_metric("mrr(threshold=0)"), lambda metric: metric(SCORES, dmatrix(IDS))[1]
        ),
        "CatBoostRanker": (
            catboost_metric("mrr(threshold=0)", (Y, IDS)),
            lambda metric: metric.evaluate([SCORES], Y, None)[0],
        ),
    }[ranker]  # fmt: skip
    kept = clone(make(ranker, eval_metric=metric)).get_params()["eval_metric"]
    for again in (kept, pickle.loads(pickle.dumps(kept))):
        assert value(again) == 0.75
