"""Rows of values with their intervals: means of systems, differences, importances of features."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from .._typing import IdSource, MatrixLike, QueryIds
from .._validation import check_count
from ..comparison import (
    Comparison,
    QueryImportances,
    QueryScores,
    compare,
    query_permutation_importance,
)
from ..comparison.importance import Within
from ..metrics.evaluate import MetricLike
from . import style
from .display import Display, QueryScoresDisplay, Systems, one_metric, scores_by_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D
    from matplotlib.text import Text

MAX_FEATURES = 20
PLACES = {"query": "within queries", "all": "over all rows"}
# name, value, ends of the interval, color
Row: TypeAlias = tuple[str, float | None, Iterable[float], str]
# inches of the axes that have room for numbers beside the rows
WIDE = 4


class Rows(Display):
    """A point with an interval in each row, from top to bottom, and their numbers beside them."""

    points_: list[Line2D]
    intervals_: list[Line2D]
    texts_: list[Text]
    confidence: float

    def _draw_rows(
        self, ax: Axes | None, what: str, rows: Sequence[Row], kwargs: dict[str, Any]
    ) -> Axes:
        """Draw the name, value, interval and color of each row; headings have no value."""
        names = [style.literal(name, style.LINE) for name, *_ in rows]
        n_lines = [1 + name.count("\n") for name in names]
        ax = self._axes(ax, (7, 0.15 * (len(rows) + sum(n_lines)) + 1.1))
        box, dpi = ax.get_window_extent(), ax.figure.dpi
        if 72 * box.height / dpi < 1.2 * style.small() * max(n_lines) * len(rows):  # axes of others
            names = [style.literal(name, longest=style.LINE) for name, *_ in rows]
        is_wide, sign = box.width >= WIDE * dpi, "" if what.startswith("mean") else "+"
        self.points_, self.intervals_, self.texts_ = [], [], []
        ticks = ax.set_yticks(range(len(rows)), names)
        for y, (_, value, ends, color) in enumerate(rows):
            if value is None:
                ticks[y].label1.set_fontweight("bold")
                continue
            line = {"linewidth": 2, "solid_capstyle": "butt", "color": color}
            self.intervals_ += ax.plot([*ends], [y, y], **style.merged(line, kwargs))
            self.points_ += ax.plot(value, y, "o", color=color, markersize=6)
            if is_wide:
                number, low, high = style.numbers([value, *ends], sign)
                beside = ax.annotate(
                    f"{number} [{low}, {high}]", (1.02, y), xycoords=ax.get_yaxis_transform(),
                    va="center", fontsize=style.small(),
                )  # fmt: skip
                self.texts_.append(beside)
        if sign:
            ax.axvline(0, color=style.text_color(), linewidth=1, linestyle=":", zorder=0)
        ax.set_ylim(len(rows) - 0.5, -0.5)
        ax.tick_params(axis="y", length=0)
        ax.spines["left"].set_visible(False)
        ax.locator_params(axis="x", nbins=5 if is_wide else 3)
        ax.set_xlabel(f"{what}, {self.confidence * 100:g} % interval")
        style.grid(ax, "x")
        return ax


@dataclass(kw_only=True, eq=False, repr=False)
class MeansDisplay(QueryScoresDisplay, Rows):
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

    def _draw(self, ax: Axes | None, kwargs: dict[str, Any]) -> str:
        rows = [
            (name, mean, self.intervals[name], style.system_color(i))
            for i, (name, mean) in enumerate(self.means.items())
        ]
        self._draw_rows(ax, f"mean {style.metric_label(self.metric)}", rows, kwargs)
        return ""


@dataclass(kw_only=True, eq=False, repr=False)
class ForestDisplay(QueryScoresDisplay, Rows):
    """Differences from a baseline with their confidence intervals, one row each.

    Use `from_estimator`, `from_predictions`, `from_query_scores` or `from_comparison` to create
    one; parameters are stored as attributes. Differences are green if the model is better, orange
    if it is worse, and gray if the interval contains 0.

    Parameters
    ----------
    labels : sequence of str
        Label of each row, from top to bottom.
    values : array-like of shape (n_rows,)
        Differences.
    intervals : array-like of shape (n_rows, 2)
        Lower and upper ends of the confidence intervals.
    title : str, default=""
        What all rows have in common.
    confidence : float, default=0.95
        Confidence level of the intervals.
    headings : sequence of str, default=None
        Heading of each row, which is written above the first of those that share it.
    margins : array-like of shape (n_rows,), default=None
        Largest difference of each row that is considered negligible, drawn as dashed lines; nan
        without one.

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
    title: str = ""
    confidence: float = 0.95
    headings: Sequence[str] | None = None
    margins: Any = None

    @classmethod
    def from_query_scores(
        cls,
        systems: Systems,
        *,
        metric: str | Iterable[str] | None = None,
        by: Any = None,
        ax: Axes | None = None,
        **options: Any,
    ) -> Self:
        """Compare results of `query_scores` or `cross_val_query_scores`, and plot the differences.

        Parameters
        ----------
        systems : dict of str to QueryScores
            Results of the models for the same queries.
        metric : str or iterable of str, default=None
            Some of their metrics; None means all.
        by : str, list of str, array-like, mapping or DataFrame, default=None
            Segments, as in `compare`; None means those that the scores have.
        ax : matplotlib Axes, default=None
            Axes to plot on; None creates a figure with the height that the rows need.
        **options
            Any other argument of `compare`, such as `baseline` or `margin`.

        Returns
        -------
        ForestDisplay
            The plotted display.
        """
        named = scores_by_name(systems, "model")
        segments = next(iter(named.values())).segments
        by = list(segments) if by is None and segments is not None else by
        return cls.from_comparison(compare(named, by=by, **options), metric=metric, ax=ax)

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
            Arguments of `plot`.

        Returns
        -------
        ForestDisplay
            The plotted display.
        """
        if not isinstance(comparison, Comparison):
            raise TypeError(f"pass the result of compare; got a {type(comparison).__name__}.")
        known = list(dict.fromkeys(d.metric for d in comparison))
        metrics = known if metric is None else [metric] if isinstance(metric, str) else [*metric]
        if unknown := [name for name in metrics if name not in known]:
            raise KeyError(f"no metric {unknown[0]!r}; the metrics are {', '.join(known)}.")
        chosen = [d for d in comparison if d.metric in metrics]
        has_baseline = comparison.baseline is not None and len({d.model for d in chosen}) > 1
        names = [
            (
                style.metric_label(d.metric),
                str(d.model) if has_baseline else f"{d.model} − {d.baseline}",
                f"{d.segment.column} = {d.segment.value}" if d.segment.column else "all queries",
            )
            for d in chosen
        ]
        parts = list(zip(*names, strict=True))
        *above, labels = [part for part in parts if len(set(part)) > 1] or parts[:1]
        shared = [part[0] for part in parts if part not in (*above, labels)]
        shared = [name for name in shared if name != "all queries"]
        of = [f"difference from {comparison.baseline}"] if has_baseline else []
        margin = comparison.margin
        margins = [margin[d.metric] if isinstance(margin, Mapping) else margin for d in chosen]
        return cls(
            labels=list(labels), title=", ".join([*shared, *of]),
            headings=[", ".join(part) for part in zip(*above, strict=True)] or None,
            values=np.array([d.difference for d in chosen]),
            intervals=np.array([d.interval for d in chosen]), confidence=comparison.confidence,
            margins=None if margin is None else np.array(margins),
        ).plot(ax, **kwargs)  # fmt: skip

    def _draw(self, ax: Axes | None, kwargs: dict[str, Any]) -> str:
        rows: list[Row] = []
        for i, ends in enumerate(self.intervals):
            if self.headings and (not i or self.headings[i] != self.headings[i - 1]):
                rows.append((self.headings[i], None, (), ""))
            rows.append((self.labels[i], self.values[i], ends, style.outcome_color(*ends)))
        ax = self._draw_rows(ax, "difference", rows, kwargs)
        if self.margins is not None:
            y = np.array([i for i, row in enumerate(rows) if row[1] is not None])
            look: Any = {"color": style.MUTED, "linestyles": "--", "linewidth": 1, "zorder": 0}
            ax.vlines(-np.asarray(self.margins), y - 0.5, y + 0.5, **look)
            ax.vlines(self.margins, y - 0.5, y + 0.5, **look)
            ax.set_xlabel(f"{ax.get_xlabel()}, margin dashed")
        return style.literal(self.title)


@dataclass(kw_only=True, eq=False, repr=False)
class FeatureImportanceDisplay(Rows):
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

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: MatrixLike,
        y: ArrayLike,
        *,
        groups: QueryIds | IdSource = None,
        metric: MetricLike = "ndcg@10",
        max_features: int | None = MAX_FEATURES,
        ax: Axes | None = None,
        **options: Any,
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
        max_features : int, default=20
            Number of features to show, the most important ones; None shows all.
        ax : matplotlib Axes, default=None
            Axes to plot on; None creates a figure with the height that the rows need.
        **options
            Any other argument of `query_permutation_importance`.

        Returns
        -------
        FeatureImportanceDisplay
            The plotted display.
        """
        computed = query_permutation_importance(estimator, X, y, metric, groups=groups, **options)
        return cls.from_importances(computed, max_features=max_features, ax=ax)

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
            Arguments of `plot`.

        Returns
        -------
        FeatureImportanceDisplay
            The plotted display.
        """
        if not isinstance(importances, QueryImportances):
            got = type(importances).__name__
            raise TypeError(f"pass the result of query_permutation_importance; got {got}.")
        metric = one_metric(importances.baseline, metric)
        shown = None if max_features is None else check_count("max_features", max_features, 1)
        entries = [entry for entry in importances if entry.metric == metric][:shown]
        return cls(
            features=[entry.feature for entry in entries],
            importances=np.array([entry.importance for entry in entries]),
            intervals=np.array([entry.interval for entry in entries]),
            metric=metric, within=importances.within, confidence=importances.confidence,
        ).plot(ax, **kwargs)  # fmt: skip

    def _draw(self, ax: Axes | None, kwargs: dict[str, Any]) -> str:
        color = style.system_color(0)
        of = zip(self.features, self.importances, self.intervals, strict=True)
        self._draw_rows(ax, "loss", [(*row, color) for row in of], kwargs)
        return f"loss of {style.metric_label(self.metric)} if permuted {PLACES[self.within]}"
