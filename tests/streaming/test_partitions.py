"""Columns in the paths of files, as Hive and Spark write them."""

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from many_queries import EXACT, in_memory, make_documents
from requires import requires

from sklearn_rankscore import evaluate_parquet


def write(root, partitions, **columns):
    """A file with one row in each folder."""
    for i, folder in enumerate(partitions):
        (root / folder).mkdir(parents=True)
        row = {"qid": [i], "label": [i % 2], "score": [0.5]} | {
            n: [v[i]] for n, v in columns.items()
        }
        pq.write_table(
            pa.table({name: values for name, values in row.items() if values != [None]}),
            root / folder / "part-0.parquet",
        )
    return root


def write_by_country(folder, columns, writer):
    """The rows in folders by country and level, written by another library."""
    table = pa.table(columns)
    if writer == "pyarrow":
        flavor = ds.partitioning(
            pa.schema([("country", pa.string()), ("level", pa.int64())]), flavor="hive"
        )
        ds.write_dataset(table, folder, format="parquet", partitioning=flavor)
    else:
        polars = requires("polars")
        polars.from_arrow(table).write_parquet(
            polars.PartitionBy(folder, key=["country", "level"], include_key=False)
            if hasattr(polars, "PartitionBy")
            else polars.PartitionByKey(folder, by=["country", "level"], include_key=False)
        )
    return folder


@pytest.mark.parametrize("writer", ["pyarrow", "polars"])
def test_folders_of_other_libraries(tmp_path, writer):
    columns = make_documents()
    country = np.array(["de", "a b/ü=%", None], dtype=object)[columns["qid"] % 3]
    columns |= {"country": country, "level": columns["qid"] % 2}
    if writer == "polars":
        columns["country"] = np.where(columns["qid"] % 3 == 2, "fr", country)
    folder = write_by_country(tmp_path / "scores", columns, writer)
    result = evaluate_parquet(folder, "mrr", by=["country", "level"], order="grouped")
    keys = {("country", "missing" if c is None else c) for c in set(columns["country"])}
    assert result.keys() == {("", "all queries"), ("level", 0), ("level", 1), *keys}
    for (name, value), scores in result.items():
        rows = slice(None)
        if name:
            rows = np.array([("missing" if v is None else v) == value for v in columns[name]])
        part = {name: column[rows] for name, column in columns.items()}
        assert scores == pytest.approx(in_memory(part, ["mrr"]), **EXACT)


def test_ids_and_weights_of_folders(tmp_path):
    folders = ["user=9/w=0.5", "user=10/w=1e0", "user=-3/w=2"]
    write(tmp_path, folders, qid=[None] * 3)
    options = {"group": "user", "weight": "w", "order": "grouped"}
    scores = evaluate_parquet(tmp_path, "precision", **options)
    assert scores == {"precision": pytest.approx(1 / 3.5)}  # the second alone is relevant
    by_number = [tmp_path / folder for folder in (folders[2], *folders[:2])]
    assert evaluate_parquet([*map(str, by_number)], "precision", group="user") == {
        "precision": pytest.approx(1 / 3)
    }


def test_numbers_with_zeros_in_front_are_text(tmp_path):
    write(tmp_path, ["day=1", "day=01", "day=007"])
    assert {*evaluate_parquet(tmp_path, "mrr", by="day", order="grouped")} == {
        ("", "all queries"),
        ("day", "1"),
        ("day", "01"),
        ("day", "007"),
    }


def test_columns_of_files_come_first(tmp_path):
    write(tmp_path, ["qid=5", "qid=6"], qid=[1, 1])
    assert evaluate_parquet(tmp_path, "precision") == {"precision": 0.5}
    other = write(tmp_path / "other", ["qid=5", "qid=6"], qid=[1, None])
    with pytest.raises(
        ValueError, match=r"'qid' is in .*qid=5/part-0.parquet and only in the path"
    ):
        evaluate_parquet(other, "precision")


@pytest.mark.parametrize(
    ("folders", "options", "message"),
    [
        (["w=1", "w=x"], {"weight": "w"}, r"'w' must hold numbers; .*w=x/part-0.parquet has 'x'"),
        (["w=1", "w=inf"], {"weight": "w"}, r"'w' must hold numbers"),
        (["w=1", "v=1"], {"by": "w"}, r"v=1/part-0.parquet has no column 'w'"),
        (
            ["u=1", "u=__HIVE_DEFAULT_PARTITION__"],
            {"group": "u"},
            "column 'u' has 1 missing values",
        ),
    ],
)
def test_invalid_folders_are_refused(tmp_path, folders, options, message):
    write(tmp_path, folders)
    with pytest.raises(ValueError, match=message):
        evaluate_parquet(tmp_path, "mrr", order="grouped", **options)


def test_a_run_resumes_within_a_folder(tmp_path):
    write(tmp_path / "data", [f"country={c}" for c in "abcdef"])
    calls = []

    def interrupt(*call):
        calls.append(call)
        if len(calls) == 3:
            raise KeyboardInterrupt

    options = {"by": "country", "batch_rows": 1, "checkpoint": tmp_path / "state"}
    with pytest.raises(KeyboardInterrupt):
        evaluate_parquet(tmp_path / "data", "mrr", progress=interrupt, **options)
    resumed = evaluate_parquet(tmp_path / "data", "mrr", **options)
    assert resumed == evaluate_parquet(tmp_path / "data", "mrr", by="country")
    assert len(resumed) == 7
