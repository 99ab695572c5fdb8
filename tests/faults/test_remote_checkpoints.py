"""Runs with checkpoints that are not on the local disk resume exactly, whenever they are killed."""

import os
import random
import signal
import time

import pytest
from requires import requires

pytestmark = pytest.mark.slow


@pytest.fixture
def uri(tmp_path):
    requires("fsspec")
    return (tmp_path / "state").as_uri().replace("file:", "bucket:")


def test_kills_at_random_times(server, rows, expected, tmp_path, uri):
    delays, n_kills = random.Random(0), 0
    begin = time.monotonic()
    assert server.finish(rows, uri, checkpoint_seconds=0) == expected
    whole = time.monotonic() - begin
    while n_kills < 12:
        run = server.start(rows, uri, checkpoint_seconds=0)
        time.sleep(0.2 + delays.random() * whole / 4)  # a lock is abandoned after 0.2 seconds
        code = run.kill()
        n_kills += code == -signal.SIGKILL
        if not code:
            assert run.output()["scores"] == expected
    assert server.finish(rows, uri, checkpoint_seconds=0) == expected
    assert not list(tmp_path.iterdir())


def test_kills_between_the_steps_of_a_write(server, rows, expected, tmp_path, uri):
    """A copy is killed in its middle, after it, and before the former file is deleted."""
    incomplete = 0
    for step in range(1, 18):
        fault = ["die_at_request", step]
        run = server.start(rows, uri, fault=fault, checkpoint_seconds=0)
        assert run.wait() == -signal.SIGKILL
        state, newer = tmp_path / "state", tmp_path / "state.new"
        if state.exists() and newer.exists():
            incomplete += len(state.read_bytes()) < len(newer.read_bytes())
    assert incomplete
    assert server.finish(rows, uri, checkpoint_seconds=0) == expected
    assert not list(tmp_path.iterdir())


def test_a_suspended_run_is_taken_over(server, rows, expected, tmp_path, uri):
    """It learns so when it continues, and the other one has the result."""
    first = server.start(rows, uri, checkpoint_seconds=0)
    while not (tmp_path / "state").exists():
        time.sleep(0.002)
    os.kill(first.pid, signal.SIGSTOP)
    assert server.finish(rows, uri, fault=None, checkpoint_seconds=0) == expected
    second = server.start(rows, uri, checkpoint_seconds=1000)
    while not (tmp_path / "state").exists():
        time.sleep(0.002)
    os.kill(second.pid, signal.SIGSTOP)
    os.kill(first.pid, signal.SIGCONT)
    assert first.wait() == 1
    assert "has taken over the checkpoint from this run" in first.output()["error"]
    os.kill(second.pid, signal.SIGCONT)
    assert second.wait() == 0
    assert second.output()["scores"] == expected


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_save_the_state_and_give_the_lock_back(
    server, rows, expected, tmp_path, uri, number
):
    run = server.start(rows, uri, checkpoint_seconds=10_000)
    while not (tmp_path / "state").exists():
        time.sleep(0.002)
    time.sleep(0.05)
    assert run.kill(number) in (-number, 1)
    assert [path.name for path in tmp_path.iterdir()] == ["state"]
    assert server.finish(rows, uri, checkpoint_seconds=0) == expected


def test_many_processes_at_the_same_time(server, rows, expected, tmp_path, uri):
    runs = [server.start(rows, uri, checkpoint_wait=60) for _ in range(4)]
    codes = [run.wait() for run in runs]
    for run, code in zip(runs, codes, strict=True):
        output = run.output()
        assert output["scores"] == expected if not code else "taken over" in output["error"]
    assert 0 in codes
    assert not list(tmp_path.iterdir())
