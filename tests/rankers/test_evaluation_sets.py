"""Evaluation sets given to `fit` are treated like the training rows."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from gathered_rows import gather
from lightgbm import LGBMClassifier, LGBMRanker, early_stopping
from requires import requires
from sklearn import config_context
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from small_rankers import LGBM, XGB, make_ranker
from training_rounds import sizes_of
from xgboost import XGBClassifier, XGBRanker

from sklearn_rankscore import (
    NoGroupsError,
    QueryKFold,
    QueryRanker,
    QueryShuffleSplit,
    evaluate,
    make_ranking,
)


@pytest.fixture(scope="module")
def valid(lambdarank_test):
    """An evaluation set whose rows are shuffled."""
    X, y, qid = lambdarank_test
    order = np.random.default_rng(2).permutation(len(y))
    return X[order, :60], y[order], qid[order]


def history(fitted):
    """The values of all metrics on the last evaluation set."""
    results = getattr(fitted, "evals_result_", None)
    if results is None:
        results = (
            fitted.evals_result() if isinstance(fitted, XGBRanker) else fitted.get_evals_result()
        )
    return next(reversed(results.values()))


def fit_natively(library, train, valid, weight=None, start=None):
    """The ranker on gathered rows, with its own arguments."""
    q, X, y = gather(train[2], *train[:2])
    q_test, X_test, y_test, weight, start = gather(valid[2], *valid[:2], weight, start)
    first = np.unique(q_test, return_index=True)[1]
    if library == "lightgbm":
        return LGBMRanker(**LGBM.get_params()).fit(
            X, y, group=sizes_of(q), eval_X=(X_test,), eval_y=(y_test,),
            eval_group=[sizes_of(q_test)], eval_at=[10],
            eval_sample_weight=None if weight is None else [weight],
            eval_init_score=None if start is None else [start],
        )  # fmt: skip
    if library == "xgboost":
        return XGBRanker(**XGB.get_params()).fit(
            X, y, qid=q, eval_set=[(X_test, y_test)], eval_qid=[q_test], verbose=False,
            sample_weight_eval_set=None if weight is None else [weight[first]],
            base_margin_eval_set=None if start is None else [start],
        )  # fmt: skip
    pool = requires("catboost").Pool(
        X_test, y_test, group_id=q_test, group_weight=weight, baseline=start
    )
    zeros = None if start is None else np.zeros(len(y))  # CatBoost wants both or none
    return make_ranker("catboost").fit(X, y, group_id=q, eval_set=pool, baseline=zeros)


def ours(library, **params):
    return QueryRanker(make_ranker(library), **params), (
        {"eval_at": [10]} if library == "lightgbm" else {}
    )


def in_column(X, qid, library=pd):
    frame = library.DataFrame(X, **{"schema" if library is pl else "columns": names(X)})
    ids = library.Series("qid", qid) if library is pl else qid
    return frame.with_columns(qid=ids) if library is pl else frame.assign(qid=ids)


def names(X):
    return [f"x{i}" for i in range(X.shape[1])]


WAYS = {
    "column": lambda X, y, q: ((in_column(X, q), y), {}),
    "polars": lambda X, y, q: ((in_column(X, q, pl), pl.Series(y)), {}),
    "index of X": lambda X, y, q: ((in_column(X, q).set_index("qid"), y), {}),
    "index of y": lambda X, y, q: ((X, pd.Series(y, index=pd.Index(q, name="qid"))), {}),
    "eval_qid": lambda X, y, q: ((X, y), {"eval_qid": [q]}),
}


@pytest.mark.parametrize("way", WAYS)
def test_ids_of_evaluation_sets_are_found_like_those_of_x(way, library, data, valid):
    (X, y), params = WAYS[way](*data)
    pair, of_valid = WAYS[way](*valid)
    ranker, metric = ours(library)
    given = {"groups": data[2]} if params else {}
    ranker.fit(X, y, eval_set=[pair], **given, **metric, **of_valid)
    expected = history(fit_natively(library, data, valid))
    values = history(ranker.estimator_)
    assert list(values) == list(expected)
    for name in expected:
        np.testing.assert_allclose(values[name], expected[name], rtol=1e-9)


def test_sizes_of_queries_name_contiguous_rows(library, data, lambdarank_test):
    X, y, qid = data
    X_test, y_test, q_test = lambdarank_test
    ranker, metric = ours(library)
    pair = X_test[:, :60], y_test
    ranker.fit(X, y, groups=qid, eval_set=pair, eval_group=[sizes_of(q_test)], **metric)
    by_id = ours(library)[0].fit(X, y, groups=qid, eval_set=[pair], eval_qid=[q_test], **metric)
    assert history(ranker.estimator_) == history(by_id.estimator_)
    with pytest.raises(ValueError, match="must be integers that sum up to the 768 rows"):
        ranker.fit(X, y, groups=qid, eval_set=pair, eval_group=[[700]])


@pytest.mark.parametrize("name", ["eval_sample_weight", "sample_weight_eval_set"])
def test_weights_are_one_per_row(name, library, data, valid):
    X, y, qid = data
    weight = 1.0 + valid[2] % 4
    ranker, metric = ours(library)
    ranker.fit(
        X, y, groups=qid, eval_set=[valid[:2]], eval_qid=[valid[2]], **{name: [weight]}, **metric
    )
    expected = history(fit_natively(library, data, valid, weight=weight))
    assert history(ranker.estimator_) == expected
    assert expected != history(fit_natively(library, data, valid))
    for given, shown in ((weight, "a ndarray"), ([weight] * 2, "a list of 2 entries")):
        message = f"{name} must be a list with one entry per evaluation set; got {shown} for 1 set"
        with pytest.raises(ValueError, match=message):
            ranker.fit(X, y, groups=qid, eval_set=[valid[:2]], **{name: given})


@pytest.mark.parametrize("name", ["eval_init_score", "base_margin_eval_set"])
def test_scores_to_start_from_are_gathered_too(name, library, data, valid):
    X, y, qid = data
    start = np.linspace(-2, 2, len(valid[1]))
    ranker, metric = ours(library)
    if library == "catboost":
        metric = {"baseline": np.zeros(len(y))}
    ranker.fit(
        X, y, groups=qid, eval_set=[valid[:2]], eval_qid=[valid[2]], **{name: [start]}, **metric
    )
    expected = history(fit_natively(library, data, valid, start=start))
    assert history(ranker.estimator_) == expected
    assert expected != history(fit_natively(library, data, valid))


@pytest.mark.parametrize("metric", [True, "map@10"])
def test_early_stopping_watches_the_given_set(metric, library, data, valid):
    X, y, qid = data
    options = {"early_stopping": metric, "n_iter_no_change": 3}
    ranker, _ = ours(library, **options)
    ids = {"groups": qid, "eval_qid": [qid, valid[2]]}
    ranker.fit(X, y, eval_set=[(X, y), valid[:2]], **ids)
    assert ranker.n_queries_ == 100
    assert 1 <= ranker.n_iter_ < 30
    if metric != "map@10":
        return
    # all queries are trained on, and the best round is that of the last set
    values = list(history(ranker.estimator_).values())[-1]
    assert ranker.n_iter_ == 1 + int(np.argmax(values))
    score = evaluate(valid[1], ranker.predict(valid[0]), metric, groups=valid[2])[metric]
    assert max(values) == pytest.approx(score, abs=1e-6)
    same = QueryRanker(make_ranker(library), **options, refit_all=True)
    same.fit(X, y, eval_set=[(X, y), valid[:2]], **ids)
    np.testing.assert_array_equal(same.predict(X), ranker.predict(X))
    assert history(same.estimator_) == history(ranker.estimator_)  # nothing is left to refit on


def test_own_early_stopping_of_the_library(library, data, valid):
    X, y, qid = data
    catboost = {"od_type": "Iter", "od_wait": 3}
    model, params = {
        "lightgbm": lambda: (LGBM, {"callbacks": [early_stopping(3, verbose=False)]}),
        "xgboost": lambda: (XGBRanker(**{**XGB.get_params(), "early_stopping_rounds": 3}), {}),
        "catboost": lambda: (make_ranker(library).set_params(**catboost), {}),
    }[library]()
    ranker = QueryRanker(model)
    ranker.fit(X, y, groups=qid, eval_set=[valid[:2]], eval_qid=[valid[2]], **params)
    fitted = ranker.estimator_
    assert len(next(iter(history(fitted).values()))) < 30
    assert not hasattr(ranker, "n_iter_")


def test_a_pipeline_transforms_evaluation_sets(library, data, valid):
    X, y, qid = data
    _, metric = ours(library)
    model = make_ranker(library)
    step = type(model).__name__.lower()
    ranker = QueryRanker(make_pipeline(StandardScaler(), model))
    params = {"eval_set": [valid[:2]], "eval_qid": [valid[2]], **metric}
    ranker.fit(X, y, groups=qid, **{f"{step}__{name}": v for name, v in params.items()})
    q, X_gathered, y_gathered = gather(qid, X, y)
    scale = StandardScaler().fit(X_gathered)
    alone = QueryRanker(model).fit(
        scale.transform(X_gathered),
        y_gathered,
        groups=q,
        **{**params, "eval_set": [(scale.transform(valid[0]), valid[1])]},
    )
    assert history(ranker.estimator_[-1]) == history(alone.estimator_)


@pytest.mark.parametrize("routing", [False, True])
def test_a_search_passes_the_same_set_to_each_fold(routing, library, data, valid):
    X, y, qid = data
    ranker, metric = ours(library, early_stopping="ndcg@10", n_iter_no_change=3)
    frame, pair = in_column(X, qid), (in_column(valid[0], valid[2]), valid[1])
    with config_context(enable_metadata_routing=routing):
        search = GridSearchCV(
            ranker, {"refit_all": [False]}, cv=QueryKFold(2), scoring="ndcg@10",
            error_score="raise",
        ).fit(frame, y, eval_set=[pair], **metric)  # fmt: skip
    expected, _ = ours(library, early_stopping="ndcg@10", n_iter_no_change=3)
    expected.fit(frame, y, eval_set=[pair], **metric)
    np.testing.assert_array_equal(search.predict(frame), expected.predict(frame))


@pytest.mark.parametrize("weights", ["eval_sample_weight", "sample_weight_eval_set"])
def test_ids_and_weights_of_sets_need_no_request(weights, library, data, valid):
    """Whether the booster has a parameter of this name, as QueryRanker takes them for each."""
    X, y, qid = data
    X_valid, y_valid, ids = valid
    weight = 1.0 + ids % 3
    ranker, metric = ours(library)
    given = {"eval_X": [X_valid], "eval_y": [y_valid], "eval_qid": [ids], weights: [weight]}
    search = GridSearchCV(ranker, {}, cv=QueryKFold(2), scoring="ndcg@10", error_score="raise")
    with config_context(enable_metadata_routing=True):
        search.fit(X, y, groups=qid, **given, **metric)
    best = search.best_estimator_.estimator_
    assert history(best) == history(fit_natively(library, data, valid, weight))


def test_a_pool_of_catboost_is_passed_on(data, valid):
    X, y, qid = data
    catboost = requires("catboost")
    q, X_test, y_test = gather(valid[2], *valid[:2])
    pool = catboost.Pool(X_test, y_test, group_id=q)
    ranker = QueryRanker(make_ranker("catboost")).fit(X, y, groups=qid, eval_set=pool)
    assert history(ranker.estimator_) == history(fit_natively("catboost", data, valid))
    with pytest.raises(ValueError, match="needs eval_set as pairs"):
        QueryRanker(make_ranker("catboost"), early_stopping=True).fit(
            X, y, groups=qid, eval_set=[pool]
        )


def test_positional_pairs_of_lightgbm(data, valid):
    X, y, qid = data
    ranker = QueryRanker(LGBM)
    for X_test, y_test in (valid[:2], ((valid[0],), [valid[1]])):
        ranker.fit(
            X, y, groups=qid, eval_X=X_test, eval_y=y_test, eval_qid=[valid[2]], eval_at=[10]
        )
        assert history(ranker.estimator_) == history(fit_natively("lightgbm", data, valid))
    with pytest.raises(ValueError, match="eval_X and eval_y must have equal lengths; got 1 and 0"):
        ranker.fit(X, y, groups=qid, eval_X=valid[0])


@pytest.mark.parametrize("given", [[1, 2], "valid", [(1, 2, 3)], [("x", "y")]])
def test_other_forms_are_refused(given, library, data):
    X, y, qid = data
    with pytest.raises(ValueError, match="eval_set must be a list of pairs"):
        QueryRanker(make_ranker(library)).fit(X, y, groups=qid, eval_set=given)


def test_missing_ids_are_an_error(library, data, valid):
    X, y, qid = data
    with pytest.raises(NoGroupsError, match=r"evaluation set 0 of .*eval_qid=\[ids\]"):
        QueryRanker(make_ranker(library)).fit(X, y, groups=qid, eval_set=[valid[:2]])


def test_other_estimators_get_the_parameter_as_it_is(data, valid):
    X, y, qid = data

    class Own(Ridge):
        def fit(self, X, y, eval_set=None):
            self.eval_set_ = eval_set
            return super().fit(X, y)

    sets = [valid[:2]]
    assert QueryRanker(Own()).fit(X, y, groups=qid, eval_set=sets).estimator_.eval_set_ is sets


def test_a_pipeline_takes_them_without_the_name_of_its_last_step(library, data, valid):
    """They are transformed by its steps, as the training rows are."""
    (X, y, q), (X_valid, y_valid, q_valid) = data, valid
    ranker, metric = ours(library)
    model = QueryRanker(make_pipeline(StandardScaler(), ranker.estimator))
    step = f"{type(ranker.estimator).__name__.lower()}__"
    of_step = {step + name: value for name, value in metric.items()}
    sets = {"eval_set": [(X_valid, y_valid)], "eval_qid": [q_valid]}
    model.fit(X, y, groups=q, **sets, **of_step)
    without = history(model.estimator_[-1])
    model.fit(X, y, groups=q, **{step + name: value for name, value in sets.items()}, **of_step)
    assert without == history(model.estimator_[-1])
    scaler = StandardScaler().fit(X)
    ranker.fit(
        scaler.transform(X), y, groups=q, eval_set=[(scaler.transform(X_valid), y_valid)],
        eval_qid=[q_valid], **metric,
    )  # fmt: skip
    assert without == history(ranker.estimator_)


@pytest.mark.parametrize("classifier", ["LGBMClassifier", "XGBClassifier", "CatBoostClassifier"])
def test_labels_without_a_class_are_refused(classifier, rare):
    """LightGBM would be given the number of another class, or of none."""
    X, y, groups = rare
    make = {
        "LGBMClassifier": lambda: LGBMClassifier(n_estimators=5, n_jobs=1, verbose=-1),
        "XGBClassifier": lambda: XGBClassifier(n_estimators=5, n_jobs=1),
        "CatBoostClassifier": lambda: requires("catboost").CatBoostClassifier(
            iterations=5, verbose=0, thread_count=1, allow_writing_files=False
        ),
    }
    model = make[classifier]()
    is_valid = groups == 0
    train, valid = ((X[rows], y[rows], groups[rows]) for rows in (~is_valid, is_valid))
    message = rf"the labels \[3\], but {classifier} knows .* \[0, 1, 2\]. Choose:\n- rare grades"
    sets = {"eval_set": [train[:2], valid[:2]], "eval_qid": [train[2], valid[2]]}
    with pytest.raises(ValueError, match=f"evaluation set 1, .*{message}"):
        QueryRanker(model).fit(*train[:2], groups=train[2], **sets)
    seeds = [seed for seed in range(100) if is_held_out(0, rare, seed)]
    for metric in (True, "ndcg@5"):
        stopping = QueryRanker(model, early_stopping=metric, random_state=seeds[0])
        with pytest.raises(ValueError, match=message):
            stopping.fit(X, y, groups=groups)
        joined = stopping.fit(X, np.minimum(y, 2), groups=groups)
        assert joined.classes_.tolist() == [0, 1, 2]


@pytest.fixture(scope="module")
def rare():
    """The highest label occurs in one query only."""
    X, y, groups = make_ranking(n_queries=20, n_features=3, random_state=0)
    y = np.minimum(y, 2)
    y[np.flatnonzero(groups == 0)[:2]] = [2, 3]
    return X, y, groups


def is_held_out(query, data, seed):
    ((_, held_out),) = QueryShuffleSplit(1, test_size=2, random_state=seed).split(*data)
    return query in data[2][held_out]
