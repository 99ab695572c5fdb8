"""Displays of a metric against its cut-off."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from .._typing import Array, Library, QueryIds, Unjudged
from .._validation import check_count, check_cutoff
from ..inspection.query_scores import query_scores
from ..metrics.evaluate import check_systems
from ..metrics.names import parse_name, with_cutoff
from ..ranking import read_queries
from .axes import draw_grid
from .curves import without_overlap
from .display import Display, by_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
        metric = next((name for name in by_name if _are_equal(name, metric)), metric)
    if metric is None or metric not in by_name:
        raise ValueError(
            f"the scores hold {metric or 'a metric'!r} at no cut-off; they hold "
            f"{', '.join(metrics)}. Compute it as query_scores(..., ['ndcg@1', 'ndcg@5'])."
        )
    cutoffs = sorted(by_name[metric])
    if len(cutoffs) == 1:
        raise ValueError(
            f"the scores hold {metric!r} at one cut-off, {cutoffs[0]}, of which there is no curve. "
            "Compute several by query_scores(..., ['ndcg@1', 'ndcg@5']), or all up to k by "
            f"from_predictions(..., k={max(cutoffs[0], 2)})."
        )
    return metric, np.array(cutoffs), [by_name[metric][k] for k in cutoffs]


def label_cutoffs(ax: Axes, k: Array) -> None:
    """Ticks at some of the cut-offs, and a grid."""
    from matplotlib.ticker import MaxNLocator

    ax.set_xlabel("cut-off k")
    draw_grid(ax, "y")
    ticks = k
    if len(k) > 10:
        locator = MaxNLocator(6, integer=True, steps=[1, 2, 5, 10])
        even = np.asarray(locator.tick_values(k[0], k[-1]))
        ticks = np.array([k[0], *even[(even > k[0] + 1) & (even <= k[-1])]])
    labels = [str(int(tick)) for tick in ticks]
    ax.set_xticks(ticks[without_overlap(ax, ticks, labels)])


def _are_equal(name: str, other: str) -> bool:
    """Whether two names are spellings of one metric with the same options."""
    try:
        return parse_name(name) == parse_name(other)
    except ValueError:  # a name of the caller's own
        return False
