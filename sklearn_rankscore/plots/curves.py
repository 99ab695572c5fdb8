"""Curves: a metric or a difference against the cut-off or the number of training queries."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils.metadata_routing import get_routing_for_object

from .._typing import (
    Array,
    IdSource,
    IntervalMethod,
    Library,
    MatrixLike,
    QueryIds,
    Seed,
    Unjudged,
)
from .._validation import check_count, check_cutoff, check_flag
from ..inspection import QueryScores, cross_val_query_scores, query_scores
from ..inspection.compare import align, baseline_first, difference_ranges, paired_differences
from ..inspection.intervals import difference_interval, interval_estimate, with_progress
from ..metrics.evaluate import MetricLike, check_systems
from ..metrics.names import parse_name, with_cutoff
from ..model_selection.k_fold import check_query_cv
from ..query_ids import group_rows
from ..query_ids.lookup import source_or_ids
from ..rankers import QueryRanker
from ..ranking import read_queries
from .display import (
    Display,
    Plot,
    axis_label,
    by_name,
    draw_grid,
    literal,
    model_name,
    required_ids,
    scores_by_name,
    ticks_apart,
    with_style,
)
from .palette import line_style, text_color

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection
    from matplotlib.lines import Line2D

LARGEST_DEFAULT_CUTOFF = 20


class CutoffDisplay(Display):
    """A metric against its cut-off."""

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike | Mapping[str, ArrayLike],
        *,
        groups: QueryIds | None = None,
        metric: str = "ndcg",
        k: int | Iterable[int] | None = None,
        sample_weight: ArrayLike | None = None,
        like: Library | None = None,
        unjudged: Unjudged = "error",
        name: str = "model",
        **options: Any,
    ) -> Self:
        """Plot scores of documents.

        Parameters
        ----------
        y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
            Relevance labels.
        y_score : array-like of the same shape as `y_true`, or dict of str to array-like
            Scores of one or several models, by name.
        groups : array-like of shape (n_documents,), default=None
            Query ids.
        metric : str, default="ndcg"
            Name of a metric that has a cut-off, with any options, without the cut-off.
        k : int or iterable of int, default=None
            Cut-offs; an integer means 1 to k, and None 1 to 20, or to the size of the longest query
            if that is less.
        sample_weight : array-like of shape (n_documents,), default=None
            Query weights, constant within each query.
        like : str, default=None
            Library whose conventions to use, as in `evaluate`.
        unjudged : {"error", "irrelevant", "drop"}, default="error"
            Rule of the metrics for documents with label NaN, as in `evaluate`.
        name : str, default="model"
            Name of a single model.
        **options
            Any other argument of `from_query_scores`.

        Returns
        -------
        Display
            The plotted display.
        """
        models = by_name(y_score, name)
        check_systems(y_true, models)
        longest = LARGEST_DEFAULT_CUTOFF
        if k is None:
            first = next(iter(models.values()))
            longest = int(read_queries(y_true, first, groups=groups).sizes.max())
        metrics = [at_cutoff(metric, cutoff) for cutoff in read_cutoffs(k, longest)]
        scores = query_scores(
            y_true, models, metrics, groups=groups, sample_weight=sample_weight, like=like,
            unjudged=unjudged,
        )  # fmt: skip
        return cls.from_query_scores(scores, metric=metric, **options)

    @classmethod
    def from_query_scores(cls, systems: Any, *, metric: str | None = None, **options: Any) -> Self:
        """Plot results of `query_scores`; each display describes its arguments."""
        raise NotImplementedError


def at_cutoff(metric: str, k: int) -> str:
    """``"map(threshold=1)"`` at 5 is ``"map@5(threshold=1)"``."""
    name, options = parse_name(metric) if isinstance(metric, str) else ("", ())
    if not name or "k" in dict(options):
        raise ValueError(
            "metric must be the name of a metric without a cut-off, such as 'ndcg'; got "
            f"{metric!r}. Give the cut-offs as k."
        )
    return with_cutoff(metric, k)


def read_cutoffs(k: int | Iterable[int] | None, longest: int) -> list[int]:
    """Distinct cut-offs, ascending; None means 1 to 20, or to `longest`."""
    if k is None:
        return list(range(1, min(longest, LARGEST_DEFAULT_CUTOFF) + 1))
    if not isinstance(k, Iterable):
        return list(range(1, check_count("k", k, 1) + 1))
    cutoffs = [check_cutoff(cutoff) for cutoff in k]
    if None in cutoffs or not cutoffs:
        raise ValueError(f"k must hold at least one positive integer; got {k!r}.")
    return sorted({int(cutoff) for cutoff in cutoffs if cutoff is not None})


def columns_by_cutoff(metrics: Sequence[str], metric: str | None) -> tuple[str, Array, list[str]]:
    """Name without cut-off, cut-offs and columns of a metric; None is the first at several."""
    by_name: dict[str, dict[int, str]] = {}
    for column in metrics:
        if match := re.fullmatch(r"([^@(]+)@(\d+)(\(.*\))?", column):
            base = match[1] + (match[3] or "")
            by_name.setdefault(base, {})[int(match[2])] = column
    if metric is None:
        several = (name for name, columns in by_name.items() if len(columns) > 1)
        metric = next(several, next(iter(by_name), None))
    elif metric not in by_name:
        metric = next((name for name in by_name if axis_label(name) == axis_label(metric)), metric)
    if metric is None or metric not in by_name:
        raise ValueError(
            f"the scores hold {metric or 'a metric'!r} at no cut-off; they hold "
            f"{', '.join(metrics)}. Compute it as query_scores(..., ['ndcg@1', 'ndcg@5'])."
        )
    cutoffs = sorted(by_name[metric])
    if len(cutoffs) == 1:
        raise ValueError(
            f"the scores hold {metric!r} at one cut-off, {cutoffs[0]}, of which there is no curve. "
            "Compute several by query_scores(..., ['ndcg@1', 'ndcg@5'])."
        )
    return metric, np.array(cutoffs), [by_name[metric][k] for k in cutoffs]


@dataclass(kw_only=True, eq=False, repr=False)
class CutoffCurveDisplay(CutoffDisplay):
    """A metric against its cut-off, for one or several models.

    The confidence bands of several models are not those of their differences, which
    `DifferenceCurveDisplay` shows, and are therefore drawn on request only.

    Use `from_estimator`, `from_predictions` or `from_query_scores` to create one; parameters are
    stored as attributes.

    Parameters
    ----------
    k : ndarray of int of shape (n_cutoffs,)
        Cut-offs.
    means : dict of str to ndarray of shape (n_cutoffs,)
        Mean of the metric at each cut-off, by model.
    intervals : dict of str to ndarray of shape (n_cutoffs, 2)
        Lower and upper ends of the confidence intervals, by model.
    metric : str
        Name of the metric, without a cut-off.
    confidence : float, default=0.95
        Confidence level of the intervals.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Axes and figure of the last plot.
    lines_ : list of matplotlib Line2D
        One curve per model.
    bands_ : list of matplotlib PolyCollection
        One confidence band per model; empty without bands.

    Examples
    --------
    >>> from sklearn_rankscore import CutoffCurveDisplay, make_ranking
    >>> X, y, groups = make_ranking(random_state=0)
    >>> models = {"first feature": X[:, 0], "sum of two": X[:, 0] + X[:, 1] / 2}
    >>> display = CutoffCurveDisplay.from_predictions(y, models, groups=groups, metric="ndcg")
    >>> display.ax_.get_ylabel()
    'NDCG@k'
    """

    k: Any
    means: Mapping[str, Array]
    intervals: Mapping[str, Array]
    metric: str
    confidence: float = 0.95
    lines_: list[Line2D] = field(init=False)
    bands_: list[PolyCollection] = field(init=False)

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
            Results that hold one metric at several cut-offs, such as "ndcg@1" and "ndcg@5", the
            same ones for all models.
        metric : str, default=None
            Name of the metric without the cut-off; None means the first that has several.
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
        CutoffCurveDisplay
            The plotted display.
        """
        named = scores_by_name(systems, name)
        first, *others = named
        metric, k, columns = columns_by_cutoff(named[first].metrics, metric)
        columns_of = {first: columns}
        for model in others:
            _, cutoffs, columns_of[model] = columns_by_cutoff(named[model].metrics, metric)
            if not np.array_equal(k, cutoffs):
                raise ValueError(
                    f"all models must have {metric} at the same cut-offs; {first!r} has it at "
                    f"{k.tolist()}, {model!r} at {cutoffs.tolist()}. Compute it at the same ones."
                )
        means, intervals = {}, {}
        for model, scores in named.items():
            own = columns_of[model]
            values = scores.values[:, [scores.column(column) for column in own]]
            part = QueryScores(scores.ids, values, own, scores.weights)
            ends = part.interval(
                confidence, method=method, n_resamples=n_resamples, random_state=random_state
            )
            means[model] = np.array(list(part.mean().values()))
            intervals[model] = np.array(list(ends.values()))
        display = cls(k=k, means=means, intervals=intervals, metric=metric, confidence=confidence)
        return display.plot(ax, **kwargs)

    def plot(self, ax: Axes | None = None, *, bands: bool | None = None, **kwargs: Any) -> Self:
        """Plot curves and confidence bands.

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
        CutoffCurveDisplay
            The display itself.
        """
        ax = self._prepare(ax)
        self.lines_, self.bands_ = draw_curves(
            ax, self.k, self.means, self.intervals, kwargs, bands=bands
        )
        label_cutoffs(ax, self.k)
        ax.set_ylabel(axis_label(self.metric, "@k"))
        self._finish(
            legend_title=f"{self.confidence * 100:g} % confidence bands" if self.bands_ else None
        )
        return self


@dataclass(kw_only=True, eq=False, repr=False)
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

    k: Any
    differences: Mapping[str, Array]
    intervals: Mapping[str, Array]
    metric: str
    baseline: str = "baseline"
    confidence: float = 0.95
    positions: Sequence[int] | None = None
    lines_: list[Line2D] = field(init=False)
    bands_: list[PolyCollection] = field(init=False)
    zero_line_: Line2D = field(init=False)

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
        self.zero_line_ = ax.axhline(
            0, color=text_color(), linewidth=1, linestyle=":", label=literal(self.baseline)
        )
        self.lines_, self.bands_ = draw_curves(
            ax, self.k, self.differences, self.intervals, kwargs, bands=True,
            positions=self.positions or range(1, len(self.differences) + 1),
        )  # fmt: skip
        label_cutoffs(ax, self.k)
        ax.set_ylabel(f"difference in {axis_label(self.metric, '@k')}")
        self._finish(legend_title=f"{self.confidence * 100:g} % confidence bands of the difference")
        return self


@dataclass(kw_only=True, eq=False, repr=False)
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

    max_queries: Any
    means: Mapping[str, Array]
    intervals: Mapping[str, Array]
    metric: str
    confidence: float = 0.95
    lines_: list[Line2D] = field(init=False)
    bands_: list[PolyCollection] = field(init=False)

    def __post_init__(self) -> None:
        self.max_queries = np.asarray(self.max_queries)

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
        for model, unfitted in by_name(estimator, model_name(estimator)).items():
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
            ax, self.max_queries, self.means, self.intervals, kwargs, bands=bands
        )
        ax.set_xscale("log")
        ticks_apart(ax, np.unique(self.max_queries), ",d")
        ax.set_xlabel("training queries")
        ax.set_ylabel(axis_label(self.metric))
        draw_grid(ax, "y")
        self._finish(
            legend_title=f"{self.confidence * 100:g} % confidence bands" if self.bands_ else None
        )
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
        sizes = {max(round(fraction * n_train), 2) for fraction in (0.05, 0.1, 0.25, 0.5, 1)}
    else:
        sizes = {int(check_count("max_queries", size, 1)) for size in max_queries}
    if not sizes:
        raise ValueError("max_queries must hold at least one number of queries; got none.")
    return sorted({min(size, n_train) for size in sizes})


def draw_curves(
    ax: Axes,
    x: Array,
    values: Mapping[str, Array],
    intervals: Mapping[str, Array],
    kwargs: dict[str, Any],
    *,
    bands: bool | None = None,
    positions: Sequence[int] | None = None,
) -> tuple[list[Line2D], list[PolyCollection]]:
    """The curve of each system, and its band if asked for; None means for a single curve only."""
    from matplotlib import lines as matplotlib_lines

    if bands is None:
        bands = len(values) == 1 and not ax.lines
    check_flag("bands", bands)
    # curves already on these axes have taken the first styles
    at = range(len(ax.lines), len(ax.lines) + len(values)) if positions is None else positions
    lines: list[Line2D] = []
    drawn_bands: list[PolyCollection] = []
    for position, (name, means) in zip(at, values.items(), strict=True):
        style = {**line_style(position), "markersize": 4.5, "linewidth": 1.8}
        style["label"] = literal(name)
        (line,) = ax.plot(x, means, **with_style(style, kwargs, matplotlib_lines.Line2D))
        lines.append(line)
        if bands:
            band = ax.fill_between(x, *intervals[name].T, color=line.get_color(), alpha=0.2)
            band.set_linewidth(0)
            drawn_bands.append(band)
    return lines, drawn_bands


def label_cutoffs(ax: Axes, k: Array) -> None:
    """Ticks at some of the cut-offs, and a grid."""
    from matplotlib.ticker import MaxNLocator

    ax.set_xlabel("cut-off k")
    draw_grid(ax, "y")
    if len(k) <= 10 and k[-1] > 20 * k[0]:
        ax.set_xscale("log")
    ticks = k
    if len(k) > 10:
        locator = MaxNLocator(6, integer=True, steps=[1, 2, 5, 10])
        even = np.asarray(locator.tick_values(k[0], k[-1])).astype(int)
        ticks = np.array([k[0], *even[(even > k[0] + 1) & (even <= k[-1])]])
    ticks_apart(ax, ticks)
