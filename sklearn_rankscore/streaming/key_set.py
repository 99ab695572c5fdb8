"""Sets of query ids and of other things, in eight bytes each, to notice one that returns."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from datetime import time, timedelta
from decimal import Decimal
from fractions import Fraction
from hashlib import blake2b
from typing import Any
from uuid import UUID

import numpy as np

from .._columns import INSTANTS
from .._typing import Array
from ..query_ids.read import in_unit
from .instants import as_numpy

# keep keys of fractions, dates and durations apart from those of small integers
_FRACTIONS, _DATES, _DURATIONS = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
_ATTOSECONDS = {
    "W": 7 * 86_400 * 10**18, "D": 86_400 * 10**18, "h": 3_600 * 10**18, "m": 60 * 10**18,
    "s": 10**18, "ms": 10**15, "us": 10**12, "ns": 10**9, "ps": 10**6, "fs": 10**3, "as": 1,
}  # fmt: skip


@dataclass(frozen=True)
class KeySet:
    """A set of keys that only grows.

    Parameters
    ----------
    levels : tuple of uint64 arrays
        Sorted keys; each array has more than twice the length of the next, so that adding n keys
        one by one moves each about log2(n) times.
    """

    levels: tuple[Array, ...] = ()

    def __len__(self) -> int:
        return sum(map(len, self.levels))

    def plus(self, keys: Array) -> KeySet:
        """The set with further keys, none of which it has."""
        if not len(keys):
            return self
        levels, last = list(self.levels), np.sort(keys)
        while levels and len(levels[-1]) <= 2 * len(last):
            last = np.sort(np.concatenate([levels.pop(), last]), kind="stable")
        return KeySet((*levels, last))

    def among(self, keys: Array) -> Array:
        """Which of the keys it has."""
        known = np.zeros(len(keys), dtype=bool)
        for level in self.levels:
            at = np.minimum(np.searchsorted(level, keys), len(level) - 1)
            known |= level[at] == keys
        return known

    def merged(self, other: KeySet) -> KeySet:
        """The union of two sets, which have no key in common."""
        result = self
        for level in other.levels:
            result = result.plus(level)
        return result


def random_key() -> Array:
    """A key that differs from all others, also from those of processes forked from this one."""
    return np.frombuffer(os.urandom(8), dtype=np.uint64)


def keys_of(ids: Array) -> Array:
    """A number of 64 bits for each id: equal for equal ids, different for different integers.

    Two other ids have the same key with the probability 2**-64, except for a negative integer and
    an unsigned one of the same bits.
    """
    if ids.dtype.kind in "biu":
        return ids.astype(np.uint64)
    if ids.dtype.kind in "mM":
        return _keys_of_instants(ids)
    if ids.dtype.kind == "f":
        values = ids.astype(np.float64)
        whole = (np.trunc(values) == values) & (np.abs(values) < 2.0**63)
        integers = np.where(whole, values, 0.0).astype(np.int64).astype(np.uint64)
        return np.where(whole, integers, values.view(np.uint64) ^ np.uint64(_FRACTIONS))
    return np.fromiter(map(_key, ids.tolist()), dtype=np.uint64, count=len(ids))


def _keys_of_instants(ids: Array) -> Array:
    """Keys that do not depend on the unit."""
    nanoseconds, exact = in_unit(ids, "ns")
    kind = _DATES if ids.dtype.kind == "M" else _DURATIONS
    keys: Array = nanoseconds.view(np.uint64) ^ np.uint64(kind)
    keys[~exact] = [_hash(_content(value)) for value in ids[~exact]]
    return keys


def _hash(content: bytes) -> int:
    return int.from_bytes(blake2b(content, digest_size=8).digest(), "little")


def _key(value: Any) -> int:
    if isinstance(value, INSTANTS):
        return int(keys_of(np.array([as_numpy(value)]))[0])
    value = value.item() if isinstance(value, np.number | np.bool_) else value
    if isinstance(value, float | Decimal) and not math.isfinite(value):
        return int(keys_of(np.array([float(value)]))[0])
    if isinstance(value, int | float | Decimal | Fraction):
        exact = Fraction(value)
        if exact.denominator == 1 and -(2**63) <= exact < 2**64:
            return int(exact) % 2**64
        if float(exact) == exact:
            return int(keys_of(np.array([float(exact)]))[0])
    return _hash(_content(value))


def _content(value: Any) -> bytes:
    """Bytes that are equal for equal ids, in every process."""
    if isinstance(value, INSTANTS):
        return _content_of_instant(as_numpy(value))
    value = value.item() if isinstance(value, np.number | np.bool_) else value
    if isinstance(value, str):
        return b"s" + value.encode("utf-8", "surrogatepass")
    if isinstance(value, bytes):
        return b"b" + value
    if isinstance(value, tuple):
        parts = [_content(part) for part in value]
        return b"t" + b"".join(b"%d:%s" % (len(part), part) for part in parts)
    if isinstance(value, float | Decimal) and not math.isfinite(value):
        return b"f" + repr(float(value)).encode()
    if isinstance(value, int | float | Decimal | Fraction):
        exact = Fraction(value)
        return b"n%x/%x" % (exact.numerator, exact.denominator)
    if isinstance(value, time):
        return _content_of_time(value)
    if isinstance(value, UUID):
        return b"o" + repr(value).encode()
    raise TypeError(
        f"query ids of the type {type(value).__name__} are not supported with "
        "order='grouped'. They must be numbers, text, bytes, dates, UUIDs, or tuples of these."
    )


def _content_of_instant(value: np.datetime64 | np.timedelta64) -> bytes:
    unit, count = np.datetime_data(value.dtype)
    if unit not in _ATTOSECONDS:  # years and months
        days = value.astype(f"{value.dtype.kind}8[D]")
        return _content_of_instant(days)
    attoseconds = int(value.astype(np.int64)) * count * _ATTOSECONDS[unit]
    return b"%b%x" % (value.dtype.kind.encode(), attoseconds)


def _content_of_time(value: time) -> bytes:
    minutes = 60 * value.hour + value.minute
    offset = value.utcoffset()
    since = timedelta(0, value.second, value.microsecond, minutes=minutes) - (offset or timedelta())
    return b"%b%d" % (b"c" if offset is None else b"u", since // timedelta(microseconds=1))
