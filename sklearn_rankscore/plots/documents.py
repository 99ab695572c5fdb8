"""Plots of documents: their scores by label, and those of one query through two rankings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import rankdata
from sklearn.utils import check_consistent_length

from .._typing import Array, QueryIds, Unjudged
from .._validation import check_choice, check_count, check_number, examples
from ..comparison.segments import MISSING, bin_segments
from ..metrics.evaluate import by_system
from ..query_ids.lookup import check_same_order
from ..query_ids.read import comparable_ids, python_values
from ..ranking import Queries, read_queries
from ..ranking.queries import apply_rule, is_judged
from . import style
from .display import PredictionsDisplay, by_name, check_two

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Scale = Literal["score", "query"]
LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
WIDTH = 0.7
# characters in a line of a name on either side of the ranks
SIDE = 24


@dataclass(kw_only=True, eq=False, repr=False)
class LabelScoresDisplay(PredictionsDisplay):
    """Distribution of the scores of documents for each label, as boxes.

    A box has the quartiles of the scores, with whiskers from the 5 % to the 95 % quantile. A good
    ranker gives higher scores to higher labels. Use `from_estimator` or `from_predictions` to
    create one; parameters are stored as attributes. It is drawn by matplotlib's ``bxp``.

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

    labels: Sequence[str]
    quantiles: Mapping[str, Array]
    documents: Any
    scale: Scale = "score"

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
            Arguments of `plot`.

        Returns
        -------
        LabelScoresDisplay
            The plotted display.
        """
        check_choice("scale", scale, get_args(Scale))
        systems = read_systems(y_true, by_name(y_score, name), groups, unjudged)
        given: Any = next(iter(systems.values())).y_true
        judged = is_judged(given)
        given = given if judged.all() else np.where(judged, given.astype(object), None)
        (column,) = bin_segments({"label": given})
        names = ["not judged" if label == MISSING else label for label in column.values]
        return cls(
            labels=[f"{n:g}" if isinstance(n, int | float) else str(n) for n in names],
            quantiles={
                model: _quantiles(read, column.codes, len(names), scale)
                for model, read in systems.items()
            },
            documents=np.bincount(column.codes), scale=scale,
        ).plot(ax, **kwargs)  # fmt: skip

    def _draw(self, ax: Axes | None, kwargs: dict[str, Any]) -> str:
        ax, self.boxes_ = self._axes(ax), {}
        ink, n_models = {"color": style.text_color(), "linewidth": 1}, len(self.quantiles)
        for i, (name, quantiles) in enumerate(self.quantiles.items()):
            parts = ("whislo", "q1", "med", "q3", "whishi")
            stats: Any = [dict(zip(parts, row, strict=True)) for row in np.array(quantiles)]
            face = {"facecolor": style.system_color(i), "hatch": style.system_hatch(i)}
            boxes: dict[str, Any] = {
                "positions": np.arange(len(stats)) + WIDTH * (i - (n_models - 1) / 2) / n_models,
                "widths": 0.85 * WIDTH / n_models, "showfliers": False, "patch_artist": True,
                "manage_ticks": False, "whiskerprops": ink, "capprops": ink,
                "medianprops": {**ink, "linewidth": 2},
                "boxprops": {**face, "edgecolor": style.text_color()},
            }  # fmt: skip
            self.boxes_[name] = ax.bxp(stats, **boxes | kwargs)
            self.boxes_[name]["boxes"][0].set_label(style.literal(name))
        style.categories(ax, self.labels, [f"{n:,}" for n in self.documents])
        ax.set_xlabel("label\nnumber of documents")
        ax.set_ylabel("score" if self.scale == "score" else "score, standardized by query")
        style.grid(ax, "y")
        return "quartiles, whiskers from 5 % to 95 %"


def read_systems(
    y_true: Any, systems: Mapping[str, Any], groups: Any, unjudged: Unjudged
) -> dict[str, Queries]:
    """Labels and scores of each system; with the rule "error", unjudged documents stay."""

    def read(scores: Any, groups: Any) -> Queries:
        queries = read_queries(y_true, scores, groups=groups)
        return queries if unjudged == "error" else apply_rule(queries, unjudged)

    return by_system(read, y_true, systems, groups)


def _quantiles(queries: Queries, labels: Array, n_labels: int, scale: Scale) -> Array:
    """Quantiles of the scores of the retrieved documents of each label; nan without any."""
    scores, codes, n = queries.y_score.astype(np.float64), queries.grouping.codes, len(queries)
    retrieved = np.isfinite(scores)
    if scale == "query":
        scores = np.where(retrieved, scores, 0.0)
        counts = np.maximum(np.bincount(codes, retrieved, n), 1)
        scores = scores - (np.bincount(codes, scores, n) / counts)[codes]
        deviation = np.sqrt(np.bincount(codes, retrieved * scores**2, n) / counts)
        scores = scores / np.where(deviation > 0, deviation, 1.0)[codes]
    rows = [scores[retrieved & (labels == label)] for label in range(n_labels)]
    return np.array([np.quantile(r, LEVELS) if len(r) else np.full(5, np.nan) for r in rows])


@dataclass(kw_only=True, eq=False, repr=False)
class RankChangeDisplay(PredictionsDisplay):
    """The documents of one query through two rankings, as lines from rank to rank.

    Relevant documents are green if the second ranking has them higher, and orange if lower; all
    other documents are gray. Use `from_estimator` or `from_predictions` to create one; parameters
    are stored as attributes.

    Parameters
    ----------
    ranks : array-like of shape (n_documents, 2)
        Rank of each document in both rankings, from 1; inf if it was not retrieved.
    relevant : array-like of bool of shape (n_documents,)
        Whether each document is relevant.
    names : sequence of str
        Name of each document.
    systems : tuple of str
        Names of the two rankings.
    query : str
        Name of the query.
    k : int, default=10
        Documents are shown if they are among the first k in either ranking.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Axes and figure of the last plot.
    lines_ : list of matplotlib Line2D
        One line per document that is shown, by rank in the first ranking.

    Examples
    --------
    >>> from sklearn_rankscore import RankChangeDisplay
    >>> display = RankChangeDisplay.from_predictions(
    ...     [1, 0, 0], {"old": [0.1, 0.3, 0.2], "new": [0.5, 0.3, 0.2]}, groups=[7, 7, 7], query=7
    ... )
    >>> display.ranks.tolist()
    [[3.0, 1.0], [1.0, 2.0], [2.0, 3.0]]
    """

    ranks: Any
    relevant: Any
    names: Sequence[str]
    systems: tuple[str, str] = ("first", "second")
    query: str = ""
    k: int = 10

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: Mapping[str, ArrayLike],
        *,
        groups: QueryIds | None = None,
        query: Any = None,
        names: ArrayLike | str | None = None,
        k: int = 10,
        threshold: float = 0,
        unjudged: Unjudged = "error",
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Plot the documents of one query.

        Parameters
        ----------
        y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
            Relevance labels.
        y_score : dict of str to array-like
            Scores of the two models by name, the baseline first. Documents of equal score are
            ranked in input order, and those of score -inf were not retrieved.
        groups : array-like of shape (n_documents,), default=None
            Query ids.
        query : hashable, default=None
            Id of the query to plot; may be left out if it is the only one.
        names : array-like of shape (n_documents,) or str, default=None
            Names of all documents, or the index level of `y_true` that has them. None means their
            row numbers.
        k : int, default=10
            Documents are shown if they are among the first k in either ranking.
        threshold : float, default=0
            A document is relevant if its label exceeds this value.
        unjudged : {"error", "irrelevant", "drop"}, default="error"
            Documents with label NaN are shown with label 0 ("irrelevant"), left out ("drop"), or
            shown unchanged.
        ax : matplotlib Axes, default=None
            Axes to plot on; None creates a figure.
        **kwargs
            Arguments of `plot`.

        Returns
        -------
        RankChangeDisplay
            The plotted display.
        """
        threshold, k = check_number("threshold", threshold), check_count("k", k, 1)
        systems = by_name(y_score, "model")
        check_two(systems)
        (name, first), (other, second) = read_systems(y_true, systems, groups, "error").items()
        ids = python_values(first.ids)
        query = ids[0] if query is None and len(ids) == 1 else query
        *keys, key = comparable_ids([*ids, query])
        if key not in keys:
            raise ValueError(f"query must be one of the query ids, {examples(ids)}; got {query!r}.")
        rows = np.flatnonzero(first.grouping.codes == keys.index(key))
        judged = is_judged(first.y_true[rows])
        rows = rows[judged] if unjudged == "drop" else rows
        labels = first.y_true[rows]
        labels = np.where(judged, labels, 0) if unjudged == "irrelevant" else labels
        if isinstance(names, str):
            labeled: Any = y_true
            names = labeled.index.get_level_values(names)
        if names is not None:
            check_consistent_length(y_true, names)
            check_same_order(y_true=y_true, names=names)
        documents = rows if names is None else np.asarray(names).ravel()[rows]
        ranks = np.column_stack([_ranks(q.y_score[rows]) for q in (first, second)])
        if np.isinf(ranks).all():
            raise ValueError(f"neither system retrieved a document for query {query!r}.")
        return cls(
            ranks=ranks, relevant=labels > threshold,
            names=[f"{d} ({label:g})" for d, label in zip(documents, labels, strict=True)],
            systems=(name, other), query=str(query), k=k,
        ).plot(ax, **kwargs)  # fmt: skip

    def _draw(self, ax: Axes | None, kwargs: dict[str, Any]) -> str:
        ranks, relevant = np.asarray(self.ranks), np.asarray(self.relevant)
        shown = np.flatnonzero((ranks <= self.k).any(axis=1))
        shown = shown[np.argsort(ranks[shown, 0])]
        # other ranks than the first k are drawn on the line after them
        last = 1 + min(self.k, int(ranks[shown][np.isfinite(ranks[shown])].max()))
        at = np.minimum(ranks, last).astype(int)
        last = at[shown].max()
        ax = self._axes(ax, (7, 0.32 * last + 1.3))
        self.lines_ = []
        for document in shown.tolist():
            before, after = ranks[document]
            change = np.sign(before - after) if relevant[document] else 0
            line = {
                "color": style.outcome_color(change, change), "linewidth": 2, "marker": "o",
                "zorder": 3 if relevant[document] else 2, "markersize": 5,
            }  # fmt: skip
            self.lines_ += ax.plot([0, 1], at[document], **style.merged(line, kwargs))
            weight = "bold" if relevant[document] else "normal"
            name = style.literal(self.names[document], SIDE)
            for side, rank in enumerate((before, after)):
                if rank <= self.k:
                    _write(ax, f"{rank:g}", side, rank, fontweight=weight)
                    _write(ax, name, side, rank, distance=28, fontweight=weight)
        for side, beyond in enumerate(ranks[shown].T):
            texts = [f"> {self.k}"] if ((beyond > self.k) & np.isfinite(beyond)).any() else []
            texts += ["not retrieved"] if np.isinf(beyond).any() else []
            _write(ax, " or ".join(texts), side, last)
        ax.set(xlim=(-0.04, 1.04), ylim=(last + 0.5, 0.5), yticks=[])
        ax.spines[["left", "bottom"]].set_visible(False)
        ticks = ax.set_xticks([0, 1], [style.literal(name, style.LINE) for name in self.systems])
        ticks[0].label1.set_horizontalalignment("right")
        ticks[1].label1.set_horizontalalignment("left")
        ax.tick_params(length=0)
        title = f"query {style.literal(self.query)}: rank and label of its documents"
        return f"{title}, relevant ones in bold" if relevant[shown].any() else title


def _write(ax: Axes, text: str, side: int, rank: float, distance: float = 8, **font: Any) -> None:
    """A text beside the ranks on the left (0) or on the right (1)."""
    ax.annotate(
        text, (side, rank), xytext=(distance if side else -distance, 0),
        textcoords="offset points", ha="left" if side else "right", va="center",
        fontsize=style.small(), linespacing=1, **font,
    )  # fmt: skip


def _ranks(scores: Array) -> Array:
    """Ranks by descending score; ties in input order; inf if not retrieved."""
    return np.where(np.isneginf(scores), np.inf, rankdata(-scores, "ordinal"))
