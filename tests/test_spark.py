"""Spark on this machine gives the result of the same rows in memory."""

import pickle

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from many_queries import EXACT, METRICS, RATIOS, UNJUDGED, in_memory, make_documents, with_unjudged
from requires import requires
from segments import BY, SEGMENT_METRICS, check, expected_segments, make_segments, table_of
from spark_session import ignore_pandas_warning

from sklearn_rankscore import RankingAccumulator, compare, query_scores, spark

PythonException = requires("pyspark.errors").PythonException
pytestmark = ignore_pandas_warning


def shuffled(session, columns, n_partitions=5):
    """A DataFrame whose partitions split queries."""
    table = pa.table(columns)
    order = np.random.default_rng(0).permutation(table.num_rows)
    return session.createDataFrame(table.take(order)).repartition(n_partitions)


@pytest.mark.parametrize(("strings", "weight"), [(True, None), (False, "weight")])
def test_all_metrics_equal_those_in_memory(session, strings, weight):
    columns = make_documents(long=600, strings=strings)
    scores = spark.evaluate(shuffled(session, columns), METRICS, weight=weight)
    assert scores == pytest.approx(in_memory(columns, weight=weight), **EXACT)


def test_options_and_partitions(session):
    columns = make_documents()
    df = shuffled(session, columns).withColumnsRenamed(
        {"label": "grade", "score": "a.score", "qid": "sess`ion"}
    )
    scores = spark.evaluate(
        df,
        RATIOS,
        label="grade",
        score="a.score",
        groups="sess`ion",
        n_partitions=7,
        average="micro",
    )
    assert scores == pytest.approx(in_memory(columns, RATIOS, average="micro"), **EXACT)


def test_an_accumulator_of_all_queries(session):
    columns = make_documents(strings=True)
    summaries = spark.accumulate(shuffled(session, columns), METRICS).result()
    whole = RankingAccumulator(METRICS)
    whole.update(columns["label"], columns["score"], columns["qid"])
    for name, expected in whole.result().items():
        assert summaries[name] == pytest.approx(expected, nan_ok=True, **EXACT)


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
def test_query_ids_keep_their_type(session, ids):
    columns = make_documents(long=300)
    df = shuffled(session, columns).selectExpr(f"{ids} as qid", "label", "score")
    values = spark.query_scores(df, METRICS)
    assert values.schema["qid"] == df.schema["qid"]
    known = {row["qid"] for row in df.select("qid").distinct().collect()}
    rows = sorted(values.collect())
    assert [row["qid"] for row in rows] == sorted(known)
    expected = in_memory(columns, average=None)
    for name in METRICS:
        np.testing.assert_allclose([row[name] for row in rows], expected[name], rtol=0, atol=1e-12)


@pytest.mark.parametrize("column", ["label", "score", "qid"])
def test_nulls_are_refused(session, column):
    df = shuffled(session, make_documents(strings=True))
    df = df.selectExpr(
        *(f"if(qid = 'q0003ü', null, {c}) as {c}" if c == column else c for c in df.columns)
    )
    message = f"a partition, row [0-9]+ .counted from 0.: column '{column}' has a missing value"
    if column == "label":
        message = r"query 'q0003ü': y_true contains NaN .*(\n.*)*unjudged='drop'"
    with pytest.raises(ValueError, match=f"^{message}"):
        spark.evaluate(df, "mrr")
    with pytest.raises(PythonException, match=message):
        spark.query_scores(df, "mrr").collect()


def test_unjudged_documents(session):
    columns = with_unjudged(make_documents(strings=True))
    df = shuffled(session, columns)
    expected = in_memory(columns, UNJUDGED)
    for label in ("label", "if(isnan(label), null, label) as label"):
        scores = spark.evaluate(df.selectExpr("qid", label, "score"), UNJUDGED)
        assert scores == pytest.approx(expected, **EXACT)


def test_invalid_input_is_refused(session):
    df = shuffled(session, make_documents())
    with pytest.raises(ValueError, match="the DataFrame has no column 'grade'; it has qid, label"):
        spark.evaluate(df, "mrr", label="grade")
    with pytest.raises(ValueError, match="y_true must lie in"):
        spark.evaluate(df.selectExpr("qid", "score", "label * 10 as label"), "err")
    with pytest.raises(ValueError, match="column 'score' has a missing value"):
        spark.evaluate(df.selectExpr("qid", "double('nan') as score", "label"), "err")
    with pytest.raises(ValueError, match="y_true must hold numbers"):
        spark.evaluate(df.selectExpr("qid", "score", "string(label) as label"), "err")
    with pytest.raises(ValueError, match="no documents"):
        spark.evaluate(df.where("qid < 0"), "mrr")
    with pytest.raises(ValueError, match="not a known metric"):
        spark.query_scores(df, "nonsense")
    with pytest.raises(ValueError, match="the DataFrame has 2 columns 'score'"):
        spark.evaluate(df.withColumnRenamed("weight", "score"), "mrr")
    with pytest.raises((TypeError, ValueError), match="n_partitions must be an integer of at"):
        spark.evaluate(df, "mrr", n_partitions="3")
    with pytest.raises(TypeError, match=r"groups and weight name columns; got Column"):
        spark.evaluate(df, "mrr", groups=df["qid"])
    with pytest.raises(TypeError, match="no option group= any more: groups= names"):
        spark.evaluate(df, "mrr", group="qid")
    with pytest.raises(ValueError, match="query_scores takes one system"):
        spark.query_scores(df, "mrr", score={"a": "score"})


def test_functions_of_a_notebook(session):
    """They cannot be pickled by their names."""
    factor = 2.0
    metrics = ["ndcg@5", lambda block: block.sizes * factor]
    options = {"gain": lambda labels: labels**factor, "replace_undefined_by": np.nan}
    columns = make_documents()
    whole = RankingAccumulator(metrics, **options)
    whole.update(columns["label"], columns["score"], columns["qid"])
    summaries = spark.accumulate(shuffled(session, columns), metrics, **options).result()
    for name, expected in whole.result().items():
        assert summaries[name] == pytest.approx(expected, **EXACT)


def test_a_group_column_with_the_name_of_a_metric(session):
    columns = make_documents()
    df = shuffled(session, columns).withColumnRenamed("qid", "mrr")
    expected = pytest.approx(in_memory(columns, ["mrr"]), **EXACT)
    assert spark.evaluate(df, "mrr", groups="mrr") == expected
    for name in ("mrr", "MRR"):  # Spark ignores case
        message = f"column of query ids has the name of a metric, '{name}'"
        with pytest.raises(ValueError, match=message):
            spark.query_scores(df.withColumnRenamed("mrr", name), "mrr", groups=name)


def test_names_that_differ_by_case(session):
    columns = make_documents()
    df = shuffled(session, {**columns, "QID": columns["qid"] % 2, "Label": columns["score"]})
    expected = pytest.approx(in_memory(columns, ["mrr"]), **EXACT)
    assert spark.evaluate(df, "mrr") == expected
    assert spark.query_scores(df, "mrr").count() == len(set(columns["qid"]))


def test_ids_that_are_compared_in_other_ways_are_refused(session):
    df = shuffled(session, make_documents(strings=True))
    collated = df.selectExpr("collate(qid, 'UTF8_LCASE') as qid", "label", "score")
    with pytest.raises(ValueError, match="'qid' has the collation UTF8_LCASE"):
        spark.evaluate(collated, "mrr")
    with pytest.raises(ValueError, match="missing value"):
        spark.evaluate(df.selectExpr("double('nan') as qid", "label", "score"), "mrr")


def test_other_frames_and_options_are_refused(session):
    columns = make_documents()
    with pytest.raises(TypeError, match="must be a Spark DataFrame; got DataFrame"):
        spark.evaluate(pd.DataFrame(columns), "mrr")
    with pytest.raises(TypeError, match="no option batch_rows= any more"):
        spark.query_scores(shuffled(session, columns), "mrr", batch_rows=9)


def test_segments_and_ids_of_several_columns(session):
    columns = make_segments()
    expected = expected_segments(columns)
    columns |= {"user": columns["qid"] // 10, "session": columns["qid"] % 10}
    table = table_of({name: c for name, c in columns.items() if name != "qid"})
    order = np.random.default_rng(0).permutation(table.num_rows)
    df = session.createDataFrame(table.take(order)).repartition(5)
    df = df.selectExpr("*", "nullif(level, double('nan')) as l").drop("level")
    df = df.withColumnRenamed("l", "level")
    options = {"by": BY, "groups": ["user", "session"]}
    collected = spark.accumulate(df, SEGMENT_METRICS, **options)
    check(collected.by_segment(), expected)
    scores = spark.evaluate(df, SEGMENT_METRICS, **options)
    assert scores["", "all queries"] == pytest.approx(collected.scores(), **EXACT)
    assert scores.keys() - {("", "all queries")} == collected.by_segment().keys()
    values = spark.query_scores(df, "mrr", groups=["user", "session"])
    assert values.columns == ["user", "session", "mrr"]
    mrr = in_memory(columns, ["mrr"], average=None)["mrr"]
    rows = sorted(values.collect())
    assert [row[0] * 10 + row[1] for row in rows] == sorted(set(columns["qid"]))
    np.testing.assert_allclose([row[2] for row in rows], mrr, rtol=0, atol=1e-12)
    with pytest.raises(ValueError, match="query_scores has no by="):
        spark.query_scores(df, "mrr", groups="user", by="device")


def test_no_rows_are_sent_to_the_driver(session):
    columns = make_documents(3, long=20_000)
    collected = spark.accumulate(shuffled(session, columns), METRICS, n_partitions=2)
    assert collected.n_documents == len(columns["qid"])
    assert len(pickle.dumps(collected)) < 8192


def test_propensities_are_refused_by_name(session):
    df = shuffled(session, make_documents())
    for function in (spark.evaluate, spark.accumulate, spark.query_scores):
        with pytest.raises(ValueError, match="Spark and Dask take no propensity"):
            function(df, "dcg@3(propensity=score)")


def test_two_systems(session):
    columns = make_documents()
    columns["other"] = np.round(columns["score"] + np.random.default_rng(1).random(), 0)
    scores = spark.evaluate(shuffled(session, columns), "mrr", score={"a": "score", "b": "other"})
    known = columns["label"], {"a": columns["score"], "b": columns["other"]}, "mrr"
    d = compare(query_scores(*known, groups=columns["qid"])).differences[0]
    mine = scores.differences["b"]["mrr"]
    assert mine.difference == pytest.approx(d.difference, **EXACT)
    assert mine.standard_error == pytest.approx(d.standard_error, **EXACT)
    assert (mine.wins, mine.ties, mine.losses) == (d.wins, d.ties, d.losses)
