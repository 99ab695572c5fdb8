"""Data of the reports."""

import numpy as np
import pytest

from sklearn_rankscore import make_ranking


@pytest.fixture(scope="session")
def data():
    """Labels, scores of two models, query ids and a segment of each row."""
    X, y, groups = make_ranking(n_queries=60, random_state=2, shuffle=True)
    device = np.array(["desk", "phone", "tv"])[groups % 3]
    return y, {"one": X[:, 0], "two": X[:, 0] + X[:, 1] / 2}, groups, device
