"""Query ids of Arrow: several columns, structs, UUIDs, decimals, dates and dictionaries."""

import datetime
import uuid
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from many_queries import EXACT, in_memory, make_documents
from requires import requires

from sklearn_rankscore import RankingAccumulator, evaluate_batches, evaluate_parquet
from sklearn_rankscore.streaming.checkpoint_format import from_bytes, to_bytes

METRICS = ["ndcg@10", "map@5"]
COLUMNS = make_documents(seed=7)
QID = COLUMNS["qid"]
EXPECTED = in_memory(COLUMNS, METRICS)
DAY = datetime.date(2020, 1, 1)

KINDS = {
    "decimal": (pa.decimal128(9, 2), lambda i: Decimal(int(i)) / 4),
    "uuid": (pa.uuid(), lambda i: uuid.UUID(int=int(i) << 64)),
    "fixed binary": (pa.binary(16), lambda i: (int(i) << 8).to_bytes(16, "big")),
    "binary": (pa.binary(), lambda i: b"%04d" % i),
    "text": (pa.string(), lambda i: f"{i:04d}ü"),
    "view": (pa.string_view(), lambda i: f"{i:04d}ü"),
    "dictionary": (pa.dictionary(pa.int8(), pa.string()), lambda i: f"{i:04d}"),
    "dictionary of numbers": (pa.dictionary(pa.int8(), pa.int64()), int),
    "float": (pa.float32(), lambda i: i / 2 - 3),
    "unsigned": (pa.uint64(), lambda i: 2**64 - 100 + int(i)),
    "date": (pa.date32(), lambda i: DAY + datetime.timedelta(int(i))),
    "timestamp": (pa.timestamp("us"), lambda i: datetime.datetime(2020, 1, 1, 0, int(i) % 60)),
    "struct": (
        pa.struct({"user": pa.string(), "session": pa.int32()}),
        lambda i: {"user": f"u{i // 10}", "session": i % 10},
    ),
}


def table_of(kind):
    arrow_type, convert = KINDS[kind]
    return pa.table(COLUMNS | {"qid": pa.array([convert(i) for i in QID], arrow_type)})


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("order", ["ascending", "grouped"])
def test_ids_of_many_types(tmp_path, kind, order):
    table = table_of(kind)
    collected = RankingAccumulator(METRICS, per_query=True)
    reader = table.to_reader(max_chunksize=13)
    scores = evaluate_batches(reader, collected, batch_rows=29, order=order)
    assert scores == pytest.approx(EXPECTED, **EXACT)
    ids, values = collected.query_values()
    assert len(ids) == len(set(ids.tolist())) == 60
    per_query = in_memory(COLUMNS, METRICS, average=None)
    for name in METRICS:
        np.testing.assert_allclose(values[name], per_query[name], rtol=0, atol=1e-12)
    if kind != "view":
        pq.write_table(table, tmp_path / "rows.parquet")
        path = tmp_path / "rows.parquet"
        assert evaluate_parquet(path, METRICS, batch_rows=29, order=order) == scores


@pytest.mark.parametrize("order", ["ascending", "grouped"])
@pytest.mark.parametrize("types", [("string", "int64"), ("dictionary", "date32")])
def test_ids_of_several_columns(tmp_path, order, types):
    user = pa.array([f"u{i // 10}" for i in QID])
    user = user.dictionary_encode() if types[0] == "dictionary" else user
    session = pa.array((QID % 10).astype("int32")).cast(types[1])
    columns = {name: COLUMNS[name] for name in ("label", "score")}
    table = pa.table({**columns, "user": user, "session": session})
    for i, start in enumerate(range(0, table.num_rows, 70)):
        pq.write_table(table[start : start + 70], tmp_path / f"{i}.parquet")
    collected = RankingAccumulator(METRICS, per_query=True)
    options = {"group": ["user", "session"], "order": order, "batch_rows": 31}
    scores = evaluate_parquet(tmp_path, collected, **options)
    assert scores == pytest.approx(EXPECTED, **EXACT)
    ids, _ = collected.query_values()
    assert ids[11][0] == "u1"
    assert len(ids) == 60
    assert evaluate_batches(table, METRICS, **options) == scores
    restored = from_bytes(to_bytes({}, collected._state))[1]
    assert restored.open.rows.keys() == collected._state.open.rows.keys()
    assert restored.totals.values.concatenated()[0].tolist() == (
        collected._state.totals.values.concatenated()[0].tolist()
    )
    with pytest.raises(ValueError, match="not sorted by query"):
        evaluate_parquet(tmp_path, "mrr", group=["session", "user"])
    with pytest.raises(ValueError, match="a column or a list of distinct ones"):
        evaluate_parquet(tmp_path, "mrr", group=["user", "user"])
    broken = table.set_column(2, "user", pa.array([None, *user.to_pylist()[1:]]))
    with pytest.raises(ValueError, match="column 'user' has 1 missing values"):
        evaluate_batches(broken, "mrr", group=["user", "session"])


def test_missing_parts_of_ids_are_refused():
    rows = {"label": [1, 0], "score": [1, 2]}
    for qid in (
        pa.array([{"a": 1, "b": "x"}, {"a": 2, "b": None}]),
        pa.array([{"a": 1.0}, {"a": float("nan")}]),
        pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array(["x", None])),
        pa.array([1.0, float("nan")]),
    ):
        with pytest.raises(ValueError, match="missing values"):
            evaluate_batches(pa.table({**rows, "qid": qid}), "mrr")
    with pytest.raises(TypeError, match="cannot be of the Arrow type list"):
        evaluate_batches(pa.table({**rows, "qid": [[1], [2]]}), "mrr")


def test_equal_values_of_a_dictionary_are_one_query():
    values = pa.array(["x", "x", "y"])
    qid = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 2]), values)
    table = pa.table({"label": [0, 1, 1, 0], "score": [4, 3, 2, 1], "qid": qid})
    assert evaluate_batches(table, "mrr") == {"mrr": 0.75}


def test_categories_of_batches_that_are_too_many_for_one_byte():
    """pandas numbers up to 127 categories of a DataFrame by bytes."""
    frames = [
        pd.DataFrame({"qid": pd.Categorical([f"q{i:03d}"] * 2), "label": [0, 1], "score": [2, 1]})
        for i in range(200)
    ]
    assert pa.Table.from_pandas(frames[0]).schema.field("qid").type.index_type == pa.int8()
    assert evaluate_batches(frames, "mrr") == {"mrr": 0.5}
    assert len(evaluate_batches(frames, "mrr", by="qid")) == 201


def test_results_of_duckdb_and_polars_with_ids_of_several_columns():
    table = pa.table({**COLUMNS, "user": QID // 10, "session": QID % 10})
    frame = pl.from_arrow(table).sample(fraction=1, shuffle=True, seed=0)
    group = ["user", "session"]
    expected = pytest.approx(EXPECTED, **EXACT)
    assert evaluate_batches(frame.sort(group), METRICS, group=group) == expected
    connection = requires("duckdb").connect()
    connection.register("documents", frame.to_arrow())
    ordered = connection.sql("SELECT * FROM documents ORDER BY session DESC, user")
    assert evaluate_batches(ordered, METRICS, group=group, order="grouped") == expected
    with pytest.raises(ValueError, match="not sorted by query"):
        evaluate_batches(ordered, METRICS, group=group)


@pytest.mark.parametrize("kind", ["Categorical", "Enum"])
def test_categories_of_polars_as_ids_and_segments(kind):
    names = [f"q{query:02d}" for query in QID]
    dtype = pl.Categorical() if kind == "Categorical" else pl.Enum(sorted(set(names)))
    device = [["desk", "phone"][query % 2] for query in QID]
    frame = pl.DataFrame({**COLUMNS, "qid": names, "device": device})
    expected = evaluate_batches(frame, METRICS, by="device")
    devices = pl.Series(
        device, dtype=pl.Categorical() if kind == "Categorical" else pl.Enum(["phone", "desk"])
    )
    coded = frame.with_columns(pl.col("qid").cast(dtype), device=devices)
    assert evaluate_batches(coded, METRICS) == pytest.approx(EXPECTED, **EXACT)
    actual = evaluate_batches(coded, METRICS, by="device")
    assert repr(actual) == repr(expected)
