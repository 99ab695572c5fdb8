"""The keys of a call: which kind of key its documents have, written into rows of queries."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..._typing import Array
from ..plain import order_of
from ..threads import parallel_for
from .documents import SAMPLED_WIDTH, Documents
from .keys import (
    TRIED,
    label_mask,
    write_decimals,
    write_exact_keys,
    write_keys,
    write_ranks,
)
from .row_sorts import MEDIUM, MEDIUM_LONG
from .width_buckets import WidthBucket

# documents whose keys are computed at once: few enough to stay in cache until they are copied, and
# enough that threads, which wait for Python's lock between operations, seldom wait
CHUNK = 2**19

# up to this depth keys have 32 bits and are sorted in half the time; beyond it too many scores
# would collide in them
SHALLOW = 32

# where the input order ranks equal scores, which are many, keys with columns rank whole rows of up
# to this mean size faster than their candidates are ranked
MEDIUM_IN_ORDER = 2**12

# the share of documents that can be among the first ranks from which on longer keys cost less than
# ranking these documents again
CROWDED = 1 / 9

# how many times as many documents must have equal short keys as have equal scores for longer keys
# to cost less, in queries that are not long
COLLIDING = 1.04


@dataclass(frozen=True)
class Kind:
    """A kind of key: the bits of the score, those of the column if it has one, and of the label.

    Parameters
    ----------
    integer : type
        `numpy.int32` or `numpy.int64`.
    write : callable
        Writes keys, and tells whether it could.
    n_grades : int
        One more than the highest label.
    column_bits : int, default=0
        Number of bits of the column, which ranks equal scores in input order.
    """

    integer: type[np.signedinteger[Any]]
    write: Callable[[Array, Array, Array, int], bool]
    n_grades: int
    column_bits: int = 0

    @property
    def is_exact(self) -> bool:
        """Whether documents with different scores have different keys."""
        return self.write is not write_keys

    @property
    def mask(self) -> int:
        """The mask of the bits below those of the score."""
        return ((label_mask(self.n_grades) + 1) << self.column_bits) - 1

    def write_columns(self, keys: Array) -> None:
        """Write its column into each key of a row."""
        keys |= np.arange(keys.shape[1], dtype=keys.dtype) * (label_mask(self.n_grades) + 1)


def fill_keys(
    documents: Documents, buckets: list[WidthBucket], depth: int | None, jobs: int
) -> Kind | None:
    """Give each bucket the keys of its queries as rows; None if scores had better be sorted."""
    width = max(bucket.width for bucket in buckets)
    for kind in _ways_to_write(documents, depth, width):
        # where keys cannot be exact, the first documents tell in most cases
        first = documents.labels[:TRIED], documents.scores[:TRIED]
        is_tried = kind.is_exact and len(documents.scores) > TRIED
        if is_tried and not kind.write(np.empty(TRIED, kind.integer), *first, kind.mask):
            continue
        if _fill(documents, buckets, kind, jobs):
            return kind
    for bucket in buckets:
        bucket.keys = None
    return None


def _ways_to_write(documents: Documents, depth: int | None, width: int) -> Iterator[Kind]:
    """The kinds of keys that may be written, the cheapest first."""
    kind = exact = partial(Kind, n_grades=documents.n_grades)
    has_many_ties = documents.has_many_ties
    has_columns = documents.input_order_decides and has_many_ties
    if has_columns:
        exact = partial(kind, column_bits=(width - 1).bit_length())
    # candidates of long rows are sorted faster than whole rows
    is_long = documents.mean_size > (MEDIUM_IN_ORDER if has_columns else MEDIUM)
    if has_many_ties and (documents.has_large_groups or not is_long):
        yield exact(np.int32, write_decimals)
        yield exact(np.int32, write_ranks)
    if depth is not None and depth <= SHALLOW and not _needs_long_keys(documents, depth):
        yield kind(np.int32, write_keys)
        return
    yield exact(np.int64, write_exact_keys)
    if not has_columns:  # most rows would be sorted by their scores after all
        yield kind(np.int64, write_keys)


def _needs_long_keys(documents: Documents, depth: int) -> bool:
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
    return depth + size > CROWDED * mean_size


def _fill(documents: Documents, buckets: list[WidthBucket], kind: Kind, jobs: int) -> bool:
    """Fill the rows, and tell whether all documents have keys of this kind.

    Beyond a query's end a row holds keys of other queries, until `pad_keys` replaces them.
    """
    for bucket in buckets:
        # sums over short rows are much cheaper as sums of columns
        shape = len(bucket.queries), bucket.width
        bucket.keys = np.empty(shape, kind.integer, order_of(bucket.width))
    starts = [documents.starts[bucket.queries] for bucket in buckets]
    chunks = _chunk_edges(documents, jobs)
    first_rows = [np.searchsorted(begins, chunks).tolist() for begins in starts]
    overhang = max(bucket.width - bucket.shortest for bucket in buckets)
    failed: list[int] = []

    # the keys of a chunk are still in cache when they are copied into rows
    def fill(chunk: int) -> None:
        if failed:
            return
        begin, end = int(chunks[chunk]), int(chunks[chunk + 1])
        keys = np.empty(end - begin + overhang, kind.integer)
        keys[end - begin :] = np.iinfo(kind.integer).min  # below padding, as all keys are
        given = documents.labels[begin:end], documents.scores[begin:end]
        if not kind.write(keys[: end - begin], *given, kind.mask):
            failed.append(chunk)
            return
        for bucket, begins, first in zip(buckets, starts, first_rows, strict=True):
            rows = slice(first[chunk], first[chunk + 1])
            if rows.start < rows.stop:
                _copy_rows(np.asarray(bucket.keys)[rows], keys, begins[rows] - begin)

    parallel_for(fill, range(len(chunks) - 1), jobs)
    return not failed


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
