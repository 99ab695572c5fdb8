"""What was predicted meets what is relevant: lists of items become documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..ranking.arrays import Array


@dataclass(frozen=True)
class Listed:
    """Items that queries list: positions of the queries, codes of the items, grades or scores."""

    query: Array
    item: Array
    value: Array


def merge(ids: Array, actual: Listed, predicted: Listed) -> dict[str, Any]:
    """Give each predicted item its grade and add the relevant items that were never predicted.

    `predicted` comes query by query. An item predicted twice has its grade at the first place
    and 0 at the later ones.
    """
    span = 1 + max(int(listed.item.max(initial=0)) for listed in (actual, predicted))
    wanted, rows = np.unique(actual.query * span + actual.item, return_index=True)
    grades = actual.value[rows]
    keys = predicted.query * span
    keys += predicted.item
    place = np.searchsorted(wanted, keys)
    at = np.flatnonzero(np.append(wanted, -1)[place] == keys)
    found, first = np.unique(place[at], return_index=True)
    labels = np.zeros(len(keys), dtype=grades.dtype)
    labels[at[first]] = grades[found]
    missed = np.ones(len(wanted), dtype=bool)
    missed[found] = False
    return flatten(
        ids, predicted.query, labels, predicted.value, wanted[missed] // span, grades[missed]
    )


def flatten(
    ids: Array, query: Array, label: Array, score: Array, missed_query: Any, missed_label: Any
) -> dict[str, Any]:
    """Arguments of a metric: each query's predicted documents, then its missed ones.

    A query without any document gets one that is neither relevant nor retrieved, so that it counts.
    """
    sizes = np.bincount(query, minlength=len(ids))
    missed_sizes = np.bincount(missed_query, minlength=len(ids))
    bare = np.flatnonzero(sizes + missed_sizes == 0)
    extra_query = np.append(missed_query, bare).astype(np.intp)
    order = np.argsort(extra_query, kind="stable")
    # each goes behind the predicted documents of its query and the extra ones before it
    extra = np.cumsum(sizes)[extra_query[order]] + np.arange(len(order))
    retrieved = np.ones(len(query) + len(extra), dtype=bool)
    retrieved[extra] = False
    y_true = np.zeros(len(retrieved), dtype=label.dtype)
    y_true[retrieved] = label
    y_true[extra] = np.append(missed_label, np.zeros(len(bare), dtype=label.dtype))[order]
    y_score = np.full(len(retrieved), -np.inf, dtype=score.dtype)
    y_score[retrieved] = score
    missed_sizes[bare] = 1
    return {"y_true": y_true, "y_score": y_score, "groups": np.repeat(ids, sizes + missed_sizes)}


def places(sizes: Array) -> Array:
    """0, 1, 2, … within each of consecutive lists."""
    return np.asarray(np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes))
