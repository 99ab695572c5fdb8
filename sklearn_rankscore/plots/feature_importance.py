"""How much a metric loses if features are permuted, as a plot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from .._typing import IdSource, IntervalMethod, MatrixLike, QueryIds, Seed
from .._validation import check_count
from ..inspection.importance import QueryImportances, Within, query_permutation_importance
from ..metrics.evaluate import MetricLike
from .axes import axis_label, finish_axes, is_narrow
from .display import Plot, one_metric
from .palette import system_color
from .rows import draw_rows, size_of_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D
    from matplotlib.text import Text

MAX_FEATURES = 20
PLACES = {"query": "within queries", "all": "over all rows"}


class FeatureImportanceDisplay(Plot):
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

    points_: list[Line2D]
    intervals_: list[Line2D]
    texts_: list[Text]

    def __init__(
        self,
        *,
        features: Sequence[str],
        importances: ArrayLike,
        intervals: ArrayLike,
        metric: str,
        within: Within = "query",
        confidence: float = 0.95,
    ) -> None:
        self.features, self.importances = list(features), np.asarray(importances, dtype=np.float64)
        self.intervals = np.asarray(intervals, dtype=np.float64).reshape(-1, 2)
        self.metric, self.within, self.confidence = metric, within, confidence

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
        ax = self._prepare(ax, size_of_rows(self.features))
        self.points_, self.intervals_, self.texts_ = draw_rows(
            ax, self.features, self.importances, self.intervals,
            [system_color(0)] * len(self.features), is_signed=True, style=kwargs,
        )  # fmt: skip
        ax.set_xlabel(f"loss, {self.confidence * 100:g} % interval")
        title = f"loss of {axis_label(self.metric)} if permuted {PLACES[self.within]}"
        finish_axes(ax, title, title_width=0.55 if is_narrow(ax) else 0.8)
        return self
