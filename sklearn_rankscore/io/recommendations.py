"""Recommended item numbers against a sparse matrix of relevance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args, overload

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array

from .._columns import as_column, as_numbers, check_range
from .._typing import Array, MatrixLike, UnjudgedDocuments
from .._validation import check_choice, check_system_names
from ..query_ids.read import any_missing
from .entries import is_items_and_scores
from .join import ItemLists, MetricArguments, SystemArguments, join

NO_ITEM = -1


@overload
def from_recommendations(
    interactions: MatrixLike,
    recommended: Mapping[str, ArrayLike],
    scores: Mapping[str, ArrayLike] | None = None,
    *,
    unjudged: UnjudgedDocuments = ...,
) -> SystemArguments: ...
@overload
def from_recommendations(
    interactions: MatrixLike,
    recommended: ArrayLike,
    scores: ArrayLike | None = None,
    *,
    unjudged: UnjudgedDocuments = ...,
) -> MetricArguments: ...
def from_recommendations(
    interactions: MatrixLike,
    recommended: Any,
    scores: Any = None,
    *,
    unjudged: UnjudgedDocuments = "irrelevant",
) -> Any:
    """Build the arguments of a metric from a user-item matrix and recommended items.

    Parameters
    ----------
    interactions : sparse matrix or array of shape (n_users, n_items)
        Relevance of each item to each user.
    recommended : int array of shape (n_users, n_recommendations)
        Column numbers of the items recommended to each user, best first, as returned by
        `implicit`, LightFM or a nearest-neighbor index; -1 means no recommendation. Several
        systems are given as a dict of such arrays by name.
    scores : array of shape (n_users, n_recommendations), default=None
        Scores of the recommendations. Higher ranks first, and equal scores are ties; the order of
        the columns is not used. None ranks by column. With several systems, a dict with the same
        names.
    unjudged : {"irrelevant", "drop", "nan"}, default="irrelevant"
        What metrics do with recommended items without an entry, whose label is NaN because nobody
        judged them: give them the label 0, remove them, or leave it to the option `unjudged` of the
        metric. A stored 0 is a judgment, but no entry with "irrelevant". See :doc:`/guide/labels`.

    Returns
    -------
    dict
        ``y_true``, ``y_score`` and ``groups``, arrays of shape (n_documents,), and ``unjudged``
        unless it is "nan", to be passed on as
        ``recall_at_k(**from_recommendations(interactions, recommended), k=10)``. The query ids
        are the row numbers of the users. With several systems, ``y_score`` is a dict of arrays.

    Raises
    ------
    ValueError
        If the numbers of users or the shapes differ, or an item number is not a column of
        `interactions`.
    TypeError
        If the item numbers are not integers.

    Warns
    -----
    UserWarning
        If none of ten or more items that a system retrieved has a relevance for any query.

    See Also
    --------
    from_ranked_lists : From lists of items of any type.

    Notes
    -----
    Relevant items that were not recommended count in recall, in average precision and in the ideal
    ranking, with score -inf. If an item is recommended more than once, only its best position is
    relevant; each other one keeps its rank as an irrelevant document. To evaluate some users only,
    pass their rows: ``interactions[users]``.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from sklearn_rankscore import from_recommendations, recall_at_k
    >>> interactions = csr_array([[1, 0, 0, 1], [0, 1, 0, 0]])
    >>> recommended = [[0, 2], [1, -1]]
    >>> recall_at_k(**from_recommendations(interactions, recommended), k=2)
    0.75
    """
    check_choice("unjudged", unjudged, get_args(UnjudgedDocuments))
    relevance = _relevance(interactions, zeros_are_judged=unjudged != "irrelevant")
    users = np.arange(relevance.shape[0])
    rows = np.repeat(users, np.diff(relevance.indptr))
    relevant = ItemLists(rows, relevance.indices.astype(np.int64), relevance.data)
    items = range(relevance.shape[1])
    if not isinstance(recommended, Mapping):
        predicted = _predicted(recommended, scores, relevance.shape)
        return join(users, relevant, predicted, unjudged, items)
    check_system_names("recommended", recommended)
    scores = dict.fromkeys(recommended) if scores is None else scores
    if not isinstance(scores, Mapping) or scores.keys() != recommended.keys():
        raise TypeError(
            "with a dict of systems, recommended and scores must be dicts with the same names; got "
            f"{list(recommended)} and {list(scores) if isinstance(scores, Mapping) else scores!r}."
        )
    systems = {
        name: _predicted(of_system, scores[name], relevance.shape)
        for name, of_system in recommended.items()
    }
    return join(users, relevant, systems, unjudged, items)


def _predicted(recommended: ArrayLike, scores: ArrayLike | None, shape: Any) -> ItemLists:
    """The items recommended to each user, best first."""
    items = _items(recommended, shape)
    if scores is None:
        values: Array = np.broadcast_to(-np.arange(items.shape[1], dtype=np.float32), items.shape)
    else:
        items, values = _best_first(items, scores)
    given = items != NO_ITEM
    rows = np.repeat(np.arange(len(items)), given.sum(axis=1))
    return ItemLists(rows, items[given].astype(np.int64), values[given])


def _relevance(interactions: Any, *, zeros_are_judged: bool) -> csr_array:
    """The relevance in canonical format; the input is not changed."""
    if getattr(interactions, "ndim", 2) != 2:
        raise ValueError(
            "interactions must have one row per user and one column per item; got shape "
            f"{interactions.shape}."
        )
    relevance = _sparse(interactions)
    has_zeros = not zeros_are_judged and bool((relevance.data == 0).any())
    if not relevance.has_canonical_format or has_zeros:
        relevance = relevance.copy()
        relevance.sum_duplicates()
        if not zeros_are_judged:
            relevance.eliminate_zeros()
    if relevance.nnz:
        as_numbers(relevance.data, "interactions")
    return relevance


def _sparse(interactions: Any) -> csr_array:
    """The matrix, of whatever holds one."""
    try:
        dense = None if hasattr(interactions, "tocsr") else np.asarray(interactions)
        if dense is not None and dense.dtype.kind == "O":  # numbers that may be missing in pandas
            dense = dense.astype(np.float64)
        if dense is not None and (dense.ndim != 2 or dense.dtype.kind not in "biuf"):
            raise ValueError(f"an array of {dense.dtype} with {dense.ndim} dimensions")
        return csr_array(interactions if dense is None else dense)
    except (TypeError, ValueError) as error:
        raise TypeError(
            "interactions must be a sparse matrix or a two-dimensional array of numbers, with one "
            f"row per user and one column per item; got {type(interactions).__name__} ({error}). "
            "Missing numbers are filled with 0."
        ) from error


def _items(recommended: ArrayLike, shape: Any) -> Array:
    if is_items_and_scores(recommended):
        raise TypeError(
            "recommended is a tuple of item numbers and scores, as returned by implicit. Pass them "
            "as two arguments, from_recommendations(interactions, *model.recommend(...)); with "
            "several systems, as two dicts."
        )
    if hasattr(recommended, "tocsr"):
        raise TypeError(
            "recommended must hold the column numbers of items, one row per user; got a sparse "
            "matrix. Write from_recommendations(interactions, recommended), in this order."
        )
    try:
        items = _as_integers(np.asarray(recommended))
    except ValueError as error:
        raise ValueError(
            "recommended is ragged: its rows have different lengths. Fill them with -1 at the end, "
            "or use from_ranked_lists."
        ) from error
    n_users, n_items = shape
    if items.ndim != 2 or len(items) != n_users or not items.size:
        raise ValueError(
            "recommended must have one row per user and one column per recommendation; "
            f"interactions has {n_users} users, recommended has shape {items.shape}."
            f"{_rows_of_some_users(items)}"
        )
    if items.dtype.kind not in "iu":
        raise TypeError(
            "recommended must hold integers, the column numbers of items in interactions; got "
            f"{items.dtype}.{_to_integers(items, n_items)}"
        )
    if items.min() < NO_ITEM or items.max() >= n_items:
        raise ValueError(
            f"recommended must hold column numbers of interactions, 0 to {n_items - 1}, or -1 for "
            f"no recommendation; got values from {items.min()} to {items.max()}."
        )
    return items


def _as_integers(items: Array) -> Array:
    """Objects that are all integers, as those of pandas' nullable types, as such an array."""
    are_integers = items.dtype.kind == "O" and set(map(type, items.ravel().tolist())) == {int}
    return items.astype(np.int64) if are_integers else items


def _rows_of_some_users(items: Array) -> str:
    """How to select the rows of the users with recommendations."""
    if not items.size or items.ndim > 2:
        return ""
    if items.ndim == 1:
        return " Of one user, pass interactions[[user]] and [recommended]."
    return " Of some users only, pass their rows, interactions[users]."


def _to_integers(items: Array, n_items: int) -> str:
    """How to obtain column numbers from scores, numbers with NaN, or ids."""
    if any_missing(items.ravel().tolist()):
        return " Fill missing numbers with -1, and convert them by astype(int)."
    if items.dtype.kind != "f":
        return " Lists of the ids of items are passed to from_ranked_lists."
    rounded = np.nan_to_num(items)
    if (rounded == np.floor(rounded)).all():
        return " Fill missing numbers with -1, and convert them by astype(int)."
    if items.shape[1] == n_items:
        return " Of a score for each item, pass evaluate(interactions.toarray(), scores, metrics)."
    return ""


def _best_first(items: Array, scores: ArrayLike) -> tuple[Array, Array]:
    """Items and scores by descending score, so that an item occurs first with its best score."""
    values = as_column(scores, "scores")
    if values.shape != items.shape:
        raise ValueError(f"scores has shape {values.shape}, recommended has shape {items.shape}.")
    if values.dtype.kind == "f":  # without an item, a score may be missing
        values = np.where(items == NO_ITEM, values.dtype.type(-np.inf), values)
    check_range(values, scores, "scores")
    values = values.astype(np.result_type(values, np.float32), copy=False)
    if (values[:, 1:] <= values[:, :-1]).all():
        return items, values
    order = np.argsort(-values, axis=1, kind="stable")
    return np.take_along_axis(items, order, axis=1), np.take_along_axis(values, order, axis=1)
