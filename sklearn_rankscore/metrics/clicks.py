"""Propensities: given by position, estimated from click logs, and what weighting by them costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning

from .._columns import as_numbers
from .._table import html_of_fields
from .._typing import Array, QueryIds
from .._validation import (
    check_choice,
    check_count,
    check_number,
    check_propensity_range,
    examples,
    warn,
)
from ..query_ids import group_rows
from ..query_ids.lookup import check_same_order
from .options import check_clip


def position_propensity(ranks: ArrayLike, eta: float = 1.0) -> Array:
    """Probability that a document is examined, from the rank at which it was shown.

    Position-based model with the propensity ``1 / rank**eta`` [1]_. With an `eta` of 0, all ranks
    are examined equally often; the larger it is, the less often low ranks are examined.

    Parameters
    ----------
    ranks : array-like of shape (n_documents,) or (n_queries, n_documents)
        Rank at which each document was shown, from 1 on. This is the rank in the log, not the rank
        that is assigned by the model to be evaluated.
    eta : float, default=1.0
        Severity of the position bias, at least 0.

    Returns
    -------
    ndarray of float of the same shape
        Propensities in (0, 1].

    Raises
    ------
    ValueError
        If a rank is not an integer of at least 1, or `eta` is negative or so large that a
        propensity is 0 in floating point.

    See Also
    --------
    estimate_propensity : Propensities by rank, estimated from a log.

    References
    ----------
    .. [1] T. Joachims, A. Swaminathan, T. Schnabel. Unbiased Learning-to-Rank with Biased Feedback.
       WSDM 2017. https://doi.org/10.1145/3018661.3018699

    Examples
    --------
    >>> from sklearn_rankscore import position_propensity
    >>> position_propensity([1, 2, 4])
    array([1.  , 0.5 , 0.25])
    """
    eta = check_number("eta", eta, 0)
    values = read_ranks(ranks)
    propensities = np.asarray(values**-eta)
    if not propensities.all():
        raise ValueError(
            f"eta={eta:g} gives rank {values.max():g} a propensity of 0, but it must be above 0. "
            "Use a smaller eta."
        )
    return propensities


def read_ranks(ranks: ArrayLike) -> Array:
    """Ranks as floats, whole numbers of at least 1."""
    values = as_numbers(ranks, "ranks").astype(np.float64)
    wrong = values[(values < 1) | (values != np.floor(values)) | np.isinf(values)]
    if wrong.size:
        raise ValueError(f"ranks must be integers of at least 1; got {wrong[0]:g}.")
    return values


class PropensitySummary(NamedTuple):
    """Statistics of the weights of clicks, and of clipping.

    Parameters
    ----------
    n_documents, n_clicks : int
        Number of documents, and of those with a positive label.
    effective_clicks : float
        Kish's effective sample size of the weighted clicks, ``sum(w)**2 / sum(w**2)``: the number
        of clicks of equal weight that carry the same information; at most `n_clicks`.
    largest_share : float
        Share of the click with the largest weight in the sum of all weights; nan without clicks.
    clipped_share : float
        Share of the documents whose propensity is below `clip`. Each clipped click biases the
        estimate downwards.
    """

    n_documents: int
    n_clicks: int
    effective_clicks: float
    largest_share: float
    clipped_share: float

    def _repr_html_(self) -> str:
        return html_of_fields(self)


def propensity_summary(
    y_true: ArrayLike, propensity: ArrayLike, *, clip: float | None = None
) -> PropensitySummary:
    """Effective number of clicks, and the share of clipped documents.

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Labels; documents with a positive label were clicked.
    propensity : array-like of the same shape
        Probability, in (0, 1], that each document was examined.
    clip : float, default=None
        Smaller propensities are raised to this value; None for no clipping.

    Returns
    -------
    PropensitySummary
        A named tuple of `n_documents`, `n_clicks`, `effective_clicks` (the effective sample size),
        `largest_share` (of the click with the largest weight in the sum of all weights) and
        `clipped_share` (of the documents).

    Raises
    ------
    ValueError
        If shapes differ, or a propensity or `clip` is out of range.

    References
    ----------
    L. Kish. Survey Sampling. Wiley, 1965.

    Examples
    --------
    >>> from sklearn_rankscore import propensity_summary
    >>> summary = propensity_summary([1, 0, 1, 1], [1.0, 0.5, 0.5, 0.01], clip=0.1)
    >>> summary.n_clicks, round(summary.effective_clicks, 2), summary.clipped_share
    (3, 1.61, 0.25)
    """
    check_same_order(y_true=y_true, propensity=propensity)
    labels, given = as_numbers(y_true, "y_true"), as_numbers(propensity, "propensity")
    if labels.shape != given.shape:
        raise ValueError(
            f"propensity must have the shape of y_true, {labels.shape}; got {given.shape}."
        )
    check_propensity_range("propensity", given)
    least = check_clip(clip) or 0.0
    one = np.zeros(given.size, dtype=np.intp)
    return click_sums(labels.ravel(), given.ravel(), least, one, 1).summary()


@dataclass(frozen=True)
class ClickSums:
    """Sums over the documents and clicks of each query.

    Parameters
    ----------
    sums : array of shape (n_queries, 6)
        Number of documents, of clicks and of documents with a clipped propensity; the sum of the
        weights of the clicks, that of their squares, and the largest one.
    """

    sums: Array

    def select(self, rows: Array | slice) -> ClickSums:
        """The sums of some queries."""
        return ClickSums(self.sums[rows])

    def summary(self) -> PropensitySummary:
        """The summary of all queries together."""
        n_documents, n_clicks, n_clipped, total, squares = self.sums[:, :5].sum(axis=0).tolist()
        return PropensitySummary(
            n_documents=int(n_documents),
            n_clicks=int(n_clicks),
            effective_clicks=total**2 / squares if n_clicks else 0.0,
            largest_share=self.sums[:, 5].max() / total if n_clicks else float("nan"),
            clipped_share=n_clipped / n_documents,
        )


def click_sums(
    labels: Array, propensity: Array, clip: float, codes: Array, n_queries: int
) -> ClickSums:
    """The sums of each query, whose number `codes` gives for each document."""
    clicked = labels > 0
    of_clicks = codes[clicked]
    with np.errstate(over="ignore"):
        weights = 1.0 / np.maximum(propensity, clip)[clicked]
        squares = weights**2
    if not np.isfinite(squares.sum()):
        raise ValueError(
            f"propensity is as low as {propensity.min():g}, and the squares of such weights are "
            "not finite. Raise them with clip=, such as clip=0.01."
        )
    largest = np.zeros(n_queries)
    np.maximum.at(largest, of_clicks, weights)
    counted = (codes, None), (of_clicks, None), (codes[propensity < clip], None)
    columns = [
        np.bincount(queries, values, minlength=n_queries)
        for queries, values in (*counted, (of_clicks, weights), (of_clicks, squares))
    ]
    return ClickSums(np.column_stack([*columns, largest]))


# bounds of the logarithms of propensities and relevances, which keep the likelihood finite
LOWEST, HIGHEST = np.log(1e-9), np.log(1 - 1e-9)
MAX_ITERATIONS = 10_000
# largest slope of the loss at the optimum, relative to the number of pairs of impressions
TOLERANCE = 1e-5


def estimate_propensity(
    clicks: ArrayLike,
    ranks: ArrayLike,
    *,
    groups: QueryIds,
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
    groups, documents : array-like of shape (n_impressions,)
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
    >>> estimate_propensity(clicks, ranks, groups=["q"] * 8, documents=["d"] * 8).round(3)
    array([1. , 0.5])
    """
    check_choice("method", method, ("all_pairs", "pivot"))
    check_same_order(clicks=clicks, ranks=ranks, groups=groups, documents=documents)
    clicked, shown = _read_log(clicks, ranks)
    by_query = group_rows(groups, len(shown))
    by_document = group_rows(documents, len(shown), "documents")
    items = by_query.codes * len(by_document) + by_document.codes
    last = int(shown.max()) if max_rank is None else check_count("max_rank", max_rank, 1)
    kept = shown <= last
    if not kept.any():
        raise ValueError(f"no document was shown up to max_rank={last}.")
    # before memory is needed for each pair of ranks
    present = np.unique(shown[kept])
    first = np.arange(1, min(last, len(present) + 5) + 1)
    _refuse(~np.isin(first, present), "no document was shown there")
    clicked, skipped = _click_rates(clicked[kept], shown[kept], items[kept], last)
    _check_clicks(clicked, pivot=method == "pivot")
    if method == "pivot":  # over the clicks at rank 1, of the documents shown at both
        propensities = np.append(1.0, clicked[1:, 0] / clicked[0, 1:])
    else:
        propensities = _all_pairs(clicked, skipped)
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


def _click_rates(clicks: Array, ranks: Array, items: Array, last: int) -> tuple[Array, Array]:
    """Sums over documents shown at ranks k and k' of their rates of clicks, and of none, at k.

    Returns
    -------
    clicked, skipped : array of shape (last, last)
        Entry (k, k') belongs to rank k.
    """
    keys, rows = np.unique(items * last + ranks - 1, return_inverse=True)
    rate = np.bincount(rows, clicks) / np.bincount(rows)
    place = np.unique(keys // last, return_inverse=True)[1], keys % last
    shape = int(place[0].max()) + 1, last
    shown, rates = (csr_array((values, place), shape) for values in (np.ones(len(keys)), rate))
    # of each document shown at both ranks, and not of its own rank
    pairs = [(at_rank.T @ shown).toarray() for at_rank in (rates, shown - rates)]
    for sums in pairs:
        np.fill_diagonal(sums, 0.0)
    clicked, skipped = pairs
    return clicked, skipped


def _check_clicks(clicked: Array, *, pivot: bool) -> None:
    """Refuse ranks whose propensity no clicks compare with that of rank 1."""
    if len(clicked) == 1:
        return
    if pivot:
        both = np.append(True, (clicked[1:, 0] > 0) & (clicked[0, 1:] > 0))
        _refuse(~both, "documents shown there and at rank 1 need clicks at both, by method='pivot'")
    reached, pairs = np.arange(len(clicked)) == 0, clicked + clicked.T > 0
    for _ in pairs:
        reached |= pairs[reached].any(axis=0)
    why = "no clicks on documents that were shown there and at another rank connect it with rank 1"
    _refuse(~(reached & clicked.any(axis=1)), why)


def _refuse(wrong: Array, why: str) -> None:
    """Raise an error if some ranks, from 1 on, are wrong."""
    ranks = np.flatnonzero(wrong) + 1
    if not len(ranks):
        return
    named = f"{'rank' if len(ranks) == 1 else 'ranks'} {examples(ranks.tolist())}"
    raise ValueError(f"{named} cannot be estimated: {why}.")


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
        warn(
            f"the estimate of propensities did not converge: {optimum.message}", ConvergenceWarning
        )
