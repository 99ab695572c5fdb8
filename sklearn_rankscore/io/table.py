"""The one long table of every form of input: its ids, and ranks as scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from numbers import Number
from typing import Any

import numpy as np

from .._typing import Array
from .._validation import shown
from ..query_ids.read import as_objects, of_python

# ranks without a document, beside a hundred for each one with a document
MOST_GAPS = 10**6
# dtypes that NumPy brings to one without loss; integers and floats together would be rounded
ALIKE = (set("bi"), set("bu"), set("f"), set("M"), set("m"), set("U"))
# ids that are never equal to those of another kind
KINDS: dict[type, str] = {Number: "number", str: "text", bytes: "bytes", tuple: "tuple"}


@dataclass(frozen=True)
class Table:
    """Judgments, or the results of a system: one row per query and document.

    Parameters
    ----------
    name : str
        What errors call the table.
    query, document : int arrays of shape (n_rows,)
        Positions in `queries` and `documents`; a negative one means a document without an id.
    value : array of shape (n_rows,)
        Relevance or scores.
    queries, documents : arrays
        The distinct ids.
    locate : callable, default=None
        ``locate(row)`` says where a row stands, such as in which line of a file.
    """

    name: str
    query: Array
    document: Array
    value: Array
    queries: Any = ()
    documents: Any = ()
    locate: Callable[[int], str] | None = None

    def where(self, row: int) -> str:
        """A row in a message."""
        return f"{self.name}, row {row}" if self.locate is None else self.locate(row)

    def rows(self, selected: Array) -> Table:
        """Some of the rows."""
        rows = np.flatnonzero(selected)
        if len(rows) == len(self.query):
            return self
        return replace(
            self, query=self.query[rows], document=self.document[rows], value=self.value[rows],
            locate=lambda row: self.where(int(rows[row])),
        )  # fmt: skip


def in_common(
    columns: Sequence[Array], name: str, *, by_id: bool = False
) -> tuple[Array, list[Array | None]]:
    """All ids of several columns of distinct ids, and where those of each are among them.

    None means that they are all ids, in this order. `name` is what errors call the ids; they are
    sorted if `by_id`.
    """
    if not by_id and all(ids is columns[0] for ids in columns):
        return columns[0], [None] * len(columns)
    _refuse_unequal(columns, name)
    if any({ids.dtype.kind for ids in columns} <= alike for alike in ALIKE):
        common, position = np.unique(np.concatenate(columns), return_inverse=True)
    else:
        listed = [value for ids in columns for value in of_python(ids, dates=False)]
        distinct = dict.fromkeys(listed)
        number = {value: at for at, value in enumerate(sorted(distinct) if by_id else distinct)}
        common = as_objects(number)
        position = np.fromiter(map(number.__getitem__, listed), np.intp, len(listed))
        _refuse_same_texts(common, name)
    return common, list(np.split(position, np.cumsum([len(ids) for ids in columns])[:-1]))


def _kind(of: type) -> str:
    return next((kind for base, kind in KINDS.items() if issubclass(of, base)), "")


def _refuse_unequal(columns: Sequence[Array], name: str) -> None:
    """Refuse columns that have no kind of ids in common."""
    seen = []
    for ids in columns:
        listed = (ids if ids.dtype.kind == "O" else ids[:1]).tolist()
        of_types = dict(zip(map(type, listed), listed, strict=True))
        seen.append({_kind(of): one for of, one in of_types.items()})
    for one, other in combinations(filter(None, seen), 2):
        if one.keys().isdisjoint(other) and "" not in one | other:
            raise _unequal(name, next(iter(one.values())), next(iter(other.values())))


def _refuse_same_texts(ids: Array, name: str) -> None:
    """Refuse 2 beside "2", of two files of which one was read as numbers."""
    listed: list[Any] = ids.tolist()
    others = [one for one in listed if not isinstance(one, str)]
    texts = set(listed) if others else set()
    for one in others:
        if isinstance(one, Number | bytes):
            text = one.decode(errors="replace") if isinstance(one, bytes) else str(one)
            if text in texts:
                raise _unequal(name, one, text)


def _unequal(name: str, here: Any, there: Any) -> TypeError:
    return TypeError(
        f"{name} are {shown(here)} in one place and {shown(there)} in another, which are never "
        "equal. Convert all of them to one type; pairs of an item and its score become a dict, "
        "dict(pairs)."
    )


def at_ranks(table: Table) -> Table:
    """The table with scores instead of ranks, and with rows of no document for missing ranks.

    Of tied documents, whose rank may be the lowest, the mean or the highest of theirs, no more
    ranks are missing before them than before those that end there.
    """
    ranks = table.value.astype(np.float64) + (table.value.min(initial=1) == 0)
    order = np.lexsort((ranks, table.query))
    query, rank = table.query[order], ranks[order]
    key = query * (1 + rank.max(initial=0)) + rank
    starts = np.searchsorted(query, query)
    missing = np.maximum(np.ceil(rank) - (np.searchsorted(key, key, side="right") - starts), 0)
    step = query * (1 + missing.max(initial=0))  # so that a maximum does not reach the next query
    missing = np.maximum.accumulate(missing + step) - step
    earlier = np.where(starts == np.arange(len(rank)), 0, np.roll(missing, 1))
    if (total := (missing - earlier).sum()) > MOST_GAPS + 100 * len(ranks):
        raise ValueError(
            f"{table.name} has ranks up to {ranks.max():.15g}, and {total:,.0f} ranks below them "
            "are missing. Pass numbers that are no ranks as scores, of which higher is better."
        )
    earlier, n_gaps = earlier.astype(np.int64), (missing - earlier).astype(np.int64)
    place = np.arange(n_gaps.sum()) - np.repeat(np.cumsum(n_gaps) - n_gaps - earlier, n_gaps)
    return replace(
        table,
        query=np.append(table.query, np.repeat(query, n_gaps)),
        document=np.append(table.document, -1 - place),
        value=-np.append(ranks, np.repeat(rank - 0.25, n_gaps)),
    )
