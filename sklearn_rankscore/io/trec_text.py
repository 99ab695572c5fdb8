"""Lines of relevance judgments and runs, read in chunks from files of any size."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import re
import sys
import zlib
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np

from .._columns import LARGEST_EXACT_INTEGER
from .._typing import Array

CHUNK = 2**22
# what ends a line among its fields; a text has no NUL
END = b"\0"
NUMBER = re.compile(rb"[-+]?((\d+\.?\d*|\.\d+)(e[-+]?\d+)?|inf|nan)", re.IGNORECASE)
BARE_RETURN = re.compile(rb"\r(?!\n)")
NOT_TEXT = (
    "not a text file, it has a NUL byte. Convert a file in UTF-16 to UTF-8; the name of a "
    "compressed file must end in .gz, .bz2 or .xz, and that of a Parquet file, which the command "
    "line reads, in .parquet."
)
NOT_UTF8 = (
    "not UTF-8, got the byte {:#04x}. Convert the file, for example by iconv -f LATIN1 -t UTF-8."
)
ROUNDED = "the integer {} is beyond 2**53, where double precision rounds it. Subtract a constant"
_TABLE = (
    " The command line reads columns with names from files whose names end in .csv or .tsv, but "
    "not from standard input; from_trec takes a DataFrame."
)
_JSON = (
    " JSON is not read. To from_trec, pass {}. The command line takes what to_csv of a DataFrame "
    "writes."
)
# by the first character of the file
_JSON_FORMS = {
    b"{": "json.load(file) if it is {query: {document: number}}, and pd.read_json(path, "
    "lines=True, dtype=False) if each line is a record",
    b"[": "pd.read_json(path, dtype=False)",
}
OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


def is_rounded(value: Any, number: float) -> bool:
    """Whether a number is written as an integer, and another one."""
    try:
        return int(value) != float(number)
    except ValueError:  # such as 1e17
        return False


@dataclass
class Lines:
    """The fields of a file that are used, one entry per line.

    Parameters
    ----------
    name : str
        The file, for messages.
    layout : str
        The names of the fields of a line.
    value_at : int
        Position of the field with the relevance or score.
    trailing : bool
        Whether text after the last field, the tag of a run, is ignored.
    """

    name: str
    layout: str
    value_at: int
    trailing: bool
    queries: dict[bytes, int] = field(default_factory=dict)
    query: list[Array] = field(default_factory=list)
    document: list[Array] = field(default_factory=list)
    value: list[Array] = field(default_factory=list)
    # of each chunk: its first record, and the lines of its records
    numbers: list[tuple[int, Any]] = field(default_factory=list)
    n_records: int = 0
    n_lines: int = 0

    def read(self, chunks: Iterator[bytes]) -> None:
        """Read all lines of a file; a malformed one is an error that names it."""
        for chunk in chunks:
            self._check_text(chunk)
            fields = self._split(chunk)
            numbers: Any = range(self.n_lines + 1, self.n_lines + 1 + chunk.count(b"\n"))
            if fields is None:
                fields, numbers = self._split_lines(chunk)
            self._append(fields, numbers)
            self.n_lines += chunk.count(b"\n")

    def locate(self, record: int) -> str:
        """The file and the line of a record."""
        first, numbers = next(entry for entry in reversed(self.numbers) if entry[0] <= record)
        return self._line(numbers[record - first])

    def _line(self, number: int) -> str:
        return f"{self.name}, line {number}"

    @property
    def _width(self) -> int:
        return len(self.layout.split())

    def _split(self, chunk: bytes) -> list[bytes] | None:
        """All fields, each line ended by END; None if some line has another form."""
        fields = chunk.replace(b"\n", b" \0 ").split()
        n, width = chunk.count(b"\n"), self._width + 1
        # a line with too many fields cannot make up for one with too few: the ends must match
        if len(fields) != n * width or fields[self._width :: width].count(END) != n:
            return None
        if any(query.startswith(b"#") for query in dict.fromkeys(fields[::width])):
            return None
        return fields

    def _split_lines(self, chunk: bytes) -> tuple[list[bytes], list[int]]:
        """The same line by line, without comments and empty lines."""
        fields: list[bytes] = []
        numbers: list[int] = []
        for number, line in enumerate(chunk.split(b"\n")[:-1], start=self.n_lines + 1):
            of_line = line.split(None, self._width)
            if not of_line or of_line[0].startswith(b"#"):
                continue
            self._check_fields(number, of_line, line)
            fields += of_line[: self._width]
            fields.append(END)
            numbers.append(number)
        return fields, numbers

    def _check_fields(self, number: int, fields: list[bytes], line: bytes) -> None:
        if len(fields) == self._width:
            return
        if len(fields) < self._width or not self.trailing:
            is_table = (number == 1 and b"\t" in line) or (len(fields) == 1 and b"," in line)
            hint = self._json_hint(number, line) or (_TABLE if is_table else "")
            raise ValueError(
                f"{self._line(number)}: a line must have {self._width} fields, "
                f"'{self.layout}'; got {len(fields)}{'+' * (len(fields) > self._width)} in "
                f"{_shown(line)}.{hint}"
            )
        if _may_divide_id(fields):
            hint = self._json_hint(number, line) or (
                " Ids must not have spaces: replace those of the document id here and in the "
                "qrels, or pass DataFrames. Text after the tag is ignored if the rank is a number "
                "and the tag is not a number."
            )
            raise ValueError(
                f"{self._line(number)}: more than the fields '{self.layout}' in {_shown(line)}."
                f"{hint}"
            )

    def _json_hint(self, number: int, line: bytes) -> str:
        """How to read a file of JSON, which its first line shows."""
        form = _JSON_FORMS.get(line.lstrip()[:1]) if number == 1 else None
        return _JSON.format(form) if form else ""

    def _append(self, fields: list[bytes], numbers: Any) -> None:
        width = self._width + 1
        query, document, value = (fields[at::width] for at in (0, 2, self.value_at))
        if not query:
            return
        known = self.queries
        for name in dict.fromkeys(query):
            known.setdefault(name, len(known))
        codes = np.fromiter(map(known.__getitem__, query), dtype=np.int32, count=len(query))
        self.query.append(codes)
        self.document.append(np.array(document, dtype=f"S{max(map(len, document))}"))
        self.numbers.append((self.n_records, numbers))
        self.value.append(self._parse(value, numbers, query))
        self._check_exact(value, numbers)
        self.n_records += len(query)

    def _parse(self, texts: list[bytes], numbers: Any, query: list[bytes]) -> Array:
        """Numbers; Python would read 1_0 as 10."""
        if b"_" not in b" ".join(texts):
            remaining = iter(texts)
            try:
                return np.fromiter(map(float, remaining), dtype=np.float64, count=len(texts))
            except ValueError:
                at = len(texts) - sum(1 for _ in remaining) - 1
        else:
            at = next(i for i, text in enumerate(texts) if b"_" in text)
        name, text = self.layout.split()[self.value_at], texts[at].decode(errors="replace")
        raise ValueError(
            f"{self._line(numbers[at])}: {name} must be a number; got {text!r}."
            f"{self._json_hint(numbers[at], query[at])}"
        )

    def _check_exact(self, texts: list[bytes], numbers: Any) -> None:
        """Refuse integers that the last numbers read have rounded, which would tie them."""
        values = self.value[-1]
        for at in np.flatnonzero(np.abs(values) >= LARGEST_EXACT_INTEGER):
            if is_rounded(texts[at], values[at]):
                name, text = self.layout.split()[self.value_at], texts[at].decode()
                raise ValueError(f"{self._line(numbers[at])}: {name}: {ROUNDED.format(text)}.")

    def _check_text(self, chunk: bytes) -> None:
        """Refuse what is not UTF-8 text with lines that end in LF or CR LF."""
        if END in chunk:
            number = self.n_lines + 1 + chunk.count(b"\n", 0, chunk.index(END))
            raise ValueError(f"{self._line(number)}: {NOT_TEXT}")
        if not chunk.isascii():
            try:
                chunk.decode()
            except UnicodeDecodeError as error:
                number = self.n_lines + 1 + chunk.count(b"\n", 0, error.start)
                wrong = NOT_UTF8.format(chunk[error.start])
                raise ValueError(f"{self._line(number)}: {wrong}") from error
        if chunk.count(b"\r") != chunk.count(b"\r\n") and (bare := BARE_RETURN.search(chunk)):
            number = self.n_lines + 1 + chunk.count(b"\n", 0, bare.start())
            raise ValueError(
                f"{self._line(number)}: a carriage return within the line. Lines must end in LF or "
                "CR LF."
            )


def _may_divide_id(fields: list[bytes]) -> bool:
    """Whether the fields of a longer line may be moved by a space in the document id."""
    rank, tag = NUMBER.fullmatch(fields[3]), NUMBER.fullmatch(fields[5])
    return rank is None or tag is not None


def _shown(line: bytes) -> str:
    text = line.decode(errors="replace").strip("\r")
    return repr(text) if len(text) <= 100 else f"{text[:100]!r}…"


def read_chunks(source: Any, name: str) -> Generator[bytes, None, None]:
    """Whole lines of a path or a file object, some megabytes at a time."""
    with _opened(source) as file, damage_named(name):
        rest: list[bytes] = []
        is_first = True
        while data := file.read(CHUNK):
            data = data.encode() if isinstance(data, str) else data
            data = data.removeprefix(b"\xef\xbb\xbf") if is_first else data
            is_first = False
            head, newline, tail = data.rpartition(b"\n")
            if newline:
                yield b"".join([*rest, head, newline])
                rest = []
            rest.append(tail)
        if any(rest):
            yield b"".join([*rest, b"\n"])


@contextmanager
def _opened(source: Any) -> Iterator[IO[Any]]:
    if not isinstance(source, str | os.PathLike):
        yield source
        return
    path = Path(source)
    with OPENERS.get(path.suffix, open)(path, "rb") as file:
        yield file


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
    except UnicodeError as error:
        raise ValueError(
            f"{name}: the file object yields text that is not UTF-8 ({error})."
        ) from error


def source_name(source: Any, kind: str) -> str:
    """The name of a file in messages: its path if known, and else "qrels" or "run"."""
    if source is sys.stdin.buffer or source is sys.stdin:
        return f"{kind} (standard input)"
    name = source if isinstance(source, str | os.PathLike) else getattr(source, "name", None)
    return f"{kind} {os.fspath(name)}" if isinstance(name, str | os.PathLike) else kind
