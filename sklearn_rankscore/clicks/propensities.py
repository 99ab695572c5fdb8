"""Propensities by rank, and how many clicks the weighted ones amount to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .._columns import as_numbers
from .._table import html_of_fields
from .._typing import Array
from .._validation import check_number, check_propensity_range
from ..query_ids.lookup import check_same_order


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
    least = 0.0 if clip is None else check_number("clip", clip, 0, 1)
    one = np.zeros(given.size, dtype=np.intp)
    return click_sums(labels.ravel(), given.ravel(), least, one, 1).summary()


@dataclass(frozen=True)
class ClickSums:
    """Sums over the documents and clicks of each query.

    Parameters
    ----------
    documents, clicks, clipped : int array of shape (n_queries,)
        Number of documents, of clicks, and of documents with a clipped propensity.
    least : float array of shape (n_queries,)
        Smallest propensity of a click after clipping, 1 without a click.
    weights, squares : float array of shape (n_queries,)
        Sum of the weights of the clicks and of their squares, with weights that are multiplied by
        `_unit` of `least`, because their own squares may not be finite.
    """

    documents: Array
    clicks: Array
    clipped: Array
    least: Array
    weights: Array
    squares: Array

    def select(self, rows: Array | slice) -> ClickSums:
        """The sums of some queries."""
        return ClickSums(*(getattr(self, field.name)[rows] for field in fields(self)))

    def summary(self) -> PropensitySummary:
        """The summary of all queries together."""
        least = self.least.min()
        scale = _unit(least) / _unit(self.least)
        total, squares = float(scale @ self.weights), float(scale**2 @ self.squares)
        n_documents, n_clicks = int(self.documents.sum()), int(self.clicks.sum())
        return PropensitySummary(
            n_documents=n_documents,
            n_clicks=n_clicks,
            effective_clicks=total**2 / squares if n_clicks else 0.0,
            largest_share=float(_unit(least) / least) / total if n_clicks else float("nan"),
            clipped_share=int(self.clipped.sum()) / n_documents,
        )


def _unit(propensity: Array) -> Array:
    """A power of two between a propensity and its double, by which a product is not rounded."""
    return np.ldexp(1.0, np.frexp(propensity)[1])


def click_sums(
    labels: Array, propensity: Array, clip: float, codes: Array, n_queries: int
) -> ClickSums:
    """The sums of each query, whose number `codes` gives for each document."""
    clicked = labels > 0
    of_clicks, counted = codes[clicked], np.maximum(propensity, clip)[clicked]
    least = np.ones(n_queries)
    np.minimum.at(least, of_clicks, counted)
    weights = _unit(least)[of_clicks] / counted

    def count(queries: Array, weights: Array | None = None) -> Array:
        return np.bincount(queries, weights, minlength=n_queries)

    return ClickSums(
        count(codes), count(of_clicks), count(codes[propensity < clip]), least,
        count(of_clicks, weights), count(of_clicks, weights**2),
    )  # fmt: skip


def concatenate_sums(parts: Sequence[ClickSums]) -> ClickSums:
    """The sums of the queries of all parts, one part after another."""
    names = [field.name for field in fields(ClickSums)]
    return ClickSums(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))
