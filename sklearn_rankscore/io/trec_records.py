"""Records of relevance judgments and runs, from TREC files or DataFrames."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import chain
from operator import length_hint
from pathlib import Path
from typing import IO, Any, NamedTuple, Protocol, TypeAlias

import numpy as np

from .._columns import as_numbers
from .._typing import Array


class Frame(Protocol):
    """A DataFrame of pandas or polars, or a table of pyarrow."""

    @property
    def columns(self) -> Any:
        """The columns, or their names."""


Source: TypeAlias = str | os.PathLike[str] | IO[str] | IO[bytes] | Frame


@dataclass(frozen=True)
class Records:
    """The records of a file or DataFrame.

    Parameters
    ----------
    query, document : list
        The ids of each record.
    value : array of shape (n_records,)
        Relevance or score.
    locate : callable
        ``locate(i)`` names the line or row of record i for an error message.
    """

    query: list[Any]
    document: list[str]
    value: Array
    locate: Callable[[int], str]

    def with_text_ids(self) -> Records:
        """The same records, with query ids as text."""
        return replace(self, query=list(map(str, self.query)))


class Field(NamedTuple):
    """A field: its position in the lines of a file, and its possible names in a DataFrame."""

    position: int
    names: tuple[Any, ...]


# read_csv(header=None) names columns by their positions
QUERY = Field(0, ("query_id", "qid", "q_id", "query", "topic", 0))
DOCUMENT = Field(2, ("doc_id", "docid", "docno", "document_id", "document", 2))


@dataclass(frozen=True)
class Format:
    """A file format.

    Parameters
    ----------
    name : str
        "qrels" or "run".
    line : str
        The names of the fields of a line.
    value : Field
        The relevance or score.
    convert : callable
        ``convert(records)`` checks the values and converts them as trec_eval does.
    """

    name: str
    line: str
    value: Field
    convert: Callable[[Records], Array]

    def read(self, source: Source) -> Records:
        """The records of a path, file object or DataFrame."""
        from_frame = hasattr(source, "columns")
        records = self._from_frame(source) if from_frame else self._from_text(self._text(source))
        if not records.query:
            raise ValueError(f"the {self.name} has no rows; at least one is needed.")
        return replace(records, value=self.convert(records))

    def _text(self, source: Any) -> str:
        if isinstance(source, str | os.PathLike):
            content = Path(source).read_bytes()
            source = gzip.decompress(content) if Path(source).suffix == ".gz" else content
        elif hasattr(source, "read"):
            source = source.read()
        else:
            raise TypeError(
                f"{self.name} must be a path, a file object or a DataFrame; got a "
                f"{type(source).__name__}."
            )
        if isinstance(source, bytes):
            return source.decode("utf-8-sig", errors="surrogateescape")
        return str(source)

    def _from_text(self, text: str) -> Records:
        lines = text.split("\n")
        numbers = [i for i, line in enumerate(lines) if line.lstrip()[:1] not in ("", "#")]
        rows = [lines[i] for i in numbers]

        def locate(row: int) -> str:
            return f"{self.name}, line {numbers[row] + 1}"

        n_fields = len(self.line.split())
        # no list of a row's fields is kept: millions of lists would slow the garbage collector
        widths = np.fromiter(map(len, map(str.split, rows)), dtype=np.intp, count=len(rows))
        if (malformed := widths != n_fields).any():
            at = int(malformed.argmax())
            raise ValueError(
                f"{locate(at)}: a line must have {n_fields} fields, '{self.line}'; got "
                f"{rows[at]!r}."
            )
        flat = list(chain.from_iterable(map(str.split, rows)))
        fields = (QUERY, DOCUMENT, self.value)
        query, document, value = (flat[field.position :: n_fields] for field in fields)
        return Records(query, document, self._parse(value, locate), locate)

    def _parse(self, texts: list[str], locate: Callable[[int], str]) -> Array:
        remaining = iter(texts)
        try:
            return np.fromiter(map(float, remaining), dtype=np.float64, count=len(texts))
        except ValueError as error:
            at = len(texts) - length_hint(remaining) - 1
            field = self.line.split()[self.value.position]
            raise ValueError(
                f"{locate(at)}: {field} must be a number; got {texts[at]!r}."
            ) from error

    def _from_frame(self, frame: Any) -> Records:
        query, document = (_as_list(self._column(frame, field)) for field in (QUERY, DOCUMENT))
        if any(name is None or name != name for name in chain(query, document)):
            raise ValueError(f"the {self.name} has rows without a query or document id.")
        if floats := [name for name in document if isinstance(name, float)]:
            raise ValueError(
                f"the {self.name} has floats as document ids, such as {floats[0]!r}, which cannot "
                "be matched with ids in text. Convert them to integers or strings."
            )
        column = self._column(frame, self.value)
        numbers = as_numbers(column, f"{self.name} column") if query else np.zeros(0)
        value = numbers.astype(np.float64)
        return Records(
            query, list(map(str, document)), value, lambda row: f"{self.name}, row {row}"
        )

    def _column(self, frame: Any, field: Field) -> Any:
        present = list(getattr(frame, "column_names", frame.columns))
        for name in field.names:
            if name in present:
                return frame[name]
        known = ", ".join(repr(name) for name in field.names if isinstance(name, str))
        raise ValueError(f"the {self.name} needs a column named one of {known}; it has {present}.")


def _as_list(column: Any) -> list[Any]:
    return list(column.to_pylist() if hasattr(column, "to_pylist") else column.to_list())


def _as_grades(qrels: Records) -> Array:
    """Relevance as integers; negative relevance is 0."""
    relevance = qrels.value
    if (invalid := ~np.isfinite(relevance) | (relevance != np.floor(relevance))).any():
        at = int(invalid.argmax())
        raise ValueError(f"{qrels.locate(at)}: relevance must be an integer; got {relevance[at]}.")
    return np.maximum(relevance, 0).astype(np.int64)


def _as_scores(run: Records) -> Array:
    """Scores in single precision; -inf, which would mean not retrieved, becomes the minimum."""
    if (missing := np.isnan(run.value)).any():
        raise ValueError(f"{run.locate(int(missing.argmax()))}: the score is NaN.")
    with np.errstate(over="ignore"):
        scores = run.value.astype(np.float32)
    return np.maximum(scores, np.finfo(np.float32).min)


QRELS = Format(
    "qrels",
    "query iteration document relevance",
    Field(3, ("relevance", "rel", "label", "grade", 3)),
    _as_grades,
)
RUN = Format("run", "query Q0 document rank score tag", Field(4, ("score", "sim", 4)), _as_scores)
