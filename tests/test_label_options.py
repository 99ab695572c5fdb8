"""Options of labels that no other test combines: one error for each contradiction."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

import sklearn_rankscore as rs

Y, S, G = np.array([1, 0, 1, 0, 2, 0]), np.arange(6.0), {"groups": np.array([0, 0, 0, 1, 1, 1])}
X, HALVES, SCORES = S[:, np.newaxis], np.full(6, 0.5), rs.query_scores(Y, S, "ndcg", **G)


def by_target(target):
    return lambda: rs.make_ranking_scorer("ndcg")(Ridge().fit(X, Y), X, Y, **G, target=target)


MISUSES = [  # call, and what the error tells
    (lambda: rs.dcg_score(Y, S, **G, propensity=HALVES, adjusted=True),
     "adjusted=True is not defined for clicks weighted by propensity"),
    (lambda: rs.dcg_score(Y, S, **G, clip=0.1), "propensity= is not given"),
    (lambda: rs.map_score(Y, S, **G, propensity=S), "unexpected keyword argument 'propensity'"),
    (by_target(np.where(S == 1, np.nan, Y)), "target contains NaN .first at position 1"),
    (by_target(Y[:5]), "inconsistent numbers of samples: y_true has 5 documents, y_score has 6"),
    (lambda: rs.evaluate(Y, S, "recall@2(target=orders)", **G),
     r"'recall' has no option 'target'.* only scorers"),
    (lambda: rs.score_bounds(np.where(S == 1, np.nan, Y), S, "query_auc", **G),
     "no exact bounds of 'query_auc'"),
    (lambda: rs.rectify(SCORES, SCORES, SCORES),
     "queries with human labels and two others are needed, of a positive weight; got 2 and 0"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "message"), MISUSES)
def test_one_clear_error(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call()
