"""Rank correlation of labels and scores within each query."""

from __future__ import annotations

import math
from typing import Unpack, overload

from numpy.typing import ArrayLike

from .._typing import Array, Macro, QueryIds, SharedArgs, Unjudged
from . import formulas
from .metric import score


@overload
def kendall_tau_score(
    y_true: ArrayLike, y_score: ArrayLike, *, average: None, **options: Unpack[SharedArgs]
) -> Array: ...
@overload
def kendall_tau_score(
    y_true: ArrayLike, y_score: ArrayLike, *, average: Macro = ..., **options: Unpack[SharedArgs]
) -> float: ...
def kendall_tau_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    groups: QueryIds | None = None,
    unjudged: Unjudged = "error",
    adjusted: bool = False,
    replace_undefined_by: float = math.nan,
    average: Macro | None = "macro",
    sample_weight: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    n_jobs: int | None = None,
) -> float | Array:
    """Kendall's tau-b of labels and scores within each query, averaged over queries.

    Higher is better, between -1 and 1; 1 means identical orders, 0 no correlation::

        tau-b = (concordant pairs - discordant pairs)
                / sqrt(pairs untied in y_true * pairs untied in y_score)

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Relevance labels, finite numbers; higher is more relevant.
    y_score : array-like of the same shape as `y_true`
        Scores; higher ranks first. -inf means not retrieved; NaN is an error.
    groups : array-like of shape (n_documents,), default=None
        Hashable query ids. None: an index level ``qid``, else a single query (2-D: one per row).
    unjudged : {"error", "irrelevant", "drop"}, default="error"
        Documents with label NaN: an error, label 0, or removed before ranking.
    adjusted : bool, default=False
        Rescale each query, to 0 for the expectation over random orders and 1 for the ideal order.
    replace_undefined_by : float, default=nan
        Value of a query with all labels or all scores equal; nan excludes it from the mean.
    average : {"macro", None}, default="macro"
        Mean over queries, or (None) one value per query, sorted by id.
    sample_weight : array-like of shape (n_documents,) or (n_queries,), default=None
        Query weights, constant within each query; one per row of 2-D input.
    labels : array-like of shape (n_classes,), default=None
        Class of each column of 2-D `y_score` if `y_true` holds one class label per row.
    n_jobs : int, default=None
        Number of threads; -1 uses all processors.

    Returns
    -------
    float or ndarray of shape (n_queries,)
        Average over queries, or one value per query if `average` is None.

    Raises
    ------
    ValueError
        If lengths differ, a score is NaN, or a label or option is invalid.

    See Also
    --------
    scipy.stats.kendalltau : Equal for a single query.
    spearman_score : Correlation of ranks.

    Notes
    -----
    Defined in [1]_; the denominator corrects for ties. Documents that were not retrieved have the
    lowest score, tied with one another.
    See :ref:`shared-parameters`, :doc:`/guide/ties` and :doc:`/guide/undefined`.

    References
    ----------
    .. [1] M. G. Kendall. The Treatment of Ties in Ranking Problems. Biometrika 33(3), 1945.
       https://doi.org/10.1093/biomet/33.3.239

    Examples
    --------
    >>> from sklearn_rankscore import kendall_tau_score
    >>> y_true, y_score = [2, 0, 1, 0, 1], [0.3, 0.2, 0.1, 0.9, 0.4]
    >>> groups = ["a", "a", "a", "b", "b"]
    >>> round(kendall_tau_score(y_true, y_score, groups=groups), 4)
    -0.3333
    """
    return score(formulas.kendall_tau, **locals())


@overload
def spearman_score(
    y_true: ArrayLike, y_score: ArrayLike, *, average: None, **options: Unpack[SharedArgs]
) -> Array: ...
@overload
def spearman_score(
    y_true: ArrayLike, y_score: ArrayLike, *, average: Macro = ..., **options: Unpack[SharedArgs]
) -> float: ...
def spearman_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    groups: QueryIds | None = None,
    unjudged: Unjudged = "error",
    adjusted: bool = False,
    replace_undefined_by: float = math.nan,
    average: Macro | None = "macro",
    sample_weight: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    n_jobs: int | None = None,
) -> float | Array:
    """Spearman's rank correlation of labels and scores within each query, averaged over queries.

    Higher is better, between -1 and 1; 1 means identical orders, 0 no correlation::

        rho = Pearson correlation of the ranks of y_true and y_score

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Relevance labels, finite numbers; higher is more relevant.
    y_score : array-like of the same shape as `y_true`
        Scores; higher ranks first. -inf means not retrieved; NaN is an error.
    groups : array-like of shape (n_documents,), default=None
        Hashable query ids. None: an index level ``qid``, else a single query (2-D: one per row).
    unjudged : {"error", "irrelevant", "drop"}, default="error"
        Documents with label NaN: an error, label 0, or removed before ranking.
    adjusted : bool, default=False
        Rescale each query, to 0 for the expectation over random orders and 1 for the ideal order.
    replace_undefined_by : float, default=nan
        Value of a query with all labels or all scores equal; nan excludes it from the mean.
    average : {"macro", None}, default="macro"
        Mean over queries, or (None) one value per query, sorted by id.
    sample_weight : array-like of shape (n_documents,) or (n_queries,), default=None
        Query weights, constant within each query; one per row of 2-D input.
    labels : array-like of shape (n_classes,), default=None
        Class of each column of 2-D `y_score` if `y_true` holds one class label per row.
    n_jobs : int, default=None
        Number of threads; -1 uses all processors.

    Returns
    -------
    float or ndarray of shape (n_queries,)
        Average over queries, or one value per query if `average` is None.

    Raises
    ------
    ValueError
        If lengths differ, a score is NaN, or a label or option is invalid.

    See Also
    --------
    scipy.stats.spearmanr : Equal for a single query.
    kendall_tau_score : Correlation of pairs.

    Notes
    -----
    Defined in [1]_; tied labels and tied scores have their mean rank. Documents that were not
    retrieved have the lowest score, tied with one another.
    See :ref:`shared-parameters`, :doc:`/guide/ties` and :doc:`/guide/undefined`.

    References
    ----------
    .. [1] C. Spearman. The Proof and Measurement of Association between Two Things. The American
       Journal of Psychology 15(1), 1904. https://doi.org/10.2307/1412159

    Examples
    --------
    >>> from sklearn_rankscore import spearman_score
    >>> y_true, y_score = [2, 0, 1, 0, 1], [0.3, 0.2, 0.1, 0.9, 0.4]
    >>> groups = ["a", "a", "a", "b", "b"]
    >>> spearman_score(y_true, y_score, groups=groups)
    -0.25
    """
    return score(formulas.spearman, **locals())
