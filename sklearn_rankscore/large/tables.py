"""Documents in Arrow tables and Parquet files: sorted by query, ranked, and summed up."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
from .accumulator import RankingAccumulator, Systems, segment_values

# rows ranked at a time: enough that queries of similar length fill a block, in a few megabytes
BATCH_ROWS = 2**20
ROWS_READ = 2**17
ROW = "row of the file"

_AGAIN = "an interrupted run starts again, because it reads some ten million rows per second"
_GONE = {
    "group": "groups= names the columns of query ids",
    "order": "rows of files may have any order; sort batches by query, or write them to files",
    "batch_rows": "its size has no effect on the result",
    "filesystem": "name a file by its URI, such as 's3://bucket/scores/*.parquet', which fsspec "
    "opens with the credentials of its configuration",
    **dict.fromkeys(("checkpoint", "checkpoint_seconds", "checkpoint_wait"), _AGAIN),
}

BAR: dict[str, Any] = {"unit": "row", "unit_scale": True, "delay": 1}


@dataclass(frozen=True)
class Columns:
    """Names of the columns of a table of documents.

    Parameters
    ----------
    label : str
        The column of relevance.
    systems : dict of Systems to str
        The column of scores of each system; () is one without a name.
    ids : list of str
        The columns that together identify a query.
    weight : str or None
        The column of query weights.
    by : tuple of str
        The columns of segments.
    """

    label: str
    systems: dict[Systems, str]
    ids: list[str]
    weight: str | None
    by: tuple[str, ...]

    @property
    def required(self) -> list[str]:
        """The columns without missing values: a missing label means that nobody judged."""
        weight = [] if self.weight is None else [self.weight]
        return list(dict.fromkeys([*self.ids, *self.systems.values(), *weight]))

    @property
    def distinct(self) -> list[str]:
        """The columns to read."""
        return list(dict.fromkeys([*self.required, self.label, *self.by]))

    @property
    def of_queries(self) -> list[str]:
        """The columns that are constant within a query, and name or describe it."""
        return list(dict.fromkeys([*self.ids, *self.by]))

    def check(self, available: Iterable[Any], place: str) -> None:
        """Refuse a name that is not a column, or that of several."""
        known = list(available)
        for name in self.distinct:
            if known.count(name) != 1:
                raise ValueError(f"{place} must have one column {name!r}; it has {known}.")


def read_options(
    metrics: Any,
    *,
    label: str = "label",
    score: str | Mapping[str, str] = "score",
    groups: str | Sequence[str] = "qid",
    weight: str | None = None,
    **options: Any,
) -> tuple[RankingAccumulator, Columns]:
    """The accumulator of a call, which may be given as metrics, and the columns that it names."""
    for name in _GONE.keys() & options.keys():
        raise TypeError(f"there is no option {name}= any more: {_GONE[name]}.")
    systems: dict[Systems, str] = {(): score}  # type: ignore[dict-item]
    if isinstance(score, Mapping):
        check_system_names("score", score)
        systems = {(name,): column for name, column in score.items()}
    if not isinstance(metrics, RankingAccumulator):
        metrics = RankingAccumulator(metrics, **options)
    elif any(value is not None for value in options.values()):
        raise ValueError("pass like=, by=, n_jobs= and options to the RankingAccumulator itself.")
    ids = [groups] if isinstance(groups, str) else list(groups)
    names = [label, *systems.values(), *ids, weight or ""]
    if not ids or not all(isinstance(name, str) for name in names):
        raise TypeError(f"label, score, groups and weight are names of columns; got {names}.")
    return metrics, Columns(label, systems, ids, weight, metrics.by)


def plain_table(batch: Any, columns: Columns, place: str, row: int = 0) -> Any:
    """The columns of a batch as numbers and text; refuse missing values, and name their row."""
    columns.check(batch.schema.names, place)
    table = pa.table({name: _plain(batch[name]) for name in columns.distinct})
    for name in columns.required:
        is_missing = pc.is_null(table[name], nan_is_null=True)
        if pc.any(is_missing).as_py():
            raise ValueError(
                f"{place}, row {row + pc.index(is_missing, True).as_py()} (counted from 0): column "
                f"{name!r} has a missing value. Drop or fill it first."
            )
    return table


def _plain(column: Any) -> Any:
    """A column of values in place of a dictionary."""
    kind = _plain_type(column.type)
    if pa.types.is_dictionary(column.type):  # Arrow cannot cast those of polars
        return column.dictionary.cast(kind).take(column.indices)
    return column.cast(kind)


def _plain_type(kind: Any) -> Any:
    """The type without a dictionary, and one for all text, whose length has no limit."""
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    name = str(kind).removesuffix("_view")
    return pa.type_for_alias(f"large_{name}") if name in ("string", "binary") else kind


class NotSortedError(ValueError):
    """The rows of a stream are not sorted by query."""


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
    order = pc.sort_indices(queries, [(name, "ascending") for name in names]).to_numpy()
    moved = order != np.arange(len(order))
    if moved.any():
        row = int(order[moved.argmax()])
        raise NotSortedError(
            f"the stream is not sorted by query: {_shown_id(queries[row:])} comes after "
            f"{_shown_id(queries[row - 1 :])}. Sort the rows by query id in ascending order, or "
            "write them to Parquet files for evaluate_parquet."
        )
    return table, starts


def _shown_id(rows: Any) -> str:
    """The query id of the first of some rows."""
    values = tuple(rows[:1].to_pylist()[0].values())
    return shown(values[0] if len(values) == 1 else values)


def add_sorted(
    run: RankingAccumulator, tables: Iterable[Any], columns: Columns
) -> RankingAccumulator:
    """Rank all queries of tables that are sorted by query."""
    for table, starts in whole_queries(tables, columns.ids):
        _add_queries(run, table, starts, columns)
    return run


def _add_queries(run: RankingAccumulator, table: Any, starts: Array, columns: Columns) -> None:
    """Rank queries; an error names the query, and leaves others behind in `run`."""
    try:
        ids = [column.to_numpy() for column in table.select(columns.ids).take(starts).columns]
        names = ids[0] if len(ids) == 1 else as_objects(list(zip(*map(list, ids), strict=True)))
        sizes = np.diff(starts, append=table.num_rows)
        options: dict[str, Any] = {"groups": Grouping(names, starts, sizes)}
        if columns.weight is not None:
            options["sample_weight"] = _numbers(table[columns.weight])
        label = _numbers(table[columns.label])
        queries = {
            systems: read_queries(label, _numbers(table[name]), allow_zero_weights=True, **options)
            for systems, name in columns.systems.items()
        }
        run._add(queries, {name: _segments(name, table[name], starts) for name in columns.by})
    except (TypeError, ValueError) as error:
        if len(starts) == 1:
            kind = ValueError if isinstance(error, ValueError) else TypeError
            raise kind(f"query {_shown_id(table.select(columns.ids))}: {error}") from error
        first, second = np.array_split(starts, 2)
        _add_queries(run, table[: second[0]], first, columns)
        _add_queries(run, table[second[0] :], second - second[0], columns)
        raise


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


def query_columns(columns: Columns, names: list[str]) -> list[str]:
    """Names of the values of queries: metrics, after the name of one of several systems."""
    return [" ".join([*systems, name]) for systems in columns.systems for name in names]


def query_values(
    empty: RankingAccumulator, tables: Iterable[Any], columns: Columns
) -> Iterator[Any]:
    """Tables of query ids and the values of metrics."""
    for table, starts in whole_queries(tables, columns.ids):
        run = empty._empty()
        _add_queries(run, table, starts, columns)
        ((_, values),) = run._state.values
        of_queries = table.select(columns.of_queries).take(starts)
        for (systems, name), column in values.items():
            of_queries = of_queries.append_column(" ".join([*systems, name]), [column])
        yield of_queries


def add_files(
    empty: RankingAccumulator, path: Any, columns: Columns, memory_limit: str | None, **bar: Any
) -> RankingAccumulator:
    """Rank all queries of Parquet files, which are read again and sorted if they are not."""
    from tqdm import tqdm

    fragments, schema = _open_files(path, columns)
    n_rows = sum(fragment.count_rows() for fragment in fragments)
    sort = partial(_add_unsorted, schema=schema, memory_limit=memory_limit)

    def attempt(add: Any) -> RankingAccumulator:
        with tqdm(total=n_rows, **bar, **BAR) as shown_bar:
            tables = _read_files(fragments, schema, columns, shown_bar)
            return add(empty._empty(), tables, columns)  # type: ignore[no-any-return]

    try:
        return attempt(add_sorted)
    except NotSortedError:
        pass
    try:
        return attempt(sort)
    except (TypeError, ValueError):  # again, for an error that names the query
        return attempt(partial(sort, by_hash=False))


def _open_files(path: Any, columns: Columns) -> tuple[list[Any], Any]:
    """Files, and a schema for all; the names of folders define further columns, which are text."""
    from fsspec.core import url_to_fs

    names: set[str] = set()
    for pattern in [path] if isinstance(path, str | os.PathLike) else path:
        filesystem, plain = url_to_fs(os.fspath(pattern))
        matches = filesystem.glob(plain)
        inside = [name for match in matches for name in filesystem.find(match)]
        names |= {name for name in inside if name in matches or name.endswith(".parquet")}
    if not names:
        raise FileNotFoundError(
            f"there is no Parquet file {path}; those of a folder are *.parquet."
        )
    local = "file" in filesystem.protocol
    opened = fs.LocalFileSystem() if local else fs.PyFileSystem(fs.FSSpecHandler(filesystem))
    reading = ds.ParquetFragmentScanOptions(page_checksum_verification=True, pre_buffer=False)
    parquet = ds.ParquetFileFormat(default_fragment_scan_options=reading)
    fragments, schema = [], pa.schema([])
    for name in sorted(names):
        with _errors_naming(name):
            of_file = parquet.make_fragment(name, opened).physical_schema
            missing = [(c, pa.string()) for c in columns.distinct if c not in of_file.names]
            of_folders = ds.partitioning(pa.schema(missing), flavor="hive").parse(name)
            keys = ds.get_partition_keys(of_folders)
            fields = [*of_file, *(pa.field(column, pa.string()) for column in keys)]
            columns.check([field.name for field in fields], name)
            used = [(f.name, _plain_type(f.type)) for f in fields if f.name in columns.distinct]
            schema = pa.unify_schemas([schema, pa.schema(used)], promote_options="permissive")
            fragments.append(parquet.make_fragment(name, opened, of_folders))
    return fragments, schema


@contextmanager
def _errors_naming(path: str) -> Iterator[None]:
    try:
        yield
    except (OSError, UnicodeError, pa.ArrowException) as error:
        raise ValueError(f"{path} cannot be read: {error}") from error


def _read_files(
    fragments: list[Any], schema: Any, columns: Columns, progress: Any
) -> Iterator[Any]:
    """The rows of all files, in one schema."""
    reading: dict[str, Any] = {"batch_size": ROWS_READ, "batch_readahead": 2, "use_threads": False}
    for fragment in fragments:
        row = 0
        with _errors_naming(fragment.path):
            for batch in fragment.to_batches(schema, columns.distinct, **reading):
                yield plain_table(batch, columns, fragment.path, row)
                row += batch.num_rows
                progress.update(batch.num_rows)


def _add_unsorted(
    run: RankingAccumulator,
    tables: Iterable[Any],
    columns: Columns,
    *,
    schema: Any,
    memory_limit: str | None,
    by_hash: bool = True,
) -> RankingAccumulator:
    """Rank the rows of tables as DuckDB sorts them, within its memory and a temporary folder."""
    import duckdb

    sql = {name: '"' + name.replace('"', '""') + '"' for name in columns.distinct}
    types = [*((name, schema.field(name).type) for name in sql), (ROW, pa.int64())]
    failures: list[BaseException] = []

    def rows() -> Iterator[Any]:
        n = 0
        try:
            for table in tables:
                numbers = pa.array(np.arange(n, n := n + table.num_rows))
                yield from table.append_column(ROW, numbers).to_batches()
        except BaseException as error:  # of which DuckDB repeats the message only
            failures.append(error)
            raise

    of_text = any(str(schema.field(name).type).startswith("large_") for name in columns.ids)
    if by_hash and of_text and not run.per_query:  # in a fifth of the time
        ids = [sql[name] for name in columns.ids]
        salted = [f"'x' || {name}::varchar" for name in ids]
        sql |= {f"hash {i}": f"hash({', '.join(of)})" for i, of in enumerate((ids, salted))}
        columns = replace(columns, ids=["hash 0", "hash 1"])
    by_order = any(metric.ties in ("stable", "reversed") for metric in run._resolved.values())
    order = [*(sql[name] for name in columns.ids), *([f'"{ROW}"'] if by_order else [])]
    selected = [sql[name] for name in columns.distinct]
    with tempfile.TemporaryDirectory(prefix="rankscore-") as folder:
        config: dict[str, Any] = {"temp_directory": folder, "preserve_insertion_order": False}
        config |= {} if memory_limit is None else {"memory_limit": memory_limit}
        with duckdb.connect(config=config) as connection:
            connection.execute("set enable_progress_bar = false")  # it would print to stdout
            reader = pa.RecordBatchReader.from_batches(pa.schema(types), rows())
            connection.register("documents", reader)
            query = f"select {', '.join(selected)} from documents order by {', '.join(order)}"
            try:
                batches = pa.RecordBatchReader.from_stream(connection.sql(query))
                sorted_rows = (
                    pa.Table.from_arrays(batch.columns, names=columns.distinct) for batch in batches
                )
                return add_sorted(run, sorted_rows, columns)
            except Exception as error:
                if failures:
                    raise failures[0] from None
                if str(error) == "Query interrupted":  # what DuckDB makes of Ctrl-C
                    raise KeyboardInterrupt from None
                raise
