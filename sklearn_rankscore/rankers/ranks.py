"""The rank of each document within its query."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._columns import as_numbers, descending
from .._typing import Array, QueryIds, Ties
from .._validation import check_choice, check_cutoff
from ..query_ids import group_rows
from ..ranking.ties import TIES


def rank_within_queries(scores: Any, ids: QueryIds, k: int | None, ties: Ties) -> Array:
    """Ranks from 1, in the order of the rows; NaN after rank `k`.

    Parameters
    ----------
    scores : array-like of shape (n_documents,)
        Scores; the highest has rank 1.
    ids : array-like of shape (n_documents,)
        Query ids.
    k : int or None
        Number of ranks.
    ties : str
        A tie rule of the metrics.
    """
    check_choice("ties", ties, TIES)
    k = check_cutoff(k)
    scores = as_numbers(scores, "the prediction")
    if scores.ndim == 2:
        raise ValueError(
            f"ranks need one score per document; the predictions have shape {scores.shape}."
        )
    codes = group_rows(ids, len(scores)).codes
    order = np.lexsort((descending(scores), codes))  # stable: equal scores in the order of the rows
    codes, scores = codes[order], scores[order]
    starts_query = np.append(True, codes[1:] != codes[:-1])
    starts_tie = starts_query | np.append(True, scores[1:] != scores[:-1])
    place = np.arange(len(order))
    place -= np.maximum.accumulate(np.where(starts_query, place, 0))
    by_rule = _apply(ties, place + 1, np.flatnonzero(starts_tie))
    ranks = np.empty(len(order), dtype=by_rule.dtype)
    ranks[order] = by_rule
    return ranks if k is None else np.where(ranks <= k, ranks, np.nan)


def _apply(ties: Ties, ranks: Array, starts: Array) -> Array:
    """Ranks under a tie rule, from those in input order and the starts of groups of equal scores.

    Without labels, the best that a tied document can hope for is the first rank of its group.
    """
    sizes = np.diff(starts, append=len(ranks))
    first = np.repeat(ranks[starts], sizes)
    last = first + np.repeat(sizes, sizes) - 1
    rules = {
        "stable": ranks,
        "reversed": first + last - ranks,
        "average": (first + last) / 2,
        "optimistic": first,
        "pessimistic": last,
    }
    return np.asarray(rules[ties])
