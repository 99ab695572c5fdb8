"""The values of two systems for each query, against each other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from ..inspection.compare import align, baseline_first, paired_differences, value_differences
from ..inspection.query_scores import QueryScores
from .axes import (
    CHARACTER,
    axis_label,
    draw_grid,
    finish_axes,
    font_points,
    height,
    normalize_style,
    tick_points,
    width,
)
from .display import QueryScoresDisplay, check_some_query, check_two, one_metric
from .palette import BETTER, MUTED, WORSE, text_color
from .text import literal, wrap

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection
    from matplotlib.lines import Line2D

# from this many points on, they are drawn as an image in vector graphics
RASTERIZE = 2000
# in square points: of one query, and of the most and the fewest queries of one point
AREA, LARGEST_AREA, SMALLEST_AREA = 18, 500, 6
# the characters of a label below the axes for which matplotlib leaves room
USUAL_TICK = 5


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

    wins_: PathCollection
    losses_: PathCollection
    ties_: PathCollection
    diagonal_: Line2D

    def __init__(
        self,
        *,
        baseline_values: ArrayLike,
        model_values: ArrayLike,
        metric: str,
        baseline: str = "baseline",
        model: str = "model",
    ) -> None:
        self.baseline_values = np.asarray(baseline_values, dtype=np.float64)
        self.model_values = np.asarray(model_values, dtype=np.float64)
        self.metric, self.baseline, self.model = metric, baseline, model
        check_some_query(self.model_values, metric)

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
        baseline, model = baseline_first(check_two(systems), baseline)
        aligned = align(systems, baseline)
        first, second = aligned[baseline], aligned[model]
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
        ax = self._prepare(ax, (5.5, 5.5))
        style = normalize_style(kwargs, "PathCollection")
        if "c" in style:
            style.setdefault("color", style.pop("c"))
        signs = np.sign(value_differences(self.baseline_values, self.model_values))
        values = np.column_stack([self.baseline_values, self.model_values])
        most = np.unique(values, axis=0, return_counts=True)[1].max()
        area = min(AREA, LARGEST_AREA / most)

        def plot_points(sign: int, kind: str, color: str, marker: str) -> PathCollection:
            is_shown = signs == sign
            points, counts = np.unique(values[is_shown], axis=0, return_counts=True)
            n = int(is_shown.sum())
            given = {
                "s": np.maximum(counts * area, SMALLEST_AREA), "color": color,
                "marker": marker, "linewidths": 0, "alpha": 0.8,
                "label": f"{kind} {n:,} ({n / len(signs):.0%})",
                "rasterized": len(points) > RASTERIZE, **style,
            }  # fmt: skip
            return ax.scatter(*points.T, **given)

        self.wins_ = plot_points(1, "wins", BETTER, "^")
        self.losses_ = plot_points(-1, "losses", WORSE, "v")
        self.ties_ = plot_points(0, "ties", MUTED, "o")
        self.diagonal_ = ax.axline((0, 0), slope=1, color=text_color(), linewidth=1, linestyle=":")
        self._label(ax)
        return self

    def _label(self, ax: Axes) -> None:
        values = np.concatenate([self.baseline_values, self.model_values])
        margin = 0.04 * (np.ptp(values) or 1.0)
        limits = values.min() - margin, values.max() + margin
        ax.set(xlim=limits, ylim=limits, aspect="equal")
        # the axes are square, and no longer than either side
        side = min(width(ax), height(ax))
        n_characters = int(side / (CHARACTER * font_points("medium")))
        ax.set_xlabel(wrap(literal(self.baseline), n_characters))
        ax.set_ylabel(wrap(literal(self.model), n_characters))
        draw_grid(ax, "x")
        draw_grid(ax, "y")
        finish_axes(ax, axis_label(self.metric) + " of each query")
        self._make_room_for_ticks(ax, side)
        # one symbol size in the legend, whatever the number of queries of a point
        legend = ax.get_legend()
        for handle in () if legend is None else legend.legend_handles:
            handle.set_sizes([25])  # type: ignore[union-attr]

    @staticmethod
    def _make_room_for_ticks(ax: Axes, side: float) -> None:
        """Fewer ticks below the axes if their labels are longer than matplotlib assumes."""
        labels = ax.xaxis.get_major_formatter().format_ticks(ax.get_xticks().tolist())
        longest, size = max(map(len, labels)), tick_points(ax)
        if longest > USUAL_TICK:
            # the legend and the labels of the other axis take some of the side
            n_bins = int(0.7 * side / ((longest + 2) * CHARACTER * size))
            ax.locator_params(axis="x", nbins=max(n_bins, 2))
