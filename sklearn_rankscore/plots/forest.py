"""Means or differences with their confidence intervals, one row each: a forest plot."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from .._typing import IntervalMethod, Seed
from .._validation import check_flag
from ..inspection.compare import compare
from ..inspection.comparison import Comparison
from ..inspection.query_scores import QueryScores
from .axes import finish_axes, is_narrow
from .display import QueryScoresDisplay, scores_by_name
from .forest_rows import ForestRow, common_and_own, rows_of_differences, rows_of_means
from .palette import outcome_color, system_color
from .rows import draw_rows, size_of_rows
from .text import literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D
    from matplotlib.text import Text


class ForestDisplay(QueryScoresDisplay):
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
    ['ndcg@10', 'mrr']
    """

    points_: list[Line2D]
    intervals_: list[Line2D]
    texts_: list[Text]

    def __init__(
        self,
        *,
        labels: Sequence[str],
        values: ArrayLike,
        intervals: ArrayLike,
        systems: Sequence[int] | None = None,
        title: str = "",
        confidence: float = 0.95,
    ) -> None:
        self.labels, self.values = list(labels), np.asarray(values, dtype=np.float64)
        self.intervals = np.asarray(intervals, dtype=np.float64).reshape(-1, 2)
        self.systems, self.title, self.confidence = systems, title, confidence

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
        inference: Any = {
            "confidence": confidence, "method": method, "n_resamples": n_resamples,
            "random_state": random_state,
        }  # fmt: skip
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
        return cls._of_comparison(comparison, metric).plot(ax, **kwargs)

    @classmethod
    def _of_comparison(cls, comparison: Comparison, metric: Any) -> Self:
        """The display, not plotted yet."""
        rows = rows_of_differences(comparison, metric)
        return cls._from_rows(rows, comparison.confidence, is_difference=True)

    @classmethod
    def _of_means(
        cls, systems: Mapping[str, QueryScores], metric: Any, by: Any, inference: Mapping[str, Any]
    ) -> Self:
        """The display, not plotted yet."""
        rows = rows_of_means(systems, metric, by, inference)
        return cls._from_rows(rows, inference["confidence"], is_difference=False)

    @classmethod
    def _from_rows(cls, rows: list[ForestRow], confidence: float, *, is_difference: bool) -> Self:
        common, labels = common_and_own([row.parts for row in rows])
        return cls(
            labels=labels,
            values=[row.value for row in rows],
            intervals=[row.interval for row in rows],
            systems=None if is_difference else [row.system for row in rows],
            title=common,
            confidence=confidence,
        )

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
        ax = self._prepare(ax, size_of_rows(self.labels))
        self.points_, self.intervals_, self.texts_ = draw_rows(
            ax, self.labels, self.values, self.intervals,
            [self._color(row) for row in range(len(self.labels))],
            is_signed=self.systems is None, style=kwargs,
        )  # fmt: skip
        ax.set_xlabel(
            f"{'difference' if self.systems is None else 'mean'}, "
            f"{self.confidence * 100:g} % interval"
        )
        finish_axes(ax, literal(self.title), title_width=0.55 if is_narrow(ax) else 0.8)
        return self

    def _color(self, row: int) -> str:
        if self.systems is not None:
            return system_color(self.systems[row])
        return outcome_color(*self.intervals[row])
