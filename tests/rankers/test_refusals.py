"""Calls of a QueryRanker that are refused, with the class of the error and what it tells."""

import re

import lightgbm
import numpy as np
import pandas as pd
import polars as pl
import pytest
import xgboost
from native_fits import make
from requires import requires
from sklearn.base import BaseEstimator
from sklearn.ensemble import BaggingRegressor, HistGradientBoostingRegressor
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectFromModel
from sklearn.linear_model import LassoCV, LogisticRegression, Ridge, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from sklearn_rankscore import (
    NoGroupsError,
    QueryKFold,
    QueryRanker,
    cross_val_query_scores,
    make_ranking,
    ndcg_score,
)

X, Y, IDS = make_ranking(n_queries=30, n_features=3, n_informative=3, random_state=0)
N = len(Y)
FRAME = pd.DataFrame(X, columns=list("abc"))
LGBM, XGB = make("LGBMRanker", 5), make("XGBRanker", 5)
ONES, GROWING = np.ones(N), np.arange(1.0, N + 1)
CV = QueryKFold(3)
SPLITS = list(CV.split(X, Y, IDS))
SIZES = np.bincount(IDS)
SOME = IDS < 5
WITH_NAN = np.where(np.arange(N) == 7, np.nan, 1.0)


RARE = np.minimum(Y, 2)
RARE[np.flatnonzero(IDS == 3)[:2]] = [2, 3]  # the highest label occurs in one query only


def catboost(**params):
    return make("CatBoostRanker", 5, **params)


def fit(model=LGBM, X=X, y=Y, params=None, **of_fit):
    """A call of fit with ids, unless `groups` is None; parameters of QueryRanker in `params`."""
    of_fit = {"groups": IDS, **of_fit}
    return lambda: QueryRanker(
        model() if callable(model) else model, **(params or {})
    ).fit(X, y, **of_fit)  # fmt: skip


def stop(metric="ndcg@5", model=LGBM, params=None, **of_fit):
    return fit(
        model, params={"early_stopping": metric, "random_state": 0, **(params or {})}, **of_fit
    )


def fitted(model=None):
    return QueryRanker(model or Ridge()).fit(X, Y, groups=IDS)


class AnyKeyword(BaseEstimator):
    def fit(self, X, y, **params):
        return self


VALID = {"eval_set": [(X[SOME], 0 * Y[SOME])], "eval_qid": [IDS[SOME]]}
UNDEFINED = "which is undefined for each of the {} queries to watch.*Choose another metric"
ARRAYS = "have them in the index of X"

REFUSED = {
    # where query ids are
    "no ids": (fit(groups=None), NoGroupsError, "No query ids reached LGBMRanker.fit"),
    "no ids, CatBoost": (fit(catboost, groups=None), NoGroupsError, "No query ids reached"),
    "no ids for a choice of queries": (
        fit(Ridge(), params={"max_queries": 3}, groups=None), NoGroupsError, "No query ids",
    ),
    "no ids to stop early": (
        stop(model=make("LGBMRegressor"), groups=None), NoGroupsError, "No query ids",
    ),
    "no ids in score": (lambda: fitted().score(X, Y), NoGroupsError, "No query ids"),
    "no ids in rank": (
        lambda: fitted().rank(X), NoGroupsError, r"QueryRanker.rank: call rank\(X, groups=ids\)",
    ),
    **{
        f"groups={place!r}": (
            fit(Ridge(), params={"groups": place}), TypeError,
            "groups must be the name of a column or index level",
        )
        for place in (2, len, [0, 1], True, [])
    },
    "an unknown signature": (fit(AnyKeyword()), ValueError, "set group_param to 'qid', 'group_id'"),
    "sizes that are too small": (
        fit(groups=None, group=[3, 4]), ValueError, "sum up .*groups=np.repeat",
    ),
    "sizes that are fractions": (
        fit(groups=None, group=[N / 2, N / 2]), ValueError, "must be integers that sum",
    ),
    "sizes of two dimensions": (
        fit(groups=None, group=[[N]]), ValueError, "must be integers that sum",
    ),
    "ids twice": (fit(group=SIZES), ValueError, "query ids are given twice, as group= and"),
    "ids twice, XGBoost": (fit(XGB, group=SIZES), ValueError, "given twice, as group= and"),
    "ids twice, CatBoost": (fit(catboost, group_id=IDS), ValueError, "twice, as group_id= and"),
    # data
    "data of a booster": (
        lambda: fit(X=requires("catboost").Pool(X))(), TypeError, "Pool",
    ),
    "no rows": (fit(X=X[:0], y=Y[:0], groups=IDS[:0]), ValueError, "X has no rows; a fit needs"),
    "no rows, pointwise": (
        fit(Ridge(), X=X[:0], y=Y[:0], groups=IDS[:0]), ValueError, "X has no rows; a fit needs",
    ),
    "no labels": (fit(y=None), ValueError, "requires y to be passed, but the target y is None"),
    "two columns of labels": (fit(y=np.column_stack([Y, Y])), ValueError, "1d"),
    "labels of words": (
        lambda: fit(LogisticRegression(), y=np.array(list("abcde"))[Y])().predict(X), ValueError,
        "got strings .*Encode them as grades",
    ),
    "labels of words without probabilities": (
        lambda: fit(RidgeClassifier(), y=np.array(list("abcde"))[Y])().predict(X), ValueError,
        "got strings .*Encode them as grades",
    ),
    "an unjudged document of a set": (
        fit(eval_set=[(X, WITH_NAN)], eval_qid=[IDS]), ValueError, "y contains NaN",
    ),
    # weights
    "weights of queries": (
        fit(sample_weight=np.ones(30)), ValueError,
        rf"got 30 for {N} documents.*np\.repeat\(weights, sizes\)",
    ),
    "weights of too many rows": (
        fit(sample_weight=np.ones(N + 1)), ValueError, f"got {N + 1} for {N} documents",
    ),
    "two columns of weights": (fit(sample_weight=np.ones((N, 2))), ValueError, "1d array"),
    "a missing weight": (fit(sample_weight=WITH_NAN), ValueError, "sample_weight contains NaN.*7"),
    "weights of rows, XGBoost": (
        fit(XGB, sample_weight=GROWING), ValueError, "one weight per query",
    ),
    "weights of rows, CatBoost": (
        fit(catboost, sample_weight=GROWING), ValueError, "one weight per query",
    ),
    # parameters
    "max_queries": (fit(params={"max_queries": 0}), ValueError, "integer of at least 1"),
    **{
        f"drop_columns={dropped!r}": (
            fit(Ridge(), X=features, params={"drop_columns": dropped}), ValueError,
            f"drop_columns={re.escape(repr(last))} is not a column of X",
        )
        for features in (X, FRAME)
        for dropped, last in ((True, True), ([0, np.False_], 0 if features is FRAME else np.False_),
                              ([1.0], 1.0), (3, 3), ("e", "e"))
    },
    "ties": (
        lambda: fitted().rank(X, groups=IDS, ties="first"), ValueError, "ties must be one of",
    ),
    "k": (lambda: fitted().rank(X, 0, groups=IDS), ValueError, "k must be at least 1"),
    "a parameter without its prefix": (
        lambda: QueryRanker(Ridge()).set_params(alpha=2), ValueError, "use 'estimator__alpha'",
    ),
    "an unknown parameter": (
        lambda: QueryRanker(Ridge()).set_params(beta=2), ValueError, "Invalid parameter 'beta'",
    ),
    "an unknown parameter of fit": (fit(eval_att=[1]), TypeError, "eval_att"),
    "a tuple of CatBoost": (
        lambda: GridSearchCV(QueryRanker(catboost(cat_features=[0])), {}).fit(X, Y, groups=IDS),
        RuntimeError, r"write a tuple, as cat_features=\('color', 'brand'\)",
    ),
    "a model without a fit": (
        fit(init_model=QueryRanker(LGBM)), NotFittedError, "not fitted",
    ),
    "an unfitted ranker": (lambda: QueryRanker(LGBM).predict(X), NotFittedError, "not fitted"),
    # evaluation sets
    "a set without ids": (
        fit(eval_set=[(X, Y)]), NoGroupsError, r"an evaluation set of .*eval_qid=\[ids\]",
    ),
    "sizes of a set": (
        fit(eval_set=(X, Y), eval_group=[[N - 1]]), ValueError,
        rf"eval_group holds .*integers that sum up to the {N} rows",
    ),
    **{
        f"weights of sets: {type(given).__name__}": (
            fit(**VALID, eval_sample_weight=given), ValueError,
            "eval_sample_weight must be a list with one entry per .* of which there are 1",
        )
        for given in (ONES, [ONES] * 2)
    },
    "a Pool as a set": (
        lambda: fit(catboost, eval_set=requires("catboost").Pool(X, Y, group_id=IDS))(),
        ValueError, "must be a list of pairs",
    ),
    **{
        f"eval_set={given}": (
            fit(model, eval_set=given), ValueError, "eval_set must be a list of pairs",
        )
        for given in ([1, 2], "valid", [(1, 2, 3)], [("x", "y")])
        for model in (LGBM, XGB, catboost)
    },
    "a set without labels": (
        fit(eval_X=X), ValueError, "eval_X and eval_y must have equal lengths; got 1 and 0",
    ),
    # early stopping
    **{
        f"early_stopping={value}": (
            stop(value), ValueError,
            r"must be False, True \(.*'ndcg@10', or a metric function; got "
            + re.escape(repr(value)),
        )
        for value in (None, 1, 0, 0.5, ["ndcg@10"], {"metric": "ndcg"})
    },
    "a typo": (stop("ndgc@10", None), ValueError, "ndgc.*Did you mean 'ndcg"),
    "propensity": (
        stop("dcg@3(propensity=seen)"), ValueError, "early stopping take no propensity",
    ),
    "a forest": (
        stop(True, HistGradientBoostingRegressor()), ValueError, "supports xgboost, catboost, li",
    ),
    "no rounds": (stop(params={"n_iter_no_change": 0}), ValueError, "n_iter_no_change"),
    "refit_all": (stop(params={"refit_all": 1}), TypeError, "refit_all"),
    **{
        f"validation_fraction={value!r}": (
            stop(params={"validation_fraction": value}), ValueError,
            f"validation_fraction={re.escape(repr(value))}: ",
        )
        for value in (1.5, 1.0, 0.0, 0, -1, True, "0.1", 30)
    },
    "one query": (
        stop(groups=np.zeros(N), params={"validation_fraction": 0.1}), ValueError,
        "validation_fraction=0.1: .*n_queries=1",
    ),
    "equal labels": (
        stop(y=np.ones(N, int)), ValueError, "holds out 3 of the 30 queries, and in each of these",
    ),
    "weights of rows to watch": (
        stop(ndcg_score, sample_weight=GROWING), ValueError, "(?s)varies within a query.*eval_set=",
    ),
    "queries without weight": (
        stop(sample_weight=0.0 * ONES), ValueError, "undefined for each of .* or all weights are 0",
    ),
    "negative labels": (
        stop("ndcg", make("LGBMRegressor"), y=Y - 2), ValueError, "negative",
    ),
    **{
        f"{metric} of {model}": (
            stop(metric, lambda model=model: make(model, 5), **VALID), ValueError,
            UNDEFINED.format(5),
        )
        for metric in ("map@5(threshold=4)", "query_auc(threshold=4)",
                       "ndcg(replace_undefined_by=nan)")
        for model in ("LGBMRanker", "XGBRanker", "CatBoostRanker", "CatBoostRegressor")
    },
    "undefined for held-out queries": (
        stop("map(threshold=4)", y=np.minimum(Y, 3), params={"validation_fraction": 5}), ValueError,
        UNDEFINED.format(5),
    ),
    # only queries that count define it
    "defined for queries without weight": (
        stop(eval_set=[(X, Y * SOME)], eval_qid=[IDS], eval_sample_weight=[1.0 * ~SOME],
             metric="map"), ValueError, UNDEFINED.format(30),
    ),
    **{
        f"a class that training lacks, {model}": (
            fit(lambda model=model: make(model, 5), y=np.minimum(Y, 2), eval_qid=[IDS, IDS],
                eval_set=[(X, np.minimum(Y, 2)), (X, np.minimum(Y, 3))]), ValueError,
            rf"evaluation set 1, .*the labels \[3\], but {model} knows .* \[0, 1, 2\]. Join",
        )
        for model in ("LGBMClassifier", "XGBClassifier", "CatBoostClassifier")
    },
    **{
        f"a class that is held out, {metric}": (
            stop(metric, make("LGBMClassifier", 5), y=RARE,
                 params={"validation_fraction": 29}), ValueError, r"but LGBMClassifier knows",
        )
        for metric in (True, "ndcg")
    },
    # models inside of it
    "bagging of arrays": (fit(BaggingRegressor(QueryRanker(LGBM))), NoGroupsError, ARRAYS),
    "a selection of arrays": (
        fit(make_pipeline(SelectFromModel(QueryRanker(LGBM)), LGBM)), NoGroupsError, ARRAYS,
    ),
    "LassoCV of arrays": (fit(LassoCV(cv=CV)), NoGroupsError, ARRAYS),
    "pairs of other rows": (
        lambda: fit(catboost(loss_function="PairLogit"), X=X[::-1], y=Y[::-1],
                    groups=np.where(np.arange(N) == 0, IDS[0], IDS[::-1]), pairs=[[1, 0]])(),
        ValueError, "pairs number the rows that fit is given",
    ),
    **{
        f"stops twice, {name}": (
            stop(model=lambda model=model, params=params: make(model, 5, **params), **of_fit),
            ValueError, f"both QueryRanker and {model}, by {name}, are to stop early",
        )
        for name, model, params, of_fit in (
            ("early_stopping_round", "LGBMRanker", {"early_stopping_round": 1}, {}),
            ("n_iter_no_change", "LGBMRanker", {"n_iter_no_change": 1}, {}),
            ("early_stopping_rounds", "XGBRanker", {"early_stopping_rounds": 1}, {}),
            ("callbacks", "LGBMRanker", {}, {"callbacks": [lightgbm.early_stopping(1)]}),
            ("callbacks", "XGBRanker",
             {"callbacks": [xgboost.callback.EarlyStopping(rounds=1)]}, {}),
        )
    },
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.filterwarnings("ignore:The least populated class:UserWarning")
def test_the_call_is_refused(case):
    call, error, message = REFUSED[case]
    with pytest.raises(error, match=message):
        call()


def test_what_is_close_to_the_refused_calls_is_taken():
    for metric in ("map@5(threshold=3)", "query_auc(threshold=3)"):
        assert stop(metric, params={"validation_fraction": 15})().n_iter_ > 0
    for model in ("LGBMRegressor", "XGBRegressor", "CatBoostRegressor"):
        # an evaluation set has no weights of rows unless they are given
        call = stop(model=make(model, 5), sample_weight=GROWING, eval_set=[(X, Y)], eval_qid=[IDS])
        assert call().n_iter_ > 0
    for fraction in (0.05, 0.9, 1, np.int64(1), np.float32(0.2)):
        assert stop(params={"validation_fraction": fraction, "random_state": 4})().n_iter_ > 0
    assert fit(sample_weight=GROWING)().n_queries_ == 30  # LightGBM takes weights of rows
    # splits of the given rows, of a model that is fitted to them or to rows in their order
    search = GridSearchCV(Ridge(), {"alpha": [1.0]}, cv=SPLITS, scoring="r2")
    inner = fit(search)().estimator_
    assert inner.best_score_ == pytest.approx(search.fit(X, Y).best_score_, rel=1e-9)
    fit(make_pipeline(SelectFromModel(LassoCV(cv=SPLITS)), LGBM))()


@pytest.mark.parametrize("form", ["series", "Int64", "objects", "array", "polars"])
def test_unjudged_documents_are_refused_with_the_way_to_select_the_others(form):
    labels = np.where(np.arange(N) % 3 == 1, np.nan, Y)
    y = {
        "series": lambda: pd.Series(labels),
        "Int64": lambda: pd.Series(labels).astype("Int64"),
        "objects": lambda: pd.Series(labels).astype(object).where(labels >= 0, None),
        "array": lambda: labels,
        "polars": lambda: pl.Series(labels).fill_nan(None),
    }[form]()
    with pytest.raises(ValueError, match=r"y contains NaN \(first at row 1\)") as error:
        fit(Ridge(), y=y)()
    assert "nan_to_num" in str(error.value)
    advice = str(error.value).partition("judged = ")[2].partition(", or")[0]
    judged = eval(advice, {"numpy": np, "y": y})
    assert judged.tolist() == (labels >= 0).tolist()
    kept = y.filter(judged) if form == "polars" else y[judged]
    model = QueryRanker(Ridge()).fit(X[judged], kept, groups=IDS[judged])
    expected = Ridge().fit(X[judged], labels[judged])
    np.testing.assert_allclose(model.predict(X), expected.predict(X))


def test_pairs_of_catboost_are_refused_where_folds_number_other_rows():
    model = catboost(loss_function="PairLogit")
    subclass = type("Own", (type(model),), {"__module__": "own"})
    for estimator in (model, make_pipeline("passthrough", model), subclass(**model.get_params())):
        ranker = QueryRanker(estimator)
        step = "catboostranker__" if hasattr(estimator, "steps") else ""
        params = {f"{step}pairs": np.array([[1, 0]])}
        ranker.fit(X, Y, groups=IDS, **params)
        message = r"(?s)pairs number the rows of the whole data.*fit each fold yourself"
        with pytest.raises(ValueError, match=message):
            cross_val_query_scores(ranker, X, Y, metrics="mrr", groups=IDS, params=params)
        with pytest.raises(ValueError, match=message):
            GridSearchCV(ranker, {}, scoring="ndcg", cv=CV).fit(X, Y, groups=IDS, **params)
        none = dict.fromkeys(params)
        cross_val_query_scores(ranker, X, Y, metrics="mrr", groups=IDS, params=none)
