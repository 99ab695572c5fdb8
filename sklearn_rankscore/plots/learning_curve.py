"""A metric against the number of training queries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils.metadata_routing import get_routing_for_object

from .._typing import Array, IdSource, IntervalMethod, MatrixLike, QueryIds, Seed
from .._validation import check_count
from ..inspection.cross_val import cross_val_query_scores
from ..inspection.intervals import with_progress
from ..metrics.evaluate import MetricLike
from ..model_selection.k_fold import check_query_cv
from ..query_ids import group_rows
from ..query_ids.lookup import source_or_ids
from ..rankers import QueryRanker
from .axes import axis_label, draw_grid, finish_axes
from .curves import draw_curves, without_overlap
from .display import Plot, by_name, required_ids

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection
    from matplotlib.lines import Line2D

# of the queries on which the smallest fold trains
FRACTIONS = (0.05, 0.1, 0.25, 0.5, 1.0)


class QueryLearningCurveDisplay(Plot):
    """A metric against the number of training queries, by cross-validation.

    A curve that still rises at its end suggests that more queries would help. Use `from_estimator`
    to create one; parameters are stored as attributes.

    Parameters
    ----------
    max_queries : ndarray of int of shape (n_sizes,)
        Numbers of training queries.
    means : dict of str to ndarray of shape (n_sizes,)
        Mean of the metric over all queries, each scored by a model that was not trained on it.
    intervals : dict of str to ndarray of shape (n_sizes, 2)
        Lower and upper ends of the confidence intervals, by model.
    metric : str
        Name of the metric.
    confidence : float, default=0.95
        Confidence level of the intervals.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Axes and figure of the last plot.
    lines_ : list of matplotlib Line2D
        One curve per model.
    bands_ : list of matplotlib PolyCollection
        Confidence bands; empty for several models.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn_rankscore import QueryLearningCurveDisplay, QueryRanker, make_ranking
    >>> X, y = make_ranking(as_frame=True, random_state=0)
    >>> display = QueryLearningCurveDisplay.from_estimator(
    ...     QueryRanker(Ridge(), random_state=0), X, y, max_queries=[5, 20, 80]
    ... )
    >>> display.ax_.get_xlabel()
    'training queries'
    """

    lines_: list[Line2D]
    bands_: list[PolyCollection]

    def __init__(
        self,
        *,
        max_queries: ArrayLike,
        means: Mapping[str, Array],
        intervals: Mapping[str, Array],
        metric: str,
        confidence: float = 0.95,
    ) -> None:
        self.max_queries, self.means, self.intervals = np.asarray(max_queries), means, intervals
        self.metric, self.confidence = metric, confidence

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: MatrixLike,
        y: ArrayLike,
        *,
        groups: QueryIds | IdSource = None,
        metric: MetricLike = "ndcg@10",
        max_queries: Iterable[int] | None = None,
        cv: Any = None,
        n_jobs: int | None = None,
        confidence: float = 0.95,
        method: IntervalMethod = "auto",
        n_resamples: int = 9999,
        random_state: Seed = None,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Train on more and more queries, and plot the scores of those held out.

        Parameters
        ----------
        estimator : estimator object or dict of str to estimator object
            One or several estimators by name. Those without the parameter `max_queries`, such as
            regressors, pipelines and rankers of boosters, are wrapped in `QueryRanker`.
        X : array-like or DataFrame of shape (n_documents, n_features)
            Documents.
        y : array-like of shape (n_documents,)
            Relevance labels.
        groups : array-like of shape (n_documents,), str or list of str, default=None
            Query ids, or where they are: the name of a column or index level, or several names.
            None means a column or index level ``qid`` of X or an index level ``qid`` of y.
        metric : str or callable, default="ndcg@10"
            The metric.
        max_queries : iterable of int, default=None
            Numbers of training queries; those above the number in the smallest training set of a
            fold are replaced by that number. None means 5 %, 10 %, 25 %, 50 % and 100 % of that
            number.
        cv : int, splitter or iterable of (train, test), default=None
            Folds of whole queries, as in `cross_val_query_scores`.
        n_jobs : int, default=None
            Number of folds to run in parallel; -1 uses all processors.
        confidence, method, n_resamples, random_state
            See `QueryScores.interval`. A seed also chooses the training queries of estimators that
            are wrapped.
        ax : matplotlib Axes, default=None
            Axes to plot on; None creates a figure.
        **kwargs
            Arguments of `plot`.

        Returns
        -------
        QueryLearningCurveDisplay
            The plotted display.
        """
        groups = getattr(cv, "groups", None) if groups is None else groups
        folds, n_train = _folds(cv, X, y, required_ids(X, y, groups, cls.__name__))
        sizes, (source, _) = _sizes(max_queries, n_train), source_or_ids(groups, X)
        scoring: Any = {"metrics": metric, "cv": folds, "groups": groups, "n_jobs": n_jobs}
        inference: Any = {
            "confidence": confidence, "method": method, "n_resamples": n_resamples,
            "random_state": random_state,
        }  # fmt: skip
        means, intervals, name = {}, {}, ""
        for model, unfitted in by_name(estimator, type(estimator).__name__).items():
            ranker = _with_max_queries(unfitted, source, random_state)
            results = [
                cross_val_query_scores(clone(ranker).set_params(max_queries=size), X, y, **scoring)
                for size in with_progress(sizes, len(sizes), f"sizes of {model}")
            ]
            name = results[0].metrics[0]
            means[model] = np.array([scores.mean()[name] for scores in results])
            intervals[model] = np.array([r.interval(**inference)[name] for r in results])
        return cls(
            max_queries=sizes, means=means, intervals=intervals, metric=name, confidence=confidence
        ).plot(ax, **kwargs)

    def plot(self, ax: Axes | None = None, *, bands: bool | None = None, **kwargs: Any) -> Self:
        """Plot the curves.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to plot on; None creates a figure.
        bands : bool, default=None
            Whether to plot the confidence bands; None means for a single model only.
        **kwargs
            Keyword arguments of matplotlib's ``plot``.

        Returns
        -------
        QueryLearningCurveDisplay
            The display itself.
        """
        ax = self._prepare(ax)
        self.lines_, self.bands_ = draw_curves(
            ax, self.max_queries, self.means, self.intervals, bands, kwargs
        )
        ax.set_xscale("log")
        sizes = np.unique(self.max_queries)
        shown = sizes[without_overlap(ax, sizes, [f"{n:,}" for n in sizes])]
        ax.set_xticks(shown, [f"{n:,}" for n in shown], minor=False)
        ax.set_xticks([], minor=True)
        ax.set_xlabel("training queries")
        ax.set_ylabel(axis_label(self.metric))
        draw_grid(ax, "y")
        legend_title = f"{self.confidence * 100:g} % confidence bands" if self.bands_ else None
        finish_axes(ax, legend_title=legend_title)
        return self


def _folds(cv: Any, X: Any, y: Any, ids: Any) -> tuple[list[tuple[Array, Array]], int]:
    """The same folds for all sizes and models, and the fewest queries on which one trains."""
    splitter = check_query_cv(cv)
    takes_groups = get_routing_for_object(splitter).consumes("split", {"groups"})
    folds = list(splitter.split(X, y, **({"groups": ids} if takes_groups else {})))
    codes = group_rows(ids, len(ids)).codes
    return folds, min(len(np.unique(codes[train])) for train, _ in folds)


def _with_max_queries(estimator: Any, source: IdSource, random_state: Seed) -> Any:
    """The estimator, in a QueryRanker if it cannot choose the number of queries itself."""
    if "max_queries" in estimator.get_params(deep=False):
        return estimator
    return QueryRanker(
        estimator,
        groups=source,
        random_state=None if isinstance(random_state, np.random.Generator) else random_state,
    )


def _sizes(max_queries: Iterable[int] | None, n_train: int) -> list[int]:
    """Numbers of training queries, of at most `n_train`."""
    if max_queries is None:
        sizes = {max(round(fraction * n_train), 2) for fraction in FRACTIONS}
    else:
        sizes = {int(check_count("max_queries", size, 1)) for size in max_queries}
    if not sizes:
        raise ValueError("max_queries must hold at least one number of queries; got none.")
    return sorted({min(size, n_train) for size in sizes})
