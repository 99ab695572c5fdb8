"""Rows of values with their intervals: means of systems, differences, importances of features."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from .._typing import IdSource, IntervalMethod, MatrixLike, QueryIds, Seed
from .._validation import check_count, check_flag
from ..comparison import (
    Comparison,
    QueryImportances,
    QueryScores,
    compare,
    query_permutation_importance,
)  # fmt: skip
from ..comparison.compare import align
from ..comparison.importance import Within
from ..comparison.segments import select_segments
from ..metrics.evaluate import MetricLike
from ..metrics.segment import ALL_QUERIES, Segment
from .display import (
    LINE,
    MeansOfSystems,
    Plot,
    QueryScoresDisplay,
    axis_label,
    draw_grid,
    inference_of,
    literal,
    one_metric,
    scores_by_name,
    shown_numbers,
    small,
    with_style,
)  # fmt: skip
from .palette import MUTED, outcome_color, system_color, text_color

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D
    from matplotlib.text import Text

MAX_FEATURES = 20
PLACES = {"query": "within queries", "all": "over all rows"}
# inches of the axes that have room for numbers beside the rows
WIDE = 4


class RowsDisplay(Plot):
    """A point with an interval in each row, from top to bottom, and their numbers beside them."""

    points_: list[Line2D]
    intervals_: list[Line2D]
    texts_: list[Text]
    confidence: float

    def _draw_rows(
        self,
        ax: Axes | None,
        names: Sequence[object],
        values: ArrayLike,
        intervals: ArrayLike,
        colors: Sequence[str],
        kwargs: dict[str, Any],
        *,
        headings: Sequence[str] | None = None,
        sign: str = "",
    ) -> Any:
        """Draw the rows, below a heading where it changes; where they are on the vertical axis."""
        from matplotlib.lines import Line2D

        labels = [textwrap.fill(literal(name), LINE) for name in names]
        of = [literal(heading) for heading in headings or ()]
        begins = [not i or of[i] != of[i - 1] for i in range(len(of))] or [False] * len(labels)
        at = np.arange(len(labels)) + np.cumsum(begins)
        headed = {at[i] - 1: textwrap.fill(of[i], LINE) for i in np.flatnonzero(begins)}
        n_rows, more = at[-1] + 1, sum(label.count("\n") for label in labels)
        ax = self._prepare(ax, (7, 0.3 * n_rows + 0.15 * more + 1.1))
        ticks = ax.set_yticks([*headed, *at], [*headed.values(), *labels])
        for tick in ticks[: len(headed)]:
            tick.label1.set_fontweight("bold")
        ax.set_ylim(n_rows - 0.5, -0.5)
        ax.tick_params(axis="y", length=0)
        ax.spines["left"].set_visible(False)
        is_wide = ax.get_window_extent().width >= WIDE * ax.figure.dpi
        self.points_, self.intervals_, self.texts_ = [], [], []
        ends_of = np.reshape(intervals, (-1, 2)).tolist()
        for y, value, ends, color in zip(at, np.asarray(values), ends_of, colors, strict=True):
            style = {"linewidth": 2, "solid_capstyle": "butt", "color": color}
            self.intervals_ += ax.plot(ends, [y, y], **with_style(style, kwargs, Line2D))
            self.points_ += ax.plot(value, y, "o", color=color, markersize=6)
            if is_wide:
                number, low, high = shown_numbers([value, *ends], sign)
                beside: Any = {"transform": ax.get_yaxis_transform(), "fontsize": small()}
                text = f"{number} [{low}, {high}]"
                self.texts_.append(ax.text(1.02, y, text, va="center", **beside))
        if sign:
            ax.axvline(0, color=text_color(), linewidth=1, linestyle=":", zorder=0)
        ax.locator_params(axis="x", nbins=5 if is_wide else 3)
        draw_grid(ax, "x")
        return at

    def _label(self, what: str, title: str = "", note: str = "") -> None:
        """Say what the rows are."""
        self.ax_.set_xlabel(f"{what}, {self.confidence * 100:g} % interval{note}")
        self._finish(title)


@dataclass(kw_only=True, eq=False, repr=False)
class MeansDisplay(MeansOfSystems, RowsDisplay):
    """Mean of a metric for each of several systems, with its confidence interval.

    The intervals of two systems may overlap although their paired difference is clear: see
    `ForestDisplay` for differences. Use `from_estimator`, `from_predictions` or `from_query_scores`
    to create one; parameters are stored as attributes.

    Parameters
    ----------
    means : dict of str to float
        Mean of the metric by system, from top to bottom.
    intervals : dict of str to tuple of float
        Lower and upper end of the confidence interval by system.
    metric : str
        Name of the metric.
    confidence : float, default=0.95
        Confidence level of the intervals.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Axes and figure of the last plot.
    points_, intervals_ : list of matplotlib Line2D
        The mean and the interval of each system.
    texts_ : list of matplotlib Text
        The numbers of each system; empty on narrow axes.

    Examples
    --------
    >>> from sklearn_rankscore import MeansDisplay, make_ranking
    >>> X, y, groups = make_ranking(random_state=0)
    >>> models = {"first feature": X[:, 0], "sum of two": X[:, 0] + X[:, 1] / 2}
    >>> display = MeansDisplay.from_predictions(y, models, groups=groups, metric="ndcg@5")
    >>> display.ax_.get_xlabel()
    'mean NDCG@5, 95 % interval'
    """

    means: Mapping[str, float]
    intervals: Mapping[str, Sequence[float]]
    metric: str
    confidence: float = 0.95

    @classmethod
    def _of(cls, systems: Mapping[str, QueryScores], metric: str | None, inference: Any) -> Self:
        metric = one_metric(next(iter(systems.values())), metric)
        return cls(
            means={name: scores.mean()[metric] for name, scores in systems.items()},
            intervals={name: of.interval(**inference)[metric] for name, of in systems.items()},
            metric=metric, confidence=inference["confidence"],
        )  # fmt: skip

    def plot(self, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Plot one row for each system.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to plot on; None creates a figure with the height that the rows need.
        **kwargs
            Keyword arguments of matplotlib's ``plot`` for the intervals.

        Returns
        -------
        MeansDisplay
            The display itself.
        """
        self._draw_rows(
            ax, list(self.means), list(self.means.values()),
            [self.intervals[name] for name in self.means],
            [system_color(i) for i in range(len(self.means))], kwargs,
        )  # fmt: skip
        self._label(f"mean {axis_label(self.metric)}")
        return self


@dataclass(kw_only=True, eq=False, repr=False)
class ForestDisplay(QueryScoresDisplay, RowsDisplay):
    """Means, or differences from a baseline, with their confidence intervals, one row each.

    Use `from_estimator`, `from_predictions`, `from_query_scores` or `from_comparison` to create
    one; parameters are stored as attributes. Differences are green if the model is better, orange
    if it is worse, and gray if the interval contains 0; means have the color of their system.

    Parameters
    ----------
    labels : sequence of str
        Label of each row, from top to bottom.
    values : array-like of shape (n_rows,)
        Means or differences.
    intervals : array-like of shape (n_rows, 2)
        Lower and upper ends of the confidence intervals.
    systems : sequence of int, default=None
        Position of the system of each row, which determines its color; None means that the rows
        are differences.
    title : str, default=""
        What all rows have in common.
    confidence : float, default=0.95
        Confidence level of the intervals.
    headings : sequence of str, default=None
        Heading of each row, which is written above the first of those that share it.
    margins : array-like of shape (n_rows,), default=None
        Largest difference of each row that is considered negligible, drawn as dashed lines; nan
        without one.
    versus : str, default=""
        The model whose values are subtracted, if it is the same in all rows.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Axes and figure of the last plot.
    points_, intervals_ : list of matplotlib Line2D
        The value and the interval of each row.
    texts_ : list of matplotlib Text
        The numbers of each row; empty on narrow axes.

    Examples
    --------
    >>> from sklearn_rankscore import ForestDisplay, make_ranking
    >>> X, y, groups = make_ranking(random_state=0)
    >>> models = {"first feature": X[:, 0], "sum of two": X[:, 0] + X[:, 1] / 2}
    >>> display = ForestDisplay.from_predictions(
    ...     y, models, groups=groups, metric=["ndcg@10", "mrr"], random_state=0
    ... )
    >>> display.labels
    ['NDCG@10', 'MRR']
    """

    labels: Sequence[str]
    values: Any
    intervals: Any
    systems: Sequence[int] | None = None
    title: str = ""
    confidence: float = 0.95
    headings: Sequence[str] | None = None
    margins: Any = None
    versus: str = ""

    def __post_init__(self) -> None:
        self.labels, self.values = list(self.labels), np.asarray(self.values, dtype=np.float64)
        self.intervals = np.reshape(self.intervals, (-1, 2))
        self.margins = None if self.margins is None else np.asarray(self.margins)

    @classmethod
    def from_query_scores(
        cls,
        systems: QueryScores | Mapping[str, QueryScores],
        *,
        metric: str | Iterable[str] | None = None,
        by: Any = None,
        baseline: str | None = None,
        means: bool = False,
        confidence: float = 0.95,
        method: IntervalMethod = "auto",
        n_resamples: int = 9999,
        random_state: Seed = None,
        name: str = "model",
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Plot means of one system, or differences between several.

        Parameters
        ----------
        systems : QueryScores or dict of str to QueryScores
            Results of `query_scores` or `cross_val_query_scores`.
        metric : str or iterable of str, default=None
            Some of their metrics; None means all.
        by : str, list of str, array-like, mapping or DataFrame, default=None
            Segments, as in `compare`; None means those that the scores have.
        baseline : str, default=None
            The model whose values are subtracted; None means the first.
        means : bool, default=False
            Whether to plot the means of several systems instead of their differences.
        confidence, method, n_resamples, random_state
            See `compare` and `QueryScores.interval`.
        name : str, default="model"
            Name of a single model.
        ax : matplotlib Axes, default=None
            Axes to plot on; None creates a figure with the height that the rows need.
        **kwargs
            Keyword arguments of matplotlib's ``plot`` for the intervals.

        Returns
        -------
        ForestDisplay
            The plotted display.
        """
        named = scores_by_name(systems, name)
        inference = inference_of(confidence, method, n_resamples, random_state)
        if not check_flag("means", means) and len(named) > 1:
            segments = next(iter(named.values())).segments if by is None else by
            segments = list(segments) if by is None and segments is not None else segments
            comparison = compare(named, baseline=baseline, by=segments, **inference)
            return cls.from_comparison(comparison, metric=metric, ax=ax, **kwargs)
        return cls._of_means(named, metric, by, inference).plot(ax, **kwargs)

    @classmethod
    def from_comparison(
        cls,
        comparison: Comparison,
        *,
        metric: str | Iterable[str] | None = None,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Plot the differences of a comparison.

        Parameters
        ----------
        comparison : Comparison
            Result of `compare`.
        metric : str or iterable of str, default=None
            Some of its metrics; None means all.
        ax : matplotlib Axes, default=None
            Axes to plot on; None creates a figure with the height that the rows need.
        **kwargs
            Keyword arguments of matplotlib's ``plot`` for the intervals.

        Returns
        -------
        ForestDisplay
            The plotted display.
        """
        if not isinstance(comparison, Comparison):
            raise TypeError(
                "comparison must be the result of compare; got a "
                f"{type(comparison).__name__}. Results of query_scores are passed as "
                "compare(scores), or to from_query_scores for their means."
            )
        metrics = _select([d.metric for d in comparison], metric)
        chosen = [d for d in comparison if d.metric in metrics]
        versus = str(comparison.baseline) if comparison.baseline else ""
        versus = versus if len({d.model for d in chosen}) > 1 else ""
        margin = comparison.margin
        margins = [margin[d.metric] if isinstance(margin, Mapping) else margin for d in chosen]
        models = [str(d.model) if versus else f"{d.model} − {d.baseline}" for d in chosen]
        display = cls(
            **_named(
                (axis_label(d.metric), model, segment_name(d.segment))
                for d, model in zip(chosen, models, strict=True)
            ),
            values=[d.difference for d in chosen], intervals=[d.interval for d in chosen],
            confidence=comparison.confidence, versus=versus,
            margins=None if margin is None else margins,
        )  # fmt: skip
        return display.plot(ax, **kwargs)

    @classmethod
    def _of_means(
        cls, systems: Mapping[str, QueryScores], metric: Any, by: Any, inference: Mapping[str, Any]
    ) -> Self:
        """The display, not plotted yet."""
        first = next(iter(systems))
        if by is not None:
            systems = align(systems, first)
            by = select_segments(by, systems[first].ids, systems[first].segments)
        rows: dict[tuple[str, Segment, str], tuple[float, Sequence[float], int]] = {}
        for position, (name, scores) in enumerate(systems.items()):
            means, intervals = scores.mean(), scores.interval(**inference)
            for of in _select(scores.metrics, metric):
                rows[of, ALL_QUERIES, name] = means[of], intervals[of], position
            for s in () if by is None and not scores.segments else scores.by(by, **inference):
                rows[s.metric, s.segment, name] = s.mean, s.interval, position
        # the systems side by side
        metrics = _select(systems[first].metrics, metric)
        segments = list(dict.fromkeys(segment for _, segment, _ in rows))
        keys = [key for key in rows if key[0] in metrics]
        keys.sort(key=lambda key: (metrics.index(key[0]), segments.index(key[1])))
        values, ends, positions = zip(*(rows[key] for key in keys), strict=True)
        return cls(
            **_named((axis_label(m), segment_name(segment), name) for m, segment, name in keys),
            values=values, intervals=ends, systems=positions,
            confidence=inference["confidence"],
        )  # fmt: skip

    def plot(self, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Plot one row for each value.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to plot on; None creates a figure with the height that the rows need.
        **kwargs
            Keyword arguments of matplotlib's ``plot`` for the intervals.

        Returns
        -------
        ForestDisplay
            The display itself.
        """
        if self.systems is None:
            what, sign, colors = "difference", "+", [outcome_color(*i) for i in self.intervals]
        else:
            what, sign, colors = "mean", "", [system_color(i) for i in self.systems]
        at = self._draw_rows(
            ax, self.labels, self.values, self.intervals, colors, kwargs, headings=self.headings,
            sign=sign,
        )  # fmt: skip
        if self.margins is not None:
            for margins in (-self.margins, self.margins):
                style: Any = {"color": MUTED, "linestyles": "--", "linewidth": 1, "zorder": 0}
                self.ax_.vlines(margins, at - 0.5, at + 0.5, **style)
        of = f"difference from {literal(self.versus)}" if self.versus else ""
        title = ", ".join(filter(None, [literal(self.title), of]))
        self._label(what, title, "" if self.margins is None else ", margin dashed")
        return self


@dataclass(kw_only=True, eq=False, repr=False)
class FeatureImportanceDisplay(RowsDisplay):
    """Mean loss of a metric if a feature is permuted, with its interval, one row per feature.

    Use `from_estimator` or `from_importances` to create one; parameters are stored as attributes.

    Parameters
    ----------
    features : sequence of str
        Names of the features, from top to bottom.
    importances : array-like of shape (n_features,)
        Mean over queries of the value minus the value with the feature permuted.
    intervals : array-like of shape (n_features, 2)
        Lower and upper ends of the confidence intervals.
    metric : str
        Name of the metric.
    within : {"query", "all"}, default="query"
        Whether values were permuted within queries or among all rows.
    confidence : float, default=0.95
        Confidence level of the intervals.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Axes and figure of the last plot.
    points_, intervals_ : list of matplotlib Line2D
        The importance of each feature and its interval.
    texts_ : list of matplotlib Text
        The numbers of each row; empty on narrow axes.

    See Also
    --------
    query_permutation_importance : The numbers, with the loss of each query.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn_rankscore import FeatureImportanceDisplay, QueryRanker, make_ranking
    >>> X, y = make_ranking(as_frame=True, random_state=0)
    >>> model = QueryRanker(Ridge()).fit(X, y)
    >>> display = FeatureImportanceDisplay.from_estimator(
    ...     model, X, y, max_features=2, random_state=0
    ... )
    >>> display.features
    ['x0', 'x1']
    """

    features: Sequence[str]
    importances: Any
    intervals: Any
    metric: str
    within: Within = "query"
    confidence: float = 0.95

    def __post_init__(self) -> None:
        self.features, self.importances = list(self.features), np.asarray(self.importances)
        self.intervals = np.reshape(self.intervals, (-1, 2))

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: MatrixLike,
        y: ArrayLike,
        *,
        groups: QueryIds | IdSource = None,
        metric: MetricLike = "ndcg@10",
        within: Within = "query",
        n_repeats: int = 5,
        confidence: float = 0.95,
        method: IntervalMethod = "auto",
        n_resamples: int = 9999,
        random_state: Seed = None,
        max_features: int | None = MAX_FEATURES,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Permute the features of documents, and plot the loss.

        Parameters
        ----------
        estimator : estimator object
            A fitted model.
        X : array-like or DataFrame of shape (n_documents, n_features)
            Documents that were not used for training.
        y : array-like of shape (n_documents,)
            Relevance labels.
        groups : array-like of shape (n_documents,), str or list of str, default=None
            Query ids, or where they are, as in `query_permutation_importance`.
        metric : str or callable, default="ndcg@10"
            The metric.
        within, n_repeats, confidence, method, n_resamples, random_state
            See `query_permutation_importance`.
        max_features : int, default=20
            Number of features to show, the most important ones; None shows all.
        ax : matplotlib Axes, default=None
            Axes to plot on; None creates a figure with the height that the rows need.
        **kwargs
            Keyword arguments of matplotlib's ``plot`` for the intervals.

        Returns
        -------
        FeatureImportanceDisplay
            The plotted display.
        """
        importances = query_permutation_importance(
            estimator, X, y, metric, groups=groups, within=within, n_repeats=n_repeats,
            confidence=confidence, method=method, n_resamples=n_resamples,
            random_state=random_state,
        )  # fmt: skip
        return cls.from_importances(importances, max_features=max_features, ax=ax, **kwargs)

    @classmethod
    def from_importances(
        cls,
        importances: QueryImportances,
        *,
        metric: str | None = None,
        max_features: int | None = MAX_FEATURES,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Plot the result of `query_permutation_importance`.

        Parameters
        ----------
        importances : QueryImportances
            Its result.
        metric : str, default=None
            One of its metrics; None means the first.
        max_features : int, default=20
            Number of features to show, the most important ones; None shows all.
        ax : matplotlib Axes, default=None
            Axes to plot on; None creates a figure with the height that the rows need.
        **kwargs
            Keyword arguments of matplotlib's ``plot`` for the intervals.

        Returns
        -------
        FeatureImportanceDisplay
            The plotted display.
        """
        if not isinstance(importances, QueryImportances):
            raise TypeError(
                "importances must be the result of query_permutation_importance; got "
                f"{type(importances).__name__}. For an estimator, use from_estimator."
            )
        metric = one_metric(importances.baseline, metric)
        shown = None if max_features is None else check_count("max_features", max_features, 1)
        entries = [entry for entry in importances if entry.metric == metric][:shown]
        display = cls(
            features=[entry.feature for entry in entries],
            importances=[entry.importance for entry in entries],
            intervals=[entry.interval for entry in entries],
            metric=metric,
            within=importances.within,
            confidence=importances.confidence,
        )
        return display.plot(ax, **kwargs)

    def plot(self, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Plot one row for each feature.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to plot on; None creates a figure with the height that the rows need.
        **kwargs
            Keyword arguments of matplotlib's ``plot`` for the intervals.

        Returns
        -------
        FeatureImportanceDisplay
            The display itself.
        """
        self._draw_rows(
            ax, self.features, self.importances, self.intervals,
            [system_color(0)] * len(self.features), kwargs, sign="+",
        )  # fmt: skip
        title = f"loss of {axis_label(self.metric)} if permuted {PLACES[self.within]}"
        self._label("loss", title)
        return self


def _select(metrics: Iterable[str], chosen: str | Iterable[str] | None) -> list[str]:
    """Distinct metrics, or those of them that are chosen."""
    known = list(dict.fromkeys(metrics))
    names = known if chosen is None else [chosen] if isinstance(chosen, str) else list(chosen)
    if unknown := [name for name in names if name not in known]:
        raise KeyError(f"no metric {unknown[0]!r}; the metrics are {', '.join(known)}.")
    return names


def _named(rows: Iterable[tuple[str, str, str]]) -> dict[str, Any]:
    """What all rows share is the title, and the last part that varies names a row."""
    parts = list(zip(*rows, strict=True))
    varying = [part for part in parts if len(set(part)) > 1] or parts[:1]
    shared = [part[0] for part in parts if part not in varying]
    *above, labels = varying
    return {
        "labels": labels,
        "headings": [", ".join(names) for names in zip(*above, strict=True)] or None,
        "title": ", ".join(name for name in shared if name != segment_name(ALL_QUERIES)),
    }


def segment_name(segment: Segment) -> str:
    """``"device = phone"``, or ``"all queries"``."""
    return f"{segment.column} = {segment.value}" if segment.column else str(segment.value)
