"""QueryScores of given values, for tests of what is made from them."""

import numpy as np

from sklearn_rankscore import QueryScores


def scores_of(values, metrics=None, weights=None, ids=None, **given):
    """Values of queries, or a row of them for each query, of the metrics m0, m1, …"""
    values = np.asarray(values, dtype=float)
    values = values.reshape(len(values), -1)
    metrics = metrics or [f"m{i}" for i in range(values.shape[1])]
    ids = range(len(values)) if ids is None else ids
    return QueryScores(ids, values, list(metrics), weights, **given)


def pair_of(differences, metrics=None, weights=None, start=0.0):
    """The systems a, whose values are all the same, and b."""
    first = np.full_like(np.asarray(differences, dtype=float), start)
    return {
        "a": scores_of(first, metrics, weights),
        "b": scores_of(first + differences, metrics, weights),
    }


def error_and_freedom(values, weights, each=True):
    """Standard error and degrees of freedom of a weighted mean, for values of equal variance.

    The squared error is a quadratic form in the values that is unbiased: each of the squared
    residuals is divided by its expectation, or their sum. The degrees of freedom are
    Satterthwaite's.
    """
    share = weights / weights.sum()
    residuals = np.eye(len(share)) - share
    expected = 1 - 2 * share + (share**2).sum() if each else 1
    form = residuals.T @ np.diag(share**2 / expected) @ residuals
    form *= (share**2).sum() / np.trace(form)
    return np.sqrt(values @ form @ values), np.trace(form) ** 2 / np.trace(form @ form)
