"""pandas objects with the same row labels in different orders, which are combined by position."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge
from sklearn.metrics import make_scorer
from sklearn.model_selection import permutation_test_score
from sklearn.utils import shuffle

from sklearn_rankscore import (
    QueryKFold,
    QueryRanker,
    RankingAccumulator,
    evaluate,
    make_ranking,
    ndcg_score,
    query_scores,
)

X, Y = make_ranking(n_queries=12, n_features=3, as_frame=True, random_state=0)
FRAME = X.assign(label=Y, document=np.arange(len(X)))
INDEXES = {
    "row numbers": FRAME,
    "ids": FRAME.set_index(FRAME["document"].map("d{}".format)),
    "query and document": FRAME.set_index(["qid", "document"], drop=False),
    "other row numbers": FRAME.set_axis(np.arange(7, 7 + len(X))),
}
CALLS = {
    "function": lambda y, s, **options: ndcg_score(y, s, **options),
    "evaluate": lambda y, s, **options: evaluate(y, s, metrics=["mrr"], **options),
    "systems": lambda y, s, **options: query_scores(y, {"a": s}, metrics="mrr", **options),
    "accumulator": lambda y, s, **options: RankingAccumulator("mrr").update(y, s, **options),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("name", INDEXES)
@pytest.mark.parametrize("sorted_one", ["y_score", "groups", "sample_weight"])
def test_other_orders_are_refused(name, call, sorted_one):
    frame = INDEXES[name]
    columns = {"y_true": frame["label"], "y_score": frame["x0"], "groups": frame["qid"]}
    if sorted_one == "sample_weight":
        columns["sample_weight"] = pd.Series(1.0, index=frame.index)
    columns[sorted_one] = columns[sorted_one].iloc[::-1]
    y_true, y_score = columns.pop("y_true"), columns.pop("y_score")
    message = "indexes of y_true and .* in different orders|another index"
    with pytest.raises(ValueError, match=message):
        CALLS[call](y_true, y_score, **columns)


@pytest.mark.parametrize("name", INDEXES)
def test_the_proposed_fixes(name):
    frame = INDEXES[name]
    y_true, y_score = frame["label"], frame["x0"].sort_values()
    expected = ndcg_score(Y, X["x0"].to_numpy(), groups=X["qid"].to_numpy())
    assert ndcg_score(y_true, y_score.loc[y_true.index], groups=frame["qid"]) == expected
    by_position = ndcg_score(y_true, frame["x0"].iloc[::-1].to_numpy(), groups=frame["qid"])
    assert by_position == ndcg_score(Y, X["x0"].to_numpy()[::-1], groups=X["qid"].to_numpy())


def test_predictions_of_shuffled_rows_may_be_a_new_series():
    rows, labels = shuffle(X, pd.Series(Y), random_state=0)
    predicted = rows["x0"].to_numpy()
    value = ndcg_score(labels, pd.Series(predicted), groups=rows["qid"])
    assert value == ndcg_score(labels.to_numpy(), predicted, groups=rows["qid"].to_numpy())


@pytest.mark.parametrize("scoring", ["ndcg", make_scorer(ndcg_score), None])
def test_a_permutation_test_shuffles_labels_with_their_index(scoring):
    score, permuted, _ = permutation_test_score(
        QueryRanker(Ridge()), X, pd.Series(Y), scoring=scoring, cv=QueryKFold(3), n_permutations=3
    )
    assert (permuted < score).all()
