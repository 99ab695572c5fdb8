"""Documents with those of each query adjacent in memory."""

from __future__ import annotations

import numpy as np

from ..._typing import Array
from ..queries import Queries


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
    """

    def __init__(self, queries: Queries) -> None:
        grouping = queries.grouping
        self.n_grades = 0 if queries.grades is None else int(queries.label_range[1]) + 1
        labels = queries.y_true if queries.grades is None else queries.grades
        self.labels = _adjacent(labels, grouping.rows)
        self.scores = _adjacent(queries.y_score, grouping.rows)
        self.sizes, self.starts = grouping.sizes, grouping.starts
        sequential = (self.starts[1:] > self.starts[:-1]).all()
        self.by_start = None if sequential else np.argsort(self.starts)
        self.retrieved = self.sizes if queries.lowest_score > -np.inf else self._retrieved()

    def _retrieved(self) -> Array:
        order = slice(None) if self.by_start is None else self.by_start
        retrieved = np.empty(len(self.sizes), dtype=np.intp)
        ranked = self.scores > -np.inf
        retrieved[order] = np.add.reduceat(ranked, self.starts[order], dtype=np.intp)
        return retrieved

    def rows(self, queries: Array, width: int) -> tuple[Array, Array]:
        """Labels and scores of some queries as rows, padded with the score -inf.

        The label of padding is 0 among grades, and otherwise one of the query's own, because a
        gain need not be defined for others.
        """
        labels = _gather(self.labels, self.starts[queries], width)
        scores = _gather(self.scores, self.starts[queries], width)
        padding = np.arange(width) >= self.sizes[queries, None]
        if padding.any():
            labels = np.where(padding, 0 if self.n_grades else labels[:, :1], labels)
            scores = np.where(padding, -np.inf, scores)
        return labels, scores


def _adjacent(values: Array, rows: Array | None) -> Array:
    """Values with those of each query adjacent, contiguous in memory."""
    return np.ascontiguousarray(values) if rows is None else values.take(rows)


def _gather(values: Array, starts: Array, width: int) -> Array:
    """The `width` values from each start on; those beyond a query's end are arbitrary."""
    if len(starts) == 1 and starts[0] + width <= len(values):  # perhaps millions of documents
        return values[None, starts[0] : starts[0] + width]
    if len(values) < width:
        return values.take(starts[:, None] + np.arange(width), mode="clip")
    # whole rows of a sliding window are copied several times faster than single elements
    shape, step = (len(values) - width + 1, width), values.itemsize
    windows: Array = np.ndarray(shape, values.dtype, values, strides=(step, step))
    gathered = windows[np.minimum(starts, len(windows) - 1)]
    for row in np.flatnonzero(starts >= len(windows)):
        gathered[row, : len(values) - starts[row]] = values[starts[row] :]
    return np.asarray(gathered)
