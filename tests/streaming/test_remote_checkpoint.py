"""Checkpoints on filesystems of fsspec that are not the local disk."""

import threading
import time
from functools import partial

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from many_queries import METRICS, make_documents
from requires import requires

from sklearn_rankscore import RankingAccumulator, evaluate_parquet
from sklearn_rankscore.streaming import remote_lock
from sklearn_rankscore.streaming.checkpoint_file import file_of
from sklearn_rankscore.streaming.checkpoint_format import from_bytes
from sklearn_rankscore.streaming.local_file import LocalFile
from sklearn_rankscore.streaming.requests import Requests

URI = "memory://states/night.gz"  # pyarrow would compress a file of this name
OTHER = b"process 1 on other\nid\n1"  # the content of its lock
OPTIONS = {"weight": "weight", "batch_rows": 20}


@pytest.fixture
def memory(monkeypatch):
    """The filesystem, with a lock that is abandoned soon."""
    for name, seconds in (("RENEWED", 0.02), ("ABANDONED", 0.4), ("POLLED", 0.005)):
        monkeypatch.setattr(remote_lock, f"{name}_SECONDS", seconds)
    memory = requires("fsspec").filesystem("memory")
    yield memory
    if memory.exists("/states"):
        memory.rm("/states", recursive=True)


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows")
    table = pa.table(make_documents(seed=7))
    for i, start in enumerate(range(0, table.num_rows, 90)):
        pq.write_table(table[start : start + 90], folder / f"part.{i}.parquet")
    return folder


class Counting:
    """A metric that calls a function in its nth batch."""

    n_batches = 0

    def __init__(self, n, what):
        self.n, self.what = n, what

    def __call__(self, block):
        Counting.n_batches += 1
        if Counting.n_batches == self.n:
            self.what()
        return block.sizes * 1.0

    def __reduce__(self):
        return Counting, (0, None)


def stop():
    raise KeyboardInterrupt


def run(rows, checkpoint=None, n=-1, what=stop, **options):
    Counting.n_batches = 0
    collected = RankingAccumulator([*METRICS, Counting(n, what)])
    evaluate_parquet(rows, collected, checkpoint=checkpoint, **(OPTIONS | options))
    return collected.result()


def leave_state(rows, checkpoint=URI, **options):
    with pytest.raises(KeyboardInterrupt):
        run(rows, checkpoint, 12, **options)


def open_file(uri):
    return requires("fsspec").open(uri)


@pytest.mark.parametrize("checkpoint", [str, open_file], ids=["URI", "OpenFile"])
@pytest.mark.parametrize("seconds", [0, 1000])
def test_an_interrupted_run_resumes(rows, memory, checkpoint, seconds):
    expected = run(rows)
    whole = Counting.n_batches
    leave_state(rows, checkpoint(URI), checkpoint_seconds=seconds)
    assert memory.find("/states") == ["/states/night.gz"]
    assert run(rows, checkpoint(URI)) == expected
    assert Counting.n_batches <= whole - 9
    assert not memory.find("/states")


def test_a_checkpoint_among_the_data(rows, memory):
    expected = run(rows)
    for path in rows.iterdir():
        memory.pipe(f"/states/{path.name}", path.read_bytes())
    leave_state("memory://states")
    memory.pipe("/states/night.gz.new", b"PAR1")
    assert run("memory://states", URI) == expected


def test_uris_of_the_local_disk_are_paths(rows, tmp_path):
    state = tmp_path / "state"
    for checkpoint in (state.as_uri(), open_file(state.as_uri())):
        assert isinstance(file_of(checkpoint), LocalFile)
        leave_state(rows, checkpoint)
        assert from_bytes(state.read_bytes())[1].n_documents
        assert run(rows, state) == run(rows)


@pytest.mark.parametrize("content", [None, b"", b"sklearn_", 0.5, 0.99])
def test_a_move_that_was_interrupted_is_finished(rows, memory, content):
    """A copy that is incomplete, or a file that was deleted to make place."""
    expected = run(rows)
    leave_state(rows)
    state = memory.cat("/states/night.gz")
    memory.mv("/states/night.gz", "/states/night.gz.new")
    if content is not None:
        part = state[: int(len(state) * content)] if isinstance(content, float) else content
        memory.pipe("/states/night.gz", part)
    assert file_of(URI).read() == memory.cat("/states/night.gz") == state
    assert run(rows, URI) == expected
    assert Counting.n_batches < 48
    assert not memory.find("/states")


def test_a_write_that_was_interrupted_is_ignored(rows, memory):
    expected = run(rows)
    leave_state(rows)
    state = memory.cat("/states/night.gz")
    memory.pipe("/states/night.gz.new", state[:-1])
    memory.pipe("/states/night.gz", state[:-2])
    with pytest.raises(ValueError, match=r"night\.gz is damaged"):
        run(rows, URI)
    assert memory.cat("/states/night.gz") == state[:-2]
    memory.pipe("/states/night.gz", state)
    assert run(rows, URI) == expected
    assert not memory.find("/states")


@pytest.mark.parametrize("content", [b"text", b"sklearn_rankscore checkpoint: a note"])
def test_another_file_is_named_and_left_alone(rows, memory, content):
    leave_state(rows)
    memory.mv("/states/night.gz", "/states/night.gz.new")
    memory.pipe("/states/night.gz", content)
    with pytest.raises(ValueError, match=r"the checkpoint memory://.?states/night.gz is .*Delete"):
        run(rows, URI)
    assert memory.cat("/states/night.gz") == content


def test_a_filesystem_that_replaces_nothing(rows, memory, monkeypatch):
    """As HDFS, which refuses to move a file to the path of another."""
    move = type(memory).mv

    def mv(self, path, to, **options):
        if self.exists(to):
            raise FileExistsError(to)
        move(self, path, to, **options)

    monkeypatch.setattr(type(memory), "mv", mv)
    leave_state(rows, checkpoint_seconds=0)
    assert run(rows, URI) == run(rows)


def test_a_write_that_fails_is_a_warning(rows, memory, monkeypatch):
    """Of an error that is none of the operating system; the last state remains."""
    expected = run(rows)
    pipe = type(memory).open

    def broken(self, path, mode="rb", **options):
        if "w" in mode:
            raise RuntimeError("token expired")
        return pipe(self, path, mode, **options)

    def expire():
        monkeypatch.setattr(type(memory), "open", broken)

    message = "night.gz cannot be written .*token expired.*the run continues"
    with pytest.warns(RuntimeWarning, match=message):
        assert run(rows, URI, 3, expire, checkpoint_seconds=0) == expected


def test_problems_show_at_the_start(rows, memory, monkeypatch):
    memory.mkdir("/states")
    memory.pipe("/states/x.parquet", b"PAR1")
    for uri, message in (
        ("memory://states", "memory://.*states is a folder"),
        ("memory://states/x.parquet", "is a Parquet file"),
        ("nothing://states/x", "protocol of nothing://states/x is known neither to pyarrow"),
    ):
        with pytest.raises(ValueError, match=message):
            evaluate_parquet("nowhere", "mrr", checkpoint=uri)

    def refuse(self, path, mode="rb", **options):
        raise PermissionError("read only")

    monkeypatch.setattr(type(memory), "open", refuse)
    with pytest.raises(OSError, match=r"checkpoint cannot be written .read only"):
        run(rows, URI)


def test_a_second_run_gets_one_error_or_waits(rows, memory):
    waited = []

    def wait():
        waited.append(evaluate_parquet(rows, "mrr", checkpoint=URI, checkpoint_wait=60, **OPTIONS))

    waiting = threading.Thread(target=wait)

    def start_others():
        with pytest.raises(RuntimeError, match=r"is in use by another run: .* is renewed by proc"):
            evaluate_parquet(rows, "mrr", checkpoint=URI, **OPTIONS)
        waiting.start()
        waiting.join(0.3)
        assert not waited

    run(rows, URI, 3, start_others)
    waiting.join()
    assert waited == [evaluate_parquet(rows, "mrr", **OPTIONS)]
    assert not memory.find("/states")


def test_a_lock_that_is_being_written_names_its_run(rows, memory, monkeypatch):
    """Most filesystems show a file without content until its writer has closed it."""
    path, contents = "/states/night.gz.lock", [b"process 1 on other\nid\n2", b"", b""]
    memory.pipe(path, OTHER)
    read = Requests.read

    def renewed(self, path, n_bytes=None):
        content = read(self, path, n_bytes)
        if path.endswith(".lock") and contents:
            memory.pipe("/" + path.lstrip("/"), contents.pop())
        return content

    monkeypatch.setattr(Requests, "read", renewed)
    with pytest.raises(RuntimeError, match=r"night\.gz\.lock is renewed by process 1 on other"):
        run(rows, URI)
    assert not contents


def take_over(memory):
    """Write the lock of another run until the thread that renews this run's lock has seen it.

    That thread may have read its own lock just before, and would then overwrite the other one.
    """
    while any("_renew_until_ended" in thread.name for thread in threading.enumerate()):
        memory.pipe("/states/night.gz.lock", OTHER)
        time.sleep(0.01)


def test_a_run_that_was_suspended_learns_that_another_took_over(rows, memory, monkeypatch):
    """Whatever is left belongs to the other run."""

    def suspended():
        take_over(memory)
        memory.pipe("/states/night.gz", b"state of the other")

    message = "process 1 on other has taken over the checkpoint from this run"
    with pytest.raises(RuntimeError, match=message):
        run(rows, URI, 3, suspended, checkpoint_seconds=0)
    assert memory.cat("/states/night.gz") == b"state of the other"
    assert memory.cat("/states/night.gz.lock") == OTHER


def test_a_run_that_is_taken_over_at_its_end_has_its_result(rows, memory):
    interrupted = partial(take_over, memory)
    assert run(rows, URI, 3, interrupted, checkpoint_seconds=1000) == run(rows)
    assert set(memory.find("/states")) == {"/states/night.gz", "/states/night.gz.lock"}


def test_a_lock_of_a_killed_run_is_taken_after_a_while(rows, memory):
    memory.pipe("/states/night.gz.lock", OTHER)
    start = time.monotonic()
    assert run(rows, URI) == run(rows)
    assert time.monotonic() - start >= 0.4
    assert not memory.find("/states")
