"""A checkpoint on a local disk."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from .lock import FileLock


class LocalFile:
    """A file that is replaced as a whole, even if the power fails.

    Parameters
    ----------
    path : Path
        The absolute path.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lock = FileLock(_beside(path, ".lock"))

    def __str__(self) -> str:
        return str(self.path)

    @property
    def paths(self) -> tuple[str, ...]:
        """Files that a run may leave beside the data."""
        return tuple(_beside(self.path, end).as_posix() for end in ("", ".new", ".lock"))

    @property
    def problem(self) -> str | None:
        """Why a checkpoint cannot have this path."""
        if not self.path.parent.is_dir():
            return "is in a folder that does not exist"
        if self.path.is_dir():
            return "is a folder"
        if not self.path.exists():
            return None
        if not self.path.is_file():  # such as /dev/null, which would be replaced
            return "is not a regular file"
        with self.path.open("rb") as file:
            return "is a Parquet file" if file.read(4) == b"PAR1" else None

    def read(self) -> bytes | None:
        """The content; None without a file."""
        return self.path.read_bytes() if self.path.exists() else None

    def replace(self, content: bytes) -> None:
        """Write the file; at no time is it incomplete."""
        temporary = _beside(self.path, ".new")
        try:
            with temporary.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, self.path)
        except OSError:
            with suppress(OSError):  # half a file would only keep a full disk full
                temporary.unlink()
            raise
        if os.name == "posix":
            folder = os.open(self.path.parent, os.O_RDONLY)
            os.fsync(folder)
            os.close(folder)

    def remove(self) -> None:
        """Delete the file."""
        for path in (self.path, _beside(self.path, ".new")):
            path.unlink(missing_ok=True)


def _beside(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)
