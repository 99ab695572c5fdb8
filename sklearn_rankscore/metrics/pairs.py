"""Counts of pairs of documents, and ranks of tied labels."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import Array
from ..ranking import Block
from ..ranking.label_functions import linear
from ..ranking.ties import TieGroups

# entries that are merged at a time
PART = 2**14


def ranked_labels(block: Block, ties: Any) -> tuple[Array, Array, Array]:
    """Labels by rank, -inf where there is no document; offsets and sizes of tie groups."""
    block = block.complete()
    labels = block.by_rank(linear, ties)
    labels = np.where(block.ranks <= block.sizes[:, None], labels, -np.inf)
    offset, size = block.tie_groups()
    return labels, np.broadcast_to(offset, labels.shape), np.broadcast_to(size, labels.shape)


def number_of_pairs(n: Array) -> Array:
    """Pairs among n documents."""
    return np.asarray(n * (n - 1) / 2)


def tied_pairs(labels: Array, offset: Array) -> tuple[Array, Array]:
    """Pairs in each row of equal labels, and of equal labels and equal scores."""
    ascending = np.sort(labels, axis=1)
    equal_label = ascending[:, 1:] == ascending[:, :-1]
    equal_both = (labels[:, 1:] == labels[:, :-1]) & (offset[:, 1:] > 0)
    return _pairs_within(equal_label, ascending), _pairs_within(equal_both, labels)


def _pairs_within(equals_next: Array, labels: Array) -> Array:
    """Pairs within groups of equal neighbors; labels of -inf are no documents."""
    size = TieGroups(equals_next, labels.shape[1]).size()
    return np.asarray(((size - 1) / 2 * np.isfinite(labels)).sum(axis=1))


def average_ranks(labels: Array) -> Array:
    """Rank of each entry by descending label, equal labels sharing their mean rank."""
    order = np.argsort(-labels, axis=1, kind="stable")
    descending = np.take_along_axis(labels, order, axis=1)
    groups = TieGroups(descending[:, 1:] == descending[:, :-1], labels.shape[1])
    descending[:] = np.arange(1, labels.shape[1] + 1)
    by_position = groups.broadcast(groups.starts + (groups.sizes + 1) / 2, descending)
    del groups
    ranks = np.empty(labels.shape)
    np.put_along_axis(ranks, order, by_position, axis=1)
    return ranks


def inversions(labels: Array) -> Array:
    """Pairs in each row of which the later label is larger, counted by a merge sort."""
    n_rows, n_ranks = labels.shape
    width = 1 << (n_ranks - 1).bit_length()
    merged = np.full((n_rows, width), np.inf)
    merged[:, :n_ranks] = -labels
    counts = np.zeros(n_rows)
    half = 1
    while half < width:
        parts = merged.reshape(-1, 2 * half)
        rows = np.arange(len(parts)) // (width // (2 * half))
        count = _merge_halves if 2 * half <= PART else _merge_long_halves
        step = max(1, PART // (2 * half))
        for first in range(0, len(parts), step):
            chosen = slice(first, first + step)
            counts += np.bincount(rows[chosen], count(parts[chosen]), minlength=n_rows)
        half *= 2
    return counts


def _merge_halves(parts: Array) -> Array:
    """Sort rows of which both halves are sorted; returns the inversions of each."""
    half = parts.shape[1] // 2
    order = np.argsort(parts, axis=1, kind="stable")
    from_right = np.cumsum(order >= half, axis=1)
    parts[:] = np.take_along_axis(parts, order, axis=1)
    return np.asarray((from_right * (order < half)).sum(axis=1))


def _merge_long_halves(parts: Array) -> Array:
    """The same for one row, in less memory."""
    left, right = np.split(parts[0], 2)
    steps = range(0, len(right), PART)
    not_above = (np.searchsorted(left, right[i : i + PART], side="right").sum() for i in steps)
    count = len(left) * len(right) - sum(map(int, not_above))
    parts[0].sort(kind="stable")
    return np.array([count])
