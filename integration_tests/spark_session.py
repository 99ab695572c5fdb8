"""A Spark session on this machine, for the tests of Spark and of the documentation."""

import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

ROOT = Path(__file__).resolve().parents[1]

ignore_pandas_warning = pytest.mark.filterwarnings(
    "ignore:PySpark does not yet fully support pandas:FutureWarning:pyspark"
)


@pytest.fixture(scope="module")
def session():
    monkeypatch = pytest.MonkeyPatch()
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    running = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.memory", "1g")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "3")
        .config("spark.executorEnv.PYTHONPATH", str(ROOT))
        .config("spark.executorEnv.OMP_NUM_THREADS", "1")
        .getOrCreate()
    )
    running.sparkContext.setLogLevel("OFF")
    yield running
    running.stop()
    monkeypatch.undo()
