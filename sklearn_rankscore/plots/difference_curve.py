"""The paired difference between models against the cut-off."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from .._typing import Array, IntervalMethod, Seed
from ..inspection.compare import align, baseline_first, difference_ranges, paired_differences
from ..inspection.intervals import difference_interval, interval_estimate
from ..inspection.query_scores import QueryScores
from .axes import axis_label, finish_axes
from .curves import draw_band, draw_curve
from .cutoffs import CutoffDisplay, columns_by_cutoff, label_cutoffs
from .palette import text_color
from .text import literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection
    from matplotlib.lines import Line2D


class DifferenceCurveDisplay(CutoffDisplay):
    """Mean difference from a baseline against the cut-off, with paired confidence bands.

    Use `from_estimator`, `from_predictions` or `from_query_scores` to create one; parameters are
    stored as attributes.

    Parameters
    ----------
    k : ndarray of int of shape (n_cutoffs,)
        Cut-offs.
    differences : dict of str to ndarray of shape (n_cutoffs,)
        Mean over queries of the value of each model minus that of the baseline.
    intervals : dict of str to ndarray of shape (n_cutoffs, 2)
        Lower and upper ends of the confidence intervals of the differences.
    metric : str
        Name of the metric, without a cut-off.
    baseline : str, default="baseline"
        Name of the baseline.
    confidence : float, default=0.95
        Confidence level of the intervals, of each cut-off alone.
    positions : sequence of int, default=None
        Position of each model among all systems, which determines its color. None means from 1,
        after the baseline.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Axes and figure of the last plot.
    lines_ : list of matplotlib Line2D
        One curve per model.
    bands_ : list of matplotlib PolyCollection
        One confidence band per model.
    zero_line_ : matplotlib Line2D
        The baseline.

    Examples
    --------
    >>> from sklearn_rankscore import DifferenceCurveDisplay, make_ranking
    >>> X, y, groups = make_ranking(random_state=0)
    >>> models = {"first feature": X[:, 0], "sum of two": X[:, 0] + X[:, 1] / 2}
    >>> display = DifferenceCurveDisplay.from_predictions(y, models, groups=groups, k=[1, 5, 10])
    >>> display.ax_.get_ylabel()
    'difference in NDCG@k'
    """

    lines_: list[Line2D]
    bands_: list[PolyCollection]
    zero_line_: Line2D

    def __init__(
        self,
        *,
        k: Array,
        differences: Mapping[str, Array],
        intervals: Mapping[str, Array],
        metric: str,
        baseline: str = "baseline",
        confidence: float = 0.95,
        positions: list[int] | None = None,
    ) -> None:
        self.k, self.differences, self.intervals = np.asarray(k), differences, intervals
        self.metric, self.baseline, self.confidence = metric, baseline, confidence
        self.positions = list(range(1, len(differences) + 1)) if positions is None else positions

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
    ) -> Self:
        """Plot results of `query_scores` or `cross_val_query_scores`.

        Parameters
        ----------
        systems : dict of str to QueryScores
            Results of at least two models for the same queries, which hold one metric at several
            cut-offs, such as "ndcg@1" and "ndcg@5".
        metric : str, default=None
            Name of the metric without the cut-off; None means the first that has several.
        baseline : str, default=None
            The model whose values are subtracted; None means the first.
        confidence, method, n_resamples, random_state
            See `compare`.
        ax : matplotlib Axes, default=None
            Axes to plot on; None creates a figure.
        **kwargs
            Keyword arguments of matplotlib's ``plot``.

        Returns
        -------
        DifferenceCurveDisplay
            The plotted display.
        """
        baseline, *models = baseline_first(systems, baseline)
        aligned = align(systems, baseline)
        first = aligned[baseline]
        metric, k, columns = columns_by_cutoff(first.metrics, metric)
        columns_at = [first.column(column) for column in columns]
        estimate = interval_estimate(
            difference_interval, confidence, method, n_resamples, random_state
        )
        differences, intervals = {}, {}
        for model in models:
            paired = paired_differences(first, aligned[model])
            means = np.array(list(paired.mean().values()))
            ends = paired.aggregate(estimate, (2,), *difference_ranges(first, aligned[model]))
            differences[model], intervals[model] = means[columns_at], ends.T[columns_at]
        order = list(systems)
        display = cls(
            k=k, differences=differences, intervals=intervals, metric=metric, baseline=baseline,
            confidence=confidence, positions=[order.index(model) for model in models],
        )  # fmt: skip
        return display.plot(ax, **kwargs)

    def plot(self, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Plot the differences and their confidence bands.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to plot on; None creates a figure.
        **kwargs
            Keyword arguments of matplotlib's ``plot``.

        Returns
        -------
        DifferenceCurveDisplay
            The display itself.
        """
        ax = self._prepare(ax)
        self.lines_, self.bands_ = [], []
        self.zero_line_ = ax.axhline(
            0, color=text_color(), linewidth=1, linestyle=":", label=literal(self.baseline)
        )
        for position, (name, values) in zip(self.positions, self.differences.items(), strict=True):
            line = draw_curve(ax, position, self.k, values, name, kwargs)
            self.lines_.append(line)
            self.bands_.append(draw_band(ax, self.k, self.intervals[name], line))
        label_cutoffs(ax, self.k)
        ax.set_ylabel(f"difference in {axis_label(self.metric, '@k')}")
        finish_axes(
            ax, legend_title=f"{self.confidence * 100:g} % confidence bands of the difference"
        )
        return self
