"""Keys of scores that have few distinct values, such as those of a small tree or rounded ones."""

from __future__ import annotations

import numpy as np

from ..._typing import Array

# entries of the table that tells distinct scores apart, and how many scores try a multiplier
SLOTS, TRIED = 2**16, 2**10

# odd, so that a product depends on all bits of a score; the high bits of a product on most of them
MULTIPLIERS = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93)


def write_ranks(keys: Array, labels: Array | int, scores: Array, mask: int) -> bool:
    """Write keys that begin with the rank of a score among the distinct ones, if these are few."""
    scores = scores.astype(np.float64, copy=False)
    table = np.full(SLOTS, np.nan)
    for multiplier in MULTIPLIERS:
        if _enter(table, _slots(scores[:TRIED], multiplier), scores[:TRIED]):
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
