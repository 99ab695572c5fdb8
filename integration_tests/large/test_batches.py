"""Streams of `evaluate_batches`: how they are cut, and what is refused."""

from itertools import pairwise

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from doors import table_of
from hypothesis import given
from hypothesis import strategies as st
from hypothesis_profiles import examples
from many_queries import EXACT, METRICS, in_memory, make_documents

import sklearn_rankscore.large.tables as tables
from sklearn_rankscore import RankingAccumulator, evaluate_batches

COLUMNS = make_documents()
TABLE = table_of(COLUMNS)


@examples(40)
@given(
    cuts=st.lists(st.integers(0, 350), max_size=12),
    rows=st.integers(1, 400),
    seed=st.integers(0, 99),
)
def test_batches_may_end_anywhere(cuts, rows, seed):
    columns = make_documents(40, seed=seed, long=seed % 3 * 100)
    table = table_of(columns)
    edges = [0, *sorted(c for c in cuts if c < table.num_rows), table.num_rows]
    batches = [table[a:b] for a, b in pairwise(edges)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "BATCH_ROWS", rows)
        scores = evaluate_batches(batches, METRICS)
    assert scores == pytest.approx(in_memory(columns), nan_ok=True, **EXACT)


def test_whatever_streams():
    expected = pytest.approx(in_memory(COLUMNS), **EXACT)
    for batches in (
        duckdb.from_arrow(TABLE).order("qid"),
        pl.DataFrame(TABLE).with_columns(pl.col("qid").cast(pl.String).cast(pl.Categorical)).sort(
            pl.col("qid").cast(pl.String)
        ),
        pd.DataFrame(COLUMNS),
        iter([pd.DataFrame(COLUMNS)[:100], pl.DataFrame(TABLE)[100:]]),
    ):  # fmt: skip
        assert evaluate_batches(batches, METRICS) == expected


NOT_SORTED = [
    *(["b", "a"], [2, 1], [1, 2, 1], ["a", "b", "a"], [0.5, 0.25]),
    *([pd.Timestamp(2), pd.Timestamp(1)], [b"b", b"a"]),
]


@pytest.mark.parametrize("ids", NOT_SORTED)
@pytest.mark.parametrize("rows", [1, 100])
def test_a_stream_that_is_not_sorted_is_refused(ids, rows, monkeypatch):
    monkeypatch.setattr(tables, "BATCH_ROWS", rows)
    frame = pd.DataFrame({"qid": ids, "label": 1, "score": 0.0})
    parts = [frame[i : i + 1] for i in range(len(frame))]
    message = "not sorted by query: .* comes after .*. Sort the rows by query id .*Parquet"
    with pytest.raises(ValueError, match=message):
        evaluate_batches(parts, "mrr")
    several = [part.assign(a=1) for part in parts]
    with pytest.raises(ValueError, match=r"not sorted by query: \(1, .*\) comes after \(1, "):
        evaluate_batches(several, "mrr", groups=["a", "qid"])


def test_wider_types_of_later_batches():
    parts = [pd.DataFrame(COLUMNS)[:100], pd.DataFrame(COLUMNS)[100:]]
    parts[0] = parts[0].astype({"qid": "int8", "score": "float32", "label": "float32"})
    expected = in_memory(COLUMNS, ["ndcg@5"])
    assert evaluate_batches(parts, "ndcg@5") == pytest.approx(expected, rel=1e-6)
    text = [parts[0], parts[1].astype({"qid": str})]
    with pytest.raises(TypeError, match="Field qid has incompatible types"):
        evaluate_batches(text, "ndcg@5")


OTHERS = [
    (3, TypeError, "'int' object is not iterable"),
    ("rows.parquet", TypeError, "evaluate_parquet reads files, as 'rows.parquet'"),
    (TABLE.drop_columns("score"), ValueError, "batch 0 must have one column 'score'"),
    (TABLE.append_column("score", TABLE["score"]), ValueError, "0 must have one column 's"),
    (TABLE[:0], ValueError, "no documents so far"),
    (pl.DataFrame(TABLE).with_columns(label=pl.lit("x")), ValueError, "must hold numbers"),
]


@pytest.mark.parametrize(("batches", "error", "message"), OTHERS, ids=range(len(OTHERS)))
def test_other_input_is_refused(batches, error, message):
    total = RankingAccumulator("mrr")
    with pytest.raises(error, match=message):
        evaluate_batches(batches, total)
    assert total.n_documents == 0


@pytest.mark.parametrize("kind", [pa.int8(), pa.bool_(), pa.decimal128(5, 2), pa.float32()])
def test_types_of_labels(kind):
    labels = np.ceil(COLUMNS["label"])
    column = pa.array(labels).cast(pa.int8()).cast(kind)
    expected = in_memory(COLUMNS | {"label": labels}, METRICS[:4])
    scores = evaluate_batches(table_of(COLUMNS | {"label": column}), METRICS[:4])
    assert scores == pytest.approx(expected, **EXACT)
