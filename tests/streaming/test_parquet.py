"""Parquet files, read in batches, give the result of the same rows in memory."""

import math
import os
import pickle
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from many_queries import EXACT, METRICS, in_memory, make_documents

from sklearn_rankscore import RankingAccumulator, evaluate, evaluate_parquet


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
        ({"label": pa.array([1, None, 0])}, {}, "column 'label' has 1 missing values"),
        ({"qid": pa.array(["a", "a", None])}, {}, "column 'qid' has 1 missing values"),
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
    evaluate_parquet(path, slow, progress=True, batch_rows=100)
    assert "row/s" in capsys.readouterr().err


def slow(block):
    time.sleep(0.3)  # the bar is hidden for the first second
    return np.zeros(len(block.sizes))


KILLED = """
import sys
from sklearn_rankscore import RankingAccumulator, evaluate_parquet
from sklearn_rankscore.streaming import parquet

save = parquet.Checkpoint.save

def save_and_print(self, accumulator):
    save(self, accumulator)
    if accumulator.n_documents >= 200:
        print(accumulator.n_documents, flush=True)
        sys.stdin.read()  # until it is killed

parquet.Checkpoint.save = save_and_print
evaluate_parquet(
    sys.argv[1], sys.argv[3:], weight="weight", checkpoint=sys.argv[2], checkpoint_seconds=0,
    batch_rows=10,
)
"""


def test_a_killed_run_resumes_at_its_checkpoint(tmp_path):
    columns = make_documents(seed=7)
    (tmp_path / "rows").mkdir()
    write_parts(columns, tmp_path / "rows", 90)
    arguments = [str(tmp_path / "rows"), str(tmp_path / "state"), *METRICS]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
    ) as run:
        read = int(run.stdout.readline())
        run.kill()
    state = pickle.loads((tmp_path / "state").read_bytes())["accumulator"]
    assert 200 <= state.n_documents == read < len(columns["qid"])
    scores = evaluate_parquet(
        tmp_path / "rows", METRICS, weight="weight", checkpoint=tmp_path / "state"
    )
    assert scores == pytest.approx(in_memory(columns, weight="weight"), **EXACT)
    assert not (tmp_path / "state").exists()
    # the pickled accumulator itself continues after its rows
    assert evaluate_parquet(tmp_path / "rows", state, weight="weight") == scores


def test_a_checkpoint_of_other_files_is_refused(tmp_path):
    path = write(make_documents(), tmp_path / "rows.parquet")
    state = tmp_path / "state"
    state.write_bytes(pickle.dumps({"source": "other", "accumulator": RankingAccumulator("mrr")}))
    with pytest.raises(ValueError, match="belongs to other files or columns"):
        evaluate_parquet(path, "mrr", checkpoint=state)
