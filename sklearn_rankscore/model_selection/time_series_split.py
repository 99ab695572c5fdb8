"""Training on earlier queries, testing on later ones."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.model_selection import TimeSeriesSplit

from .._columns import refuse_masked
from .._sklearn_compat import num_samples
from .._typing import Array, IdSource
from .._validation import check_count, check_flag
from ..query_ids import Grouping
from ..query_ids.lookup import check_same_order, column_or_level
from ..query_ids.read import which_missing
from .splitter import QuerySplitter, Split, split_queries

ISO_DATE = re.compile(r"\d{4}-\d\d-\d\d([T ][\d:.]+Z?)?")


class QueryTimeSeriesSplit(QuerySplitter):
    """Training sets of earlier queries, test sets of the queries that follow.

    Parameters
    ----------
    n_splits : int, default=5
        Number of splits, at least 2.
    times : str, callable or array-like of shape (n_documents,), default=None
        Time of each document, as dates or numbers: the name of a column or index level of X, a
        function of X, or an array. The time of a query is that of its earliest document. Text must
        be ISO dates of one form. None orders queries by their first rows.
    gap : int, default=0
        Number of queries to exclude between the training set and the test set.
    max_train_size : int, default=None
        Maximum number of queries in the training set, the most recent ones (a rolling window).
        None means no limit.
    test_size : int, default=None
        Number of queries in the test set. None means n_queries // (n_splits + 1).
    groups : str or list of str, default=None
        Where the query ids are: the name of a column or index level, several names for ids that
        combine them. None means ``"qid"``.
    skip_constant_queries : bool, default=False
        Whether to exclude queries whose labels are all equal from the test sets.

    See Also
    --------
    sklearn.model_selection.TimeSeriesSplit : The same for rows.

    Notes
    -----
    Query ids are looked up as in `QueryKFold`. The order of the rows is preserved. Queries with
    equal times are ordered by their first rows, and a split may separate them.

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
        times: ArrayLike | Callable[[Any], ArrayLike] | None = None,
        gap: int = 0,
        max_train_size: int | None = None,
        test_size: int | None = None,
        groups: IdSource = None,
        skip_constant_queries: bool = False,
    ) -> None:
        for name, size in (("max_train_size", max_train_size), ("test_size", test_size)):
            if size is not None:
                check_count(name, size, 1)
        self.n_splits = check_count("n_splits", n_splits, 2)
        self.times = times
        self.gap = check_count("gap", gap, 0)
        self.max_train_size = max_train_size
        self.test_size = test_size
        self.groups = groups
        self.skip_constant_queries = check_flag("skip_constant_queries", skip_constant_queries)

    def _assign(
        self, X: Any, queries: Grouping, labels: Array | None, skipped: Array
    ) -> Iterator[Split]:
        n_queries = len(queries)
        if n_queries <= self.n_splits:
            raise ValueError(
                f"n_splits={self.n_splits} needs at least {self.n_splits + 1} queries; got "
                f"{n_queries}."
            )
        order = np.arange(n_queries)
        if self.times is not None:
            earliest = np.full(n_queries, np.iinfo(np.intp).max)
            np.minimum.at(earliest, queries.codes, _time_order(X, self.times))
            order = np.argsort(earliest, kind="stable")
        splits = TimeSeriesSplit(
            self.n_splits,
            gap=self.gap,
            max_train_size=self.max_train_size,
            test_size=self.test_size,
        )
        for train, test in split_queries(splits, n_queries):
            yield order[train], order[test]


def _time_order(X: Any, times: Any) -> Array:
    """The position of each document's time among the distinct times, of any sortable dtype."""
    values = column_or_level(X, times) if isinstance(times, str) else times
    if values is None:
        raise ValueError(f"times={times!r} names no column or index level of X.")
    values = times(X) if callable(times) else values
    check_same_order(X=X, times=values)
    refuse_masked(values, "times")
    values = np.asarray(values)
    if values.ndim != 1:
        raise ValueError(
            f"times must be one-dimensional, one time per document; got shape {values.shape}. Pass "
            "a single column."
        )
    if len(values) != num_samples(X):
        raise ValueError(
            f"times must hold one time per document: got {len(values)} for {num_samples(X)}. In "
            "nested cross-validation, name a column or index level of X."
        )
    if which_missing(values).any():
        raise ValueError("times contains missing values; every document needs a time.")
    return np.unique(_sortable(values), return_inverse=True)[1]


def _sortable(times: Array) -> Array:
    """Times that sort by time; refuses text, which sorts by its characters, unless ISO dates do."""
    if times.dtype.kind not in "OUST":
        return times
    text = [time for time in times.tolist() if isinstance(time, str | bytes)]
    other = [time for time in text if not (isinstance(time, str) and ISO_DATE.fullmatch(time))]
    forms = {re.sub(r"\d", "0", time) for time in text if isinstance(time, str)}
    if not text or (not other and len(text) == len(times) and len(forms) == 1):
        return times
    raise ValueError(
        f"times contains text such as {(other or text)[0]!r}, which sorts by its characters. Pass "
        "dates, pandas.to_datetime(X['time']), or numbers, X['time'].astype(float). As text, only "
        "ISO dates of one form are accepted, such as '2024-01-31' or '2024-01-31T12:00'."
    )
