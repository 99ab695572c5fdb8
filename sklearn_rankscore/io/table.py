"""The one long table of every form of input, its ids, and its ranks as scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from numbers import Number
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from .._typing import Array
from .._validation import shown
from ..query_ids.read import as_objects, factorize, python_values

# a column of ids: either the ids, and None, or some values and the position among them of each row
Ids: TypeAlias = tuple[Array, Array | None]

# ranks without a document, beside a hundred for each one with a document
MOST_GAPS = 10**6
# ids that are never equal to those of another kind
KINDS: dict[type, str] = {Number: "number", str: "text", bytes: "bytes", tuple: "tuple"}


@dataclass(frozen=True)
class LongTable:
    """Judgments, or the results of a system: one row per query and document.

    Parameters
    ----------
    name : str
        What errors call the table.
    query, document : tuple
        Columns of ids.
    value : array of shape (n_rows,)
        Relevance, scores or ranks.
    where : callable
        ``where(row)`` is a row in a message, such as the line of a file.
    is_ranked : bool, default=False
        Whether the values are ranks, 1 for the best.
    """

    name: str
    query: Ids
    document: Ids
    value: Array
    where: Callable[[int], str]
    is_ranked: bool = False


def row_of(name: str) -> Callable[[int], str]:
    """The rows of what has no lines in a message."""
    return lambda row: f"{name}, row {row}"


class CodedRows(NamedTuple):
    """Rows of a table, with codes of queries and documents instead of ids."""

    query: Array
    document: Array
    value: Array

    def where(self, selected: Array) -> CodedRows:
        """Some of the rows."""
        return self if selected.all() else CodedRows(*(column[selected] for column in self))

    def and_more(self, query: Array, document: Array, value: Array) -> CodedRows:
        """Further rows at the end."""
        return CodedRows(*map(np.append, self, (query, document, value.astype(self.value.dtype))))


def are_distinct(pairs: Array) -> bool:
    """Whether no pair occurs twice."""
    pairs = np.sort(pairs)
    return not (pairs[1:] == pairs[:-1]).any()


def in_order(pairs: Array) -> tuple[Array, Array]:
    """Row numbers by ascending pair, and which of these pairs differ from the one before.

    The sort is stable, and several times faster than argsort if a pair and a row fit into 63 bits.
    """
    bits, rows = len(pairs).bit_length(), np.arange(len(pairs))
    if int(pairs.max(initial=0)) >> (63 - bits):
        rows = np.argsort(pairs, kind="stable")
        pairs = pairs[rows]
    else:
        keys = (pairs << bits) | rows
        keys.sort()
        rows, pairs = keys & ((1 << bits) - 1), keys >> bits
    return rows, np.append(True, pairs[1:] != pairs[:-1])[: len(rows)]


def are_in(pairs: Array, others: Array) -> Array:
    """As `numpy.isin`, whose hash table is slow for such numbers."""
    others = np.sort(others)
    return np.asarray(np.append(others, -1)[np.searchsorted(others, pairs)] == pairs)


def in_common(columns: Sequence[Ids], name: str) -> tuple[Array, list[Array]]:
    """The distinct ids of several columns, and the code of each row of each column.

    They are sorted, unless they cannot be compared or all columns have the same values. `name` is
    what errors call them.
    """
    values, codes = zip(*columns, strict=True)
    if all(of is values[0] for of in values) and codes[0] is not None:
        return values[0], list(codes)
    _refuse_unequal(values, name)
    if len({of.dtype.kind for of in values} | {"O"}) > 2 or values[0].dtype.kind == "O":
        # integers and floats together would be rounded
        every = as_objects([one for of in values for one in python_values(of, dates=False)])
    else:
        every = np.concatenate(values)
    if not len(every):
        return every, [np.zeros(0, dtype=np.intp)] * len(columns)
    distinct, position = factorize(every, name)
    _refuse_same_texts(distinct, name)
    parts = np.split(position, np.cumsum([len(of) for of in values])[:-1])
    every_code = zip(parts, codes, strict=True)
    return distinct, [part if code is None else part[code] for part, code in every_code]


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


def _kind(of: type) -> str:
    return next((kind for base, kind in KINDS.items() if issubclass(of, base)), "")


def _refuse_same_texts(ids: Array, name: str) -> None:
    """Refuse 2 beside "2", of two files of which one was read as numbers."""
    listed: list[Any] = ids.tolist() if ids.dtype.kind == "O" else []
    others = [one for one in listed if not isinstance(one, str) and isinstance(one, Number | bytes)]
    texts = set(listed) if others else set()
    for one in others:
        text = one.decode(errors="replace") if isinstance(one, bytes) else str(one)
        if text in texts:
            raise _unequal(name, one, text)


def _unequal(name: str, here: Any, there: Any) -> TypeError:
    return TypeError(
        f"{name} are {shown(here)} in one place and {shown(there)} in another, which are never "
        "equal. Convert all of them to one type; pairs of an item and its score become a dict, "
        "dict(pairs)."
    )


def at_ranks(name: str, rows: CodedRows, first_gap: int) -> CodedRows:
    """Rows with scores instead of ranks, and one for each missing rank, of another document.

    Of tied documents, whose rank may be the lowest, the mean or the highest of theirs, no more
    ranks are missing before them than before those that end there.
    """
    ranks = rows.value.astype(np.float64) + (rows.value.min(initial=1) == 0)
    counts = np.bincount(rows.query)
    if (ranks <= counts[rows.query]).all() and (ranks == np.floor(ranks)).all():
        is_taken = np.zeros(len(ranks), dtype=bool)
        is_taken[(np.cumsum(counts) - counts)[rows.query] + ranks.astype(np.intp) - 1] = True
        if is_taken.all():
            return rows._replace(value=-ranks)  # the most usual ranks, without a sort
    order = np.lexsort((ranks, rows.query))
    query, rank = rows.query[order], ranks[order]
    key = query * (1 + rank.max(initial=0)) + rank
    starts = np.searchsorted(query, query)
    missing = np.maximum(np.ceil(rank) - (np.searchsorted(key, key, side="right") - starts), 0)
    step = query * (1 + missing.max(initial=0))  # so that a maximum does not reach the next query
    missing = np.maximum.accumulate(missing + step) - step
    missing -= np.where(starts == np.arange(len(rank)), 0, np.roll(missing, 1))
    if (total := missing.sum()) > MOST_GAPS + 100 * len(ranks):
        raise ValueError(
            f"{name} has ranks up to {ranks.max():.15g}, and {total:,.0f} ranks below them are "
            "missing. Pass numbers that are no ranks as scores, of which higher is better."
        )
    of_gaps, gaps = (np.repeat(of, missing.astype(np.int64)) for of in (query, 0.25 - rank))
    places = np.arange(len(gaps)) - np.searchsorted(of_gaps, of_gaps)
    return rows._replace(value=-ranks).and_more(of_gaps, first_gap + places, gaps)
