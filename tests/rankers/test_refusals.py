"""Calls of a QueryRanker that are refused, with the class of the error and what it tells."""

import re
from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from frames import pl
from native_fits import make
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.ensemble import BaggingRegressor, HistGradientBoostingRegressor
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectFromModel
from sklearn.linear_model import LassoCV, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from sklearn_rankscore import NoGroupsError, QueryKFold, QueryRanker, make_ranking, ndcg_score

X, Y, IDS = make_ranking(n_queries=30, n_features=3, n_informative=3, random_state=0)
N = len(Y)
FRAME = pd.DataFrame(X, columns=list("abc"))
LGBM, XGB = make("LGBMRanker", 5), make("XGBRanker", 5)
ONES, GROWING = np.ones(N), np.arange(1.0, N + 1)
CV, FITTED = QueryKFold(3), QueryRanker(Ridge()).fit(X, Y, groups=IDS)
SPLITS = list(CV.split(X, Y, IDS))
SIZES = np.bincount(IDS)
SOME = IDS < 5
WITH_NAN = np.where(np.arange(N) == 7, np.nan, 1.0)
RARE = np.minimum(Y, 2)
RARE[np.flatnonzero(IDS == 3)[:2]] = [2, 3]  # the highest label occurs in one query only
WORDS = np.array(list("abcde"))[Y]
VALID = {"eval_set": [(X[SOME], 0 * Y[SOME])], "eval_qid": [IDS[SOME]]}


def catboost(**params):
    return make("CatBoostRanker", 5, **params)


def fit(model=LGBM, X=X, y=Y, params=None, **of_fit):
    """A call of fit with ids, unless `groups` is None; `params` are those of QueryRanker."""
    of_fit, params = {"groups": IDS, **of_fit}, params or {}
    return lambda: QueryRanker(
        model() if callable(model) else model, **params
    ).fit(X, y, **of_fit)  # fmt: skip


def stop(metric="ndcg@5", model=LGBM, params=None, **of_fit):
    params = {"early_stopping": metric, "random_state": 0, **(params or {})}
    return fit(model, params=params, **of_fit)


def pool():
    return import_module("catboost").Pool(X, Y, group_id=IDS)


class AnyKeyword(BaseEstimator):
    def fit(self, X, y, **params):
        return self


NO_GROUPS = [
    *((fit(model, groups=None, params=params), f"No query ids reached {name}")
      for model, name, params in (
          (LGBM, "LGBMRanker.fit", {}), (XGB, "XGBRanker.fit", {}),
          (Ridge(), "Ridge.fit", {"max_queries": 3}),
          (make("LGBMRegressor"), "LGBMRegressor", {"early_stopping": "ndcg@5"}))),
    (lambda: FITTED.rank(X), r"QueryRanker.rank: call rank\(X, groups=ids\)"),
    *((fit(model), "have them in the index of X")
      for model in (BaggingRegressor(QueryRanker(LGBM)),
                    make_pipeline(SelectFromModel(QueryRanker(LGBM)), LGBM))),
]  # fmt: skip
OF_THE_RANKER = [
    (fit(groups=None, group=SIZES), "got group=.*groups=np.repeat"),
    (fit(XGB, group=SIZES), "got group="),
    (fit(AnyKeyword(), params={"group_param": "lists"}, lists=IDS), "got lists="),
    (fit(make_pipeline("passthrough", XGB), xgbranker__qid=IDS), "got xgbranker__qid="),
    (fit(make_pipeline("passthrough", LGBM), lgbmranker__sample_weight=Y), "weights as sample_w"),
]  # fmt: skip
BYTES = r"has the byte order of another machine, '>f[48]'.*astype\('float"
SWAPPED = X.astype(">f8"), FRAME.astype(">f4"), sparse.csr_matrix(X)
SWAPPED[-1].data = X.ravel()[X.ravel() != 0].astype(">f8")
ONE_ROW = r"1D array instead.*pass X\[\[i\]\] or df.iloc"
DATA = [
    (fit(AnyKeyword()), "set group_param to 'qid', 'group_id'"),
    # XGBoost would read other numbers
    *((fit(model, X=given), BYTES) for given in SWAPPED for model in (LGBM, XGB)),
    *((fit(XGB, y=y), BYTES) for y in (Y.astype(">f8"), pd.Series(Y.astype(">f4")))),
    (fit(eval_set=[(SWAPPED[0], Y)], eval_qid=[IDS]), BYTES),
    (lambda: fit()().predict(SWAPPED[0]), BYTES),
    *((lambda row=row, model=model: fit(model)().predict(row), ONE_ROW)
      for row in (X[0], X[0].tolist(), FRAME.iloc[0], []) for model in (LGBM, XGB)),
    (fit(X=X[:0], y=Y[:0], groups=IDS[:0]), "X has no rows; a fit needs"),
    (fit(y=None), "requires y to be passed, but the target y is None"),
    (fit(y=np.column_stack([Y, Y])), "1d"),
    (lambda: fit(LogisticRegression(), y=WORDS)().predict(X), "are text, .*as grades"),
    (
        fit(sample_weight=np.ones(30)),
        rf"got 30 for {N} documents.*np\.repeat\(weights, sizes\) if queries are contiguous",
    ),
    (fit(sample_weight=WITH_NAN), "sample_weight contains NaN.*7"),
    (fit(XGB, sample_weight=GROWING), "one weight per query"),
]  # fmt: skip
PARAMETERS = [
    (fit(params={"max_queries": 0}), "integer of at least 1"),
    *((fit(Ridge(), X=features, params={"drop_columns": dropped}), "drop_columns.*no.* a column")
      for features in (X, FRAME) for dropped in (True, [0, np.False_], [1.0], 3, "e")),
    (lambda: FITTED.rank(X, groups=IDS, ties="first"), "ties must be one of"),
    (lambda: FITTED.rank(X, 0, groups=IDS), "k must be at least 1"),
]  # fmt: skip
SETS = [
    (fit(eval_set=[(X, WITH_NAN)], eval_qid=[IDS]), "y contains NaN"),
    (fit(eval_set=(X, Y), eval_group=[[N - 1]]), "eval_group .*sum up to its rows"),
    (fit(**VALID, eval_sample_weight=ONES), "eval_sample_weight must be a list .* there are 1"),
    (fit(**VALID, eval_init_score=[ONES] * 2), "eval_init_score must be a list .*are 1"),
    *((fit(model, eval_set=given), "eval_set must be a list of pairs")
      for given in ([1, 2], "valid", [(1, 2, 3)], [("x", "y")])
      for model in (LGBM, XGB)),
    (fit(X=FRAME, eval_set=[(FRAME.assign(qid=IDS), Y)], eval_qid=[np.arange(N)]),
     "groups would divide 30 of the 30 queries"),
    (fit(eval_X=X), "eval_X and eval_y must have equal lengths; got 1 and 0"),
    *((fit(lambda model=model: make(model, 5), y=np.minimum(Y, 2), eval_qid=[IDS, IDS],
           eval_set=[(X, np.minimum(Y, 2)), (X, np.minimum(Y, 3))]),
       rf"evaluation set 1, .*the labels \[3\], but {model} knows .* \[0, 1, 2\]. Join")
      for model in ("LGBMClassifier", "XGBClassifier")),
]  # fmt: skip
UNDEFINED = "which is undefined for each of the {} queries to watch.*Choose another metric"
STOPPING = [
    *((stop(value), r"must be False, True \(.*'ndcg@10', or a metric function; got ")
      for value in (None, 1, 0, 0.5, ["ndcg@10"], {"metric": "ndcg"})),
    (stop("ndgc@10", None), "ndgc.*Did you mean 'ndcg"),
    (stop("dcg@3(propensity=seen)"), "early stopping take no propensity"),
    (stop(True, HistGradientBoostingRegressor()), "supports xgboost, catboost, lightgbm"),
    (stop(params={"n_iter_no_change": 0}), "n_iter_no_change"),
    *((stop(params={"validation_fraction": v}), f"validation_fraction={re.escape(repr(v))}: ")
      for v in (1.5, 1.0, 0.0, 0, -1, True, "0.1", 30)),
    (stop(groups=np.zeros(N)), "validation_fraction=0.1: .*n_queries=1"),
    (stop(y=np.ones(N, int)), "fraction=0.1: none of the 3 queries .* documents of different"),
    (stop(ndcg_score, sample_weight=GROWING), "(?s)varies within a query.*eval_set="),
    (stop(sample_weight=0.0 * ONES), "undefined for each of .* or all weights are 0"),
    (stop("ndcg", make("LGBMRegressor"), y=Y - 2), "negative"),
    *((stop(metric, lambda model=model: make(model, 5), **VALID), UNDEFINED.format(5))
      for metric in ("map(threshold=4)", "query_auc", "ndcg(replace_undefined_by=nan)")
      for model in ("LGBMRanker", "XGBRanker")),
    (stop("map(threshold=4)"), UNDEFINED.format(3)),
    (  # only queries that count define it
        stop("map", eval_set=[(X, Y * SOME)], eval_qid=[IDS], eval_sample_weight=[1.0 * ~SOME]),
        UNDEFINED.format(30),
    ),
    *((stop(metric, make("LGBMClassifier"), y=RARE, params={"validation_fraction": 29}),
       "but LGBMClassifier knows") for metric in (True, "ndcg")),
]  # fmt: skip
OF_CATBOOST = [
    (fit(catboost, groups=None), NoGroupsError, "No query ids reached CatBoostRanker.fit"),
    *((call, (TypeError, ValueError), message) for call, message in (
        (fit(catboost, group_id=IDS), "got group_id="),
        (lambda: fit(catboost)().predict(X[0]), ONE_ROW),
        (fit(catboost, sample_weight=GROWING), "one weight per query"),
        (fit(catboost, pairs=[[1, 0]]), "pairs number rows"),
        (fit(lambda: make_pipeline("passthrough", catboost()), catboostranker__pairs=[[1, 0]]),
         "pairs number"),
        (lambda: fit(catboost, eval_set=pool())(), "eval_set must be a list of pairs"),
        (fit(catboost, eval_set=[("x", "y")]), "eval_set must be a list of pairs"),
        (fit(lambda: make("CatBoostClassifier", 5), y=np.minimum(Y, 2), eval_qid=[IDS],
             eval_set=[(X, np.minimum(Y, 3))]),
         r"evaluation set 0, .*the labels \[3\], but CatBoostClassifier knows"),
        *((stop("query_auc", lambda model=model: make(model, 5), **VALID), UNDEFINED.format(5))
          for model in ("CatBoostRanker", "CatBoostRegressor")),
    )),
]  # fmt: skip
VALUES = [*DATA, *PARAMETERS, *SETS, *STOPPING]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        *((call, NoGroupsError, message) for call, message in NO_GROUPS),
        *((call, ValueError, message) for call, message in VALUES),
        *((call, TypeError, message) for call, message in OF_THE_RANKER),
        (fit(init_model=QueryRanker(LGBM)), NotFittedError, "not fitted"),
    ],
)
def test_the_call_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize(("call", "error", "message"), OF_CATBOOST)
def test_a_call_with_catboost_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize("model", ["LGBMRegressor", "XGBRegressor", "CatBoostRegressor"])
def test_an_evaluation_set_has_no_weights_of_rows_unless_they_are_given(model):
    call = stop(model=make(model, 5), sample_weight=GROWING, eval_set=[(X, Y)], eval_qid=[IDS])
    assert call().n_iter_ > 0


def test_what_is_close_to_the_refused_calls_is_taken():
    for metric in ("map@5(threshold=3)", "query_auc(threshold=3)"):
        assert stop(metric, params={"validation_fraction": 15})().n_iter_ > 0
    for fraction in (0.05, 0.9, 1, np.int64(1), np.float32(0.2)):
        assert stop(params={"validation_fraction": fraction, "random_state": 4})().n_iter_ > 0
    fit(make("LGBMRanker", 5, early_stopping_round=-1))()  # which does not stop
    assert fit(sample_weight=GROWING)().n_queries_ == 30  # LightGBM takes weights of rows
    # splits of the given rows, of a model that is fitted to them or to rows in their order
    search = GridSearchCV(Ridge(), {"alpha": [1.0]}, cv=SPLITS, scoring="r2")
    inner = fit(search)().estimator_
    assert inner.best_score_ == pytest.approx(search.fit(X, Y).best_score_, rel=1e-9)
    fit(make_pipeline(SelectFromModel(LassoCV(cv=SPLITS)), LGBM))()


LABELS = pd.Series(np.where(np.arange(N) % 3 == 1, np.nan, Y))
UNJUDGED = {
    "series": LABELS,
    "Int64": LABELS.astype("Int64"),
    "objects": LABELS.astype(object).where(LABELS >= 0, None),
    "array": LABELS.to_numpy(),
    "polars": pl.Series(LABELS.to_numpy()).fill_nan(None),
}


@pytest.mark.parametrize("form", UNJUDGED)
def test_unjudged_documents_are_refused_with_the_way_to_select_the_others(form):
    y = UNJUDGED[form]
    with pytest.raises(ValueError, match=r"y contains NaN \(first at row 1\)") as error:
        fit(Ridge(), y=y)()
    assert "nan_to_num" in str(error.value)
    advice = str(error.value).partition("judged = ")[2].partition(", or")[0]
    judged = eval(advice, {"numpy": np, "y": y})
    assert judged.tolist() == (LABELS >= 0).tolist()
    kept = y.filter(judged) if form == "polars" else y[judged]
    model = QueryRanker(Ridge()).fit(X[judged], kept, groups=IDS[judged])
    expected = Ridge().fit(X[judged], LABELS[judged])
    np.testing.assert_allclose(model.predict(X), expected.predict(X))
