"""Documents of Arrow streams and Parquet files: sorted by query, ranked, and summed up."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from .._typing import Array, Library
from .._validation import check_flag, check_system_names, installed, shown
from ..metrics.evaluate import Metrics
from ..query_ids import Grouping
from ..query_ids.read import as_objects
from ..ranking import read_queries
from .accumulator import RankingAccumulator, StreamedScores, Systems, segment_values

Paths: TypeAlias = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]

# rows ranked at a time: enough that queries of similar length fill a block, in a few megabytes
BATCH_ROWS = 2**20
ROWS_READ = 2**17

BAR: dict[str, Any] = {"unit": "row", "unit_scale": True, "delay": 1}

# one type for all text, whose length has no limit
LARGE = {"string": "large_string", "string_view": "large_string"}
LARGE |= {"binary": "large_binary", "binary_view": "large_binary"}

_AGAIN = "an interrupted run starts again"
_GONE = {
    "group": "groups= names the columns of query ids",
    "order": "rows of files may have any order, and batches are sorted by query",
    "batch_rows": "its size has no effect on the result",
    "filesystem": "name a file by its URI, such as 's3://bucket/scores/*.parquet'",
    **dict.fromkeys(("checkpoint", "checkpoint_seconds", "checkpoint_wait"), _AGAIN),
}


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
        names = [*self.ids, *self.systems.values(), self.weight]
        return list(dict.fromkeys(name for name in names if name is not None))

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
                count = f"{known.count(name)} columns" if name in known else "no column"
                raise ValueError(
                    f"{place} has {count} {name!r}; it has {', '.join(map(str, known))}."
                )


def read_options(
    metrics: Metrics | RankingAccumulator,
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
    if isinstance(score, Mapping):
        check_system_names("score", score)
        systems: dict[Systems, str] = {(name,): column for name, column in score.items()}
    else:
        systems = {(): score}
    if not isinstance(metrics, RankingAccumulator):
        metrics = RankingAccumulator(metrics, **options)
    elif any(value is not None for value in options.values()):
        raise ValueError("pass like=, by=, n_jobs= and options to the RankingAccumulator itself.")
    ids = [groups] if isinstance(groups, str) else list(groups)
    names = [label, *systems.values(), *ids, *([] if weight is None else [weight])]
    if not ids or not all(isinstance(name, str) for name in names):
        raise TypeError(f"label, score, groups and weight are names of columns; got {names}.")
    return metrics, Columns(label, systems, ids, weight, metrics.by)


def plain_table(batch: Any, columns: Columns, place: str, row: int = 0) -> Any:
    """The columns of a batch as numbers and text; refuse missing values, and name their row."""
    import pyarrow as pa
    import pyarrow.compute as pc

    columns.check(batch.schema.names, place)
    table = pa.table({name: _decoded(batch[name]) for name in columns.distinct})
    for name in columns.required:
        is_missing = pc.is_null(table[name], nan_is_null=True)
        if pc.any(is_missing).as_py():
            raise ValueError(
                f"{place}, row {row + pc.index(is_missing, True).as_py()} (counted from 0): column "
                f"{name!r} has a missing value. Drop or fill it first."
            )
    return table.cast(pa.schema(map(_without_codes, table.schema)))


def _decoded(column: Any) -> Any:
    """Categories of polars as text, which Arrow cannot do; other columns unchanged."""
    import pyarrow as pa

    if not isinstance(column, pa.DictionaryArray) or column.type.value_type != pa.string_view():
        return column
    return column.dictionary.cast("large_string").take(column.indices)


def _without_codes(field: Any) -> Any:
    """A field of values in place of a dictionary, in one type for all text."""
    import pyarrow as pa

    kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
    return pa.field(field.name, LARGE.get(str(kind), kind))


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
    import pyarrow as pa
    import pyarrow.compute as pc

    table = pa.concat_tables(tables, promote_options="permissive").combine_chunks()
    ids = table.select(names)
    differ = [pc.not_equal(column[1:], column[:-1]).to_numpy() for column in ids.columns]
    starts = np.flatnonzero(np.append(True, np.logical_or.reduce(differ)))
    queries = ids.take(starts)
    order = pc.sort_indices(queries, [(name, "ascending") for name in names]).to_numpy()
    moved = order != np.arange(len(order))
    if moved.any():
        row = int(order[moved.argmax()])
        before, after = (_shown_id(rows) for rows in (queries[row - 1 :], queries[row:]))
        raise NotSortedError(
            f"the stream is not sorted by query: {after} comes after {before}. Sort the rows by "
            "query id in ascending order, or write them to Parquet files for evaluate_parquet."
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
    import pyarrow as pa

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
    return segment_values(name, column.take(starts), len(starts))


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


def evaluate_batches(
    batches: Any,
    metrics: Metrics | RankingAccumulator,
    *,
    label: str = "label",
    score: str | Mapping[str, str] = "score",
    groups: str | Sequence[str] = "qid",
    weight: str | None = None,
    by: str | Sequence[str] | None = None,
    like: Library | None = None,
    n_jobs: int | None = None,
    **options: Any,
) -> StreamedScores:
    """Compute ranking metrics over batches of rows that are sorted by query.

    Batches may end within a query; memory holds a million rows and the incomplete query. Requires
    pyarrow.

    Parameters
    ----------
    batches : Arrow stream, or iterable of tables
        Any object with the method ``__arrow_c_stream__``, such as a result of DuckDB, a
        ``pyarrow.RecordBatchReader`` or a table of polars; or an iterable of such tables, Arrow
        record batches and pandas DataFrames. Query ids ascend over the whole stream.
    metrics : str, callable, iterable of them, or RankingAccumulator
        As in `evaluate_parquet`.
    label, score, groups, weight, by, like, n_jobs, **options
        As in `evaluate_parquet`.

    Returns
    -------
    StreamedScores
        As in `evaluate_parquet`.

    Raises
    ------
    ValueError
        If the rows are not sorted by query, if a column is missing or has missing values, and for
        any input that `evaluate` refuses. An error names the batch and the row, counted from 0, or
        the query.
    TypeError
        If `batches` is neither a stream nor an iterable of tables, or if a column has types in two
        batches that have none in common.

    See Also
    --------
    evaluate_parquet : Parquet files, whose rows may be in any order.

    Examples
    --------
    >>> import pyarrow
    >>> from sklearn_rankscore import evaluate_batches
    >>> first = pyarrow.table({"qid": [1, 1], "label": [0, 1], "score": [0.5, 0.2]})
    >>> second = pyarrow.table({"qid": [1, 2], "label": [0, 1], "score": [0.1, 0.3]})
    >>> evaluate_batches(iter([first, second]), "mrr")
    {'mrr': 0.75}
    """
    read = installed("pyarrow", "evaluate_batches").RecordBatchReader.from_stream
    options |= {"label": label, "score": score, "groups": groups, "weight": weight}
    accumulator, columns = read_options(metrics, by=by, like=like, n_jobs=n_jobs, **options)
    streams = [batches] if hasattr(batches, "__arrow_c_stream__") else batches
    numbered = enumerate(batch for stream in streams for batch in read(stream))
    tables = (plain_table(batch, columns, f"batch {i}") for i, batch in numbered)
    return _added(accumulator, add_sorted(accumulator._empty(), tables, columns))


def _added(accumulator: RankingAccumulator, run: RankingAccumulator) -> StreamedScores:
    """Add a run to the accumulator that was given, unless an error leaves it unchanged."""
    scores = StreamedScores(copy(accumulator).merge(run))
    accumulator.merge(run)
    return scores


def evaluate_parquet(
    path: Paths,
    metrics: Metrics | RankingAccumulator,
    *,
    label: str = "label",
    score: str | Mapping[str, str] = "score",
    groups: str | Sequence[str] = "qid",
    weight: str | None = None,
    by: str | Sequence[str] | None = None,
    like: Library | None = None,
    memory_limit: str | None = None,
    progress: bool | None = None,
    n_jobs: int | None = None,
    **options: Any,
) -> StreamedScores:
    """Compute ranking metrics over Parquet files that are larger than memory.

    Rows may be in any order. If they are not sorted by query, DuckDB sorts them, partly on disk: in
    a temporary folder, where ``TMPDIR`` is, which is deleted at the end. Nothing else is written.

    Parameters
    ----------
    path : str, path-like or list of them
        A file, a folder, of which all files ``*.parquet`` are read, a pattern such as
        ``"scores/*.parquet"``, or a list of them. A URI such as ``s3://…`` is opened by fsspec. A
        folder ``country=de`` in a path is a column "country" of its files.
    metrics : str, callable, iterable of them, or RankingAccumulator
        As in `evaluate`; or an accumulator, to which all queries are added, and whose own `by` and
        options count. If an error is raised, it is not changed.
    label : str
        Name of the column of relevance.
    score : str or dict of str to str
        Name of the column of scores; for several systems, a dict from their names to the columns.
    groups : str or list of str
        Name of the column of query ids, or of several columns that together identify a query.
    weight : str, default=None
        Name of the column of query weights, constant within each query.
    by : str or list of str, default=None
        Names of columns that define segments, constant within each query: strings, or at most ten
        distinct numbers.
    like : str, default=None
        Library whose conventions to use, as in `evaluate`.
    memory_limit : str, default=None
        The memory of DuckDB, such as ``"1GB"``, beside which a few hundred megabytes are needed.
        None is its default, 80 % of the memory of the machine.
    progress : bool, default=None
        Whether to show a progress bar of tqdm, which appears after a second; None shows it on a
        terminal.
    n_jobs : int, default=None
        Number of threads for the metrics; None means 1 unless in a joblib context.
    **options
        Options of the metrics, as in `evaluate`; `average` is ``"macro"`` or ``"micro"``.

    Returns
    -------
    StreamedScores
        A dict of the value of each metric under its name, as `evaluate` returns it, whose
        `summaries` have standard errors and intervals; with `by`, a dict of such dicts for
        ``("", "all queries")`` and for each ``(column, value)``. For several systems each of these
        is a dict by system, and `differences` has the paired differences.

    Raises
    ------
    ValueError
        If a file cannot be read or is damaged, if a column is missing or has missing values, and
        for any input that `evaluate` refuses. An error names the file and the row, counted from 0,
        or the query.
    TypeError
        If `path` is not a path, or a column has types in two files that have none in common.

    See Also
    --------
    evaluate_batches : The same for streams that are sorted by query.
    RankingAccumulator : Collects the results of several calls.

    Notes
    -----
    Sorted rows keep their order, and with ``ties="stable"`` and ``"reversed"`` others do as well.
    Text is sorted by a hash value of 128 bits.

    Examples
    --------
    >>> import pyarrow, pyarrow.parquet, tempfile
    >>> from sklearn_rankscore import evaluate_parquet
    >>> columns = {"qid": [1, 2, 1, 1, 2], "label": [2, 0, 0, 1, 1], "score": [3, 9, 2, 1, 4]}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pyarrow.parquet.write_table(pyarrow.table(columns), f"{folder}/part.parquet")
    ...     scores = evaluate_parquet(folder, ["mrr", "precision@2"])
    >>> scores
    {'mrr': 0.75, 'precision@2': 0.5}
    >>> scores.summaries["mrr"].standard_error
    0.25
    """
    for library in ("pyarrow", "fsspec", "duckdb", "tqdm"):
        installed(library, "evaluate_parquet")
    from tqdm import tqdm

    options |= {"label": label, "score": score, "groups": groups, "weight": weight}
    accumulator, columns = read_options(metrics, by=by, like=like, n_jobs=n_jobs, **options)
    fragments, schema = _open_files(path, columns)
    n_rows = sum(fragment.count_rows() for fragment in fragments)
    disable = None if progress is None else not check_flag("progress", progress)

    def attempt(add: Callable[..., RankingAccumulator]) -> RankingAccumulator:
        with tqdm(total=n_rows, disable=disable, **BAR) as bar:
            tables = _read_files(fragments, schema, columns, bar.update)
            return add(accumulator._empty(), tables, columns)

    sort = partial(_sort_and_add, schema=schema, memory_limit=memory_limit)
    try:
        run = attempt(add_sorted)
    except NotSortedError:
        try:
            run = attempt(sort)
        except (TypeError, ValueError):  # again, for an error that names the query
            run = attempt(partial(sort, by_hash=False))
    return _added(accumulator, run)


def _open_files(path: Paths, columns: Columns) -> tuple[list[Any], Any]:
    """Files, and a schema for all; the names of folders define further columns, which are text."""
    import pyarrow as pa
    import pyarrow.dataset as ds
    from fsspec.core import url_to_fs
    from pyarrow import fs

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
    for name in sorted(names, key=_by_numbers):
        with _errors_naming(name):
            of_file = parquet.make_fragment(name, opened).physical_schema
            missing = [(c, pa.string()) for c in columns.distinct if c not in of_file.names]
            of_folders = ds.partitioning(pa.schema(missing), flavor="hive").parse(name)
            keys = ds.get_partition_keys(of_folders)
            fields = [*of_file, *(pa.field(column, pa.string()) for column in keys)]
            columns.check([field.name for field in fields], name)
            used = [_without_codes(field) for field in fields if field.name in columns.distinct]
            schema = pa.unify_schemas([schema, pa.schema(used)], promote_options="permissive")
            fragments.append(parquet.make_fragment(name, opened, of_folders))
    return fragments, schema


def _by_numbers(path: str) -> list[Any]:
    return [int(part) if part.isdigit() else part for part in re.split("([0-9]+)", path)]


@contextmanager
def _errors_naming(path: str) -> Iterator[None]:
    import pyarrow as pa

    try:
        yield
    except (OSError, pa.ArrowException) as error:
        raise ValueError(f"{path} cannot be read: {error}") from error


def _read_files(
    fragments: list[Any], schema: Any, columns: Columns, progress: Callable[[int], object]
) -> Iterator[Any]:
    """The rows of all files, in one schema."""
    reading: dict[str, Any] = {"batch_size": ROWS_READ, "batch_readahead": 2, "use_threads": False}
    for fragment in fragments:
        row = 0
        with _errors_naming(fragment.path):
            for batch in fragment.to_batches(schema, columns.distinct, **reading):
                yield plain_table(batch, columns, fragment.path, row)
                row += batch.num_rows
                progress(batch.num_rows)


def _sort_and_add(
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
    import pyarrow as pa

    names = {name: f"c{i}" for i, name in enumerate(columns.distinct)}  # need no quotes
    failures: list[BaseException] = []

    def rows() -> Iterator[Any]:
        n = 0
        try:
            for table in tables:
                numbers = pa.array(np.arange(n, n := n + table.num_rows))
                table = table.append_column("n", numbers).rename_columns([*names.values(), "n"])
                yield from table.to_batches()
        except BaseException as error:  # of which DuckDB repeats the message only
            failures.append(error)
            raise

    ids = [names[name] for name in columns.ids]
    of_text = any(str(schema.field(name).type).startswith("large_") for name in columns.ids)
    if by_hash and of_text and not run.per_query:  # in a fifth of the time
        others = [f"'x' || {name}::varchar" for name in ids]
        names |= {f"hash {i}": f"hash({', '.join(of)})" for i, of in enumerate((ids, others))}
        columns = replace(columns, ids=["hash 0", "hash 1"])
    by_order = any(metric.ties in ("stable", "reversed") for metric in run._resolved.values())
    order = [*(names[name] for name in columns.ids), *(["n"] if by_order else [])]
    selected = [names[name] for name in columns.distinct]
    types = [schema.field(name).with_name(names[name]) for name in names if name in schema.names]
    whole = pa.schema([*types, ("n", pa.int64())])
    with tempfile.TemporaryDirectory(prefix="rankscore-") as folder:
        config: dict[str, Any] = {"temp_directory": folder, "preserve_insertion_order": False}
        config |= {} if memory_limit is None else {"memory_limit": memory_limit}
        with duckdb.connect(config=config) as connection:
            connection.execute("set enable_progress_bar = false")  # it would print to stdout
            connection.register("documents", pa.RecordBatchReader.from_batches(whole, rows()))
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
