"""The boosting libraries, and a hundred queries of real data."""

import pytest


@pytest.fixture(scope="module", params=["lightgbm", "xgboost", "catboost"])
def library(request):
    return request.param


@pytest.fixture(scope="module")
def data(lambdarank):
    X, y, qid = lambdarank
    chosen = qid < 100
    return X[chosen][:, :60], y[chosen], qid[chosen]
