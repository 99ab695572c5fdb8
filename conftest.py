"""What all tests agree on, the doctests of the package among them."""

import os
import re
import sys
from importlib.util import find_spec

# before NumPy is loaded: several test processes share few cores
os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest

# whose examples need the library
collect_ignore_glob = [
    f"sklearn_rankscore/{path}"
    for path, needed in (
        ("dask.py", "dask"), ("spark.py", "pyspark"), ("large/*.py", "duckdb"),
    )
    if not find_spec(needed)
]  # fmt: skip
FRAMES = re.compile("polars|(?<!n)arrow|duckdb|parquet|fsspec", re.IGNORECASE)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark what needs more than the extra `test`, by the libraries in its name."""
    for item in items:
        if FRAMES.search(item.name):
            item.add_marker("frames")
        folder = item.path.parent.name
        needed = ("catboost", "optuna") if folder in ("rankers", "tests") else ("optuna",)
        if any(library in item.name.lower() for library in needed):
            item.add_marker("integration")


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
