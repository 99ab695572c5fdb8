"""The hot path and the only sort: queries of similar length become dense ranked blocks.

A document becomes one integer, its key: the high bits are ordered like descending scores, the low
ones hold its grade. Keys are copied into rows, one row a query, and a sort of the rows ranks them.
Where the high bits do not tell two documents apart, whole scores decide (`exact`), as they do for
labels that are no small whole numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from .arrays import Array
from .block import Block, TiedRows
from .documents import Documents
from .exact import equal_neighbours, in_input_order, rank_by_score, reach_of_runs
from .threads import share
from .ties import Runs

# documents in a block, and in a stretch of which keys are made at once: few enough to stay in
# cache, and enough that threads, which hold Python's lock between operations, seldom wait
BLOCK_DOCUMENTS = STRETCH = 2**19

# blocks of similar width are joined up to this size: each costs some sixty calls of NumPy
SMALL_BLOCK = 2**18

# a query from this length on fills blocks by itself, and needs no padding
LONG = 2**19

# up to this depth keys have 32 bits and are sorted in half the time; beyond it too many scores
# would collide in them
SHALLOW = 32

# up to this width rows are sorted column by column, because a call for each row costs more, unless
# there are fewer rows than this for each comparison of columns, of which some sixty are needed
SHORT, FEW = 16, 50

# up to this width a sort has no branches; from there on the first ranks are found without it, if
# the row is so many times as long
MEDIUM, MANY_TIMES = 512, 16

# beyond this width grades are counted, because a sort of few distinct values is slow
SORTED_GRADES = 128


@dataclass
class Piece:
    """Queries for one block, and their keys as rows, unless labels are no grades."""

    width: int
    queries: Array
    keys: Array | None


def pieces(documents: Documents, depth: int | None, jobs: int) -> list[Piece]:
    """Queries of similar length together, the largest blocks first."""
    graded = documents.n_grades > 0
    widths, members = _by_width(documents, depth if graded else None)
    keys: Any = [None] * len(widths)
    if graded:
        keys = _keys_in_rows(documents, widths, members, _integer(depth), jobs)
    found = []
    for width, queries, rows in zip(widths, members, keys, strict=True):
        n_blocks = -(-len(queries) // max(1, BLOCK_DOCUMENTS // width))
        if n_blocks > 1:  # as many for each thread as for the next
            n_blocks = min(len(queries), -(-n_blocks // jobs) * jobs)
        for a, b in pairwise(len(queries) * i // n_blocks for i in range(n_blocks + 1)):
            found.append(Piece(width, queries[a:b], None if rows is None else rows[a:b]))
    return sorted(found, key=lambda piece: -piece.width * len(piece.queries))


def _by_width(documents: Documents, depth: int | None) -> tuple[list[int], list[Array]]:
    """Padded widths, and for each of them its queries in the order of their documents."""
    sizes = documents.sizes
    if len(sizes) == 1:
        return padded_width(sizes).tolist(), [np.zeros(1, dtype=np.intp)]
    order = _by_size(sizes)
    ordered = sizes[order]
    firsts = np.append(0, np.flatnonzero(ordered[1:] != ordered[:-1]) + 1)
    joined = _joined(padded_width(ordered[firsts]).tolist(), firsts.tolist(), depth)
    widths, begins = [*joined.values()], [*joined]
    if len(begins) < len(firsts) or documents.by_start is not None:
        # short queries of one width are of one size, and so in the order in which they came
        first = sum(width <= SHORT for width in widths) if documents.by_start is None else 0
        _back_in_order(order, begins[first:], documents.by_start)
    return widths, np.split(order, begins[1:])


def _by_size(sizes: Array) -> Array:
    """Queries by rising size, those of one size in their order."""
    # a stable sort of 16-bit integers takes linear time; longer queries are few
    short = np.minimum(sizes, 2**16 - 1).astype(np.uint16)
    order = np.argsort(short, kind="stable")
    if short[order[-1]] == 2**16 - 1:
        long = order[np.searchsorted(short, 2**16 - 1, sorter=order) :]
        long[:] = long[np.argsort(sizes[long], kind="stable")]
    return order


def _back_in_order(order: Array, begins: list[int], by_start: Array | None) -> None:
    """Put the queries of each width, where one begins, back in the order of their documents."""
    lengths = np.diff(begins, append=len(order))
    width_of = np.zeros(len(order), dtype=np.uint16)
    width_of[order[begins[0] :]] = np.repeat(np.arange(1, len(lengths) + 1), lengths)
    moved = np.flatnonzero(width_of) if by_start is None else by_start
    order[begins[0] :] = moved[np.argsort(width_of[moved], kind="stable")]


def _joined(widths: list[int], begins: list[int], depth: int | None) -> dict[int, int]:
    """Where queries of another width begin, and that width, for rising sizes.

    With a cut-off, small blocks join their neighbours: ranks beyond it are part of no sum, so that
    a row may be longer than it must.
    """
    joined: dict[int, int] = {}
    first = narrowest = 0
    for width, begin in zip(widths, begins, strict=True):
        if not joined or width != joined[first]:
            fits = width <= 2 * narrowest and (begin - first) * width <= SMALL_BLOCK
            if depth is None or narrowest <= max(depth, SHORT) or not fits:
                first, narrowest = begin, width
            joined[first] = width
    return joined


def padded_width(sizes: Array) -> Array:
    """Sizes rounded up to four significant bits, which short ones have; long ones as they are.

    It depends on a query's own size alone, so that a sum over its ranks has the same bits in
    whatever block it stands.
    """
    bits = np.frexp(sizes - 1)[1]
    shift = np.where((bits > 4) & (sizes < LONG), bits - 4, 0)
    return np.asarray(((sizes + (1 << shift) - 1) >> shift) << shift)


def _keys_in_rows(
    documents: Documents, widths: list[int], members: list[Array], integer: Any, jobs: int
) -> list[Array]:
    """Keys of the queries of each width as rows; what lies beyond a query's end is anything."""
    rows = [np.empty((len(m), w), integer) for m, w in zip(members, widths, strict=True)]
    starts = [documents.starts[m] for m in members]
    cuts, low = _cuts(documents), _grade_bits(documents.n_grades)
    places = [np.searchsorted(begins, cuts) for begins in starts]

    # the keys of a stretch are still in cache when they are copied into rows
    def fill(stretch: int) -> None:
        begin, end = int(cuts[stretch]), int(cuts[stretch + 1])
        keys = np.empty(end - begin + max(widths), integer)
        part = slice(begin, end)
        _put_keys(keys[: end - begin], documents.labels[part], documents.scores[part], low)
        for to, width, begins, place in zip(rows, widths, starts, places, strict=True):
            some = slice(place[stretch], place[stretch + 1])
            if some.start < some.stop:
                # a row is copied faster as one item of so many bytes than as numbers
                item = np.dtype((np.void, width * keys.itemsize))
                shape, step = (len(keys) - width + 1,), (keys.itemsize,)
                windows: Array = np.ndarray(shape, item, keys, strides=step)
                found = windows[begins[some] - begin].view(integer)
                to[some] = found.reshape(len(found) // width, width)

    share(fill, range(len(cuts) - 1), jobs)
    return rows


def _cuts(documents: Documents) -> Array:
    """Where stretches of about the same number of documents begin and end, cutting no query."""
    starts, n = documents.starts, len(documents.scores)
    if n <= STRETCH:
        return np.array([0, n])
    if documents.by_start is not None:
        starts = starts[documents.by_start]
    first_behind = np.searchsorted(starts, np.arange(0, starts[-1] + 1, STRETCH))
    return np.append(np.unique(starts[first_behind]), n)


def _integer(depth: int | None) -> Any:
    """Type of the keys."""
    return np.dtype(np.int32 if depth is not None and depth <= SHALLOW else np.int64)


def _grade_bits(n_grades: int) -> int:
    """The low bits of a key, which hold the grade."""
    return (1 << n_grades.bit_length()) - 1


def rank(documents: Documents, depth: int | None, piece: Piece) -> Block:
    """Sort some queries, each by descending score; their keys are used up."""
    width, queries, keys = piece.width, piece.queries, piece.keys
    depth = width if depth is None else min(depth, width)
    short = width <= SHORT  # and so all of one size
    if keys is not None and short:
        queries, keys = _by_columns(queries, keys)
    piece.keys = None
    sizes = retrieved = np.full(len(queries), width) if short else documents.sizes[queries]
    if documents.retrieved is not documents.sizes:
        retrieved = documents.retrieved[queries]
    if keys is None:
        labels, scores = documents.rows(queries, width)
        ranked, tied = rank_by_score(labels, scores, sizes, depth)
        return Block(queries, sizes, retrieved, labels, ranked, tied, 0, _highest)
    low = _grade_bits(documents.n_grades)
    _pad(keys, sizes, low)
    labels = keys.astype(np.uint8)
    labels &= low
    first = _smallest(keys, depth + 1)
    ranked = first[:, :depth].astype(np.uint8)
    ranked &= low
    tied = None
    unclear = _unclear(first, low)
    if unclear.any():
        rows = np.flatnonzero(unclear.any(axis=1))
        known = first if first.dtype == np.int64 and first.shape[1] == width else None
        tied = _settle(documents, width, queries, rows, ranked, known)
    return Block(queries, sizes, retrieved, labels, ranked, tied, documents.n_grades, _highest)


def _unclear(keys: Array, low: int) -> Array:
    """Whether each sorted key, cut off by its low bits, has the score of the next one."""
    return np.asarray(keys[:, 1:] <= (keys[:, :-1] | low))


def _put_keys(keys: Array, labels: Array, scores: Array, low: int) -> None:
    """Write integers ordered like descending scores, with the label in the low bits."""
    real = keys.view(np.float32 if keys.dtype == np.int32 else np.float64)
    with np.errstate(over="ignore", under="ignore"):
        np.copyto(real, scores, casting="unsafe")
    # 0 - x: the negative zero must tie with zero
    np.subtract(0.0, real, out=real)
    # the bits of negative floats are ordered backwards
    flip = keys >> (8 * keys.itemsize - 1)
    flip &= np.iinfo(keys.dtype).max
    keys ^= flip
    keys &= ~low
    keys |= labels


def _pad(keys: Array, sizes: Array, low: int) -> None:
    """Put keys that come last and tie with nothing where rows go beyond their query."""
    width, shortest = keys.shape[1], int(sizes.min())
    if shortest == width:
        return
    infinity = np.array(np.inf, np.float32 if keys.dtype == np.int32 else np.float64)
    beyond = np.arange(width - shortest)
    padding = int(infinity.view(keys.dtype)) + (beyond + 1) * (low + 1)
    # 32 bits have room for some 100,000; what is alike beyond them is taken apart by 64
    np.minimum(padding, np.iinfo(keys.dtype).max & ~low, out=padding)
    outside = beyond.astype(np.int32) >= (sizes - shortest).astype(np.int32)[:, None]
    np.copyto(keys[:, shortest:], padding.astype(keys.dtype), where=outside)


def _by_columns(queries: Array, keys: Array) -> tuple[Array, Array]:
    """Store rows column by column: sums over short rows are much cheaper as sums of columns.

    A lone row is doubled, because NumPy adds up the columns of a single one in another order.
    """
    if len(queries) == 1:
        queries, keys = np.repeat(queries, 2), np.repeat(keys, 2, axis=0)
    return queries, np.asfortranarray(keys)


def _smallest(rows: Array, n: int) -> Array:
    """The n smallest values of each row, in order; the rows are used up."""
    width = rows.shape[1]
    if width <= SHORT and len(rows) >= FEW * len(_comparisons(width)):
        return _sorted_by_columns(rows, n)
    if width <= MEDIUM or width < MANY_TIMES * n:
        rows.sort(axis=1)
        return rows[:, :n]
    # a tournament: the n smallest of a row stand in the n lanes with the smallest winners
    height = round((width / n) ** 0.5)
    n_lanes = width // height
    lanes = rows[:, : height * n_lanes].reshape(len(rows), height, n_lanes)
    best = np.argpartition(lanes.min(axis=1), n - 1, axis=1)[:, :n]
    finalists = np.take_along_axis(lanes, best[:, None], axis=2).reshape(len(rows), -1)
    finalists = np.hstack([finalists, rows[:, height * n_lanes :]])
    finalists.sort(axis=1)
    return finalists[:, :n]


def _sorted_by_columns(rows: Array, n: int) -> Array:
    """The n smallest values of each row in order, for short rows of which there are many."""
    columns = [*rows.T]
    spare = np.empty_like(columns[0])
    for i, j in _comparisons(len(columns)):
        smaller = np.minimum(columns[i], columns[j], out=spare)
        np.maximum(columns[i], columns[j], out=columns[j])
        columns[i], spare = smaller, columns[i]
    return np.array(columns[:n]).T


@lru_cache
def _comparisons(n: int) -> list[tuple[int, int]]:
    """Batcher's sorting network: pairs of places to put in order, one after the other.

    K. E. Batcher. Sorting networks and their applications. AFIPS 1968.
    """
    powers = [1 << i for i in range((n - 1).bit_length())]
    return [
        (i + j, i + j + gap)
        for size in powers
        for gap in reversed(powers[: powers.index(size) + 1])
        for j in range(gap % size, n - gap, 2 * gap)
        for i in range(min(gap, n - j - gap))
        if (i + j) // (2 * size) == (i + j + gap) // (2 * size)
    ]


def _highest(labels: Array, n_grades: int, n: int) -> Array:
    """The n highest grades of each row, in order; 0 where there are no more."""
    width = labels.shape[1]
    if width <= SORTED_GRADES:
        lowest = ~labels
        if width > SHORT:  # 32-bit integers are sorted by vector instructions on all machines
            lowest = lowest.astype(np.int32)
        return ~_smallest(lowest, n).astype(np.uint8)
    # grades are few, so that counting them is cheaper than a sort
    places = np.zeros((len(labels), n_grades + 1), dtype=np.intp)
    left = np.full(len(labels), n)
    for i, grade in enumerate(range(n_grades, 0, -1)):
        if not left.any():
            break
        found = np.bitwise_count(np.packbits(labels == grade, axis=1)).sum(axis=1, dtype=np.intp)
        places[:, i] = np.minimum(found, left)
        left -= places[:, i]
    places[:, -1] = left
    grades = np.tile(np.arange(n_grades, -1, -1, dtype=np.uint8), len(labels))
    return np.repeat(grades, places.ravel()).reshape(len(labels), n)


def _settle(
    documents: Documents,
    width: int,
    queries: Array,
    rows: Array,
    ranked: Array,
    keys: Array | None,
) -> TiedRows | None:
    """Rank rows of equal keys by keys of 64 bits, and those still unclear by whole scores."""
    depth, low = ranked.shape[1], _grade_bits(documents.n_grades)
    labels, scores = documents.rows(queries[rows], width)
    sizes = documents.sizes[queries[rows]]
    if keys is None:
        keys = np.empty(scores.shape, dtype=np.int64)
        _put_keys(keys, labels, scores, low)
        _pad(keys, sizes, low)
        keys.sort(axis=1)
    elif len(rows) < len(keys):
        keys = keys[rows]
    whole, same, wrong = _compared(keys, scores, sizes, low)
    del keys  # perhaps of millions of documents
    if len(wrong):
        whole[wrong] = in_input_order(labels[wrong], scores[wrong])
    ranked[rows] = whole[:, :depth]
    tied = np.flatnonzero(same[:, :depth].any(axis=1))
    if not len(tied):
        return None
    if len(tied) < len(rows):
        rows, labels, scores = rows[tied], labels[tied], scores[tied]
        same, whole = same[tied], whole[tied]
    reach = reach_of_runs(same, depth)
    runs = Runs(same[:, : reach - 1])
    return TiedRows(rows, whole[:, :reach], runs, lambda: in_input_order(labels, scores))


def _compared(keys: Array, scores: Array, sizes: Array, low: int) -> tuple[Array, Array, Array]:
    """Labels by sorted keys, which whole scores are equal, and in which rows keys say otherwise."""
    labels = keys.astype(np.uint8)
    labels &= low
    unclear = _unclear(keys, low)
    ordered = np.subtract(0.0, scores)
    ordered.sort(axis=1)
    same = equal_neighbours(ordered, sizes)
    return labels, same, np.flatnonzero(same.sum(axis=1) != unclear.sum(axis=1))
