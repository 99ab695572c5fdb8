"""One holder of a lock at a time, however the holders before it ended."""

import os
import socket

import pytest

from sklearn_rankscore.streaming import lock
from sklearn_rankscore.streaming.lock import FileLock


def test_a_second_holder_is_told_of_the_first(tmp_path):
    path = tmp_path / "lock"
    first, second = FileLock(path), FileLock(path)
    first.acquire()
    message = f"{path} is locked by process {os.getpid()} on {socket.gethostname()}"
    with pytest.raises(BlockingIOError, match=message):
        second.acquire()
    first.release()
    assert not path.exists()
    second.acquire()
    second.release()


def test_a_file_that_was_left_behind_is_locked(tmp_path):
    path = tmp_path / "lock"
    path.write_text("process 1 on another machine")
    left = FileLock(path)
    left.acquire()
    left.release()


@pytest.mark.skipif(os.name != "posix", reason="other systems do not delete open files")
@pytest.mark.parametrize("function", ["fstat", "stat"])
def test_a_file_that_its_former_holder_deletes_meanwhile_is_locked_anew(
    tmp_path, monkeypatch, function
):
    path, calls = tmp_path / "lock", []
    real = getattr(os, function)

    def delete_first(*arguments, **options):
        calls.append(arguments)
        if len(calls) == 1:
            path.unlink()
        return real(*arguments, **options)

    waiting, other = FileLock(path), FileLock(path)
    monkeypatch.setattr(lock.os, function, delete_first)
    waiting.acquire()
    monkeypatch.undo()
    with pytest.raises(BlockingIOError):
        other.acquire()
    waiting.release()
