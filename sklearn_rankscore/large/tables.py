"""Documents of Arrow streams and Parquet files: sorted by query, ranked, and summed up."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import Any, TypeAlias
from urllib.parse import unquote

import numpy as np

from .._typing import Array, Library
from .._validation import check_system_names, installed, shown
from ..metrics.evaluate import Metrics
from ..query_ids import Grouping
from ..query_ids.read import as_objects
from ..ranking import Queries, read_queries
from .accumulator import RankingAccumulator, StreamedScores, Systems, segments_of

Paths: TypeAlias = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]

# rows ranked at a time: enough that queries of similar length fill a block, in a few megabytes
BATCH_ROWS = 2**20
ROWS_READ = 2**17

_AGAIN = "an interrupted run starts again, because it reads some ten million rows per second"
_GONE = {
    "group": "groups= names the columns of query ids",
    "order": "rows of files may have any order; sort batches by query, or write them to files",
    "batch_rows": "its size has no effect on the result",
    "filesystem": "name a file by its URI, such as 's3://bucket/scores/*.parquet', which fsspec "
    "opens with the credentials of its configuration",
    **dict.fromkeys(("checkpoint", "checkpoint_seconds", "checkpoint_wait"), _AGAIN),
}


def refuse_gone(options: Mapping[str, Any]) -> None:
    """Refuse options of earlier versions, with what takes their place."""
    for name in options:
        if name in _GONE:
            raise TypeError(f"there is no option {name}= any more: {_GONE[name]}.")


@dataclass(frozen=True)
class Columns:
    """Names of the columns of a table of documents; those of `by` hold segments."""

    label: str = "label"
    score: str | Mapping[str, str] = "score"
    groups: str | Sequence[str] = "qid"
    weight: str | None = None
    by: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if isinstance(self.score, Mapping):
            check_system_names("score", self.score)
        names = [self.label, *self.systems.values(), *self.ids, *filter(None, [self.weight])]
        if wrong := [name for name in names if not isinstance(name, str)]:
            raise TypeError(
                f"label, score, groups and weight name columns; got {shown(wrong[0]):.60}. Several "
                "systems are a dict, score={'a': 'column of a', 'b': 'column of b'}."
            )
        if not self.ids or len(set(self.ids)) < len(self.ids):
            raise ValueError(f"groups must be a column or a list of distinct ones; got {self.ids}.")

    @property
    def systems(self) -> dict[Systems, str]:
        """The column of scores of each system; () is one without a name."""
        if isinstance(self.score, Mapping):
            return {(name,): column for name, column in self.score.items()}
        return {(): self.score}

    @property
    def ids(self) -> list[str]:
        """The columns that together identify a query."""
        is_list = isinstance(self.groups, Sequence) and not isinstance(self.groups, str)
        return list(self.groups) if is_list else [self.groups]  # type: ignore[list-item]

    @property
    def required(self) -> list[str]:
        """The columns without missing values: a missing label means that nobody judged."""
        names = [*self.ids, *self.systems.values(), self.weight]
        return list(dict.fromkeys(name for name in names if name is not None))

    @property
    def distinct(self) -> list[str]:
        """The columns to read."""
        return list(dict.fromkeys([*self.required, self.label, *self.by]))

    def check(self, available: Iterable[Any], place: str) -> None:
        """Refuse a name that is not a column, or that of several."""
        known = list(available)
        for name in self.distinct:
            if known.count(name) != 1:
                count = f"{known.count(name)} columns" if name in known else "no column"
                raise ValueError(
                    f"{place} has {count} {name!r}; it has {', '.join(map(str, known))}."
                )

    def check_values(self, accumulator: RankingAccumulator) -> None:
        """Refuse a table of the values of queries that has no columns, or two of one name."""
        if accumulator.by:
            raise ValueError("query_scores has no by=: join the column of segments to its result.")
        if () not in self.systems:
            raise ValueError("query_scores takes one system: call it for each of them.")
        known = set(map(str.lower, accumulator.names))  # Spark ignores case
        if clash := [name for name in self.ids if name.lower() in known]:
            raise ValueError(
                f"the column of query ids has the name of a metric, {clash[0]!r}. Rename it first."
            )


def pop_columns(options: dict[str, Any]) -> Columns:
    """The names given among keyword arguments, from which they are removed."""
    refuse_gone(options)
    names = ("label", "score", "groups", "weight")
    return Columns(**{name: options.pop(name) for name in names if name in options})


@dataclass(frozen=True)
class Documents:
    """Documents of whole queries, from a table in which the rows of each query are adjacent.

    Parameters
    ----------
    columns : Columns
        Names of the columns.
    table : pyarrow.Table
        The rows.
    starts : int array of shape (n_queries,)
        The first row of each query.
    """

    columns: Columns
    table: Any
    starts: Array

    @property
    def ids(self) -> Any:
        """A table of the ids of the queries."""
        return self.table.select(self.columns.ids).take(self.starts)

    def add_to(
        self, accumulator: RankingAccumulator, name_of: Callable[..., str] | None = None
    ) -> None:
        """Rank the documents; an error names the query, by a function of its ids if given."""
        try:
            self._add_to(accumulator)
        except (TypeError, ValueError) as error:
            fine, bad = 0, len(self.starts)
            while bad - fine > 1:
                middle = (fine + bad) // 2
                part = self.table[: self.starts[middle]], self.starts[:middle]
                try:
                    Documents(self.columns, *part)._add_to(accumulator._empty())
                except (TypeError, ValueError):
                    bad = middle
                else:
                    fine = middle
            kind = ValueError if isinstance(error, ValueError) else TypeError
            query = self.ids[bad - 1 : bad].to_pylist()[0].values()
            name = _shown_id(*query) if name_of is None else name_of(*query)
            raise kind(f"query {name}: {error}") from error

    def values(self, accumulator: RankingAccumulator) -> Any:
        """A table of ids and the values of metrics."""
        self.add_to(accumulator)
        ((_, values),) = accumulator._state.values
        table = self.ids
        for (_, name), column in values.items():
            table = table.append_column(name, [column])
        return table

    def _add_to(self, accumulator: RankingAccumulator) -> None:
        ids = [column.to_numpy() for column in self.ids.columns]
        names = ids[0] if len(ids) == 1 else as_objects(list(zip(*map(list, ids), strict=True)))
        sizes = np.diff(self.starts, append=self.table.num_rows)
        grouping = Grouping(names, self.starts, sizes)
        options: dict[str, Any] = {"groups": grouping, "allow_zero_weights": True}
        if self.columns.weight is not None:
            options["sample_weight"] = _numbers(self.table[self.columns.weight])
        labels = _numbers(self.table[self.columns.label])
        queries: dict[Systems, Queries] = {
            systems: read_queries(labels, _numbers(self.table[name]), **options)
            for systems, name in self.columns.systems.items()
        }
        segments = {name: self._segments(name) for name in self.columns.by}
        accumulator._add(queries, segments)

    def _segments(self, name: str) -> Array:
        """The segment of each query."""
        codes = self.table[name].combine_chunks().dictionary_encode("encode").indices.to_numpy()
        changes = codes[1:] != codes[:-1]
        changes[self.starts[1:] - 1] = False
        if changes.any():
            raise ValueError(f"segments must be constant within each query; {name!r} varies.")
        numbers = np.arange(len(self.starts))
        rows = Grouping(numbers, numbers, np.ones_like(numbers))
        return segments_of(name, self.table[name].take(self.starts), rows)


def _shown_id(*values: Any) -> str:
    return shown(values[0]) if len(values) == 1 else shown(values)


def _numbers(column: Any) -> Array:
    """A column of numbers, in which a missing label is NaN."""
    import pyarrow as pa

    if column.null_count or pa.types.is_decimal(column.type):
        column = column.cast(pa.float64())
    return np.asarray(column.to_numpy())


class NotSortedError(ValueError):
    """The rows of a stream are not sorted by query."""


def whole_queries(
    batches: Iterable[Any], columns: Columns, *, ascending: bool = True
) -> Iterator[Documents]:
    """Documents of whole queries, from Arrow tables that may end within one."""
    waiting: list[Any] = []
    n_new = 0
    for batch in batches:
        waiting.append(batch)
        n_new += batch.num_rows
        if n_new >= BATCH_ROWS:
            table, starts = _joined(waiting, columns, ascending=ascending)
            if len(starts) > 1:  # the last query may continue
                yield Documents(columns, table[: starts[-1]], starts[:-1])
            waiting, n_new = [table[starts[-1] :]], 0
    if sum(part.num_rows for part in waiting):
        yield Documents(columns, *_joined(waiting, columns, ascending=ascending))


def partition_documents(batches: Iterable[Any], columns: Columns) -> Iterator[Documents]:
    """Documents of a partition of a cluster, whose rows it has sorted."""
    plain = (plain_batch(batch, columns, "a partition") for batch in batches)
    return whole_queries(plain, columns, ascending=False)


def _joined(tables: list[Any], columns: Columns, *, ascending: bool) -> tuple[Any, Array]:
    """One table, and the first row of each query."""
    import pyarrow as pa

    try:
        table = pa.concat_tables(tables, promote_options="permissive").combine_chunks()
    except pa.ArrowException as error:
        raise TypeError(f"the types of two batches have none in common ({error}).") from error
    differ = [_compared("not_equal", table[n][1:], table[n][:-1]) for n in columns.ids]
    starts = np.flatnonzero(np.append(True, np.logical_or.reduce(differ)))
    if ascending:
        _check_ascending(table.select(columns.ids).take(starts))
    return table, starts


def _compared(how: str, first: Any, second: Any) -> Array:
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        return np.asarray(getattr(pc, how)(first, second).to_numpy(), dtype=bool)
    except pa.ArrowNotImplementedError:
        raise TypeError(
            f"query ids cannot be of the Arrow type {first.type}. Convert them to text."
        ) from None


def _check_ascending(ids: Any) -> None:
    """Refuse a query that comes after a larger one, or comes back."""
    falls = np.zeros(ids.num_rows - 1, dtype=bool)
    for column in reversed(ids.columns):  # the first that differs decides
        later, earlier = column[1:], column[:-1]
        falls = _compared("less", later, earlier) | (_compared("equal", later, earlier) & falls)
    if falls.any():
        row = int(falls.argmax())
        before, after = (_shown_id(*of.values()) for of in ids[row : row + 2].to_pylist())
        raise NotSortedError(
            f"the stream is not sorted by query: {after} comes after {before}. Sort the rows by "
            "query id in ascending order, or write them to Parquet files for evaluate_parquet."
        )


def plain_batch(batch: Any, columns: Columns, place: str, row: int = 0) -> Any:
    """The columns of a batch as numbers and text; refuse missing values, and name their row."""
    import pyarrow as pa
    import pyarrow.compute as pc

    columns.check(batch.schema.names, place)
    batch = batch.select(columns.distinct)
    arrays = [_plain(column) for column in batch.columns]
    for name, column in zip(columns.distinct, arrays, strict=True):
        if name not in columns.required:
            continue
        is_missing = column.is_null(nan_is_null=True) if pa.types.is_floating(column.type) else None
        if column.null_count or (is_missing is not None and pc.any(is_missing).as_py()):
            first = pc.index(column.is_null(nan_is_null=True), True).as_py()
            fix = "; a document that was not retrieved has the score -inf"
            raise ValueError(
                f"{place}, row {row + first} (counted from 0): column {name!r} has a missing value."
                f" Drop or fill it first{fix if name in columns.systems.values() else ''}."
            )
    return pa.Table.from_arrays(arrays, names=columns.distinct)


def _plain(column: Any) -> Any:
    """An array without a dictionary, in one type for all text."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        values = _plain(column.dictionary)
        return pa.DictionaryArray.from_arrays(column.indices, values).dictionary_decode()
    types = {"string": pa.large_string(), "string_view": pa.large_string()}
    types |= {"binary": pa.large_binary(), "binary_view": pa.large_binary()}
    kind = types.get(str(column.type))
    return column if kind is None else column.cast(kind)


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
    installed("pyarrow", "evaluate_batches")
    accumulator = _accumulator_of(metrics, like, by, n_jobs, options)
    columns = Columns(label, score, groups, weight, accumulator.by)
    run = accumulator._empty()
    numbered = enumerate(_record_batches(batches))
    plain = (plain_batch(batch, columns, f"batch {i}") for i, batch in numbered)
    for documents in whole_queries(plain, columns):
        documents.add_to(run)
    return _added(accumulator, run)


def _accumulator_of(
    metrics: Metrics | RankingAccumulator, like: Any, by: Any, n_jobs: Any, options: dict[str, Any]
) -> RankingAccumulator:
    """The accumulator given as metrics, or one of the metrics."""
    refuse_gone(options)
    if not isinstance(metrics, RankingAccumulator):
        return RankingAccumulator(metrics, like=like, by=by, n_jobs=n_jobs, **options)
    if like is not None or by is not None or n_jobs is not None or options:
        raise ValueError("pass like=, by=, n_jobs= and options to the RankingAccumulator itself.")
    return metrics


def _added(accumulator: RankingAccumulator, run: RankingAccumulator) -> StreamedScores:
    """Add a run to the accumulator that was given, unless an error leaves it unchanged."""
    scores = StreamedScores(accumulator._empty().merge(accumulator).merge(run))
    accumulator.merge(run)
    return scores


def _record_batches(batches: Any) -> Iterator[Any]:
    """Arrow record batches of a stream, a table, or an iterable of tables."""
    import pyarrow as pa

    if hasattr(batches, "__arrow_c_stream__"):
        try:
            yield from pa.RecordBatchReader.from_stream(batches)
        except pa.ArrowInvalid as error:  # one column, or a type of one library only
            raise ValueError(
                f"pyarrow cannot read the Arrow stream of a {type(batches).__name__}: {error}."
            ) from error
    elif isinstance(batches, Iterable) and not isinstance(batches, str | bytes | Mapping):
        for batch in batches:
            if not hasattr(batch, "__arrow_c_stream__"):
                raise TypeError(_no_batches(batch))
            yield from _record_batches(batch)
    else:
        raise TypeError(_no_batches(batches))


def _no_batches(value: Any) -> str:
    return (
        "batches must be an Arrow stream, such as a result of DuckDB or a RecordBatchReader, or an "
        f"iterable of tables or record batches; got {type(value).__name__}. Collect lazy frames, "
        "for files use evaluate_parquet, and for arrays RankingAccumulator.update."
    )


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
    progress: bool | Callable[[int, int], object] | None = None,
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
    progress : bool or callable, default=None
        Whether to show a progress bar, which requires tqdm; None shows it on a terminal if tqdm is
        installed. A function is called with the number of rows that have been read and of all rows.
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
    for library in ("pyarrow", "fsspec", "duckdb"):
        installed(library, "evaluate_parquet")
    accumulator = _accumulator_of(metrics, like, by, n_jobs, options)
    columns = Columns(label, score, groups, weight, accumulator.by)
    files = ParquetFiles(_find_files(path), columns)
    try:
        run = accumulator._empty()
        with _progress(progress, files.n_rows) as read:
            for documents in whole_queries(files.batches(read), columns):
                documents.add_to(run)
    except NotSortedError:
        run = accumulator._empty()
        with _progress(progress, files.n_rows) as read:
            _add_sorted(files, run, memory_limit, read)
    return _added(accumulator, run)


@dataclass(frozen=True)
class ParquetFile:
    """A file, and the columns that its folders name; None is a missing value."""

    path: str
    filesystem: Any
    partition: dict[str, str | None]

    @contextmanager
    def opened(self) -> Iterator[Any]:
        """The file of pyarrow, whose errors name the path."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        is_local = "file" in self.filesystem.protocol
        try:
            with nullcontext(self.path) if is_local else self.filesystem.open(self.path) as source:
                options = {"page_checksum_verification": True, "pre_buffer": False}
                with pq.ParquetFile(source, **options) as file:
                    yield file
        except (OSError, pa.ArrowException) as error:
            if isinstance(error, FileNotFoundError | PermissionError):
                raise
            raise ValueError(f"{self.path} cannot be read: {error}") from error


class ParquetFiles:
    """Files whose columns have common types."""

    def __init__(self, files: list[ParquetFile], columns: Columns) -> None:
        import pyarrow as pa

        self.files, self.columns, self.n_rows = files, columns, 0
        self.schema: Any = pa.schema([])
        self.wide: set[str] = set()
        partition_types = _partition_types(files)
        for file in files:
            with file.opened() as opened:
                names, of_file = opened.schema_arrow.names, opened.schema_arrow.types
                types = partition_types | dict(zip(names, of_file, strict=True))
                columns.check([*names, *(file.partition.keys() - set(names))], file.path)
                self.n_rows += opened.metadata.num_rows
                self.wide |= set(columns.ids) - _narrow(opened.metadata)
            theirs = pa.schema([(n, _plain(pa.array([], types[n])).type) for n in columns.distinct])
            try:
                both = [self.schema, theirs]
                self.schema = pa.unify_schemas(both, promote_options="permissive")
            except pa.ArrowException as error:
                raise TypeError(
                    f"{file.path} has other types than the files before: {error}."
                ) from error

    def narrowed(self, name: str, column: str) -> str:
        """A column of ids in SQL, as integers of four bytes if all of them fit."""
        is_narrow = name not in self.wide and "int" in str(self.schema.field(name).type)
        return f"{column}::uinteger" if is_narrow else column

    def batches(self, progress: Callable[[int], object]) -> Iterator[Any]:
        """Tables of the rows of all files, in one schema."""
        for file in self.files:
            row = 0
            with file.opened() as opened:
                names = [n for n in self.columns.distinct if n in opened.schema_arrow.names]
                for batch in opened.iter_batches(batch_size=ROWS_READ, columns=names):
                    yield self._plain(batch, file, row)
                    row += batch.num_rows
                    progress(batch.num_rows)

    def reader(self, failures: list[BaseException], progress: Callable[[int], object]) -> Any:
        """The rows for DuckDB, which repeats the message of an error only, as c0, c1, ..., n."""
        import pyarrow as pa

        names = [*(f"c{i}" for i in range(len(self.schema))), "n"]

        def rows() -> Iterator[Any]:
            n = 0
            try:
                for table in self.batches(progress):
                    numbers = pa.array(np.arange(n, n := n + table.num_rows))
                    yield from table.append_column("n", numbers).rename_columns(names).to_batches()
            except Exception as error:
                failures.append(error)
                raise

        types = zip(names, [*self.schema.types, pa.int64()], strict=True)
        return pa.RecordBatchReader.from_batches(pa.schema(list(types)), rows())

    def _plain(self, batch: Any, file: ParquetFile, row: int) -> Any:
        import pyarrow as pa

        for name in self.columns.distinct:
            if name not in batch.schema.names:
                text = pa.array([file.partition[name]] * batch.num_rows, pa.string())
                batch = batch.append_column(name, text.cast(self.schema.field(name).type))
        return plain_batch(batch, self.columns, file.path, row).cast(self.schema)


def _narrow(metadata: Any) -> set[str]:
    """Columns of which the statistics say that all values fit into unsigned 32 bits."""
    fits: dict[str, bool] = {}
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        for column in map(group.column, range(group.num_columns)):
            name, of = column.path_in_schema, column.statistics
            is_narrow = False
            if of is not None and of.has_min_max and isinstance(of.min, int):
                is_narrow = of.min >= 0 and of.max < 2**32
            fits[name] = fits.get(name, True) and is_narrow
    return {name for name, is_narrow in fits.items() if is_narrow}


def _partition_types(files: list[ParquetFile]) -> dict[str, Any]:
    """The type of each column in paths: integers if all are, and without zeros in front."""
    import pyarrow as pa

    values: dict[str, set[str]] = {}
    for file in files:
        for name, value in file.partition.items():
            values.setdefault(name, set()).update([] if value is None else [value])
    are_integers = {
        name: all(re.fullmatch("0|-?[1-9][0-9]{0,17}", text) for text in texts)
        for name, texts in values.items()
    }
    return {name: pa.int64() if are else pa.large_string() for name, are in are_integers.items()}


def _find_files(path: Paths) -> list[ParquetFile]:
    """The files of paths, folders and patterns, with numbers in their names in order."""
    from fsspec.core import url_to_fs

    listed = [path] if isinstance(path, str | os.PathLike) else path
    if not isinstance(listed, Sequence) or not all(
        isinstance(p, str | os.PathLike) for p in listed
    ):
        raise TypeError(
            "path must be a file, a folder, a pattern or a list of them; got "
            f"{type(path).__name__}. For a table in memory use evaluate or evaluate_batches."
        )
    files: list[ParquetFile] = []
    for given in listed:
        one = os.fspath(given)
        filesystem, plain = url_to_fs(one)
        names = [plain]
        if filesystem.isdir(plain):
            names = [f for f in filesystem.find(plain) if str(f).endswith(".parquet")]
        elif not filesystem.exists(plain):
            names = [f for f in filesystem.glob(plain) if not filesystem.isdir(f)]
            if not names and not set(plain) & set("*?["):
                raise FileNotFoundError(f"there is no file or folder {one}.")
        if not names:
            raise ValueError(f"there are no Parquet files {one}; those of a folder are *.parquet.")
        files += [ParquetFile(f, filesystem, _partition(f)) for f in sorted(names, key=_natural)]
    if not files:
        raise ValueError("path is an empty list; name at least one file.")
    for i, file in enumerate(files):
        if file.path in {other.path for other in files[:i]}:
            raise ValueError(f"{file.path} is given twice, so that its rows would count twice.")
    return files


def _natural(path: str) -> list[Any]:
    return [int(part) if part.isdigit() else part for part in re.split("([0-9]+)", path)]


def _partition(path: str) -> dict[str, str | None]:
    """The columns in the folders of a path, as Hive and Spark write them."""
    pairs = (folder.split("=", 1) for folder in re.split(r"[/\\]", path)[:-1] if "=" in folder)
    values = {unquote(name): unquote(value) for name, value in pairs}
    return {n: None if v == "__HIVE_DEFAULT_PARTITION__" else v for n, v in values.items()}


# the others are sorted by two hash values, which takes a fifth of the time for text
_SORTED_BY_VALUE = ("int", "uint", "float", "double", "bool", "date", "time", "duration")


def _add_sorted(
    files: ParquetFiles,
    run: RankingAccumulator,
    memory_limit: str | None,
    progress: Callable[[int], object],
) -> None:
    """Rank the rows of files as DuckDB sorts them, within its memory and a temporary folder."""
    import pyarrow as pa

    duckdb, columns = installed("duckdb", "evaluate_parquet"), files.columns
    position = {name: f"c{i}" for i, name in enumerate(columns.distinct)}  # needs no quotes
    ids = [position[name] for name in columns.ids]
    kinds = [str(files.schema.field(name).type) for name in columns.ids]
    keys = {name: files.narrowed(name, position[name]) for name in columns.ids}
    name_of: Callable[..., str] | None = None
    if not (run.per_query or all(kind.startswith(_SORTED_BY_VALUE) for kind in kinds)):
        other = ", ".join(f"'x' || {c}::varchar" for c in ids)
        keys = {"hash 1": f"hash({', '.join(ids)})", "hash 2": f"hash({other})"}
        columns = replace(columns, groups=list(keys))

        def id_of(first_hash: int, _: int) -> str:
            with duckdb.connect() as connection:
                connection.execute("set enable_progress_bar = false")
                connection.register("documents", files.reader([], lambda n_rows: None))
                where = f"{keys['hash 1']} = {first_hash} limit 1"
                rows = connection.sql(f"select {', '.join(ids)} from documents where {where}")
                return _shown_id(*rows.fetchall()[0])

        name_of = id_of

    by_order = any(metric.ties in ("stable", "reversed") for metric in run._resolved.values())
    chosen = ", ".join(keys.get(name) or position[name] for name in columns.distinct)
    order = ", ".join([*keys.values(), *(["n"] if by_order else [])])
    failures: list[BaseException] = []
    with tempfile.TemporaryDirectory(prefix="rankscore-") as folder:
        config: dict[str, Any] = {"temp_directory": folder, "preserve_insertion_order": False}
        config |= {} if memory_limit is None else {"memory_limit": memory_limit}
        with duckdb.connect(config=config) as connection:
            connection.execute("set enable_progress_bar = false")  # it would print to stdout
            connection.register("documents", files.reader(failures, progress))
            try:
                rows = connection.sql(f"select {chosen} from documents order by {order}")
                batches = (
                    pa.Table.from_arrays(list(map(_plain, batch.columns)), names=columns.distinct)
                    for batch in pa.RecordBatchReader.from_stream(rows)
                )
                for documents in whole_queries(batches, columns, ascending=False):
                    documents.add_to(run, name_of)
            except Exception as error:
                if failures:
                    raise failures[0] from None
                if str(error) == "Query interrupted":  # what DuckDB makes of Ctrl-C
                    raise KeyboardInterrupt from None
                raise


@contextmanager
def _progress(progress: Any, total: int) -> Iterator[Callable[[int], object]]:
    """A progress bar of tqdm, which appears after a second, or calls of the user's function."""
    done = 0

    def called(n_rows: int) -> None:
        nonlocal done
        done += n_rows
        progress(done, total)

    if callable(progress):
        yield called
        return
    if progress:
        installed("tqdm", "progress=True")
    try:
        from tqdm import tqdm
    except ImportError:
        yield lambda n_rows: None
        return
    disable = None if progress is None else not progress
    options: dict[str, Any] = {"unit": "row", "unit_scale": True, "delay": 1, "disable": disable}
    with tqdm(total=total, **options) as bar:
        yield bar.update
