"""The only door in: labels, scores, query ids and weights become queries."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from .arrays import Array, as_ids, as_numbers, measured

# 2**64 over the golden ratio, whose multiples are spread evenly
HASH_FACTOR = np.uint64(0x9E3779B97F4A7C15)


class NoGroupsError(ValueError):
    """No query ids reached a ranking metric, splitter or ranker."""


@dataclass(frozen=True)
class Queries:
    """Documents with the queries they belong to.

    Query ``q`` owns the places ``starts[q] : starts[q] + sizes[q]`` of `rows`, which holds
    positions in `y_true` and `y_score`; without `rows` the places are those positions.
    """

    y_true: Array
    y_score: Array
    ids: Array
    starts: Array
    sizes: Array
    label_range: tuple[float, float]
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
) -> Queries:
    """Validate and group; every public function comes through here."""
    score, lowest, _ = measured(y_score, "y_score", greatest=False)
    if score.ndim == 2 and groups is not None:
        raise ValueError(
            "groups= goes with one-dimensional y_true and y_score; with two-dimensional scores "
            f"each row is a query. Got y_score of shape {score.shape}."
        )
    if score.ndim == 2 and np.ndim(y_true) == 1:
        true, low, high = _one_hot(y_true, score, labels), 0.0, 1.0
    elif labels is not None:
        raise ValueError(
            "labels= names the columns of two-dimensional scores for one-dimensional y_true; "
            f"got y_score of shape {score.shape}."
        )
    else:
        true, low, high = measured(y_true, "y_true")
        _check_shapes(true, score)
    if math.isinf(low) or math.isinf(high):
        raise ValueError("y_true contains infinity; labels must be finite numbers.")
    if score.ndim == 2:
        n, width = score.shape
        ids, starts, sizes, rows = np.arange(n), np.arange(n) * width, np.full(n, width), None
    elif groups is None:
        ids = starts = np.zeros(1, dtype=np.intp)
        sizes, rows = np.array([len(score)]), None
    else:
        ids, starts, sizes, rows = group_rows(groups, len(score))
    queries = Queries(true.ravel(), score.ravel(), ids, starts, sizes, (low, high), lowest, rows)
    if sample_weight is None:
        return queries
    weights = _query_weights(sample_weight, queries, rectangular=score.ndim == 2)
    return replace(queries, weights=weights)


def group_rows(groups: Any, n_rows: int) -> tuple[Array, Array, Array, Array | None]:
    """Sorted ids of the queries, where each starts, its size, and the rows (None: as they are)."""
    ids, values = as_ids(groups)
    _check_ids(ids, n_rows)
    if _scattered(ids):
        unique, codes = _factorize(ids)
        sizes = np.bincount(codes, minlength=len(unique))
        names = unique if values is None else values[unique]
        return names, np.cumsum(sizes) - sizes, sizes, _stable_order(codes)
    heads = np.append(0, np.flatnonzero(ids[1:] != ids[:-1]) + 1)
    lengths = np.diff(heads, append=n_rows)
    if values is None and ids.dtype.kind in "biuf" and (ids[heads[1:]] > ids[heads[:-1]]).all():
        return ids[heads], heads, lengths, None
    unique, codes = _factorize(ids[heads])
    if values is not None:
        unique = values[unique]
    if len(unique) == len(heads):
        in_order = np.empty_like(heads)
        in_order[codes] = np.arange(len(heads))
        return unique, heads[in_order], lengths[in_order], None
    sizes = np.bincount(codes, weights=lengths, minlength=len(unique)).astype(np.intp)
    rows = _stable_order(np.repeat(codes, lengths))
    return unique, np.cumsum(sizes) - sizes, sizes, rows


def _scattered(ids: Array) -> bool:
    """Whether rows of a query are so far apart that looking for those together would be in vain."""
    sample = ids[:1024].tolist()
    changes = sum(a != b for a, b in pairwise(sample))
    try:
        return bool(2 * changes > len(sample) and len(set(sample)) <= changes)
    except TypeError:  # what cannot be hashed is refused further on
        return False


def _factorize(ids: Array) -> tuple[Array, Array]:
    """Distinct ids in sorted order (first appearance where they cannot be compared), and codes."""
    if ids.dtype.kind in "iu":
        low, span = ids.min(), int(ids.max()) - int(ids.min())
        if span < 4 * len(ids) + 1024:
            # a table over the range of the ids is several times faster than a sort
            places = ids.astype(np.int64) - int(low) if ids.dtype.kind == "i" else ids - low
            present = np.zeros(span + 1, dtype=bool)
            present[places] = True
            unique = np.flatnonzero(present).astype(ids.dtype) + low
            return unique, (np.cumsum(present) - 1)[places]
    if ids.dtype.kind not in "OUS":
        return np.unique(ids, return_inverse=True)
    if ids.dtype.kind == "U" and ids.itemsize:
        hashed = _factorize_by_hash(ids)
        if hashed is not None:
            return hashed
    # a dictionary visits every string once; sorting them compares each some twenty times
    words = ids.tolist()
    try:
        table = {word: code for code, word in enumerate(dict.fromkeys(words))}
        codes = np.fromiter(map(table.__getitem__, words), dtype=np.intp, count=len(words))
    except TypeError as error:
        raise TypeError(f"groups must hold hashable query ids, such as words ({error}).") from error
    unique = np.empty(len(table), dtype=object)
    unique[:] = list(table)
    if any(value is None or value != value for value in table):
        raise ValueError("groups contains missing values; every document needs a query id.")
    if ids.dtype.kind != "O":
        unique = unique.astype(ids.dtype)
    try:
        return _in_sorted_order(unique, codes)
    except TypeError:
        return unique, codes


def _factorize_by_hash(ids: Array) -> tuple[Array, Array] | None:
    """The same for text of fixed width, without a Python object for each; None on a collision."""
    letters = np.ascontiguousarray(ids).view(np.uint32).reshape(len(ids), -1)
    hashes = np.zeros(len(ids), dtype=np.uint64)
    for column in letters.T:
        hashes *= HASH_FACTOR
        hashes += column
    distinct, codes = np.unique(hashes, return_inverse=True)
    one_of_each = np.empty(len(distinct), dtype=np.intp)
    one_of_each[codes] = np.arange(len(ids))
    unique = ids[one_of_each]
    return _in_sorted_order(unique, codes) if (unique[codes] == ids).all() else None


def _in_sorted_order(unique: Array, codes: Array) -> tuple[Array, Array]:
    order = np.argsort(unique, kind="stable")
    rank = np.empty(len(order), dtype=np.intp)
    rank[order] = np.arange(len(order))
    return unique[order], rank[codes]


def _stable_order(codes: Array) -> Array:
    """Rows sorted by code, input order kept within a code."""
    # one sort of integers that hold code and row is vectorised, a stable argsort is not
    bits = len(codes).bit_length()
    keys = codes.astype(np.int64)
    keys <<= bits
    keys |= np.arange(len(codes))
    keys.sort()
    keys &= (1 << bits) - 1
    return keys


def _check_ids(ids: Array, n_rows: int) -> None:
    if len(ids) != n_rows:
        message = (
            f"groups must hold one query id per document: got {len(ids)} for {n_rows} documents."
        )
        if ids.dtype.kind in "iuf" and len(ids) and ids.sum() == n_rows:
            message += " These look like group sizes: pass np.repeat(np.arange(len(sizes)), sizes)."
        raise ValueError(message)
    missing = (ids.dtype.kind == "f" and np.isnan(ids).any()) or (
        ids.dtype.kind in "mM" and np.isnat(ids).any()
    )
    if missing:
        raise ValueError("groups contains missing values; every document needs a query id.")


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
