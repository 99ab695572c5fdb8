"""evaluate_parquet: metrics over Parquet files that are sorted or grouped by query."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, get_args, overload

from .._typing import Library, QueryOrder
from .._validation import check_choice, check_count
from ..metrics.evaluate import Metrics
from .accumulator import RankingAccumulator
from .arrow import BATCH_ROWS, as_tables
from .arrow_queries import adjacent_queries
from .checkpoint import Checkpoint
from .checkpoint_file import CheckpointPath
from .checkpoint_format import check_ids
from .column_names import ColumnNames
from .grouped_queries import merged
from .parquet_files import ParquetFiles, prefetch
from .paths import Paths
from .row_errors import add_located
from .runs import ScoresBySegment, accumulator_of, add_run, emptied


@overload
def evaluate_parquet(
    path: Paths, metrics: Metrics | RankingAccumulator, *, by: None = None, **options: Any
) -> dict[str, float]: ...
@overload
def evaluate_parquet(
    path: Paths, metrics: Metrics, *, by: str | Sequence[str], **options: Any
) -> ScoresBySegment: ...
def evaluate_parquet(
    path: Paths,
    metrics: Metrics | RankingAccumulator,
    *,
    label: str = "label",
    score: str = "score",
    group: str | Sequence[str] = "qid",
    weight: str | None = None,
    by: str | Sequence[str] | None = None,
    like: Library | None = None,
    order: QueryOrder = "ascending",
    batch_rows: int = BATCH_ROWS,
    checkpoint: CheckpointPath | None = None,
    checkpoint_seconds: float = 60.0,
    checkpoint_wait: float = 0.0,
    progress: bool | Callable[[int, int], object] | None = None,
    filesystem: Any = None,
    n_jobs: int | None = None,
    **options: Any,
) -> dict[str, float] | ScoresBySegment:
    """Compute ranking metrics over Parquet files that are larger than memory.

    Rows are read in batches. Batches and files may end within a query; memory holds two
    batches, of which one is being read, and the incomplete queries.

    Parameters
    ----------
    path : str, path-like or list of them
        A file, a folder, or a pattern such as ``"scores/*.parquet"``, whose files are read in the
        order of their names, with numbers in names compared by value; or a list of files, read in
        the given order. Rows must be sorted by query id or, with ``order="grouped"``, grouped. A
        folder ``country=de`` in a path adds a column "country" to files that have none.
    metrics : str, callable, iterable of them, or RankingAccumulator
        As in `evaluate`; or an accumulator, to which all rows are added, and whose method `result`
        returns standard errors and numbers of queries. If an error is raised, it is not changed.
    label, score : str
        Names of the columns of relevance and score.
    group : str or list of str
        Name of the column of query ids, or of several columns that together identify a query.
    weight : str, default=None
        Name of the column of query weights, constant within each query.
    by : str or list of str, default=None
        Names of columns that define segments, constant within each query: strings, or at most ten
        distinct numbers.
    like : str, default=None
        Library whose conventions to use, as in `evaluate`.
    order : {"ascending", "grouped"}, default="ascending"
        Order of the query ids, as in `RankingAccumulator.update_sorted`; with "grouped", the rows
        of each query are adjacent and queries are in any order, which requires eight bytes per
        query.
    batch_rows : int, default=2097152
        Number of rows to read at a time.
    checkpoint : str, path-like or OpenFile of fsspec, default=None
        A file to which the state is saved at the start, periodically, and on an interrupt or
        SIGTERM, so that the same call resumes an interrupted run; deleted at the end. It contains
        numbers and arrays, but no code. A path is local, whatever `filesystem` is; a URI such as
        ``s3://…`` is read as in `path`, and ``fsspec.open(uri, **credentials)`` is accepted too.
    checkpoint_seconds : float, default=60.0
        Minimum time between two writes of the checkpoint, at least 0.
    checkpoint_wait : float, default=0.0
        Maximum time in seconds, at least 0, to wait for another run that uses the checkpoint.
    progress : bool or callable, default=None
        Whether to show a progress bar, which requires tqdm; None shows it on a terminal if tqdm is
        installed. A function is called after each batch with the number of rows so far and of all
        rows.
    filesystem : pyarrow.fs.FileSystem or fsspec filesystem, default=None
        File system that contains the files; None means the local file system or that of a URI such
        as ``s3://…`` (with any protocol of pyarrow or, if it is installed, fsspec).
    n_jobs : int, default=None
        Number of threads for the metrics; None means 1 unless in a joblib context.
    **options
        Options of the metrics, as in `evaluate`; `average` is ``"macro"`` or ``"micro"``.

    Returns
    -------
    dict of str to float, or dict of Segment to dict of str to float
        The value of each metric under its name; with `by`, such a dict for
        ``("", "all queries")`` and for each ``(column, value)``.

    Raises
    ------
    ValueError
        If the rows are not sorted by query, if a column is missing, has missing values, or has
        types in two files without a common type, if a checkpoint is damaged or belongs to other
        files, columns, metrics, options or functions, and for any input that `evaluate` refuses. An
        error in a row names the file and the row, counted from 0.
    TypeError
        If `path` is not a path, or if a metric cannot be identified when a checkpoint is resumed.
    RuntimeError
        If another run uses the checkpoint, or, on a filesystem other than the local disk, has taken
        it over from this one while this one was suspended.

    Warns
    -----
    RuntimeWarning
        If the checkpoint cannot be written; the run continues.

    See Also
    --------
    RankingAccumulator : Also returns standard errors, numbers of queries and per-query values.

    Examples
    --------
    >>> import pyarrow, pyarrow.parquet, tempfile
    >>> from sklearn_rankscore import evaluate_parquet
    >>> columns = {"qid": [1, 1, 1, 2, 2], "label": [2, 0, 1, 0, 1], "score": [3, 2, 1, 9, 4]}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pyarrow.parquet.write_table(pyarrow.table(columns), f"{folder}/part.parquet")
    ...     evaluate_parquet(folder, ["mrr", "precision@2"])
    {'mrr': 0.75, 'precision@2': 0.5}
    """
    accumulator = accumulator_of("evaluate_parquet", metrics, like, by, n_jobs, options)
    check_choice("order", order, get_args(QueryOrder))
    check_count("batch_rows", batch_rows, 1)
    columns = ColumnNames(label, score, group, weight, accumulator.by)
    state_file = Checkpoint.check(checkpoint, checkpoint_seconds, accumulator)
    files = ParquetFiles.find(path, columns, filesystem, state_file.paths if state_file else ())
    _check_storable(files, columns, checkpoint)
    run = emptied(accumulator)
    named = [label, score, group if isinstance(group, str) else columns.ids, weight]
    source = {"columns": named, "order": order, "files": files.fingerprint}
    saved = Checkpoint(state_file, checkpoint_seconds, run, source, checkpoint_wait)
    with saved.active(), _progress(files.n_rows, run.n_documents, progress) as bar:
        batches = prefetch(files.batches(batch_rows, skip=run.n_documents))
        for table in as_tables(batches, batch_rows):
            add_located(run, columns, table, files, order)
            if order == "ascending":  # refuse overlapping streams early
                merged(accumulator._state.open, run._state.open)
            bar.update(table.num_rows)
            saved.save()
        return add_run(accumulator, run, by)


def _check_storable(files: ParquetFiles, columns: ColumnNames, checkpoint: Any) -> None:
    """Refuse ids and segments that a checkpoint cannot store before all rows are read."""
    table, queries = None if checkpoint is None else files.first_rows(1000), None
    with suppress(TypeError, ValueError):  # the run will say in which row
        queries = None if table is None else adjacent_queries(table, columns)
    if queries is not None:
        for values in (queries.ids, *queries.segments.values()):
            check_ids(values)


def _progress(total: int, done: int, progress: Any) -> Any:
    """A progress bar of tqdm, which appears after a second, or calls of the user's function."""
    if callable(progress):
        return nullcontext(_Calls(progress, done, total))
    try:
        from tqdm import tqdm
    except ImportError:
        if progress:
            raise ImportError("progress=True needs tqdm: pip install tqdm.") from None
        return nullcontext(SimpleNamespace(update=lambda n_rows: None))
    disable = None if progress is None else not progress
    return tqdm(total=total, initial=done, unit="row", unit_scale=True, delay=1, disable=disable)


@dataclass
class _Calls:
    """Calls of a function with the number of rows so far and of all rows."""

    function: Callable[[int, int], object]
    done: int
    total: int

    def update(self, n_rows: int) -> None:
        self.done += n_rows
        self.function(self.done, self.total)
