"""TREC, CSV, TSV and Parquet files: their lines and columns, read in chunks and checked."""

from __future__ import annotations

import bz2
import csv
import gzip
import lzma
import os
import re
import sys
import zlib
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np

from .._columns import LARGEST_EXACT_INTEGER, as_numbers
from .._typing import Array
from .._validation import installed
from .table import Table, check_ranks, distinct

# bytes that are read at a time, and the most in a line
CHUNK = 2**22
# what ends a line among its fields; a text has no NUL
END = b"\0"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
NUMBER = re.compile(rb"[-+]?((\d+\.?\d*|\.\d+)(e[-+]?\d+)?|inf|nan)", re.IGNORECASE)
NOT_TEXT = (
    "not a text file, it has a NUL byte. Convert a file in UTF-16 to UTF-8; the name of a "
    "compressed file must end in .gz, .bz2 or .xz, and that of a Parquet file in .parquet."
)
NOT_UTF8 = (
    "not UTF-8, got the byte {:#04x}. Convert the file, for example by iconv -f LATIN1 -t UTF-8."
)
TOO_LONG = f"the line has more than {CHUNK:,} bytes."
SPACES = " Ids must not have spaces."
OF_JSON = (
    " JSON is not read: pass json.load(file) if it is {query: {document: number}}, and else a "
    "DataFrame, such as pd.read_json(path, dtype=False)."
)
OF_COLUMNS = (
    " Files with names of columns need a name that ends in .csv, .tsv or .parquet, and cannot come "
    "from standard input."
)
OF_THE_OTHER = {
    4: " These are the fields of qrels, which are given before the runs.",
    6: " These are the fields of a run, which is given after the qrels.",
}
OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
SEPARATORS = {".csv": ",", ".tsv": "\t"}
# how to replace NaN
REMEDIES = {
    "relevance": "Drop or fill these documents first, or use unjudged='drop' if they are unjudged.",
    "score": (
        "A document that was not retrieved, as after a left join, has the score -inf: fill these "
        "values with -inf. Without its row, a relevant document would not count as missed."
    ),
    "rank": "A document that was not retrieved has no rank: leave out its row.",
}
# as pandas, and DuckDB or polars, write them
TRUTH = {"True": "1", "False": "0", "true": "1", "false": "0"}


def open_file(path: str | os.PathLike[str]) -> Any:
    """The bytes of a file, decompressed if its name ends like that of a compressed one."""
    return OPENERS.get(Path(path).suffix, open)(path, "rb")


def has_columns(path: Any) -> bool:
    """Whether the name of a file is that of one with named columns."""
    return isinstance(path, str | os.PathLike) and suffix(path) in (*SEPARATORS, ".parquet")


def suffix(path: str | os.PathLike[str]) -> str:
    """The suffix of a name before that of compression."""
    suffixes = [s for s in Path(path).suffixes if s not in OPENERS]
    return suffixes[-1] if suffixes else ""


@contextmanager
def damage_named(name: str) -> Iterator[None]:
    """Name the file in the errors of decompression, most of which are no errors of the system."""
    try:
        yield
    except (EOFError, OSError, zlib.error, lzma.LZMAError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise ValueError(
            f"{name}: the compressed file is truncated or damaged ({error})."
        ) from error


def source_name(source: Any, kind: str) -> str:
    """The name of a file in messages: its path if known, and else "qrels" or "run"."""
    if source is sys.stdin.buffer or source is sys.stdin:
        return f"{kind} (standard input)"
    name = source if isinstance(source, str | os.PathLike) else getattr(source, "name", None)
    return f"{kind} {os.fspath(name)}" if isinstance(name, str | os.PathLike) else kind


def text_chunks(source: Any, name: str) -> Generator[tuple[int, bytes], None, None]:
    """Whole lines of a path or file object, some megabytes at a time, after the first's number.

    What is no text in UTF-8, or has too long a line, is refused.
    """
    is_path = isinstance(source, str | os.PathLike)
    file = open_file(source) if is_path else source
    number, rest = 1, b""
    try:
        with damage_named(name):
            while data := file.read(CHUNK):
                data = rest + (data.encode() if isinstance(data, str) else data)
                data = data.removeprefix(BYTE_ORDER_MARK) if number == 1 else data
                head, newline, rest = data.rpartition(b"\n")
                if newline:
                    yield number, _checked(head + newline, f"{name}, line", number)
                    number += head.count(b"\n") + 1
                if len(rest) > CHUNK:
                    _checked(rest, f"{name}, line", number)
                    raise ValueError(f"{name}, line {number}: {TOO_LONG}")
            if rest:
                yield number, _checked(rest + b"\n", f"{name}, line", number)
    finally:
        if is_path:
            file.close()


def _checked(chunk: bytes, name: str, number: int) -> bytes:
    at, problem = chunk.find(END), NOT_TEXT
    if at < 0 and not chunk.isascii():
        try:
            chunk.decode()
        except UnicodeDecodeError as error:
            at, problem = error.start, NOT_UTF8.format(chunk[error.start])
    if at >= 0:
        raise ValueError(f"{name} {number + chunk.count(10, 0, at)}: {problem}")
    return chunk


def parse(texts: Sequence[Any], fault: Callable[[int, str], ValueError]) -> Array:
    """Numbers; Python would read 1_0 as 10, and tie integers that it has rounded.

    ``fault(row, problem)`` is the error.
    """
    remaining = iter(texts)
    try:
        values = np.fromiter(map(float, remaining), dtype=np.float64, count=len(texts))
        row = None
    except (TypeError, ValueError):
        row = len(texts) - 1 - sum(1 for _ in remaining)
    if row is None and texts:
        mark: Any = "_" if isinstance(texts[0], str) else b"_"
        if mark in mark[:0].join(texts):
            row = next(i for i, text in enumerate(texts) if mark in text)
    if row is not None:
        raise fault(row, f"must be a number; got {_printed(texts[row])!r}")
    for at in np.flatnonzero(np.abs(values) >= LARGEST_EXACT_INTEGER).tolist():
        if _is_rounded(texts[at], values[at]):
            problem = f"must not be the integer {_printed(texts[at])}, beyond 2**53, which double "
            raise fault(at, f"{problem}precision rounds. Subtract a constant, or write ranks")
    return values


def _printed(value: Any) -> Any:
    return value.decode(errors="replace") if isinstance(value, bytes) else value


def _is_rounded(text: Any, number: float) -> bool:
    """Whether a number is written as an integer, and another one."""
    try:
        return int(text) != float(number)
    except (ValueError, OverflowError):  # such as 1e17, or infinite
        return False


def read_lines(source: Any, kind: str, layout: str, value_at: int) -> Table:
    """The records of a TREC file; a malformed line is an error that names it.

    Parameters
    ----------
    source : path or file object
        The file.
    kind : {"qrels", "run"}
        What it holds.
    layout : str
        The names of the fields of a line, the first of the query and the third of the document.
    value_at : int
        Position of the field with the relevance or score.
    """
    name, names = source_name(source, kind), layout.split()
    step = len(names) + 1
    queries: dict[bytes, int] = {}
    documents: dict[bytes, int] = {}
    parts: list[tuple[Array, Array, Array, Array]] = []
    with closing(text_chunks(source, name)) as chunks:  # also while an error is kept
        for first, chunk in chunks:
            fields, lines = _fields(chunk, first, name, names)

            head = chunk.partition(b"\n")[0]

            def fault(
                row: int, problem: str, lines: Array = lines, head: bytes = head
            ) -> ValueError:
                hint = _other_format(head, step - 1) if lines[row] == 1 else ""
                return ValueError(f"{name}, line {lines[row]}: {names[value_at]} {problem}.{hint}")

            codes = [
                _codes(fields[at::step], known) for at, known in ((0, queries), (2, documents))
            ]
            parts.append((*codes, parse(fields[value_at::step], fault), lines))  # type: ignore[arg-type]
    empty = (np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0), np.zeros(0, np.int64))
    query, document, value, line = map(np.concatenate, zip(*(parts or [empty]), strict=True))
    return Table(
        query, document, value, [query.decode() for query in queries], list(documents), name,
        lambda row: f"{name}, line {line[row]}",
    )  # fmt: skip


def _codes(ids: list[bytes], known: dict[bytes, int]) -> Array:
    for one in dict.fromkeys(ids):
        known.setdefault(one, len(known))
    return np.fromiter(map(known.__getitem__, ids), dtype=np.int32, count=len(ids))


def _fields(chunk: bytes, first: int, name: str, names: list[str]) -> tuple[list[bytes], Array]:
    """All fields, each line ended by END, and the number of each line."""
    n, width = chunk.count(b"\n"), len(names)
    fields = chunk.replace(b"\n", b" \0 ").split()
    # a line with too many fields cannot make up for one with too few: the ends must match
    is_regular = len(fields) == n * (width + 1) and fields[width :: width + 1].count(END) == n
    if is_regular and not any(q.startswith(b"#") for q in dict.fromkeys(fields[:: width + 1])):
        return fields, np.arange(first, first + n)
    fields, lines = [], []
    for number, line in enumerate(chunk.split(b"\n")[:-1], start=first):
        of_line = line.split(None, width)
        if not of_line or of_line[0].startswith(b"#"):
            continue
        if len(of_line) != width:
            _check_fields(f"{name}, line {number}", of_line, line, names)
        fields += [*of_line[:width], END]
        lines.append(number)
    return fields, np.array(lines, dtype=np.int64)


def _other_format(line: bytes, n_fields: int) -> str:
    """What a line may be that is none of a file with this number of fields."""
    if line.lstrip().startswith((b"{", b"[")):
        return OF_JSON
    n = len(line.split())
    if n != n_fields and n in OF_THE_OTHER:
        return OF_THE_OTHER[n]
    return OF_COLUMNS if n <= n_fields else SPACES


def _check_fields(where: str, fields: list[bytes], line: bytes, names: list[str]) -> None:
    """Refuse a line with other fields, but not with text after the tag of a run.

    A space in an id would have moved the rank to another field.
    """
    may_end = len(fields) > len(names) == 6 and b"\r" not in line.rstrip()
    if may_end and NUMBER.fullmatch(fields[3]) and not NUMBER.fullmatch(fields[5]):
        return
    text = line.decode(errors="replace").strip("\r")
    is_other = where.endswith("line 1") or len(fields) == 1
    of_spaces = SPACES if len(fields) > len(names) else ""
    hint = _other_format(line, len(names)) if is_other else of_spaces
    raise ValueError(
        f"{where}: a line must have {len(names)} fields, '{' '.join(names)}'; got "
        f"{min(len(fields), len(names))}{'+' * (len(fields) > len(names))} in {text[:100]!r}"
        f"{'…' * (len(text) > 100)}.{hint}"
    )


@dataclass(frozen=True)
class Columns:
    """The columns of a frame or a file.

    Parameters
    ----------
    name : str
        What errors call it.
    names : list
        The names of the columns.
    read : callable
        ``read(name)`` is a column.
    lines : list of int, default=None
        The line of each row of a CSV file, whose cells are text.
    """

    name: str
    names: list[Any]
    read: Callable[[Any], Any]
    lines: list[int] | None = None

    def locate(self, row: int) -> str:
        """A row in a message."""
        of_row = f"row {row}" if self.lines is None else f"line {self.lines[row]}"
        return f"{self.name}, {of_row}"

    def table(
        self, query: Any, document: Any, value: Any, field: str, *, allow_nan: bool = False
    ) -> Table:
        """The table of columns of ids and of relevance, scores or ranks.

        Without a column of documents queries stand in for them, without one of values all are 1.
        """
        query_codes, queries = self._distinct(query, "query")
        codes, items = (
            (query_codes, queries) if document is None else self._distinct(document, "document")
        )
        values: Array = np.ones(len(codes), dtype=np.int64)
        if value is not None:
            values = self.numbers(value, field, allow_nan=allow_nan)
        has_ranks = field == "rank"
        return Table(query_codes, codes, values, queries, items, self.name, self.locate, has_ranks)

    def _distinct(self, column: Any, kind: str) -> tuple[Array, Array]:
        values = self.read(column)
        if self.lines is not None and None in values:
            raise ValueError(
                f"{self.locate(values.index(None))}, column {column}: an id is missing."
            )
        return distinct(values, f"{self.name}: the {kind} ids in column {column!r}")

    def numbers(self, column: Any, field: str, *, allow_nan: bool = False) -> Array:
        """Relevance, scores or ranks."""
        values, where = self.read(column), f"{self.name}, column {column!r},"
        if not len(values):
            return np.zeros(0)
        if self.lines is None:
            remedy = REMEDIES[field]
            numbers = as_numbers(values, where, allow_nan=allow_nan, remedy=remedy)
        else:

            def fault(row: int, problem: str) -> ValueError:
                return ValueError(f"{self.locate(row)}, column {column}: {problem}.")

            numbers = parse([TRUTH.get(text, text) for text in values], fault)
            if (is_nan := np.isnan(numbers)).any():
                raise fault(int(is_nan.argmax()), "must be a number; got nan")
        check_ranks(numbers, field, column, where)
        return numbers


def read_columns(path: str | os.PathLike[str]) -> Columns:
    """A CSV, TSV or Parquet file."""
    path = os.fspath(path)
    columns = _read_parquet(path) if suffix(path) == ".parquet" else _read_csv(path)
    if len(set(columns.names)) < len(columns.names):
        raise ValueError(f"{path}: a column is named twice: {', '.join(columns.names)}.")
    if not columns.names or not len(columns.read(columns.names[0])):
        raise ValueError(f"{path}: the file has no rows; at least one is needed.")
    return columns


def _read_csv(path: str) -> Columns:
    """The cells as text; None if they are empty."""
    separator, lines = SEPARATORS[suffix(path)], []
    with closing(text_chunks(path, path)) as chunks:
        # the line ends of a text with newline="" are those that csv understands
        texts = (line for _, chunk in chunks for line in StringIO(chunk.decode(), newline=""))
        rows = csv.reader(texts, delimiter=separator, strict=True)
        try:
            names = next(rows, [])
            columns: list[list[str | None]] = [[] for _ in names]
            for row in filter(None, rows):
                if len(row) != len(names):
                    raise ValueError(
                        f"{path}, line {rows.line_num}: {len(row)} fields, but the first line, "
                        f"which must name the columns, has {len(names)}: {', '.join(names)}."
                    )
                lines.append(rows.line_num)
                for column, cell in zip(columns, row, strict=True):
                    column.append(cell if cell.strip() else None)
        except csv.Error as error:
            raise ValueError(f"{path}, line {rows.line_num}: {error}.") from error
    return Columns(path, names, dict(zip(names, columns, strict=True)).__getitem__, lines)


def _read_parquet(path: str) -> Columns:
    pyarrow = installed("pyarrow", f"{path}: the reader of Parquet files")
    parquet = installed("pyarrow.parquet", path)
    try:
        dataset = parquet.ParquetDataset(path, page_checksum_verification=True)
    except pyarrow.ArrowException as error:
        raise ValueError(f"{path}: not a Parquet file ({error}).") from error

    def read(name: str) -> Any:  # a file may have hundreds of features, of which few are read
        try:
            return dataset.read([name])[name]
        except (OSError, pyarrow.ArrowException) as error:
            raise ValueError(f"{path}, column {name}: cannot be read ({error}).") from error

    return Columns(path, list(dataset.schema.names), read)
