"""The only door in: labels, scores, query ids and weights become queries."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from .arrays import Array, as_column, as_numbers, graded, span
from .grouping import group_rows
from .threads import begin, number_of_threads

# so many ids take longer to read than another thread to wake
MANY = 2**17


class NoGroupsError(ValueError):
    """No query ids reached a ranking metric, splitter or ranker."""


@dataclass(frozen=True)
class Queries:
    """Documents with the queries they belong to.

    Query ``q`` owns the places ``starts[q] : starts[q] + sizes[q]`` of `rows`, which holds
    positions in `y_true` and `y_score`; without `rows` the places are those positions. `grades` are
    the labels plus one as bytes, if they are small whole numbers.
    """

    y_true: Array
    y_score: Array
    ids: Array
    starts: Array
    sizes: Array
    label_range: tuple[float, float]
    grades: Array | None
    lowest_score: float
    rows: Array | None = None
    weights: Array | None = None

    def __len__(self) -> int:
        return len(self.sizes)


def read_queries(
    y_true: Any,
    y_score: Any,
    *,
    groups: Any = None,
    sample_weight: Any = None,
    labels: Any = None,
    n_jobs: int | None = None,
) -> Queries:
    """Validate and group; every public function comes through here."""
    score = as_column(y_score, "y_score")
    if score.ndim == 2 and groups is not None:
        raise ValueError(
            "groups= goes with one-dimensional y_true and y_score; with two-dimensional scores "
            f"each row is a query. Got y_score of shape {score.shape}."
        )
    true, given = _read_labels(y_true, score, labels)
    # another thread looks at labels and scores beside ids, if they are so many that it pays
    jobs = number_of_threads(n_jobs) if groups is not None and len(score) >= MANY else 1
    measured = begin(partial(_measured, true, given, score, y_score), jobs)
    ids, starts, sizes, rows = _layout(score, groups)
    grades, label_range, lowest = measured()
    queries = Queries(
        true.ravel(), score.ravel(), ids, starts, sizes, label_range, grades, lowest, rows
    )
    if sample_weight is None:
        return queries
    weights = _query_weights(sample_weight, queries, rectangular=score.ndim == 2)
    return replace(queries, weights=weights)


def _read_labels(y_true: Any, score: Array, classes: Any) -> tuple[Array, Any]:
    """Labels as an array of the shape of the scores, and what it was made of."""
    if score.ndim == 2 and np.ndim(y_true) == 1:
        hot = _one_hot(y_true, score, classes)
        return hot, hot
    if classes is not None:
        raise ValueError(
            "labels= names the columns of two-dimensional scores for one-dimensional y_true; "
            f"got y_score of shape {score.shape}."
        )
    true = as_column(y_true, "y_true")
    _check_shapes(true, score)
    return true, y_true


def _measured(
    true: Array, y_true: Any, score: Array, y_score: Any
) -> tuple[Array | None, tuple[float, float], float]:
    """Labels as grades, if they are some, their range and the lowest score."""
    lowest, _ = span(score, y_score, "y_score", greatest=False)
    grades, low, high = graded(true, y_true)
    if math.isinf(low) or math.isinf(high):
        raise ValueError("y_true contains infinity; labels must be finite numbers.")
    return None if grades is None else grades.ravel(), (low, high), lowest


def _layout(score: Array, groups: Any) -> tuple[Array, Array, Array, Array | None]:
    """Ids of the queries, where each starts, its size, and the rows, see `Queries`."""
    if score.ndim == 2:
        n, width = score.shape
        return np.arange(n), np.arange(n) * width, np.full(n, width), None
    if groups is None:
        return np.zeros(1, dtype=np.intp), np.zeros(1, dtype=np.intp), np.array([len(score)]), None
    return group_rows(groups, len(score))


def _check_shapes(true: Array, score: Array) -> None:
    if true.shape == score.shape:
        return
    if true.ndim == score.ndim == 1:
        message = (
            "Found input variables with inconsistent numbers of samples: "
            f"y_true has {len(true)} documents, y_score has {len(score)}."
        )
    else:
        message = (
            f"y_true has shape {true.shape}, y_score has shape {score.shape}; both must be "
            "one-dimensional, or both (n_queries, n_documents), or y_true class labels of shape "
            "(n,) and y_score (n, n_classes)."
        )
    raise ValueError(message)


def _one_hot(y_true: Any, score: Array, labels: Any) -> Array:
    """Class labels against a score for each class: every row ranks the classes."""
    true = np.asarray(y_true)
    if len(true) != len(score):
        raise ValueError(
            "Found input variables with inconsistent numbers of samples: "
            f"y_true has {len(true)} labels, y_score has {len(score)} rows."
        )
    classes = np.unique(true) if labels is None else np.asarray(labels)
    if classes.ndim != 1 or len(classes) != score.shape[1]:
        raise ValueError(
            f"y_score has {score.shape[1]} columns for {classes.size} classes. Name the class of "
            "each column with labels=, in the order of the columns (for a classifier: classes_)."
        )
    columns = {label: column for column, label in enumerate(classes.tolist())}
    if len(columns) != len(classes):
        raise ValueError("labels= names a class twice.")
    column = np.array([columns.get(label, -1) for label in true.tolist()], dtype=np.intp)
    if (column < 0).any():
        raise ValueError(
            f"y_true holds the class {true[column < 0].tolist()[0]!r}, which labels= does not "
            "name; it names " + ", ".join(map(repr, classes[:10].tolist())) + "."
        )
    hot = np.zeros(score.shape, dtype=bool)
    hot[np.arange(len(true)), column] = True
    return hot


def _query_weights(sample_weight: Any, queries: Queries, *, rectangular: bool) -> Array:
    """One weight per query from one per document (or per row of two-dimensional input)."""
    weights = as_numbers(sample_weight, "sample_weight").astype(np.float64)
    expected = len(queries) if rectangular else len(queries.y_true)
    if weights.ndim != 1 or len(weights) != expected:
        raise ValueError(
            f"sample_weight must hold one weight per {'query' if rectangular else 'document'}: "
            f"got shape {weights.shape} for {expected}. Found input variables with inconsistent "
            f"numbers of samples: [{expected}, {expected}, {len(weights)}]."
        )
    if weights.min() < 0 or not np.isfinite(weights.max()):
        raise ValueError(
            f"sample_weight must be finite and not negative; got values from {weights.min()} "
            f"to {weights.max()}."
        )
    if not rectangular:
        if queries.rows is not None:
            weights = weights[queries.rows]
        first = weights[queries.starts]
        places = np.sort(queries.starts)
        if (np.maximum.reduceat(weights, places) != np.minimum.reduceat(weights, places)).any():
            raise ValueError(
                "sample_weight varies within a query. A ranking metric averages over queries, so "
                "all documents of a query must have the same weight."
            )
        weights = first
    if not weights.any():
        raise ValueError("sample_weight is zero for every query; at least one must count.")
    return weights
