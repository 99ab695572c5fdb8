"""Documents in the order of their queries, and rows of them."""

from __future__ import annotations

import numpy as np

from .arrays import Array
from .queries import Queries


class Documents:
    """Labels and scores, those of a query side by side.

    Attributes
    ----------
    labels : array of shape (n_documents,)
        Labels plus one as bytes, if they are small whole numbers; 0 is left for padding. Others
        as they were given.
    scores : array of shape (n_documents,)
        Scores as they were given.
    n_grades : int
        How many grades there may be, 0 if labels are no small whole numbers.
    sizes, starts : int array of shape (n_queries,)
        Length of each query, and where it begins.
    by_start : int array of shape (n_queries,) or None
        Queries in the order of their documents; None where they stand in it.
    retrieved : int array of shape (n_queries,)
        How many documents of each query hold a rank; `sizes` itself where all do.
    """

    def __init__(self, queries: Queries) -> None:
        labels = queries.y_true if queries.grades is None else queries.grades
        self.n_grades = 0 if queries.grades is None else int(queries.label_range[1]) + 1
        self.labels = _together(labels, queries.rows)
        self.scores = _together(queries.y_score, queries.rows)
        self.sizes, self.starts = queries.sizes, queries.starts
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
        """Labels and scores of some queries as rows, beyond them a label that occurs, and -inf."""
        labels = _gather(self.labels, self.starts[queries], width)
        scores = _gather(self.scores, self.starts[queries], width)
        outside = np.arange(width) >= self.sizes[queries, None]
        if outside.any():
            labels = np.where(outside, 0 if self.n_grades else labels[:, :1], labels)
            scores = np.where(outside, -np.inf, scores)
        return labels, scores


def _together(values: Array, rows: Array | None) -> Array:
    """Values with those of a query side by side, in one stretch of memory."""
    return np.ascontiguousarray(values) if rows is None else values.take(rows)


def _gather(values: Array, starts: Array, width: int) -> Array:
    """The `width` values from each start on; what lies beyond a query's end is anything."""
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
