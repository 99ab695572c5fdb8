"""Curves: a metric or a difference against the cut-off or the number of training queries."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from .._typing import Array, IdSource, MatrixLike, QueryIds
from .._validation import check_count, check_flag
from ..comparison import QueryScores, compare, cross_val_query_scores
from ..comparison.cross_val import find_ids, folds_of
from ..comparison.intervals import with_progress
from ..metrics.evaluate import MetricLike
from ..metrics.names import parse_name, with_cutoff
from ..model_selection.k_fold import check_query_cv
from ..query_ids import group_rows
from ..rankers import QueryRanker
from ..ranking import read_queries
from . import style
from .display import Display, QueryScoresDisplay, by_name, model_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection
    from matplotlib.lines import Line2D

LARGEST_DEFAULT_CUTOFF = 20


class Curves(Display):
    """A curve for each system, with its confidence band if asked for."""

    lines_: list[Line2D]
    bands_: list[PolyCollection]
    intervals: Mapping[str, Array]
    confidence: float

    def _label(self, ax: Axes) -> Array:
        """Label both axes; what is on the horizontal one."""
        raise NotImplementedError

    def _draw_curves(
        self,
        ax: Axes,
        values: Mapping[str, Array],
        kwargs: dict[str, Any],
        bands: bool,
        positions: Iterable[int],
        of_bands: str = "",
    ) -> str:
        """Draw a curve for each system, whose position determines its look."""
        x, self.lines_, self.bands_ = self._label(ax), [], []
        for position, (name, means) in zip(positions, values.items(), strict=False):
            line = {**style.system_line(position), "markersize": 4.5, "linewidth": 1.8}
            line["label"] = style.literal(name)
            self.lines_ += ax.plot(x, means, **style.merged(line, kwargs))
            if bands:
                ends, color = np.transpose(self.intervals[name]), self.lines_[-1].get_color()
                alpha = min(0.2, 0.4 / len(values))
                band = ax.fill_between(x, *ends, color=color, alpha=alpha, linewidth=0)
                self.bands_.append(band)
        style.grid(ax, "y")
        return f"{self.confidence * 100:g} % confidence bands{of_bands}" if bands else ""


class MeanCurves(Curves):
    """Curves of means, of which only a single one has a band unless asked for."""

    means: Mapping[str, Array]

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
        Display
            The display itself.
        """
        return super().plot(ax, bands=bands, **kwargs)

    def _draw(self, ax: Axes | None, kwargs: dict[str, Any]) -> str:
        ax, bands = self._axes(ax), kwargs.pop("bands")
        # curves already on these axes have taken the first styles
        n_before = len(ax.lines)
        bands = len(self.means) == 1 and not n_before if bands is None else bands
        positions = range(n_before, n_before + len(self.means))
        return self._draw_curves(ax, self.means, kwargs, check_flag("bands", bands), positions)


class CutoffDisplay(QueryScoresDisplay, Curves):
    """A metric against its cut-off."""

    k: Any
    metric: str
    _what = ""

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike | Mapping[str, ArrayLike],
        *,
        groups: QueryIds | None = None,
        metric: Any = "ndcg",
        k: int | Iterable[int] | None = None,
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
        **options
            Any argument of `from_query_scores`, or one of `sample_weight`, `like`, `unjudged` and
            `name`, as in other displays.

        Returns
        -------
        Display
            The plotted display.
        """
        if not isinstance(metric, str) or "k" in dict(parse_name(metric)[1]):
            raise ValueError(f"metric must be a name without a cut-off, as 'ndcg'; got {metric!r}.")
        if k is None:
            first = next(iter(by_name(y_score, "").values()))
            k = min(max(read_queries(y_true, first, groups=groups).sizes), LARGEST_DEFAULT_CUTOFF)
        cutoffs = k if isinstance(k, Iterable) else range(1, check_count("k", k, 1) + 1)
        ordered = sorted({check_count("k", cutoff, 1) for cutoff in cutoffs})
        metrics = [with_cutoff(metric, cutoff) for cutoff in ordered]
        return super().from_predictions(y_true, y_score, groups=groups, metric=metrics, **options)

    def _label(self, ax: Axes) -> Array:
        ax.set(xlabel="cut-off k", ylabel=self._what + style.metric_label(self.metric, "@k"))
        k = np.asarray(self.k)
        if len(k) > 10:
            ax.locator_params(axis="x", integer=True)
        else:
            _ticks_apart(ax, k, is_log=k[-1] > 20 * k[0])
        return k


def columns_by_cutoff(metrics: Sequence[str], metric: str | None) -> tuple[str, dict[int, str]]:
    """Name without cut-off of a metric, and its columns; None is the first at several."""
    columns: dict[str, dict[int, str]] = {}
    for column in metrics:
        if match := re.fullmatch(r"([^@(]+)@(\d+)(\(.*\))?", column):
            columns.setdefault(match[1] + (match[3] or ""), {})[int(match[2])] = column
    for name, at in columns.items():
        is_chosen = metric is None or style.metric_label(name) == style.metric_label(metric)
        if is_chosen and len(at) > 1:
            return name, {k: at[k] for k in sorted(at)}
    raise ValueError(
        f"a curve needs {repr(metric) if metric else 'a metric'} at two cut-offs or more; got "
        f"{', '.join(metrics)}. Pass k=[1, 5], or query_scores(..., ['ndcg@1', 'ndcg@5'])."
    )


@dataclass(kw_only=True, eq=False, repr=False)
class CutoffCurveDisplay(MeanCurves, CutoffDisplay):
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

    @classmethod
    def _of(cls, systems: Mapping[str, QueryScores], metric: str | None, inference: Any) -> Self:
        metric, columns = columns_by_cutoff(next(iter(systems.values())).metrics, metric)
        means, intervals = {}, {}
        for name, scores in systems.items():
            mean, interval = scores.mean(), scores.interval(**inference)
            means[name] = np.array([mean[column] for column in columns.values()])
            intervals[name] = np.array([interval[column] for column in columns.values()])
        return cls(
            k=np.array([*columns]), means=means, intervals=intervals, metric=metric,
            confidence=inference["confidence"],
        )  # fmt: skip


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
    _what = "difference in "

    @classmethod
    def _of(cls, systems: Any, metric: str | None, inference: Any, baseline: Any = None) -> Self:
        # the intervals are those of every test, of which this one takes least time
        compared = compare(systems, baseline=baseline, test="t", **inference)
        first: Any = compared.baseline
        metric, columns = columns_by_cutoff(systems[first].metrics, metric)
        of = {
            name: [compared[column, name] for column in columns.values()]
            for name in systems
            if name != first
        }
        return cls(
            k=np.array([*columns]), metric=metric, baseline=first,
            differences={name: np.array([d.difference for d in ds]) for name, ds in of.items()},
            intervals={name: np.array([d.interval for d in ds]) for name, ds in of.items()},
            confidence=compared.confidence, positions=[[*systems].index(name) for name in of],
        )  # fmt: skip

    def _draw(self, ax: Axes | None, kwargs: dict[str, Any]) -> str:
        ax = self._axes(ax)
        self.zero_line_ = ax.axhline(
            0, color=style.text_color(), linewidth=1, linestyle=":",
            label=style.literal(self.baseline),
        )  # fmt: skip
        positions = self.positions or range(1, len(self.differences) + 1)
        return self._draw_curves(
            ax, self.differences, kwargs, True, positions, " of the difference"
        )


@dataclass(kw_only=True, eq=False, repr=False)
class QueryLearningCurveDisplay(MeanCurves):
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
        ax: Axes | None = None,
        **options: Any,
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
        ax : matplotlib Axes, default=None
            Axes to plot on; None creates a figure.
        **options
            How intervals are computed: any argument of `QueryScores.interval`. The `random_state`
            also chooses the training queries of estimators that are wrapped.

        Returns
        -------
        QueryLearningCurveDisplay
            The plotted display.
        """
        source, given, of_splits, ids = find_ids(cls.__name__, X, y, groups, cv)
        groups = source if given is None else given
        folds = folds_of(check_query_cv(cv), X, y, None, of_splits)
        codes = group_rows(ids, len(ids)).codes
        n_train = min(len(np.unique(codes[train])) for train, _ in folds)
        scoring: Any = {"metrics": metric, "cv": folds, "groups": groups, "n_jobs": n_jobs}
        sizes, means, intervals, name = _sizes(max_queries, n_train), {}, {}, ""
        seed = options.get("random_state")
        seed = None if isinstance(seed, np.random.Generator) else seed
        for model, unfitted in by_name(estimator, model_name(estimator)).items():
            if "max_queries" not in unfitted.get_params(deep=False):
                unfitted = QueryRanker(unfitted, groups=source, random_state=seed)
            results = [
                cross_val_query_scores(clone(unfitted).set_params(max_queries=n), X, y, **scoring)
                for n in with_progress(sizes, len(sizes), f"sizes of {model}")
            ]
            name = results[0].metrics[0]
            means[model] = np.array([scores.mean()[name] for scores in results])
            intervals[model] = np.array([scores.interval(**options)[name] for scores in results])
        return cls(
            max_queries=np.array(sizes), means=means, intervals=intervals, metric=name,
            confidence=options.get("confidence", 0.95),
        ).plot(ax)  # fmt: skip

    def _label(self, ax: Axes) -> Array:
        ax.set(xlabel="training queries", ylabel=style.metric_label(self.metric))
        _ticks_apart(ax, np.asarray(self.max_queries), is_log=True)
        return np.asarray(self.max_queries)


def _sizes(max_queries: Iterable[int] | None, n_train: int) -> list[int]:
    """Numbers of training queries, of at most `n_train`."""
    if max_queries is None:
        sizes = {max(round(fraction * n_train), 2) for fraction in (0.05, 0.1, 0.25, 0.5, 1)}
    else:
        sizes = {int(check_count("max_queries", size, 1)) for size in max_queries}
    if not sizes:
        raise ValueError("max_queries must hold at least one number of queries; got none.")
    return sorted({min(size, n_train) for size in sizes})


def _ticks_apart(ax: Axes, values: Array, *, is_log: bool) -> None:
    """Ticks at the first value, the last one, and those with a tenth of the axis between them."""
    at = np.log(values) if is_log else values
    gap, kept = (at[-1] - at[0]) / 9, [0]
    for i in range(1, len(values) - 1):
        if at[i] - at[kept[-1]] >= gap and at[-1] - at[i] >= gap:
            kept.append(i)
    ax.set_xscale("log" if is_log else "linear")
    ticks = np.unique(values[[*kept, -1]]).tolist()
    ax.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    ax.set_xticks([], minor=True)
