"""Random training and test sets of whole queries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sklearn.model_selection import ShuffleSplit

from .._typing import Array, IdSource, RandomState
from .._validation import check_count, check_flag
from ..query_ids import Grouping
from .splitter import QuerySplitter, Split, split_queries


class QueryShuffleSplit(QuerySplitter):
    """Random training and test sets of whole queries.

    Parameters
    ----------
    n_splits : int, default=10
        Number of splits; their test sets may overlap.
    test_size : float or int, default=None
        Fraction or number of queries in the test set. None means the complement of `train_size`,
        or 0.2 if `train_size` is None as well.
    train_size : float or int, default=None
        Fraction or number of queries in the training set. None means the complement of
        `test_size`.
    random_state : int, RandomState instance or None, default=None
        Seed of the random choice.
    groups : str or list of str, default=None
        Where the query ids are: the name of a column or index level, several names for ids that
        combine them. None means ``"qid"``.
    skip_constant_queries : bool, default=False
        Whether to exclude queries whose labels are all equal from the test sets.

    See Also
    --------
    query_train_test_split : Splits arrays once.
    sklearn.model_selection.GroupShuffleSplit : The same for groups of any kind.

    Notes
    -----
    Query ids are looked up as in `QueryKFold`. The order of the rows is preserved. The sets depend
    on the order in which the queries first appear, not on their ids: sort the rows by query id for
    the same sets of a table whose rows come in another order.

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
        random_state: RandomState = None,
        groups: IdSource = None,
        skip_constant_queries: bool = False,
    ) -> None:
        self.n_splits = check_count("n_splits", n_splits, 1)
        self.test_size = test_size
        self.train_size = train_size
        self.random_state = random_state
        self.groups = groups
        self.skip_constant_queries = check_flag("skip_constant_queries", skip_constant_queries)

    def _assign(
        self, X: Any, queries: Grouping, labels: Array | None, skipped: Array
    ) -> Iterator[Split]:
        is_default = self.test_size is None and self.train_size is None
        splits = ShuffleSplit(
            self.n_splits,
            test_size=0.2 if is_default else self.test_size,
            train_size=self.train_size,
            random_state=self.random_state,
        )
        yield from split_queries(splits, len(queries))
