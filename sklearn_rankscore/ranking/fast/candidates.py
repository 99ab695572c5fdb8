"""Candidates: the documents that can stand among the first ranks, a small part of a long query."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from ..._typing import Array
from ..ties import SHORT, leading
from .documents import Documents, label_mask
from .grades import count_flags
from .keys import collides

# documents per step: few enough that their scores stay in cache, and enough that threads, which
# wait for Python's lock between operations, seldom wait
STEP = 2**19

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


class CollidingRows:
    """The rows of a block that are ranked again.

    Parameters
    ----------
    documents : Documents
        All documents of the call.
    queries, rows : int array of shape (n_rows,)
        Positions of the queries among all, and of their rows in the block.
    keys : int array of shape (n_block_rows, width)
        The keys of the whole block; in input order unless `is_whole`.
    depth : int
        Number of ranks that matter.
    """

    def __init__(
        self, documents: Documents, queries: Array, rows: Array, keys: Array, depth: int
    ) -> None:
        self.documents, self.queries, self.depth = documents, queries, depth
        self.width = keys.shape[1]
        self._rows, self._keys = rows, keys

    def first_documents(self, first: Array) -> list[RowsPart]:
        """The documents of each query that can be among the first ranks.

        `first` are the smallest keys of each row, sorted.
        """
        last, mask = first[:, self.depth - 1], label_mask(self.documents.n_grades)
        few = np.zeros(len(self.queries), dtype=bool)
        if not is_whole(self.width, self.depth):
            beyond = leading(collides(first[:, self.depth - 1 :], mask))
            few = self.depth + beyond <= FEW * self.width
            few &= self.documents.sizes[self.queries] >= self.depth
        return [*self._whole(np.flatnonzero(~few)), *self._parts(np.flatnonzero(few), last | mask)]

    def _whole(self, chosen: Array) -> Iterator[RowsPart]:
        """Some of the rows with all their documents."""
        for step in _steps(len(chosen), self.width):
            members = self.queries[chosen[step]]
            read = partial(self.documents.rows, members, self.width)
            yield RowsPart(chosen[step], self.documents.sizes[members], self.width, read)

    def _parts(self, chosen: Array, highest: Array) -> Iterator[RowsPart]:
        """Some of the rows with the documents up to the key `highest`, if these are few."""
        if not len(chosen):
            return
        counts, places = self._find(chosen, highest)
        yield from self._whole(chosen[counts == 0])
        starts, order = np.cumsum(counts) - counts, np.flatnonzero(counts)
        order = order[np.argsort(counts[order], kind="stable")]
        for step in _steps(len(order), int(counts.max())):  # similar widths together
            members = order[step]
            sizes = counts[members]
            read = partial(_read, self.documents, places, starts[members], sizes)
            yield RowsPart(chosen[members], sizes, int(sizes[-1]), read)

    def _find(self, chosen: Array, highest: Array) -> tuple[Array, Array]:
        """Number of candidates of each row, 0 if there are many, and the positions of all."""
        counts, places = np.empty(len(chosen), dtype=np.intp), []
        for step in _steps(len(chosen), self.width):
            members = chosen[step]
            is_candidate = self._keys[self._rows[members]] <= highest[members, None]
            n = count_flags(is_candidate).astype(np.intp)
            many = np.flatnonzero(n > FEW * self.width)
            is_candidate[many], n[many] = False, 0
            counts[step] = n
            start = self.documents.starts[self.queries[members]]
            start -= np.arange(0, is_candidate.size, self.width)
            places.append(np.flatnonzero(is_candidate) + np.repeat(start, n))
        return counts, np.concatenate(places)


def is_whole(width: int, depth: int) -> bool:
    """Whether all documents of such rows are ranked, because few could be left out."""
    return width <= SHORT or depth > FEW * width


def _read(documents: Documents, places: Array, starts: Array, sizes: Array) -> tuple[Array, Array]:
    columns = np.arange(sizes.max())
    chosen = places.take(starts[:, None] + columns, mode="clip")
    return documents.at(chosen, columns >= sizes[:, None])


def _steps(n_rows: int, width: int) -> Iterator[slice]:
    step = max(1, STEP // max(1, width))
    return (slice(start, start + step) for start in range(0, n_rows, step))
