"""Data of the plots, which are drawn without a window."""

import matplotlib as mpl
import pytest

from sklearn_rankscore import make_ranking

mpl.use("Agg")


@pytest.fixture(scope="session")
def data():
    """Labels, scores of two models, and query ids."""
    X, y, groups = make_ranking(n_queries=60, random_state=0, shuffle=True)
    return y, {"one": X[:, 0], "two": X[:, 0] + X[:, 1] / 2}, groups
