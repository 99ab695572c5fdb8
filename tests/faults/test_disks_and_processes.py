"""Full disks, and several processes that use one checkpoint."""

import os
import signal
import subprocess
import sys
import time

import pytest
from forked_runs import wait_until_saved

from sklearn_rankscore import evaluate_parquet
from sklearn_rankscore.streaming.checkpoint_format import from_bytes

pytestmark = pytest.mark.slow
FULL = "[Errno 28] No space left on device"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
def test_a_disk_that_is_full_at_the_start(rows, tmp_path):
    (tmp_path / "state.new").symlink_to("/dev/full")
    message = f"checkpoint cannot be written .No space left on device.: '{tmp_path}/state'"
    with pytest.raises(OSError, match=message):
        evaluate_parquet(rows, "mrr", checkpoint=tmp_path / "state")
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
def test_a_disk_that_becomes_full_and_is_emptied(server, rows, expected, tmp_path):
    state = tmp_path / "state"
    fault = ["full_disk", f"{state}.new", 10]
    run = server.start(rows, state, fault=fault, checkpoint_seconds=0)
    assert run.wait() == 0
    output = run.output()
    assert output["scores"] == expected
    assert 1 <= len(output["warnings"]) < 10
    for warning in output["warnings"]:
        assert f"checkpoint {state} cannot be written" in warning
        assert FULL in warning
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
def test_a_run_that_is_killed_while_the_disk_is_full(server, rows, expected, tmp_path):
    """It resumes from the last state that could be written."""
    state = tmp_path / "state"
    fault = ["full_disk", f"{state}.new", 10**6]
    run = server.start(rows, state, fault=fault, checkpoint_seconds=0)
    wait_until_saved(state)
    time.sleep(0.05)
    run.kill()
    (tmp_path / "state.new").unlink(missing_ok=True)
    if state.exists():  # whole, whichever batch could still be written
        assert from_bytes(state.read_bytes())[1].n_documents >= 0
    assert server.finish(rows, state, checkpoint_seconds=0) == expected


@pytest.mark.skipif(sys.platform != "linux", reason="limits of files differ")
def test_a_quota(server, rows, expected, tmp_path):
    state = tmp_path / "state"
    run = server.start(rows, state, fault=["small_files", 1000], checkpoint_seconds=0)
    assert run.wait() == 0
    assert run.output()["scores"] == expected
    assert "File too large" in run.output()["warnings"][0]


def test_a_small_file_system(server, rows, expected, tmp_path):
    """A file system of 32 KB that another file fills."""
    mount = ["mount", "-t", "tmpfs", "-o", "size=32k", "tmpfs", str(tmp_path)]
    if os.name != "posix" or os.geteuid() or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("needs the right to mount a file system")
    try:
        state = tmp_path / "state"
        run = server.start(rows, state, checkpoint_seconds=0)
        wait_until_saved(state)
        fill = f"cat /dev/zero > {tmp_path}/filler"
        assert b"No space left" in subprocess.run(fill, shell=True, capture_output=True).stderr
        assert run.wait() == 0
        assert run.output()["scores"] == expected
        assert any(FULL in warning for warning in run.output()["warnings"])
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)


def test_a_second_process_is_refused_or_waits(server, rows, expected, tmp_path):
    state = tmp_path / "state"
    first = server.start(rows, state, checkpoint_seconds=0)
    wait_until_saved(state)
    os.kill(first.pid, signal.SIGSTOP)
    second = server.start(rows, state)
    waiting = [server.start(rows, state, checkpoint_wait=60) for _ in range(3)]
    assert second.wait() == 1
    error = second.output()["error"]
    assert error.startswith(f"RuntimeError: the checkpoint {state} is in use by another run")
    assert f"process {first.pid} on " in error
    os.kill(first.pid, signal.SIGCONT)
    for run in (first, *waiting):
        assert run.wait() == 0, run.output()
        assert run.output()["scores"] == expected


def test_a_process_takes_over_from_one_that_is_killed(server, rows, expected, tmp_path):
    state = tmp_path / "state"
    first = server.start(rows, state, checkpoint_seconds=0)
    wait_until_saved(state)
    waiting = server.start(rows, state, checkpoint_wait=60)
    time.sleep(0.1)
    first.kill()
    assert waiting.wait() == 0
    assert waiting.output()["scores"] == expected
    assert not list(tmp_path.iterdir())


def test_many_processes_at_the_same_time(server, rows, expected, tmp_path):
    runs = [server.start(rows, tmp_path / "state", checkpoint_wait=60) for _ in range(6)]
    assert [run.wait() for run in runs] == [0] * 6
    assert {run.output()["scores"] for run in runs} == {expected}
    assert not list(tmp_path.iterdir())


def test_damaged_checkpoints_are_named(server, rows, expected, tmp_path):
    """`tests/streaming/test_checkpoint.py` flips every byte; here the whole call is made."""
    state = tmp_path / "state"
    run = server.start(rows, state, fault=["die_at", "replace", "after", 9], checkpoint_seconds=0)
    assert run.wait() == -signal.SIGKILL
    content = state.read_bytes()
    for i in range(0, len(content), len(content) // 25):
        for damaged in (content[:i], content[:i] + bytes([content[i] ^ 16]) + content[i + 1 :]):
            state.write_bytes(damaged)
            other = server.start(rows, state)
            assert other.wait() == 1
            assert other.output()["error"].startswith(f"ValueError: the checkpoint {state} is ")
            assert state.read_bytes() == damaged
    state.write_bytes(content)
    assert server.finish(rows, state) == expected
