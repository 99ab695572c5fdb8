"""Every query scored once, in its own test fold."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.base import clone
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing, indexable
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    get_routing_for_object,
    process_routing,
)
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _check_method_params, _num_samples, has_fit_parameter

from ..model_selection import QueryKFold
from ..model_selection.carriers import find_groups, missing_groups
from ..model_selection.predictions import predicted, read_predicted, respond
from ..ranking.arrays import Array
from ..ranking.grouping import group_rows
from .query_scores import QueryScores, per_query, resolve_per_query

WHO = "cross_val_query_scores"
ID_PARAMS = {"groups", "qid"}

Split = tuple[Array, Array]


def cross_val_query_scores(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    metrics: Any,
    cv: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
    params: dict[str, Any] | None = None,
    like: str | None = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    pre_dispatch: int | str = "2*n_jobs",
    **options: Any,
) -> QueryScores:
    """Score every query once by cross-validation, with a model that has not seen it.

    Two estimators over the same folds are compared query by query with `compare`, which tells far
    more than the means of a few folds.

    Parameters
    ----------
    estimator : estimator object
        A ranker in `QueryRanker`, a regressor or a classifier (ranked by its expected grade).
    X : array-like or DataFrame of shape (n_documents, n_features)
        Documents.
    y : array-like of shape (n_documents,)
        Relevance.
    metrics : str, callable or iterable of them
        As in `query_scores`.
    cv : int, splitter or iterable of (train, test), default=None
        Folds that keep queries whole and test each query once; an integer k means
        ``QueryKFold(k)``, None five folds.
    groups : array-like of shape (n_documents,) or str, default=None
        Query ids, if they do not come as a column or index level ``qid`` of X, or an index level
        ``qid`` of y; or the name of another column or level, as in `cv`. An array is passed on to
        the splitter, and to the fit of estimators that take `groups`.
    sample_weight : array-like of shape (n_documents,), default=None
        Weight of each document's query in the result; it does not go to the fit.
    params : dict, default=None
        Metadata for the fit of the estimator and, with metadata routing, for the splitter.
    like : str, default=None
        Take another library's conventions, as in `evaluate`.
    n_jobs : int, default=None
        Number of folds worked on at once; None means 1 unless in a joblib context.
    verbose : int, default=0
        From 1 on, joblib shows the progress; from 51 on, on standard output.
    pre_dispatch : int or str, default="2*n_jobs"
        Number of folds handed out at once.
    **options
        Any option of the metrics but `average`.

    Returns
    -------
    QueryScores
        One row a query, in sorted order of the ids.

    Raises
    ------
    NoGroupsError
        If no query ids came along.
    ValueError
        If a query is not in exactly one test fold, or for what `query_scores` refuses.

    See Also
    --------
    compare : Tell whether one model is better than another.
    sklearn.model_selection.cross_val_predict : The predictions themselves.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn_rankscore import QueryRanker, cross_val_query_scores, make_ranking
    >>> X, y = make_ranking(as_frame=True, random_state=0)
    >>> scores = cross_val_query_scores(QueryRanker(Ridge()), X, y, metrics="ndcg@10")
    >>> len(scores)
    100
    """
    resolve_per_query(metrics, like=like, **options)  # a wrong name is an error before any fit
    X, y, sample_weight = indexable(X, y, sample_weight)
    given = params or {}
    # ids that are bound by name travel with the data, wherever they are needed
    bound, groups = (
        (groups, None) if isinstance(groups, str) else (getattr(cv, "groups", None), groups)
    )
    ids = find_groups(X, y, groups=given.get("groups", groups), qid=given.get("qid"), bound=bound)
    if ids is None:
        raise missing_groups(WHO)
    cv = _splitter(cv)
    split_params, fit_params = _route(estimator, cv, ids, groups, given)
    unique, codes = _codes(ids, _num_samples(X))
    splits = list(cv.split(X, y, **split_params))
    _check_splits(splits, codes, unique)
    found = Parallel(n_jobs=n_jobs, verbose=verbose, pre_dispatch=pre_dispatch)(
        delayed(_score_fold)(
            clone(estimator), X, y, codes, sample_weight, split, fit_params, metrics,
            {"like": like, **options},
        )
        for split in splits
    )  # fmt: skip
    return _put_together(unique, found, tuple(resolve_per_query(metrics, like=like, **options)))


def _route(
    estimator: Any, cv: Any, ids: Any, groups: Any, params: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """What goes to the splitter and what to the fit."""
    # a splitter that asks for groups gets the ids wherever they were found
    wants = get_routing_for_object(cv).consumes("split", ID_PARAMS)
    own = {"groups": ids if groups is None else groups} if "groups" in wants else {}
    if not get_config()["enable_metadata_routing"]:
        split = own if groups is None else {"groups": groups}
        fit = dict(params)
        if groups is not None and has_fit_parameter(estimator, "groups"):
            fit.setdefault("groups", groups)
        return split, fit
    router = (
        MetadataRouter(owner=WHO)
        .add(splitter=cv, method_mapping=MethodMapping().add(caller="fit", callee="split"))
        .add(estimator=estimator, method_mapping=MethodMapping().add(caller="fit", callee="fit"))
    )
    if groups is not None and router.consumes("fit", {"groups"}):
        params = {"groups": groups, **params}
    routed = process_routing(router, "fit", **params)
    return {**own, **routed["splitter"]["split"]}, routed["estimator"]["fit"]


def _codes(ids: Any, n_rows: int) -> tuple[Array, Array]:
    """Sorted ids, and for each row the position of its query among them."""
    unique, starts, sizes, rows = group_rows(ids, n_rows)
    by_start = np.argsort(starts, kind="stable")
    codes = np.empty(n_rows, dtype=np.intp)
    codes[slice(None) if rows is None else rows] = np.repeat(by_start, sizes[by_start])
    return unique, codes


def _splitter(cv: Any) -> Any:
    """An integer means folds of whole queries."""
    if cv is None:
        return QueryKFold(5)
    return QueryKFold(int(cv)) if isinstance(cv, int | np.integer) else check_cv(cv)


def _check_splits(splits: list[Split], codes: Array, ids: Array) -> None:
    """Refuse folds that leave a query out, test one twice or cut one."""
    n_tests, n_folds = np.zeros(len(codes), dtype=int), np.zeros(len(ids), dtype=int)
    for _, test in splits:
        np.add.at(n_tests, test, 1)
        n_folds[np.unique(codes[test])] += 1
    least, most = np.full(len(ids), len(splits)), np.zeros(len(ids), dtype=int)
    np.minimum.at(least, codes, n_tests)
    np.maximum.at(most, codes, n_tests)
    for what, wrong in (
        ("in no test fold", n_folds == 0),
        ("in several test folds", most > 1),
        ("cut by the folds", (least == 0) | (n_folds > 1)),
    ):
        if wrong.any():
            some = ", ".join(map(repr, ids[wrong][:5].tolist())) + (
                ", …" if wrong.sum() > 5 else ""
            )
            raise ValueError(
                f"{WHO} needs each query whole in exactly one test fold; {int(wrong.sum())} of "
                f"{len(ids)} are {what} ({some}). Use a splitter that tests every query once and "
                "cuts none, such as QueryKFold(5)."
            )


def _score_fold(
    estimator: Any,
    X: Any,
    y: Any,
    codes: Array,
    sample_weight: Any,
    split: Split,
    fit_params: dict[str, Any],
    metrics: Any,
    options: dict[str, Any],
) -> tuple[Array, Array, Array | None]:
    """Positions, values and weights of the queries of one test fold."""
    train, test = split
    fit_params = _check_method_params(X, params=fit_params, indices=train)
    estimator.fit(_safe_indexing(X, train), _safe_indexing(y, train), **fit_params)
    scores = predicted(respond, estimator, _safe_indexing(X, test), as_one=True)
    weights = None if sample_weight is None else _safe_indexing(sample_weight, test)
    named = resolve_per_query(metrics, **options)
    labels = _safe_indexing(y, test)
    queries = read_predicted(estimator, labels, scores, codes[test], weights, ", ".join(named))
    return queries.ids, per_query(queries, named.values()), queries.weights


def _put_together(
    ids: Array, found: list[tuple[Array, Array, Array | None]], metrics: tuple[str, ...]
) -> QueryScores:
    positions = np.concatenate([places for places, _, _ in found])
    order = np.argsort(positions)
    values = np.concatenate([values for _, values, _ in found])[order]
    weights = [w for _, _, w in found if w is not None]
    return QueryScores(ids, values, metrics, np.concatenate(weights)[order] if weights else None)
