"""Rows in which keys collide: ranked by longer keys, and where these collide by the scores."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..._typing import Array
from ..plain import stable_order
from ..ties import TiedRows
from .candidates import CollidingRows, RowsPart
from .documents import Documents
from .keys import collides, label_mask, labels_of, pad_keys, write_exact_keys, write_keys
from .row_sorts import SHORT, smallest
from .tie_columns import ShortTiedRows

# up to this width 32 bits of the score, the position and the label fit into one integer
NARROW = 2**24


def resolve_collisions(
    documents: Documents,
    queries: Array,
    rows: Array,
    keys: Array,
    first: Array,
    ranked: Array,
) -> TiedRows | None:
    """Rank the rows of a block in which keys collide, and find the ties in them.

    Writes labels by rank into the given `rows` of `ranked`. `keys` are those of the whole block, in
    input order if not all are needed, and `first` the smallest ones of each row, sorted.
    """
    depth, mask = ranked.shape[1], label_mask(documents.n_grades)
    tied_rows = ShortTiedRows if keys.shape[1] <= SHORT else TiedRows
    colliding = CollidingRows(documents, queries[rows], rows, keys, depth)
    first = first if len(rows) == len(first) else first[rows]
    last = first[:, depth - 1].copy()  # all that is needed later
    if documents.exact_keys:
        ordered = first if first.shape[1] == colliding.width else np.sort(keys[rows], axis=1)
        equals_next = collides(ordered, mask)

        def in_input_order() -> Array:
            parts = colliding.first_documents(last, equals_next[:, depth - 1 :])
            return _in_input_order(parts, equals_next)

        return tied_rows(rows, labels_of(ordered, mask), equals_next, depth, in_input_order)
    parts = colliding.first_documents(last, collides(first[:, depth - 1 :], mask))
    by_rank, equals_next = _by_score_and_label(parts, mask)
    ranked[rows] = by_rank[:, :depth]
    tied = np.flatnonzero(equals_next[:, :depth].any(axis=1))
    if not len(tied):
        return None
    in_input_order = lambda: _in_input_order(parts, equals_next)[tied]  # noqa: E731
    if len(tied) == len(rows):
        return tied_rows(rows, by_rank, equals_next, depth, in_input_order)
    return tied_rows(rows[tied], by_rank[tied], equals_next[tied], depth, in_input_order)


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


def _by_score_and_label(parts: Sequence[RowsPart], mask: int) -> tuple[Array, Array]:
    """Labels by descending score, those of equal scores in ascending order, and which are equal."""
    n_rows, width = sum(len(part.rows) for part in parts), max(part.width for part in parts)
    by_rank = np.zeros((n_rows, width), dtype=np.uint8)
    equals_next = np.zeros((n_rows, width - 1), dtype=bool)
    for part in parts:
        by_rank[part.rows, : part.width], equals_next[part.rows, : part.width - 1] = _rank_part(
            part, mask
        )
    return by_rank, equals_next


def _rank_part(part: RowsPart, mask: int) -> tuple[Array, Array]:
    labels, scores = part.read()
    keys = np.empty(scores.shape, dtype=np.int64)
    if write_exact_keys(keys, labels, scores, mask):
        pad_keys(keys, part.sizes, int(part.sizes.min()), mask)
        keys.sort(axis=1)
        return labels_of(keys, mask), collides(keys, mask)
    write_keys(keys, labels, scores, mask)
    equals_next = equal_scores(scores, part.sizes)
    by_rank, rows = _sorted_keys(keys, part.sizes, mask, equals_next)
    by_rank &= np.uint8(mask)
    if len(rows):
        labels, scores = labels[rows], scores[rows]
        # subtracting 1 turns padding, 0, into the highest byte
        ascending = np.argsort(labels - np.uint8(1), axis=1, kind="stable")
        labels, scores = (np.take_along_axis(a, ascending, axis=1) for a in (labels, scores))
        by_rank[rows] = np.take_along_axis(labels, stable_order(scores), axis=1)
    return by_rank, equals_next


def _in_input_order(parts: Sequence[RowsPart], equals_next: Array) -> Array:
    """Labels by descending score, those of equal scores in input order."""
    by_rank = np.zeros((len(equals_next), equals_next.shape[1] + 1), dtype=np.uint8)
    for part in parts:
        within = np.arange(1, part.width) < part.sizes[:, None]
        equal = equals_next[part.rows, : part.width - 1] & within
        by_rank[part.rows, : part.width] = _part_in_input_order(part, equal)
    return by_rank


def _part_in_input_order(part: RowsPart, equals_next: Array) -> Array:
    labels, scores = part.read()
    if part.width > NARROW:
        return np.take_along_axis(labels, stable_order(scores), axis=1)
    single = np.empty(scores.shape, dtype=np.int32)
    write_keys(single, 0, scores, 0)
    keys = single.astype(np.int64)
    keys <<= 32
    keys |= np.arange(part.width) << 8
    keys |= labels
    by_rank, rows = _sorted_keys(keys, part.sizes, 2**32 - 1, equals_next)
    if len(rows):
        by_rank[rows] = np.take_along_axis(labels[rows], stable_order(scores[rows]), axis=1)
    return by_rank


def _sorted_keys(keys: Array, sizes: Array, mask: int, equals_next: Array) -> tuple[Array, Array]:
    """The lowest bytes of sorted keys, and the rows in which different scores collide."""
    pad_keys(keys, sizes, int(sizes.min()), mask)
    keys = smallest(keys, keys.shape[1])
    return keys.astype(np.uint8), _misranked(keys, mask, equals_next)
