"""Data on which the boosters are trained and evaluated."""

import numpy as np
import pytest


@pytest.fixture(scope="module")
def parts(lambdarank, lambdarank_test):
    """Training and evaluation parts, rows sorted by query: ((X, y, qid), (X, y, qid))."""
    X, y, qid = lambdarank
    order = np.argsort(qid, kind="stable")
    X_test, y_test, qid_test = lambdarank_test
    return (X[order, :80], y[order], qid[order]), (X_test[:, :80], y_test, qid_test)
