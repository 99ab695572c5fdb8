"""Agreement of labels and scores within a query: AUC, Kendall's tau-b, Spearman's rho."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..ranking import Block, read_queries
from ..ranking.arrays import Array
from ..ranking.ties import Runs
from .kernel import kernel
from .options import above, linear


@kernel(ratio=True)
def query_auc(block: Block, threshold: float, ties: str) -> Any:
    """Pairs in the right order, tied ones counted half, and all pairs."""
    block = block.complete()
    relevant = block.by_rank(above(threshold), ties)
    others: Array = (block.ranks <= block.sizes[:, None]) - relevant
    before, size = block.tie_runs(ties)
    above_it = np.cumsum(relevant, axis=1) - (before + 1 - size / 2) * relevant
    pairs = relevant.sum(axis=1) * others.sum(axis=1)
    return (others * above_it).sum(axis=1), pairs, pairs > 0


@kernel()
def kendall_tau(block: Block) -> Any:
    """Concordant minus discordant pairs, and the geometric mean of those that could be."""
    labels, before, size = _labels_by_rank(block, "optimistic")
    equal = labels[:, 1:] == labels[:, :-1]
    pairs, tied_score = _pairs(block.sizes), ((size - 1) / 2).sum(axis=1)
    in_order = np.sort(labels, axis=1)
    tied_label = _pairs_in(in_order[:, 1:] == in_order[:, :-1], np.isfinite(in_order))
    tied_both = _pairs_in(equal & (before[:, 1:] > 0), np.isfinite(labels))
    agree = pairs - tied_score - tied_label + tied_both - 2 * _inversions(labels)
    possible = np.sqrt((pairs - tied_score) * (pairs - tied_label))
    return agree, possible, possible > 0


@kernel()
def spearman(block: Block) -> Any:
    """Covariance of the ranks of labels and scores, and the product of their deviations."""
    labels, before, size = _labels_by_rank(block, "stable")
    order = np.argsort(-labels, axis=1, kind="stable")
    in_order = np.take_along_axis(labels, order, axis=1)
    runs = Runs(in_order[:, 1:] == in_order[:, :-1])
    by_label = np.empty(labels.shape)
    np.put_along_axis(by_label, order, block.ranks - runs.offset + (runs.size - 1) / 2, axis=1)
    by_score = block.ranks - before + (size - 1) / 2
    inside = np.isfinite(labels)
    a, b = ((by - (block.sizes[:, None] + 1) / 2) * inside for by in (by_score, by_label))
    possible = np.sqrt((a * a).sum(axis=1) * (b * b).sum(axis=1))
    return (a * b).sum(axis=1), possible, possible > 0


def _labels_by_rank(block: Block, ties: str) -> tuple[Array, Array, Array]:
    """Labels by rank, -inf where there is no document, and the runs of equal scores."""
    block = block.complete()
    labels = block.by_rank(linear, ties)
    labels = np.where(block.ranks <= block.sizes[:, None], labels, -np.inf)
    before, size = block.tie_runs()
    return labels, np.broadcast_to(before, labels.shape), np.broadcast_to(size, labels.shape)


def _pairs(n: Array) -> Array:
    return np.asarray(n * (n - 1) / 2)


def _pairs_in(same: Array, inside: Array) -> Array:
    """Pairs of equals in each row, from whether a place equals the next."""
    return np.asarray(((Runs(same).size - 1) / 2 * inside).sum(axis=1))


def _inversions(labels: Array) -> Array:
    """Pairs in each row of which the later one is larger, counted while merging sorted halves."""
    n_rows, n_ranks = labels.shape
    width = 1 << (n_ranks - 1).bit_length()
    merged = np.full((n_rows, width), np.inf)
    merged[:, :n_ranks] = -labels
    found = np.zeros(n_rows)
    half = 1
    while half < width:
        halves = merged.reshape(n_rows, -1, 2 * half)
        order = np.argsort(halves, axis=2, kind="stable")
        from_right = np.cumsum(order >= half, axis=2)
        found += (from_right * (order < half)).sum(axis=(1, 2))
        merged = np.take_along_axis(halves, order, axis=2).reshape(n_rows, width)
        half *= 2
    return found


def query_auc_score(
    y_true: Any,
    y_score: Any,
    *,
    groups: Any = None,
    threshold: float = 0,
    ties: str = "average",
    replace_undefined_by: float = math.nan,
    average: str | None = "macro",
    sample_weight: Any = None,
    labels: Any = None,
    n_jobs: int | None = None,
) -> Any:
    """Area under the ROC curve within each query, averaged over queries.

    Higher is better; between 0 and 1, 0.5 for random scores. Also known as GAUC.
    ::

        AUC = pairs of a relevant and another document with the relevant one above / all such pairs

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Relevance of each document, finite numbers. With two-dimensional scores also
        class labels of shape (n_queries,), see `labels`.
    y_score : array-like of shape (n_documents,) or (n_queries, n_documents)
        Score of each document, higher is ranked first; no NaN. A document with score -inf was not
        retrieved: it stands last, tied with the others that were not.
    groups : array-like of shape (n_documents,), default=None
        Query id of each document, of any hashable dtype, in any row order. None: all documents
        belong to one query; two-dimensional input: each row is a query.
    threshold : float, default=0
        A document is relevant if its label is above the threshold.
    ties : {"average", "stable", "reversed", "optimistic", "pessimistic"}, default="average"
        What a pair of equal scores counts: 1/2, 1 or 0 by input order or its reverse, 1, or 0.
    replace_undefined_by : float, default=nan
        Value of a query on which the metric is undefined, having only relevant documents or none.
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
    sklearn.metrics.roc_auc_score : Equal for a single query.

    Notes
    -----
    Documents that were not retrieved stand below all others, tied with one another.
    A query with one class only is left out of the mean; CatBoost's QueryAUC counts it as 0.
    Defined in [1]_.

    References
    ----------
    .. [1] T. Fawcett. An Introduction to ROC Analysis. Pattern Recognition Letters 27(8), 2006.
       https://doi.org/10.1016/j.patrec.2005.10.010

    Examples
    --------
    >>> from sklearn_rankscore import query_auc_score
    >>> y_true = [2, 0, 1, 0, 1]
    >>> y_score = [0.3, 0.2, 0.1, 0.9, 0.4]
    >>> groups = ["a", "a", "a", "b", "b"]
    >>> query_auc_score(y_true, y_score, groups=groups)
    0.25
    """
    queries = read_queries(
        y_true, y_score, groups=groups, sample_weight=sample_weight, labels=labels, n_jobs=n_jobs
    )
    return query_auc.score(
        queries, average, replace_undefined_by, n_jobs, threshold=threshold, ties=ties
    )


def kendall_tau_score(
    y_true: Any,
    y_score: Any,
    *,
    groups: Any = None,
    replace_undefined_by: float = math.nan,
    average: str | None = "macro",
    sample_weight: Any = None,
    labels: Any = None,
    n_jobs: int | None = None,
) -> Any:
    """Kendall's tau-b between labels and scores within each query, averaged over queries.

    Higher is better; between -1 and 1, 0 for random scores.
    ::

        tau-b = (concordant - discordant pairs) / sqrt(pairs untied in y * pairs untied in score)

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Relevance of each document, finite numbers. With two-dimensional scores also
        class labels of shape (n_queries,), see `labels`.
    y_score : array-like of shape (n_documents,) or (n_queries, n_documents)
        Score of each document, higher is ranked first; no NaN. A document with score -inf was not
        retrieved: it stands last, tied with the others that were not.
    groups : array-like of shape (n_documents,), default=None
        Query id of each document, of any hashable dtype, in any row order. None: all documents
        belong to one query; two-dimensional input: each row is a query.
    replace_undefined_by : float, default=nan
        Value of a query on which the metric is undefined, having all labels or all scores equal.
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
        If an input does not hold numbers.

    See Also
    --------
    scipy.stats.kendalltau : Equal for a single query.
    spearman_score : The correlation of ranks.

    Notes
    -----
    Documents that were not retrieved have the lowest score, tied with one another.
    Defined in [1]_.

    References
    ----------
    .. [1] M. G. Kendall. The Treatment of Ties in Ranking Problems. Biometrika 33(3), 1945.
       https://doi.org/10.1093/biomet/33.3.239

    Examples
    --------
    >>> from sklearn_rankscore import kendall_tau_score
    >>> y_true = [2, 0, 1, 0, 1]
    >>> y_score = [0.3, 0.2, 0.1, 0.9, 0.4]
    >>> groups = ["a", "a", "a", "b", "b"]
    >>> round(kendall_tau_score(y_true, y_score, groups=groups), 4)
    -0.3333
    """
    queries = read_queries(
        y_true, y_score, groups=groups, sample_weight=sample_weight, labels=labels, n_jobs=n_jobs
    )
    return kendall_tau.score(queries, average, replace_undefined_by, n_jobs)


def spearman_score(
    y_true: Any,
    y_score: Any,
    *,
    groups: Any = None,
    replace_undefined_by: float = math.nan,
    average: str | None = "macro",
    sample_weight: Any = None,
    labels: Any = None,
    n_jobs: int | None = None,
) -> Any:
    """Spearman's rank correlation within each query, averaged over queries.

    Higher is better; between -1 and 1, 0 for random scores.
    ::

        rho = Pearson correlation of the ranks of labels and scores, ties at their mean rank

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Relevance of each document, finite numbers. With two-dimensional scores also
        class labels of shape (n_queries,), see `labels`.
    y_score : array-like of shape (n_documents,) or (n_queries, n_documents)
        Score of each document, higher is ranked first; no NaN. A document with score -inf was not
        retrieved: it stands last, tied with the others that were not.
    groups : array-like of shape (n_documents,), default=None
        Query id of each document, of any hashable dtype, in any row order. None: all documents
        belong to one query; two-dimensional input: each row is a query.
    replace_undefined_by : float, default=nan
        Value of a query on which the metric is undefined, having all labels or all scores equal.
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
        If an input does not hold numbers.

    See Also
    --------
    scipy.stats.spearmanr : Equal for a single query.
    kendall_tau_score : The correlation of pairs.

    Notes
    -----
    Documents that were not retrieved have the lowest score, tied with one another.
    Defined in [1]_.

    References
    ----------
    .. [1] C. Spearman. The Proof and Measurement of Association between Two Things. The American
       Journal of Psychology 15(1), 1904. https://doi.org/10.2307/1412159

    Examples
    --------
    >>> from sklearn_rankscore import spearman_score
    >>> y_true = [2, 0, 1, 0, 1]
    >>> y_score = [0.3, 0.2, 0.1, 0.9, 0.4]
    >>> groups = ["a", "a", "a", "b", "b"]
    >>> spearman_score(y_true, y_score, groups=groups)
    -0.25
    """
    queries = read_queries(
        y_true, y_score, groups=groups, sample_weight=sample_weight, labels=labels, n_jobs=n_jobs
    )
    return spearman.score(queries, average, replace_undefined_by, n_jobs)
