"""The plan of a call, and the ranking of one block by sorting keys."""

from __future__ import annotations

from functools import partial

import numpy as np

from ..._typing import Array
from ..block import Block, Task
from ..queries import Queries
from ..ties import SHORT
from .candidates import is_whole
from .collisions import resolve_collisions
from .documents import Documents, label_mask
from .grades import GradedLabels
from .keys import collides, fill_keys, labels_of, pad_keys
from .memory import retain_freed_memory
from .position_sort import sort_misranked
from .row_sorts import MEDIUM_LONG, smallest
from .score_order import RawLabels, rank_rows
from .width_buckets import WidthBucket, divide_for_threads, width_buckets

# from this share of the rows on, short rows are averaged with those without ties, because to take
# rows out and put them back costs more
MANY_ROWS = 0.25

# a call on fewer documents has no arrays that glibc would return to the system
SMALL_CALL = 2**14


def plan_blocks(
    queries: Queries, depth: int | None, jobs: int, ties: str = "average"
) -> list[Task]:
    """Functions that each rank one block, the largest blocks first."""
    if len(queries.y_score) > SMALL_CALL:
        retain_freed_memory()
    documents = Documents(queries, ties)
    if documents.n_grades:
        rank, buckets = rank_by_keys, width_buckets(documents, depth)
        fill_keys(documents, buckets, depth, jobs)
    else:
        rank, buckets = rank_by_scores, width_buckets(documents, None)
    # where ties are the rule, rows are sorted to the end: small blocks then stay in cache, but
    # several threads lose more time waiting for one another between short operations
    whole = jobs == 1 and documents.keys_tell_ties and documents.has_many_ties
    parts = divide_for_threads(buckets, None if whole else depth, jobs)
    return [partial(rank, documents, depth, bucket) for bucket in parts]


def rank_by_scores(documents: Documents, depth: int | None, bucket: WidthBucket) -> Block:
    """Sort keys without labels, for labels that are not grades."""
    queries, width = bucket.queries, bucket.width
    if width <= SHORT and len(queries) == 1:
        queries = np.repeat(queries, 2)  # NumPy sums the columns of a single row in another order
    sizes, retrieved = _sizes(documents, bucket, queries)
    labels, scores = documents.rows(queries, width)
    depth = width if depth is None else min(depth, width)
    many = documents.has_many_ties and (width <= MEDIUM_LONG or documents.has_large_groups)
    whole = many or is_whole(width, depth)
    ranked, tied = rank_rows(labels, scores, sizes, depth, whole=whole)
    given = RawLabels(np.asarray(labels, order="F" if width <= SHORT else "C"), sizes)
    return Block(queries, sizes, retrieved, given, ranked, tied, lambda rows: scores[rows])


def rank_by_keys(documents: Documents, depth: int | None, bucket: WidthBucket) -> Block:
    """Sort the keys of each query, which are consumed."""
    width, queries, keys = bucket.width, bucket.queries, np.asarray(bucket.keys)
    bucket.keys = None
    if width <= SHORT and len(queries) == 1:
        queries, keys = np.repeat(queries, 2), np.asfortranarray(np.repeat(keys, 2, axis=0))
    depth = width if depth is None else min(depth, width)
    sizes, retrieved = _sizes(documents, bucket, queries)
    mask, positions = label_mask(documents.n_grades), documents.positions
    pad_keys(keys, sizes, bucket.shortest, documents.below)
    labels = GradedLabels(labels_of(keys, mask), sizes, documents.n_grades)
    n_sorted, whole = depth + 1, is_whole(width, depth)
    is_last = whole or positions is not None  # nothing else needs the keys in input order
    if positions is not None:
        n_sorted = depth if documents.exact_keys else width
    elif documents.keys_tell_ties and (documents.has_many_ties or whole):
        n_sorted, is_last = width, True  # groups of ties end anywhere
    first = smallest(keys, n_sorted, overwrite=is_last)
    ranked = labels_of(first[:, :depth], mask)
    tied = None
    if positions is not None:
        if not documents.exact_keys:
            sort_misranked(documents, positions, queries, first, ranked)
    elif (collisions := collides(first[:, : depth + 1], mask)).any():
        rows = np.flatnonzero(collisions.any(axis=1))
        if documents.keys_tell_ties and width <= SHORT and len(rows) > MANY_ROWS * len(queries):
            rows = np.arange(len(queries))
        tied = resolve_collisions(documents, queries, rows, keys, first, ranked)
    scores_of = lambda rows: documents.score_rows(queries[rows], width)  # noqa: E731
    return Block(queries, sizes, retrieved, labels, ranked, tied, scores_of)


def _sizes(documents: Documents, bucket: WidthBucket, queries: Array) -> tuple[Array, Array]:
    """Number of documents and of retrieved documents of each query, the same array if equal."""
    equal = bucket.shortest == bucket.width
    sizes = np.full(len(queries), bucket.width) if equal else documents.sizes[queries]
    all_retrieved = documents.retrieved is documents.sizes
    return sizes, sizes if all_retrieved else documents.retrieved[queries]
