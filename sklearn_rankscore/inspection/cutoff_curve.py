"""A metric against its cut-off, after scikit-learn's Display convention."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ..metrics.names import parse_name
from ..metrics.options import cutoff
from ..ranking import read_queries
from ..ranking.arrays import Array
from .drawing import COLOURS, new_axes, predictions, shown, style_of
from .query_scores import QueryScores, per_query, resolve_per_query

LINES = ("-", "--", "-.", ":")
MARKERS = "os^Dv*P"
DEEPEST = 20


class CutoffCurveDisplay:
    """A metric against its cut-off, for one model or several, with confidence bands.

    Use `from_estimator` or `from_predictions`; parameters become attributes.

    Parameters
    ----------
    k : ndarray of int of shape (n_cutoffs,)
        Cut-offs.
    means : dict of str to ndarray of shape (n_cutoffs,)
        Mean of the metric at each cut-off, by model.
    intervals : dict of str to ndarray of shape (n_cutoffs, 2)
        Ends of the confidence intervals, by model.
    metric : str
        Name of the metric, without a cut-off.
    confidence : float, default=0.95
        Level of the intervals.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn last.
    lines_ : list of matplotlib Line2D
        One line a model.
    bands_ : list of matplotlib artists
        One band a model; empty without bands.

    Examples
    --------
    >>> from sklearn_rankscore import CutoffCurveDisplay, make_ranking
    >>> X, y, groups = make_ranking(random_state=0)
    >>> models = {"first feature": X[:, 0], "sum of two": X[:, 0] + X[:, 1] / 2}
    >>> display = CutoffCurveDisplay.from_predictions(y, models, groups=groups, metric="ndcg")
    >>> display.ax_.get_ylabel()
    'NDCG@k'
    """

    ax_: Any
    figure_: Any
    lines_: list[Any]
    bands_: list[Any]

    def __init__(
        self,
        *,
        k: Array,
        means: dict[str, Array],
        intervals: dict[str, Array],
        metric: str,
        confidence: float = 0.95,
    ) -> None:
        self.k, self.means, self.intervals = np.asarray(k), means, intervals
        self.metric, self.confidence = metric, confidence

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, groups: Any = None, **options: Any
    ) -> CutoffCurveDisplay:
        """Draw it for fitted estimators.

        Parameters
        ----------
        estimator : estimator object or dict of str to estimator
            One or several models, under the names to show.
        X : array-like or DataFrame of shape (n_documents, n_features)
            Documents.
        y : array-like of shape (n_documents,)
            Relevance.
        groups : array-like of shape (n_documents,) or str, default=None
            Query ids, or the name of their column or index level, if they do not come as ``qid``
            with X or y.
        **options
            Any other argument of `from_predictions`.

        Returns
        -------
        CutoffCurveDisplay
            The drawn display.
        """
        ids, scores = predictions(estimator, X, y, groups, cls.__name__)
        return cls.from_predictions(y, scores, groups=ids, **options)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        groups: Any = None,
        metric: Any = "ndcg",
        k: Any = None,
        sample_weight: Any = None,
        confidence: float = 0.95,
        method: str = "bootstrap",
        n_resamples: int = 9999,
        random_state: Any = None,
        name: str = "model",
        ax: Any = None,
        **kwargs: Any,
    ) -> CutoffCurveDisplay:
        """Draw it for scores.

        Parameters
        ----------
        y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
            Relevance of each document.
        y_score : array-like like `y_true`, or dict of str to array-like
            Scores of one or several models, under the names to show.
        groups : array-like of shape (n_documents,), default=None
            Query id of each document.
        metric : str, default="ndcg"
            Name of a metric that takes a cut-off, with any options, without the cut-off.
        k : iterable of int, default=None
            Cut-offs; None means 1 to 20, or to the longest query.
        sample_weight : array-like of shape (n_documents,), default=None
            Weight of each document's query.
        confidence, method, n_resamples, random_state
            See `QueryScores.interval`.
        name : str, default="model"
            Name to show for a single model.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        **kwargs
            Passed on to matplotlib's ``plot``.

        Returns
        -------
        CutoffCurveDisplay
            The drawn display.
        """
        models = y_score if isinstance(y_score, Mapping) else {name: y_score}
        if not models:
            raise ValueError("there is no model; pass scores, or a dict of names to scores.")
        means, intervals = {}, {}
        for model, scores in models.items():
            queries = read_queries(y_true, scores, groups=groups, sample_weight=sample_weight)
            cutoffs = _cutoffs(k, int(queries.sizes.max()))
            named = resolve_per_query([at_cutoff(metric, one) for one in cutoffs])
            values = per_query(queries, named.values())
            found = QueryScores(queries.ids, values, tuple(named), queries.weights)
            ends = found.interval(
                confidence, method=method, n_resamples=n_resamples, random_state=random_state
            )
            means[model] = np.array(list(found.mean().values()))
            intervals[model] = np.array(list(ends.values()))
        display = cls(
            k=np.array(cutoffs), means=means, intervals=intervals, metric=metric,
            confidence=confidence,
        )  # fmt: skip
        return display.plot(ax, **kwargs)

    def plot(self, ax: Any = None, *, bands: bool = True, **kwargs: Any) -> CutoffCurveDisplay:
        """Draw lines and bands.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        bands : bool, default=True
            Whether to draw the confidence intervals.
        **kwargs
            Passed on to matplotlib's ``plot``.

        Returns
        -------
        CutoffCurveDisplay
            The display itself.
        """
        self.ax_ = ax = new_axes(ax, "CutoffCurveDisplay")
        self.figure_ = ax.figure
        self.lines_, self.bands_ = [], []
        # curves that are there already keep their colours
        for i, (name, means) in enumerate(self.means.items(), start=len(ax.lines)):
            style = {
                "color": COLOURS[i % len(COLOURS)], "linestyle": LINES[i % len(LINES)],
                "marker": MARKERS[i % len(MARKERS)], "markersize": 4.5, "linewidth": 1.8,
                "label": name, **style_of(kwargs, "Line2D"),
            }  # fmt: skip
            self.lines_ += ax.plot(self.k, means, **style)
            if bands:
                low, high = self.intervals[name].T
                colour = self.lines_[-1].get_color()
                self.bands_.append(
                    ax.fill_between(self.k, low, high, color=colour, alpha=0.15, linewidth=0)
                )
        _label_cutoffs(ax, self.k)
        ax.set_ylabel(shown(self.metric, "@k"))
        level = f"{self.confidence * 100:g} % confidence bands" if bands else None
        ax.legend(title=level, frameon=False, handlelength=3)
        return self


def at_cutoff(metric: str, k: int) -> str:
    """``"map(threshold=1)"`` at 5 is ``"map@5(threshold=1)"``."""
    name, options = parse_name(metric) if isinstance(metric, str) else ("", ())
    if not name or "k" in dict(options):
        raise ValueError(
            "metric must be the name of a metric without a cut-off, such as 'ndcg'; the cut-offs "
            f"are k. Got {metric!r}."
        )
    return f"{name}@{k}{metric.replace(' ', '').removeprefix(name)}"


def _cutoffs(k: Any, longest: int) -> list[int]:
    if k is None:
        return list(range(1, min(longest, DEEPEST) + 1))
    cutoffs = [cutoff(one) for one in k] if isinstance(k, Iterable) else []
    if None in cutoffs or not cutoffs:
        raise ValueError(f"k must hold at least one positive integer; got {k!r}.")
    return sorted({one for one in cutoffs if one})


def _label_cutoffs(ax: Any, k: Array) -> None:
    from matplotlib.ticker import MaxNLocator

    ax.set_xlabel("cut-off k")
    ax.grid(axis="y", alpha=0.3)
    ticks = k
    if len(k) > 10:
        even = MaxNLocator(6, integer=True, steps=[1, 2, 5, 10]).tick_values(k[0], k[-1])
        ticks = np.array([k[0], *even[(even > k[0] + 1) & (even <= k[-1])]])
    ax.set_xticks(ticks)
