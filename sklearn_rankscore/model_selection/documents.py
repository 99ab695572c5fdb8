"""Rows to fit on: features, labels and whatever else is aligned with them, moved together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _check_method_params, check_consistent_length

from ..ranking.arrays import Array
from ..ranking.grouping import group_rows
from .hold_out import QueryShuffleSplit


@dataclass(frozen=True)
class Documents:
    """Rows in which each query's stand together; `codes` is None where there are no queries."""

    X: Any
    y: Any
    codes: Array | None
    weights: Array | None
    params: dict[str, Any]

    @classmethod
    def read(cls, X: Any, y: Any, ids: Any, weights: Any, params: dict[str, Any]) -> Documents:
        """Sort the rows by query where they are not together."""
        check_consistent_length(X, y, weights)
        weights = None if weights is None else np.asarray(weights)
        if ids is None:
            return cls(X, y, None, weights, params)
        _, starts, sizes, rows = group_rows(ids, len(np.asarray(y)))
        sizes = sizes[np.argsort(starts, kind="stable")]
        whole = cls(X, y, None, weights, params)
        whole = whole if rows is None else whole.take(rows)
        codes = np.repeat(np.arange(len(sizes)), sizes)
        return cls(whole.X, whole.y, codes, whole.weights, whole.params)

    def take(self, rows: Array) -> Documents:
        """Some of the rows, in that order; fit parameters as long as there are rows go along."""
        return Documents(
            _safe_indexing(self.X, rows),
            _safe_indexing(self.y, rows),
            None if self.codes is None else self.codes[rows],
            None if self.weights is None else self.weights[rows],
            _check_method_params(self.X, self.params, indices=rows),
        )

    @property
    def sizes(self) -> Array:
        """Number of documents of each query, in row order."""
        counts: Array = np.unique(np.asarray(self.codes), return_counts=True)[1]
        return counts

    @property
    def query_weights(self) -> Array | None:
        """One weight a query."""
        if self.weights is None:
            return None
        sizes = self.sizes
        first = self.weights[np.cumsum(sizes) - sizes]
        if not np.array_equal(np.repeat(first, sizes), self.weights):
            raise ValueError(
                "this ranker takes one weight per query, so sample_weight must be constant within "
                "a query."
            )
        return np.asarray(first)

    def thin(self, n_queries: int, random_state: Any) -> Documents:
        """At most so many whole queries; more of them contain fewer of the same seed."""
        if n_queries >= len(self.sizes):
            return self
        splits = QueryShuffleSplit(1, train_size=n_queries, random_state=random_state)
        ((kept, _),) = splits.split(self.X, qid=self.codes)
        return self.take(kept)

    def hold_out(self, fraction: float, random_state: Any) -> tuple[Documents, Documents]:
        """Queries to train on, and those with something to rank among the rest."""
        if not (0 < fraction < 1 or (isinstance(fraction, int | np.integer) and fraction > 0)):
            raise ValueError(
                "validation_fraction must be a share of the queries between 0 and 1, or a number "
                f"of queries; got {fraction!r}."
            )
        splits = QueryShuffleSplit(
            1, test_size=fraction, random_state=random_state, contrast_only=True
        )
        ((train, held_out),) = splits.split(self.X, self.y, qid=self.codes)
        return self.take(train), self.take(held_out)
