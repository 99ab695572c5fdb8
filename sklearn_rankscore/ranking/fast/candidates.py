"""Candidates: the documents that can stand among the first ranks, a small part of a long query."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from ..._typing import Array
from ..ties import leading
from .documents import Documents
from .grades import count_flags
from .keys import label_mask, lowest_scores
from .row_sorts import SHORT

# documents per step: few enough that their scores stay in cache
STEP = 2**16

# rows in which candidates are at most this share of the documents are ranked by these alone
FEW = 0.5


@dataclass
class RowsPart:
    """Documents of some rows of a block, padded to one width with the score -inf.

    Parameters
    ----------
    rows : int array of shape (n_rows,)
        Positions among all rows that are ranked.
    sizes : int array of shape (n_rows,)
        Number of documents of each row.
    width : int
        Number of columns.
    read : callable
        Returns the labels and the scores of the documents, in input order.
    """

    rows: Array
    sizes: Array
    width: int
    read: Callable[[], tuple[Array, Array]]


def first_documents(
    documents: Documents, queries: Array, last: Array, beyond: Array, width: int, depth: int
) -> list[RowsPart]:
    """The documents of each query that can be among the first ranks.

    `last` is the key at the last of these ranks, and `beyond` whether it and those that follow it
    collide with the next one.
    """
    every_row = np.arange(len(queries))
    if width <= SHORT or depth > FEW * width:
        return _whole_rows(documents, queries, every_row, width)
    lowest = lowest_scores(last, label_mask(documents.n_grades), exact=documents.exact_keys)
    few = depth + leading(beyond) <= FEW * width
    return [
        *_whole_rows(documents, queries, every_row[~few], width),
        *_candidates(documents, queries, every_row[few], width, lowest[few], depth),
    ]


def _whole_rows(documents: Documents, queries: Array, rows: Array, width: int) -> list[RowsPart]:
    """Some of the queries with all their documents."""
    parts = []
    for step in _steps(len(rows), width):
        members = queries[rows[step]]
        read = partial(documents.rows, members, width)
        parts.append(RowsPart(rows[step], documents.sizes[members], width, read))
    return parts


def _candidates(
    documents: Documents, queries: Array, rows: Array, width: int, lowest: Array, depth: int
) -> list[RowsPart]:
    """Some of the queries with the documents whose scores are at least `lowest`.

    A query of which these are many, or do not fill the ranks, has all its documents.
    """
    if not len(rows):
        return []
    counts, places = _find(documents, queries[rows], width, lowest, depth)
    parts = _whole_rows(documents, queries, rows[counts == 0], width)
    starts, order = np.cumsum(counts) - counts, np.flatnonzero(counts)
    order = order[np.argsort(counts[order], kind="stable")]  # similar widths together
    for step in _steps(len(order), int(counts.max())):
        members = order[step]
        sizes = counts[members]
        read = partial(_read, documents, places, starts[members], sizes)
        parts.append(RowsPart(rows[members], sizes, int(sizes[-1]), read))
    return parts


def _read(documents: Documents, places: Array, starts: Array, sizes: Array) -> tuple[Array, Array]:
    columns = np.arange(sizes.max())
    chosen = places.take(starts[:, None] + columns, mode="clip")
    return documents.at(chosen, columns >= sizes[:, None])


def _find(
    documents: Documents, queries: Array, width: int, lowest: Array, depth: int
) -> tuple[Array, Array]:
    """Number of candidates of each query, 0 if there are many, and the positions of all."""
    lowest = lowest.astype(np.result_type(documents.scores, lowest))
    counts, places = np.empty(len(queries), dtype=np.intp), []
    for step in _steps(len(queries), width):
        members = queries[step]
        is_candidate = documents.score_rows(members, width) >= lowest[step, None]
        n = count_flags(is_candidate).astype(np.intp)
        refused = np.flatnonzero((n < depth) | (n > FEW * width))
        is_candidate[refused], n[refused] = False, 0
        counts[step] = n
        start = documents.starts[members] - np.arange(0, is_candidate.size, width)
        places.append(np.flatnonzero(is_candidate) + np.repeat(start, n))
    return counts, np.concatenate(places)


def _steps(n_rows: int, width: int) -> Iterator[slice]:
    step = max(1, STEP // max(1, width))
    return (slice(start, start + step) for start in range(0, n_rows, step))
