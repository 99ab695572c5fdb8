"""Options of the boosters' own constructors, with early stopping and with columns of ids."""

import pickle

import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMRanker, LGBMRegressor
from requires import requires
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from xgboost import XGBClassifier, XGBRanker, XGBRegressor
from xgboost.callback import TrainingCallback

from sklearn_rankscore import (
    QueryKFold,
    QueryRanker,
    evaluate,
    lightgbm_metric,
    make_ranking,
    make_ranking_scorer,
)

X, Y, GROUPS = make_ranking(n_queries=60, random_state=0)
TRAIN = GROUPS < 30
OF_TRAINING = X[TRAIN], Y[TRAIN]
ids = {"groups": GROUPS[TRAIN], "eval_qid": [GROUPS[~TRAIN]]}
held_out = {"eval_set": [(X[~TRAIN], Y[~TRAIN])], **ids}
LGBM = {"n_estimators": 5, "n_jobs": 1, "verbose": -1}
CATBOOST = {
    "iterations": 20, "depth": 3, "learning_rate": 0.3, "thread_count": 1, "verbose": False,
    "allow_writing_files": False,
}  # fmt: skip


def ndcg(scores, y=Y, rows=~TRAIN):
    return evaluate(y[rows], scores, "ndcg@10", groups=GROUPS[rows])["ndcg@10"]


@pytest.mark.parametrize("early_stopping", [True, "ndcg@10"])
@pytest.mark.parametrize(
    "params",
    [{"eval_metric": ["ndcg@5", "ndcg@10"]}, {"monotone_constraints": {"f0": 1}}],
    ids=["metrics", "constraints"],
)
def test_a_stopped_xgboost_model_with_lists_and_dicts_predicts(params, early_stopping):
    names = [f"f{i}" for i in range(X.shape[1])]
    frames = [pd.DataFrame(rows, columns=names) for rows in (X[TRAIN], X[~TRAIN])]
    model = XGBRanker(n_estimators=8, n_jobs=1, **params)
    ranker = QueryRanker(model, early_stopping=early_stopping, n_iter_no_change=3)
    ranker.fit(frames[0], Y[TRAIN], eval_set=[(frames[1], Y[~TRAIN])], **ids)
    by_hand = XGBRanker(n_estimators=ranker.n_iter_, n_jobs=1, **params)
    by_hand.fit(frames[0], Y[TRAIN], qid=GROUPS[TRAIN])
    expected = by_hand.predict(frames[1])
    for fitted in (ranker, pickle.loads(pickle.dumps(ranker))):
        np.testing.assert_allclose(fitted.predict(frames[1]), expected, rtol=1e-6)
        assert len(fitted.feature_importances_) == len(names)


def test_the_log_of_lightgbm_has_every_round():
    for n_rounds in (3, 20):
        ranker = QueryRanker(LGBMRanker(**LGBM), early_stopping="mrr", n_iter_no_change=n_rounds)
        log = ranker.fit(*OF_TRAINING, **held_out).estimator_.evals_result_["valid_0"]
        assert len(log["mrr_rankscore"]) == min(5, ranker.n_iter_ + n_rounds)


@pytest.mark.parametrize("library", ["xgboost", "dart", "dropout", "catboost"])
@pytest.mark.filterwarnings("ignore:.*is deprecated:UserWarning")  # DART as a booster
@pytest.mark.filterwarnings("ignore:(?s).*are not used:UserWarning")  # before XGBoost 3.4
def test_the_watched_metric_is_that_of_the_predictions(library):
    """Which come from margins of a softmax, and from trees that DART rescales in later rounds."""
    if library == "catboost":
        catboost = requires("catboost")
        model = catboost.CatBoostClassifier(loss_function="MultiClassOneVsAll", **CATBOOST)
    elif library in ("dart", "dropout"):
        booster = {"booster": "dart"} if library == "dart" else {}
        model = XGBRegressor(**booster, rate_drop=0.3, n_estimators=40, n_jobs=1)
    else:
        model = XGBClassifier(n_estimators=20, max_depth=3, n_jobs=1, objective="multi:softmax")
    ranker = QueryRanker(model, early_stopping="ndcg@10", n_iter_no_change=15)
    ranker.fit(*OF_TRAINING, **held_out)
    if library == "catboost":
        log = ranker.estimator_.get_evals_result()["validation"]["CatBoostMetric"]
    else:
        log = ranker.estimator_.evals_result()["validation_0"]["ndcg@10_rankscore"]
    assert ranker.n_iter_ == 1 + np.argmax(log) < len(log)
    assert ndcg(ranker.predict(X[~TRAIN])) == pytest.approx(max(log), abs=1e-6)


@pytest.mark.parametrize("names", [(0, 1), (1, 0), ("no", "yes"), ("yes", "no")])
@pytest.mark.filterwarnings("ignore:the labels are text:UserWarning")
def test_the_higher_class_of_catboost_is_relevant(names):
    """In whatever order its `class_names` are."""
    catboost = requires("catboost")
    model = catboost.CatBoostClassifier(class_names=names, **CATBOOST)
    is_relevant = (Y > 1).astype(int)
    labels = np.array(sorted(names))[is_relevant]
    expected = catboost.CatBoostClassifier(**CATBOOST).fit(X[TRAIN], labels[TRAIN])
    expected = ndcg(expected.predict_proba(X[~TRAIN])[:, 1], is_relevant)
    assert expected > 0.6
    ranker = QueryRanker(model).fit(X[TRAIN], labels[TRAIN], groups=GROUPS[TRAIN])
    assert ndcg(ranker.predict(X[~TRAIN]), is_relevant) == pytest.approx(expected, abs=0.05)
    scorer = make_ranking_scorer("ndcg@10")
    bare = model.fit(X[TRAIN], labels[TRAIN])
    for fitted in (ranker, bare):
        score = scorer(fitted, X[~TRAIN], labels[~TRAIN], groups=GROUPS[~TRAIN])
        assert score == pytest.approx(ndcg(ranker.predict(X[~TRAIN]), is_relevant))
    ranker.set_params(early_stopping="ndcg@10", n_iter_no_change=20)
    ranker.fit(X[TRAIN], labels[TRAIN], eval_set=[(X[~TRAIN], labels[~TRAIN])], **ids)
    log = ranker.estimator_.get_evals_result()["validation"]["CatBoostMetric"]
    assert ndcg(ranker.predict(X[~TRAIN]), is_relevant) == pytest.approx(max(log), abs=1e-6)
    scores = cross_val_score(
        QueryRanker(model), X, labels, scoring="ndcg@10", cv=QueryKFold(3),
        groups=GROUPS,
    )  # fmt: skip
    assert min(scores) > 0.6


def test_labels_of_a_cross_entropy_are_probabilities():
    catboost = requires("catboost")
    model = catboost.CatBoostClassifier(loss_function="CrossEntropy", **CATBOOST)
    ranker = QueryRanker(model, early_stopping="ndcg@10", n_iter_no_change=20)
    others = {"eval_set": [(X[~TRAIN], Y[~TRAIN] / 5)], **ids}  # labels that no training row has
    ranker.fit(X[TRAIN], Y[TRAIN] / 4, **others)
    log = ranker.estimator_.get_evals_result()["validation"]["CatBoostMetric"]
    assert ndcg(ranker.predict(X[~TRAIN]), Y / 5) == pytest.approx(max(log), abs=1e-6)
    assert QueryRanker(model).fit(X[TRAIN], Y[TRAIN] / 4, **others)


def test_xgboost_without_metrics_of_its_own():
    model = XGBRanker(n_estimators=5, n_jobs=1, disable_default_eval_metric=1)
    ranker = QueryRanker(model, early_stopping="ndcg@10").fit(*OF_TRAINING, **held_out)
    assert list(ranker.estimator_.evals_result()["validation_0"]) == ["ndcg@10_rankscore"]


def test_callbacks_of_xgboost_see_the_metric_of_the_same_round():
    lengths = []

    class Record(TrainingCallback):
        def after_iteration(self, model, epoch, evals_log):
            lengths.append({len(values) for values in evals_log["validation_0"].values()})

    model = XGBRanker(n_estimators=4, n_jobs=1, callbacks=[Record()])
    QueryRanker(model, early_stopping="ndcg@10").fit(*OF_TRAINING, **held_out)
    assert lengths == [{1}, {2}, {3}, {4}]


@pytest.mark.parametrize("in_pipeline", [False, True])
@pytest.mark.parametrize("stop", [False, "ndcg@10"])
def test_a_callback_records_for_the_user(stop, in_pipeline):
    class Record(TrainingCallback):
        def __init__(self):
            self.rounds = []

        def after_iteration(self, model, epoch, evals_log):
            self.rounds.append(epoch)

    record = Record()
    model = XGBRanker(n_estimators=4, n_jobs=1, callbacks=[record])
    model = make_pipeline(StandardScaler(), model) if in_pipeline else model
    ranker = QueryRanker(model, early_stopping=stop, refit_all=bool(stop), random_state=0)
    ranker.fit(X, Y, groups=GROUPS)
    assert record.rounds == [0, 1, 2, 3]  # a refit with all rows is no part of the record


@pytest.mark.parametrize("model", [LGBMRanker, LGBMRegressor])
def test_weights_of_training_rows_do_not_matter_to_the_watched_set(model):
    weights = np.random.default_rng(0).choice([1.0, 2.0], TRAIN.sum())
    train = (X[TRAIN], Y[TRAIN])
    both = {"eval_set": [train, held_out["eval_set"][0]], "groups": GROUPS[TRAIN]}
    both["eval_qid"] = [GROUPS[TRAIN], GROUPS[~TRAIN]]
    fitted = [
        QueryRanker(model(**LGBM), early_stopping="ndcg@10").fit(
            *train, sample_weight=weights, **sets
        )
        for sets in (both, held_out)
    ]
    assert fitted[0].n_iter_ == fitted[1].n_iter_
    log = fitted[0].estimator_.evals_result_
    assert np.isnan(log["training"]["ndcg@10_rankscore"]).all()
    assert ndcg(fitted[0].predict(X[~TRAIN])) == pytest.approx(
        max(log["valid_1"]["ndcg@10_rankscore"])
    )


def test_rounds_that_do_not_stop_need_no_set():
    model = QueryRanker(LGBMRanker(**LGBM, early_stopping_round=-1)).fit(X, Y, groups=GROUPS)
    expected = QueryRanker(LGBMRanker(**LGBM)).fit(X, Y, groups=GROUPS).predict(X)
    np.testing.assert_array_equal(model.predict(X), expected)


def test_a_pointwise_model_does_not_know_the_queries_of_a_metric():
    model = QueryRanker(LGBMRegressor(**LGBM))
    with pytest.raises(ValueError, match=r"no queries .*early_stopping='ndcg@10'\) knows"):
        model.fit(*OF_TRAINING, eval_metric=lightgbm_metric("ndcg@10"), **held_out)
    model.set_params(early_stopping="ndcg@10").fit(*OF_TRAINING, **held_out)


def test_watched_queries_without_weight():
    weights = np.where(GROUPS < 2, 1.0, 0.0)
    model = QueryRanker(LGBMRanker(**LGBM), early_stopping="ndcg@10", random_state=1)
    with pytest.raises(ValueError, match="queries that early_stopping watches all have the weight"):
        model.fit(X, Y, groups=GROUPS, sample_weight=weights)


@pytest.mark.parametrize("options", [{}, {"early_stopping": "ndcg@5", "random_state": 0}])
@pytest.mark.parametrize("model", [LGBMRanker(**LGBM), XGBRanker(n_estimators=5, n_jobs=1)])
def test_lists_are_arrays(model, options):
    expected = QueryRanker(model, **options).fit(X, Y, groups=GROUPS).predict(X)
    ranker = QueryRanker(model, **options).fit(X.tolist(), Y.tolist(), groups=GROUPS.tolist())
    np.testing.assert_array_equal(ranker.predict(X.tolist()), expected)
    sets = {"eval_set": [(X[~TRAIN].tolist(), Y[~TRAIN].tolist())], **ids}
    ranker.fit(X[TRAIN].tolist(), Y[TRAIN].tolist(), **sets)
    expected = QueryRanker(model, **options).fit(*OF_TRAINING, **held_out).predict(X)
    np.testing.assert_array_equal(ranker.predict(X), expected)
