"""Permutation importance of features, query by query."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from .._columns import column_at, column_names
from .._sklearn_compat import num_samples, safe_indexing
from .._table import Number, Table, html_of_fields
from .._typing import Array, IdSource, IntervalMethod, Library, MatrixLike, QueryIds, Seed
from .._validation import check_choice, check_count, counted
from ..metrics.evaluate import Metrics
from ..query_ids import group_rows
from ..query_ids.lookup import (
    check_same_rows,
    find_explicit_ids,
    no_groups_error,
    source_or_ids,
)
from ..rankers.training_data import DroppedColumns
from ..scoring.predictions import predict_scores, read_predictions
from .compare import difference_ranges
from .comparison import few_distinct_note
from .intervals import (
    Interval,
    difference_interval,
    effective_share,
    has_few_distinct,
    interval_estimate,
    standard_error,
    with_progress,
)
from .query_scores import QueryScores, measure_per_query, resolve_per_query
from .tabular import Tabular

CALLER = "query_permutation_importance"

Within: TypeAlias = Literal["query", "all"]

# values in the copies that are predicted together; a single copy may have more
BATCH_VALUES = 2**24


@dataclass(frozen=True)
class FeatureImportance:
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
        Whether fewer than six queries differ from the most common loss. The interval of
        ``method="auto"`` is then a bound that follows from the range of the metric, and nan without
        a known range. False for a feature that no permutation changes, such as one that is constant
        within queries: its loss and both ends of its interval are exactly 0.
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

    def _repr_html_(self) -> str:
        return html_of_fields(self)


@dataclass(frozen=True, repr=False)
class QueryImportances(Tabular):
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

    def __iter__(self) -> Iterator[FeatureImportance]:
        return iter(self.importances)

    def __len__(self) -> int:
        return len(self.importances)

    def __getitem__(self, key: tuple[str, str]) -> FeatureImportance:
        for entry in self:
            if (entry.feature, entry.metric) == tuple(key):
                return entry
        metrics = ", ".join(self.baseline.metrics)
        raise KeyError(f"no importance {key!r}; features are {', '.join(self.deltas)} and metrics "
                       f"are {metrics}.")  # fmt: skip

    def _columns(self) -> dict[str, Any]:
        return {
            "feature": [e.feature for e in self],
            "metric": [e.metric for e in self],
            "importance": [e.importance for e in self],
            "low": [e.interval.low for e in self],
            "high": [e.interval.high for e in self],
            "standard_error": [e.standard_error for e in self],
            "repeat_std": [float(np.std(e.repeats)) for e in self],
        }

    def _table(self) -> Table:
        place = "within queries" if self.within == "query" else "over all rows"
        header = ("", "", "importance", f"{self.confidence * 100:g} % interval", "std of repeats")
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
    uses it. The permuted copies of X are passed to `predict` together, in a few large batches.

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
    id_source, ids = _find_ids(estimator, X, y, groups)
    grouping: Any = group_rows(ids, len(np.asarray(y)))
    positions, names = _features(X, DroppedColumns.find(X, id_source).columns)
    rows = permutations(grouping.codes, within, n_repeats, random_state)
    estimate = interval_estimate(difference_interval, confidence, method, n_resamples, random_state)

    def score(predictions: Array) -> QueryScores:
        queries = read_predictions(
            estimator, y, predictions, grouping, sample_weight, ", ".join(resolved)
        )
        return measure_per_query(queries, resolved, data=(X, y))

    predict = partial(predict_scores, estimator)
    baseline = score(predict(X))
    losses: Iterable[tuple[NDArray[np.float64], bool]] = _losses(
        baseline, lambda plan: map(score, predict_copies(predict, X, plan)), X, positions, rows
    )
    losses = with_progress(losses, len(names), "features")
    deltas, entries = _summarize(names, baseline, losses, estimate)
    return QueryImportances(baseline, deltas, tuple(entries), within, confidence, method)


def _find_ids(estimator: Any, X: Any, y: Any, groups: Any) -> tuple[Any, Any]:
    """Where the query ids are, and the ids."""
    id_source, given = source_or_ids(groups, X)
    id_source = getattr(estimator, "groups", None) if id_source is None else id_source
    check_same_rows(X=X, y=y)
    ids = find_explicit_ids(X, y, groups=given, id_source=id_source)
    if ids is None:
        raise no_groups_error(CALLER, X=X)
    return id_source, ids


def _summarize(
    names: list[str],
    baseline: QueryScores,
    losses: Iterable[tuple[NDArray[np.float64], bool]],
    estimate: Any,
) -> tuple[dict[str, QueryScores], list[FeatureImportance]]:
    """The losses by query, and the importances by metric, the largest first."""
    deltas, entries = {}, []
    for name, (lost, is_constant) in zip(names, losses, strict=True):
        estimate_or_zero = _zero_interval if is_constant else estimate
        deltas[name], of_feature = _summary(name, baseline, lost, estimate_or_zero)
        entries += of_feature
    order = {metric: place for place, metric in enumerate(baseline.metrics)}
    return deltas, sorted(entries, key=lambda e: (order[e.metric], -e.importance))


def _losses(
    baseline: QueryScores,
    score_copies: Callable[[list[tuple[int, Array]]], Iterator[QueryScores]],
    X: Any,
    positions: list[int],
    rows: list[Array],
) -> Iterator[tuple[NDArray[np.float64], bool]]:
    """For each feature the loss by repeat, query and metric, and whether no copy differs from X."""
    # a copy that equals X needs no prediction, and its loss is exactly 0
    changed = {(j, i) for j in positions for i, r in enumerate(rows) if changes(X, j, r)}
    plan = [(j, rows[i]) for j, i in product(positions, range(len(rows))) if (j, i) in changed]
    scored = score_copies(plan)
    for j in positions:
        copies = [
            next(scored).values if (j, i) in changed else baseline.values for i in range(len(rows))
        ]
        yield (
            baseline.values - np.array(copies),
            not any((j, i) in changed for i in range(len(rows))),
        )


def _zero_interval(values: Array, *_: Array) -> Array:
    """The interval of a loss that is 0 for any query, because the feature cannot be permuted."""
    return np.zeros((2, values.shape[1]))


def _features(X: Any, id_columns: tuple[Any, ...]) -> tuple[list[int], list[str]]:
    """Positions and names of the columns that are features."""
    names = [str(name) for name in column_names(X)] or [f"x{j}" for j in range(X.shape[1])]
    columns = column_names(X) or range(len(names))
    positions = [j for j, column in enumerate(columns) if column not in id_columns]
    if not positions:
        raise ValueError("X has no features: all of its columns are query ids.")
    return positions, [names[j] for j in positions]


def _summary(
    feature: str, baseline: QueryScores, lost: NDArray[np.float64], estimate: Any
) -> tuple[QueryScores, list[FeatureImportance]]:
    """The mean loss of each query over repeats, and that of each metric over queries."""
    delta = replace(baseline, values=lost.mean(axis=0))
    ends = delta.aggregate(estimate, (2,), *difference_ranges(baseline, baseline)).T.tolist()
    few = (
        delta.aggregate(lambda values, weights: has_few_distinct(values, effective_share(weights)))
        == 1
    )
    if estimate is _zero_interval:
        few[:] = False
    means, errors = delta.mean(), delta.aggregate(standard_error).tolist()
    repeats = np.array([[*replace(delta, values=part).mean().values()] for part in lost])
    return delta, [
        FeatureImportance(
            feature, metric, means[metric], Interval(*pair), mark, error, tuple(column)
        )
        for metric, pair, mark, error, column in zip(
            delta.metrics, ends, few.tolist(), errors, repeats.T.tolist(), strict=True
        )
    ]


def permutations(codes: Array, within: Within, n_repeats: int, seed: Seed) -> list[Array]:
    """For each repeat, the row from which each row takes its value.

    Those of all rows are the ones that scikit-learn's `permutation_importance` draws from the seed.
    """
    random = np.random.RandomState(_draw_seed(seed))
    n = len(codes)
    if within == "query":
        by_query = np.argsort(codes, kind="stable")
        drawn = [np.lexsort((random.random_sample(n), codes)) for _ in range(n_repeats)]
        return [rows[np.argsort(by_query)] for rows in drawn]
    shuffled, order, orders = np.arange(n), np.arange(n), []
    for _ in range(n_repeats):
        random.shuffle(shuffled)
        order = order[shuffled]  # scikit-learn permutes the column that it permuted before
        orders.append(order)
    return orders


def _draw_seed(random_state: Seed) -> int:
    end = np.iinfo(np.int32).max + 1
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(end))
    return int(check_random_state(random_state).randint(end))


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


def with_columns(X: Any, columns: Sequence[tuple[int, Array]]) -> Any:
    """Copies of a table below one another, each with the rows of one column permuted.

    Parameters
    ----------
    X : DataFrame or array of shape (n_documents, n_columns)
        The table.
    columns : sequence of (position, rows)
        For each copy the column, and the row from which each of its rows takes its value.
    """
    n = num_samples(X)
    stacked = safe_indexing(X, np.tile(np.arange(n), len(columns)))
    for position in sorted({position for position, _ in columns}):
        rows = [rows if p == position else np.arange(n) for p, rows in columns]
        values = safe_indexing(column_at(X, position), np.concatenate(rows))
        stacked = _replaced(stacked, position, values)
    return stacked


def _replaced(X: Any, position: int, values: Any) -> Any:
    """The table with other values of one column."""
    if hasattr(X, "iloc"):
        X.isetitem(position, values.array)
    elif hasattr(X, "set_column"):  # pyarrow
        return X.set_column(position, X.schema.field(position), values)
    elif hasattr(X, "with_columns"):  # polars
        return X.with_columns(values)
    else:
        X[:, position] = values
    return X


def changes(X: Any, position: int, rows: Array) -> bool:
    """Whether a permutation of the rows changes a column."""
    values = np.asarray(column_at(X, position))
    if values.dtype == object:  # of which missing values may not be comparable
        values = np.array([f"{type(value)} {value!r}" for value in values.tolist()])
    is_nan = values != values
    return bool(np.any((values != values[rows]) & ~(is_nan & is_nan[rows])))


def predict_copies(
    predict: Callable[[Any], Array], X: Any, columns: Sequence[tuple[int, Array]]
) -> Iterator[Array]:
    """The predictions for each copy of `with_columns`, from few large batches.

    A model that predicts a row differently if other rows are added, as one does that compares the
    documents of a query, is given one copy at a time.
    """
    n, width = num_samples(X), max(1, len(column_names(X)) or np.shape(X)[1])
    batch = max(1, BATCH_VALUES // (n * width))
    for start in range(0, len(columns), batch):
        part = columns[start : start + batch]
        scores = predict(with_columns(X, part)).reshape(len(part), n)
        if start == 0 and len(part) > 1:
            alone = predict(with_columns(X, part[-1:])).ravel()
            if not np.allclose(scores[-1], alone, rtol=1e-5, atol=1e-8 * np.abs(alone).max()):
                yield from (predict(with_columns(X, [column])).ravel() for column in columns)
                return
        yield from scores
