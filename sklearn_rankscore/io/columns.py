"""The columns of frames, files and records: their usual names, ids and numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._columns import LARGEST_EXACT_INTEGER, as_numbers, check_in_memory, column_names
from .._typing import Array
from .._validation import did_you_mean
from ..query_ids.lookup import index_level
from ..query_ids.read import as_ids, factorize, which_missing
from .table import LongTable, row_of

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
# names of columns of ranks, unlike pagerank
_RANK = re.compile(r"(?<![a-z])(rank|position)(?![a-z])", re.IGNORECASE)
# as float() reads them, which takes 1_0 for 10 as well
NUMBER = re.compile(rb"\s*[-+]?((\d+\.?\d*|\.\d+)(e[-+]?\d+)?|inf(inity)?|nan)\s*", re.IGNORECASE)
# how to replace NaN
REMEDIES = {
    "relevance": "Leave out the row of a document that nobody judged; from_frames takes it with "
    "unjudged='drop' or 'nan'",
    "score": "Leave out the row of a document that was not retrieved, as after a left join; in a "
    "table of labels and scores it has the score -inf",
    "rank": "A document that was not retrieved has no rank: leave out its row",
}
# as pandas, and DuckDB or polars, write them
TRUTH = {"True": b"1", "False": b"0", "true": b"1", "false": b"0"}


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
    where : callable
        ``where(row)`` is a row in a message.
    is_text : bool, default=False
        Whether all cells are text, as in a CSV file, in which an empty one is missing.
    """

    name: str
    names: list[Any]
    read: Callable[[Any], Any]
    where: Callable[[int], str]
    is_text: bool = False

    def usual(self, field: str) -> Any:
        """The column of a field by its usual names, in any case; None if there is none."""
        known = {name.lower() if isinstance(name, str) else name: name for name in self.names}
        # the judgments of BEIR call their relevance score
        beir = ("score",) if field == "relevance" and "corpus-id" in known else ()
        return next((known[name] for name in (*NAMES[field], *beir) if name in known), None)

    def find(self, field: str, given: Mapping[str, Any]) -> Any:
        """The column of a field: the one that was given for it, or one with a usual name."""
        name = given.get(field, self.usual(field))
        if name in self.names:
            return name
        which = "such as " + ", ".join(name for name in NAMES[field] if isinstance(name, str))
        fix = (
            f"Name it by from_frames or --columns {field}=NAME, in the first line of a file, by "
            "commas in .csv and tabs in .tsv. Ranks are a column 'rank'; if all are relevant, add "
            "ones."
        )
        if field in given:
            which, fix = repr(name), did_you_mean(name, self.names).strip()
        raise ValueError(
            f"{self.name}: no column for the {field}, {which}; it has "
            f"{', '.join(map(str, self.names)):.200}. {fix}"
        )

    def table(
        self, query: Any, document: Any, value: Any, field: str, *, allow_nan: bool = False
    ) -> LongTable:
        """The table of columns of ids and of relevance, scores or ranks.

        Without a column of documents queries stand in for them, without one of values all are 1.
        """
        queries = self.ids(query, "query")
        documents = queries if document is None else self.ids(document, "document")
        values: Array = np.ones(len(queries[1]), dtype=np.int64)
        if value is not None:
            values = self.numbers(value, field, allow_nan=allow_nan)
        return LongTable(self.name, queries, documents, values, self.where, field == "rank")

    def ids(self, column: Any, kind: str) -> tuple[Array, Array]:
        """The distinct ids of a column, none of them missing, and the code of each."""
        name = f"{self.name}: the {kind} ids in column {column!r}"
        ids, categories = as_ids(self.read(column), name)
        is_missing = ids == "" if self.is_text else which_missing(ids)
        if is_missing.any():
            where = self.where(int(is_missing.argmax()))
            raise ValueError(f"{where}, column {column}: an id is missing.")
        if not len(ids):
            return ids, np.zeros(0, dtype=np.intp)
        return factorize(ids, name) if categories is None else (categories, ids)

    def numbers(self, column: Any, field: str, *, allow_nan: bool = False) -> Array:
        """Relevance, scores or ranks."""
        values, where = self.read(column), f"{self.name}, column {column!r},"
        if not len(values):
            return np.zeros(0)

        def fault(row: int, problem: str) -> ValueError:
            return ValueError(f"{self.where(row)}, column {column}: {problem}.")

        if self.is_text:
            known = TRUTH | {"": b"nan"} if allow_nan else TRUTH
            numbers = parse([known.get(text) or text.encode() for text in values], fault)
        else:
            numbers = as_numbers(values, where, allow_nan=True)
        if not allow_nan and (is_nan := np.isnan(numbers)).any():
            raise fault(int(is_nan.argmax()), f"must be a number; got nan. {REMEDIES[field]}")
        check_ranks(numbers, field, column, where)
        return numbers


def columns_of(name: str, frame: Any) -> Columns:
    """The columns of a DataFrame of any library, and the levels of the index of one of pandas."""
    check_in_memory(frame, name)
    names = [] if isinstance(frame, Mapping) else column_names(frame)
    if not names:
        raise TypeError(
            f"{name} must be a DataFrame in memory with one row per query and document; got a "
            f"{type(frame).__name__}. Lists go into from_ranked_lists, files into from_trec, and "
            "several systems are a dict of DataFrames by name."
        )

    def read(column: Any) -> Any:
        if hasattr(column, "__len__") and not isinstance(column, str | list | tuple):
            kind = type(column).__name__
            raise TypeError(f"{name}: columns go by their names, as groups='user'; got a {kind}.")
        if names.count(column) == 1:
            return frame[column]
        if column not in names and (level := index_level(frame, column)) is not None:
            return level
        by_case = {str(one).lower(): one for one in names}
        same = by_case.get(str(column).lower())
        fix = did_you_mean(column, names) if same is None else f" Did you mean {same!r}?"
        raise ValueError(
            f"{name} has {'more than one' if column in names else 'no'} column {column!r}; its "
            f"columns are {names}.{fix} Columns of ids need the same name in all frames; ids of "
            "several columns are one of tuples, and scores of several systems a dict, score=."
        )

    return Columns(name, names, read, row_of(name))


def check_ranks(values: Array, field: str, column: Any, where: str) -> None:
    """Refuse ranks as scores, which would reverse the ranking, and other numbers as ranks."""
    is_named = field == "score" and _RANK.search(str(column)) is not None
    if is_named and values.min(initial=0) >= 0 and (values == np.floor(values)).all():
        raise ValueError(
            f"{where} is given as score, of which higher is better, but its name and values are "
            f"those of ranks. Pass it as rank={column!r} (on the command line --columns "
            f"rank={column}), or rename it if higher is better."
        )
    if field == "rank":
        with np.errstate(invalid="ignore"):
            part = values % (0.5 if values.min(initial=1) >= 1 else 1)  # nan of infinity
        if (wrong := (values < 0) | (part != 0)).any():
            raise ValueError(
                f"{where} must hold ranks, 1 for the best, or means of two ranks from 1 on; got "
                f"{float(values[wrong.argmax()])!r}. Pass scores, of which higher is better, as "
                "score, and the negatives of other numbers of which lower is better."
            )


def parse(texts: Sequence[bytes], fault: Callable[[int, str], Exception]) -> Array:
    """Numbers; Python would read 1_0 as 10, and tie integers that it has rounded.

    ``fault(row, problem)`` is the error.
    """
    try:
        values = np.fromiter(map(float, texts), dtype=np.float64, count=len(texts))
        is_wrong = b"_" in b"".join(texts)
    except ValueError:
        is_wrong = True
    if is_wrong:
        at = next(i for i, text in enumerate(texts) if not NUMBER.fullmatch(text))
        raise fault(at, f"must be a number; got {texts[at].decode(errors='replace')!r}")
    for at in np.flatnonzero(np.abs(values) >= LARGEST_EXACT_INTEGER).tolist():
        text = texts[at].decode().strip()
        if text.lstrip("+-").isdigit() and (np.isinf(values[at]) or int(text) != int(values[at])):
            problem = f"must not be the integer {text}, beyond 2**53, which double "
            raise fault(at, f"{problem}precision rounds. Subtract a constant, or write ranks")
    return values
