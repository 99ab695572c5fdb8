"""Users who read from the top and may stop: ERR, rank-biased precision, pFound."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from ..ranking import Block, Queries, read_queries
from ..ranking.arrays import Array, ArrayFunction, GradeFunction
from .kernel import kernel
from .options import above, check_gains, check_range


def _check_grades(queries: Queries, *, max_grade: float | None, **_: Any) -> None:
    if max_grade is None:
        check_range(queries, 0, 1, "(with max_grade=None labels are probabilities)")
    else:
        check_range(queries, 0, max_grade, "(max_grade)")


def _check_probabilities(queries: Queries, **_: Any) -> None:
    check_range(queries, 0, 1, "(pFound's labels are probabilities)")


@kernel(check=_check_grades)
def err(block: Block, k: int | None, max_grade: float | None, ties: str) -> Any:
    """Probability of stopping at a rank, over the rank."""
    keep = _not_satisfied if max_grade is None else _not_stopped_by(max_grade)
    reads_on = block.survival(keep, ties)
    stops = -np.diff(reads_on, axis=1, prepend=1.0)
    return (stops / block.ranks)[:, :k].sum(axis=1), np.ones(len(stops)), _any_positive(block)


@kernel(check=check_gains)
def rbp(
    block: Block, k: int | None, p: float, gain: ArrayFunction, threshold: float, ties: str
) -> Any:
    """Gains weighted by the probability of reading that far."""
    reads = (1 - p) * p ** (block.ranks[:k] - 1.0)
    found = (block.by_rank(gain, ties)[:, :k] * reads).sum(axis=1)
    return found, np.ones(len(found)), block.ideal(gain)[:, 0] > 0


@kernel(check=_check_probabilities)
def pfound(block: Block, k: int | None, decay: float, ties: str) -> Any:
    """Probability of being satisfied at a rank, if the user goes on that far."""
    reads_on = block.survival(_not_satisfied, ties)
    satisfied = -np.diff(reads_on, axis=1, prepend=1.0) * decay ** (block.ranks - 1.0)
    return satisfied[:, :k].sum(axis=1), np.ones(len(satisfied)), _any_positive(block)


@lru_cache(maxsize=256)
def _not_stopped_by(max_grade: float) -> ArrayFunction:
    @GradeFunction
    def keep(labels: Array) -> Array:
        return np.asarray(1.0 - (np.exp2(labels) - 1.0) / 2.0**max_grade)

    return keep


@GradeFunction
def _not_satisfied(labels: Array) -> Array:
    return np.asarray(1.0 - labels)


def _any_positive(block: Block) -> Array:
    return block.total(above(0.0)) > 0


def err_score(
    y_true: Any,
    y_score: Any,
    *,
    groups: Any = None,
    k: int | None = None,
    max_grade: float | None = 4,
    ties: str = "average",
    replace_undefined_by: float = 0.0,
    average: str | None = "macro",
    sample_weight: Any = None,
    labels: Any = None,
    n_jobs: int | None = None,
) -> Any:
    """Expected reciprocal rank under the cascade model, averaged over queries.

    Higher is better; between 0 and 1. A user reads from the top and stops at a document with the
    probability that its grade gives.
    ::

        ERR@k = sum over ranks i <= k of 1/i * p_i * prod over j < i of (1 - p_j),
        p = (2**y - 1) / 2**max_grade

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Relevance of each document, numbers from 0 to `max_grade`. With two-dimensional scores also
        class labels of shape (n_queries,), see `labels`.
    y_score : array-like of shape (n_documents,) or (n_queries, n_documents)
        Score of each document, higher is ranked first; no NaN. A document with score -inf was not
        retrieved: it holds no rank, and if it is relevant it was missed.
    groups : array-like of shape (n_documents,), default=None
        Query id of each document, of any hashable dtype, in any row order. None: all documents
        belong to one query; two-dimensional input: each row is a query.
    k : int, default=None
        Only the first k ranks count; None for all of them.
    max_grade : float or None, default=4
        The highest label there can be; a larger one is an error. None: labels are the stopping
        probabilities themselves, as in CatBoost.
    ties : {"average", "stable", "reversed", "optimistic", "pessimistic"}, default="average"
        What equal scores mean: the exact expectation over all orders of the tied documents,
        input order, its reverse, the best order, or the worst one.
    replace_undefined_by : float, default=0.0
        Value of a query on which the metric is undefined, no label is above 0.
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
    pfound_score : The same user, with labels that are probabilities.

    Notes
    -----
    Tied documents take the exact expectation over all their orders, by elementary symmetric
    means of their 1 - p.
    Defined in [1]_.

    References
    ----------
    .. [1] O. Chapelle, D. Metzler, Y. Zhang, P. Grinspan. Expected Reciprocal Rank for Graded
       Relevance. CIKM 2009. https://doi.org/10.1145/1645953.1646033

    Examples
    --------
    >>> from sklearn_rankscore import err_score
    >>> y_true = [2, 0, 1, 0, 1]
    >>> y_score = [0.3, 0.2, 0.1, 0.9, 0.4]
    >>> groups = ["a", "a", "a", "b", "b"]
    >>> round(err_score(y_true, y_score, groups=groups, max_grade=2), 4)
    0.4479
    """
    queries = read_queries(
        y_true, y_score, groups=groups, sample_weight=sample_weight, labels=labels, n_jobs=n_jobs
    )
    return err.score(
        queries, average, replace_undefined_by, n_jobs, k=k, max_grade=max_grade, ties=ties
    )


def rbp_score(
    y_true: Any,
    y_score: Any,
    *,
    groups: Any = None,
    k: int | None = None,
    gain: Any = "binary",
    threshold: float = 0,
    p: float = 0.8,
    ties: str = "average",
    replace_undefined_by: float = 0.0,
    average: str | None = "macro",
    sample_weight: Any = None,
    labels: Any = None,
    n_jobs: int | None = None,
) -> Any:
    """Rank-biased precision, averaged over queries.

    Higher is better; between 0 and 1 for gains up to 1. A user goes on to the next document with
    probability p.
    ::

        RBP@k = (1 - p) * sum over ranks i <= k of gain(y_i) * p**(i - 1)

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
    gain : {"linear", "exponential", "binary"}, sequence or callable, default="binary"
        Worth of a label y: y, 2**y - 1, 1 if y > threshold, the entry of a sequence at the
        integer label (LightGBM's `label_gain`), or a function of an array of labels. Gains are
        finite and not negative.
    threshold : float, default=0
        A document is relevant if its label is above the threshold.
    p : float, default=0.8
        Persistence, in [0, 1): the probability of going on to the next document.
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
    err_score : A user who stops at a good document.

    Notes
    -----
    The gain is 1 for a relevant document and 0 else, or any other; ranx takes the label itself.
    Tied documents share the mean gain of their run [2]_.
    Defined in [1]_.

    References
    ----------
    .. [1] A. Moffat, J. Zobel. Rank-Biased Precision for Measurement of Retrieval Effectiveness.
       ACM TOIS 27(1), 2008. https://doi.org/10.1145/1416950.1416952
    .. [2] F. McSherry, M. Najork. Computing Information Retrieval Performance Measures
       Efficiently in the Presence of Tied Scores. ECIR 2008.
       https://doi.org/10.1007/978-3-540-78646-7_38

    Examples
    --------
    >>> from sklearn_rankscore import rbp_score
    >>> y_true = [2, 0, 1, 0, 1]
    >>> y_score = [0.3, 0.2, 0.1, 0.9, 0.4]
    >>> groups = ["a", "a", "a", "b", "b"]
    >>> round(rbp_score(y_true, y_score, groups=groups, p=0.5), 4)
    0.4375
    """
    queries = read_queries(
        y_true, y_score, groups=groups, sample_weight=sample_weight, labels=labels, n_jobs=n_jobs
    )
    return rbp.score(
        queries,
        average,
        replace_undefined_by,
        n_jobs,
        k=k,
        gain=gain,
        threshold=threshold,
        p=p,
        ties=ties,
    )


def pfound_score(
    y_true: Any,
    y_score: Any,
    *,
    groups: Any = None,
    k: int | None = None,
    decay: float = 0.85,
    ties: str = "average",
    replace_undefined_by: float = 0.0,
    average: str | None = "macro",
    sample_weight: Any = None,
    labels: Any = None,
    n_jobs: int | None = None,
) -> Any:
    """Probability that a user finds what they look for, averaged over queries.

    Higher is better; between 0 and 1. A user reads from the top, is satisfied by a document with
    the probability that its label gives, and else goes on with probability `decay`.
    ::

        pFound@k = sum over ranks i <= k of decay**(i-1) * y_i * prod over j < i of (1 - y_j)

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Probability from 0 to 1 that each document satisfies. With two-dimensional scores also
        class labels of shape (n_queries,), see `labels`.
    y_score : array-like of shape (n_documents,) or (n_queries, n_documents)
        Score of each document, higher is ranked first; no NaN. A document with score -inf was not
        retrieved: it holds no rank, and if it is relevant it was missed.
    groups : array-like of shape (n_documents,), default=None
        Query id of each document, of any hashable dtype, in any row order. None: all documents
        belong to one query; two-dimensional input: each row is a query.
    k : int, default=None
        Only the first k ranks count; None for all of them.
    decay : float, default=0.85
        Probability, in [0, 1], of going on after a document that did not satisfy.
    ties : {"average", "stable", "reversed", "optimistic", "pessimistic"}, default="average"
        What equal scores mean: the exact expectation over all orders of the tied documents,
        input order, its reverse, the best order, or the worst one.
    replace_undefined_by : float, default=0.0
        Value of a query on which the metric is undefined, no label is above 0.
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
    err_score : The same user, with a reciprocal discount and grades.

    Notes
    -----
    The metric of Yandex and of CatBoost's PFound. Tied documents take the exact expectation over
    all their orders, by elementary symmetric means of their 1 - y.
    Defined in [1]_.

    References
    ----------
    .. [1] A. Gulin, P. Karpovich, D. Raskovalov, I. Segalovich. Yandex at ROMIP'2009: Optimization
       of Ranking Algorithms by Machine Learning Methods. ROMIP 2009 (in Russian).

    Examples
    --------
    >>> from sklearn_rankscore import pfound_score
    >>> y_true = [0.9, 0.0, 0.5, 0.0, 0.5]
    >>> y_score = [0.3, 0.2, 0.1, 0.9, 0.4]
    >>> groups = ["a", "a", "a", "b", "b"]
    >>> round(pfound_score(y_true, y_score, groups=groups), 4)
    0.6806
    """
    queries = read_queries(
        y_true, y_score, groups=groups, sample_weight=sample_weight, labels=labels, n_jobs=n_jobs
    )
    return pfound.score(queries, average, replace_undefined_by, n_jobs, k=k, decay=decay, ties=ties)
