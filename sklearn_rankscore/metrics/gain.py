"""Gains summed over ranks: DCG and its share of the best possible."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ranking import Block, read_queries
from ..ranking.arrays import ArrayFunction
from .kernel import kernel
from .options import check_gains


@kernel(check=check_gains)
def dcg(
    block: Block, k: int | None, gain: ArrayFunction, discount: ArrayFunction, ties: str
) -> Any:
    """Sum of discounted gains."""
    found = np.einsum("qr,r->q", block.by_rank(gain, ties)[:, :k], discount(block.ranks[:k]))
    return found, np.ones(len(found)), block.ideal(gain)[:, 0] > 0


@kernel(ratio=True, check=check_gains)
def ndcg(
    block: Block, k: int | None, gain: ArrayFunction, discount: ArrayFunction, ties: str
) -> Any:
    """Sum of discounted gains, and the same in the best order."""
    discounts, best = discount(block.ranks[:k]), block.ideal(gain)
    found = np.einsum("qr,r->q", block.by_rank(gain, ties)[:, :k], discounts)
    return found, np.einsum("qr,r->q", best[:, :k], discounts), best[:, 0] > 0


def dcg_score(
    y_true: Any,
    y_score: Any,
    *,
    groups: Any = None,
    k: int | None = None,
    gain: Any = "linear",
    discount: Any = "log2",
    ties: str = "average",
    replace_undefined_by: float = 0.0,
    average: str | None = "macro",
    sample_weight: Any = None,
    labels: Any = None,
    n_jobs: int | None = None,
) -> Any:
    """Discounted cumulative gain, averaged over queries.

    Higher is better; the largest value depends on the labels, `ndcg_score` scales it to 1.
    ::

        DCG@k = sum over ranks i <= k of gain(y_i) * discount(i)

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Relevance of each document, finite numbers of at least 0. With two-dimensional scores also
        class labels of shape (n_queries,), see `labels`.
    y_score : array-like of shape (n_documents,) or (n_queries, n_documents)
        Score of each document, higher is ranked first; no NaN. A document with score -inf was not
        retrieved: it holds no rank, and if it is relevant it was missed.
    groups : array-like of shape (n_documents,), default=None
        Query id of each document, of any hashable dtype, in any row order. None: all documents
        belong to one query; two-dimensional input: each row is a query.
    k : int, default=None
        Only the first k ranks count; None for all of them.
    gain : {"linear", "exponential", "binary"}, sequence or callable, default="linear"
        Worth of a label y: y, 2**y - 1, 1 if y > 0, the entry of a sequence at the
        integer label (LightGBM's `label_gain`), or a function of an array of labels. Gains are
        finite and not negative.
    discount : {"log2", "log2_after_first", "reciprocal"}, None or callable, default="log2"
        Worth of a rank i: 1 / log2(1 + i), 1 / max(1, log2(i)), 1 / i, 1, or a function of an
        array of ranks.
    ties : {"average", "stable", "reversed", "optimistic", "pessimistic"}, default="average"
        What equal scores mean: the exact expectation over all orders of the tied documents,
        input order, its reverse, the best order, or the worst one.
    replace_undefined_by : float, default=0.0
        Value of a query on which the metric is undefined, no document has a positive gain.
        nan leaves the query out of the mean.
    average : {"macro", None}, default="macro"
        Mean over queries, or one value per query in the order of ``np.unique(groups)``.
    sample_weight : array-like of shape (n_documents,) or (n_queries,), default=None
        Weight of each document's query, constant within a query; one per row of two-dimensional
        input. At least 0, not all 0.
    labels : array-like of shape (n_classes,), default=None
        For class labels in `y_true` and scores of shape (n_queries, n_classes): the class of each
        column. None takes the sorted labels that occur. Each row ranks the classes.
    n_jobs : int, default=None
        Number of threads; None means 1 unless in a joblib context, -1 all cores.

    Returns
    -------
    float or ndarray of shape (n_queries,)
        The mean, or the value of each query if `average` is None.

    Raises
    ------
    ValueError
        If lengths differ, an input is empty or has NaN, weights vary within a query or an option
        or label is out of its range.
    TypeError
        If an input does not hold numbers, or k is not an integer.

    See Also
    --------
    ndcg_score : The same as a share of the best possible.

    Notes
    -----
    Tied documents share the mean gain of their run, which is the exact expectation over
    their orders [2]_. For two-dimensional input this equals `sklearn.metrics.dcg_score`. With
    ``discount=None`` it is the cumulative gain.
    Defined in [1]_.

    References
    ----------
    .. [1] K. Järvelin, J. Kekäläinen. Cumulated Gain-Based Evaluation of IR Techniques. ACM TOIS
       20(4), 2002. https://doi.org/10.1145/582415.582418
    .. [2] F. McSherry, M. Najork. Computing Information Retrieval Performance Measures
       Efficiently in the Presence of Tied Scores. ECIR 2008.
       https://doi.org/10.1007/978-3-540-78646-7_38

    Examples
    --------
    >>> from sklearn_rankscore import dcg_score
    >>> y_true = [2, 0, 1, 0, 1]
    >>> y_score = [0.3, 0.2, 0.1, 0.9, 0.4]
    >>> groups = ["a", "a", "a", "b", "b"]
    >>> round(dcg_score(y_true, y_score, groups=groups), 4)
    1.5655
    """
    queries = read_queries(
        y_true, y_score, groups=groups, sample_weight=sample_weight, labels=labels, n_jobs=n_jobs
    )
    return dcg.score(
        queries, average, replace_undefined_by, n_jobs, k=k, gain=gain, discount=discount, ties=ties
    )


def ndcg_score(
    y_true: Any,
    y_score: Any,
    *,
    groups: Any = None,
    k: int | None = None,
    gain: Any = "linear",
    discount: Any = "log2",
    ties: str = "average",
    replace_undefined_by: float = 0.0,
    average: str | None = "macro",
    sample_weight: Any = None,
    labels: Any = None,
    n_jobs: int | None = None,
) -> Any:
    """Normalized discounted cumulative gain, averaged over queries.

    Higher is better; between 0 and 1, and 1 is a perfect ranking.
    ::

        NDCG@k = DCG@k / DCG@k of all documents in the order of their gain

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Relevance of each document, finite numbers of at least 0. With two-dimensional scores also
        class labels of shape (n_queries,), see `labels`.
    y_score : array-like of shape (n_documents,) or (n_queries, n_documents)
        Score of each document, higher is ranked first; no NaN. A document with score -inf was not
        retrieved: it holds no rank, and if it is relevant it was missed.
    groups : array-like of shape (n_documents,), default=None
        Query id of each document, of any hashable dtype, in any row order. None: all documents
        belong to one query; two-dimensional input: each row is a query.
    k : int, default=None
        Only the first k ranks count; None for all of them.
    gain : {"linear", "exponential", "binary"}, sequence or callable, default="linear"
        Worth of a label y: y, 2**y - 1, 1 if y > 0, the entry of a sequence at the
        integer label (LightGBM's `label_gain`), or a function of an array of labels. Gains are
        finite and not negative.
    discount : {"log2", "log2_after_first", "reciprocal"}, None or callable, default="log2"
        Worth of a rank i: 1 / log2(1 + i), 1 / max(1, log2(i)), 1 / i, 1, or a function of an
        array of ranks.
    ties : {"average", "stable", "reversed", "optimistic", "pessimistic"}, default="average"
        What equal scores mean: the exact expectation over all orders of the tied documents,
        input order, its reverse, the best order, or the worst one.
    replace_undefined_by : float, default=0.0
        Value of a query on which the metric is undefined, no document has a positive gain.
        nan leaves the query out of the mean.
    average : {"macro", "micro", None}, default="macro"
        Mean over queries, ratio of the sums over queries, or one value per query in the order
        of ``np.unique(groups)``.
    sample_weight : array-like of shape (n_documents,) or (n_queries,), default=None
        Weight of each document's query, constant within a query; one per row of two-dimensional
        input. At least 0, not all 0.
    labels : array-like of shape (n_classes,), default=None
        For class labels in `y_true` and scores of shape (n_queries, n_classes): the class of each
        column. None takes the sorted labels that occur. Each row ranks the classes.
    n_jobs : int, default=None
        Number of threads; None means 1 unless in a joblib context, -1 all cores.

    Returns
    -------
    float or ndarray of shape (n_queries,)
        The mean, or the value of each query if `average` is None.

    Raises
    ------
    ValueError
        If lengths differ, an input is empty or has NaN, weights vary within a query or an option
        or label is out of its range.
    TypeError
        If an input does not hold numbers, or k is not an integer.

    See Also
    --------
    dcg_score : The sum before it is scaled.
    sklearn.metrics.ndcg_score : Equal for two-dimensional input.

    Notes
    -----
    Equal scores share the mean gain of their run, which is the exact expectation over their
    orders [2]_. A query without a positive gain counts 0 as in scikit-learn and trec_eval;
    LightGBM, XGBoost and CatBoost count it as 1. They use the exponential gain [3]_ (CatBoost on
    request), scikit-learn and trec_eval the linear one.
    Defined in [1]_.

    References
    ----------
    .. [1] K. Järvelin, J. Kekäläinen. Cumulated Gain-Based Evaluation of IR Techniques. ACM TOIS
       20(4), 2002. https://doi.org/10.1145/582415.582418
    .. [2] F. McSherry, M. Najork. Computing Information Retrieval Performance Measures
       Efficiently in the Presence of Tied Scores. ECIR 2008.
       https://doi.org/10.1007/978-3-540-78646-7_38
    .. [3] C. Burges et al. Learning to Rank Using Gradient Descent. ICML 2005.
       https://doi.org/10.1145/1102351.1102363

    Examples
    --------
    >>> from sklearn_rankscore import ndcg_score
    >>> y_true = [2, 0, 1, 0, 1]
    >>> y_score = [0.3, 0.2, 0.1, 0.9, 0.4]
    >>> groups = ["a", "a", "a", "b", "b"]
    >>> round(ndcg_score(y_true, y_score, groups=groups), 4)
    0.7906
    >>> ndcg_score(y_true, y_score, groups=groups, k=1, average=None)
    array([1., 0.])
    """
    queries = read_queries(
        y_true, y_score, groups=groups, sample_weight=sample_weight, labels=labels, n_jobs=n_jobs
    )
    return ndcg.score(
        queries, average, replace_undefined_by, n_jobs, k=k, gain=gain, discount=discount, ties=ties
    )
