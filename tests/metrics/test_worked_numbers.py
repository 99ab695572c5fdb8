"""Worked examples of textbooks, tutorials and the documentation of other packages."""

import numpy as np
import pytest

from sklearn_rankscore import evaluate

TEN, EIGHT = [3, 2, 3, 0, 0, 1, 2, 2, 3, 0], [0, 4, 1, 3, 4, 1, 3, 2]
SIX = [2, 3, 0, 1, 2]
ROWS = [[0, 0, 1, 0, 0], [1, 0, 0, 0, 0], [0, 0, 0, 0, 0], [0, 1, 0, 0, 0]]
CASES = [  # labels in rank order, metric, value as it was printed
    ([[0, 0, 1], [0, 1, 0], [1, 0, 0]], "mrr", "0.6111"),
    (ROWS, "mrr", "0.4583"),
    (TEN, "dcg@2", "4.2618595071429155"),
    (TEN, "dcg@2(discount=log2_after_first)", "5.0000000000000"),
    (TEN, "dcg@10(discount=log2_after_first)", "9.6051177391888114"),
    ([2, 1, 2, 0], "ndcg@4", "0.96519546960144276"),
    ([2, 1, 2, 0], "ndcg@4(discount=log2_after_first)", "0.9203032077642922"),
    ([2, *SIX], "ndcg@5(gain=exponential)", "0.7272929761069984"),
    ([3, *SIX], "ndcg@5(gain=exponential)", "0.8755943764161997"),
    ([4, *SIX], "ndcg@5(gain=exponential)", "0.9196407485014483"),
    ([3, 3, 2, 2, 0, 1], "ndcg@5(gain=exponential)", "0.973494864667227"),
    *((EIGHT, f"dcg@{k}", f"{v:.2f}") for k, v in zip(
        range(1, 9), (0, 2.52, 3.02, 4.32, 5.86, 6.22, 7.22, 7.85), strict=True)),
    *((EIGHT, f"ndcg@{k}", f"{v:.2f}") for k, v in zip(
        range(1, 9), (0, 0.39, 0.38, 0.46, 0.58, 0.60, 0.67, 0.73), strict=True)),
]  # fmt: skip


@pytest.mark.parametrize(("labels", "name", "expected"), CASES)
def test_documents_in_rank_order(labels, name, expected):
    scores = np.broadcast_to(-np.arange(np.shape(labels)[-1]), np.shape(labels))
    decimals = len(expected.partition(".")[2])
    printed = pytest.approx(float(expected), rel=1e-12, abs=0.501 * 10.0**-decimals)
    assert evaluate(labels, scores, name)[name] == printed
