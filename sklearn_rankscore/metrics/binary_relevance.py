"""Metrics of relevant documents: how many are ranked first, and where the first one is."""

from __future__ import annotations

from typing import Any, Literal, Unpack

from numpy.typing import ArrayLike

from .._typing import BinaryArgs, HitArgs, HitsArgs
from . import formulas
from .definition import SELF_NORMALIZED, UNBIASED, metric
from .expectations import until_first_relevant
from .labels import UNKNOWN
from .metric import score

__all__ = [
    "f1_at_k",
    "hit_rate_at_k",
    "hits_at_k",
    "map_score",
    "mrr_score",
    "precision_at_k",
    "r_precision_score",
    "recall_at_k",
]


class APArgs(HitArgs, total=False):
    """Arguments of average precision."""

    denominator: Literal["min", "relevant", "hits"]


class RatioArgs(HitArgs, total=False):
    """Arguments of F1."""

    denominator: Literal["k", "min"]


class PrecisionArgs(HitsArgs, total=False):
    """Arguments of precision."""

    denominator: Literal["k", "min", "attainable"]


class RecallArgs(HitsArgs, total=False):
    """Arguments of recall."""

    denominator: Literal["relevant", "min"]


@metric(
    "map",
    formulas.average_precision,
    aliases=("AP", "average_precision", "mean_average_precision", "map_cut"),
    ratio=True,
    denominators=("min", "relevant", "hits"),
    bounds="by count",
)
def map_score(y_true: ArrayLike, y_score: ArrayLike, **options: Unpack[APArgs]) -> Any:
    """Mean average precision (MAP): average precision, averaged over queries.

    Higher is better, between 0 and 1; 1 means that relevant documents rank above all others::

        AP@k = (sum of precision@i over the ranks i <= k of relevant documents) / denominator

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
    denominator : {"min", "relevant", "hits"}, default="min"
        With R relevant documents: min(R, k), R, or the number of them within the first k.
    ties : {"average", "stable", "reversed", "optimistic", "pessimistic"}, default="average"
        Order of equal scores: expectation over all orders, input order, its reverse, best or worst.
    unjudged : {"error", "irrelevant", "drop"}, default="error"
        Documents with label NaN: an error, label 0, or removed before ranking.
    adjusted : bool, default=False
        Rescale each query, to 0 for the expectation over random orders and 1 for the ideal order.
    replace_undefined_by : float, default=0.0
        Value of a query with no relevant document; nan excludes it from the mean.
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
    precision_at_k : Fraction of relevant documents at one cut-off.

    Notes
    -----
    Defined in [1]_. Tied scores give the exact expectation over all orders [2]_. LightGBM, XGBoost
    and CatBoost divide by min(R, k); trec_eval, ranx and rax by R; torchmetrics by the number of
    relevant documents within the first k. LightGBM and XGBoost score a query with no relevant
    document as 1. See :ref:`shared-parameters`, :doc:`/guide/ties` and :doc:`/guide/undefined`.

    References
    ----------
    .. [1] C. Buckley, E. Voorhees. Retrieval System Evaluation. In TREC: Experiment and Evaluation
       in Information Retrieval. MIT Press, 2005.
    .. [2] F. McSherry, M. Najork. Computing Information Retrieval Performance Measures Efficiently
       in the Presence of Tied Scores. ECIR 2008. https://doi.org/10.1007/978-3-540-78646-7_38

    Examples
    --------
    >>> from sklearn_rankscore import map_score
    >>> y_true, y_score = [2, 0, 1, 0, 1], [0.3, 0.2, 0.1, 0.9, 0.4]
    >>> groups = ["a", "a", "a", "b", "b"]
    >>> round(map_score(y_true, y_score, groups=groups), 4)
    0.6667
    """
    return score("map", y_true, y_score, options)


@metric(
    "mrr",
    formulas.reciprocal_rank,
    aliases=("RR", "recip_rank", "reciprocal_rank", "mean_reciprocal_rank"),
    ranks=until_first_relevant,
    bounds="rising",
)
def mrr_score(y_true: ArrayLike, y_score: ArrayLike, **options: Unpack[HitArgs]) -> Any:
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
    return score("mrr", y_true, y_score, options)


@metric(
    "precision",
    formulas.precision,
    aliases=("P", "prec", "pre", "set_P"),
    ratio=True,
    denominators=("k", "min", "attainable"),
    adjustable="within cut-off",
    clicks=UNBIASED,
    clicks_lack="attainable",
    bounds="rising",
)
def precision_at_k(y_true: ArrayLike, y_score: ArrayLike, **options: Unpack[PrecisionArgs]) -> Any:
    """Fraction of the first k documents that are relevant, averaged over queries.

    Higher is better, between 0 and 1; 1 means that the first k documents are all relevant::

        P@k = (relevant documents within the first k) / k

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
    denominator : {"k", "min", "attainable"}, default="k"
        k, min(k, n) for a query with n retrieved documents (without a cut-off both are n), or
        min(k, R) for a query with R relevant documents, which makes 1 attainable.
    ties : {"average", "stable", "reversed", "optimistic", "pessimistic"}, default="average"
        Order of equal scores: expectation over all orders, input order, its reverse, best or worst.
    unjudged : {"error", "irrelevant", "drop"}, default="error"
        Documents with label NaN: an error, label 0, or removed before ranking.
    adjusted : bool, default=False
        Rescale each query, to 0 for the expectation over random orders and 1 for the ideal order.
    replace_undefined_by : float, default=0.0
        Value of a query with no relevant document; nan excludes it from the mean.
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
    recall_at_k : Fraction of the relevant documents within the first k.
    f1_at_k : Harmonic mean of precision and recall.

    Notes
    -----
    Tied documents share the mean relevance of their tie group [1]_. A query with fewer than k
    relevant documents stays below 1. trec_eval, ranx and torchmetrics divide by k; XGBoost,
    CatBoost and rax by min(k, n). ``denominator="attainable"`` is trec_eval's ``relative_P`` and,
    with ``average="micro"``, implicit's precision.
    See :ref:`shared-parameters`, :doc:`/guide/ties` and :doc:`/guide/undefined`.

    References
    ----------
    .. [1] F. McSherry, M. Najork. Computing Information Retrieval Performance Measures Efficiently
       in the Presence of Tied Scores. ECIR 2008. https://doi.org/10.1007/978-3-540-78646-7_38

    Examples
    --------
    >>> from sklearn_rankscore import precision_at_k
    >>> y_true, y_score = [2, 0, 1, 0, 1], [0.3, 0.2, 0.1, 0.9, 0.4]
    >>> groups = ["a", "a", "a", "b", "b"]
    >>> precision_at_k(y_true, y_score, groups=groups, k=2)
    0.5
    """
    return score("precision", y_true, y_score, options)


@metric(
    "recall",
    formulas.recall,
    aliases=("R", "set_recall", "set_R"),
    ratio=True,
    denominators=("relevant", "min"),
    adjustable="within cut-off",
    clicks=SELF_NORMALIZED,
    clicks_lack="min",
    bounds="by count",
)
def recall_at_k(y_true: ArrayLike, y_score: ArrayLike, **options: Unpack[RecallArgs]) -> Any:
    """Fraction of the relevant documents that rank within the first k, averaged over queries.

    Higher is better, between 0 and 1; 1 means that all relevant documents are within the first k::

        R@k = (relevant documents within the first k) / (relevant documents)

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
    denominator : {"relevant", "min"}, default="relevant"
        The number R of relevant documents, or min(k, R), which makes 1 attainable (capped recall).
    ties : {"average", "stable", "reversed", "optimistic", "pessimistic"}, default="average"
        Order of equal scores: expectation over all orders, input order, its reverse, best or worst.
    unjudged : {"error", "irrelevant", "drop"}, default="error"
        Documents with label NaN: an error, label 0, or removed before ranking.
    adjusted : bool, default=False
        Rescale each query, to 0 for the expectation over random orders and 1 for the ideal order.
    replace_undefined_by : float, default=0.0
        Value of a query with no relevant document; nan excludes it from the mean.
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
    precision_at_k : Fraction of the first k documents that are relevant.

    Notes
    -----
    Tied documents share the mean relevance of their tie group [1]_. A query with more than k
    relevant documents stays below 1, unless ``denominator="min"`` as in BEIR's ``R_cap``.
    ``average="micro"`` pools the documents of all queries, with "min" as in the OTTO challenge.
    CatBoost scores a query with no relevant document as 1.
    See :ref:`shared-parameters`, :doc:`/guide/ties` and :doc:`/guide/undefined`.

    References
    ----------
    .. [1] F. McSherry, M. Najork. Computing Information Retrieval Performance Measures Efficiently
       in the Presence of Tied Scores. ECIR 2008. https://doi.org/10.1007/978-3-540-78646-7_38

    Examples
    --------
    >>> from sklearn_rankscore import recall_at_k
    >>> y_true, y_score = [2, 0, 1, 0, 1], [0.3, 0.2, 0.1, 0.9, 0.4]
    >>> groups = ["a", "a", "a", "b", "b"]
    >>> recall_at_k(y_true, y_score, groups=groups, k=2)
    0.75
    """
    return score("recall", y_true, y_score, options)


@metric(
    "f1",
    formulas.f1,
    aliases=("set_F",),
    ratio=True,
    denominators=("k", "min"),
    adjustable="within cut-off",
    bounds="by count",
)
def f1_at_k(y_true: ArrayLike, y_score: ArrayLike, **options: Unpack[RatioArgs]) -> Any:
    """Harmonic mean of precision and recall within the first k, averaged over queries.

    Higher is better, between 0 and 1; 1 means that precision and recall are both 1::

        F1@k = 2 * (relevant documents within the first k) / (k + relevant documents)

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
    denominator : {"k", "min"}, default="k"
        k, or min(k, n) for a query with n retrieved documents; without a cut-off both are n.
    ties : {"average", "stable", "reversed", "optimistic", "pessimistic"}, default="average"
        Order of equal scores: expectation over all orders, input order, its reverse, best or worst.
    unjudged : {"error", "irrelevant", "drop"}, default="error"
        Documents with label NaN: an error, label 0, or removed before ranking.
    adjusted : bool, default=False
        Rescale each query, to 0 for the expectation over random orders and 1 for the ideal order.
    replace_undefined_by : float, default=0.0
        Value of a query with no relevant document; nan excludes it from the mean.
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
    precision_at_k : Fraction of the first k documents that are relevant.
    recall_at_k : Fraction of the relevant documents within the first k.

    Notes
    -----
    Tied documents share the mean relevance of their tie group [1]_. ``denominator="min"`` replaces
    the k of the formula by min(k, n).
    See :ref:`shared-parameters`, :doc:`/guide/ties` and :doc:`/guide/undefined`.

    References
    ----------
    .. [1] F. McSherry, M. Najork. Computing Information Retrieval Performance Measures Efficiently
       in the Presence of Tied Scores. ECIR 2008. https://doi.org/10.1007/978-3-540-78646-7_38

    Examples
    --------
    >>> from sklearn_rankscore import f1_at_k
    >>> y_true, y_score = [2, 0, 1, 0, 1], [0.3, 0.2, 0.1, 0.9, 0.4]
    >>> groups = ["a", "a", "a", "b", "b"]
    >>> round(f1_at_k(y_true, y_score, groups=groups, k=2), 4)
    0.5833
    """
    return score("f1", y_true, y_score, options)


@metric(
    "hits",
    formulas.hits,
    aliases=("num_hits",),
    adjustable="within cut-off",
    limits=lambda options: UNKNOWN if options["k"] is None else (0.0, float(options["k"])),
    clicks=UNBIASED,
    bounds="rising",
)
def hits_at_k(y_true: ArrayLike, y_score: ArrayLike, **options: Unpack[HitsArgs]) -> Any:
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
    Tied documents share the mean relevance of their tie group [1]_. Of all queries together,
    trec_eval's num_rel_ret is the sum over queries, not the mean.
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
    return score("hits", y_true, y_score, options)


@metric(
    "hit_rate",
    formulas.hit_rate,
    aliases=("hit", "HR", "hit_ratio", "success"),
    ranks=until_first_relevant,
    adjustable="within cut-off",
    bounds="rising",
)
def hit_rate_at_k(y_true: ArrayLike, y_score: ArrayLike, **options: Unpack[HitArgs]) -> Any:
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
    return score("hit_rate", y_true, y_score, options)


@metric(
    "r_precision",
    formulas.r_precision,
    aliases=("Rprec",),
    ratio=True,
    bounds="by count",
)
def r_precision_score(y_true: ArrayLike, y_score: ArrayLike, **options: Unpack[BinaryArgs]) -> Any:
    """R-precision: precision at rank R, the number of relevant documents, averaged over queries.

    Higher is better, between 0 and 1; 1 means that relevant documents rank above all others::

        R-precision = (relevant documents within the first R) / R

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Relevance labels, finite numbers; higher is more relevant.
    y_score : array-like of the same shape as `y_true`
        Scores; higher ranks first. -inf means not retrieved; NaN is an error.
    groups : array-like of shape (n_documents,), default=None
        Hashable query ids. None: an index level ``qid``, else a single query (2-D: one per row).
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
    precision_at_k : Precision at a fixed cut-off.

    Notes
    -----
    Defined in [1]_. Tied documents share the mean relevance of their tie group. At rank R precision
    and recall are equal.
    See :ref:`shared-parameters`, :doc:`/guide/ties` and :doc:`/guide/undefined`.

    References
    ----------
    .. [1] C. Buckley, E. Voorhees. Retrieval System Evaluation. In TREC: Experiment and Evaluation
       in Information Retrieval. MIT Press, 2005.

    Examples
    --------
    >>> from sklearn_rankscore import r_precision_score
    >>> y_true, y_score = [2, 0, 1, 0, 1], [0.3, 0.2, 0.1, 0.9, 0.4]
    >>> groups = ["a", "a", "a", "b", "b"]
    >>> r_precision_score(y_true, y_score, groups=groups)
    0.25
    """
    return score("r_precision", y_true, y_score, options)
