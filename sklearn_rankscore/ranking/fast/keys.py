"""Keys: one integer per document, ordered like descending scores, that ends in the label."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._typing import Array
from ..plain import SHORT

# the last bits of a double that has single precision
SINGLE_ZEROS = 29

# by which scores that were rounded to a few decimals are integers
POWERS_OF_TEN = (1.0, 10.0, 100.0, 1000.0)

# the first scores of a call, on which a kind of key is tried
TRIED = 2**10

# how many different scores of a small tree have their ranks in keys; entries of the table of these,
# and a multiplier of which the high bits of a product depend on most bits of a score
MOST_DISTINCT, SLOTS, MULTIPLIER = 2**8, 2**16, 0x9E3779B97F4A7C15


def write_keys(keys: Array, labels: Array | int, scores: Array, mask: int) -> bool:
    """Write the keys of documents into an array of integers.

    The `mask` is that of the bits below the score, in which labels are written. Scores that differ
    little may have equal keys but for these bits; the result is True.
    """
    floats = keys.view(np.float32 if keys.dtype == np.int32 else np.float64)
    with np.errstate(over="ignore", under="ignore"):
        np.copyto(floats, scores, casting="unsafe")
    # subtracted from 0, because negative zero must tie with zero
    np.subtract(0.0, floats, out=floats)
    # floats are ordered like their bits read as an integer, negative floats in reverse
    sign_bit = 8 * keys.itemsize - 1
    flip = keys >> sign_bit
    flip &= (1 << sign_bit) - 1
    keys ^= flip
    keys &= ~mask
    keys |= labels
    return True


def write_exact_keys(keys: Array, labels: Array | int, scores: Array, mask: int) -> bool:
    """Write keys of 64 bits of which different scores have different ones, if that is possible.

    They hold any score of single precision. Others must be of usual magnitude, as not all exponents
    of a float occur then: with three bits for the label, from 2^-191 to 2^64.
    """
    n_bits = mask.bit_length()
    np.subtract(0.0, scores, out=keys.view(np.float64))
    negative = keys >> 63
    keys &= np.iinfo(np.int64).max
    if n_bits < SINGLE_ZEROS and not np.bitwise_or.reduce(keys) & ((1 << SINGLE_ZEROS) - 1):
        keys >>= SINGLE_ZEROS
    elif not _shift_exponents(keys, n_bits):
        return False
    keys ^= negative
    keys <<= n_bits
    keys |= labels
    return True


def _shift_exponents(keys: Array, n_bits: int) -> bool:
    """Make room for bits below the magnitude of floats, if their exponents admit it."""
    fraction, highest = np.finfo(np.float64).nmant, (1 << np.finfo(np.float64).nexp) - 1
    lowest = highest // 2 - 3 * (highest >> n_bits) // 4
    offset, largest = (lowest << fraction) - 1, (highest << fraction >> n_bits) - 1
    keys -= offset
    if keys.min() <= 0:
        if not (keys[keys <= 0] == -offset).all():  # other numbers than 0 are so small
            return False
        np.maximum(keys, 0, out=keys)
    if keys.max() >= largest:
        if not (keys[keys >= largest] == (highest << fraction) - offset).all():
            return False
        np.minimum(keys, largest, out=keys)
    return True


def write_decimals(keys: Array, labels: Array | int, scores: Array, mask: int) -> bool:
    """Write keys of 32 bits if every score is a small integer, divided by a power of ten."""
    n_bits, first = mask.bit_length(), scores[:TRIED]
    most = _infinity(keys.dtype) >> n_bits
    with np.errstate(over="ignore", invalid="ignore"):
        scale = next((p for p in POWERS_OF_TEN if (np.rint(first * p) / p == first).all()), 1.0)
        integers = scores * -scale
        np.rint(integers, out=integers)
        np.copyto(keys, integers, casting="unsafe")
        np.copyto(integers, keys, casting="unsafe")  # unequal where four bytes were too few
        integers /= -scale
    if keys.min() <= -most or keys.max() >= most or not np.array_equal(integers, scores):
        return False
    keys <<= n_bits
    keys |= labels
    return True


def write_ranks(keys: Array, labels: Array | int, scores: Array, mask: int) -> bool:
    """Write keys that begin with the rank of a score among the distinct ones, if these are few."""
    scores = scores.astype(np.float64, copy=False)
    distinct, slots = np.unique(scores[:TRIED]), _slots(scores)
    most = min(MOST_DISTINCT, _infinity(keys.dtype) >> mask.bit_length())
    for _ in range(2):  # with those of the first scores, and with the others
        if len(distinct) > most:
            return False
        table = np.full(SLOTS, np.nan)
        table[_slots(distinct)] = distinct
        others = np.flatnonzero(table.take(slots, mode="clip") != scores)
        if not len(others):
            ranks = np.zeros(SLOTS, keys.dtype)
            ranks[_slots(distinct)] = np.arange(len(distinct))[::-1] * (mask + 1)
            ranks.take(slots, out=keys, mode="clip")
            keys |= labels
            return True
        distinct = np.unique([*distinct, *scores[others[:TRIED]]])
    return False


def _slots(scores: Array) -> Array:
    slots = scores.view(np.uint64) * np.uint64(MULTIPLIER)
    slots >>= np.uint64(64 - (SLOTS - 1).bit_length())
    return slots.view(np.int64)


def pad_keys(keys: Array, sizes: Array, shortest: int, mask: int) -> None:
    """Overwrite what is beyond each query's end by keys that rank last and tie with nothing."""
    width = keys.shape[1]
    if shortest == width:
        return
    n_columns = width - shortest
    padding = _infinity(keys.dtype) + np.arange(1, n_columns + 1) * (mask + 1)
    # each row takes the maximum with a window of this line: values below every key for its
    # documents, padding beyond
    line = np.full(2 * n_columns, np.iinfo(keys.dtype).min, dtype=keys.dtype)
    # 32 bits have room for some 100,000 keys of padding; 64-bit keys resolve further collisions
    np.minimum(padding, np.iinfo(keys.dtype).max & ~mask, out=line[n_columns:], casting="unsafe")
    first = width - sizes
    if width <= SHORT:
        for place, column in enumerate(keys.T[shortest:]):
            np.maximum(column, line[first + place], out=column)
        return
    item = np.dtype((np.void, n_columns * keys.itemsize))
    windows: Array = np.ndarray(n_columns + 1, item, line, strides=(keys.itemsize,))
    least = windows[first].view(keys.dtype).reshape(len(keys), n_columns)
    np.maximum(keys[:, shortest:], least, out=keys[:, shortest:])


def _infinity(integer: np.dtype[Any]) -> int:
    """The bits of an infinite float, above those of all scores."""
    return int(np.array(np.inf, f"f{integer.itemsize}").view(integer))


def labels_of(keys: Array, n_grades: int) -> Array:
    """The labels in the low bits of keys."""
    labels = keys.astype(np.uint8)
    labels &= label_mask(n_grades)
    return labels


def label_mask(n_grades: int) -> int:
    """Mask of the low bits of a key, which hold the label."""
    return (1 << n_grades.bit_length()) - 1


def collides(sorted_keys: Array, mask: int) -> Array:
    """Whether each sorted key has the same bits above the mask as the next one."""
    return np.asarray(sorted_keys[:, 1:] <= (sorted_keys[:, :-1] | mask))
