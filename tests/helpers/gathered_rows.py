"""Rows as the boosting libraries need them: those of each query together."""

import numpy as np


def gather(qid, *arrays):
    """Queries in the order of their first rows, numbered in that order: numbers, other arrays."""
    _, first, codes = np.unique(qid, return_index=True, return_inverse=True)
    order = np.argsort(first[codes], kind="stable")
    numbers = np.unique(first[codes][order], return_inverse=True)[1]
    return [numbers, *(None if array is None else array[order] for array in arrays)]
