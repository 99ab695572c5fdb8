"""Rows in different orders, wherever two of the given columns show it."""

import numpy as np
import pandas as pd
import pytest

from sklearn_rankscore import (
    QueryTimeSeriesSplit,
    RankingAccumulator,
    evaluate,
    query_scores,
    score_bounds,
)

FRAME = pd.DataFrame(
    {"qid": [1, 2, 2, 2], "y": [0, 1, 1, 0], "s": [0.9, 0.4, 0.8, 0.1], "w": [1, 3, 3, 3]},
    index=list("abcd"),
)
OTHER = FRAME.iloc[::-1]
LABELS = FRAME["y"].to_numpy()
BY_SYSTEM = [evaluate, query_scores, score_bounds]


@pytest.mark.parametrize("labels", [LABELS, pd.Series(LABELS)])
def test_scores_and_ids_are_compared_whatever_the_labels_are(labels):
    for scores in (FRAME["s"], *([{"a": FRAME["s"]}] if labels is LABELS else [])):
        with pytest.raises(ValueError, match=r"indexes of y_score and groups .* different orders"):
            evaluate(labels, scores, "mrr", groups=OTHER["qid"])


@pytest.mark.parametrize("function", BY_SYSTEM)
def test_columns_beside_several_systems(function):
    with pytest.raises(ValueError, match="y_score and groups"):
        function(LABELS, {"a": OTHER["s"]}, "mrr", groups=FRAME["qid"])
    systems = {"a": FRAME["s"].to_numpy()}
    with pytest.raises(ValueError, match="groups and sample_weight"):
        function(LABELS, systems, "mrr", groups=FRAME["qid"], sample_weight=OTHER["w"])


@pytest.mark.parametrize("function", BY_SYSTEM)
def test_ids_in_the_index_of_one_system_are_those_of_all(function):
    indexed = FRAME.set_index("qid")["s"]
    both = function(LABELS, {"a": indexed.to_numpy(), "b": indexed}, "mrr")
    expected = function(LABELS, indexed, "mrr")
    assert repr(both["a"]) == repr(both["b"]) == repr(expected)


def test_rows_of_two_dimensions_remain_queries():
    labels, scores = np.array([[0, 1], [1, 0]]), pd.DataFrame([[1, 2], [1, 2]])
    assert evaluate(labels, {"a": scores}, "mrr") == {"a": evaluate(labels, scores, "mrr")}


def test_sorted_streams():
    stream = RankingAccumulator("mrr")
    ordered = {"groups": FRAME["qid"], "sample_weight": FRAME["w"]}
    for wrong in ({"groups": OTHER["qid"]}, {"sample_weight": OTHER["w"]}):
        with pytest.raises(ValueError, match="different orders"):
            stream.update_sorted(FRAME["y"], FRAME["s"], **ordered | wrong)
    with pytest.raises(ValueError, match="y_score and groups"):
        stream.update_sorted(LABELS, OTHER["s"], FRAME["qid"])
    expected = evaluate(FRAME["y"], FRAME["s"], "mrr", **ordered)
    assert stream.update_sorted(FRAME["y"], FRAME["s"], **ordered).scores() == expected


def test_functions_of_splitters_and_propensities():
    X = pd.DataFrame({"qid": [3, 1, 2, 1], "day": [4, 3, 2, 1]})
    splitter = QueryTimeSeriesSplit(2, times=lambda X: X["day"].sort_values(), groups="qid")
    with pytest.raises(ValueError, match="different orders"):
        list(splitter.split(X))
    propensity = pd.Series(0.5, OTHER.index)
    with pytest.raises(ValueError, match="y_score and propensity"):
        evaluate(LABELS, FRAME["s"], "dcg", groups=FRAME["qid"], propensity=propensity)
