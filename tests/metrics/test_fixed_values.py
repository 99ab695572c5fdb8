"""A warning where no scores could change a value."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge
from sklearn.model_selection import cross_val_score

from sklearn_rankscore import (
    QueryKFold,
    evaluate,
    make_ranking,
    map_score,
    mrr_score,
    ndcg_score,
    query_scores,
)

X, Y, GROUPS = make_ranking(n_queries=40, n_features=4, random_state=0)
SCORES = X[:, 0]
DOCUMENTS = np.arange(len(Y))
RATINGS = Y + 1
ONE_DOCUMENT = "have one document.*not that of the document"
EQUALLY_RELEVANT = "all are equally relevant to .*threshold="
BY_DOCUMENT, CLICKED = (Y > 0).mean(), Y > 0


def by_ratings(metric, labels=RATINGS, **options):
    return metric(labels, SCORES, groups=GROUPS, **options)


def fold(metric, y, groups):
    return cross_val_score(Ridge(), X, y, groups=groups, scoring=metric, cv=QueryKFold(2)).mean()


WARNING = [
    (ONE_DOCUMENT, BY_DOCUMENT, lambda: ndcg_score(Y, SCORES, groups=DOCUMENTS)),
    (ONE_DOCUMENT, BY_DOCUMENT, lambda: evaluate(Y, SCORES, "map", groups=DOCUMENTS)["map"]),
    (ONE_DOCUMENT, BY_DOCUMENT, lambda: query_scores(Y, SCORES, "mrr", groups=DOCUMENTS)["mrr"]),
    (ONE_DOCUMENT, BY_DOCUMENT, lambda: fold("hit_rate@3", Y, DOCUMENTS)),
    (ONE_DOCUMENT, BY_DOCUMENT,
     lambda: ndcg_score(pd.Series(Y, pd.Index(DOCUMENTS, name="qid")), SCORES)),
    (EQUALLY_RELEVANT, 1, lambda: by_ratings(map_score)),
    (EQUALLY_RELEVANT, 1, lambda: by_ratings(evaluate, metrics=["ndcg", "mrr"])["mrr"]),
    (EQUALLY_RELEVANT, 1, lambda: by_ratings(query_scores, metrics="map")["map"]),
    (EQUALLY_RELEVANT, 1, lambda: fold("mrr", RATINGS, GROUPS)),
    (EQUALLY_RELEVANT, 1, lambda: by_ratings(ndcg_score, np.ones(len(Y)), k=5)),
    (EQUALLY_RELEVANT, 1, lambda: by_ratings(ndcg_score, gain="binary")),
    (EQUALLY_RELEVANT, 1,
     lambda: ndcg_score(CLICKED[CLICKED], SCORES[CLICKED], groups=GROUPS[CLICKED])),
    (EQUALLY_RELEVANT, 1, lambda: by_ratings(map_score, np.where(GROUPS == 3, Y, RATINGS))),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:each query has one document")
@pytest.mark.parametrize(("message", "value", "call"), WARNING)
def test_values_that_the_labels_alone_decide(message, value, call):
    with pytest.warns(UserWarning, match=message) as caught:
        assert np.mean(call()) == pytest.approx(value, abs=0.03)
    assert {w.filename for w in caught} == {__file__}


NO_WARNING = {
    "a threshold": lambda: by_ratings(map_score, threshold=1),
    "grades of a gain": lambda: by_ratings(ndcg_score),
    "no relevant document": lambda: by_ratings(ndcg_score, 0 * Y),
    "few relevant documents": lambda: by_ratings(mrr_score, GROUPS[0] == GROUPS),
    "few queries": lambda: mrr_score([1, 1, 1], [3, 2, 1], groups=[1, 1, 2]),
    "half of the queries": lambda: by_ratings(map_score, np.where(GROUPS % 2, RATINGS, Y)),
    "unjudged documents": lambda: by_ratings(
        map_score, np.where(Y > 0, 1, np.nan), unjudged="irrelevant"
    ),
    "rows that rank classes": lambda: ndcg_score(
        np.eye(20), np.random.default_rng(0).random((20, 20))
    ),
    "a function of a block": lambda: by_ratings(
        evaluate, metrics=lambda block: block.by_rank(lambda labels: labels)[:, 0]
    ),
}


@pytest.mark.parametrize("name", NO_WARNING)
def test_values_that_depend_on_the_scores(name):
    NO_WARNING[name]()
