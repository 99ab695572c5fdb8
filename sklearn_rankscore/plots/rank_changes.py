"""The documents of one query through two rankings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from .._typing import Array, QueryIds, Unjudged
from .._validation import check_count, check_number, examples
from ..metrics.evaluate import by_system
from ..query_ids.lookup import check_same_order
from ..query_ids.read import as_key, as_keys, of_python
from ..ranking import Queries, read_queries
from ..ranking.queries import is_judged
from .axes import CHARACTER, finish_axes, normalize_style, tick_points, width
from .display import Display, check_two
from .palette import BETTER, MUTED, WORSE
from .text import fit_names, literal, wrap

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D


class RankChangeDisplay(Display):
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
    [[3, 1], [1, 2], [2, 3]]
    """

    lines_: list[Line2D]

    def __init__(
        self,
        *,
        ranks: ArrayLike,
        relevant: ArrayLike,
        names: Sequence[str],
        systems: tuple[str, str] = ("first", "second"),
        query: str = "",
        k: int = 10,
    ) -> None:
        self.ranks, self.relevant = np.asarray(ranks), np.asarray(relevant, dtype=bool)
        self.names, self.systems, self.query = list(names), systems, query
        self.k = check_count("k", k, 1)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: Mapping[str, ArrayLike],
        *,
        groups: QueryIds | None = None,
        query: Any = None,
        names: ArrayLike | None = None,
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
        names : array-like of shape (n_documents,), default=None
            Names of all documents. None means their row numbers.
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
            Keyword arguments of matplotlib's ``plot``.

        Returns
        -------
        RankChangeDisplay
            The plotted display.
        """
        threshold = check_number("threshold", threshold)

        def compute(scores: Any, groups: Any) -> Queries:
            return read_queries(y_true, scores, groups=groups)

        read = by_system(compute, y_true, check_two(y_score), groups)
        (name, first), (other, second) = read.items()
        rows, query = _rows(first, query)
        judged = is_judged(first.y_true[rows])
        rows = rows[judged] if unjudged == "drop" else rows
        labels = first.y_true[rows]
        labels = np.where(judged, labels, 0) if unjudged == "irrelevant" else labels
        documents = rows if names is None else _names(names, y_true, len(first.y_true))[rows]
        ranks = np.column_stack([_ranks(q.y_score[rows]) for q in (first, second)])
        if np.isinf(ranks).all():
            raise ValueError(f"neither system retrieved a document for query {query!r}.")
        display = cls(
            ranks=ranks,
            relevant=labels > threshold,
            names=[f"{d} ({label:g})" for d, label in zip(documents, labels, strict=True)],
            systems=(name, other),
            query=str(query),
            k=k,
        )
        return display.plot(ax, **kwargs)

    def plot(self, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Plot one line for each document.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to plot on; None creates a figure.
        **kwargs
            Keyword arguments of matplotlib's ``plot``.

        Returns
        -------
        RankChangeDisplay
            The display itself.
        """
        shown = np.flatnonzero((self.ranks <= self.k).any(axis=1))
        shown = shown[np.argsort(self.ranks[shown, 0])]
        ranks = self.ranks[shown]
        # other ranks than the first k are drawn on the line after them
        after = 1 + min(self.k, int(ranks[np.isfinite(ranks)].max()))
        at = np.minimum(ranks, after).astype(int)
        ax = self._prepare(ax, (7, 0.32 * at.max() + 1.3))
        style: dict[str, Any] = {"linewidth": 2, "marker": "o", "markersize": 5}
        style = {**style, **normalize_style(kwargs, "Line2D")}
        self.lines_ = []
        for document, ends in zip(shown.tolist(), at.tolist(), strict=True):
            (line,) = ax.plot([0, 1], ends, **{"color": self._color(document), **style})
            line.set_zorder(3 if self.relevant[document] else 2)
            self.lines_.append(line)
        self._write_names(ax, shown)
        self._label(ax, int(at.max()), ranks)
        return self

    def _color(self, document: int) -> str:
        before, after = self.ranks[document]
        if not self.relevant[document] or before == after:
            return MUTED
        return BETTER if after < before else WORSE

    def _write_names(self, ax: Axes, shown: Array) -> None:
        """Names of the documents on both sides, where they are among the first k."""
        size = tick_points(ax)
        names = _fit_documents(
            [self.names[i] for i in shown.tolist()], int(0.3 * width(ax) / (CHARACTER * size))
        )
        for side, (x, shift, align) in enumerate(((0, -8, "right"), (1, 8, "left"))):
            for rank, document, name in zip(
                self.ranks[shown, side], shown.tolist(), names, strict=True
            ):
                if rank <= self.k:
                    ax.annotate(
                        f"{rank:g}  {literal(name)}" if side else f"{literal(name)}  {rank:g}",
                        (x, rank), (shift, 0), textcoords="offset points", ha=align, va="center",
                        fontsize=size, fontweight="bold" if self.relevant[document] else "normal",
                    )  # fmt: skip

    def _label(self, ax: Axes, lowest: int, ranks: Array) -> None:
        ax.set_ylim(lowest + 0.5, 0.5)
        ax.set_xlim(-0.04, 1.04)
        ax.spines[["left", "bottom"]].set_visible(False)
        ax.set_yticks([])
        size = tick_points(ax)
        n_characters = int(0.4 * width(ax) / (CHARACTER * size))
        names = [wrap(literal(name), n_characters) for name in self.systems]
        sides: tuple[Literal["right", "left"], ...] = ("right", "left")
        ticks = ax.set_xticks([0, 1], names)
        for tick, align, of_side in zip(ticks, sides, ranks.T, strict=True):
            tick.label1.set_horizontalalignment(align)
            x, shift = tick.get_loc(), 8 if align == "left" else -8
            if beyond := _beyond(of_side, self.k):
                ax.annotate(
                    beyond, (x, lowest), (shift, 0), textcoords="offset points",
                    ha=align, va="center", fontsize=size,
                )  # fmt: skip
        ax.tick_params(length=0)
        title = f"query {self.query}: rank and label of its documents, relevant ones in bold"
        finish_axes(ax, literal(title))


def _rows(queries: Queries, query: Any) -> tuple[Array, Any]:
    """Row numbers of the query, and its id."""
    ids = of_python(queries.ids)
    if query is None and len(ids) == 1:
        query = ids[0]
    keys, key = as_keys(queries.ids), as_key(query)
    if key not in keys:
        raise ValueError(f"query must be one of the query ids, {examples(ids)}; got {query!r}.")
    return np.flatnonzero(queries.grouping.codes == keys.index(key)), query


def _names(names: ArrayLike, y_true: ArrayLike, n_documents: int) -> Array:
    """Names of all documents."""
    check_same_order(y_true=y_true, names=names)
    given = np.asarray(names).ravel()
    if len(given) != n_documents:
        raise ValueError(
            f"names must hold one name per document ({n_documents}); got {len(given)}. Pass those "
            "of the documents of all queries."
        )
    return given


def _ranks(scores: Array) -> Array:
    """Ranks by descending score; ties in input order; inf if not retrieved."""
    scores = scores.astype(np.float64)
    ranks = np.empty(len(scores), dtype=int)
    ranks[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
    missed = np.isneginf(scores)
    return np.where(missed, np.inf, ranks) if missed.any() else ranks


def _beyond(ranks: Array, k: int) -> str:
    """What the documents of a ranking that are not among the first k have in common."""
    is_lower = ((ranks > k) & np.isfinite(ranks)).any()
    texts = [f"> {k}"] if is_lower else []
    return " or ".join([*texts, "not retrieved"] if np.isinf(ranks).any() else texts)


def _fit_documents(names: Sequence[str], n_characters: int) -> list[str]:
    """Names that fit and differ; the label at the end of each is not shortened."""
    if max(map(len, names)) <= n_characters:
        return [*names]
    parts = [name.rpartition(" ") if " " in name else (name, "", "") for name in names]
    room = n_characters - max(len(blank + label) for _, blank, label in parts)
    documents = fit_names([document for document, _, _ in parts], room)
    return [new + blank + label for new, (_, blank, label) in zip(documents, parts, strict=True)]
