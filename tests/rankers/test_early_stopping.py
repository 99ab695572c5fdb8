"""Early stopping ends at the round that a loop over the rounds of the bare booster finds best."""

import pickle
from importlib import import_module

import lightgbm
import numpy as np
import pytest
from native_fits import (
    N_ROUNDS,
    N_WITHOUT,
    POINTWISE,
    RANKERS,
    START,
    best_number_of_rounds,
    fit,
    hold_out,
    log_of,
    make,
    n_rounds_of,
    predict_rounds,
)
from ranking_rows import BY_ID, FRAME, IDS, ROWS, X, Y, last
from sklearn.base import clone
from sklearn.metrics import max_error
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from training_rounds import best_round, sizes_of
from xgboost.callback import (
    CallbackContainer,
    EarlyStopping,
    LearningRateScheduler,
    TrainingCallback,
)

from sklearn_rankscore import QueryRanker, evaluate, lightgbm_metric, make_ranking, map_score

GRADES = np.minimum(Y, 2)  # which are classes too


def stopping(model, metric="ndcg@5", **params):
    options = {"n_iter_no_change": N_WITHOUT, "validation_fraction": 0.3, "random_state": 0}
    return QueryRanker(model, early_stopping=metric, **{**options, **params})


def given(watched):
    """Arguments of fit for an evaluation set: ids, X, y and perhaps weights."""
    ids, X, y, *weights = watched
    weights = {} if not weights or weights[0] is None else {"eval_sample_weight": weights}
    return {"eval_set": [(X, y)], "eval_qid": [ids], **weights}


def first_rounds(model, n):
    name = "iterations" if type(model).__name__[0] == "C" else "n_estimators"
    return clone(model).set_params(**{name: n})


def piped(model):
    """The model at the end of a pipeline, and the prefix of its parameters."""
    return make_pipeline("passthrough", model), f"{type(model).__name__.lower()}__"


IGNORE_ALIASES = pytest.mark.filterwarnings("ignore:Found.*in params. Will use it:UserWarning")
# estimator, metric, parameters for QueryRanker alone, those of both, and whether there are weights
CASES = [
    *((name, "ndcg@5", {}, {}, False) for name in RANKERS),
    *((name, "map@3(threshold=1)", {}, {}, True) for name in RANKERS),
    *((name, "ndcg(gain=exponential)", {}, {}, name.endswith("Regressor")) for name in POINTWISE),
    # another name of the rounds
    ("LGBMRanker", "map", {"n_estimators": 100, "num_boost_round": N_ROUNDS}, {}, False),
    # CatBoost multiplies the weights that it passes to a metric by those of the classes
    *(
        ("CatBoostClassifier", "ndcg@3", {}, params, weighted)
        for params in ({"auto_class_weights": "Balanced"}, {"class_weights": (1, 3, 9)})
        for weighted in (False, True)
    ),
    ("CatBoostRanker", "ndcg", {}, {"eta": 0.2, "learning_rate": None}, False),
]  # fmt: skip


@pytest.mark.parametrize(("name", "metric", "own", "both", "weighted"), CASES)
@IGNORE_ALIASES
def test_training_ends_at_the_best_round(name, metric, own, both, weighted):
    weights = np.where(IDS % 4 == 0, 20.0, 1.0) if weighted else None
    model, plain = make(name, **own, **both), make(name, **both)
    train, (q, X_w, y_w, weights_w) = hold_out(plain, X, GRADES, weights, ids=IDS)
    native = fit(plain, *train[1:3], train[0], train[3])
    n = best_number_of_rounds(lambda n: predict_rounds(native, X_w, n), y_w, q, metric, weights_w)
    for is_given, refit_all in ((False, False), (False, True), (True, True)):
        ranker = stopping(model, metric, refit_all=refit_all)
        if is_given:  # then all training rows have been used
            params = {"sample_weight": train[3], **given((q, X_w, y_w, weights_w))}
            ranker.fit(*train[1:3], train[0], **params)
        else:
            ranker.fit(X, GRADES, IDS, sample_weight=weights)
        assert ranker.n_iter_ == n
        expected = predict_rounds(native, X, n)
        if refit_all and not is_given:
            refitted = fit(first_rounds(plain, n), X, GRADES, IDS, weights)
            expected = predict_rounds(refitted, X, n)
        np.testing.assert_allclose(ranker.predict(X), expected, rtol=1e-5, atol=1e-6)
        if not refit_all:
            kept = ranker.estimator_.get_params()
            assert {name: kept.get(name) for name in own | both} == own | both
        assert ranker.n_queries_ == (28 if is_given else 40)


STOP_OF_LIGHTGBM = {"callbacks": [lightgbm.early_stopping(1, verbose=False)]}
# early stopping of the booster itself: parameters of the model, and of fit
OWN_STOPPING = [
    ("LGBMRanker", {"early_stopping_round": 1}, {}),
    ("LGBMRanker", {"early_stopping_rounds": 1}, {}),
    ("LGBMRanker", {"early_stopping": 1}, {}),
    ("LGBMRanker", {"n_iter_no_change": 1}, {}),
    ("LGBMRanker", {}, STOP_OF_LIGHTGBM),
    ("XGBRanker", {"early_stopping_rounds": 1}, {}),
    ("XGBRanker", {"callbacks": [EarlyStopping(rounds=1)]}, {}),
    ("CatBoostRanker", {"early_stopping_rounds": 1}, {}),
    ("CatBoostRanker", {"od_wait": 1}, {}),
]


@pytest.mark.parametrize(("name", "own", "of_fit"), OWN_STOPPING)
@IGNORE_ALIASES
def test_early_stopping_of_the_booster_itself_needs_a_set(name, own, of_fit):
    model, step = piped(make(name, **own))
    (param,) = own | of_fit
    of_fit, ranker = {step + key: value for key, value in of_fit.items()}, QueryRanker(model)
    with pytest.raises(ValueError, match=r"use QueryRanker\(..., early_stopping=True\), which"):
        ranker.fit(*ROWS, **of_fit)
    with pytest.raises(ValueError, match=f"both QueryRanker and {name}, by {param}, are to"):
        stopping(model).fit(*ROWS, **of_fit)
    _, watched = hold_out(make(name), X, Y, ids=IDS)
    log = log_of(last(ranker.fit(*ROWS, **given(watched), **of_fit).estimator_))
    assert len(next(iter(log.values()))) < N_ROUNDS
    assert not hasattr(ranker, "n_iter_")


def test_held_out_queries_start_from_their_scores(ranker, tmp_path):
    letter, start = ranker[0], 2.0 * Y + 2 * np.random.default_rng(1).standard_normal(len(Y))
    steps = StandardScaler(), "passthrough", make(ranker)
    train, (q, X_w, y_w, start_w) = hold_out(steps[-1], X, Y, start, ids=IDS)
    scaler = StandardScaler().fit(train[1])
    X_w = scaler.transform(X_w)
    native = fit(steps[-1], scaler.transform(train[1]), train[2], train[0], start=train[3])

    def scores(n):
        if letter == "L":
            return start_w + predict_rounds(native, X_w, n)
        if letter == "X":
            return predict_rounds(native, X_w, n, base_margin=start_w)
        pool = import_module("catboost").Pool(X_w, group_id=q, baseline=start_w)
        return predict_rounds(native, pool, n)

    n = best_number_of_rounds(scores, y_w, q, "ndcg@10", n_without=N_ROUNDS)
    model = make_pipeline(*steps, memory=str(tmp_path))
    fitted = stopping(model, "ndcg@10", n_iter_no_change=N_ROUNDS)
    assert fitted.fit(*ROWS, **{f"{ranker.lower()}__{START[letter]}": start}).n_iter_ == n


# --- the first metric of the booster

MRR = lightgbm_metric("mrr@3")
FIRST = {
    "LGBM": ("LGBMRanker", {}, {}, "ndcg@1"),
    "eval_at": ("LGBMRanker", {}, {"eval_at": [10, 2]}, "ndcg@2"),
    "metric": ("LGBMRanker", {"metric": ["map", "ndcg"]}, {"eval_at": [5]}, "map@5"),
    "eval_metric": ("LGBMRanker", {}, {"eval_metric": "map", "eval_at": [5]}, "map@5"),
    "a function alone": ("LGBMRanker", {"metric": "None"}, {"eval_metric": MRR}, "mrr@3_rankscore"),
    "a function after a name": ("LGBMRanker", {}, {"eval_metric": ["map", MRR]}, "map@1"),
    "CatBoost": ("CatBoostRanker", {"eval_metric": "MAP:top=3"}, {}, "MAP:top=3"),
    "XGB": ("XGBRanker", {"eval_metric": ["ndcg@10", "ndcg@1"]}, {}, "ndcg@10"),
    "XGB, in another order": ("XGBRanker", {"eval_metric": ["ndcg@1", "ndcg@10"]}, {}, "ndcg@1"),
    "XGB, a function": ("XGBRegressor", {"eval_metric": max_error}, {}, "max_error"),
}


@pytest.mark.parametrize("case", FIRST)
@pytest.mark.filterwarnings("ignore:Found '.*' in params:UserWarning")
def test_true_watches_the_first_metric_of_the_booster(case):
    name, params, of_fit, metric = FIRST[case]
    model = make(name, **params)
    for seed in range(12):  # until the metrics stop at different rounds
        train, (q, X_w, y_w) = hold_out(model, X, Y, ids=IDS, seed=seed)
        sets = {"eval_set": [(X_w, y_w)], "verbose": False}
        if name[0] == "L":
            sets = {"eval_X": (X_w,), "eval_y": (y_w,), "eval_group": [sizes_of(q)], **of_fit}
        elif name[0] == "C":
            sets = {"eval_set": import_module("catboost").Pool(X_w, y_w, group_id=q)}
        elif name == "XGBRanker":
            sets["eval_qid"] = [q]
        log, falls = log_of(fit(model, *train[1:], train[0], **sets)), ("rmse", "max_error")
        rounds = {
            key: best_round(np.negative(v) if key in falls else v, N_WITHOUT) + 1
            for key, v in log.items()
        }
        others = [n for key, n in rounds.items() if key != metric] or [N_ROUNDS]
        if rounds[metric] not in (others[0], others[-1]):
            break
    else:
        pytest.fail(f"the metrics stop at equal rounds: {rounds}")
    fitted = stopping(model, True, random_state=seed).fit(*ROWS, **of_fit)
    assert fitted.n_iter_ == rounds[metric]


# --- what each booster does in its own way

SPECIAL = {
    "softmax": ("XGBClassifier", {"objective": "multi:softmax"}),
    "dart": ("XGBRegressor", {"booster": "dart", "one_drop": 1}),
    "dropout of any trees": ("XGBRegressor", {"rate_drop": 0.3}),
    "linear": ("XGBRanker", {"booster": "gblinear", "max_depth": None}),
    "CatBoost, one against all": ("CatBoostClassifier", {"loss_function": "MultiClassOneVsAll"}),
    "CatBoost, multiclass": ("CatBoostClassifier", {}),
    "CatBoost, cross entropy": ("CatBoostClassifier", {"loss_function": "CrossEntropy"}),
    "missing": ("XGBRanker", {"missing": 0.0}),
}


@pytest.mark.parametrize("case", SPECIAL)
@pytest.mark.filterwarnings("ignore:.*is deprecated:UserWarning")
@pytest.mark.filterwarnings("ignore:(?s).*are not used:UserWarning")  # before XGBoost 3.4
def test_the_watched_metric_is_that_of_the_predictions(case):
    """Which come from margins, or from trees that later rounds rescale."""
    rounded, (name, params) = np.where(np.abs(X) < 0.3, 0, X), SPECIAL[case]
    n_rounds = N_ROUNDS if name[0] == "C" else 15
    model = make(name, n_rounds, **params)
    train, watched = hold_out(model, rounded, GRADES, ids=IDS)
    if case == "CatBoost, cross entropy":  # its labels are probabilities
        train[2], watched[2] = train[2] / 4, watched[2] / 5

    def fitted(**options):
        ranker = stopping(model, "ndcg@10", n_iter_no_change=8, **options)
        return ranker.fit(*train[1:], train[0], **given(watched))

    def value(model):
        scores = model.predict(watched[1])
        return evaluate(watched[2], scores, "ndcg@10", groups=watched[0])["ndcg@10"]

    kept, refitted = (fitted(refit_all=refit_all) for refit_all in (False, True))
    if {"booster", "rate_drop"} & params.keys():  # of which every round changes the trees before
        rounds = [first_rounds(model, n) for n in range(1, n_rounds + 1)]
        values = [value(fit(one, *train[1:], train[0])) for one in rounds]
    else:
        log = log_of(kept.estimator_)
        values = log.get("ndcg@10_rankscore") or log["CatBoostMetric"]
    for ranker in (kept, refitted):
        assert ranker.n_iter_ == 1 + np.argmax(values) < n_rounds
        assert value(ranker) == pytest.approx(max(values), abs=1e-6)
        if case == "linear":
            native = fit(first_rounds(model, ranker.n_iter_), *train[1:], train[0])
            np.testing.assert_allclose(ranker.predict(X), native.predict(X), rtol=1e-6)


def test_catboost_with_categories_and_training_queries_that_do_not_define_the_metric():
    """It passes training rows in random order then, and fails where it writes nan to its log."""
    frame = FRAME.assign(kind=np.where(X[:, 0] > 0, "a", "b"))
    model, metric = make("CatBoostRanker", cat_features=("kind",)), "query_auc(threshold=3)"
    (q_t, rows, y), (q, rows_w, y_w) = hold_out(model, np.arange(len(Y)), Y, ids=IDS)
    train, watched = frame.iloc[rows], frame.iloc[rows_w]
    for labels in (y, np.minimum(y, 3)):
        native = clone(model).fit(train, labels, group_id=q_t)
        n = best_number_of_rounds(lambda n, m=native: predict_rounds(m, watched, n), y_w, q, metric)
        ranker = stopping(model, metric)
        ranker.fit(train, labels, groups=q_t, **given((q, watched, y_w)))
        assert ranker.n_iter_ == n
        assert set(ranker.estimator_.get_evals_result()["learn"]["CatBoostMetric"]) == {-1}


@pytest.mark.parametrize("scale", [1 / 3, 20])
def test_xgboost_computes_no_metric_that_nobody_asked_for(scale):
    """Its own NDCG fails at labels above 31, and at fractions."""
    X, y, ids = make_ranking(40, random_state=0)
    for params, factor, names in (
        ({}, scale, []),
        ({"disable_default_eval_metric": 1}, scale, []),
        ({"eval_metric": "ndcg@3"}, 1, ["ndcg@3"]),
    ):
        model = make("XGBRanker", objective="rank:pairwise", **params)
        fitted = stopping(model).fit(X, y * factor, groups=ids).estimator_
        assert list(log_of(fitted)) == [*names, "ndcg@5_rankscore"]
        assert fitted.get_params() == model.get_params()


def test_xgboost_may_call_callbacks_in_any_order(monkeypatch):
    """XGBoost 3.0 keeps them in a set."""
    model = stopping(make("XGBRanker"), "mrr")
    expected, create = model.fit(FRAME, Y, **BY_ID).n_iter_, CallbackContainer.__init__

    def create_reversed(self, *args, **kwargs):
        create(self, *args, **kwargs)
        self.callbacks = [*self.callbacks][::-1]

    monkeypatch.setattr(CallbackContainer, "__init__", create_reversed)
    assert model.fit(FRAME, Y, **BY_ID).n_iter_ == expected


@pytest.mark.parametrize(
    ("own", "metric"),
    [({"eval_metric": ["ndcg@5"]}, True), ({"monotone_constraints": {"x0": 1}}, "ndcg@10")],
)
def test_a_stopped_xgboost_model_with_lists_and_dicts_predicts(own, metric):
    model = make("XGBRanker", **own)
    for refit_all in (False, True):
        ranker = stopping(model, metric, refit_all=refit_all).fit(FRAME, Y, **BY_ID)
        if not refit_all:
            assert ranker.estimator_.get_params() == model.get_params()
        again = pickle.loads(pickle.dumps(ranker))
        np.testing.assert_array_equal(again.predict(FRAME), ranker.predict(FRAME))
        assert again.n_iter_ == ranker.n_iter_
    plain = QueryRanker(first_rounds(model, ranker.n_iter_)).fit(FRAME, Y, **BY_ID)
    np.testing.assert_allclose(ranker.predict(FRAME), plain.predict(FRAME), rtol=1e-6)


@pytest.mark.parametrize("own", [{}, {"eval_metric": "NDCG:top=3"}])
def test_a_model_of_catboost_can_be_fitted_again(own):
    model = make("CatBoostRanker", **own)
    expected, stopped = fit(model, *ROWS).predict(X), stopping(model).fit(*ROWS)
    fitted, scores = stopped.estimator_, stopped.predict(X)
    assert fitted.get_params() == model.get_params()
    for again in (
        lambda: fit(fitted, *ROWS),
        lambda: QueryRanker(fitted).fit(*ROWS),
        lambda: QueryRanker(fitted.copy()).fit(*ROWS),
        lambda: QueryRanker(pickle.loads(pickle.dumps(fitted))).fit(*ROWS),
    ):
        np.testing.assert_array_equal(again().predict(X), expected)
        np.testing.assert_array_equal(fitted.predict(X), scores)


class Record(TrainingCallback):
    """The lengths of the log after each round."""

    def __init__(self):
        self.lengths = []

    def after_iteration(self, model, epoch, evals_log):
        self.lengths += [{len(values) for values in evals_log["validation_0"].values()}]


def test_callbacks_of_xgboost_record_for_the_user():
    record = Record()
    model, _ = piped(make("XGBRanker", 4, callbacks=[record]))
    kept = stopping(model, "ndcg@10").fit(*ROWS).estimator_
    assert record.lengths == [{1}, {2}, {3}, {4}]  # with the metric of the same round
    assert [type(callback) for callback in last(kept).callbacks] == [Record]


# --- refits, and continued models


@pytest.mark.parametrize("piped_too", [False, True])
def test_callbacks_that_watch_are_not_called_in_a_refit(piped_too):
    """It has no evaluation set; schedules of learning rates are part of the training."""
    rates = {"learning_rate": lambda i: 0.5 / (i + 1)}
    log, record = {}, Record()
    given = [lightgbm.record_evaluation(log), lightgbm.reset_parameter(**rates)]
    rate = LearningRateScheduler(rates["learning_rate"])
    xgb = make("XGBRanker", callbacks=[record, rate])
    for model, of_fit, schedule in (
        (make("LGBMRanker"), {"callbacks": given}, {"callbacks": given[1:]}),
        (xgb, {}, {}),
    ):
        wrapped, step = piped(model) if piped_too else (model, "")
        of_fit = {step + name: value for name, value in of_fit.items()}
        ranker = stopping(wrapped, "ndcg@10", refit_all=True).fit(*ROWS, **of_fit)
        kept = last(ranker.estimator_) if piped_too else ranker.estimator_
        n = {"n_estimators": ranker.n_iter_}
        plain = clone(model).set_params(**n, **({} if schedule else {"callbacks": [rate]}))
        plain = QueryRanker(plain).fit(*ROWS, **schedule)
        np.testing.assert_array_equal(ranker.predict(X), plain.predict(X))
        if not schedule:
            assert kept.callbacks == [record, rate]
    assert len(log["valid_0"]["ndcg@10_rankscore"]) > 1
    assert len(record.lengths) > 1


def test_a_refit_keeps_the_learning_rate_of_catboost():
    """Its default depends on the number of rounds."""
    params = {"learning_rate": None, "use_best_model": True}
    model = make("CatBoostRegressor", 200, **params)
    once, again = (stopping(model, True, refit_all=all_).fit(*ROWS) for all_ in (False, True))
    assert again.estimator_.tree_count_ == again.n_iter_ == once.n_iter_ < 200
    assert again.estimator_.learning_rate_ == once.estimator_.learning_rate_


def test_a_refit_is_one_of_the_whole_pipeline():
    pipe = make_pipeline(StandardScaler(), make("LGBMRanker"))
    ranker = stopping(pipe, "map@10", refit_all=True).fit(*ROWS)
    np.testing.assert_allclose(ranker.estimator_[0].mean_, X.mean(axis=0), atol=1e-9)
    assert n_rounds_of(ranker.estimator_[-1]) == ranker.n_iter_


CONTINUED = [(ranker, form) for ranker in RANKERS for form in ("all rounds", "stopped")]


@pytest.mark.parametrize(("ranker", "form"), [*CONTINUED, ("LGBMRanker", "a file")])
def test_a_continued_model_is_refitted_with_the_rounds_that_were_found(ranker, form, tmp_path):
    name = "xgb_model" if ranker[0] == "X" else "init_model"
    slow = {"learning_rate": 0.03}

    def base():
        if form == "stopped":
            return stopping(make(ranker, 40, **slow), "ndcg@10").fit(*ROWS).estimator_
        model = fit(make(ranker, 12, **slow), *ROWS)
        if form == "a file":
            model.booster_.save_model(tmp_path / "base.txt")
            return tmp_path / "base.txt"
        return model

    n_before = 12 if form == "a file" else n_rounds_of(base())
    once, again = (
        stopping(make(ranker, 60, **slow), "ndcg@10", refit_all=all_).fit(*ROWS, **{name: base()})
        for all_ in (False, True)
    )
    assert n_before < once.n_iter_ == again.n_iter_ == n_rounds_of(again.estimator_)
    model = base()
    for _ in range(2):  # CatBoost adds other rounds to a model that it continues once more
        native = fit(make(ranker, once.n_iter_ - n_before, **slow), *ROWS, **{name: model})
    expected = predict_rounds(native, X, once.n_iter_)
    np.testing.assert_allclose(again.predict(X), expected, rtol=1e-6)


def test_all_rounds_count_where_catboost_predicts_by_all():
    ranker = stopping(make("CatBoostRanker", use_best_model=False), "ndcg@3").fit(*ROWS)
    assert ranker.n_iter_ == ranker.estimator_.tree_count_ > 1 + ranker.estimator_.best_iteration_


def test_metrics_are_functions():
    def top_label(block):
        return block.by_rank(lambda labels: labels)[:, 0]

    by_name, by_function, by_own = (
        stopping(make("LGBMRanker"), metric).fit(*ROWS) for metric in ("map", map_score, top_label)
    )
    assert by_name.n_iter_ == by_function.n_iter_
    log = log_of(by_own.estimator_)["top_label_rankscore"]
    assert by_own.n_iter_ == best_round(log, N_WITHOUT) + 1
    assert not hasattr(by_own.set_params(early_stopping=False).fit(*ROWS), "n_iter_")
