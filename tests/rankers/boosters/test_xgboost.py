"""xgboost_metric equals XGBoost's own metric and ours of the fitted model, round by round."""

import numpy as np
import pytest
import xgboost
from sklearn.metrics import ndcg_score as scikit_learns_ndcg
from training_rounds import METRICS, ROUNDS, STOPPING_ROUNDS, best_round, recomputed, sizes_of
from xgboost import XGBRanker

from sklearn_rankscore import xgboost_metric


def train_xgboost(parts, weight=None, **options):
    (X, y, qid), (X_test, y_test, qid_test) = parts
    history = {}
    params = {"objective": "rank:ndcg", "max_depth": 3, "nthread": 1, **options.pop("params", {})}
    booster = xgboost.train(
        params,
        xgboost.DMatrix(X, y, qid=qid),
        ROUNDS,
        evals=[(xgboost.DMatrix(X_test, y_test, qid=qid_test, weight=weight), "test")],
        early_stopping_rounds=STOPPING_ROUNDS,
        evals_result=history,
        verbose_eval=False,
        **options,
    )
    return booster, history["test"]


def predict_xgboost(booster):
    return lambda X, n: booster.predict(xgboost.DMatrix(X), iteration_range=(0, n))


def test_xgboost_metric_equals_that_of_xgboost(parts):
    own, theirs = train_xgboost(parts, params={"eval_metric": "ndcg@10"})
    ours, history = train_xgboost(parts, custom_metric=xgboost_metric("ndcg@10", like="xgboost"))
    history = history["ndcg@10_rankscore"]
    np.testing.assert_allclose(history, theirs["ndcg@10"], rtol=0, atol=1e-6)
    after = recomputed(predict_xgboost(ours), parts[1], "ndcg@10", len(history), like="xgboost")
    np.testing.assert_allclose(history, after, rtol=0, atol=1e-6)
    assert own.best_iteration == ours.best_iteration == best_round(after) < ROUNDS - 1


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("metric", METRICS)
def test_xgboost_maximises_every_metric(metric, weighted, parts):
    _, _, qid = parts[1]
    per_query = 1.0 + np.arange(len(sizes_of(qid))) % 3 if weighted else None
    per_row = None if per_query is None else np.repeat(per_query, sizes_of(qid))
    ours = xgboost_metric(metric)
    booster, history = train_xgboost(parts, weight=per_query, custom_metric=ours)
    values = history[ours.__name__]
    after = recomputed(predict_xgboost(booster), parts[1], metric, len(values), per_row)
    np.testing.assert_allclose(values, after, rtol=0, atol=1e-6)
    # XGBoost stores six decimals
    assert booster.best_iteration == best_round(np.round(after, 6))


def test_xgbranker_is_refused(parts):
    X, y, qid = parts[1]
    ranker = XGBRanker(n_estimators=2, n_jobs=1, eval_metric=xgboost_metric("ndcg@10"))
    with pytest.raises(TypeError, match=r"averages the values by the number of.*Use xgboost.train"):
        ranker.fit(X, y, qid=qid, eval_set=[(X, y)], eval_qid=[qid])


def test_xgbranker_does_not_average_over_queries(parts):
    """The reason for refusing XGBRanker: once this test fails, it can be supported."""
    X, y, qid = parts[1]

    def ndcg_of_query(y_true, y_score):
        return scikit_learns_ndcg([2.0**y_true - 1], [y_score], k=10) if y_true.any() else 0.0

    ranker = XGBRanker(n_estimators=1, n_jobs=1, eval_metric=ndcg_of_query)
    ranker.fit(X, y, qid=qid, eval_set=[(X, y)], eval_qid=[qid])
    reported = ranker.evals_result()["validation_0"]["ndcg_of_query"][0]
    score = ranker.predict(X).astype(float)
    values = [ndcg_of_query(y[qid == q], score[qid == q]) for q in np.unique(qid)]
    assert reported == pytest.approx(np.average(values, weights=sizes_of(qid)), abs=1e-6)
    assert abs(reported - np.mean(values)) > 1e-3


def test_data_without_queries_are_refused(parts):
    X, y, _ = parts[1]
    with pytest.raises(ValueError, match="the DMatrix has no queries for its 768 rows"):
        xgboost_metric("ndcg")(y.astype(float), xgboost.DMatrix(X, y))
