"""Parquet files, read in batches, give the result of the same rows in memory."""

import math
import pickle
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from many_queries import EXACT, METRICS, UNJUDGED, in_memory, make_documents, with_unjudged
from pyarrow import fs
from requires import requires

from sklearn_rankscore import RankingAccumulator, evaluate, evaluate_parquet
from sklearn_rankscore.streaming.paths import from_uri


def write(columns, path, **options):
    pq.write_table(pa.table(columns), path, **options)
    return path


@pytest.mark.parametrize("strings", [False, True])
@pytest.mark.parametrize("batch_rows", [7, 100, 10**6])
def test_a_file_equals_memory(tmp_path, strings, batch_rows):
    columns = make_documents(long=600, strings=strings)
    path = write(columns, tmp_path / "rows.parquet", row_group_size=50)
    scores = evaluate_parquet(path, METRICS, weight="weight", batch_rows=batch_rows)
    assert scores == pytest.approx(in_memory(columns, weight="weight"), **EXACT)


def write_parts(columns, folder, size):
    for i, start in enumerate(range(0, len(columns["qid"]), size)):
        write(
            {name: c[start : start + size] for name, c in columns.items()},
            folder / f"part.{i}.parquet",
        )


def test_a_folder_whose_files_split_queries(tmp_path):
    columns = make_documents(strings=True)
    columns["qid"] = pa.array(columns["qid"]).dictionary_encode()
    write_parts({**columns, "qid": np.array(columns["qid"].to_pylist())}, tmp_path, 25)
    assert len(list(tmp_path.iterdir())) > 10  # so that names do not sort as strings
    scores = evaluate_parquet(tmp_path, METRICS)
    expected = evaluate(columns["label"], columns["score"], METRICS, groups=columns["qid"])
    assert scores == pytest.approx(expected, **EXACT)


def test_dictionaries_that_differ_between_files(tmp_path):
    columns = make_documents(strings=True)
    half = len(columns["qid"]) // 2
    for i, rows in enumerate([slice(0, half), slice(half, None)]):
        part = {name: column[rows] for name, column in columns.items()}
        part["qid"] = pa.array(part["qid"]).dictionary_encode()
        write(part, tmp_path / f"{i}.parquet", row_group_size=20)
    scores = evaluate_parquet(
        [tmp_path / "0.parquet", tmp_path / "1.parquet"], METRICS, batch_rows=33
    )
    assert scores == pytest.approx(in_memory(columns), **EXACT)


@pytest.mark.parametrize("batch_rows", [5, 10**6])
def test_unjudged_documents_are_nan_or_null(tmp_path, batch_rows):
    columns = with_unjudged(make_documents(long=100))
    expected = in_memory(columns, UNJUDGED, weight="weight")
    nulls = pa.array(columns["label"], from_pandas=True)
    assert nulls.null_count
    for name, label in {"nan": columns["label"], "null": nulls}.items():
        path = write({**columns, "label": label}, tmp_path / f"{name}.parquet")
        scores = evaluate_parquet(path, UNJUDGED, weight="weight", batch_rows=batch_rows)
        assert scores == pytest.approx(expected, **EXACT)
    by_option = evaluate_parquet(path, ["ndcg", "bpref"], unjudged="drop")
    assert by_option == pytest.approx(
        in_memory(columns, ["ndcg", "bpref"], unjudged="drop"), **EXACT
    )


def test_an_accumulator_can_be_given(tmp_path):
    columns = make_documents()
    collected = RankingAccumulator("mrr")
    scores = evaluate_parquet(write(columns, tmp_path / "rows.parquet"), collected)
    assert scores["mrr"] == collected.result()["mrr"].mean
    assert collected.result()["mrr"].n_queries == 60
    with pytest.raises(ValueError, match="to the RankingAccumulator itself"):
        evaluate_parquet(tmp_path, collected, like="ranx")


@pytest.mark.parametrize(
    ("change", "given", "message"),
    [
        ({"label": pa.array([1, None, 0])}, {}, r"row 1 .*: y_true contains NaN, which means"),
        ({"qid": pa.array(["a", "a", None])}, {}, r"'qid' has 1 missing values\. .* first\.$"),
        ({"score": pa.array([1.0, None, 0.0])}, {}, r"'score' has 1 missing .* the score -inf\.$"),
        ({"score": pa.array([1.0, math.nan, 0.0])}, {}, "y_score contains NaN"),
        ({}, {"group": "query"}, "has no column 'query'; it has qid, label, score"),
        ({"qid": pa.array([1, 2, 1])}, {}, "not sorted by query: 1 comes after 2"),
    ],
)
def test_an_invalid_file_is_refused(tmp_path, change, given, message):
    columns = {"qid": [1, 1, 2], "label": [1, 0, 1], "score": [0.1, 0.2, 0.3]}
    path = write(columns | change, tmp_path / "rows.parquet")
    with pytest.raises(ValueError, match=message):
        evaluate_parquet(path, "mrr", **given)


def test_an_empty_folder_is_refused(tmp_path):
    with pytest.raises(ValueError, match="no Parquet files"):
        evaluate_parquet(tmp_path, "mrr")


def test_progress_is_shown(tmp_path, capsys):
    path = write(make_documents(), tmp_path / "rows.parquet")
    evaluate_parquet(path, "mrr", progress=False)
    assert not capsys.readouterr().err
    evaluate_parquet(path, slow, progress=True, batch_rows=4000)
    assert "row/s" in capsys.readouterr().err


def slow(block):
    time.sleep(0.15)  # the bar is hidden for the first second
    return np.zeros(len(block.sizes))


def test_a_second_day_is_added_to_the_first(tmp_path):
    columns = make_documents()
    later = {**columns, "qid": columns["qid"] + columns["qid"].max()}  # they share one query
    both = {name: np.concatenate([columns[name], later[name]]) for name in columns}
    days = [write(part, tmp_path / f"{i}.parquet") for i, part in enumerate([columns, later])]
    collected = RankingAccumulator(METRICS)
    for day in days:
        scores = evaluate_parquet(day, collected, batch_rows=50)
    assert scores == pytest.approx(in_memory(both), **EXACT)
    assert collected.n_documents == len(both["qid"])
    before = pickle.dumps(collected.result())
    with pytest.raises(ValueError, match="two sorted streams overlap"):
        evaluate_parquet(days[1], collected)
    assert pickle.dumps(collected.result()) == before


def test_an_error_leaves_the_accumulator_unchanged(tmp_path):
    columns = make_documents()
    columns["label"][-1] = 7
    path = write(columns, tmp_path / "rows.parquet")
    collected = RankingAccumulator("err@10").update([1], [1], ["a"])
    with pytest.raises(ValueError, match="max_grade"):
        evaluate_parquet(path, collected, batch_rows=20)
    assert collected.n_documents == 1


@pytest.mark.parametrize("batch_rows", [7, 1000])
@pytest.mark.parametrize(
    ("column", "value", "row", "message"),
    [
        ("score", math.nan, 113, "y_score contains NaN. Drop"),
        ("label", 7.0, 113, "y_true must lie in"),
        ("qid", -1, 113, "not sorted by query"),
        ("score", None, 0, "column 'score' has 1 missing"),
    ],
)
def test_an_error_names_file_and_row(tmp_path, batch_rows, column, value, row, message):
    columns = {name: c.tolist() for name, c in make_documents().items()}
    columns[column][row] = value
    for i, start in enumerate([0, 50, 100]):
        part = {name: c[start : start + 50 if i < 2 else None] for name, c in columns.items()}
        write(part, tmp_path / f"{i}.parquet")
    place = f"{tmp_path}/{row // 50}.parquet, row {row % 50} .counted from 0.: .*"
    with pytest.raises(ValueError, match=f"^{place}{message}"):
        evaluate_parquet(tmp_path, "err@10", batch_rows=batch_rows)


def failing(block):
    raise ZeroDivisionError


def test_an_error_of_a_metric_names_the_file(tmp_path):
    path = write(make_documents(), tmp_path / "rows.parquet")
    with pytest.raises(ZeroDivisionError) as error:
        evaluate_parquet(path, failing)
    assert "rows.parquet" in error.value.__notes__[-1]


def test_a_file_that_is_given_twice_is_refused(tmp_path):
    """Of a file with one query, the rows would be those of one longer query."""
    path = write({"qid": [1, 1], "label": [0, 1], "score": [2, 1]}, tmp_path / "user=1.parquet")
    for given in (
        [path, path],
        [path, f"{tmp_path}/*.parquet"],
        [f"file://{path}", f"file://{path}"],
    ):
        with pytest.raises(ValueError, match=r"user=1.parquet is given twice, so that its rows"):
            evaluate_parquet(given, "mrr")
    assert evaluate_parquet([path], "mrr") == {"mrr": 0.5}


def test_a_pattern_and_a_list_of_patterns(tmp_path):
    columns = make_documents()
    write_parts(columns, tmp_path, 25)
    expected = pytest.approx(in_memory(columns, ["mrr"]), **EXACT)
    assert evaluate_parquet(str(tmp_path / "part.*.parquet"), "mrr") == expected
    few = [str(tmp_path / "part.[0-9].parquet"), str(tmp_path / "part.1[0-9].parquet")]
    assert evaluate_parquet(few, "mrr") == expected
    with pytest.raises(ValueError, match=r"no Parquet files that match .*\*.orc"):
        evaluate_parquet(str(tmp_path / "*.orc"), "mrr")


@pytest.mark.parametrize(
    ("path", "options", "error", "message"),
    [
        (pa.table({"qid": [1]}), {}, TypeError, "got Table. For a table in memory use evaluate"),
        ([b"a.parquet"], {}, TypeError, "got bytes"),
        ([], {}, ValueError, "empty list"),
        ("nowhere.parquet", {}, FileNotFoundError, "no file or folder .*nowhere.parquet"),
        ("nowhere", {"batch_rows": 0}, ValueError, "batch_rows must be an integer of at least 1"),
        ("nowhere", {"batch_rows": 2.5}, TypeError, "batch_rows must be an integer of at least 1"),
    ],
)
def test_wrong_arguments_are_refused(path, options, error, message):
    with pytest.raises(error, match=message):
        evaluate_parquet(path, "mrr", **options)


def test_a_file_of_another_kind_is_named(tmp_path):
    (tmp_path / "notes.txt").write_text("nothing")
    with pytest.raises(ValueError, match=r"notes.txt cannot .*'folder/\*\.parquet'"):
        evaluate_parquet(tmp_path, "mrr")


TYPES = [
    ("qid", pa.int32(), pa.int64()),
    ("qid", pa.string(), pa.large_string()),
    ("qid", pa.dictionary(pa.int32(), pa.string()), pa.string()),
    ("qid", pa.timestamp("s"), pa.timestamp("ns")),
    ("label", pa.int8(), pa.float64()),
    ("score", pa.float32(), pa.float64()),
]


@pytest.mark.parametrize(("column", "first", "second"), TYPES)
@pytest.mark.parametrize("batch_rows", [2, 100])
def test_types_that_differ_between_files(tmp_path, column, first, second, batch_rows):
    columns = {"qid": [1, 1, 2, 2, 3], "label": [1, 0, 1, 0, 1], "score": [3, 2, 1, 4, 1]}
    expected = evaluate(columns["label"], columns["score"], "mrr", groups=columns["qid"])
    for i, (rows, kind) in enumerate([(slice(0, 3), first), (slice(3, 5), second)]):
        part = {name: pa.array(values[rows]) for name, values in columns.items()}
        text = column == "qid" and "string" in str(kind)
        values = pa.array([str(v) if text else v for v in columns[column][rows]])
        values = values.cast(pa.timestamp("s")) if "timestamp" in str(kind) else values
        part[column] = values.cast(kind)
        required = [pa.field(name, v.type, nullable=bool(i)) for name, v in part.items()]
        pq.write_table(pa.table(part, schema=pa.schema(required)), tmp_path / f"{i}.parquet")
    assert evaluate_parquet(tmp_path, "mrr", batch_rows=batch_rows) == expected


@pytest.mark.parametrize(
    ("first", "second"),
    [(pa.int64(), pa.string()), (pa.int64(), pa.float64()), (pa.string(), pa.binary())],
)
def test_types_without_a_common_one_are_refused_before_the_first_row(tmp_path, first, second):
    for i, kind in enumerate([first, second]):
        ids = pa.array([i], pa.int64()).cast(pa.string() if "int" not in str(kind) else kind)
        part = {"qid": ids.cast(kind), "label": [1], "score": [1]}
        write(part, tmp_path / f"{i}.parquet")
    message = rf"'qid' has the type .* in {tmp_path}/0.parquet and {second} in {tmp_path}/1.parq"
    with pytest.raises(ValueError, match=message):
        evaluate_parquet(tmp_path, failing)


def test_filesystems_and_uris(tmp_path):
    columns = make_documents()
    write_parts(columns, tmp_path, 25)
    expected = pytest.approx(in_memory(columns, ["mrr"]), **EXACT)
    local, folder = fs.LocalFileSystem(), tmp_path.as_posix()
    assert evaluate_parquet(tmp_path.as_uri(), "mrr") == expected
    assert evaluate_parquet(folder, "mrr", filesystem=local) == expected
    assert evaluate_parquet("", "mrr", filesystem=fs.SubTreeFileSystem(folder, local)) == expected
    assert evaluate_parquet("", "mrr", filesystem=tmp_path.as_uri()) == expected


def test_options_of_a_uri_are_no_pattern():
    """The options are those of S3, which is not asked for anything."""
    options = "?region=eu-west-1&scheme=http"
    for name in ("scores", "scores/part-*.parquet", "scores/part-?.parquet"):
        system, path = from_uri(f"s3://a:b@bucket/{name}{options}")
        assert (system.region, path) == ("eu-west-1", f"bucket/{name}")


@pytest.fixture
def memory_table():
    """Two files on a filesystem that fsspec knows and pyarrow does not, and a third elsewhere."""
    fsspec = requires("fsspec")
    memory = fsspec.filesystem("memory")
    table = pa.table(make_documents(seed=3))
    for name, part in (("day=1/a-2", table[50:100]), ("day=1/a-10", table[100:]), ("b", table)):
        with memory.open(f"/scores/{name}.parquet", "wb") as file:
            pq.write_table(part, file)
    yield table[50:]
    memory.rm("/scores", recursive=True)


@pytest.mark.parametrize(
    "path",
    [
        "memory://scores/day=1",
        "memory://scores/day=1/a-*.parquet",
        "memory://scores/day=[0-9]/a*",
        ["memory://scores/day=1/a-2.parquet", "memory://scores/day=1/a-10.parquet"],
    ],
    ids=["folder", "pattern", "pattern of folders", "list"],
)
def test_uris_of_fsspec(path, memory_table):
    expected = evaluate(
        memory_table["label"], memory_table["score"], "mrr", groups=memory_table["qid"].to_numpy()
    )
    assert evaluate_parquet(path, "mrr") == pytest.approx(expected, rel=1e-14)


def test_patterns_of_other_filesystems_and_uris(tmp_path):
    folder = tmp_path / "x"
    folder.mkdir()
    for i in range(3):
        pq.write_table(pa.table({"qid": [i], "label": [i % 2], "score": [0]}), folder / f"{i}.pq")
    local = fs.LocalFileSystem()
    for path, system in ((f"{folder}/[01].pq", local), ("x/[01].pq", tmp_path.as_uri())):
        assert evaluate_parquet(path, "precision@1", filesystem=system) == {"precision@1": 0.5}
    assert evaluate_parquet(f"{tmp_path.as_uri()}/*/[12].pq", "mrr") == {"mrr": 0.5}
    with pytest.raises(ValueError, match="no Parquet files that match"):
        evaluate_parquet(f"{folder.as_uri()}/9*", "mrr")
    with pytest.raises(ValueError, match=r"\*\* in a pattern.*local files only"):
        evaluate_parquet(f"{folder.as_uri()}/**/1.pq", "mrr")
    with pytest.raises(ValueError, match="protocol of nowhere://a is known neither to pyarrow"):
        evaluate_parquet("nowhere://a", "mrr")


def test_progress_is_told_to_a_function(tmp_path):
    path, calls = tmp_path / "rows.parquet", []
    pq.write_table(pa.table({"qid": [1, 1, 2, 2, 3], "label": [1] * 5, "score": [0] * 5}), path)
    evaluate_parquet(path, "mrr", batch_rows=2, progress=lambda *call: calls.append(call))
    assert calls == [(2, 5), (4, 5), (5, 5)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"score": ["s1", "s2"]},
            r"score must be the name of one column; got \['s1', 's2'\]\. Sev",
        ),
        ({"score": {"a": "s1"}}, "score must be the name of one column; got {'a'"),
        ({"label": None}, "label must be the name of one column; got None"),
        ({"weight": 2}, "weight must be the name of one column; got 2"),
        ({"y_score": "s1"}, "y_score= names no column.* take the column as score='s1'"),
        ({"y_true": "rel"}, "y_true= names no column.* take the column as label='rel'"),
    ],
)
def test_columns_that_are_not_named_are_refused(tmp_path, options, message):
    with pytest.raises(TypeError, match=message):
        evaluate_parquet(tmp_path, "mrr", **options)
