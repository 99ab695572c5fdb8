"""A lock between processes that ends with the process that holds it."""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from pathlib import Path


class FileLock:
    """A file that one process at a time has locked; the system unlocks it when a process ends.

    Parameters
    ----------
    path : Path
        The file, which is created, and deleted when the lock is released.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: int | None = None

    def acquire(self) -> None:
        """Lock the file; raises BlockingIOError if another process, or another call, has it."""
        while True:
            file = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o644)
            try:
                _lock(file)
            except BlockingIOError:
                owner = os.read(file, 200).decode(errors="replace") or "another process"
                os.close(file)
                raise BlockingIOError(f"{self.path} is locked by {owner}") from None
            except OSError:
                os.close(file)
                raise
            if self._has(file):
                break
            os.close(file)
        with suppress(OSError):  # a full disk does not matter
            os.ftruncate(file, 0)
            os.write(file, f"process {os.getpid()} on {socket.gethostname()}".encode())
        self._file = file

    def confirm(self) -> None:
        """Do nothing: the system lets nobody take over."""

    def _has(self, file: int) -> bool:
        """Whether an open file still has the path; who had locked it may have deleted it."""
        try:
            return os.path.samestat(os.fstat(file), os.stat(self.path))
        except FileNotFoundError:
            return False

    def release(self) -> None:
        """Unlock and delete the file."""
        if self._file is None:
            return
        with suppress(OSError):  # Windows does not delete an open file
            self.path.unlink(missing_ok=True)
        os.close(self._file)
        self._file = None


def _lock(file: int) -> None:
    try:
        import fcntl
    except ImportError:
        _lock_on_windows(file)
        return
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _lock_on_windows(file: int) -> None:
    import msvcrt

    os.lseek(file, 4096, os.SEEK_SET)  # behind the text, which others may read
    try:
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined, unused-ignore]
    except OSError as error:
        raise BlockingIOError(str(error)) from error
    finally:
        os.lseek(file, 0, os.SEEK_SET)
