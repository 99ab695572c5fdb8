"""Workers of Dask and of a Spark cluster that are killed: the right result."""

import os
import signal

import dask.dataframe as dd
import distributed
import numpy as np
import pandas as pd
import pytest
from many_queries import EXACT, METRICS, in_memory, make_documents
from spark_session import ignore_pandas_warning, session_on

from sklearn_rankscore import dask as rank_dask
from sklearn_rankscore import spark

pytestmark = ignore_pandas_warning
COLUMNS = make_documents(300)
FRAME = pd.DataFrame(COLUMNS).sample(frac=1, random_state=0)


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


def check(scores, folder, n):
    assert scores == pytest.approx({**in_memory(COLUMNS), "killed": 1.0}, **EXACT)
    assert len(list(folder.iterdir())) == n


def test_dask_workers_killed_while_tasks_run(tmp_path):
    metrics = [*METRICS, killed_in(str(tmp_path), 2)]
    with (
        distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=":0") as cluster,
        distributed.Client(cluster),
    ):
        scores = rank_dask.evaluate(dd.from_pandas(FRAME, npartitions=4), metrics)
    check(scores, tmp_path, 2)


@pytest.fixture(scope="module")
def two_executors():
    """Processes of their own, as those of a cluster."""
    with session_on("local-cluster[2,1,1024]") as session:
        yield session


# the interpreter that ranks, which is forked by a daemon, which an executor has started
@pytest.mark.parametrize("generation", [0, 2])
def test_spark_workers_killed_while_tasks_run(two_executors, tmp_path, generation):
    metrics = [*METRICS, killed_in(str(tmp_path), 1, generation)]
    df = two_executors.createDataFrame(FRAME)
    check(spark.evaluate(df, metrics, n_partitions=2), tmp_path, 1)
