"""Rows in which keys collide: sorted again by longer keys, and if these collide by scores."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..._typing import Array
from ..ties import SHORT, ShortTiedRows, TiedRows
from .candidates import CollidingRows, RowsPart
from .documents import Documents, label_mask
from .keys import collides, labels_of
from .position_sort import first_in_input_order, sort_by_label
from .positions import Positions


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
    input order if not all are needed, and `first` the smallest ones of each row, sorted. The result
    is None if nothing is tied, or the input order decides.
    """
    width, depth, mask = keys.shape[1], ranked.shape[1], label_mask(documents.n_grades)
    tied_rows = ShortTiedRows if width <= SHORT else TiedRows
    first = first if len(rows) == len(first) else first[rows]

    def in_input_order(members: Array) -> Array:
        given, positions = documents.rows(members, width), Positions.up_to(width, mask, "stable")
        return first_in_input_order(*given, documents.sizes[members], width, positions)

    if first.shape[1] == width and documents.keys_tell_ties:
        window = first[:, : _window(first, depth, mask)]
        by_rank, equals_next = labels_of(window, mask), collides(window, mask)
        return tied_rows(rows, by_rank, equals_next, depth, lambda: in_input_order(queries[rows]))
    parts = CollidingRows(documents, queries[rows], rows, keys, depth).first_documents(first)
    if documents.input_order_decides:
        for part in parts:
            positions = Positions.up_to(part.width, mask, documents.ties)
            given = *part.read(), part.sizes, depth
            ranked[rows[part.rows]] = first_in_input_order(*given, positions)
        return None
    by_rank, equals_next = _sort_parts(parts, mask)
    ranked[rows] = by_rank[:, :depth]
    tied = np.flatnonzero(equals_next[:, :depth].any(axis=1))
    if not len(tied):
        return None
    if len(tied) < len(rows):
        rows, by_rank, equals_next = rows[tied], by_rank[tied], equals_next[tied]
    return tied_rows(rows, by_rank, equals_next, depth, lambda: in_input_order(queries[rows]))


def _window(ordered: Array, depth: int, mask: int) -> int:
    """A number of ranks that fully contain the tie groups of the first ones."""
    width: int = ordered.shape[1]
    window, highest = depth, ordered[:, depth - 1] | mask
    while window < width and (ordered[:, window] <= highest).any():
        window *= 2
    return min(window, width)


def _sort_parts(parts: Sequence[RowsPart], mask: int) -> tuple[Array, Array]:
    n_rows, width = sum(len(part.rows) for part in parts), max(part.width for part in parts)
    by_rank = np.zeros((n_rows, width), dtype=np.uint8)
    equals_next = np.zeros((n_rows, width - 1), dtype=bool)
    for part in parts:
        labels, equal = sort_by_label(*part.read(), part.sizes, mask)
        by_rank[part.rows, : part.width], equals_next[part.rows, : part.width - 1] = labels, equal
    return by_rank, equals_next
