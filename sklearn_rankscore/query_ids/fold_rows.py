"""Row indices of a fold that carry the query ids which were passed to `split`."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from .._typing import Array


class FoldRows(np.ndarray):
    """Row indices; `query_ids` holds the id of every row of X, not only of the fold's.

    `is_whole` tells that they are all rows of some queries; a part of them may be others.

    scikit-learn hands `groups` to the splitter alone. The indices that the splitter returns are
    what reaches each fit and score of a search, and so these bring the ids along. Some of the
    indices, as successive halving draws them, and copies, as clones of a search have them, carry
    them too; results of arithmetic and pickles are ordinary arrays.
    """

    query_ids: Any = None
    is_whole: bool = False

    def __getitem__(self, key: Any) -> Any:
        chosen = super().__getitem__(key)
        if isinstance(chosen, FoldRows):
            chosen.query_ids = self.query_ids
        return chosen

    def __deepcopy__(self, memo: Any) -> Self:
        copied = self.copy()
        copied.query_ids, copied.is_whole = self.query_ids, self.is_whole
        return copied

    def __repr__(self) -> str:
        return repr(self.view(np.ndarray))

    def __reduce__(self) -> Any:
        return self.view(np.ndarray).__reduce__()


def with_query_ids(rows: Array, query_ids: Any) -> Array:
    """The same indices, carrying the ids of all rows."""
    fold = rows.view(FoldRows)
    fold.query_ids, fold.is_whole = query_ids, True
    return fold


def carried_query_ids(*rows: Any) -> Any:
    """The ids that one of several index arrays carries; None without any."""
    ids = (indices.query_ids for indices in rows if isinstance(indices, FoldRows))
    return next((query_ids for query_ids in ids if query_ids is not None), None)
