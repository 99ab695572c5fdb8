"""Distinct ids and the code of each, in linear time for integers and text."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from .._typing import Array
from .read import any_missing, as_objects, in_sorted_order, missing_ids_error

# Fibonacci hashing (Knuth, The Art of Computer Programming, vol. 3, section 6.4):
# 2**64 over the golden ratio, whose multiples are spread evenly
HASH_FACTOR = np.uint64(0x9E3779B97F4A7C15)

# bytes of text up to which ids are hashed column by column; a column of longer ones is one letter
# of each cache line
LONGEST_TEXT = 4 * 64


def factorize(ids: Array, name: str = "groups") -> tuple[Array, Array]:
    """Distinct ids and the code of each id.

    The distinct ids are sorted, or in order of appearance if they cannot be compared. `name` is
    what errors call them.
    """
    if ids.dtype.kind in "iu":
        return _factorize_integers(ids)
    if ids.dtype.kind == "U" and 0 < ids.itemsize <= LONGEST_TEXT:
        hashed = _factorize_text(ids)
        if hashed is not None:
            return hashed
    if ids.dtype.kind not in "OUS":
        return np.unique(ids, return_inverse=True)
    return _factorize_objects(ids, name)


def _factorize_objects(ids: Array, name: str) -> tuple[Array, Array]:
    """By a dictionary, which visits every id once; a sort would compare each some twenty times."""
    if (encoded := _factorize_by_pandas(ids)) is not None:
        return in_sorted_order(*encoded)
    keys = ids.tolist()
    try:
        table = {key: code for code, key in enumerate(dict.fromkeys(keys))}
        codes = np.fromiter(map(table.__getitem__, keys), dtype=np.intp, count=len(keys))
    except TypeError as error:
        raise TypeError(f"{name} must hold hashable ids, such as strings ({error}).") from error
    if any_missing(table):
        raise missing_ids_error(name)
    unique = as_objects(table)
    if ids.dtype.kind != "O":
        unique = unique.astype(ids.dtype)
    try:
        return in_sorted_order(unique, codes)
    except (TypeError, OverflowError):
        return unique, codes


def _factorize_by_pandas(ids: Array) -> tuple[Array, Array] | None:
    """Distinct ids and codes of text among objects, if pandas is loaded, which is faster."""
    pandas: Any = sys.modules.get("pandas")
    is_text = ids.dtype.kind == "O" and len(ids) >= 1000 and type(ids[0]) is str
    if not is_text or not hasattr(pandas, "factorize"):
        return None
    codes, unique = pandas.factorize(ids)
    # before pandas 3 those that differ after a zero were equal
    is_right = set(map(type, unique)) == {str} and (unique[codes] == ids).all()
    return (unique, codes) if is_right else None


def _factorize_integers(ids: Array) -> tuple[Array, Array]:
    low, span = ids.min(), int(ids.max()) - int(ids.min())
    if span < 4 * len(ids) + 1024:
        # a table over the range of the ids is several times faster than a sort
        offsets = ids.astype(np.int64) - int(low) if ids.dtype.kind == "i" else ids - low
        present = np.zeros(span + 1, dtype=bool)
        present[offsets] = True
        unique = np.flatnonzero(present).astype(ids.dtype) + low
        return unique, (np.cumsum(present) - 1)[offsets]
    examples, codes = _factorize_hashes(ids.astype(np.uint64))
    return in_sorted_order(ids[examples], codes)


def _factorize_text(ids: Array) -> tuple[Array, Array] | None:
    """Text of fixed width, without a Python object for each id; None if two texts collide."""
    letters = np.ascontiguousarray(ids).view(np.uint32).reshape(len(ids), ids.itemsize // 4)
    hashes = np.zeros(len(ids), dtype=np.uint64)
    for column in letters.T:
        hashes *= HASH_FACTOR
        hashes += column
    examples, codes = _factorize_hashes(hashes)
    unique = ids[examples]
    return in_sorted_order(unique, codes) if (unique[codes] == ids).all() else None


def _factorize_hashes(hashes: Array) -> tuple[Array, Array]:
    """The position of one example of each distinct number, and the code of each number.

    A hash table with open addressing that takes all numbers at a time: each writes its position
    into its slot and reads the slot back; those that read the position of a different number try
    another slot.
    """
    n = len(hashes)
    example = np.empty(n, dtype=np.intp)
    bits = n.bit_length()
    table = np.empty(1 << bits, dtype=np.intp)
    remaining, probes = np.arange(n), hashes
    while len(remaining):
        probes = probes * HASH_FACTOR
        slots = (probes >> np.uint64(64 - bits)).astype(np.intp)
        table[slots] = remaining
        winners = table[slots]
        equal = hashes[winners] == hashes[remaining]
        example[remaining[equal]] = winners[equal]
        remaining, probes = remaining[~equal], probes[~equal]
    examples = np.flatnonzero(example == np.arange(n))
    table[examples] = np.arange(len(examples))
    return examples, table[example]
