"""Files of `evaluate_parquet`: where they are, what they hold, and what is refused."""

import pickle
import uuid

import fsspec
import numpy as np
import polars
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from doors import shuffled, table_of
from many_queries import EXACT, METRICS, in_memory, make_documents

from sklearn_rankscore import RankingAccumulator, evaluate_parquet

COLUMNS = make_documents()
EXPECTED = pytest.approx(in_memory(COLUMNS, ["mrr"]), **EXACT)


def write(columns, path, **options):
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), path, **options)
    return path


@pytest.fixture(params=["file", "memory"])
def folder(request, tmp_path):
    """Eleven files by their numbers, on the disk or on a filesystem that only fsspec knows."""
    root = tmp_path.as_uri() if request.param == "file" else "memory://scores"
    table = table_of(shuffled(COLUMNS))
    for i in range(11):
        with fsspec.open(f"{root}/day=1/part-{i}.parquet", "wb", auto_mkdir=True) as file:
            pq.write_table(table[i * 30 : (i + 1) * 30 if i < 10 else None], file)
    with fsspec.open(f"{root}/day=1/_SUCCESS", "wb") as file:
        file.write(b"")
    yield root
    if request.param == "memory":
        fsspec.filesystem("memory").rm("/scores", recursive=True)


def test_folders_patterns_lists_and_uris(folder):
    several = [f"{folder}/day=1/part-{i}.parquet" for i in range(11)]
    patterns = [f"{folder}/day=1/part-[0-9].parquet", f"{folder}/**/part-10*"]
    twice = [*several, several[3]]  # of which a file is read once
    for path in (folder, f"{folder}/day=*", f"{folder}/*/part-*", several, patterns, twice):
        assert evaluate_parquet(path, "mrr") == EXPECTED
    for nothing in (f"{folder}/*.orc", f"{folder}/nowhere"):
        with pytest.raises(FileNotFoundError, match=r"there is no Parquet file .*; those of"):
            evaluate_parquet(nothing, "mrr")


def test_sorted_files_are_not_sorted_again(tmp_path, monkeypatch):
    unneeded = lambda *_, **options: pytest.fail("sorted again")  # noqa: E731
    monkeypatch.setattr("sklearn_rankscore.large.tables._count_unsorted", unneeded)
    for i in range(3):
        rows = slice(i * 100, (i + 1) * 100 if i < 2 else None)
        write({name: c[rows] for name, c in COLUMNS.items()}, tmp_path / f"part-{i}.parquet")
    assert evaluate_parquet(tmp_path, "mrr") == EXPECTED


@pytest.mark.parametrize("writer", ["pyarrow", "polars"])
def test_columns_in_folders(writer, tmp_path):
    country = np.array(["de", "a b/ü=%", None], dtype=object)[COLUMNS["qid"] % 3]
    columns = shuffled(COLUMNS | {"country": country, "level": COLUMNS["qid"] % 2})
    if writer == "pyarrow":
        schema = pa.schema([("country", pa.string()), ("level", pa.int64())])
        flavor = ds.partitioning(schema, flavor="hive")
        ds.write_dataset(table_of(columns), tmp_path, format="parquet", partitioning=flavor)
    else:
        columns["country"] = np.where(columns["qid"] % 3 == 2, "fr", columns["country"])
        parts = polars.PartitionBy(tmp_path, key=["country", "level"], include_key=False)
        polars.from_arrow(table_of(columns)).write_parquet(parts)
    result = evaluate_parquet(tmp_path, "mrr", by=["country", "level"])
    named = ["missing" if c is None else c for c in columns["country"]]
    assert result.keys() == {
        ("", "all queries"), ("level", "0"), ("level", "1"), *(("country", c) for c in set(named)),
    }  # fmt: skip
    for (name, value), scores in result.items():
        given = {"country": np.array(named), "level": columns["level"].astype(str)}.get(name)
        rows = slice(None) if given is None else given == value
        part = {name: column[rows] for name, column in columns.items()}
        assert scores == pytest.approx(in_memory(part, ["mrr"]), **EXACT)


def test_ids_in_folders(tmp_path):
    for i, user in enumerate(["9", "09", "10", "10"]):
        row = {"label": [i % 2], "score": [0.5]}
        write(row, tmp_path / f"user={user}" / f"{i}.parquet")
    total = RankingAccumulator("precision")
    assert evaluate_parquet(tmp_path, total, groups="user") == {"precision": 0.5}
    assert total.result()["precision"].n_queries == 3  # they are text


TYPES = [
    ("qid", pa.int32(), pa.int64()),
    ("qid", pa.string(), pa.large_string()),
    ("qid", pa.dictionary(pa.int32(), pa.string()), pa.string()),
    ("qid", pa.timestamp("s"), pa.timestamp("ns")),
    ("qid", pa.int64(), pa.float64()),
    ("label", pa.int8(), pa.float64()),
    ("score", pa.float32(), pa.float64()),
]


@pytest.mark.parametrize(("column", "first", "second"), TYPES)
@pytest.mark.parametrize("in_order", [True, False])
def test_types_that_differ_between_files(column, first, second, in_order, tmp_path):
    rows = {"qid": [1, 1, 2, 2, 3], "label": [1, 0, 1, 0, 1], "score": [3, 2, 1, 4, 1]}
    expected = in_memory({name: np.array(c) for name, c in rows.items()}, ["mrr"])
    for i, (part, kind) in enumerate([(slice(0, 3), first), (slice(3, 5), second)]):
        columns = {name: pa.array(c[part]) for name, c in rows.items()}
        values = columns[column]
        of_text, of_time = pa.types.is_dictionary(kind), pa.types.is_timestamp(kind)
        for step in (pa.string() if of_text else pa.timestamp("s") if of_time else kind, kind):
            values = values.cast(step)
        columns |= {column: values, f"extra{i}": values}
        columns = dict(sorted(columns.items(), reverse=bool(i)))  # in another order
        write(columns, tmp_path / f"{i if in_order else 1 - i}.parquet")
    assert evaluate_parquet(tmp_path, "mrr") == expected


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (pa.array([1]), pa.array(["a"]), "Field qid has incompat"),
        (pa.array([1], pa.timestamp("s")), pa.array([1]), "Field qid has incompat"),
        (pa.array([0.5]), pa.array([2**53 + 1]), "Integer value"),  # another id as a float
    ],
)
def test_ids_without_a_common_type_are_refused(first, second, message, tmp_path):
    for i, ids in enumerate([first, second]):
        write({"qid": ids, "label": [1], "score": [1]}, tmp_path / f"{i}.parquet")
    with pytest.raises(ValueError, match=f"1.parquet cannot be read: .*{message}"):
        evaluate_parquet(tmp_path, "mrr")


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"path": []}, FileNotFoundError, r"no Parquet file \[\]"),
        ({"label": "user"}, ValueError, r"rows.parquet must have one column 'user'; .*'label'"),
        ({"score": {"a": "score", "b": "user"}}, ValueError, "one column 'user'"),
        ({"score": {}}, TypeError, r"score must be a dict of at least one system .*got \[\]"),
        ({"score": ["score", "b"]}, TypeError, r"names of columns; .*\['score', 'b'\]"),
        ({"groups": []}, TypeError, "names of columns; got"),
        ({"progress": print}, TypeError, "progress must be True or False; got <built-in"),
        ({"metrics": RankingAccumulator("mrr"), "by": "t"}, ValueError, "pass like=, by="),
        ({"metrics": "dcg@3(propensity=score)"}, ValueError, "evaluate_parquet, .* no propensity"),
        ({"average": None}, ValueError, "no average=None: use per_query"),
        ({"memory_limit": "much"}, Exception, r"Memory must have a number .e.g. 1GB"),
        ({"sample_weight": "weight"}, ValueError, "no option 'sample_weight'; .* or weight=, the"),
        ({"segments": "day"}, ValueError, "no option 'segments'; .* or by=, the names of columns"),
        ({"group": "qid"}, ValueError, "no option 'group'; .* Pass the query ids .* as groups="),
        ({"checkpoint": "s"}, TypeError, "no option checkpoint= any more: an interrupted run st"),
    ],
)
def test_wrong_arguments_are_refused(given, error, message, tmp_path):
    path = write(shuffled(COLUMNS), tmp_path / "rows.parquet")
    arguments = {"path": path, "metrics": "mrr"} | given
    with pytest.raises(error, match=message):
        evaluate_parquet(**arguments)
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("in_order", [True, False])
def test_names_that_differ_in_case_and_types_of_few_libraries(in_order, tmp_path):
    ids = np.repeat([uuid.UUID(int=1), uuid.UUID(int=2)], 2)
    columns = {"qid": pa.array([i.bytes for i in ids], pa.uuid()), "label": [1, 0, 1, 0]}
    columns |= {"a": pa.array([2, 1, 2, 1], pa.float16()), "A": [2, 1, 1, 2]}
    rows = [0, 1, 2, 3] if in_order else [2, 0, 3, 1]
    write(pa.table(columns).take(rows), tmp_path / "rows.parquet")
    scores = evaluate_parquet(tmp_path, "mrr", score={"a": "a", "A": "A"})
    assert scores == {"a": {"mrr": 1}, "A": {"mrr": 0.75}}


def test_files_that_others_leave_in_a_folder(tmp_path):
    """A path that is named is read, whatever its name."""
    folder, copied = tmp_path / "run [2]", [".ipynb_checkpoints", "_temporary/0", ".hidden"]
    for place in ("", "_day=1", *copied):
        rows = COLUMNS | {"qid": COLUMNS["qid"] + 100 * len(place)}
        path = write(rows, folder / place / "part.parquet")
    for where, n in ((folder, 2), (f"{tmp_path}/run*", 2), (path, 1), (folder / ".hidden", 1)):
        total = RankingAccumulator("mrr")
        assert evaluate_parquet(where, total) == EXPECTED
        assert total.result()["mrr"].n_queries == 60 * n


@pytest.mark.parametrize("in_order", [True, False])
def test_an_accumulator_is_given_several_days(in_order, tmp_path):
    later = COLUMNS | {"qid": COLUMNS["qid"] + 100}
    total = RankingAccumulator(METRICS)
    for i, day in enumerate((COLUMNS, later)):
        path = write(day if in_order else shuffled(day), tmp_path / f"{i}.parquet")
        scores = evaluate_parquet(path, total)
        assert scores.accumulator is not total
    both = {name: np.concatenate([COLUMNS[name], later[name]]) for name in COLUMNS}
    assert scores == pytest.approx(in_memory(both), **EXACT) == total.scores()
    assert total.n_documents == len(both["qid"])


def test_files_without_weight_leave_the_accumulator_unchanged(tmp_path):
    path = write(COLUMNS | {"weight": COLUMNS["weight"] * 0}, tmp_path / "rows.parquet")
    total = RankingAccumulator("mrr")
    with pytest.raises(ValueError, match=r"no documents so far, or none .* positive weight"):
        evaluate_parquet(path, total, weight="weight")
    assert total.n_documents == 0


@pytest.mark.parametrize("in_order", [True, False])
def test_progress(in_order, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("tqdm.tqdm.monitor_interval", 0)
    monkeypatch.setattr("sklearn_rankscore.large.tables.BAR", {"mininterval": 0, "delay": 0})
    path = write(COLUMNS if in_order else shuffled(COLUMNS), tmp_path / "rows.parquet")
    for progress in (None, False):  # no terminal
        evaluate_parquet(path, "mrr", progress=progress)
        assert not capsys.readouterr().err
    evaluate_parquet(path, "mrr", progress=True)
    n = len(COLUMNS["qid"])
    assert f"{n}/{n}" in capsys.readouterr().err.rpartition("\r")[2]


def test_a_stored_result_has_its_errors(tmp_path):
    path = write(shuffled(COLUMNS), tmp_path / "rows.parquet")
    scores = evaluate_parquet(path, ["mrr", "map"])
    again = pickle.loads(pickle.dumps(scores))
    assert again == scores == dict(scores)
    assert again.summaries == scores.summaries
    low, high = scores.summaries["mrr"].interval()
    assert low < scores["mrr"] < high
    assert scores.differences == {}
