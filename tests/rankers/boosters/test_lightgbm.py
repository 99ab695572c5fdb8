"""lightgbm_metric equals LightGBM's own metric and ours of the fitted model, round by round."""

import lightgbm
import numpy as np
import pytest
from lightgbm import LGBMRanker
from training_rounds import METRICS, ROUNDS, STOPPING_ROUNDS, best_round, recomputed, sizes_of

from sklearn_rankscore import lightgbm_metric


def fit_lightgbm(parts, eval_metric=None, stop=True, **params):
    (X, y, qid), (X_test, y_test, qid_test) = parts
    model = LGBMRanker(n_estimators=ROUNDS, num_leaves=7, verbose=-1, n_jobs=1, **params)
    return model.fit(
        X, y, group=sizes_of(qid), eval_X=(X_test,), eval_y=(y_test,),
        eval_group=[sizes_of(qid_test)], eval_at=[10], eval_metric=eval_metric,
        callbacks=[lightgbm.early_stopping(STOPPING_ROUNDS, verbose=False)] if stop else None,
    )  # fmt: skip


def predict_lightgbm(parts):
    """Predictions after each round, without early stopping, which removes later trees."""
    booster = fit_lightgbm(parts, stop=False).booster_
    return lambda X, n: booster.predict(X, num_iteration=n)


def test_lightgbm_metric_equals_that_of_lightgbm(parts):
    own = fit_lightgbm(parts)
    ours = fit_lightgbm(parts, lightgbm_metric("ndcg@10", like="lightgbm"), metric="None")
    theirs = own.evals_result_["valid_0"]["ndcg@10"]
    history = ours.evals_result_["valid_0"]["ndcg@10_rankscore"]
    np.testing.assert_allclose(history, theirs, rtol=0, atol=1e-6)
    after = recomputed(predict_lightgbm(parts), parts[1], "ndcg@10", len(history), like="lightgbm")
    np.testing.assert_allclose(after, history, rtol=0, atol=1e-6)
    assert own.best_iteration_ == ours.best_iteration_ == best_round(after) + 1 < ROUNDS


@pytest.mark.parametrize("metric", METRICS)
def test_lightgbm_selects_the_best_round(metric, parts):
    ours = fit_lightgbm(parts, lightgbm_metric(metric), metric="None")
    history = ours.evals_result_["valid_0"][f"{metric}_rankscore"]
    after = recomputed(predict_lightgbm(parts), parts[1], metric, len(history))
    np.testing.assert_allclose(history, after, rtol=0, atol=1e-6)
    assert ours.best_iteration_ == best_round(after) + 1


@pytest.mark.parametrize("weighted", [False, True])
def test_lightgbm_train_takes_the_same_object(weighted, parts):
    (X, y, qid), (X_test, y_test, qid_test) = parts
    weight = 1.0 + qid_test % 3 if weighted else None
    train = lightgbm.Dataset(X, y, group=sizes_of(qid))
    valid = train.create_valid(X_test, y_test, group=sizes_of(qid_test), weight=weight)
    history = {}
    booster = lightgbm.train(
        {"objective": "lambdarank", "metric": "None", "num_leaves": 7, "verbose": -1},
        train,
        ROUNDS,
        [valid],
        feval=lightgbm_metric("mrr@10"),
        callbacks=[
            lightgbm.early_stopping(STOPPING_ROUNDS, verbose=False),
            lightgbm.record_evaluation(history),
        ],
        keep_training_booster=True,
    )
    values = history["valid_0"]["mrr@10_rankscore"]
    after = recomputed(
        lambda X, n: booster.predict(X, num_iteration=n), parts[1], "mrr@10", len(values), weight
    )
    np.testing.assert_allclose(values, after, rtol=0, atol=1e-6)
    assert booster.best_iteration == best_round(after) + 1


def test_data_without_queries_are_refused(parts):
    _, y, _ = parts[0]
    with pytest.raises(ValueError, match="no queries for its 3005 rows"):
        lightgbm_metric("ndcg")(y, y.astype(float), None, None)
