"""Documents with those of each query adjacent in memory, and queries of similar size together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..._typing import Array
from ..block import BLOCK_DOCUMENTS, padded_width
from ..queries import Queries
from ..ties import BY_INPUT_ORDER, SHORT
from . import choices


class Documents:
    """Labels and scores, those of a query side by side.

    Attributes
    ----------
    labels : array of shape (n_documents,)
        Labels, encoded as grades if they are small integers.
    scores : array of shape (n_documents,)
        Scores as given.
    n_grades : int
        One more than the highest label; 0 if labels are not encoded.
    sizes, starts : int array of shape (n_queries,)
        Number of documents of each query, and the position of the first.
    width, mean_size : int, float
        The largest and the mean size.
    retrieved : int array of shape (n_queries,)
        Number of documents with a rank; `sizes` itself if all have one.
    ties : str
        How equal scores are ranked: "stable" or "reversed" if the input order decides, otherwise
        blocks tell what is tied.
    tie_size, short_key_size : float
        Mean number of documents with equal scores, and with equal scores in keys of 32 bits, in a
        sample of the queries.
    """

    def __init__(self, queries: Queries, ties: str = "average") -> None:
        grouping, labels, self.n_grades = queries.grouping, queries.y_true, 0
        if queries.grades is not None:
            labels, self.n_grades = queries.grades, int(queries.label_range[1]) + 1
        self.labels = _adjacent(labels, grouping.rows)
        self.scores = _adjacent(queries.y_score, grouping.rows)
        self.sizes, self.starts, self.ties = grouping.sizes, grouping.starts, ties
        self.retrieved = self.sizes if queries.lowest_score > -np.inf else self._retrieved()
        self.width, self.mean_size = int(self.sizes.max()), len(self.scores) / len(self.sizes)
        self.tie_size = self.short_key_size = 1.0
        if len(self.scores) >= choices.SMALL_CALL:
            self.tie_size, self.short_key_size = self._sampled_ties()

    @property
    def in_input_order(self) -> bool:
        """Whether no score is tied, because the input order ranks equal ones."""
        return self.ties in BY_INPUT_ORDER

    @property
    def has_many_ties(self) -> bool:
        """Whether ties are the rule."""
        long = self.mean_size > SHORT
        return self.tie_size > (choices.MANY_TIES if long else choices.MANY_TIES_IN_SHORT)

    @property
    def has_large_groups(self) -> bool:
        """Whether queries have one or two distinct scores."""
        return self.tie_size > choices.SAMPLED_WIDTH / 3

    def _retrieved(self) -> Array:
        order = np.argsort(self.starts)
        retrieved = np.empty(len(self.sizes), dtype=np.intp)
        ranked = self.scores > -np.inf
        retrieved[order] = np.add.reduceat(ranked, self.starts[order], dtype=np.intp)
        return retrieved

    def _sampled_ties(self) -> tuple[float, float]:
        """`tie_size` and `short_key_size`, of some queries."""
        share = max(1, len(self.sizes) * choices.SMALL_CALL // len(self.scores) // 4)
        sample = slice(None, None, max(share, len(self.sizes) // choices.SAMPLED_QUERIES))
        starts, sizes = self.starts[sample], self.sizes[sample, None]
        width = min(choices.SAMPLED_WIDTH, int(sizes.max()))
        scores = gather(self.scores, starts, width).astype(np.float64)
        scores[np.arange(width) >= sizes] = np.nan  # equal to nothing
        scores.sort(axis=1)
        with np.errstate(over="ignore", under="ignore"):
            short = scores.astype(np.float32).view(np.int32) >> self.n_grades.bit_length()
        n, given = np.minimum(sizes, width).sum(), np.arange(1, width) < sizes
        equal = [(given & (of[:, 1:] == of[:, :-1])).sum() for of in (scores, short)]
        return float(n / (n - equal[0])), float(n / (n - equal[1]))

    def rows(self, queries: Array, width: int) -> tuple[Array, Array]:
        """Labels and scores of some queries as rows, padded with the score -inf.

        The label of padding is 0 among grades, and otherwise one of the query's own, because a
        gain need not be defined for others.
        """
        labels, scores = (gather(a, self.starts[queries], width) for a in self.both)
        sizes = self.sizes[queries]
        shortest = int(sizes.min())
        if shortest < width:
            beyond = np.arange(shortest, width) >= sizes[:, None]
            labels = np.array(labels) if len(labels) == 1 else labels  # it may be a view
            label = 0 if self.n_grades else labels[:, :1]
            labels[:, shortest:] = np.where(beyond, label, labels[:, shortest:])
            scores = scores.astype(np.result_type(scores, np.float16), copy=len(scores) == 1)
            scores[:, shortest:][beyond] = -np.inf
        return labels, scores

    def at(self, places: Array, padding: Array) -> tuple[Array, Array]:
        """Labels and scores at some places, with the score -inf where there is padding."""
        labels, scores = (values.take(places) for values in self.both)
        scores = scores.astype(np.result_type(scores, np.float16), copy=False)
        scores[padding] = -np.inf
        return labels, scores

    @property
    def both(self) -> tuple[Array, Array]:
        """Labels and scores."""
        return self.labels, self.scores


def _adjacent(values: Array, rows: Array | None) -> Array:
    """Values with those of each query adjacent, contiguous in memory."""
    return np.ascontiguousarray(values) if rows is None else values.take(rows)


def gather(values: Array, starts: Array, width: int) -> Array:
    """The `width` values from each start on; those beyond a query's end are arbitrary."""
    if len(starts) == 1 and starts[0] + width <= len(values):  # perhaps millions of documents
        return values[None, starts[0] : starts[0] + width]
    if len(values) < width:
        return values.take(starts[:, None] + np.arange(width), mode="clip")
    # a row of a sliding window is copied faster as one item of many bytes than as numbers
    step = values.itemsize
    item = np.dtype((np.void, width * step))
    windows: Array = np.ndarray((len(values) - width + 1,), item, values, strides=(step,))
    gathered = windows[np.minimum(starts, len(windows) - 1)].view(values.dtype)
    gathered = gathered.reshape(len(starts), width)
    for row in np.flatnonzero(starts >= len(windows)):
        gathered[row, : len(values) - starts[row]] = values[starts[row] :]
    return np.asarray(gathered)


@dataclass(frozen=True)
class Bucket:
    """Queries of one block, padded to one width.

    Parameters
    ----------
    width, shortest : int
        Number of columns, and of documents of the shortest query.
    queries : int array of shape (n_queries,)
        Positions of the queries, in the order of their documents where these are in order.
    """

    width: int
    shortest: int
    queries: Array


def divide_for_threads(buckets: list[Bucket], depth: int | None, jobs: int) -> list[Bucket]:
    """Buckets that fit into memory and keep all threads busy, the largest first.

    If there are several of one width, their number is a multiple of `jobs` where there are enough
    queries.
    """
    fair_share = sum(bucket.width * len(bucket.queries) for bucket in buckets) // jobs
    parts: list[Bucket] = []
    for bucket in buckets:
        shallow = min(bucket.width, depth or bucket.width) <= choices.SHALLOW
        most = choices.LARGE_BLOCK if shallow else BLOCK_DOCUMENTS
        most = min(most, max(choices.SMALL_BUCKET, fair_share))
        n_queries = len(bucket.queries)
        # short rows are ranked to the end, and need twice the memory
        n_parts = -(-n_queries * bucket.width * (1 + (bucket.width <= SHORT)) // most)
        if n_parts > 1:
            n_parts = min(n_queries, -(-n_parts // jobs) * jobs)
        for a, b in pairwise(n_queries * i // n_parts for i in range(n_parts + 1)):
            parts.append(Bucket(bucket.width, bucket.shortest, bucket.queries[a:b]))
    return sorted(parts, key=lambda part: -part.width * len(part.queries))


def width_buckets(sizes: Array, depth: int | None) -> Iterator[Bucket]:
    """One bucket per padded width, small ones joined if there is a cut-off."""
    if len(sizes) == 1:
        yield Bucket(int(padded_width(sizes)[0]), int(sizes[0]), np.zeros(1, dtype=np.intp))
        return
    counts = np.bincount(sizes)
    distinct = np.flatnonzero(counts)
    widths, counts = padded_width(distinct), counts[distinct]
    firsts = np.flatnonzero(np.diff(widths, prepend=0))
    if depth is not None:
        firsts = firsts[_joined(widths[firsts], np.add.reduceat(counts, firsts), depth)]
    # a stable sort of such small integers takes linear time
    bucket_of = np.empty(distinct[-1] + 1, np.uint8 if len(firsts) <= 2**8 else np.uint16)
    bucket_of[distinct] = np.repeat(np.arange(len(firsts)), np.diff(firsts, append=len(widths)))
    order = np.argsort(bucket_of[sizes], kind="stable")
    members = np.split(order, np.cumsum(np.add.reduceat(counts, firsts))[:-1])
    lasts = np.append(firsts[1:], len(widths)) - 1
    yield from map(Bucket, widths[lasts].tolist(), distinct[firsts].tolist(), members)


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
        small = n_documents <= (choices.SMALL_SHORT_BUCKET if short else choices.SMALL_BUCKET)
        large = not short and depth <= choices.SHALLOW and n_documents <= choices.LARGE_BLOCK
        similar = (small and width <= 2 * narrowest) or (large and 4 * width <= 5 * narrowest)
        if not (same_sums and similar):
            firsts.append(i)
            narrowest, n_queries = width, 0
        n_queries += count
    return firsts
