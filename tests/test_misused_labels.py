"""Each misuse of missing, biased and other labels has one error, before anything is fitted."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from sklearn_rankscore import (
    QueryRanker,
    cross_val_query_scores,
    dcg_score,
    evaluate,
    make_ranking_scorer,
    map_score,
    ndcg_score,
    query_auc_score,
    query_scores,
    rectify,
    score_bounds,
    spearman_score,
)

Y, S, G = np.array([1, 0, 1, 0, 2, 0]), np.arange(6.0), np.array([0, 0, 0, 1, 1, 1])
UNJUDGED = np.where(np.arange(6) == 1, np.nan, Y)
X = np.column_stack([S, -S])
SOME = {"groups": G}
SCORES = query_scores(Y, S, "ndcg", groups=G)


def propensity(value):
    return np.where(np.arange(6) == 2, value, 0.5)


def ranker():
    return QueryRanker(Ridge())


MISUSES = {
    "propensity of 0": (
        lambda: dcg_score(Y, S, **SOME, propensity=propensity(0)),
        r"propensity must lie in \(0, 1\].*got values from 0 to 0\.5",
    ),
    "propensity above 1": (
        lambda: dcg_score(Y, S, **SOME, propensity=propensity(1.5)),
        r"propensity must lie in \(0, 1\].*got values from 0\.5 to 1\.5",
    ),
    "propensity NaN": (
        lambda: dcg_score(Y, S, **SOME, propensity=propensity(np.nan)),
        "propensity contains NaN .first at position 2",
    ),
    "propensity of a metric that is no sum": (
        lambda: map_score(Y, S, **SOME, propensity=propensity(1)),
        "unexpected keyword argument 'propensity'",
    ),
    "propensity of a name that is no sum": (
        lambda: evaluate(Y, S, "map", **SOME, propensity=propensity(1)),
        "'map' takes no propensity: the contribution of a document depends on",
    ),
    "propensity of a stranger": (
        lambda: dcg_score(Y, S, **SOME, propensity="seen"),
        "propensity='seen' is neither a column of X nor an index level",
    ),
    "clip alone": (lambda: dcg_score(Y, S, **SOME, clip=0.1), "propensity= is not given"),
    "clip of 0": (
        lambda: dcg_score(Y, S, **SOME, propensity=propensity(1), clip=0),
        "clip must be above 0",
    ),
    "adjusted clicks": (
        lambda: dcg_score(Y, S, **SOME, propensity=propensity(1), adjusted=True),
        "adjusted=True is not defined for clicks weighted by propensity",
    ),
    **{
        f"NaN with {function.__name__}": (
            lambda function=function: function(UNJUDGED, S, **SOME),
            r"(?s)y_true contains NaN .first at position 1.*unjudged='irrelevant'.*unjudged='drop'",
        )
        for function in (ndcg_score, map_score, query_auc_score, spearman_score, dcg_score)
    },
    "a rule that does not exist": (
        lambda: ndcg_score(UNJUDGED, S, **SOME, unjudged="dropp"),
        "unjudged must be one of .*; got 'dropp'. Did you mean 'drop'",
    ),
    "irrelevant documents that are relevant": (
        lambda: map_score(UNJUDGED, S, **SOME, unjudged="irrelevant", threshold=-1),
        "unjudged='irrelevant' gives documents the label 0, which threshold=-1 makes relevant",
    ),
    "NaN in QueryRanker.fit": (
        lambda: ranker().fit(X, UNJUDGED, **SOME),
        "(?s)y contains NaN .first at row 1.*fit only on judged documents",
    ),
    "NaN in a target": (
        lambda: make_ranking_scorer("ndcg")(Ridge().fit(X, Y), X, Y, **SOME, target=UNJUDGED),
        "target contains NaN .first at position 1",
    ),
    "a target of another length": (
        lambda: make_ranking_scorer("ndcg")(Ridge().fit(X, Y), X, Y, **SOME, target=Y[:5]),
        "inconsistent numbers of samples: y_true has 5 documents, y_score has 6",
    ),
    "a target outside of a scorer": (
        lambda: evaluate(Y, S, "recall@2(target=orders)", **SOME),
        "'recall' has no option 'target'.* only scorers",
    ),
    "an absent target": (
        lambda: cross_val_query_scores(ranker(), X, Y, groups=G, metrics="mrr", target="orders"),
        "target='orders' is neither a column of X nor an index level",
    ),
    "bounds of a metric without any": (
        lambda: score_bounds(UNJUDGED, S, "query_auc", **SOME),
        "score_bounds has no exact bounds of 'query_auc'",
    ),
    "human labels of all queries": (
        lambda: rectify(SCORES, SCORES, SCORES),
        "queries with human labels and two others are needed, of a positive weight; got 2 and 0",
    ),
}


@pytest.mark.parametrize("misuse", MISUSES)
def test_one_clear_error(misuse):
    call, message = MISUSES[misuse]
    with pytest.raises((ValueError, TypeError), match=message):
        call()
