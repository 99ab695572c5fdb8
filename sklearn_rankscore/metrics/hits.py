"""Hits within a cut-off, and the rank of the first relevant document."""

from __future__ import annotations

from typing import Unpack, overload

from numpy.typing import ArrayLike

from .._typing import Array, HitArgs, HitsArgs, Macro, QueryIds, Ties, Unjudged
from . import formulas
from .metric import score


@overload
def hits_at_k(
    y_true: ArrayLike, y_score: ArrayLike, *, average: None, **options: Unpack[HitsArgs]
) -> Array: ...
@overload
def hits_at_k(
    y_true: ArrayLike, y_score: ArrayLike, *, average: Macro = ..., **options: Unpack[HitsArgs]
) -> float: ...
def hits_at_k(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    groups: QueryIds | None = None,
    k: int | None = None,
    threshold: float = 0,
    ties: Ties = "average",
    unjudged: Unjudged = "error",
    adjusted: bool = False,
    replace_undefined_by: float = 0.0,
    average: Macro | None = "macro",
    sample_weight: ArrayLike | None = None,
    propensity: ArrayLike | str | None = None,
    clip: float | None = None,
    labels: ArrayLike | None = None,
    n_jobs: int | None = None,
) -> float | Array:
    """Number of relevant documents within the first k, averaged over queries.

    Higher is better, between 0 and k::

        hits@k = number of relevant documents within the first k

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Relevance labels, finite numbers; higher is more relevant.
    y_score : array-like of the same shape as `y_true`
        Scores; higher ranks first. -inf means not retrieved; NaN is an error.
    groups : array-like of shape (n_documents,), default=None
        Hashable query ids. None: an index level ``qid``, else a single query (2-D: one per row).
    k : int, default=None
        Cut-off: only the first k ranks count. None means no cut-off.
    threshold : float, default=0
        A document is relevant if its label exceeds this value.
    ties : {"average", "stable", "reversed", "optimistic", "pessimistic"}, default="average"
        Order of equal scores: expectation over all orders, input order, its reverse, best or worst.
    unjudged : {"error", "irrelevant", "drop"}, default="error"
        Documents with label NaN: an error, label 0, or removed before ranking.
    adjusted : bool, default=False
        Rescale each query, to 0 for the expectation over random orders and 1 for the ideal order.
    replace_undefined_by : float, default=0.0
        Value of a query with no relevant document; nan excludes it from the mean.
    average : {"macro", None}, default="macro"
        Mean over queries, or (None) one value per query, sorted by id.
    sample_weight : array-like of shape (n_documents,) or (n_queries,), default=None
        Query weights, constant within each query; one per row of 2-D input.
    propensity : array-like of the shape of `y_score` or str, default=None
        Probability, in (0, 1], that each document was examined, or the index level that holds it.
        Labels are clicks, and gains are divided by it.
    clip : float, default=None
        Smaller propensities are raised to this value.
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
    hit_rate_at_k : Fraction of queries with at least one.
    recall_at_k : Hits as a fraction of the relevant documents.

    Notes
    -----
    Tied documents share the mean relevance of their tie group [1]_.
    See :ref:`shared-parameters`, :doc:`/guide/ties` and :doc:`/guide/undefined`.

    References
    ----------
    .. [1] F. McSherry, M. Najork. Computing Information Retrieval Performance Measures Efficiently
       in the Presence of Tied Scores. ECIR 2008. https://doi.org/10.1007/978-3-540-78646-7_38

    Examples
    --------
    >>> from sklearn_rankscore import hits_at_k
    >>> y_true, y_score = [2, 0, 1, 0, 1], [0.3, 0.2, 0.1, 0.9, 0.4]
    >>> groups = ["a", "a", "a", "b", "b"]
    >>> hits_at_k(y_true, y_score, groups=groups, k=2)
    1.0
    """
    return score(formulas.hits, **locals())


@overload
def hit_rate_at_k(
    y_true: ArrayLike, y_score: ArrayLike, *, average: None, **options: Unpack[HitArgs]
) -> Array: ...
@overload
def hit_rate_at_k(
    y_true: ArrayLike, y_score: ArrayLike, *, average: Macro = ..., **options: Unpack[HitArgs]
) -> float: ...
def hit_rate_at_k(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    groups: QueryIds | None = None,
    k: int | None = None,
    threshold: float = 0,
    ties: Ties = "average",
    unjudged: Unjudged = "error",
    adjusted: bool = False,
    replace_undefined_by: float = 0.0,
    average: Macro | None = "macro",
    sample_weight: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    n_jobs: int | None = None,
) -> float | Array:
    """Fraction of queries with a relevant document within the first k.

    Higher is better, between 0 and 1; 1 means that every query has one::

        hit_rate@k = 1 if any of the first k documents is relevant, otherwise 0

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Relevance labels, finite numbers; higher is more relevant.
    y_score : array-like of the same shape as `y_true`
        Scores; higher ranks first. -inf means not retrieved; NaN is an error.
    groups : array-like of shape (n_documents,), default=None
        Hashable query ids. None: an index level ``qid``, else a single query (2-D: one per row).
    k : int, default=None
        Cut-off: only the first k ranks count. None means no cut-off.
    threshold : float, default=0
        A document is relevant if its label exceeds this value.
    ties : {"average", "stable", "reversed", "optimistic", "pessimistic"}, default="average"
        Order of equal scores: expectation over all orders, input order, its reverse, best or worst.
    unjudged : {"error", "irrelevant", "drop"}, default="error"
        Documents with label NaN: an error, label 0, or removed before ranking.
    adjusted : bool, default=False
        Rescale each query, to 0 for the expectation over random orders and 1 for the ideal order.
    replace_undefined_by : float, default=0.0
        Value of a query with no relevant document; nan excludes it from the mean.
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
    hits_at_k : Number of relevant documents within the first k.
    mrr_score : Reciprocal rank of the first one.

    Notes
    -----
    Where the cut-off falls within a tie group, the value is the probability that a relevant
    document is within the first k, over all orders of the group [1]_. trec_eval calls the metric
    success. See :ref:`shared-parameters`, :doc:`/guide/ties` and :doc:`/guide/undefined`.

    References
    ----------
    .. [1] F. McSherry, M. Najork. Computing Information Retrieval Performance Measures Efficiently
       in the Presence of Tied Scores. ECIR 2008. https://doi.org/10.1007/978-3-540-78646-7_38

    Examples
    --------
    >>> from sklearn_rankscore import hit_rate_at_k
    >>> y_true, y_score = [2, 0, 1, 0, 1], [0.3, 0.2, 0.1, 0.9, 0.4]
    >>> groups = ["a", "a", "a", "b", "b"]
    >>> hit_rate_at_k(y_true, y_score, groups=groups, k=1)
    0.5
    """
    return score(formulas.hit_rate, **locals())


@overload
def mrr_score(
    y_true: ArrayLike, y_score: ArrayLike, *, average: None, **options: Unpack[HitArgs]
) -> Array: ...
@overload
def mrr_score(
    y_true: ArrayLike, y_score: ArrayLike, *, average: Macro = ..., **options: Unpack[HitArgs]
) -> float: ...
def mrr_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    groups: QueryIds | None = None,
    k: int | None = None,
    threshold: float = 0,
    ties: Ties = "average",
    unjudged: Unjudged = "error",
    adjusted: bool = False,
    replace_undefined_by: float = 0.0,
    average: Macro | None = "macro",
    sample_weight: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    n_jobs: int | None = None,
) -> float | Array:
    """Mean reciprocal rank (MRR) of the first relevant document.

    Higher is better, between 0 and 1; 1 means that the first document of every query is relevant::

        RR@k = 1 / (rank of the first relevant document), or 0 if there is none within k

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Relevance labels, finite numbers; higher is more relevant.
    y_score : array-like of the same shape as `y_true`
        Scores; higher ranks first. -inf means not retrieved; NaN is an error.
    groups : array-like of shape (n_documents,), default=None
        Hashable query ids. None: an index level ``qid``, else a single query (2-D: one per row).
    k : int, default=None
        Cut-off: only the first k ranks count. None means no cut-off.
    threshold : float, default=0
        A document is relevant if its label exceeds this value.
    ties : {"average", "stable", "reversed", "optimistic", "pessimistic"}, default="average"
        Order of equal scores: expectation over all orders, input order, its reverse, best or worst.
    unjudged : {"error", "irrelevant", "drop"}, default="error"
        Documents with label NaN: an error, label 0, or removed before ranking.
    adjusted : bool, default=False
        Rescale each query, to 0 for the expectation over random orders and 1 for the ideal order.
    replace_undefined_by : float, default=0.0
        Value of a query with no relevant document; nan excludes it from the mean.
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
    hit_rate_at_k : Fraction of queries with a relevant document within the first k.

    Notes
    -----
    Defined in [1]_. Tied scores give the exact expectation over all orders [2]_.
    See :ref:`shared-parameters`, :doc:`/guide/ties` and :doc:`/guide/undefined`.

    References
    ----------
    .. [1] E. Voorhees. The TREC-8 Question Answering Track Report. TREC 1999.
       https://doi.org/10.6028/NIST.SP.500-246.qa-overview
    .. [2] F. McSherry, M. Najork. Computing Information Retrieval Performance Measures Efficiently
       in the Presence of Tied Scores. ECIR 2008. https://doi.org/10.1007/978-3-540-78646-7_38

    Examples
    --------
    >>> from sklearn_rankscore import mrr_score
    >>> y_true, y_score = [2, 0, 1, 0, 1], [0.3, 0.2, 0.1, 0.9, 0.4]
    >>> groups = ["a", "a", "a", "b", "b"]
    >>> mrr_score(y_true, y_score, groups=groups)
    0.75
    """
    return score(formulas.reciprocal_rank, **locals())
