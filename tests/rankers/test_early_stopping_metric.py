"""Early stopping on one metric: any of this package, or the first one of the booster."""

import pickle

import lightgbm
import numpy as np
import pandas as pd
import pytest
import xgboost
from gathered_rows import gather
from lightgbm import LGBMClassifier, LGBMRanker, LGBMRegressor
from requires import requires
from sklearn.base import clone
from sklearn.metrics import max_error
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from training_rounds import best_round, sizes_of
from xgboost import XGBClassifier, XGBRanker, XGBRegressor

from sklearn_rankscore import (
    QueryKFold,
    QueryRanker,
    QueryShuffleSplit,
    evaluate,
    lightgbm_metric,
    make_ranking,
    map_score,
    ndcg_score,
    query_auc_score,
)

N_ROUNDS, N_WITHOUT = 40, 4
LIGHTGBM = {"n_estimators": N_ROUNDS, "num_leaves": 7, "verbose": -1, "n_jobs": 1}
XGBOOST = {"n_estimators": N_ROUNDS, "max_depth": 3, "n_jobs": 1}
CATBOOST = {
    "iterations": N_ROUNDS,
    "depth": 4,
    "learning_rate": 0.3,
    "verbose": 0,
    "thread_count": 1,
    "allow_writing_files": False,
}


def make(name):
    catboost = requires("catboost") if name.startswith("CatBoost") else None
    return {
        "LGBMRanker": lambda: LGBMRanker(**LIGHTGBM),
        "LGBMRegressor": lambda: LGBMRegressor(**LIGHTGBM),
        "LGBMClassifier": lambda: LGBMClassifier(**LIGHTGBM),
        "XGBRanker": lambda: XGBRanker(**XGBOOST),
        "XGBRegressor": lambda: XGBRegressor(**XGBOOST),
        "XGBClassifier": lambda: XGBClassifier(**XGBOOST),
        "CatBoostRanker": lambda: catboost.CatBoostRanker(**CATBOOST),
        "CatBoostRegressor": lambda: catboost.CatBoostRegressor(**CATBOOST),
        "CatBoostClassifier": lambda: catboost.CatBoostClassifier(**CATBOOST),
    }[name]()


RANKERS = ["LGBMRanker", "XGBRanker", "CatBoostRanker"]
POINTWISE = [
    f"{library}{kind}"
    for library in ("LGBM", "XGB", "CatBoost")
    for kind in ("Regressor", "Classifier")
]


def fit_natively(model, X, y, q):
    """All rounds, without evaluation sets."""
    name = type(model).__name__
    if name == "LGBMRanker":
        return model.fit(X, y, group=sizes_of(q))
    if name == "XGBRanker":
        return model.fit(X, y, qid=q)
    return model.fit(X, y, group_id=q) if name == "CatBoostRanker" else model.fit(X, y)


def predict_rounds(model, X, n):
    """Scores after the first n rounds."""
    name = type(model).__name__
    limit = {"L": {"num_iteration": n}, "X": {"iteration_range": (0, n)}, "C": {"ntree_end": n}}
    if name.endswith("Classifier"):
        return model.predict_proba(X, **limit[name[0]]) @ model.classes_
    return model.predict(X, **limit[name[0]])


def parts_of(X, y, qid, seed=3, fraction=0.3):
    """Training rows and held-out rows, gathered: ((X, y, q), (X, y, q))."""
    q, X, y = gather(qid, X, y)
    cv = QueryShuffleSplit(1, test_size=fraction, random_state=seed, skip_constant_queries=True)
    return [(X[rows], y[rows], q[rows]) for rows in next(cv.split(X, y, q))]


def expected_rounds(model, data, metric):
    """The best round of native training, by our metric of predictions for the held-out rows."""
    if type(model).__name__ in RANKERS:
        train, (X, y, q) = parts_of(*data)
    else:  # pointwise models are given the rows in their order
        cv = QueryShuffleSplit(1, test_size=0.3, random_state=3, skip_constant_queries=True)
        ((first, second),) = cv.split(*data)
        train, (X, y, q) = ([values[chosen] for values in data] for chosen in (first, second))
    model = fit_natively(model, *train)
    values = [
        evaluate(y, predict_rounds(model, X, n + 1), metric, groups=q)[metric]
        for n in range(N_ROUNDS)
    ]
    return best_round(values, N_WITHOUT) + 1


def stopping(model, metric, **params):
    options = {"n_iter_no_change": N_WITHOUT, "validation_fraction": 0.3, "random_state": 3}
    return QueryRanker(model, early_stopping=metric, **{**options, **params})


@pytest.mark.parametrize("metric", ["ndcg@10", "map@3", "ndcg@5(gain=exponential)"])
@pytest.mark.parametrize("name", RANKERS)
def test_stops_at_the_best_round_of_the_metric(name, metric, data):
    X, y, qid = data
    ranker = stopping(make(name), metric).fit(X, y, groups=qid)
    assert ranker.n_iter_ == expected_rounds(make(name), data, metric)
    train, _ = parts_of(X, y, qid)
    expected = predict_rounds(fit_natively(make(name), *train), X, ranker.n_iter_)
    np.testing.assert_allclose(ranker.predict(X), expected, rtol=1e-6)


def test_catboost_stops_with_categorical_features(data):
    """CatBoost passes the training rows to a metric in random order then."""
    X, y, qid = data
    frame = pd.DataFrame(X).add_prefix("x").assign(kind=np.where(X[:, 0] > 0, "a", "b"))
    model = make("CatBoostRanker").set_params(cat_features=("kind",))
    ranker = stopping(model, "ndcg@10").fit(frame, y, groups=qid)
    rows = np.column_stack([np.arange(len(y)), X])
    (train, y_train, q_train), (held_out, y_held_out, q_held_out) = parts_of(rows, y, qid)
    numbers, held_out = train[:, 0].astype(int), frame.iloc[held_out[:, 0].astype(int)]
    native = clone(model).fit(frame.iloc[numbers], y_train, group_id=q_train)
    values = [
        ndcg_score(y_held_out, native.predict(held_out, ntree_end=n), groups=q_held_out, k=10)
        for n in range(1, N_ROUNDS + 1)
    ]
    assert ranker.n_iter_ == best_round(values, N_WITHOUT) + 1


@pytest.mark.parametrize("name", POINTWISE)
def test_pointwise_models_stop_on_a_ranking_metric(name, data):
    X, y, qid = data
    y = np.minimum(y, 2)
    ranker = stopping(make(name), "ndcg@10").fit(X, y, groups=qid)
    assert ranker.n_iter_ == expected_rounds(make(name), (X, y, qid), "ndcg@10")


@pytest.mark.parametrize("metric", ["map@10", True])
@pytest.mark.parametrize("name", ["LGBMClassifier", "CatBoostClassifier"])
def test_two_classes_may_be_words(name, metric, data):
    X, y, qid = data
    words = np.where(y > 1, "yes", "no")
    ranker = stopping(make(name), metric).fit(X, words, groups=qid)
    numbers = stopping(make(name), metric).fit(X, (y > 1).astype(int), groups=qid)
    np.testing.assert_array_equal(ranker.predict(X), numbers.predict(X))
    assert ranker.n_iter_ == numbers.n_iter_ < N_ROUNDS


@pytest.mark.parametrize(
    "weights_of_classes",
    [{"auto_class_weights": "Balanced"}, {"class_weights": (1, 9)}, {"scale_pos_weight": 9}],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_weights_of_classes_are_no_weights_of_queries(weighted, weights_of_classes):
    """CatBoost multiplies the weights that it passes to a metric by those of the classes."""
    X, y, groups = make_ranking(n_queries=60, n_features=4, n_informative=2, random_state=3)
    y = (y > 2).astype(int)
    weights = 1.0 + 30 * weighted * (groups % 3 == 0)
    model = make("CatBoostClassifier").set_params(**weights_of_classes)
    given = {"sample_weight": weights} if weighted else {}
    ranker = stopping(model, "ndcg@3").fit(X, y, groups=groups, **given)
    ((train, held),) = QueryShuffleSplit(
        1, test_size=0.3, random_state=3, skip_constant_queries=True
    ).split(X, y, groups)
    native = clone(model).fit(X[train], y[train], sample_weight=weights[train])
    values = [
        ndcg_score(
            y[held], native.predict_proba(X[held], ntree_end=n + 1)[:, 1], k=3,
            groups=groups[held], sample_weight=weights[held],
        )
        for n in range(N_ROUNDS)
    ]  # fmt: skip
    assert ranker.n_iter_ == 1 + best_round(values, N_WITHOUT) < N_ROUNDS


def test_metrics_are_names_and_functions(data):
    X, y, qid = data

    def top_label(block):
        return block.by_rank(lambda labels: labels)[:, 0]

    by_name = stopping(make("LGBMRanker"), "map").fit(X, y, groups=qid)
    by_function = stopping(make("LGBMRanker"), map_score).fit(X, y, groups=qid)
    assert by_name.n_iter_ == by_function.n_iter_
    ranker = stopping(make("LGBMRanker"), top_label).fit(X, y, groups=qid)
    history = ranker.estimator_.evals_result_["valid_0"]["top_label_rankscore"]
    assert ranker.n_iter_ == best_round(history, N_WITHOUT) + 1


@pytest.mark.parametrize("name", RANKERS)
def test_weights_of_queries_count(name, data):
    X, y, qid = data
    weight = np.where(qid % 5 == 0, 50.0, 1.0)
    ranker = stopping(make(name), "map@5").fit(X, y, groups=qid, sample_weight=weight)
    fitted = ranker.estimator_
    results = fitted.evals_result_ if name == "LGBMRanker" else (
        fitted.evals_result() if name == "XGBRanker" else fitted.get_evals_result()
    )  # fmt: skip
    history = next(v for k, v in list(results.values())[-1].items() if k.startswith(("map", "Cat")))
    (_, _, trained), (X_held, y_held, q) = parts_of(X, y, qid)
    assert not set(trained) & set(q)
    numbers, weights = gather(qid, weight)
    weights = weights[np.isin(numbers, q)]
    expected = evaluate(y_held, ranker.predict(X_held), "map@5", groups=q, sample_weight=weights)
    assert max(history) == pytest.approx(expected["map@5"], abs=1e-6)


def own_history(name, data, seed=3, **params):
    """Values of the booster's own metrics on the held-out rows after each of all rounds."""
    (X, y, q), (X_test, y_test, q_test) = parts_of(*data, seed=seed)
    if name == "LGBMRanker":
        model = LGBMRanker(**LIGHTGBM, **params.pop("model", {})).fit(
            X, y, group=sizes_of(q), eval_X=(X_test,), eval_y=(y_test,),
            eval_group=[sizes_of(q_test)], **params,
        )  # fmt: skip
        return model.evals_result_["valid_0"]
    model = XGBRanker(**XGBOOST, **params).fit(
        X, y, qid=q, eval_set=[(X_test, y_test)], eval_qid=[q_test], verbose=False
    )
    return model.evals_result()["validation_0"]


LGBM_CASES = {
    "default": ({}, {}, "ndcg@1"),
    "eval_at": ({}, {"eval_at": [10, 3]}, "ndcg@10"),
    "metric": ({"metric": ["map", "ndcg"]}, {"eval_at": [5]}, "map@5"),
    "eval_metric": ({}, {"eval_metric": "map", "eval_at": [5]}, "map@5"),
    "function": ({}, {"eval_metric": lightgbm_metric("mrr@10")}, "mrr@10_rankscore"),
    "function first": (
        {}, {"eval_metric": [lightgbm_metric("mrr@10"), "map"]}, "mrr@10_rankscore"
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", LGBM_CASES)
def test_true_watches_the_first_metric_of_lightgbm(case, data):
    model, fit_params, watched = LGBM_CASES[case]
    X, y, qid = data
    seed = 5 if case == "default" else 3  # with which the metrics stop at different rounds
    history = own_history("LGBMRanker", data, seed, model=model, **fit_params)
    rounds = {name: best_round(values, N_WITHOUT) + 1 for name, values in history.items()}
    assert len(history) > 1
    assert min(rounds.values()) < max(rounds.values())
    ranker = stopping(LGBMRanker(**LIGHTGBM, **model), True, random_state=seed)
    assert ranker.fit(X, y, groups=qid, **fit_params).n_iter_ == rounds[watched]


@pytest.mark.parametrize("metrics", [["ndcg@10", "ndcg@1"], ["ndcg@1", "ndcg@10"]])
def test_true_watches_the_first_metric_of_xgboost(metrics, data):
    X, y, qid = data
    history = own_history("XGBRanker", data, 5, eval_metric=metrics)
    rounds = [best_round(values, N_WITHOUT) + 1 for values in history.values()]
    ranker = stopping(XGBRanker(**XGBOOST, eval_metric=metrics), True, random_state=5)
    assert ranker.fit(X, y, groups=qid).n_iter_ == rounds[0]
    assert len(set(rounds)) == len(rounds)


def test_true_watches_a_function_given_to_xgboost(data):
    X, y, qid = data
    (X_train, y_train, _), (X_test, y_test, _) = parts_of(*data)
    model = XGBRegressor(**XGBOOST, eval_metric=max_error)
    model.fit(X_train, y_train, eval_set=[(X_test, y_test)], verbose=False)
    history = model.evals_result()["validation_0"]
    rounds = {k: best_round(np.negative(v), N_WITHOUT) + 1 for k, v in history.items()}
    assert rounds["rmse"] != rounds["max_error"]
    ranker = stopping(XGBRegressor(**XGBOOST, eval_metric=max_error), True)
    assert ranker.fit(X, y, groups=qid).n_iter_ == rounds["max_error"]


@pytest.mark.parametrize("value", [None, 1, 0, 0.5, ["ndcg@10"], {"metric": "ndcg"}])
def test_other_values_are_refused(value, data):
    X, y, qid = data
    message = r"early_stopping must be False, True \(.*'ndcg@10', or a metric function; got "
    with pytest.raises(ValueError, match=message):
        stopping(make("LGBMRanker"), value).fit(X, y, groups=qid)


def test_misspelt_metrics_are_refused_before_the_fit(data):
    X, y, qid = data
    with pytest.raises(ValueError, match=r"ndgc.*Did you mean 'ndcg"):
        stopping(None, "ndgc@10").fit(X, y, groups=qid)


def test_the_fitted_model_holds_no_data(data):
    X, y, qid = data
    ranker = stopping(make("XGBRanker"), "ndcg@10").fit(X, y, groups=qid)
    assert ranker.estimator_.get_params() == make("XGBRanker").get_params()
    assert pickle.loads(pickle.dumps(ranker)).n_iter_ == ranker.n_iter_
    assert clone(ranker.estimator_).get_params() == make("XGBRanker").get_params()
    assert ranker.estimator_.best_iteration + 1 == ranker.n_iter_
    own = xgboost.callback.EvaluationMonitor(period=1000)
    model = XGBRanker(**XGBOOST, callbacks=[own])
    (kept,) = stopping(model, True).fit(X, y, groups=qid).estimator_.callbacks
    assert type(kept) is type(own)


@pytest.mark.parametrize("own", [{}, {"eval_metric": "NDCG:top=3"}])
def test_a_model_of_catboost_can_be_fitted_again(own):
    X, y, groups = make_ranking(n_queries=60, n_features=4, n_informative=2, random_state=3)
    model = make("CatBoostRanker").set_params(**own)
    expected = clone(model).fit(X, y, group_id=groups).predict(X)
    stopped = stopping(model, "ndcg@5").fit(X, y, groups=groups)
    fitted, scores = stopped.estimator_, stopped.predict(X)
    assert fitted.get_params() == model.get_params()
    fits = [
        lambda: clone(fitted).fit(X, y, group_id=groups),
        lambda: fitted.copy().fit(X, y, group_id=groups),
        lambda: QueryRanker(fitted).fit(X, y, groups=groups),
        lambda: pickle.loads(pickle.dumps(fitted)).fit(X, y, group_id=groups),
    ]
    for fit in fits:
        np.testing.assert_array_equal(fit().predict(X), expected)
        np.testing.assert_array_equal(fitted.predict(X), scores)
    np.testing.assert_array_equal(fitted.fit(X, y, group_id=groups).predict(X), expected)


@pytest.mark.parametrize("name", RANKERS)
def test_refit_all_trains_as_many_rounds_on_all_queries(name, data):
    X, y, qid = data
    stopped = stopping(make(name), "ndcg@10").fit(X, y, groups=qid)
    ranker = stopping(make(name), "ndcg@10", refit_all=True).fit(X, y, groups=qid)
    assert ranker.n_iter_ == stopped.n_iter_ < N_ROUNDS
    q, *rows = gather(qid, X, y)
    expected = predict_rounds(fit_natively(make(name), *rows, q), X, stopped.n_iter_)
    np.testing.assert_allclose(ranker.predict(X), expected, rtol=1e-5, atol=1e-6)
    assert not np.allclose(stopped.predict(X), expected)


@pytest.mark.parametrize("refit_all", [False, True])
@pytest.mark.parametrize("given", [False, True])
@pytest.mark.filterwarnings("ignore:.*`booster=gblinear` is deprecated:UserWarning")
def test_a_linear_model_of_xgboost_is_that_of_the_best_round(given, refit_all):
    X, y, groups = make_ranking(n_queries=60, n_features=4, n_informative=2, random_state=3)
    linear = {"booster": "gblinear", "learning_rate": 0.5, "n_jobs": 1}
    ranker = stopping(XGBRanker(**linear, n_estimators=30), "ndcg@5", refit_all=refit_all)
    train, (X_valid, y_valid, q_valid) = parts_of(X, y, groups)
    if given:
        rows = train
        ranker.fit(*rows[:2], qid=rows[2], eval_set=[(X_valid, y_valid)], eval_qid=[q_valid])
    else:
        rows = (X, y, groups) if refit_all else train
        ranker.fit(X, y, groups=groups)
    models = [
        XGBRanker(**linear, n_estimators=n).fit(*train[:2], qid=train[2]) for n in range(1, 31)
    ]
    values = [ndcg_score(y_valid, m.predict(X_valid), groups=q_valid, k=5) for m in models]
    assert ranker.n_iter_ == 1 + best_round(values, N_WITHOUT) < 30 - N_WITHOUT
    expected = XGBRanker(**linear, n_estimators=ranker.n_iter_).fit(*rows[:2], qid=rows[2])
    np.testing.assert_allclose(ranker.predict(X), expected.predict(X), rtol=1e-6)


def test_refit_all_keeps_the_learning_rate_of_catboost(data):
    """Its default depends on the number of rounds."""
    X, y, qid = data
    catboost = requires("catboost")
    params = {name: value for name, value in CATBOOST.items() if name != "learning_rate"}
    params = {**params, "iterations": 300, "use_best_model": True, "early_stopping_rounds": 50}
    model = catboost.CatBoostRegressor(**params)
    stopped = stopping(model, True).fit(X, y, groups=qid)
    ranker = stopping(model, True, refit_all=True).fit(X, y, groups=qid)
    assert ranker.estimator_.tree_count_ == stopped.n_iter_ < 300
    assert ranker.estimator_.learning_rate_ == stopped.estimator_.learning_rate_


@pytest.mark.parametrize("alias", ["num_iterations", "num_boost_round"])
@pytest.mark.filterwarnings("ignore:Found.*in params. Will use it:UserWarning")
def test_refit_all_knows_other_names_of_the_rounds(alias, data):
    X, y, qid = data
    params = {**LIGHTGBM, "n_estimators": 100, alias: N_ROUNDS}
    ranker = stopping(LGBMRanker(**params), "map@10", refit_all=True).fit(X, y, groups=qid)
    assert ranker.estimator_.n_iter_ == ranker.n_iter_ < N_ROUNDS


def test_refit_all_fits_the_whole_pipeline(data):
    X, y, qid = data
    pipe = make_pipeline(StandardScaler(), make("LGBMRanker"))
    ranker = stopping(pipe, "ndcg@10", refit_all=True).fit(X, y, groups=qid)
    np.testing.assert_allclose(ranker.estimator_[0].mean_, X.mean(axis=0), atol=1e-9)
    assert ranker.estimator_[-1].n_iter_ == ranker.n_iter_


def test_the_metric_is_a_parameter_of_a_search(data):
    X, y, qid = data
    search = GridSearchCV(
        stopping(make("XGBRanker"), True),
        {"early_stopping": ["ndcg@10", "map", False], "refit_all": [True]},
        scoring={"rounds": lambda ranker, X, y: getattr(ranker, "n_iter_", 0)},
        refit="rounds",
        cv=list(QueryKFold(2).split(X, y, qid)),
        error_score="raise",
    )
    search.fit(X, pd.Series(y, index=pd.Index(qid, name="qid")))
    first, second, without = search.cv_results_["mean_test_rounds"]
    assert first > 0
    assert second > 0
    assert first != second
    assert without == 0


def test_errors_speak_of_held_out_queries(data):
    X, y, qid = data
    ranker = stopping(make("LGBMRanker"), "ndcg@10")
    with pytest.raises(ValueError, match="holds out 30 of the 100 queries, and in each of these"):
        ranker.fit(X, np.ones(len(y), dtype=int), groups=qid)
    ranker.set_params(validation_fraction=100)
    with pytest.raises(ValueError, match=r"holds out 100 of the 100 .* none to train on. Set a sm"):
        ranker.fit(X, y, groups=qid)
    ranker.set_params(validation_fraction=0.1)
    with pytest.raises(ValueError, match="holds out 1 of the 1 queries"):
        ranker.fit(X, y, groups=np.zeros(len(y)))


@pytest.mark.parametrize(
    "metric", ["map@5(threshold=4)", "query_auc(threshold=4)", "ndcg(replace_undefined_by=nan)"]
)
@pytest.mark.parametrize("name", [*RANKERS, "CatBoostRegressor"])
def test_a_metric_that_no_watched_query_defines_is_refused(name, metric):
    X, y, groups = make_ranking(n_queries=30, n_features=3, random_state=0)
    y = np.minimum(y, 3)
    valid = {"eval_set": [(X[groups < 5], 0 * y[groups < 5])], "eval_qid": [groups[groups < 5]]}
    message = r"(?s)which is undefined for each of the {} queries to watch.*- another metric, or a"
    ranker = stopping(make(name), metric)
    with pytest.raises(ValueError, match=message.format(5)):
        ranker.fit(X, y, groups=groups, **valid)
    if "threshold" in metric:
        with pytest.raises(ValueError, match=message.format(r"\d")):
            ranker.fit(X, y, groups=groups)
        ranker.set_params(early_stopping=metric.replace("4", "2"))
    assert ranker.fit(X, y, groups=groups).n_iter_ > 0
    weights = 1.0 * (groups >= 5)  # only queries that count define it
    valid["eval_set"], valid["eval_sample_weight"] = [(X, y * (groups < 5))], [weights]
    with pytest.raises(ValueError, match=message.format(30)):
        ranker.fit(X, y, groups=groups, **valid | {"eval_qid": [groups]})


def test_catboost_trains_on_queries_that_do_not_define_the_metric():
    """CatBoost fails where it writes nan to its log."""
    X, y, groups = make_ranking(n_queries=60, n_features=4, n_informative=2, random_state=3)
    train, held = groups < 45, groups >= 45
    y = np.where(held, y, np.minimum(y, 3))
    valid = {"eval_set": [(X[held], y[held])], "eval_qid": [groups[held]]}
    ranker = stopping(make("CatBoostRanker"), "query_auc(threshold=3)")
    ranker.fit(X[train], y[train], groups=groups[train], **valid)
    assert set(ranker.estimator_.get_evals_result()["learn"]["CatBoostMetric"]) == {-1}
    native = fit_natively(make("CatBoostRanker"), X[train], y[train], groups[train])
    values = [
        query_auc_score(
            y[held], predict_rounds(native, X[held], n + 1), groups=groups[held], threshold=3
        )
        for n in range(N_ROUNDS)
    ]
    assert ranker.n_iter_ == 1 + best_round(values, N_WITHOUT) < N_ROUNDS


def test_what_the_metric_refuses_is_refused_before_training(data):
    X, y, qid = data
    weight = np.linspace(1, 2, len(y))
    with pytest.raises(ValueError, match=r"(?s)sample_weight varies within a query.*eval_set="):
        stopping(make("LGBMRanker"), ndcg_score).fit(X, y, groups=qid, sample_weight=weight)
    half = X[:384], y[:384]
    for model in map(make, ("LGBMRegressor", "XGBRegressor", "CatBoostRegressor")):
        # an evaluation set has no weights of rows unless they are given
        ranker = stopping(model, "ndcg@10")
        ranker.fit(X, y, groups=qid, sample_weight=weight, eval_set=[half], eval_qid=[qid[:384]])
        assert ranker.n_iter_ > 0
    with pytest.raises(ValueError, match="negative"):
        stopping(make("CatBoostRegressor"), "ndcg").fit(X, y - 2, groups=qid)


def test_training_metrics_take_no_propensity():
    metric = "dcg@3(propensity=seen)"
    with pytest.raises(ValueError, match="early stopping take no propensity"):
        lightgbm_metric(metric)
    with pytest.raises(ValueError, match="early stopping take no propensity"):
        QueryRanker(LGBMRanker(), early_stopping=metric).fit([[1]], [1], groups=[1])


OWN_STOPPING = {
    "early_stopping_round": (LGBMRanker(early_stopping_round=3), {}),
    "early_stopping_rounds": (XGBRanker(early_stopping_rounds=3), {}),
    "a callback": (LGBMRanker(), {"callbacks": [lightgbm.early_stopping(3)]}),
    "a callback of XGBoost": (XGBRanker(callbacks=[xgboost.callback.EarlyStopping(rounds=3)]), {}),
    "in a pipeline": (make_pipeline(StandardScaler(), XGBRanker(early_stopping_rounds=3)), {}),
}


@pytest.mark.parametrize("name", OWN_STOPPING)
def test_early_stopping_of_the_booster_itself_needs_queries_to_watch(name, data):
    X, y, qid = data
    model, params = OWN_STOPPING[name]
    ranker = QueryRanker(model)
    with pytest.raises(ValueError, match=r"use QueryRanker\(..., early_stopping=True\) instead"):
        ranker.fit(X, y, groups=qid, **params)
    if not params and not hasattr(model, "steps"):
        ranker.fit(X, y, groups=qid, eval_set=[(X, y)], eval_qid=[qid])


HASTY = {
    "early_stopping_round": (LGBMRanker(early_stopping_round=1, **LIGHTGBM), {}),
    "n_iter_no_change": (LGBMRanker(n_iter_no_change=1, **LIGHTGBM), {}),
    "early_stopping_rounds": (XGBRanker(early_stopping_rounds=1, **XGBOOST), {}),
    "a callback": (
        LGBMRanker(**LIGHTGBM), {"callbacks": [lightgbm.early_stopping(1, verbose=False)]}
    ),
    "a callback of XGBoost": (
        XGBRanker(callbacks=[xgboost.callback.EarlyStopping(rounds=1)], **XGBOOST), {}
    ),
    "in a pipeline": (
        make_pipeline(StandardScaler(), LGBMRanker(early_stopping_round=1, **LIGHTGBM)), {}
    ),
}  # fmt: skip


@pytest.mark.parametrize("refit_all", [False, True])
@pytest.mark.parametrize("name", HASTY)
def test_early_stopping_of_the_booster_itself_has_no_effect(name, refit_all, data):
    X, y, qid = data
    model, params = HASTY[name]
    booster = type(model[-1] if name == "in a pipeline" else model).__name__
    ranker = stopping(model, "ndcg@10", refit_all=refit_all)
    ranker.fit(X, y, groups=qid, **params)
    assert ranker.n_iter_ == expected_rounds(make(booster), data, "ndcg@10") > 2
    if not refit_all:
        own, of_fitted = model.get_params(), ranker.estimator_.get_params()
        for parameter in ("early_stopping_round", "early_stopping_rounds", "n_iter_no_change"):
            assert of_fitted.get(parameter) == own.get(parameter)


@pytest.mark.filterwarnings("ignore:Found '.*' in params:UserWarning")
@pytest.mark.parametrize("own", ["eval_at", "ndcg_at", "ndcg_eval_at", "map_at"])
def test_ranks_of_the_constructor_of_lightgbm_prevail(own, data):
    X, y, qid = data
    history = own_history("LGBMRanker", data, eval_at=[10, 3])
    rounds = {name: best_round(values, N_WITHOUT) + 1 for name, values in history.items()}
    assert rounds["ndcg@10"] != rounds["ndcg@3"]
    model = LGBMRanker(**LIGHTGBM, **{own: [10, 3]})
    for params in ({}, {"eval_at": [3, 10]}):
        assert stopping(model, True).fit(X, y, groups=qid, **params).n_iter_ == rounds["ndcg@10"]


@pytest.mark.parametrize("scale", [1 / 3, 20])
def test_xgboost_computes_no_metric_that_nobody_asked_for(scale):
    """Its own NDCG fails at labels above 31, and at fractions."""
    xgboost = requires("xgboost")
    X, y, groups = make_ranking(40, random_state=0)
    model = xgboost.XGBRanker(objective="rank:pairwise", n_estimators=20, n_jobs=1)
    ranker = QueryRanker(model, early_stopping="ndcg@5", random_state=0)
    fitted = ranker.fit(X, y * scale, groups=groups).estimator_
    assert list(fitted.evals_result()["validation_0"]) == ["ndcg@5_rankscore"]
    assert "disable_default_eval_metric" not in fitted.get_params()
