"""Permutation importance of features, query by query."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._columns import column_names
from .._typing import Array, IdSource, IntervalMethod, Library, MatrixLike, QueryIds, Seed
from .._validation import check_choice, check_count
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
from .interval_methods import interval_estimate
from .intervals import Interval, difference_interval, has_few_distinct, standard_error
from .pairing import difference_ranges
from .per_query import measure_per_query, resolve_per_query
from .permuted_features import Within, as_table, changes, permutations, predict_copies
from .progress import with_progress
from .query_importances import FeatureImportance, QueryImportances
from .query_results import QueryScores

CALLER = "query_permutation_importance"


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
    few = delta.aggregate(lambda values, _: has_few_distinct(values)) == 1
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
