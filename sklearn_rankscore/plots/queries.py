"""Plots of queries: two systems against each other, and a metric against a property."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self, get_args

import numpy as np
from numpy.typing import ArrayLike

from .._typing import Array, IntervalMethod, QueryIds, Seed
from .._validation import check_choice, check_number
from ..comparison import Comparison, Interval, QueryScores
from ..comparison.compare import align, baseline_first, paired_differences, value_differences
from ..comparison.segments import Segments, select_segments
from ..ranking import read_queries
from .display import (
    DifferencesOfSystems,
    QueryScoresDisplay,
    axis_label,
    by_name,
    check_two,
    draw_grid,
    inference_of,
    literal,
    one_metric,
    scores_by_name,
    set_categories,
    shown_numbers,
    with_style,
)  # fmt: skip
from .palette import BETTER, MUTED, WORSE, line_style, text_color

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# more steps than a figure has pixels; matplotlib takes seconds to draw 100,000
MOST_STEPS = 5_000
# from this many points on, they are drawn as an image in vector graphics
RASTERIZE = 2000
# in square points: of one query, and of the most queries of one point
AREA, LARGEST_AREA = 18, 500
Property = Literal["documents", "relevant"]
LABELS = {"documents": "documents of the query", "relevant": "relevant documents of the query"}
WIDTH = 0.5


@dataclass(kw_only=True, eq=False, repr=False)
class QueryDeltaDisplay(DifferencesOfSystems):
    """Sorted per-query differences between two models, with wins, losses and the mean.

    Use `from_estimator`, `from_predictions` or `from_query_scores` to create one; parameters are
    stored as attributes.

    Parameters
    ----------
    deltas : array-like of shape (n_queries,)
        For each query the value of the model minus that of the baseline.
    metric : str
        Name of the metric.
    baseline, model : str
        Names of the two models.
    weights : ndarray of shape (n_queries,), default=None
        Query weights of the mean difference.
    interval : Interval, default=None
        Confidence interval of the mean difference.
    confidence : float, default=0.95
        Confidence level of the interval.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Axes and figure of the last plot.
    wins_, losses_ : matplotlib StepPatch
        Areas of the queries with a positive and a negative difference.
    mean_line_ : matplotlib Line2D
        The mean difference.

    Examples
    --------
    >>> from sklearn_rankscore import QueryDeltaDisplay, make_ranking
    >>> X, y, groups = make_ranking(random_state=0)
    >>> models = {"one": X[:, 0], "two": X[:, 0] + X[:, 1] / 2}
    >>> display = QueryDeltaDisplay.from_predictions(y, models, groups=groups, metric="ndcg@10")
    >>> display.ax_.get_ylabel()
    'difference in NDCG@10'
    """

    deltas: Any
    metric: str
    baseline: str = "baseline"
    model: str = "model"
    weights: Array | None = None
    interval: Interval | None = None
    confidence: float = 0.95

    def __post_init__(self) -> None:
        self.deltas = np.asarray(self.deltas, dtype=np.float64)
        _check_some_query(self.deltas, self.metric)

    @classmethod
    def _of(
        cls, systems: Mapping[str, QueryScores], metric: str | None, compared: Comparison
    ) -> Self:
        check_two(systems)
        baseline, model, first, second = _aligned_pair(systems, compared.baseline)
        metric = one_metric(first, metric)
        paired = paired_differences(first, second)
        included = paired.included()[:, paired.column(metric)]
        return cls(
            deltas=paired[metric][included], metric=metric, baseline=baseline, model=model,
            weights=None if paired.weights is None else paired.weights[included],
            interval=compared[metric, model].interval, confidence=compared.confidence,
        )  # fmt: skip

    def plot(self, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Plot the sorted differences.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to plot on; None creates a figure.
        **kwargs
            Keyword arguments of matplotlib's ``stairs``.

        Returns
        -------
        QueryDeltaDisplay
            The display itself.
        """
        from matplotlib.patches import StepPatch
        from matplotlib.ticker import MaxNLocator

        ax = self._prepare(ax)
        deltas = -np.sort(-self.deltas)
        n = len(deltas)
        edges = np.linspace(0, n, 1 + min(n, MOST_STEPS)).round().astype(int)
        n_wins, n_losses = int((deltas > 0).sum()), int((deltas < 0).sum())

        def plot_area(values: Array, kind: str, of: int, color: str) -> StepPatch:
            label = f"{kind} {of:,} ({of / n:.0%})"
            style = {"fill": True, "linewidth": 0, "color": color, "label": label}
            return ax.stairs(values, edges, **with_style(style, kwargs, StepPatch))

        self.wins_ = plot_area(np.maximum(deltas[edges[:-1]], 0), "wins", n_wins, BETTER)
        self.losses_ = plot_area(np.minimum(deltas[edges[1:] - 1], 0), "losses", n_losses, WORSE)
        ax.axhline(0, color=MUTED, linewidth=0.8)
        mean = float(np.average(self.deltas, weights=self.weights))
        number, *ends = shown_numbers([mean, *(self.interval or ())], "+")
        level = f", {self.confidence * 100:g} % interval [{', '.join(ends)}]" if ends else ""
        style: Any = {"color": text_color(), "linestyle": "--", "linewidth": 1.4}
        self.mean_line_ = ax.axhline(mean, label=f"mean {number}{level}", **style)
        ax.set_xlim(0, n)
        if isinstance(locator := ax.xaxis.get_major_locator(), MaxNLocator):
            locator.set_params(integer=True)
        if deltas.any():  # the same scale up and down
            ax.set_ylim(np.array([-1.05, 1.05]) * np.abs(deltas).max())
        ax.set_xlabel(f"queries, sorted by difference ({n - n_wins - n_losses:,} ties)")
        ax.set_ylabel(f"difference in {axis_label(self.metric)}")
        self._finish(f"{literal(self.model)} − {literal(self.baseline)}")
        return self


@dataclass(kw_only=True, eq=False, repr=False)
class QueryScatterDisplay(QueryScoresDisplay):
    """The values of two systems for each query, against each other.

    Points above the diagonal are wins of the model, points below it are losses; the area of a point
    grows with the number of queries that have the same two values. Use `from_estimator`,
    `from_predictions` or `from_query_scores` to create one; parameters are stored as attributes.

    Parameters
    ----------
    baseline_values, model_values : array-like of shape (n_queries,)
        Values of the metric for each query, in the same order.
    metric : str
        Name of the metric.
    baseline, model : str
        Names of the two models.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Axes and figure of the last plot.
    wins_, losses_, ties_ : matplotlib PathCollection
        Points of the queries that the model wins, loses and ties.
    diagonal_ : matplotlib Line2D
        Where both values are equal.

    Examples
    --------
    >>> from sklearn_rankscore import QueryScatterDisplay, make_ranking
    >>> X, y, groups = make_ranking(random_state=0)
    >>> models = {"one": X[:, 0], "two": X[:, 0] + X[:, 1] / 2}
    >>> display = QueryScatterDisplay.from_predictions(y, models, groups=groups, metric="ndcg@10")
    >>> display.ax_.get_ylabel()
    'two'
    """

    baseline_values: Any
    model_values: Any
    metric: str
    baseline: str = "baseline"
    model: str = "model"

    def __post_init__(self) -> None:
        self.baseline_values = np.asarray(self.baseline_values, dtype=np.float64)
        self.model_values = np.asarray(self.model_values, dtype=np.float64)
        _check_some_query(self.model_values, self.metric)

    @classmethod
    def from_query_scores(
        cls,
        systems: Mapping[str, QueryScores],
        *,
        metric: str | None = None,
        baseline: str | None = None,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Plot results of `query_scores` or `cross_val_query_scores`.

        Parameters
        ----------
        systems : dict of str to QueryScores
            Results of the two models for the same queries.
        metric : str, default=None
            One of their metrics; None means the first.
        baseline : str, default=None
            The model on the horizontal axis; None means the first.
        ax : matplotlib Axes, default=None
            Axes to plot on; None creates a figure.
        **kwargs
            Keyword arguments of matplotlib's ``scatter``.

        Returns
        -------
        QueryScatterDisplay
            The plotted display.
        """
        baseline, model, first, second = _aligned_pair(check_two(systems), baseline)
        metric = one_metric(first, metric)
        paired = paired_differences(first, second)
        included = paired.included()[:, paired.column(metric)]
        display = cls(
            baseline_values=first[metric][included], model_values=second[metric][included],
            metric=metric, baseline=baseline, model=model,
        )  # fmt: skip
        return display.plot(ax, **kwargs)

    def plot(self, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Plot one point for each pair of values.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to plot on; None creates a figure.
        **kwargs
            Keyword arguments of matplotlib's ``scatter``.

        Returns
        -------
        QueryScatterDisplay
            The display itself.
        """
        from matplotlib.collections import PathCollection

        ax = self._prepare(ax, (5.5, 5.6))
        signs = np.sign(value_differences(self.baseline_values, self.model_values))
        values = np.column_stack([self.baseline_values, self.model_values])
        kwargs = {"color" if name == "c" else name: value for name, value in kwargs.items()}

        def plot_points(sign: int, kind: str, color: str, marker: str) -> PathCollection:
            points, counts = np.unique(values[signs == sign], axis=0, return_counts=True)
            n = int(counts.sum())
            style = {
                "s": np.minimum(AREA * counts, LARGEST_AREA), "color": color, "marker": marker,
                "linewidths": 0, "alpha": 0.8, "label": f"{kind} {n:,} ({n / len(signs):.0%})",
                "rasterized": len(points) > RASTERIZE,
            }  # fmt: skip
            return ax.scatter(*points.T, **with_style(style, kwargs, PathCollection))

        self.wins_ = plot_points(1, "wins", BETTER, "^")
        self.losses_ = plot_points(-1, "losses", WORSE, "v")
        self.ties_ = plot_points(0, "ties", MUTED, "o")
        self.diagonal_ = ax.axline((0, 0), slope=1, color=text_color(), linewidth=1, linestyle=":")
        margin = 0.04 * (np.ptp(values) or 1.0)
        limits = values.min() - margin, values.max() + margin
        ax.set(xlim=limits, ylim=limits, aspect="equal")
        ax.set_xlabel(literal(self.baseline), wrap=True)
        ax.set_ylabel(literal(self.model), wrap=True)
        ax.locator_params(nbins=5)
        draw_grid(ax, "both")
        self._finish(f"{axis_label(self.metric)} of each query")
        # one symbol size in the legend, whatever the number of queries of a point
        for handle in getattr(ax.get_legend(), "legend_handles", ()):
            handle.set_sizes([25])
        return self


@dataclass(kw_only=True, eq=False, repr=False)
class QueryPropertyDisplay(QueryScoresDisplay):
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

    bins: Sequence[str]
    queries: Any
    means: Mapping[str, Array]
    intervals: Mapping[str, Array]
    metric: str
    property: str
    confidence: float = 0.95

    def __post_init__(self) -> None:
        self.bins, self.queries = list(self.bins), np.asarray(self.queries)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike | Mapping[str, ArrayLike],
        *,
        groups: QueryIds | None = None,
        metric: Any = "ndcg@10",
        property: Any = "documents",
        threshold: float = 0,
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
        **options
            Any argument of `from_query_scores`, or one of `sample_weight`, `like`, `unjudged` and
            `name`, as in other displays.

        Returns
        -------
        QueryPropertyDisplay
            The plotted display.
        """
        threshold = check_number("threshold", threshold)
        if property is not None and not isinstance(property, str):
            options["segments"] = property
        else:
            kind = check_choice("property", property, get_args(Property))
            first = next(iter(by_name(y_score, "").values()))
            queries = read_queries(y_true, first, groups=groups)
            counts = queries.sizes
            if kind == "relevant":
                is_relevant = queries.y_true > threshold
                counts = np.bincount(queries.grouping.codes, is_relevant, len(counts)).astype(int)
            options["property"] = {LABELS[kind]: counts}
        return super().from_predictions(y_true, y_score, groups=groups, metric=metric, **options)

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
        inference = inference_of(confidence, method, n_resamples, random_state)
        model, scores = next(iter(named.items()))
        metric = one_metric(scores, metric)
        columns = select_segments(property, scores.ids, scores.segments)
        if len(columns) > 1:
            raise ValueError(
                f"property must be a single column; got {', '.join(sorted(columns))}. Plot them "
                "one by one."
            )
        by = {
            model: [s for s in of.by(columns, **inference) if s.metric == metric]
            for model, of in align(named, model).items()
        }
        first = next(iter(by.values()))
        queries = np.array([[s.queries for s in own] for own in by.values()])
        are_equal = bool((queries == queries[0]).all())
        display = cls(
            bins=[str(s.segment.value) for s in first],
            queries=queries[0] if are_equal else queries,
            means={model: np.array([s.mean for s in own]) for model, own in by.items()},
            intervals={model: np.array([s.interval for s in own]) for model, own in by.items()},
            metric=metric, property=first[0].segment.column, confidence=inference["confidence"],
        )  # fmt: skip
        return display.plot(ax, **kwargs)

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
        from matplotlib.lines import Line2D

        ax = self._prepare(ax)
        self.error_bars_ = []
        n_models = len(self.means)
        for i, (name, means) in enumerate(self.means.items()):
            low, high = self.intervals[name].T
            style = {**line_style(i), "linestyle": "none", "capsize": 3, "label": literal(name)}
            x = np.arange(len(means)) + WIDTH * (i - (n_models - 1) / 2) / max(n_models, 2)
            bars = ax.errorbar(
                x, means, [means - low, high - means], **with_style(style, kwargs, Line2D)
            )
            self.error_bars_.append(bars)
        counts, by_model = self._counts()
        set_categories(ax, self.bins, counts)
        ax.set_xlabel(f"{literal(self.property)}\nnumber of queries{by_model}")
        ax.set_ylabel(axis_label(self.metric))
        draw_grid(ax, "y")
        self._finish(f"{self.confidence * 100:g} % intervals of the mean")
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


def _check_some_query(values: Array, metric: str) -> None:
    """Refuse values of two systems of which no query has both."""
    if not len(values):
        raise ValueError(
            f"no query to plot: {metric!r} must be defined for both models on at least one query."
        )


def _aligned_pair(
    systems: Mapping[str, QueryScores], baseline: str | None
) -> tuple[str, str, QueryScores, QueryScores]:
    """The names of the baseline and of the model, and their values of the same queries."""
    baseline, model = baseline_first(systems, baseline)
    aligned = align(systems, baseline)
    return baseline, model, aligned[baseline], aligned[model]
