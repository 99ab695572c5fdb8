"""How the scores of documents are distributed for each label."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, Self, get_args

import numpy as np
from numpy.typing import ArrayLike

from .._typing import Array, QueryIds, Unjudged
from .._validation import check_choice
from ..inspection.segments import SegmentColumn, bin_segments
from ..metrics.evaluate import by_system
from ..metrics.segment import MISSING
from ..ranking import Queries, read_queries
from ..ranking.queries import apply_rule, is_judged
from .axes import draw_grid, finish_axes
from .display import Display, by_name
from .palette import system_color, system_hatch, text_color
from .text import literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Scale = Literal["score", "query"]
LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
WIDTH = 0.7


class LabelScoresDisplay(Display):
    """Distribution of the scores of documents for each label, as boxes.

    A box has the quartiles of the scores, with whiskers from the 5 % to the 95 % quantile. A good
    ranker gives higher scores to higher labels. Use `from_estimator` or `from_predictions` to
    create one; parameters are stored as attributes.

    Parameters
    ----------
    labels : sequence of str
        The labels; more than ten different numbers are binned by quartile.
    quantiles : dict of str to ndarray of shape (n_labels, 5)
        The 5 %, 25 %, 50 %, 75 % and 95 % quantiles of the scores, by model; nan without a score.
    documents : array-like of shape (n_labels,)
        Number of documents of each label.
    scale : {"score", "query"}, default="score"
        Whether scores are standardized within each query.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Axes and figure of the last plot.
    boxes_ : dict of str to dict
        What matplotlib's ``bxp`` returns, by model.

    Examples
    --------
    >>> from sklearn_rankscore import LabelScoresDisplay, make_ranking
    >>> X, y, groups = make_ranking(random_state=0)
    >>> display = LabelScoresDisplay.from_predictions(y, X[:, 0], groups=groups)
    >>> display.labels
    ['0', '1', '2', '3', '4']
    """

    boxes_: dict[str, dict[str, Any]]

    def __init__(
        self,
        *,
        labels: list[str],
        quantiles: Mapping[str, Array],
        documents: ArrayLike,
        scale: Scale = "score",
    ) -> None:
        self.labels, self.quantiles = list(labels), quantiles
        self.documents, self.scale = np.asarray(documents), scale

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike | Mapping[str, ArrayLike],
        *,
        groups: QueryIds | None = None,
        scale: Scale = "score",
        unjudged: Unjudged = "error",
        name: str = "model",
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Plot scores of documents.

        Parameters
        ----------
        y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
            Relevance labels, NaN if nobody judged the document.
        y_score : array-like of the same shape as `y_true`, or dict of str to array-like
            Scores of one or several models, by name. Documents that were not retrieved, with a
            score of -inf, are left out.
        groups : array-like of shape (n_documents,), default=None
            Query ids.
        scale : {"score", "query"}, default="score"
            "query" subtracts the mean of the query and divides by its standard deviation. The order
            of the documents of a query determines a metric, whereas their level may differ between
            queries, in particular for models trained with a pairwise or listwise loss.
        unjudged : {"error", "irrelevant", "drop"}, default="error"
            Documents with label NaN belong to the box of label 0 ("irrelevant"), are left out
            ("drop"), or have a box of their own.
        name : str, default="model"
            Name of a single model.
        ax : matplotlib Axes, default=None
            Axes to plot on; None creates a figure.
        **kwargs
            Keyword arguments of matplotlib's ``bxp``.

        Returns
        -------
        LabelScoresDisplay
            The plotted display.
        """
        check_choice("scale", scale, get_args(Scale))

        def compute(scores: Any, groups: Any) -> Queries:
            read = read_queries(y_true, scores, groups=groups)
            return read if unjudged == "error" else apply_rule(read, unjudged)

        systems = by_system(compute, y_true, by_name(y_score, name), groups)
        given: Any = next(iter(systems.values())).y_true
        judged = is_judged(given)
        given = given if judged.all() else np.where(judged, given.astype(object), None)
        (column,) = bin_segments({"label": given})
        display = cls(
            labels=list(map(_name_of, column.values)),
            quantiles={model: _quantiles(read, column, scale) for model, read in systems.items()},
            documents=np.bincount(column.codes),
            scale=scale,
        )
        return display.plot(ax, **kwargs)

    def plot(self, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Plot one box for each label and model.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to plot on; None creates a figure.
        **kwargs
            Keyword arguments of matplotlib's ``bxp``.

        Returns
        -------
        LabelScoresDisplay
            The display itself.
        """
        ax = self._prepare(ax)
        n_models, self.boxes_ = len(self.quantiles), {}
        for i, (name, quantiles) in enumerate(self.quantiles.items()):
            stats: list[dict[str, Any]] = [
                dict(zip(("whislo", "q1", "med", "q3", "whishi"), row, strict=True))
                for row in quantiles.tolist()
            ]
            color = {"color": text_color(), "linewidth": 1}
            style: dict[str, Any] = {
                "positions": np.arange(len(stats)) + WIDTH * (i - (n_models - 1) / 2) / n_models,
                "widths": 0.85 * WIDTH / n_models, "showfliers": False, "patch_artist": True,
                "manage_ticks": False, "whiskerprops": color, "capprops": color,
                "medianprops": {**color, "linewidth": 2},
                "boxprops": {
                    "facecolor": system_color(i), "edgecolor": text_color(),
                    "hatch": system_hatch(i),
                },
                **kwargs,
            }  # fmt: skip
            self.boxes_[name] = ax.bxp(stats, **style)
            self.boxes_[name]["boxes"][0].set_label(literal(name))
        names = [f"{k}\n{n:,}" for k, n in zip(self.labels, self.documents, strict=True)]
        ax.set_xticks(np.arange(len(names)), names)
        ax.set_xlim(-0.5, len(names) - 0.5)
        ax.set_xlabel("label\nnumber of documents")
        ax.set_ylabel("score" if self.scale == "score" else "score, standardized by query")
        draw_grid(ax, "y")
        finish_axes(ax, legend_title="quartiles, whiskers from 5 % to 95 %")
        return self


def _name_of(label: Any) -> str:
    if label == MISSING:
        return "not judged"
    return f"{label:g}" if isinstance(label, int | float) else str(label)


def _quantiles(queries: Queries, column: SegmentColumn, scale: Scale) -> Array:
    """Quantiles of the retrieved documents of each label."""
    scores, is_retrieved = queries.y_score.astype(np.float64), np.isfinite(queries.y_score)
    if scale == "query":
        scores = _standardized(np.where(is_retrieved, scores, 0.0), is_retrieved, queries)
    rows = [scores[is_retrieved & (column.codes == code)] for code in range(len(column.values))]
    return np.array([np.quantile(r, LEVELS) if len(r) else np.full(5, np.nan) for r in rows])


def _standardized(scores: Array, is_retrieved: Array, queries: Queries) -> Array:
    codes, n = queries.grouping.codes, len(queries)
    counts = np.maximum(np.bincount(codes, is_retrieved, n), 1)
    centered = scores - (np.bincount(codes, scores, n) / counts)[codes]
    deviation = np.sqrt(np.bincount(codes, is_retrieved * centered**2, n) / counts)
    return np.asarray(centered / np.where(deviation > 0, deviation, 1.0)[codes])
