"""Metric values of every query, with means, standard errors and confidence intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._typing import Array, IntervalMethod, QueryIds, Seed
from ..ranking.aggregate import scaled_weights
from .interval_methods import interval_estimate
from .intervals import Interval, auto_interval, mean, standard_error
from .query_values import as_id_array, check_query_values
from .ranges import value_ranges
from .table import Table, Tabular

T = TypeVar("T")


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
            "ids": as_id_array(ids),
            "values": np.asarray(values, dtype=np.float64),
            "metrics": tuple(metrics),
            "weights": None if weights is None else np.asarray(weights, dtype=np.float64),
        }
        for name, field in fields.items():
            object.__setattr__(self, name, field)  # the dataclass is frozen
        check_query_values(self.ids, self.values, self.metrics, self.weights)

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
        return self.by_metric(self.aggregate(mean).tolist())

    def standard_error(self) -> dict[str, float]:
        """Standard error of the mean.

        Returns
        -------
        dict of str to float
            The standard error of each metric; nan with fewer than two queries.
        """
        return self.by_metric(self.aggregate(standard_error).tolist())

    def interval(
        self,
        confidence: float = 0.95,
        *,
        method: IntervalMethod = "auto",
        n_resamples: int = 9999,
        random_state: Seed = None,
    ) -> dict[str, Interval]:
        """Confidence interval of the mean over the population of queries.

        Parameters
        ----------
        confidence : float, default=0.95
            Confidence level, between 0 and 1.
        method : {"auto", "t", "bootstrap"}, default="auto"
            "auto" is the interval of Gaffke for metrics with a known range, and Student's t
            interval for DCG and hits without a cut-off. The former covers the mean for any number
            of queries, and equals the interval of Clopper and Pearson for values 0 and 1. "t" and
            "bootstrap", the bias-corrected and accelerated (BCa) bootstrap over queries, cover it
            too rarely if queries are few or nearly all values equal; the guide has a table.
        n_resamples : int, default=9999
            Number of bootstrap resamples.
        random_state : int, RandomState instance, Generator or None, default=None
            Seed of the bootstrap.

        Returns
        -------
        dict of str to Interval
            ``(low, high)`` of each metric; nan where the queries do not determine it.

        Raises
        ------
        ValueError
            If an argument is out of range.

        Notes
        -----
        A metric of one's own is taken to have the range [0, 1], or else [-1, 1], if all its values
        lie within.

        References
        ----------
        E. Learned-Miller, P. S. Thomas. A New Confidence Interval for the Mean of a Bounded Random
        Variable. 2019. https://doi.org/10.48550/arXiv.1905.06208
        """
        estimate = interval_estimate(auto_interval, confidence, method, n_resamples, random_state)
        ends = self.aggregate(estimate, (2,), *value_ranges(self.metrics, self.values))
        return self.by_metric([Interval(*pair) for pair in ends.T.tolist()])

    def aggregate(
        self,
        statistic: Callable[..., Any],
        shape: tuple[int, ...] = (),
        *by_metric: NDArray[Any],
    ) -> NDArray[np.float64]:
        """Apply a statistic to the values of each metric.

        Parameters
        ----------
        statistic : callable
            ``statistic(values, weights, *by_metric)``, where `values` has shape
            (n_included, n_columns) and no nan, `weights` has shape (n_included,) and the result has
            a last axis of n_columns.
        shape : tuple of int, default=()
            Shape of the statistic of one metric.
        *by_metric : ndarray of shape (n_metrics,)
            Further arguments of the statistic, of which it is given the same columns.

        Returns
        -------
        ndarray of float of shape (..., n_metrics)
            The statistic of each metric; nan if no query is included.
        """
        result = np.full((*shape, len(self.metrics)), np.nan)
        weights = np.ones(len(self)) if self.weights is None else scaled_weights(self.weights)
        # metrics that include the same queries share one call
        included = self.included()
        columns_of: dict[bytes, list[int]] = {}
        for column, packed in enumerate(np.packbits(included, axis=0).T):
            columns_of.setdefault(packed.tobytes(), []).append(column)
        for columns in columns_of.values():
            mask = included[:, columns[0]]
            if mask.any():
                values = self.values[:, columns][mask]
                own = (argument[columns] for argument in by_metric)
                result[..., columns] = statistic(values, weights[mask], *own)
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

    def by_metric(self, values: Sequence[T]) -> dict[str, T]:
        """Return values in the order of `metrics` under their names.

        Parameters
        ----------
        values : sequence of n_metrics entries
            One entry per metric.

        Returns
        -------
        dict
            The entry of each metric.
        """
        return dict(zip(self.metrics, values, strict=True))

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
