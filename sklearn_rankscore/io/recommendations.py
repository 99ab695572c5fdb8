"""Recommended item numbers against a sparse matrix of relevance."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from ..ranking.arrays import Array, as_numbers
from .documents import Listed, merge

PAD = -1


def from_recommendations(interactions: Any, recommended: Any, scores: Any = None) -> dict[str, Any]:
    """Arguments of a metric from a user-item matrix and recommended items.

    Parameters
    ----------
    interactions : sparse matrix or array of shape (n_users, n_items)
        Relevance of each item to each user; what is not stored has relevance 0.
    recommended : int array of shape (n_users, n_recommendations)
        Column numbers of the items recommended to the user of each row, from best to worst, as
        `implicit`, LightFM or a nearest-neighbour index return them; -1 is no recommendation.
    scores : array of shape (n_users, n_recommendations), default=None
        Scores of the recommendations, higher is ranked first, whatever the columns' order; equal
        ones are tied. None ranks them by their column.

    Returns
    -------
    dict
        ``y_true``, ``y_score`` and ``groups``, arrays of shape (n_documents,), to be passed on as
        ``recall_at_k(**from_recommendations(interactions, recommended), k=10)``. The query ids
        are the row numbers of the users.

    Raises
    ------
    ValueError
        If the numbers of users or the shapes differ, or an item number is not a column.
    TypeError
        If the item numbers are no integers.

    See Also
    --------
    from_ranked_lists : The same for lists of items of any kind.

    Notes
    -----
    Relevant items that were not recommended count in recall, in average precision and in the ideal
    order, with score -inf. An item recommended twice counts at its first place and still takes up
    the later one. For some users only, pass their rows: ``interactions[users]``.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from sklearn_rankscore import from_recommendations, recall_at_k
    >>> interactions = csr_array([[1, 0, 0, 1], [0, 1, 0, 0]])
    >>> recommended = [[0, 2], [1, -1]]
    >>> recall_at_k(**from_recommendations(interactions, recommended), k=2)
    0.75
    """
    relevance = _relevance(interactions)
    items = _items(recommended, relevance.shape)
    if scores is None:
        values = np.broadcast_to(-np.arange(items.shape[1], dtype=np.float32), items.shape)
    else:
        items, values = _by_score(items, scores)
    kept = items != PAD
    users = np.arange(len(items))
    rows = np.repeat(users, np.diff(relevance.indptr))
    return merge(
        users,
        Listed(rows, relevance.indices.astype(np.int64), relevance.data),
        Listed(np.repeat(users, kept.sum(axis=1)), items[kept].astype(np.int64), values[kept]),
    )


def _relevance(interactions: Any) -> csr_array:
    """Rows of distinct, sorted columns without stored zeros, the caller's matrix untouched."""
    if getattr(interactions, "ndim", 2) != 2:
        raise ValueError(
            "interactions must have one row per user and one column per item; got shape "
            f"{interactions.shape}."
        )
    relevance = csr_array(interactions)
    if not relevance.has_canonical_format or (relevance.data == 0).any():
        relevance = relevance.copy()
        relevance.sum_duplicates()
        relevance.eliminate_zeros()
    if relevance.nnz:
        as_numbers(relevance.data, "interactions")
    return relevance


def _items(recommended: Any, shape: tuple[int, ...]) -> Array:
    items = np.asarray(recommended)
    n_users, n_items = shape
    if items.ndim != 2 or len(items) != n_users or not items.size:
        raise ValueError(
            "recommended must have one row per user and one column per recommendation: "
            f"interactions has {n_users} users, recommended has shape {items.shape}."
        )
    if items.dtype.kind not in "iu":
        raise TypeError(
            "recommended must hold integers, the column numbers of items in interactions; got "
            f"{items.dtype}."
        )
    if items.min() < PAD or items.max() >= n_items:
        raise ValueError(
            f"recommended must hold column numbers of interactions, 0 to {n_items - 1}, or -1 for "
            f"no recommendation; got values from {items.min()} to {items.max()}."
        )
    return items


def _by_score(items: Array, scores: Any) -> tuple[Array, Array]:
    """Items and scores from best to worst: an item's first place is that of its best score."""
    values = as_numbers(scores, "scores")
    if values.shape != items.shape:
        raise ValueError(f"scores has shape {values.shape}, recommended has shape {items.shape}.")
    values = values.astype(np.result_type(values, np.float32), copy=False)
    if (values[:, 1:] <= values[:, :-1]).all():
        return items, values
    order = np.argsort(-values, axis=1, kind="stable")
    return np.take_along_axis(items, order, axis=1), np.take_along_axis(values, order, axis=1)
