"""K-fold cross-validation that keeps queries whole and balances the folds."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state

from .._typing import Array, IdSource, RandomState
from .._validation import check_count, check_flag
from ..query_ids import Grouping
from .splitter import QuerySplitter, Split

# number of queries per fold, among those with equal counts, that are left to the greedy
# assignment, so that it can even out the folds
GREEDY_QUERIES_PER_FOLD = 100


class QueryKFold(QuerySplitter):
    """K folds of whole queries, balanced in rows, queries and relevant documents.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2.
    shuffle : bool, default=False
        Whether to shuffle queries of similar size before they are assigned to folds.
    random_state : int, RandomState instance or None, default=None
        Seed of the shuffle; an error without ``shuffle=True``.
    groups : str or list of str, default=None
        Where the query ids are: the name of a column or index level, several names for ids that
        combine them. None means ``"qid"``.
    skip_constant_queries : bool, default=False
        Whether to exclude queries whose labels are all equal from the test folds, since all their
        rankings are equally good. They remain in the training folds.

    See Also
    --------
    RepeatedQueryKFold : Repeats it with different shuffles.
    sklearn.model_selection.GroupKFold : Balances rows, or queries if it shuffles them.
    sklearn.model_selection.StratifiedGroupKFold : Balances classes.

    Notes
    -----
    Query ids are looked up in this order: the arguments `groups` and `qid` of `split`, a column or
    index level ``qid`` of X, an index level ``qid`` of y. The order of the rows is
    preserved. With `y`, a document counts as relevant if its label exceeds the smallest label.

    The folds depend on the order in which the queries first appear, not on their ids. Sort the rows
    by query id for the same folds of a table whose rows come in another order.

    Queries are assigned in descending order of size, each to the fold in which it increases the
    sum of squared loads least, an extension of the longest-processing-time rule [1]_ to three
    loads. Folds differ notably only if there are few queries, or if one of them is long. With
    `skip_constant_queries`, constant queries and the others are balanced separately.

    References
    ----------
    .. [1] R. L. Graham. Bounds on Multiprocessing Timing Anomalies. SIAM Journal on Applied
       Mathematics, 17(2), 1969. https://doi.org/10.1137/0117039

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
        random_state: RandomState = None,
        groups: IdSource = None,
        skip_constant_queries: bool = False,
    ) -> None:
        self.n_splits = check_count("n_splits", n_splits, 2)
        self.shuffle = check_flag("shuffle", shuffle)
        if random_state is not None and not self.shuffle:
            raise ValueError(
                f"random_state={random_state!r} has no effect with shuffle=False, where folds are "
                "not random. Leave random_state out, or set shuffle=True."
            )
        self.random_state = random_state
        self.groups = groups
        self.skip_constant_queries = check_flag("skip_constant_queries", skip_constant_queries)

    def _assign(
        self, X: Any, queries: Grouping, labels: Array | None, skipped: Array
    ) -> Iterator[Split]:
        n_queries = len(queries)
        if n_queries < self.n_splits:
            raise ValueError(
                f"n_splits={self.n_splits} is more than the number of queries, {n_queries}."
            )
        order = np.arange(n_queries)
        if self.shuffle:
            order = check_random_state(self.random_state).permutation(n_queries)
        counts, is_skipped = _counts(queries, labels), skipped[order]
        fold = np.empty(n_queries, dtype=np.intp)
        # skipped queries are balanced separately, for the training sets
        for part in (order[~is_skipped], order[is_skipped]):
            if len(part):
                fold[part] = _balanced_folds(counts[part], self.n_splits, shuffled=self.shuffle)
        for f in range(self.n_splits):
            yield np.flatnonzero(fold != f), np.flatnonzero(fold == f)


class RepeatedQueryKFold(QuerySplitter):
    """`QueryKFold` repeated with different shuffles.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2.
    n_repeats : int, default=10
        Number of repetitions.
    random_state : int, RandomState instance or None, default=None
        Seed of the shuffles.
    groups : str or list of str, default=None
        Where the query ids are: the name of a column or index level, several names for ids that
        combine them. None means ``"qid"``.
    skip_constant_queries : bool, default=False
        Whether to exclude queries whose labels are all equal from the test folds.

    See Also
    --------
    QueryKFold : A single repetition.

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
        random_state: RandomState = None,
        groups: IdSource = None,
        skip_constant_queries: bool = False,
    ) -> None:
        self.n_splits = check_count("n_splits", n_splits, 2)
        self.n_repeats = check_count("n_repeats", n_repeats, 1)
        self.random_state = random_state
        self.groups = groups
        self.skip_constant_queries = check_flag("skip_constant_queries", skip_constant_queries)

    def _assign(
        self, X: Any, queries: Grouping, labels: Array | None, skipped: Array
    ) -> Iterator[Split]:
        random_state = check_random_state(self.random_state)
        k_fold = QueryKFold(self.n_splits, shuffle=True, random_state=random_state)
        for _ in range(self.n_repeats):
            yield from k_fold._assign(X, queries, labels, skipped)


def check_query_cv(cv: Any) -> Any:
    """As `sklearn.model_selection.check_cv`, where an integer means folds of whole queries."""
    if cv is None:
        return QueryKFold(5)
    return QueryKFold(int(cv)) if isinstance(cv, Integral) else check_cv(cv)


def _counts(queries: Grouping, labels: Array | None) -> Array:
    """Number of rows, of queries (1) and of relevant documents of each query."""
    relevant = np.zeros(len(queries), dtype=np.intp)
    if labels is not None:
        relevant = np.bincount(
            queries.codes[labels > np.fmin.reduce(labels)], minlength=len(queries)
        )
    return np.column_stack((queries.sizes, np.ones_like(relevant), relevant))


def _balanced_folds(counts: Array, n_folds: int, *, shuffled: bool) -> Array:
    """The fold of each query, such that each column of `counts` is balanced between folds."""
    fold, remaining = _assign_in_bulk(counts, n_folds)
    fractions = counts / np.maximum(counts.sum(axis=0), 1)
    size = fractions[remaining].max(axis=1)
    if shuffled:
        # queries whose sizes have the same power of two remain in random order
        size = np.frexp(size)[1]
    order = remaining[np.argsort(-size, kind="stable")]
    fold[order] = _assign_greedily(fractions[order], n_folds)
    return fold


def _assign_in_bulk(counts: Array, n_folds: int) -> tuple[Array, Array]:
    """Assign queries with equal counts to the folds in turn, an equal number to each fold.

    Returns the fold of each query, and the queries that remain for the greedy assignment.
    """
    key = np.ravel_multi_index(tuple(counts.T), counts.max(axis=0) + 1)
    _, code, n_equal = np.unique(key, return_inverse=True, return_counts=True)
    position = np.empty(len(counts), dtype=np.intp)  # among the queries with equal counts
    starts = np.cumsum(n_equal) - n_equal
    position[np.argsort(code, kind="stable")] = np.arange(len(counts)) - np.repeat(starts, n_equal)
    n_bulk = n_folds * np.maximum(n_equal // n_folds - GREEDY_QUERIES_PER_FOLD, 0)
    return position % n_folds, np.flatnonzero(position >= n_bulk[code])


def _assign_greedily(fractions: Array, n_folds: int) -> list[int]:
    """Assign queries in the given order, each to the fold in which it fits best."""
    loads = [[0.0, 0.0, 0.0] for _ in range(n_folds)]
    folds = []
    # lists, because operations on arrays of three numbers take twenty times as long
    for a, b, c in zip(*fractions.T.tolist(), strict=True):
        # the increase of the sum of squared loads is smallest where load · fraction is
        increases = [load[0] * a + load[1] * b + load[2] * c for load in loads]
        best = increases.index(min(increases))
        loads[best][0] += a
        loads[best][1] += b
        loads[best][2] += c
        folds.append(best)
    return folds
