"""The one long table for every form of input, and ranks as its values."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._typing import Array
from ..query_ids.read import as_ids, check_no_nan, factorize

# names of columns of ranks, unlike pagerank
_RANK = re.compile(r"(?<![a-z])(rank|position)(?![a-z])", re.IGNORECASE)
# ranks without a document, beside a hundred for each one with a document
MOST_GAPS = 10**6


@dataclass(frozen=True)
class Table:
    """Judgments, or the results of a system: one row per query and document.

    Parameters
    ----------
    query, document : int arrays of shape (n_rows,)
        Positions in `queries` and `documents`.
    value : array of shape (n_rows,)
        Relevance, scores, or ranks.
    queries, documents : sequences
        The distinct ids.
    name : str
        What errors call the table.
    locate : callable, default=None
        ``locate(row)`` says where a row stands, such as in which line of a file.
    has_ranks : bool, default=False
        Whether values are ranks, 1 for the best.
    """

    query: Array
    document: Array
    value: Array
    queries: Any = ()
    documents: Any = ()
    name: str = ""
    locate: Callable[[int], str] | None = None
    has_ranks: bool = False

    def where(self, row: int) -> str:
        """A row in a message."""
        return f"{self.name}, row {row}" if self.locate is None else self.locate(row)

    def of_queries(self, position: Array) -> Table:
        """The rows of some queries; `position` has the new place of each query, or -1."""
        query = position[self.query]
        moved = replace(self, query=query)
        return moved.rows(query >= 0) if query.min(initial=0) < 0 else moved

    def without(self, seen: Table) -> Table:
        """The rows whose query and document do not occur in another table."""
        n_items = 1 + max(int(t.document.max(initial=0)) for t in (self, seen))
        keys, others = (t.query.astype(np.int64) * n_items + t.document for t in (self, seen))
        return self.rows(~np.isin(keys, others))

    def rows(self, selected: Array) -> Table:
        """Some of the rows."""
        rows = np.flatnonzero(selected)
        return replace(
            self, query=self.query[rows], document=self.document[rows], value=self.value[rows],
            locate=lambda row: self.where(int(rows[row])),
        )  # fmt: skip


def distinct(column: Any, name: str) -> tuple[Array, Array]:
    """The code of each id in a column, and the distinct ids; `name` is what errors call them."""
    ids, categories = as_ids(column, name)
    check_no_nan(ids, name)
    if not len(ids):
        return np.zeros(0, dtype=np.intp), ids
    values, codes = factorize(ids, name)
    return codes, values if categories is None else categories[values]


def check_ranks(values: Array, field: str, column: Any, where: str) -> None:
    """Refuse ranks as scores, which would reverse the ranking, and other numbers as ranks."""
    is_named = _RANK.search(str(column)) is not None
    are_ranks = is_named and values.min(initial=0) >= 0 and (values == np.floor(values)).all()
    if field == "score" and are_ranks:
        raise ValueError(
            f"{where} is given as score, of which higher is better, but its name and values are "
            f"those of ranks. Pass it as rank={column!r} (on the command line --columns "
            f"rank={column}), or rename it if higher is better."
        )
    if field != "rank":
        return
    with np.errstate(invalid="ignore"):
        part = values % (0.5 if values.min(initial=1) >= 1 else 1)  # nan of infinity
    if (wrong := (values < 0) | (part != 0)).any():
        raise ValueError(
            f"{where} must hold ranks, 1 for the best, or means of two ranks from 1 on; got "
            f"{float(values[wrong.argmax()])!r}. Pass scores, of which higher is better, as score, "
            "and the negatives of other numbers of which lower is better."
        )


def at_ranks(table: Table, n_items: int) -> Table:
    """The rows with values that rank them, and rows of no document for the ranks that are missing.

    Of tied documents, whose rank may be the lowest, the mean or the highest of theirs, no more
    ranks are missing before them than before those that end there. Codes of documents from
    `n_items` on mean none.
    """
    if not len(table.query):
        return table
    ranks = table.value.astype(np.float64)
    ranks = ranks + 1 if ranks.min() == 0 else ranks
    order = np.lexsort((ranks, table.query))
    query, rank = table.query[order], ranks[order]
    starts = np.flatnonzero(np.append(True, (query[1:] != query[:-1]) | (rank[1:] != rank[:-1])))
    sizes = np.diff(np.append(starts, len(query)))
    query, rank = query[starts], rank[starts]
    before = starts - starts[np.searchsorted(query, query)]
    missing = np.maximum(np.ceil(rank) - sizes - before, 0)
    step = query * (1 + missing.max())  # so that a maximum does not reach the next query
    missing = (np.maximum.accumulate(missing + step) - step).astype(np.int64)
    earlier = np.append(0, np.where(query[1:] == query[:-1], missing[:-1], 0))
    n_gaps = missing - earlier
    if (total := int(n_gaps.sum())) > MOST_GAPS + 100 * len(ranks):
        raise ValueError(
            f"{table.name} has ranks up to {ranks.max():.15g}, and {total:,} ranks below them are "
            "missing. Pass numbers that are no ranks as scores, of which higher is better."
        )
    place = np.arange(total) - np.repeat(np.cumsum(n_gaps) - n_gaps - earlier, n_gaps)
    return replace(
        table,
        query=np.append(table.query, np.repeat(query, n_gaps)),
        document=np.append(table.document, n_items + place),
        value=-np.append(ranks, np.repeat(rank - 0.25, n_gaps)),
        has_ranks=False,
    )
