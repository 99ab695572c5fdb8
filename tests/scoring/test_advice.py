"""What an error or a warning advises works when it is followed."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_selection import SelectFromModel, SequentialFeatureSelector
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    HalvingGridSearchCV,
    cross_val_score,
)
from sklearn.pipeline import Pipeline, make_pipeline

import sklearn_rankscore
from sklearn_rankscore import (
    PartialQueryWarning,
    QueryKFold,
    QueryRanker,
    make_ranking,
    map_score,
    ndcg_score,
)

FRAME, GRADES = make_ranking(n_queries=30, as_frame=True, random_state=0)
IDS, Y = FRAME.pop("qid").to_numpy(), np.asarray(GRADES)
X = FRAME.to_numpy()
QID, SESSIONS = FRAME.assign(QID=IDS), FRAME.assign(session_id=IDS)
INDEXED = FRAME.set_index(pd.Index(IDS, name="qid"))
CV, BY_NDCG = QueryKFold(5), {"scoring": "ndcg@10", "error_score": "raise"}
RANKER = QueryRanker(Ridge(), max_queries=20, random_state=0)
SELECT = make_pipeline(SelectFromModel(RANKER), RANKER)
PIPELINE = Pipeline([("select", SelectFromModel(Ridge())), ("ranker", RANKER)])
SEARCH = GridSearchCV(RANKER, {}, cv=CV, **BY_NDCG)
OF_Y = "pd.Series(numpy.asarray(y), index=pd.Index(ids, name='qid'))"


def select(X, y, **options):
    selector = SequentialFeatureSelector(Ridge(), n_features_to_select=2, scoring="ndcg@10")
    return selector.set_params(**options).fit(X, y)


def halving(**options):
    grid = {"estimator__alpha": [1, 10]}
    search = HalvingGridSearchCV(RANKER, grid, cv=GroupKFold(3), random_state=0, **BY_NDCG)
    with warnings.catch_warnings():
        warnings.simplefilter("error", PartialQueryWarning)
        search.set_params(**options).fit(X, Y, groups=IDS)
    return search


def validated(model, X=X, scoring="ndcg@10", **options):
    return cross_val_score(model, X, Y, cv=CV, scoring=scoring, error_score="raise", **options)


def function_of(name):
    # a lambda that calls the function by its name, as a global one and as one of the package
    return {
        "global": lambda y, scores: ndcg_score(y, scores),
        "of the package": lambda y, scores: sklearn_rankscore.map_score(y, scores),
    }[name]


# the call, the advice in its message, and the call that follows it, given the advice as code
ADVICE = {
    "a selection by a ranker in a pipeline": (
        lambda: validated(SELECT, groups=IDS),
        "in the index of X or y, as by X.set_index('qid')",
        lambda: validated(SELECT, QID.rename(columns={"QID": "qid"}).set_index("qid")),
    ),
    "sequential selection": (
        lambda: select(X, Y),
        f"where it takes no groups, pass cv=QueryKFold(5) and {OF_Y} as y",
        lambda: select(X, evaluated(OF_Y), cv=QueryKFold(5)),
    ),
    "sequential selection by queries": (
        lambda: select(X, Y, cv=CV),
        OF_Y,
        lambda: select(X, evaluated(OF_Y), cv=CV),
    ),
    "the score of a search": (
        lambda: SEARCH.fit(X, Y, groups=IDS).score(X, Y),
        OF_Y,
        lambda: SEARCH.fit(X, Y, groups=IDS).score(X, evaluated(OF_Y)),
    ),
    "successive halving of rows": (
        lambda: halving(min_resources=100),
        "resource='max_queries' and max_resources=, the number of training queries of a fold",
        lambda: halving(resource="max_queries", max_resources=20),
    ),
    "a column QID": (
        lambda: validated(RANKER, QID),
        "X.set_index('QID').rename_axis('qid')",
        lambda: validated(RANKER, evaluated("X.set_index('QID').rename_axis('qid')", QID)),
    ),
    "a name on the ranker only": (
        lambda: validated(QueryRanker(Ridge(), groups="session_id"), SESSIONS),
        "QueryKFold(5, groups='session_id'), QueryRanker(..., groups='session_id') and "
        "'ndcg@10(groups=session_id)'",
        lambda: cross_val_score(
            QueryRanker(Ridge(), groups="session_id"), SESSIONS, Y,
            cv=QueryKFold(5, groups="session_id"), scoring="ndcg@10(groups=session_id)",
        ),
    ),
    "groups of a pipeline": (
        lambda: PIPELINE.fit(X, Y, groups=IDS),
        "stepname__parameter",
        lambda: PIPELINE.fit(X, Y, ranker__groups=IDS),
    ),
    "a function that calls a metric": (
        lambda: validated(Ridge(), groups=IDS, scoring=make_scorer(function_of("global"))),
        "use scoring='ndcg@10' or make_scorer(ndcg_score, k=10), which get the ids",
        lambda: validated(Ridge(), groups=IDS, scoring=make_scorer(ndcg_score, k=10)),
    ),
    "a function that calls a metric of the package": (
        lambda: validated(Ridge(), groups=IDS, scoring=make_scorer(function_of("of the package"))),
        "use scoring='ndcg@10' or",
        lambda: validated(Ridge(), groups=IDS),
    ),
}  # fmt: skip


def evaluated(advice, X=X):
    return eval(advice, {"X": X, "y": Y, "ids": IDS, "pd": pd, "numpy": np})


@pytest.mark.parametrize("name", ADVICE)
def test_the_advice_runs(name):
    call, advice, followed = ADVICE[name]
    with pytest.raises((ValueError, PartialQueryWarning), match=re.escape(advice)):
        call()
    followed()


def test_a_function_may_pass_ids_or_find_them():
    labels = pd.Series(Y, index=pd.Index(IDS, name="qid"))
    options = {"cv": CV, "error_score": "raise"}
    expected = cross_val_score(Ridge(), X, labels, scoring="map", **options)
    for function in (
        lambda y, scores: map_score(y, scores),
        lambda y, scores: map_score(y.to_numpy(), scores, groups=y.index),
    ):
        values = cross_val_score(Ridge(), X, labels, scoring=make_scorer(function), **options)
        np.testing.assert_allclose(values, expected)


@pytest.mark.parametrize("model", [LogisticRegression(), QueryRanker(LogisticRegression())])
def test_which_of_two_texts_is_relevant_is_told(model):
    words = np.where(Y > 1, "relevant", "spam")
    options = {"groups": IDS, "cv": CV, "scoring": "map", "error_score": "raise"}
    with pytest.warns(UserWarning, match=r"'spam', the last in .* is taken as relevant") as caught:
        values = cross_val_score(model, X, words, **options)
    messages = " ".join(str(warning.message) for warning in caught)  # SciPy warns too
    advice = re.search(r"\(y == 'spam'\)\.astype\(int\)", messages)[0]
    encoded = eval(advice, {"y": words})
    np.testing.assert_allclose(values, cross_val_score(model, X, encoded, **options))
    relevant = (words == "relevant").astype(int)
    assert (values != cross_val_score(model, X, relevant, **options)).all()


def test_text_that_is_numbers_in_order_needs_no_warning():
    words = (Y > 1).astype(int).astype(str)
    values = cross_val_score(LogisticRegression(), X, words, groups=IDS, cv=CV, scoring="map")
    expected = cross_val_score(LogisticRegression(), X, Y > 1, groups=IDS, cv=CV, scoring="map")
    np.testing.assert_allclose(values, expected)


def test_the_functions_refuse_text():
    with pytest.raises(TypeError, match="map them to numbers"):
        ndcg_score(np.where(Y > 1, "relevant", "spam"), X[:, 0], groups=IDS)
