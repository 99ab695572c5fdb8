"""Lists of items: published examples, the oracle, ranx, and errors."""

import math
from importlib import import_module

import numpy as np
import oracle
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sklearn_rankscore import (
    evaluate,
    from_ranked_lists,
    from_relevance_lists,
    from_trec,
    map_score,
    mrr_score,
    ndcg_score,
    query_auc_score,
    recall_at_k,
)


def one(actual, predicted):
    return from_ranked_lists([list(actual)], [list(predicted)])


@pytest.mark.parametrize(
    ("predicted", "expected"),
    [("ABE", 0.6667), ("ADE", 0.3333), ("EAB", 0.3889), ("AEB", 0.5556)],
)
def test_average_precision_at_3_of_abc(predicted, expected):
    assert map_score(**one("ABC", predicted), k=3) == pytest.approx(expected, abs=5e-5)


@pytest.mark.parametrize(
    ("predicted", "ranks", "expected"),
    [("cafbged", (3, 4), 0.5706417189553201), ("cbgegaagagegaegaf", (2, 17), 0.5338931479009518)],
)
def test_binary_ndcg_with_and_without_repeated_items(predicted, ranks, expected):
    score = ndcg_score(**one("bf", predicted))
    gains = [1 / math.log2(1 + rank) for rank in ranks]
    assert score == pytest.approx(sum(gains) / (1 + 1 / math.log2(3)), abs=1e-15)
    assert score == pytest.approx(expected, abs=1e-15)


COUNTRIES = [["US", "FR", "CN"], ["FR", "US", "CN"], ["FR", "FR", "CN"]]
MISSING = [["US", None, "FR"], ["CN", "US", None], [None, "FR", "US"]]


@pytest.mark.parametrize("index", [None, ["u", "v", "w"]])
@pytest.mark.parametrize("dtype", [object, "str", "category"])
def test_lists_in_columns_and_frames(index, dtype):
    """Missing cells have no rank, a second FR has one; the discount at rank 3 is 1 / log2(4)."""
    truths = pd.Series(["US", "CN", "FR"], index=index, dtype=dtype)
    frame = pd.DataFrame(COUNTRIES, index=index, dtype=dtype)
    with_gaps = pd.DataFrame(MISSING, index=index, dtype=dtype)
    for predicted, expected in ((frame, [1, 0.5, 1]), (with_gaps, [1, 1, 1])):
        ranked = from_ranked_lists(truths, predicted)
        assert ndcg_score(**ranked, k=3, average=None).tolist() == expected
        assert np.unique(ranked["groups"]).tolist() == (index or [0, 1, 2])
    for truth in (pl.Series([["US"], ["CN"], ["FR"]]), ["US", "CN", {"FR": 1}]):
        for predicted in (pl.Series(COUNTRIES), np.array(COUNTRIES), COUNTRIES):
            ranked = from_ranked_lists(truth, predicted)
            assert ndcg_score(**ranked, average=None).tolist() == [1, 0.5, 1]
            assert np.nanmax(ranked["y_true"]) == 1
        ranked = from_ranked_lists(truth, pl.DataFrame(MISSING, orient="row"))
        assert ndcg_score(**ranked, average=None).tolist() == [1, 1, 1]


def random_lists(rng, n_queries=40, graded=False):
    names = np.array([f"item {i}" for i in range(12)], dtype=object)
    actual, predicted = [], []
    for _ in range(n_queries):
        relevant = rng.choice(names, rng.integers(0, 6), replace=False)
        grades = rng.integers(0, 4, len(relevant)) if graded else np.ones(len(relevant), int)
        actual.append(dict(zip(relevant, grades.tolist(), strict=True)))
        predicted.append(rng.choice(names, rng.integers(0, 9), replace=False).tolist())
    return actual, predicted


def plain(actual, predicted):
    """Labels and scores of one query, from the definition of the lists."""
    labels, seen = [], set()
    for item in predicted:
        labels.append(0 if item in seen else actual.get(item, 0))
        seen.add(item)
    missed = [grade for item, grade in actual.items() if item not in seen]
    scores = [-float(i) for i in range(len(labels))] + [-math.inf] * len(missed)
    return labels + missed, scores


@pytest.mark.parametrize(
    "metric", ["ndcg", "dcg", "map", "mrr", "precision", "recall", "f1", "hits", "r_precision"]
)
@pytest.mark.parametrize("k", [None, 1, 3, 20])
@pytest.mark.parametrize("repeats", [False, True])
def test_equals_the_oracle(metric, k, repeats):
    if metric == "r_precision" and k is not None:
        return
    rng = np.random.default_rng(0)
    actual, predicted = random_lists(rng, graded=True)
    if repeats:
        predicted = [items + items[:2] for items in predicted]
    expected = [
        oracle.query_value(metric, *plain(a, p), k=k) or 0.0
        for a, p in zip(actual, predicted, strict=True)
    ]
    name = metric if k is None else f"{metric}@{k}"
    ranked = from_ranked_lists(actual, predicted)
    values = evaluate(metrics=[name], **ranked, average=None)[name]
    np.testing.assert_allclose(values, expected, rtol=1e-12)


def test_round_trip_through_relevance_lists():
    rng = np.random.default_rng(3)
    lists = [rng.integers(0, 3, size).tolist() for size in rng.integers(1, 9, 30)]
    arrays = from_relevance_lists(lists)
    back = [
        y[np.argsort(-s)].tolist()
        for y, s in (
            (arrays["y_true"][arrays["groups"] == q], arrays["y_score"][arrays["groups"] == q])
            for q in range(30)
        )
    ]
    assert back == lists
    expected = [
        oracle.query_value("ndcg", labels, [-i for i in range(len(labels))]) or 0.0
        for labels in lists
    ]
    np.testing.assert_allclose(ndcg_score(**arrays, average=None), expected, rtol=1e-12)


@pytest.mark.parametrize("column", [pd.Series, pl.Series, pa.array, list, tuple])
def test_relevance_lists_of_other_forms(column):
    for lists in (
        {"a": [0, 1], "b": (2, 0)},
        np.array([[0, 1], [2, 0]]),
        column([[0, 1], [1]]),
        {"a": column([0, 1]), "b": column([1])},
    ):
        assert mrr_score(**from_relevance_lists(lists), average=None).tolist() == [0.5, 1]
    systems = from_relevance_lists({"s": column([[0, 1]]), "t": column([[1, 0]])})
    assert evaluate(metrics="mrr", **systems) == {"s": {"mrr": 0.5}, "t": {"mrr": 1.0}}


@pytest.mark.parametrize("rows", [[[None, 1, 0], [1, None, 1]], [[0, 1, None], [1, 0, 1]]])
def test_missing_relevance_has_a_rank_in_every_form(rows):
    array = np.array(rows, dtype=float)
    polars = pl.DataFrame(array.T.tolist(), schema=["1", "2", "3"]).fill_nan(None)
    nullable = pd.DataFrame(array).astype("Float64")
    for form in (rows, array, pd.DataFrame(array), nullable, polars, pd.DataFrame(rows)):
        ranked = from_relevance_lists(form)
        np.testing.assert_array_equal(ranked["y_true"], array.ravel())
        expected = (1 + 1 / 2) / 2
        assert mrr_score(**ranked, unjudged="irrelevant") == expected
        assert from_relevance_lists({"a": form})["y_true"].tolist() == pytest.approx(
            ranked["y_true"].tolist(), nan_ok=True
        )


def test_a_query_without_documents_counts():
    for ranked in (
        from_ranked_lists([["a"], [], ["b"]], [["a"], [], ["b"]]),
        from_relevance_lists([[1], [], [1]]),
    ):
        assert mrr_score(**ranked) == pytest.approx(2 / 3)
        assert mrr_score(**ranked, replace_undefined_by=np.nan) == 1
        assert mrr_score(**ranked, average=None).tolist() == [1, 0, 1]
    only = from_ranked_lists([[], []], [[], []])
    assert only["groups"].tolist() == [0, 1]
    assert math.isnan(query_auc_score(**only))


def test_items_and_query_ids_of_any_hashable_type():
    day = pd.Timestamp("2026-01-01")
    actual = {("u", 1): {frozenset("ab"), 2, "1"}, ("u", 2): (day, 2.5)}
    predicted = {("u", 1): ["1", b"x", 2.0, frozenset("ba")], ("u", 2): [day, (2, 5)]}
    ranked = from_ranked_lists(actual, predicted)
    assert recall_at_k(**ranked, k=4, average=None).tolist() == [1, 0.5]


def test_a_string_is_one_item_and_a_repeated_relevant_item_counts_once():
    assert recall_at_k(**from_ranked_lists(["ABC"], [["A", "ABC"]]), k=2) == 1
    assert recall_at_k(**from_ranked_lists([["a", "a", "b"]], [["a"]]), k=2) == 0.5


def test_training_items_and_the_query_itself_are_left_out():
    actual, predicted = {"u": ["a", "b"], "v": ["c"]}, {"u": ["a", "x", "b"], "v": ["v", "c"]}
    seen = {"u": ["a", "x"], "w": ["c"]}
    documents = from_ranked_lists(actual, predicted, exclude=seen, ignore_identical_ids=True)
    assert mrr_score(**documents, average=None).tolist() == [1, 1]
    assert recall_at_k(**documents, k=1, average=None).tolist() == [1, 1]
    lists = list(actual.values()), list(predicted.values())
    by_position = from_ranked_lists(*lists, exclude=[{"a", "x"}, []])
    assert mrr_score(**by_position, average=None).tolist() == [1, 0.5]


@pytest.mark.parametrize(
    "library", [pytest.param("torch", marks=pytest.mark.integration), "pyarrow"]
)
def test_each_list_may_be_a_tensor_or_an_array_of_pyarrow(library):
    make = pa.array if library == "pyarrow" else import_module("torch").tensor
    actual, predicted = [[1, 2], [3]], [[2, 9], [8, 3]]
    expected = map_score(**from_ranked_lists(actual, predicted))
    arrays = list(map(make, predicted))
    for relevant in (actual, list(map(make, actual))):
        assert map_score(**from_ranked_lists(relevant, arrays)) == expected
        by_id = {name: dict(enumerate(lists)) for name, lists in (("a", arrays), ("b", predicted))}
        together = from_ranked_lists(dict(enumerate(relevant)), by_id)
        assert evaluate(metrics="map", **together)["a"]["map"] == expected
    scalars = list(pa.array(predicted))
    by_position = {"a": arrays, "b": pa.array(predicted), "c": scalars}
    for values in evaluate(metrics="map", **from_ranked_lists(actual, by_position)).values():
        assert values == {"map": expected}


@pytest.mark.parametrize("library", ["numpy", pytest.param("torch", marks=pytest.mark.integration)])
@pytest.mark.parametrize("read", [from_ranked_lists, from_trec])
def test_a_score_may_be_an_array_or_tensor_without_dimensions(read, library):
    make = np.array if library == "numpy" else import_module("torch").tensor
    actual, scores = {"q": {"a": 0, "b": 2}}, {"q": {"a": 0.5, "b": 0.25}}
    tensors = {"q": {document: make(score) for document, score in scores["q"].items()}}
    expected = read(actual, scores)
    np.testing.assert_equal(read(actual, tensors), expected)
    by_name = read(actual, {"bm25": tensors})
    np.testing.assert_equal(by_name["y_score"], {"bm25": expected["y_score"]})


def test_queries_that_are_only_predicted_name_what_each_choice_counts():
    actual, predicted = {"ann": ["tea"]}, {"ann": ["tea"], "bob": ["jam"]}
    with pytest.raises(ValueError, match=r"`actual` lacks 1 query of `predicted`") as e:
        from_ranked_lists(actual, predicted)
    assert "Remove them from `predicted` if they do not count" in str(e.value)
    assert recall_at_k(**from_ranked_lists(actual, {"ann": ["tea"]}), k=1) == 1
    assert "they count 0 in most metrics (option replace_undefined_by)" in str(e.value)
    empty = from_ranked_lists({**actual, "bob": []}, predicted)
    assert recall_at_k(**empty, k=1) == 0.5
    assert recall_at_k(**empty, k=1, replace_undefined_by=np.nan) == 1
