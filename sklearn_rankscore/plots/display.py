"""What the displays have in common: from estimators to scores of queries to a plot on axes.

matplotlib is imported only to draw.
"""

from __future__ import annotations

import textwrap
from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from numpy.typing import ArrayLike

from .._typing import IdSource, IntervalMethod, Library, MatrixLike, QueryIds, Seed, Unjudged
from .._validation import counted, installed
from ..comparison import QueryScores, query_scores
from ..comparison.compare import check_query_scores
from ..comparison.cross_val import find_ids
from ..comparison.segments import Segments
from ..metrics.evaluate import Metrics
from ..query_ids.lookup import check_same_rows
from ..scoring.predictions import predict_scores
from . import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

# characters in a line of a title, and of a name in the legend
TITLE, LEGEND = 66, 48

Systems: TypeAlias = QueryScores | Mapping[str, QueryScores]


class Display(ABC):
    """Numbers, and how they are drawn."""

    ax_: Axes
    figure_: Figure | SubFigure

    def __repr__(self) -> str:
        shown = (f"{n}={v!r}" for n, v in vars(self).items() if isinstance(v, str | int | float))
        return f"{type(self).__name__}({', '.join(shown)})"

    @abstractmethod
    def _draw(self, ax: Axes | None, kwargs: dict[str, Any]) -> str:
        """Draw the numbers on `_axes`; return what stands above them."""

    def plot(self, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to plot on; None creates a figure of the size that the display needs.
        **kwargs
            Keyword arguments of the function of matplotlib that draws the display: ``plot``, unless
            the class names another one.

        Returns
        -------
        Display
            The display itself.
        """
        title = self._draw(ax, kwargs)
        self.ax_.tick_params(labelsize=style.small())
        _plain_numbers(self.ax_)
        legend = _add_legend(self.ax_, title)
        if legend is not None and ax is None:
            figure: Any = self.figure_
            height = figure.bbox.height + legend.get_window_extent().height
            figure.set_figheight(height / figure.dpi)
        return self

    def _axes(self, ax: Axes | None, size: tuple[float, float] = (7, 4)) -> Axes:
        """The given axes, or those of a new figure, without the top and right spines."""
        if ax is None:
            installed("matplotlib", type(self).__name__)
            from matplotlib import pyplot

            _, ax = pyplot.subplots(figsize=size, layout="constrained")
        ax.spines[["top", "right"]].set_visible(False)
        ax.set_axisbelow(True)
        self.ax_, self.figure_ = ax, ax.figure
        return ax


def _plain_numbers(ax: Axes) -> None:
    """No common power of ten beside the axes, where the legend is."""
    for axis in ("x", "y"):
        with suppress(AttributeError):  # names, and logarithmic axes
            ax.ticklabel_format(axis=axis, style="plain", useOffset=False)


def _add_legend(ax: Axes, title: str) -> Any:
    """A legend above the axes, with the columns that fit; None without labels."""
    handles, labels = ax.get_legend_handles_labels()
    if not labels:
        ax.set_title(title, fontsize="medium", wrap=True)
        return None
    for columns in range(min(len(labels), 4), 0, -1):
        legend = ax.legend(
            handles, [textwrap.fill(label, LEGEND) for label in labels], ncols=columns,
            title=textwrap.fill(title, TITLE) or None, title_fontsize=style.small(),
            fontsize=style.small(), loc="lower left", bbox_to_anchor=(0, 1), alignment="left",
            frameon=False, borderaxespad=0.2,
        )  # fmt: skip
        if legend.get_window_extent().width <= ax.get_window_extent().width:
            break
    return legend


class PredictionsDisplay(Display):
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
        check_same_rows(X=X, y=y)
        *_, ids, _ = find_ids(cls.__name__, X, y, groups, None)
        models = by_name(estimator, model_name(estimator))
        scores = {name: predict_scores(model, X) for name, model in models.items()}
        plotted: Self = cls.from_predictions(y, scores, groups=ids, **options)
        return plotted


class QueryScoresDisplay(PredictionsDisplay):
    """A plot of the values of one metric, or several, for each query."""

    # (systems, metric, arguments of intervals) -> the display, not plotted yet; with a `baseline`
    # if it shows differences
    _of: Any

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
        return cls.from_query_scores(systems, **options)

    @classmethod
    def from_query_scores(
        cls,
        systems: Systems,
        *,
        metric: str | None = None,
        baseline: str | None = None,
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
            Results of one or several models for the same queries. A curve needs a metric at several
            cut-offs, such as "ndcg@1" and "ndcg@5".
        metric : str, default=None
            One of their metrics, for a curve without the cut-off; None means the first.
        baseline : str, default=None
            The model with which others are compared, in displays of differences; None means the
            first.
        confidence, method, n_resamples, random_state
            How intervals are computed: see `QueryScores.interval`.
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
        given = {} if baseline is None else {"baseline": baseline}
        display: Self = cls._of(scores_by_name(systems, name), metric, inference, **given)
        return display.plot(ax, **kwargs)


def inference_of(
    confidence: float, method: IntervalMethod, n_resamples: int, random_state: Seed
) -> dict[str, Any]:
    """Arguments of all intervals."""
    return {
        "confidence": confidence, "method": method, "n_resamples": n_resamples,
        "random_state": random_state,
    }  # fmt: skip


def model_name(estimator: Any) -> str:
    """The class of a model, which may be the last step of a pipeline or within QueryRanker."""
    if hasattr(estimator, "steps"):
        return model_name(estimator.steps[-1][1])
    inner = getattr(estimator, "estimator", None)
    return type(estimator).__name__ if inner is None else model_name(inner)


def by_name(systems: Any, name: str) -> Mapping[str, Any]:
    """Systems by name; a single one has the given name."""
    named = systems if isinstance(systems, Mapping) else {name: systems}
    if not named:
        raise ValueError("a display shows at least one model; got an empty dict.")
    return named


def scores_by_name(systems: Any, name: str) -> Mapping[str, QueryScores]:
    """Results of `query_scores` by name; a single one has the given name."""
    named = by_name(systems, name)
    check_query_scores(named)
    return named


def check_two(systems: Mapping[str, Any]) -> None:
    """Refuse anything but two systems."""
    if len(systems) != 2:
        raise ValueError(
            "the display compares two models: pass a dict of two names, the baseline first; got "
            f"{counted(len(systems), 'model')}."
        )


def one_metric(scores: QueryScores, metric: str | None) -> str:
    """The metric to plot: that of the name, or else the first."""
    return scores.metrics[0 if metric is None else scores.column(metric)]
