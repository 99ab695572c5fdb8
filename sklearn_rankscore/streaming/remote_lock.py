"""A lock between runs on a filesystem that has none."""

from __future__ import annotations

import os
import socket
import threading
import time
from contextlib import suppress
from uuid import uuid4

from .requests import Requests

# how often the holder renews the lock, and after what time without that it has been abandoned
RENEWED_SECONDS = 4.0
ABANDONED_SECONDS = 20.0
# how often another run reads the lock, and how long it waits for a simultaneous third one
POLLED_SECONDS = 0.2


class LockLostError(RuntimeError):
    """Another run has taken over."""


class RemoteLock:
    """A file that its holder renews every few seconds.

    Two runs that start at the same moment, or one that was suspended for a while, may both take the
    lock. The one that does not have it any more learns that from `confirm`.

    Parameters
    ----------
    requests : Requests
        The operations of the filesystem.
    path : str
        The file.
    """

    def __init__(self, requests: Requests, path: str) -> None:
        self._requests, self.path = requests, path
        self._owner = f"process {os.getpid()} on {socket.gethostname()}\n{uuid4().hex}\n".encode()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._renew_until_ended, daemon=True)
        self._renewals = 0

    def acquire(self) -> None:
        """Take the lock; raises BlockingIOError if another run renews it."""
        self._wait_until_abandoned()
        self._renew()
        time.sleep(POLLED_SECONDS)
        self._refuse(self._read())
        with suppress(RuntimeError):  # where no thread can start, another run may take over
            self._thread.start()

    def confirm(self) -> None:
        """Raise LockLostError if another run has taken over."""
        content = self._read()
        if content and not content.startswith(self._owner):
            raise LockLostError(
                f"{_holder(content)} has taken over the checkpoint from this run, which had not "
                f"renewed {self._requests.shown(self.path)} for {ABANDONED_SECONDS:g} seconds."
            )

    def release(self) -> None:
        """Delete the file, unless another run has taken over."""
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join(RENEWED_SECONDS)
        with suppress(OSError, LockLostError):
            self.confirm()
            self._requests.delete(self.path)

    def _wait_until_abandoned(self) -> None:
        first, start = self._read(), time.monotonic()
        content = first
        while content is not None and time.monotonic() - start < ABANDONED_SECONDS:
            if content not in (first, b""):  # without content, it is being written
                self._refuse(content)
            time.sleep(POLLED_SECONDS)
            content = self._read()

    def _refuse(self, content: bytes | None) -> None:
        if content is not None and not content.startswith(self._owner):
            shown = self._requests.shown(self.path)
            raise BlockingIOError(f"{shown} is renewed by {_holder(content)}")

    def _renew_until_ended(self) -> None:
        while not self._ended.wait(RENEWED_SECONDS):
            with suppress(OSError):  # the next one may succeed
                try:
                    self.confirm()
                except LockLostError:
                    return
                self._renew()

    def _renew(self) -> None:
        self._renewals += 1
        self._requests.write(self.path, self._owner + b"%d" % self._renewals)

    def _read(self) -> bytes | None:
        return self._requests.read(self.path)


def _holder(content: bytes) -> str:
    return content.partition(b"\n")[0].decode(errors="replace") or "another process"
