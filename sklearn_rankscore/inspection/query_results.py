"""Metric values of every query, with means, standard errors and confidence intervals."""

from __future__ import annotations

from typing import Any

from .._table import Table
from .._typing import IntervalMethod, Seed
from .._validation import counted
from ..metrics.clicks import PropensitySummary
from .interval_methods import interval_estimate
from .intervals import Interval, auto_interval, standard_error
from .query_values import QueryValues
from .ranges import value_ranges
from .resampling import generator
from .segment_bins import bin_segments
from .segment_scores import SegmentScores, segment_parts, summarize_segments
from .segments import Segments, select_segments
from .tabular import Tabular


class QueryScores(QueryValues, Tabular):
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
            "auto" is the interval of Gaffke for metrics with a known range, and Student's t
            interval for others: DCG, RBP of graded gains, hits without a cut-off, and most metrics
            that are adjusted for chance or estimated from clicks. The former covers the mean for
            any number of queries; for values 0 and 1 and a confidence of at least 0.8, its ends
            differ by at most 0.003 from those of Clopper and Pearson, because of a saddlepoint
            approximation. The coverage of "t" and "bootstrap", the bias-corrected and accelerated
            (BCa) bootstrap over queries, is too low if there are few queries or nearly all values
            are equal; the user guide contains a table.
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
        within, [-1, 1]; it is unbounded if this does not hold either.

        References
        ----------
        E. Learned-Miller, P. S. Thomas. A New Confidence Interval for the Mean of a Bounded Random
        Variable. 2019. https://doi.org/10.48550/arXiv.1905.06208
        """
        estimate = interval_estimate(auto_interval, confidence, method, n_resamples, random_state)
        ends = self.aggregate(estimate, (2,), *value_ranges(self.metrics, self.values))
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
            One entry for each metric and segment. The test is Welch's t-test, adjusted for all
            segments and metrics; its p-value is nan if fewer than six queries of the segment, or of
            all others, differ from the most common value.

        Raises
        ------
        ValueError
            If there are no segments, or they do not correspond to the queries.
        """
        columns = select_segments(segments, self.ids, self.segments)
        options: Any = {
            "confidence": confidence, "method": method, "n_resamples": n_resamples,
            "random_state": generator(random_state),
        }  # fmt: skip
        parts = [
            (part, self.select(part.rows))
            for column in bin_segments(columns)
            for part in segment_parts(self, column)
        ]
        intervals = [scores.interval(**options) for _, scores in parts]
        return summarize_segments(self.metrics, parts, intervals, confidence)

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
        title = f"QueryScores of {counted(len(self), 'query')}"
        return Table(title, ("", "mean", "std. error", "queries"), rows)
