"""Lines of relevance judgments and runs, read in chunks from files of any size."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import re
import sys
import zlib
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from .._columns import LARGEST_EXACT_INTEGER
from .._typing import Array
from .table import Table

# bytes that are read at a time, and the most in a line
CHUNK = 2**22
# what ends a line among its fields; a text has no NUL
END = b"\0"
NUMBER = re.compile(rb"[-+]?((\d+\.?\d*|\.\d+)(e[-+]?\d+)?|inf|nan)", re.IGNORECASE)
NOT_TEXT = (
    "not a text file, it has a NUL byte. Convert a file in UTF-16 to UTF-8; the name of a "
    "compressed file must end in .gz, .bz2 or .xz, and that of a Parquet file in .parquet."
)
NOT_UTF8 = (
    "not UTF-8, got the byte {:#04x}. Convert the file, for example by iconv -f LATIN1 -t UTF-8."
)
TOO_LONG = f"the line has more than {CHUNK:,} bytes."
OTHER_FORMATS = (
    " JSON is not read: pass json.load(file) if it is {query: {document: number}}, and else a "
    "DataFrame, such as pd.read_json(path, dtype=False). Files with names of columns need a name "
    "that ends in .csv, .tsv or .parquet, and cannot come from standard input."
)
OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


def open_file(path: str | os.PathLike[str], mode: str = "rb", **text: Any) -> Any:
    """The file, decompressed if its name ends like that of a compressed one."""
    return OPENERS.get(Path(path).suffix, open)(path, mode, **text)


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


def parse(texts: Sequence[Any], fault: Callable[[int, str], ValueError]) -> Array:
    """Numbers; Python would read 1_0 as 10, and tie integers that it has rounded.

    ``fault(row, problem)`` is the error.
    """
    remaining = iter(texts)
    try:
        values = np.fromiter(map(float, remaining), dtype=np.float64, count=len(texts))
    except (TypeError, ValueError) as error:
        at = len(texts) - 1 - sum(1 for _ in remaining)
        raise fault(at, f"must be a number; got {_printed(texts[at])!r}") from error
    if isinstance(texts[0] if texts else 0, str | bytes):
        mark: Any = "_" if isinstance(texts[0], str) else b"_"
        if mark in mark[:0].join(texts):
            at = next(i for i, text in enumerate(texts) if mark in text)
            raise fault(at, f"must be a number; got {_printed(texts[at])!r}")
    for at in np.flatnonzero(np.abs(values) >= LARGEST_EXACT_INTEGER).tolist():
        if _is_rounded(texts[at], values[at]):
            problem = f"must not be the integer {_printed(texts[at])}, beyond 2**53, which double "
            raise fault(at, f"{problem}precision rounds. Subtract a constant, or write ranks")
    return values


def _printed(value: Any) -> Any:
    return value.decode(errors="replace") if isinstance(value, bytes) else value


def _is_rounded(value: Any, number: float) -> bool:
    """Whether a number is written as an integer, and another one."""
    try:
        return int(value) != float(number)
    except (ValueError, OverflowError):  # such as 1e17, or infinite
        return False


class Lines:
    """The fields of a file that are used.

    Parameters
    ----------
    name : str
        The file, for messages.
    layout : str
        The names of the fields of a line, the first of the query and the third of the document.
    value_at : int
        Position of the field with the relevance or score.
    trailing : bool
        Whether text after the last field, the tag of a run, is ignored.
    """

    def __init__(self, name: str, layout: str, value_at: int, trailing: bool) -> None:
        self.name, self.layout, self.value_at, self.trailing = name, layout, value_at, trailing
        self.width = len(layout.split())
        self.queries: dict[bytes, int] = {}
        self.parts: list[tuple[Array, Array, Array]] = []
        self.line_of: list[Sequence[int]] = []  # of each part, the line of each record
        self.n_lines = 0

    def read(self, source: Any) -> Table:
        """The records of a path or a file object; a malformed line is an error that names it."""
        with closing(_chunks(source, self.name)) as chunks:  # also while an error is kept
            for chunk in chunks:
                n = chunk.count(b"\n")
                self._check_text(chunk)
                lines: Sequence[int] = range(self.n_lines + 1, self.n_lines + 1 + n)
                fields = self._split(chunk, n)
                if fields is None:
                    fields, lines = self._split_lines(chunk)
                if fields:
                    self._append(fields, lines)
                self.n_lines += n
        empty = np.zeros(0, np.int32), np.zeros(0, "S"), np.zeros(0)
        query, document, value = map(np.concatenate, zip(*(self.parts or [empty]), strict=True))
        return Table(query, document, value, self._locate, [q.decode() for q in self.queries])

    def _locate(self, record: int) -> str:
        for lines in self.line_of:
            if record < len(lines):
                return self._line(lines[record])
            record -= len(lines)
        raise IndexError(record)

    def _line(self, number: int) -> str:
        return f"{self.name}, line {number}"

    def _split(self, chunk: bytes, n: int) -> list[bytes] | None:
        """All fields, each line ended by END; None if some line has another form."""
        fields = chunk.replace(b"\n", b" \0 ").split()
        # a line with too many fields cannot make up for one with too few: the ends must match
        step = self.width + 1
        if len(fields) != n * step or fields[self.width :: step].count(END) != n:
            return None
        is_comment = any(query.startswith(b"#") for query in dict.fromkeys(fields[::step]))
        return None if is_comment else fields

    def _split_lines(self, chunk: bytes) -> tuple[list[bytes], list[int]]:
        """The same line by line, without comments and empty lines."""
        fields: list[bytes] = []
        lines: list[int] = []
        for number, line in enumerate(chunk.split(b"\n")[:-1], start=self.n_lines + 1):
            of_line = line.split(None, self.width)
            if not of_line or of_line[0].startswith(b"#"):
                continue
            if len(of_line) != self.width:
                self._check_fields(number, of_line, line)
            fields += [*of_line[: self.width], END]
            lines.append(number)
        return fields, lines

    def _check_fields(self, number: int, fields: list[bytes], line: bytes) -> None:
        text = line.decode(errors="replace").strip("\r")
        shown = repr(text) if len(text) <= 100 else f"{text[:100]!r}…"
        if len(fields) < self.width or not self.trailing:
            is_other = number == 1 or len(fields) == 1
            raise ValueError(
                f"{self._line(number)}: a line must have {self.width} fields, '{self.layout}'; "
                f"got {len(fields)}{'+' * (len(fields) > self.width)} in {shown}."
                f"{OTHER_FORMATS if is_other else ''}"
            )
        # the fields may have been moved by a space in the document id; old line ends join lines
        is_moved = NUMBER.fullmatch(fields[3]) is None or NUMBER.fullmatch(fields[5]) is not None
        if is_moved or b"\r" in line.rstrip():
            raise ValueError(
                f"{self._line(number)}: more than the fields '{self.layout}' in {shown}. "
                "Ids must not have spaces: replace those of the document id here and in the qrels, "
                "or pass DataFrames. Text after the tag is ignored if the rank is a number and the "
                "tag is not a number."
            )

    def _append(self, fields: list[bytes], lines: Sequence[int]) -> None:
        query, document, texts = (fields[at :: self.width + 1] for at in (0, 2, self.value_at))
        known = self.queries
        for name in dict.fromkeys(query):
            known.setdefault(name, len(known))
        codes = np.fromiter(map(known.__getitem__, query), dtype=np.int32, count=len(query))

        def fault(row: int, problem: str) -> ValueError:
            hint = OTHER_FORMATS if lines[row] == 1 else ""
            field = self.layout.split()[self.value_at]
            return ValueError(f"{self._line(lines[row])}: {field} {problem}.{hint}")

        ids = np.array(document, f"S{max(map(len, document))}")
        self.parts.append((codes, ids, parse(texts, fault)))
        self.line_of.append(lines)

    def _check_text(self, chunk: bytes) -> None:
        """Refuse what is not text in UTF-8, and a line without an end."""
        at, problem = chunk.find(END), NOT_TEXT
        if at < 0 and not chunk.isascii():
            try:
                chunk.decode()
            except UnicodeDecodeError as error:
                at, problem = error.start, NOT_UTF8.format(chunk[error.start])
        if at < 0 and not chunk.endswith(b"\n"):
            at, problem = 0, TOO_LONG
        if at >= 0:
            raise ValueError(f"{self._line(self.n_lines + 1 + chunk.count(10, 0, at))}: {problem}")


def _chunks(source: Any, name: str) -> Generator[bytes, None, None]:
    """Whole lines of a path or a file object, some megabytes at a time.

    The last one has no line end if a line is longer than that.
    """
    is_path = isinstance(source, str | os.PathLike)
    file = open_file(source) if is_path else source
    try:
        with damage_named(name):
            rest, is_first = b"", True
            while data := file.read(CHUNK):
                data = data.encode() if isinstance(data, str) else data
                data = data.removeprefix(b"\xef\xbb\xbf") if is_first else data
                is_first = False
                head, newline, tail = data.rpartition(b"\n")
                if newline:
                    yield b"".join([rest, head, newline])
                    rest = tail
                else:
                    rest += tail
                if len(rest) > CHUNK:
                    yield rest
                    return
            if rest:
                yield rest + b"\n"
    finally:
        if is_path:
            file.close()
