"""What is found: the first relevant document, whether there is one, how many."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ranking import Block, read_queries
from .kernel import kernel
from .options import above, below_or_at


@kernel()
def reciprocal_rank(block: Block, k: int | None, threshold: float, ties: str) -> Any:
    """Probability that the first relevant document stands at a rank, over the rank."""
    none_yet = block.survival(below_or_at(threshold), ties)
    first = -np.diff(none_yet, axis=1, prepend=1.0)
    found = (first / block.ranks)[:, :k].sum(axis=1)
    return found, np.ones(len(found)), block.total(above(threshold)) > 0


@kernel()
def hit_rate(block: Block, k: int | None, threshold: float, ties: str) -> Any:
    """Probability that a relevant document stands within the cut-off."""
    none_yet = block.survival(below_or_at(threshold), ties)[:, :k]
    return 1.0 - none_yet[:, -1], np.ones(len(none_yet)), block.total(above(threshold)) > 0


@kernel()
def hits(block: Block, k: int | None, threshold: float, ties: str) -> Any:
    """Relevant documents within the cut-off."""
    found = block.by_rank(above(threshold), ties)[:, :k].sum(axis=1)
    return found, np.ones(len(found)), block.total(above(threshold)) > 0


def mrr_score(
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
    """Mean reciprocal rank of the first relevant document.

    Higher is better; between 0 and 1, and 1 means that each query's first document is relevant.
    ::

        RR@k = 1 / rank of the first relevant document, 0 if there is none within k

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
    hit_rate_at_k : Whether there is a relevant document within k.

    Notes
    -----
    Tied documents take the exact expectation in closed form [2]_.
    Defined in [1]_.

    References
    ----------
    .. [1] E. Voorhees. The TREC-8 Question Answering Track Report. TREC 1999.
       https://doi.org/10.6028/NIST.SP.500-246.qa-overview
    .. [2] F. McSherry, M. Najork. Computing Information Retrieval Performance Measures
       Efficiently in the Presence of Tied Scores. ECIR 2008.
       https://doi.org/10.1007/978-3-540-78646-7_38

    Examples
    --------
    >>> from sklearn_rankscore import mrr_score
    >>> y_true = [2, 0, 1, 0, 1]
    >>> y_score = [0.3, 0.2, 0.1, 0.9, 0.4]
    >>> groups = ["a", "a", "a", "b", "b"]
    >>> mrr_score(y_true, y_score, groups=groups)
    0.75
    """
    queries = read_queries(
        y_true, y_score, groups=groups, sample_weight=sample_weight, labels=labels, n_jobs=n_jobs
    )
    return reciprocal_rank.score(
        queries, average, replace_undefined_by, n_jobs, k=k, threshold=threshold, ties=ties
    )


def hits_at_k(
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
    """Number of relevant documents within the first k, averaged over queries.

    Higher is better; between 0 and k.
    ::

        hits@k = relevant documents within the first k

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
    hit_rate_at_k : Whether there is one.
    recall_at_k : As a share of the relevant documents.

    Notes
    -----
    Tied documents share the mean relevance of their run [1]_.

    References
    ----------
    .. [1] F. McSherry, M. Najork. Computing Information Retrieval Performance Measures
       Efficiently in the Presence of Tied Scores. ECIR 2008.
       https://doi.org/10.1007/978-3-540-78646-7_38

    Examples
    --------
    >>> from sklearn_rankscore import hits_at_k
    >>> y_true = [2, 0, 1, 0, 1]
    >>> y_score = [0.3, 0.2, 0.1, 0.9, 0.4]
    >>> groups = ["a", "a", "a", "b", "b"]
    >>> hits_at_k(y_true, y_score, groups=groups, k=2)
    1.0
    """
    queries = read_queries(
        y_true, y_score, groups=groups, sample_weight=sample_weight, labels=labels, n_jobs=n_jobs
    )
    return hits.score(
        queries, average, replace_undefined_by, n_jobs, k=k, threshold=threshold, ties=ties
    )


def hit_rate_at_k(
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
    """Share of queries with a relevant document within the first k.

    Higher is better; between 0 and 1. trec_eval calls it success@k.
    ::

        hit_rate@k = 1 if a document within the first k is relevant, else 0

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
    hits_at_k : How many there are.
    mrr_score : How early the first one comes.

    Notes
    -----
    Where the cut-off falls inside a run of tied documents, the value is the probability that a
    relevant one comes before it, over all their orders [1]_.

    References
    ----------
    .. [1] F. McSherry, M. Najork. Computing Information Retrieval Performance Measures
       Efficiently in the Presence of Tied Scores. ECIR 2008.
       https://doi.org/10.1007/978-3-540-78646-7_38

    Examples
    --------
    >>> from sklearn_rankscore import hit_rate_at_k
    >>> y_true = [2, 0, 1, 0, 1]
    >>> y_score = [0.3, 0.2, 0.1, 0.9, 0.4]
    >>> groups = ["a", "a", "a", "b", "b"]
    >>> hit_rate_at_k(y_true, y_score, groups=groups, k=1)
    0.5
    """
    queries = read_queries(
        y_true, y_score, groups=groups, sample_weight=sample_weight, labels=labels, n_jobs=n_jobs
    )
    return hit_rate.score(
        queries, average, replace_undefined_by, n_jobs, k=k, threshold=threshold, ties=ties
    )
