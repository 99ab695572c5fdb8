"""K folds of whole queries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from ..metrics.options import check_count
from ..ranking.arrays import Array
from .carriers import Bound
from .whole_queries import QuerySplitter, SplitQueries

# of many queries that weigh the same, so many for each fold are not dealt in bulk
LEFT_PER_FOLD = 100


class QueryKFold(QuerySplitter):
    """K folds of whole queries, balanced in rows, queries and relevant documents at once.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2.
    shuffle : bool, default=False
        Whether queries of similar weight are dealt in random order.
    random_state : int, RandomState instance or None, default=None
        Seed of the shuffle.
    groups : str or callable, default=None
        Where the query ids are: the name of a column or index level, or a function of X; None
        looks for ``"qid"``.
    contrast_only : bool, default=False
        Whether to leave queries whose labels are all equal out of the test folds: no ranking of
        them is better than another. They stay in the training folds, and the queries that are
        left to test are what is balanced.

    See Also
    --------
    RepeatedQueryKFold : The same several times, each time shuffled anew.
    sklearn.model_selection.GroupKFold : Balances rows only, or when shuffled only queries.
    sklearn.model_selection.StratifiedGroupKFold : Balances classes.

    Notes
    -----
    Query ids come from ``split(X, y, groups)``, metadata routing, a column or index level ``qid``
    of X or an index level ``qid`` of y. Rows keep their order in each fold. With `y` a document
    counts as relevant if its label is above the smallest one. Queries are dealt from the heaviest
    on, each to the fold where the sum of the squared loads grows least, so a single query of more
    than 1 / n_splits of all rows is the one thing that unbalances the folds.

    Examples
    --------
    >>> from sklearn_rankscore import QueryKFold
    >>> X, groups = [[0], [1], [2], [3], [4]], ["a", "a", "b", "c", "c"]
    >>> for train, test in QueryKFold(2).split(X, groups=groups):
    ...     print(train, test)
    [3 4] [0 1 2]
    [0 1 2] [3 4]
    """

    def __init__(
        self,
        n_splits: int = 5,
        *,
        shuffle: bool = False,
        random_state: Any = None,
        groups: Bound = None,
        contrast_only: bool = False,
    ) -> None:
        self.n_splits = check_count("n_splits", n_splits, 2)
        self.shuffle = shuffle
        self.random_state = random_state
        self.groups = groups
        self.contrast_only = contrast_only

    def _deal(self, X: Any, queries: SplitQueries) -> Iterator[tuple[Array, Array]]:
        if len(queries) < self.n_splits:
            raise ValueError(
                f"n_splits={self.n_splits} is more than the number of queries, {len(queries)}."
            )
        queue = self._queue(len(queries))
        # queries that are not tested are balanced among themselves, for those who train on them
        tested = queries.contrast()[queue] if self.contrast_only else np.ones(len(queue), bool)
        fold = np.empty(len(queries), dtype=np.intp)
        for part in (queue[tested], queue[~tested]):
            if len(part):
                self._put_in_folds(part, queries.counts(), fold)
        for f in range(self.n_splits):
            yield np.flatnonzero(fold != f), np.flatnonzero(fold == f)

    def _put_in_folds(self, queue: Array, counts: Array, fold: Array) -> None:
        rest = _deal_alike(queue, counts, self.n_splits, fold)
        shares = counts / np.maximum(counts[queue].sum(axis=0), 1)
        # what is left is dealt from the heaviest on; shuffled, from the heaviest power of two on
        weight = shares[rest].max(axis=1)
        weight = np.frexp(weight)[1] if self.shuffle else weight
        order = rest[np.argsort(-weight, kind="stable")]
        fold[order] = _balance(shares[order], self.n_splits)

    def _queue(self, n_queries: int) -> Array:
        """Queries in the order in which they queue up where they weigh the same."""
        if not self.shuffle:
            return np.arange(n_queries)
        return np.asarray(check_random_state(self.random_state).permutation(n_queries))


class RepeatedQueryKFold(QuerySplitter):
    """`QueryKFold` repeated, each time with another shuffle.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2.
    n_repeats : int, default=10
        Number of repetitions.
    random_state : int, RandomState instance or None, default=None
        Seed of the shuffles.
    groups : str or callable, default=None
        Where the query ids are: the name of a column or index level, or a function of X; None
        looks for ``"qid"``.
    contrast_only : bool, default=False
        Whether to leave queries whose labels are all equal out of the test folds.

    See Also
    --------
    QueryKFold : One repetition.

    Examples
    --------
    >>> from sklearn_rankscore import RepeatedQueryKFold
    >>> RepeatedQueryKFold(n_splits=2, n_repeats=3).get_n_splits()
    6
    """

    def __init__(
        self,
        *,
        n_splits: int = 5,
        n_repeats: int = 10,
        random_state: Any = None,
        groups: Bound = None,
        contrast_only: bool = False,
    ) -> None:
        self.n_splits = check_count("n_splits", n_splits, 2)
        self.n_repeats = check_count("n_repeats", n_repeats, 1)
        self.random_state = random_state
        self.groups = groups
        self.contrast_only = contrast_only

    def get_n_splits(
        self, X: Any = None, y: Any = None, groups: Any = None, qid: Any = None
    ) -> int:
        """Return the number of splits.

        Parameters
        ----------
        X, y, groups, qid : object
            Ignored.

        Returns
        -------
        int
            `n_splits` times `n_repeats`.
        """
        return self.n_splits * self.n_repeats

    def _deal(self, X: Any, queries: SplitQueries) -> Iterator[tuple[Array, Array]]:
        random = check_random_state(self.random_state)
        for _ in range(self.n_repeats):
            folds = QueryKFold(
                self.n_splits, shuffle=True, random_state=random, contrast_only=self.contrast_only
            )
            yield from folds._deal(X, queries)


def _deal_alike(queue: Array, counts: Array, n_folds: int, fold: Array) -> Array:
    """Find folds for queries among many with the same counts; return the others, in order.

    Every fold gets as many of them, which keeps any balance; some are left to even out others.
    """
    kinds = np.ravel_multi_index(tuple(counts[queue].T), counts.max(axis=0) + 1)
    _, kind, count = np.unique(kinds, return_inverse=True, return_counts=True)
    by_kind = np.argsort(kind, kind="stable")
    place = np.empty(len(queue), dtype=np.intp)
    place[by_kind] = np.arange(len(queue)) - np.repeat(np.cumsum(count) - count, count)
    alike = n_folds * np.maximum(count // n_folds - LEFT_PER_FOLD, 0)
    fold[queue] = place % n_folds
    return queue[place >= alike[kind]]


def _balance(shares: Array, n_folds: int) -> list[float]:
    """Fold of each query: in the given order, each to the fold where it fits best."""
    folds = []
    loads = [[0.0, 0.0, 0.0, f] for f in range(n_folds)]
    # plain lists: an array operation on so few numbers costs twenty times as much
    for a, b, c in zip(*(column.tolist() for column in shares.T), strict=True):
        # the sum of squared loads grows least where load · share is smallest
        best = min(loads, key=lambda load: load[0] * a + load[1] * b + load[2] * c)
        best[0] += a
        best[1] += b
        best[2] += c
        folds.append(best[3])
    return folds
