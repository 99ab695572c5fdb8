"""The base class of all splitters: finds the query ids and keeps the rows of a query together."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import check_consistent_length

from .._columns import check_in_memory, refuse_masked
from .._sklearn_compat import num_samples
from .._typing import Array, IdSource, MatrixLike, QueryIds
from ..query_ids import Grouping, find_explicit_ids, group_rows, no_groups_error, with_query_ids
from ..query_ids.lookup import check_place, source_or_ids
from ..query_ids.read import which_missing

# indices of a training set and of a test set
Split: TypeAlias = tuple[NDArray[np.intp], NDArray[np.intp]]


class QuerySplitter(BaseCrossValidator):
    """Base class of splitters: subclasses assign queries, this class converts them to rows."""

    __metadata_request__split: ClassVar[dict[str, bool]] = {"groups": True, "qid": True}

    n_splits: int
    n_repeats: int = 1
    groups: IdSource
    skip_constant_queries: bool

    @abstractmethod
    def _assign(
        self, X: Any, queries: Grouping, labels: Array | None, skipped: Array
    ) -> Iterator[Split]:
        """The queries of each training and test set, numbered in the order of their first rows.

        `skipped` tells which queries will be excluded from the test sets.
        """

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
            Number of pairs of training and test set that `split` generates.
        """
        return self.n_splits * self.n_repeats

    def split(
        self,
        X: MatrixLike,
        y: ArrayLike | None = None,
        groups: QueryIds | IdSource = None,
        *,
        qid: QueryIds | None = None,
    ) -> Iterator[Split]:
        """Generate row indices of training and test sets.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_documents, n_features)
            Features.
        y : array-like of shape (n_documents,), default=None
            Relevance labels.
        groups : array-like of shape (n_documents,), str or list of str, default=None
            Hashable query ids in any row order, or where they are in X, as for the parameter
            `groups` of the splitter. They take precedence over `qid` and over ids in X or y; they
            may be coarser than these, but must not divide a query.
        qid : array-like of shape (n_documents,), default=None
            Query ids, which take precedence over ids in X or y.

        Yields
        ------
        train, test : ndarray of int
            Row indices in ascending order. They carry `groups` or `qid`, which the fits and
            scores of scikit-learn's cross-validation and searches read from them.

        Raises
        ------
        NoGroupsError
            If no query ids are given.
        TypeError
            If the parameter `groups` of the splitter holds ids instead of their place.
        ValueError
            If there are too few queries, if `groups` divides a query of X or y, or if
            `skip_constant_queries` leaves a test set empty.
        """
        check_in_memory(X, "X")
        if not num_samples(X):
            raise ValueError("X has no rows; a split needs at least two queries.")
        source, given = source_or_ids(groups, X)
        id_source = self.groups if source is None else source
        check_place(id_source)
        ids = find_explicit_ids(X, y, groups=given, qid=qid, id_source=id_source)
        if ids is None:
            raise no_groups_error(type(self).__name__, X=X)
        carried = ids if groups is not None and qid is None else qid
        check_consistent_length(X, y)
        labels = _numeric_labels(y)
        # in this order a split depends on which rows share an id, not on the values of the ids
        queries = group_rows(ids, num_samples(X)).by_appearance()
        skipped = self._skipped(queries, labels)
        for train, test in self._assign(X, queries, labels, skipped):
            tested = test[~skipped[test]]
            if not len(tested):
                raise ValueError(
                    f"none of the {len(test)} queries of a test set has documents of different "
                    "labels, so that no metric tells rankings apart; take larger test sets."
                )
            train, test = _rows_of(train, queries), _rows_of(tested, queries)
            if carried is not None:
                train, test = with_query_ids(train, carried), with_query_ids(test, carried)
            yield train, test

    def _skipped(self, queries: Grouping, labels: Array | None) -> Array:
        """Which queries are excluded from the test sets."""
        if not self.skip_constant_queries:
            return np.zeros(len(queries), dtype=bool)
        if labels is None:
            raise ValueError("skip_constant_queries=True needs y, the labels of the documents.")
        return ~queries.varies(labels)


def split_queries(splits: BaseCrossValidator, n_queries: int) -> Iterator[Split]:
    """The splits of a splitter of scikit-learn, to whose errors the queries are samples."""
    try:
        yield from splits.split(np.arange(n_queries))
    except ValueError as error:
        raise ValueError(str(error).replace("samples", "queries")) from None


def _rows_of(chosen: Array, queries: Grouping) -> Array:
    """Row indices of the chosen queries, in ascending order."""
    is_chosen = np.zeros(len(queries), dtype=bool)
    is_chosen[chosen] = True
    return np.flatnonzero(is_chosen[queries.codes])


def _numeric_labels(y: Any) -> Array | None:
    """Labels as numbers; strings by their position in sorted order, missing ones as NaN."""
    if y is None:
        return None
    refuse_masked(y, "y")
    labels = np.asarray(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels.ravel()  # as scikit-learn's stratified splitters do
    if labels.ndim != 1:
        raise ValueError(
            f"y must be one-dimensional, one label per document; got shape {labels.shape}."
        )
    if labels.dtype.kind in "biuf":
        return labels
    if labels.dtype.kind != "O":
        return np.unique(labels, return_inverse=True)[1]
    is_known = ~which_missing(labels)
    numbers = np.full(len(labels), np.nan)
    numbers[is_known] = np.unique(labels[is_known], return_inverse=True)[1]
    return numbers
