"""The boosting libraries, and shuffled rows of ranking data."""

import numpy as np
import pytest

from sklearn_rankscore import make_ranking


@pytest.fixture(params=["LGBMRanker", "XGBRanker", "CatBoostRanker"])
def ranker(request):
    """The name of a ranker."""
    return request.param


@pytest.fixture(scope="module")
def rows():
    """Six features, labels from 0 to 4 and ids of 40 queries, in random order."""
    X, y, ids = make_ranking(n_queries=40, n_features=6, n_informative=3, random_state=0)
    order = np.random.default_rng(0).permutation(len(y))
    return X[order], y[order], ids[order]


@pytest.fixture(scope="module")
def real(lambdarank, lambdarank_test):
    """LightGBM's example, rows sorted by query: (X, y, ids) to train on and to test on."""
    order = np.argsort(lambdarank[2], kind="stable")
    X, y, ids = (values[order] for values in lambdarank)
    X_test, y_test, ids_test = lambdarank_test
    return (X[:, :40], y, ids), (X_test[:, :40], y_test, ids_test)
