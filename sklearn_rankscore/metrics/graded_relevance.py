"""Metrics of graded relevance: gains by rank (DCG, NDCG, RBP), and users who stop (ERR, pFound)."""

from __future__ import annotations

from typing import Any, Unpack

from numpy.typing import ArrayLike

from .._typing import CutoffArgs, Gain, GainArgs, HitsArgs
from . import formulas
from .definition import SELF_NORMALIZED, UNBIASED, metric
from .labels import UNKNOWN, check_grades
from .metric import score

__all__ = ["dcg_score", "err_score", "ndcg_score", "pfound_score", "rbp_score"]


class ERRArgs(CutoffArgs, total=False):
    """Arguments of ERR."""

    max_grade: float | None


class RBPArgs(HitsArgs, total=False):
    """Arguments of rank-biased precision."""

    gain: Gain
    normalize: bool
    p: float


class PFoundArgs(CutoffArgs, total=False):
    """Arguments of pFound."""

    decay: float


@metric(
    "dcg",
    formulas.dcg,
    aliases=("discounted_cumulative_gain",),
    limits=UNKNOWN,
    clicks=UNBIASED,
    bounds="rising",
)
def dcg_score(y_true: ArrayLike, y_score: ArrayLike, **options: Unpack[GainArgs]) -> Any:
    """Discounted cumulative gain (DCG), averaged over queries.

    Higher is better; the maximum depends on the labels, and `ndcg_score` scales it to 1::

        DCG@k = sum over ranks i <= k of gain(y_i) * discount(i)

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Relevance labels, finite numbers of at least 0; higher is more relevant.
    y_score : array-like of the same shape as `y_true`
        Scores; higher ranks first. -inf means not retrieved; NaN is an error.
    groups : array-like of shape (n_documents,), default=None
        Hashable query ids. None: an index level ``qid``, else a single query (2-D: one per row).
    k : int, default=None
        Cut-off: only the first k ranks count. None means no cut-off.
    gain : {"linear", "exponential", "binary"}, array-like, dict or callable, default="linear"
        Gain of a label y: y, 2**y - 1, 1 if y > 0, entry y of a sequence, dict or Series, or a
        function of labels.
    discount : {"log2", "log2_after_first", "reciprocal"}, callable or None, default="log2"
        Discount of a rank i: 1/log2(1 + i), 1/max(1, log2(i)), 1/i, a function of ranks, or 1
        (None).
    ties : {"average", "stable", "reversed", "optimistic", "pessimistic"}, default="average"
        Order of equal scores: expectation over all orders, input order, its reverse, best or worst.
    unjudged : {"error", "irrelevant", "drop"}, default="error"
        Documents with label NaN: an error, label 0, or removed before ranking.
    adjusted : bool, default=False
        Rescale each query, to 0 for the expectation over random orders and 1 for the ideal order.
    replace_undefined_by : float, default=0.0
        Value of a query with no positive gain; nan excludes it from the mean.
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
    ndcg_score : DCG divided by its maximum.
    sklearn.metrics.dcg_score : Equal for 2-D input.

    Notes
    -----
    Defined in [1]_. Tied documents share the mean gain of their tie group. ``discount=None`` gives
    the cumulative gain.
    See :ref:`shared-parameters`, :doc:`/guide/ties` and :doc:`/guide/undefined`.

    References
    ----------
    .. [1] K. Järvelin, J. Kekäläinen. Cumulated Gain-Based Evaluation of IR Techniques. ACM TOIS
       20(4), 2002. https://doi.org/10.1145/582415.582418

    Examples
    --------
    >>> from sklearn_rankscore import dcg_score
    >>> y_true, y_score = [2, 0, 1, 0, 1], [0.3, 0.2, 0.1, 0.9, 0.4]
    >>> groups = ["a", "a", "a", "b", "b"]
    >>> round(dcg_score(y_true, y_score, groups=groups), 4)
    1.5655
    """
    return score("dcg", y_true, y_score, options)


@metric(
    "ndcg",
    formulas.ndcg,
    aliases=("normalized_discounted_cumulative_gain", "ndcg_cut"),
    ratio=True,
    # a discount of the user's may be higher at a lower rank
    limits=lambda options: UNKNOWN if callable(options["discount"]) else (0.0, 1.0),
    clicks=SELF_NORMALIZED,
    bounds="by count",
)
def ndcg_score(y_true: ArrayLike, y_score: ArrayLike, **options: Unpack[GainArgs]) -> Any:
    """Normalized discounted cumulative gain (NDCG), averaged over queries.

    Higher is better, between 0 and 1; 1 means the best possible order in every query::

        NDCG@k = DCG@k / (DCG@k of the documents sorted by descending gain)

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Relevance labels, finite numbers of at least 0; higher is more relevant.
    y_score : array-like of the same shape as `y_true`
        Scores; higher ranks first. -inf means not retrieved; NaN is an error.
    groups : array-like of shape (n_documents,), default=None
        Hashable query ids. None: an index level ``qid``, else a single query (2-D: one per row).
    k : int, default=None
        Cut-off: only the first k ranks count. None means no cut-off.
    gain : {"linear", "exponential", "binary"}, array-like, dict or callable, default="linear"
        Gain of a label y: y, 2**y - 1, 1 if y > 0, entry y of a sequence, dict or Series, or a
        function of labels.
    discount : {"log2", "log2_after_first", "reciprocal"}, callable or None, default="log2"
        Discount of a rank i: 1/log2(1 + i), 1/max(1, log2(i)), 1/i, a function of ranks, or 1
        (None).
    ties : {"average", "stable", "reversed", "optimistic", "pessimistic"}, default="average"
        Order of equal scores: expectation over all orders, input order, its reverse, best or worst.
    unjudged : {"error", "irrelevant", "drop"}, default="error"
        Documents with label NaN: an error, label 0, or removed before ranking.
    adjusted : bool, default=False
        Rescale each query, to 0 for the expectation over random orders and 1 for the ideal order.
    replace_undefined_by : float, default=0.0
        Value of a query with no positive gain; nan excludes it from the mean.
    average : {"macro", "micro", None}, default="macro"
        Mean over queries, ratio of sums over queries, or (None) one value per query, sorted by id.
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
    dcg_score : DCG without normalization.
    sklearn.metrics.ndcg_score : Equal for 2-D input.

    Notes
    -----
    Defined in [1]_. Tied documents share the mean gain of their tie group. LightGBM and XGBoost use
    the exponential gain [2]_ and, like CatBoost, score a query with no positive gain as 1.
    See :ref:`shared-parameters`, :doc:`/guide/ties` and :doc:`/guide/undefined`.

    References
    ----------
    .. [1] K. Järvelin, J. Kekäläinen. Cumulated Gain-Based Evaluation of IR Techniques. ACM TOIS
       20(4), 2002. https://doi.org/10.1145/582415.582418
    .. [2] C. Burges et al. Learning to Rank Using Gradient Descent. ICML 2005.
       https://doi.org/10.1145/1102351.1102363

    Examples
    --------
    >>> from sklearn_rankscore import ndcg_score
    >>> y_true, y_score = [2, 0, 1, 0, 1], [0.3, 0.2, 0.1, 0.9, 0.4]
    >>> groups = ["a", "a", "a", "b", "b"]
    >>> round(ndcg_score(y_true, y_score, groups=groups), 4)
    0.7906
    >>> ndcg_score(y_true, y_score, groups=groups, k=1, average=None)
    array([1., 0.])
    """
    return score("ndcg", y_true, y_score, options)


def _is_share(gain: Any, normalize: bool, **options: Any) -> bool:
    """Whether no gain of RBP is above 1."""
    return normalize or (isinstance(gain, str) and gain == "binary")


@metric(
    "rbp",
    formulas.rbp,
    aliases=("rank_biased_precision",),
    defaults={"gain": "binary"},
    limits=lambda options: (0.0, 1.0) if _is_share(**options) else UNKNOWN,
    clicks=UNBIASED,
    bounds="rising",
)
def rbp_score(y_true: ArrayLike, y_score: ArrayLike, **options: Unpack[RBPArgs]) -> Any:
    """Rank-biased precision (RBP): gain per document that a persistent user reads.

    Higher is better, between 0 and 1 for gains up to 1; only long lists of relevant documents come
    close to 1. The user continues to the next document with probability p::

        RBP@k = (1 - p) * sum over ranks i <= k of gain(y_i) * p**(i - 1)

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
    gain : {"linear", "exponential", "binary"}, array-like, dict or callable, default="binary"
        Gain of a label y: y, 2**y - 1, 1 if y > `threshold`, entry y of a sequence, dict or
        Series, or a function of labels.
    normalize : bool, default=False
        Whether to divide gains by the highest gain of the query, if that is above 1.
    threshold : float, default=0
        A document is relevant if its label exceeds this value.
    p : float, default=0.8
        Persistence, in [0, 1): the probability of continuing to the next document.
    ties : {"average", "stable", "reversed", "optimistic", "pessimistic"}, default="average"
        Order of equal scores: expectation over all orders, input order, its reverse, best or worst.
    unjudged : {"error", "irrelevant", "drop"}, default="error"
        Documents with label NaN: an error, label 0, or removed before ranking.
    adjusted : bool, default=False
        Rescale each query, to 0 for the expectation over random orders and 1 for the ideal order.
    replace_undefined_by : float, default=0.0
        Value of a query with no positive gain; nan excludes it from the mean.
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
    err_score : A user who stops at a relevant document.

    Notes
    -----
    Defined in [1]_ for binary relevance. The gain is the label in ranx, and in trec_eval 10 label /
    highest label of the query (``normalize=True``), with p = 0.9. Tied documents share the mean
    gain of the tie.
    See :ref:`shared-parameters`, :doc:`/guide/ties` and :doc:`/guide/undefined`.

    References
    ----------
    .. [1] A. Moffat, J. Zobel. Rank-Biased Precision for Measurement of Retrieval Effectiveness.
       ACM TOIS 27(1), 2008. https://doi.org/10.1145/1416950.1416952

    Examples
    --------
    >>> from sklearn_rankscore import rbp_score
    >>> y_true, y_score = [2, 0, 1, 0, 1], [0.3, 0.2, 0.1, 0.9, 0.4]
    >>> groups = ["a", "a", "a", "b", "b"]
    >>> round(rbp_score(y_true, y_score, groups=groups, p=0.5), 4)
    0.4375
    """
    return score("rbp", y_true, y_score, options)


@metric(
    "err",
    formulas.err,
    aliases=("expected_reciprocal_rank",),
    labels=check_grades,
    bounds="rising",
)
def err_score(y_true: ArrayLike, y_score: ArrayLike, **options: Unpack[ERRArgs]) -> Any:
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
    return score("err", y_true, y_score, options)


@metric("pfound", formulas.pfound, labels=check_grades, bounds="rising")
def pfound_score(y_true: ArrayLike, y_score: ArrayLike, **options: Unpack[PFoundArgs]) -> Any:
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
    return score("pfound", y_true, y_score, options)
