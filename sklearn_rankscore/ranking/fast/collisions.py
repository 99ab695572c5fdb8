"""Rows in which keys collide: ranked by longer keys, and where these collide by the scores."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from ..._typing import Array
from ..plain import stable_order
from ..ties import TiedRows
from .documents import Documents
from .keys import collides, label_mask, labels_of, pad_keys, write_exact_keys, write_keys

# documents per step: few enough that their scores stay in cache
STEP = 2**16

# up to this width 32 bits of the score, the position and the label fit into one integer
NARROW = 2**24


def resolve_collisions(
    documents: Documents,
    queries: Array,
    rows: Array,
    keys: Array,
    ranked: Array,
    *,
    is_sorted: bool,
) -> TiedRows | None:
    """Rank the rows of a block in which keys collide, and find the ties in them.

    Writes labels by rank into the given `rows` of `ranked`. `keys` are those of the whole block,
    and are read only if they are exact.
    """
    depth, width, mask = ranked.shape[1], keys.shape[1], label_mask(documents.n_grades)
    if documents.exact_keys:
        if not is_sorted or len(rows) < len(keys):
            keys = keys[rows]
        if not is_sorted:
            keys.sort(axis=1)
        equals_next = collides(keys, mask)
        in_input_order = partial(_in_input_order, documents, queries[rows], equals_next)
        return TiedRows(rows, labels_of(keys, mask), equals_next, depth, in_input_order)
    by_rank = np.empty((len(rows), width), dtype=np.uint8)
    equals_next = np.empty((len(rows), width - 1), dtype=bool)
    for part in _steps(len(rows), width):
        by_rank[part], equals_next[part] = _by_score_and_label(
            documents, queries[rows[part]], width
        )
    ranked[rows] = by_rank[:, :depth]
    tied = np.flatnonzero(equals_next[:, :depth].any(axis=1))
    if not len(tied):
        return None
    if len(tied) < len(rows):
        rows, by_rank, equals_next = rows[tied], by_rank[tied], equals_next[tied]
    in_input_order = partial(_in_input_order, documents, queries[rows], equals_next)
    return TiedRows(rows, by_rank, equals_next, depth, in_input_order)


def _steps(n_rows: int, width: int) -> Iterator[slice]:
    step = max(1, STEP // width)
    return (slice(start, start + step) for start in range(0, n_rows, step))


def equal_scores(scores: Array, sizes: Array) -> Array:
    """Whether the document at each rank and the next one have equal scores."""
    ascending = np.sort(scores, axis=1)
    equal = np.asarray(ascending[:, 1:] == ascending[:, :-1])[:, ::-1]
    shortest = int(sizes.min())
    if shortest < scores.shape[1]:
        columns = np.arange(shortest, scores.shape[1])
        equal[:, shortest - 1 :] &= columns < sizes[:, None]
    return equal


def _misranked(sorted_keys: Array, mask: int, equals_next: Array) -> Array:
    """Rows in which different scores collide."""
    return np.flatnonzero((collides(sorted_keys, mask) != equals_next).any(axis=1))


def _by_score_and_label(documents: Documents, queries: Array, width: int) -> tuple[Array, Array]:
    """Labels by descending score, those of equal scores in ascending order, and which are equal."""
    mask, sizes = label_mask(documents.n_grades), documents.sizes[queries]
    labels, scores = documents.rows(queries, width)
    keys = np.empty(scores.shape, dtype=np.int64)
    if write_exact_keys(keys, labels, scores, mask):
        pad_keys(keys, sizes, int(sizes.min()), mask)
        keys.sort(axis=1)
        return labels_of(keys, mask), collides(keys, mask)
    write_keys(keys, labels, scores, mask)
    equals_next = equal_scores(scores, sizes)
    by_rank, rows = _sorted_keys(keys, sizes, mask, equals_next)
    by_rank &= np.uint8(mask)
    if len(rows):
        labels, scores = labels[rows], scores[rows]
        # subtracting 1 turns padding, 0, into the highest byte
        ascending = np.argsort(labels - np.uint8(1), axis=1, kind="stable")
        labels, scores = (np.take_along_axis(a, ascending, axis=1) for a in (labels, scores))
        by_rank[rows] = np.take_along_axis(labels, stable_order(scores), axis=1)
    return by_rank, equals_next


def _in_input_order(documents: Documents, queries: Array, equals_next: Array) -> Array:
    """Labels by descending score, those of equal scores in input order."""
    width = equals_next.shape[1] + 1
    by_rank = np.empty((len(queries), width), dtype=np.uint8)
    for part in _steps(len(queries), width):
        labels, scores = documents.rows(queries[part], width)
        if width > NARROW:
            by_rank[part] = np.take_along_axis(labels, stable_order(scores), axis=1)
            continue
        single = np.empty(scores.shape, dtype=np.int32)
        write_keys(single, 0, scores, 0)
        keys = single.astype(np.int64)
        keys <<= 32
        keys |= np.arange(width) << 8
        keys |= labels
        by_rank[part], rows = _sorted_keys(
            keys, documents.sizes[queries[part]], 2**32 - 1, equals_next[part]
        )
        if len(rows):
            order = stable_order(scores[rows])
            by_rank[part][rows] = np.take_along_axis(labels[rows], order, axis=1)
    return by_rank


def _sorted_keys(keys: Array, sizes: Array, mask: int, equals_next: Array) -> tuple[Array, Array]:
    """The lowest bytes of sorted keys, and the rows in which different scores collide."""
    pad_keys(keys, sizes, int(sizes.min()), mask)
    keys.sort(axis=1)
    return keys.astype(np.uint8), _misranked(keys, mask, equals_next)
