"""Metric values of every query, with means, standard errors and confidence intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._typing import Array, IntervalMethod, QueryIds, Seed
from .._validation import check_choice, check_count, check_fraction
from ..query_ids.read import as_objects
from ..ranking.aggregate import scaled_weights
from .resampling import Interval, bootstrap_interval, generator, mean, standard_error, t_interval
from .table import Table, Tabular


@dataclass(frozen=True, eq=False, repr=False, init=False)
class QueryScores(Tabular):
    """The value of each metric for each query.

    Parameters
    ----------
    ids : array-like of shape (n_queries,)
        Query ids, without duplicates.
    values : array-like of float of shape (n_queries, n_metrics)
        Value of each metric; nan where it is undefined, which excludes the query from its mean.
    metrics : iterable of str
        Name of each column of `values`.
    weights : array-like of shape (n_queries,), default=None
        Weight of each query, finite and not negative. None means equal weights. A query of weight
        0 is excluded from means, intervals and tests.

    Raises
    ------
    ValueError
        If shapes are inconsistent, an id or metric is duplicated or a weight is invalid.

    See Also
    --------
    query_scores : Compute them from labels and scores.
    cross_val_query_scores : Compute them by cross-validation.
    compare : Test differences between models.

    Notes
    -----
    `to_frame` has one row per query, with the columns "query", the names of the metrics and, if
    there are weights, "weight".

    Examples
    --------
    >>> from sklearn_rankscore import query_scores
    >>> y_true = [2, 0, 1, 0, 1]
    >>> y_score = [0.3, 0.2, 0.1, 0.9, 0.4]
    >>> groups = ["a", "a", "a", "b", "b"]
    >>> scores = query_scores(y_true, y_score, ["mrr", "ndcg@1"], groups=groups)
    >>> scores
    QueryScores of 2 queries
              mean  std. error  queries
    mrr     0.7500      0.2500        2
    ndcg@1  0.5000      0.5000        2
    >>> scores["mrr"]
    array([1. , 0.5])
    """

    ids: Array
    values: NDArray[np.float64]
    metrics: tuple[str, ...]
    weights: NDArray[np.float64] | None

    def __init__(
        self,
        ids: QueryIds,
        values: ArrayLike,
        metrics: Iterable[str],
        weights: ArrayLike | None = None,
    ) -> None:
        fields = {
            "ids": _as_id_array(ids),
            "values": np.asarray(values, dtype=np.float64),
            "metrics": tuple(metrics),
            "weights": None if weights is None else np.asarray(weights, dtype=np.float64),
        }
        for name, field in fields.items():
            object.__setattr__(self, name, field)  # the dataclass is frozen
        _check(self)

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, metric: str) -> NDArray[np.float64]:
        return self.values[:, self.column(metric)]

    def mean(self) -> dict[str, float]:
        """Weighted mean over the queries for which the metric is defined.

        Returns
        -------
        dict of str to float
            The mean of each metric; nan if it is defined for no query.
        """
        return self._by_metric(self.aggregate(mean))

    def standard_error(self) -> dict[str, float]:
        """Standard error of the mean.

        Returns
        -------
        dict of str to float
            The standard error of each metric; nan with fewer than two queries.
        """
        return self._by_metric(self.aggregate(standard_error))

    def interval(
        self,
        confidence: float = 0.95,
        *,
        method: IntervalMethod = "bootstrap",
        n_resamples: int = 9999,
        random_state: Seed = None,
    ) -> dict[str, Interval]:
        """Confidence interval of the mean over the population of queries.

        Parameters
        ----------
        confidence : float, default=0.95
            Confidence level, between 0 and 1.
        method : {"bootstrap", "t"}, default="bootstrap"
            The bias-corrected and accelerated (BCa) bootstrap over queries, which does not exceed
            the range of a metric and follows its skew; or Student's t interval, which is faster.
            Both cover the mean too rarely if queries are few or their values very skewed; with
            about ten queries, t is closer to the nominal level.
        n_resamples : int, default=9999
            Number of bootstrap resamples.
        random_state : int, RandomState instance, Generator or None, default=None
            Seed of the bootstrap.

        Returns
        -------
        dict of str to Interval
            ``(low, high)`` of each metric; nan with fewer than two queries.

        Raises
        ------
        ValueError
            If an argument is out of range.
        """
        confidence = check_fraction("confidence", confidence)
        n_resamples = check_count("n_resamples", n_resamples, 1)
        if check_choice("method", method, get_args(IntervalMethod)) == "t":
            estimate = partial(t_interval, confidence=confidence)
        else:
            random = generator(random_state)
            estimate = partial(
                bootstrap_interval, confidence=confidence, n_resamples=n_resamples, random=random
            )
        ends = self.aggregate(estimate, shape=(2,)).T.tolist()
        return {metric: Interval(*e) for metric, e in zip(self.metrics, ends, strict=True)}

    def aggregate(
        self, statistic: Callable[[Array, Array], Any], shape: tuple[int, ...] = ()
    ) -> NDArray[np.float64]:
        """Apply a statistic to the values of each metric.

        Parameters
        ----------
        statistic : callable
            ``statistic(values, weights)``, where `values` has shape (n_included, n_columns) and
            no nan, `weights` has shape (n_included,) and the result has a last axis of n_columns.
        shape : tuple of int, default=()
            Shape of the statistic of one metric.

        Returns
        -------
        ndarray of float of shape (..., n_metrics)
            The statistic of each metric; nan if no query is included.
        """
        result = np.full((*shape, len(self.metrics)), np.nan)
        weights = np.ones(len(self)) if self.weights is None else scaled_weights(self.weights)
        # metrics that include the same queries share one call
        masks, codes = np.unique(self.included(), axis=1, return_inverse=True)
        for code, mask in enumerate(masks.T):
            columns = np.flatnonzero(codes.ravel() == code)
            if mask.any():
                values = self.values[np.ix_(mask, columns)]
                result[..., columns] = statistic(values, weights[mask])
        return result

    def included(self) -> NDArray[np.bool_]:
        """Whether each query is included in the mean of each metric.

        Returns
        -------
        ndarray of bool of shape (n_queries, n_metrics)
            False where the metric is undefined or the weight is 0.
        """
        defined = ~np.isnan(self.values)
        return defined if self.weights is None else defined & (self.weights > 0)[:, None]

    def column(self, metric: str) -> int:
        """Return the position of a metric in `metrics`.

        Parameters
        ----------
        metric : str
            Name of the metric.

        Returns
        -------
        int
            The column of `values` that holds it.

        Raises
        ------
        KeyError
            If no metric has that name.
        """
        if metric not in self.metrics:
            raise KeyError(f"no metric {metric!r}; the metrics are {', '.join(self.metrics)}.")
        return self.metrics.index(metric)

    def _columns(self) -> dict[str, Any]:
        columns = {"query": self.ids, **{metric: self[metric] for metric in self.metrics}}
        return columns if self.weights is None else {**columns, "weight": self.weights}

    def _table(self) -> Table:
        means, errors = self.mean(), self.standard_error()
        counts = self.included().sum(axis=0)
        rows = [
            (metric, f"{means[metric]:.4f}", f"{errors[metric]:.4f}", f"{count}")
            for metric, count in zip(self.metrics, counts, strict=True)
        ]
        title = f"QueryScores of {len(self)} quer{'y' if len(self) == 1 else 'ies'}"
        return Table(title, ("", "mean", "std. error", "queries"), rows)

    def _by_metric(self, values: Array) -> dict[str, float]:
        return dict(zip(self.metrics, values.tolist(), strict=True))


def _as_id_array(ids: Any) -> Array:
    """Ids as a one-dimensional array; tuples stay tuples, and 1 and "1" stay distinct."""
    if isinstance(ids, np.ndarray):
        return ids
    ids = list(ids)
    types = {type(i) for i in ids}
    if len(types) > 1 or any(issubclass(t, tuple) for t in types):
        return as_objects(ids)
    return np.asarray(ids)


def _check(scores: QueryScores) -> None:
    shape, weights = (len(scores.ids), len(scores.metrics)), scores.weights
    if scores.values.shape != shape:
        raise ValueError(
            f"values must have shape {shape}, one row per query and one column per metric; got "
            f"shape {scores.values.shape}."
        )
    if not len(scores):
        raise ValueError("QueryScores needs at least one query; got none.")
    for kind, names in (("query ids", scores.ids.tolist()), ("metrics", list(scores.metrics))):
        if len(set(names)) < len(names):
            duplicate = next(name for name in names if names.count(name) > 1)
            raise ValueError(f"{kind} must be unique; got {duplicate!r} more than once.")
    if weights is None:
        return
    if weights.shape != shape[:1]:
        raise ValueError(f"weights must have shape {shape[:1]}; got shape {weights.shape}.")
    if not (np.isfinite(weights) & (weights >= 0)).all() or not weights.any():
        raise ValueError(
            "weights must be finite and not negative, and at least one must be positive; got "
            f"values from {weights.min()} to {weights.max()}."
        )
