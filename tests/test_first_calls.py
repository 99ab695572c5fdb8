"""What people write first, with the habits of scikit-learn's tutorials and of boosters' examples.

Each call returns the number of a loop written by hand, with the booster's own parameters for
queries and scikit-learn's NDCG, or is refused with an error that names the fix. None returns nan,
and none a number of divided queries.
"""

import re
import warnings
from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMRanker
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

X, Y, IDS = make_ranking(40, n_features=5, random_state=0)
INDEX = pd.Index(IDS, name="qid")
FRAME = pd.DataFrame(X, columns=list("abcde"))
INDEXED = FRAME.set_index(INDEX)
WITH_COLUMN = FRAME.assign(qid=IDS)
SESSIONS = FRAME.assign(session_id=IDS)
CV = QueryKFold(3)
ALL = np.arange(len(Y))
FOLDS = [(np.asarray(a), np.asarray(b)) for a, b in QueryKFold(3).split(X, Y, groups=IDS)]

LGBM = LGBMRanker(n_estimators=5, num_leaves=7, min_child_samples=5, n_jobs=1, verbose=-1)
XGB = XGBRanker(n_estimators=5, max_depth=3, n_jobs=1)
FOREST = RandomForestRegressor(5, max_depth=4, random_state=0)


def make_catboost():
    catboost = import_module("catboost")
    return catboost.CatBoostRanker(
        iterations=5, depth=3, verbose=0, thread_count=1, allow_writing_files=False
    )


def fit_natively(model, rows):
    """Fit a booster with its own parameter for queries; rows of a query are adjacent."""
    ids = IDS[rows]
    arguments = {
        "LGBMRanker": lambda: {"group": sizes_of(ids)},
        "XGBRanker": lambda: {"qid": ids},
        "CatBoostRanker": lambda: {"group_id": ids},
    }.get(type(model).__name__, dict)()
    return clone(model).fit(X[rows], Y[rows], **arguments)


def ndcg(labels, scores, ids, k=10):
    """The mean of scikit-learn's NDCG over queries."""
    rows = [ids == query for query in np.unique(ids)]
    return np.mean([sklearn_ndcg([labels[r]], [scores[r]], k=k) for r in rows])


def loop(model, k=10, folds=FOLDS):
    """The scores of the folds."""
    fitted = [(fit_natively(model, train), test) for train, test in folds]
    return [ndcg(Y[test], m.predict(X[test]), IDS[test], k) for m, test in fitted]


def best(model, params, **options):
    """The greatest mean over the folds of a grid of one parameter."""
    ((name, values),) = params.items()
    return max(np.mean(loop(clone(model).set_params(**{name: v}), **options)) for v in values)


def ranker(model=LGBM):
    return QueryRanker(model)


ROUNDS, WITHOUT = 12, 2
STOPPING = {"n_iter_no_change": WITHOUT, "validation_fraction": 0.2, "random_state": 0}
LONG_LGBM = LGBMRanker(
    n_estimators=ROUNDS, learning_rate=0.4, min_child_samples=5, n_jobs=1, verbose=-1
)
LONG_XGB = XGBRanker(n_estimators=ROUNDS, max_depth=3, n_jobs=1)


def make_long_catboost():
    return make_catboost().set_params(iterations=ROUNDS, learning_rate=0.4)


def predict_rounds(model, rows, n):
    """What the first n rounds of a booster predict."""
    limit = {
        "LGBMRanker": {"num_iteration": n},
        "XGBRanker": {"iteration_range": (0, n)},
        "CatBoostRanker": {"ntree_end": n},
    }[type(model).__name__]
    return model.predict(X[rows], **limit)


def watched(rows):
    """The rows of a fold to train on, and those of the queries to watch."""
    split = QueryShuffleSplit(1, test_size=0.2, random_state=0, skip_constant_queries=True)
    ((train, held_out),) = split.split(X[rows], Y[rows], groups=IDS[rows])
    return rows[train], rows[held_out]


def stopped(model, rows):
    """A booster and the number of its rounds that rank held-out queries best."""
    train, held_out = watched(rows)
    fitted = fit_natively(model, train)
    values = [
        ndcg(Y[held_out], predict_rounds(fitted, held_out, n + 1), IDS[held_out])
        for n in range(ROUNDS)
    ]
    return fitted, best_round(values, WITHOUT) + 1


def stopping_loop(model):
    """The scores of the folds, each stopped early on some of its training queries."""
    fitted = [(*stopped(model, train), test) for train, test in FOLDS]
    assert any(n < ROUNDS for _, n, _ in fitted)
    return [ndcg(Y[t], predict_rounds(model, t, n), IDS[t]) for model, n, t in fitted]


def stop_natively(rows):
    """XGBRanker with its own early stopping, on the queries to watch."""
    train, held_out = watched(rows)
    model = clone(LONG_XGB).set_params(eval_metric="ndcg@10", early_stopping_rounds=WITHOUT)
    return model.fit(
        X[train],
        Y[train],
        qid=IDS[train],
        eval_set=[(X[held_out], Y[held_out])],
        eval_qid=[IDS[held_out]],
        verbose=False,
    )


T, V = watched(ALL)


def cross_validate_stopping(model, metric="ndcg@10"):
    stopping = QueryRanker(model, early_stopping=metric, **STOPPING)
    return cross_val_score(stopping, X, Y, **GROUPS, **BY_NDCG)


def refit_of_a_search():
    stopping = QueryRanker(LONG_LGBM, early_stopping="ndcg@10", refit_all=True, **STOPPING)
    search = GridSearchCV(stopping, {}, cv=CV, **BY_NDCG).fit(X, Y, groups=IDS)
    return search.predict(X)


def refit_by_hand():
    return predict_rounds(fit_natively(LONG_LGBM, ALL), ALL, stopped(LONG_LGBM, ALL)[1])


def search_of_optuna(**options):
    optuna, tools = import_module("optuna"), import_module("optuna_integration.sklearn")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    space = {"estimator__num_leaves": optuna.distributions.CategoricalDistribution([7])}
    options = {"cv": CV, "scoring": "ndcg@10", "n_trials": 1, "error_score": "raise", **options}
    return tools.OptunaSearchCV(ranker(), space, **options)


def study_of_optuna():
    optuna = import_module("optuna")
    optuna.logging.set_verbosity(optuna.logging.WARNING)

    def objective(trial):
        model = clone(LGBM).set_params(num_leaves=trial.suggest_int("num_leaves", 7, 7))
        return cross_val_score(QueryRanker(model), X, Y, **GROUPS, **BY_NDCG).mean()

    study = optuna.create_study(direction="maximize")
    study.optimize(objective, n_trials=1)
    return study.best_value


def stack_by_hand():
    """A linear model of the predictions for the folds."""
    column = np.empty(len(Y))
    for train, test in FOLDS:
        column[test] = fit_natively(LGBM, train).predict(X[test])
    final = LinearRegression().fit(column[:, None], Y)
    return final.predict(fit_natively(LGBM, ALL).predict(X)[:, None])


def bagged(model, rows, n=2):
    """Two models on rows that BaggingRegressor draws."""
    drawn = BaggingRegressor(Ridge(), n, random_state=0).fit(X[rows], Y[rows])
    models = [clone(model).fit(X[rows][d], Y[rows][d]) for d in drawn.estimators_samples_]
    return lambda features: np.mean([m.predict(features) for m in models], axis=0)


def routed(function, *args, **kwargs):
    """A call with metadata routing."""
    with config_context(enable_metadata_routing=True):
        return function(*args, **kwargs)


GROUPS = {"groups": IDS, "cv": CV}
LEAVES = {"estimator__num_leaves": [3, 7]}
HELD_OUT = GroupShuffleSplit(2, random_state=0)
BY_NDCG = {"scoring": "ndcg@10"}

FOLDS_OF_LGBM = {  # the folds of a LightGBM ranker
    "LightGBM, groups=": lambda: cross_val_score(ranker(), X, Y, **GROUPS, **BY_NDCG),
    "a frame and groups=": lambda: cross_val_score(ranker(), FRAME, Y, **GROUPS, **BY_NDCG),
    "groups= of a column": lambda: cross_val_score(
        ranker(), FRAME, Y, groups=SESSIONS["session_id"], cv=CV, **BY_NDCG
    ),
    "an index level": lambda: cross_val_score(ranker(), INDEXED, Y, cv=CV, **BY_NDCG),
    "a column qid": lambda: cross_val_score(ranker(), WITH_COLUMN, Y, cv=CV, **BY_NDCG),
    "several scores": lambda: cross_validate(
        ranker(), X, Y, **GROUPS, scoring=["r2", "ndcg@10", "map"]
    )["test_ndcg@10"],
    "no scoring, a search": lambda: cross_val_score(
        GridSearchCV(ranker(), {}, cv=CV, **BY_NDCG), X, Y, **GROUPS
    ),
    "groups in params too": lambda: cross_val_score(
        ranker(), X, Y, **GROUPS, **BY_NDCG, params={"groups": IDS}
    ),
    "a pipeline": lambda: cross_val_score(
        make_pipeline(StandardScaler(with_mean=False, with_std=False), ranker()),
        INDEXED,
        Y,
        cv=CV,
        **BY_NDCG,
    ),
    "a pipeline, groups=": lambda: cross_val_score(
        Pipeline([("select", SelectKBest(k=5)), ("rank", ranker())]), X, Y, **GROUPS, **BY_NDCG
    ),
    "a column transformer inside of the ranker": lambda: cross_val_score(
        QueryRanker(
            make_pipeline(ColumnTransformer([("all", "passthrough", list("abcde"))]), LGBM)
        ),
        WITH_COLUMN,
        Y,
        cv=CV,
        **BY_NDCG,
    ),
    "nested search": lambda: cross_val_score(
        GridSearchCV(ranker(), {}, cv=CV, **BY_NDCG), X, Y, **GROUPS, **BY_NDCG
    ),
    "two processes": lambda: cross_val_score(ranker(), X, Y, **GROUPS, **BY_NDCG, n_jobs=2),
    "validation curve": lambda: validation_curve(
        ranker(),
        X,
        Y,
        **GROUPS,
        param_name="estimator__num_leaves",
        param_range=[7],
        **BY_NDCG,
    )[1][0],
    "folds as indices": lambda: cross_val_score(ranker(), INDEXED, Y, cv=FOLDS, **BY_NDCG),
    "a column of another name": lambda: cross_val_score(
        QueryRanker(LGBM, groups="session_id"),
        SESSIONS,
        Y,
        cv=QueryKFold(3, groups="session_id"),
        scoring="ndcg@10(groups=session_id)",
    ),
}
WHOLE_FOLDS_OF_LGBM = {  # the same by the NDCG of all ranks
    "no scoring": lambda: cross_val_score(ranker(), X, Y, **GROUPS),
    "no scoring, a pipeline": lambda: cross_val_score(
        make_pipeline(SelectKBest(k=5), ranker()), X, Y, **GROUPS
    ),
    "no scoring, a pipeline and an index level": lambda: cross_val_score(
        make_pipeline(SelectKBest(k=5), ranker()), INDEXED, Y, cv=CV
    ),
}
FOLDS_OF_XGB = {  # the folds of an XGBoost ranker
    "XGBoost, groups=": lambda: cross_val_score(ranker(XGB), X, Y, **GROUPS, **BY_NDCG),
    "XGBRanker with its own qid": lambda: cross_val_score(
        XGB, X, Y, **GROUPS, **BY_NDCG, params={"qid": IDS}
    ),
}
FOLDS_OF_RIDGE = {  # the folds of a linear model
    "groups= and a pointwise model": lambda: cross_val_score(Ridge(), X, Y, **GROUPS, **BY_NDCG),
    "make_scorer": lambda: cross_val_score(
        Ridge(), X, Y, **GROUPS, scoring=make_scorer(ndcg_score, k=10)
    ),
    "make_scorer and an index level": lambda: cross_val_score(
        Ridge(), INDEXED, Y, cv=CV, scoring=make_scorer(ndcg_score, k=10)
    ),
    "a name in capitals": lambda: cross_val_score(Ridge(), X, Y, **GROUPS, scoring="NDCG@10"),
    "a name of trec_eval": lambda: cross_val_score(Ridge(), X, Y, **GROUPS, scoring="ndcg_cut_10"),
    "a column transformer that drops the ids": lambda: cross_val_score(
        make_pipeline(make_column_transformer(("passthrough", list("abcde"))), Ridge()),
        WITH_COLUMN,
        Y,
        cv=CV,
        **BY_NDCG,
    ),
}
BEST_OF_LGBM = {  # the better of two numbers of leaves
    "grid search, groups=": lambda: (
        GridSearchCV(ranker(), LEAVES, cv=CV, **BY_NDCG).fit(X, Y, groups=IDS).best_score_
    ),
    "grid search, an index level": lambda: (
        GridSearchCV(ranker(), LEAVES, cv=CV, **BY_NDCG).fit(INDEXED, Y).best_score_
    ),
    "random search": lambda: (
        RandomizedSearchCV(ranker(), LEAVES, n_iter=2, cv=CV, **BY_NDCG)
        .fit(X, Y, groups=IDS)
        .best_score_
    ),
    "halving by boosting rounds": lambda: (
        HalvingRandomSearchCV(
            ranker(),
            LEAVES,
            n_candidates=2,
            resource="estimator__n_estimators",
            min_resources=5,
            max_resources=5,
            cv=CV,
            **BY_NDCG,
        )
        .fit(X, Y, groups=IDS)
        .best_score_
    ),
}
MEAN_OF_LGBM = {  # the mean of the folds of a LightGBM ranker
    "a search of Optuna": lambda: search_of_optuna().fit(INDEXED, Y).best_score_,
    "a study of Optuna": study_of_optuna,
}
MEAN_OF_RIDGE = {  # the mean of the folds of a linear model
    "RFECV with metadata routing": lambda: routed(
        RFECV(Ridge(), cv=CV, **BY_NDCG).fit, X, Y, groups=IDS
    ).cv_results_["mean_test_score"][-1],
    "RFECV inside of the ranker, with metadata routing": lambda: routed(
        QueryRanker(RFECV(Ridge(), cv=CV, **BY_NDCG)).fit, X, Y, groups=IDS
    ).estimator_.cv_results_["mean_test_score"][-1],
    "RidgeCV inside of the ranker": lambda: (
        QueryRanker(RidgeCV([1.0], cv=CV, **BY_NDCG)).fit(INDEXED, Y).estimator_.best_score_
    ),
    "permutation test": lambda: permutation_test_score(
        Ridge(), INDEXED, Y, cv=CV, n_permutations=1, **BY_NDCG
    )[0],
}
PREDICTED = {  # the predictions of a LightGBM ranker of all rows
    "a search of Optuna, groups=": lambda: (
        search_of_optuna().fit(X, Y, groups=IDS, qid=IDS).predict(X)
    ),
    "the model that grid search refits": lambda: (
        GridSearchCV(ranker(), {}, cv=CV, **BY_NDCG).fit(X, Y, groups=IDS).predict(X)
    ),
}
OTHERS = {  # calls, and their numbers by hand
    "CatBoost, groups=": (
        lambda: cross_val_score(ranker(make_catboost()), X, Y, **GROUPS, **BY_NDCG),
        lambda: loop(make_catboost()),
    ),
    "an index level and a pointwise model": (
        lambda: cross_val_score(FOREST, INDEXED, Y, cv=CV, **BY_NDCG),
        lambda: loop(FOREST),
    ),
    "LightGBM, early stopping": (
        lambda: cross_validate_stopping(LONG_LGBM),
        lambda: stopping_loop(LONG_LGBM),
    ),
    "XGBoost, early stopping": (
        lambda: cross_validate_stopping(LONG_XGB),
        lambda: stopping_loop(LONG_XGB),
    ),
    "CatBoost, early stopping": (
        lambda: cross_validate_stopping(make_long_catboost()),
        lambda: stopping_loop(make_long_catboost()),
    ),
    "early stopping by the booster's own metric": (
        lambda: cross_validate_stopping(
            clone(LONG_XGB).set_params(eval_metric="ndcg@10"), metric=True
        ),
        lambda: [
            ndcg(Y[test], stop_natively(train).predict(X[test]), IDS[test]) for train, test in FOLDS
        ],
    ),
    "early stopping, then all queries": (refit_of_a_search, refit_by_hand),
    "early stopping on evaluation sets": (
        lambda: (
            QueryRanker(LONG_LGBM, early_stopping="ndcg@10", n_iter_no_change=WITHOUT)
            .fit(INDEXED.iloc[T], Y[T], eval_set=[(INDEXED.iloc[V], Y[V])])
            .predict(X)
        ),
        lambda: predict_rounds((fitted := stopped(LONG_LGBM, ALL))[0], ALL, fitted[1]),
    ),
    "no scoring, a search of pipelines": (
        lambda: (
            GridSearchCV(make_pipeline(SelectKBest(k=5), ranker()), {}, cv=CV)
            .fit(X, Y, groups=IDS)
            .cv_results_["mean_test_score"]
        ),
        lambda: [np.mean(loop(LGBM, k=None))],
    ),
    "score of a grid search": (
        lambda: GridSearchCV(Ridge(), {}, cv=CV, **BY_NDCG).fit(INDEXED, Y).score(INDEXED, Y),
        lambda: ndcg(Y, Ridge().fit(X, Y).predict(X), IDS),
    ),
    "a vote inside of the ranker": (
        lambda: (
            QueryRanker(VotingRegressor([("a", ranker()), ("b", Ridge())]))
            .fit(INDEXED, Y)
            .predict(INDEXED)
        ),
        lambda: (fit_natively(LGBM, ALL).predict(X) + Ridge().fit(X, Y).predict(X)) / 2,
    ),
    "a stack inside of the ranker": (
        lambda: (
            QueryRanker(StackingRegressor([("a", ranker())], LinearRegression(), cv=CV))
            .fit(INDEXED, Y)
            .predict(INDEXED)
        ),
        stack_by_hand,
    ),
    "bagging inside of the ranker": (
        lambda: (
            QueryRanker(BaggingRegressor(ranker(Ridge()), 2, random_state=0))
            .fit(X, Y, groups=IDS)
            .predict(X)
        ),
        lambda: bagged(Ridge(), ALL)(X),
    ),
    # it trains on as many rows in each fold as the first fold has
    "learning curve": (
        lambda: learning_curve(ranker(XGB), INDEXED, Y, cv=CV, train_sizes=[1.0], **BY_NDCG)[2][0],
        lambda: loop(XGB, folds=[(train[: len(FOLDS[0][0])], test) for train, test in FOLDS]),
    ),
    "predictions of folds": (
        lambda: ndcg(Y, cross_val_predict(ranker(), X, Y, **GROUPS), IDS),
        lambda: np.average(loop(LGBM), weights=[len(np.unique(IDS[t])) for _, t in FOLDS]),
    ),
    "GroupKFold and an index level": (
        lambda: cross_val_score(ranker(), INDEXED, Y, groups=IDS, cv=GroupKFold(3), **BY_NDCG),
        lambda: loop(LGBM, folds=GroupKFold(3).split(X, Y, IDS)),
    ),
    "GroupKFold": (
        lambda: cross_val_score(Ridge(), X, Y, groups=IDS, cv=GroupKFold(3), **BY_NDCG),
        lambda: loop(Ridge(), folds=GroupKFold(3).split(X, Y, IDS)),
    ),
    "GroupShuffleSplit in a search": (
        lambda: (
            GridSearchCV(ranker(), LEAVES, cv=HELD_OUT, **BY_NDCG).fit(X, Y, groups=IDS).best_score_
        ),
        lambda: best(LGBM, {"num_leaves": [3, 7]}, folds=list(HELD_OUT.split(X, Y, IDS))),
    ),
    "make_scorer and GroupKFold": (
        lambda: cross_val_score(
            Ridge(), X, Y, groups=IDS, cv=GroupKFold(3), scoring=make_scorer(ndcg_score, k=10)
        ),
        lambda: loop(Ridge(), folds=GroupKFold(3).split(X, Y, IDS)),
    ),
    "splits of other ids": (
        lambda: cross_val_score(
            ranker(), X, Y, groups=IDS, cv=list(CV.split(X, Y, groups=IDS // 2)), **BY_NDCG
        ),
        lambda: loop(LGBM, folds=CV.split(X, Y, groups=IDS // 2)),
    ),
    "hold-out": (
        lambda: cross_val_score(
            ranker(), X, Y, groups=IDS, cv=QueryShuffleSplit(1, random_state=0), **BY_NDCG
        ),
        lambda: loop(LGBM, folds=QueryShuffleSplit(1, random_state=0).split(X, Y, groups=IDS)),
    ),
    "fit and evaluate": (
        lambda: evaluate(Y, ranker().fit(X, Y, groups=IDS).predict(X), "ndcg@10", groups=IDS)[
            "ndcg@10"
        ],
        lambda: ndcg(Y, fit_natively(LGBM, ALL).predict(X), IDS),
    ),
    "scorer of a fitted model": (
        lambda: get_scorer("ndcg@10")(Ridge().fit(X, Y), X, Y, groups=IDS),
        lambda: ndcg(Y, Ridge().fit(X, Y).predict(X), IDS),
    ),
    "permutation importance": (
        lambda: (
            permutation_importance(
                DummyRegressor().fit(INDEXED, Y), INDEXED, Y, n_repeats=1, **BY_NDCG
            ).importances_mean
        ),
        lambda: np.zeros(5),
    ),
    "sequential selection": (
        lambda: (
            SequentialFeatureSelector(
                Ridge(), n_features_to_select=4, direction="backward", cv=CV, **BY_NDCG
            )
            .fit(X, pd.Series(Y, INDEX))
            .get_support()
            .sum()
        ),
        lambda: 4,
    ),
}
SAME = [  # the number by hand of each table
    (FOLDS_OF_LGBM, lambda: loop(LGBM)),
    (WHOLE_FOLDS_OF_LGBM, lambda: loop(LGBM, k=None)),
    (FOLDS_OF_XGB, lambda: loop(XGB)),
    (FOLDS_OF_RIDGE, lambda: loop(Ridge())),
    (BEST_OF_LGBM, lambda: best(LGBM, {"num_leaves": [3, 7]})),
    (MEAN_OF_LGBM, lambda: np.mean(loop(LGBM))),
    (MEAN_OF_RIDGE, lambda: np.mean(loop(Ridge()))),
    (PREDICTED, lambda: fit_natively(LGBM, ALL).predict(X)),
]
RIGHT = OTHERS | {
    name: (call, expected) for calls, expected in SAME for name, call in calls.items()
}


@pytest.mark.filterwarnings("ignore:OptunaSearchCV is experimental")
@pytest.mark.filterwarnings("ignore:`optuna.terminator` module:FutureWarning")
@pytest.mark.parametrize("name", RIGHT)
def test_the_number_of_a_loop_written_by_hand(name):
    call, expected = RIGHT[name]
    with warnings.catch_warnings():
        # scikit-learn 1.6 and 1.7: LightGBM names the columns of an array
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        values, by_hand = call(), expected()
    assert np.isfinite(values).all()
    np.testing.assert_allclose(values, by_hand, rtol=1e-9)


ON_INDEX = {
    "RidgeCV of arrays inside of the ranker": lambda: QueryRanker(
        RidgeCV([1.0], cv=CV, **BY_NDCG)
    ).fit(X, Y, groups=IDS),
    "a vote of arrays inside of the ranker": lambda: QueryRanker(
        VotingRegressor([("a", ranker())])
    ).fit(X, Y, groups=IDS),
    "a stack of arrays inside of the ranker": lambda: QueryRanker(
        StackingRegressor([("a", ranker())], cv=CV)
    ).fit(X, Y, groups=IDS),
    "RFECV of a ranker": lambda: RFECV(ranker(), cv=CV, **BY_NDCG).fit(INDEXED, Y),
    "LassoCV": lambda: LassoCV(cv=CV).fit(X, Y),
    "a pipeline": lambda: make_pipeline(StandardScaler(), ranker()).fit(X, Y),
    "a stack": lambda: cross_val_score(
        StackingRegressor([("a", ranker())]), X, Y, **GROUPS, **BY_NDCG
    ),
    "a scaler of a column of ids": lambda: cross_val_score(
        make_pipeline(StandardScaler(), ranker()),
        WITH_COLUMN,
        Y,
        cv=CV,
        error_score="raise",
        **BY_NDCG,
    ),
}
BY_ROUTING = {
    "a permutation test of arrays": lambda: permutation_test_score(
        ranker(), X, Y, **GROUPS, **BY_NDCG
    ),
    "RFECV in a pipeline inside of the ranker": lambda: QueryRanker(
        make_pipeline(RFECV(Ridge(), cv=CV, **BY_NDCG), LGBM)
    ).fit(X, Y, groups=IDS),
    "RFECV of arrays": lambda: RFECV(Ridge(), cv=CV, **BY_NDCG).fit(X, Y, groups=IDS),
}
REFUSED = {
    **{name: (call, "have them in the index of X") for name, call in ON_INDEX.items()},
    **{name: (call, "or enable metadata routing") for name, call in BY_ROUTING.items()},
    "a bare ranker": (
        lambda: cross_val_score(LGBM, X, Y, **GROUPS, **BY_NDCG),
        "QueryRanker(LGBMRanker(...))",
    ),
    "a bare XGBRanker": (
        lambda: GridSearchCV(XGB, {"max_depth": [2]}, cv=CV, **BY_NDCG).fit(X, Y, groups=IDS),
        "QueryRanker(XGBRanker(...))",
    ),
    "a bare ranker and sizes": (
        lambda: GridSearchCV(LGBM, {}, cv=CV, **BY_NDCG).fit(X, Y, groups=IDS, group=sizes_of(IDS)),
        "QueryRanker(LGBMRanker(...))",
    ),
    "sizes instead of ids": (
        lambda: ranker().fit(X, Y, groups=sizes_of(IDS)),
        "np.repeat(np.arange(len(sizes)), sizes)",
    ),
    "a function instead of a scorer": (
        lambda: cross_val_score(ranker(), X, Y, **GROUPS, scoring=ndcg_score),
        "scoring='ndcg@10'",
    ),
    "ids of all rows in make_scorer": (
        lambda: cross_val_score(
            Ridge(), X, Y, **GROUPS, scoring=make_scorer(ndcg_score, groups=IDS)
        ),
        "Leave groups out there, and pass groups=ids and cv=QueryKFold(5)",
    ),
    "LightGBM's own early stopping": (
        lambda: QueryRanker(LGBMRanker(early_stopping_round=5)).fit(X, Y, groups=IDS),
        "use QueryRanker(..., early_stopping=True)",
    ),
    "XGBoost's own early stopping in a search": (
        lambda: GridSearchCV(
            QueryRanker(XGBRanker(early_stopping_rounds=5)), {}, error_score="raise", cv=CV
        ).fit(X, Y, groups=IDS),
        "use QueryRanker(..., early_stopping=True)",
    ),
    "early stopping by a number": (
        lambda: QueryRanker(LGBM, early_stopping=50).fit(X, Y, groups=IDS),
        "name of a metric such as 'ndcg@10'",
    ),
    "an evaluation set without ids": (
        lambda: ranker().fit(X, Y, groups=IDS, eval_set=[(X, Y)]),
        "pass eval_qid=[ids]",
    ),
    "columns of CatBoost as a list": (
        lambda: ranker(make_catboost().set_params(cat_features=[0])).fit(FRAME, Y, groups=IDS),
        "write a tuple, as cat_features=('color', 'brand')",
    ),
    "constraints of CatBoost as a dict": (
        lambda: ranker(make_catboost().set_params(monotone_constraints={0: 1})).fit(
            X, Y, groups=IDS
        ),
        "or text, as monotone_constraints='price:-1'",
    ),
    "columns of CatBoost as a list in a pipeline": (
        lambda: ranker(make_pipeline(make_catboost().set_params(cat_features=[0]))).fit(
            FRAME, Y, groups=IDS
        ),
        "write a tuple, as cat_features=('color', 'brand')",
    ),
    "metrics of CatBoost as a tuple": (
        lambda: ranker(make_catboost().set_params(custom_metric=("MAP",))).fit(X, Y, groups=IDS),
        "custom_metric must be text, as 'NDCG:top=3'",
    ),
    "a grid without the prefix": (
        lambda: GridSearchCV(ranker(), {"num_leaves": [3]}, cv=CV, **BY_NDCG).fit(X, Y, groups=IDS),
        "use 'estimator__num_leaves'",
    ),
    "a search of Optuna, groups= alone": (
        lambda: search_of_optuna().fit(X, Y, groups=IDS),
        "or call fit(X, y, groups=ids, qid=ids)",
    ),
    "a search of Optuna by folds of rows": (
        lambda: search_of_optuna(cv=3).fit(X, Y),
        "pass groups=ids and cv=QueryKFold(5)",
    ),
    "permutation importance": (
        lambda: permutation_importance(Ridge().fit(X, Y), X, Y, **BY_NDCG),
        "pd.Series(numpy.asarray(y), index=pd.Index(ids, name='qid'))",
    ),
    "score of a search": (
        lambda: GridSearchCV(ranker(), {}, cv=CV, **BY_NDCG).fit(X, Y, groups=IDS).score(X, Y),
        "pd.Series(numpy.asarray(y), index=pd.Index(ids, name='qid'))",
    ),
    "validation by HistGradientBoosting": (
        lambda: HistGradientBoostingRegressor(early_stopping=True, **BY_NDCG).fit(INDEXED, Y),
        "No query ids reached the metric 'ndcg@10'",
    ),
    "folds of rows": (
        lambda: cross_val_score(ranker(), X, Y, cv=5, **BY_NDCG),
        "groups=ids and cv=QueryKFold(5)",
    ),
    "a frame without ids": (
        lambda: cross_val_score(ranker(), SESSIONS, Y, cv=5, **BY_NDCG),
        "X.set_index('session_id').rename_axis('qid')",
    ),
    "a name that is not a column": (
        lambda: cross_val_score(
            Ridge(), FRAME, Y, groups=IDS, cv=CV, scoring="ndcg@10(groups=session)"
        ),
        "groups='session' names no column",
    ),
    "a typo": (
        lambda: cross_val_score(Ridge(), X, Y, **GROUPS, scoring="ndgc@10"),
        "Did you mean 'ndcg@10'",
    ),
    "two-dimensional labels": (
        lambda: ndcg_score(Y[:, None], X[:, :1]),
        "y_true.ravel()",
    ),
    "fit without ids": (lambda: ranker().fit(X, Y), "groups=ids"),
    "score without ids": (lambda: ranker().fit(X, Y, groups=IDS).score(X, Y), "groups=ids"),
    "a split without ids": (lambda: next(CV.split(X, Y)), "groups=ids"),
    "a hold-out without ids": (lambda: query_train_test_split(X, Y), "groups=ids"),
    "groups that divide a query": (
        lambda: next(CV.split(INDEXED, Y, groups=np.arange(len(Y)) // 2)),
        "groups would divide",
    ),
}


@pytest.mark.filterwarnings("ignore:OptunaSearchCV is experimental")
@pytest.mark.filterwarnings("ignore:`optuna.terminator` module:FutureWarning")
@pytest.mark.parametrize("name", REFUSED)
def test_an_error_that_names_the_fix(name):
    call, fix = REFUSED[name]
    with pytest.raises((ValueError, TypeError, RuntimeError), match=re.escape(fix)) as raised:
        call()
    assert fix in str(raised.value).splitlines()[0]


@pytest.mark.parametrize(
    "call",
    [
        lambda: cross_val_score(Ridge(), INDEXED, Y, cv=5, **BY_NDCG),
        lambda: cross_val_score(Ridge(), WITH_COLUMN, Y, cv=5, **BY_NDCG),
        lambda: cross_val_predict(ranker(), INDEXED, Y, cv=5),
        lambda: HalvingRandomSearchCV(
            Ridge(),
            {"alpha": [1, 2, 3]},
            n_candidates=3,
            min_resources=100,
            cv=CV,
            random_state=0,
            **BY_NDCG,
        ).fit(INDEXED, Y),
    ],
)
@pytest.mark.filterwarnings("ignore:OptunaSearchCV is experimental")
@pytest.mark.filterwarnings("ignore:`optuna.terminator` module:FutureWarning")
def test_divided_queries_warn(call):
    with pytest.warns(PartialQueryWarning, match="Use QueryKFold"):
        call()
