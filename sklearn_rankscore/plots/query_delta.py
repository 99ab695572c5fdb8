"""Differences between two models by query, after scikit-learn's Display convention."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._typing import IntervalMethod, Seed
from ..inspection.compare import align, baseline_first, difference_ranges, paired_differences
from ..inspection.intervals import Interval, difference_interval, interval_estimate, number_text
from ..inspection.query_scores import QueryScores
from .axes import axis_label, count_in_integers, finish_axes, normalize_style
from .display import QueryScoresDisplay, check_some_query, check_two, one_metric
from .palette import BETTER, MUTED, WORSE, text_color
from .text import literal, number_spec

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D
    from matplotlib.patches import StepPatch

# more steps than a figure has pixels; matplotlib takes seconds to draw 100,000
MOST_STEPS = 5_000


class QueryDeltaDisplay(QueryScoresDisplay):
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

    wins_: StepPatch
    losses_: StepPatch
    mean_line_: Line2D

    def __init__(
        self,
        *,
        deltas: ArrayLike,
        metric: str,
        baseline: str = "baseline",
        model: str = "model",
        weights: NDArray[np.float64] | None = None,
        interval: Interval | None = None,
        confidence: float = 0.95,
    ) -> None:
        self.deltas, self.metric = np.asarray(deltas, dtype=np.float64), metric
        self.baseline, self.model, self.weights = baseline, model, weights
        self.interval, self.confidence = interval, confidence
        check_some_query(self.deltas, metric)

    @classmethod
    def from_query_scores(
        cls,
        systems: Mapping[str, QueryScores],
        *,
        metric: str | None = None,
        baseline: str | None = None,
        confidence: float = 0.95,
        method: IntervalMethod = "auto",
        n_resamples: int = 9999,
        random_state: Seed = None,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> QueryDeltaDisplay:
        """Plot results of `query_scores` or `cross_val_query_scores`.

        Parameters
        ----------
        systems : dict of str to QueryScores
            Results of the two models for the same queries.
        metric : str, default=None
            One of their metrics; None means the first.
        baseline : str, default=None
            The model whose values are subtracted; None means the first.
        confidence, method, n_resamples, random_state
            See `compare`.
        ax : matplotlib Axes, default=None
            Axes to plot on; None creates a figure.
        **kwargs
            Keyword arguments of matplotlib's ``stairs``.

        Returns
        -------
        QueryDeltaDisplay
            The plotted display.
        """
        baseline, model = baseline_first(check_two(systems), baseline)
        aligned = align(systems, baseline)
        first, second = aligned[baseline], aligned[model]
        paired = paired_differences(first, second)
        metric = one_metric(paired, metric)
        included = paired.included()[:, paired.column(metric)]
        estimate = interval_estimate(
            difference_interval, confidence, method, n_resamples, random_state
        )
        ends = paired.aggregate(estimate, (2,), *difference_ranges(first, second))
        display = cls(
            deltas=paired[metric][included],
            metric=metric,
            baseline=baseline,
            model=model,
            weights=None if paired.weights is None else paired.weights[included],
            interval=Interval(*ends[:, paired.column(metric)].tolist()),
            confidence=confidence,
        )
        return display.plot(ax, **kwargs)

    def plot(self, ax: Axes | None = None, **kwargs: Any) -> QueryDeltaDisplay:
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
        ax = self._prepare(ax)
        deltas = -np.sort(-self.deltas)
        n_queries = len(deltas)
        edges = np.linspace(0, n_queries, 1 + min(n_queries, MOST_STEPS)).round().astype(int)
        highest, lowest = deltas[edges[:-1]], deltas[edges[1:] - 1]
        area = {"fill": True, "linewidth": 0, **normalize_style(kwargs, "StepPatch")}

        def plot_area(values: NDArray[np.float64], n: int, kind: str, color: str) -> StepPatch:
            label = f"{kind} {n:,} ({n / n_queries:.0%})"
            return ax.stairs(values, edges, **{"color": color, "label": label, **area})

        n_wins, n_losses = int((deltas > 0).sum()), int((deltas < 0).sum())
        self.wins_ = plot_area(np.maximum(highest, 0), n_wins, "wins", BETTER)
        self.losses_ = plot_area(np.minimum(lowest, 0), n_losses, "losses", WORSE)
        ax.axhline(0, color=MUTED, linewidth=0.8)
        self.mean_line_ = ax.axhline(
            self._mean(), color=text_color(), linestyle="--", linewidth=1.4, label=self._label()
        )
        ax.set_xlim(0, n_queries)
        count_in_integers(ax)
        if deltas.any():  # the same scale up and down
            ax.set_ylim(np.array([-1.05, 1.05]) * np.abs(deltas).max())
        n_ties = n_queries - n_wins - n_losses
        ax.set_xlabel(f"queries, sorted by difference ({n_ties:,} ties)")
        ax.set_ylabel(f"difference in {axis_label(self.metric)}")
        finish_axes(ax, literal(f"{self.model} − {self.baseline}"))
        return self

    def _mean(self) -> float:
        return float(np.average(self.deltas, weights=self.weights))

    def _label(self) -> str:
        mean, interval = self._mean(), self.interval
        spec = number_spec([mean, *(interval or ())], "+")
        label = f"mean {number_text(mean, spec)}"
        if interval is None:
            return label
        return f"{label}, {self.confidence * 100:g} % interval {interval:{spec}}"
