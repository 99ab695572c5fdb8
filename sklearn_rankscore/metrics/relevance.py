"""Relevant documents within a cut-off: precision, recall, F1."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ranking import Block, read_queries
from ..ranking.arrays import Array
from .kernel import kernel
from .options import above


@kernel(ratio=True, denominators=("k", "min"))
def precision(block: Block, k: int | None, threshold: float, denominator: str, ties: str) -> Any:
    """Hits, and the places that were open for them."""
    hits, _, defined = recall.formula(block, k, threshold, ties)
    return hits, _places(block, k, denominator), defined


@kernel(ratio=True)
def recall(block: Block, k: int | None, threshold: float, ties: str) -> Any:
    """Hits, and the relevant documents."""
    relevant = block.total(above(threshold))
    return block.by_rank(above(threshold), ties)[:, :k].sum(axis=1), relevant, relevant > 0


@kernel(ratio=True, denominators=("k", "min"))
def f1(block: Block, k: int | None, threshold: float, denominator: str, ties: str) -> Any:
    """Hits counted twice, and the places and relevant documents."""
    hits, relevant, defined = recall.formula(block, k, threshold, ties)
    return 2 * hits, _places(block, k, denominator) + relevant, defined


def _places(block: Block, k: int | None, denominator: str) -> Array:
    """How many ranked documents precision divides by."""
    if k is None:
        return block.retrieved
    return np.full(len(block.sizes), k) if denominator == "k" else np.minimum(k, block.retrieved)


def precision_at_k(
    y_true: Any,
    y_score: Any,
    *,
    groups: Any = None,
    k: int | None = None,
    threshold: float = 0,
    denominator: str = "k",
    ties: str = "average",
    replace_undefined_by: float = 0.0,
    average: str | None = "macro",
    sample_weight: Any = None,
    labels: Any = None,
    n_jobs: int | None = None,
) -> Any:
    """Share of the first k documents that are relevant, averaged over queries.

    Higher is better; between 0 and 1. A query with fewer than k relevant documents stays below 1.
    ::

        P@k = relevant documents within the first k / k

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Relevance of each document, finite numbers. With two-dimensional scores also
        class labels of shape (n_queries,), see `labels`.
    y_score : array-like of shape (n_documents,) or (n_queries, n_documents)
        Score of each document, higher is ranked first; no NaN. A document with score -inf was not
        retrieved: it holds no rank, and if it is relevant it was missed.
    groups : array-like of shape (n_documents,), default=None
        Query id of each document, of any hashable dtype, in any row order. None: all documents
        belong to one query; two-dimensional input: each row is a query.
    k : int, default=None
        Only the first k ranks count; None for all of them.
    threshold : float, default=0
        A document is relevant if its label is above the threshold.
    denominator : {"k", "min"}, default="k"
        What precision divides by: k, or min(k, n) for a query with n < k ranked documents.
        Without a cut-off both are n.
    ties : {"average", "stable", "reversed", "optimistic", "pessimistic"}, default="average"
        What equal scores mean: the exact expectation over all orders of the tied documents,
        input order, its reverse, the best order, or the worst one.
    replace_undefined_by : float, default=0.0
        Value of a query on which the metric is undefined, no document is relevant.
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
    recall_at_k : The share of the relevant documents that are found.
    f1_at_k : The harmonic mean of both.

    Notes
    -----
    trec_eval, ranx and torchmetrics divide by k, XGBoost and CatBoost by min(k, n). Tied
    documents share the mean relevance of their run [1]_.

    References
    ----------
    .. [1] F. McSherry, M. Najork. Computing Information Retrieval Performance Measures
       Efficiently in the Presence of Tied Scores. ECIR 2008.
       https://doi.org/10.1007/978-3-540-78646-7_38

    Examples
    --------
    >>> from sklearn_rankscore import precision_at_k
    >>> y_true = [2, 0, 1, 0, 1]
    >>> y_score = [0.3, 0.2, 0.1, 0.9, 0.4]
    >>> groups = ["a", "a", "a", "b", "b"]
    >>> precision_at_k(y_true, y_score, groups=groups, k=2)
    0.5
    """
    queries = read_queries(
        y_true, y_score, groups=groups, sample_weight=sample_weight, labels=labels, n_jobs=n_jobs
    )
    return precision.score(
        queries,
        average,
        replace_undefined_by,
        n_jobs,
        k=k,
        threshold=threshold,
        denominator=denominator,
        ties=ties,
    )


def recall_at_k(
    y_true: Any,
    y_score: Any,
    *,
    groups: Any = None,
    k: int | None = None,
    threshold: float = 0,
    ties: str = "average",
    replace_undefined_by: float = 0.0,
    average: str | None = "macro",
    sample_weight: Any = None,
    labels: Any = None,
    n_jobs: int | None = None,
) -> Any:
    """Share of the relevant documents within the first k, averaged over queries.

    Higher is better; between 0 and 1. A query with more than k relevant documents stays below 1.
    ::

        R@k = relevant documents within the first k / relevant documents

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Relevance of each document, finite numbers. With two-dimensional scores also
        class labels of shape (n_queries,), see `labels`.
    y_score : array-like of shape (n_documents,) or (n_queries, n_documents)
        Score of each document, higher is ranked first; no NaN. A document with score -inf was not
        retrieved: it holds no rank, and if it is relevant it was missed.
    groups : array-like of shape (n_documents,), default=None
        Query id of each document, of any hashable dtype, in any row order. None: all documents
        belong to one query; two-dimensional input: each row is a query.
    k : int, default=None
        Only the first k ranks count; None for all of them.
    threshold : float, default=0
        A document is relevant if its label is above the threshold.
    ties : {"average", "stable", "reversed", "optimistic", "pessimistic"}, default="average"
        What equal scores mean: the exact expectation over all orders of the tied documents,
        input order, its reverse, the best order, or the worst one.
    replace_undefined_by : float, default=0.0
        Value of a query on which the metric is undefined, no document is relevant.
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
    precision_at_k : The share of the first k documents that are relevant.

    Notes
    -----
    With ``average="micro"`` it is the hit ratio over all queries, the sum of hits over the sum
    of relevant documents. CatBoost gives 1 to a query without relevant documents. Tied
    documents share the mean relevance of their run [1]_.

    References
    ----------
    .. [1] F. McSherry, M. Najork. Computing Information Retrieval Performance Measures
       Efficiently in the Presence of Tied Scores. ECIR 2008.
       https://doi.org/10.1007/978-3-540-78646-7_38

    Examples
    --------
    >>> from sklearn_rankscore import recall_at_k
    >>> y_true = [2, 0, 1, 0, 1]
    >>> y_score = [0.3, 0.2, 0.1, 0.9, 0.4]
    >>> groups = ["a", "a", "a", "b", "b"]
    >>> recall_at_k(y_true, y_score, groups=groups, k=2)
    0.75
    """
    queries = read_queries(
        y_true, y_score, groups=groups, sample_weight=sample_weight, labels=labels, n_jobs=n_jobs
    )
    return recall.score(
        queries, average, replace_undefined_by, n_jobs, k=k, threshold=threshold, ties=ties
    )


def f1_at_k(
    y_true: Any,
    y_score: Any,
    *,
    groups: Any = None,
    k: int | None = None,
    threshold: float = 0,
    denominator: str = "k",
    ties: str = "average",
    replace_undefined_by: float = 0.0,
    average: str | None = "macro",
    sample_weight: Any = None,
    labels: Any = None,
    n_jobs: int | None = None,
) -> Any:
    """Harmonic mean of precision and recall within the first k, averaged over queries.

    Higher is better; between 0 and 1.
    ::

        F1@k = 2 * relevant documents within the first k / (k + relevant documents)

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Relevance of each document, finite numbers. With two-dimensional scores also
        class labels of shape (n_queries,), see `labels`.
    y_score : array-like of shape (n_documents,) or (n_queries, n_documents)
        Score of each document, higher is ranked first; no NaN. A document with score -inf was not
        retrieved: it holds no rank, and if it is relevant it was missed.
    groups : array-like of shape (n_documents,), default=None
        Query id of each document, of any hashable dtype, in any row order. None: all documents
        belong to one query; two-dimensional input: each row is a query.
    k : int, default=None
        Only the first k ranks count; None for all of them.
    threshold : float, default=0
        A document is relevant if its label is above the threshold.
    denominator : {"k", "min"}, default="k"
        What precision divides by: k, or min(k, n) for a query with n < k ranked documents.
        Without a cut-off both are n.
    ties : {"average", "stable", "reversed", "optimistic", "pessimistic"}, default="average"
        What equal scores mean: the exact expectation over all orders of the tied documents,
        input order, its reverse, the best order, or the worst one.
    replace_undefined_by : float, default=0.0
        Value of a query on which the metric is undefined, no document is relevant.
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
    precision_at_k : The share of the first k documents that are relevant.
    recall_at_k : The share of the relevant documents that are found.

    Notes
    -----
    With ``denominator="min"`` the k in the formula is min(k, n). Tied documents share the mean
    relevance of their run [1]_.

    References
    ----------
    .. [1] F. McSherry, M. Najork. Computing Information Retrieval Performance Measures
       Efficiently in the Presence of Tied Scores. ECIR 2008.
       https://doi.org/10.1007/978-3-540-78646-7_38

    Examples
    --------
    >>> from sklearn_rankscore import f1_at_k
    >>> y_true = [2, 0, 1, 0, 1]
    >>> y_score = [0.3, 0.2, 0.1, 0.9, 0.4]
    >>> groups = ["a", "a", "a", "b", "b"]
    >>> round(f1_at_k(y_true, y_score, groups=groups, k=2), 4)
    0.5833
    """
    queries = read_queries(
        y_true, y_score, groups=groups, sample_weight=sample_weight, labels=labels, n_jobs=n_jobs
    )
    return f1.score(
        queries,
        average,
        replace_undefined_by,
        n_jobs,
        k=k,
        threshold=threshold,
        denominator=denominator,
        ties=ties,
    )
