"""Propensities by rank from logs in which the same document was shown at different ranks."""

from __future__ import annotations

import warnings
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from .._columns import as_numbers
from .._typing import Array, QueryIds
from .._validation import check_choice, check_count
from ..query_ids import group_rows
from ..query_ids.lookup import check_same_order
from .propensities import read_ranks

# bounds of the logarithms of propensities and relevances, which keep the likelihood finite
LOWEST, HIGHEST = np.log(1e-9), np.log(1 - 1e-9)
MAX_ITERATIONS = 10_000
# largest slope of the loss at the optimum, relative to the number of pairs of impressions
TOLERANCE = 1e-5


def estimate_propensity(
    clicks: ArrayLike,
    ranks: ArrayLike,
    *,
    queries: QueryIds,
    documents: QueryIds,
    max_rank: int | None = None,
    method: Literal["all_pairs", "pivot"] = "all_pairs",
) -> Array:
    """Estimate the propensity of each rank from a log, by intervention harvesting.

    A document that was shown at rank k to some users and at rank k' to others, for the same query,
    has the same relevance at both, so that the ratio of its click rates estimates the ratio of the
    propensities. Such pairs result from randomly alternating between rankers (A/B tests,
    interleaving) and from swapping documents deliberately.

    Parameters
    ----------
    clicks : array-like of shape (n_impressions,)
        1 if the document was clicked, else 0.
    ranks : array-like of shape (n_impressions,)
        Rank at which it was shown, from 1 on.
    queries, documents : array-like of shape (n_impressions,)
        Ids of the query and of the document. Queries must recur with different rankings.
    max_rank : int, default=None
        Last rank to estimate; impressions at lower ranks are ignored. None means all ranks.
    method : {"all_pairs", "pivot"}, default="all_pairs"
        "all_pairs" maximizes the likelihood over all pairs of ranks; "pivot" compares each rank
        only with rank 1, as in swap experiments.

    Returns
    -------
    ndarray of float of shape (max_rank,)
        Propensity of rank 1, 2, …, in (0, 1], relative to the rank that is examined most often. The
        propensity of a document is ``result[rank - 1]``.

    Raises
    ------
    ValueError
        If clicks are not 0 or 1, if lengths differ, if no documents with a click connect a rank to
        rank 1, or if a rank was never clicked on documents that were also shown at another one.

    Warns
    -----
    ConvergenceWarning
        If the likelihood was not maximized.

    See Also
    --------
    position_propensity : Propensities given by a formula of the rank.

    Notes
    -----
    "all_pairs" is the AllPairs estimator of [1]_, and "pivot" their PivotOne. Each impression is
    weighted by the inverse of the number of impressions of its document and query at this rank. For
    the same query, the choice between the rankers must not depend on the user. For swaps see [2]_.

    References
    ----------
    .. [1] A. Agarwal, I. Zaitsev, X. Wang, C. Li, M. Najork, T. Joachims. Estimating Position Bias
       without Intrusive Interventions. WSDM 2019. https://doi.org/10.1145/3289600.3291017
    .. [2] T. Joachims, A. Swaminathan, T. Schnabel. Unbiased Learning-to-Rank with Biased Feedback.
       WSDM 2017. https://doi.org/10.1145/3018661.3018699

    Examples
    --------
    >>> from sklearn_rankscore import estimate_propensity
    >>> clicks, ranks = [1, 1, 1, 1, 1, 0, 1, 0], [1, 1, 1, 1, 2, 2, 2, 2]
    >>> estimate_propensity(clicks, ranks, queries=["q"] * 8, documents=["d"] * 8).round(3)
    array([1. , 0.5])
    """
    check_choice("method", method, ("all_pairs", "pivot"))
    check_same_order(clicks=clicks, ranks=ranks, queries=queries, documents=documents)
    clicked, shown = _read_log(clicks, ranks)
    by_query = group_rows(queries, len(shown), "queries")
    by_document = group_rows(documents, len(shown), "documents")
    items = by_query.codes * len(by_document) + by_document.codes
    last = int(shown.max()) if max_rank is None else check_count("max_rank", max_rank, 1)
    kept = shown <= last
    if not kept.any():
        raise ValueError(f"no document was shown up to max_rank={last}.")
    _check_shown(shown[kept], last)
    rates = _click_rates(clicked[kept], shown[kept], items[kept], last)
    _check_connected(rates[0] + rates[1], rates[0], pivot=method == "pivot")
    estimate = _pivot if method == "pivot" else _all_pairs
    propensities = estimate(*rates)
    return np.asarray(propensities / propensities.max())


def _read_log(clicks: Any, ranks: Any) -> tuple[Array, Array]:
    clicked, shown = as_numbers(clicks, "clicks"), read_ranks(ranks)
    if clicked.ndim != 1 or clicked.shape != shown.shape:
        raise ValueError(
            "clicks and ranks must be one-dimensional and of equal length; got shapes "
            f"{clicked.shape} and {shown.shape}."
        )
    if not np.isin(clicked, (0, 1)).all():
        raise ValueError(f"clicks must be 0 or 1; got {clicked[~np.isin(clicked, (0, 1))][0]:g}.")
    return clicked.astype(np.float64), shown.astype(np.intp)


def _check_shown(ranks: Array, last: int) -> None:
    """Refuse a rank without documents, before memory is needed for each pair of ranks."""
    present = np.unique(ranks)
    if present[0] > 1:
        raise ValueError(
            f"no document was shown at rank 1; the first rank of the log is {present[0]}. Number "
            "the ranks from 1 on, or add a log of rank 1."
        )
    if len(present) < last:
        upto = np.arange(1, min(last, len(present) + 5) + 1)
        problem = "cannot be compared with rank 1: no document was shown there"
        raise _rank_error(upto[~np.isin(upto, present)], problem)


def _click_rates(clicks: Array, ranks: Array, items: Array, last: int) -> tuple[Array, Array]:
    """Sums over documents shown at ranks k and k' of their rates of clicks, and of none, at k.

    Returns
    -------
    clicked, skipped : array of shape (last, last)
        Entry (k, k') belongs to rank k.
    """
    keys, rows = np.unique(items * last + ranks - 1, return_inverse=True)
    rate = np.bincount(rows, clicks) / np.bincount(rows)
    item, rank = np.unique(keys // last, return_inverse=True)[1], keys % last
    clicked, skipped = np.zeros((last, last)), np.zeros((last, last))
    starts = np.flatnonzero(np.diff(item, prepend=-1))
    sizes = np.diff(starts, append=len(item))
    for size in np.unique(sizes[sizes > 1]):  # documents that were shown at `size` ranks
        entries = starts[sizes == size, None] + np.arange(size)
        for i in range(size):
            own, others = rank[entries[:, i]], rank[np.delete(entries, i, axis=1)]
            of_own = rate[entries[:, i]]
            for other in others.T:
                np.add.at(clicked, (own, other), of_own)
                np.add.at(skipped, (own, other), 1 - of_own)
    return clicked, skipped


def _check_connected(shown: Array, clicked: Array, *, pivot: bool) -> None:
    """Refuse ranks whose propensity no documents compare with that of rank 1."""
    directly = " directly" if pivot else ""
    _refuse(
        ~_reached(shown, pivot=pivot),
        f"cannot be compared with rank 1{directly}: the same document and query must have been "
        "shown at both",
    )
    if len(shown) == 1:
        return
    if pivot:
        _check_clicked_first(shown, clicked)
    was_clicked = np.append(True, clicked[1:, 0] > 0) if pivot else clicked.any(axis=1)
    _refuse(
        np.logical_not(was_clicked),
        "cannot be estimated: no document shown there and at "
        f"{'rank 1' if pivot else 'another rank'} was clicked there",
    )
    _refuse(
        ~_reached(clicked + clicked.T, pivot=pivot),
        "cannot be compared with rank 1: the documents that connect them are without a click",
    )


def _check_clicked_first(shown: Array, clicked: Array) -> None:
    """Refuse ranks whose documents were never clicked at rank 1, where "pivot" divides by 0."""
    without = np.flatnonzero(clicked[0, 1:] == 0) + 2
    if not len(without):
        return
    try:
        _check_connected(shown, clicked, pivot=False)
        advice = "Use method='all_pairs'"
    except ValueError:
        advice = "Add more of the log, because method='all_pairs' fails as well"
    raise ValueError(
        f"the documents of {_named(without)} were never clicked at rank 1, with which "
        f"method='pivot' compares them. {advice}."
    )


def _reached(pairs: Array, *, pivot: bool) -> Array:
    """Whether pairs of ranks connect each rank with rank 1, directly for "pivot"."""
    reached = np.zeros(len(pairs), dtype=bool)
    reached[0] = True
    for _ in pairs:
        reached |= (pairs[reached] > 0).any(axis=0)
        if pivot:
            break
    return reached


def _refuse(wrong: Array, problem: str) -> None:
    """Raise an error if some ranks are wrong."""
    if wrong.any():
        raise _rank_error(np.flatnonzero(wrong) + 1, problem)


def _rank_error(ranks: Array, problem: str) -> ValueError:
    # of rank 1 alone there is nothing to estimate
    way = "Set a smaller max_rank, or add" if ranks[0] > 2 else "Add"
    return ValueError(f"{_named(ranks)} {problem}. {way} a log of other rankings.")


def _named(ranks: Array) -> str:
    """Up to five ranks as text."""
    some = ", ".join(map(str, ranks.tolist()[:5]))
    return f"{'rank' if len(ranks) == 1 else 'ranks'} {some}"


def _pivot(clicked: Array, skipped: Array) -> Array:
    """Clicks at rank k over those at rank 1, of the documents shown at both."""
    return np.append(1.0, clicked[1:, 0] / clicked[0, 1:])


def _all_pairs(clicked: Array, skipped: Array) -> Array:
    """Maximum likelihood of the click probability ``p_k * r_kk'``, with r_kk' = r_k'k.

    The propensities p and the relevances r are at most 1.
    """
    n = len(clicked)
    own, other = np.nonzero(clicked + skipped)
    clicks, skips = clicked[own, other], skipped[own, other]
    low, pair = np.minimum(own, other), np.maximum(own, other)
    pair = np.unique(low * n + pair, return_inverse=True)[1]

    def loss(logs: Array) -> tuple[float, Array]:
        log = logs[own] + logs[n + pair]
        no_click = -np.expm1(log)
        slope = skips * np.exp(log) / no_click - clicks
        gradient = np.bincount(own, slope, n), np.bincount(pair, slope)
        return -float(clicks @ log + skips @ np.log(no_click)), np.concatenate(gradient)

    n_pairs = int(pair.max(initial=-1)) + 1
    start = np.append(-np.log(np.arange(1, n + 1)), np.full(n_pairs, np.log(0.5)))
    # in logarithms, the loss is convex, and probabilities of at most 1 are a box
    bounds = [(LOWEST, 0.0)] * n + [(LOWEST, HIGHEST)] * n_pairs
    options: Any = {"maxiter": MAX_ITERATIONS, "maxfun": 100_000, "ftol": 1e-14, "gtol": 1e-9}
    optimum: Any = minimize(
        loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options
    )
    _warn_unless_optimal(optimum, bounds, TOLERANCE * float((clicks + skips).sum()))
    return np.asarray(np.exp(optimum.x[:n]))


def _warn_unless_optimal(optimum: Any, bounds: Any, tolerance: float) -> None:
    """Warn if the loss still has a slope: at the limit of floating point, the optimum has none."""
    low, high = np.transpose(bounds)
    slope = np.clip(optimum.x - optimum.jac, low, high) - optimum.x
    if np.abs(slope).max() > tolerance:
        warnings.warn(
            f"the estimate of propensities did not converge ({optimum.message}). Set a smaller "
            "max_rank, or add more of the log.",
            ConvergenceWarning,
            stacklevel=4,
        )
