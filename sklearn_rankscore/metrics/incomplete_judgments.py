"""Metrics of incompletely judged rankings: judged documents, bpref, inferred average precision."""

from __future__ import annotations

from typing import Any, Unpack

from numpy.typing import ArrayLike

from .._typing import BinaryArgs, CutoffArgs, OrderTies, SharedArgs
from . import formulas
from .definition import metric
from .metric import score

__all__ = ["bpref_score", "infap_score", "judged_at_k"]


class InfAPArgs(SharedArgs, total=False):
    """Arguments of inferred average precision."""

    threshold: float
    ties: OrderTies


@metric(
    "judged",
    formulas.judged_share,
    ratio=True,
    reads_unjudged=True,
    adjustable="within cut-off",
)
def judged_at_k(y_true: ArrayLike, y_score: ArrayLike, **options: Unpack[CutoffArgs]) -> Any:
    """Fraction of the first k documents that were judged.

    Higher is better, between 0 and 1; 1 means that all of the first k documents were judged::

        judged@k = (judged documents among the first k) / min(k, retrieved documents)

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Relevance labels, NaN or negative if not judged; higher is more relevant.
    y_score : array-like of the same shape as `y_true`
        Scores; higher ranks first. -inf means not retrieved; NaN is an error.
    groups : array-like of shape (n_documents,), default=None
        Hashable query ids. None: an index level ``qid``, else a single query (2-D: one per row).
    k : int, default=None
        Cut-off: only the first k ranks count. None means no cut-off.
    ties : {"average", "stable", "reversed", "optimistic", "pessimistic"}, default="average"
        Order of equal scores: expectation over all orders, input order, its reverse, best or worst.
    unjudged : {"error", "irrelevant", "drop"}, default="error"
        Without effect: this metric itself distinguishes documents that were not judged.
    adjusted : bool, default=False
        Rescale each query, to 0 for the expectation over random orders and 1 for the ideal order.
    replace_undefined_by : float, default=0.0
        Value of a query with nothing retrieved; nan excludes it from the mean.
    average : {"macro", "micro", None}, default="macro"
        Mean over queries, ratio of sums over queries, or (None) one value per query, sorted by id.
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
    bpref_score : Ignores documents that were not judged.

    Notes
    -----
    Equals ``Judged@k`` of ir_measures if judged documents have labels of at least 0; the ``unj`` of
    trec_eval 10 is 1 minus this value where k documents were retrieved. All metrics but `judged`,
    `bpref` and `infap` have the option `unjudged` for documents that were not judged. See
    :ref:`shared-parameters`, :doc:`/guide/ties` and :doc:`/guide/labels`.

    Examples
    --------
    >>> from sklearn_rankscore import judged_at_k
    >>> y_true, y_score = [2, float("nan"), 1, 0, float("nan")], [0.3, 0.2, 0.1, 0.9, 0.4]
    >>> groups = ["a", "a", "a", "b", "b"]
    >>> judged_at_k(y_true, y_score, groups=groups, k=2)
    0.5
    """
    return score("judged", y_true, y_score, options)


@metric("bpref", formulas.bpref, reads_unjudged=True)
def bpref_score(y_true: ArrayLike, y_score: ArrayLike, **options: Unpack[BinaryArgs]) -> Any:
    """Binary preference: relevant documents above judged irrelevant ones, averaged over queries.

    Higher is better, between 0 and 1; 1 means that every relevant document was retrieved above all
    documents that were judged irrelevant. Documents that were not judged are ignored::

        bpref = (1 / R) * sum over retrieved relevant documents of
                (1 - min(judged irrelevant documents above it, R) / min(N, R))

    for R relevant and N irrelevant documents among those judged; the fraction is 0 if N is 0.

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Relevance labels, NaN or negative if not judged; higher is more relevant.
    y_score : array-like of the same shape as `y_true`
        Scores; higher ranks first. -inf means not retrieved; NaN is an error.
    groups : array-like of shape (n_documents,), default=None
        Hashable query ids. None: an index level ``qid``, else a single query (2-D: one per row).
    threshold : float, default=0
        A document is relevant if its label exceeds this value.
    ties : {"average", "stable", "reversed", "optimistic", "pessimistic"}, default="average"
        Order of equal scores: expectation over all orders, input order, its reverse, best or worst.
    unjudged : {"error", "irrelevant", "drop"}, default="error"
        Without effect: this metric itself distinguishes documents that were not judged.
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
    infap_score : Infers the relevance of documents that were not judged.
    map_score : Also ignores them, with ``unjudged="drop"``.

    Notes
    -----
    Defined in [1]_, with the bound min(N, R) of trec_eval, whose values are those of
    ``ties="reversed"``. A relevant document that is tied with n judged irrelevant ones has 0, 1, …,
    n of them above it with equal probabilities. Labels below 0 mean that a document was not judged.
    See :ref:`shared-parameters`, :doc:`/guide/ties` and :doc:`/guide/labels`.

    References
    ----------
    .. [1] C. Buckley, E. M. Voorhees. Retrieval Evaluation with Incomplete Information. SIGIR 2004.
       https://doi.org/10.1145/1008992.1009000

    Examples
    --------
    >>> from sklearn_rankscore import bpref_score
    >>> y_true, y_score = [2, float("nan"), 1, 0, 1], [0.3, 0.2, 0.1, 0.9, 0.4]
    >>> groups = ["a", "a", "a", "b", "b"]
    >>> bpref_score(y_true, y_score, groups=groups)
    0.5
    """
    return score("bpref", y_true, y_score, options)


@metric(
    "infap",
    formulas.inferred_ap,
    aliases=("inferred_average_precision", "inferred_ap"),
    reads_unjudged=True,
    best_order=False,
)
def infap_score(y_true: ArrayLike, y_score: ArrayLike, **options: Unpack[InfAPArgs]) -> Any:
    """Inferred average precision (infAP), for a pool of which a random sample was judged.

    Higher is better, between 0 and 1. A negative label means that a document belongs to the pool
    but was not judged, NaN that it is outside of the pool and therefore taken as irrelevant::

        infAP = (1 / R) * sum over relevant documents at rank i of
                1 / i + (pooled documents above it) / i * (r + e) / (r + n + 2e)

    for r relevant and n irrelevant ones among the judged documents above it, and e = 0.00001.

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Relevance labels, NaN or negative if not judged; higher is more relevant.
    y_score : array-like of the same shape as `y_true`
        Scores; higher ranks first. -inf means not retrieved; NaN is an error.
    groups : array-like of shape (n_documents,), default=None
        Hashable query ids. None: an index level ``qid``, else a single query (2-D: one per row).
    threshold : float, default=0
        A document is relevant if its label exceeds this value.
    ties : {"average", "stable", "reversed"}, default="average"
        Order of equal scores: expectation over all orders, input order, or its reverse.
    unjudged : {"error", "irrelevant", "drop"}, default="error"
        Without effect: this metric itself distinguishes documents that were not judged.
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
    map_score : Average precision of a ranking whose documents were all judged.
    bpref_score : Ignores documents that were not judged.

    Notes
    -----
    Defined in [1]_; equal to trec_eval's infAP with ``ties="reversed"``. If all documents of the
    pool were judged and none is outside of it, this is `map_score` up to e. The expectation over
    ties sums over the number of judged documents above a tied one. The best order of ties is not
    determined by relevance, so that there is no "optimistic" rule.
    See :ref:`shared-parameters`, :doc:`/guide/ties` and :doc:`/guide/labels`.

    References
    ----------
    .. [1] E. Yilmaz, J. A. Aslam. Estimating Average Precision with Incomplete and Imperfect
       Judgments. CIKM 2006. https://doi.org/10.1145/1183614.1183633

    Examples
    --------
    >>> from sklearn_rankscore import infap_score
    >>> y_true, y_score = [2, -1, 1, 0, 1], [0.3, 0.2, 0.1, 0.9, 0.4]
    >>> groups = ["a", "a", "a", "b", "b"]
    >>> round(infap_score(y_true, y_score, groups=groups), 4)
    0.75
    """
    return score("infap", y_true, y_score, options)
