"""A fitted ranker in a FrozenEstimator is scored without being fitted, and so needs ids once."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import VotingRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import ndcg_score as scikit_learns_ndcg
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from small_rankers import LGBM

from sklearn_rankscore import NoGroupsError, QueryKFold, QueryRanker, make_ranking

CV = QueryKFold(3)
X, Y, QID = make_ranking(n_queries=24, random_state=0)
RANKER = QueryRanker(clone(LGBM)).fit(X, Y, groups=QID)
FROZEN = {
    "a ranker": FrozenEstimator(RANKER),
    "in a pipeline": make_pipeline(FunctionTransformer(), FrozenEstimator(RANKER)),
    "a pipeline": FrozenEstimator(
        make_pipeline(FunctionTransformer(), QueryRanker(LGBM)).fit(X, Y, queryranker__groups=QID)
    ),
    "a search": FrozenEstimator(
        GridSearchCV(QueryRanker(LGBM), {"max_queries": [None]}, scoring="ndcg", cv=CV).fit(
            X, Y, groups=QID
        )
    ),
}


def by_hand(k):
    """The mean NDCG of the queries of each fold."""
    scores, fold_means = RANKER.predict(X), []
    for _, test in CV.split(X, Y, groups=QID):
        rows_of_queries = [np.flatnonzero(q == QID) for q in np.unique(QID[test])]
        values = [scikit_learns_ndcg([Y[r]], [scores[r]], k=k) for r in rows_of_queries]
        fold_means.append(np.mean(values))
    return fold_means


@pytest.mark.parametrize(("scoring", "k"), [("ndcg@10", 10), (None, None)])
@pytest.mark.parametrize("name", FROZEN)
def test_groups_of_the_call_reach_the_score(name, scoring, k):
    scores = cross_val_score(FROZEN[name], X, Y, groups=QID, scoring=scoring, cv=CV)
    np.testing.assert_allclose(scores, by_hand(k), rtol=1e-9)


def test_a_ranker_beside_a_frozen_one_is_fitted_and_needs_ids():
    vote = VotingRegressor([("frozen", FrozenEstimator(RANKER)), ("other", QueryRanker(LGBM))])
    with pytest.raises(NoGroupsError, match="have them in the index of X"):
        cross_val_score(vote, X, Y, groups=QID, scoring="ndcg@10", cv=CV)


@pytest.mark.parametrize("scoring", ["ndcg@10", None])
@pytest.mark.parametrize("name", FROZEN)
def test_missing_ids_are_refused(name, scoring):
    with pytest.raises(NoGroupsError, match="No query ids reached"):
        cross_val_score(FROZEN[name], X, Y, scoring=scoring, cv=3)
