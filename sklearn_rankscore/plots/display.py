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
from .._typing import Array, IdSource, Library, MatrixLike, QueryIds, Unjudged
from .._validation import counted, installed
from ..inspection import QueryScores, query_scores
from ..inspection.compare import align, check_query_scores
from ..inspection.segments import Segments, select_segments
from ..metrics.evaluate import Metrics
from ..metrics.names import canonical_name
from ..query_ids.lookup import check_same_rows, find_explicit_ids, no_groups_error, source_or_ids
from ..scoring.predictions import predict_scores
from .palette import MUTED

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

T = TypeVar("T")

# characters in a line of a name, on axes of at least and of less than NARROW inches
LONG_LINE, SHORT_LINE, NARROW = 36, 20, 4.0
# the end of a longer name is as telling as its beginning
LONGEST_NAME = 80


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

    def _finish(self, title: str = "", legend_title: str | None = None) -> None:
        """Set the sizes of the text, a legend above the axes, and the title above the legend."""
        from matplotlib.ticker import ScalarFormatter

        ax = self.ax_
        ax.tick_params(labelsize=small())
        for axis in (ax.xaxis, ax.yaxis):
            formatter = axis.get_major_formatter()
            if type(formatter) is not ScalarFormatter:
                continue
            # a common power of ten would be below the legend
            if np.abs(axis.get_view_interval()).max() < 1e-4:
                axis.set_major_formatter("{x:g}")
            formatter.set_scientific(False)
            formatter.set_useOffset(False)
        height = self._place_legend(legend_title)
        if self._is_own_figure and height:
            self.figure_.set_figheight(self.figure_.get_figheight() + height / 72)  # type: ignore[union-attr]
        if title:
            lines = in_lines(title, 36 if is_narrow(ax) else 66)
            ax.set_title(lines, fontsize="medium", pad=height + 6)

    def _place_legend(self, title: str | None) -> float:
        """A legend with as many columns as fit above the axes; its height in points."""
        ax = self.ax_
        handles, labels = ax.get_legend_handles_labels()
        if not labels:
            return 0.0
        room = 0.9 * ax.get_window_extent().width
        names = [in_lines(label, 28 if is_narrow(ax) else 48) for label in labels]
        for n_columns in range(min(len(labels), 4), 0, -1):
            legend = ax.legend(
                handles, names, ncols=n_columns,
                loc="lower left", bbox_to_anchor=(0, 1), alignment="left", frameon=False,
                title=title, fontsize=small(), title_fontsize=small(), borderaxespad=0.2,
            )  # fmt: skip
            if legend.get_window_extent().width <= room:
                break
        return float(legend.get_window_extent().height / ax.figure.dpi * 72)


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


def align_by(
    systems: Mapping[str, QueryScores], by: Any
) -> tuple[Mapping[str, QueryScores], dict[str, Array]]:
    """The systems with the queries in the order of the first, and the segments of these."""
    name, first = next(iter(systems.items()))
    return align(systems, name), select_segments(by, first.ids, first.segments)


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
        f"{in_lines(literal(name), SHORT_LINE)}\n{count}"
        for name, count in zip(names, counts, strict=True)
    ]
    ax.set_xticks(np.arange(len(names)), labels, fontsize=small())
    ax.set_xlim(-0.5, len(names) - 0.5)
    boxes = [label.get_window_extent() for label in ax.get_xticklabels()]
    if any(left.x1 + 0.2 * left.width > right.x0 for left, right in pairwise(boxes)):
        ax.set_xticks(np.arange(len(names)), labels, rotation=90, multialignment="right")


def ticks_apart(ax: Axes, values: Array, spec: str = "d") -> None:
    """Ticks at the first value, the last one, and those with a tenth of the axis between them."""
    low, high = ax.get_xlim()
    at, (start, end) = (ax.xaxis.get_transform().transform(x) for x in (values, [low, high]))
    room, last = (end - start) / 10, len(values) - 1
    kept = [0]
    for i in range(1, last):
        if at[i] - at[kept[-1]] >= room and at[last] - at[i] >= room:
            kept.append(i)
    ticks = values[sorted({*kept, last})]
    ax.set_xticks(ticks, [f"{tick:{spec}}" for tick in ticks.tolist()])
    ax.set_xticks([], minor=True)


def is_narrow(ax: Axes) -> bool:
    """Whether the axes have little room for text."""
    return bool(ax.get_window_extent().width < NARROW * ax.figure.dpi)


def small() -> float:
    """The size of names and numbers: 9 points, unless the font size was changed."""
    from matplotlib import rcParams

    return 0.9 * float(rcParams["font.size"])


def wrapped(ax: Axes, name: str) -> str:
    """A name in lines."""
    return in_lines(name, SHORT_LINE if is_narrow(ax) else LONG_LINE)


def in_lines(text: str, n_characters: int) -> str:
    """A text in lines of about equal length, of at most that many characters."""
    if len(text) <= n_characters:
        return text
    length = len(text) / (len(text) // n_characters + 1)
    return "\n".join(textwrap.wrap(text, min(round(1.3 * length), n_characters)))


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


def shown_with_interval(value: float, ends: Sequence[float], sign: str = "") -> str:
    """A number and its interval."""
    number, low, high = shown_numbers([value, *ends], sign)
    return f"{number} [{low}, {high}]"


def axis_label(metric: str, cutoff: str = "") -> str:
    """The name of a metric in text: NDCG for ``"ndcg"``, Hit rate for ``"hit_rate"``."""
    name, at, rest = metric.partition("@")
    name, bracket, options = name.partition("(")
    name = canonical_name(name) or name
    is_acronym = name in ("dcg", "ndcg", "map", "mrr", "err", "rbp")
    text = name.upper() if is_acronym else name.replace("_", " ").capitalize()
    return literal(f"{text}{at}{rest}{cutoff}{bracket}{options}")
