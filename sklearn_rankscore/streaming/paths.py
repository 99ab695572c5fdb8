"""Files from paths, folders, patterns and URIs."""

from __future__ import annotations

import glob
import os
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
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
    twice = next((p for p, count in Counter(f.path for f in files).items() if count > 1), None)
    if twice is not None:
        raise ValueError(f"{twice} is given twice, so that its rows would count twice.")
    return system, files


def _resolved(path: Any, filesystem: Any) -> tuple[Any, list[str], bool]:
    """The filesystem, paths in it, and whether these come from a pattern."""
    from pyarrow import fs

    given = list(map(_text, path)) if isinstance(path, list | tuple) else [_text(path)]
    if not given:
        raise ValueError("path is an empty list; it names no Parquet files.")
    if filesystem is not None:
        system = as_filesystem(filesystem)
        return system, [path for p in given for path in _expand(system, p)], len(given) == 1
    if any(map(is_uri, given)):
        located = [from_uri(p) for p in given]
        system = located[0][0]
        return system, [path for _, p in located for path in _expand(system, p)], len(given) == 1
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


def is_uri(text: str) -> bool:
    """Whether a text is a URI, or one of fsspec that names several protocols."""
    return re.match("[A-Za-z][A-Za-z0-9+.-]+(://|::)", text) is not None


def from_uri(uri: str) -> tuple[Any, str]:
    """The filesystem of a URI and the path in it; of fsspec where pyarrow does not know it."""
    import pyarrow as pa
    from pyarrow import fs

    # options such as ?region=eu-west-1; any other question mark belongs to a pattern
    options = re.search(r"\?\w+=[^/?*\[]*$", uri)
    location, query = (uri[: options.start()], options[0]) if options else (uri, "")
    # a pattern is no valid URI, because of its question marks and brackets
    magic = re.search(r"[*?\[]", location)
    folder = location.rfind("/", 0, magic.start()) if magic else len(location)
    try:
        system, path = fs.FileSystem.from_uri(location[:folder] + query)
        return system, path + location[folder:]
    except pa.ArrowInvalid as error:
        try:
            from fsspec.core import url_to_fs

            system, path = url_to_fs(uri)
        except (ImportError, ValueError) as other:
            raise ValueError(
                f"the protocol of {uri} is known neither to pyarrow ({error}) nor to fsspec "
                f"({other})."
            ) from other
        return fs.PyFileSystem(fs.FSSpecHandler(system)), path


def _expand(filesystem: Any, path: str) -> list[str]:
    """The files of any filesystem that match a pattern; a path that exists is none."""
    from pyarrow import fs

    if not glob.has_magic(path) or filesystem.get_file_info(path).type != fs.FileType.NotFound:
        return [path]
    parts = PurePosixPath(path).parts
    n_plain = next(i for i, part in enumerate(parts) if glob.has_magic(part))
    if "**" in parts:
        raise ValueError(
            f"** in a pattern is supported for local files only; got {path}. Pass the folder, "
            "whose files are read recursively."
        )
    folder = str(PurePosixPath(*parts[:n_plain])) if n_plain else ""
    inside = filesystem.get_file_info(fs.FileSelector(folder, recursive=len(parts) - n_plain > 1))
    matches = [i.path for i in inside if i.is_file and _matches(i.path, parts)]
    if not matches:
        raise ValueError(f"there are no Parquet files that match {path}.")
    return sorted(matches, key=_natural)


def _matches(path: str, pattern: tuple[str, ...]) -> bool:
    # some filesystems of fsspec list "/bucket/file" for "bucket"
    parts, wanted = ([p for p in of if p != "/"] for of in (PurePosixPath(path).parts, pattern))
    return len(parts) == len(wanted) and all(map(fnmatchcase, parts, wanted))


def as_filesystem(filesystem: Any) -> Any:
    """The filesystem of pyarrow for a URI, or for one of fsspec."""
    from pyarrow import fs

    if isinstance(filesystem, str) and is_uri(filesystem):
        system, base = from_uri(filesystem)
        return fs.SubTreeFileSystem(base, system) if base else system
    if isinstance(filesystem, fs.FileSystem):
        return filesystem
    if not hasattr(filesystem, "info"):
        raise TypeError(
            "filesystem must be a filesystem of pyarrow or fsspec, or a URI such as 's3://bucket'; "
            f"got {filesystem!r:.60}."
        )
    return fs.PyFileSystem(fs.FSSpecHandler(filesystem))


def fsspec_of(filesystem: Any) -> Any:
    """The filesystem of fsspec inside of one of pyarrow; None if there is none."""
    return getattr(getattr(filesystem, "handler", None), "fs", None)


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
