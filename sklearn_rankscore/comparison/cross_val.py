"""Scores of every query by cross-validation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from types import SimpleNamespace
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from sklearn import get_config
from sklearn.base import clone, is_classifier
from sklearn.utils import indexable
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    get_routing_for_object,
    process_routing,
)
from sklearn.utils.parallel import Parallel, delayed

from .._sklearn_compat import check_method_params, num_samples, safe_indexing
from .._typing import Array, IdSource, Library, MatrixLike, QueryIds
from .._validation import examples
from ..metrics.evaluate import MetricLike, Metrics
from ..metrics.metric import Metric
from ..metrics.names import METRICS, parse_name
from ..metrics.propensity import find_column
from ..metrics.resolve import list_metrics, resolve_each
from ..model_selection.k_fold import check_query_cv
from ..query_ids import group_rows
from ..query_ids.lookup import (
    check_same_rows,
    find_explicit_ids,
    no_groups_error,
    source_or_ids,
)
from ..scoring.predictions import predict_scores, read_predictions
from ..scoring.register import find_groups_param, ignores_groups
from ..scoring.scorer import (
    ColumnSource,
    RankingScorer,
    check_no_feature,
    check_source,
    find_target,
)
from ..scoring.weighted_sum import WeightedScorer
from .query_scores import QueryScores, check_per_query, measure_per_query

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
    metrics: Metrics | RankingScorer | Iterable[MetricLike | RankingScorer],
    *,
    target: str | int | None = None,
    cv: int | Splitter | Iterable[tuple[ArrayLike, ArrayLike]] | None = None,
    groups: QueryIds | IdSource = None,
    sample_weight: ArrayLike | None = None,
    params: dict[str, Any] | None = None,
    like: Library | None = None,
    n_jobs: int | None = None,
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
    metrics : str, callable, scorer or iterable of them
        As in `query_scores`, and scorers of `make_ranking_scorer`. A name may have a target:
        ``"recall@20(target=orders)"``.
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
        search, also inside a pipeline.
    sample_weight : array-like of shape (n_documents,), default=None
        Query weights in the result, constant within each query. They are not passed to the fit.
    params : dict, default=None
        Metadata for the fit of the estimator and, with metadata routing, for the splitter.
    like : str, default=None
        Library whose conventions to use, as in `evaluate`.
    n_jobs : int, default=None
        Number of folds to run in parallel; -1 uses all processors.
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
    groups, ids = _find_ids(X, y, cv, groups, params)
    for one in judged:
        check_no_feature(one, estimator, X)
        find_target(one, None, X, y)
    splitter = check_query_cv(cv)
    split_params, fit_params = _route(estimator, splitter, ids, groups, params)
    grouping: Any = group_rows(ids, num_samples(X))
    folds = list(splitter.split(X, y, **split_params))
    _check_folds(folds, grouping.ids, grouping.codes)
    run: Any = Parallel(n_jobs=n_jobs, verbose=verbose, pre_dispatch=pre_dispatch)
    predicted = run(
        delayed(_predict_fold)(clone(estimator), X, y, fold, fit_params) for fold in folds
    )
    scores = np.empty((num_samples(X), *np.shape(predicted[0])[1:]))
    for (_, test), of_fold in zip(folds, predicted, strict=True):
        scores[test] = of_fold
    # all of the labels, of which the training data of a fold may lack some
    model = SimpleNamespace(classes_=np.unique(y)) if is_classifier(estimator) else None
    values = {}
    for place in dict.fromkeys(one.target for one in judged):
        labels = y if place is None else find_column(place, (X, y), "target")
        own = {one.name: one.resolved for one in judged if one.target == place}
        queries = read_predictions(model, labels, scores, grouping, sample_weight, ", ".join(own))
        values[place] = measure_per_query(queries, own, data=(X, y))
    return _joined(judged, values)


class _Judged(NamedTuple):
    """A metric and where its propensities and labels are; the names are those of a scorer."""

    name: str
    resolved: Metric
    propensity: ColumnSource
    target: ColumnSource


def _read_metrics(
    metrics: Any, target: ColumnSource, like: Library | None, options: dict[str, Any]
) -> list[_Judged]:
    """Metrics and their targets; that of a name or a scorer takes precedence over `target`."""
    target, given = _check_place("target", target), list_metrics(metrics)
    names: list[str | None] = [None] * len(given)
    targets = [target] * len(given)
    for i, metric in enumerate(given):
        if isinstance(metric, RankingScorer):
            _check_scorer(metric)
            names[i], given[i] = metric.name, metric.resolved
            targets[i] = target if metric.target is None else metric.target
        elif isinstance(metric, str) and "target" in (own := dict(parse_name(metric)[1])):
            names[i], targets[i] = metric, check_source("target", own.pop("target"))
            given[i] = partial(METRICS[parse_name(metric)[0]].function, **own)
    unread = [metric for metric in given if not isinstance(metric, Metric)]
    read = iter(resolve_each(unread, like=like, **options) if unread or not given else [])
    judged: dict[str, _Judged] = {}
    for name, metric, place in zip(names, given, targets, strict=True):
        metric = metric if isinstance(metric, Metric) else next(read)
        name = name or metric.name
        if name in judged:
            raise ValueError(f"metrics names {name!r} twice.")
        propensity = _check_place("propensity", metric.propensity)
        judged[name] = _Judged(name, metric, propensity, place)
    check_per_query({name: one.resolved for name, one in judged.items()})
    return list(judged.values())


def _check_place(option: str, source: Any) -> Any:
    """A place in X or y, where the values of all rows are."""
    level = f"X.assign({option}=values).set_index({option!r}, append=True)"
    hint = f"Add the values to X, as an index level that is no feature: {level}."
    return check_source(option, source, hint)


def _check_scorer(scorer: RankingScorer) -> None:
    if isinstance(scorer, WeightedScorer):
        raise TypeError(
            "a weighted sum has no values of queries. Pass its metrics instead, "
            "list(scorer.parts.values())."
        )
    if scorer.groups is not None:
        raise ValueError(
            f"{scorer!r} has groups of its own, but all metrics are computed on the same queries. "
            "Give groups= to cross_val_query_scores instead."
        )


def _find_ids(X: Any, y: Any, cv: Any, groups: Any, params: dict[str, Any]) -> tuple[Any, Any]:
    """The ids given as `groups`, if any, and the query ids."""
    id_source, groups = source_or_ids(groups, X)
    # the column from which the splitter reads its ids also identifies the queries to score
    id_source = getattr(cv, "groups", None) if id_source is None else id_source
    given, qid = params.get("groups", groups), params.get("qid")
    ids = find_explicit_ids(X, y, groups=given, qid=qid, id_source=id_source)
    if ids is None:
        raise no_groups_error(CALLER, X=X)
    return groups, ids


def _route(
    estimator: Any, cv: Any, ids: Any, groups: Any, params: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Parameters of the splitter and of the fit."""
    # a splitter that consumes groups gets the ids, wherever they are found
    consumes_groups = get_routing_for_object(cv).consumes("split", {"groups"})
    split_params = {"groups": ids if groups is None else groups} if consumes_groups else {}
    if not get_config()["enable_metadata_routing"]:
        given = split_params if groups is None else {"groups": groups}
        return given, _fit_params(estimator, ids, groups, params)
    router = (
        MetadataRouter(owner=CALLER)
        .add(splitter=cv, method_mapping=MethodMapping().add(caller="fit", callee="split"))
        .add(estimator=estimator, method_mapping=MethodMapping().add(caller="fit", callee="fit"))
    )
    if groups is not None and router.consumes("fit", {"groups"}):
        params = {"groups": groups, **params}
    routed = process_routing(router, "fit", **params)
    return {**split_params, **routed["splitter"]["split"]}, routed["estimator"]["fit"]


def _fit_params(estimator: Any, ids: Any, groups: Any, params: dict[str, Any]) -> dict[str, Any]:
    """Parameters of the fit with query ids, under the name by which they reach the ranker."""
    name, ranker = find_groups_param(estimator)
    is_given = not {name, name.removesuffix("groups") + "qid"}.isdisjoint(params)
    if not name or is_given or ignores_groups(ranker):
        return params
    # a ranker finds ids in the data itself, unless what contains it makes arrays of these
    if groups is None and ranker is estimator:
        return params
    return {name: ids if groups is None else groups, **params}


def _check_folds(folds: list[Fold], ids: Array, codes: Array) -> None:
    """Refuse folds that omit a query, test it more than once or split it."""
    n_tests, n_folds = np.zeros(len(codes), dtype=int), np.zeros(len(ids), dtype=int)
    for _, test in folds:
        np.add.at(n_tests, test, 1)
        n_folds[np.unique(codes[test])] += 1
    fewest, most = np.full(len(ids), len(folds)), np.zeros(len(ids), dtype=int)
    np.minimum.at(fewest, codes, n_tests)
    np.maximum.at(most, codes, n_tests)
    for problem, has_problem in (
        ("in no test fold", n_folds == 0),
        ("in several test folds", most > 1),
        ("split across folds", (fewest == 0) | (n_folds > 1)),
    ):
        if has_problem.any():
            wrong = ids[has_problem].tolist()
            raise ValueError(
                f"each query must be in exactly one test fold of cv; {len(wrong)} of {len(ids)} "
                f"are {problem} ({examples(wrong)}). Use a splitter of whole queries that tests "
                "each of them once, such as QueryKFold(5)."
            )


def _predict_fold(estimator: Any, X: Any, y: Any, fold: Fold, fit_params: dict[str, Any]) -> Array:
    train, test = fold
    fit_params = check_method_params(X, params=fit_params, indices=train)
    estimator.fit(safe_indexing(X, train), safe_indexing(y, train), **fit_params)
    return predict_scores(estimator, safe_indexing(X, test))


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
