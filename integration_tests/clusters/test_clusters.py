"""Spark and Dask with two processes give the result of the same rows in memory."""

import pickle
import runpy
from types import SimpleNamespace

import dask.dataframe as dd
import distributed
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from dask import config as dask_config
from doors import arrays, shuffled
from many_queries import CASES, EXACT, METRICS, in_memory, make_documents
from pyspark.errors import PythonException
from segments import BY, SEGMENT_METRICS, check, expected_segments, make_segments
from spark_session import ROOT, ignore_pandas_warning, session_on

from sklearn_rankscore import RankingAccumulator, compare, dask, query_scores, spark

pytestmark = ignore_pandas_warning
COLUMNS = make_documents()


@pytest.fixture(scope="module")
def on_spark():
    with session_on("local[2]") as session:

        def frame(columns, n_partitions=5):
            return session.createDataFrame(pa.table(columns)).repartition(n_partitions)

        yield SimpleNamespace(
            of=spark,
            frame=frame,
            rename=lambda df, names: df.withColumnsRenamed(names),
            collect=lambda df: pa.Table.from_batches(df.toArrow().to_batches()).to_pandas(),
            error=PythonException,
        )


@pytest.fixture(scope="module")
def on_dask():
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True}
    with (
        distributed.LocalCluster(dashboard_address=":0", **options) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield SimpleNamespace(
            of=dask,
            frame=lambda columns, n=5: dd.from_pandas(pd.DataFrame(columns), npartitions=n),
            rename=lambda df, names: df.rename(columns=names),
            collect=lambda df: df.compute(),
            error=ValueError,
            client=client,
        )


@pytest.fixture(scope="module", params=["on_spark", "on_dask"])
def cluster(request):
    return request.getfixturevalue(request.param)


@pytest.mark.parametrize("case", CASES)
def test_results(cluster, case):
    columns, metrics, options = CASES[case]
    total = cluster.of.accumulate(cluster.frame(shuffled(columns)), metrics, **options)
    expected = in_memory(columns, metrics, **options)
    assert total.scores() == pytest.approx(expected, nan_ok=True, **EXACT)
    for name, summary in arrays(columns, metrics, None, **options).result().items():
        assert total.result()[name] == pytest.approx(summary, nan_ok=True, **EXACT)
    assert len(pickle.dumps(total)) < 16_000  # no rows come to the driver


def test_any_names(cluster):
    """Those that engines quote, and that of the metric."""
    expected = pytest.approx(in_memory(COLUMNS, ["mrr"]), **EXACT)
    for names in (
        {"label": "grade", "score": "a.score", "groups": "sess`ion"},
        {"label": "label", "score": "score", "groups": "MRR"},
    ):
        renamed = zip(("label", "score", "qid"), names.values(), strict=True)
        df = cluster.rename(cluster.frame(shuffled(COLUMNS)), dict(renamed))
        assert cluster.of.evaluate(df, "mrr", n_partitions=7, **names) == expected


def test_an_accumulator_of_two_days(cluster):
    total = RankingAccumulator("mrr").update([1, 0], [1, 2], ["x", "x"])
    scores = cluster.of.evaluate(cluster.frame(shuffled(COLUMNS)), total)
    assert total.result()["mrr"].n_queries == 61
    assert scores["mrr"] == pytest.approx((0.5 + 60 * in_memory(COLUMNS)["mrr"]) / 61)


def changed(**columns):
    return shuffled(COLUMNS | columns)


def with_missing(name):
    return changed(**{name: np.where(COLUMNS["qid"] == 3, np.nan, COLUMNS[name])})


NOTHING = {name: column[:0] for name, column in COLUMNS.items()}
MISSING = "a partition, row [0-9]+ .counted from 0.: column '{}' has a missing value"
INVALID = [
    ("evaluate", with_missing("score"), {}, MISSING.format("score")),
    ("query_scores", with_missing("qid"), {}, MISSING.format("qid")),
    ("evaluate", with_missing("label"), {}, r"query 3: y_true contains NaN .*(\n.*)*'drop'"),
    ("evaluate", changed(label=COLUMNS["label"] * 10), {}, r"query \d+: y_true must lie in"),
    ("evaluate", changed(label=COLUMNS["label"].astype(str)), {}, "y_true must hold numbers"),
    ("evaluate", NOTHING, {}, "no documents"),
    ("evaluate", COLUMNS, {"label": "grade"}, "the DataFrame must have one column 'grade'; it has"),
    ("query_scores", COLUMNS, {"metrics": "nonsense"}, "not a known metric"),
    ("evaluate", COLUMNS, {"weight": 3}, "are names of columns; got .*3"),
    ("accumulate", COLUMNS, {"metrics": "dcg(propensity=score)"}, "Spark and Dask take no propens"),
]


@pytest.mark.parametrize(("function", "columns", "options", "message"), INVALID)
def test_invalid_input_is_refused(cluster, function, columns, options, message):
    def compute():
        result = getattr(cluster.of, function)(df, **{"metrics": "err", **options})
        return cluster.collect(result)  # that of query_scores is lazy

    df = cluster.frame(columns)
    with pytest.raises((TypeError, ValueError, cluster.error), match=message):
        compute()


def test_functions_of_a_notebook(cluster):
    """They cannot be pickled by their names."""
    factor = 2.0
    metrics = ["ndcg@5", lambda block: block.sizes * factor]
    options = {"gain": lambda labels: labels**factor, "replace_undefined_by": np.nan}
    df = cluster.frame(shuffled(COLUMNS))
    summaries = cluster.of.accumulate(df, metrics, **options).result()
    for name, expected in arrays(COLUMNS, metrics, None, **options).result().items():
        assert summaries[name] == pytest.approx(expected, **EXACT)


def test_segments_and_ids_of_several_columns(cluster):
    columns = make_segments()
    expected = expected_segments(columns)
    columns |= {"user": columns["qid"] // 10, "session": np.char.mod("s%d", columns["qid"] % 10)}
    if cluster.of is spark:  # Dask makes text of objects
        whole = pd.Series(columns["level"]).astype("Int64")
        columns["level"] = whole.to_numpy(object, na_value=None)
    df = cluster.frame(shuffled({name: c for name, c in columns.items() if name != "qid"}))
    options = {"by": BY, "groups": ["user", "session"]}
    scores = cluster.of.evaluate(df, SEGMENT_METRICS, **options)
    check(scores.accumulator.by_segment(), expected)
    assert scores.keys() == {("", "all queries")} | scores.accumulator.by_segment().keys()
    options["by"] = "device"
    values = cluster.collect(cluster.of.query_scores(df, "mrr", **options))
    assert [*values.columns] == ["user", "session", "device", "mrr"]
    values = values.sort_values(["user", "session"])
    mrr = in_memory(columns, ["mrr"], average=None)["mrr"]
    np.testing.assert_allclose(values["mrr"], mrr, rtol=0, atol=1e-12)


def test_two_systems(cluster):
    columns = COLUMNS | {"other": np.round(COLUMNS["score"] + 1 / (1 + COLUMNS["qid"]), 0)}
    systems = {"a": "score", "b": "other"}
    scores = cluster.of.evaluate(cluster.frame(shuffled(columns)), "mrr", score=systems)
    known = columns["label"], {name: columns[c] for name, c in systems.items()}, "mrr"
    d = compare(query_scores(*known, groups=columns["qid"])).differences[0]
    mine = scores.differences["b"]["mrr"]
    assert mine[:2] == pytest.approx((d.difference, d.standard_error), **EXACT)
    assert mine[2:6] == (d.queries, d.wins, d.ties, d.losses)
    values = cluster.collect(
        cluster.of.query_scores(cluster.frame(columns), "mrr", score=systems)
    ).sort_values("qid")
    for name, column in systems.items():
        expected = in_memory(columns | {"score": columns[column]}, ["mrr"], average=None)["mrr"]
        np.testing.assert_allclose(values[f"{name} mrr"], expected, rtol=0, atol=1e-12)


SPARK_IDS = [
    "lpad(qid, 4, '0')",
    "int(qid)",
    "decimal(qid)",
    "double(qid) / 3 - 5",
    "timestamp_seconds(qid)",
    "date_add(date'2020-01-01', int(qid))",
]


@pytest.mark.parametrize("ids", SPARK_IDS)
def test_ids_of_spark_keep_their_type(on_spark, ids):
    columns = make_documents(long=300)
    df = on_spark.frame(shuffled(columns)).selectExpr(f"{ids} as qid", "label", "score")
    values = spark.query_scores(df, METRICS)
    assert values.schema["qid"] == df.schema["qid"]
    rows = sorted(values.collect())
    assert [row["qid"] for row in rows] == sorted(
        r["qid"] for r in df.select("qid").distinct().collect()
    )
    for name, expected in in_memory(columns, average=None).items():
        np.testing.assert_allclose([row[name] for row in rows], expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", ["int32", "string", "object", "category", "datetime64[s]"])
def test_ids_of_dask_keep_their_type(on_dask, kind):
    """Also those of partitions without rows, which are most for three queries."""
    columns = make_documents(3, strings=kind in ("string", "object", "category"))
    frame = pd.DataFrame(shuffled(columns)).astype({"qid": kind})
    with dask_config.set({"dataframe.convert-string": False}):
        values = dask.query_scores(on_dask.frame(frame), METRICS)
        collected = values.compute().sort_values("qid")
    assert values.dtypes.to_dict() == collected.dtypes.to_dict()
    assert collected["qid"].dtype == frame["qid"].dtype
    assert collected["qid"].tolist() == sorted(set(frame["qid"]))
    for name, expected in in_memory(columns, average=None).items():
        np.testing.assert_allclose(collected[name], expected, rtol=0, atol=1e-12)


def test_text_in_several_partitions_without_a_cluster():
    """The shuffle that Dask uses then leaves text in several chunks."""
    columns = make_documents(strings=True)
    df = dd.from_pandas(pd.DataFrame(shuffled(columns)), npartitions=5)
    with dask_config.set({"scheduler": "sync", "dataframe.shuffle.method": "tasks"}):
        scores = dask.evaluate(df, METRICS)
    assert scores == pytest.approx(in_memory(columns), nan_ok=True, **EXACT)


def test_names_of_spark_that_differ_by_case(on_spark):
    columns = COLUMNS | {"QID": COLUMNS["qid"] % 2, "Label": COLUMNS["score"]}
    df = on_spark.frame(shuffled(columns))
    assert spark.evaluate(df, "mrr") == pytest.approx(in_memory(COLUMNS, ["mrr"]), **EXACT)
    assert spark.query_scores(df, "mrr").count() == len(set(COLUMNS["qid"]))


def test_ids_that_spark_compares_in_other_ways_are_refused(on_spark):
    """Strings that differ by case only are equal in the shuffle and the sort."""
    ids = np.array(["a", "A"], dtype=object)[np.arange(40) % 2]
    df = on_spark.frame({"qid": ids, "label": np.arange(40), "score": np.arange(40)}, 1)
    df = df.selectExpr("collate(qid, 'UTF8_LCASE') as qid", "label", "score")
    with pytest.raises(PythonException, match="not sorted by query: 'A' comes after 'a'"):
        spark.evaluate(df, "mrr", n_partitions=1)


@pytest.mark.parametrize("types", [("int64", "float64"), ("int32", "int64"), ("M8[s]", "M8[ns]")])
def test_partitions_of_different_types_are_refused(on_dask, types):
    """The shuffle compares hash values, which differ between types; converted, they are right."""
    rows = pd.DataFrame(shuffled(COLUMNS))
    parts = [
        rows.iloc[i::2].astype({"qid": "M8[s]"} if "M8" in kind else {}).astype({"qid": kind})
        for i, kind in enumerate(types)
    ]
    df = dd.from_map(lambda i: parts[i], range(2), meta=parts[0].iloc[:0])
    with pytest.raises(ValueError, match=r"Metadata mismatch .*(\n.*)*'qid'"):
        dask.evaluate(df, "mrr")
    measured = dask.evaluate(df.astype({"qid": types[1]}), METRICS)
    assert measured == pytest.approx(in_memory(COLUMNS), nan_ok=True, **EXACT)


def test_grid_search_on_the_cluster(on_dask):
    search = runpy.run_path(str(ROOT / "examples" / "cluster_search.py"))["search"]
    alone, client = search(None), on_dask.client
    before = client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.transition_counter)
    distributed = search(client)
    after = client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.transition_counter)
    assert after > before  # the models were fitted by tasks of the cluster
    scores = [of.cv_results_["mean_test_score"] for of in (alone, distributed)]
    np.testing.assert_array_equal(*scores)
    assert distributed.best_params_ == alone.best_params_
