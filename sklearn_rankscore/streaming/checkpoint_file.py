"""The file of a checkpoint, wherever it is."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from .local_file import LocalFile
from .paths import as_filesystem, from_uri, fsspec_of, is_uri
from .remote_file import RemoteFile


class OpenFile(Protocol):
    """What ``fsspec.open`` returns: a path on a filesystem, of which nothing is open yet."""

    fs: Any
    path: str


CheckpointPath: TypeAlias = str | os.PathLike[str] | OpenFile


def file_of(checkpoint: Any) -> LocalFile | RemoteFile:
    """The file of a path, a URI, or what ``fsspec.open`` returns."""
    if hasattr(checkpoint, "fs") and hasattr(checkpoint, "path"):
        filesystem, path = as_filesystem(checkpoint.fs), checkpoint.path
    elif isinstance(checkpoint, str) and is_uri(checkpoint):
        filesystem, path = from_uri(checkpoint)
    elif isinstance(checkpoint, str | os.PathLike):
        return LocalFile(Path(os.path.abspath(checkpoint)))
    else:
        raise TypeError(
            "checkpoint must be the path of a file, a URI, or what fsspec.open returns; got "
            f"{type(checkpoint).__name__}."
        )
    if _is_local(filesystem):
        return LocalFile(Path(os.path.abspath(path)))
    return RemoteFile(filesystem, path)


def _is_local(filesystem: Any) -> bool:
    module = type(fsspec_of(filesystem)).__module__
    return filesystem.type_name == "local" or module == "fsspec.implementations.local"
