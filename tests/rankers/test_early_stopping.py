"""Early stopping ends at the round that a loop over the rounds of the bare booster finds best."""

import pickle

import lightgbm
import numpy as np
import pandas as pd
import pytest
import xgboost
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
from requires import requires
from sklearn.base import clone
from sklearn.metrics import max_error
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from training_rounds import best_round, sizes_of
from xgboost.callback import TrainingCallback

from sklearn_rankscore import (
    QueryRanker,
    evaluate,
    lightgbm_metric,
    make_ranking,
    map_score,
)


def stopping(model, metric, **params):
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


def native_rounds(model, rows, metric, weights=None, **params):
    """The booster with all rounds, its best number of rounds, and the two parts of the rows."""
    X, y, ids = rows
    train, watched = hold_out(model, X, y, weights, ids=ids, **params)
    native = fit(model, *train[1:3], train[0], train[3])
    n = best_number_of_rounds(
        lambda n: predict_rounds(native, watched[1], n), watched[2], watched[0], metric, watched[3]
    )
    return native, n, train, watched


@pytest.fixture(scope="module")
def grades(rows):
    """Three grades, which are classes too."""
    X, y, ids = rows
    return X, np.minimum(y, 2), ids


CALLBACK = {"callbacks": [lightgbm.early_stopping(1, verbose=False)]}
XGB_CALLBACK = {"callbacks": [xgboost.callback.EarlyStopping(rounds=1)]}
# of the booster itself
OWN_STOPPING = [
    ("LGBMRanker", {"early_stopping_round": 1}, {}),
    ("LGBMRanker", {"early_stopping_rounds": 1}, {}),
    ("LGBMRanker", {"n_iter_no_change": 1}, {}),
    ("LGBMRanker", {}, CALLBACK),
    ("XGBRanker", {"early_stopping_rounds": 1}, {}),
    ("XGBRanker", XGB_CALLBACK, {}),
    ("CatBoostRanker", {"od_type": "Iter", "od_wait": 1}, {}),
]
# estimator, parameters for QueryRanker alone, those of fit, and whether there are weights
CASES = [
    *((name, metric, {}, {}, weighted) for name in RANKERS + POINTWISE for metric, weighted in (
        ("ndcg@5", False), ("map@3(threshold=1)", True), ("ndcg(gain=exponential)", True)
    )),
    ("CatBoostRanker", "ndcg@10", {"od_type": "Iter", "od_wait": 1}, {}, False),
    # other names of the rounds
    *(
        ("LGBMRanker", "map", {"n_estimators": 100, name: N_ROUNDS}, {}, False)
        for name in ("num_iterations", "num_boost_round", "max_iter")
    ),
    # CatBoost multiplies the weights that it passes to a metric by those of the classes
    *(
        ("CatBoostClassifier", "ndcg@3", params, {}, weighted)
        for params in ({"auto_class_weights": "Balanced"}, {"class_weights": (1, 3, 9)})
        for weighted in (False, True)
    ),
    ("CatBoostRanker", "ndcg", {"eta": 0.2, "learning_rate": None}, {}, False),
]  # fmt: skip
ALIKE = ("auto_class_weights", "class_weights", "eta")


@pytest.mark.parametrize("is_given", [False, True], ids=["held out", "eval_set"])
@pytest.mark.parametrize(("name", "metric", "own", "of_fit", "weighted"), CASES)
@pytest.mark.filterwarnings("ignore:Found.*in params. Will use it:UserWarning")
def test_training_ends_at_the_best_round(name, metric, own, of_fit, weighted, is_given, grades):
    X, y, ids = grades
    weights = np.where(ids % 4 == 0, 20.0, 1.0) if weighted else None
    native_params = own if set(ALIKE) & own.keys() else {}
    model, plain = make(name, **own), make(name, **native_params)
    native, n, train, watched = native_rounds(plain, grades, metric, weights)
    for refit_all in (False, True):
        ranker = stopping(model, metric, refit_all=refit_all)
        if is_given:
            params = {"groups": train[0], "sample_weight": train[3], **given(watched)}
            ranker.fit(*train[1:3], **params, **of_fit)
        else:
            ranker.fit(X, y, groups=ids, sample_weight=weights, **of_fit)
        assert ranker.n_iter_ == n
        expected = predict_rounds(native, X, n)
        if refit_all and not is_given:
            expected = predict_rounds(fit(first_rounds(plain, n), X, y, ids, weights), X, n)
        np.testing.assert_allclose(ranker.predict(X), expected, rtol=1e-5, atol=1e-6)
        kept = ranker.estimator_.get_params()
        if not refit_all:
            for key in own.keys() - {"callbacks"}:
                assert kept.get(key) == own[key]
    assert ranker.n_queries_ == (28 if is_given else 40)


@pytest.mark.parametrize("piped", [False, True])
@pytest.mark.parametrize(("name", "own", "of_fit"), OWN_STOPPING)
@pytest.mark.filterwarnings("ignore:Found.*in params. Will use it:UserWarning")
def test_early_stopping_of_the_booster_itself_needs_a_set(name, own, of_fit, piped, rows):
    X, y, ids = rows
    model = make_pipeline("passthrough", make(name, **own)) if piped else make(name, **own)
    of_fit = {f"{name.lower()}__{k}": v for k, v in of_fit.items()} if piped else of_fit
    ranker = QueryRanker(model)
    if name[0] != "C":  # in which they have no effect without a set
        with pytest.raises(ValueError, match=r"use QueryRanker\(..., early_stopping=True\) inst"):
            ranker.fit(X, y, groups=ids, **of_fit)
    _, watched = hold_out(make(name), X, y, ids=ids)
    fitted = ranker.fit(X, y, groups=ids, **given(watched), **of_fit).estimator_
    log = log_of(fitted[-1] if piped else fitted)
    assert len(next(iter(log.values()))) < N_ROUNDS
    assert not hasattr(ranker, "n_iter_")


@pytest.mark.parametrize("piped", [False, True])
def test_held_out_queries_start_from_their_scores(piped, ranker, rows, tmp_path):
    X, y, ids = rows
    model, letter = make(ranker), ranker[0]
    start = 2.0 * y + 2 * np.random.default_rng(1).standard_normal(len(y))
    train, (q, X_w, y_w, start_w) = hold_out(model, X, y, start, ids=ids)
    scaler = StandardScaler().fit(train[1])
    if piped:
        train[1], X_w = scaler.transform(train[1]), scaler.transform(X_w)
    native = fit(model, *train[1:3], train[0], start=train[3])

    def scores(n):
        if letter == "L":
            return start_w + predict_rounds(native, X_w, n)
        if letter == "X":
            return predict_rounds(native, X_w, n, base_margin=start_w)
        pool = requires("catboost").Pool(X_w, group_id=q, baseline=start_w)
        return predict_rounds(native, pool, n)

    n = best_number_of_rounds(scores, y_w, q, "ndcg@10", n_without=N_ROUNDS)
    prefix = f"{ranker.lower()}__" if piped else ""
    steps = (StandardScaler(), "passthrough", model)
    model = make_pipeline(*steps, memory=str(tmp_path)) if piped else model
    fitted = stopping(model, "ndcg@10", n_iter_no_change=N_ROUNDS)
    fitted.fit(X, y, groups=ids, **{prefix + START[letter]: start})
    assert fitted.n_iter_ == n


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
def test_true_watches_the_first_metric_of_the_booster(case, rows):
    name, params, of_fit, metric = FIRST[case]
    model = make(name, **params)
    X, y, ids = rows
    rounds = {}
    for seed in range(12):  # until the metrics stop at different rounds
        train, (q, X_w, y_w) = hold_out(model, X, y, ids=ids, seed=seed)
        if name[0] == "L":
            sets = {"eval_X": (X_w,), "eval_y": (y_w,), "eval_group": [sizes_of(q)], **of_fit}
            if "eval_metric" in sets:  # a list to LightGBM
                metrics = of_fit["eval_metric"]
                sets["eval_metric"] = list(metrics) if isinstance(metrics, tuple) else metrics
        elif name[0] == "C":
            sets = {"eval_set": requires("catboost").Pool(X_w, y_w, group_id=q)}
        else:
            sets = {"eval_set": [(X_w, y_w)], "verbose": False}
            sets |= {"eval_qid": [q]} if name == "XGBRanker" else {}
        log = log_of(fit(model, *train[1:], train[0], **sets))
        falls = ("rmse", "max_error")
        rounds = {
            key: best_round(np.negative(v) if key in falls else v, N_WITHOUT) + 1
            for key, v in log.items()
        }
        others = [n for key, n in rounds.items() if key != metric] or [N_ROUNDS]
        if rounds[metric] not in (others[0], others[-1]):
            break
    else:
        pytest.fail(f"the metrics stop at equal rounds: {rounds}")
    fitted = stopping(model, True, random_state=seed).fit(X, y, groups=ids, **of_fit)
    assert fitted.n_iter_ == rounds[metric]


# --- what each booster does in its own way


SPECIAL = {
    "softmax": ("XGBClassifier", {"objective": "multi:softmax"}),
    "dart": ("XGBRegressor", {"booster": "dart", "rate_drop": 0.3}),
    "one_drop": ("XGBRegressor", {"booster": "dart", "one_drop": 1}),
    "dropout of any trees": ("XGBRegressor", {"rate_drop": 0.3}),
    "linear": ("XGBRanker", {"booster": "gblinear", "max_depth": None}),
    "one against all": ("CatBoostClassifier", {"loss_function": "MultiClassOneVsAll"}),
    "multiclass": ("CatBoostClassifier", {}),
    "cross entropy": ("CatBoostClassifier", {"loss_function": "CrossEntropy"}),
    "missing": ("XGBRanker", {"missing": 0.0}),
}


@pytest.mark.parametrize("refit_all", [False, True])
@pytest.mark.parametrize("case", SPECIAL)
@pytest.mark.filterwarnings("ignore:.*is deprecated:UserWarning")
@pytest.mark.filterwarnings("ignore:(?s).*are not used:UserWarning")  # before XGBoost 3.4
def test_the_watched_metric_is_that_of_the_predictions(case, refit_all, grades):
    """Which come from margins, or from trees that later rounds rescale."""
    X, y, ids = grades
    X = np.where(np.abs(X) < 0.3, 0, X)
    name, params = SPECIAL[case]
    train, watched = hold_out(make(name), X, y, ids=ids)
    if case == "cross entropy":  # labels are probabilities, those of the set are no others' classes
        train[2], watched[2] = train[2] / 4, watched[2] / 5
    ranker = stopping(make(name, **params), "ndcg@10", n_iter_no_change=8, refit_all=refit_all)
    ranker.fit(*train[1:], groups=train[0], **given(watched))
    fitted = ranker.estimator_
    if {"booster", "rate_drop"} & params.keys():  # of which every round changes the trees before
        rounds = [first_rounds(make(name, **params), n) for n in range(1, N_ROUNDS + 1)]
        models = [fit(model, *train[1:], train[0]) for model in rounds]
        scores = [model.predict(watched[1]) for model in models]
        values = [evaluate(watched[2], s, "ndcg@10", groups=watched[0])["ndcg@10"] for s in scores]
    elif name[0] == "X":
        fitted = stopping(make(name, **params), "ndcg@10", n_iter_no_change=8)
        log = log_of(fitted.fit(*train[1:], groups=train[0], **given(watched)).estimator_)
        values = log["ndcg@10_rankscore"]
    else:
        values = log_of(fitted)["CatBoostMetric"]
    assert ranker.n_iter_ == 1 + np.argmax(values) < N_ROUNDS
    score = evaluate(watched[2], ranker.predict(watched[1]), "ndcg@10", groups=watched[0])
    assert score["ndcg@10"] == pytest.approx(max(values), abs=1e-6)
    if case == "linear":
        native = fit(first_rounds(make(name, **params), ranker.n_iter_), *train[1:], train[0])
        np.testing.assert_allclose(ranker.predict(X), native.predict(X), rtol=1e-6)


@pytest.mark.parametrize("metric", ["map@10", True])
@pytest.mark.parametrize("name", ["LGBMClassifier", "CatBoostClassifier"])
def test_two_classes_may_be_words(name, metric, rows):
    X, y, ids = rows
    words, numbers = (
        stopping(make(name), metric).fit(X, labels, groups=ids)
        for labels in (np.where(y > 1, "yes", "no"), (y > 1).astype(int))
    )
    np.testing.assert_array_equal(words.predict(X), numbers.predict(X))
    assert words.n_iter_ == numbers.n_iter_ < N_ROUNDS


def test_catboost_with_categories_and_training_queries_that_do_not_define_the_metric(rows):
    """It passes training rows in random order then, and fails where it writes nan to its log."""
    X, y, ids = rows
    frame = pd.DataFrame(X).add_prefix("x").assign(kind=np.where(X[:, 0] > 0, "a", "b"))
    model = make("CatBoostRanker", cat_features=("kind",))
    numbered = np.column_stack([np.arange(len(y)), y]), y, ids
    train, (q, part, y_w) = hold_out(model, *numbered[:2], ids=ids)
    at, of_w = train[1][:, 0].astype(int), frame.iloc[part[:, 0].astype(int)]
    metric = "query_auc(threshold=3)"
    for labels in (y[at], np.minimum(y[at], 3)):
        native = clone(model).fit(frame.iloc[at], labels, group_id=train[0])
        n = best_number_of_rounds(lambda n, m=native: predict_rounds(m, of_w, n), y_w, q, metric)
        ranker = stopping(model, metric)
        ranker.fit(frame.iloc[at], labels, groups=train[0], **given((q, of_w, y_w)))
        assert ranker.n_iter_ == n
        assert set(ranker.estimator_.get_evals_result()["learn"]["CatBoostMetric"]) == {-1}


@pytest.mark.parametrize("scale", [1 / 3, 20])
def test_xgboost_computes_no_metric_that_nobody_asked_for(scale):
    """Its own NDCG fails at labels above 31, and at fractions."""
    X, y, ids = make_ranking(40, random_state=0)
    for params in ({}, {"disable_default_eval_metric": 1}):
        model = make("XGBRanker", objective="rank:pairwise", **params)
        fitted = stopping(model, "ndcg@5").fit(X, y * scale, groups=ids).estimator_
        assert list(log_of(fitted)) == ["ndcg@5_rankscore"]
        assert fitted.get_params() == model.get_params()
    model = make("XGBRanker", eval_metric="ndcg@3")  # which somebody asked for
    log = log_of(stopping(model, "ndcg@5").fit(X, y, groups=ids).estimator_)
    assert list(log) == ["ndcg@3", "ndcg@5_rankscore"]


@pytest.mark.parametrize("metric", [True, "ndcg@10"])
@pytest.mark.parametrize("name", ["eval_metric", "monotone_constraints"])
def test_a_stopped_xgboost_model_with_lists_and_dicts_predicts(name, metric, rows):
    X, y, ids = rows
    frame = pd.DataFrame(X).add_prefix("x")
    model = make("XGBRanker", **{name: ["ndcg@5"] if name == "eval_metric" else {"x0": 1}})
    for refit_all in (False, True):
        ranker = stopping(model, metric, refit_all=refit_all).fit(frame, y, groups=ids)
        if not refit_all:
            assert ranker.estimator_.get_params() == model.get_params()
        again = pickle.loads(pickle.dumps(ranker))
        np.testing.assert_array_equal(again.predict(frame), ranker.predict(frame))
        assert again.n_iter_ == ranker.n_iter_
    plain = QueryRanker(first_rounds(model, ranker.n_iter_)).fit(frame, y, groups=ids)
    np.testing.assert_allclose(ranker.predict(frame), plain.predict(frame), rtol=1e-6)


@pytest.mark.parametrize("own", [{}, {"eval_metric": "NDCG:top=3"}])
def test_a_model_of_catboost_can_be_fitted_again(own, rows):
    X, y, ids = rows
    model = make("CatBoostRanker", **own)
    expected = fit(model, X, y, ids).predict(X)
    stopped = stopping(model, "ndcg@5").fit(X, y, groups=ids)
    fitted, scores = stopped.estimator_, stopped.predict(X)
    assert fitted.get_params() == model.get_params()
    for again in (
        lambda: fit(fitted, X, y, ids),
        lambda: QueryRanker(fitted).fit(X, y, groups=ids),
        lambda: QueryRanker(fitted.copy()).fit(X, y, groups=ids),
        lambda: QueryRanker(pickle.loads(pickle.dumps(fitted))).fit(X, y, groups=ids),
    ):
        np.testing.assert_array_equal(again().predict(X), expected)
        np.testing.assert_array_equal(fitted.predict(X), scores)


class Record(TrainingCallback):
    """The numbers of rounds, and the lengths of the log after each."""

    def __init__(self):
        self.rounds, self.lengths = [], []

    def after_iteration(self, model, epoch, evals_log):
        self.rounds.append(epoch)
        self.lengths += [{len(values) for values in evals_log["validation_0"].values()}]


@pytest.mark.parametrize("piped", [False, True])
def test_callbacks_of_xgboost_record_for_the_user(piped, rows):
    X, y, ids = rows
    record = Record()
    model = make("XGBRanker", 4, callbacks=[record])
    ranker = stopping(make_pipeline("passthrough", model) if piped else model, "ndcg@10")
    kept = ranker.set_params(refit_all=False).fit(X, y, groups=ids).estimator_
    assert record.rounds == [0, 1, 2, 3]
    assert record.lengths == [{1}, {2}, {3}, {4}]  # with the metric of the same round
    assert [type(callback) for callback in (kept[-1] if piped else kept).callbacks] == [Record]


def test_the_log_of_lightgbm_has_every_round(rows):
    X, y, ids = rows
    for n_without in (3, 30):
        ranker = stopping(make("LGBMRanker"), "mrr", n_iter_no_change=n_without)
        log = log_of(ranker.fit(X, y, groups=ids).estimator_)["mrr_rankscore"]
        assert len(log) == min(N_ROUNDS, ranker.n_iter_ + n_without)


@pytest.mark.parametrize("name", ["LGBMRanker", "LGBMRegressor"])
def test_weights_of_training_rows_do_not_matter_to_the_watched_set(name, rows):
    X, y, ids = rows
    train, watched = hold_out(make(name), X, y, ids=ids)
    weights = np.random.default_rng(0).choice([1.0, 2.0], len(train[0]))
    both = {"eval_set": [(train[1], train[2]), watched[1:]], "eval_qid": [train[0], watched[0]]}
    first, other = (
        stopping(make(name), "ndcg@10").fit(
            *train[1:], groups=train[0], sample_weight=weights, **sets
        )
        for sets in (both, given(watched))
    )
    assert first.n_iter_ == other.n_iter_
    logs = first.estimator_.evals_result_
    assert logs["valid_1"]["ndcg@10_rankscore"] == log_of(other.estimator_)["ndcg@10_rankscore"]


# --- refits, continued models, and searches


def test_a_refit_keeps_the_learning_rate_of_catboost(rows):
    """Its default depends on the number of rounds."""
    X, y, ids = rows
    params = {"learning_rate": None, "use_best_model": True, "early_stopping_rounds": 50}
    model = make("CatBoostRegressor", 200, **params)
    stopped = stopping(model, True).fit(X, y, groups=ids)
    ranker = stopping(model, True, refit_all=True).fit(X, y, groups=ids)
    assert ranker.estimator_.tree_count_ == ranker.n_iter_ == stopped.n_iter_ < 200
    assert ranker.estimator_.learning_rate_ == stopped.estimator_.learning_rate_


def test_a_refit_is_one_of_the_whole_pipeline(rows):
    X, y, ids = rows
    pipe = make_pipeline(StandardScaler(), make("LGBMRanker"))
    ranker = stopping(pipe, "map@10", refit_all=True).fit(X, y, groups=ids)
    np.testing.assert_allclose(ranker.estimator_[0].mean_, X.mean(axis=0), atol=1e-9)
    assert n_rounds_of(ranker.estimator_[-1]) == ranker.n_iter_


@pytest.mark.parametrize("form", ["all rounds", "stopped", "a file"])
def test_a_continued_model_is_refitted_with_the_rounds_that_were_found(
    form, ranker, rows, tmp_path
):
    X, y, ids = rows
    if form == "a file" and ranker[0] != "L":
        return  # only LightGBM continues a file
    name = "xgb_model" if ranker[0] == "X" else "init_model"
    slow = {"learning_rate": 0.03}

    def base():
        if form == "stopped":
            stopped = stopping(make(ranker, 40, **slow), "ndcg@10")
            return stopped.fit(X, y, groups=ids).estimator_
        model = fit(make(ranker, 12, **slow), X, y, ids)
        if form == "a file":
            model.booster_.save_model(tmp_path / "base.txt")
            return tmp_path / "base.txt"
        return model

    n_before = 12 if form == "a file" else n_rounds_of(base())
    once, again = (
        stopping(make(ranker, 60, **slow), "ndcg@10", refit_all=refit_all).fit(
            X, y, groups=ids, **{name: base()}
        )
        for refit_all in (False, True)
    )
    assert n_before < once.n_iter_ == again.n_iter_ == n_rounds_of(again.estimator_)
    model = base()
    for _ in range(2):  # CatBoost adds other rounds to a model that it continues once more
        native = fit(make(ranker, once.n_iter_ - n_before, **slow), X, y, ids, **{name: model})
    expected = predict_rounds(native, X, once.n_iter_)
    np.testing.assert_allclose(again.predict(X), expected, rtol=1e-6)


def test_all_rounds_count_where_catboost_predicts_by_all(rows):
    X, y, ids = rows
    ranker = stopping(make("CatBoostRanker", use_best_model=False), "ndcg@3").fit(X, y, groups=ids)
    assert ranker.n_iter_ == ranker.estimator_.tree_count_ > 1 + ranker.estimator_.best_iteration_


def test_metrics_are_functions(rows):
    X, y, ids = rows

    def top_label(block):
        return block.by_rank(lambda labels: labels)[:, 0]

    by_name, by_function, by_own = (
        stopping(make("LGBMRanker"), metric).fit(X, y, groups=ids)
        for metric in ("map", map_score, top_label)
    )
    assert by_name.n_iter_ == by_function.n_iter_
    log = log_of(by_own.estimator_)["top_label_rankscore"]
    assert by_own.n_iter_ == best_round(log, N_WITHOUT) + 1
    assert not hasattr(by_own.set_params(early_stopping=False).fit(X, y, groups=ids), "n_iter_")
