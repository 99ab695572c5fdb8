"""Pairs of documents in the right order, and correlations of labels and scores."""

from __future__ import annotations

import math
from typing import Any, Unpack

from numpy.typing import ArrayLike

from .._typing import BinaryArgs, SharedArgs, TieArgs
from . import formulas
from .definition import metric
from .metric import score

__all__ = ["kendall_tau_score", "pair_accuracy_score", "query_auc_score", "spearman_score"]


@metric(
    "query_auc",
    formulas.query_auc,
    aliases=("GAUC", "group_auc"),
    ratio=True,
    defaults={"replace_undefined_by": math.nan},
    adjusted_limits=(-1.0, 1.0),
)
def query_auc_score(y_true: ArrayLike, y_score: ArrayLike, **options: Unpack[BinaryArgs]) -> Any:
    """Area under the ROC curve (AUC) within each query, averaged over queries.

    Higher is better, between 0 and 1; 1 means that relevant documents rank above all others, 0.5 is
    expected of random scores. Also known as GAUC, which advertising weights by impressions::

        AUC = (pairs with the relevant document above the irrelevant one) / (all such pairs)

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
    replace_undefined_by : float, default=nan
        Value of a query with all or no documents relevant; nan excludes it from the mean.
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
    sklearn.metrics.roc_auc_score : Equal for a single query.

    Notes
    -----
    Defined in [1]_. A tied pair counts 1/2 in the expectation over all orders. Documents that were
    not retrieved rank last, tied with one another. CatBoost and torchmetrics score a query with one
    class as 0. The weights of GAUC, impressions or clicks of each query, are its `sample_weight`.
    See :ref:`shared-parameters`, :doc:`/guide/ties` and :doc:`/guide/undefined`.

    References
    ----------
    .. [1] T. Fawcett. An Introduction to ROC Analysis. Pattern Recognition Letters 27(8), 2006.
       https://doi.org/10.1016/j.patrec.2005.10.010

    Examples
    --------
    >>> from sklearn_rankscore import query_auc_score
    >>> y_true, y_score = [2, 0, 1, 0, 1], [0.3, 0.2, 0.1, 0.9, 0.4]
    >>> groups = ["a", "a", "a", "b", "b"]
    >>> query_auc_score(y_true, y_score, groups=groups)
    0.25
    """
    return score("query_auc", y_true, y_score, options)


@metric(
    "pair_accuracy",
    formulas.pair_accuracy,
    ratio=True,
    defaults={"replace_undefined_by": math.nan},
    adjusted_limits=(-1.0, 1.0),
)
def pair_accuracy_score(y_true: ArrayLike, y_score: ArrayLike, **options: Unpack[TieArgs]) -> Any:
    """Fraction of pairs of documents with different labels that are in the right order.

    Higher is better, between 0 and 1; 1 means that documents are ranked by label, 0.5 is expected
    of random scores. Also known as ordered pair accuracy; for two labels it is `query_auc_score`::

        PA = (pairs with the higher label above the lower one) / (pairs of different labels)

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Relevance labels, finite numbers; higher is more relevant.
    y_score : array-like of the same shape as `y_true`
        Scores; higher ranks first. -inf means not retrieved; NaN is an error.
    groups : array-like of shape (n_documents,), default=None
        Hashable query ids. None: an index level ``qid``, else a single query (2-D: one per row).
    ties : {"average", "stable", "reversed", "optimistic", "pessimistic"}, default="average"
        Order of equal scores: expectation over all orders, input order, its reverse, best or worst.
    unjudged : {"error", "irrelevant", "drop"}, default="error"
        Documents with label NaN: an error, label 0, or removed before ranking.
    adjusted : bool, default=False
        Rescale each query, to 0 for the expectation over random orders and 1 for the ideal order.
    replace_undefined_by : float, default=nan
        Value of a query with all labels equal; nan excludes it from the mean.
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
    query_auc_score : The same for relevant against irrelevant documents.
    kendall_tau_score : A correlation, which corrects for ties.

    Notes
    -----
    The metric is the generalization of the area under the ROC curve to ordered classes in [1]_. A
    tied pair counts 1/2 in the expectation over all orders. Documents that were not retrieved rank
    last, tied with one another. It equals CatBoost's ``QueryAUC:type=Ranking``; rax's `opa_metric`
    counts a tied pair as wrong. See :ref:`shared-parameters`, :doc:`/guide/ties` and
    :doc:`/guide/undefined`.

    References
    ----------
    .. [1] W. Waegeman, B. De Baets, L. Boullart. ROC Analysis in Ordinal Regression Learning.
       Pattern Recognition Letters 29(1), 2008. https://doi.org/10.1016/j.patrec.2007.07.019

    Examples
    --------
    >>> from sklearn_rankscore import pair_accuracy_score
    >>> y_true, y_score = [2, 0, 1, 0, 1], [0.3, 0.2, 0.1, 0.9, 0.4]
    >>> groups = ["a", "a", "a", "b", "b"]
    >>> pair_accuracy_score(y_true, y_score, groups=groups)
    0.3333333333333333
    """
    return score("pair_accuracy", y_true, y_score, options)


@metric(
    "kendall_tau",
    formulas.kendall_tau,
    aliases=("kendall", "kendall_tau_b", "tau_b"),
    defaults={"replace_undefined_by": math.nan},
    adjustable="is adjusted",
    limits=(-1.0, 1.0),
)
def kendall_tau_score(y_true: ArrayLike, y_score: ArrayLike, **options: Unpack[SharedArgs]) -> Any:
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
    return score("kendall_tau", y_true, y_score, options)


@metric(
    "spearman",
    formulas.spearman,
    aliases=("spearmanr", "spearman_rho"),
    defaults={"replace_undefined_by": math.nan},
    adjustable="is adjusted",
    limits=(-1.0, 1.0),
)
def spearman_score(y_true: ArrayLike, y_score: ArrayLike, **options: Unpack[SharedArgs]) -> Any:
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
    return score("spearman", y_true, y_score, options)
