"""Ranks as the values of documents: which numbers may be ranks, and those without a document."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np

from .._typing import Array
from .table import NOWHERE, Table

MUST_BE_RANKS = "must hold ranks, 1 for the best, or means of two ranks from 1 on"
# names of columns of ranks, unlike pagerank
_RANK = re.compile(r"(?<![a-z])(rank|position)(?![a-z])", re.IGNORECASE)
# ranks without a document, beside a hundred for each one with a document
MOST_GAPS = 10**6


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


def at_ranks(table: Table, ranks: Array, n_items: int, name: str) -> Table:
    """The rows with values that rank them, and rows of no document for the ranks that are missing.

    Of tied documents, whose rank may be the lowest, the mean or the highest of theirs, no more
    ranks are missing before them than before those that end there.
    """
    if not len(ranks):
        return table
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
            f"{name} has ranks up to {ranks.max():.15g}, and {total:,} ranks below them are "
            "missing. Pass numbers that are no ranks as scores, of which higher is better."
        )
    place = np.arange(total) - np.repeat(np.cumsum(n_gaps) - n_gaps - earlier, n_gaps)
    nowhere = (
        np.array([NOWHERE + b"%d" % at for at in place.tolist()], dtype="S")
        if table.has_text
        else n_items + place
    )
    return replace(
        table,
        query=np.append(table.query, np.repeat(query, n_gaps)),
        document=np.append(table.document, nowhere) if total else table.document,
        value=-np.append(ranks.astype(np.float64), np.repeat(rank - 0.25, n_gaps)),
    )
