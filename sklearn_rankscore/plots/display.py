"""What the displays have in common: the way from estimators and labels to scores of queries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from numpy.typing import ArrayLike

from .._typing import Array, IdSource, Library, MatrixLike, QueryIds, Unjudged
from .._validation import counted
from ..inspection.compare import align, check_query_scores
from ..inspection.query_scores import QueryScores, query_scores
from ..inspection.segments import Segments, select_segments
from ..metrics.evaluate import Metrics
from ..query_ids.lookup import (
    check_same_rows,
    find_explicit_ids,
    no_groups_error,
    source_or_ids,
)
from ..scoring.predictions import predict_scores
from .axes import prepare_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

T = TypeVar("T")


class Plot:
    """A display that shows its settings, as matplotlib shows the plot."""

    ax_: Axes
    figure_: Figure | SubFigure

    def __repr__(self) -> str:
        shown = {name: v for name, v in vars(self).items() if isinstance(v, str | int | float)}
        return f"{type(self).__name__}({', '.join(f'{name}={v!r}' for name, v in shown.items())})"

    def _prepare(self, ax: Axes | None, size: tuple[float, float] = (7, 4.5)) -> Axes:
        self.ax_ = prepare_axes(ax, type(self).__name__, size)
        self.figure_ = self.ax_.figure
        return self.ax_


class Display(Plot):
    """A plot of the scores of estimators."""

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: MatrixLike,
        y: ArrayLike,
        *,
        groups: QueryIds | IdSource = None,
        **options: Any,
    ) -> Self:
        """Plot the predictions of fitted estimators.

        Parameters
        ----------
        estimator : estimator object or dict of str to estimator
            One or several models, by name.
        X : array-like or DataFrame of shape (n_documents, n_features)
            Documents.
        y : array-like of shape (n_documents,)
            Relevance labels.
        groups : array-like of shape (n_documents,), str or list of str, default=None
            Query ids, or where they are: the name of a column or index level, or several names.
            None means a column or index level ``qid`` of X or an index level ``qid`` of y.
        **options
            Any other argument of `from_predictions`.

        Returns
        -------
        Display
            The plotted display.
        """
        ids, scores = ids_and_scores(estimator, X, y, groups, cls.__name__)
        return cls.from_predictions(y, scores, groups=ids, **options)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: Any,
        *,
        groups: QueryIds | None = None,
        **options: Any,
    ) -> Self:
        """Plot scores; each display describes its arguments."""
        raise NotImplementedError


class QueryScoresDisplay(Display):
    """A plot of the values of one metric, or several, for each query."""

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike | Mapping[str, ArrayLike],
        *,
        groups: QueryIds | None = None,
        metric: Metrics = "ndcg@10",
        sample_weight: ArrayLike | None = None,
        like: Library | None = None,
        unjudged: Unjudged = "error",
        segments: Segments | None = None,
        name: str = "model",
        **options: Any,
    ) -> Self:
        """Plot scores of documents.

        Parameters
        ----------
        y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
            Relevance labels.
        y_score : array-like of the same shape as `y_true`, or dict of str to array-like
            Scores of one or several models, by name, the baseline first.
        groups : array-like of shape (n_documents,), default=None
            Query ids.
        metric : str, callable or iterable of them, default="ndcg@10"
            The metrics; displays of a single metric take one.
        sample_weight : array-like of shape (n_documents,), default=None
            Query weights, constant within each query.
        like : str, default=None
            Library whose conventions to use, as in `evaluate`.
        unjudged : {"error", "irrelevant", "drop"}, default="error"
            Rule of the metrics for documents with label NaN, as in `evaluate`.
        segments : array-like, mapping or DataFrame, default=None
            Segments of the queries, as in `query_scores`.
        name : str, default="model"
            Name of a single model.
        **options
            Any other argument of `from_query_scores`.

        Returns
        -------
        Display
            The plotted display.
        """
        systems = query_scores(
            y_true, by_name(y_score, name), metric, groups=groups, sample_weight=sample_weight,
            like=like, unjudged=unjudged, segments=segments,
        )  # fmt: skip
        return cls.from_query_scores(systems, **options)

    @classmethod
    def from_query_scores(cls, systems: Any, **options: Any) -> Self:
        """Plot results of `query_scores`; each display describes its arguments."""
        raise NotImplementedError


def ids_and_scores(
    estimators: Any, X: MatrixLike, y: ArrayLike, groups: QueryIds | IdSource, caller: str
) -> tuple[Any, dict[str, Array]]:
    """Query ids, and the scores of each estimator under its name."""
    ids = required_ids(X, y, groups, caller)
    named = by_name(estimators, type(estimators).__name__)
    return ids, {name: predict_scores(estimator, X) for name, estimator in named.items()}


def required_ids(X: Any, y: Any, groups: QueryIds | IdSource, caller: str) -> Any:
    """Query ids that are given, named or in the data; an error without any."""
    id_source, ids = source_or_ids(groups, X)
    check_same_rows(X=X, y=y)
    ids = find_explicit_ids(X, y, groups=ids, id_source=id_source)
    if ids is None:
        raise no_groups_error(caller, X=X)
    return ids


def by_name(systems: Any, name: str) -> Mapping[str, Any]:
    """Systems by name; a single one has the given name."""
    if not isinstance(systems, Mapping):
        return {name: systems}
    if not systems:
        raise ValueError("a display shows at least one model; got an empty dict.")
    return systems


def scores_by_name(systems: Any, name: str) -> Mapping[str, QueryScores]:
    """Results of `query_scores` by name; a single one has the given name."""
    named = by_name(systems, name) if isinstance(systems, Mapping | QueryScores) else systems
    check_query_scores(named)
    return named


def check_two(systems: Mapping[str, T]) -> Mapping[str, T]:
    """Refuse anything but two systems by name."""
    needed = "the display compares two models: pass a dict of two names, the baseline first; got"
    if not isinstance(systems, Mapping):
        raise TypeError(f"{needed} {type(systems).__name__}.")
    if len(systems) != 2:
        raise ValueError(f"{needed} {counted(len(systems), 'model')}.")
    return systems


def check_some_query(values: Array, metric: str) -> None:
    """Refuse values of two systems of which no query has both."""
    if not len(values):
        raise ValueError(
            f"no query to plot: {metric!r} must be defined for both models on at least one query."
        )


def align_by(
    systems: Mapping[str, QueryScores], by: Any
) -> tuple[Mapping[str, QueryScores], dict[str, Array]]:
    """The systems with the queries in the order of the first, and the segments of these."""
    name, first = next(iter(systems.items()))
    return align(systems, name), select_segments(by, first.ids, first.segments)


def one_metric(scores: QueryScores, metric: str | None) -> str:
    """The metric to plot: that of the name, or else the first."""
    metric = scores.metrics[0] if metric is None else metric
    scores.column(metric)
    return metric
