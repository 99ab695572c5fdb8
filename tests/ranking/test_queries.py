"""What a call reads: rows, classes, weights, and columns that are not copied."""

import numpy as np

from sklearn_rankscore import ndcg_score
from sklearn_rankscore.ranking import read_queries

Y = np.array([2, 0, 1, 0, 1])
S = np.array([0.3, 0.2, 0.1, 0.9, 0.4])


def test_without_groups_all_documents_are_one_query():
    assert ndcg_score(Y, S) == ndcg_score(Y, S, groups=["x"] * 5)
    assert ndcg_score(Y, S, average=None).shape == (1,)


def test_class_labels_against_scores_for_each_class():
    scores = np.array([[0.1, 0.7, 0.2], [0.5, 0.3, 0.2], [0.2, 0.2, 0.6]])
    one_hot = np.array([[0, 1, 0], [0, 1, 0], [1, 0, 0]])
    values = ndcg_score(["b", "b", "a"], scores, labels=["a", "b", "c"], average=None)
    assert values.tolist() == ndcg_score(one_hot, scores, average=None).tolist()


def test_no_copy_of_flat_numeric_columns():
    read = read_queries(Y, S, groups=[0, 0, 0, 1, 1])
    assert np.shares_memory(read.y_true, Y)
    assert np.shares_memory(read.y_score, S)
    s = S.astype(np.float32)
    assert np.shares_memory(read_queries(Y, s).y_score, s)


def test_integers_up_to_2_to_53_are_scores():
    s = [2**53, 2**53 - 1, 2**53 - 2, 0, 1]
    assert ndcg_score(Y, np.array(s)) == ndcg_score(Y, [5, 4, 3, 1, 2])
    assert ndcg_score(Y, s) == ndcg_score(Y, [5, 4, 3, 1, 2])
