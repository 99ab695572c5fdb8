"""A single split of arrays into training and test part."""

from __future__ import annotations

from typing import Any

from sklearn.utils import indexable

from .._sklearn_compat import safe_indexing
from .._typing import IdSource, MatrixLike, QueryIds, RandomState
from ..query_ids import find_explicit_ids, no_groups_error
from ..query_ids.lookup import (
    QID,
    check_same_order,
    check_same_rows,
    fix_by_name,
    ids_in,
    source_or_ids,
)
from .shuffle_split import QueryShuffleSplit


def query_train_test_split(
    *arrays: MatrixLike,
    groups: IdSource | QueryIds = None,
    test_size: float | None = None,
    train_size: float | None = None,
    random_state: RandomState = None,
) -> list[Any]:
    """Split arrays into a training part and a test part of whole queries.

    Parameters
    ----------
    *arrays : array-likes, sparse matrices or DataFrames of the same length
        Arrays to split.
    groups : array-like of shape (n_documents,), str or list of str, default=None
        Hashable query ids in any row order, which must not divide a query of an array that has a
        column or index level ``qid``. Or where they are: the name of a column or index level of
        one of the arrays, several names. None means ``"qid"``.
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
        The training part and the test part of each array, of the type that was given;
        sparse matrices as CSR, and tuples as lists. The order of the rows is preserved.

    Raises
    ------
    NoGroupsError
        If no query ids are given.
    ValueError
        If the lengths differ, a size is out of range, or `groups` divides a query.

    See Also
    --------
    QueryShuffleSplit : Any number of such splits, as row indices.
    sklearn.model_selection.train_test_split : Splits rows, and thereby queries.

    Notes
    -----
    The parts depend on the order in which the queries first appear, not on their ids. Sort the rows
    by query id for the same test part of a table whose rows come in another order.

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
    arrays = indexable(*arrays)
    check_same_rows(**{f"arrays[{position}]": array for position, array in enumerate(arrays)})
    ids = _find_ids(arrays, groups)
    if test_size is None and train_size is None:
        test_size = 0.25
    splits = QueryShuffleSplit(
        1, test_size=test_size, train_size=train_size, random_state=random_state
    )
    ((train, test),) = splits.split(arrays[0], qid=ids)
    return [safe_indexing(array, rows) for array in arrays for rows in (train, test)]


def _find_ids(arrays: tuple[Any, ...], groups: Any) -> Any:
    """Query ids: `groups`, or those of the first array that has the column or index level."""
    source, given = source_or_ids(groups, *arrays)
    name = QID if source is None else source
    check_same_order(X=arrays[0], groups=given)
    table = next((array for array in arrays if ids_in(array, name) is not None), None)
    ids = find_explicit_ids(table, None, groups=given, id_source=None if table is None else name)
    if ids is None:
        named = () if source is not None else arrays
        fix = next((change for array in named if (change := fix_by_name(array))), None)
        fix = fix or f"no array has a column or index level {name!r}; pass them as groups=ids."
        raise no_groups_error("query_train_test_split", fix=fix)
    return ids
