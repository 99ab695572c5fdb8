"""Which batches and accumulators belong together, and what they store."""

import numpy as np
import pandas as pd
import pytest

from sklearn_rankscore import RankingAccumulator, evaluate


def indexed(values, ids):
    return pd.Series(values, index=pd.Index(ids, name="qid"))


def test_ids_in_the_index_are_those_of_the_batch():
    labels, scores, ids = [1, 0, 0, 1], [2.0, 1, 2, 1], [7, 7, 8, 8]
    stream = RankingAccumulator("mrr", per_query=True)
    stream.update(indexed(labels[:2], ids[:2]), scores[:2])
    stream.update(labels[2:], indexed(scores[2:], ids[2:]))
    assert stream.scores() == evaluate(labels, scores, "mrr", groups=ids)
    assert stream.query_values()[0].tolist() == [7, 8]


@pytest.mark.parametrize("per_query", [False, True])
def test_a_query_by_index_in_two_batches_is_refused(per_query):
    stream = RankingAccumulator("mrr", per_query=per_query)
    stream.update(indexed([0, 1], [1, 1]), [2.0, 1])
    with pytest.raises(ValueError, match="query 1 is split"):
        stream.update(indexed([1, 0], [1, 2]), [2.0, 1])
    stream = RankingAccumulator("mrr", per_query=per_query)
    stream.update_sorted([0, 1], [2.0, 1], [1, 1])
    with pytest.raises(ValueError, match="query 1"):
        stream.update(indexed([1, 0], [1, 2]), [2.0, 1])


def test_different_options_in_another_order_differ():
    first, second = (
        RankingAccumulator("map", **options).update([1, 2], [1.0, 2])
        for options in ({"k": 1, "threshold": 2}, {"threshold": 1, "k": 2})
    )
    with pytest.raises(ValueError, match="options are the same; got map"):
        first.merge(second)
    same = RankingAccumulator("map", threshold=2, k=1).update([1, 2], [1.0, 2])
    assert first.merge(same).result()["map"].n_queries == 2


def test_values_that_were_not_stored_cannot_be_taken():
    stream = RankingAccumulator("mrr").update([1, 0], [2.0, 1], [1, 1])
    with pytest.raises(ValueError, match="stored only with per_query=True"):
        stream.take_values()


@pytest.mark.parametrize("other", ["a", (1, np.inf)])
def test_an_infinite_id_beside_others(other):
    ids = [-np.inf, np.inf, other, other]
    batch = np.fromiter(ids, dtype=object, count=4)
    stream = RankingAccumulator("mrr")
    stream.update_sorted([1, 1, 0, 1], [1.0, 1, 2, 1], batch, order="grouped")
    assert stream.result()["mrr"].n_queries == 3
    with pytest.raises(ValueError, match="inf"):
        stream.update_sorted([1], [1.0], np.array([np.inf]), order="grouped")
