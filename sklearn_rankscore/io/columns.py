"""CSV, TSV and Parquet files with named columns."""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from .._typing import Array
from .._validation import did_you_mean, installed
from .text import CHUNK, NOT_TEXT, NOT_UTF8, OPENERS, TOO_LONG, damage_named, open_file, parse

SEPARATORS = {".csv": ",", ".tsv": "\t"}
# the usual names of columns; read_csv(header=None) names them by their positions in a TREC file;
# PyTerrier has both docno and docid, which is a number of its index
NAMES: dict[str, tuple[Any, ...]] = {
    "query": (
        *("query_id", "qid", "q_id", "query", "topic", "query-id"),
        *("user", "user_id", "userid", "session", "session_id", "group", 0),
    ),
    "document": (
        *("doc_id", "docno", "docid", "document_id", "document", "corpus-id"),
        *("item", "item_id", "itemid", "movieid", "product_id", 2),
    ),
    "relevance": ("relevance", "rel", "label", "grade", "rating", 3),
    "score": ("score", "sim", "prediction", 4),
    "rank": ("rank",),
}
# as pandas, and DuckDB or polars, write them
TRUTH = {"True": "1", "False": "0", "true": "1", "false": "0"}


def find_column(field: str, present: Sequence[Any]) -> Any:
    """The column of a field by its usual names, in any case; None if there is none."""
    known = {column.lower() if isinstance(column, str) else column: column for column in present}
    # the judgments of BEIR call their relevance score
    beir = ("score",) if field == "relevance" and "corpus-id" in known else ()
    return next((known[name] for name in (*NAMES[field], *beir) if name in known), None)


def has_columns(path: Any) -> bool:
    """Whether the name of a file is that of one with named columns."""
    return isinstance(path, str | os.PathLike) and suffix(path) in (*SEPARATORS, ".parquet")


def suffix(path: str | os.PathLike[str]) -> str:
    """The suffix of a name before that of compression."""
    suffixes = [s for s in Path(path).suffixes if s not in OPENERS]
    return suffixes[-1] if suffixes else ""


@dataclass(frozen=True)
class ColumnFile:
    """The columns of a file, and where its rows are.

    Parameters
    ----------
    path : str
        The file, for messages.
    columns : list of str
        Names.
    read : callable
        ``read(name)`` is a column, a sequence.
    locate : callable
        The file and the line or row of a position in the columns.
    """

    path: str
    columns: list[str]
    read: Callable[[str], Sequence[Any]]
    locate: Callable[[int], str]

    def name(self, field: str, given: dict[str, str]) -> str:
        """The column of a field: the one that was given for it, or one with a usual name."""
        name = given.get(field, find_column(field, self.columns))
        if name in self.columns and not (_is_number(name) and self._is_data()):
            return str(name)
        if self._is_data():
            raise ValueError(
                f"{self.path}: the first line names no columns; it has "
                f"{', '.join(self.columns):.100}. Add a line of {len(self.columns)} names, among "
                "them query_id, doc_id and relevance (in a run score, or rank if 1 is the best); "
                "a TREC file, which has no names, must not end in .csv or .tsv."
            )
        usual = ", ".join(str(n) for n in NAMES[field] if isinstance(n, str))
        fix = f"Rename it, or on the command line name it by --columns {field}=NAME." + {
            "relevance": " If every row is relevant, add a column of ones.",
            "score": " Ranks, 1 for the best, are a column 'rank'.",
        }.get(field, "")
        if field in given:
            fix = did_you_mean(name, self.columns).strip() or "The names are for all files."
        raise ValueError(
            f"{self.path}: no column for the {field}, "
            f"{f'{name!r}' if field in given else f'such as {usual}'}; it has "
            f"{', '.join(self.columns)}. {fix}"
        )

    def _is_data(self) -> bool:
        """Whether the first line has numbers and no usual name, nor positions as of pandas."""
        names = self.columns[1:] if self.columns[0] == "" else self.columns
        is_known = any(find_column(field, names) is not None for field in NAMES)
        is_trec = len(self.columns) == 1 and len(names[0].split()) in (4, 6)
        are_positions = names == [str(position) for position in range(len(names))]
        return is_trec or (not (is_known or are_positions) and any(map(_is_number, names)))

    def ids(self, name: str) -> list[str]:
        """Ids as text, as they stand in a TREC file; floats that are integers without a point."""
        column, texts = self.read(name), {}
        for row, value in enumerate(column):
            try:
                if value not in texts:
                    texts[value] = _id(value)
            except (TypeError, ValueError) as error:
                raise ValueError(
                    f"{self.locate(row)}, column {name}: an id must be text or an integer; got "
                    f"{value!r:.100}."
                ) from error
        return [texts[value] for value in column]

    def numbers(self, name: str) -> Array:
        """Finite numbers."""
        values = [TRUTH.get(v, v) if isinstance(v, str) else v for v in self.read(name)]

        def fault(row: int, problem: str) -> ValueError:
            return ValueError(f"{self.locate(row)}, column {name}: {problem}.")

        numbers = parse(values, fault)
        if not (is_finite := np.isfinite(numbers)).all():
            row = int(is_finite.argmin())
            raise fault(row, f"must be a finite number; got {values[row]!r}")
        return numbers


def _id(value: Any) -> str:
    if value is None or (isinstance(value, float) and not value.is_integer()):
        raise ValueError(value)
    if isinstance(value, bytes):
        value = value.decode()
    text = str(int(value)) if isinstance(value, float) else str(value)
    if not text.strip():
        raise ValueError(value)
    return text


def _is_number(cell: Any) -> bool:
    try:
        return math.isfinite(float(cell))
    except (TypeError, ValueError):
        return False


def read_columns(path: str | os.PathLike[str]) -> ColumnFile:
    """The file; that of a name without rows is refused."""
    path = os.fspath(path)
    file = _read_parquet(path) if suffix(path) == ".parquet" else _read_csv(path)
    names = file.columns
    if not names:
        raise ValueError(f"{path}: the file has no columns.")
    if len(set(names)) < len(names):
        raise ValueError(f"{path}: a column is named twice: {', '.join(names)}.")
    if not len(file.read(names[0])):
        raise ValueError(f"{path}: the file has no rows; at least one is needed.")
    return file


def _read_csv(path: str) -> ColumnFile:
    separator, lines = SEPARATORS[suffix(path)], []
    form = {"encoding": "utf-8-sig", "errors": "surrogateescape", "newline": ""}
    with damage_named(path), open_file(path, "rt", **form) as file:
        rows = csv.reader(_text_lines(path, file), delimiter=separator, strict=True)
        try:
            names = next(rows, [])
            if not names:
                raise ValueError(f"{path}: the file is empty; its first line must name columns.")
            columns: list[list[str]] = [[] for _ in names]
            for row in filter(None, rows):
                if len(row) != len(names):
                    raise ValueError(
                        f"{path}, line {rows.line_num}: {len(row)} fields, but the header has "
                        f"{len(names)}: {', '.join(names)}."
                    )
                lines.append(rows.line_num)
                for column, cell in zip(columns, row, strict=True):
                    column.append(cell)
        except csv.Error as error:
            raise ValueError(f"{path}, line {rows.line_num}: {error}.") from error
    if len(names) == 1 and (others := [mark for mark in ",;\t|" if mark in names[0]]):
        raise ValueError(
            f"{path}: the fields of the first line are separated by {others[0]!r}, but those of a "
            ".csv file must be by ',', and those of a .tsv file by tabs."
        )
    by_name = dict(zip(names, columns, strict=True))
    read = by_name.__getitem__
    return ColumnFile(path, names, read, lambda row: f"{path}, line {lines[row]}")


def _text_lines(path: str, file: Any) -> Iterator[str]:
    """The lines of a file that was opened with surrogates for bytes that are not UTF-8."""
    number = 0
    while line := file.readline(CHUNK):
        number += 1
        problem = NOT_TEXT if "\0" in line else ""
        if not problem and not line.isascii():
            try:
                line.encode()
            except UnicodeEncodeError as error:
                problem = NOT_UTF8.format(ord(line[error.start]) - 0xDC00)
        if problem or len(line) == CHUNK:
            raise ValueError(f"{path}, line {number}: {problem or TOO_LONG}")
        yield line


def _read_parquet(path: str) -> ColumnFile:
    pyarrow = installed("pyarrow", f"{path}: the reader of Parquet files")
    parquet = installed("pyarrow.parquet", path)
    try:
        dataset = parquet.ParquetDataset(path, page_checksum_verification=True)
    except pyarrow.ArrowException as error:
        raise ValueError(f"{path}: not a Parquet file ({error}).") from error

    @cache  # a file may have hundreds of features, of which few are read
    def read(name: str) -> list[Any]:
        try:
            return list(dataset.read([name])[name].to_pylist())
        except (OSError, pyarrow.ArrowException) as error:
            raise ValueError(f"{path}, column {name}: cannot be read ({error}).") from error

    return ColumnFile(path, list(dataset.schema.names), read, lambda row: f"{path}, row {row + 1}")
