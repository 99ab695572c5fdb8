"""A metric against its cut-off, after scikit-learn's Display convention."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from .._typing import Array, IntervalMethod, Seed
from ..inspection.query_scores import QueryScores
from .axes import axis_label, finish_axes
from .curves import draw_curves
from .cutoffs import CutoffDisplay, columns_by_cutoff, label_cutoffs
from .display import scores_by_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection
    from matplotlib.lines import Line2D


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
            ax, self.k, self.means, self.intervals, bands, kwargs
        )
        label_cutoffs(ax, self.k)
        ax.set_ylabel(axis_label(self.metric, "@k"))
        legend_title = f"{self.confidence * 100:g} % confidence bands" if self.bands_ else None
        finish_axes(ax, legend_title=legend_title)
        return self
