"""TREC, CSV, TSV and Parquet files: their lines and columns, read in chunks and checked."""

from __future__ import annotations

import bz2
import csv
import gzip
import lzma
import os
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np

from .._typing import Array
from .._validation import installed
from ..query_ids.read import as_objects, factorize
from .columns import NUMBER, Columns, parse
from .table import LongTable, row_of

# bytes that are read at a time, and the most in a line
CHUNK = 2**22
# bytes of ids up to which they are held in arrays of fixed width
LONGEST_ID = 64
# what ends a line among its fields; a text has no NUL
END = b"\0"
NOT_TEXT = (
    "not a text file, it has a NUL byte. Convert a file in UTF-16 to UTF-8; the name of a "
    "compressed file must end in .gz, .bz2 or .xz, and that of a Parquet file in .parquet."
)
# the fields of a line: the first has the id of the query, the third that of the document
FIELDS = {
    "qrels": "query iteration document relevance",
    "run": "query Q0 document rank score tag",
}
# what the first line may be instead
OTHER_FORMATS = (
    " Judgments have 4 fields and are given before runs, which have 6; files with names of columns "
    "need a name that ends in .csv, .tsv or .parquet, and cannot come from standard input; JSON is "
    "not read: pass json.load(file) if it is {query: {document: number}}."
)
OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
SEPARATORS = {".csv": ",", ".tsv": "\t"}


def has_columns(path: Any) -> bool:
    """Whether the name of a file is that of one with named columns."""
    return isinstance(path, str | os.PathLike) and suffix(path) in (*SEPARATORS, ".parquet")


def suffix(path: str | os.PathLike[str]) -> str:
    """The suffix of a name before that of compression."""
    suffixes = [s for s in Path(path).suffixes if s not in OPENERS]
    return suffixes[-1] if suffixes else ""


@contextmanager
def opened(source: Any, name: str) -> Iterator[Any]:
    """The bytes of a path, decompressed if its name ends like that, or a file object.

    Errors of decompression, most of which are no errors of the system, name the file.
    """
    is_path = isinstance(source, str | os.PathLike)
    file = OPENERS.get(Path(source).suffix, open)(source, "rb") if is_path else source
    try:
        yield file
    except (EOFError, OSError, zlib.error, lzma.LZMAError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise ValueError(
            f"{name}: the compressed file is truncated or damaged ({error})."
        ) from error
    finally:
        if is_path:
            file.close()


def text_chunks(file: Any, name: str) -> Iterator[tuple[int, bytes]]:
    """Whole lines of a file, some megabytes at a time, after the number of the first one.

    What is no text in UTF-8, or has too long a line, is refused.
    """
    number, rest = 1, b""
    while data := file.read(CHUNK):
        data = rest + (data.encode() if isinstance(data, str) else data)
        data = data.removeprefix(b"\xef\xbb\xbf") if number == 1 else data
        head, newline, rest = data.rpartition(b"\n")
        if newline:
            yield number, _checked(head + newline, name, number)
            number += head.count(b"\n") + 1
        if len(_checked(rest, name, number) if len(rest) > CHUNK else rest) > CHUNK:
            raise ValueError(f"{name}, line {number}: the line has more than {CHUNK:,} bytes.")
    if rest:
        yield number, _checked(rest + b"\n", name, number)


def _checked(chunk: bytes, name: str, number: int) -> bytes:
    at, problem = chunk.find(END), NOT_TEXT
    if at < 0 and not chunk.isascii():
        try:
            chunk.decode()
        except UnicodeDecodeError as error:
            at, byte = error.start, chunk[error.start]
            problem = (
                f"not UTF-8, got the byte {byte:#04x}. Convert the file, as by iconv -t UTF-8."
            )
    if at >= 0:
        raise ValueError(f"{name}, line {number + chunk.count(10, 0, at)}: {problem}")
    return chunk


def read_lines(source: Any, kind: str) -> LongTable:
    """The records of a TREC file; a malformed line is an error that names it.

    Parameters
    ----------
    source : path or file object
        The file.
    kind : {"qrels", "run"}
        What it holds.
    """
    name, names = source_name(source, kind), FIELDS[kind].split()
    value_at = names.index("relevance" if kind == "qrels" else "score")
    step = len(names) + 1
    parts: list[tuple[Array, ...]] = []
    with opened(source, name) as file:
        for first, chunk in text_chunks(file, name):
            fields, lines = _fields(chunk, first, name, names)

            def fault(row: int, problem: str, lines: Array = lines) -> ValueError:
                hint = OTHER_FORMATS if lines[row] == 1 else ""
                return ValueError(f"{name}, line {lines[row]}: {names[value_at]} {problem}.{hint}")

            ids = [as_bytes(fields[at::step]) for at in (0, 2)]
            parts.append((*ids, parse(fields[value_at::step], fault), lines))
    parts = parts or [(np.zeros(0, "S4"), np.zeros(0, "S4"), np.zeros(0), np.zeros(0))]
    query, document, value, line = map(np.concatenate, zip(*parts, strict=True))
    queries, codes = factorize(query) if len(query) else (query, line.astype(np.intp))
    texts = as_objects([one.decode() for one in queries.tolist()])
    return LongTable(
        name, (texts, codes), (document, None), value,
        where=lambda row: f"{name}, line {line[row]}",
    )  # fmt: skip


def as_bytes(ids: list[bytes]) -> Array:
    """An array without an object for each id, unless one of them is long or has a zero.

    Its width is one at which ids are hashed four bytes at a time.
    """
    longest = max(map(len, ids), default=1)
    if longest > LONGEST_ID or END in b"".join(ids):
        return as_objects(ids)
    return np.array(ids, f"S{-(-longest // 4) * 4}")


def source_name(source: Any, kind: str) -> str:
    """The name of a file in messages: its path if known, and else "qrels" or "run"."""
    if source is sys.stdin.buffer or source is sys.stdin:
        return f"{kind} (standard input)"
    name = source if isinstance(source, str | os.PathLike) else getattr(source, "name", None)
    return f"{kind} {os.fspath(name)}" if isinstance(name, str | os.PathLike) else kind


def _fields(chunk: bytes, first: int, name: str, names: list[str]) -> tuple[list[bytes], Array]:
    """All fields, each line ended by END, and the number of each line."""
    n, width = chunk.count(b"\n"), len(names)
    fields = chunk.replace(b"\n", b" \0 ").split()
    # a line with too many fields cannot make up for one with too few: the ends must match
    is_regular = len(fields) == n * (width + 1) and fields[width :: width + 1].count(END) == n
    queries = fields[:: width + 1] if b"#" in chunk else []
    if is_regular and not any(query.startswith(b"#") for query in queries):
        return fields, np.arange(first, first + n)
    fields, lines = [], []
    for number, line in enumerate(chunk.split(b"\n")[:-1], start=first):
        of_line = line.split(None, width)
        if not of_line or of_line[0].startswith(b"#"):
            continue
        # text after the tag of a run; a space in an id would have moved the rank to another field
        may_end = len(of_line) > width == 6 and b"\r" not in line.rstrip() and (
            NUMBER.fullmatch(of_line[3]) and not NUMBER.fullmatch(of_line[5])
        )  # fmt: skip
        if len(of_line) != width and not may_end:
            text = line.decode().strip("\r")
            hint = " Ids must not have spaces." * (len(of_line) > width)
            raise ValueError(
                f"{name}, line {number}: a line must have {width} fields, '{' '.join(names)}'; got "
                f"{min(len(of_line), width)}{'+' * (len(of_line) > width)} in {text[:100]!r}"
                f"{'…' * (len(text) > 100)}.{hint}{OTHER_FORMATS if number == 1 else ''}"
            )
        fields += [*of_line[:width], END]
        lines.append(number)
    return fields, np.array(lines, dtype=np.int64)


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
    """The cells as text, which is empty if they are blank."""
    lines = []
    with opened(path, path) as file:
        # the line ends of a text with newline="" are those that csv understands
        texts = (
            line for _, chunk in text_chunks(file, path)
            for line in StringIO(chunk.decode(), newline="")
        )  # fmt: skip
        rows = csv.reader(texts, delimiter=SEPARATORS[suffix(path)], strict=True)
        try:
            names = next(rows, [])
            columns: list[list[str]] = [[] for _ in names]
            for row in filter(None, rows):
                if len(row) != len(names):
                    raise ValueError(
                        f"{path}, line {rows.line_num}: {len(row)} fields, but the first line, "
                        f"which must name the columns, has {len(names)}: {', '.join(names)}."
                    )
                lines.append(rows.line_num)
                for column, cell in zip(columns, row, strict=True):
                    column.append(cell.strip() and cell)
        except csv.Error as error:
            raise ValueError(f"{path}, line {rows.line_num}: {error}.") from error
    read = dict(zip(names, columns, strict=True)).__getitem__
    return Columns(path, names, read, lambda row: f"{path}, line {lines[row]}", is_text=True)


def _read_parquet(path: str) -> Columns:
    pyarrow = installed("pyarrow", f"{path}: the reader of Parquet files")
    parquet = installed("pyarrow.parquet", path)

    def read(name: str) -> Any:  # a file may have hundreds of features, of which few are read
        try:
            return dataset.read([name])[name]
        except (OSError, pyarrow.ArrowException) as error:
            raise ValueError(f"{path}, column {name}: cannot be read ({error}).") from error

    os.stat(path)  # PyArrow's error does not say that it is missing
    try:
        # as Spark and Dask write them, a folder of files is one table
        dataset = parquet.ParquetDataset(path, page_checksum_verification=True)
    except pyarrow.ArrowException as error:
        raise ValueError(f"{path}: not a Parquet file ({error}).") from error
    return Columns(path, list(dataset.schema.names), read, row_of(path))
