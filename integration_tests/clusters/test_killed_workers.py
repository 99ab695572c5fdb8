"""Workers of Dask and Spark that are killed: the right result, or one error."""

import os
import signal
import sys

import dask.dataframe as dd
import distributed
import numpy as np
import pandas as pd
import pytest
from dask import config as dask_config
from many_queries import EXACT, in_memory, make_documents
from pyspark.sql import SparkSession
from spark_session import ROOT, ignore_pandas_warning

from sklearn_rankscore import dask as rank_dask
from sklearn_rankscore import spark

pytestmark = ignore_pandas_warning
NAMES = ["ndcg@10", "map@5", "query_auc"]
COLUMNS = make_documents(300)


@pytest.fixture(scope="module")
def client():
    with (
        dask_config.set({"distributed.scheduler.allowed-failures": 2}),
        distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def killed_in(folder, n, generation=0):
    """A metric that kills its process, or an ancestor, when it is called for the first n times."""

    def killed(block):
        for i in range(n):
            try:
                os.close(os.open(f"{folder}/{i}", os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                continue
            process = os.getpid()
            for _ in range(generation):
                with open(f"/proc/{process}/stat") as file:
                    process = int(file.read().rpartition(") ")[2].split()[1])
            os.kill(process, signal.SIGKILL)
        return np.ones(len(block.sizes))

    return killed


def test_dask_workers_killed_while_tasks_run(client, tmp_path):
    frame = pd.DataFrame(COLUMNS).sample(frac=1, random_state=0)
    df = dd.from_pandas(frame, npartitions=4)
    scores = rank_dask.evaluate(df, [*NAMES, killed_in(str(tmp_path), 2)], n_partitions=4)
    assert scores == pytest.approx({**in_memory(COLUMNS, NAMES), "killed": 1.0}, **EXACT)
    assert len(list(tmp_path.iterdir())) == 2


def test_a_partition_that_kills_all_dask_workers_is_one_error(client, tmp_path):
    df = dd.from_pandas(pd.DataFrame(COLUMNS), npartitions=2)
    with pytest.raises(distributed.KilledWorker, match="all those workers died"):
        rank_dask.evaluate(df, killed_in(str(tmp_path), 100), n_partitions=1)


@pytest.fixture(scope="module")
def two_executors():
    """A session whose two executors are processes of their own, as those of a cluster."""
    builder = SparkSession.builder
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        session = (
            builder.master("local-cluster[2,1,1024]")
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


# the interpreter that ranks, which is forked by a daemon, which an executor has started
@pytest.mark.parametrize("generation", [0, 2])
def test_spark_workers_killed_while_tasks_run(two_executors, tmp_path, generation):
    df = two_executors.createDataFrame(pd.DataFrame(COLUMNS).sample(frac=1, random_state=0))
    metrics = [*NAMES, killed_in(str(tmp_path), 1, generation)]
    scores = spark.evaluate(df, metrics, n_partitions=2)
    assert scores == pytest.approx({**in_memory(COLUMNS, NAMES), "killed": 1.0}, **EXACT)
    assert len(list(tmp_path.iterdir())) == 1


def test_a_partition_that_kills_all_spark_workers_is_one_error(two_executors, tmp_path):
    df = two_executors.createDataFrame(pd.DataFrame(COLUMNS))
    with pytest.raises(Exception, match=r"failed 4 times, .*Python worker exited"):
        spark.evaluate(df, killed_in(str(tmp_path), 100), n_partitions=1)
