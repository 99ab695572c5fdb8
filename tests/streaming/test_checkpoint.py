"""A run that is interrupted in any way resumes with the same result, or is refused.

Processes that are killed are in tests/faults.
"""

import ipaddress
import math
import os
import pickle
import signal
import subprocess
import sys
import time
import uuid
import zipfile
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from many_queries import METRICS, make_documents

from sklearn_rankscore import RankingAccumulator, evaluate_parquet
from sklearn_rankscore.streaming.checkpoint_format import from_bytes, to_bytes

OF_ONE_SIZE = {"compression": "none", "use_dictionary": False}


@pytest.fixture
def rows(tmp_path):
    """A folder of files that split queries."""
    folder = tmp_path / "rows"
    folder.mkdir()
    table = pa.table(make_documents(seed=7))
    for i, start in enumerate(range(0, table.num_rows, 90)):
        pq.write_table(table[start : start + 90], folder / f"part.{i}.parquet", **OF_ONE_SIZE)
    return folder


OPTIONS = {"weight": "weight", "batch_rows": 10, "replace_undefined_by": math.nan}


class Interrupted:
    """A metric that raises an exception in its nth batch, or calls a function."""

    batches = 0

    def __init__(self, n, what):
        self.n, self.what = n, what

    def __call__(self, block):
        Interrupted.batches += 1
        if Interrupted.batches == self.n:
            self.what()
        return block.sizes * 1.0

    def __reduce__(self):
        return Interrupted, (0, None)  # what it does is no part of what it is


def interrupt():
    raise KeyboardInterrupt


def interrupted(rows, state, n=12, what=interrupt, **options):
    """Run until the nth batch; the state of a run that ends so."""
    Interrupted.batches = 0
    metrics = Interrupted(n, what)
    return evaluate_parquet(rows, metrics, checkpoint=state, **(OPTIONS | options))


def finished(rows, state=None, **options):
    Interrupted.batches = 0
    given = RankingAccumulator(Interrupted(-1, None), replace_undefined_by=math.nan)
    rest = {name: value for name, value in OPTIONS.items() if name != "replace_undefined_by"}
    evaluate_parquet(rows, given, checkpoint=state, **(rest | options))
    return given.result()


def leave_state(rows, state, **options):
    with pytest.raises(KeyboardInterrupt):
        interrupted(rows, state, **options)
    assert state.exists()
    return state


def test_an_interrupt_saves_the_last_batch(rows, tmp_path):
    state = leave_state(rows, tmp_path / "state")
    expected = finished(rows)
    whole = Interrupted.batches
    assert finished(rows, state) == expected
    assert Interrupted.batches < whole - 9
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rows"]


def test_every_flipped_byte_and_every_length_is_an_error(rows, tmp_path):
    state = leave_state(rows, tmp_path / "state")
    content = state.read_bytes()
    header, _ = from_bytes(content)
    assert len(content) < 20_000
    for i in range(len(content)):
        damaged = bytearray(content)
        damaged[i] ^= 1 << (i % 8)
        with pytest.raises(ValueError, match=r"is damaged|is not a checkpoint"):
            from_bytes(bytes(damaged))
        with pytest.raises(ValueError, match=r"is damaged|is not a checkpoint"):
            from_bytes(content[:i])
    with pytest.raises(ValueError, match="is damaged"):
        from_bytes(content + b"\n")
    assert header["columns"] == ["label", "score", "qid", "weight"]


@pytest.mark.parametrize(
    "content",
    [b"", b"text", pickle.dumps({"source": 1}), b"sklearn_rankscore checkpoint, format 2\n"],
)
def test_another_file_is_named_and_left_alone(rows, tmp_path, content):
    state = tmp_path / "state"
    state.write_bytes(content)
    with pytest.raises(ValueError, match=f"the checkpoint {state} is .*Delete it to start over"):
        finished(rows, state)
    assert state.read_bytes() == content


def test_nothing_in_the_file_is_executed(rows, tmp_path):
    class Execute:
        def __reduce__(self):
            return Path.touch, (tmp_path / "executed",)

    header, state = from_bytes(leave_state(rows, tmp_path / "state").read_bytes())
    with pytest.raises((TypeError, ValueError)):
        to_bytes({**header, "files": Execute()}, state)
    (tmp_path / "state").write_bytes(pickle.dumps(Execute()))
    with pytest.raises(ValueError, match="is not a checkpoint"):
        finished(rows, tmp_path / "state")
    assert not (tmp_path / "executed").exists()


def rewrite(path, change):
    """Another content of the same size, rows and time."""
    before = path.stat()
    table = pq.read_table(path)
    column = table["score"].to_numpy() + change
    i = table.column_names.index("score")
    pq.write_table(table.set_column(i, "score", [column]), path, **OF_ONE_SIZE)
    assert path.stat().st_size == before.st_size
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: rewrite(rows / "part.1.parquet", 1.0), "contents of .*part.1.parquet"),
        (lambda rows: os.utime(rows / "part.2.parquet", (1, 1)), "contents of .*part.2.parquet"),
        (lambda rows: (rows / "part.2.parquet").unlink(), "files differ"),
    ],
)
def test_files_that_have_changed_are_refused(rows, tmp_path, change, message):
    state = leave_state(rows, tmp_path / "state")
    change(rows)
    with pytest.raises(ValueError, match=f"the checkpoint {state} belongs to other .*{message}"):
        finished(rows, state)
    assert state.exists()


def test_other_columns_and_options_are_refused(rows, tmp_path):
    state = leave_state(rows, tmp_path / "state")
    with pytest.raises(ValueError, match="columns differ"):
        finished(rows, state, label="weight")
    with pytest.raises(
        ValueError, match=f"{state} belongs to other options .*it has 'like', 'per_"
    ):
        evaluate_parquet(rows, Interrupted(0, None), weight="weight", checkpoint=state)
    message = f"{state} belongs to other metrics: it has 'Interrupted', not 'mrr'"
    with pytest.raises(ValueError, match=message):
        evaluate_parquet(rows, "mrr", checkpoint=state, **OPTIONS)
    assert finished(rows, state) == finished(rows)


def test_another_version_is_refused(rows, tmp_path, monkeypatch):
    state = leave_state(rows, tmp_path / "state")
    monkeypatch.setattr("sklearn_rankscore.__version__", "0.0.1")
    with pytest.raises(ValueError, match="another version"):
        finished(rows, state)


def failing_after(n, value):
    calls = []

    def metric(block):
        calls.append(1)
        if len(calls) > n:
            raise KeyboardInterrupt
        return np.full(len(block.sizes), value)

    return metric


def test_a_function_of_the_same_name_is_another_one(rows, tmp_path):
    state = tmp_path / "state"
    with pytest.raises(KeyboardInterrupt):
        evaluate_parquet(rows, failing_after(5, 0.25), checkpoint=state, batch_rows=10)
    message = "'metric' had another value, or a function or a variable that it uses has changed"
    with pytest.raises(ValueError, match=message):
        evaluate_parquet(rows, failing_after(99, 0.5), checkpoint=state, batch_rows=10)


def test_another_working_directory_is_the_same_run(rows, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        interrupted("rows", "state")
    monkeypatch.chdir(rows)
    expected = finished(rows)
    whole = Interrupted.batches
    assert finished(".", "../state") == expected
    assert Interrupted.batches < whole - 9


def test_a_checkpoint_among_the_data(rows):
    state = leave_state(rows, rows / "state")
    (rows / "state.new").write_bytes(b"PAR1")
    assert finished(rows, state) == finished(rows)
    assert {path.suffix for path in rows.iterdir()} == {".parquet"}


def test_days_before_are_kept_when_a_run_resumes(rows, tmp_path):
    def with_yesterday(n):
        Interrupted.batches = 0
        day = RankingAccumulator(Interrupted(n, interrupt))
        return day.update([1, 0], [1, 2], ["x", "x"]).close()

    expected, day, state = with_yesterday(-1), with_yesterday(12), tmp_path / "state"
    with pytest.raises(KeyboardInterrupt):
        evaluate_parquet(rows, day, checkpoint=state, batch_rows=10)
    assert day.n_documents == 2
    evaluate_parquet(rows, day, checkpoint=state, batch_rows=10)
    evaluate_parquet(rows, expected, batch_rows=10)
    assert day.result() == expected.result()
    assert day.n_documents == expected.n_documents


def test_a_second_run_gets_one_error(rows, tmp_path):
    state = tmp_path / "state"
    errors = []

    def second_run():
        with pytest.raises(RuntimeError, match=f"{state} is in use by another run: .*process"):
            finished(rows, state)
        errors.append(1)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted(rows, state, what=second_run)
    assert errors
    assert finished(rows, state) == finished(rows)


def test_a_failed_write_is_a_warning(rows, tmp_path):
    folder = tmp_path / "states"
    folder.mkdir()
    expected = finished(rows)

    def remove_folder():
        for path in folder.iterdir():
            path.unlink()
        folder.rmdir()

    with pytest.warns(RuntimeWarning, match="cannot be written .*the run continues"):
        scores = interrupted(rows, folder / "state", what=remove_folder, checkpoint_seconds=0)
    assert scores == {"Interrupted": expected["Interrupted"].mean}


@pytest.mark.parametrize(
    ("name", "seconds", "error", "message"),
    [
        ("none/state", 60, ValueError, "a folder that does not exist"),
        (".", 60, ValueError, "is a folder"),
        ("rows/part.0.parquet", 60, ValueError, "part.0.parquet is a Parquet file"),
        ("state", -1, ValueError, "checkpoint_seconds must be finite and at least 0; got -1"),
        ("state", math.inf, ValueError, "checkpoint_seconds must be finite"),
        ("state", "60", TypeError, "checkpoint_seconds"),
    ],
)
@pytest.mark.usefixtures("rows")
def test_problems_show_before_any_file_is_read(tmp_path, name, seconds, error, message):
    state = tmp_path / name
    with pytest.raises(error, match=message):
        evaluate_parquet("nowhere", "mrr", checkpoint=state, checkpoint_seconds=seconds)


def test_a_checkpoint_that_is_no_file_is_refused_at_once():
    with pytest.raises(TypeError, match=r"checkpoint must be .* a URI, .*; got bool"):
        evaluate_parquet("nowhere", "mrr", checkpoint=True)
    with pytest.raises(ValueError, match="is not a regular file"):
        evaluate_parquet("nowhere", "mrr", checkpoint=os.devnull)


def test_a_metric_that_has_no_meaning_elsewhere_is_refused_at_once(tmp_path):
    opened = (i for i in ())

    def metric(block):
        raise AssertionError(opened)

    with pytest.raises(TypeError, match="'metric' cannot be identified"):
        evaluate_parquet("nowhere", metric, checkpoint=tmp_path / "state")


@pytest.mark.parametrize(
    "ids",
    [
        ["a", "b\0", "ü\ud800"],
        [b"a", b"b"],
        [1, 2**70],
        [1.5, 2.5],
        [False, True],
        [Decimal("1.10"), Decimal("2")],
        [date(2020, 1, 1), date(2021, 1, 1)],
        [datetime(2020, 1, 1, 2, 3, 4, 5), datetime(2021, 1, 1)],
        [timedelta(days=-1, microseconds=1), timedelta(1)],
        [uuid.UUID(int=5), uuid.UUID(int=7)],
        np.array(["2020", "2021"], dtype="M8[D]"),
        np.array([1, 2], dtype="u1"),
        np.array(["a", "b"]),
    ],
)
@pytest.mark.parametrize("per_query", [False, True])
def test_query_ids_of_all_types_are_stored(ids, per_query):
    if isinstance(ids, list):
        ids = np.array([*ids, None], dtype=object)[:-1]
    run = RankingAccumulator(["mrr", "ndcg@2"], per_query=per_query)
    run.update_sorted(np.ones(len(ids)), np.ones(len(ids)), ids)
    if per_query:
        run.close()
    _, state = from_bytes(to_bytes({}, run._state))
    assert state.totals.moments == run._state.totals.moments
    assert state.open.intervals == run._state.open.intervals
    assert [type(v) for v in state.open.rows] == [type(v) for v in run._state.open.rows]
    assert list(state.open.rows) == list(run._state.open.rows)
    run_again = RankingAccumulator(["mrr", "ndcg@2"], per_query=per_query)
    run_again._state = state
    assert run_again.result() == run.result()
    if per_query:
        np.testing.assert_array_equal(run_again.query_values()[0], run.query_values()[0])


class Address(pa.ExtensionScalar):
    """A number that Python knows as an object of a type that no checkpoint stores."""

    def as_py(self, **options):
        return ipaddress.IPv4Address(self.value.as_py())


class AddressType(pa.ExtensionType):
    def __init__(self):
        super().__init__(pa.int32(), "tests.address")

    def __arrow_ext_serialize__(self):
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, storage, serialized):
        return cls()

    def __arrow_ext_scalar_class__(self):
        return Address


@pytest.mark.parametrize("options", [{"group": "id"}, {"group": ["qid", "id"]}, {"by": "id"}])
def test_ids_that_cannot_be_stored_are_refused_before_the_first_batch(tmp_path, options):
    pa.register_extension_type(AddressType())
    try:
        ids = pa.ExtensionArray.from_storage(AddressType(), pa.array([1, 1, 2], pa.int32()))
        table = pa.table({"qid": [1, 1, 2], "id": ids, "label": [0, 1, 1], "score": [2, 1, 0]})
        pq.write_table(table[:0], tmp_path / "a.parquet")
        pq.write_table(table, tmp_path / "b.parquet")
        scores = evaluate_parquet(tmp_path, "mrr", **options)
        assert (scores if "group" in options else scores["", "all queries"])["mrr"] == 0.75
        given = RankingAccumulator(Interrupted(1, interrupt), by=options.get("by"))
        columns = {name: value for name, value in options.items() if name == "group"}
        with pytest.raises(TypeError, match=r"stores .* IPv4Address\(.* of type IPv4Addr"):
            evaluate_parquet(tmp_path, given, checkpoint=tmp_path / "state", **columns)
        assert not (tmp_path / "state").exists()
    finally:
        pa.unregister_extension_type("tests.address")


RUN = """
import json, sys, time
import numpy as np
from sklearn_rankscore import RankingAccumulator, evaluate_parquet

def slow(block):
    time.sleep(0.002)
    return np.full(len(block.sizes), 0.5)

metrics = [*sys.argv[4:], slow]
collected = RankingAccumulator(metrics, replace_undefined_by=float("nan"))
print("started", flush=True)
evaluate_parquet(
    sys.argv[1], collected, weight="weight", checkpoint=sys.argv[2] or None,
    checkpoint_seconds=float(sys.argv[3]), batch_rows=3,
)
print(json.dumps(collected.result()))
"""


def start(rows, state, seconds=0):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    command = [sys.executable, "-c", RUN, str(rows), str(state), str(seconds), *METRICS]
    return subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True)


@pytest.fixture
def interruptible():
    """Python's own handler of Ctrl-C, which a process in the background of a shell lacks."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_during_a_write_is_not_lost(rows, tmp_path, monkeypatch):
    """zipfile, on closing the archive, hides an exception that was raised as it opened a member."""
    get_compressor, opened = zipfile._get_compressor, []

    def interrupted(*arguments):
        opened.append(arguments)
        if len(opened) == 20:
            signal.raise_signal(signal.SIGINT)
        return get_compressor(*arguments)

    monkeypatch.setattr(zipfile, "_get_compressor", interrupted)
    state, options = tmp_path / "state", {"checkpoint_seconds": 0, **OPTIONS}
    with pytest.raises(KeyboardInterrupt):
        evaluate_parquet(rows, METRICS, checkpoint=state, **options)
    monkeypatch.undo()
    assert from_bytes(state.read_bytes())[1].n_documents > 0
    resumed = evaluate_parquet(rows, METRICS, checkpoint=state, **options)
    np.testing.assert_equal(resumed, evaluate_parquet(rows, METRICS, **OPTIONS))


def test_a_run_may_wait_for_another(rows, tmp_path):
    state = tmp_path / "state"
    expected = evaluate_parquet(rows, METRICS, **OPTIONS)
    with start(rows, state, seconds=1000) as other:
        assert other.stdout.readline() == "started\n"
        while not state.exists():
            time.sleep(0.01)
        result = evaluate_parquet(rows, METRICS, checkpoint=state, checkpoint_wait=60, **OPTIONS)
        other.communicate()
    assert other.returncode == 0
    np.testing.assert_equal(result, expected)
    with pytest.raises(ValueError, match="checkpoint_wait must be"):
        evaluate_parquet(rows, METRICS, checkpoint=state, checkpoint_wait=-1, **OPTIONS)
