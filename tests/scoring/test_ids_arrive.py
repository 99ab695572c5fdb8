"""Ids reach the fit and the metric, whichever way they are given, by every tool and kind of scorer.

`Checked` refuses a fit without the ids of its rows, and a loop over the folds has the scores: wrong
ids at either place fail. The ways that do not reach a tool are refused.
"""

from functools import cache, partial

import numpy as np
import oracle
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
import sklearn
from id_alignment import FOLDS, N_DOCUMENTS, QID, X, Y, whole_queries
from sklearn import config_context
from sklearn import model_selection as ms
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import BaggingRegressor, HistGradientBoostingRegressor
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_selection import RFECV, SequentialFeatureSelector
from sklearn.inspection import permutation_importance
from sklearn.linear_model import Ridge, RidgeCV
from sklearn.metrics import make_scorer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import sklearn_rankscore as rs

CV = rs.QueryKFold(3)


class Checked(Ridge):
    """Its fit refuses sizes that are not those of the queries of its rows."""

    def fit(self, X, y, group=None):
        query, starts = np.asarray(y) // 10, np.cumsum(group) - group
        assert (group == N_DOCUMENTS).all()
        assert (query == np.repeat(query[starts], group)).all()
        return super().fit(X, y)


def ranker(place=None):
    return rs.QueryRanker(Checked(), group_param="group", groups=place)


def splits(cv):
    return cv if isinstance(cv, list) else list(cv.split(X, Y, groups=QID))


def loop(cv, k=3):
    """The scores of the folds, by the definition of the metric."""
    scores = [(Ridge().fit(X[train], Y[train]).predict(X[test]), test) for train, test in cv]
    return [
        oracle.score("ndcg", Y[test].tolist(), s.tolist(), QID[test].tolist(), k=k)
        for s, test in scores
    ]


@cache
def expected(way, k=3):
    return loop(splits(WAYS[way][-1]), k)


FRAME = pd.DataFrame(X, columns=list("abc"))
LEVEL = pd.Index(QID, name="qid")
TWO = {"user": QID // 3, "session": QID % 3}  # together they tell queries apart
# X, y, the place of the ids, what the call is given, and its splitter
WAYS = {
    "groups=": (X, Y, None, {"groups": QID}, CV),
    "groups= of a frame": (FRAME, Y, None, {"groups": QID}, CV),
    "groups= beside a list": (X.tolist(), Y, None, {"groups": QID}, CV),
    "groups=, GroupKFold": (X, Y, None, {"groups": QID}, ms.GroupKFold(3)),
    "groups=, folds": (X, Y, None, {"groups": QID}, FOLDS),
    "folds of ours": (X, Y, None, {}, splits(CV)),
    "level": (FRAME.set_index(LEVEL), Y, None, {}, CV),
    "level, folds": (FRAME.set_index(LEVEL), Y, None, {}, FOLDS),
    "level of two": (FRAME.assign(day=1, qid=QID).set_index(["day", "qid"]), Y, None, {}, CV),
    "level in Arrow": (FRAME.set_index(LEVEL.astype("int64[pyarrow]")), Y, None, {}, CV),
    "named level": (FRAME.set_index(LEVEL.rename("session")), Y, "session", {}, CV),
    "column": (FRAME.assign(qid=QID), Y, None, {}, CV),
    "column of polars": (pl.from_pandas(FRAME.assign(qid=QID)), Y, None, {}, CV),
    "column of pyarrow": (pa.Table.from_pandas(FRAME.assign(qid=QID)), Y, None, {}, CV),
    "named column": (FRAME.assign(session=QID), Y, "session", {}, CV),
    "two columns": (FRAME.assign(**TWO), Y, ["user", "session"], {}, CV),
    "y level": (X, pd.Series(Y, LEVEL), None, {}, CV),
    "y level, sparse": (scipy.sparse.csr_matrix(X), pd.Series(Y, LEVEL), None, {}, CV),
    "named y level": (X, pd.Series(Y, LEVEL.rename("session")), "session", {}, CV),
    "routed groups": (X, Y, None, {"params": {"groups": QID}}, CV),
    "routed, GroupKFold": (X, Y, None, {"params": {"groups": QID}}, ms.GroupKFold(3)),
    "routed qid": (X, Y, None, {"params": {"qid": QID}}, CV),
}
if sklearn.__version__.startswith("1.6."):  # it takes no rows of pyarrow
    del WAYS["column of pyarrow"]
ROUTED = {way for way in WAYS if "routed" in way}
ON_Y = {way for way in WAYS if "y level" in way}
OF_FOLDS = {"folds of ours"}
ON_X = {way for way in WAYS if "level" in way or "column" in way} - ON_Y


def by_name(place):
    if isinstance(place, list):
        return rs.make_ranking_scorer("ndcg@3", groups=place)
    return "ndcg@3" if place is None else f"ndcg@3(groups={place})"


def requesting_groups(scorer):
    is_routed = sklearn.get_config()["enable_metadata_routing"]
    return scorer.set_score_request(groups=True) if is_routed else scorer


KINDS = {
    "name": by_name,
    "scorer": lambda place: rs.make_ranking_scorer("ndcg", k=3, groups=place),
    "several": lambda place: {"ndcg": by_name(place), "r2": "r2"},
    "sum": lambda place: rs.make_weighted_scorer({"ndcg@3": 1}, groups=place),
    "function": lambda _: requesting_groups(make_scorer(rs.ndcg_score, k=3)),
    "partial": lambda _: requesting_groups(make_scorer(partial(rs.ndcg_score, k=3))),
    "none": lambda _: None,
}


def searched(kind, model, grid, given, X, y, **options):
    """The scores by fold of the last candidate of a search."""
    if isinstance(options["scoring"], dict):
        options["refit"] = "ndcg"
    results = kind(model, grid, **options).fit(X, y, **(given.get("params") or given)).cv_results_
    name = "ndcg" if "split0_test_ndcg" in results else "score"
    return [results[f"split{i}_test_{name}"][-1] for i in range(3)]


def validated(model, given, X, y, **options):
    scores = ms.cross_validate(model, X, y, **given, **options, return_train_score=True)
    name = "ndcg" if "test_ndcg" in scores else "score"
    assert np.isfinite(scores[f"train_{name}"]).all()
    return scores[f"test_{name}"]


def nested(model, given, X, y, cv, **options):
    inner = ms.GridSearchCV(model, {}, cv=CV if isinstance(cv, list) else cv, **options)
    return ms.cross_val_score(inner, X, y, **given, cv=cv, **options)


def permuted(model, given, X, y, error_score, **options):
    model = rs.QueryRanker(Ridge(), groups=model.groups)  # which is fitted to shuffled labels too
    return ms.permutation_test_score(model, X, y, **given, **options, n_permutations=1)[0]


ALPHAS, ALPHA = {"estimator__alpha": [9, 1.0]}, {"estimator__alpha": [1.0]}
CURVE = {"param_name": "estimator__alpha", "param_range": [1.0]}
ROUNDS = {"resource": "estimator__max_iter", "min_resources": 10, "max_resources": 20, "factor": 2}
TARGET = {"func": np.positive, "inverse_func": np.positive}
PLAIN = FunctionTransformer()
TOOLS = {  # the scores of the folds, of a model, what the call is given, X, y and options
    "cross_val_score": lambda m, g, *data, **o: ms.cross_val_score(m, *data, **g, **o),
    "cross_validate": validated,
    "pipeline": lambda m, *a, **o: validated(make_pipeline(PLAIN, m), *a, **o),
    "target": lambda m, *a, **o: validated(TransformedTargetRegressor(m, **TARGET), *a, **o),
    "grid": lambda m, *a, **o: searched(ms.GridSearchCV, m, ALPHAS, *a, **o),
    "candidates": lambda m, *a, **o: searched(
        ms.GridSearchCV, make_pipeline(PLAIN, m), {"queryranker": [m]}, *a, **o
    ),
    "random": lambda m, *a, **o: searched(ms.RandomizedSearchCV, m, ALPHA, *a, n_iter=1, **o),
    "halving": lambda m, *a, **o: searched(ms.HalvingGridSearchCV, m, ALPHA, *a, **ROUNDS, **o),
    "nested": nested,
    "learning curve": lambda m, g, *data, **o: ms.learning_curve(
        m, *data, **g, **o, train_sizes=[1.0]
    )[2][0],
    "validation curve": lambda m, g, *data, **o: ms.validation_curve(m, *data, **g, **o, **CURVE)[
        1
    ][0],
    "permutation test": permuted,
}
# it has no fold to bring the ids along, and hands the groups of the call to its shuffles
LOST = {"permutation test": set(WAYS) - ON_X - ON_Y - ROUTED}


def call(tool, way, kind="name", **more):
    rows, labels, place, given, cv = WAYS[way]
    cv = rs.QueryKFold(3, groups=place) if cv is CV else cv
    with config_context(enable_metadata_routing=way in ROUTED):
        options = {"scoring": KINDS[kind](place), "cv": cv, "error_score": "raise", **more}
        return TOOLS[tool](ranker(place), given, rows, labels, **options)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("tool", TOOLS)
def test_every_tool(tool, way):
    if way in LOST.get(tool, ()):
        with pytest.raises(rs.NoGroupsError):
            call(tool, way)
    else:
        value, by_fold = call(tool, way), expected(way)
        by_hand = np.mean(by_fold) if tool == "permutation test" else by_fold
        np.testing.assert_allclose(value, by_hand, rtol=1e-9)


PAIRS = [
    (kind, way)
    for kind in KINDS
    for way in WAYS
    if way != "routed qid" or kind not in ("function", "partial")  # which do not take it
]


@pytest.mark.parametrize(("kind", "way"), PAIRS)
def test_every_kind_of_scorer(kind, way):
    by_fold = expected(way, None if kind == "none" else 3)
    for tool in ("grid", "cross_validate"):
        np.testing.assert_allclose(call(tool, way, kind), by_fold, rtol=1e-9)


@pytest.mark.parametrize("way", ["groups=", "groups=, GroupKFold", "level in Arrow", "routed qid"])
@pytest.mark.parametrize("tool", ["cross_validate", "grid", "nested"])
def test_two_processes(tool, way):
    np.testing.assert_allclose(call(tool, way, n_jobs=2), expected(way), rtol=1e-9)


def feature_selector(X, y, scoring, cv, given):
    cv = FOLDS if given else cv  # scikit-learn gives the ids to the scorer alone
    selector = SequentialFeatureSelector(Ridge(), n_features_to_select=1, scoring=scoring, cv=cv)
    return selector.fit(X, y, **given).get_support().sum()


def importance(X, y, scoring, cv, given):
    options = {"scoring": scoring, "n_repeats": 1} | given
    # no feature of the first three has ids
    return 1 - permutation_importance(Ridge().fit(X, y), X, y, **options).importances[:3]


def rfecv(X, y, scoring, cv, given):
    selector = RFECV(Ridge(), scoring=scoring, cv=cv).fit(X, y, **given)
    return [*selector.cv_results_["mean_test_score"], selector.score(X, y, **given)]


def ridge_cv(X, y, scoring, cv, given):
    return RidgeCV(alphas=[1, 10], scoring=scoring, cv=cv).fit(X, y, **given).best_score_


def bagged_search(X, y, scoring, cv, given):
    inner = ms.GridSearchCV(Ridge(), {}, scoring=scoring, cv=2, error_score="raise")
    return BaggingRegressor(inner, 2).fit(X, y, **given).score(X, y)


def boosting(X, y, scoring, cv, given):
    return HistGradientBoostingRegressor(scoring=scoring, early_stopping=True).fit(X, y, **given)


# tools that fit models of their own: 1 if the ids have arrived, and the ways that do
OF_PANDAS = ON_X - {"column of polars", "column of pyarrow"}
ARRIVES = {
    ridge_cv: ON_X | ON_Y | ROUTED | OF_FOLDS,
    lambda X, y, scoring, cv, given: ridge_cv(X, y, scoring, None, given): ROUTED,
    rfecv: ROUTED,
    feature_selector: ON_Y | ROUTED | OF_FOLDS,
    importance: (OF_PANDAS | ON_Y) - {"y level, sparse"},
    bagged_search: set(),
    boosting: set(),
}


@pytest.mark.parametrize("way", [way for way in WAYS if "groups=" not in way])
@pytest.mark.parametrize("tool", ARRIVES, ids=lambda tool: tool.__name__)
def test_tools_with_models_of_their_own(tool, way):
    rows, labels, place, given, cv = WAYS[way]
    cv = rs.QueryKFold(3, groups=place) if cv is CV else cv
    scorer, given = rs.make_ranking_scorer(whole_queries, groups=place), given.get("params", {})
    with config_context(enable_metadata_routing=way in ROUTED):
        if way in ARRIVES[tool]:
            np.testing.assert_allclose(tool(rows, labels, scorer, cv, given), 1.0)
        else:
            # a tool that turns the errors of a scorer into nan warns with their message
            with pytest.raises((ValueError, TypeError, AttributeError, UserWarning)):
                tool(rows, labels, scorer, cv, given)
