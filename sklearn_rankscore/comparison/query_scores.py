"""The value of each metric for each query, with means, standard errors and intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, KeysView, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, Self, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._table import Table
from .._typing import Array, IntervalMethod, Library, QueryIds, Seed
from .._validation import counted
from ..metrics.clicks import ClickSums, PropensitySummary, click_sums
from ..metrics.evaluate import Metrics, by_system
from ..metrics.labels import UNKNOWN, Limits, warn_of_fixed_values
from ..metrics.metric import Metric, measure
from ..metrics.names import is_metric
from ..metrics.propensity import read_propensity
from ..metrics.resolve import resolve, resolve_all
from ..query_ids.read import as_id_column, missing_ids_error, which_missing
from ..ranking import Queries, read_queries, scaled_weights
from .intervals import (
    Interval,
    draw_seed,
    interval_estimate,
    mean,
    mean_interval,
    standard_error,
)
from .segments import (
    Segments,
    SegmentScore,
    SegmentScores,
    bin_segments,
    columns_or_levels,
    read_segments,
    segment_parts,
    select_segments,
)
from .significance import holm_by_family
from .tabular import Tabular

T = TypeVar("T")
Scores = TypeVar("Scores", bound="QueryScores")

# of a metric that is not one of this package, the first that holds all values
COMMON_RANGES: tuple[Limits, ...] = ((0.0, 1.0), (-1.0, 1.0))

# by which a value may be outside of a range, because of rounding
ROUNDING = 1e-9


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
    segments : array-like, mapping or DataFrame, default=None
        Segments of the queries, for `by` and `compare`: one value per query, in the order of `ids`
        unless the index of a pandas Series or DataFrame, or another column, holds the ids; several
        such columns by name; or a mapping from query ids to values.
    clicks : mapping, default=None
        Sums over the clicks of each query by metric, which `query_scores` computes for metrics with
        propensities, for `propensity_summary`.
    limits : mapping of str to tuple of float, default=None
        Lowest and highest value that a metric can take, for those whose name does not tell.

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
    segments: dict[str, Array] | None
    clicks: Mapping[str, ClickSums] | None
    limits: Mapping[str, Limits | None]

    def __init__(
        self,
        ids: QueryIds,
        values: ArrayLike,
        metrics: Iterable[str],
        weights: ArrayLike | None = None,
        segments: Segments | None = None,
        clicks: Mapping[str, ClickSums] | None = None,
        *,
        limits: Mapping[str, Limits | None] | None = None,
    ) -> None:
        fields: dict[str, Any] = {
            "ids": as_id_array(ids),
            "values": np.asarray(values, dtype=np.float64),
            "metrics": _read_names(metrics),
            "weights": None if weights is None else np.asarray(weights, dtype=np.float64),
            "clicks": clicks,
            "limits": dict(limits or {}),
        }
        for name, field in fields.items():
            object.__setattr__(self, name, field)  # the dataclass is frozen
        check_query_values(self.ids, self.values, self.metrics, self.weights)
        if self.weights is not None and not self.weights.any():
            raise ValueError("weights must not all be 0; at least one must be positive.")
        if unknown := self.limits.keys() - set(self.metrics):
            raise ValueError(
                f"limits are those of metrics; {sorted(unknown)[0]!r} is none of them."
            )
        columns = None if segments is None else read_segments(segments, self.ids)
        object.__setattr__(self, "segments", columns)

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

    def standard_error(self) -> dict[str, float]:
        """Standard error of the mean.

        Returns
        -------
        dict of str to float
            The standard error of each metric; nan with fewer than two queries.
        """
        return self.by_metric(self.aggregate(standard_error).tolist())

    def propensity_summary(self) -> dict[str, PropensitySummary]:
        """Effective number of clicks and share of clipped documents of metrics with propensities.

        Returns
        -------
        dict of str to PropensitySummary
            As the function `propensity_summary` returns it for all documents of these queries, for
            each metric that was computed with `propensity`; empty if none was.
        """
        return {name: sums.summary() for name, sums in (self.clicks or {}).items()}

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
            "auto" is the interval of Gaffke for metrics with a known range. For others, which are
            DCG, RBP of graded gains, hits without a cut-off, and most metrics that are adjusted for
            chance or estimated from clicks, it is Student's t interval, each end of which skewness
            moves away from the mean, and nan if effectively fewer than six queries differ. The
            former covers the mean for any number of queries; for values 0 and 1 and a confidence of
            at least 0.8, its ends differ by at most 0.003 from those of Clopper and Pearson,
            because of a saddlepoint approximation. The coverage of "t" and "bootstrap", the
            bias-corrected and accelerated (BCa) bootstrap over queries, is too low if there are few
            queries, or if values are skewed or nearly all equal; the user guide contains a table.
        n_resamples : int, default=9999
            Number of bootstrap resamples.
        random_state : int, RandomState instance, Generator or None, default=None
            Seed of the bootstrap.

        Returns
        -------
        dict of str to Interval
            ``(low, high)`` of each metric; nan if the queries do not determine it.

        Raises
        ------
        ValueError
            If an argument is out of range.

        Notes
        -----
        A user-defined metric is assumed to have the range [0, 1] or, if not all of its values lie
        within, [-1, 1]; it is unbounded if this does not hold either. The parameter `limits` of
        `QueryScores` states another range.

        References
        ----------
        E. Learned-Miller, P. S. Thomas. A New Confidence Interval for the Mean of a Bounded Random
        Variable. 2019. https://doi.org/10.48550/arXiv.1905.06208
        """
        estimate = interval_estimate(mean_interval, confidence, method, n_resamples, random_state)
        ends = self.aggregate(estimate, (2,), *value_ranges(self, self.values))
        return self.by_metric([Interval(*pair) for pair in ends.T.tolist()])

    def by(
        self,
        segments: Segments | None = None,
        *,
        confidence: float = 0.95,
        method: IntervalMethod = "auto",
        n_resamples: int = 9999,
        random_state: Seed = None,
    ) -> SegmentScores:
        """Means and intervals by segment, with tests of the difference from all other queries.

        Parameters
        ----------
        segments : array-like, mapping, DataFrame or str, default=None
            One value per query, in the order of `ids` unless the index of a pandas Series or
            DataFrame, or another column, holds the ids; several such columns by name; a mapping
            from query ids to values; or names of segment columns of these scores, of which None
            selects all. Numbers with more than ten distinct values are divided into quartiles.
        confidence, method, n_resamples, random_state
            As in `interval`.

        Returns
        -------
        SegmentScores
            One entry for each metric and segment. The test is Welch's t-test, adjusted for the
            segments of each column and metric by themselves; its p-value is nan if fewer than six
            queries of the segment, or of all others, differ from the most common value.

        Raises
        ------
        ValueError
            If there are no segments, or they do not correspond to the queries.
        """
        columns = bin_segments(select_segments(segments, self.ids, self.segments))
        seed, entries = draw_seed(random_state), []
        for part in (part for column in columns for part in segment_parts(self, column)):
            scores = self._rows(part.rows)
            intervals = scores.interval(
                confidence, method=method, n_resamples=n_resamples, random_state=seed
            )
            counts = scores.included().sum(axis=0)
            of_metrics = zip(
                self.metrics, counts.tolist(), part.shares.tolist(), scores.mean().values(),
                intervals.values(), part.rest_p_values.tolist(), strict=True,
            )  # fmt: skip
            entries += [SegmentScore(metric, part.segment, *of) for metric, *of in of_metrics]
        entries.sort(key=lambda entry: self.column(entry.metric))
        families = [(entry.metric, entry.segment.column) for entry in entries]
        adjusted = holm_by_family(np.array([entry.rest_p_value for entry in entries]), families)
        tested = zip(entries, adjusted.tolist(), strict=True)
        return SegmentScores(tuple(replace(one, rest_p_value=p) for one, p in tested), confidence)

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
        """
        columns, selected = self.segments, self._rows(rows)
        check_query_values(selected.ids, selected.values, self.metrics, selected.weights)
        segments = None if columns is None else {name: c[rows] for name, c in columns.items()}
        clicks = {name: sums.select(rows) for name, sums in (self.clicks or {}).items()}
        return with_fields(selected, segments=segments, clicks=clicks or None)

    def _rows(self, rows: Array | slice) -> Self:
        """The values and weights of some queries, whose rows are known to be valid."""
        weights = None if self.weights is None else self.weights[rows]
        ids, values = self.ids[rows], self.values[rows]
        return with_fields(
            self, ids=ids, values=values, weights=weights, segments=None, clicks=None
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
        included, columns_of = self.included(), dict[bytes, list[int]]()
        for column, packed in enumerate(np.packbits(included, axis=0).T):
            columns_of.setdefault(packed.tobytes(), []).append(column)
        for columns in columns_of.values():
            mask = included[:, columns[0]]
            if not mask.any():
                continue
            values = self.values if len(columns) == len(self.metrics) else self.values[:, columns]
            # by columns, which is how statistics read them
            values = np.asfortranarray(values if mask.all() else values[mask])
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
            (metric, means[metric], errors[metric], int(count))
            for metric, count in zip(self.metrics, counts, strict=True)
        ]
        title = f"QueryScores of {counted(len(self), 'query')}"
        return Table(title, ("", "mean", "std. error", "queries"), rows)


def with_fields(scores: Scores, **fields: Any) -> Scores:
    """A copy with other fields, which are not checked: the weights may all be 0."""
    copied = copy(scores)
    for name, field in fields.items():
        object.__setattr__(copied, name, field)  # the dataclass is frozen
    return copied


def _read_names(metrics: Iterable[str]) -> tuple[str, ...]:
    """The names of the columns; a text is no list of its characters."""
    if isinstance(metrics, str):
        raise TypeError(f"metrics must be a list of names, such as [{metrics!r}]; got {metrics!r}.")
    return tuple(metrics)


def as_id_array(ids: Any) -> Array:
    """Ids as a one-dimensional array, in which different ids stay different."""
    if isinstance(ids, Iterator | KeysView):
        ids = list(ids)
    column: Array = ids if isinstance(ids, np.ndarray) else as_id_column(ids, "ids")
    if which_missing(column).any():
        raise missing_ids_error("ids")
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


def value_ranges(scores: QueryScores, values: Array) -> tuple[Array, Array]:
    """The lowest and the highest value of each metric, infinite if that is not known."""
    defined = ~np.isnan(values)
    lowest = np.min(values, axis=0, initial=np.inf, where=defined)
    highest = np.max(values, axis=0, initial=-np.inf, where=defined)
    limits = [
        scores.limits[metric] if metric in scores.limits else _limits(metric)
        for metric in scores.metrics
    ]
    low, high = np.array(list(map(value_range, limits, lowest.tolist(), highest.tolist()))).T
    return low, high


def value_range(limits: Limits | None, lowest: float, highest: float) -> Limits:
    """The range of a metric with these limits, of which some values are known.

    That of a metric without is taken to be [0, 1], or else [-1, 1], if all values lie within.
    """
    for low, high in COMMON_RANGES if limits is None else (limits,):
        if low - ROUNDING <= lowest and highest <= high + ROUNDING:
            return low, high
    return UNKNOWN


def _limits(name: str) -> Limits | None:
    """The limits of a metric by its name; None if it is not that of one of this package."""
    if not is_metric(name):  # the error of `resolve` looks for similar names, which takes long
        return None
    try:
        return resolve(name).limits
    except (TypeError, ValueError):
        return None


@overload
def query_scores(
    y_true: ArrayLike, y_score: Mapping[str, ArrayLike], metrics: Metrics, **options: Any
) -> dict[str, QueryScores]: ...
@overload
def query_scores(
    y_true: ArrayLike, y_score: ArrayLike, metrics: Metrics, **options: Any
) -> QueryScores: ...
def query_scores(
    y_true: ArrayLike,
    y_score: ArrayLike | Mapping[str, ArrayLike],
    metrics: Metrics,
    *,
    groups: QueryIds | None = None,
    like: Library | None = None,
    sample_weight: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    n_jobs: int | None = None,
    segments: Segments | None = None,
    **options: Any,
) -> QueryScores | dict[str, QueryScores]:
    """Compute ranking metrics for each query, with their ids.

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Relevance labels, finite numbers; higher is more relevant. NaN means that nobody judged the
        document, and requires the option `unjudged`.
    y_score : array-like of the same shape as `y_true`, or dict of str to array-like
        Scores; higher ranks first. -inf means not retrieved; NaN is an error. For several systems,
        a dict from their names to their scores of the same documents.
    metrics : str, callable, iterable of them, or dict of str to str or callable
        Names such as ``"ndcg@10"``, metric functions of this package, or any function that takes
        a block of ranked queries and returns one value per query. A dict of metrics gives them
        other names in the result.
    groups : array-like of shape (n_documents,), default=None
        Query ids of any hashable dtype, in any row order. None takes those of an index level
        ``qid`` of `y_true` or `y_score`; without one, all documents are a single query, or each
        row of 2-D input is one, with row numbers as ids.
    like : str, default=None
        Library whose conventions to use, as in `evaluate`.
    sample_weight : array-like of shape (n_documents,) or (n_queries,), default=None
        Query weights, constant within each query; one per row of 2-D input.
    labels : array-like of shape (n_classes,), default=None
        Classes of the columns of `y_score` if `y_true` holds class labels (:doc:`/guide/inputs`).
    n_jobs : int, default=None
        Number of threads; -1 uses all processors.
    segments : array-like, mapping, DataFrame, str or list of str, default=None
        Segments of the queries, for `QueryScores.by` and `compare`: one value per document,
        constant within each query, or one per query in the order of the result; several such
        columns by name; a mapping from query ids to values; or the names of index levels of
        `y_true`, `y_score` or `groups`. A pandas Series or DataFrame whose index holds the query
        ids is aligned by it, and other columns by one that holds every query id once, which is no
        segment itself.
    **options
        Options of the metrics except `average`. An option applies to each metric that has it.

    Returns
    -------
    QueryScores
        One row per query, in the order of ``np.unique(groups)``. Its method `mean` returns what
        `evaluate` does. For several systems, a dict of them, as `compare` takes it.

    Raises
    ------
    ValueError
        For an unknown name or option, for ``average="micro"``, and for any input that the metric
        functions refuse.

    See Also
    --------
    evaluate : Only the means.
    compare : Test differences between models.

    Examples
    --------
    >>> from sklearn_rankscore import make_ranking, query_scores
    >>> X, y, groups = make_ranking(random_state=0)
    >>> scores = query_scores(y, X[:, 0], "ndcg@10", groups=groups)
    >>> round(scores.mean()["ndcg@10"], 3)
    0.83
    >>> low, high = scores.interval(random_state=0)["ndcg@10"]
    >>> low < scores.mean()["ndcg@10"] < high
    True
    """
    resolved = resolve_per_query(metrics, like=like, **options)
    systems = y_score.values() if isinstance(y_score, Mapping) else [y_score]
    segments = columns_or_levels("segments", segments, y_true, *systems, groups)

    def compute(scores: ArrayLike, groups: Any) -> QueryScores:
        queries = read_queries(
            y_true, scores, groups=groups, sample_weight=sample_weight, labels=labels, n_jobs=n_jobs
        )
        columns = None
        if segments is not None:
            rows = {"y_true": y_true, "groups": groups}
            columns = read_segments(segments, queries.ids, queries.grouping, rows)
        values = measure_per_query(queries, resolved, (y_true, scores), n_jobs)
        return with_fields(values, segments=columns)

    if isinstance(y_score, Mapping):
        return by_system(compute, y_true, y_score, groups, sample_weight)
    return compute(y_score, groups)


def resolve_per_query(
    metrics: Metrics, *, like: Library | None = None, **options: Any
) -> dict[str, Metric]:
    """Metrics by their names; refuses those without a value for each query."""
    resolved = resolve_all(metrics, like=like, **options)
    check_per_query(resolved)
    return resolved


def check_per_query(metrics: Mapping[str, Metric]) -> None:
    """Refuse metrics without a value for each query."""
    for name, metric in metrics.items():
        if metric.average == "micro":
            raise ValueError(
                f"{name!r} has average='micro', a ratio of sums over all queries, which has no "
                "value for a single query. Use average='macro'."
            )


def measure_per_query(
    queries: Queries,
    metrics: Mapping[str, Metric],
    data: Sequence[Any],
    n_jobs: int | None = None,
) -> QueryScores:
    """The value of each metric for every query, from a single sort.

    Propensities that are given by name are looked up in `data`.
    """
    warn_of_fixed_values(queries, metrics.values())
    measured = measure(queries, metrics.values(), n_jobs=n_jobs, data=data)
    columns = [
        values.per_query(metric.replace_undefined_by)
        for values, metric in zip(measured, metrics.values(), strict=True)
    ]
    clicks = {
        name: _click_sums(queries, metric, data)
        for name, metric in metrics.items()
        if metric.propensity is not None
    }
    values, limits = np.column_stack(columns), limits_of(metrics)
    return QueryScores(
        queries.ids, values, metrics, queries.weights, None, clicks or None, limits=limits
    )


def limits_of(metrics: Mapping[str, Metric]) -> dict[str, Limits | None]:
    """The limits of each metric, which may have another name."""
    return {name: metric.limits for name, metric in metrics.items()}


def _click_sums(queries: Queries, metric: Metric, data: Sequence[Any]) -> ClickSums:
    """Sums over the clicks of each query under the propensities of a metric."""
    propensity = read_propensity(metric.propensity, queries, data)
    labels = np.nan_to_num(queries.y_true.astype(np.float64))
    return click_sums(labels, propensity, metric.clip or 0.0, queries.grouping.codes, len(queries))
