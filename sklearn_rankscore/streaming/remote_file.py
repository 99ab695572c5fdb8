"""A checkpoint in an object store, or on any other filesystem of pyarrow or fsspec."""

from __future__ import annotations

from typing import Any

from .checkpoint_format import has_begun, is_intact
from .remote_lock import RemoteLock
from .requests import Requests


class RemoteFile:
    """A file that is replaced by another one with the ending ".new".

    Not every filesystem replaces a file in one step, so that a process may end while the file is
    incomplete or absent; its content is then in the other one.

    Parameters
    ----------
    filesystem : pyarrow.fs.FileSystem
        The filesystem.
    path : str
        The path on it.
    """

    def __init__(self, filesystem: Any, path: str) -> None:
        self._requests = Requests(filesystem)
        self.path, self._new = path, path + ".new"
        self._is_moving = False
        self.lock = RemoteLock(self._requests, path + ".lock")

    def __str__(self) -> str:
        return self._requests.shown(self.path)

    @property
    def paths(self) -> tuple[str, ...]:
        """Files that a run may leave beside the data."""
        return self.path, self._new, self.lock.path

    @property
    def problem(self) -> str | None:
        """Why a checkpoint cannot have this path."""
        if self._requests.is_folder(self.path):
            return "is a folder"
        content = self._requests.read(self.path, 4)
        return "is a Parquet file" if content == b"PAR1" else None

    def read(self) -> bytes | None:
        """The content; None without a file."""
        content = self._requests.read(self.path)
        if content is not None and (is_intact(content) or not has_begun(content)):
            return content
        newer = self._requests.read(self._new)
        if newer is None or not is_intact(newer):
            return content
        self._move()
        return newer

    def replace(self, content: bytes) -> None:
        """Write the file; at any time it or the other one is complete."""
        if self._is_moving:
            self._move()
        self._requests.write(self._new, content)
        self._move()

    def remove(self) -> None:
        """Delete the file."""
        for path in (self.path, self._new):
            self._requests.delete(path)

    def _move(self) -> None:
        self._is_moving = True
        try:
            self._requests.move(self._new, self.path)
        except OSError:  # some filesystems do not move a file to the path of another
            self._requests.delete(self.path)
            self._requests.move(self._new, self.path)
        self._is_moving = False
