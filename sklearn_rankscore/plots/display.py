"""What the displays have in common: from estimators to scores of queries to a plot on axes.

matplotlib is imported only to draw.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

from numpy.typing import ArrayLike

from .._typing import (
    IdSource,
    IntervalMethod,
    Library,
    MatrixLike,
    QueryIds,
    Seed,
    Unjudged,
)
from .._validation import counted, installed
from ..comparison import QueryScores, compare, query_scores
from ..comparison.compare import check_query_scores
from ..comparison.segments import Segments
from ..metrics.evaluate import Metrics
from ..query_ids.lookup import check_same_rows, find_explicit_ids, no_groups_error, source_or_ids
from ..scoring.predictions import predict_scores
from . import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure


class Plot:
    """A display that shows its settings, as matplotlib shows the plot."""

    ax_: Axes
    figure_: Figure | SubFigure

    def __repr__(self) -> str:
        shown = {name: v for name, v in vars(self).items() if isinstance(v, str | int | float)}
        settings = (f"{n}={v!r}" for n, v in shown.items() if not n.startswith("_"))
        return f"{type(self).__name__}({', '.join(settings)})"

    def _prepare(self, ax: Axes | None, size: tuple[float, float] = (7, 4)) -> Axes:
        """The given axes, or those of a new figure, without the top and right spines."""
        self._is_own_figure = ax is None
        if ax is None:
            installed("matplotlib", type(self).__name__)
            from matplotlib import pyplot

            _, ax = pyplot.subplots(figsize=size, layout="constrained")
        ax.spines[["top", "right"]].set_visible(False)
        ax.set_axisbelow(True)
        self.ax_, self.figure_ = ax, ax.figure
        return ax

    def _finish(self, title: str = "") -> None:
        """Plain numbers, and above the axes the title and a legend, for which the figure grows."""
        ax, figure = self.ax_, self.figure_
        ax.tick_params(labelsize=style.small())
        style.plain_numbers(ax)
        legend = style.add_legend(ax, title)
        if legend is not None and self._is_own_figure:
            height = figure.bbox.height + legend.get_window_extent().height
            figure.set_figheight(height / figure.dpi)  # type: ignore[union-attr]


class Display(Plot):
    """A plot of the scores of estimators."""

    # of each display, which describes its arguments
    from_predictions: Any

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: MatrixLike,
        y: ArrayLike,
        *,
        groups: QueryIds | IdSource = None,
        **options: Any,
    ) -> Self:
        """Plot the predictions of fitted estimators.

        Parameters
        ----------
        estimator : estimator object or dict of str to estimator
            One or several models, by name.
        X : array-like or DataFrame of shape (n_documents, n_features)
            Documents.
        y : array-like of shape (n_documents,)
            Relevance labels.
        groups : array-like of shape (n_documents,), str or list of str, default=None
            Query ids, or where they are: the name of a column or index level, or several names.
            None means a column or index level ``qid`` of X or an index level ``qid`` of y.
        **options
            Any other argument of `from_predictions`.

        Returns
        -------
        Display
            The plotted display.
        """
        ids = required_ids(X, y, groups, cls.__name__)
        models = by_name(estimator, model_name(estimator))
        scores = {name: predict_scores(model, X) for name, model in models.items()}
        plotted: Self = cls.from_predictions(y, scores, groups=ids, **options)
        return plotted


class QueryScoresDisplay(Display):
    """A plot of the values of one metric, or several, for each query."""

    # of each display, which describes its arguments
    from_query_scores: Any
    plot: Any

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike | Mapping[str, ArrayLike],
        *,
        groups: QueryIds | None = None,
        metric: Metrics = "ndcg@10",
        sample_weight: ArrayLike | None = None,
        like: Library | None = None,
        unjudged: Unjudged = "error",
        segments: Segments | None = None,
        name: str = "model",
        **options: Any,
    ) -> Self:
        """Plot scores of documents.

        Parameters
        ----------
        y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
            Relevance labels.
        y_score : array-like of the same shape as `y_true`, or dict of str to array-like
            Scores of one or several models, by name, the baseline first.
        groups : array-like of shape (n_documents,), default=None
            Query ids.
        metric : str, callable or iterable of them, default="ndcg@10"
            The metrics; displays of a single metric take one.
        sample_weight : array-like of shape (n_documents,), default=None
            Query weights, constant within each query.
        like : str, default=None
            Library whose conventions to use, as in `evaluate`.
        unjudged : {"error", "irrelevant", "drop"}, default="error"
            Rule of the metrics for documents with label NaN, as in `evaluate`.
        segments : array-like, mapping or DataFrame, default=None
            Segments of the queries, as in `query_scores`.
        name : str, default="model"
            Name of a single model.
        **options
            Any other argument of `from_query_scores`.

        Returns
        -------
        Display
            The plotted display.
        """
        systems = query_scores(
            y_true, by_name(y_score, name), metric, groups=groups, sample_weight=sample_weight,
            like=like, unjudged=unjudged, segments=segments,
        )  # fmt: skip
        plotted: Self = cls.from_query_scores(systems, **options)
        return plotted


class MeansOfSystems(QueryScoresDisplay):
    """A plot of the means of systems, with their intervals."""

    # (systems, metric, arguments of intervals) -> the display, not plotted yet
    _of: Any

    @classmethod
    def from_query_scores(
        cls,
        systems: QueryScores | Mapping[str, QueryScores],
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
        """Plot results of `query_scores` or `cross_val_query_scores`.

        Parameters
        ----------
        systems : QueryScores or dict of str to QueryScores
            Results of one or several models. A curve needs a metric at several cut-offs, such as
            "ndcg@1" and "ndcg@5".
        metric : str, default=None
            One of their metrics, for a curve without the cut-off; None means the first.
        confidence, method, n_resamples, random_state
            See `QueryScores.interval`.
        name : str, default="model"
            Name of a single model.
        ax : matplotlib Axes, default=None
            Axes to plot on; None creates a figure.
        **kwargs
            Arguments of `plot`.

        Returns
        -------
        Display
            The plotted display.
        """
        inference = inference_of(confidence, method, n_resamples, random_state)
        plotted: Self = cls._of(scores_by_name(systems, name), metric, inference).plot(ax, **kwargs)
        return plotted


class DifferencesOfSystems(QueryScoresDisplay):
    """A plot of the paired differences of systems, with their intervals."""

    # (systems, metric, comparison) -> the display, not plotted yet
    _of: Any

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
            Results of the models for the same queries. A curve needs a metric at several cut-offs,
            such as "ndcg@1" and "ndcg@5".
        metric : str, default=None
            One of their metrics, for a curve without the cut-off; None means the first.
        baseline : str, default=None
            The model whose values are subtracted; None means the first.
        confidence, method, n_resamples, random_state
            See `compare`.
        ax : matplotlib Axes, default=None
            Axes to plot on; None creates a figure.
        **kwargs
            Arguments of `plot`.

        Returns
        -------
        Display
            The plotted display.
        """
        inference = inference_of(confidence, method, n_resamples, random_state)
        # the intervals are those of every test, of which this one takes least time
        compared = compare(systems, baseline=baseline, test="t", **inference)
        plotted: Self = cls._of(systems, metric, compared).plot(ax, **kwargs)
        return plotted


def inference_of(
    confidence: float, method: IntervalMethod, n_resamples: int, random_state: Seed
) -> dict[str, Any]:
    """Arguments of all intervals."""
    return {
        "confidence": confidence, "method": method, "n_resamples": n_resamples,
        "random_state": random_state,
    }  # fmt: skip


def required_ids(X: Any, y: Any, groups: QueryIds | IdSource, caller: str) -> Any:
    """Query ids that are given, named or in the data; an error without any."""
    id_source, ids = source_or_ids(groups, X)
    check_same_rows(X=X, y=y)
    ids = find_explicit_ids(X, y, groups=ids, id_source=id_source)
    if ids is None:
        raise no_groups_error(caller, X=X)
    return ids


def model_name(estimator: Any) -> str:
    """The class of a model, which may be the last step of a pipeline or within QueryRanker."""
    while (inner := getattr(estimator, "estimator", None)) is not None or hasattr(
        estimator, "steps"
    ):
        estimator = estimator.steps[-1][1] if inner is None else inner
    return type(estimator).__name__


def by_name(systems: Any, name: str) -> Mapping[str, Any]:
    """Systems by name; a single one has the given name."""
    if not isinstance(systems, Mapping):
        return {name: systems}
    if not systems:
        raise ValueError("a display shows at least one model; got an empty dict.")
    return systems


def scores_by_name(systems: Any, name: str) -> Mapping[str, QueryScores]:
    """Results of `query_scores` by name; a single one has the given name."""
    named = by_name(systems, name) if isinstance(systems, Mapping | QueryScores) else systems
    check_query_scores(named)
    return named


def check_two(systems: Any) -> Any:
    """Refuse anything but two systems by name."""
    needed = "the display compares two models: pass a dict of two names, the baseline first; got"
    if not isinstance(systems, Mapping):
        raise TypeError(f"{needed} {type(systems).__name__}.")
    if len(systems) != 2:
        raise ValueError(f"{needed} {counted(len(systems), 'model')}.")
    return systems


def one_metric(scores: QueryScores, metric: str | None) -> str:
    """The metric to plot: that of the name, or else the first."""
    metric = scores.metrics[0] if metric is None else metric
    scores.column(metric)
    return metric
