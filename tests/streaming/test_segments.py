"""Results by segment equal those of the same queries in memory, however the rows arrive."""

import math
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from many_queries import EXACT
from segments import BY, check, expected_segments, make_segments, table_of
from segments import SEGMENT_METRICS as METRICS

from sklearn_rankscore import (
    RankingAccumulator,
    evaluate,
    evaluate_batches,
    evaluate_parquet,
)


@pytest.mark.parametrize("weight", [None, "weight"])
@pytest.mark.parametrize("batch_rows", [17, 10**6])
@pytest.mark.parametrize("encode", [False, True])
def test_files_and_batches(tmp_path, weight, batch_rows, encode):
    columns = make_segments(long=200)
    table = table_of(columns)
    if encode:
        for name in ("country", "device", "level"):
            at = table.schema.names.index(name)
            table = table.set_column(at, name, table[name].dictionary_encode())
    for i, start in enumerate(range(0, table.num_rows, 150)):
        pq.write_table(table[start : start + 150], tmp_path / f"{i}.parquet", row_group_size=40)
    expected = expected_segments(columns, weight)
    collected = RankingAccumulator(METRICS, by=BY)
    options = {"weight": weight, "batch_rows": batch_rows}
    assert list(evaluate_parquet(tmp_path, collected, **options)) == METRICS
    check(collected.by_segment(), expected, weight)
    in_one_call = evaluate_parquet(tmp_path, METRICS, by=BY, **options)
    total = evaluate_parquet(tmp_path, METRICS, **options)
    means = {s: {n: v.mean for n, v in of.items()} for s, of in collected.by_segment().items()}
    assert in_one_call == {("", "all queries"): total, **means}
    assert evaluate_batches(table, METRICS, by=BY, **options) == in_one_call


@pytest.mark.parametrize("order", ["ascending", "grouped", "complete"])
def test_accumulators_of_arrays(order):
    columns = make_segments()
    expected = expected_segments(columns, "weight")
    parts = []
    for rows in np.array_split(np.arange(len(columns["qid"])), 4):
        if order == "complete":  # in any order of rows
            whole = np.isin(columns["qid"], np.unique(columns["qid"])[len(parts) :: 4])
            rows = np.random.default_rng(0).permutation(np.flatnonzero(whole))
        part = RankingAccumulator(METRICS, by=BY)
        batch = [columns[name][rows] for name in ("label", "score", "qid")]
        options = {"sample_weight": columns["weight"][rows]}
        options["segments"] = {name: columns[name][rows] for name in BY}
        if order == "complete":
            part.update(*batch, **options)
        else:
            part.update_sorted(*batch, order=order, **options)
        parts.append(pickle.loads(pickle.dumps(part)))
    for part in parts[1:]:
        parts[0].merge(part)
    check(parts[0].by_segment(), expected, "weight")


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table, dict])
def test_frames_of_segments(frame):
    columns = {"s": ["x", None, "y", "y"], "t": [1, 1, 2, 2]}
    data = [1, 0, 0, 1], [4, 3, 2, 1], [0, 1, 2, 2]
    collected = RankingAccumulator("mrr", by=["s", "t"])
    result = collected.update(*data, segments=frame(columns)).by_segment()
    means = {segment: summaries["mrr"].mean for segment, summaries in result.items()}
    assert means == {
        ("s", "x"): 1,
        ("s", "y"): 0.5,
        ("s", "missing"): 0,
        ("t", 1): 0.5,
        ("t", 2): 0.5,
    }
    one = RankingAccumulator("mrr", by="s").update(*data, segments=columns["s"])
    assert one.by_segment() == {s: result[s] for s in result if s[0] == "s"}


def test_micro_averages_and_standard_errors():
    columns = make_segments()
    given = columns["label"], columns["score"], columns["qid"]
    collected = RankingAccumulator("precision@3", by="device", average="micro")
    collected.update(*given, segments=columns["device"])
    for (_, device), summaries in collected.by_segment().items():
        rows = columns["device"] == device
        alone = RankingAccumulator("precision@3", average="micro")
        expected = alone.update(*(column[rows] for column in given)).result()["precision@3"]
        assert summaries["precision@3"] == pytest.approx(expected, **EXACT)
        score = evaluate(
            given[0][rows], given[1][rows], "precision@3", groups=given[2][rows], average="micro"
        )
        assert summaries["precision@3"].mean == pytest.approx(score["precision@3"], **EXACT)


def test_an_interrupted_run_resumes(tmp_path):
    path, state = tmp_path / "rows.parquet", tmp_path / "state"
    pq.write_table(table_of(make_segments()), path)
    options = {"batch_rows": 20, "checkpoint": state, "checkpoint_seconds": 0}
    calls = []

    def interrupt(*call):
        calls.append(call)
        if len(calls) == 6:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        evaluate_parquet(path, METRICS, by=BY, progress=interrupt, **options)
    with pytest.raises(ValueError, match="belongs to other options"):
        evaluate_parquet(path, METRICS, by=BY[:1], **options)
    resumed = evaluate_parquet(path, METRICS, by=BY, **options)
    assert resumed == evaluate_parquet(path, METRICS, by=BY, batch_rows=20)


def rows(segments, n=3, **options):
    return lambda: RankingAccumulator("mrr", **options).update(
        [1] * n, [1] * n, [0, 0, *range(1, n - 1)], segments=segments
    )


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        (rows(["a", "b", "b"], by="s"), ValueError, "'s' varies within query 0"),
        (rows([None, "b", "b"], by="s"), ValueError, "'s' varies within query 0"),
        (rows(["missing", "missing", None], by="s"), ValueError, "'s' has both. Replace one"),
        (rows(["a", "a"], by="s"), ValueError, r"one value per document \(3\); 's' has 2"),
        (rows(None, by="s"), ValueError, r"one column for each name of by, \['s'\]; got none"),
        (rows(["a"] * 3), ValueError, "needs an accumulator with by="),
        (rows({"t": ["a"] * 3}, by="s"), ValueError, "no column 's'; it has t"),
        (rows(["a"] * 3, by=["s", "t"]), ValueError, r"the columns \['s', 't'\] by name"),
        (rows([0, 0, *range(1, 14)], 15, by="s"), ValueError, "more than 10 distinct numbers"),
        (rows([[1]] * 3, by="s"), ValueError, "'s' is not a column"),
        (lambda: RankingAccumulator("mrr", by=["s", "s"]), ValueError, "distinct ones"),
        (lambda: RankingAccumulator("mrr", by=3), TypeError, "int"),
        (lambda: RankingAccumulator("mrr", by="s").by_segment(), ValueError, "no documents"),
        (lambda: RankingAccumulator("mrr").by_segment(), ValueError, "segments need by="),
        (lambda: RankingAccumulator("mrr", by="s").update([1], [1]), ValueError, "needs groups"),
        (
            lambda: RankingAccumulator("mrr", by="s").merge(RankingAccumulator("mrr", by="t")),
            ValueError,
            "are the same.*'s'.*'t'",
        ),
    ],
)
def test_invalid_segments_are_refused(wrong, error, message):
    with pytest.raises(error, match=message):
        wrong()


@pytest.mark.parametrize("encode", [False, True])
@pytest.mark.parametrize("values", [["missing", "missing", None], ["a", None, "missing"]])
def test_the_text_missing_beside_missing_values_is_refused(encode, values):
    column = pa.array(values)
    columns = {"s": column.dictionary_encode() if encode else column}
    table = pa.table({"qid": [5, 6, 6], "label": [1] * 3, "score": [0] * 3} | columns)
    with pytest.raises(ValueError, match=r"beside the text 'missing'.*'s' has both"):
        evaluate_batches(table, "mrr", by="s")


@pytest.mark.parametrize("values", [["a", "b"], [1, 2], [None, "a"], [1.5, math.nan]])
@pytest.mark.parametrize("encode", [False, True])
@pytest.mark.parametrize("batch_rows", [1, 100])
def test_a_segment_that_varies_in_a_file_is_named(tmp_path, values, encode, batch_rows):
    column = pa.array([values[0], values[0], *values, values[1]], from_pandas=True)
    part = {"qid": [5, 6, 7, 7, 8], "label": [1] * 5, "score": [0] * 5}
    part["s"] = column.dictionary_encode() if encode else column
    pq.write_table(pa.table(part), tmp_path / "rows.parquet")
    with pytest.raises(ValueError, match=r"rows.parquet, row 3 \(.*'s' varies within query 7"):
        evaluate_parquet(tmp_path, "mrr", by="s", batch_rows=batch_rows)
    with pytest.raises(ValueError, match="has no column 't'"):
        evaluate_parquet(tmp_path, "mrr", by="t")
    with pytest.raises(ValueError, match="pass like=, by="):
        evaluate_parquet(tmp_path, RankingAccumulator("mrr"), by="s")
