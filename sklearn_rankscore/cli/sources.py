"""Judgments and runs of the command line as the arguments of a metric."""

from __future__ import annotations

import csv
import gzip
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import numpy as np

from .._typing import Array
from .._validation import did_you_mean
from ..io import from_frames, from_trec
from ..io.trec import UnjudgedInPool
from ..io.trec_records import DOCUMENT, QRELS, QUERY, RUN

SEPARATORS = {".csv": ",", ".tsv": "\t"}
COMPRESSED = (".gz", ".bz2", ".xz")
# the usual names of each field's column
NAMES = {
    "query": (*QUERY.names, "user", "user_id", "userId", "session", "session_id", "group"),
    "document": (*DOCUMENT.names, "item", "item_id", "itemId", "movieId", "product_id"),
    "relevance": (*QRELS.value.names, "rating"),
    "score": (*RUN.value.names, "prediction"),
    "rank": ("rank",),
}


class Table(NamedTuple):
    """Columns by name, as `from_frames` and `from_trec` take them."""

    data: dict[str, Any]

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self.data)

    def __getitem__(self, name: Any) -> Any:
        return self.data[name]


def read_sources(
    qrels: str,
    runs: dict[str, str],
    columns: dict[str, str],
    *,
    complete: bool,
    unjudged: UnjudgedInPool,
) -> tuple[dict[str, Any], list[str]]:
    """Arguments of a metric for all runs by name, and notes about missing queries."""
    judged = _read(qrels, "relevance", columns)
    systems = {name: _read(path, "score", columns) for name, path in runs.items()}
    if all(isinstance(source, Table) for source in (judged, *systems.values())):
        # unlike in TREC files, relevance need not be an integer
        documents: Any = from_frames(
            judged, systems, query="query_id", document="doc_id", relevance="relevance",
            score="score", missing_queries="count" if complete else "drop",
            unjudged="irrelevant" if unjudged == "irrelevant" else "nan",
        )  # fmt: skip
    else:
        documents = from_trec(judged, systems, complete=complete, unjudged=unjudged)
    return documents, list(_missing(documents))


def _missing(documents: dict[str, Any]) -> Iterator[str]:
    """A note for each run without results for some of the queries."""
    _, codes = np.unique(documents["groups"], return_inverse=True)
    n_queries = int(codes.max()) + 1
    for name, scores in documents["y_score"].items():
        present = len(np.unique(codes[scores > -np.inf]))
        if present < n_queries:
            yield (
                f"{name} has no results for {n_queries - present} of {n_queries} queries, where it "
                "retrieved nothing"
            )


def named_runs(runs: list[str]) -> dict[str, str]:
    """Paths by the name of the run."""
    named: dict[str, str] = {}
    for run in runs:
        name, equals, path = run.partition("=")
        if not equals or os.path.exists(run):
            name, path = "stdin" if run == "-" else _stem(run), run
        if name in named:
            raise ValueError(
                f"two runs are named {name!r}: {named[name]} and {path}. Name them by NAME=PATH."
            )
        named[name] = path
    return named


def _stem(path: str) -> str:
    """The name of a file without its suffixes."""
    name = Path(path)
    while name.suffix in (*COMPRESSED, *SEPARATORS, ".parquet", ".txt", ".run", ".trec", ".res"):
        name = name.with_suffix("")
    return name.name


def _read(path: str, value: str, columns: dict[str, str]) -> Any:
    """A table of CSV or Parquet, or what `from_trec` reads itself."""
    if path == "-":
        return sys.stdin.buffer
    suffixes = [s for s in Path(path).suffixes if s not in COMPRESSED]
    suffix = suffixes[-1] if suffixes else ""
    if suffix in SEPARATORS:
        return _standard(path, _read_csv(path, SEPARATORS[suffix]), value, columns)
    if suffix == ".parquet":
        return _standard(path, _read_parquet(path), value, columns)
    return path


def _standard(path: str, data: Any, value: str, columns: dict[str, str]) -> Table:
    """The columns under the names that `from_trec` knows, in ascending order of document ids."""
    present = list(data)
    of_value = value
    if value == "score" and _find(present, "score", columns) is None:
        of_value = "rank"
    names = {field: _find(present, field, columns) for field in ("query", "document", of_value)}
    for field, name in names.items():
        if name is None:
            wanted = columns.get(field)
            usual = ", ".join(str(n) for n in NAMES[field] if isinstance(n, str))
            raise ValueError(
                f"{path}: no column for the {value if field == of_value else field}, "
                f"{f'{wanted!r}' if wanted else f'such as {usual}'}; it has {', '.join(present)}. "
                f"Name it by --columns {field}=NAME.{did_you_mean(wanted, present)}"
            )
    query, document = (np.array([str(v) for v in data[names[f]]], dtype=object)
                       for f in ("query", "document"))  # fmt: skip
    numbers = _numbers(data[names[of_value]], f"{path}, column {names[of_value]}")
    numbers = -numbers if of_value == "rank" else numbers
    order = np.lexsort((document.astype(str), query.astype(str))) if len(query) else np.arange(0)
    # the order in which trec_eval breaks ties
    return Table({"query_id": query[order], "doc_id": document[order], value: numbers[order]})


def _find(present: list[str], field: str, columns: dict[str, str]) -> str | None:
    """The column of a field: the one that was asked for, or the first with a usual name."""
    names = (columns[field],) if field in columns else NAMES[field]
    return next((name for name in names if name in present), None)


def _numbers(column: Any, name: str) -> Array:
    values = np.empty(len(column))
    for row, text in enumerate(column):
        try:
            values[row] = float(text)
            is_number = values[row] == values[row]
        except (TypeError, ValueError):
            is_number = False
        if not is_number:
            # the header is line 1
            raise ValueError(f"{name}, line {row + 2}: must be a number; got {text!r}.")
    return values


def _read_csv(path: str, separator: str) -> dict[str, list[str]]:
    opened: Any = gzip.open if path.endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8-sig", newline="") as file:
        try:
            return _columns_of_csv(path, file, separator)
        except UnicodeDecodeError as error:
            raise ValueError(f"{path}: not UTF-8 ({error}).") from error
        except (EOFError, gzip.BadGzipFile) as error:
            raise ValueError(f"{path}: the compressed file is damaged ({error}).") from error


def _columns_of_csv(path: str, file: TextIO, separator: str) -> dict[str, list[str]]:
    rows = csv.reader(file, delimiter=separator, strict=True)
    header = next(rows, None)
    if not header:
        raise ValueError(f"{path}: the file is empty; its first line must name the columns.")
    if len(set(header)) < len(header):
        raise ValueError(f"{path}, line 1: a column is named twice: {', '.join(header)}.")
    columns: dict[str, list[str]] = {name: [] for name in header}
    try:
        for row in rows:
            if not row:
                continue
            if len(row) != len(header):
                raise ValueError(
                    f"{path}, line {rows.line_num}: {len(row)} fields, but the header has "
                    f"{len(header)}: {', '.join(header)}."
                )
            for column, cell in zip(columns.values(), row, strict=True):
                column.append(cell)
    except csv.Error as error:
        raise ValueError(f"{path}, line {rows.line_num}: {error}.") from error
    return columns


def _read_parquet(path: str) -> dict[str, Any]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise ImportError(
            f"{path}: Parquet files need pyarrow, which is not installed: pip install pyarrow"
        ) from error
    try:
        return dict(parquet.read_table(path).to_pydict())
    except pyarrow.ArrowException as error:
        raise ValueError(f"{path}: not a Parquet file ({error}).") from error
