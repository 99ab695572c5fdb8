"""Sort rows by keys that hold positions, and by whole scores."""

from __future__ import annotations

import numpy as np

from ..._typing import Array
from .documents import Documents
from .exact_keys import write_exact_keys
from .keys import collides, labels_of, pad_keys, write_keys
from .positions import Positions
from .row_sorts import smallest


def first_in_input_order(
    labels: Array, scores: Array, sizes: Array, depth: int, positions: Positions
) -> Array:
    """Labels by rank up to the depth, equal scores in the order that the positions have."""
    keys = np.empty(scores.shape, dtype=np.int64)
    given, below = (keys, labels, scores), positions.below
    exact = write_exact_keys(*given, below) or write_keys(*given, below)
    positions.write(keys)
    pad_keys(keys, sizes, int(sizes.min()), below)
    needs_all = exact or depth == scores.shape[1]
    first = smallest(keys, depth, overwrite=needs_all)[:, :depth]
    by_rank = labels_of(first, positions.mask)
    if exact:
        return by_rank
    # clipped, because padding may have the position of no column
    places = positions.read(first) + np.arange(0, scores.size, scores.shape[1])[:, None]
    ranked_scores = scores.take(places, mode="clip")
    misranked = _ascend(ranked_scores, sizes)
    if not needs_all:  # others may have a key with the high bits of the last one
        beyond = (keys | below) == (first[:, -1:] | below)
        beyond &= scores > ranked_scores[:, -1:]
        misranked |= beyond.any(axis=1)
    rows = np.flatnonzero(misranked)
    if len(rows):
        again, _ = _sort_whole_scores(labels[rows], scores[rows], sizes[rows], positions)
        by_rank[rows] = again[:, :depth]
    return by_rank


def sort_misranked(
    documents: Documents, positions: Positions, queries: Array, ordered: Array, ranked: Array
) -> None:
    """Sort the rows again in which keys do not tell different scores apart.

    `ordered` are sorted keys with positions. Writes labels by rank into rows of `ranked`.
    """
    sizes, starts, depth = documents.sizes[queries], documents.starts[queries], ranked.shape[1]
    # by column, because short rows are stored so
    ranks = ordered.T[:depth]
    scores = documents.scores.take(positions.read(ranks) + starts, mode="clip").T
    misranked = _ascend(scores, sizes)
    beyond = np.flatnonzero(ordered[:, depth:] <= (ordered[:, depth - 1, None] | positions.below))
    rows, ranks = np.divmod(beyond, ordered.shape[1] - depth)
    others = documents.scores[starts[rows] + positions.read(ordered[rows, depth + ranks])]
    misranked[rows[others > scores[rows, -1]]] = True
    rows = np.flatnonzero(misranked)
    if len(rows):
        labels, scores = documents.rows(queries[rows], ordered.shape[1])
        by_rank, _ = _sort_whole_scores(labels, scores, sizes[rows], positions)
        ranked[rows] = by_rank[:, :depth]


def _ascend(scores: Array, sizes: Array) -> Array:
    """Rows in which a score is below the next one, before the end of the query."""
    ascends = np.asarray(scores[:, 1:] > scores[:, :-1])
    if sizes.min() < scores.shape[1]:
        ascends &= np.arange(1, scores.shape[1]) < sizes[:, None]
    return np.asarray(ascends.any(axis=1))


def sort_by_label(labels: Array, scores: Array, sizes: Array, mask: int) -> tuple[Array, Array]:
    """Labels by rank, and whether the score at each rank equals the next one.

    Equal scores are ranked by ascending label. `mask` is that of the labels in a key.
    """
    keys = np.empty(scores.shape, dtype=np.int64)
    if write_exact_keys(keys, labels, scores, mask):
        pad_keys(keys, sizes, int(sizes.min()), mask)
        ordered = smallest(keys, scores.shape[1])
        return labels_of(ordered, mask), collides(ordered, mask)
    positions = Positions.up_to(scores.shape[1], mask, "average")
    return _sort_whole_scores(labels, scores, sizes, positions)


def _sort_whole_scores(
    labels: Array, scores: Array, sizes: Array, positions: Positions
) -> tuple[Array, Array]:
    """The same for any scores: a sort by their low bits, and a stable one by their high bits.

    Both sort integers, which takes a fraction of the time of a stable sort of the scores.
    """
    whole = np.empty(scores.shape, dtype=np.int64)
    write_keys(whole, 0, scores, 0)
    within = np.arange(scores.shape[1]) < sizes[:, None]
    whole[~within] = np.iinfo(np.int64).max
    n_below = positions.below.bit_length()
    n_low = 63 - n_below
    keys = (whole & ((1 << n_low) - 1)) << n_below
    keys |= positions.shifted(labels)
    positions.write(keys)
    columns = positions.read(smallest(keys, keys.shape[1]))
    keys = np.take_along_axis(whole, columns, axis=1) >> n_low
    keys <<= positions.n_bits
    keys |= np.arange(scores.shape[1])
    order = smallest(keys, keys.shape[1]) & ((1 << positions.n_bits) - 1)
    columns = np.take_along_axis(columns, order, axis=1)
    ordered = np.take_along_axis(whole, columns, axis=1)
    equals_next = (ordered[:, 1:] == ordered[:, :-1]) & within[:, 1:]
    return np.take_along_axis(labels, columns, axis=1), equals_next
