"""A single split of arrays into training and test part."""

from __future__ import annotations

from typing import Any

from sklearn.utils import check_consistent_length

from .._sklearn_compat import safe_indexing
from .._typing import MatrixLike, QueryIds, RandomState
from ..query_ids import no_groups_error
from ..query_ids.lookup import QID, column_or_level, source_or_ids
from .shuffle_split import QueryShuffleSplit


def query_train_test_split(
    *arrays: MatrixLike,
    groups: str | QueryIds | None = None,
    test_size: float | None = None,
    train_size: float | None = None,
    random_state: RandomState = None,
) -> list[Any]:
    """Split arrays into a training part and a test part of whole queries.

    Parameters
    ----------
    *arrays : array-likes, sparse matrices or DataFrames of the same length
        Arrays to split.
    groups : array-like of shape (n_documents,) or str, default=None
        Hashable query ids in any row order, or the name of a column or index level of one of the
        arrays. None means ``"qid"``.
    test_size : float or int, default=None
        Fraction or number of queries in the test part. None means the complement of `train_size`,
        or 0.25 if `train_size` is None as well.
    train_size : float or int, default=None
        Fraction or number of queries in the training part. None means the complement of
        `test_size`.
    random_state : int, RandomState instance or None, default=None
        Seed of the random choice.

    Returns
    -------
    list
        The training part and the test part of each array, of the type that was given. The order of
        the rows is preserved.

    Raises
    ------
    NoGroupsError
        If no query ids are given.
    ValueError
        If the lengths differ or a size is out of range.

    See Also
    --------
    QueryShuffleSplit : Any number of such splits, as row indices.
    sklearn.model_selection.train_test_split : Splits rows, and thereby queries.

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
        raise ValueError("query_train_test_split needs at least one array.")
    check_consistent_length(*arrays)
    id_source, ids = source_or_ids(groups)
    if ids is None:
        name = QID if id_source is None else str(id_source)
        candidates = [column_or_level(array, name) for array in arrays]
        ids = next((ids for ids in candidates if ids is not None), None)
        if ids is None:
            hint = f"; no array has a column or index level {name!r}"
            raise no_groups_error("query_train_test_split", hint=hint)
    if test_size is None and train_size is None:
        test_size = 0.25
    splits = QueryShuffleSplit(
        1, test_size=test_size, train_size=train_size, random_state=random_state
    )
    ((train, test),) = splits.split(arrays[0], qid=ids)
    return [safe_indexing(array, rows) for array in arrays for rows in (train, test)]
