"""Training data: features, labels and everything aligned with their rows, selected together."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, Self, TypeAlias

import numpy as np
from sklearn.utils import indexable

from .._columns import as_numbers, refuse_masked
from .._sklearn_compat import check_method_params, num_samples, safe_indexing
from .._typing import Array, RandomState
from ..model_selection import QueryShuffleSplit
from ..query_ids import group_rows
from ..query_ids.read import which_missing

Renumber: TypeAlias = Callable[[dict[str, Any], Array, int], dict[str, Any]]


@dataclass(frozen=True)
class TrainingData:
    """Rows, in the order in which the estimator is fitted to them.

    Parameters
    ----------
    X, y : array-like
        Features and labels.
    codes : array of int or None
        The number of the query of each row; ascending if the rows of each query are contiguous.
        None without query ids.
    weights : array or None
        The weight of each row.
    params : dict
        Further parameters of `fit`; some may be aligned with the rows.
    renumber : callable
        ``renumber(params, rows, n_rows)`` returns those parameters that contain row numbers, for
        the chosen rows.
    rows : array of int or None
        The number of each row in the given data; None if they are all given rows in their order.
    is_training : bool
        Whether this evaluation set is the training data themselves.
    """

    X: Any
    y: Any
    codes: Array | None
    weights: Array | None
    params: dict[str, Any]
    renumber: Renumber
    rows: Array | None = None
    is_training: bool = False

    @classmethod
    def read(
        cls, X: Any, y: Any, ids: Any, weights: Any, params: dict[str, Any], renumber: Renumber
    ) -> Self:
        """Check the data, and number the queries in the order of their first rows."""
        if y is None:
            raise ValueError(
                "QueryRanker requires y to be passed, but the target y is None: it holds the "
                "relevance of each document."
            )
        y = np.asarray(y) if hasattr(y, "to_pylist") else y  # boosters refuse columns of pyarrow
        if weights is not None and num_samples(weights) != num_samples(X):
            raise ValueError(
                f"sample_weight must hold one weight per document: got {num_samples(weights)} for "
                f"{num_samples(X)} documents. Repeat weights of queries for their rows: "
                "np.repeat(weights, sizes) if the rows of each query are together, or "
                "weights.loc[ids].to_numpy() of a Series by query id."
            )
        refuse_masked(y, "y")
        X, y, weights = indexable(X, y, weights)
        if ids is not None and num_samples(X) == 0:
            raise ValueError("X has no rows; a fit needs the documents of at least one query.")
        _check_judged(np.asarray(y))
        weights = None if weights is None else _read_weights(weights)
        data = cls(X, y, None, weights, params, renumber)
        if ids is None:
            return data
        return replace(data, codes=group_rows(ids, len(np.asarray(y))).by_appearance().codes)

    def gather(self) -> Self:
        """The rows of each query together, as rankers need them.

        Queries keep the order of their first rows, because some boosters depend on it.
        """
        if self.codes is None or (np.diff(self.codes) >= 0).all():
            return self
        return self.take(np.argsort(self.codes, kind="stable"))

    def take(self, rows: Array) -> Self:
        """The chosen rows, in that order, with the `fit` parameters aligned with them."""
        renumbered = self.renumber(self.params, rows, num_samples(self.X))
        others = {name: v for name, v in self.params.items() if name not in renumbered}
        return replace(
            self,
            X=safe_indexing(self.X, rows),
            y=safe_indexing(self.y, rows),
            codes=None if self.codes is None else self.codes[rows],
            weights=None if self.weights is None else self.weights[rows],
            params=check_method_params(self.X, others, indices=rows) | renumbered,
            rows=rows if self.rows is None else self.rows[rows],
        )

    @property
    def sizes(self) -> Array:
        """Number of rows of each query."""
        return np.unique(np.asarray(self.codes), return_counts=True)[1]

    @property
    def query_weights(self) -> Array | None:
        """One weight per query."""
        if self.weights is None:
            return None
        sizes = self.sizes
        weights = self.weights[np.cumsum(sizes) - sizes]
        if not np.array_equal(np.repeat(weights, sizes), self.weights):
            raise ValueError(
                "this ranker takes one weight per query, so sample_weight must be constant within "
                "each query."
            )
        return np.asarray(weights)

    def subsample_queries(self, max_queries: int, random_state: RandomState) -> Self:
        """A random choice of at most `max_queries` queries.

        With the same seed, a larger choice contains a smaller one.
        """
        if max_queries >= len(self.sizes):
            return self
        splits = QueryShuffleSplit(1, train_size=max_queries, random_state=random_state)
        ((chosen, _),) = splits.split(self.X, qid=self.codes)
        return self.take(chosen)

    def hold_out(self, fraction: float, random_state: RandomState) -> tuple[Self, Self]:
        """Queries to train on, and held-out queries whose labels are not all equal."""
        n_queries, n_held_out = len(self.sizes), _count_held_out(fraction, len(self.sizes))
        if n_held_out >= n_queries:
            raise ValueError(
                f"early_stopping holds out {n_held_out} of the {n_queries} queries "
                f"(validation_fraction={fraction!r}), which leaves none to train on. Set a smaller "
                "validation_fraction, or give more queries."
            )
        splits = QueryShuffleSplit(1, test_size=n_held_out, random_state=random_state)
        ((train, held_out),) = splits.split(self.X, qid=self.codes)
        labels = np.unique(np.asarray(self.y)[held_out], return_inverse=True)[1]
        codes = np.asarray(self.codes)[held_out]
        queries = group_rows(codes, len(codes))
        held_out = held_out[queries.varies(labels)[queries.codes]]
        if not len(held_out):
            raise ValueError(
                f"early_stopping holds out {n_held_out} of the {n_queries} queries, and in each of "
                "these all labels are equal, so that no metric tells rankings apart. Set a larger "
                "validation_fraction, or another random_state."
            )
        return self.take(train), self.take(held_out)


def ids_from_sizes(sizes: Any, n_rows: int, problem: str) -> Array:
    """Query ids of contiguous rows from the sizes of the queries; an error if they are others."""
    given = np.asarray(sizes)
    if given.ndim != 1 or given.dtype.kind not in "iu" or given.sum() != n_rows:
        raise ValueError(problem)
    return np.repeat(np.arange(len(given)), given.astype(np.intp))


def _read_weights(weights: Any) -> Array:
    """One float per row: CatBoost takes no integers, and XGBoost no other byte order."""
    numbers = as_numbers(weights, "sample_weight").astype(np.float64)
    if numbers.ndim != 1:
        raise ValueError(
            "sample_weight must be one-dimensional, with one weight per document; got an array of "
            f"shape {numbers.shape}. Of a column, pass numpy.ravel(sample_weight)."
        )
    return numbers


def _check_judged(labels: Array) -> None:
    """Refuse documents without a label, from which nothing can be learned."""
    unjudged = which_missing(labels.ravel())
    if unjudged.any():
        raise ValueError(
            f"y contains NaN (first at row {int(unjudged.argmax())}), which means that nobody "
            "judged the document. A ranker needs the labels of all documents that it is trained "
            "on; choose:\n"
            "- fit only on judged documents: X[judged], y[judged], with judged = "
            "~numpy.isnan(numpy.asarray(y, dtype=float));\n"
            "- fill y, such as numpy.nan_to_num(y), which takes unjudged documents as irrelevant.\n"
            "Metrics take NaN with the option unjudged, such as 'ndcg@10(unjudged=drop)'."
        )


def _count_held_out(fraction: float, n_queries: int) -> int:
    is_number = isinstance(fraction, Real) and not isinstance(fraction, bool | np.bool_)
    if is_number and isinstance(fraction, Integral) and fraction > 0:
        return int(fraction)
    if not is_number or isinstance(fraction, Integral) or not 0 < fraction < 1:
        raise ValueError(
            "validation_fraction must be a fraction of the queries between 0 and 1, both "
            f"excluded, or a positive number of queries; got {fraction!r}."
        )
    return math.ceil(fraction * n_queries)
