"""Differences of two models by query, after scikit-learn's Display convention."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..ranking.arrays import Array
from .compare import paired
from .drawing import COLOURS, new_axes, predictions, shown, style_of
from .query_scores import Interval, QueryScores, query_scores


class QueryDeltaDisplay:
    """Differences of two models for every query, sorted, with wins and losses.

    Use `from_estimator`, `from_predictions` or `from_query_scores`; parameters become attributes.

    Parameters
    ----------
    deltas : ndarray of shape (n_queries,)
        Difference for each query, the model's value less the baseline's.
    metric : str
        Name of the metric.
    baseline, model : str
        Names of the two.
    weights : ndarray of shape (n_queries,), default=None
        Weights of the queries in the mean.
    interval : Interval, default=None
        Confidence interval of the mean difference.
    confidence : float, default=0.95
        Its level.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn last.
    wins_, losses_ : matplotlib artists
        Areas of the queries won and lost.
    mean_line_ : matplotlib Line2D
        The mean difference.

    Examples
    --------
    >>> from sklearn_rankscore import QueryDeltaDisplay, make_ranking
    >>> X, y, groups = make_ranking(random_state=0)
    >>> models = {"one": X[:, 0], "two": X[:, 0] + X[:, 1] / 2}
    >>> display = QueryDeltaDisplay.from_predictions(y, models, groups=groups, metric="ndcg@10")
    >>> display.ax_.get_ylabel()
    'difference in NDCG@10'
    """

    ax_: Any
    figure_: Any
    wins_: Any
    losses_: Any
    mean_line_: Any

    def __init__(
        self,
        *,
        deltas: Array,
        metric: str,
        baseline: str = "baseline",
        model: str = "model",
        weights: Array | None = None,
        interval: Interval | None = None,
        confidence: float = 0.95,
    ) -> None:
        self.deltas, self.metric = np.asarray(deltas, dtype=np.float64), metric
        self.baseline, self.model, self.weights = baseline, model, weights
        self.interval, self.confidence = interval, confidence
        if not len(self.deltas):
            raise ValueError(f"there is no query on which {metric!r} is defined for both models.")

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, groups: Any = None, **options: Any
    ) -> QueryDeltaDisplay:
        """Draw it for two fitted estimators.

        Parameters
        ----------
        estimator : dict of str to estimator
            The two models, under the names to show.
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
        QueryDeltaDisplay
            The drawn display.
        """
        ids, scores = predictions(_two(estimator), X, y, groups, cls.__name__)
        return cls.from_predictions(y, scores, groups=ids, **options)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        groups: Any = None,
        metric: Any = "ndcg@10",
        sample_weight: Any = None,
        **options: Any,
    ) -> QueryDeltaDisplay:
        """Draw it for the scores of two models.

        Parameters
        ----------
        y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
            Relevance of each document.
        y_score : dict of str to array-like
            Scores of the two models, under the names to show.
        groups : array-like of shape (n_documents,), default=None
            Query id of each document.
        metric : str or callable, default="ndcg@10"
            The metric.
        sample_weight : array-like of shape (n_documents,), default=None
            Weight of each document's query.
        **options
            Any other argument of `from_query_scores`.

        Returns
        -------
        QueryDeltaDisplay
            The drawn display.
        """
        scores = {
            name: query_scores(y_true, one, metric, groups=groups, sample_weight=sample_weight)
            for name, one in _two(y_score).items()
        }
        return cls.from_query_scores(scores, **options)

    @classmethod
    def from_query_scores(
        cls,
        systems: Mapping[str, QueryScores],
        *,
        metric: str | None = None,
        baseline: str | None = None,
        confidence: float = 0.95,
        method: str = "bootstrap",
        n_resamples: int = 9999,
        random_state: Any = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> QueryDeltaDisplay:
        """Draw it for results of `query_scores` or `cross_val_query_scores`.

        Parameters
        ----------
        systems : dict of str to QueryScores
            Results of the two models for the same queries.
        metric : str, default=None
            Which of their metrics; None takes the first.
        baseline : str, default=None
            The model whose values are taken away; None takes the first.
        confidence, method, n_resamples, random_state
            See `QueryScores.interval`.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        **kwargs
            Passed on to matplotlib's ``stairs``.

        Returns
        -------
        QueryDeltaDisplay
            The drawn display.
        """
        names = list(_two(systems))
        if baseline is not None:
            if baseline not in names:
                raise ValueError(f"baseline={baseline!r} is not one of {names}.")
            names.sort(key=lambda name: name != baseline)
        first, second = names
        both = paired(systems[first], systems[second], (first, second))
        metric = both.metrics[0] if metric is None else metric
        counted = both.counted()[:, both.column(metric)]
        interval = both.interval(
            confidence, method=method, n_resamples=n_resamples, random_state=random_state
        )[metric]
        display = cls(
            deltas=both[metric][counted],
            metric=metric,
            baseline=first,
            model=second,
            weights=None if both.weights is None else both.weights[counted],
            interval=interval,
            confidence=confidence,
        )
        return display.plot(ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> QueryDeltaDisplay:
        """Draw the sorted differences.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        **kwargs
            Passed on to matplotlib's ``stairs``.

        Returns
        -------
        QueryDeltaDisplay
            The display itself.
        """
        self.ax_ = ax = new_axes(ax, "QueryDeltaDisplay")
        self.figure_ = ax.figure
        deltas = -np.sort(-self.deltas)
        edges = np.arange(len(deltas) + 1)
        n_wins, n_losses = int((deltas > 0).sum()), int((deltas < 0).sum())
        n_ties = len(deltas) - n_wins - n_losses
        area = {"fill": True, "linewidth": 0, **style_of(kwargs, "StepPatch")}
        for attribute, part, colour, word, count in (
            ("wins_", np.maximum(deltas, 0), COLOURS[0], "wins", n_wins),
            ("losses_", np.minimum(deltas, 0), COLOURS[1], "losses", n_losses),
        ):
            label = f"{word} {count:,} ({count / len(deltas):.0%})"
            artist = ax.stairs(part, edges, **{"color": colour, "label": label, **area})
            setattr(self, attribute, artist)
        ax.axhline(0, color="0.3", linewidth=0.8)
        self.mean_line_ = ax.axhline(
            self._mean(), color="black", linestyle="--", linewidth=1.4, label=self._mean_label()
        )
        ax.set_xlim(0, len(deltas))
        if deltas.any():  # wins and losses to the same scale, and room for the legend
            ax.set_ylim(np.array([-1.05, 1.05]) * np.abs(deltas).max())
        ax.set_xlabel(f"queries, sorted by difference ({n_ties:,} ties)")
        ax.set_ylabel(f"difference in {shown(self.metric)}")
        ax.set_title(f"{self.model} − {self.baseline}", fontsize="medium")
        ax.legend(frameon=False)
        return self

    def _mean(self) -> float:
        return float(np.average(self.deltas, weights=self.weights))

    def _mean_label(self) -> str:
        if self.interval is None:
            return f"mean {self._mean():+.3f}"
        low, high = (f"{end:+.3f}" for end in self.interval)
        return f"mean {self._mean():+.3f}, {self.confidence * 100:g} % interval [{low}, {high}]"


def _two(models: Any) -> Mapping[str, Any]:
    if not isinstance(models, Mapping) or len(models) != 2:
        what = len(models) if isinstance(models, Mapping) else type(models).__name__
        raise ValueError(
            f"two models are compared: pass a dict of two names, the baseline first; got {what}."
        )
    return models
