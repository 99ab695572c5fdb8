"""A metric against its cut-off, after scikit-learn's Display convention."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from .._typing import Array, IntervalMethod, MatrixLike, QueryIds, Seed
from .._validation import check_cutoff
from ..inspection.per_query import measure_per_query, resolve_per_query
from ..metrics.names import parse_name, with_cutoff
from ..metrics.systems import check_systems
from ..ranking import read_queries
from .axes import COLOURS, axis_label, ids_and_scores, normalize_style, prepare_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D

LINE_STYLES = ("-", "--", "-.", ":")
MARKERS = "os^Dv*P"
LARGEST_DEFAULT_CUTOFF = 20


class CutoffCurveDisplay:
    """A metric against its cut-off, for one or several models, with confidence bands.

    Use `from_estimator` or `from_predictions` to create one; parameters are stored as attributes.

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

    ax_: Axes
    figure_: Figure | SubFigure
    lines_: list[Line2D]
    bands_: list[PolyCollection]

    def __init__(
        self,
        *,
        k: Array,
        means: Mapping[str, Array],
        intervals: Mapping[str, Array],
        metric: str,
        confidence: float = 0.95,
    ) -> None:
        self.k, self.means, self.intervals = np.asarray(k), means, intervals
        self.metric, self.confidence = metric, confidence

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: MatrixLike,
        y: ArrayLike,
        *,
        groups: QueryIds | str | None = None,
        **options: Any,
    ) -> CutoffCurveDisplay:
        """Plot the curves of fitted estimators.

        Parameters
        ----------
        estimator : estimator object or dict of str to estimator
            One or several models, by name.
        X : array-like or DataFrame of shape (n_documents, n_features)
            Documents.
        y : array-like of shape (n_documents,)
            Relevance labels.
        groups : array-like of shape (n_documents,) or str, default=None
            Query ids, or the name of their column or index level. None means a column or index
            level ``qid`` of X or an index level ``qid`` of y.
        **options
            Any other argument of `from_predictions`.

        Returns
        -------
        CutoffCurveDisplay
            The plotted display.
        """
        ids, scores = ids_and_scores(estimator, X, y, groups, cls.__name__)
        return cls.from_predictions(y, scores, groups=ids, **options)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike | Mapping[str, ArrayLike],
        *,
        groups: QueryIds | None = None,
        metric: str = "ndcg",
        k: Iterable[int] | None = None,
        sample_weight: ArrayLike | None = None,
        confidence: float = 0.95,
        method: IntervalMethod = "auto",
        n_resamples: int = 9999,
        random_state: Seed = None,
        name: str = "model",
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> CutoffCurveDisplay:
        """Plot the curves of scores.

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
        k : iterable of int, default=None
            Cut-offs; None means 1 to 20, or to the size of the longest query if that is less.
        sample_weight : array-like of shape (n_documents,), default=None
            Query weights, constant within each query.
        confidence, method, n_resamples, random_state
            See `QueryScores.interval`.
        name : str, default="model"
            Name of a single model.
        ax : matplotlib Axes, default=None
            Axes to plot on; None creates a figure.
        **kwargs
            Keyword arguments of matplotlib's ``plot``.

        Returns
        -------
        CutoffCurveDisplay
            The plotted display.
        """
        models = y_score if isinstance(y_score, Mapping) else {name: y_score}
        check_systems(y_true, models)
        queries = {
            model: read_queries(y_true, scores, groups=groups, sample_weight=sample_weight)
            for model, scores in models.items()
        }
        cutoffs = _cutoffs(k, max(int(read.sizes.max()) for read in queries.values()))
        metrics = resolve_per_query([_at_cutoff(metric, cutoff) for cutoff in cutoffs])
        means, intervals = {}, {}
        for model, read in queries.items():
            measured = measure_per_query(read, metrics)
            interval = measured.interval(
                confidence, method=method, n_resamples=n_resamples, random_state=random_state
            )
            means[model] = np.array(list(measured.mean().values()))
            intervals[model] = np.array(list(interval.values()))
        display = cls(
            k=cutoffs, means=means, intervals=intervals, metric=metric, confidence=confidence
        )
        return display.plot(ax, **kwargs)

    def plot(
        self, ax: Axes | None = None, *, bands: bool = True, **kwargs: Any
    ) -> CutoffCurveDisplay:
        """Plot curves and confidence bands.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to plot on; None creates a figure.
        bands : bool, default=True
            Whether to plot the confidence bands.
        **kwargs
            Keyword arguments of matplotlib's ``plot``.

        Returns
        -------
        CutoffCurveDisplay
            The display itself.
        """
        self.ax_ = ax = prepare_axes(ax, "CutoffCurveDisplay")
        self.figure_ = ax.figure
        self.lines_, self.bands_ = [], []
        # curves already on these axes have taken the first styles
        for i, (name, means) in enumerate(self.means.items(), start=len(ax.lines)):
            style: dict[str, Any] = {
                "color": COLOURS[i % len(COLOURS)],
                "linestyle": LINE_STYLES[i % len(LINE_STYLES)],
                "marker": MARKERS[i % len(MARKERS)],
                "markersize": 4.5,
                "linewidth": 1.8,
                "label": name,
                **normalize_style(kwargs, "Line2D"),
            }
            (line,) = ax.plot(self.k, means, **style)
            self.lines_.append(line)
            if bands:
                low, high = self.intervals[name].T
                style = {"color": line.get_color(), "alpha": 0.15, "linewidth": 0}
                self.bands_.append(ax.fill_between(self.k, low, high, **style))
        _label_cutoffs(ax, self.k)
        ax.set_ylabel(axis_label(self.metric, "@k"))
        title = f"{self.confidence * 100:g} % confidence bands" if bands else None
        ax.legend(title=title, frameon=False, handlelength=3)
        return self


def _at_cutoff(metric: str, k: int) -> str:
    """``"map(threshold=1)"`` at 5 is ``"map@5(threshold=1)"``."""
    name, options = parse_name(metric) if isinstance(metric, str) else ("", ())
    if not name or "k" in dict(options):
        raise ValueError(
            "metric must be the name of a metric without a cut-off, such as 'ndcg'; got "
            f"{metric!r}. Give the cut-offs as k."
        )
    return with_cutoff(metric, k)


def _cutoffs(k: Iterable[int] | None, longest: int) -> Array:
    if k is None:
        return np.arange(1, min(longest, LARGEST_DEFAULT_CUTOFF) + 1)
    cutoffs = [check_cutoff(cutoff) for cutoff in k] if isinstance(k, Iterable) else []
    if None in cutoffs or not cutoffs:
        raise ValueError(f"k must hold at least one positive integer; got {k!r}.")
    return np.unique(np.array(cutoffs))


def _label_cutoffs(ax: Axes, k: Array) -> None:
    from matplotlib.ticker import MaxNLocator

    ax.set_xlabel("cut-off k")
    ax.grid(axis="y", alpha=0.3)
    ticks = k
    if len(k) > 10:
        even = np.asarray(
            MaxNLocator(6, integer=True, steps=[1, 2, 5, 10]).tick_values(k[0], k[-1])
        )
        ticks = np.array([k[0], *even[(even > k[0] + 1) & (even <= k[-1])]])
    ax.set_xticks(ticks)
