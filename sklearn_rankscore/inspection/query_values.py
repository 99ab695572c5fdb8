"""Values of queries, with their ids, weights and segments."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, KeysView, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._typing import Array, QueryIds
from ..metrics.clicks import ClickSums
from ..query_ids.read import as_id_column, check_no_missing
from ..ranking.aggregate import scaled_weights
from .intervals import mean
from .segments import Segments, read_segments

T = TypeVar("T")
Scores = TypeVar("Scores", bound="QueryValues")


@dataclass(frozen=True, eq=False, repr=False, init=False)
class QueryValues:
    """Values of queries by metric; the parameters are those of `QueryScores`."""

    ids: Array
    values: NDArray[np.float64]
    metrics: tuple[str, ...]
    weights: NDArray[np.float64] | None
    segments: dict[str, Array] | None
    clicks: Mapping[str, ClickSums] | None

    def __init__(
        self,
        ids: QueryIds,
        values: ArrayLike,
        metrics: Iterable[str],
        weights: ArrayLike | None = None,
        segments: Segments | None = None,
        clicks: Mapping[str, ClickSums] | None = None,
    ) -> None:
        fields = {
            "ids": as_id_array(ids),
            "values": np.asarray(values, dtype=np.float64),
            "metrics": read_names(metrics),
            "weights": None if weights is None else np.asarray(weights, dtype=np.float64),
        }
        for name, field in fields.items():
            object.__setattr__(self, name, field)  # the dataclass is frozen
        check_query_values(self.ids, self.values, self.metrics, self.weights)
        if self.weights is not None and not self.weights.any():
            raise ValueError("weights must not all be 0; at least one must be positive.")
        columns = None if segments is None else read_segments(segments, self.ids)
        object.__setattr__(self, "segments", columns)
        object.__setattr__(self, "clicks", clicks)

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[str]:
        """The names of the metrics, as those of the columns of a DataFrame."""
        return iter(self.metrics)

    def __contains__(self, metric: object) -> bool:
        return metric in self.metrics

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

    def select(self, rows: Array | slice) -> Self:
        """Return the scores of some queries.

        Parameters
        ----------
        rows : ndarray of int or bool
            Their positions in `ids`, or a mask.

        Returns
        -------
        QueryScores
            The same metrics of these queries.

        Raises
        ------
        TypeError
            If `rows` is a single number, or holds text.
        """
        if not (isinstance(rows, slice) or _are_rows(np.asarray(rows))):
            raise TypeError(
                f"rows must be a list of positions, or a mask of queries; got {rows!r:.80}. Select "
                "ids by select([i in wanted for i in scores.ids]), and the values of a metric are "
                "scores['mrr']."
            )
        weights = None if self.weights is None else self.weights[rows]
        columns = self.segments
        segments = None if columns is None else {name: c[rows] for name, c in columns.items()}
        clicks = {name: sums.select(rows) for name, sums in (self.clicks or {}).items()}
        ids, values = self.ids[rows], self.values[rows]
        check_query_values(ids, values, self.metrics, weights)
        return with_fields(
            self, ids=ids, values=values, weights=weights, segments=segments, clicks=clicks or None
        )

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
                values = (
                    self.values if len(columns) == len(self.metrics) else self.values[:, columns]
                )
                values = values if mask.all() else values[mask]
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


def with_fields(scores: Scores, **fields: Any) -> Scores:
    """A copy with other fields, which are not checked: the weights may all be 0."""
    copied = copy(scores)
    for name, field in fields.items():
        object.__setattr__(copied, name, field)  # the dataclass is frozen
    return copied


def _are_rows(rows: Array) -> bool:
    return rows.ndim == 1 and (rows.dtype.kind in "biu" or not rows.size)


def read_names(metrics: Iterable[str]) -> tuple[str, ...]:
    """The names of the columns; a text is no list of its characters."""
    if isinstance(metrics, str):
        raise TypeError(f"metrics must be a list of names, such as [{metrics!r}]; got {metrics!r}.")
    return tuple(metrics)


def as_id_array(ids: Any) -> Array:
    """Ids as a one-dimensional array, in which different ids stay different."""
    if isinstance(ids, Iterator | KeysView):
        ids = list(ids)
    column: Array = ids if isinstance(ids, np.ndarray) else as_id_column(ids, "ids")
    check_no_missing(column, "ids")
    return column


def check_query_values(
    ids: Array, values: Array, metrics: tuple[str, ...], weights: Array | None
) -> None:
    """Refuse arrays of inconsistent shapes, duplicates and invalid weights."""
    shape = (len(ids), len(metrics))
    if values.shape != shape:
        raise ValueError(
            f"values must have shape {shape}, one row per query and one column per metric; got "
            f"shape {values.shape}."
        )
    if np.isinf(values).any():
        query, metric = (int(i) for i in np.argwhere(np.isinf(values))[0])
        raise ValueError(
            f"values must be finite, or nan where a metric is undefined; {metrics[metric]!r} of "
            f"query {ids[query]} is {values[query, metric]}."
        )
    if not len(ids):
        raise ValueError("QueryScores needs at least one query; got none.")
    for kind, names in (("query ids", ids.tolist()), ("metrics", list(metrics))):
        if len(set(names)) < len(names):
            duplicate = next(name for name in names if names.count(name) > 1)
            raise ValueError(f"{kind} must be unique; got {duplicate!r} more than once.")
    if weights is None:
        return
    if weights.shape != shape[:1]:
        raise ValueError(f"weights must have shape {shape[:1]}; got shape {weights.shape}.")
    if not (np.isfinite(weights) & (weights >= 0)).all():
        raise ValueError(
            "weights must be finite and not negative; got values from "
            f"{weights.min()} to {weights.max()}."
        )
