"""Cascade models, in which a user reads from the top and may stop: ERR, pFound."""

from __future__ import annotations

from typing import Unpack, overload

from numpy.typing import ArrayLike

from .._typing import Array, ERRArgs, Macro, PFoundArgs, QueryIds, Ties, Unjudged
from . import formulas
from .metric import score


@overload
def err_score(
    y_true: ArrayLike, y_score: ArrayLike, *, average: None, **options: Unpack[ERRArgs]
) -> Array: ...
@overload
def err_score(
    y_true: ArrayLike, y_score: ArrayLike, *, average: Macro = ..., **options: Unpack[ERRArgs]
) -> float: ...
def err_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    groups: QueryIds | None = None,
    k: int | None = None,
    max_grade: float | None = 4,
    ties: Ties = "average",
    unjudged: Unjudged = "error",
    adjusted: bool = False,
    replace_undefined_by: float = 0.0,
    average: Macro | None = "macro",
    sample_weight: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    n_jobs: int | None = None,
) -> float | Array:
    """Expected reciprocal rank (ERR) in the cascade model, averaged over queries.

    Higher is better, from 0 to below 1 (up to 1 with ``max_grade=None``). The user reads from the
    top and stops at the document at rank i with probability p_i::

        ERR@k = sum over ranks i <= k of 1/i * p_i * prod over j < i of (1 - p_j),
        p_i = (2**y_i - 1) / 2**max_grade

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Relevance labels, between 0 and `max_grade`; higher is more relevant.
    y_score : array-like of the same shape as `y_true`
        Scores; higher ranks first. -inf means not retrieved; NaN is an error.
    groups : array-like of shape (n_documents,), default=None
        Hashable query ids. None: an index level ``qid``, else a single query (2-D: one per row).
    k : int, default=None
        Cut-off: only the first k ranks count. None means no cut-off.
    max_grade : float or None, default=4
        Highest possible label. None means that labels are the probabilities p, between 0 and 1.
    ties : {"average", "stable", "reversed", "optimistic", "pessimistic"}, default="average"
        Order of equal scores: expectation over all orders, input order, its reverse, best or worst.
    unjudged : {"error", "irrelevant", "drop"}, default="error"
        Documents with label NaN: an error, label 0, or removed before ranking.
    adjusted : bool, default=False
        Rescale each query, to 0 for the expectation over random orders and 1 for the ideal order.
    replace_undefined_by : float, default=0.0
        Value of a query with no positive label; nan excludes it from the mean.
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
    pfound_score : A cascade model in which labels are probabilities.

    Notes
    -----
    Defined in [1]_. Tied scores give the exact expectation over all orders, by elementary symmetric
    polynomials of 1 - p. CatBoost reads labels as probabilities, as ``max_grade=None`` does.
    See :ref:`shared-parameters`, :doc:`/guide/ties` and :doc:`/guide/undefined`.

    References
    ----------
    .. [1] O. Chapelle, D. Metzler, Y. Zhang, P. Grinspan. Expected Reciprocal Rank for Graded
       Relevance. CIKM 2009. https://doi.org/10.1145/1645953.1646033

    Examples
    --------
    >>> from sklearn_rankscore import err_score
    >>> y_true, y_score = [2, 0, 1, 0, 1], [0.3, 0.2, 0.1, 0.9, 0.4]
    >>> groups = ["a", "a", "a", "b", "b"]
    >>> round(err_score(y_true, y_score, groups=groups, max_grade=2), 4)
    0.4479
    """
    return score(formulas.err, **locals())


@overload
def pfound_score(
    y_true: ArrayLike, y_score: ArrayLike, *, average: None, **options: Unpack[PFoundArgs]
) -> Array: ...
@overload
def pfound_score(
    y_true: ArrayLike, y_score: ArrayLike, *, average: Macro = ..., **options: Unpack[PFoundArgs]
) -> float: ...
def pfound_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    groups: QueryIds | None = None,
    k: int | None = None,
    decay: float = 0.85,
    ties: Ties = "average",
    unjudged: Unjudged = "error",
    adjusted: bool = False,
    replace_undefined_by: float = 0.0,
    average: Macro | None = "macro",
    sample_weight: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    n_jobs: int | None = None,
) -> float | Array:
    """Probability that a user finds a satisfying document (pFound), averaged over queries.

    Higher is better, between 0 and 1; 1 means that the first document satisfies every user. The
    document at rank i satisfies with probability y_i; if not, the user may continue (see `decay`)::

        pFound@k = sum over ranks i <= k of decay**(i-1) * y_i * prod over j < i of (1 - y_j)

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Relevance labels, probabilities between 0 and 1; higher is more relevant.
    y_score : array-like of the same shape as `y_true`
        Scores; higher ranks first. -inf means not retrieved; NaN is an error.
    groups : array-like of shape (n_documents,), default=None
        Hashable query ids. None: an index level ``qid``, else a single query (2-D: one per row).
    k : int, default=None
        Cut-off: only the first k ranks count. None means no cut-off.
    decay : float, default=0.85
        Probability, in [0, 1], of continuing after a document that did not satisfy the user.
    ties : {"average", "stable", "reversed", "optimistic", "pessimistic"}, default="average"
        Order of equal scores: expectation over all orders, input order, its reverse, best or worst.
    unjudged : {"error", "irrelevant", "drop"}, default="error"
        Documents with label NaN: an error, label 0, or removed before ranking.
    adjusted : bool, default=False
        Rescale each query, to 0 for the expectation over random orders and 1 for the ideal order.
    replace_undefined_by : float, default=0.0
        Value of a query with no positive label; nan excludes it from the mean.
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
    err_score : A cascade model for grades, with a reciprocal discount.

    Notes
    -----
    Defined in [1]_; the PFound of CatBoost. Tied scores give the exact expectation over all orders,
    by elementary symmetric polynomials of 1 - y.
    See :ref:`shared-parameters`, :doc:`/guide/ties` and :doc:`/guide/undefined`.

    References
    ----------
    .. [1] A. Gulin, P. Karpovich, D. Raskovalov, I. Segalovich. Yandex at ROMIP'2009: Optimization
       of Ranking Algorithms by Machine Learning Methods. ROMIP 2009 (in Russian).

    Examples
    --------
    >>> from sklearn_rankscore import pfound_score
    >>> y_true, y_score = [0.9, 0.0, 0.5, 0.0, 0.5], [0.3, 0.2, 0.1, 0.9, 0.4]
    >>> groups = ["a", "a", "a", "b", "b"]
    >>> round(pfound_score(y_true, y_score, groups=groups), 4)
    0.6806
    """
    return score(formulas.pfound, **locals())
