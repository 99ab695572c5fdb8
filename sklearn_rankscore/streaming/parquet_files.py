"""Parquet files as one stream of Arrow batches."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeAlias

from .column_names import ColumnNames

Paths: TypeAlias = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


@dataclass(frozen=True)
class ParquetFiles:
    """Parquet files in the order in which they are read.

    Parameters
    ----------
    paths : list of str
        The files.
    sizes : list of int
        Number of rows of each file.
    columns : ColumnNames
        The columns to read.
    filesystem : pyarrow.fs.FileSystem
        Where the files are.
    """

    paths: list[str]
    sizes: list[int]
    columns: ColumnNames
    filesystem: Any

    @classmethod
    def find(cls, path: Paths, columns: ColumnNames, filesystem: Any) -> ParquetFiles:
        """The files of a folder by name, or the given files."""
        from pyarrow import dataset

        given = [str(p) for p in path] if isinstance(path, list | tuple) else str(path)
        files = dataset.dataset(given, format="parquet", filesystem=filesystem)
        paths = files.files if isinstance(given, list) else sorted(files.files, key=_natural)
        if not paths:
            raise ValueError(f"there are no Parquet files in {given}.")
        sizes = [_count_rows(file_path, columns, files.filesystem) for file_path in paths]
        return cls(paths, sizes, columns, files.filesystem)

    @property
    def n_rows(self) -> int:
        """Number of rows of all files."""
        return sum(self.sizes)

    @property
    def fingerprint(self) -> tuple[Any, ...]:
        """What must be equal for a run to resume from a checkpoint."""
        return tuple(self.paths), tuple(self.sizes), self.columns

    def batches(self, n_rows: int, skip: int) -> Iterator[Any]:
        """Arrow batches of all rows but the first `skip`."""
        for path, size in zip(self.paths, self.sizes, strict=True):
            if skip < size:
                with _open(path, self.filesystem) as file:
                    yield from self._batches_of(file, n_rows, skip)
            skip = max(skip - size, 0)

    def _batches_of(self, file: Any, n_rows: int, skip: int) -> Iterator[Any]:
        groups = list(range(file.num_row_groups))
        while groups and skip >= (size := file.metadata.row_group(groups[0]).num_rows):
            skip -= size
            del groups[0]
        # one thread, because `prefetch` reads while metrics are computed
        for batch in file.iter_batches(
            n_rows, row_groups=groups, columns=self.columns.distinct, use_threads=False
        ):
            yield batch.slice(skip)
            skip = max(skip - batch.num_rows, 0)


def prefetch(batches: Iterator[Any]) -> Iterator[Any]:
    """Read the next batch in another thread while the previous one is in use."""
    with ThreadPoolExecutor(1) as reader:
        following = reader.submit(next, batches, None)
        while (batch := following.result()) is not None:
            following = reader.submit(next, batches, None)
            yield batch


def _count_rows(path: str, columns: ColumnNames, filesystem: Any) -> int:
    with _open(path, filesystem) as file:
        columns.check(file.schema_arrow.names, path)
        return int(file.metadata.num_rows)


def _open(path: str, filesystem: Any) -> Any:
    """A file that is read through a small buffer, whatever the size of its row groups."""
    from pyarrow.parquet import ParquetFile

    return ParquetFile(path, filesystem=filesystem, pre_buffer=False, buffer_size=2**20)


def _natural(path: str) -> list[Any]:
    """A key that sorts part.9 before part.10."""
    return [int(part) if part.isdigit() else part for part in re.split(r"([0-9]+)", path)]
