"""What people write first, with the habits of scikit-learn's tutorials and of boosters' examples.

Each call returns the number of a loop written by hand, with the booster's own parameters for
queries and scikit-learn's NDCG, or is refused with an error that names the fix. None returns nan,
and none a number of divided queries.
"""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMRanker
from requires import requires
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import RandomForestRegressor
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_selection import RFECV, SelectKBest, SequentialFeatureSelector
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression, Ridge
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
from xgboost import XGBRanker

from sklearn_rankscore import (
    NoGroupsError,
    PartialQueryWarning,
    QueryKFold,
    QueryRanker,
    QueryShuffleSplit,
    evaluate,
    make_ranking,
    map_score,
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
FOLDS = [(np.asarray(a), np.asarray(b)) for a, b in QueryKFold(3).split(X, Y, groups=IDS)]

LGBM = LGBMRanker(n_estimators=5, num_leaves=7, min_child_samples=5, n_jobs=1, verbose=-1)
XGB = XGBRanker(n_estimators=5, max_depth=3, n_jobs=1)
FOREST = RandomForestRegressor(5, max_depth=4, random_state=0)


def make_catboost():
    catboost = requires("catboost")
    return catboost.CatBoostRanker(
        iterations=5, depth=3, verbose=0, thread_count=1, allow_writing_files=False
    )


def fit_natively(model, rows):
    """Fit a booster with its own parameter for queries; rows of a query are adjacent."""
    ids = IDS[rows]
    arguments = {
        "LGBMRanker": lambda: {"group": np.unique(ids, return_counts=True)[1]},
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


GROUPS = {"groups": IDS, "cv": CV}
LEAVES = {"estimator__num_leaves": [3, 7]}
BY_NDCG = {"scoring": "ndcg@10"}

RIGHT = {
    "LightGBM, groups=": (
        lambda: cross_val_score(ranker(), X, Y, **GROUPS, **BY_NDCG),
        lambda: loop(LGBM),
    ),
    "XGBoost, groups=": (
        lambda: cross_val_score(ranker(XGB), X, Y, **GROUPS, **BY_NDCG),
        lambda: loop(XGB),
    ),
    "CatBoost, groups=": (
        lambda: cross_val_score(ranker(make_catboost()), X, Y, **GROUPS, **BY_NDCG),
        lambda: loop(make_catboost()),
    ),
    "a frame and groups=": (
        lambda: cross_val_score(ranker(), FRAME, Y, **GROUPS, **BY_NDCG),
        lambda: loop(LGBM),
    ),
    "groups= of a column": (
        lambda: cross_val_score(
            ranker(), FRAME, Y, groups=SESSIONS["session_id"], cv=CV, **BY_NDCG
        ),
        lambda: loop(LGBM),
    ),
    "an index level": (
        lambda: cross_val_score(ranker(), INDEXED, Y, cv=CV, **BY_NDCG),
        lambda: loop(LGBM),
    ),
    "a column qid": (
        lambda: cross_val_score(ranker(), WITH_COLUMN, Y, cv=CV, **BY_NDCG),
        lambda: loop(LGBM),
    ),
    "an index level and a pointwise model": (
        lambda: cross_val_score(FOREST, INDEXED, Y, cv=CV, **BY_NDCG),
        lambda: loop(FOREST),
    ),
    "groups= and a pointwise model": (
        lambda: cross_val_score(Ridge(), X, Y, **GROUPS, **BY_NDCG),
        lambda: loop(Ridge()),
    ),
    "make_scorer": (
        lambda: cross_val_score(Ridge(), X, Y, **GROUPS, scoring=make_scorer(ndcg_score, k=10)),
        lambda: loop(Ridge()),
    ),
    "make_scorer and an index level": (
        lambda: cross_val_score(Ridge(), INDEXED, Y, cv=CV, scoring=make_scorer(ndcg_score, k=10)),
        lambda: loop(Ridge()),
    ),
    "a name in capitals": (
        lambda: cross_val_score(Ridge(), X, Y, **GROUPS, scoring="NDCG@10"),
        lambda: loop(Ridge()),
    ),
    "a name of trec_eval": (
        lambda: cross_val_score(Ridge(), X, Y, **GROUPS, scoring="ndcg_cut_10"),
        lambda: loop(Ridge()),
    ),
    "several scores": (
        lambda: cross_validate(ranker(), X, Y, **GROUPS, scoring=["r2", "ndcg@10", "map"])[
            "test_ndcg@10"
        ],
        lambda: loop(LGBM),
    ),
    "no scoring": (
        lambda: cross_val_score(ranker(), X, Y, **GROUPS),
        lambda: loop(LGBM, k=None),
    ),
    "grid search, groups=": (
        lambda: GridSearchCV(ranker(), LEAVES, cv=CV, **BY_NDCG).fit(X, Y, groups=IDS).best_score_,
        lambda: best(LGBM, {"num_leaves": [3, 7]}),
    ),
    "the model that grid search refits": (
        lambda: GridSearchCV(ranker(), {}, cv=CV, **BY_NDCG).fit(X, Y, groups=IDS).predict(X),
        lambda: fit_natively(LGBM, np.arange(len(Y))).predict(X),
    ),
    "grid search, an index level": (
        lambda: GridSearchCV(ranker(), LEAVES, cv=CV, **BY_NDCG).fit(INDEXED, Y).best_score_,
        lambda: best(LGBM, {"num_leaves": [3, 7]}),
    ),
    "score of a grid search": (
        lambda: GridSearchCV(Ridge(), {}, cv=CV, **BY_NDCG).fit(INDEXED, Y).score(INDEXED, Y),
        lambda: ndcg(Y, Ridge().fit(X, Y).predict(X), IDS),
    ),
    "random search": (
        lambda: (
            RandomizedSearchCV(ranker(), LEAVES, n_iter=2, cv=CV, **BY_NDCG)
            .fit(X, Y, groups=IDS)
            .best_score_
        ),
        lambda: best(LGBM, {"num_leaves": [3, 7]}),
    ),
    "halving by boosting rounds": (
        lambda: (
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
        lambda: best(LGBM, {"num_leaves": [3, 7]}),
    ),
    "a pipeline": (
        lambda: cross_val_score(
            make_pipeline(StandardScaler(with_mean=False, with_std=False), ranker()),
            INDEXED,
            Y,
            cv=CV,
            **BY_NDCG,
        ),
        lambda: loop(LGBM),
    ),
    "a pipeline, groups=": (
        lambda: cross_val_score(
            Pipeline([("select", SelectKBest(k=5)), ("rank", ranker())]), X, Y, **GROUPS, **BY_NDCG
        ),
        lambda: loop(LGBM),
    ),
    "a column transformer that drops the ids": (
        lambda: cross_val_score(
            make_pipeline(make_column_transformer(("passthrough", list("abcde"))), Ridge()),
            WITH_COLUMN,
            Y,
            cv=CV,
            **BY_NDCG,
        ),
        lambda: loop(Ridge()),
    ),
    "a column transformer inside of the ranker": (
        lambda: cross_val_score(
            QueryRanker(
                make_pipeline(ColumnTransformer([("all", "passthrough", list("abcde"))]), LGBM)
            ),
            WITH_COLUMN,
            Y,
            cv=CV,
            **BY_NDCG,
        ),
        lambda: loop(LGBM),
    ),
    "RFECV, groups=": (
        lambda: (
            RFECV(Ridge(), cv=CV, **BY_NDCG)
            .fit(X, Y, groups=IDS)
            .cv_results_["mean_test_score"][-1]
        ),
        lambda: np.mean(loop(Ridge())),
    ),
    "nested search": (
        lambda: cross_val_score(
            GridSearchCV(ranker(), {}, cv=CV, **BY_NDCG), X, Y, **GROUPS, **BY_NDCG
        ),
        lambda: loop(LGBM),
    ),
    "two processes": (
        lambda: cross_val_score(ranker(), X, Y, **GROUPS, **BY_NDCG, n_jobs=2),
        lambda: loop(LGBM),
    ),
    # it trains on as many rows in each fold as the first fold has
    "learning curve": (
        lambda: learning_curve(ranker(XGB), INDEXED, Y, cv=CV, train_sizes=[1.0], **BY_NDCG)[2][0],
        lambda: loop(XGB, folds=[(train[: len(FOLDS[0][0])], test) for train, test in FOLDS]),
    ),
    "validation curve": (
        lambda: validation_curve(
            ranker(),
            X,
            Y,
            **GROUPS,
            param_name="estimator__num_leaves",
            param_range=[7],
            **BY_NDCG,
        )[1][0],
        lambda: loop(LGBM),
    ),
    "permutation test": (
        lambda: permutation_test_score(Ridge(), X, Y, **GROUPS, n_permutations=1, **BY_NDCG)[0],
        lambda: np.mean(loop(Ridge())),
    ),
    "predictions of folds": (
        lambda: ndcg(Y, cross_val_predict(ranker(), X, Y, **GROUPS), IDS),
        lambda: np.average(loop(LGBM), weights=[len(np.unique(IDS[t])) for _, t in FOLDS]),
    ),
    "folds as indices": (
        lambda: cross_val_score(ranker(), INDEXED, Y, cv=FOLDS, **BY_NDCG),
        lambda: loop(LGBM),
    ),
    "GroupKFold and an index level": (
        lambda: cross_val_score(ranker(), INDEXED, Y, groups=IDS, cv=GroupKFold(3), **BY_NDCG),
        lambda: loop(LGBM, folds=GroupKFold(3).split(X, Y, IDS)),
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
        lambda: ndcg(Y, fit_natively(LGBM, np.arange(len(Y))).predict(X), IDS),
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
    "a column of another name": (
        lambda: cross_val_score(
            QueryRanker(LGBM, groups="session_id"),
            SESSIONS,
            Y,
            cv=QueryKFold(3, groups="session_id"),
            scoring="ndcg@10(groups=session_id)",
        ),
        lambda: loop(LGBM),
    ),
}


@pytest.mark.parametrize("name", RIGHT)
def test_the_number_of_a_loop_written_by_hand(name):
    call, expected = RIGHT[name]
    with warnings.catch_warnings():
        # scikit-learn 1.6 and 1.7: LightGBM names the columns of an array
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        values, by_hand = call(), expected()
    assert np.isfinite(values).all()
    np.testing.assert_allclose(values, by_hand, rtol=1e-9)


CLASSIFIER = LogisticRegression(max_iter=10_000)
REFUSED = {
    "a bare ranker": (
        lambda: cross_val_score(LGBM, X, Y, **GROUPS, **BY_NDCG),
        "QueryRanker(LGBMRanker(...))",
    ),
    "a bare XGBRanker": (
        lambda: GridSearchCV(XGB, {"max_depth": [2]}, cv=CV, **BY_NDCG).fit(X, Y, groups=IDS),
        "QueryRanker(XGBRanker(...))",
    ),
    "folds of rows": (
        lambda: cross_val_score(ranker(), X, Y, cv=5, **BY_NDCG),
        "groups=ids and cv=QueryKFold(5)",
    ),
    "GroupKFold": (
        lambda: cross_val_score(Ridge(), X, Y, groups=IDS, cv=GroupKFold(3), **BY_NDCG),
        "groups=ids and cv=QueryKFold(5)",
    ),
    "GroupShuffleSplit in a search": (
        lambda: GridSearchCV(ranker(), LEAVES, cv=GroupShuffleSplit(2), **BY_NDCG).fit(
            X, Y, groups=IDS
        ),
        "groups=ids and cv=QueryKFold(5)",
    ),
    "make_scorer and GroupKFold": (
        lambda: cross_val_score(
            Ridge(), X, Y, groups=IDS, cv=GroupKFold(3), scoring=make_scorer(map_score, k=5)
        ),
        "groups=ids and cv=QueryKFold(5)",
    ),
    "a frame without ids": (
        lambda: cross_val_score(ranker(), SESSIONS, Y, cv=5, **BY_NDCG),
        "X.set_index('qid')",
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


@pytest.mark.parametrize("name", REFUSED)
def test_an_error_that_names_the_fix(name):
    call, fix = REFUSED[name]
    with pytest.raises((NoGroupsError, ValueError), match=re.escape(fix)) as raised:
        call()
    assert fix in str(raised.value).splitlines()[0]


@pytest.mark.parametrize(
    "call",
    [
        lambda: cross_val_score(Ridge(), INDEXED, Y, cv=5, **BY_NDCG),
        lambda: cross_val_score(Ridge(), WITH_COLUMN, Y, cv=5, **BY_NDCG),
        lambda: cross_val_predict(ranker(), INDEXED, Y, cv=5),
    ],
)
def test_divided_queries_warn(call):
    with pytest.warns(PartialQueryWarning, match="Use QueryKFold"):
        call()
