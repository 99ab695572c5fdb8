"""Rows by query: ids of any kind, in any order."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from .arrays import Array, as_ids, in_sorted_order, missing_ids

# 2**64 over the golden ratio, whose multiples are spread evenly
HASH_FACTOR = np.uint64(0x9E3779B97F4A7C15)


def group_rows(groups: Any, n_rows: int) -> tuple[Array, Array, Array, Array | None]:
    """Sorted ids of the queries, where each starts, its size, and the rows (None: as they are)."""
    ids, values = as_ids(groups)
    _check_ids(ids, n_rows)
    if _scattered(ids):
        unique, codes = _factorize(ids)
        sizes = np.bincount(codes, minlength=len(unique))
        names = unique if values is None else values[unique]
        return names, np.cumsum(sizes) - sizes, sizes, _stable_order(codes, len(unique))
    heads = np.append(0, _places(ids[1:] != ids[:-1]) + 1)
    lengths = np.diff(heads, append=n_rows)
    firsts = ids[heads]
    if values is None and ids.dtype.kind in "biuf" and (firsts[1:] > firsts[:-1]).all():
        return firsts, heads, lengths, None
    unique, codes = _factorize(firsts)
    if values is not None:
        unique = values[unique]
    if len(unique) == len(heads):
        in_order = np.empty_like(heads)
        in_order[codes] = np.arange(len(heads))
        return unique, heads[in_order], lengths[in_order], None
    sizes = np.bincount(codes, weights=lengths, minlength=len(unique)).astype(np.intp)
    rows = _stable_order(np.repeat(codes, lengths), len(unique))
    return unique, np.cumsum(sizes) - sizes, sizes, rows


def number_queries(groups: Any, n_rows: int) -> tuple[Array, Array]:
    """Each row's query, numbered as they first appear, and the size of each."""
    _, starts, sizes, rows = group_rows(groups, n_rows)
    order = np.argsort(starts if rows is None else rows[starts], kind="stable")
    if rows is None:
        return np.repeat(np.arange(len(order)), sizes[order]), sizes[order]
    places, codes = np.empty_like(order), np.empty(n_rows, dtype=np.intp)
    places[order] = np.arange(len(order))
    codes[rows] = np.repeat(places, sizes)
    return codes, sizes[order]


def _places(hits: Array) -> Array:
    """Where hits are, as `numpy.flatnonzero` says it, in half the time if they are rare."""
    if 10 * np.count_nonzero(hits) > len(hits):
        return np.flatnonzero(hits)
    # looked for among words of eight hits, and then in the words that have any
    cut = len(hits) // 8 * 8
    words = hits[:cut].view(np.uint64)
    some = np.flatnonzero(words != 0)
    inside = np.flatnonzero(words[some].view(bool))
    return np.append(8 * some[inside >> 3] + (inside & 7), cut + np.flatnonzero(hits[cut:]))


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
        return _factorize_integers(ids)
    if ids.dtype.kind == "U" and ids.itemsize:
        hashed = _factorize_text(ids)
        if hashed is not None:
            return hashed
    if ids.dtype.kind not in "OUS":
        return np.unique(ids, return_inverse=True)
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
        raise missing_ids()
    if ids.dtype.kind != "O":
        unique = unique.astype(ids.dtype)
    try:
        return in_sorted_order(unique, codes)
    except TypeError:
        return unique, codes


def _factorize_integers(ids: Array) -> tuple[Array, Array]:
    low, span = ids.min(), int(ids.max()) - int(ids.min())
    if span < 4 * len(ids) + 1024:
        # a table over the range of the ids is several times faster than a sort
        places = ids.astype(np.int64) - int(low) if ids.dtype.kind == "i" else ids - low
        present = np.zeros(span + 1, dtype=bool)
        present[places] = True
        unique = np.flatnonzero(present).astype(ids.dtype) + low
        return unique, (np.cumsum(present) - 1)[places]
    examples, codes = _factorize_hashes(ids.astype(np.uint64))
    return in_sorted_order(ids[examples], codes)


def _factorize_text(ids: Array) -> tuple[Array, Array] | None:
    """Text of fixed width without a Python object for each; None if two texts have one hash."""
    letters = np.ascontiguousarray(ids).view(np.uint32).reshape(len(ids), ids.itemsize // 4)
    hashes = np.zeros(len(ids), dtype=np.uint64)
    for column in letters.T:
        hashes *= HASH_FACTOR
        hashes += column
    examples, codes = _factorize_hashes(hashes)
    unique = ids[examples]
    return in_sorted_order(unique, codes) if (unique[codes] == ids).all() else None


def _factorize_hashes(hashes: Array) -> tuple[Array, Array]:
    """A place of each distinct number, and which of them each number is."""
    n = len(hashes)
    example = np.empty(n, dtype=np.intp)
    # each number marks its slot of a table, where those that equal it find the same mark; those
    # that find a mark of another number go on to another slot
    bits = n.bit_length()
    table = np.empty(1 << bits, dtype=np.intp)
    left, slots = np.arange(n), hashes
    while len(left):
        slots = slots * HASH_FACTOR
        slot = (slots >> np.uint64(64 - bits)).astype(np.intp)
        table[slot] = left
        found = table[slot]
        same = hashes[found] == hashes[left]
        example[left[same]] = found[same]
        left, slots = left[~same], slots[~same]
    examples = np.flatnonzero(example == np.arange(n))
    table[examples] = np.arange(len(examples))
    return examples, table[example]


def _stable_order(codes: Array, n_codes: int) -> Array:
    """Rows sorted by code, input order kept within a code."""
    # rows to columns of a sparse matrix is a counting sort, in linear time
    n = len(codes)
    shape, one_each = (n, n_codes), np.arange(n + 1)
    matrix = sparse.csr_array((np.empty(n, dtype=np.int8), codes, one_each), shape=shape)
    return np.asarray(matrix.tocsc().indices, dtype=np.intp)


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
        raise missing_ids()
