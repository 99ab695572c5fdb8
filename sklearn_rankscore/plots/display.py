"""What the displays have in common: from estimators to scores of queries, and finished axes.

matplotlib is imported only to draw.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from .._table import clean, number_text
from .._typing import (
    Array,
    IdSource,
    IntervalMethod,
    Library,
    MatrixLike,
    QueryIds,
    Seed,
    Unjudged,
)  # fmt: skip
from .._validation import counted, installed
from ..comparison import QueryScores, compare, query_scores
from ..comparison.compare import check_query_scores
from ..comparison.segments import Segments
from ..metrics.evaluate import Metrics
from ..metrics.names import canonical_name
from ..query_ids.lookup import check_same_rows, find_explicit_ids, no_groups_error, source_or_ids
from ..scoring.predictions import predict_scores
from .palette import MUTED

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

T = TypeVar("T")

# characters in a line of a title, of a name in the legend, beside and below the axes
TITLE, LEGEND, LINE, SHORT_LINE = 66, 48, 30, 20
# the end of a longer name is as telling as its beginning
LONGEST_NAME = 100


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
        elif not hasattr(ax, "spines"):
            raise TypeError(
                f"ax must be matplotlib Axes, such as axes[0]; got {type(ax).__name__}."
            )
        ax.spines[["top", "right"]].set_visible(False)
        ax.set_axisbelow(True)
        self.ax_, self.figure_ = ax, ax.figure
        return ax

    def _finish(self, title: str = "") -> None:
        """Plain numbers, and above the axes the title and a legend with the columns that fit."""
        from matplotlib.ticker import ScalarFormatter

        ax = self.ax_
        ax.tick_params(labelsize=small())
        for name, axis in (("x", ax.xaxis), ("y", ax.yaxis)):
            if type(axis.get_major_formatter()) is ScalarFormatter:
                # a common power of ten would be below the legend
                ax.ticklabel_format(axis=name, style="plain", useOffset=False)  # type: ignore[arg-type]
        handles, labels = ax.get_legend_handles_labels()
        if not labels:
            ax.set_title(textwrap.fill(title, TITLE), fontsize="medium")
            return
        for n_columns in range(min(len(labels), 4), 0, -1):
            legend = ax.legend(
                handles, [textwrap.fill(label, LEGEND) for label in labels], ncols=n_columns,
                title=textwrap.fill(title, TITLE) or None, loc="lower left",
                bbox_to_anchor=(0, 1), alignment="left", frameon=False, fontsize=small(),
                title_fontsize=small(), borderaxespad=0.2,
            )  # fmt: skip
            box = legend.get_window_extent()
            if box.width <= ax.get_window_extent().width:
                break
        if self._is_own_figure:
            height = ax.figure.bbox.height + box.height
            self.figure_.set_figheight(height / ax.figure.dpi)  # type: ignore[union-attr]


class Display(Plot):
    """A plot of the scores of estimators."""

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
        return cls.from_predictions(y, scores, groups=ids, **options)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: Any,
        *,
        groups: QueryIds | None = None,
        **options: Any,
    ) -> Self:
        """Plot scores; each display describes its arguments."""
        raise NotImplementedError


class QueryScoresDisplay(Display):
    """A plot of the values of one metric, or several, for each query."""

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
    def from_query_scores(cls, systems: Any, **options: Any) -> Self:
        """Plot results of `query_scores`; each display describes its arguments."""
        raise NotImplementedError

    def plot(self, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Plot the display; each describes what it takes."""
        raise NotImplementedError


class MeansOfSystems(QueryScoresDisplay):
    """A plot of the means of systems, with their intervals."""

    @classmethod
    def _of(cls, systems: Mapping[str, QueryScores], metric: str | None, inference: Any) -> Self:
        """The display, not plotted yet."""
        raise NotImplementedError

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
        return cls._of(scores_by_name(systems, name), metric, inference).plot(ax, **kwargs)


class DifferencesOfSystems(QueryScoresDisplay):
    """A plot of the paired differences of systems, with their intervals."""

    @classmethod
    def _of(cls, systems: Mapping[str, QueryScores], metric: str | None, compared: Any) -> Self:
        """The display, not plotted yet."""
        raise NotImplementedError

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
        return cls._of(systems, metric, compared).plot(ax, **kwargs)


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


def check_two(systems: Mapping[str, T]) -> Mapping[str, T]:
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


def with_style(defaults: dict[str, Any], kwargs: dict[str, Any], artist: type) -> dict[str, Any]:
    """Properties of an artist; those that are given, also as ``lw``, come first."""
    from matplotlib import cbook

    return defaults | cbook.normalize_kwargs(kwargs, artist)


def draw_grid(ax: Axes, axis: Literal["x", "y", "both"]) -> None:
    """Faint lines, on light and on dark backgrounds."""
    ax.grid(axis=axis, color=MUTED, alpha=0.25, linewidth=0.8)


def set_categories(ax: Axes, names: Sequence[str], counts: Sequence[str]) -> None:
    """Names below the axes with their counts, upright if they are too wide side by side."""
    labels = [
        f"{textwrap.fill(literal(name), SHORT_LINE)}\n{count}"
        for name, count in zip(names, counts, strict=True)
    ]
    ax.set_xticks(np.arange(len(names)), labels, fontsize=small())
    ax.set_xlim(-0.5, len(names) - 0.5)
    boxes = [label.get_window_extent() for label in ax.get_xticklabels()]
    if any(left.x1 + 0.2 * left.width > right.x0 for left, right in pairwise(boxes)):
        ax.set_xticks(np.arange(len(names)), labels, rotation=90, multialignment="right")


def ticks_apart(ax: Axes, values: Array, spec: str = "d") -> None:
    """Ticks at the first value, the last one, and those with a tenth of the axis between them."""
    ax.autoscale_view()
    at = ax.transAxes.inverted().transform(ax.transData.transform(np.c_[values, values]))[:, 0]
    kept = [0]
    for i in range(1, len(values) - 1):
        if at[i] - at[kept[-1]] >= 0.1 and at[-1] - at[i] >= 0.1:
            kept.append(i)
    ticks = np.unique(values[[*kept, -1]])
    ax.set_xticks(ticks, [f"{tick:{spec}}" for tick in ticks.tolist()])
    ax.set_xticks([], minor=True)


def small() -> float:
    """The size of names and numbers: 9 points, unless the font size was changed."""
    from matplotlib import rcParams

    return 0.9 * float(rcParams["font.size"])


def literal(name: object) -> str:
    """A name as matplotlib draws it, neither as a formula nor as a hidden label."""
    text = clean(name)
    if len(text) > LONGEST_NAME:
        text = f"{text[: LONGEST_NAME // 2]}…{text[-LONGEST_NAME // 2 + 1 :]}"
    text = text.replace("$", r"\$")
    return f" {text}" if text.startswith("_") else text


def shown_numbers(numbers: Sequence[float], sign: str = "") -> list[str]:
    """Numbers side by side, with a minus sign, and not all written as 0."""
    largest = max(map(abs, numbers))
    spec = f"{sign}.2g" if 1e-12 < largest < 0.0005 else f"{sign}.3f"
    near = [0.0 if abs(number) <= 1e-12 else number for number in numbers]
    return [number_text(number, spec).replace("-", "−") for number in near]


def axis_label(metric: str, cutoff: str = "") -> str:
    """The name of a metric in text: NDCG for ``"ndcg"``, Hit rate for ``"hit_rate"``."""
    name, at, rest = metric.partition("@")
    name, bracket, options = name.partition("(")
    name = canonical_name(name) or name
    is_acronym = name in ("dcg", "ndcg", "map", "mrr", "err", "rbp")
    text = name.upper() if is_acronym else name.replace("_", " ").capitalize()
    return literal(f"{text}{at}{rest}{cutoff}{bracket}{options}")
