"""Files of documents, and a server of runs that are killed."""

import os

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from forked_runs import Server
from many_queries import make_documents


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    """A folder of files that split queries."""
    folder = tmp_path_factory.mktemp("rows")
    table = pa.table(make_documents(100, seed=7))
    for i, start in enumerate(range(0, table.num_rows, 90)):
        pq.write_table(table[start : start + 90], folder / f"part.{i}.parquet")
    return folder


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    if not hasattr(os, "fork"):
        pytest.skip("this system cannot fork")
    server = Server(tmp_path_factory.mktemp("results"))
    yield server
    server.close()


@pytest.fixture(scope="module")
def expected(server, rows):
    """The scores of a run without a checkpoint and without a fault."""
    return server.finish(rows)
