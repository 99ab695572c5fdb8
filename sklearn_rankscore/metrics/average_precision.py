"""Precision that the relevant documents themselves cut off: average precision, R-precision."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import hypergeom

from ..ranking import Block, read_queries
from ..ranking.arrays import Array
from ..ranking.ties import BY_INPUT
from .kernel import kernel
from .options import above


@kernel(ratio=True, denominators=("min", "relevant", "hits"))
def average_precision(
    block: Block, k: int | None, threshold: float, denominator: str, ties: str
) -> Any:
    """Precision at the relevant documents, summed, and what it is divided by."""
    relevant = block.total(above(threshold))
    precisions = _precision_at_relevant(block, threshold, ties)[:, :k]
    if denominator == "hits":
        rule = ties if ties in BY_INPUT else "average"
        found = block.by_rank(above(threshold), rule)[:, :k].sum(axis=1)
        return _mean_over_hits(block, precisions, threshold, ties) * found, found, relevant > 0
    most = relevant if k is None or denominator == "relevant" else np.minimum(relevant, k)
    return precisions.sum(axis=1), most, relevant > 0


@kernel(ratio=True)
def r_precision(block: Block, threshold: float, ties: str) -> Any:
    """Hits within as many ranks as there are relevant documents."""
    relevant = block.total(above(threshold))
    within = block.ranks <= relevant[:, None]
    return (block.by_rank(above(threshold), ties) * within).sum(axis=1), relevant, relevant > 0


def _precision_at_relevant(block: Block, threshold: float, ties: str) -> Array:
    """Expectation of precision at a rank if its document is relevant, else 0.

    In a run of m tied documents with r relevant ones, the document at place j is relevant with
    probability r/m, and then each of the j - 1 before it with (r - 1)/(m - 1).
    """
    expected = block.by_rank(above(threshold), ties)
    before, size = block.tie_runs(ties)
    earlier = np.cumsum(expected, axis=1) - (before + 1) * expected
    others = (expected * size - 1) / np.maximum(size - 1, 1)
    return np.asarray(expected * (earlier + 1 + before * others) / block.ranks)


def _mean_over_hits(block: Block, precisions: Array, threshold: float, ties: str) -> Array:
    """Mean precision over the relevant documents found, whose number is open.

    If the cut-off leaves t of m tied documents, r of them relevant, the number h that is found
    follows the hypergeometric distribution, and the mean is known for each h.
    """
    k = precisions.shape[1]
    found = block.by_rank(above(threshold), ties)[:, :k]
    means = precisions.sum(axis=1) / np.maximum(found.sum(axis=1), 1e-300)
    if ties in BY_INPUT:
        return np.asarray(means)
    expected = block.by_rank(above(threshold))
    for row, start, size in block.runs_across(k):
        within, relevant = k - start, round(expected[row, start] * size)
        already, fixed = found[row, :start].sum(), precisions[row, :start].sum()
        counts = np.arange(max(0, within - size + relevant), min(within, relevant) + 1)
        values = [
            (fixed + _open_precisions(h, start, within, already, ties)) / max(already + h, 1)
            for h in counts
        ]
        if ties == "average":
            means[row] = values @ hypergeom.pmf(counts, size, relevant, within)
        else:
            means[row] = max(values) if ties == "optimistic" else min(values)
    return np.asarray(means)


def _open_precisions(h: int, start: int, within: int, already: float, ties: str) -> float:
    """Sum of the precisions at h relevant documents among the `within` places after `start`."""
    places = np.arange(1, within + 1)
    if ties != "average":
        taken = places[:h] if ties == "optimistic" else places[within - h :]
        return float(((already + np.arange(1, h + 1)) / (start + taken)).sum())
    others = (h - 1) / max(within - 1, 1)
    return float((h / within * (already + 1 + (places - 1) * others) / (start + places)).sum())


def map_score(
    y_true: Any,
    y_score: Any,
    *,
    groups: Any = None,
    k: int | None = None,
    threshold: float = 0,
    denominator: str = "min",
    ties: str = "average",
    replace_undefined_by: float = 0.0,
    average: str | None = "macro",
    sample_weight: Any = None,
    labels: Any = None,
    n_jobs: int | None = None,
) -> Any:
    """Mean average precision: average precision, averaged over queries.

    Higher is better; between 0 and 1, and 1 is a perfect ranking.
    ::

        AP@k = sum over ranks i <= k with a relevant document of precision@i / denominator

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
    denominator : {"min", "relevant", "hits"}, default="min"
        What the sum is divided by: min(R, k), so that a perfect ranking is 1; R, the number of
        relevant documents; or the number of relevant documents within the first k.
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
    precision_at_k : The share of relevant documents at one cut-off.

    Notes
    -----
    LightGBM, XGBoost and CatBoost divide by min(R, k), trec_eval and ranx by R, torchmetrics by
    the relevant documents found. Tied documents take the exact expectation in closed form [2]_.
    Defined in [1]_.

    References
    ----------
    .. [1] C. Buckley, E. Voorhees. Retrieval System Evaluation. In TREC: Experiment and Evaluation
       in Information Retrieval. MIT Press, 2005.
    .. [2] F. McSherry, M. Najork. Computing Information Retrieval Performance Measures
       Efficiently in the Presence of Tied Scores. ECIR 2008.
       https://doi.org/10.1007/978-3-540-78646-7_38

    Examples
    --------
    >>> from sklearn_rankscore import map_score
    >>> y_true = [2, 0, 1, 0, 1]
    >>> y_score = [0.3, 0.2, 0.1, 0.9, 0.4]
    >>> groups = ["a", "a", "a", "b", "b"]
    >>> round(map_score(y_true, y_score, groups=groups), 4)
    0.6667
    """
    queries = read_queries(
        y_true, y_score, groups=groups, sample_weight=sample_weight, labels=labels, n_jobs=n_jobs
    )
    return average_precision.score(
        queries,
        average,
        replace_undefined_by,
        n_jobs,
        k=k,
        threshold=threshold,
        denominator=denominator,
        ties=ties,
    )


def r_precision_score(
    y_true: Any,
    y_score: Any,
    *,
    groups: Any = None,
    threshold: float = 0,
    ties: str = "average",
    replace_undefined_by: float = 0.0,
    average: str | None = "macro",
    sample_weight: Any = None,
    labels: Any = None,
    n_jobs: int | None = None,
) -> Any:
    """Precision at R, the number of relevant documents, averaged over queries.

    Higher is better; between 0 and 1, and 1 is a perfect ranking.
    ::

        R-precision = relevant documents within the first R / R

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
        If an input does not hold numbers.

    See Also
    --------
    precision_at_k : The same at a fixed cut-off.

    Notes
    -----
    Tied documents share the mean relevance of their run [2]_.
    Defined in [1]_.

    References
    ----------
    .. [1] C. Buckley, E. Voorhees. Retrieval System Evaluation. In TREC: Experiment and Evaluation
       in Information Retrieval. MIT Press, 2005.
    .. [2] F. McSherry, M. Najork. Computing Information Retrieval Performance Measures
       Efficiently in the Presence of Tied Scores. ECIR 2008.
       https://doi.org/10.1007/978-3-540-78646-7_38

    Examples
    --------
    >>> from sklearn_rankscore import r_precision_score
    >>> y_true = [2, 0, 1, 0, 1]
    >>> y_score = [0.3, 0.2, 0.1, 0.9, 0.4]
    >>> groups = ["a", "a", "a", "b", "b"]
    >>> r_precision_score(y_true, y_score, groups=groups)
    0.25
    """
    queries = read_queries(
        y_true, y_score, groups=groups, sample_weight=sample_weight, labels=labels, n_jobs=n_jobs
    )
    return r_precision.score(
        queries, average, replace_undefined_by, n_jobs, threshold=threshold, ties=ties
    )
