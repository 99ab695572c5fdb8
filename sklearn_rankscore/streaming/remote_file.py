"""A checkpoint in an object store, or on any other filesystem of pyarrow or fsspec."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .checkpoint_format import has_begun, is_whole
from .paths import fsspec_of
from .remote_lock import RemoteLock


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
        if content is not None and (is_whole(content) or not has_begun(content)):
            return content
        newer = self._requests.read(self._new)
        if newer is None or not is_whole(newer):
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


class Requests:
    """Operations on a filesystem, one at a time; whatever they raise becomes an OSError.

    Parameters
    ----------
    filesystem : pyarrow.fs.FileSystem
        The filesystem; some of fsspec must not be used by two threads at the same time.
    """

    def __init__(self, filesystem: Any) -> None:
        self._filesystem = filesystem
        self._of_fsspec = fsspec_of(filesystem)
        self._one_at_a_time = threading.Lock()

    def shown(self, path: str) -> str:
        """The URI of a path, without credentials."""
        if self._of_fsspec is not None:
            return str(self._of_fsspec.unstrip_protocol(path))
        return f"{self._filesystem.type_name}://{path}"

    def is_folder(self, path: str) -> bool:
        """Whether a path is a folder."""
        with self._request(path):
            return bool(self._filesystem.get_file_info(path).type.name == "Directory")

    def read(self, path: str, n_bytes: int | None = None) -> bytes | None:
        """The content of a file; None without a file."""
        with self._request(path):
            self._forget(path)
            try:
                with self._filesystem.open_input_stream(path, compression=None) as file:
                    return bytes(file.read(n_bytes))
            except FileNotFoundError:
                return None

    def write(self, path: str, content: bytes) -> None:
        """Write a file."""
        with (
            self._request(path),
            # by default, pyarrow compresses files whose names end in .gz
            self._filesystem.open_output_stream(path, compression=None) as file,
        ):
            file.write(content)

    def move(self, path: str, to: str) -> None:
        """Move a file."""
        with self._request(path):
            self._filesystem.move(path, to)

    def delete(self, path: str) -> None:
        """Delete a file, if there is one."""
        with self._request(path):
            self._forget(path)
            if self._filesystem.get_file_info(path).is_file:
                self._filesystem.delete_file(path)

    def _forget(self, path: str) -> None:
        """Ask the store itself, because other processes write the files too."""
        if self._of_fsspec is not None:
            self._of_fsspec.invalidate_cache(path)

    @contextmanager
    def _request(self, path: str) -> Iterator[None]:
        with self._one_at_a_time:
            try:
                yield
            except OSError:
                raise
            except Exception as error:  # libraries of object stores have errors of their own
                raise OSError(f"{self.shown(path)}: {type(error).__name__}: {error}") from error
