"""Spark on this machine against the same rows in memory."""

import pickle
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from documents import METRICS, RATIOS, make_documents
from pyspark.errors import PythonException
from pyspark.sql import SparkSession

from sklearn_rankscore import RankingAccumulator, evaluate, spark

pytestmark = pytest.mark.filterwarnings(
    "ignore:PySpark does not yet fully support pandas:FutureWarning:pyspark"
)
EXACT = {"rel": 1e-12, "abs": 1e-12}


@pytest.fixture(scope="module")
def session():
    root = str(Path(__file__).resolve().parents[1])
    monkeypatch = pytest.MonkeyPatch()
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    running = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.memory", "1g")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "3")
        .config("spark.executorEnv.PYTHONPATH", root)
        .config("spark.executorEnv.OMP_NUM_THREADS", "1")
        .getOrCreate()
    )
    running.sparkContext.setLogLevel("OFF")
    yield running
    running.stop()
    monkeypatch.undo()


def shuffled(session, columns, n_partitions=5):
    """A DataFrame whose partitions cut queries."""
    table = pa.table(columns)
    order = np.random.default_rng(0).permutation(table.num_rows)
    return session.createDataFrame(table.take(order)).repartition(n_partitions)


def in_memory(columns, metrics=METRICS, weight=None, **options):
    weights = None if weight is None else columns[weight]
    given = columns["label"], columns["score"], metrics
    return evaluate(*given, groups=columns["qid"], sample_weight=weights, **options)


@pytest.mark.parametrize(("strings", "weight"), [(True, None), (False, "weight")])
def test_all_metrics_equal_memory_with_one_long_query(session, strings, weight):
    columns = make_documents(long=600, strings=strings)
    found = spark.evaluate(shuffled(session, columns), METRICS, weight=weight)
    assert found == pytest.approx(in_memory(columns, weight=weight), **EXACT)


def test_options_and_partitions(session):
    columns = make_documents()
    df = shuffled(session, columns).withColumnsRenamed(
        {"label": "grade", "score": "a.score", "qid": "sess`ion"}
    )
    found = spark.evaluate(
        df,
        RATIOS,
        label="grade",
        score="a.score",
        group="sess`ion",
        n_partitions=7,
        batch_rows=20,
        average="micro",
    )
    assert found == pytest.approx(in_memory(columns, RATIOS, average="micro"), **EXACT)


def test_an_accumulator_of_all_queries(session):
    columns = make_documents(strings=True)
    found = spark.accumulate(shuffled(session, columns), METRICS).result()
    whole = RankingAccumulator(METRICS)
    whole.update(columns["label"], columns["score"], columns["qid"])
    for name, expected in whole.result().items():
        assert found[name] == pytest.approx(expected, nan_ok=True, **EXACT)


@pytest.mark.parametrize(
    "ids",
    [
        "lpad(qid, 4, '0')",
        "int(qid)",
        "decimal(qid)",
        "double(qid) / 3",
        "timestamp_seconds(qid)",
        "date_add(date'2020-01-01', int(qid))",
    ],
)
def test_values_of_queries_under_ids_of_their_own_type(session, ids):
    columns = make_documents(long=300)
    df = shuffled(session, columns).selectExpr(f"{ids} as qid", "label", "score")
    values = spark.query_scores(df, METRICS, batch_rows=100)
    assert values.schema["qid"] == df.schema["qid"]
    known = {row["qid"] for row in df.select("qid").distinct().collect()}
    found = sorted(values.collect())
    assert [row["qid"] for row in found] == sorted(known)
    expected = in_memory(columns, average=None)
    for name in METRICS:
        np.testing.assert_allclose([row[name] for row in found], expected[name], rtol=0, atol=1e-12)


@pytest.mark.parametrize("column", ["label", "score", "qid"])
def test_nulls_are_refused(session, column):
    df = shuffled(session, make_documents(strings=True))
    df = df.selectExpr(
        *(f"if(qid = 'q0003ü', null, {c}) as {c}" if c == column else c for c in df.columns)
    )
    with pytest.raises(ValueError, match=f"^column '{column}' has [0-9]+ missing values"):
        spark.evaluate(df, "mrr")
    with pytest.raises(PythonException, match=f"column '{column}' has [0-9]+ missing values"):
        spark.query_scores(df, "mrr").collect()


def test_what_makes_no_sense_is_refused(session):
    df = shuffled(session, make_documents())
    with pytest.raises(ValueError, match="the DataFrame has no column 'grade'; it has qid, label"):
        spark.evaluate(df, "mrr", label="grade")
    with pytest.raises(ValueError, match="y_true must lie in"):
        spark.evaluate(df.selectExpr("qid", "score", "label * 10 as label"), "err")
    with pytest.raises(ValueError, match="y_score contains NaN"):
        spark.evaluate(df.selectExpr("qid", "double('nan') as score", "label"), "err")
    with pytest.raises(ValueError, match="y_true must hold numbers"):
        spark.evaluate(df.selectExpr("qid", "score", "string(label) as label"), "err")
    with pytest.raises(ValueError, match="no documents"):
        spark.evaluate(df.where("qid < 0"), "mrr")
    with pytest.raises(ValueError, match="not a known metric"):
        spark.query_scores(df, "nonsense")


def test_no_rows_come_to_the_driver(session):
    columns = make_documents(3, long=20_000)
    found = spark.accumulate(shuffled(session, columns), METRICS, n_partitions=2)
    assert found.n_documents == len(columns["qid"])
    assert len(pickle.dumps(found)) < 8192
