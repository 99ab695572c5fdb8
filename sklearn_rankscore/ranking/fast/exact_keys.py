"""Exact keys: different scores have different keys."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._typing import Array

# bytes of a float of single precision, and the last bits of a double that has this precision
SINGLE_BYTES, SINGLE_ZEROS = 4, 29

# with more bits below the score, exact keys of 32 bits have room for a single exponent
MOST_SHORT_BITS = 6


def write_exact_short_keys(
    keys: Array, labels: Array | int, scores: Array, mask: int, scale: float = 1.0
) -> bool:
    """Write keys of 32 bits if every score is a small integer, divided by a `scale`.

    Scores that were rounded to a few decimals are divided by a power of ten.
    """
    n_bits = mask.bit_length()
    most = np.float32(np.inf).view(np.int32) >> n_bits
    with np.errstate(over="ignore", invalid="ignore"):
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


def write_exact_keys(keys: Array, labels: Array | int, scores: Array, mask: int) -> bool:
    """Write keys of which different scores have different ones, if that is possible.

    Keys of 64 bits hold any score of single precision. Otherwise scores must be of usual magnitude,
    as not all exponents of a float occur then: with three bits for the label, from 2^-191 to 2^63
    in keys of 64 bits; in those of 32 bits from 2^-23 to 2^8, in single precision.
    """
    n_bits, floats = mask.bit_length(), keys.view(f"f{keys.itemsize}")
    if keys.itemsize == SINGLE_BYTES and n_bits > MOST_SHORT_BITS:
        return False
    single = is_single(scores)
    if keys.itemsize == SINGLE_BYTES and not single:
        return False
    with np.errstate(over="ignore", under="ignore"):
        np.copyto(floats, scores, casting="unsafe")
        np.subtract(0.0, floats, out=floats)
    negative = keys >> (8 * keys.itemsize - 1)
    keys &= np.iinfo(keys.dtype).max
    if single and keys.itemsize > SINGLE_BYTES and n_bits < SINGLE_ZEROS:
        keys >>= SINGLE_ZEROS
    elif not _shift_exponents(keys, n_bits, floats.dtype, scores):
        return False
    keys ^= negative
    keys <<= n_bits
    keys |= labels
    return True


def is_single(scores: Array) -> bool:
    """Whether scores have the precision of floats of 32 bits, whatever their magnitude."""
    if scores.dtype.kind != "f":
        return np.array_equal(scores.astype(np.float32), scores)
    if scores.itemsize <= SINGLE_BYTES:
        return True
    return not np.bitwise_or.reduce(scores.view(np.int64), axis=None) & ((1 << SINGLE_ZEROS) - 1)


def _shift_exponents(keys: Array, n_bits: int, dtype: np.dtype[Any], scores: Array) -> bool:
    """Make room for bits below the magnitude of floats, if their exponents admit it."""
    below, largest = _exact_range(n_bits, dtype)
    keys -= below
    if keys.min() <= 0:
        if not np.array_equal(keys <= 0, scores == 0):
            return False
        np.maximum(keys, 0, out=keys)
    if keys.max() >= largest:
        if not np.array_equal(keys >= largest, np.isinf(scores)):
            return False
        np.minimum(keys, largest, out=keys)
    return True


def _exact_range(n_bits: int, dtype: np.dtype[Any]) -> tuple[int, int]:
    """The bits of the float below the smallest one, and the value of an infinite one."""
    n_fraction, highest = np.finfo(dtype).nmant, (1 << np.finfo(dtype).nexp) - 1
    lowest = highest // 2 - 3 * (highest >> n_bits) // 4
    return (lowest << n_fraction) - 1, (highest << n_fraction >> n_bits) - 1
