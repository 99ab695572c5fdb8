"""Rows in which keys collide: ranked by longer keys, and where these collide by the scores."""

from __future__ import annotations

import numpy as np

from ..._typing import Array
from ..plain import stable_order, tie_window
from ..ties import TiedRows, TieGroups
from .documents import Documents
from .keys import collides, label_mask, labels_of, pad_keys, write_keys


def resolve_collisions(
    documents: Documents,
    width: int,
    queries: Array,
    rows: Array,
    ranked: Array,
    sorted_keys: Array | None,
) -> TiedRows | None:
    """Rank the rows of a block in which keys collide, and find the ties in them.

    Writes labels by rank into the given `rows` of `ranked`. `sorted_keys` are all keys of the
    block, sorted, if they have 64 bits.
    """
    depth, mask = ranked.shape[1], label_mask(documents.n_grades)
    labels, scores = documents.rows(queries[rows], width)
    sizes = documents.sizes[queries[rows]]
    if sorted_keys is None:
        keys = np.empty(scores.shape, dtype=np.int64)
        write_keys(keys, labels, scores, mask)
        pad_keys(keys, sizes, int(sizes.min()), mask)
        keys.sort(axis=1)
    else:
        keys = sorted_keys[rows] if len(rows) < len(sorted_keys) else sorted_keys
    by_rank, equals_next = labels_of(keys, mask), equal_scores(scores, sizes)
    misranked = np.flatnonzero(equals_next.sum(axis=1) != collides(keys, mask).sum(axis=1))
    del keys  # perhaps of millions of documents
    if len(misranked):
        by_rank[misranked] = _by_score_and_label(labels[misranked], scores[misranked])
    ranked[rows] = by_rank[:, :depth]
    tied = np.flatnonzero(equals_next[:, :depth].any(axis=1))
    if not len(tied):
        return None
    if len(tied) < len(rows):
        rows, labels, scores = rows[tied], labels[tied], scores[tied]
        equals_next, by_rank = equals_next[tied], by_rank[tied]
    window = tie_window(equals_next, depth)
    tie_groups = TieGroups(equals_next[:, : window - 1])
    return TiedRows(rows, by_rank[:, :window], tie_groups, lambda: _in_input_order(labels, scores))


def equal_scores(scores: Array, sizes: Array) -> Array:
    """Whether the document at each rank and the next one have equal scores."""
    ordered = np.subtract(0.0, scores)
    ordered.sort(axis=1)
    equal = np.asarray(ordered[:, 1:] == ordered[:, :-1])
    if sizes.min() < ordered.shape[1]:
        equal &= np.arange(1, ordered.shape[1]) < sizes[:, None]
    return equal


def quick_order(scores: Array, sizes: Array) -> Array:
    """What `stable_order` returns, by a faster sort that is repeated where scores are equal.

    Documents that were not retrieved tie with padding, and must precede it.
    """
    descending = np.subtract(0.0, scores)
    order = np.argsort(descending, axis=1)
    ordered = np.take_along_axis(descending, order, axis=1)
    both_documents = np.arange(1, scores.shape[1]) < sizes[:, None]
    tied = ((ordered[:, 1:] == ordered[:, :-1]) & both_documents).any(axis=1)
    tied |= ordered[np.arange(len(sizes)), sizes - 1] == np.inf
    if tied.any():
        order[tied] = stable_order(scores[tied])
    return order


def _in_input_order(labels: Array, scores: Array) -> Array:
    """Labels by descending score, those of equal scores in input order."""
    return np.take_along_axis(labels, stable_order(scores), axis=1)


def _by_score_and_label(labels: Array, scores: Array) -> Array:
    """Labels by descending score, those of equal scores ascending, as in sorted keys."""
    # subtracting 1 turns padding, 0, into the highest byte
    ascending = np.argsort(labels - np.uint8(1), axis=1, kind="stable")
    return _in_input_order(
        np.take_along_axis(labels, ascending, axis=1), np.take_along_axis(scores, ascending, axis=1)
    )
