"""Splits that are no partition: random queries, and later queries, held out whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.model_selection import ShuffleSplit, TimeSeriesSplit
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_consistent_length

from ..metrics.options import check_count
from ..ranking.arrays import Array
from .carriers import QID, Bound, carried_ids, missing_groups
from .whole_queries import QuerySplitter, SplitQueries


class QueryShuffleSplit(QuerySplitter):
    """Random training and test sets of whole queries.

    Parameters
    ----------
    n_splits : int, default=10
        Number of splits; their test sets may overlap.
    test_size : float or int, default=None
        Share of the queries, or how many, to test on; None takes what `train_size` leaves, or
        0.2 if that is None too.
    train_size : float or int, default=None
        Share of the queries, or how many, to train on; None takes the rest.
    random_state : int, RandomState instance or None, default=None
        Seed.
    groups : str or callable, default=None
        Where the query ids are: the name of a column or index level, or a function of X; None
        looks for ``"qid"``.
    contrast_only : bool, default=False
        Whether to leave queries whose labels are all equal out of the test sets.

    See Also
    --------
    query_train_test_split : One such split of arrays.

    Notes
    -----
    Query ids are found as by `QueryKFold`. Sizes count queries, not rows. Rows keep their order.

    Examples
    --------
    >>> from sklearn_rankscore import QueryShuffleSplit
    >>> X, groups = [[0], [1], [2], [3], [4]], ["a", "a", "b", "c", "c"]
    >>> cv = QueryShuffleSplit(1, test_size=1, random_state=0)
    >>> [(train.tolist(), test.tolist()) for train, test in cv.split(X, groups=groups)]
    [([0, 1, 2], [3, 4])]
    """

    def __init__(
        self,
        n_splits: int = 10,
        *,
        test_size: float | None = None,
        train_size: float | None = None,
        random_state: Any = None,
        groups: Bound = None,
        contrast_only: bool = False,
    ) -> None:
        self.n_splits = check_count("n_splits", n_splits, 1)
        self.test_size = test_size
        self.train_size = train_size
        self.random_state = random_state
        self.groups = groups
        self.contrast_only = contrast_only

    def _deal(self, X: Any, queries: SplitQueries) -> Iterator[tuple[Array, Array]]:
        test_size = self.test_size
        if test_size is None and self.train_size is None:
            test_size = 0.2
        splits = ShuffleSplit(
            self.n_splits,
            test_size=test_size,
            train_size=self.train_size,
            random_state=self.random_state,
        )
        yield from splits.split(np.arange(len(queries)))


class QueryTimeSeriesSplit(QuerySplitter):
    """Train on earlier queries, test on the ones that follow.

    Parameters
    ----------
    n_splits : int, default=5
        Number of splits.
    times : str, callable or array-like of shape (n_documents,), default=None
        When each document's query happened: the name of a column or index level of X, a function
        of X, or the times. A query counts as of its earliest time. None takes queries in the
        order of their first rows.
    gap : int, default=0
        Number of queries to leave out between training and test set.
    max_train_size : int, default=None
        Largest number of queries to train on, the latest ones: a window that moves. None for all.
    test_size : int, default=None
        Number of queries to test on; None for n_queries // (n_splits + 1).
    groups : str or callable, default=None
        Where the query ids are: the name of a column or index level, or a function of X; None
        looks for ``"qid"``.
    contrast_only : bool, default=False
        Whether to leave queries whose labels are all equal out of the test sets.

    See Also
    --------
    sklearn.model_selection.TimeSeriesSplit : The same for rows.

    Notes
    -----
    Query ids are found as by `QueryKFold`. Rows keep their order. Queries of the same time keep
    the order of their first rows, and may be parted.

    Examples
    --------
    >>> from sklearn_rankscore import QueryTimeSeriesSplit
    >>> X, groups = [[0], [1], [2], [3], [4]], ["a", "a", "b", "c", "c"]
    >>> for train, test in QueryTimeSeriesSplit(2).split(X, groups=groups):
    ...     print(train, test)
    [0 1] [2]
    [0 1 2] [3 4]
    """

    def __init__(
        self,
        n_splits: int = 5,
        *,
        times: Any = None,
        gap: int = 0,
        max_train_size: int | None = None,
        test_size: int | None = None,
        groups: Bound = None,
        contrast_only: bool = False,
    ) -> None:
        self.n_splits = check_count("n_splits", n_splits, 2)
        self.times = times
        self.gap = check_count("gap", gap, 0)
        self.max_train_size = max_train_size
        if max_train_size is not None:
            check_count("max_train_size", max_train_size, 1)
        self.test_size = test_size
        if test_size is not None:
            check_count("test_size", test_size, 1)
        self.groups = groups
        self.contrast_only = contrast_only

    def _deal(self, X: Any, queries: SplitQueries) -> Iterator[tuple[Array, Array]]:
        if len(queries) <= self.n_splits:
            raise ValueError(
                f"n_splits={self.n_splits} needs more queries than that; got {len(queries)}."
            )
        order = np.arange(len(queries))
        if self.times is not None:
            order = np.argsort(_earliest(_times(X, self.times), queries), kind="stable")
        splits = TimeSeriesSplit(
            self.n_splits,
            gap=self.gap,
            max_train_size=self.max_train_size,
            test_size=self.test_size,
        )
        for train, test in splits.split(order):
            yield order[train], order[test]


def _times(X: Any, times: Any) -> Array:
    """Times of the rows as an array that can be sorted."""
    found = carried_ids(X, times) if isinstance(times, str) else times
    if found is None:
        raise ValueError(f"times={times!r} names no column or index level of X.")
    found = np.asarray(times(X) if callable(times) else found)
    check_consistent_length(X, found)
    none = found.dtype == object and any(value is None for value in found)
    if none or (found != found).any():
        raise ValueError("times contains missing values; every document needs a time.")
    ranks: Array = np.unique(found, return_inverse=True)[1]
    return ranks


def _earliest(times: Array, queries: SplitQueries) -> Array:
    first = np.full(len(queries), len(times))
    np.minimum.at(first, queries.codes, times)
    return first


def query_train_test_split(
    *arrays: Any,
    groups: Any = None,
    test_size: float | None = None,
    train_size: float | None = None,
    random_state: Any = None,
) -> list[Any]:
    """Split arrays into a training and a test part without cutting a query.

    Parameters
    ----------
    *arrays : array-likes, sparse matrices or DataFrames of the same length
        What to split.
    groups : array-like of shape (n_documents,) or str, default=None
        Query ids, or the name of a column or index level of an array. None looks for ``"qid"``.
    test_size : float or int, default=None
        Share of the queries, or how many, to test on; None takes what `train_size` leaves, or
        0.25 if that is None too.
    train_size : float or int, default=None
        Share of the queries, or how many, to train on; None takes the rest.
    random_state : int, RandomState instance or None, default=None
        Seed.

    Returns
    -------
    list
        Training and test part of each array in turn, of the type that was given. Rows keep their
        order.

    Raises
    ------
    NoGroupsError
        If there are no query ids.
    ValueError
        If lengths differ, or sizes are out of range.

    See Also
    --------
    sklearn.model_selection.train_test_split : Splits rows, and so cuts queries.

    Examples
    --------
    >>> from sklearn_rankscore import make_ranking, query_train_test_split
    >>> X, y, groups = make_ranking(random_state=0)
    >>> X_train, X_test, groups_train, groups_test = query_train_test_split(
    ...     X, groups, groups=groups, random_state=0
    ... )
    >>> len(set(groups_train)), len(set(groups_test)), set(groups_train) & set(groups_test)
    (75, 25, set())
    """
    if not arrays:
        raise ValueError("query_train_test_split needs at least one array to split.")
    check_consistent_length(*arrays)
    if test_size is None and train_size is None:
        test_size = 0.25
    splits = QueryShuffleSplit(
        1, test_size=test_size, train_size=train_size, random_state=random_state
    )
    if groups is None or isinstance(groups, str):
        name = QID if groups is None else groups
        found = (carried_ids(array, name) for array in arrays)
        groups = next((ids for ids in found if ids is not None), None)
        if groups is None:
            raise missing_groups(
                "query_train_test_split", also=f"; no array has a column or index level {name!r}"
            )
    ((train, test),) = splits.split(arrays[0], qid=groups)
    return [_safe_indexing(array, rows) for array in arrays for rows in (train, test)]
