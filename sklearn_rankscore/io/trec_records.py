"""Records of relevance judgments and runs, from TREC files, DataFrames or dicts of dicts."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from typing import IO, Any, NamedTuple, Protocol, TypeAlias

import numpy as np

from .._columns import LARGEST_EXACT_INTEGER, as_numbers, check_in_memory, column_names
from .._typing import Array
from ..query_ids.read import as_objects, of_python
from .codes import encode
from .id_text import as_texts, as_utf8
from .nested import ToDict, as_nested, flatten, is_nested, wrong_entry
from .record_lists import records_as_frame
from .trec_text import Lines, read_chunks, source_name


class Frame(Protocol):
    """A DataFrame of pandas or polars, or a table of pyarrow."""

    @property
    def columns(self) -> Any:
        """The columns, or their names."""


Nested: TypeAlias = Mapping[Any, Mapping[Any, float]]
Source: TypeAlias = str | os.PathLike[str] | IO[str] | IO[bytes] | Frame | Nested | ToDict


@dataclass(frozen=True)
class Records:
    """The records of a file, a DataFrame or a dict of dicts.

    Parameters
    ----------
    queries : list
        The distinct query ids.
    query : int array of shape (n_records,)
        Position in `queries` of the query of each record.
    document : bytes array of shape (n_records,)
        Document ids in UTF-8, whose order is that of trec_eval.
    value : array of shape (n_records,)
        Relevance or score.
    locate : callable
        ``locate(i)`` names the line or row of record i for an error message.
    """

    queries: list[Any]
    query: Array
    document: Array
    value: Array
    locate: Callable[[int], str]

    def with_text_ids(self, name: str) -> Records:
        """The same records, with query ids as text, which may be that of several ids."""
        texts = as_texts(self.queries, "query", name)
        position = {text: at for at, text in enumerate(dict.fromkeys(texts))}
        codes = np.array([position[text] for text in texts])
        return replace(self, queries=list(position), query=codes[self.query])


class Field(NamedTuple):
    """A field: its position in the lines of a file, and its possible names in a DataFrame."""

    position: int
    names: tuple[Any, ...]


# read_csv(header=None) names columns by their positions; PyTerrier has both docno and docid, which
# is a number of its index
QUERY = Field(
    0,
    (
        *("query_id", "qid", "q_id", "query", "topic", "query-id"),
        *("user", "user_id", "userId", "session", "session_id", "group", 0),
    ),
)
# the column of documents in the judgments of BEIR, whose relevance is called score
BEIR = "corpus-id"
DOCUMENT = Field(
    2,
    (
        *("doc_id", "docno", "docid", "document_id", "document", BEIR),
        *("item", "item_id", "itemId", "movieId", "product_id", 2),
    ),
)


@dataclass(frozen=True)
class Format:
    """A file format.

    Parameters
    ----------
    kind : str
        "qrels" or "run".
    layout : str
        The names of the fields of a line.
    value : Field
        The relevance or score.
    convert : callable
        ``convert(records)`` checks the values and converts them as trec_eval does.
    trailing : bool
        Whether a line may go on after its last field.
    """

    kind: str
    layout: str
    value: Field
    convert: Callable[[Records], Array]
    trailing: bool = False

    def name(self, system: str = "") -> str:
        """The source in a message."""
        return f"{self.kind} {system!r}" if system else self.kind

    def read(self, source: Any, system: str = "") -> Records:
        """The records of a path, file object, DataFrame or dict of dicts."""
        name = self.name(system)
        check_in_memory(source, name)
        source = as_nested(source)
        if hasattr(source, "columns"):
            records = self._from_frame(source, name)
        elif isinstance(source, Mapping):
            records = self._from_nested(source, name, system)
        elif isinstance(source, str | os.PathLike) or hasattr(source, "read"):
            records = self._from_text(source)
            name = source_name(source, self.kind)
        else:
            frame = self.as_frame(source)
            raise TypeError(
                f"{name} must be a path, a file object or a DataFrame; got a "
                f"{type(source).__name__}. {f'Pass {frame}. ' if frame else ''}A dict of dicts, "
                "{query: {document: number}}, and the Qrels and Run of ranx are accepted too."
            )
        if not len(records.query):
            raise ValueError(f"the {name} has no rows; at least one is needed.")
        return replace(records, value=self.convert(records))

    def as_frame(self, source: Any) -> str | None:
        """The DataFrame of a list of records, as code; None of anything else."""
        if not isinstance(source, list | tuple):
            return None
        return records_as_frame(source, self.kind, self.layout, self.value.names[0])

    def _from_text(self, source: Any) -> Records:
        name = source_name(source, self.kind)
        lines = Lines(name, self.layout, self.value.position, self.trailing)
        with closing(read_chunks(source, name)) as chunks:  # also while an error is kept
            lines.read(chunks)
        empty: list[Array] = [np.zeros(0, dtype=np.int32)]
        query, document, value = (
            np.concatenate(parts or empty) for parts in (lines.query, lines.document, lines.value)
        )
        for parts in (lines.query, lines.document, lines.value):
            parts.clear()
        return Records([q.decode() for q in lines.queries], query, document, value, lines.locate)

    def _from_frame(self, frame: Any, name: str) -> Records:
        query, document = (self._column(frame, field, name) for field in (QUERY, DOCUMENT))
        (codes,), queries = encode([query], f"{name}: the query ids")
        (numbers,), documents = encode([document], f"{name}: the document ids")
        texts = as_utf8(of_python(documents, dates=False), name)
        column = self._column(frame, self.value, name)
        value = as_numbers(column, f"{name} column") if len(codes) else np.zeros(0)
        return Records(
            of_python(queries, dates=False), codes, texts[numbers], value.astype(np.float64),
            lambda row: f"{name}, row {row}",
        )  # fmt: skip

    def _from_nested(self, nested: Mapping[Any, Any], name: str, system: str) -> Records:
        if nested and not is_nested(nested):
            raise TypeError(
                f"{name} must be a path, a file object or a DataFrame; got a dict, which is "
                f"accepted if it is {{query: {{document: number}}}}; {wrong_entry(nested, system)}"
            )
        documents, sizes, values = flatten(nested)
        queries, query = of_python(as_objects(nested)), np.repeat(np.arange(len(sizes)), sizes)
        value = as_numbers(values, name).astype(np.float64) if values else np.zeros(0)
        texts = as_utf8(documents, name)
        return Records(
            queries, query, texts, value,
            lambda row: f"{name}, query {queries[query[row]]!r}, document {documents[row]!r}",
        )  # fmt: skip

    def _column(self, frame: Any, field: Field, name: str) -> Any:
        present = column_names(frame)
        is_beir = self.kind == "qrels" and field is self.value and BEIR in present
        for column in (*field.names, "score") if is_beir else field.names:
            if column in present:
                return frame[column]
        known = ", ".join(repr(name) for name in field.names if isinstance(name, str))
        raise ValueError(
            f"the {name} needs a column named one of {known}; it has {present}. Rename one, "
            "or use from_frames, which takes any names, and ranks in place of scores."
        )


def _as_grades(qrels: Records) -> Array:
    """Relevance as integers; negative means not judged."""
    relevance = qrels.value
    valid = (np.abs(relevance) < LARGEST_EXACT_INTEGER) & (relevance == np.floor(relevance))
    if not valid.all():
        at = int(valid.argmin())
        too_large = np.isfinite(relevance[at]) and relevance[at] == np.floor(relevance[at])
        raise ValueError(
            f"{qrels.locate(at)}: relevance must be an integer"
            f"{' of less than 2**53' if too_large else ''}; got {relevance[at]}."
        )
    return np.asarray(relevance.astype(np.int64))


def _as_scores(run: Records) -> Array:
    """Scores; -inf, which would mean not retrieved, becomes the lowest number."""
    if (missing := np.isnan(run.value)).any():
        raise ValueError(f"{run.locate(int(missing.argmax()))}: the score is NaN.")
    return np.maximum(run.value, np.finfo(np.float64).min, out=run.value)


QRELS = Format(
    "qrels",
    "query iteration document relevance",
    Field(3, ("relevance", "rel", "label", "grade", "rating", 3)),
    _as_grades,
)
RUN = Format(
    "run",
    "query Q0 document rank score tag",
    Field(4, ("score", "sim", "prediction", 4)),
    _as_scores,
    trailing=True,
)
