"""evaluate_parquet: a sorted Parquet file or folder as a stream."""

from __future__ import annotations

import os
import pickle
import re
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from .accumulator import RankingAccumulator
from .columns import BATCH_ROWS, Columns


def evaluate_parquet(
    path: Any,
    metrics: Any,
    *,
    label: str = "label",
    score: str = "score",
    group: str = "qid",
    weight: str | None = None,
    like: str | None = None,
    batch_rows: int = BATCH_ROWS,
    checkpoint: Any = None,
    checkpoint_seconds: float = 60.0,
    progress: bool | None = None,
    filesystem: Any = None,
    n_jobs: int | None = None,
    **options: Any,
) -> dict[str, float]:
    """Compute ranking metrics over Parquet files that are larger than memory.

    Rows stream in batches and may cut queries anywhere, also between files; memory holds one batch
    and the query that is not complete yet.

    Parameters
    ----------
    path : str, path-like or list of them
        A file, or a folder whose files are read in the order of their names, numbers in them by
        value; a list is read as it stands. Rows must be sorted by query id in ascending order.
    metrics : str, callable, iterable of them, or RankingAccumulator
        What `evaluate` takes; or an accumulator, to see errors and numbers of queries by its
        ``result()``. One that has taken in rows goes on after its first ``n_documents`` rows.
    label, score, group : str
        Names of the columns of relevance, score and query id.
    weight : str, default=None
        Name of the column of weights, constant within a query.
    like : str, default=None
        Take another library's conventions, as in `evaluate`.
    batch_rows : int, default=2097152
        Number of rows to read at a time.
    checkpoint : str or path-like, default=None
        A file to which the state is pickled, and from which a killed run goes on if called again;
        removed at the end. Like any pickle, only use one that you wrote.
    checkpoint_seconds : float, default=60.0
        Least time between two writes of the checkpoint.
    progress : bool, default=None
        Whether to show a progress bar (needs tqdm); None does on a terminal where it is installed.
    filesystem : pyarrow.fs.FileSystem, default=None
        Where the files are; None is the local disk, or what a URI such as ``s3://…`` says.
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
    accumulator = _accumulator(metrics, like, n_jobs, options)
    columns = Columns(label, score, group, weight)
    files = Files.find(path, columns, filesystem)
    saved = Checkpoint(checkpoint, checkpoint_seconds, files.fingerprint)
    saved.load(accumulator)
    with _bar(files.n_rows, accumulator.n_documents, progress) as bar:
        batches = _ahead(files.batches(batch_rows, skip=accumulator.n_documents))
        for batch in columns.feed(accumulator, batches, batch_rows):
            bar.update(batch.num_rows)
            saved.save(accumulator)
    saved.remove()
    return accumulator.scores()


def _accumulator(
    metrics: Any, like: str | None, n_jobs: int | None, options: dict[str, Any]
) -> RankingAccumulator:
    if not isinstance(metrics, RankingAccumulator):
        return RankingAccumulator(metrics, like=like, n_jobs=n_jobs, **options)
    if like is not None or n_jobs is not None or options:
        raise ValueError("give like=, n_jobs= and options to the RankingAccumulator itself.")
    return metrics


@dataclass(frozen=True)
class Files:
    """Parquet files in the order in which they are read."""

    paths: list[str]
    sizes: list[int]
    columns: Columns
    filesystem: Any

    @classmethod
    def find(cls, path: Any, columns: Columns, filesystem: Any) -> Files:
        """The files of a folder, or those given."""
        from pyarrow import dataset

        given = [str(p) for p in path] if isinstance(path, list | tuple) else str(path)
        found = dataset.dataset(given, format="parquet", filesystem=filesystem)
        paths = found.files if isinstance(given, list) else sorted(found.files, key=_natural)
        if not paths:
            raise ValueError(f"there are no Parquet files in {given}.")
        sizes = []
        for one in paths:
            with cls([one], [0], columns, found.filesystem).open(one) as file:
                columns.check(file.schema_arrow.names, one)
                sizes.append(file.metadata.num_rows)
        return cls(paths, sizes, columns, found.filesystem)

    @property
    def n_rows(self) -> int:
        """Rows of all files."""
        return sum(self.sizes)

    @property
    def fingerprint(self) -> tuple[Any, ...]:
        """What must be the same for a checkpoint to go on."""
        return tuple(self.paths), tuple(self.sizes), self.columns

    def open(self, path: str) -> Any:
        """One file, read through a small buffer whatever the size of its row groups."""
        from pyarrow.parquet import ParquetFile

        return ParquetFile(path, filesystem=self.filesystem, pre_buffer=False, buffer_size=2**20)

    def batches(self, n_rows: int, skip: int) -> Iterator[Any]:
        """Arrow batches of all rows but the first ones."""
        for path, size in zip(self.paths, self.sizes, strict=True):
            if skip < size:
                with self.open(path) as file:
                    yield from self._batches_of(file, n_rows, skip)
            skip = max(skip - size, 0)

    def _batches_of(self, file: Any, n_rows: int, skip: int) -> Iterator[Any]:
        left = list(range(file.num_row_groups))
        while left and skip >= (size := file.metadata.row_group(left[0]).num_rows):
            skip -= size
            del left[0]
        names = self.columns.names  # one thread: _ahead has it at work beside the metrics
        for batch in file.iter_batches(n_rows, row_groups=left, columns=names, use_threads=False):
            yield batch.slice(skip)
            skip = max(skip - batch.num_rows, 0)


def _ahead(batches: Iterator[Any]) -> Iterator[Any]:
    """Read the next batch while the last one is ranked."""
    with ThreadPoolExecutor(1) as reader:
        coming = reader.submit(next, batches, None)
        while (batch := coming.result()) is not None:
            coming = reader.submit(next, batches, None)
            yield batch


def _natural(path: str) -> list[Any]:
    """Key that sorts part.9 before part.10."""
    return [int(part) if part.isdigit() else part for part in re.split(r"([0-9]+)", path)]


class Checkpoint:
    """A pickled accumulator on disk; nothing without a path."""

    def __init__(self, path: Any, seconds: float, source: tuple[Any, ...]) -> None:
        self.path = None if path is None else Path(path)
        self.seconds, self.source = seconds, source
        self._written = time.monotonic()

    def load(self, accumulator: RankingAccumulator) -> None:
        """Let the accumulator go on where the killed run was."""
        if self.path is None or not self.path.exists():
            return
        if accumulator.n_documents:
            raise ValueError(f"both the accumulator and the checkpoint {self.path} hold rows.")
        state = pickle.loads(self.path.read_bytes())
        if state["source"] != self.source:
            raise ValueError(
                f"the checkpoint {self.path} belongs to other files or columns, or the files "
                "changed. Delete it to start again."
            )
        accumulator.merge(state["accumulator"])

    def save(self, accumulator: RankingAccumulator) -> None:
        """Write if it is time; a run killed while writing leaves the one before."""
        if self.path is None or time.monotonic() - self._written < self.seconds:
            return
        state = {"source": self.source, "accumulator": accumulator}
        beside = self.path.with_name(self.path.name + ".new")
        beside.write_bytes(pickle.dumps(state))
        os.replace(beside, self.path)
        self._written = time.monotonic()

    def remove(self) -> None:
        """The run is over."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)


def _bar(total: int, done: int, progress: bool | None) -> Any:
    """A progress bar, hidden for runs of a second."""
    try:
        from tqdm import tqdm
    except ImportError:
        if progress:
            raise ImportError("progress=True needs tqdm: pip install tqdm.") from None
        return nullcontext(SimpleNamespace(update=lambda n_rows: None))
    hidden = None if progress is None else not progress
    return tqdm(total=total, initial=done, unit="row", unit_scale=True, delay=1, disable=hidden)
