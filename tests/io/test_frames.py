"""Long frames: equivalent lists, each library, missing queries, duplicates, and errors."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sklearn_rankscore import (
    evaluate,
    from_frames,
    map_score,
    mrr_score,
    ndcg_score,
    recall_at_k,
)

LIBRARIES = [pd.DataFrame, pl.DataFrame, pa.table]
NAMES = ["ndcg", "ndcg@2", "map", "mrr", "recall@2", "precision@3", "hits"]
LOG = {"user": ["ann", "ann", "bob", "eve"], "item": ["tea", "jam", "tea", "oil"]}
TOP = {"user": ["ann", "ann", "bob"], "item": ["oil", "jam", "tea"], "rank": [1, 2, 1]}
BY = {"groups": "user", "document": "item"}


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_log_and_a_top_n_list(library):
    documents = from_frames(library(LOG), library(TOP), **BY, rank="rank")
    # ann finds 1 of 2 items at rank 2, bob 1 of 1 at rank 1, eve has no predictions
    assert recall_at_k(**documents, k=2, average=None).tolist() == [0.5, 1, 0]
    assert mrr_score(**documents, average=None).tolist() == [0.5, 1, 0]
    assert np.unique(documents["groups"]).tolist() == ["ann", "bob", "eve"]


@pytest.mark.parametrize("library", LIBRARIES)
def test_one_frame_with_relevance_and_scores(library):
    rng = np.random.default_rng(0)
    data = {"q": rng.integers(0, 9, 80), "y": rng.integers(0, 3, 80), "s": rng.random(80)}
    data["r"] = pd.DataFrame(data).groupby("q")["s"].rank(ascending=False).to_numpy()
    for column in ({"score": "s"}, {"rank": "r"}):
        documents = from_frames(library(data), groups="q", relevance="y", **column)
        assert ndcg_score(**documents) == ndcg_score(data["y"], data["s"], groups=data["q"])
        np.testing.assert_array_equal(documents["groups"], data["q"])  # in the order of the rows


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_rank_is_a_position(library):
    """As in RecTools, where an only item at rank 9 has the reciprocal rank 1/9."""
    log = library({"user": [1, 2, 3], "item": ["a", "a", "a"]})
    top = library(
        {"user": [1, 2, 2, 3, 3, 3], "item": list("abaabc"), "rank": [9.0, 2.0, 5.0, 4.5, 4.5, 7.0]}
    )
    documents = from_frames(log, top, **BY, rank="rank")
    assert mrr_score(**documents, average=None) == pytest.approx(
        [1 / 9, 1 / 5, (1 / 4 + 1 / 5) / 2]
    )
    assert recall_at_k(**documents, k=4, average=None).tolist() == [0, 0, 0.5]
    both = from_frames(log, {"gaps": top, "same": top}, **BY, rank="rank")
    values = evaluate(metrics=["mrr", "judged@9"], **both)
    assert values["gaps"] == values["same"]
    # the documents at other ranks are unknown: one of nine, two of five, three of seven
    from_zero = library({"user": [1, 2], "item": ["a", "a"], "rank": [0, 3]})
    assert mrr_score(**from_frames(log, from_zero, **BY, rank="rank")) == pytest.approx(1.25 / 3)


def test_ranks_of_several_methods_have_no_gaps():
    log = pd.DataFrame({"user": [1, 1], "item": ["a", "d"]})
    top = pd.DataFrame({"user": [1] * 4, "item": list("abcd")})
    for method in ("min", "max", "average", "first", "dense"):
        ranks = pd.Series([4, 2, 2, 1]).rank(ascending=False, method=method)
        documents = from_frames(log, top.assign(rank=ranks), **BY, rank="rank")
        assert len(documents["y_true"]) == 4, method


def test_training_items_and_the_query_itself_are_left_out():
    seen = pd.DataFrame({"user": ["ann", "bob", "zoe"], "item": ["oil", "tea", "x"]})
    given = {**BY, "rank": "rank", "exclude": seen}
    documents = from_frames(pd.DataFrame(LOG), pd.DataFrame(TOP), **given)
    # jam moves up to rank 1; bob has nothing left, and eve no predictions
    assert mrr_score(**documents, average=None).tolist() == [1, 0, 0]
    assert documents["y_true"].tolist() == [1, 1, 0, 1]
    similar = pd.DataFrame({"user": ["tea", "tea"], "item": ["tea", "jam"], "score": [9.0, 1.0]})
    liked = pd.DataFrame({"user": ["tea"], "item": ["jam"]})
    documents = from_frames(liked, similar, **BY, score="score", ignore_identical_ids=True)
    assert mrr_score(**documents) == 1
    assert mrr_score(**from_frames(liked, similar, **BY, score="score")) == 0.5


def test_missing_queries_count_or_are_dropped():
    log, top = pd.DataFrame(LOG), pd.DataFrame(TOP)
    top.loc[3] = ["zoe", "tea", 1]
    values = recall_at_k(**from_frames(log, top, **BY, rank="rank"))
    assert values == pytest.approx((0.5 + 1 + 0) / 3)
    dropped = from_frames(log, top, **BY, rank="rank", complete=False)
    assert recall_at_k(**dropped) == 0.75


def test_integers_beyond_2_53_and_floats_as_ids():
    """Signed and unsigned integers together would become floats, in which both users are one."""
    users = [2**53 + 1, 2**53]
    truth = pd.DataFrame({"user": np.array(users, dtype=np.int64), "item": [1, 2]})
    top = pd.DataFrame({"user": np.array(users, dtype=np.uint64), "item": [1.0, 3.0], "score": 1})
    values = recall_at_k(**from_frames(truth, top, **BY, score="score"), average=None)
    assert values.tolist() == [0, 1]


def test_several_systems_in_frames_and_in_columns():
    log, top = pd.DataFrame(LOG), pd.DataFrame(TOP)
    other = pd.DataFrame({"user": ["eve", "ann"], "item": ["oil", "tea"], "rank": [1, 1]})
    documents = from_frames(log, {"top": top, "other": other}, **BY, rank="rank")
    values = evaluate(metrics=["recall@2", "mrr"], **documents, average=None)
    assert values["top"]["recall@2"].tolist() == [0.5, 1, 0]
    assert values["other"]["recall@2"].tolist() == [0.5, 0, 1]
    # both scores of one row belong to one document
    both = pd.DataFrame({**TOP, "a": [3.0, 2.0, 1.0], "b": [1.0, 2.0, 1.0]})
    documents = from_frames(log, both, **BY, score={"a": "a", "b": "b"})
    values = evaluate(metrics="mrr", **documents, average=None)
    assert values["a"]["mrr"].tolist() == [0.5, 1, 0]
    assert values["b"]["mrr"].tolist() == [1, 1, 0]
    one = from_frames(both.assign(y=[1, 0, 1]), groups="user", relevance="y", score={"a": "a"})
    assert map_score(one["y_true"], one["y_score"]["a"], groups=one["groups"]) == 1


PREDICTIONS = pd.DataFrame({**TOP, "score": [0.5, 0.25, 0.125]})


def test_a_query_of_several_columns_is_one_of_tuples():
    log, top = pd.DataFrame(LOG).assign(day=1), pd.DataFrame(TOP).assign(day=[1, 1, 2])
    for frame in (log, top):
        frame["query"] = list(zip(frame["user"], frame["day"], strict=True))
    documents = from_frames(log, top, groups="query", document="item", rank="rank")
    assert recall_at_k(**documents, k=2) == pytest.approx(0.5 / 3)  # bob's list is of another day


def test_a_column_may_have_the_name_of_a_method():
    log = pd.DataFrame(LOG).assign(collect=1, fetchall=1)
    expected = from_frames(pd.DataFrame(LOG), PREDICTIONS, **BY, rank="rank")
    documents = from_frames(log, PREDICTIONS, **BY, rank="rank")
    np.testing.assert_array_equal(documents["y_true"], expected["y_true"])


def test_scores_of_a_left_join_are_filled_with_minus_inf():
    joined = pd.DataFrame(LOG).merge(PREDICTIONS, on=["user", "item"], how="left")
    given = {"groups": "user", "relevance": "label", "score": "score"}
    with pytest.raises(ValueError, match="not retrieved, as after a left join, has the score -inf"):
        from_frames(joined.assign(label=1), **given)
    filled = from_frames(joined.assign(label=1).fillna({"score": -np.inf}), **given)
    top = from_frames(pd.DataFrame(LOG), PREDICTIONS, **BY, score="score")
    assert recall_at_k(**filled) == recall_at_k(**top) < 1


@pytest.mark.parametrize("name", ["rank", "Rank", "bm25_rank", "rank.x", "position"])
def test_ranks_given_as_scores_are_refused(name):
    top, log = pd.DataFrame(TOP).rename(columns={"rank": name}), pd.DataFrame(LOG)
    message = f"column {name!r}, is given as score, .* Pass it as rank={name!r}.* or rename it"
    with pytest.raises(ValueError, match=message):
        from_frames(log, top, **BY, score=name)
    with pytest.raises(ValueError, match=message):  # counted from 0
        from_frames(log, top.assign(**{name: top[name] - 1}), **BY, score=name)
    with pytest.raises(ValueError, match=message):
        from_frames(log, {"a": top}, **BY, score=name)
    with pytest.raises(ValueError, match=message):
        from_frames(top.assign(y=1), groups="user", relevance="y", score={"a": name})
    assert recall_at_k(**from_frames(log, top, **BY, rank=name), k=2) == 0.5


def test_scores_that_merely_look_like_ranks_are_accepted():
    top, log = pd.DataFrame(TOP), pd.DataFrame(LOG)
    for name in ("pagerank", "ranking", "votes", "itemranks"):
        from_frames(log, top.rename(columns={"rank": name}), **BY, score=name)
    from_frames(log, top.assign(rank=[0.5, 1.5, 2]), **BY, score="rank")
    from_frames(log, top.assign(rank=[-1, -2, -1]), **BY, score="rank")
    from_frames(log, top.assign(rank=[3, -np.inf, np.inf]), **BY, score="rank")
