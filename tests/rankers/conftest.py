"""The boosting libraries, and real data."""

import numpy as np
import pytest


@pytest.fixture(params=["LGBMRanker", "XGBRanker", "CatBoostRanker"])
def ranker(request):
    """The name of a ranker."""
    return request.param


@pytest.fixture(scope="module")
def real(lambdarank, lambdarank_test):
    """LightGBM's example, rows sorted by query: (X, y, ids) to train on and to test on."""
    order = np.argsort(lambdarank[2], kind="stable")
    X, y, ids = (values[order] for values in lambdarank)
    X_test, y_test, ids_test = lambdarank_test
    return (X[:, :40], y, ids), (X_test[:, :40], y_test, ids_test)
