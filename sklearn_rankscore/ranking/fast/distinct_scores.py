"""Keys of scores that have few distinct values, such as those of a small tree or rounded ones."""

from __future__ import annotations

import numpy as np

from ..._typing import Array

# entries of the table that tells distinct scores apart
SLOTS = 2**16

# the first scores, which tell by the share of those that occur once how many values they lack:
# I. J. Good. The Population Frequencies of Species and the Estimation of Population Parameters.
# Biometrika 40, 1953
TRIED, MOST_SINGLE = 2**10, 0.05

# odd, so that a product depends on all bits of a score; the high bits of a product on most of them
MULTIPLIERS = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93)


def write_ranks(keys: Array, labels: Array | int, scores: Array, mask: int) -> bool:
    """Write keys that begin with the rank of a score among the distinct ones, if these are few."""
    scores = scores.astype(np.float64, copy=False)
    first, counts = np.unique(scores[:TRIED], return_counts=True)
    if len(scores) > TRIED and np.count_nonzero(counts == 1) > MOST_SINGLE * TRIED:
        return False
    table = np.full(SLOTS, np.nan)
    for multiplier in MULTIPLIERS:
        if _enter(table, _slots(first, multiplier), first):
            break
        table.fill(np.nan)
    else:
        return False
    slots = _slots(scores, multiplier)
    others = np.flatnonzero(table.take(slots, mode="clip") != scores)
    if not _enter(table, slots[others], scores[others]):
        return False
    used = np.flatnonzero(~np.isnan(table))
    distinct, rank = np.unique(-table[used], return_inverse=True)
    if len(distinct) * (mask + 1) > np.float32(np.inf).view(np.int32):
        return False
    first_bits = np.zeros(SLOTS, keys.dtype)
    first_bits[used] = rank * (mask + 1)
    first_bits.take(slots, out=keys, mode="clip")
    keys |= labels
    return True


def _slots(scores: Array, multiplier: int) -> Array:
    slots = scores.view(np.uint64) * np.uint64(multiplier)
    slots >>= np.uint64(64 - (SLOTS - 1).bit_length())
    return slots.view(np.int64)


def _enter(table: Array, slots: Array, scores: Array) -> bool:
    """Enter scores into free slots of a table, and tell whether each has a slot of its own."""
    if not np.isnan(table[slots]).all():
        return False
    table[slots] = scores
    return bool((table[slots] == scores).all())
