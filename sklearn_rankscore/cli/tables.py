"""CSV and Parquet files of judgments and runs, as tables with standard names of columns."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import numpy as np

from .._columns import LARGEST_EXACT_INTEGER
from .._typing import Array
from .._validation import did_you_mean
from ..io.frames import MUST_BE_RANKS, are_ranks, find_no_rank
from ..io.text import OPENERS, ROUNDED, damage_named, is_rounded
from ..io.trec import BEIR, QRELS
from .header import NAMES, Header, check_text

# judgments of a table, whose relevance `TableFile` has checked
GRADES = replace(QRELS, convert=lambda records: records.value)
# as pandas, and DuckDB or polars, write them
TRUTH: dict[Any, Any] = {"True": 1, "False": 0, "true": 1, "false": 0}


class TrecTable(NamedTuple):
    """Columns by name, as `from_trec` takes them, the place of each row, and the names before."""

    data: dict[str, Any]
    locate: Callable[[int], str]
    names: tuple[str, ...]

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self.data)

    def __getitem__(self, name: Any) -> Any:
        return self.data[name]


@dataclass(frozen=True)
class TableFile:
    """The columns of a file, and where its rows are.

    Parameters
    ----------
    path : str
        The file, for messages.
    data : mapping of str to sequence
        Columns by name.
    locate : callable
        The file and the line or row of a position in the columns.
    header : Header or None, default=None
        The line that names the columns of a text file.
    """

    path: str
    data: Mapping[str, Sequence[Any]]
    locate: Callable[[int], str]
    header: Header | None = None

    def standard(self, value: str, columns: dict[str, str]) -> TrecTable:
        """The columns under the names that `from_trec` knows."""
        is_rank = value == "score" and self._has_ranks(columns)
        names = {
            field: self._name(field, columns)
            for field in ("query", "document", "rank" if is_rank else value)
        }
        query, document, of_value = names.values()
        if not len(self.data[query]):
            raise ValueError(f"{self.path}: the file has no rows; at least one is needed.")
        numbers = self._numbers(of_value)
        if value == "score":
            self._check_direction(of_value, numbers, is_rank=is_rank)
        else:
            self._check_negative(of_value, numbers)
        numbers = -numbers if is_rank else numbers
        ids = {"query_id": self._ids(query), "doc_id": self._ids(document)}
        return TrecTable({**ids, value: numbers}, self.locate, tuple(self.data))

    def scored(self, columns: dict[str, str], scores: dict[str, str]) -> dict[str, Any]:
        """The arguments of a metric: labels, ids, and the column of scores of each system."""
        query, label = self._name("query", columns), self._name("relevance", columns)
        if not len(self.data[query]):
            raise ValueError(f"{self.path}: the file has no rows; at least one is needed.")
        systems = {}
        for system, given in scores.items():
            name = given or self._name("score", columns)
            if name not in self.data:
                known = list(self.data)
                raise ValueError(
                    f"{self.path}: no column {name!r} for --scores; it has {', '.join(known)}."
                    f"{did_you_mean(name, known)}"
                )
            numbers = self._numbers(name)
            self._check_direction(name, numbers, is_rank=False)
            systems[system] = numbers
        return {"y_true": self._numbers(label), "y_score": systems, "groups": self._ids(query)}

    def _has_ranks(self, columns: dict[str, str]) -> bool:
        """Whether there are ranks instead of scores, or they were asked for."""
        fields = ("score", "rank")
        given = [field for field in fields if field in columns] or fields
        # one of two that are named is enough, because runs may differ
        present = (field for field in given if self._find(field, columns) is not None)
        return next(present, given[0]) == "rank"

    def _check_direction(self, name: str, numbers: Array, *, is_rank: bool) -> None:
        """Refuse scores as ranks and ranks as scores, which would reverse the ranking."""
        if is_rank and (wrong := find_no_rank(numbers)) is not None:
            raise ValueError(
                f"{self.path}, column {name}: {MUST_BE_RANKS}; got {wrong!r}. Name scores, of "
                f"which higher is better, by --columns score={name}."
            )
        if not is_rank and are_ranks(name, numbers):
            raise ValueError(
                f"{self.path}, column {name}: its name and values are those of ranks, but "
                f"higher scores are better. Name it by --columns rank={name}."
            )

    def _check_negative(self, name: str, numbers: Array) -> None:
        """Refuse negative labels that are no integers, and so do not mean not judged."""
        if (wrong := (numbers < 0) & (numbers != np.floor(numbers))).any():
            row = int(wrong.argmax())
            raise ValueError(
                f"{self.locate(row)}, column {name}: a negative relevance means not judged and "
                f"must be an integer; got {numbers[row]}. Add a constant to labels that are meant."
            )

    def _find(self, field: str, columns: dict[str, str]) -> str | None:
        """The column of a field: the one that was asked for, or the first with a usual name."""
        names = (columns[field],) if field in columns else NAMES[field]
        if field == "relevance" and BEIR in self.data and field not in columns:
            names = (*names, "score")
        return next((name for name in names if name in self.data), None)

    def _name(self, field: str, columns: dict[str, str]) -> str:
        name = self._find(field, columns)
        if self.header is not None:
            self.header.refuse_data(name)
        if name is not None:
            return name
        wanted = columns.get(field)
        usual = ", ".join(str(n) for n in NAMES[field] if isinstance(n, str))
        fix = f"Name it by --columns {field}=NAME."
        if field == "relevance":
            fix += " If every row is relevant, add a column of ones."
        if field == "score":
            fix += " Ranks, 1 for the best, are named by --columns rank=NAME."
        if wanted:
            fix = f"--columns {field}={wanted} is for all files: rename the column of this one."
        raise ValueError(
            f"{self.path}: no column for the {field}, "
            f"{f'{wanted!r}' if wanted else f'such as {usual}'}; it has {', '.join(self.data)}. "
            f"{did_you_mean(wanted, list(self.data)).strip() or fix}"
        )

    def _ids(self, name: str) -> Array:
        """Ids as text, as they stand in a TREC file."""
        column = self.data[name]
        ids = np.empty(len(column), dtype=object)
        for row, value in enumerate(column):
            text = "" if value is None else self._text(row, name, value)
            if not text.strip() or isinstance(value, float | list | dict):
                got = f"got {value!r}" if text.strip() else "it is missing"
                raise ValueError(
                    f"{self.locate(row)}, column {name}: an id must be text or an integer; {got}."
                )
            ids[row] = text
        return ids

    def _text(self, row: int, name: str, value: Any) -> str:
        try:
            return value.decode() if isinstance(value, bytes) else str(value)
        except UnicodeDecodeError as error:
            raise ValueError(
                f"{self.locate(row)}, column {name}: an id must be UTF-8 text; got {value!r}."
            ) from error

    def _numbers(self, name: str) -> Array:
        values = np.empty(len(self.data[name]))
        for row, text in enumerate(self.data[name]):
            has_underscore = isinstance(text, str) and "_" in text
            try:
                number = math.nan if has_underscore else float(TRUTH.get(text, text))
            except (TypeError, ValueError):
                number = math.nan
            if not math.isfinite(number):
                raise ValueError(
                    f"{self.locate(row)}, column {name}: must be a finite number; got {text!r}."
                )
            if abs(number) >= LARGEST_EXACT_INTEGER and is_rounded(text, number):
                raise ValueError(
                    f"{self.locate(row)}, column {name}: {ROUNDED.format(text)}, or write ranks."
                )
            values[row] = number
        return values


def read_csv(path: str, separator: str) -> TableFile:
    """The columns of a file whose first line names them."""
    opened: Any = OPENERS.get(Path(path).suffix, open)
    text = {"encoding": "utf-8-sig", "errors": "surrogateescape", "newline": ""}
    with damage_named(path), opened(path, "rt", **text) as file:
        return _columns_of_csv(path, file, separator)


def _columns_of_csv(path: str, file: TextIO, separator: str) -> TableFile:
    rows = csv.reader(file, delimiter=separator, strict=True)
    lines: list[int] = []
    try:
        header = Header(path, next(rows, []), separator)
        columns = header.columns()
        for row in rows:
            if not row:
                continue
            if len(row) != len(columns):
                raise ValueError(
                    f"{path}, line {rows.line_num}: {len(row)} fields, but the header has "
                    f"{len(columns)}: {', '.join(columns)}."
                )
            check_text(path, rows.line_num, row)
            lines.append(rows.line_num)
            for column, cell in zip(columns.values(), row, strict=True):
                column.append(cell)
    except csv.Error as error:
        raise ValueError(f"{path}, line {rows.line_num}: {error}.") from error
    return TableFile(path, {**columns}, lambda row: f"{path}, line {lines[row]}", header)


def read_parquet(path: str) -> TableFile:
    """The columns of a Parquet file."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise ImportError(
            f"{path}: Parquet files need pyarrow, which is not installed: pip install pyarrow"
        ) from error
    try:
        dataset = parquet.ParquetDataset(path)
    except pyarrow.ArrowException as error:
        raise ValueError(f"{path}: not a Parquet file ({error}).") from error
    names = dataset.schema.names
    if len(set(names)) < len(names):
        raise ValueError(f"{path}: a column is named twice: {', '.join(names)}.")

    def column(name: str) -> list[Any]:
        try:
            return list(dataset.read([name])[name].to_pylist())
        except (OSError, pyarrow.ArrowException) as error:
            raise ValueError(f"{path}, column {name}: cannot be read ({error}).") from error

    return TableFile(path, LazyColumns(names, column), lambda row: f"{path}, row {row + 1}")


class LazyColumns(Mapping[str, list[Any]]):
    """Columns that are read when they are asked for: a file may have hundreds of features."""

    def __init__(self, names: list[str], read: Callable[[str], list[Any]]) -> None:
        self._names, self._read = names, cache(read)

    def __getitem__(self, name: str) -> list[Any]:
        return self._read(name)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)
