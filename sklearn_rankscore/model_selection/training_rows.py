"""Rows to fit on: features, labels and whatever else is aligned with them, moved together."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing, indexable
from sklearn.utils.validation import _check_method_params, _num_samples

from ..ranking.arrays import Array
from ..ranking.grouping import group_rows
from .hold_out import QueryShuffleSplit

# arguments of CatBoostRanker.fit that number rows instead of going along with them
PAIRS = ("pairs", "pairs_weight")


@dataclass(frozen=True)
class TrainingRows:
    """Rows in which each query's stand together; `codes` is None where there are no queries."""

    X: Any
    y: Any
    codes: Array | None
    weights: Array | None
    params: dict[str, Any]

    @classmethod
    def read(cls, X: Any, y: Any, ids: Any, weights: Any, params: dict[str, Any]) -> TrainingRows:
        """Sort the rows by query where they are not together."""
        if y is None:
            raise ValueError(
                "QueryRanker requires y to be passed, but the target y is None: it holds the "
                "relevance of each document."
            )
        X, y, weights = indexable(X, y, weights)
        weights = None if weights is None else np.asarray(weights)
        if ids is None:
            return cls(X, y, None, weights, params)
        _, starts, sizes, rows = group_rows(ids, len(np.asarray(y)))
        sizes = sizes[np.argsort(starts, kind="stable")]
        whole = cls(X, y, None, weights, params)
        whole = whole if rows is None else whole.take(rows)
        codes = np.repeat(np.arange(len(sizes)), sizes)
        return cls(whole.X, whole.y, codes, whole.weights, whole.params)

    def take(self, rows: Array) -> TrainingRows:
        """Some of the rows, in that order; fit parameters as long as there are rows go along."""
        aligned = {k: v for k, v in self.params.items() if k.rpartition("__")[2] not in PAIRS}
        return TrainingRows(
            _safe_indexing(self.X, rows),
            _safe_indexing(self.y, rows),
            None if self.codes is None else self.codes[rows],
            None if self.weights is None else self.weights[rows],
            _check_method_params(self.X, aligned, indices=rows) | self._pairs(rows),
        )

    def _pairs(self, rows: Array) -> dict[str, Any]:
        """CatBoost's pairs of row numbers, and their weights, of those whose rows are taken."""
        place = np.full(_num_samples(self.X), -1)
        place[rows] = np.arange(len(rows))
        found = {}
        for name in [name for name in self.params if name.rpartition("__")[2] == PAIRS[0]]:
            pairs = place[np.asarray(self.params[name])]
            kept = (pairs >= 0).all(axis=1)
            found[name] = pairs[kept]
            weights = name + "_weight"
            if weights in self.params:
                found[weights] = np.asarray(self.params[weights])[kept]
        return found

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

    def thin(self, n_queries: int, random_state: Any) -> TrainingRows:
        """At most so many whole queries; more of them contain fewer of the same seed."""
        if n_queries >= len(self.sizes):
            return self
        splits = QueryShuffleSplit(1, train_size=n_queries, random_state=random_state)
        ((kept, _),) = splits.split(self.X, qid=self.codes)
        return self.take(kept)

    def hold_out(self, fraction: float, random_state: Any) -> tuple[TrainingRows, TrainingRows]:
        """Queries to train on, and those with something to rank among the rest."""
        known = isinstance(fraction, Real) and not isinstance(fraction, bool | np.bool_)
        most = np.inf if isinstance(fraction, Integral) else 1
        if not known or not 0 < fraction < most:
            raise ValueError(
                "validation_fraction must be a share of the queries between 0 and 1, or a number "
                f"of queries; got {fraction!r}."
            )
        splits = QueryShuffleSplit(
            1, test_size=fraction, random_state=random_state, contrast_only=True
        )
        ((train, held_out),) = splits.split(self.X, self.y, qid=self.codes)
        return self.take(train), self.take(held_out)
