"""Files from paths, folders, patterns and URIs."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

Paths: TypeAlias = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


@dataclass(frozen=True)
class FilePath:
    """A file, its size in bytes, and the time of its last change in nanoseconds."""

    path: str
    size: int | None
    mtime: int | None


def find_files(path: Any, filesystem: Any, ignored: tuple[str, ...]) -> tuple[Any, list[FilePath]]:
    """The filesystem, and the files in the order in which they are read.

    Files of a folder or a pattern are sorted by name; `ignored` names local files that are none of
    them.
    """
    system, given, expanded = _resolved(path, filesystem)
    files = [file for info in system.get_file_info(given) for file in _files(info, system)]
    if expanded or not isinstance(path, list | tuple):
        files.sort(key=lambda file: _natural(file.path))
    files = [file for file in files if not _is_among(file.path, ignored)]
    if not files:
        raise ValueError(f"there are no Parquet files in {path}.")
    return system, files


def _resolved(path: Any, filesystem: Any) -> tuple[Any, list[str], bool]:
    """The filesystem, paths in it, and whether these come from a pattern."""
    from pyarrow import fs

    given = list(map(_text, path)) if isinstance(path, list | tuple) else [_text(path)]
    if not given:
        raise ValueError("path is an empty list; it names no Parquet files.")
    if filesystem is not None:
        return _as_filesystem(filesystem), given, False
    if any(re.match("[A-Za-z][A-Za-z0-9+.-]+://", p) for p in given):
        located = [fs.FileSystem.from_uri(p) for p in given]
        return located[0][0], [inner for _, inner in located], False
    local = [match for p in given for match in _matching(os.path.abspath(p))]
    return fs.LocalFileSystem(), local, len(given) == 1


def _text(path: Any) -> str:
    if not isinstance(path, str | os.PathLike):
        raise TypeError(
            "path must be a file, a folder, a pattern such as 'scores/*.parquet' or a list of "
            f"files; got {type(path).__name__}. For a table in memory use evaluate."
        )
    return os.fspath(path)


def _matching(path: str) -> list[str]:
    """The files that match a pattern; a path that exists is none."""
    if not glob.has_magic(path) or os.path.exists(path):
        return [path]
    matches = sorted(glob.glob(path, recursive=True), key=_natural)
    if not matches:
        raise ValueError(f"there are no Parquet files that match {path}.")
    return matches


def _as_filesystem(filesystem: Any) -> Any:
    from pyarrow import fs

    if isinstance(filesystem, str):
        system, base = fs.FileSystem.from_uri(filesystem)
        return fs.SubTreeFileSystem(base, system) if base else system
    if isinstance(filesystem, fs.FileSystem):
        return filesystem
    return fs.PyFileSystem(fs.FSSpecHandler(filesystem))


def _files(info: Any, filesystem: Any) -> list[FilePath]:
    from pyarrow import fs

    if info.type == fs.FileType.NotFound:
        raise FileNotFoundError(f"there is no file or folder {info.path}.")
    if info.type != fs.FileType.Directory:
        return [FilePath(info.path, info.size, info.mtime_ns)]
    inside = filesystem.get_file_info(fs.FileSelector(info.path, recursive=True))
    return [
        FilePath(i.path, i.size, i.mtime_ns)
        for i in inside
        if i.is_file and not re.search(r"(^|/)[._]", i.path[len(info.path) :])
    ]


def _is_among(path: str, others: tuple[str, ...]) -> bool:
    """Whether a path is one of a few local ones, perhaps through a symbolic link."""
    names = [os.path.basename(other) for other in others]
    return os.path.basename(path) in names and os.path.realpath(path) in map(
        os.path.realpath, others
    )


def _natural(path: str) -> list[Any]:
    """A key that sorts part.9 before part.10."""
    return [int(part) if part.isdigit() else part for part in re.split(r"([0-9]+)", path)]
