"""A metric against a property of the queries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, Self, get_args

import numpy as np
from numpy.typing import ArrayLike

from .._typing import Array, IntervalMethod, Library, QueryIds, Seed, Unjudged
from .._validation import check_choice, check_number
from ..inspection.query_scores import QueryScores, query_scores
from ..inspection.segments import Segments
from ..metrics.evaluate import MetricLike
from ..ranking import read_queries
from .axes import axis_label, draw_grid, finish_axes, normalize_style, set_categories
from .curves import MARKERS
from .display import Display, align_by, by_name, one_metric, scores_by_name
from .palette import system_color
from .text import literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import ErrorbarContainer

Property = Literal["documents", "relevant"]
LABELS = {"documents": "documents of the query", "relevant": "relevant documents of the query"}
WIDTH = 0.5


class QueryPropertyDisplay(Display):
    """Mean of a metric for queries of different length, or of any other property.

    A property with more than ten values is binned by quartile. Use `from_estimator`,
    `from_predictions` or `from_query_scores` to create one; parameters are stored as attributes.

    Parameters
    ----------
    bins : sequence of str
        Values or ranges of the property.
    queries : array-like of shape (n_bins,) or (n_models, n_bins)
        Number of queries in each bin for which the metric is defined; one row per model, in the
        order of `means`, if the numbers differ. The axis then shows the smallest and the largest.
    means : dict of str to ndarray of shape (n_bins,)
        Mean of the metric over the queries of each bin, by model.
    intervals : dict of str to ndarray of shape (n_bins, 2)
        Lower and upper ends of the confidence intervals, by model.
    metric : str
        Name of the metric.
    property : str
        Name of the property.
    confidence : float, default=0.95
        Confidence level of the intervals.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Axes and figure of the last plot.
    error_bars_ : list of matplotlib ErrorbarContainer
        Means and intervals of each model.

    Examples
    --------
    >>> from sklearn_rankscore import QueryPropertyDisplay, make_ranking
    >>> X, y, groups = make_ranking(random_state=0)
    >>> display = QueryPropertyDisplay.from_predictions(y, X[:, 0], groups=groups)
    >>> display.bins
    ['[10, 14]', '(14, 19]', '(19, 25]', '(25, 30]']
    """

    error_bars_: list[ErrorbarContainer]

    def __init__(
        self,
        *,
        bins: list[str],
        queries: ArrayLike,
        means: Mapping[str, Array],
        intervals: Mapping[str, Array],
        metric: str,
        property: str,
        confidence: float = 0.95,
    ) -> None:
        self.bins, self.queries = list(bins), np.asarray(queries)
        self.means, self.intervals = means, intervals
        self.metric, self.property, self.confidence = metric, property, confidence

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike | Mapping[str, ArrayLike],
        *,
        groups: QueryIds | None = None,
        metric: MetricLike = "ndcg@10",
        property: Property | Segments = "documents",
        threshold: float = 0,
        sample_weight: ArrayLike | None = None,
        like: Library | None = None,
        unjudged: Unjudged = "error",
        name: str = "model",
        **options: Any,
    ) -> Self:
        """Plot scores against the number of documents, or any other property of the queries.

        Parameters
        ----------
        y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
            Relevance labels.
        y_score : array-like of the same shape as `y_true`, or dict of str to array-like
            Scores of one or several models, by name.
        groups : array-like of shape (n_documents,), default=None
            Query ids.
        metric : str or callable, default="ndcg@10"
            The metric.
        property : {"documents", "relevant"}, array-like or mapping, default="documents"
            Number of documents, or of relevant documents; or the values of another property as
            `query_scores` takes them for `segments`: one per document or query, or by query id.
        threshold : float, default=0
            A document is relevant if its label exceeds this value; for the property only.
        sample_weight : array-like of shape (n_documents,), default=None
            Query weights, constant within each query.
        like : str, default=None
            Library whose conventions to use, as in `evaluate`.
        unjudged : {"error", "irrelevant", "drop"}, default="error"
            Rule of the metrics for documents with label NaN, as in `evaluate`.
        name : str, default="model"
            Name of a single model.
        **options
            Any other argument of `from_query_scores`.

        Returns
        -------
        QueryPropertyDisplay
            The plotted display.
        """
        kind = None
        if isinstance(property, str) or property is None:
            kind = check_choice("property", property, get_args(Property))
        threshold = check_number("threshold", threshold)
        models = by_name(y_score, name)
        systems = query_scores(
            y_true,
            models,
            metric,
            groups=groups,
            sample_weight=sample_weight,
            like=like,
            unjudged=unjudged,
            segments=None if kind else property,
        )
        if kind is None:
            return cls.from_query_scores(systems, **options)
        queries = read_queries(y_true, next(iter(models.values())), groups=groups)
        values = queries.sizes
        if kind == "relevant":
            is_relevant = queries.y_true > threshold
            codes = queries.grouping.codes
            values = np.bincount(codes, is_relevant, len(queries)).astype(int)
        return cls.from_query_scores(systems, {LABELS[kind]: values}, **options)

    @classmethod
    def from_query_scores(
        cls,
        systems: QueryScores | Mapping[str, QueryScores],
        property: Segments | str | None = None,
        *,
        metric: str | None = None,
        confidence: float = 0.95,
        method: IntervalMethod = "auto",
        n_resamples: int = 9999,
        random_state: Seed = None,
        name: str = "model",
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Plot results of `query_scores` or `cross_val_query_scores` against any property.

        Parameters
        ----------
        systems : QueryScores or dict of str to QueryScores
            Results of one or several models for the same queries, in any order.
        property : array-like, mapping or str, default=None
            One value per query in the order of the first model, one such column by name, a mapping
            from query ids to values, or the name of a column of segments that the scores have,
            where None means their only one.
        metric : str, default=None
            One of their metrics; None means the first.
        confidence, method, n_resamples, random_state
            See `QueryScores.interval`.
        name : str, default="model"
            Name of a single model.
        ax : matplotlib Axes, default=None
            Axes to plot on; None creates a figure.
        **kwargs
            Keyword arguments of matplotlib's ``errorbar``.

        Returns
        -------
        QueryPropertyDisplay
            The plotted display.
        """
        named = scores_by_name(systems, name)
        inference: Any = {
            "confidence": confidence, "method": method, "n_resamples": n_resamples,
            "random_state": random_state,
        }  # fmt: skip
        return cls._of_scores(named, property, metric, inference).plot(ax, **kwargs)

    @classmethod
    def _of_scores(
        cls,
        systems: Mapping[str, QueryScores],
        property: Any,
        metric: str | None,
        inference: Mapping[str, Any],
    ) -> Self:
        """The display, not plotted yet."""
        metric = one_metric(next(iter(systems.values())), metric)
        aligned, columns = align_by(systems, property)
        if len(columns) > 1:
            raise ValueError(
                f"property must be a single column; got {', '.join(sorted(columns))}. Plot them "
                "one by one."
            )
        by = {
            model: [s for s in scores.by(columns, **inference) if s.metric == metric]
            for model, scores in aligned.items()
        }
        first = next(iter(by.values()))
        queries = np.array([[s.queries for s in own] for own in by.values()])
        are_equal = bool((queries == queries[0]).all())
        return cls(
            bins=[str(s.segment.value) for s in first],
            queries=queries[0] if are_equal else queries,
            means={model: np.array([s.mean for s in own]) for model, own in by.items()},
            intervals={model: np.array([s.interval for s in own]) for model, own in by.items()},
            metric=metric, property=first[0].segment.column, confidence=inference["confidence"],
        )  # fmt: skip

    def plot(self, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Plot the means and their intervals.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to plot on; None creates a figure.
        **kwargs
            Keyword arguments of matplotlib's ``errorbar``.

        Returns
        -------
        QueryPropertyDisplay
            The display itself.
        """
        ax = self._prepare(ax)
        self.error_bars_ = []
        offsets = WIDTH * (np.arange(len(self.means)) - (len(self.means) - 1) / 2)
        for i, (name, means) in enumerate(self.means.items()):
            low, high = self.intervals[name].T
            style = {
                "color": system_color(i), "marker": MARKERS[i % len(MARKERS)], "linestyle": "none",
                "capsize": 3, "label": literal(name), **normalize_style(kwargs, "Line2D"),
            }  # fmt: skip
            x = np.arange(len(means)) + offsets[i] / max(len(self.means), 2)
            self.error_bars_.append(ax.errorbar(x, means, [means - low, high - means], **style))
        counts, by_model = self._counts()
        set_categories(ax, self.bins, counts)
        ax.set_xlabel(f"{literal(self.property)}\nnumber of queries{by_model}")
        ax.set_ylabel(axis_label(self.metric))
        draw_grid(ax, "y")
        finish_axes(ax, legend_title=f"{self.confidence * 100:g} % intervals of the mean")
        return self

    def _counts(self) -> tuple[list[str], str]:
        """The number of queries of each bin, or their range, and what the range is of."""
        each = np.atleast_2d(self.queries)
        fewest, most = each.min(axis=0).tolist(), each.max(axis=0).tolist()
        counts = [
            f"{low:,}" if low == high else f"{low:,}–{high:,}"
            for low, high in zip(fewest, most, strict=True)
        ]
        return counts, "" if fewest == most else " (range over models)"
