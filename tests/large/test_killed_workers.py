"""Workers of Dask and Spark that are killed: the right result, or one error."""

import os
import signal
import sys

import numpy as np
import pandas as pd
import pytest
from many_queries import EXACT, in_memory, make_documents
from requires import requires
from spark_session import ROOT, ignore_pandas_warning

from sklearn_rankscore import dask as rank_dask
from sklearn_rankscore import spark

pytestmark = [pytest.mark.slow, ignore_pandas_warning]
NAMES = ["ndcg@10", "map@5", "query_auc"]
COLUMNS = make_documents(300)


@pytest.fixture(scope="module")
def client():
    distributed = requires("distributed")
    dask = requires("dask")
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 2}),
        distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def killed_in(folder, n):
    """A metric that kills its process when it is called for the first n times."""

    def killed(block):
        for i in range(n):
            try:
                os.close(os.open(f"{folder}/{i}", os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                continue
            os.kill(os.getpid(), signal.SIGKILL)
        return np.ones(len(block.sizes))

    return killed


def test_dask_workers_killed_while_tasks_run(client, tmp_path):
    frame = pd.DataFrame(COLUMNS).sample(frac=1, random_state=0)
    df = requires("dask.dataframe").from_pandas(frame, npartitions=4)
    scores = rank_dask.evaluate(df, [*NAMES, killed_in(str(tmp_path), 2)], n_partitions=4)
    assert scores == pytest.approx({**in_memory(COLUMNS, NAMES), "killed": 1.0}, **EXACT)
    assert len(list(tmp_path.iterdir())) == 2


def test_a_partition_that_kills_all_dask_workers_is_one_error(client, tmp_path):
    df = requires("dask.dataframe").from_pandas(pd.DataFrame(COLUMNS), npartitions=2)
    with pytest.raises(requires("distributed").KilledWorker, match="all those workers died"):
        rank_dask.evaluate(df, killed_in(str(tmp_path), 100), n_partitions=1)


@pytest.fixture(scope="module")
def retrying():
    """A session that tries each task twice, as clusters try it four times."""
    builder = requires("pyspark.sql").SparkSession.builder
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        session = (
            builder.master("local[2,2]")
            .config("spark.ui.enabled", "false")
            .config("spark.driver.memory", "1g")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.sql.shuffle.partitions", "4")
            .config("spark.executorEnv.PYTHONPATH", str(ROOT))
            .getOrCreate()
        )
        session.sparkContext.setLogLevel("OFF")
        yield session
        session.stop()


def test_spark_workers_killed_while_tasks_run(retrying, tmp_path):
    df = retrying.createDataFrame(pd.DataFrame(COLUMNS).sample(frac=1, random_state=0))
    metrics = [*NAMES, killed_in(str(tmp_path), 1)]
    scores = spark.evaluate(df, metrics, n_partitions=2)
    assert scores == pytest.approx({**in_memory(COLUMNS, NAMES), "killed": 1.0}, **EXACT)
    assert len(list(tmp_path.iterdir())) == 1


def test_a_partition_that_kills_all_spark_workers_is_one_error(retrying, tmp_path):
    df = retrying.createDataFrame(pd.DataFrame(COLUMNS))
    with pytest.raises(Exception, match=r"failed 2 times, .*Python worker exited"):
        spark.evaluate(df, killed_in(str(tmp_path), 100), n_partitions=1)
