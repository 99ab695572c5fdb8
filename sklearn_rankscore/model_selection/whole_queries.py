"""What all splitters share: queries in, row indices out, no query ever cut."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils.validation import _num_samples, check_consistent_length

from ..ranking.arrays import Array
from ..ranking.grouping import number_queries
from .carriers import Bound, find_groups, missing_groups


@dataclass(frozen=True)
class SplitQueries:
    """Queries in the order in which they first appear, and the query of each row.

    The order makes a split depend on which rows belong together, not on what the ids look like.
    """

    codes: Array
    sizes: Array
    labels: Array | None

    def __len__(self) -> int:
        return len(self.sizes)

    def rows(self, queries: Array) -> Array:
        """Sorted row indices of some queries."""
        chosen = np.zeros(len(self), dtype=bool)
        chosen[queries] = True
        return np.flatnonzero(chosen[self.codes])

    def relevant(self) -> Array:
        """Number of documents of each query with a label above the smallest one."""
        if self.labels is None:
            return np.zeros(len(self), dtype=np.intp)
        relevant = np.flatnonzero(self.labels > self.labels.min())
        return np.bincount(self.codes[relevant], minlength=len(self))

    def counts(self) -> Array:
        """Rows, queries and relevant documents that each query brings."""
        return np.column_stack((self.sizes, np.ones_like(self.sizes), self.relevant()))

    def contrast(self) -> Array:
        """Whether the documents of each query have different labels."""
        if self.labels is None:
            raise ValueError(
                "contrast_only=True needs y, to see in which queries all labels are equal."
            )
        lowest, highest = np.full(len(self), np.inf), np.full(len(self), -np.inf)
        np.minimum.at(lowest, self.codes, self.labels)
        np.maximum.at(highest, self.codes, self.labels)
        return np.asarray(highest > lowest)


def read_split_queries(
    X: Any,
    y: Any,
    groups: Any,
    qid: Any = None,
    *,
    bound: Bound = None,
    who: str,
    also: str = "",
) -> SplitQueries:
    """Find the ids and number the queries."""
    ids = find_groups(X, y, groups=groups, qid=qid, bound=bound)
    if ids is None:
        raise missing_groups(who, also=also)
    check_consistent_length(X, y)
    return SplitQueries(*number_queries(ids, _num_samples(X)), _plain(y))


def _plain(y: Any) -> Array | None:
    """Labels as numbers; words by their sorted order."""
    if y is None:
        return None
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise ValueError(f"y must hold one label per document; got an array of {labels.shape}.")
    return labels if labels.dtype.kind in "biuf" else np.unique(labels, return_inverse=True)[1]


class QuerySplitter(BaseCrossValidator):
    """A splitter of whole queries: a subclass deals queries, this class finds ids and rows."""

    __metadata_request__split: ClassVar[dict[str, bool]] = {"groups": True, "qid": True}

    n_splits: int
    groups: Bound
    contrast_only: bool

    @abstractmethod
    def _deal(self, X: Any, queries: SplitQueries) -> Iterator[tuple[Array, Array]]:
        """Numbers of the queries to train and to test on."""

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
            Number of pairs that `split` generates.
        """
        return self.n_splits

    def split(
        self, X: Any, y: Any = None, groups: Any = None, *, qid: Any = None
    ) -> Iterator[tuple[Array, Array]]:
        """Generate row indices of training and test sets.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_documents, n_features)
            Documents.
        y : array-like of shape (n_documents,), default=None
            Relevance.
        groups, qid : array-like of shape (n_documents,), default=None
            Query ids of any hashable dtype, in any row order; `qid` comes before ids that travel
            with X or y, `groups` after them.

        Yields
        ------
        train, test : ndarray of int
            Sorted row indices.

        Raises
        ------
        NoGroupsError
            If no query ids came along.
        ValueError
            If there are too few queries, or with `contrast_only` none is left to test on.
        """
        who = type(self).__name__
        also = ", or as split(X, y, groups=ids)"
        queries = read_split_queries(X, y, groups, qid, bound=self.groups, who=who, also=also)
        contrast = queries.contrast() if self.contrast_only else None
        for train, test in self._deal(X, queries):
            tested = test if contrast is None else test[contrast[test]]
            if not len(tested):
                raise ValueError(
                    f"none of the {len(test)} queries of a test set has documents of different "
                    "labels. Use fewer splits, or contrast_only=False."
                )
            yield queries.rows(train), queries.rows(tested)
