"""A sparse matrix and recommended item numbers: equivalent lists, the oracle, speed, and errors."""

import math
import time

import numpy as np
import oracle
import pytest
from scipy.sparse import csr_array, csr_matrix, random_array

from sklearn_rankscore import (
    evaluate,
    from_ranked_lists,
    from_recommendations,
    mrr_score,
    ndcg_score,
    precision_at_k,
    recall_at_k,
)

NAMES = ["ndcg", "ndcg@3", "map", "map@3", "mrr", "precision@4", "recall@4", "hits@2"]


def random_recommendations(seed, n_users=50, n_items=12, k=6):
    """Graded relevance, repeated items and padding."""
    rng = np.random.default_rng(seed)
    dense = rng.integers(0, 4, (n_users, n_items)) * (rng.random((n_users, n_items)) < 0.3)
    return dense, rng.integers(-1, n_items, (n_users, k))


@pytest.mark.parametrize("metric", ["ndcg", "map", "mrr", "recall"])
def test_equals_the_oracle_with_tied_scores_in_any_column_order(metric):
    dense, recommended = random_recommendations(1)
    scores = np.random.default_rng(2).integers(0, 3, recommended.shape)
    expected = []
    for row, items, values in zip(dense, recommended, scores, strict=True):
        labels, seen = {}, set()
        for column in np.argsort(-values, kind="stable"):
            item = items[column]
            if item != -1:
                labels[column] = 0 if item in seen else int(row[item])
                seen.add(item)
        missed = [int(row[i]) for i in np.flatnonzero(row) if i not in seen]
        y = list(labels.values()) + missed
        s = [float(values[column]) for column in labels] + [-math.inf] * len(missed)
        expected.append((oracle.query_value(metric, y, s, k=4) or 0.0) if y else 0.0)
    documents = from_recommendations(csr_array(dense), recommended, scores)
    name = f"{metric}@4"
    by_user = evaluate(metrics=name, **documents, average=None)[name]
    np.testing.assert_allclose(by_user, expected, rtol=1e-12)


def test_padding_has_no_rank_and_ties_are_averaged():
    interactions = csr_array([[0, 1, 0], [1, 0, 0]])
    assert mrr_score(**from_recommendations(interactions, [[-1, 1], [-1, -1]])) == 0.5
    tied = from_recommendations(interactions, [[1, 2], [2, 0]], [[1, 1], [2, 1]])
    assert mrr_score(**tied, average=None).tolist() == [0.75, 0.5]
    whole = from_recommendations(interactions, [[1, -1], [0, 1]])
    assert precision_at_k(**whole, k=2, denominator="min", average=None).tolist() == [1, 0.5]


def test_a_score_may_be_missing_where_no_item_is():
    interactions = csr_array([[0, 1, 1], [1, 0, 0]])
    items = [[0, 1, -1], [-1, 2, 0]]
    scores = [[0.1, 0.5, math.nan], [math.nan, 0.2, 0.3]]
    documents = from_recommendations(interactions, items, scores)
    lists = [{0: 0.1, 1: 0.5}, {2: 0.2, 0: 0.3}]
    expected = from_ranked_lists(dict(enumerate([{1: 1, 2: 1}, {0: 1}])), dict(enumerate(lists)))
    assert ndcg_score(**documents) == ndcg_score(**expected)
    with pytest.raises(ValueError, match="scores contains NaN"):
        from_recommendations(interactions, items, np.where(np.isnan(scores), 0, math.nan))
    with pytest.raises(ValueError, match="scores has masked values"):
        from_recommendations(interactions, items, np.ma.masked_invalid(scores))


@pytest.mark.parametrize("dtype", ["u1", "i2", "u4", "u8", "i8"])
def test_item_numbers_of_any_integer_type(dtype):
    recommended = np.array([[2, 0], [1, 0]], dtype=dtype)
    documents = from_recommendations(csr_array([[1, 0, 0], [0, 1, 0]]), recommended)
    assert mrr_score(**documents, average=None).tolist() == [0.5, 1]


def test_users_without_interactions_or_recommendations_count():
    interactions = csr_array((3, 4))
    documents = from_recommendations(interactions, [[0], [-1], [2]])
    assert ndcg_score(**documents, average=None).tolist() == [0, 0, 0]
    assert np.unique(documents["groups"]).tolist() == [0, 1, 2]


def test_a_matrix_with_duplicates_and_stored_zeros_is_not_changed():
    interactions = csr_matrix(
        (np.array([1.0, 2.0, 0.0]), np.array([1, 1, 0]), np.array([0, 3])), shape=(1, 2)
    )
    documents = from_recommendations(interactions, [[0, 1]])
    np.testing.assert_array_equal(documents["y_true"], [np.nan, 3])
    assert interactions.data.tolist() == [1, 2, 0]


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_training_items_are_left_out(form):
    interactions = form([[1, 1, 0, 0], [0, 0, 1, 0]])
    seen = form([[1, 0, 2, 0], [0, 0, 0, 0]])
    documents = from_recommendations(interactions, [[0, 2, 3, 1], [2, 0, 1, 3]], exclude=seen)
    # of the first user 3 and 1 remain, at the ranks 1 and 2; 0 is no longer missed
    assert mrr_score(**documents, average=None).tolist() == [0.5, 1]
    assert recall_at_k(**documents, k=2, average=None).tolist() == [1, 1]


@pytest.mark.slow
def test_a_hundred_thousand_users_with_a_hundred_recommendations():
    rng = np.random.default_rng(0)
    n_users, n_items, k = 100_000, 20_000, 100
    interactions = random_array((n_users, n_items), density=1e-3, format="csr", rng=rng)
    recommended = rng.integers(0, n_items, (n_users, k), dtype=np.int32)
    start = time.process_time()
    recall = recall_at_k(**from_recommendations(interactions, recommended), k=k)
    # it takes 2.5 s; the limit allows for a busy or slow machine
    assert time.process_time() - start < 15
    assert recall == pytest.approx(k / n_items, rel=0.1)
