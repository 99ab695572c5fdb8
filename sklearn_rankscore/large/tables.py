"""Documents in Arrow tables and Parquet files: sorted by query, ranked, and summed up."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from pyarrow import fs

from .._typing import Array
from .._validation import check_system_names, shown
from ..query_ids import Grouping
from ..query_ids.read import as_objects
from ..ranking import read_queries
from .accumulator import (
    ALONE,
    RankingAccumulator,
    State,
    TooManySegmentsError,
    segment_values,
)

# rows ranked at a time: enough that queries of similar length fill a block, in a few megabytes
BATCH_ROWS = 2**20
ROWS_READ = 2**17
ROW = "row"

BAR: dict[str, Any] = {"unit": "row", "unit_scale": True, "delay": 1}

GONE = {"checkpoint", "checkpoint_seconds", "checkpoint_wait", "order", "batch_rows", "filesystem"}


class NotSortedError(ValueError):
    """The rows of a stream are not sorted by query."""


@dataclass(frozen=True)
class Reader:
    """What is read from tables of documents: columns by their names, and metrics of them.

    Parameters
    ----------
    empty : RankingAccumulator
        The metrics, and the columns of segments.
    label : str
        The column of relevance.
    systems : dict of str to str
        The column of scores of each system.
    ids : list of str
        The columns that together identify a query.
    weight : str or None
        The column of query weights.
    """

    empty: RankingAccumulator
    label: str
    systems: dict[str, str]
    ids: list[str]
    weight: str | None

    @property
    def required(self) -> list[str]:
        """The columns without missing values: a missing label means that nobody judged."""
        weight = [] if self.weight is None else [self.weight]
        return list(dict.fromkeys([*self.ids, *self.systems.values(), *weight]))

    @property
    def columns(self) -> list[str]:
        """The columns to read."""
        return list(dict.fromkeys([*self.required, self.label, *self.empty.by]))

    @property
    def of_queries(self) -> list[str]:
        """The columns that are constant within a query, and name or describe it."""
        return list(dict.fromkeys([*self.ids, *self.empty.by]))

    @property
    def values(self) -> dict[str, tuple[str, str]]:
        """The system and metric of each value of a query, by its name."""
        names = self.empty.names
        return {
            " ".join(filter(None, [of, name])): (of, name) for of in self.systems for name in names
        }

    def check(self, available: Iterable[Any], place: str) -> None:
        """Refuse a name that is not a column, or that of several."""
        known = list(available)
        for name in self.columns:
            if known.count(name) != 1:
                raise ValueError(f"{place} must have one column {name!r}; it has {known}.")

    def plain(self, batch: Any, place: str, row: int = 0) -> Any:
        """The columns of a batch as numbers and text; refuse missing values, and name their row."""
        self.check(batch.schema.names, place)
        table = pa.table({name: _plain(batch[name]) for name in self.columns})
        for name in self.required:
            is_missing = pc.is_null(table[name], nan_is_null=True)
            if pc.any(is_missing).as_py():
                row += pc.index(is_missing, True).as_py()
                raise ValueError(
                    f"{place}, row {row} (counted from 0): column {name!r} has a missing value. "
                    "Drop or fill it first."
                )
        return table

    def count(self, tables: Iterable[Any]) -> State:
        """What an accumulator counts in tables that are sorted by query."""
        run = self.empty._empty()
        for table, starts in whole_queries(tables, self.ids):
            self._add(run, table, starts)
        return run._state

    def query_values(self, tables: Iterable[Any]) -> Iterator[Any]:
        """Tables of query ids and values of metrics, of tables that are sorted by query."""
        for table, starts in whole_queries(tables, self.ids):
            run = self.empty._empty()
            self._add(run, table, starts)
            ((_, values),) = run._state.values
            of_queries = table.select(self.of_queries).take(starts)
            for name, key in self.values.items():
                of_queries = of_queries.append_column(name, [values[key]])
            yield of_queries

    def _add(self, run: RankingAccumulator, table: Any, starts: Array) -> None:
        """Rank queries; an error names the query, and leaves others behind in `run`."""
        try:
            ids = [column.to_numpy() for column in table.select(self.ids).take(starts).columns]
            names = ids[0] if len(ids) == 1 else as_objects(list(zip(*map(list, ids), strict=True)))
            sizes = np.diff(starts, append=table.num_rows)
            options: dict[str, Any] = {"groups": Grouping(names, starts, sizes)}
            if self.weight is not None:
                options["sample_weight"] = _numbers(table[self.weight])
            label = _numbers(table[self.label])
            queries = {
                of: read_queries(label, _numbers(table[name]), allow_zero_weights=True, **options)
                for of, name in self.systems.items()
            }
            run._add(queries, {name: _segments(name, table[name], starts) for name in run.by})
        except TooManySegmentsError:
            raise
        except (TypeError, ValueError) as error:
            if len(starts) == 1:
                kind = ValueError if isinstance(error, ValueError) else TypeError
                raise kind(f"query {_shown_id(table.select(self.ids))}: {error}") from error
            first, second = np.array_split(starts, 2)
            self._add(run, table[: second[0]], first)
            self._add(run, table[second[0] :], second - second[0])
            raise


def read_options(
    metrics: Any,
    *,
    label: str = "label",
    score: str | Mapping[str, str] = "score",
    groups: str | Sequence[str] = "qid",
    weight: str | None = None,
    **options: Any,
) -> tuple[RankingAccumulator, Reader]:
    """The accumulator of a call, which may be given as metrics, and the columns that it names."""
    for name in GONE & options.keys():
        raise TypeError(
            f"there is no option {name}= any more: an interrupted run starts again, the rows of "
            "files may have any order, and fsspec opens URIs such as 's3://bucket/scores'."
        )
    if isinstance(score, Mapping):
        check_system_names("score", score)
    systems = dict(score) if isinstance(score, Mapping) else {ALONE: score}
    if not isinstance(metrics, RankingAccumulator):
        metrics = RankingAccumulator(metrics, **options)
    elif any(value is not None for value in options.values()):
        raise ValueError("pass like=, by=, n_jobs= and options to the RankingAccumulator itself.")
    ids = [groups] if isinstance(groups, str) else list(groups)
    names = [label, *systems.values(), *ids, weight or ""]
    if not ids or not all(isinstance(name, str) for name in names):
        raise TypeError(f"label, score, groups and weight are names of columns; got {names}.")
    return metrics, Reader(metrics._empty(), label, systems, ids, weight)


def _plain(column: Any) -> Any:
    """A column without a dictionary, or of the bytes of an extension such as UUID."""
    kind = _plain_type(column.type)
    if isinstance(column.type, pa.BaseExtensionType):
        column = column.storage
    if pa.types.is_dictionary(column.type):  # Arrow cannot cast those of polars
        return column.dictionary.cast(kind).take(column.indices)
    return column.cast(kind)


def _plain_type(kind: Any) -> Any:
    """The type of the values, which for all text is one without a limit of its length."""
    if isinstance(kind, pa.BaseExtensionType):
        return kind.storage_type
    if pa.types.is_float16(kind):  # which DuckDB lacks
        return pa.float32()
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    name = str(kind).removesuffix("_view")
    return pa.type_for_alias(f"large_{name}") if name in ("string", "binary") else kind


def whole_queries(tables: Iterable[Any], ids: list[str]) -> Iterator[tuple[Any, Array]]:
    """Tables of whole queries, and the first row of each, from tables sorted by query."""
    waiting: list[Any] = []
    n_new = 0
    for table in tables:
        waiting.append(table)
        n_new += table.num_rows
        if n_new >= BATCH_ROWS:
            joined, starts = _joined(waiting, ids)
            if len(starts) > 1:  # the last query may continue
                yield joined[: starts[-1]], starts[:-1]
            waiting, n_new = [joined[starts[-1] :]], 0
    if sum(part.num_rows for part in waiting):
        yield _joined(waiting, ids)


def _joined(tables: list[Any], names: list[str]) -> tuple[Any, Array]:
    """One table and the first row of each query, none of which comes after a larger one."""
    table = pa.concat_tables(tables, promote_options="permissive").combine_chunks()
    ids = table.select(names)
    differ = [pc.not_equal(column[1:], column[:-1]).to_numpy() for column in ids.columns]
    starts = np.flatnonzero(np.append(True, np.logical_or.reduce(differ)))
    queries = ids.take(starts)
    descends = np.zeros(len(starts) - 1, dtype=bool)
    for column in reversed(queries.columns):
        less, equal = (f(column[1:], column[:-1]).to_numpy() for f in (pc.less, pc.equal))
        descends = less | (equal & descends)
    if descends.any():
        row = int(descends.argmax())
        raise NotSortedError(
            f"the stream is not sorted by query: {_shown_id(queries[row + 1 :])} comes after "
            f"{_shown_id(queries[row:])}. Sort the rows by query id in ascending order, or "
            "write them to Parquet files for evaluate_parquet."
        )
    return table, starts


def _shown_id(rows: Any) -> str:
    """The query id of the first of some rows."""
    values = tuple(rows[:1].to_pylist()[0].values())
    return shown(values[0] if len(values) == 1 else values)


def _numbers(column: Any) -> Array:
    """A column of numbers, in which a missing label is NaN."""
    if column.null_count or pa.types.is_decimal(column.type):
        column = column.cast(pa.float64())
    return np.asarray(column.to_numpy())


def _segments(name: str, column: Any, starts: Array) -> Array:
    """The segment of each query."""
    codes = column.combine_chunks().dictionary_encode("encode").indices.to_numpy()
    changes = codes[1:] != codes[:-1]
    changes[starts[1:] - 1] = False
    if changes.any():
        raise ValueError(f"segments must be constant within each query; {name!r} varies.")
    return segment_values(name, column.take(starts))


def count_files(reader: Reader, path: Any, memory_limit: str | None, **bar: Any) -> State:
    """What an accumulator counts in files, which are read again and sorted if they are not."""
    from tqdm import tqdm

    fragments, schema = _open_files(path, reader)
    n_rows = sum(fragment.count_rows() for fragment in fragments)
    sort = partial(_count_unsorted, reader, schema, memory_limit)

    def attempt(count: Callable[[Iterator[Any]], State]) -> State:
        with tqdm(total=n_rows, **bar, **BAR) as shown_bar:
            return count(_read_files(fragments, schema, reader, shown_bar))

    try:
        return attempt(reader.count)
    except NotSortedError:
        pass
    try:
        return attempt(sort)
    except (TypeError, ValueError):  # again, for an error that names the query
        return attempt(partial(sort, by_hash=False))


def _open_files(path: Any, reader: Reader) -> tuple[list[Any], Any]:
    """Files, and a schema for all; the names of folders define further columns, which are text."""
    from fsspec.core import url_to_fs

    names: set[str] = set()
    for pattern in [path] if isinstance(path, str | os.PathLike) else path:
        filesystem, plain = url_to_fs(os.fspath(pattern))
        matches = [plain] if filesystem.exists(plain) else filesystem.glob(plain)
        names |= {
            name for match in matches for name in filesystem.find(match)
            if name == match or _is_part(name.removeprefix(match))
        }  # fmt: skip
    if not names:
        raise FileNotFoundError(
            f"there is no Parquet file {path!s:.200}; those of a folder are *.parquet."
        )
    local = "file" in filesystem.protocol
    opened = fs.LocalFileSystem() if local else fs.PyFileSystem(fs.FSSpecHandler(filesystem))
    reading = ds.ParquetFragmentScanOptions(page_checksum_verification=True, pre_buffer=False)
    parquet = ds.ParquetFileFormat(default_fragment_scan_options=reading)
    fragments, schema = [], pa.schema([])
    for name in sorted(names):
        with _errors_naming(name):
            of_file = parquet.make_fragment(name, opened).physical_schema
            missing = [(c, pa.string()) for c in reader.columns if c not in of_file.names]
            of_folders = ds.partitioning(pa.schema(missing), flavor="hive").parse(name)
            keys = ds.get_partition_keys(of_folders)
            fields = [*of_file, *(pa.field(column, pa.string()) for column in keys)]
            reader.check([field.name for field in fields], name)
            used = [(f.name, _plain_type(f.type)) for f in fields if f.name in reader.columns]
            schema = pa.unify_schemas([schema, pa.schema(used)], promote_options="permissive")
            fragments.append(parquet.make_fragment(name, opened, of_folders))
    return fragments, schema


def _is_part(path: str) -> bool:
    """Whether a file of a folder is Parquet, and not one of those that other programs leave."""
    parts = path.strip("/").split("/")
    is_hidden = any(part.startswith((".", "_")) and "=" not in part for part in parts)
    return path.endswith(".parquet") and not is_hidden


@contextmanager
def _errors_naming(path: str) -> Iterator[None]:
    try:
        yield
    except (OSError, UnicodeError, pa.ArrowException) as error:
        raise ValueError(f"{path} cannot be read: {error}") from error


def _read_files(fragments: list[Any], schema: Any, reader: Reader, progress: Any) -> Iterator[Any]:
    """The rows of all files, in one schema."""
    reading: dict[str, Any] = {"batch_size": ROWS_READ, "batch_readahead": 2, "use_threads": False}
    for fragment in fragments:
        row = 0
        with _errors_naming(fragment.path):
            for batch in fragment.to_batches(schema, reader.columns, **reading):
                yield reader.plain(batch, fragment.path, row)
                row += batch.num_rows
                progress.update(batch.num_rows)


def _count_unsorted(
    reader: Reader,
    schema: Any,
    memory_limit: str | None,
    tables: Iterable[Any],
    *,
    by_hash: bool = True,
) -> State:
    """What is counted in rows as DuckDB sorts them, within its memory and a temporary folder."""
    import duckdb

    # by position, because DuckDB ignores the case of names
    sql = {name: f"c{i}" for i, name in enumerate(reader.columns)}
    types = [*((plain, schema.field(name).type) for name, plain in sql.items()), (ROW, pa.int64())]
    plain_names = [name for name, _ in types]
    failures: list[BaseException] = []

    def rows() -> Iterator[Any]:
        n = 0
        try:
            for table in tables:
                numbers = pa.array(np.arange(n, n := n + table.num_rows))
                numbered = table.append_column(ROW, numbers)
                yield from numbered.rename_columns(plain_names).to_batches()
        except BaseException as error:  # of which DuckDB repeats the message only
            failures.append(error)
            raise

    of_text = any(str(schema.field(name).type).startswith("large_") for name in reader.ids)
    if by_hash and of_text and not reader.empty.per_query:  # in a fifth of the time
        ids = [sql[name] for name in reader.ids]
        salted = [f"'x' || {name}::varchar" for name in ids]
        sql |= {f"hash {i}": f"hash({', '.join(of)})" for i, of in enumerate((ids, salted))}
        reader = replace(reader, ids=["hash 0", "hash 1"])
    by_order = any(
        metric.ties in ("stable", "reversed") for metric in reader.empty._resolved.values()
    )
    order = [*(sql[name] for name in reader.ids), *([ROW] if by_order else [])]
    selected = [sql[name] for name in reader.columns]
    with tempfile.TemporaryDirectory(prefix="rankscore-") as folder:
        config: dict[str, Any] = {"temp_directory": folder, "preserve_insertion_order": False}
        config |= {} if memory_limit is None else {"memory_limit": memory_limit}
        with duckdb.connect(config=config) as connection:
            connection.execute("set enable_progress_bar = false")  # it would print to stdout
            numbered = pa.RecordBatchReader.from_batches(pa.schema(types), rows())
            connection.register("documents", numbered)
            query = f"select {', '.join(selected)} from documents order by {', '.join(order)}"
            try:
                batches = pa.RecordBatchReader.from_stream(connection.sql(query))
                return reader.count(
                    pa.Table.from_arrays(batch.columns, names=reader.columns) for batch in batches
                )
            except Exception as error:
                if failures:
                    raise failures[0] from None
                if str(error) == "Query interrupted":  # what DuckDB makes of Ctrl-C
                    raise KeyboardInterrupt from None
                raise
