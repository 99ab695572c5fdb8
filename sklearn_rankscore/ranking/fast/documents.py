"""Documents with those of each query adjacent in memory."""

from __future__ import annotations

import numpy as np

from ..._typing import Array
from ..plain import SHORT
from ..queries import Queries
from .keys import label_mask

# calls on fewer documents take no sample; a larger one takes the first documents of some queries
SAMPLED_CALL, SAMPLED_QUERIES, SAMPLED_WIDTH = 2**14, 64, 2**8

# the mean number of documents with equal scores from which on ties are the rule, and the same for
# short queries, of which most have a tie then
MANY, MANY_IN_SHORT = 1.5, 1.04


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
    by_start : int array of shape (n_queries,) or None
        Queries in the order of their documents; None if they are in that order.
    retrieved : int array of shape (n_queries,)
        Number of documents with a rank; `sizes` itself if all have one.
    tie_size : float
        Mean number of documents with equal scores, in a sample of the queries.
    short_key_size : float
        The same with equal scores in keys of 32 bits.
    input_order_decides : bool
        Whether no score is tied, because the input order ranks equal ones.
    """

    def __init__(self, queries: Queries, ties: str = "average") -> None:
        grouping = queries.grouping
        labels, self.n_grades = queries.y_true, 0
        if queries.grades is not None:
            labels, self.n_grades = queries.grades, int(queries.label_range[1]) + 1
        self.labels = _adjacent(labels, grouping.rows)
        self.scores = _adjacent(queries.y_score, grouping.rows)
        self.sizes, self.starts = grouping.sizes, grouping.starts
        sequential = (self.starts[1:] > self.starts[:-1]).all()
        self.by_start = None if sequential else np.argsort(self.starts)
        self.retrieved = self.sizes if queries.lowest_score > -np.inf else self._retrieved()
        self.tie_size = self.short_key_size = 1.0
        if len(self.scores) >= SAMPLED_CALL:
            self._read_sample()
        self.input_order_decides = ties == "stable"

    @property
    def mean_size(self) -> float:
        """Mean number of documents of a query."""
        return len(self.scores) / len(self.sizes)

    @property
    def has_many_ties(self) -> bool:
        """Whether ties are the rule."""
        return self.tie_size > (MANY if self.mean_size > SHORT else MANY_IN_SHORT)

    @property
    def has_large_groups(self) -> bool:
        """Whether long queries have one or two distinct scores."""
        return self.tie_size > SAMPLED_WIDTH / 3

    def _retrieved(self) -> Array:
        order = slice(None) if self.by_start is None else self.by_start
        retrieved = np.empty(len(self.sizes), dtype=np.intp)
        ranked = self.scores > -np.inf
        retrieved[order] = np.add.reduceat(ranked, self.starts[order], dtype=np.intp)
        return retrieved

    def _read_sample(self) -> None:
        step = max(1, len(self.sizes) * SAMPLED_CALL // len(self.scores) // 4)
        sample = slice(None, None, max(step, len(self.sizes) // SAMPLED_QUERIES))
        starts, sizes = self.starts[sample], self.sizes[sample, None]
        width = min(SAMPLED_WIDTH, int(sizes.max()))
        scores = _gather(self.scores, starts, width).astype(np.float64)
        scores[np.arange(width) >= sizes] = np.nan  # equal to nothing
        scores.sort(axis=1)
        with np.errstate(over="ignore", under="ignore"):
            short = scores.astype(np.float32).view(np.int32) & ~label_mask(self.n_grades)
        n, given = np.minimum(sizes, width).sum(), np.arange(1, width) < sizes
        self.tie_size, self.short_key_size = (
            float(n / (n - (given & (of[:, 1:] == of[:, :-1])).sum())) for of in (scores, short)
        )

    def rows(self, queries: Array, width: int) -> tuple[Array, Array]:
        """Labels and scores of some queries as rows, padded with the score -inf.

        The label of padding is 0 among grades, and otherwise one of the query's own, because a
        gain need not be defined for others.
        """
        labels = _gather(self.labels, self.starts[queries], width)
        if padding := self._padding(queries, width):
            columns, beyond = padding
            labels = np.array(labels) if len(labels) == 1 else labels  # it may be a view
            label = 0 if self.n_grades else labels[:, :1]
            labels[:, columns] = np.where(beyond, label, labels[:, columns])
        return labels, self.score_rows(queries, width)

    def score_rows(self, queries: Array, width: int) -> Array:
        """Scores of some queries as rows, padded with -inf."""
        scores = _gather(self.scores, self.starts[queries], width)
        if padding := self._padding(queries, width):
            columns, beyond = padding
            if len(scores) == 1 or scores.dtype.kind != "f":
                scores = scores.astype(np.result_type(scores, np.float16))
            np.copyto(scores[:, columns], -np.inf, where=beyond)
        return scores

    def some_of(self, queries: Array, chosen: Array, counts: Array) -> tuple[Array, Array]:
        """Labels and scores of the chosen documents of some queries as rows, padded with -inf.

        The label of padding is one of the query's own.
        """
        heads = np.cumsum(counts) - counts
        first = self.starts[queries] - np.arange(0, chosen.size, chosen.shape[1])
        places = np.flatnonzero(chosen) + np.repeat(first, counts)
        columns = np.arange(counts.max())
        padding = columns >= counts[:, None]
        documents = places.take(heads[:, None] + np.where(padding, 0, columns))
        scores = self.scores.take(documents)
        scores = scores.astype(np.result_type(scores, np.float16), copy=False)
        scores[padding] = -np.inf
        return self.labels.take(documents), scores

    def _padding(self, queries: Array, width: int) -> tuple[slice, Array] | None:
        """The columns that some rows do not reach, and which of their entries are padding."""
        sizes = self.sizes[queries]
        shortest = int(sizes.min())
        if shortest == width:
            return None
        return slice(shortest, width), np.arange(shortest, width) >= sizes[:, None]


def _adjacent(values: Array, rows: Array | None) -> Array:
    """Values with those of each query adjacent, contiguous in memory."""
    return np.ascontiguousarray(values) if rows is None else values.take(rows)


def _gather(values: Array, starts: Array, width: int) -> Array:
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
