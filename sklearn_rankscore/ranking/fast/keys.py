"""Keys: one integer per document, ordered like descending scores, that ends in the label."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..._typing import Array
from ..threads import parallel_for
from ..ties import SHORT
from .distinct_scores import TRIED, write_ranks
from .documents import SAMPLED_WIDTH, Documents, label_mask
from .exact_keys import write_exact_keys, write_exact_short_keys
from .positions import Positions
from .row_sorts import MEDIUM, MEDIUM_LONG
from .width_buckets import WidthBucket

# documents whose keys are computed at once: few enough to stay in cache until they are copied, and
# enough that threads, which wait for Python's lock between operations, seldom wait
CHUNK = 2**19

# up to this depth keys have 32 bits and are sorted in half the time; beyond it too many scores
# would collide in them
SHALLOW = 32

# up to this width keys of 64 bits have room for positions
POSITIONED = 2**12

# the share of documents that can be among the first ranks from which on longer keys cost less than
# ranking these documents again
CROWDED = 1 / 9

# how many times as many documents must have equal short keys as have equal scores for longer keys
# to cost less, in queries that are not long
COLLIDING = 1.04


def fill_keys(
    documents: Documents, buckets: list[WidthBucket], depth: int | None, jobs: int
) -> None:
    """Give each bucket the keys of its queries as rows."""

    def fill(write: Callable[..., bool], integer: type[np.signedinteger[Any]]) -> bool:
        # where keys cannot be exact, the first documents tell in most cases
        first = documents.labels[:TRIED], documents.scores[:TRIED]
        is_tried = write is not write_keys and len(documents.scores) > TRIED
        if is_tried and not write(np.empty(TRIED, integer), *first, documents.below):
            return False
        return _fill(documents, buckets, np.dtype(integer), write, jobs)

    shallow = depth is not None and depth <= SHALLOW
    many = documents.has_many_ties
    documents.positions = _positions(documents, buckets)
    if shallow and many and _sorts_whole_rows(documents):
        write_short = partial(write_exact_short_keys, scale=documents.scale)
        exact = (write_short, write_exact_keys, write_ranks)
        documents.exact_keys = any(fill(write, np.int32) for write in exact)
    if documents.exact_keys:
        return
    if shallow and not _needs_long_keys(documents, depth):
        documents.positions = None
        fill(write_keys, np.int32)
    else:
        documents.exact_keys = fill(write_exact_keys, np.int64) or fill(write_keys, np.int64)


def _positions(documents: Documents, buckets: list[WidthBucket]) -> Positions | None:
    """What keys hold if the input order ranks equal scores, and these are the rule."""
    width, mask = max(bucket.width for bucket in buckets), label_mask(documents.n_grades)
    if documents.input_order_decides and documents.has_many_ties and width <= POSITIONED:
        return Positions.up_to(width, mask, documents.ties)
    return None


def _sorts_whole_rows(documents: Documents) -> bool:
    """Whether rows of keys that tell ties are sorted faster than their candidates."""
    wide = documents.positions is None and documents.mean_size > MEDIUM
    return not wide or documents.has_large_groups


def _needs_long_keys(documents: Documents, depth: int | None) -> bool:
    """Whether longer keys cost less, because many scores are equal in short ones.

    Such scores are tied, or differ by little for their size, as those of a saturated sigmoid.
    """
    size, mean_size = documents.tie_size, documents.mean_size
    collide, many_ties = documents.short_key_size > COLLIDING * size, documents.has_many_ties
    if not (collide or many_ties):
        return False
    if collide and mean_size <= MEDIUM_LONG:
        return True
    if not many_ties:  # more documents of a long query are equal than in its sample
        size = documents.short_key_size * max(1.0, mean_size / SAMPLED_WIDTH)
    return (depth or 0) + size > CROWDED * mean_size


def _fill(
    documents: Documents,
    buckets: list[WidthBucket],
    integer: np.dtype[Any],
    write: Callable[..., bool],
    jobs: int,
) -> bool:
    """Fill the rows, and tell whether different scores have different keys.

    Beyond a query's end a row holds keys of other queries, until `pad_keys` replaces them.
    """
    for bucket in buckets:
        # sums over short rows are much cheaper as sums of columns
        order: Any = "F" if bucket.width <= SHORT else "C"
        bucket.keys = np.empty((len(bucket.queries), bucket.width), integer, order)
    starts = [documents.starts[bucket.queries] for bucket in buckets]
    chunks, positions, mask = _chunk_edges(documents, jobs), documents.positions, documents.below
    first_rows = [np.searchsorted(begins, chunks).tolist() for begins in starts]
    overhang = max(bucket.width - bucket.shortest for bucket in buckets)
    lowest = -1 << (8 * integer.itemsize - 1)
    inexact: list[int] = []

    # the keys of a chunk are still in cache when they are copied into rows
    def fill(chunk: int) -> None:
        if inexact and write is not write_keys:
            return
        begin, end = int(chunks[chunk]), int(chunks[chunk + 1])
        keys = np.empty(end - begin + overhang, integer)
        keys[end - begin :] = lowest  # below padding, as all keys are
        given = documents.labels[begin:end], documents.scores[begin:end]
        if not write(keys[: end - begin], *given, mask):
            inexact.append(chunk)
            if write is not write_keys:
                return
        for bucket, begins, first in zip(buckets, starts, first_rows, strict=True):
            rows = slice(first[chunk], first[chunk + 1])
            if rows.start < rows.stop:
                _copy_rows(np.asarray(bucket.keys)[rows], keys, begins[rows] - begin, positions)

    parallel_for(fill, range(len(chunks) - 1), jobs)
    return not inexact


def _copy_rows(rows: Array, keys: Array, starts: Array, positions: Positions | None) -> None:
    # a row is copied faster as one item of many bytes than as numbers
    width, step = rows.shape[1], keys.itemsize
    item = np.dtype((np.void, width * step))
    windows: Array = np.ndarray((len(keys) - width + 1,), item, keys, strides=(step,))
    rows[:] = windows[starts].view(keys.dtype).reshape(-1, width)
    if positions is not None:
        positions.write(rows)


def _chunk_edges(documents: Documents, jobs: int) -> Array:
    """Where chunks of about equal size begin and end, without splitting a query."""
    starts, n = documents.starts, len(documents.scores)
    n_chunks = -(-n // CHUNK)
    if n_chunks == 1:
        return np.array([0, n])
    n_chunks = -(-n_chunks // jobs) * jobs  # as many for each thread as for the next
    if documents.by_start is not None:
        starts = starts[documents.by_start]
    after = np.searchsorted(starts, np.arange(n_chunks) * n // n_chunks)
    return np.append(np.unique(starts[after[after < len(starts)]]), n)


def labels_of(keys: Array, mask: int) -> Array:
    """The labels in the low bits of keys."""
    labels = keys.astype(np.uint8)
    labels &= mask
    return labels


def write_keys(keys: Array, labels: Array | int, scores: Array, mask: int) -> bool:
    """Write the keys of documents into an array of integers.

    The result is False, as different scores may have equal keys.
    """
    floats = keys.view(np.float32 if keys.dtype == np.int32 else np.float64)
    with np.errstate(over="ignore", under="ignore"):
        np.copyto(floats, scores, casting="unsafe")
    # subtracted from 0, because negative zero must tie with zero
    np.subtract(0.0, floats, out=floats)
    # floats are ordered like their bits read as an integer, negative floats in reverse
    sign_bit = 8 * keys.itemsize - 1
    flip = keys >> sign_bit
    flip &= (1 << sign_bit) - 1
    keys ^= flip
    keys &= ~mask
    keys |= labels
    return False


def pad_keys(keys: Array, sizes: Array, shortest: int, mask: int) -> None:
    """Overwrite what is beyond each query's end by keys that rank last and tie with nothing."""
    width = keys.shape[1]
    if shortest == width:
        return
    infinity = np.array(np.inf, np.float32 if keys.dtype == np.int32 else np.float64)
    n_columns = width - shortest
    padding = int(infinity.view(keys.dtype)) + np.arange(1, n_columns + 1) * (mask + 1)
    # each row takes the maximum with a window of this line: values below every key for its
    # documents, padding beyond
    line = np.full(2 * n_columns, np.iinfo(keys.dtype).min, dtype=keys.dtype)
    # 32 bits have room for some 100,000 keys of padding; 64-bit keys resolve further collisions
    np.minimum(padding, np.iinfo(keys.dtype).max & ~mask, out=line[n_columns:], casting="unsafe")
    first = width - sizes
    if width <= SHORT:
        for place, column in enumerate(keys.T[shortest:]):
            np.maximum(column, line[first + place], out=column)
        return
    item = np.dtype((np.void, n_columns * keys.itemsize))
    windows: Array = np.ndarray(n_columns + 1, item, line, strides=(keys.itemsize,))
    least = windows[first].view(keys.dtype).reshape(len(keys), n_columns)
    np.maximum(keys[:, shortest:], least, out=keys[:, shortest:])


def collides(sorted_keys: Array, mask: int) -> Array:
    """Whether each sorted key has the same high bits as the next one."""
    return np.asarray(sorted_keys[:, 1:] <= (sorted_keys[:, :-1] | mask))
