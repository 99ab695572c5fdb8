"""Scores of every query by cross-validation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from sklearn import get_config
from sklearn.model_selection import cross_validate
from sklearn.utils import indexable
from sklearn.utils.metadata_routing import get_routing_for_object

from .._sklearn_compat import num_samples, safe_indexing
from .._typing import Array, IdSource, Library, MatrixLike, QueryIds
from .._validation import examples
from ..metrics.evaluate import Metrics
from ..metrics.metric import Metric
from ..metrics.names import METRICS, parse_name
from ..metrics.propensity import find_column
from ..metrics.resolve import list_metrics, resolve_each
from ..model_selection.k_fold import check_query_cv
from ..query_ids import group_rows
from ..query_ids.lookup import (
    check_same_rows,
    ids_of_splits_and_queries,
    no_groups_error,
    source_or_ids,
)
from ..scoring.predictions import predict_scores, read_predictions
from ..scoring.scorer import (
    ColumnSource,
    check_no_feature,
    check_source,
    find_target,
)
from .query_scores import QueryScores, check_per_query, measure_per_query, with_fields
from .segments import Segments, columns_or_levels, read_segments

CALLER = "cross_val_query_scores"

Fold: TypeAlias = tuple[Array, Array]


class Splitter(Protocol):
    """A cross-validation splitter of scikit-learn or this package."""

    def split(self, X: Any, y: Any, groups: Any) -> Iterator[tuple[Any, Any]]:
        """Generate row indices of training and test sets."""
        ...


def cross_val_query_scores(
    estimator: Any,
    X: MatrixLike,
    y: ArrayLike,
    metrics: Metrics,
    *,
    target: str | int | None = None,
    cv: int | Splitter | Iterable[tuple[ArrayLike, ArrayLike]] | None = None,
    groups: QueryIds | IdSource = None,
    sample_weight: ArrayLike | None = None,
    params: dict[str, Any] | None = None,
    like: Library | None = None,
    n_jobs: int | None = None,
    segments: Segments | str | list[str] | None = None,
    verbose: int = 0,
    pre_dispatch: int | str = "2*n_jobs",
    **options: Any,
) -> QueryScores:
    """Score each query once by cross-validation, with a model that was not trained on it.

    Two estimators that are scored on the same folds can be compared query by query with `compare`,
    which has more power than comparing the means of a few folds.

    Parameters
    ----------
    estimator : estimator object
        A ranker in `QueryRanker`, a regressor or a classifier, which ranks by its expected grade.
    X : array-like or DataFrame of shape (n_documents, n_features)
        Documents.
    y : array-like of shape (n_documents,)
        Relevance labels.
    metrics : str, callable or iterable of them
        As in `query_scores`. A name may have a target: ``"recall@20(target=orders)"``.
    target : str or int, default=None
        The labels that metrics without a target of their own use: the name of a column or index
        level of X or y, or the position of a column. None means y. Models are trained on y in
        either case.
    cv : int, splitter or iterable of (train, test), default=None
        Folds of whole queries; each query must be in exactly one test fold. An integer k means
        ``QueryKFold(k)``, None means ``QueryKFold(5)``.
    groups : array-like of shape (n_documents,), str or list of str, default=None
        Query ids, or where they are: the name of a column or index level, or several names. None
        means the `groups` of `cv`, or a column or index level ``qid`` of X, or an index level
        ``qid`` of y. An array is also passed to the splitter, and to the fit of the ranker or
        search, also inside a pipeline. Beside ids in the data, which take precedence as in
        `cross_val_score`, it may hold a coarser key for the splits, such as the users.
    sample_weight : array-like of shape (n_documents,), default=None
        Query weights in the result, constant within each query. They are not passed to the fit.
    params : dict, default=None
        Metadata for the fit of the estimator.
    like : str, default=None
        Library whose conventions to use, as in `evaluate`.
    n_jobs : int, default=None
        Number of folds to run in parallel; -1 uses all processors.
    segments : array-like, mapping, DataFrame, str or list of str, default=None
        Segments of the queries, as in `query_scores`; names are those of index levels of X or y.
    verbose : int, default=0
        Verbosity of joblib.
    pre_dispatch : int or str, default="2*n_jobs"
        Number of folds that joblib dispatches at a time.
    **options
        Options of the metrics except `average`. An option applies to each metric that has it.

    Returns
    -------
    QueryScores
        One row per query, in sorted order of the ids.

    Raises
    ------
    NoGroupsError
        If no query ids are found.
    ValueError
        If a query is not in exactly one test fold, if a target is missing or among the features of
        the model, and for any input that `query_scores` refuses.
    TypeError
        If `target` or `propensity` holds values instead of the place where they are found.

    See Also
    --------
    compare : Test differences between models.
    sklearn.model_selection.cross_val_predict : Predictions instead of scores.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn_rankscore import QueryRanker, cross_val_query_scores, make_ranking
    >>> X, y = make_ranking(as_frame=True, random_state=0)
    >>> scores = cross_val_query_scores(QueryRanker(Ridge()), X, y, "ndcg@10")
    >>> len(scores)
    100
    """
    if isinstance(estimator, Mapping):
        raise TypeError(
            f"{CALLER} takes one estimator; got a dict. Call it for each, and pass the results to "
            f"compare: {{name: {CALLER}(model, ...) for name, model in models.items()}}."
        )
    judged = _read_metrics(metrics, target, like, options)
    X, y, sample_weight = indexable(X, y, sample_weight)
    params = params or {}
    check_same_rows(X=X, y=y, sample_weight=sample_weight)
    _, groups, of_splits, ids = find_ids(CALLER, X, y, groups, cv, params)
    for one in judged:
        check_no_feature(one, estimator, X)
        find_target(one, None, X, y)
    grouping: Any = group_rows(ids, num_samples(X))
    folds = folds_of(check_query_cv(cv), X, y, groups, of_splits)
    _check_folds(folds, grouping.ids, grouping.codes)
    fitted = cross_validate(
        estimator, X, y, scoring=_no_score, cv=folds, n_jobs=n_jobs, verbose=verbose,
        pre_dispatch=pre_dispatch, error_score="raise", return_estimator=True,
        **_metadata(estimator, groups, ids, params),
    )["estimator"]  # fmt: skip
    tests = [test for _, test in folds]
    parts = zip(fitted, tests, strict=True)
    predicted = [predict_scores(model, safe_indexing(X, test)) for model, test in parts]
    scores = np.empty((num_samples(X), *predicted[0].shape[1:]))
    scores[np.concatenate(tests)] = np.concatenate(predicted)
    columns = None
    if segments is not None:
        named = columns_or_levels("segments", segments, X, y)
        columns = read_segments(named, grouping.ids, grouping, {"X": X, "y": y})
    values = {}
    for place in dict.fromkeys(one.target for one in judged):
        labels = y if place is None else find_column(place, (X, y), "target")
        own = {one.name: one.resolved for one in judged if one.target == place}
        queries = read_predictions(None, labels, scores, grouping, sample_weight, ", ".join(own))
        values[place] = measure_per_query(queries, own, (X, y))
    return with_fields(_joined(judged, values), segments=columns)


class _Judged(NamedTuple):
    """A metric and where its propensities and labels are; the names are those of a scorer."""

    name: str
    resolved: Metric
    propensity: ColumnSource
    target: ColumnSource


def _read_metrics(
    metrics: Any, target: ColumnSource, like: Library | None, options: dict[str, Any]
) -> list[_Judged]:
    """Metrics and their targets; that of a name takes precedence over `target`."""
    given = list_metrics(metrics)
    names, places = (
        dict[int, str](),
        dict.fromkeys(range(len(given)), _check_place("target", target)),
    )
    for i, metric in enumerate(given):
        if isinstance(metric, str) and "target" in (own := dict(parse_name(metric)[1])):
            names[i], places[i] = metric, check_source("target", own.pop("target"))
            given[i] = partial(METRICS[parse_name(metric)[0]].function, **own)
    judged: dict[str, _Judged] = {}
    for i, metric in enumerate(resolve_each(given, like=like, **options)):
        name = names.get(i, metric.name)
        if name in judged:
            raise ValueError(f"metrics names {name!r} twice.")
        propensity = _check_place("propensity", metric.propensity)
        judged[name] = _Judged(name, metric, propensity, places[i])
    check_per_query({name: one.resolved for name, one in judged.items()})
    return list(judged.values())


def _check_place(option: str, source: Any) -> Any:
    """A place in X or y, where the values of all rows are."""
    level = f"X.assign({option}=values).set_index({option!r}, append=True)"
    hint = f"Add the values to X, as an index level that is no feature: {level}."
    return check_source(option, source, hint)


def find_ids(
    caller: str, X: Any, y: Any, groups: Any, holder: Any, params: Mapping[str, Any] | None = None
) -> tuple[Any, Any, Any, Any]:
    """Where the query ids are, those given as `groups`, and the ids of splits and of queries.

    The column that `holder` reads, a splitter or a ranker, also identifies the queries to score.
    """
    id_source, groups = source_or_ids(groups, X)
    id_source = getattr(holder, "groups", None) if id_source is None else id_source
    given = {"groups": groups, **(params or {})}
    of_splits, ids = ids_of_splits_and_queries(
        X, y, groups=given["groups"], qid=given.get("qid"), id_source=id_source
    )
    if ids is None:
        raise no_groups_error(caller, X=X)
    return id_source, groups, of_splits, ids


def folds_of(splitter: Any, X: Any, y: Any, groups: Any, ids: Any) -> list[Fold]:
    """Those of a splitter; one that consumes groups gets the ids, wherever they are found."""
    consumes_groups = get_routing_for_object(splitter).consumes("split", {"groups"})
    groups = ids if groups is None and consumes_groups else groups
    return list(splitter.split(X, y, **({} if groups is None else {"groups": groups})))


def _metadata(estimator: Any, groups: Any, ids: Any, params: dict[str, Any]) -> dict[str, Any]:
    """The arguments of `cross_validate` that reach the fit."""
    if not get_config()["enable_metadata_routing"]:
        return {"groups": ids, "params": params}
    # the splitter, which may be the only one to consume them, has made its folds
    given = {} if groups is None else {"groups": groups}
    consumed = get_routing_for_object(estimator).consumes("fit", {"groups"})
    others = {name: value for name, value in params.items() if name != "groups"}
    return {"params": {**given, **params} if consumed else others}


def _no_score(estimator: Any, X: Any, y: Any) -> float:
    """Queries are scored later, from the predictions of all folds."""
    return 0.0


def _check_folds(folds: list[Fold], ids: Array, codes: Array) -> None:
    """Refuse folds that omit a query, test it more than once or split it."""
    n_tests, n_folds = np.zeros(len(codes), dtype=int), np.zeros(len(ids), dtype=int)
    for _, test in folds:
        np.add.at(n_tests, test, 1)
        n_folds[np.unique(codes[test])] += 1
    is_wrong = n_folds != 1
    is_wrong[codes[n_tests != 1]] = True
    if is_wrong.any():
        wrong = ids[is_wrong].tolist()
        raise ValueError(
            f"each query must be in exactly one test fold of cv, with all of its rows; "
            f"{len(wrong)} of {len(ids)} are in none, in several or in parts ({examples(wrong)}). "
            "Use a splitter of whole queries that tests each of them once, such as QueryKFold(5); "
            "for repeats, call it once for each, with QueryKFold(5, shuffle=True, random_state=i)."
        )


def _joined(judged: list[_Judged], scores: Mapping[ColumnSource, QueryScores]) -> QueryScores:
    """The scores by several targets as one, in the order of the metrics."""
    first = next(iter(scores.values()))
    if len(scores) == 1:
        return first
    values = np.column_stack([scores[one.target][one.name] for one in judged])
    clicks = {name: sums for of in scores.values() for name, sums in (of.clicks or {}).items()}
    limits = {name: ends for of in scores.values() for name, ends in of.limits.items()}
    return QueryScores(
        first.ids, values, [one.name for one in judged], first.weights, None, clicks or None,
        limits=limits,
    )  # fmt: skip
