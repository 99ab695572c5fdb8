"""Requests to the filesystem of a checkpoint that is not on the local disk."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .paths import fsspec_of


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
