"""Worked examples of textbooks, tutorials and the documentation of other packages."""

import numpy as np
import pytest

from sklearn_rankscore import (
    dcg_score,
    evaluate,
    map_score,
    mrr_score,
    ndcg_score,
    recall_at_k,
    spearman_score,
)

TEN_LABELS = [3, 2, 3, 0, 0, 1, 2, 2, 3, 0]
EIGHT_LABELS = [0, 4, 1, 3, 4, 1, 3, 2]


def in_rank_order(labels):
    """Scores that rank documents in the order of their labels."""
    return -np.arange(len(labels), dtype=float)


def rows_in_rank_order(labels):
    return np.tile(in_rank_order(labels[0]), (len(labels), 1))


def close(value):
    return pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([[0, 0, 1], [0, 1, 0], [1, 0, 0]], 0.6111),
        ([[0, 0, 1, 0, 0], [1, 0, 0, 0, 0], [0, 0, 0, 0, 0], [0, 1, 0, 0, 0]], 0.4583),
    ],
)
def test_mrr_of_rows_in_rank_order(labels, expected):
    assert mrr_score(labels, rows_in_rank_order(labels)) == pytest.approx(expected, abs=5e-5)
    groups = np.repeat(np.arange(len(labels)), len(labels[0]))
    by_groups = mrr_score(np.ravel(labels), rows_in_rank_order(labels).ravel(), groups=groups)
    assert by_groups == pytest.approx(expected, abs=5e-5)


@pytest.mark.parametrize(
    ("k", "discount", "expected"),
    [
        (2, "log2", 4.2618595071429155),
        (2, "log2_after_first", 5.0),
        (10, "log2_after_first", 9.6051177391888114),
    ],
)
def test_dcg_of_ten_labels(k, discount, expected):
    score = dcg_score(TEN_LABELS, in_rank_order(TEN_LABELS), k=k, discount=discount)
    assert score == close(expected)


@pytest.mark.parametrize(
    ("discount", "expected"),
    [("log2", 0.96519546960144276), ("log2_after_first", 0.9203032077642922)],
)
def test_ndcg_of_four_labels(discount, expected):
    labels = [2, 1, 2, 0]
    assert ndcg_score(labels, in_rank_order(labels), k=4, discount=discount) == close(expected)


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([2, 2, 3, 0, 1, 2], 0.7272929761069984),
        ([3, 2, 3, 0, 1, 2], 0.8755943764161997),
        ([4, 2, 3, 0, 1, 2], 0.9196407485014483),
    ],
)
def test_exponential_ndcg_of_six_labels(labels, expected):
    score = in_rank_order(labels)
    assert ndcg_score(labels, score, k=5, gain="exponential") == close(expected)
    name = "ndcg@5(gain=exponential)"
    assert evaluate(labels, score, name) == {name: close(expected)}


def test_exponential_ndcg_of_documents_in_ranked_order():
    y_true, ranked_documents = [3, 2, 3, 0, 1, 2], [0, 2, 1, 5, 3, 4]
    y_score = np.empty(6)
    y_score[ranked_documents] = in_rank_order(ranked_documents)
    assert ndcg_score(y_true, y_score, k=5, gain="exponential") == close(0.973494864667227)


@pytest.mark.parametrize(
    ("k", "dcg", "ndcg"),
    [
        (1, 0, 0),
        (2, 2.52, 0.39),
        (3, 3.02, 0.38),
        (4, 4.32, 0.46),
        (5, 5.86, 0.58),
        (6, 6.22, 0.60),
        (7, 7.22, 0.67),
        (8, 7.85, 0.73),
    ],
)
def test_dcg_and_ndcg_of_eight_labels(k, dcg, ndcg):
    score = in_rank_order(EIGHT_LABELS)
    assert round(dcg_score(EIGHT_LABELS, score, k=k), 2) == dcg
    assert round(ndcg_score(EIGHT_LABELS, score, k=k), 2) == ndcg


@pytest.mark.parametrize(("ties", "expected"), [("pessimistic", 0.9167), ("average", 0.9583)])
def test_map_of_two_queries_with_a_tie(ties, expected):
    y_true = [[1, 0, 1, 1, 0], [0, 1, 1, 0, 0]]
    y_score = [[0.9, 0.2, 0.7, 0.8, 0.1], [0.1, 0.8, 0.9, 0.3, 0.8]]
    assert map_score(y_true, y_score, ties=ties) == pytest.approx(expected, abs=5e-5)


def test_spearman_of_one_tie():
    assert spearman_score([1, 2, 3, 4, 5], [2, 1, 2, 4, 5]) == close(0.8207826816681233)


def test_hit_ratio_is_micro_recall():
    hits, relevant = np.array([6, 5, 4]), np.array([10, 12, 8])
    groups = np.repeat(["a", "b", "c"], relevant)
    y_score = np.concatenate(
        [np.where(np.arange(n) < f, 1.0, -np.inf) for f, n in zip(hits, relevant, strict=True)]
    )
    y_true = np.ones(len(groups))
    assert recall_at_k(y_true, y_score, groups=groups, average="micro") == 0.5
