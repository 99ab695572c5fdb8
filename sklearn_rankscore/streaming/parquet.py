"""evaluate_parquet: metrics over Parquet files that are sorted by query."""

from __future__ import annotations

import os
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

from .._typing import Library
from ..metrics.evaluate import Metrics
from .accumulator import RankingAccumulator
from .arrow import BATCH_ROWS, add_batches
from .checkpoint import Checkpoint
from .column_names import ColumnNames
from .parquet_files import ParquetFiles, Paths, prefetch


def evaluate_parquet(
    path: Paths,
    metrics: Metrics | RankingAccumulator,
    *,
    label: str = "label",
    score: str = "score",
    group: str = "qid",
    weight: str | None = None,
    like: Library | None = None,
    batch_rows: int = BATCH_ROWS,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_seconds: float = 60.0,
    progress: bool | None = None,
    filesystem: Any = None,
    n_jobs: int | None = None,
    **options: Any,
) -> dict[str, float]:
    """Compute ranking metrics over Parquet files that are larger than memory.

    Rows are read in batches, which may end within a query, as may files; memory holds one batch and
    the queries that are not complete yet.

    Parameters
    ----------
    path : str, path-like or list of them
        A file, or a folder whose files are read in the order of their names, with numbers in names
        compared by value; the files of a list are read in the order given. Rows must be sorted by
        query id in ascending order.
    metrics : str, callable, iterable of them, or RankingAccumulator
        As in `evaluate`; or an accumulator, whose ``result()`` has standard errors and numbers of
        queries. If it holds documents already, its first ``n_documents`` rows are skipped.
    label, score, group : str
        Names of the columns of relevance, score and query id.
    weight : str, default=None
        Name of the column of query weights, constant within each query.
    like : str, default=None
        Library whose conventions to use, as in `evaluate`.
    batch_rows : int, default=2097152
        Number of rows to read at a time.
    checkpoint : str or path-like, default=None
        A file to which the state is pickled periodically, so that an interrupted run resumes when
        called again; deleted at the end. As with any pickle, only load a file that you trust.
    checkpoint_seconds : float, default=60.0
        Minimum time between two writes of the checkpoint.
    progress : bool, default=None
        Whether to show a progress bar (needs tqdm); None shows it on a terminal if tqdm is
        installed.
    filesystem : pyarrow.fs.FileSystem, default=None
        Where the files are; None is the local disk, or follows from a URI such as ``s3://…``.
    n_jobs : int, default=None
        Number of threads for the metrics; None means 1 unless in a joblib context.
    **options
        Options of the metrics, as in `evaluate`; `average` is ``"macro"`` or ``"micro"``.

    Returns
    -------
    dict of str to float
        The value of each metric under its name.

    Raises
    ------
    ValueError
        If the rows are not sorted by query, a column is missing or has missing values, or a
        checkpoint belongs to other files or metrics; and for what `evaluate` refuses.

    See Also
    --------
    RankingAccumulator : Standard errors, numbers of queries, values of every query.

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
    if not isinstance(metrics, RankingAccumulator):
        accumulator = RankingAccumulator(metrics, like=like, n_jobs=n_jobs, **options)
    elif like is not None or n_jobs is not None or options:
        raise ValueError("pass like=, n_jobs= and options to the RankingAccumulator itself.")
    else:
        accumulator = metrics
    columns = ColumnNames(label, score, group, weight)
    files = ParquetFiles.find(path, columns, filesystem)
    state = Checkpoint(checkpoint, checkpoint_seconds, files.fingerprint)
    state.load(accumulator)
    with _progress_bar(files.n_rows, accumulator.n_documents, progress) as bar:
        batches = prefetch(files.batches(batch_rows, skip=accumulator.n_documents))
        for table in add_batches(accumulator, columns, batches, batch_rows):
            bar.update(table.num_rows)
            state.save(accumulator)
    state.remove()
    return accumulator.scores()


def _progress_bar(total: int, done: int, progress: bool | None) -> Any:
    """A progress bar of tqdm, which appears after a second."""
    try:
        from tqdm import tqdm
    except ImportError:
        if progress:
            raise ImportError("progress=True needs tqdm: pip install tqdm.") from None
        return nullcontext(SimpleNamespace(update=lambda n_rows: None))
    disable = None if progress is None else not progress
    return tqdm(total=total, initial=done, unit="row", unit_scale=True, delay=1, disable=disable)
