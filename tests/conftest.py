"""Fixtures of all tests: real data and the number of random examples."""

import hypothesis_profiles  # noqa: F401 - registers the profiles
import numpy as np
import pytest
from hypothesis import settings

from sklearn_rankscore import load_lambdarank

settings.load_profile("tenth")


@pytest.fixture(scope="session")
def lambdarank():
    """Training part of LightGBM's lambdarank example, rows shuffled: X, y, query ids."""
    X, y, qid = load_lambdarank(return_X_y=True, subset="train")
    order = np.random.default_rng(0).permutation(len(y))
    return X[order], y[order], qid[order]


@pytest.fixture(scope="session")
def lambdarank_test():
    """Test part of LightGBM's lambdarank example: X, y, query ids."""
    return load_lambdarank(return_X_y=True, subset="test")


def pytest_configure(config):
    config.addinivalue_line("markers", "thread_unsafe: of scikit-learn's own tests")
