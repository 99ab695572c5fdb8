"""Rows of values with their intervals: means of systems, differences, importances of features."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from .._typing import IdSource, IntervalMethod, MatrixLike, QueryIds, Seed
from .._validation import check_count, check_flag
from ..comparison import (
    Comparison,
    QueryImportances,
    QueryScores,
    Segment,
    compare,
    query_permutation_importance,
)
from ..comparison.compare import align
from ..comparison.importance import Within
from ..comparison.segments import select_segments
from ..metrics.evaluate import MetricLike
from ..metrics.segment import ALL_QUERIES
from . import style
from .display import (
    MeansOfSystems,
    Plot,
    QueryScoresDisplay,
    inference_of,
    one_metric,
    scores_by_name,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D
    from matplotlib.text import Text

MAX_FEATURES = 20
PLACES = {"query": "within queries", "all": "over all rows"}
# inches of the axes that have room for numbers beside the rows
WIDE = 4


class RowsDisplay(Plot):
    """A point with an interval in each row, from top to bottom, and their numbers beside them."""

    points_: list[Line2D]
    intervals_: list[Line2D]
    texts_: list[Text]
    confidence: float

    def _draw(
        self,
        ax: Axes | None,
        names: Iterable[str],
        rows: Iterable[tuple[float, Iterable[float], str]],
        kwargs: dict[str, Any],
        *,
        headings: Sequence[str] | None = None,
        sign: str = "",
    ) -> list[int]:
        """Draw values, intervals and colors, below a heading where it changes; where they are."""
        shown, at = [], []
        for i, name in enumerate(names):
            if headings and (not i or headings[i] != headings[i - 1]):
                shown.append(headings[i])
            at.append(len(shown))
            shown.append(name)
        texts = [style.literal(name, style.LINE) for name in shown]
        n_lines = [1 + text.count("\n") for text in texts]
        ax = self._prepare(ax, (7, 0.15 * (len(texts) + sum(n_lines)) + 1.1))
        row_height = ax.get_window_extent().height / ax.figure.dpi * 72 / len(texts)
        if row_height < 1.2 * style.small() * max(n_lines):  # on the axes of others
            texts = [style.literal(name, longest=style.LINE) for name in shown]
        for y, tick in enumerate(ax.set_yticks(range(len(texts)), texts)):
            tick.label1.set_fontweight("normal" if y in at else "bold")
        ax.set_ylim(len(texts) - 0.5, -0.5)
        ax.tick_params(axis="y", length=0)
        ax.spines["left"].set_visible(False)
        is_wide = ax.get_window_extent().width >= WIDE * ax.figure.dpi
        self.points_, self.intervals_, self.texts_ = [], [], []
        for y, (value, ends, color) in zip(at, rows, strict=True):
            line = {"linewidth": 2, "solid_capstyle": "butt", "color": color}
            self.intervals_ += ax.plot([*ends], [y, y], **style.merged(line, kwargs))
            self.points_ += ax.plot(value, y, "o", color=color, markersize=6)
            if is_wide:
                number, low, high = style.numbers([value, *ends], sign)
                beside = ax.annotate(
                    f"{number} [{low}, {high}]", (1.02, y), xycoords=ax.get_yaxis_transform(),
                    va="center", fontsize=style.small(),
                )  # fmt: skip
                self.texts_.append(beside)
        if sign:
            ax.axvline(0, color=style.text_color(), linewidth=1, linestyle=":", zorder=0)
        ax.locator_params(axis="x", nbins=5 if is_wide else 3)
        style.grid(ax, "x")
        return at

    def _label(self, what: str, title: str = "", note: str = "") -> Self:
        """Say what the rows are."""
        self.ax_.set_xlabel(f"{what}, {self.confidence * 100:g} % interval{note}")
        self._finish(title)
        return self


@dataclass(kw_only=True, eq=False, repr=False)
class MeansDisplay(MeansOfSystems, RowsDisplay):
    """Mean of a metric for each of several systems, with its confidence interval.

    The intervals of two systems may overlap although their paired difference is clear: see
    `ForestDisplay` for differences. Use `from_estimator`, `from_predictions` or `from_query_scores`
    to create one; parameters are stored as attributes.

    Parameters
    ----------
    means : dict of str to float
        Mean of the metric by system, from top to bottom.
    intervals : dict of str to tuple of float
        Lower and upper end of the confidence interval by system.
    metric : str
        Name of the metric.
    confidence : float, default=0.95
        Confidence level of the intervals.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Axes and figure of the last plot.
    points_, intervals_ : list of matplotlib Line2D
        The mean and the interval of each system.
    texts_ : list of matplotlib Text
        The numbers of each system; empty on narrow axes.

    Examples
    --------
    >>> from sklearn_rankscore import MeansDisplay, make_ranking
    >>> X, y, groups = make_ranking(random_state=0)
    >>> models = {"first feature": X[:, 0], "sum of two": X[:, 0] + X[:, 1] / 2}
    >>> display = MeansDisplay.from_predictions(y, models, groups=groups, metric="ndcg@5")
    >>> display.ax_.get_xlabel()
    'mean NDCG@5, 95 % interval'
    """

    means: Mapping[str, float]
    intervals: Mapping[str, Sequence[float]]
    metric: str
    confidence: float = 0.95

    @classmethod
    def _of(cls, systems: Mapping[str, QueryScores], metric: str | None, inference: Any) -> Self:
        metric = one_metric(next(iter(systems.values())), metric)
        return cls(
            means={name: scores.mean()[metric] for name, scores in systems.items()},
            intervals={name: of.interval(**inference)[metric] for name, of in systems.items()},
            metric=metric, confidence=inference["confidence"],
        )  # fmt: skip

    def plot(self, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Plot one row for each system.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to plot on; None creates a figure with the height that the rows need.
        **kwargs
            Keyword arguments of matplotlib's ``plot`` for the intervals.

        Returns
        -------
        MeansDisplay
            The display itself.
        """
        rows = [
            (mean, self.intervals[name], style.system_color(i))
            for i, (name, mean) in enumerate(self.means.items())
        ]
        self._draw(ax, self.means, rows, kwargs)
        return self._label(f"mean {style.metric_label(self.metric)}")


@dataclass(kw_only=True, eq=False, repr=False)
class ForestDisplay(QueryScoresDisplay, RowsDisplay):
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
    headings : sequence of str, default=None
        Heading of each row, which is written above the first of those that share it.
    margins : array-like of shape (n_rows,), default=None
        Largest difference of each row that is considered negligible, drawn as dashed lines; nan
        without one.
    versus : str, default=""
        The model whose values are subtracted, if it is the same in all rows.

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
    ['NDCG@10', 'MRR']
    """

    labels: Sequence[str]
    values: Any
    intervals: Any
    systems: Sequence[int] | None = None
    title: str = ""
    confidence: float = 0.95
    headings: Sequence[str] | None = None
    margins: Any = None
    versus: str = ""

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
        inference = inference_of(confidence, method, n_resamples, random_state)
        segments = next(iter(named.values())).segments
        if not check_flag("means", means) and len(named) > 1:
            by = list(segments) if by is None and segments is not None else by
            comparison = compare(named, baseline=baseline, by=by, **inference)
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
        if not isinstance(comparison, Comparison):
            got = f"{type(comparison).__name__}. Pass compare(scores)."
            raise TypeError(f"comparison must be the result of compare; got a {got}")
        metrics = _select((d.metric for d in comparison), metric)
        chosen = [d for d in comparison if d.metric in metrics]
        has_versus = comparison.baseline is not None and len({d.model for d in chosen}) > 1
        models = [str(d.model) if has_versus else f"{d.model} − {d.baseline}" for d in chosen]
        margin = comparison.margin
        margins = [margin[d.metric] if isinstance(margin, Mapping) else margin for d in chosen]
        return cls(
            **_named(
                (style.metric_label(d.metric), model, _in_words(d.segment))
                for d, model in zip(chosen, models, strict=True)
            ),
            values=np.array([d.difference for d in chosen]),
            intervals=np.array([d.interval for d in chosen]), confidence=comparison.confidence,
            margins=None if margin is None else np.array(margins),
            versus=str(comparison.baseline) if has_versus else "",
        ).plot(ax, **kwargs)  # fmt: skip

    @classmethod
    def _of_means(
        cls, systems: Mapping[str, QueryScores], metric: Any, by: Any, inference: Any
    ) -> Self:
        """The display, not plotted yet, with the systems side by side."""
        first = next(iter(systems))
        if by is not None:
            systems = align(systems, first)
            by = select_segments(by, systems[first].ids, systems[first].segments)
        chosen, rows = _select(systems[first].metrics, metric), []
        for position, (name, scores) in enumerate(systems.items()):
            means, ends = scores.mean(), scores.interval(**inference)
            rows += [(of, ALL_QUERIES, name, position, means[of], ends[of]) for of in chosen]
            rows += [
                (s.metric, s.segment, name, position, s.mean, s.interval)
                for s in (scores.by(by, **inference) if by is not None or scores.segments else ())
                if s.metric in chosen
            ]
        segments = list(dict.fromkeys(row[1] for row in rows))
        rows.sort(key=lambda row: (chosen.index(row[0]), segments.index(row[1])))
        *_, positions, values, intervals = zip(*rows, strict=True)
        return cls(
            **_named((style.metric_label(row[0]), _in_words(row[1]), row[2]) for row in rows),
            values=np.array(values), systems=positions, intervals=np.array(intervals),
            confidence=inference["confidence"],
        )  # fmt: skip

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
        if self.systems is None:
            what, sign = "difference", "+"
            colors = [style.outcome_color(*ends) for ends in self.intervals]
        else:
            what, sign, colors = "mean", "", [style.system_color(i) for i in self.systems]
        rows = zip(self.values, self.intervals, colors, strict=True)
        at = np.array(self._draw(ax, self.labels, rows, kwargs, headings=self.headings, sign=sign))
        if self.margins is not None:
            for side in (-1, 1):
                self.ax_.vlines(
                    side * np.asarray(self.margins), at - 0.5, at + 0.5, color=style.MUTED,
                    linestyles="--", linewidth=1, zorder=0,
                )  # fmt: skip
        of = f"difference from {style.literal(self.versus)}" if self.versus else ""
        title = ", ".join(filter(None, [style.literal(self.title), of]))
        return self._label(what, title, "" if self.margins is None else ", margin dashed")


@dataclass(kw_only=True, eq=False, repr=False)
class FeatureImportanceDisplay(RowsDisplay):
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

    features: Sequence[str]
    importances: Any
    intervals: Any
    metric: str
    within: Within = "query"
    confidence: float = 0.95

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
            needed = "importances must be the result of query_permutation_importance"
            raise TypeError(f"{needed}; got {type(importances).__name__}.")
        metric = one_metric(importances.baseline, metric)
        shown = None if max_features is None else check_count("max_features", max_features, 1)
        entries = [entry for entry in importances if entry.metric == metric][:shown]
        return cls(
            features=[entry.feature for entry in entries],
            importances=np.array([entry.importance for entry in entries]),
            intervals=np.array([entry.interval for entry in entries]),
            metric=metric, within=importances.within, confidence=importances.confidence,
        ).plot(ax, **kwargs)  # fmt: skip

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
        color = style.system_color(0)
        rows = [(*row, color) for row in zip(self.importances, self.intervals, strict=True)]
        self._draw(ax, self.features, rows, kwargs, sign="+")
        place = PLACES[self.within]
        return self._label("loss", f"loss of {style.metric_label(self.metric)} if permuted {place}")


def _select(metrics: Iterable[str], chosen: str | Iterable[str] | None) -> list[str]:
    """Distinct metrics, or those of them that are chosen."""
    known = list(dict.fromkeys(metrics))
    names = known if chosen is None else [chosen] if isinstance(chosen, str) else list(chosen)
    if unknown := [name for name in names if name not in known]:
        raise KeyError(f"no metric {unknown[0]!r}; the metrics are {', '.join(known)}.")
    return names


def _named(rows: Iterable[tuple[str, str, str]]) -> dict[str, Any]:
    """What all rows share is the title, and the last part that varies names a row."""
    parts = list(zip(*rows, strict=True))
    varying = [part for part in parts if len(set(part)) > 1] or parts[:1]
    shared = [part[0] for part in parts if part not in varying]
    *above, labels = varying
    return {
        "labels": list(labels),
        "headings": [", ".join(names) for names in zip(*above, strict=True)] or None,
        "title": ", ".join(name for name in shared if name != ALL_QUERIES.value),
    }


def _in_words(segment: Segment) -> str:
    """``"device = phone"``, or ``"all queries"``."""
    return f"{segment.column} = {segment.value}" if segment.column else str(segment.value)
