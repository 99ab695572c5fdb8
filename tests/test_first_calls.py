"""What people write first, with the habits of scikit-learn's tutorials and of boosters' examples.

Each call returns the number of a loop written by hand, with the booster's own parameters for
queries and scikit-learn's NDCG, or is refused with an error that names the fix. None returns nan,
and none a number of divided queries.
"""

import re
from functools import cache
from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMRanker
from native_fits import fit, hold_out, make, predict_rounds
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import (
    BaggingRegressor,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
    StackingRegressor,
    VotingRegressor,
)
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_selection import RFECV, SelectKBest, SequentialFeatureSelector
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LassoCV, LinearRegression, Ridge, RidgeCV
from sklearn.metrics import get_scorer, make_scorer
from sklearn.metrics import ndcg_score as sklearn_ndcg
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    GroupShuffleSplit,
    HalvingRandomSearchCV,
    RandomizedSearchCV,
    cross_val_predict,
    cross_val_score,
    cross_validate,
    learning_curve,
    permutation_test_score,
    validation_curve,
)
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from training_rounds import best_round, sizes_of
from xgboost import XGBRanker

from sklearn_rankscore import (
    PartialQueryWarning,
    QueryKFold,
    QueryRanker,
    QueryShuffleSplit,
    evaluate,
    make_ranking,
    ndcg_score,
    query_train_test_split,
)

X, Y, IDS = make_ranking(24, n_features=5, random_state=0)
INDEX = pd.Index(IDS, name="qid")
FRAME = pd.DataFrame(X, columns=list("abcde"))
INDEXED = FRAME.set_index(INDEX)
WITH_COLUMN = FRAME.assign(qid=IDS)
SESSIONS = FRAME.assign(session_id=IDS)
CV, BY_GROUP = QueryKFold(2), GroupKFold(2)
ALL = np.arange(len(Y))
FOLDS = [(np.asarray(a), np.asarray(b)) for a, b in CV.split(X, Y, groups=IDS)]

LGBM, XGB = make("LGBMRanker", 5), make("XGBRanker", 5)
FOREST = RandomForestRegressor(5, max_depth=4, random_state=0)
ROUNDS, WITHOUT = 12, 2
STOPPING = {"n_iter_no_change": WITHOUT, "validation_fraction": 0.2, "random_state": 0}
LONG_LGBM = make("LGBMRanker", ROUNDS, learning_rate=0.4, objective="lambdarank")
LONG_XGB = make("XGBRanker", ROUNDS)


# --- by hand


def fitted(model, rows=ALL):
    return fit(model, X[rows], Y[rows], IDS[rows])


def ndcg(labels, scores, ids, k=10):
    """The mean of scikit-learn's NDCG over queries."""
    rows = [ids == query for query in np.unique(ids)]
    return np.mean([sklearn_ndcg([labels[r]], [scores[r]], k=k) for r in rows])


def loop(model, k=10, folds=FOLDS):
    """The scores of the folds."""
    return [
        ndcg(Y[test], fitted(model, train).predict(X[test]), IDS[test], k) for train, test in folds
    ]


def best_of_leaves(folds=FOLDS):
    """The greater mean over the folds of two numbers of leaves."""
    return max(np.mean(loop(clone(LGBM).set_params(num_leaves=n), folds=folds)) for n in (3, 7))


def watched(rows):
    """The rows of a fold to train on, and those of the queries to watch."""
    parts = hold_out(LGBM, rows, Y[rows], ids=IDS[rows], size=0.2)
    return [of_part for _, of_part, _ in parts]


def stopped(model, rows=ALL):
    """A booster and the number of its rounds that rank held-out queries best."""
    train, held_out = watched(rows)
    booster = fitted(model, train)
    predicted = [predict_rounds(booster, X[held_out], n + 1) for n in range(ROUNDS)]
    values = [ndcg(Y[held_out], scores, IDS[held_out]) for scores in predicted]
    return booster, best_round(values, WITHOUT) + 1


def stopping_loop(model):
    """The scores of the folds, each stopped early on some of its training queries."""
    boosters = [(*stopped(model, train), test) for train, test in FOLDS]
    assert any(n < ROUNDS for _, n, _ in boosters)
    return [ndcg(Y[t], predict_rounds(model, X[t], n), IDS[t]) for model, n, t in boosters]


def stop_natively(rows):
    """XGBRanker with its own early stopping, on the queries to watch."""
    train, held_out = watched(rows)
    model = clone(LONG_XGB).set_params(eval_metric="ndcg@10", early_stopping_rounds=WITHOUT)
    sets = {"eval_set": [(X[held_out], Y[held_out])], "eval_qid": [IDS[held_out]]}
    return model.fit(X[train], Y[train], qid=IDS[train], verbose=False, **sets)


def stack_by_hand():
    """A linear model of the predictions for the folds."""
    column = np.empty(len(Y))
    for train, test in FOLDS:
        column[test] = fitted(LGBM, train).predict(X[test])
    final = LinearRegression().fit(column[:, None], Y)
    return final.predict(fitted(LGBM).predict(X)[:, None])


def bagged_by_hand():
    """The mean of two models, on rows that BaggingRegressor draws."""
    drawn = BaggingRegressor(Ridge(), 2, random_state=0).fit(X, Y).estimators_samples_
    return np.mean([Ridge().fit(X[rows], Y[rows]).predict(X) for rows in drawn], axis=0)


# --- what a user writes; all by the NDCG of ten ranks, in two folds of whole queries

GIVEN, BY_NDCG = {"groups": IDS}, {"scoring": "ndcg@10"}
LEAVES = {"estimator__num_leaves": [3, 7]}
HELD_OUT, ONE_SPLIT = GroupShuffleSplit(2, random_state=0), QueryShuffleSplit(1, random_state=0)
BY_FUNCTION = make_scorer(ndcg_score, k=10)
BY_SESSION = {
    "cv": QueryKFold(2, groups="session_id"), "scoring": "ndcg@10(groups=session_id)"
}  # fmt: skip


def ranker(model=LGBM):
    return QueryRanker(model)


def scores(model, rows, **options):
    return cross_val_score(model, rows, Y, **{"cv": CV, **BY_NDCG, **options})


def search(model, params=None, kind=GridSearchCV, **options):
    return kind(model, params or {}, **{"cv": CV, **BY_NDCG, **options})


def searched(model, params=None, rows=X, ids=GIVEN, **options):
    return search(model, params, **options).fit(rows, Y, **ids)


def stopping_scores(model, metric="ndcg@10"):
    return scores(QueryRanker(model, early_stopping=metric, **STOPPING), X, **GIVEN)


def routed(function, *args, **kwargs):
    """A call with metadata routing."""
    with config_context(enable_metadata_routing=True):
        return function(*args, **kwargs)


def selected_by_rfecv(selector):
    return selector.cv_results_["mean_test_score"][-1]


def optuna():
    library = import_module("optuna")
    library.logging.set_verbosity(library.logging.WARNING)
    return library


def search_of_optuna(**options):
    space = {"estimator__num_leaves": optuna().distributions.CategoricalDistribution([7])}
    kind = import_module("optuna_integration.sklearn").OptunaSearchCV
    return search(ranker(), space, kind, n_trials=1, error_score="raise", **options)


def study_of_optuna():
    def objective(trial):
        model = clone(LGBM).set_params(num_leaves=trial.suggest_int("num_leaves", 7, 7))
        return scores(ranker(model), X, **GIVEN).mean()

    study = optuna().create_study(direction="maximize")
    study.optimize(objective, n_trials=1)
    return study.best_value


# the calls of a table have one number
FOLDS_OF_LGBM = {
    "a frame and groups=": lambda: scores(ranker(), FRAME, **GIVEN),
    "groups= of a column": lambda: scores(ranker(), FRAME, groups=SESSIONS["session_id"]),
    "an index level": lambda: scores(ranker(), INDEXED),
    "a column qid": lambda: scores(ranker(), WITH_COLUMN),
    "several scores": lambda: cross_validate(
        ranker(), X, Y, **GIVEN, cv=CV, scoring=["r2", "ndcg@10", "map"])["test_ndcg@10"],
    "no scoring, a search": lambda: scores(search(ranker()), X, **GIVEN, scoring=None),
    "groups in params too": lambda: scores(ranker(), X, **GIVEN, params=GIVEN),
    "a pipeline": lambda: scores(
        make_pipeline(StandardScaler(with_mean=False, with_std=False), ranker()), INDEXED),
    "a pipeline, groups=": lambda: scores(
        Pipeline([("select", SelectKBest(k=5)), ("rank", ranker())]), X, **GIVEN),
    "a column transformer inside of the ranker": lambda: scores(
        ranker(make_pipeline(ColumnTransformer([("all", "passthrough", list("abcde"))]), LGBM)),
        WITH_COLUMN),
    "nested search": lambda: scores(search(ranker()), X, **GIVEN),
    "two processes": lambda: scores(ranker(), X, **GIVEN, n_jobs=2),
    "validation curve": lambda: validation_curve(
        ranker(), X, Y, **GIVEN, **BY_NDCG, cv=CV,
        param_name="estimator__num_leaves", param_range=[7])[1][0],
    "folds as indices": lambda: scores(ranker(), INDEXED, cv=FOLDS),
    "a column of another name": lambda: scores(
        QueryRanker(LGBM, groups="session_id"), SESSIONS, **BY_SESSION),
}  # fmt: skip
WHOLE_FOLDS_OF_LGBM = {  # by the NDCG of all ranks
    "no scoring": lambda: scores(ranker(), X, **GIVEN, scoring=None),
    "no scoring, a pipeline": lambda: scores(
        make_pipeline(SelectKBest(k=5), ranker()), X, **GIVEN, scoring=None),
    "no scoring, a pipeline and an index level": lambda: scores(
        make_pipeline(SelectKBest(k=5), ranker()), INDEXED, scoring=None),
}  # fmt: skip
FOLDS_OF_XGB = {
    "XGBoost, groups=": lambda: scores(ranker(XGB), X, **GIVEN),
    "XGBRanker with its own qid": lambda: scores(XGB, X, **GIVEN, params={"qid": IDS}),
}
FOLDS_OF_RIDGE = {
    "groups= and a pointwise model": lambda: scores(Ridge(), X, **GIVEN),
    "make_scorer": lambda: scores(Ridge(), X, **GIVEN, scoring=BY_FUNCTION),
    "make_scorer and an index level": lambda: scores(Ridge(), INDEXED, scoring=BY_FUNCTION),
    "a name in capitals": lambda: scores(Ridge(), X, **GIVEN, scoring="NDCG@10"),
    "a name of trec_eval": lambda: scores(Ridge(), X, **GIVEN, scoring="ndcg_cut_10"),
    "a column transformer that drops the ids": lambda: scores(
        make_pipeline(make_column_transformer(("passthrough", list("abcde"))), Ridge()),
        WITH_COLUMN),
}  # fmt: skip
FOLDS_OF_GROUP_K_FOLD = {
    "GroupKFold": lambda: scores(Ridge(), X, **GIVEN, cv=BY_GROUP),
    "make_scorer and GroupKFold": lambda: scores(
        Ridge(), X, **GIVEN, cv=BY_GROUP, scoring=BY_FUNCTION),
}  # fmt: skip
BEST_OF_LGBM = {
    "grid search, groups=": lambda: searched(ranker(), LEAVES).best_score_,
    "grid search, an index level": lambda: searched(ranker(), LEAVES, INDEXED, {}).best_score_,
    "random search": lambda: searched(
        ranker(), LEAVES, kind=RandomizedSearchCV, n_iter=2).best_score_,
    "halving by boosting rounds": lambda: searched(
        ranker(), LEAVES, kind=HalvingRandomSearchCV, n_candidates=2,
        resource="estimator__n_estimators", min_resources=5, max_resources=5).best_score_,
}  # fmt: skip
MEAN_OF_LGBM = {
    "a search of Optuna": lambda: search_of_optuna().fit(INDEXED, Y).best_score_,
    "a study of Optuna": study_of_optuna,
}
MEAN_OF_RIDGE = {
    "RFECV with metadata routing": lambda: selected_by_rfecv(
        routed(RFECV(Ridge(), cv=CV, **BY_NDCG).fit, X, Y, **GIVEN)),
    "RFECV inside of the ranker, with metadata routing": lambda: selected_by_rfecv(
        routed(ranker(RFECV(Ridge(), cv=CV, **BY_NDCG)).fit, X, Y, **GIVEN).estimator_),
    "RidgeCV inside of the ranker": lambda: ranker(
        RidgeCV([1.0], cv=CV, **BY_NDCG)).fit(INDEXED, Y).estimator_.best_score_,
    "permutation test": lambda: permutation_test_score(
        Ridge(), INDEXED, Y, cv=CV, n_permutations=1, **BY_NDCG)[0],
}  # fmt: skip
PREDICTED = {  # by a LightGBM ranker of all rows
    "a search of Optuna, groups=": lambda: (
        search_of_optuna().fit(X, Y, **GIVEN, qid=IDS).predict(X)
    ),
    "the model that grid search refits": lambda: searched(ranker()).predict(X),
}
OF_RIDGE = {  # of all rows
    "score of a grid search": lambda: searched(Ridge(), {}, INDEXED, {}).score(INDEXED, Y),
    "scorer of a fitted model": lambda: get_scorer("ndcg@10")(
        Ridge().fit(X, Y), X, Y, groups=IDS),
}  # fmt: skip
SAME = [  # and that number, by hand
    (FOLDS_OF_LGBM, cache(lambda: loop(LGBM))),
    (WHOLE_FOLDS_OF_LGBM, cache(lambda: loop(LGBM, k=None))),
    (FOLDS_OF_XGB, cache(lambda: loop(XGB))),
    (FOLDS_OF_RIDGE, cache(lambda: loop(Ridge()))),
    (FOLDS_OF_GROUP_K_FOLD, cache(lambda: loop(Ridge(), folds=BY_GROUP.split(X, Y, IDS)))),
    (BEST_OF_LGBM, cache(best_of_leaves)),
    (MEAN_OF_LGBM, cache(lambda: np.mean(loop(LGBM)))),
    (MEAN_OF_RIDGE, cache(lambda: np.mean(loop(Ridge())))),
    (PREDICTED, cache(lambda: fitted(LGBM).predict(X))),
    (OF_RIDGE, cache(lambda: ndcg(Y, Ridge().fit(X, Y).predict(X), IDS))),
]
OTHERS = {  # calls, and their numbers by hand
    "LightGBM, groups=": (
        lambda: scores(ranker(make("LGBMRanker", 5, objective="lambdarank")), X, **GIVEN),
        lambda: loop(make("LGBMRanker", 5, objective="lambdarank"))),
    "CatBoost, groups=": (
        lambda: scores(ranker(make("CatBoostRanker", 5)), X, **GIVEN),
        lambda: loop(make("CatBoostRanker", 5))),
    "an index level and a pointwise model": (
        lambda: scores(FOREST, INDEXED), lambda: loop(FOREST)),
    "LightGBM, early stopping": (
        lambda: stopping_scores(LONG_LGBM), lambda: stopping_loop(LONG_LGBM)),
    "XGBoost, early stopping": (
        lambda: stopping_scores(LONG_XGB), lambda: stopping_loop(LONG_XGB)),
    "CatBoost, early stopping": (
        lambda: stopping_scores(make("CatBoostRanker", ROUNDS, learning_rate=0.4)),
        lambda: stopping_loop(make("CatBoostRanker", ROUNDS, learning_rate=0.4))),
    "early stopping by the booster's own metric": (
        lambda: stopping_scores(clone(LONG_XGB).set_params(eval_metric="ndcg@10"), metric=True),
        lambda: [ndcg(Y[t], stop_natively(train).predict(X[t]), IDS[t]) for train, t in FOLDS]),
    "early stopping, then all queries": (
        lambda: searched(QueryRanker(
            LONG_LGBM, early_stopping="ndcg@10", refit_all=True, **STOPPING)).predict(X),
        lambda: predict_rounds(fitted(LONG_LGBM), X, stopped(LONG_LGBM)[1])),
    "early stopping on evaluation sets": (
        lambda: QueryRanker(LONG_LGBM, early_stopping="ndcg@10", n_iter_no_change=WITHOUT)
        .fit(INDEXED.iloc[T], Y[T], eval_set=[(INDEXED.iloc[V], Y[V])]).predict(X),
        lambda: predict_rounds((of_t := stopped(LONG_LGBM))[0], X, of_t[1])),
    "no scoring, a search of pipelines": (
        lambda: searched(
            make_pipeline(SelectKBest(k=5), ranker()), scoring=None).cv_results_["mean_test_score"],
        lambda: [np.mean(loop(LGBM, k=None))]),
    "a vote inside of the ranker": (
        lambda: ranker(VotingRegressor([("a", ranker()), ("b", Ridge())]))
        .fit(INDEXED, Y).predict(INDEXED),
        lambda: (fitted(LGBM).predict(X) + Ridge().fit(X, Y).predict(X)) / 2),
    "a stack inside of the ranker": (
        lambda: ranker(StackingRegressor([("a", ranker())], LinearRegression(), cv=CV))
        .fit(INDEXED, Y).predict(INDEXED),
        stack_by_hand),
    "bagging inside of the ranker": (
        lambda: ranker(BaggingRegressor(ranker(Ridge()), 2, random_state=0))
        .fit(X, Y, **GIVEN).predict(X),
        bagged_by_hand),
    # it trains on as many rows in each fold as the first fold has
    "learning curve": (
        lambda: learning_curve(ranker(XGB), INDEXED, Y, cv=CV, train_sizes=[1.0], **BY_NDCG)[2][0],
        lambda: loop(XGB, folds=[(train[: len(FOLDS[0][0])], test) for train, test in FOLDS])),
    "predictions of folds": (
        lambda: ndcg(Y, cross_val_predict(ranker(), X, Y, **GIVEN, cv=CV), IDS),
        lambda: np.average(loop(LGBM), weights=[len(np.unique(IDS[t])) for _, t in FOLDS])),
    "GroupKFold and an index level": (
        lambda: scores(ranker(), INDEXED, **GIVEN, cv=BY_GROUP),
        lambda: loop(LGBM, folds=BY_GROUP.split(X, Y, IDS))),
    "GroupShuffleSplit in a search": (
        lambda: searched(ranker(), LEAVES, cv=HELD_OUT).best_score_,
        lambda: best_of_leaves(list(HELD_OUT.split(X, Y, IDS)))),
    "splits of other ids": (
        lambda: scores(ranker(), X, **GIVEN, cv=list(CV.split(X, Y, groups=IDS // 2))),
        lambda: loop(LGBM, folds=CV.split(X, Y, groups=IDS // 2))),
    "hold-out": (
        lambda: scores(ranker(), X, **GIVEN, cv=ONE_SPLIT),
        lambda: loop(LGBM, folds=ONE_SPLIT.split(X, Y, groups=IDS))),
    "fit and evaluate": (
        lambda: evaluate(Y, ranker().fit(X, Y, **GIVEN).predict(X), "ndcg@10", **GIVEN)["ndcg@10"],
        lambda: ndcg(Y, fitted(LGBM).predict(X), IDS)),
    "permutation importance": (
        lambda: permutation_importance(
            DummyRegressor().fit(INDEXED, Y), INDEXED, Y, n_repeats=1, **BY_NDCG).importances_mean,
        lambda: np.zeros(5)),
    "sequential selection": (
        lambda: SequentialFeatureSelector(
            Ridge(), n_features_to_select=4, direction="backward", cv=CV, **BY_NDCG)
        .fit(X, pd.Series(Y, INDEX)).get_support().sum(),
        lambda: 4),
}  # fmt: skip
T, V = watched(ALL)
RIGHT = OTHERS | {
    name: (call, expected) for calls, expected in SAME for name, call in calls.items()
}
OF_OPTUNA = ("ignore:OptunaSearchCV is experimental", "ignore:`optuna.terminator` module")


@pytest.mark.filterwarnings(*OF_OPTUNA)
# scikit-learn 1.6 and 1.7: LightGBM names the columns of an array
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("name", RIGHT)
def test_the_number_of_a_loop_written_by_hand(name):
    call, by_hand = RIGHT[name]
    values = call()
    assert np.isfinite(values).all()
    np.testing.assert_allclose(values, by_hand(), rtol=1e-9)


# --- what is refused, by the fix that the error names


def fit_ranker(model=LGBM, rows=X, **given):
    return lambda: ranker(model).fit(rows, Y, **(given or GIVEN))


def of_catboost(**params):
    return lambda: fit_ranker(make("CatBoostRanker", 5, **params), FRAME)()


OF_Y = "pd.Series(numpy.asarray(y), index=pd.Index(ids, name='qid'))"
OWN_STOPPING = "use QueryRanker(..., early_stopping=True)"
TUPLE_OF_COLUMNS = "write a tuple, as cat_features=('color', 'brand')"
REFUSED = {
    "have them in the index of X": {
        "RidgeCV of arrays inside of the ranker": fit_ranker(RidgeCV([1.0], cv=CV, **BY_NDCG)),
        "a vote of arrays inside of the ranker": fit_ranker(VotingRegressor([("a", ranker())])),
        "a stack of arrays inside of the ranker": fit_ranker(
            StackingRegressor([("a", ranker())], cv=CV)),
        "RFECV of a ranker": lambda: RFECV(ranker(), cv=CV, **BY_NDCG).fit(INDEXED, Y),
        "LassoCV": lambda: LassoCV(cv=CV).fit(X, Y),
        "a pipeline": lambda: make_pipeline(StandardScaler(), ranker()).fit(X, Y),
        "a stack": lambda: scores(StackingRegressor([("a", ranker())]), X, **GIVEN),
        "a scaler of a column of ids": lambda: scores(
            make_pipeline(StandardScaler(), ranker()), WITH_COLUMN, error_score="raise"),
    },
    "or enable metadata routing": {
        "a permutation test of arrays": lambda: permutation_test_score(
            ranker(), X, Y, **GIVEN, cv=CV, **BY_NDCG),
        "RFECV in a pipeline inside of the ranker": fit_ranker(
            make_pipeline(RFECV(Ridge(), cv=CV, **BY_NDCG), LGBM)),
        "RFECV of arrays": lambda: RFECV(Ridge(), cv=CV, **BY_NDCG).fit(X, Y, **GIVEN),
    },
    "QueryRanker(LGBMRanker(...))": {
        "a bare ranker": lambda: scores(LGBM, X, **GIVEN),
        "a bare ranker and sizes": lambda: search(LGBM).fit(X, Y, **GIVEN, group=sizes_of(IDS)),
    },
    "QueryRanker(XGBRanker(...))": {
        "a bare XGBRanker": lambda: searched(XGB, {"max_depth": [2]}),
    },
    "np.repeat(np.arange(len(sizes)), sizes)": {
        "sizes instead of ids": fit_ranker(groups=sizes_of(IDS)),
    },
    "scoring='ndcg@10'": {
        "a function instead of a scorer": lambda: scores(ranker(), X, **GIVEN, scoring=ndcg_score),
    },
    "Leave groups out there, and pass groups=ids and cv=QueryKFold(5)": {
        "ids of all rows in make_scorer": lambda: scores(
            Ridge(), X, **GIVEN, scoring=make_scorer(ndcg_score, groups=IDS)),
    },
    OWN_STOPPING: {
        "LightGBM's own early stopping": fit_ranker(LGBMRanker(early_stopping_round=5)),
        "XGBoost's own early stopping in a search": lambda: searched(
            ranker(XGBRanker(early_stopping_rounds=5)), error_score="raise", scoring=None),
    },
    "name of a metric such as 'ndcg@10'": {
        "early stopping by a number": lambda: QueryRanker(
            LGBM, early_stopping=50).fit(X, Y, **GIVEN),
    },
    "pass eval_qid=[ids]": {
        "an evaluation set without ids": fit_ranker(**GIVEN, eval_set=[(X, Y)]),
    },
    TUPLE_OF_COLUMNS: {
        "columns of CatBoost as a list": of_catboost(cat_features=[0]),
        "columns of CatBoost as a list in a pipeline": lambda: fit_ranker(
            make_pipeline(make("CatBoostRanker", 5, cat_features=[0])), FRAME)(),
    },
    "or text, as monotone_constraints='price:-1'": {
        "constraints of CatBoost as a dict": of_catboost(monotone_constraints={0: 1}),
    },
    "custom_metric must be text, as 'NDCG:top=3'": {
        "metrics of CatBoost as a tuple": of_catboost(custom_metric=("MAP",)),
    },
    "use 'estimator__num_leaves'": {
        "a grid without the prefix": lambda: searched(ranker(), {"num_leaves": [3]}),
    },
    "or call fit(X, y, groups=ids, qid=ids)": {
        "a search of Optuna, groups= alone": lambda: search_of_optuna().fit(X, Y, **GIVEN),
    },
    "pass groups=ids and cv=QueryKFold(5)": {
        "a search of Optuna by folds of rows": lambda: search_of_optuna(cv=3).fit(X, Y),
        "folds of rows": lambda: scores(ranker(), X, cv=5),
    },
    OF_Y: {
        "permutation importance": lambda: permutation_importance(
            Ridge().fit(X, Y), X, Y, **BY_NDCG),
        "score of a search": lambda: searched(ranker()).score(X, Y),
    },
    "No query ids reached the metric 'ndcg@10'": {
        "validation by HistGradientBoosting": lambda: HistGradientBoostingRegressor(
            early_stopping=True, **BY_NDCG).fit(INDEXED, Y),
    },
    "X.set_index('session_id').rename_axis('qid')": {
        "a frame without ids": lambda: scores(ranker(), SESSIONS, cv=5),
    },
    "groups='session' names no column": {
        "a name that is not a column": lambda: scores(
            Ridge(), FRAME, **GIVEN, scoring="ndcg@10(groups=session)"),
    },
    "Did you mean 'ndcg@10'": {
        "a typo": lambda: scores(Ridge(), X, **GIVEN, scoring="ndgc@10"),
    },
    "y_true.ravel()": {
        "two-dimensional labels": lambda: ndcg_score(Y[:, None], X[:, :1]),
    },
    "groups=ids": {
        "fit without ids": lambda: ranker().fit(X, Y),
        "score without ids": lambda: ranker().fit(X, Y, **GIVEN).score(X, Y),
        "a split without ids": lambda: next(CV.split(X, Y)),
        "a hold-out without ids": lambda: query_train_test_split(X, Y),
    },
    "groups would divide": {
        "groups that divide a query": lambda: next(CV.split(INDEXED, Y, groups=ALL // 2)),
    },
}  # fmt: skip


@pytest.mark.filterwarnings(*OF_OPTUNA)
@pytest.mark.parametrize(
    ("fix", "name"), [(fix, name) for fix, calls in REFUSED.items() for name in calls]
)
def test_an_error_that_names_the_fix(fix, name):
    with pytest.raises((ValueError, TypeError, RuntimeError), match=re.escape(fix)) as raised:
        REFUSED[fix][name]()
    assert fix in str(raised.value).splitlines()[0]


DIVIDING = [
    lambda: scores(Ridge(), INDEXED, cv=5),
    lambda: scores(Ridge(), WITH_COLUMN, cv=5),
    lambda: cross_val_predict(ranker(), INDEXED, Y, cv=5),
    lambda: searched(
        Ridge(), {"alpha": [1, 2, 3]}, INDEXED, {}, kind=HalvingRandomSearchCV, n_candidates=3,
        min_resources=100, random_state=0),
]  # fmt: skip


@pytest.mark.parametrize("call", DIVIDING)
def test_divided_queries_warn(call):
    with pytest.warns(PartialQueryWarning, match="Use QueryKFold"):
        call()
