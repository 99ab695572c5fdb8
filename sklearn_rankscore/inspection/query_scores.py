"""Values of every query, with their mean and how far it can be trusted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..metrics.names import NamedMetric, measure, resolve_all
from ..metrics.options import check_count, choice, number
from ..ranking import Queries, read_queries
from ..ranking.arrays import Array
from .resampling import bootstrap_interval, generator, mean, standard_error, t_interval
from .table import Table, frame

METHODS = ("bootstrap", "t")


class Interval(NamedTuple):
    """The ends of a confidence interval.

    Parameters
    ----------
    low, high : float
        Where it begins, and where it ends.
    """

    low: float
    high: float


@dataclass(frozen=True, eq=False, repr=False)
class QueryScores:
    """The value of each metric for each query.

    Parameters
    ----------
    ids : ndarray of shape (n_queries,)
        Query ids, each once.
    values : ndarray of float of shape (n_queries, n_metrics)
        Value of each metric; nan where it is undefined, which leaves the query out of its mean.
    metrics : tuple of str
        Name of each column.
    weights : ndarray of shape (n_queries,), default=None
        Weight of each query, finite and not negative; None means equal weights. A query of weight
        0 takes no part in means, intervals and tests.

    Raises
    ------
    ValueError
        If shapes do not go together, an id or metric comes twice or a weight is out of range.

    See Also
    --------
    query_scores : Make them from labels and scores.
    cross_val_query_scores : Make them by cross-validation.
    compare : Tell whether one model is better than another.

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
    values: Array
    metrics: tuple[str, ...]
    weights: Array | None = None

    def __post_init__(self) -> None:
        set_field = object.__setattr__
        set_field(self, "ids", _as_ids(self.ids))
        set_field(self, "values", np.asarray(self.values, dtype=np.float64))
        set_field(self, "metrics", tuple(self.metrics))
        if self.weights is not None:
            set_field(self, "weights", np.asarray(self.weights, dtype=np.float64))
        _check(self)

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, metric: str) -> Array:
        return np.asarray(self.values[:, self.column(metric)])

    def mean(self) -> dict[str, float]:
        """Weighted mean over the queries on which the metric is defined.

        Returns
        -------
        dict of str to float
            The mean of each metric; nan if it is defined on no query.
        """
        return self._named(self._by_part(mean))

    def standard_error(self) -> dict[str, float]:
        """Standard error of the mean.

        Returns
        -------
        dict of str to float
            That of each metric; nan with fewer than two queries.
        """
        return self._named(self._by_part(standard_error))

    def interval(
        self,
        confidence: float = 0.95,
        *,
        method: str = "bootstrap",
        n_resamples: int = 9999,
        random_state: Any = None,
    ) -> dict[str, Interval]:
        """Confidence interval of the mean, were the queries drawn again.

        Parameters
        ----------
        confidence : float, default=0.95
            How often such an interval holds the mean of all queries there could be.
        method : {"bootstrap", "t"}, default="bootstrap"
            Resample queries and take the bias-corrected and accelerated interval (BCa), which
            stays within the range of a metric and follows its skew; or Student's t, which is
            cheap, and covers too little where few queries are very skewed.
        n_resamples : int, default=9999
            Number of resamples of the bootstrap.
        random_state : int, RandomState instance, Generator or None, default=None
            Seed of the bootstrap.

        Returns
        -------
        dict of str to Interval
            ``(low, high)`` of each metric; nan with fewer than two queries.

        Raises
        ------
        ValueError
            If an argument is out of its range.
        """
        confidence = _fraction("confidence", confidence)
        n_resamples = check_count("n_resamples", n_resamples, 1)
        if choice("method", method, METHODS) == "t":
            ends = self._by_part(lambda v, w: np.array(t_interval(v, w, confidence)), (2,))
        else:
            random = generator(random_state)
            ends = self._by_part(
                lambda v, w: np.array(bootstrap_interval(v, w, confidence, n_resamples, random)),
                (2,),
            )
        pairs = zip(self.metrics, ends.T.tolist(), strict=True)
        return {metric: Interval(low, high) for metric, (low, high) in pairs}

    def to_frame(self, library: str = "pandas") -> Any:
        """One row a query: its id, the value of each metric, and its weight if there is one.

        Parameters
        ----------
        library : {"pandas", "polars"}, default="pandas"
            Whose DataFrame.

        Returns
        -------
        DataFrame
            With columns "query", the names of the metrics, and "weight".
        """
        columns: dict[str, Any] = {"query": self.ids}
        columns |= {metric: self[metric] for metric in self.metrics}
        if self.weights is not None:
            columns["weight"] = self.weights
        return frame(columns, library)

    def __repr__(self) -> str:
        return self._table().text()

    def _repr_html_(self) -> str:
        return self._table().html()

    def _table(self) -> Table:
        means, errors = self.mean(), self.standard_error()
        counts = self.counted().sum(axis=0)
        rows = [
            (metric, f"{means[metric]:.4f}", f"{errors[metric]:.4f}", f"{count}")
            for metric, count in zip(self.metrics, counts, strict=True)
        ]
        title = f"QueryScores of {len(self)} quer{'y' if len(self) == 1 else 'ies'}"
        return Table(title, ("", "mean", "std. error", "queries"), rows)

    def counted(self) -> Array:
        """Whether each query takes part in each metric's mean.

        Returns
        -------
        ndarray of bool of shape (n_queries, n_metrics)
            False where the metric is undefined or the weight is 0.
        """
        defined = ~np.isnan(self.values)
        return defined if self.weights is None else defined & (self.weights > 0)[:, None]

    def parts(self) -> Iterator[tuple[Array, Array, Array]]:
        """Bring together metrics that count the same queries.

        Yields
        ------
        columns : ndarray of int of shape (n_columns,)
            Positions of these metrics in `metrics`.
        values : ndarray of shape (n_counted, n_columns)
            Their values, without nan.
        weights : ndarray of shape (n_counted,)
            Weights of the queries.
        """
        weights = np.ones(len(self)) if self.weights is None else self.weights
        masks, part = np.unique(self.counted(), axis=1, return_inverse=True)
        for i, mask in enumerate(masks.T):
            columns = np.flatnonzero(part.ravel() == i)
            yield columns, self.values[np.ix_(mask, columns)], weights[mask]

    def _by_part(self, compute: Any, shape: tuple[int, ...] = ()) -> Array:
        """A statistic of each metric, of shape (*shape, n_metrics)."""
        result = np.full((*shape, len(self.metrics)), np.nan)
        for columns, values, weights in self.parts():
            if len(values):
                result[..., columns] = compute(values, weights)
        return result

    def _named(self, values: Array) -> dict[str, float]:
        return dict(zip(self.metrics, values.tolist(), strict=True))

    def column(self, metric: str) -> int:
        """Return the place of a metric in `metrics`.

        Parameters
        ----------
        metric : str
            The name.

        Returns
        -------
        int
            The column of `values` that holds it.

        Raises
        ------
        KeyError
            If there is no metric of that name.
        """
        if metric not in self.metrics:
            raise KeyError(f"no metric {metric!r}; there are {', '.join(self.metrics)}.")
        return self.metrics.index(metric)


def query_scores(
    y_true: Any,
    y_score: Any,
    metrics: Any,
    *,
    groups: Any = None,
    like: str | None = None,
    sample_weight: Any = None,
    labels: Any = None,
    n_jobs: int | None = None,
    **options: Any,
) -> QueryScores:
    """Compute ranking metrics for every query, with their ids.

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Relevance of each document, finite numbers.
    y_score : array-like of shape (n_documents,) or (n_queries, n_documents)
        Score of each document, higher is ranked first; no NaN, -inf where it was not retrieved.
    metrics : str, callable or iterable of them
        Names such as ``"ndcg@10"``, metric functions of this package, or any function of a block
        of ranked queries.
    groups : array-like of shape (n_documents,), default=None
        Query id of each document, in any row order; None for a single query or
        two-dimensional input, whose ids are the row numbers.
    like : str, default=None
        Take another library's conventions, as in `evaluate`.
    sample_weight : array-like of shape (n_documents,) or (n_queries,), default=None
        Weight of each document's query, constant within a query.
    labels : array-like of shape (n_classes,), default=None
        The class of each column, for class labels in `y_true` and scores of shape
        (n_queries, n_classes).
    n_jobs : int, default=None
        Number of threads; None means 1 unless in a joblib context, -1 all cores.
    **options
        Any option of the metrics but `average`; it goes to each metric that has it.

    Returns
    -------
    QueryScores
        One row a query, in the order of ``np.unique(groups)``. Its `mean` equals `evaluate`.

    Raises
    ------
    ValueError
        For an unknown name or option, for ``average="micro"``, and for whatever the metric
        functions refuse.

    See Also
    --------
    evaluate : Means only.
    compare : Tell whether one model is better than another.

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
    named = resolve_per_query(metrics, like=like, **options)
    queries = read_queries(
        y_true, y_score, groups=groups, sample_weight=sample_weight, labels=labels, n_jobs=n_jobs
    )
    values = per_query(queries, named.values(), n_jobs)
    return QueryScores(queries.ids, values, tuple(named), queries.weights)


def resolve_per_query(metrics: Any, **options: Any) -> dict[str, NamedMetric]:
    """Metrics by their names, if each query has a value of its own."""
    named = resolve_all(metrics, **options)
    for name, metric in named.items():
        if metric.average == "micro":
            raise ValueError(
                f"{name!r} with average='micro' is one ratio of sums over all queries; values per "
                "query need 'macro'."
            )
    return named


def per_query(queries: Queries, metrics: Iterable[NamedMetric], n_jobs: int | None = None) -> Array:
    """Value of each metric for each query, of shape (n_queries, n_metrics)."""
    metrics = list(metrics)
    found = measure(queries, metrics, n_jobs=n_jobs)
    return np.column_stack(
        [v.per_query(m.replace_undefined_by) for v, m in zip(found, metrics, strict=True)]
    )


def _as_ids(ids: Any) -> Array:
    """Ids as a one-dimensional array; tuples stay tuples."""
    if isinstance(ids, np.ndarray):
        return ids
    ids = list(ids)
    if any(isinstance(i, tuple) for i in ids) or len({type(i) for i in ids}) > 1:
        return np.fromiter(ids, dtype=object, count=len(ids))
    return np.asarray(ids)


def _check(scores: QueryScores) -> None:
    shape = (len(scores.ids), len(scores.metrics))
    if scores.values.shape != shape:
        raise ValueError(
            f"values must have one row per query and one column per metric, {shape}; got shape "
            f"{scores.values.shape}."
        )
    if not len(scores):
        raise ValueError("there is no query; at least one is needed.")
    for what, names in (("query id", scores.ids.tolist()), ("metric", list(scores.metrics))):
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ValueError(f"each {what} must come once; {twice!r} comes twice.")
    weights = scores.weights
    if weights is None:
        return
    if weights.shape != shape[:1]:
        raise ValueError(f"weights must have shape {shape[:1]}; got {weights.shape}.")
    if not (np.isfinite(weights) & (weights >= 0)).all() or not weights.any():
        raise ValueError("weights must be finite and not negative, and not all zero.")


def _fraction(name: str, value: Any) -> float:
    fraction = number(name, value)
    if not 0 < fraction < 1:
        raise ValueError(f"{name} must be between 0 and 1, both excluded; got {value!r}.")
    return fraction
