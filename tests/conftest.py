"""Real data shared with other checkouts, and what all tests agree on."""

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from samples import lambdarank_sample, random_sample
from sklearn.datasets import load_svmlight_file

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"

settings.register_profile(
    "default", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
settings.load_profile("default")


@pytest.fixture(scope="session")
def data_path():
    """Folder of real data; continuous integration always has it."""
    if not DATA.exists() and not os.environ.get("CI"):
        pytest.skip(f"the shared data is not at {DATA}")
    return DATA


def read_lambdarank(folder, part):
    X, y = load_svmlight_file(folder / "lambdarank" / f"rank.{part}", n_features=301)
    sizes = np.loadtxt(folder / "lambdarank" / f"rank.{part}.query", dtype=int)
    return X.toarray(), y.astype(int), np.repeat(np.arange(len(sizes)), sizes)


@pytest.fixture(scope="session")
def lambdarank(data_path):
    """Training part of LightGBM's lambdarank example, rows shuffled: X, y, query ids."""
    X, y, qid = read_lambdarank(data_path, "train")
    order = np.random.default_rng(0).permutation(len(y))
    return X[order], y[order], qid[order]


@pytest.fixture(scope="session")
def lambdarank_test(data_path):
    """Test part of LightGBM's lambdarank example: X, y, query ids."""
    return read_lambdarank(data_path, "test")


def pytest_configure(config):
    config.addinivalue_line("markers", "thread_unsafe: of scikit-learn's own tests")


@pytest.fixture(scope="module", params=["short", "long", "lambdarank"])
def sample(request):
    """Rankings on which other libraries are asked for their numbers."""
    if request.param == "lambdarank":
        return lambdarank_sample(*request.getfixturevalue("lambdarank"))
    return random_sample(longest={"short": 14, "long": 70}[request.param])
