"""The plan of a call, and the ranking of one block by sorting keys."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache, partial
from typing import Any

import numpy as np

from ..._typing import Array, ArrayFunction
from .. import plain
from ..block import Block, Task
from ..queries import Queries
from ..ties import SHORT, TiedRows, tied_rows
from . import choices
from .documents import Bucket, Documents, divide_for_threads, width_buckets
from .grades import GradedLabels, count_flags
from .keys import Keys, Layout, collides, keys_of_grades, last_key, write_keys
from .sorts import smallest

Ranked = tuple[plain.Labels, Array, TiedRows | None]

# the largest array from which glibc learns has 32 MiB, with all that it adds to an array
LARGEST_FREED = 2**25 - 2**16


def plan_blocks(
    queries: Queries, depth: int | None, jobs: int, ties: str = "average"
) -> list[Task]:
    """Functions that each rank one block, the largest blocks first."""
    if len(queries.y_score) > choices.SMALL_CALL:
        retain_freed_memory()
    documents = Documents(queries, ties)
    if documents.n_grades:
        keys = keys_of_grades(documents, depth, jobs)
        buckets = [*width_buckets(documents.sizes, depth)]
        rank = partial(_rank_grades, documents, keys)
        # where ties are the rule, rows are sorted to the end: small blocks then stay in cache, but
        # several threads lose more time waiting for one another between short operations
        whole = jobs == 1 and documents.has_many_ties and _tell_ties(documents, keys)
    else:
        buckets, whole = [*width_buckets(documents.sizes, None)], False
        rank = partial(_rank_labels, documents)
    parts = divide_for_threads(buckets, None if whole else depth, jobs)
    return [partial(rank_block, documents, rank, depth, bucket) for bucket in parts]


@lru_cache(maxsize=1)
def retain_freed_memory() -> None:
    """Let arrays of up to 32 MiB share one heap, in this process and from now on.

    glibc returns a large array to the system when it is freed, and the system clears the memory of
    the next one when it is first written to, which takes as long as ranking a block. After the
    first free of an array, glibc takes arrays up to that size from its heap, of which it retains up
    to twice that size; see M_MMAP_THRESHOLD in mallopt(3). Other C libraries are not affected.
    """
    if sys.platform != "linux":
        return
    with suppress(OSError, AttributeError):  # an interpreter without a shared C library
        libc = ctypes.CDLL(None)
        libc.malloc.restype = ctypes.c_void_p
        libc.free(ctypes.c_void_p(libc.malloc(ctypes.c_size_t(LARGEST_FREED))))


def rank_block(
    documents: Documents, rank: Callable[..., Ranked], depth: int | None, bucket: Bucket
) -> Block:
    """Rank the queries of a bucket."""
    width, queries = bucket.width, bucket.queries
    if width <= SHORT and len(queries) == 1:
        queries = np.repeat(queries, 2)  # NumPy sums the columns of a single row in another order
    depth = width if depth is None else min(depth, width)
    sizes = documents.sizes[queries]
    retrieved = sizes if documents.retrieved is documents.sizes else documents.retrieved[queries]
    labels, ranked, tied = rank(queries, sizes, width, depth)
    scores_of = lambda rows: documents.rows(queries[rows], width)[1]  # noqa: E731
    return Block(queries, sizes, retrieved, labels, ranked, tied, scores_of)


def _rank_grades(
    documents: Documents, keys: Keys, queries: Array, sizes: Array, width: int, depth: int
) -> Ranked:
    """Labels, those by rank, and ties, from keys that end in grades."""
    layout, below = keys.layout, keys.layout.below
    rows_of_keys = keys.rows(documents.starts[queries], sizes, width)
    labels = GradedLabels(layout.labels(rows_of_keys), sizes, documents.n_grades)
    if layout.column_bits:  # they rank equal scores
        return labels, layout.labels(smallest(rows_of_keys, depth)[:, :depth]), None
    whole = _is_whole(width, depth)
    # groups of ties end anywhere
    tell_ties = _tell_ties(documents, keys) and (documents.has_many_ties or whole)
    n_sorted = width if tell_ties else depth + 1
    first = smallest(rows_of_keys, n_sorted, overwrite=tell_ties or whole)
    ranked = layout.labels(first[:, :depth])
    collisions = collides(first[:, : depth + 1], below).any(axis=1)
    rows = np.flatnonzero(collisions)
    if not len(rows):
        return labels, ranked, None
    if not tell_ties:
        in_block = Keys(rows_of_keys, layout, keys.exact)
        return labels, ranked, _rank_again(documents, queries, in_block, first, rows, ranked)
    if width <= SHORT and len(rows) > choices.MANY_ROWS * len(queries):
        rows = np.arange(len(queries))
    first = first if len(rows) == len(first) else first[rows]
    window, last = depth, first[:, depth - 1] | below
    while window < width and (first[:, window] <= last).any():
        window *= 2  # until it contains the groups of the first ranks
    first = first[:, :window]
    tied = tied_rows(width, rows, layout.labels(first), collides(first, below), depth)
    return labels, ranked, tied


def _tell_ties(documents: Documents, keys: Keys) -> bool:
    """Whether documents are tied if their keys have the same high bits."""
    return keys.exact and not documents.in_input_order


def _rank_labels(
    documents: Documents, queries: Array, sizes: Array, width: int, depth: int
) -> Ranked:
    """The same for labels that are no grades, from keys that end in columns."""
    rows, scores = documents.rows(queries, width)
    order: Any = "F" if width <= SHORT else "C"  # on which the rounding of sums depends
    labels = RawLabels(np.asarray(rows, order=order), sizes)
    narrow = width <= choices.MEDIUM or documents.has_large_groups
    if _is_whole(width, depth) or (documents.has_many_ties and narrow):
        by_score, equals_next = order_by_score(scores, sizes, reverse=documents.ties == "reversed")
        by_rank = _take(rows, by_score)
        ranked = np.asarray(by_rank[:, :depth], order=order)
        every_row = np.arange(len(rows))
        return labels, ranked, _ties(documents, width, every_row, by_rank, equals_next, depth)
    keys = _column_keys(scores, sizes, reverse=documents.ties == "reversed")
    first = smallest(keys.array, depth + 1, overwrite=False)[:, : depth + 1]
    ranked = np.asarray(_take(rows, keys.layout.columns(first[:, :depth])), order=order)
    ambiguous = np.flatnonzero(collides(first, keys.layout.below).any(axis=1))
    if not len(ambiguous):
        return labels, ranked, None
    return labels, ranked, _rank_again(documents, queries, keys, first, ambiguous, ranked)


def _is_whole(width: int, depth: int) -> bool:
    """Whether all documents of such rows are ranked, because few could be left out."""
    return width <= SHORT or depth > choices.FEW * width


def _rank_again(
    documents: Documents, queries: Array, keys: Keys, first: Array, rows: Array, ranked: Array
) -> TiedRows | None:
    """Rank the rows of a block in which keys collide by their scores, and find the ties in them.

    Writes labels by rank into rows of `ranked`. `first` are the smallest keys of all rows, sorted;
    the keys are in input order if not all documents are needed.
    """
    width, depth = keys.array.shape[1], ranked.shape[1]
    counts = np.full(len(rows), width)
    if not _is_whole(width, depth):  # those that can be among the first ranks, where these are few
        last = last_key(first[rows, depth - 1], keys.layout.below)
        chosen = keys.array[rows] <= last[:, None]
        n_chosen = count_flags(chosen).astype(np.intp)
        counts = np.where(n_chosen > choices.FEW * width, width, n_chosen)
    by_rank = np.zeros((len(rows), max(depth, int(counts.max()))), documents.labels.dtype)
    equals_next = np.zeros((len(rows), by_rank.shape[1] - 1), dtype=bool)
    # those of similar numbers together, apart from rows of all documents
    classes = np.where(counts == width, 0, np.frexp(counts)[1])
    for members in (np.flatnonzero(classes == bits) for bits in np.unique(classes)):
        of_rows, n = queries[rows[members]], counts[members]
        if n[0] == width:  # as all of the class
            n = documents.sizes[of_rows]
            labels, scores = documents.rows(of_rows, width)
        else:
            starts, column = np.cumsum(n) - n, np.arange(n.max())
            padding = column >= n[:, None]
            nth = np.where(padding, 0, column) + starts[:, None]
            shift = documents.starts[of_rows] - width * np.arange(len(members))
            places = np.flatnonzero(chosen[members]).take(nth) + shift[:, None]
            labels, scores = documents.at(places, padding)
        order, equal = order_by_score(scores, n, reverse=documents.ties == "reversed")
        by_rank[members, : labels.shape[1]] = _take(labels, order)
        equals_next[members, : labels.shape[1] - 1] = equal
    ranked[rows] = by_rank[:, :depth]
    return _ties(documents, width, rows, by_rank, equals_next, depth)


def _ties(
    documents: Documents, width: int, rows: Array, by_rank: Array, equals_next: Array, depth: int
) -> TiedRows | None:
    """The ties among the first ranks, if there are any and the input order does not rank them."""
    tied = np.flatnonzero(equals_next[:, :depth].any(axis=1))
    if documents.in_input_order or not len(tied):
        return None
    if len(tied) < len(rows):
        rows, by_rank, equals_next = rows[tied], by_rank[tied], equals_next[tied]
    if documents.n_grades:  # in the order of exact keys, which `survival` needs
        integer: Any = np.int32 if by_rank.shape[1] < 2**22 else np.int64
        by_label = by_rank.astype(integer)
        by_label[:, 1:] += np.cumsum(~equals_next, axis=1, dtype=integer) << 8
        by_label.sort(axis=1)
        by_rank = by_label.astype(np.uint8)
    in_input_order = not documents.n_grades
    return tied_rows(width, rows, by_rank, equals_next, depth, in_input_order=in_input_order)


def order_by_score(scores: Array, sizes: Array, *, reverse: bool) -> tuple[Array, Array]:
    """The order of each row by descending score, and whether each score equals the next one.

    Equal scores are in input order, or in the reverse of it.
    """
    width = scores.shape[1]
    if width <= choices.COLUMN_BESIDE_DOUBLE:
        keys = _column_keys(scores, sizes, reverse=reverse)
        order = keys.layout.columns(smallest(keys.array, width))
    else:
        order = _stable_order(scores, sizes, reverse=reverse)
    ordered = _take(scores, order)
    misranked = np.flatnonzero((ordered[:, 1:] > ordered[:, :-1]).any(axis=1))
    if len(misranked):
        again = _stable_order(scores[misranked], sizes[misranked], reverse=reverse)
        order[misranked], ordered[misranked] = again, _take(scores[misranked], again)
    equals_next = ordered[:, 1:] == ordered[:, :-1]
    if sizes.min() < width:
        equals_next &= np.arange(1, width) < sizes[:, None]
    return order, equals_next


def _column_keys(scores: Array, sizes: Array, *, reverse: bool) -> Keys:
    """Keys that end in the column, padding behind what was not retrieved."""
    width = scores.shape[1]
    layout, rows = Layout(0, (width - 1).bit_length(), reverse), np.empty(scores.shape, np.int64)
    write_keys(rows, 0, scores, layout.below)
    layout.write_columns(rows)
    if (shortest := int(sizes.min())) < width:
        rows[:, shortest:][np.arange(shortest, width) >= sizes[:, None]] += layout.below + 1
    return Keys(np.asfortranarray(rows) if width <= SHORT else rows, layout, exact=False)


def _stable_order(scores: Array, sizes: Array, *, reverse: bool) -> Array:
    """The order of the plain sort, padding last."""
    if sizes.min() < scores.shape[1]:
        scores = np.where(np.arange(scores.shape[1]) < sizes[:, None], scores, np.nan)
    if not reverse:
        return plain.stable_order(scores)
    return np.asarray(scores.shape[1] - 1 - plain.stable_order(scores[:, ::-1]))


def _take(rows: Array, columns: Array) -> Array:
    """Entries of each row, in the memory order of the columns."""
    starts = np.arange(0, rows.size, rows.shape[1])
    if columns.flags.fnc:  # stored by column
        return rows.take(columns.T + starts).T
    return rows.take(columns + starts[:, None])


class RawLabels(plain.Labels):
    """Labels that are not grades."""

    def ideal(self, function: ArrayFunction, depth: int) -> Array:
        """The `depth` largest values of each row, in descending order."""
        negated = -self.of_all(function)
        width, top = negated.shape[1], negated.max()
        if np.isnan(top) or (top > 0 and self.sizes.min() < width):
            return super().ideal(function, depth)  # padding is above negative gains
        order: Any = "F" if width <= SHORT else "C"
        first = smallest(np.asarray(negated, order=order), depth)[:, :depth]
        return np.asarray(0.0 - first, order=order)
