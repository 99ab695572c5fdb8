"""The plain path: sorts of whole scores, wherever keys do not tell documents apart."""

from __future__ import annotations

import numpy as np

from .arrays import Array
from .block import TiedRows
from .ties import Runs


def rank_by_score(
    labels: Array, scores: Array, sizes: Array, depth: int
) -> tuple[Array, TiedRows | None]:
    """Labels by rank, for labels that are no small grades and go along by a gather."""
    descending = np.subtract(0.0, scores)
    order = np.argsort(descending, axis=1)
    ordered = np.take_along_axis(descending, order, axis=1)
    same = equal_neighbours(ordered, sizes)
    ranked = np.take_along_axis(labels, order[:, :depth], axis=1)
    # documents that were not retrieved must come before the padding, which ties with them
    rows = np.flatnonzero(same[:, :depth].any(axis=1) | (ordered == np.inf).any(axis=1))
    if not len(rows):
        return ranked, None
    tied = in_input_order(labels[rows], scores[rows])
    ranked[rows] = tied[:, :depth]
    reach = reach_of_runs(same[rows], depth)
    runs = Runs(same[rows, : reach - 1])
    return ranked, TiedRows(rows, tied[:, :reach], runs, lambda: tied)


def in_input_order(labels: Array, scores: Array) -> Array:
    """Labels by descending score, those of equal scores in input order."""
    order = np.argsort(np.subtract(0.0, scores), axis=1, kind="stable")
    return np.take_along_axis(labels, order, axis=1)


def equal_neighbours(ordered: Array, sizes: Array) -> Array:
    """Whether each sorted score equals the next one, both of them documents."""
    same = np.asarray(ordered[:, 1:] == ordered[:, :-1])
    if sizes.min() < ordered.shape[1]:
        same &= np.arange(1, ordered.shape[1]) < sizes[:, None]
    return same


def reach_of_runs(same: Array, depth: int) -> int:
    """How many places a row must show so that no run that begins within the depth is cut."""
    beyond = same[:, depth - 1 :]
    if not beyond.size or not beyond[:, 0].any():
        return depth
    return depth + int(np.where(beyond.all(axis=1), beyond.shape[1], beyond.argmin(axis=1)).max())
