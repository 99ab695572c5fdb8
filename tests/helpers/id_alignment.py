"""Rows whose labels encode their query, and a metric that tells whether ids arrived aligned.

A label is ten times the number of the query plus a grade. The metric is 1 for a query that holds
its own documents, all of them and no other.
"""

import numpy as np
from sklearn.model_selection import GroupKFold

N_QUERIES, N_DOCUMENTS = 24, 5


def make_rows():
    random = np.random.default_rng(1)
    qid = random.permutation(np.repeat(np.arange(N_QUERIES), N_DOCUMENTS))
    grade = random.integers(0, 5, len(qid))
    X = np.column_stack([grade + random.normal(size=len(qid)), random.normal(size=(len(qid), 2))])
    return X, 10 * qid + grade, qid


X, Y, QID = make_rows()
FOLDS = list(GroupKFold(2).split(X, Y, QID))


def whole_queries(block):
    """1 for a query that holds its five documents and no other."""
    query = block.by_rank(lambda labels: labels // 10)
    same = (query == query[:, :1])[:, :N_DOCUMENTS].all(axis=1)
    return (same & (block.sizes == N_DOCUMENTS)).astype(float)
