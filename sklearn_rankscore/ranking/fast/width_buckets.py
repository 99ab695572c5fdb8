"""Width buckets: queries of similar size, padded to one width and ranked together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..._typing import Array
from ..block import BLOCK_DOCUMENTS, padded_width
from ..plain import SHORT
from .documents import Documents

# small buckets of similar width are joined up to these numbers of documents: a block costs hundreds
# of calls of NumPy, whatever its size
SMALL_BUCKET, SMALL_SHORT_BUCKET = 2**18, 2**17

# blocks of so few ranks are larger: most of their memory is keys, and the calls after the sort are
# so short that threads would wait for one another at each
FEW_RANKS, LARGE_BLOCK = 32, 2**21


@dataclass
class WidthBucket:
    """Queries of one block, in the order of their documents.

    Parameters
    ----------
    width, shortest : int
        Number of columns, and of documents of the shortest query.
    queries : int array of shape (n_queries,)
        Positions of the queries.
    keys : int array of shape (n_queries, width) or None
        The keys of their documents; consumed by ranking.
    """

    width: int
    shortest: int
    queries: Array
    keys: Array | None = None

    def divide(self, most: int, jobs: int) -> Iterator[WidthBucket]:
        """Buckets of at most `most` documents, or of one query.

        If there are several, their number is a multiple of `jobs` where there are enough queries.
        """
        n_queries = len(self.queries)
        # short rows are ranked to the end, and need twice the memory
        n_parts = -(-n_queries * self.width * (1 + (self.width <= SHORT)) // most)
        if n_parts > 1:
            n_parts = min(n_queries, -(-n_parts // jobs) * jobs)
        for a, b in pairwise(n_queries * i // n_parts for i in range(n_parts + 1)):
            keys = None if self.keys is None else self.keys[a:b]
            yield WidthBucket(self.width, self.shortest, self.queries[a:b], keys)


def divide_for_threads(
    buckets: list[WidthBucket], depth: int | None, jobs: int
) -> list[WidthBucket]:
    """Buckets that fit into memory and keep all threads busy, the largest first."""
    fair_share = sum(bucket.width * len(bucket.queries) for bucket in buckets) // jobs
    parts: list[WidthBucket] = []
    for bucket in buckets:
        few = min(bucket.width, depth or bucket.width) <= FEW_RANKS
        most = min(LARGE_BLOCK if few else BLOCK_DOCUMENTS, max(SMALL_BUCKET, fair_share))
        parts.extend(bucket.divide(most, jobs))
    return sorted(parts, key=lambda part: -part.width * len(part.queries))


def width_buckets(documents: Documents, depth: int | None) -> list[WidthBucket]:
    """One bucket per padded width, small ones joined."""
    sizes = documents.sizes
    if len(sizes) == 1:
        return [WidthBucket(int(padded_width(sizes)[0]), int(sizes[0]), np.zeros(1, dtype=np.intp))]
    counts = np.bincount(sizes)
    present = np.flatnonzero(counts)
    counts, widths = counts[present], padded_width(present)
    firsts = np.flatnonzero(np.diff(widths, prepend=0))
    if depth is not None:
        firsts = firsts[_joined(widths[firsts], np.add.reduceat(counts, firsts), depth)]
    # a stable sort of such small integers takes linear time
    bucket_of = np.empty(present[-1] + 1, np.uint8 if len(firsts) <= 2**8 else np.uint16)
    bucket_of[present] = np.repeat(np.arange(len(firsts)), np.diff(firsts, append=len(present)))
    members = np.split(
        _stable_order(bucket_of[sizes], documents.by_start),
        np.cumsum(np.add.reduceat(counts, firsts))[:-1],
    )
    lasts = np.append(firsts[1:], len(widths)) - 1
    return [*map(WidthBucket, widths[lasts].tolist(), present[firsts].tolist(), members)]


def _stable_order(buckets: Array, by_start: Array | None) -> Array:
    """Queries by bucket, and within a bucket in the order of their documents."""
    if by_start is None:
        return np.argsort(buckets, kind="stable")
    return np.asarray(by_start[np.argsort(buckets[by_start], kind="stable")])


def _joined(widths: Array, counts: Array, depth: int) -> list[int]:
    """Where among ascending widths a bucket starts, given how many queries have each width.

    Buckets are joined where this leaves the rounding of sums up to the cut-off unchanged: sums over
    short rows are sums of columns, and those over long rows end at the cut-off. Queries of small
    buckets are padded to at most twice their width, others by at most a quarter.
    """
    firsts: list[int] = []
    narrowest = n_queries = 0
    for i, (width, count) in enumerate(zip(widths.tolist(), counts.tolist(), strict=True)):
        short, n_documents = width <= SHORT, n_queries * width
        same_sums = short or narrowest > max(depth, SHORT)
        small = n_documents <= (SMALL_SHORT_BUCKET if short else SMALL_BUCKET)
        large = not short and depth <= FEW_RANKS and n_documents <= LARGE_BLOCK
        similar = (small and width <= 2 * narrowest) or (large and 4 * width <= 5 * narrowest)
        if not (same_sums and similar):
            firsts.append(i)
            narrowest, n_queries = width, 0
        n_queries += count
    return firsts
