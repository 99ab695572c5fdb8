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


def fold(metric, y, groups):
    return cross_val_score(Ridge(), X, y, groups=groups, scoring=metric, cv=QueryKFold(2)).mean()


ONE_DOCUMENT = {
    "function": (lambda: ndcg_score(Y, SCORES, groups=DOCUMENTS), (Y > 0).mean()),
    "index": (
        lambda: ndcg_score(pd.Series(Y, pd.Index(DOCUMENTS, name="qid")), SCORES),
        (Y > 0).mean(),
    ),
    "evaluate": (
        lambda: evaluate(Y, SCORES, "map", groups=DOCUMENTS)["map"],
        (Y > 0).mean(),
    ),
    "per query": (
        lambda: query_scores(Y, SCORES, "mrr", groups=DOCUMENTS).mean()["mrr"],
        (Y > 0).mean(),
    ),
    "folds": (lambda: fold("hit_rate@3", Y, DOCUMENTS), (Y > 0).mean()),
}
EQUALLY_RELEVANT = {
    "function": lambda: map_score(RATINGS, SCORES, groups=GROUPS),
    "evaluate": lambda: evaluate(RATINGS, SCORES, ["mrr"], groups=GROUPS)["mrr"],
    "several": lambda: evaluate(RATINGS, SCORES, ["ndcg", "mrr"], groups=GROUPS)["mrr"],
    "per query": lambda: query_scores(RATINGS, SCORES, "map", groups=GROUPS).mean()["map"],
    "folds": lambda: fold("mrr", RATINGS, GROUPS),
    "equal labels": lambda: ndcg_score(np.ones(len(Y)), SCORES, groups=GROUPS, k=5),
    "binary gain": lambda: ndcg_score(RATINGS, SCORES, groups=GROUPS, gain="binary"),
    "clicks only": lambda: evaluate(Y[Y > 0] > 0, SCORES[Y > 0], "ndcg", groups=GROUPS[Y > 0])[
        "ndcg"
    ],
    "a few others": lambda: map_score(np.where(GROUPS == 3, Y, RATINGS), SCORES, groups=GROUPS),
}


@pytest.mark.filterwarnings("ignore:each query has one document")
@pytest.mark.parametrize("name", ONE_DOCUMENT)
def test_ids_of_documents(name):
    call, value = ONE_DOCUMENT[name]
    with pytest.warns(UserWarning, match="have one document.*not that of the document") as caught:
        result = call()
    assert result == pytest.approx(value, abs=0.01)
    assert {w.filename for w in caught} == {__file__} or name == "folds"


@pytest.mark.parametrize("name", EQUALLY_RELEVANT)
def test_every_document_relevant(name):
    with pytest.warns(UserWarning, match="all are equally relevant to .*threshold="):
        assert EQUALLY_RELEVANT[name]() == pytest.approx(1, abs=0.03)


NOT_FIXED = {
    "a threshold": lambda: map_score(RATINGS, SCORES, groups=GROUPS, threshold=1),
    "grades of a gain": lambda: ndcg_score(RATINGS, SCORES, groups=GROUPS),
    "no relevant document": lambda: ndcg_score(0 * Y, SCORES, groups=GROUPS),
    "few relevant documents": lambda: mrr_score(GROUPS[0] == GROUPS, SCORES, groups=GROUPS),
    "few queries": lambda: mrr_score([1, 1, 1], [3, 2, 1], groups=[1, 1, 2]),
    "half of the queries": lambda: map_score(
        np.where(GROUPS % 2, RATINGS, Y), SCORES, groups=GROUPS
    ),
    "unjudged documents": lambda: map_score(
        np.where(Y > 0, 1, np.nan), SCORES, groups=GROUPS, unjudged="irrelevant"
    ),
    "rows that rank classes": lambda: ndcg_score(
        np.eye(20), np.random.default_rng(0).random((20, 20))
    ),
    "a function of a block": lambda: evaluate(
        RATINGS, SCORES, lambda block: block.by_rank(lambda labels: labels)[:, 0], groups=GROUPS
    ),
}


@pytest.mark.parametrize("name", NOT_FIXED)
def test_values_that_depend_on_the_scores(name):
    NOT_FIXED[name]()
