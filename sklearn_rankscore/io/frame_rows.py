"""The rows of a long DataFrame as lists of items."""

from __future__ import annotations

import os
import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from .._columns import as_numbers, check_in_memory, column_names, descending
from .._typing import Array
from .._validation import counted, did_you_mean
from ..query_ids.lookup import level_names
from ..query_ids.read import order_by_code
from .join import ItemLists

ColumnName: TypeAlias = str | int
Duplicates: TypeAlias = Literal["error", "drop", "keep"]
Kind: TypeAlias = Literal["relevance", "score", "rank"]

# how to replace NaN
_REMEDIES = {
    "relevance": "Drop or fill these documents first, or use unjudged='drop' if they are unjudged.",
    "score": (
        "A document that was not retrieved, as after a left join, has the score -inf: fill these "
        "values with -inf. Without its row, a relevant document would not count as missed."
    ),
    "rank": (
        "A document that was not retrieved has no rank: leave out its row in a frame of "
        "predictions. In a single frame, pass -rank as score=, with -inf for such documents."
    ),
}
MUST_BE_RANKS = "must hold ranks, 1 for the best, or means of two ranks from 1 on"
# names of columns of ranks, unlike pagerank
_RANK = re.compile(r"(?<![a-z])(rank|position)(?![a-z])", re.IGNORECASE)


class NoColumnError(ValueError):
    """A frame has no column of the name that was given."""


@dataclass(frozen=True)
class FrameRows:
    """A long DataFrame and the column of its values.

    Parameters
    ----------
    name : str
        The argument that holds it, for messages.
    frame : DataFrame
        One row per query and document.
    value : str, int or None
        Column of the relevance, the score or the rank. None means a relevance of 1.
    kind : {"relevance", "score", "rank"}
        What the values are; of ranks, lower ones are better.
    may_be_nan : bool
        Whether values may be NaN, for documents that nobody judged.
    """

    name: str
    frame: Any
    value: ColumnName | None
    kind: Kind = "relevance"
    may_be_nan: bool = False

    def column(self, name: Any) -> Any:
        """A column, or a level of the index of a pandas DataFrame."""
        check_in_memory(self.frame, self.name)
        # columns of Spark hold no values; a data frame may have a column named "collect"
        is_frame = hasattr(self.frame, "columns") and not hasattr(type(self.frame), "collect")
        if not is_frame or not hasattr(self.frame, "__getitem__"):
            raise TypeError(
                f"{self.name} must be a DataFrame with one row per query and document; got a "
                f"{type(self.frame).__name__}. {_to_frame(self.frame, name)}"
            )
        present = column_names(self.frame)
        if present.count(name) == 1:
            return self.frame[name]
        if name in level_names(self.frame) and name not in present:
            return self.frame.index.get_level_values(name)
        if name in present:
            raise ValueError(
                f"{self.name} has more than one column {name!r}; its columns are {present}. Rename "
                "or drop all but one of them."
            )
        raise NoColumnError(
            f"{self.name} has no column {name!r}; its columns are {present}."
            f"{did_you_mean(name, present)}{self._of_several(name)}"
        )

    def _of_several(self, names: Any) -> str:
        """What to do instead of naming several columns."""
        if not isinstance(names, list | tuple):
            return ""
        if names is self.value:
            by_name = {str(name): name for name in names}
            systems = f" Columns of several systems are a dict by name: score={by_name!r}."
            return systems if self.kind == "score" else ""
        frame = self.name.partition("[")[0]
        columns = ", ".join(f"{frame}[{name!r}]" for name in names)
        return f" Combine the columns into one first, such as of tuples, list(zip({columns}))."

    def query_ids(self, name: ColumnName) -> Any:
        """The column of the query ids, of which there must be at least one."""
        column = self.column(name)
        if not len(column):
            raise ValueError(f"{self.name} has no rows; at least one is needed.")
        return column

    def values(self) -> Array:
        """Relevance, or scores of which higher is better."""
        name = f"{self.name}, column {self.value!r},"
        values = as_numbers(
            self.column(self.value), name,
            allow_nan=self.may_be_nan, remedy=_REMEDIES[self.kind],
        )  # fmt: skip
        if self.kind == "score" and are_ranks(self.value, values):
            raise ValueError(
                f"{name} is given as score=, of which higher is better, but its name and values "
                f"are those of ranks. Pass it as rank={self.value!r}, or rename it if higher is "
                "better."
            )
        return self._from_ranks(name, values) if self.kind == "rank" else values

    def _from_ranks(self, name: str, values: Array) -> Array:
        if (wrong := find_no_rank(values)) is not None:
            raise ValueError(
                f"{name} {MUST_BE_RANKS}; got {wrong!r}. Pass scores, of which higher is better, "
                "as score=, and the negatives of other numbers of which lower is better."
            )
        return -values.astype(np.float64)

    def item_lists(self, query: Array, document: Array, duplicates: Duplicates) -> ItemLists:
        """The items of the queries at positions of at least 0, sorted by query."""
        if self.value is None:
            values: Array = np.ones(len(query), dtype=np.int64)
        else:
            values = self.values() if len(query) else np.zeros(0)
        if query.size and query.min() < 0:
            rows = np.flatnonzero(query >= 0)
            query, document, values = query[rows], document[rows], values[rows]
        else:
            rows = np.arange(len(query))
        if has_duplicates(query, document):
            if duplicates == "error":
                self.refuse_duplicates(query, document, rows)
            best_first = np.lexsort((descending(values), query))
            query, document, values = query[best_first], document[best_first], values[best_first]
            if duplicates == "drop" or self.name == "truth":
                first = np.sort(np.unique(_pairs(query, document), return_index=True)[1])
                query, document, values = query[first], document[first], values[first]
        elif (query[1:] < query[:-1]).any():
            order = order_by_code(query, int(query.max()) + 1)
            query, document, values = query[order], document[order], values[order]
        return ItemLists(query, document, values)

    def refuse_duplicates(self, query: Array, document: Array, rows: Array | None = None) -> None:
        """Raise an error if a document occurs more than once for a query.

        `rows` are the row numbers of the documents; None means that the frame is the only one.
        """
        if not has_duplicates(query, document):
            return
        pairs = _pairs(query, document)
        order = np.argsort(pairs, kind="stable")
        repeated = np.flatnonzero(pairs[order][1:] == pairs[order][:-1])
        second = int(order[repeated + 1].min())
        first = int(np.flatnonzero(pairs == pairs[second])[0])
        at = [first, second] if rows is None else [int(rows[first]), int(rows[second])]
        if rows is None:
            fix = "pass two frames, relevance and predictions, with duplicates='drop' or 'keep'."
        else:
            fix = "choose with duplicates='drop' or 'keep'."
        if self.name == "predictions":
            fix += " Rows of several systems are passed as a dict of DataFrames by name."
        raise ValueError(
            f"{self.name} repeats a document of a query in {counted(len(repeated), 'row')}; "
            f"the first is row {at[1]}, which repeats row {at[0]}. Remove them, or {fix}"
        )


def check_names(tables: Sequence[FrameRows], names: Iterable[ColumnName]) -> None:
    """Refuse a column of ids that only some of the frames have under its name."""
    for name in names:
        lacking: list[str] = []
        for rows in tables:
            try:
                rows.column(name)
            except NoColumnError as error:
                lacking.append(
                    f"{error} Columns of ids need the same name in all frames, and others have "
                    f"{name!r}: rename the one of {rows.name}."
                )
        if 0 < len(lacking) < len(tables):
            raise ValueError(lacking[0])


def _to_frame(source: Any, column: Any) -> str:
    """How to convert what is not a DataFrame."""
    rows = source if isinstance(source, list) else []
    if rows and all(hasattr(row, "columns") for row in rows):
        return "Several systems are a dict of DataFrames by name."
    if rows and all(isinstance(row, Mapping | tuple) for row in rows):
        return "Convert the rows, for example by pandas.DataFrame(rows)."
    if isinstance(source, Mapping) and isinstance(column, Hashable) and column in source:
        return "Convert the columns, for example by pandas.DataFrame(columns)."
    if isinstance(source, str | os.PathLike):
        return "Read the file first, for example by pandas.read_csv."
    if hasattr(source, "toPandas"):
        return "Collect it first, as Spark does by toPandas()."
    return "Lists by query go into from_ranked_lists, files and dicts of dicts into from_trec."


def find_no_rank(values: Array) -> float | None:
    """The first value that is no rank, nor the mean of two; None if all may be."""
    with np.errstate(invalid="ignore"):
        part = values % (0.5 if values.min() >= 1 else 1)  # nan of infinity
    wrong = (values < 0) | (part != 0)
    return float(values[wrong.argmax()]) if wrong.any() else None


def are_ranks(name: Any, values: Array) -> bool:
    """Whether a column of scores has the name and the values of ranks."""
    is_named = _RANK.search(str(name)) is not None
    return is_named and values.min() >= 0 and np.array_equal(values, np.floor(values))


def has_duplicates(query: Array, document: Array) -> bool:
    """Whether a document occurs more than once for a query."""
    pairs = np.sort(_pairs(query, document))
    return bool((pairs[1:] == pairs[:-1]).any())


def _pairs(query: Array, document: Array) -> Array:
    """A query and a document as one integer."""
    return query.astype(np.int64) * (1 + int(document.max(initial=0))) + document
