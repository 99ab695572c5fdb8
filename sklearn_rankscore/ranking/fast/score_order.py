"""Rows ranked by their scores: where labels are no grades, and where keys collide."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ..._typing import Array
from ..plain import equal_to_next, order_of, stable_order
from ..ties import TieGroups, tie_groups
from .documents import Documents
from .grades import count_flags
from .keys import write_keys
from .row_sorts import smallest

# documents per step: few enough that their scores stay in cache, and enough that threads, which
# wait for Python's lock between operations, seldom wait
STEP = 2**19

# rows in which candidates for the first ranks are at most this share of the documents are ranked by
# these alone
FEW = 0.5


def sort_rows(labels: Array, scores: Array, sizes: Array) -> tuple[Array, Array]:
    """Labels by rank, equal scores in input order, and whether each score equals the next one."""
    keys, mask = column_keys(scores)
    order = smallest(keys, labels.shape[1])
    order &= mask  # in place, for the sake of queries of millions of documents
    ordered = at_columns(scores, order)
    misranked = np.flatnonzero((ordered[:, 1:] > ordered[:, :-1]).any(axis=1))
    if len(misranked):
        order[misranked] = again = stable_order(scores[misranked])
        ordered[misranked] = at_columns(scores[misranked], again)
    return at_columns(labels, order), equal_to_next(ordered, sizes)


def rank_again(
    documents: Documents,
    queries: Array,
    rows: Array,
    width: int,
    ranked: Array,
    candidates: Callable[[Array], Array] | None,
) -> TieGroups | None:
    """Rank the rows of a block in which keys collide, and find the ties in them.

    Writes labels by rank into the given `rows` of `ranked`. Of some of these rows, `candidates`
    tells which documents can be among the first ranks. The result is None if nothing is tied, or if
    the input order ranks what is.
    """
    depth = ranked.shape[1]
    parts = list(_sorted_parts(documents, queries, rows, width, depth, candidates))
    widest = max(by_rank.shape[1] for _, by_rank, _ in parts)
    # padded with a label that occurs, because a gain need not be defined for others
    by_rank = np.repeat(ranked[rows, :1], widest, axis=1)
    equals_next = np.zeros((len(rows), widest - 1), dtype=bool)
    for place, labels, equal in parts:
        by_rank[place, : labels.shape[1]], equals_next[place, : equal.shape[1]] = labels, equal
    ranked[rows] = by_rank[:, :depth]
    return ties_among(documents, rows, by_rank, equals_next, width, depth)


def ties_among(
    documents: Documents, rows: Array, by_rank: Array, equals_next: Array, width: int, depth: int
) -> TieGroups | None:
    """The ties in rows that `sort_rows` has sorted, unless the input order ranks what is tied."""
    if documents.input_order_decides:
        return None
    sort = _by_label if documents.n_grades else None
    return tie_groups(rows, by_rank, equals_next, depth, width, sort)


def _by_label(by_rank: Array, equals_next: Array) -> Array:
    """Grades by rank, those of equal scores in ascending order, as exact keys have them.

    The rounding of sums then does not depend on the kind of the keys.
    """
    keys = np.zeros(by_rank.shape, np.min_scalar_type(-(by_rank.shape[1] << 8)))
    np.cumsum(~equals_next, axis=1, out=keys[:, 1:])
    keys <<= 8
    keys |= by_rank
    keys.sort(axis=1)
    return keys.astype(np.uint8)


def _sorted_parts(
    documents: Documents,
    queries: Array,
    rows: Array,
    width: int,
    depth: int,
    candidates: Callable[[Array], Array] | None,
) -> Iterator[tuple[Array, Array, Array]]:
    """Some of the rows after the other: their positions among `rows`, and what `sort_rows` gives.

    Rows with few candidates are sorted without the other documents.
    """
    step = max(1, STEP // width)
    for first in range(0, len(rows), step):
        some = np.arange(first, min(first + step, len(rows)))
        if candidates is not None:
            is_candidate = candidates(rows[some])
            counts = count_flags(is_candidate).astype(np.intp)
            sizes = documents.sizes[queries[rows[some]]]
            few = (counts <= FEW * width) & (sizes >= depth)
            if few.any():
                chosen = is_candidate if few.all() else is_candidate[few]
                given = documents.some_of(queries[rows[some[few]]], chosen, counts[few])
                yield some[few], *sort_rows(*given, counts[few])
            some = some[~few]
        if len(some):
            members = queries[rows[some]]
            yield some, *sort_rows(*documents.rows(members, width), documents.sizes[members])


def column_keys(scores: Array) -> tuple[Array, int]:
    """Keys of rows that end in the column, and the mask of its bits."""
    mask = (1 << (scores.shape[1] - 1).bit_length()) - 1
    keys = np.empty(scores.shape, np.int64, order_of(scores.shape[1]))  # as sorts need them
    write_keys(keys, np.arange(scores.shape[1]), scores, mask)
    return keys, mask


def at_columns(rows: Array, columns: Array) -> Array:
    """Entries of each row, in the memory order of the columns."""
    starts = np.arange(0, rows.size, rows.shape[1])
    if columns.flags.fnc:  # stored by column
        return rows.take(columns.T + starts).T
    return rows.take(columns + starts[:, None])
