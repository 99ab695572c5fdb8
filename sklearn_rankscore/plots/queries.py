"""Plots of queries: two systems against each other, and a metric against a property."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Self, get_args

import numpy as np
from numpy.typing import ArrayLike

from .._typing import Array, QueryIds
from .._validation import check_choice, check_number, counted
from ..comparison import Interval, QueryScores, compare
from ..comparison.compare import align, baseline_first, value_differences
from ..comparison.segments import Segments, select_segments
from ..ranking import read_queries
from . import style
from .display import QueryScoresDisplay, Systems, by_name, check_two, one_metric, scores_by_name

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
class QueryDeltaDisplay(QueryScoresDisplay):
    """Sorted per-query differences between two models, with wins, losses and the mean.

    Use `from_estimator`, `from_predictions` or `from_query_scores` to create one; parameters are
    stored as attributes. It is drawn by matplotlib's ``stairs``.

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

    @classmethod
    def _of(cls, systems: Any, metric: str | None, inference: Any, baseline: Any = None) -> Self:
        names, values, weights = values_of_two(systems, metric, baseline)
        # the interval is that of every test, of which this one takes least time
        compared = compare(systems, baseline=baseline, test="t", **inference)
        return cls(
            **names, deltas=value_differences(*values.T), weights=weights,
            interval=compared[names["metric"], names["model"]].interval,
            confidence=compared.confidence,
        )  # fmt: skip

    def _draw(self, ax: Axes | None, kwargs: dict[str, Any]) -> str:
        from matplotlib.patches import StepPatch

        ax = self._axes(ax)
        deltas = -np.sort(-np.asarray(self.deltas, dtype=np.float64))
        n = len(deltas)
        edges = np.linspace(0, n, 1 + min(n, MOST_STEPS)).round().astype(int)
        n_wins, n_losses = int((deltas > 0).sum()), int((deltas < 0).sum())

        def plot_area(values: Array, label: str, color: str) -> StepPatch:
            area = {"fill": True, "linewidth": 0, "color": color, "label": label}
            return ax.stairs(values, edges, **style.merged(area, kwargs, StepPatch))

        wins, losses = np.maximum(deltas[edges[:-1]], 0), np.minimum(deltas[edges[1:] - 1], 0)
        self.wins_ = plot_area(wins, _share("wins", n_wins, n), style.BETTER)
        self.losses_ = plot_area(losses, _share("losses", n_losses, n), style.WORSE)
        ax.axhline(0, color=style.MUTED, linewidth=0.8)
        mean = float(np.average(self.deltas, weights=self.weights))
        number, *ends = style.numbers([mean, *(self.interval or ())], "+")
        level = f", {self.confidence * 100:g} % interval [{', '.join(ends)}]" if ends else ""
        self.mean_line_ = ax.axhline(
            mean, color=style.text_color(), linestyle="--", linewidth=1.4,
            label=f"mean {number}{level}",
        )  # fmt: skip
        ax.set_xlim(0, n)
        ax.locator_params(axis="x", integer=True)
        if deltas.any():  # the same scale up and down
            ax.set_ylim(np.array([-1.05, 1.05]) * np.abs(deltas).max())
        ax.set_xlabel(f"queries, sorted by difference ({counted(n - n_wins - n_losses, 'tie')})")
        ax.set_ylabel(f"difference in {style.metric_label(self.metric)}")
        return f"{style.literal(self.model)} − {style.literal(self.baseline)}"


@dataclass(kw_only=True, eq=False, repr=False)
class QueryScatterDisplay(QueryScoresDisplay):
    """The values of two systems for each query, against each other.

    Points above the diagonal are wins of the model, points below it are losses; the area of a point
    grows with the number of queries that have the same two values. Use `from_estimator`,
    `from_predictions` or `from_query_scores` to create one; parameters are stored as attributes. It
    is drawn by matplotlib's ``scatter``.

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

    @classmethod
    def _of(cls, systems: Any, metric: str | None, inference: Any, baseline: Any = None) -> Self:
        names, values, _ = values_of_two(systems, metric, baseline)
        return cls(**names, baseline_values=values[:, 0], model_values=values[:, 1])

    def _draw(self, ax: Axes | None, kwargs: dict[str, Any]) -> str:
        from matplotlib.collections import PathCollection

        ax = self._axes(ax, (5.5, 5.6))
        values = np.array([self.baseline_values, self.model_values], dtype=np.float64).T
        signs = np.sign(value_differences(*values.T))
        kwargs = {"color" if name == "c" else name: value for name, value in kwargs.items()}

        def plot_points(sign: int, kind: str, color: str, marker: str) -> PathCollection:
            points, counts = np.unique(values[signs == sign], axis=0, return_counts=True)
            look = {"color": color, "marker": marker, "linewidths": 0, "alpha": 0.8}
            look = style.merged(look, kwargs, PathCollection)
            label = _share(kind, int(counts.sum()), len(signs))
            ax.scatter([], [], **{"s": 25, **look}, label=label)  # one symbol size in the legend
            sizes, many = np.minimum(AREA * counts, LARGEST_AREA), len(points) > RASTERIZE
            return ax.scatter(*points.T, **{"s": sizes, "rasterized": many, **look})

        self.wins_ = plot_points(1, "wins", style.BETTER, "^")
        self.losses_ = plot_points(-1, "losses", style.WORSE, "v")
        self.ties_ = plot_points(0, "ties", style.MUTED, "o")
        line: Any = {"color": style.text_color(), "linewidth": 1, "linestyle": ":"}
        self.diagonal_ = ax.axline((0, 0), slope=1, **line)
        margin = 0.04 * (np.ptp(values) or 1.0)
        limits = values.min() - margin, values.max() + margin
        ax.set(xlim=limits, ylim=limits, aspect="equal")
        ax.set_xlabel(style.literal(self.baseline), wrap=True)
        ax.set_ylabel(style.literal(self.model), wrap=True)
        ax.locator_params(nbins=5)
        style.grid(ax, "both")
        return f"{style.metric_label(self.metric)} of each query"


@dataclass(kw_only=True, eq=False, repr=False)
class QueryPropertyDisplay(QueryScoresDisplay):
    """Mean of a metric for queries of different length, or of any other property.

    A property with more than ten values is binned by quartile. Use `from_estimator`,
    `from_predictions` or `from_query_scores` to create one; parameters are stored as attributes. It
    is drawn by matplotlib's ``errorbar``.

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

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike | Mapping[str, ArrayLike],
        *,
        groups: QueryIds | None = None,
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
        property : {"documents", "relevant"}, array-like or mapping, default="documents"
            Number of documents, or of relevant documents; or the values of another property as
            `query_scores` takes them for `segments`: one per document or query, or by query id.
        threshold : float, default=0
            A document is relevant if its label exceeds this value; for the property only.
        **options
            Any argument of `from_query_scores`, or one of `metric`, `sample_weight`, `like`,
            `unjudged` and `name`, as in other displays.

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
        return super().from_predictions(y_true, y_score, groups=groups, **options)

    @classmethod
    def from_query_scores(
        cls,
        systems: Systems,
        property: Segments | str | None = None,
        *,
        name: str = "model",
        **options: Any,
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
        name : str, default="model"
            Name of a single model.
        **options
            `metric`, `confidence`, `method`, `n_resamples`, `random_state`, `ax` and arguments of
            `plot`, as in other displays.

        Returns
        -------
        QueryPropertyDisplay
            The plotted display.
        """
        named = scores_by_name(systems, name)
        first = next(iter(named))
        columns = select_segments(property, named[first].ids, named[first].segments)
        if len(columns) > 1:
            raise ValueError(f"property must be a single column; got {', '.join(sorted(columns))}.")
        aligned = {of: replace(s, segments=columns) for of, s in align(named, first).items()}
        return super().from_query_scores(aligned, **options)

    @classmethod
    def _of(cls, systems: Mapping[str, QueryScores], metric: str | None, inference: Any) -> Self:
        metric = one_metric(next(iter(systems.values())), metric)
        by = {
            name: [segment for segment in scores.by(**inference) if segment.metric == metric]
            for name, scores in systems.items()
        }
        first, queries = (
            next(iter(by.values())),
            np.array([[s.queries for s in of] for of in by.values()]),
        )
        return cls(
            bins=[str(s.segment.value) for s in first],
            queries=queries if (queries != queries[0]).any() else queries[0],
            means={name: np.array([s.mean for s in of]) for name, of in by.items()},
            intervals={name: np.array([s.interval for s in of]) for name, of in by.items()},
            metric=metric, property=first[0].segment.column, confidence=inference["confidence"],
        )  # fmt: skip

    def _draw(self, ax: Axes | None, kwargs: dict[str, Any]) -> str:
        ax = self._axes(ax)
        n_models, self.error_bars_ = len(self.means), []
        for i, (name, means) in enumerate(self.means.items()):
            low, high = np.transpose(self.intervals[name])
            line = {**style.system_line(i), "linestyle": "none", "capsize": 3}
            line["label"] = style.literal(name)
            x = np.arange(len(means)) + WIDTH * (i - (n_models - 1) / 2) / max(n_models, 2)
            ends = [means - low, high - means]
            self.error_bars_.append(ax.errorbar(x, means, ends, **style.merged(line, kwargs)))
        ranges = [sorted({of.min(), of.max()}) for of in np.atleast_2d(self.queries).T]
        style.categories(ax, self.bins, ["–".join(f"{n:,}" for n in ends) for ends in ranges])
        by_model = " (range over models)" if max(map(len, ranges)) > 1 else ""
        ax.set_xlabel(f"{style.literal(self.property)}\nnumber of queries{by_model}")
        ax.set_ylabel(style.metric_label(self.metric))
        style.grid(ax, "y")
        return f"{self.confidence * 100:g} % intervals of the mean"


def _share(kind: str, n: int, of: int) -> str:
    return f"{kind} {n:,} ({n / of:.0%})"


def values_of_two(
    systems: Mapping[str, QueryScores], metric: str | None, baseline: str | None
) -> tuple[dict[str, str], Array, Array | None]:
    """Names, and values and weights of the queries that have a value in both of two systems."""
    check_two(systems)
    first, second = baseline_first(systems, baseline)
    aligned = align(systems, first)
    both, weights = [aligned[first], aligned[second]], aligned[first].weights
    metric = one_metric(both[0], metric)
    values = np.column_stack([scores[metric] for scores in both])
    kept = np.all([of.included()[:, of.column(metric)] for of in both], axis=0)
    if not kept.any():
        raise ValueError(
            f"no query to plot: {metric!r} must be defined for both models on at least one."
        )
    names = {"metric": metric, "baseline": first, "model": second}
    return names, values[kept], None if weights is None else weights[kept]
