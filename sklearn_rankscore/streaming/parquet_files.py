"""Parquet files as one stream of Arrow batches."""

from __future__ import annotations

import io
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from itertools import accumulate
from pathlib import PurePosixPath
from typing import Any

import numpy as np

from ..ranking.threads import parallel_for, submit
from .column_names import ColumnNames
from .column_types import common_types, converted
from .partitions import check_sources, partition_of, partition_types
from .paths import FilePath, find_files

# files whose ends are read at a time
FOOTERS = 8


@dataclass(frozen=True)
class ParquetFile:
    """What is known of a Parquet file before its rows are read.

    Parameters
    ----------
    file : FilePath
        Where it is.
    n_rows : int
        Its number of rows.
    types : dict of str to DataType
        The type of each column to read.
    footer : str
        A checksum of the metadata, which hold statistics of all columns.
    partition : dict of str to str or None
        The values of the columns that only the path has.
    """

    file: FilePath
    n_rows: int
    types: dict[str, Any]
    footer: str
    partition: dict[str, str | None]

    @classmethod
    def read(cls, file: FilePath, columns: ColumnNames, filesystem: Any) -> ParquetFile:
        """Read the end of a file."""
        with opened(file.path, filesystem) as parquet:
            schema, metadata = parquet.schema_arrow, parquet.metadata
            given = {n: v for n, v in partition_of(file.path).items() if n not in schema.names}
            columns.check([*schema.names, *given], file.path)
            partition = {name: given[name] for name in columns.distinct if name in given}
            names = [name for name in columns.distinct if name not in given]
            types = {name: schema.field(name).type for name in names}
            footer = io.BytesIO()
            metadata.write_metadata_file(footer)
            checksum = sha256(footer.getvalue()).hexdigest()[:16]
            return cls(file, metadata.num_rows, types, checksum, partition)


@dataclass(frozen=True)
class ParquetFiles:
    """Parquet files in the order in which they are read.

    Parameters
    ----------
    files : list of ParquetFile
        The files.
    types : dict of str to DataType
        The type to which each column is converted.
    filesystem : pyarrow.fs.FileSystem
        Where the files are.
    """

    files: list[ParquetFile]
    types: dict[str, Any]
    filesystem: Any

    @classmethod
    def find(
        cls, path: Any, columns: ColumnNames, filesystem: Any, ignored: tuple[str, ...] = ()
    ) -> ParquetFiles:
        """The files of a folder by name, of a pattern, or the given files."""
        filesystem, paths = find_files(path, filesystem, ignored)
        of_path: dict[int, ParquetFile] = {}

        def read(i: int) -> None:
            of_path[i] = ParquetFile.read(paths[i], columns, filesystem)

        parallel_for(read, range(len(paths)), FOOTERS)
        files = [of_path[i] for i in range(len(paths))]
        check_sources([(f.file.path, f.types, f.partition) for f in files])
        partitions = partition_types([(f.file.path, f.partition) for f in files], columns)
        known = [(f.file.path, f.types | {n: partitions[n] for n in f.partition}) for f in files]
        return cls(files, common_types(known, columns.ids), filesystem)

    @property
    def n_rows(self) -> int:
        """Number of rows of all files."""
        return sum(file.n_rows for file in self.files)

    @property
    def fingerprint(self) -> list[Any]:
        """What must be equal for a run to resume from a checkpoint, for each path."""
        return [[f.file.path, [f.n_rows, f.file.size, f.file.mtime, f.footer]] for f in self.files]

    def first_rows(self, n_rows: int) -> Any:
        """A table of at most some rows; None if the files have none."""
        import pyarrow as pa

        with closing(self.batches(n_rows, skip=0)) as batches:
            return next((pa.Table.from_batches([batch]) for batch in batches), None)

    def place(self, row: int) -> str:
        """The file of a row of the stream and its number there, for messages."""
        ends = list(accumulate(file.n_rows for file in self.files))
        i = int(np.searchsorted(ends, row, side="right"))
        return f"{self.files[i].file.path}, row {row - ends[i] + self.files[i].n_rows}"

    def batches(self, n_rows: int, skip: int) -> Generator[Any, None, None]:
        """Arrow batches of all rows but the first `skip`."""
        for file in self.files:
            if skip < file.n_rows:
                with opened(file.file.path, self.filesystem) as parquet:
                    yield from self._batches_of(parquet, n_rows, skip, file)
            skip = max(skip - file.n_rows, 0)

    def _batches_of(self, parquet: Any, n_rows: int, skip: int, file: ParquetFile) -> Iterator[Any]:
        groups = list(range(parquet.num_row_groups))
        while groups and skip >= (size := parquet.metadata.row_group(groups[0]).num_rows):
            skip -= size
            del groups[0]
        # one thread, because `prefetch` reads while metrics are computed
        for batch in parquet.iter_batches(
            n_rows, row_groups=groups, columns=list(file.types), use_threads=False
        ):
            yield self._converted(batch.slice(skip), file)
            skip = max(skip - batch.num_rows, 0)

    def _converted(self, batch: Any, file: ParquetFile) -> Any:
        """A batch with the columns of the path, and the types that all files have in common."""
        import pyarrow as pa

        def column(name: str) -> Any:
            if name not in file.partition:
                return batch.column(batch.schema.get_field_index(name))
            value = pa.scalar(file.partition[name], pa.string()).cast(self.types[name])
            return pa.repeat(value, batch.num_rows)

        columns = pa.RecordBatch.from_arrays(list(map(column, self.types)), names=list(self.types))
        return converted(columns, self.types, file.file.path)


def prefetch(batches: Iterator[Any]) -> Iterator[Any]:
    """Read the next batch in another thread while the previous one is in use."""
    read = partial(next, batches, None)
    following = submit(read, 2)
    while (batch := following()) is not None:
        following = submit(read, 2)
        try:
            yield batch
        except GeneratorExit:
            with suppress(Exception):
                following()  # a file is not closed while it is read
            raise


@contextmanager
def opened(path: str, filesystem: Any) -> Iterator[Any]:
    """A file that is read through a small buffer, whatever the size of its row groups."""
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile as Reader

    try:
        with Reader(path, filesystem=filesystem, pre_buffer=False, buffer_size=2**20) as parquet:
            yield parquet
    except (OSError, pa.ArrowException) as error:
        if path in str(error):
            raise
        kind = OSError if isinstance(error, OSError) else ValueError
        other = PurePosixPath(path).suffix not in ("", ".parquet", ".pq")
        fix = " Files of a folder are selected by a pattern, 'folder/*.parquet'." if other else ""
        reason = str(error).rstrip(".")
        raise kind(f"{path} cannot be read as a Parquet file: {reason}.{fix}") from error
