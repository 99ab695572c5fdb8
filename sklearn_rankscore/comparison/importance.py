"""Permutation importance of features, query by query."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from .._columns import column_at, column_names
from .._table import Number, Table
from .._typing import Array, IdSource, IntervalMethod, Library, MatrixLike, QueryIds, Seed
from .._validation import check_choice, check_count, counted
from ..metrics.evaluate import Metrics
from ..query_ids import group_rows
from ..query_ids.lookup import check_same_rows
from ..rankers.training_data import DroppedColumns
from ..scoring.predictions import predict_scores, read_predictions
from .compare import difference_ranges
from .cross_val import find_ids
from .intervals import (
    Interval,
    difference_interval,
    interval_estimate,
    shows_too_little,
    with_progress,
)
from .query_scores import QueryScores, measure_per_query, resolve_per_query, with_fields
from .results import few_distinct_note
from .tabular import Record, Records

CALLER = "query_permutation_importance"

Within: TypeAlias = Literal["query", "all"]


@dataclass(frozen=True)
class FeatureImportance(Record):
    """Decrease of a metric if one feature is permuted.

    Parameters
    ----------
    feature, metric : str
        Name of the feature, "x0", "x1", ... for an array, and of the metric.
    importance : float
        Mean over queries and repeats of the value minus the value with the feature permuted.
    interval : Interval
        Confidence interval of the mean over queries.
    few_distinct : bool
        As in `Difference`. False for a feature that no permutation changes, such as one that is
        constant within queries: its loss and both ends of its interval are exactly 0.
    standard_error : float
        Its standard error, over queries.
    repeats : tuple of float
        The mean over queries of each repeat; scikit-learn's `importances`.
    """

    feature: str
    metric: str
    importance: float
    interval: Interval
    few_distinct: bool
    standard_error: float
    repeats: tuple[float, ...]


@dataclass(frozen=True, repr=False)
class QueryImportances(Records[FeatureImportance]):
    """What `query_permutation_importance` returns: one `FeatureImportance` per feature and metric.

    Iteration yields them; ``importances["price", "ndcg@10"]`` selects one.

    Parameters
    ----------
    baseline : QueryScores
        The scores with no feature permuted.
    deltas : dict of str to QueryScores
        For each feature, the decrease for each query, averaged over repeats.
    importances : tuple of FeatureImportance
        By metric, the most important feature first.
    within : {"query", "all"}
        Rows among which features were permuted.
    confidence : float
        Confidence level of the intervals.
    method : {"auto", "t", "bootstrap"}
        How the intervals were computed.

    Notes
    -----
    `to_frame` has one row per feature and metric, with the columns "feature", "metric",
    "importance", "low", "high", "standard_error" and "repeat_std", the standard deviation over
    repeats.
    """

    baseline: QueryScores
    deltas: dict[str, QueryScores]
    importances: tuple[FeatureImportance, ...]
    within: Within
    confidence: float
    method: IntervalMethod = "auto"

    _kind, _attribute = "importance", "importances"

    def _key(self, record: FeatureImportance) -> tuple[Any, ...]:
        return record.feature, record.metric

    def _columns(self) -> dict[str, Any]:
        columns = super()._columns()
        del columns["few_distinct"]
        columns["repeat_std"] = [float(np.std(of)) for of in columns.pop("repeats")]
        return columns

    def _table(self) -> Table:
        place = "within queries" if self.within == "query" else "over all rows"
        interval = f"{self.confidence * 100:g} % interval"
        header = ("metric", "feature", "importance", interval, "std of repeats")
        rows = [
            (e.metric, e.feature, Number(e.importance, "+.4f"),
             Number(e.interval, "+.4f", mark="*" if e.few_distinct else ""),
             float(np.std(e.repeats)))
            for e in self
        ]  # fmt: skip
        queries = counted(len(self.baseline), "query")
        title = f"Loss if a feature is permuted {place}, {queries}"
        note = few_distinct_note(self, self.method)
        return Table(title, header, rows, n_labels=2, note=note)


def query_permutation_importance(
    estimator: Any,
    X: MatrixLike,
    y: ArrayLike,
    metrics: Metrics,
    *,
    groups: QueryIds | IdSource = None,
    within: Within = "query",
    n_repeats: int = 5,
    confidence: float = 0.95,
    method: IntervalMethod = "auto",
    n_resamples: int = 9999,
    sample_weight: ArrayLike | None = None,
    like: Library | None = None,
    random_state: Seed = None,
    **options: Any,
) -> QueryImportances:
    """Measure by how much the metric of each query decreases if a feature is permuted.

    Parameters
    ----------
    estimator : estimator object
        Fitted: a ranker in `QueryRanker`, a regressor or a classifier, which ranks by its expected
        grade.
    X : array-like or DataFrame of shape (n_documents, n_features)
        Documents that were not used for training. A column of query ids is not a feature.
    y : array-like of shape (n_documents,)
        Relevance labels.
    metrics : str, callable or iterable of them
        As in `query_scores`.
    groups : array-like of shape (n_documents,), str or list of str, default=None
        Query ids, or where they are: the name of a column or index level, or several names. None
        means the parameter `groups` of the estimator, or a column or index level ``qid`` of X, or
        an index level ``qid`` of y.
    within : {"query", "all"}, default="query"
        Whether values are permuted among the documents of each query, or among all rows as in
        scikit-learn. Only differences between the documents of a query affect their order: with
        "query", a feature that is constant within queries has an importance of exactly 0. "all"
        also creates combinations of values that do not occur within any query.
    n_repeats : int, default=5
        Number of permutations of each feature.
    confidence : float, default=0.95
        Confidence level of the intervals.
    method : {"auto", "t", "bootstrap"}, default="auto"
        How intervals are computed, as for a difference in `compare`.
    n_resamples : int, default=9999
        Number of bootstrap resamples.
    sample_weight : array-like of shape (n_documents,), default=None
        Query weights, constant within each query.
    like : str, default=None
        Library whose conventions to use, as in `evaluate`.
    random_state : int, RandomState instance, Generator or None, default=None
        Seed of the permutations, which are the same for all features, and of the bootstrap.
    **options
        Options of the metrics except `average`. An option applies to each metric that has it.

    Returns
    -------
    QueryImportances
        A table of features and metrics, and the decrease for each query. Higher is more important;
        a negative value means that the metric was higher with the feature permuted.

    Raises
    ------
    NoGroupsError
        If no query ids are found.
    ValueError
        For any input that `query_scores` refuses.
    TypeError
        If X is a sparse matrix.

    See Also
    --------
    sklearn.inspection.permutation_importance : With a scorer of this package, it returns the same
        values as ``within="all"`` with the same seed.

    Notes
    -----
    If other features carry the same information, a feature has a low importance although the model
    uses it.

    References
    ----------
    L. Breiman. Random Forests. Machine Learning 45, 2001. https://doi.org/10.1023/A:1010933404324

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn_rankscore import QueryRanker, make_ranking, query_permutation_importance
    >>> X, y = make_ranking(as_frame=True, random_state=0)
    >>> model = QueryRanker(Ridge()).fit(X, y)
    >>> importances = query_permutation_importance(model, X, y, "ndcg@10", random_state=0)
    >>> importances["x0", "ndcg@10"].importance > 0.1
    True
    """
    check_choice("within", within, get_args(Within))
    resolved = resolve_per_query(metrics, like=like, **options)
    X, n_repeats = as_table(X), check_count("n_repeats", n_repeats, 1)
    check_same_rows(X=X, y=y)
    id_source, _, ids, _ = find_ids(CALLER, X, y, groups, estimator)
    grouping: Any = group_rows(ids, len(np.asarray(y)))
    features = _features(X, DroppedColumns.find(X, id_source).columns)
    orders = permutations(grouping.codes, within, n_repeats, random_state)
    estimate = interval_estimate(difference_interval, confidence, method, n_resamples, random_state)

    def score(table: Any) -> QueryScores:
        predictions = predict_scores(estimator, table)
        queries = read_predictions(
            estimator, y, predictions, grouping, sample_weight, ", ".join(resolved)
        )
        return measure_per_query(queries, resolved, (X, y))

    baseline, deltas = score(X), {}
    entries: list[FeatureImportance] = []
    for name, position in with_progress(features.items(), len(features), "features"):
        copies = (permuted(X, position, order) for order in orders)
        # a copy that equals X needs no prediction, and its loss is exactly 0
        scores = [baseline if copy is None else score(copy) for copy in copies]
        lost = baseline.values - np.array([of.values for of in scores])
        deltas[name] = with_fields(baseline, values=lost.mean(axis=0))
        changes = any(of is not baseline for of in scores)
        entries += _summaries(name, baseline, deltas[name], lost, estimate if changes else None)
    entries.sort(key=lambda e: (baseline.column(e.metric), -e.importance))
    return QueryImportances(baseline, deltas, tuple(entries), within, confidence, method)


def _features(X: Any, id_columns: tuple[Any, ...]) -> dict[str, int]:
    """Positions of the columns that are features, by name."""
    columns = column_names(X) or [f"x{j}" for j in range(X.shape[1])]
    features = {str(name): j for j, name in enumerate(columns) if name not in id_columns}
    if not features:
        raise ValueError("X has no features: all of its columns are query ids.")
    return features


def _summaries(
    feature: str,
    baseline: QueryScores,
    delta: QueryScores,
    lost: NDArray[np.float64],
    estimate: Callable[..., Array] | None,
) -> Iterator[FeatureImportance]:
    """The mean loss of each metric; without an `estimate` it is known to be 0 for any query."""
    ends, few = np.zeros((2, len(delta.metrics))), np.zeros(len(delta.metrics))
    if estimate is not None:
        ranges = difference_ranges(baseline, baseline)
        ends = delta.aggregate(estimate, (2,), *ranges)
        few = delta.aggregate(shows_too_little, (), *ranges)
    repeats = [with_fields(delta, values=part).mean() for part in lost]
    means, errors = delta.mean(), delta.standard_error()
    for metric, pair, mark in zip(delta.metrics, ends.T.tolist(), few.tolist(), strict=True):
        yield FeatureImportance(
            feature, metric, means[metric], Interval(*pair), mark == 1, errors[metric],
            tuple(of[metric] for of in repeats),
        )  # fmt: skip


def permutations(codes: Array, within: Within, n_repeats: int, seed: Seed) -> list[Array]:
    """For each repeat, the row from which each row takes its value.

    Those of all rows are the ones that scikit-learn's `permutation_importance` draws from the seed.
    """
    end = np.iinfo(np.int32).max + 1
    if isinstance(seed, np.random.Generator):
        drawn = int(seed.integers(end))
    else:
        drawn = int(check_random_state(seed).randint(end))
    random, n = np.random.RandomState(drawn), len(codes)
    if within == "query":
        place = np.argsort(np.argsort(codes, kind="stable"))
        return [np.lexsort((random.random_sample(n), codes))[place] for _ in range(n_repeats)]
    shuffled, order, orders = np.arange(n), np.arange(n), []
    for _ in range(n_repeats):
        random.shuffle(shuffled)
        order = order[shuffled]  # scikit-learn permutes the column that it permuted before
        orders.append(order)
    return orders


def as_table(X: Any) -> Any:
    """A frame as it is, and everything else as an array; refuses sparse matrices."""
    if column_names(X):
        return X
    if hasattr(X, "tocsr"):
        raise TypeError(
            "X is a sparse matrix, whose columns cannot be permuted efficiently. Pass X.toarray()."
        )
    array = np.asarray(X)
    if array.ndim != 2:
        raise ValueError(f"X must have rows and columns; got an array of shape {array.shape}.")
    return array


def permuted(X: Any, position: int, rows: Array) -> Any:
    """A copy of a table with the rows of one column permuted; None if it equals the table."""
    values = np.asarray(column_at(X, position))
    if values.dtype == object:  # of which missing values may not be comparable
        values = np.array([f"{type(value)} {value!r}" for value in values.tolist()])
    is_nan = values != values
    if not np.any((values != values[rows]) & ~(is_nan & is_nan[rows])):
        return None
    if hasattr(X, "iloc"):
        X = X.copy()
        X.isetitem(position, column_at(X, position).take(rows).array)
    elif column_names(X):
        import narwhals

        frame = narwhals.from_native(X)
        X = frame.with_columns(frame[:, position][rows]).to_native()
    else:
        X = X.copy()
        X[:, position] = X[rows, position]
    return X
