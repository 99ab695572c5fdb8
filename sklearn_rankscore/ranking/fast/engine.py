"""The plan of a call, and the ranking of one block by sorting keys."""

from __future__ import annotations

import ctypes
import sys
from contextlib import suppress
from functools import lru_cache, partial

import numpy as np

from ..._typing import Array
from ..block import Block, Task
from ..plain import SHORT, Labels, order_of
from ..queries import Queries
from ..ties import TieGroups, tie_groups_of
from .documents import Documents
from .fill import Kind, fill_keys
from .grades import GradedLabels
from .keys import collides, label_mask, labels_of, pad_keys
from .row_sorts import MEDIUM_LONG, smallest
from .score_order import (
    FEW,
    at_columns,
    column_keys,
    rank_again,
    sort_rows,
    ties_among,
)
from .width_buckets import WidthBucket, divide_for_threads, width_buckets

# from this share of the rows on, short rows are averaged with those without ties, because to take
# rows out and put them back costs more
MANY_TIED_ROWS = 0.25

# a call on fewer documents has no arrays that glibc would return to the system
SMALL_CALL = 2**14

# the largest array from which glibc learns has 32 MiB, with all that it adds to an array
LARGEST = 2**25 - 2**16


def plan_blocks(
    queries: Queries, depth: int | None, jobs: int, ties: str = "average"
) -> list[Task]:
    """Functions that each rank one block, the largest blocks first."""
    if len(queries.y_score) > SMALL_CALL:
        retain_freed_memory()
    documents = Documents(queries, ties)
    buckets = width_buckets(documents, depth if documents.n_grades else None)
    kind = fill_keys(documents, buckets, depth, jobs) if documents.n_grades else None
    # where ties are the rule, rows are sorted to the end: small blocks then stay in cache, but
    # several threads lose more time waiting for one another between short operations
    tells_ties = kind is not None and kind.is_exact and not documents.input_order_decides
    whole = jobs == 1 and tells_ties and documents.has_many_ties
    parts = divide_for_threads(buckets, None if whole else depth, jobs)
    if kind is None:
        return [partial(rank_by_scores, documents, depth, bucket) for bucket in parts]
    return [partial(rank_by_keys, documents, kind, depth, bucket) for bucket in parts]


def rank_by_scores(documents: Documents, depth: int | None, bucket: WidthBucket) -> Block:
    """Sort keys that hold columns, for labels that are not grades."""
    queries, width = bucket.queries, bucket.width
    if width <= SHORT and len(queries) == 1:
        queries = np.repeat(queries, 2)  # NumPy sums the columns of a single row in another order
    sizes, retrieved = _sizes(documents, bucket, queries)
    labels, scores = documents.rows(queries, width)
    depth = width if depth is None else min(depth, width)
    many = documents.has_many_ties and (width <= MEDIUM_LONG or documents.has_large_groups)
    if many or _is_whole(width, depth):
        rows = np.arange(len(labels))
        by_rank, equals_next = sort_rows(labels, scores, sizes)
        ranked = by_rank[:, :depth]
        tied = ties_among(documents, rows, by_rank, equals_next, width, depth)
    else:
        keys, mask = column_keys(scores)
        first = smallest(keys, depth + 1, overwrite=False)[:, : depth + 1]
        ranked, tied = at_columns(labels, first[:, :depth] & mask), None
        rows = np.flatnonzero(collides(first, mask).any(axis=1))
        if len(rows):
            candidates = partial(_at_most, keys, first[:, depth - 1] | mask)
            tied = rank_again(documents, queries, rows, width, ranked, candidates)
    # the rounding of sums depends on the memory order
    order = order_of(width)
    labels, ranked = np.asarray(labels, order=order), np.asarray(ranked, order=order)
    given = Labels(labels, sizes)
    if documents.n_grades:
        given = GradedLabels(labels, sizes, documents.n_grades)
    return Block(queries, sizes, retrieved, given, ranked, tied, lambda rows: scores[rows])


def rank_by_keys(documents: Documents, kind: Kind, depth: int | None, bucket: WidthBucket) -> Block:
    """Sort the keys of each query, which are consumed."""
    width, queries, keys = bucket.width, bucket.queries, np.asarray(bucket.keys)
    bucket.keys = None
    if width <= SHORT and len(queries) == 1:
        queries, keys = np.repeat(queries, 2), np.asfortranarray(np.repeat(keys, 2, axis=0))
    depth = width if depth is None else min(depth, width)
    sizes, retrieved = _sizes(documents, bucket, queries)
    pad_keys(keys, sizes, bucket.shortest, kind.mask)
    labels = GradedLabels(labels_of(keys, kind.n_grades), sizes, kind.n_grades)
    if kind.column_bits:
        kind.write_columns(keys)
    # sorted keys tell all ties if different scores have different keys: groups end anywhere
    tells_ties = kind.is_exact and not documents.input_order_decides
    complete = tells_ties and (documents.has_many_ties or _is_whole(width, depth))
    is_consumed = complete or kind.column_bits > 0 or _is_whole(width, depth)
    first = smallest(keys, width if complete else depth + 1, overwrite=is_consumed)
    ranked, tied = labels_of(first[:, :depth], kind.n_grades), None
    # never where they end in columns, which have ranked equal scores
    if (equal := collides(first[:, : depth + 1], label_mask(kind.n_grades))).any():
        rows = np.flatnonzero(equal.any(axis=1))
        if complete:
            tied = _ties_of_keys(documents, kind, queries, rows, first, depth)
        else:
            candidates = (
                None if is_consumed else partial(_at_most, keys, first[:, depth - 1] | kind.mask)
            )
            tied = rank_again(documents, queries, rows, width, ranked, candidates)
    scores_of = lambda rows: documents.score_rows(queries[rows], width)  # noqa: E731
    return Block(queries, sizes, retrieved, labels, ranked, tied, scores_of)


def _ties_of_keys(
    documents: Documents, kind: Kind, queries: Array, rows: Array, keys: Array, depth: int
) -> TieGroups:
    """The ties in some rows of sorted keys that are equal, but for labels, where scores are."""
    width = keys.shape[1]
    if width <= SHORT and len(rows) > MANY_TIED_ROWS * len(queries):
        rows = np.arange(len(queries))
    keys, members = keys if len(rows) == len(keys) else keys[rows], queries[rows]
    # a number of ranks that fully contain the groups of the first ones
    window, highest = depth, keys[:, depth - 1] | kind.mask
    while window < width and (keys[:, window] <= highest).any():
        window = min(2 * window, width)
    in_window = keys[:, :window]
    by_rank, equals_next = labels_of(in_window, kind.n_grades), collides(in_window, kind.mask)

    def in_input_order() -> Array:
        return sort_rows(*documents.rows(members, width), documents.sizes[members])[0]

    return tie_groups_of(width)(rows, by_rank, equals_next, depth, in_input_order)


def _at_most(keys: Array, highest: Array, rows: Array) -> Array:
    """Which documents of some rows have at most the highest key of the row."""
    return np.asarray(keys[rows] <= highest[rows, None])


def _is_whole(width: int, depth: int) -> bool:
    """Whether all documents of such rows are ranked, because few could be left out."""
    return width <= SHORT or depth > FEW * width


def _sizes(documents: Documents, bucket: WidthBucket, queries: Array) -> tuple[Array, Array]:
    """Number of documents and of retrieved documents of each query, the same array if equal."""
    equal = bucket.shortest == bucket.width
    sizes = np.full(len(queries), bucket.width) if equal else documents.sizes[queries]
    all_retrieved = documents.retrieved is documents.sizes
    return sizes, sizes if all_retrieved else documents.retrieved[queries]


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
        libc.free(ctypes.c_void_p(libc.malloc(ctypes.c_size_t(LARGEST))))
