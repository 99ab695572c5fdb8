"""The only sort: queries of similar length become dense ranked blocks that stay in cache."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from numbers import Integral
from typing import Any

import numpy as np
from joblib import effective_n_jobs

from .aggregate import Values
from .arrays import Array
from .block import Block, TiedRows
from .queries import Queries
from .ties import Runs

# documents in a block: few enough to stay in cache, and enough that threads, which hold Python's
# lock between two operations, seldom wait for one another
BLOCK_DOCUMENTS = 2**19

# a query from this length on fills blocks by itself, and needs no padding
LONG = 2**16

# labels up to this are kept in a byte, and in the low bits of the key that is sorted
HIGHEST_GRADE = 62

# up to this depth keys of 32 bits are sorted, in half the time; beyond it too many scores would
# collide in them
SHALLOW = 32

# below this share of the width, finding the first ranks is cheaper than sorting them all
PARTITION_SHARE = 1 / 16


class Ranking:
    """Queries as ranked blocks, made when they are asked for.

    Parameters
    ----------
    queries : Queries
        What `read_queries` returned.
    depth : int or None
        How many ranks the metrics look at; None for all of them.
    """

    def __init__(self, queries: Queries, depth: int | None = None) -> None:
        self.queries, self.depth = queries, depth
        labels, self.n_grades = _graded(queries.y_true, *queries.label_range)
        self.labels = _together(labels, queries.rows)
        self.scores = _together(queries.y_score, queries.rows)
        self.all_retrieved = queries.lowest_score > -np.inf
        self._kept: list[Block] | None = None

    def keep(self) -> Ranking:
        """Rank now and keep the blocks, for metrics that come one at a time."""
        self._kept = [rank(self, *piece) for piece in pieces(self.queries.sizes)]
        return self

    def apply(
        self, kernels: Sequence[Callable[[Block], Any]], n_jobs: int | None = None
    ) -> list[Values]:
        """Each kernel's value for every query, after one sort."""
        results = [Values.empty(len(self.queries)) for _ in kernels]

        def work(piece: tuple[int, Array] | Block) -> None:
            block = piece if isinstance(piece, Block) else rank(self, *piece)
            for kernel, values in zip(kernels, results, strict=True):
                values.put(block.queries, kernel(block))

        if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral | None):
            raise TypeError(f"n_jobs must be an integer or None; got {n_jobs!r}.")
        jobs = effective_n_jobs(n_jobs)
        todo: Any = pieces(self.queries.sizes, jobs) if self._kept is None else self._kept
        if jobs == 1:
            for piece in todo:
                work(piece)
        else:
            # NumPy lets go of the interpreter lock in sorts and arithmetic
            with ThreadPoolExecutor(jobs) as pool:
                list(pool.map(work, todo))
        return results


def pieces(sizes: Array, jobs: int = 1) -> Iterator[tuple[int, Array]]:
    """Padded width and positions of queries of similar length, for a block each."""
    if len(sizes) == 1:
        yield int(padded_width(sizes)[0]), np.zeros(1, dtype=np.intp)
        return
    widths, which = np.unique(padded_width(sizes), return_inverse=True)
    # a stable sort of 16-bit integers takes linear time, and keeps memory access in order
    order = np.argsort(which.astype(np.uint16), kind="stable")
    ends = np.cumsum(np.bincount(which)).tolist()
    for width, (first, last) in zip(widths.tolist(), pairwise([0, *ends]), strict=True):
        rows, most = last - first, max(1, BLOCK_DOCUMENTS // width)
        n_blocks = -(-rows // most)
        if n_blocks > 1:  # as many for each thread as for the next
            n_blocks = min(rows, -(-n_blocks // jobs) * jobs)
        for part in np.array_split(order[first:last], n_blocks):
            yield width, part


def padded_width(sizes: Array) -> Array:
    """Sizes rounded up: a power of two to 16, then four significant bits, long ones not at all.

    It depends on a query's own size alone, so that a sum over its ranks has the same bits in
    whatever block it stands.
    """
    length = np.frexp(sizes - 1)[1]
    shift = np.where(sizes <= 16, length, np.where(sizes < LONG, length - 4, 0))
    return np.asarray(((sizes + (1 << shift) - 1) >> shift) << shift)


def rank(ranking: Ranking, width: int, piece: Array) -> Block:
    """Gather some queries into rows and sort each by descending score."""
    queries = ranking.queries
    sizes, starts = queries.sizes[piece], queries.starts[piece]
    depth = width if ranking.depth is None else min(ranking.depth, width)
    labels = _gather(ranking.labels, starts, width)
    scores = _gather(ranking.scores, starts, width)
    if scores.dtype.kind != "f":
        scores = scores.astype(np.float64)
    outside = _outside(sizes, width)
    retrieved = sizes
    if not ranking.all_retrieved:
        scores = _padded(scores, outside, -np.inf)
        retrieved = (scores > -np.inf).sum(axis=1)
    if ranking.n_grades:
        labels = _padded(labels, outside, 0)
        ranked, tied = _sort_grades(labels, scores, sizes, depth, ranking.n_grades, outside)
    else:
        labels = _padded(labels, outside, labels[:, :1])
        ranked, tied = _sort_scores(labels, _padded(scores, outside, -np.inf), sizes, depth)
    return Block(piece, sizes, retrieved, labels, ranked, tied, ranking.n_grades)


def _graded(y_true: Array, low: float, high: float) -> tuple[Array, int]:
    """Labels plus one as bytes, and how many grades there are, if they are small whole numbers.

    0 is left for padding. Other labels come back as they are, with 0 grades.
    """
    if low < 0 or high > HIGHEST_GRADE:
        return y_true, 0
    codes = y_true.astype(np.uint8)
    if y_true.dtype.kind == "f" and not np.array_equal(codes, y_true):
        return y_true, 0
    codes += 1
    return codes, int(high) + 1


def _together(values: Array, rows: Array | None) -> Array:
    """Values with those of a query side by side, in one stretch of memory."""
    return np.ascontiguousarray(values) if rows is None else values.take(rows)


def _gather(values: Array, starts: Array, width: int) -> Array:
    """The `width` values from each start on; what lies beyond a query's end is anything."""
    if starts[-1] + width <= len(values) and _side_by_side(starts, width):
        return values[starts[0] : starts[-1] + width].reshape(len(starts), width)
    if len(values) < width:
        return values.take(starts[:, None] + np.arange(width), mode="clip")
    # whole rows of a sliding window are copied several times faster than single elements
    shape, step = (len(values) - width + 1, width), values.itemsize
    windows: Array = np.ndarray(shape, values.dtype, values, strides=(step, step))
    gathered = windows[np.minimum(starts, len(windows) - 1)]
    for row in np.flatnonzero(starts >= len(windows)):
        gathered[row, : len(values) - starts[row]] = values[starts[row] :]
    return np.asarray(gathered)


def _side_by_side(starts: Array, width: int) -> bool:
    """Whether rows follow one another without a gap, so that a view of them will do."""
    apart = int(starts[-1] - starts[0]) == width * (len(starts) - 1)
    return apart and bool((np.diff(starts) == width).all())


def _outside(sizes: Array, width: int) -> Array | None:
    """Where rows go beyond their query; None where they do not."""
    if int(sizes.min()) == width:
        return None
    # the narrowest integers compare the fastest
    narrow: Any = np.uint16 if width < 2**16 else np.int64
    return np.asarray(np.arange(width, dtype=narrow) >= sizes.astype(narrow)[:, None])


def _padded(values: Array, outside: Array | None, padding: Any) -> Array:
    """Rows with something else where they go beyond their query."""
    if outside is None:
        return values
    if values.base is not None:  # a view of what was given
        values = values.copy()
    np.copyto(values, padding, where=outside, casting="unsafe")
    return values


def _sort_grades(
    labels: Array, scores: Array, sizes: Array, depth: int, n_grades: int, outside: Array | None
) -> tuple[Array, TiedRows | None]:
    """Sort integer keys that hold a score in the high bits and its grade in the low ones.

    One sort of integers takes the grades along, where an argsort would have to gather them. Cut
    off by its low bits, a score may equal a neighbour that it does not; rows in which that
    happens are looked at again with more bits, and at last with the whole score.
    """
    low = (1 << n_grades.bit_length()) - 1
    shallow = depth <= SHALLOW
    keys = _keys(labels, scores, outside, low, np.int32 if shallow else np.int64)
    if depth < keys.shape[1] * PARTITION_SHARE:
        keys.partition(depth, axis=1)
        first = np.sort(keys[:, : depth + 1], axis=1)
    else:
        keys.sort(axis=1)
        first = keys[:, : depth + 1]
    ranked = first[:, :depth].astype(np.uint8) & low
    same = _same(first, low)
    if not same.any():
        return ranked, None
    rows = np.flatnonzero(same.any(axis=1))
    if len(rows) < len(keys):
        labels, scores, keys = labels[rows], scores[rows], keys[rows]
        outside = None if outside is None else outside[rows]
    if shallow:
        keys = _keys(labels, scores, outside, low, np.int64)
    keys.sort(axis=1)
    whole, same = keys.astype(np.uint8) & low, _same(keys, low)
    scores = _padded(scores, outside, -np.inf)
    ordered = np.subtract(0.0, scores)
    ordered.sort(axis=1)
    truly = _tied(ordered, sizes[rows])
    wrong = np.flatnonzero(truly.sum(axis=1) != same.sum(axis=1))
    whole[wrong] = _in_input_order(labels[wrong], scores[wrong])
    ranked[rows] = whole[:, :depth]
    tied = np.flatnonzero(truly[:, :depth].any(axis=1))
    if not len(tied):
        return ranked, None
    reach = _reach(truly[tied], depth)
    runs = Runs(truly[tied, : reach - 1])
    return ranked, TiedRows(
        rows[tied], whole[tied, :reach], runs, lambda: _in_input_order(labels[tied], scores[tied])
    )


def _keys(
    labels: Array, scores: Array, outside: Array | None, low: int, integer: type[Any]
) -> Array:
    """Integers ordered like descending scores, with the label in the low bits."""
    real: Any = np.float32 if integer is np.int32 else np.float64
    with np.errstate(over="ignore", under="ignore"):
        # 0 - x: the negative zero must tie with zero
        keys = np.subtract(0.0, scores, dtype=real, casting="same_kind").view(integer)
    # the bits of negative floats are ordered backwards
    keys ^= (keys >> (8 * keys.itemsize - 1)) & np.iinfo(integer).max
    keys &= integer(~low)
    keys |= labels
    if outside is not None:
        # above infinity, and no two alike, so that padding ties with nothing
        infinity = int(real(np.inf).view(integer))
        padding = infinity + np.arange(1, keys.shape[1] + 1) * (low + 1)
        np.copyto(keys, padding.astype(integer), where=outside)
    return np.asarray(keys)


def _same(keys: Array, low: int) -> Array:
    """Whether each sorted key has the score of the next one."""
    return np.asarray(keys[:, 1:] <= (keys[:, :-1] | keys.dtype.type(low)))


def _tied(ordered: Array, sizes: Array) -> Array:
    """Whether each sorted score equals the next one, both of them documents."""
    inside = np.arange(1, ordered.shape[1]) < sizes[:, None]
    return np.asarray((ordered[:, 1:] == ordered[:, :-1]) & inside)


def _sort_scores(
    labels: Array, scores: Array, sizes: Array, depth: int
) -> tuple[Array, TiedRows | None]:
    """Sort by the scores themselves and gather the labels: for labels that are no small grades."""
    descending = np.subtract(0.0, scores)
    order = np.argsort(descending, axis=1)
    ordered = np.take_along_axis(descending, order, axis=1)
    same = _tied(ordered, sizes)
    ranked = np.take_along_axis(labels, order[:, :depth], axis=1)
    # documents that were not retrieved must come before the padding, which ties with them
    rows = np.flatnonzero(same[:, :depth].any(axis=1) | (ordered == np.inf).any(axis=1))
    if not len(rows):
        return ranked, None
    tied = _in_input_order(labels[rows], scores[rows])
    ranked[rows] = tied[:, :depth]
    reach = _reach(same[rows], depth)
    runs = Runs(same[rows, : reach - 1])
    return ranked, TiedRows(rows, tied[:, :reach], runs, lambda: tied)


def _in_input_order(labels: Array, scores: Array) -> Array:
    """Labels by descending score, those of equal scores in input order."""
    order = np.argsort(np.subtract(0.0, scores), axis=1, kind="stable")
    return np.take_along_axis(labels, order, axis=1)


def _reach(same: Array, depth: int) -> int:
    """How many places a row must show so that no run that begins within the depth is cut."""
    beyond = same[:, depth - 1 :]
    if not beyond.size or not beyond[:, 0].any():
        return depth
    return depth + int(np.where(beyond.all(axis=1), beyond.shape[1], beyond.argmin(axis=1)).max())
