"""Row indices of a fold that carry the query ids which were passed to `split`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np

from .._typing import Array


class FoldRows(np.ndarray):
    """Row indices; `query_ids` holds the id of every row of X, not only of the fold's.

    scikit-learn hands `groups` to the splitter alone. The indices that the splitter returns are
    what reaches each fit and score of a search, and so these bring the ids along. Some of the
    indices, as successive halving draws them, and copies, as clones of a search have them, carry
    them too; results of arithmetic and pickles are ordinary arrays.
    """

    query_ids: Any = None

    def __getitem__(self, key: Any) -> Any:
        chosen = super().__getitem__(key)
        if isinstance(chosen, FoldRows):
            chosen.query_ids = self.query_ids
        return chosen

    def __deepcopy__(self, memo: Any) -> Self:
        copied = self.copy()
        copied.query_ids = self.query_ids
        return copied

    def __repr__(self) -> str:
        return repr(self.view(np.ndarray))

    def __reduce__(self) -> Any:
        return self.view(np.ndarray).__reduce__()


class RowsOfQueries(FoldRows):
    """Row indices of several queries; unpickling restores this class, without the ids."""

    def __reduce__(self) -> Any:
        return _rows_of_queries, (self.view(np.ndarray),)


def _rows_of_queries(rows: Array) -> Array:
    return rows.view(RowsOfQueries)


def marked_as_queries(rows: Any, codes: Array) -> Any:
    """The same indices, marked if the rows are of several queries, with the ids they carry."""
    is_array = isinstance(rows, np.ndarray) and rows.dtype.kind == "i" and len(rows) > 0
    if not is_array or np.ptp(codes[rows]) == 0:
        return rows
    marked = rows.view(RowsOfQueries)
    marked.query_ids = getattr(rows, "query_ids", None)
    return marked


def with_query_ids(rows: Array, query_ids: Any) -> Array:
    """The same indices, carrying the ids of all rows."""
    fold = rows.view(FoldRows)
    fold.query_ids = query_ids
    return fold


def carried_query_ids(*rows: Any) -> Any:
    """The ids that one of several index arrays carries; None without any."""
    ids = (indices.query_ids for indices in rows if isinstance(indices, FoldRows))
    return next((query_ids for query_ids in ids if query_ids is not None), None)


class MarkedFolds:
    """A splitter whose rows are marked as rows of several queries.

    Parameters
    ----------
    cv : splitter
        The splitter itself.
    codes : int array of shape (n_rows,)
        The number of the query of each row.
    """

    def __init__(self, cv: Any, codes: Array) -> None:
        self.cv, self.codes = cv, codes

    def split(self, *args: Any, **kwargs: Any) -> Iterator[tuple[Any, Any]]:
        """The folds of the splitter."""
        for train, test in self.cv.split(*args, **kwargs):
            yield marked_as_queries(train, self.codes), marked_as_queries(test, self.codes)
