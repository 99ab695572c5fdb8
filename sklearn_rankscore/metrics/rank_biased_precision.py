"""Rank-biased precision."""

from __future__ import annotations

from typing import Unpack, overload

from numpy.typing import ArrayLike

from .._typing import Array, Gain, Macro, QueryIds, RBPArgs, Ties, Unjudged
from . import formulas
from .metric import score


@overload
def rbp_score(
    y_true: ArrayLike, y_score: ArrayLike, *, average: None, **options: Unpack[RBPArgs]
) -> Array: ...
@overload
def rbp_score(
    y_true: ArrayLike, y_score: ArrayLike, *, average: Macro = ..., **options: Unpack[RBPArgs]
) -> float: ...
def rbp_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    groups: QueryIds | None = None,
    k: int | None = None,
    gain: Gain = "binary",
    normalize: bool = False,
    threshold: float = 0,
    p: float = 0.8,
    ties: Ties = "average",
    unjudged: Unjudged = "error",
    adjusted: bool = False,
    replace_undefined_by: float = 0.0,
    average: Macro | None = "macro",
    sample_weight: ArrayLike | None = None,
    propensity: ArrayLike | str | None = None,
    clip: float | None = None,
    labels: ArrayLike | None = None,
    n_jobs: int | None = None,
) -> float | Array:
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
    return score(formulas.rbp, **locals())
