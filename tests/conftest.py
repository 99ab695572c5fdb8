"""Fixtures of all tests: real data, samples and a Spark session."""

from pathlib import Path

import hypothesis_profiles  # noqa: F401 - registers the profiles
import numpy as np
import pytest
from hypothesis import settings
from library_samples import lambdarank_sample, random_sample
from requires import requires_data
from sklearn.datasets import load_svmlight_file
from spark_session import session  # noqa: F401 - a fixture

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"

settings.load_profile("tenth")


@pytest.fixture(scope="session")
def data_path():
    """Folder of real data, which is not part of the repository."""
    return requires_data(DATA)


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
    """Rankings on which other libraries are compared."""
    if request.param == "lambdarank":
        return lambdarank_sample(*request.getfixturevalue("lambdarank"))
    return random_sample(longest={"short": 14, "long": 70}[request.param])
