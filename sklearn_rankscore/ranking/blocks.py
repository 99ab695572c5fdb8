"""The hot path and the only sort: queries of similar length become dense ranked blocks.

A document becomes one integer, its key: the high bits are ordered like descending scores, the low
ones hold its grade. Keys are copied into rows, one row a query, and a sort of the rows ranks them.
Where the high bits do not tell two documents apart, whole scores decide (`exact`), as they do for
labels that are no small whole numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from .arrays import Array
from .block import Block, TiedRows
from .documents import Documents
from .exact import equal_neighbours, in_input_order, rank_by_score, reach_of_runs
from .row_sorts import SHORT, smallest
from .threads import share
from .ties import Runs

# documents in a block, and in a stretch of which keys are made at once: few enough to stay in
# cache, and enough that threads, which hold Python's lock between operations, seldom wait
BLOCK_DOCUMENTS, STRETCH = 2**20, 2**19

# blocks of similar width are joined up to this size: each costs some sixty calls of NumPy
SMALL_BLOCK, SMALL_SHORT = 2**18, 2**17

# a query from this length on fills blocks by itself, and needs no padding
LONG = 2**19

# up to this depth keys have 32 bits and are sorted in half the time; beyond it too many scores
# would collide in them
SHALLOW = 32

# queries of up to this size are told apart by a table of sizes
TABLED = 2**16


@dataclass
class Piece:
    """Queries for one block in the order of their documents, and their keys as rows.

    There are no keys if labels are no grades.
    """

    width: int
    shortest: int
    queries: Array
    keys: Array | None = None


def pieces(documents: Documents, depth: int | None, jobs: int) -> list[Piece]:
    """Queries of similar length together, the largest blocks first."""
    kinds = _by_width(documents, depth)
    if documents.n_grades:
        rows = _keys_in_rows(documents, kinds, _integer(depth), jobs)
        kinds = [replace(kind, keys=keys) for kind, keys in zip(kinds, rows, strict=True)]
    fair = sum(piece.width * len(piece.queries) for piece in kinds) // jobs
    most = min(BLOCK_DOCUMENTS, max(SMALL_BLOCK, fair))
    parts = [part for piece in kinds for part in _parts(piece, most, jobs)]
    return sorted(parts, key=lambda piece: -piece.width * len(piece.queries))


def _parts(piece: Piece, most: int, jobs: int) -> Iterator[Piece]:
    """Pieces of at most so many documents, as many for each thread as for the next."""
    n_queries, keys = len(piece.queries), piece.keys
    n_blocks = -(-n_queries * piece.width // most)
    if n_blocks > 1:
        n_blocks = min(n_queries, -(-n_blocks // jobs) * jobs)
    for a, b in pairwise(n_queries * i // n_blocks for i in range(n_blocks + 1)):
        some = None if keys is None else keys[a:b]
        yield Piece(piece.width, piece.shortest, piece.queries[a:b], some)


def _by_width(documents: Documents, depth: int | None) -> list[Piece]:
    """Queries of one padded width together, small blocks joined."""
    sizes = documents.sizes
    if len(sizes) == 1:
        return [Piece(int(padded_width(sizes)[0]), int(sizes[0]), np.zeros(1, dtype=np.intp))]
    # a short size stands for itself, a long one for its place among the long ones, which are few
    marks = np.minimum(sizes, TABLED)
    long = np.flatnonzero(marks == TABLED)
    longer, place = np.unique(sizes[long], return_inverse=True)
    marks[long] += place
    counts = np.bincount(marks)
    found = np.flatnonzero(counts)
    counts = counts[found]
    distinct = np.append(found[: len(found) - len(longer)], longer)
    widths = padded_width(distinct)
    firsts = np.flatnonzero(np.diff(widths, prepend=0))
    if documents.n_grades and depth is not None:
        firsts = firsts[_joined(widths[firsts], np.add.reduceat(counts, firsts), depth)]
    # a stable sort of such small integers takes linear time
    kind_of_mark = np.empty(found[-1] + 1, np.uint8 if len(firsts) <= 2**8 else np.uint16)
    kind_of_mark[found] = np.repeat(np.arange(len(firsts)), np.diff(firsts, append=len(found)))
    kinds = kind_of_mark[marks]
    if documents.by_start is None:
        order = np.argsort(kinds, kind="stable")
    else:
        order = documents.by_start[np.argsort(kinds[documents.by_start], kind="stable")]
    members = np.split(order, np.cumsum(np.add.reduceat(counts, firsts))[:-1])
    lasts = np.append(firsts[1:], len(widths)) - 1
    return [*map(Piece, widths[lasts].tolist(), distinct[firsts].tolist(), members)]


def _joined(widths: Array, counts: Array, depth: int) -> list[int]:
    """Where in rising widths, of which there are so many, another block begins.

    Small blocks join their neighbours where no sum up to a cut-off changes by it: sums over short
    rows are sums of columns, and those over long ones end at the cut-off.
    """
    firsts: list[int] = []
    narrowest = rows = 0
    for i, (width, count) in enumerate(zip(widths.tolist(), counts.tolist(), strict=True)):
        short = width <= SHORT
        sums_stay = short or narrowest > max(depth, SHORT)
        small = rows * width <= (SMALL_SHORT if short else SMALL_BLOCK) and width <= 2 * narrowest
        if not firsts or not (sums_stay and small):
            firsts.append(i)
            narrowest, rows = width, 0
        rows += count
    return firsts


def padded_width(sizes: Array) -> Array:
    """Sizes rounded up to four significant bits, which short ones have; long ones as they are.

    It depends on a query's own size alone, so that a sum over its ranks has the same bits in
    whatever block it stands.
    """
    bits = np.frexp(sizes - 1)[1]
    shift = np.where((bits > 4) & (sizes < LONG), bits - 4, 0)
    return np.asarray(((sizes + (1 << shift) - 1) >> shift) << shift)


def _keys_in_rows(documents: Documents, kinds: list[Piece], integer: Any, jobs: int) -> list[Array]:
    """Keys of each kind's queries as rows; beyond a query's end are those of another."""
    # sums over short rows are much cheaper as sums of columns
    rows = [
        np.empty((len(kind.queries), kind.width), integer, "F" if kind.width <= SHORT else "C")
        for kind in kinds
    ]
    starts = [documents.starts[kind.queries] for kind in kinds]
    cuts, low = _cuts(documents, jobs), _grade_bits(documents.n_grades)
    places = [np.searchsorted(begins, cuts).tolist() for begins in starts]
    spare = max(kind.width - kind.shortest for kind in kinds)

    # the keys of a stretch are still in cache when they are copied into rows
    def fill(stretch: int) -> None:
        begin, end = int(cuts[stretch]), int(cuts[stretch + 1])
        keys = np.empty(end - begin + spare, integer)
        keys[end - begin :] = 0  # less than padding, as all keys are
        part = slice(begin, end)
        _put_keys(keys[: end - begin], documents.labels[part], documents.scores[part], low)
        for to, begins, place in zip(rows, starts, places, strict=True):
            some, width = slice(place[stretch], place[stretch + 1]), to.shape[1]
            if some.start < some.stop:
                # a row is copied faster as one item of so many bytes than as numbers
                item = np.dtype((np.void, width * keys.itemsize))
                shape, step = (len(keys) - width + 1,), (keys.itemsize,)
                windows: Array = np.ndarray(shape, item, keys, strides=step)
                found = windows[begins[some] - begin].view(integer)
                to[some] = found.reshape(-1, width)

    share(fill, range(len(cuts) - 1), jobs)
    return rows


def _cuts(documents: Documents, jobs: int) -> Array:
    """Where stretches of about the same number of documents begin and end, cutting no query."""
    starts, n = documents.starts, len(documents.scores)
    n_stretches = -(-n // STRETCH)
    if n_stretches == 1:
        return np.array([0, n])
    n_stretches = -(-n_stretches // jobs) * jobs  # as many for each thread as for the next
    if documents.by_start is not None:
        starts = starts[documents.by_start]
    behind = np.searchsorted(starts, np.arange(n_stretches) * n // n_stretches)
    return np.append(np.unique(starts[behind[behind < len(starts)]]), n)


def _integer(depth: int | None) -> Any:
    """Type of the keys."""
    return np.dtype(np.int32 if depth is not None and depth <= SHALLOW else np.int64)


def _grade_bits(n_grades: int) -> int:
    """The low bits of a key, which hold the grade."""
    return (1 << n_grades.bit_length()) - 1


def rank(documents: Documents, depth: int | None, piece: Piece) -> Block:
    """Sort some queries, each by descending score; their keys are used up."""
    width, shortest, queries, keys = piece.width, piece.shortest, piece.queries, piece.keys
    depth = width if depth is None else min(depth, width)
    if keys is not None and width <= SHORT and len(queries) == 1:
        # doubled, because NumPy adds up the columns of a lone row in another order
        queries, keys = np.repeat(queries, 2), np.asfortranarray(np.repeat(keys, 2, axis=0))
    piece.keys = None
    alike = shortest == width
    sizes = retrieved = np.full(len(queries), width) if alike else documents.sizes[queries]
    if documents.retrieved is not documents.sizes:
        retrieved = documents.retrieved[queries]
    if keys is None:
        labels, scores = documents.rows(queries, width)
        ranked, tied = rank_by_score(labels, scores, sizes, depth)
        return Block(queries, sizes, retrieved, labels, ranked, tied, n_grades=0)
    low = _grade_bits(documents.n_grades)
    _pad(keys, sizes, shortest, low)
    labels = keys.astype(np.uint8)
    labels &= low
    first = smallest(keys, depth + 1)
    ranked = first[:, :depth].astype(np.uint8)
    ranked &= low
    tied = None
    unclear = _unclear(first, low)
    if unclear.any():
        rows = np.flatnonzero(unclear.any(axis=1))
        known = first if first.dtype == np.int64 and first.shape[1] == width else None
        tied = _settle(documents, width, queries, rows, ranked, known)
    return Block(queries, sizes, retrieved, labels, ranked, tied, documents.n_grades)


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


def _pad(keys: Array, sizes: Array, shortest: int, low: int) -> None:
    """Put keys that come last and tie with nothing where rows go beyond their query."""
    width = keys.shape[1]
    if shortest == width:
        return
    infinity = np.array(np.inf, np.float32 if keys.dtype == np.int32 else np.float64)
    room = width - shortest
    padding = int(infinity.view(keys.dtype)) + np.arange(1, room + 1) * (low + 1)
    # a query sees as much of the padding as it needs, and before it what is less than any key
    line = np.full(2 * room, np.iinfo(keys.dtype).min, dtype=keys.dtype)
    # 32 bits have room for some 100,000; what is alike beyond them is taken apart by 64
    np.minimum(padding, np.iinfo(keys.dtype).max & ~low, out=line[room:], casting="unsafe")
    first = width - sizes
    if width <= SHORT:
        for place, column in enumerate(keys.T[shortest:]):
            np.maximum(column, line[first + place], out=column)
        return
    item = np.dtype((np.void, room * keys.itemsize))
    windows: Array = np.ndarray(room + 1, item, line, strides=(keys.itemsize,))
    least = windows[first].view(keys.dtype).reshape(len(keys), room)
    np.maximum(keys[:, shortest:], least, out=keys[:, shortest:])


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
        _pad(keys, sizes, int(sizes.min()), low)
        keys.sort(axis=1)
    elif len(rows) < len(keys):
        keys = keys[rows]
    whole, same, wrong = _compared(keys, scores, sizes, low)
    del keys  # perhaps of millions of documents
    if len(wrong):
        # equal scores by rising labels, as keys put them, and padding, 0, after all of them
        order = np.argsort(labels[wrong] - np.uint8(1), axis=1, kind="stable")
        rising = (np.take_along_axis(values[wrong], order, axis=1) for values in (labels, scores))
        whole[wrong] = in_input_order(*rising)
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
