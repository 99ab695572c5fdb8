"""Batches of rows from other libraries give the result of the same rows in memory."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from many_queries import EXACT, METRICS, in_memory, make_documents
from pyarrow import parquet
from requires import requires

from sklearn_rankscore import RankingAccumulator, evaluate_batches, evaluate_parquet

COLUMNS = make_documents(seed=5)
TABLE = pa.table(COLUMNS)
PARTS = [TABLE[start : start + 37] for start in range(0, TABLE.num_rows, 37)]
EXPECTED = in_memory(COLUMNS, METRICS, weight="weight")

SOURCES = {
    "table": lambda: TABLE,
    "reader": lambda: TABLE.to_reader(max_chunksize=13),
    "record batch": lambda: TABLE.combine_chunks().to_batches()[0],
    "tables": lambda: iter(PARTS),
    "record batches": lambda: [batch for part in PARTS for batch in part.to_batches()],
    "polars": lambda: pl.from_arrow(TABLE),
    "frames of polars": lambda: map(pl.from_arrow, PARTS),
    "pandas": lambda: TABLE.to_pandas(),
    "frames of pandas": lambda: (part.to_pandas() for part in PARTS),
}


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("batch_rows", [11, 10**6])
def test_batches_equal_memory(source, batch_rows):
    result = evaluate_batches(SOURCES[source](), METRICS, weight="weight", batch_rows=batch_rows)
    assert result == pytest.approx(EXPECTED, **EXACT)


CHANGES = {
    "integers, then floats": ("score", [3, 2, 1], [0.5, 1.5]),
    "floats, then integers": ("label", [1.0, 0.0, 1.0], [0, 1]),
    "single, then double precision": ("score", np.float32([3, 2, 1]), [0.5, 1.5]),
    "bytes, then integers": ("label", np.int8([1, 0, 1]), [0, 1]),
    "missing, then text": ("country", [None, None, None], [None, "de"]),
    "text, then missing": ("country", ["fr", "fr", None], [None, None]),
    "missing": ("country", [None, None, None], [None, None]),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("batch_rows", [1, 2, 100])
@pytest.mark.parametrize("library", ["pandas", "arrow"])
def test_types_that_widen_from_batch_to_batch(change, batch_rows, library):
    """pandas reads each chunk of a CSV file with the types of its own values."""
    first = {
        "qid": [1, 1, 2],
        "label": [1, 0, 1],
        "score": [3, 2, 1],
        "country": ["fr", "fr", None],
    }
    second = {"qid": [2, 3], "label": [0, 1], "score": [2.5, 1.5], "country": [None, "de"]}
    column, *values = CHANGES[change]
    parts = [{**part, column: of} for part, of in zip((first, second), values, strict=True)]
    whole = {name: [*parts[0][name], *parts[1][name]] for name in first}
    accumulator = RankingAccumulator("mrr", by="country")
    accumulator.update(
        whole["label"], whole["score"], whole["qid"], segments={"country": whole["country"]}
    )
    frames = map({"pandas": pd.DataFrame, "arrow": pa.table}[library], parts)
    result = evaluate_batches(frames, "mrr", by="country", batch_rows=batch_rows)
    expected = {s: summary["mrr"].mean for s, summary in accumulator.by_segment().items()}
    assert result.pop(("", "all queries")) == accumulator.scores()
    assert {segment: of_segment["mrr"] for segment, of_segment in result.items()} == expected


def test_ids_that_no_common_type_holds_are_refused():
    first = pa.table({"qid": [1, 2], "label": [1, 0], "score": [0.5, 0.2]})
    large = pa.table({"qid": pa.array([2**63], pa.uint64()), "label": [1], "score": [0.5]})
    with pytest.raises(ValueError, match="'qid' of batch 1 cannot be converted to int64, the type"):
        evaluate_batches([first, large], "mrr")
    with pytest.raises(ValueError, match="'qid' of the batches before cannot be converted to int6"):
        evaluate_batches([large, first], "mrr")


def test_ids_of_polars_with_text_in_a_structure():
    ids = [{"a": "x", "b": {"c": "1"}}, {"a": "x", "b": {"c": "1"}}, {"a": "x", "b": {"c": "2"}}]
    frame = pl.DataFrame({"qid": ids, "label": [1, 0, 1], "score": [1.0, 2.0, 3.0]})
    assert evaluate_batches(frame, "mrr") == {"mrr": 0.75}


def test_a_result_of_duckdb():
    duckdb = requires("duckdb")
    connection = duckdb.connect()
    connection.register("documents", TABLE)
    ordered = connection.sql("SELECT * FROM documents ORDER BY qid")
    assert evaluate_batches(ordered, METRICS, weight="weight") == pytest.approx(EXPECTED, **EXACT)


def test_batches_with_types_that_differ():
    first, second = PARTS[0], pa.concat_tables(PARTS[1:])
    place = second.schema.names.index("qid")
    narrow = second.set_column(place, "qid", second["qid"].cast(pa.int32()))
    assert evaluate_batches([first, narrow], METRICS, weight="weight") == pytest.approx(
        EXPECTED, **EXACT
    )
    expected = evaluate_batches(second, METRICS, weight="weight")
    halves = [narrow[:50], second[50:]]
    for batch_rows in (7, 10**6):
        result = evaluate_batches(halves, METRICS, weight="weight", batch_rows=batch_rows)
        assert result == pytest.approx(expected, **EXACT)
    words = second.set_column(
        second.schema.names.index("score"), "score", pa.array(["a"] * second.num_rows)
    )
    with pytest.raises(ValueError, match="'score' has the type double in batch 0 and string in"):
        evaluate_batches([first, words], "mrr")


def test_an_error_leaves_an_accumulator_unchanged():
    accumulator = RankingAccumulator("mrr")
    with pytest.raises(ValueError, match="not sorted by query"):
        evaluate_batches([PARTS[1], PARTS[0]], accumulator, batch_rows=10)
    assert accumulator.n_documents == 0
    first = evaluate_batches(PARTS, accumulator)
    assert first == evaluate_batches(TABLE, "mrr")


def strict(block):
    if not block.by_rank(lambda labels: labels).any(axis=1).all():
        raise ZeroDivisionError
    return np.ones(len(block.sizes))


@pytest.mark.parametrize("n_queries", [1, 2, 3])
@pytest.mark.parametrize("source", ["batches", "files"])
@pytest.mark.parametrize("fault", ["metric", "weights"])
def test_an_error_in_the_last_queries_leaves_an_accumulator_unchanged(
    source, fault, n_queries, tmp_path
):
    """They are computed after all batches; the corrected rows can then be added."""

    def add(table, accumulator):
        if source == "batches":
            return evaluate_batches(table, accumulator, weight="weight")
        parquet.write_table(table, tmp_path / "rows.parquet")
        return evaluate_parquet(tmp_path / "rows.parquet", accumulator, weight="weight")

    qid = np.repeat(np.arange(n_queries), 2)
    good = {"qid": qid, "label": [1, 0] * n_queries, "score": [0.2, 0.1] * n_queries}
    good = pa.table({**good, "weight": np.ones(len(qid))})
    name = "label" if fault == "metric" else "weight"
    bad = good.set_column(good.column_names.index(name), name, pa.array(np.zeros(len(qid))))
    accumulator = RankingAccumulator(["mrr", strict])
    error = ZeroDivisionError if fault == "metric" else ValueError
    with pytest.raises(error):
        add(bad, accumulator)
    assert accumulator.n_documents == 0
    assert add(good, accumulator) == {"mrr": 1, "strict": 1}
    assert accumulator.n_documents == len(qid)


def edited(column, row, value):
    """The parts with another value in a row of the whole."""
    values = TABLE[column].to_pylist()
    values[row] = value
    table = TABLE.set_column(TABLE.schema.names.index(column), column, pa.array(values))
    return [table[start : start + 37] for start in range(0, table.num_rows, 37)]


@pytest.mark.parametrize("batch_rows", [11, 10**6])
@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("score", float("nan"), "y_score contains NaN. Drop"),
        ("label", 7.0, "y_true must lie in"),
        ("qid", -1, "the stream is not sorted by query: -1 comes after"),
    ],
)
def test_an_error_names_batch_and_row(batch_rows, column, value, message):
    for row, place in [(37, "batch 1, row 0"), (110, "batch 2, row 36")]:
        with pytest.raises(ValueError, match=f"^{place} .counted from 0.: {message}"):
            evaluate_batches(edited(column, row, value), "err", batch_rows=batch_rows)


def test_an_error_of_a_metric_names_the_batch():
    def failing(block):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError) as error:
        evaluate_batches(PARTS, failing)
    assert "in batch 0, row 0, one of the next" in error.value.__notes__[-1]


@pytest.mark.parametrize(
    ("batches", "error", "message"),
    [
        (3, TypeError, "must be an Arrow stream.*got int"),
        ("rows.parquet", TypeError, "got str.*files evaluate_parquet"),
        (pl.LazyFrame(COLUMNS), TypeError, r"got LazyFrame.* read by collect\(\) or, in parts"),
        ([COLUMNS], TypeError, "got dict"),
        ([np.zeros((2, 3))], TypeError, "got ndarray"),
        (TABLE.drop_columns("score"), ValueError, "batch 0 has no column 'score'"),
        ([], ValueError, "no documents given"),
        (pd.DataFrame({"qid": [1], "label": [1], "score": [None]}), ValueError, "missing values"),
    ],
    ids=["number", "path", "lazy frame", "dict", "array", "no score", "nothing", "null"],
)
def test_other_input_is_refused(batches, error, message):
    with pytest.raises(error, match=message):
        evaluate_batches(batches, "mrr")


def test_a_misspelled_order_is_no_error_of_a_batch():
    with pytest.raises(ValueError, match=r"^order must be one of 'ascending', 'grouped'"):
        evaluate_batches(iter(()), "mrr", order="group")
