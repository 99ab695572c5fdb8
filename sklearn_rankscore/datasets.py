"""Synthetic data for ranking."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from .metrics.options import check_count, number


def make_ranking(
    n_queries: int = 100,
    n_features: int = 20,
    *,
    n_documents: int = 20,
    n_informative: int = 5,
    n_grades: int = 5,
    noise: float = 1.0,
    query_effect: float = 1.0,
    shuffle: bool = False,
    as_frame: bool = False,
    random_state: Any = None,
) -> Any:
    """Generate a learning-to-rank problem.

    The utility of a document is a fixed function of its informative features, part of it not
    linear, plus an effect of its query and noise. Grades cut the utility into unequal shares, so
    that high grades are rare and some queries have no relevant document.

    Parameters
    ----------
    n_queries : int, default=100
        Number of queries.
    n_features : int, default=20
        Number of features; the informative ones come first.
    n_documents : int, default=20
        Mean number of documents of a query; from half of it to one and a half times.
    n_informative : int, default=5
        Number of features that matter.
    n_grades : int, default=5
        Number of grades, 0 to n_grades - 1.
    noise : float, default=1.0
        Standard deviation of the noise.
    query_effect : float, default=1.0
        Standard deviation of what all documents of a query have in common; it decides how many
        of them are relevant and says nothing about their order.
    shuffle : bool, default=False
        Whether rows come in random order, the documents of a query apart.
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
        If a number is too small.
    TypeError
        If a number is not an integer where one is needed.

    Examples
    --------
    >>> from sklearn_rankscore import make_ranking
    >>> X, y, groups = make_ranking(n_queries=3, random_state=0)
    >>> X.shape[1], y.shape == groups.shape
    (20, True)
    """
    least = {"n_queries": 1, "n_features": 1, "n_documents": 1, "n_informative": 1, "n_grades": 2}
    given = locals()
    for name, low in least.items():
        check_count(name, given[name], low)
    for name in ("noise", "query_effect"):
        number(name, given[name], low=0.0)
    random = check_random_state(random_state)
    low, high = max(1, n_documents // 2), n_documents + n_documents // 2
    sizes = random.randint(low, high + 1, size=n_queries)
    groups = np.repeat(np.arange(n_queries), sizes)
    X = random.normal(size=(len(groups), n_features))
    informative = X[:, : min(n_informative, n_features)]
    coefficients = 1.0 / np.arange(1, informative.shape[1] + 1)
    utility = informative @ coefficients + np.abs(informative[:, 0])
    utility += noise * random.normal(size=len(groups))
    utility += query_effect * random.normal(size=n_queries)[groups]
    shares = 1.0 - 0.5 ** np.arange(1, n_grades)
    y = np.searchsorted(np.quantile(utility, shares), utility)
    if shuffle:
        order = random.permutation(len(y))
        X, y, groups = X[order], y[order], groups[order]
    if not as_frame:
        return X, y, groups
    import pandas as pd

    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(n_features)])
    frame.insert(0, "qid", groups)
    return frame, pd.Series(y, name="y")
