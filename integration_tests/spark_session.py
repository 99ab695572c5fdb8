"""A Spark session on this machine, for the tests of Spark and of the documentation."""

import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

ROOT = Path(__file__).resolve().parents[1]

# a compiler and a collector that suit minutes of work, not days: half of the time of processors
JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"

ignore_pandas_warning = pytest.mark.filterwarnings(
    "ignore:PySpark does not yet fully support pandas:FutureWarning:pyspark"
)


@contextmanager
def session_on(master):
    """A session of Spark with the interpreter that runs, in which the package can be imported."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        running = (
            SparkSession.builder.master(master)
            .config("spark.ui.enabled", "false")
            .config("spark.driver.memory", "1g")
            .config("spark.driver.extraJavaOptions", JAVA)
            .config("spark.executor.extraJavaOptions", JAVA)
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


@pytest.fixture(scope="module")
def session():
    with session_on("local[2]") as running:
        yield running
