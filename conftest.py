"""What all tests agree on, the doctests of the package among them."""

import os
import sys

# before NumPy is loaded: several test processes share few cores
os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest
from requires import requires_imports

pytest_plugins = ["passed_tests"]


def pytest_runtest_setup(item):
    """Skip a doctest that imports an optional library where the library is absent."""
    if examples := getattr(getattr(item, "dtest", None), "examples", ()):
        requires_imports("".join(example.source for example in examples))


@pytest.fixture(autouse=True)
def close_figures():
    """Close what a test has drawn: Matplotlib warns of more than 20 open figures."""
    yield
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close("all")


@pytest.fixture(autouse=True)
def forget_own_metrics():
    """Forget the metrics that a test or an example has registered."""
    definition = sys.modules.get("sklearn_rankscore.metrics.definition")
    tables = [definition.METRICS, definition.SPELLINGS] if definition else []
    before = [dict(table) for table in tables]
    yield
    for table, known in zip(tables, before, strict=True):
        if len(table) > len(known):
            table.clear()
            table.update(known)
