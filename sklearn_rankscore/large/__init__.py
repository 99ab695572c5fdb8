"""Metrics over data larger than memory: accumulators, streams of batches, and Parquet files."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any, TypeAlias

from .._typing import Library
from .._validation import check_flag, installed
from ..metrics.evaluate import Metrics
from .accumulator import RankingAccumulator, State, StreamedScores
from .moments import DifferenceSummary, MetricSummary

__all__ = [
    "DifferenceSummary",
    "MetricSummary",
    "RankingAccumulator",
    "StreamedScores",
    "evaluate_batches",
    "evaluate_parquet",
]

Paths: TypeAlias = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


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
    if isinstance(batches, str | os.PathLike):
        raise TypeError(f"batches are tables; evaluate_parquet reads files, as {batches!r:.80}.")
    read = installed("pyarrow", "evaluate_batches").RecordBatchReader.from_stream
    from . import tables

    options |= {"label": label, "score": score, "groups": groups, "weight": weight}
    total, reader = tables.read_options(metrics, by=by, like=like, n_jobs=n_jobs, **options)
    streams = [batches] if hasattr(batches, "__arrow_c_stream__") else batches
    numbered = enumerate(batch for stream in streams for batch in read(stream))
    plain = (reader.plain(batch, f"batch {i}") for i, batch in numbered)
    return _added(total, reader.count(plain))


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
        A file, a folder, of which all files ``*.parquet`` are read unless they or their folders
        have a name with "_" or "." at its beginning, a pattern such as ``"scores/*.parquet"``, or a
        list of them. A URI such as ``s3://…`` is opened by fsspec. A folder ``country=de`` in a
        path is a column "country" of its files.
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
        or the query. Also if a column has types in two files that have none in common.
    FileNotFoundError
        If there is no such file.

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
    from . import tables

    options |= {"label": label, "score": score, "groups": groups, "weight": weight}
    total, reader = tables.read_options(metrics, by=by, like=like, n_jobs=n_jobs, **options)
    disable = None if progress is None else not check_flag("progress", progress)
    return _added(total, tables.count_files(reader, path, memory_limit, disable=disable))


def _added(total: RankingAccumulator, state: State) -> StreamedScores:
    """Add to the accumulator that was given, unless an error leaves it unchanged."""
    scores = StreamedScores(copy(total)._collect([state]))
    total._collect([state])
    return scores
