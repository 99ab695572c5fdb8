"""Tables, columns and filesystems that cannot be read are refused with what to do instead."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet
import pytest
from many_queries import EXACT, in_memory, make_documents
from requires import requires

from sklearn_rankscore import RankingAccumulator, evaluate_batches, evaluate_parquet

COLUMNS = make_documents()
TABLE = pa.table(COLUMNS)
TWICE = TABLE.append_column("score", TABLE["score"])


def test_an_empty_batch_is_refused_and_changes_nothing():
    parts = [slice(0, 50), slice(0, 0), slice(50, None)]
    stream = RankingAccumulator("mrr")
    for part in parts:
        columns = [COLUMNS[name][part] for name in ("label", "score", "qid")]
        if len(columns[0]):
            stream.update_sorted(*columns)
            continue
        for empty in (columns, [pd.Series(column) for column in columns], [[], [], []]):
            with pytest.raises(ValueError, match="y_score is empty; at least one document"):
                stream.update_sorted(*empty)
    assert stream.scores() == pytest.approx(in_memory(COLUMNS, ["mrr"]), **EXACT)


def test_two_columns_of_one_name_are_refused(tmp_path):
    message = "has 2 columns 'score'. Rename or drop all but one"
    with pytest.raises(ValueError, match=message):
        evaluate_batches(TWICE, "mrr")
    pyarrow.parquet.write_table(TWICE, tmp_path / "rows.parquet")
    with pytest.raises(ValueError, match="rows.parquet " + message):
        evaluate_parquet(tmp_path, "mrr")
    unused = TABLE.append_column("x", TABLE["score"]).append_column("x", TABLE["score"])
    assert evaluate_batches(unused, "mrr") == evaluate_batches(TABLE, "mrr")


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ({"group": "user"}, "group"),
        ({"group": ["qid", "user"]}, "group"),
        ({"label": "user"}, "label"),
        ({"score": "user"}, "score"),
        ({"weight": "user"}, "weight"),
        ({"by": "user"}, "by"),
    ],
)
def test_an_unknown_column_is_refused_with_its_parameter(given, name):
    with pytest.raises(ValueError, match=f"no column 'user'; it has qid, .* by {name}=.$"):
        evaluate_batches(TABLE, "mrr", **given)


@pytest.mark.parametrize("group", [0, None, ["qid", 1], pa.array([1])])
def test_a_group_that_is_no_name_is_refused(group):
    with pytest.raises(
        TypeError, match=r"^group must be the name of a column or a list of names; got"
    ):
        evaluate_batches(TABLE, "mrr", group=group)


@pytest.mark.parametrize("group", [("qid",), np.array(["qid"]), pd.Index(["qid"])])
def test_names_of_columns_may_be_of_any_sequence(group):
    assert evaluate_batches(TABLE, "mrr", group=group) == evaluate_batches(TABLE, "mrr")
    with pytest.raises(ValueError, match=r"no column 'qid'; .* Name the column by group="):
        evaluate_batches(TABLE.drop_columns("qid"), "mrr", group=group)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("qid", "as group='qid'"),
        ("query_id", "as group='qid'"),
        ("query", "as group='qid'"),
        ("group_id", "as group='qid'"),
        ("sample_weight", "as weight='w'"),
        ("weights", "as weight='w'"),
    ],
)
def test_arguments_of_arrays_are_refused_with_those_of_columns(option, message):
    with pytest.raises(TypeError, match=f"^{option}= names no column.*{message}"):
        evaluate_batches(TABLE, "mrr", **{option: "qid"})


def connection():
    return requires("duckdb").connect().execute("select 1 as qid, 1 as label, 1 as score")


@pytest.mark.parametrize(
    ("batches", "error", "message"),
    [
        (lambda: pa.dataset.dataset(TABLE), TypeError, r"dataset of pyarrow is read by to_batches"),
        (lambda: pa.dataset.dataset(TABLE).scanner(), TypeError, "is read by to_batches"),
        (connection, TypeError, r"that of con.sql\(query\)"),
        (lambda: pl.Series([1]), ValueError, "Arrow stream of a Series: .*Pass a table"),
        (
            lambda: pl.DataFrame(COLUMNS).cast({"qid": pl.Int128}),
            ValueError,
            "Arrow stream of a DataFrame: .*convert columns",
        ),
        (
            lambda: pa.table({**COLUMNS, "qid": [[q] for q in COLUMNS["qid"]]}),
            TypeError,
            "cannot be of the Arrow type list.*Convert them, for example to text",
        ),
    ],
    ids=["dataset", "scanner", "connection", "one column", "int128", "lists"],
)
def test_other_tables_are_refused_with_their_fix(batches, error, message):
    with pytest.raises(error, match=message):
        evaluate_batches(batches(), "mrr")


def test_a_pattern_of_a_filesystem_that_adds_a_slash():
    memory = requires("fsspec").filesystem("memory")
    memory.makedirs("/scored", exist_ok=True)
    with memory.open("/scored/part.parquet", "wb") as file:
        pyarrow.parquet.write_table(TABLE, file)
    expected = pytest.approx(in_memory(COLUMNS, ["mrr"]), **EXACT)
    for path in ("scored/*.parquet", "/scored/*.parquet"):
        assert evaluate_parquet(path, "mrr", filesystem=memory) == expected
    assert evaluate_parquet("scored", "mrr", filesystem="memory://") == expected
    memory.rm("/scored", recursive=True)


@pytest.mark.parametrize("filesystem", ["memory", 3])
def test_what_is_no_filesystem_is_refused(filesystem):
    message = re.escape(f"or a URI such as 's3://bucket'; got {filesystem!r}.")
    with pytest.raises(TypeError, match=message):
        evaluate_parquet("rows.parquet", "mrr", filesystem=filesystem)
