"""Counts of pairs of documents, and ranks of tied labels."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import Array
from ..ranking import Block
from ..ranking.label_functions import linear
from ..ranking.ties import TieGroups


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
    ranks = np.empty(labels.shape)
    by_position = np.arange(1, labels.shape[1] + 1) - groups.offset() + (groups.size() - 1) / 2
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
        halves = merged.reshape(n_rows, -1, 2 * half)
        order = np.argsort(halves, axis=2, kind="stable")
        from_right = np.cumsum(order >= half, axis=2)
        counts += (from_right * (order < half)).sum(axis=(1, 2))
        merged = np.take_along_axis(halves, order, axis=2).reshape(n_rows, width)
        half *= 2
    return counts
