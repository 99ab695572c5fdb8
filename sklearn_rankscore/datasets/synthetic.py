"""Synthetic data for learning to rank."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from sklearn.utils import check_random_state

from .._typing import Array, RandomState
from .._validation import check_choice, check_count, check_flag, check_number, installed


def make_ranking(
    n_queries: int = 100,
    n_features: int = 20,
    *,
    n_documents: int = 20,
    n_informative: int | None = None,
    n_grades: int = 5,
    noise: float = 1.0,
    query_effect: float = 1.0,
    utility: Literal["additive", "interactions"] = "additive",
    shuffle: bool = False,
    as_frame: bool = False,
    random_state: RandomState = None,
) -> Any:
    """Generate a learning-to-rank problem.

    The utility of a document is a fixed function of its informative features, plus a random effect
    of its query and noise. Grades are quantile bins of the utility; each grade but the highest,
    which is as frequent as the one below it, has half as many documents as that one, so that high
    grades are rare and some queries have no relevant document.

    Parameters
    ----------
    n_queries : int, default=100
        Number of queries.
    n_features : int, default=20
        Number of features; the informative ones come first.
    n_documents : int, default=20
        Mean number of documents per query, if it is even; sizes are uniform from half of it to one
        and a half times, both rounded down.
    n_informative : int, default=None
        Number of features with an effect on the grades; None means 5, or all if they are fewer.
    n_grades : int, default=5
        Number of grades, 0 to n_grades - 1.
    noise : float, default=1.0
        Standard deviation of the noise.
    query_effect : float, default=1.0
        Standard deviation of the effect that all documents of a query share; it affects how many of
        them are relevant, but not their order.
    utility : {"additive", "interactions"}, default="additive"
        How the utility depends on the informative features. With "additive", it increases in each
        of them, except that values of the first below 0 count as 0, so that a linear model ranks
        well; with "interactions", it consists mostly of their products, which trees can learn and a
        linear model cannot.
    shuffle : bool, default=False
        Whether to shuffle the rows, so that the documents of a query are not adjacent.
    as_frame : bool, default=False
        Whether to return a DataFrame with a column "qid" and a Series (needs pandas).
    random_state : int, RandomState instance or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n_rows, n_features), or DataFrame
        Features.
    y : ndarray of int of shape (n_rows,), or Series
        Grades.
    groups : ndarray of int of shape (n_rows,)
        Query ids; not returned with `as_frame`, which has them as a column.

    Raises
    ------
    ValueError
        If a parameter is out of range.
    TypeError
        If a parameter is not a number, or not an integer or a bool where one is needed.

    Examples
    --------
    >>> from sklearn_rankscore import make_ranking
    >>> X, y, groups = make_ranking(n_queries=3, random_state=0)
    >>> X.shape[1], y.shape == groups.shape
    (20, True)
    """
    check_count("n_queries", n_queries, 1)
    check_count("n_features", n_features, 1)
    check_count("n_documents", n_documents, 1)
    n_informative = min(5, n_features) if n_informative is None else n_informative
    if check_count("n_informative", n_informative, 1) > n_features:
        raise ValueError(
            f"n_informative must be at most n_features, {n_features}; got {n_informative}."
        )
    check_count("n_grades", n_grades, 2)
    check_number("noise", noise, low=0.0)
    check_number("query_effect", query_effect, low=0.0)
    check_choice("utility", utility, tuple(UTILITIES))
    check_flag("shuffle", shuffle)
    check_flag("as_frame", as_frame)
    random = check_random_state(random_state)
    low, high = max(1, n_documents // 2), n_documents + n_documents // 2
    sizes = random.randint(low, high + 1, size=n_queries)
    groups = np.repeat(np.arange(n_queries), sizes)
    X = random.normal(size=(len(groups), n_features))
    value = UTILITIES[utility](X[:, :n_informative])
    value += noise * random.normal(size=len(groups))
    value += query_effect * random.normal(size=n_queries)[groups]
    quantiles = 1.0 - 0.5 ** np.arange(1, n_grades)
    y = np.searchsorted(np.quantile(value, quantiles), value)
    if shuffle:
        order = random.permutation(len(y))
        X, y, groups = X[order], y[order], groups[order]
    if not as_frame:
        return X, y, groups
    pd = installed("pandas", "as_frame=True")
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])])
    frame.insert(0, "qid", groups)
    return frame, pd.Series(y, name="y")


def _additive(informative: Array) -> Array:
    return _weighted(informative) + np.abs(informative[:, 0])


def _interactions(informative: Array) -> Array:
    neighbors = np.roll(informative, -1, axis=1)
    return 2.0 * _weighted(informative * neighbors) + 0.5 * _weighted(informative)


def _weighted(columns: Array) -> Array:
    """Their sum, in which each column counts less than the one before."""
    return np.asarray(columns @ (1.0 / np.arange(1, columns.shape[1] + 1)))


UTILITIES = {"additive": _additive, "interactions": _interactions}
