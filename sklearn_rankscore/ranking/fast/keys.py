"""Keys: one integer per document, ordered like descending scores, that ends in the label."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..._typing import Array
from ..threads import parallel_for
from .documents import Documents
from .row_sorts import SHORT
from .width_buckets import WidthBucket

# documents whose keys are computed at once: few enough to stay in cache, and enough that threads,
# which hold Python's lock between operations, seldom wait
CHUNK = 2**19

# documents per operation
STEP = 2**15

# bits of a positive infinite float
INFINITY = 0x7FF << 52

# up to this depth keys have 32 bits and are sorted in half the time; beyond it too many scores
# would collide in them
SHALLOW = 32

# the share of documents that can be among the first ranks from which on longer keys cost less than
# ranking these documents again
CROWDED = 1 / 9


def fill_keys(
    documents: Documents, buckets: list[WidthBucket], depth: int | None, jobs: int
) -> None:
    """Give each bucket the keys of its queries as rows."""

    def fill(write: Callable[..., bool], integer: type[np.signedinteger[Any]]) -> bool:
        return _fill(documents, buckets, np.dtype(integer), write, jobs)

    shallow = depth is not None and depth <= SHALLOW
    documents.exact_keys = (
        (shallow and documents.has_many_ties and fill(write_exact_short_keys, np.int32))
        or ((not shallow or _is_crowded(documents, depth)) and fill(write_exact_keys, np.int64))
        or fill(write_keys, np.int32 if shallow else np.int64)
    )


def _is_crowded(documents: Documents, depth: int | None) -> bool:
    """Whether tie groups are so large that a good part of the documents can be at the top."""
    candidates = (depth or 0) + documents.tie_size
    return documents.has_many_ties and candidates > CROWDED * documents.sizes.mean()


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
    chunks, mask = _chunk_edges(documents, jobs), label_mask(documents.n_grades)
    first_rows = [np.searchsorted(begins, chunks).tolist() for begins in starts]
    overhang = max(bucket.width - bucket.shortest for bucket in buckets)
    lowest = -1 << (8 * integer.itemsize - 1)
    inexact: list[int] = []

    # the keys of a chunk are still in cache when they are copied into rows
    def fill(chunk: int) -> None:
        begin, end = int(chunks[chunk]), int(chunks[chunk + 1])
        keys = np.empty(end - begin + overhang, integer)
        keys[end - begin :] = lowest  # below padding, as all keys are
        for first in range(begin, end, STEP):
            part = slice(first, min(first + STEP, end))
            of_part = keys[part.start - begin : part.stop - begin]
            if not write(of_part, documents.labels[part], documents.scores[part], mask):
                inexact.append(chunk)
                if write is not write_keys:
                    return
        for bucket, begins, first in zip(buckets, starts, first_rows, strict=True):
            rows = slice(first[chunk], first[chunk + 1])
            if rows.start < rows.stop:
                _copy_rows(np.asarray(bucket.keys)[rows], keys, begins[rows] - begin)

    parallel_for(fill, range(len(chunks) - 1), jobs)
    return not inexact


def _copy_rows(rows: Array, keys: Array, starts: Array) -> None:
    # a row is copied faster as one item of many bytes than as numbers
    width, step = rows.shape[1], keys.itemsize
    item = np.dtype((np.void, width * step))
    windows: Array = np.ndarray((len(keys) - width + 1,), item, keys, strides=(step,))
    rows[:] = windows[starts].view(keys.dtype).reshape(-1, width)


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


def label_mask(n_grades: int) -> int:
    """Mask of the low bits of a key, which hold the label."""
    return (1 << n_grades.bit_length()) - 1


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


def write_exact_short_keys(keys: Array, labels: Array, scores: Array, mask: int) -> bool:
    """Write keys of 32 bits if these hold every score whole, as they hold small integers."""
    with np.errstate(over="ignore", under="ignore"):
        single = scores.astype(np.float32)
    if (single.view(np.int32) & mask).any() or not np.array_equal(single, scores):
        return False
    write_keys(keys, labels, single, mask)
    return True


def write_exact_keys(keys: Array, labels: Array, scores: Array, mask: int) -> bool:
    """Write keys of 64 bits of which different scores have different ones, if that is possible.

    It is for scores of usual magnitude, as not all exponents of a float occur then: from 2^-191
    to 2^63 with three bits for the label. Zero and infinity are the ends of that range.
    """
    n_bits = mask.bit_length()
    below, largest = _exact_range(n_bits)
    floats = keys.view(np.float64)
    np.subtract(0.0, scores, out=floats)
    negative = keys >> 63
    keys &= np.iinfo(np.int64).max
    keys -= below
    if keys.min() <= 0 or keys.max() >= largest:
        special = (keys != -below) & (keys != INFINITY - below)
        if ((keys <= 0) & special).any() or ((keys >= largest) & special).any():
            return False
        np.minimum(np.maximum(keys, 0, out=keys), largest, out=keys)
    keys ^= negative
    keys <<= n_bits
    keys |= labels
    return True


def _exact_range(n_bits: int) -> tuple[int, int]:
    """The bits of the float below the smallest one, and the value of an infinite one."""
    n_exponents = INFINITY >> 52 >> n_bits
    return ((1023 - 3 * n_exponents // 4) << 52) - 1, (INFINITY >> n_bits) - 1


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
