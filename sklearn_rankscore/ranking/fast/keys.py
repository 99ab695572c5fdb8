"""Keys: one integer per document, ordered like descending scores, that ends in the label."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._typing import Array
from ..threads import parallel_for
from ..ties import SHORT
from . import choices
from .documents import Documents, gather

# the last bits of a double that has the precision of a float of 32 bits
SINGLE_ZEROS = 29

# with more bits below the score, exact keys of 32 bits have room for a single exponent
MOST_SHORT_BITS = 6

# the first scores, which tell by the share of those that occur once how many values they lack:
# I. J. Good. The Population Frequencies of Species and the Estimation of Population Parameters.
# Biometrika 40, 1953
TRIED, MOST_SINGLE = 2**10, 0.05

# entries of the table that tells distinct scores apart, and odd numbers, so that the high bits of a
# product depend on most bits of a score
SLOTS = 2**16
MULTIPLIERS = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93)


@dataclass(frozen=True)
class Layout:
    """What a key holds below the score: the column of the document above its label, or one of both.

    Parameters
    ----------
    label_bits, column_bits : int
        Number of bits of either.
    reverse : bool
        Whether a later column ranks first.
    """

    label_bits: int
    column_bits: int = 0
    reverse: bool = False

    @property
    def below(self) -> int:
        """The mask of all bits below the score."""
        return (1 << self.label_bits + self.column_bits) - 1

    def write_columns(self, rows: Array) -> None:
        """Write the number of each column into rows of keys."""
        columns = np.arange(rows.shape[1], dtype=rows.dtype)
        rows |= (columns ^ self._flip) << self.label_bits

    def labels(self, keys: Array) -> Array:
        """The labels of keys."""
        labels = keys.astype(np.uint8)
        labels &= (1 << self.label_bits) - 1
        return labels

    def columns(self, keys: Array) -> Array:
        """The columns of keys without labels."""
        columns = keys & self.below
        columns ^= self._flip
        return columns

    @property
    def _flip(self) -> int:
        return self.below >> self.label_bits if self.reverse else 0


@dataclass(frozen=True)
class Keys:
    """Keys, and what they tell.

    Parameters
    ----------
    array : int array
        One key per document, or one row of keys per query.
    layout : Layout
        What they hold below the score.
    exact : bool
        Whether documents with different scores have different keys.
    """

    array: Array
    layout: Layout
    exact: bool

    def rows(self, starts: Array, sizes: Array, width: int) -> Array:
        """Those of some queries, one row per query, padded by keys that tie with nothing."""
        rows = gather(self.array, starts, width)
        if width <= SHORT:  # sums over short rows are much cheaper as sums of columns
            rows = np.asfortranarray(rows)
        elif len(rows) == 1:
            rows = rows.copy()  # it may be a view
        if self.layout.column_bits:
            self.layout.write_columns(rows)
        pad(rows, sizes, self.layout.below)
        return rows


Write = Callable[[Array, Any, Array, int], bool]


def keys_of_grades(documents: Documents, depth: int | None, jobs: int) -> Keys:
    """The keys of all documents, in the least time in which they can be written and sorted."""
    for write, integer, layout in _ways(documents, depth):
        array = _written(documents, write, integer, layout, jobs)
        if array is not None:
            return Keys(array, layout, write is not write_keys)
    raise AssertionError


def _ways(documents: Documents, depth: int | None) -> Iterator[tuple[Write, Any, Layout]]:
    """Functions that write keys, the integers they write, and the layout; the last one succeeds."""
    only_labels, width = Layout(documents.n_grades.bit_length()), documents.width
    shallow = depth is not None and depth <= choices.SHALLOW
    narrow = width <= choices.COLUMN_BESIDE_SINGLE
    if documents.has_many_ties and documents.in_input_order and narrow:
        column_bits, reverse = (width - 1).bit_length(), documents.ties == "reversed"
        layout = Layout(only_labels.label_bits, column_bits, reverse)
        if shallow:
            yield write_exact_keys, np.int32, layout
            yield write_ranks, np.int32, layout
        yield write_single_keys, np.int64, layout
        yield write_exact_keys, np.int64, layout
    # in long queries candidates are found in less time than all ties by a sort
    medium = documents.mean_size <= 2 * choices.MEDIUM or documents.has_large_groups
    if documents.has_many_ties and not documents.in_input_order and shallow and medium:
        yield write_exact_keys, np.int32, only_labels
        yield write_ranks, np.int32, only_labels
    if shallow and not _needs_long_keys(documents, depth or 0):
        yield write_keys, np.int32, only_labels
    else:
        yield write_single_keys, np.int64, only_labels
        yield write_exact_keys, np.int64, only_labels
        yield write_keys, np.int64, only_labels


def _needs_long_keys(documents: Documents, depth: int) -> bool:
    """Whether longer keys cost less than to rank documents again whose short keys are equal.

    Such scores are tied, or differ by little for their size, as those of a saturated sigmoid.
    """
    size, many_ties, mean_size = documents.tie_size, documents.has_many_ties, documents.mean_size
    collide = documents.short_key_size > choices.COLLIDING * size
    if collide and mean_size <= choices.MEDIUM:
        return True
    if not many_ties:  # more documents of a long query are equal than in its sample
        size = documents.short_key_size * max(1.0, mean_size / choices.SAMPLED_WIDTH)
    return (collide or many_ties) and depth + size > choices.CROWDED * mean_size


def _written(
    documents: Documents, write: Write, integer: Any, layout: Layout, jobs: int
) -> Array | None:
    """The keys of all documents; None if they cannot be written so."""
    labels, scores, n = documents.labels, documents.scores, len(documents.labels)
    # where keys cannot be exact, the first documents tell in most cases
    if write is not write_keys and n > TRIED:
        first = np.empty(TRIED, integer)
        if not write(first, labels[:TRIED], scores[:TRIED], layout.below):
            return None
    keys, failed = np.empty(n, integer), list[int]()
    step = n if write is write_ranks else choices.STEP

    def fill(start: int) -> None:
        part = slice(start, start + step)
        if not failed and not write(keys[part], labels[part], scores[part], layout.below):
            failed.append(start)

    parallel_for(fill, range(0, n, step), jobs)
    return None if failed else keys


def write_keys(keys: Array, low_bits: Any, scores: Array, below: int) -> bool:
    """Write keys into an array of integers; different scores may have the same high bits."""
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
    keys &= ~below
    keys |= low_bits
    return True


def write_single_keys(keys: Array, low_bits: Any, scores: Array, below: int) -> bool:
    """Write keys of 64 bits, which hold any score of single precision whole."""
    if below.bit_length() >= SINGLE_ZEROS or not _is_single(scores):
        return False
    negative = _magnitudes(keys, scores)
    keys >>= SINGLE_ZEROS
    _finish(keys, negative, low_bits, below)
    return True


def write_exact_keys(keys: Array, low_bits: Any, scores: Array, below: int) -> bool:
    """Write keys of which different scores have different ones, if that is possible.

    Scores must be of usual magnitude, as not all exponents of a float occur then: with three bits
    below the score, from 2^-191 to 2^63 in keys of 64 bits; in those of 32 bits from 2^-23 to 2^8,
    in single precision.
    """
    n_bits, short = below.bit_length(), keys.itemsize == 4
    if short and (n_bits > MOST_SHORT_BITS or not _is_single(scores)):
        return False
    negative = _magnitudes(keys, scores)
    if not _shift_exponents(keys, n_bits, np.dtype(np.float32 if short else np.float64), scores):
        return False
    _finish(keys, negative, low_bits, below)
    return True


def _magnitudes(keys: Array, scores: Array) -> Array:
    """Write the bits of scores without their sign, and tell it: -1 where the score is positive."""
    floats = keys.view(np.float32 if keys.itemsize == 4 else np.float64)
    with np.errstate(over="ignore", under="ignore"):
        np.copyto(floats, scores, casting="unsafe")
        np.subtract(0.0, floats, out=floats)
    negative = keys >> (8 * keys.itemsize - 1)
    keys &= np.iinfo(keys.dtype).max
    return np.asarray(negative)


def _finish(keys: Array, negative: Array, low_bits: Any, below: int) -> None:
    keys ^= negative
    keys <<= below.bit_length()
    keys |= low_bits


def _is_single(scores: Array) -> bool:
    """Whether scores have the precision of floats of 32 bits, whatever their magnitude."""
    if scores.dtype.kind != "f":
        return np.array_equal(scores.astype(np.float32), scores)
    if scores.itemsize <= 4:
        return True
    return not np.bitwise_or.reduce(scores.view(np.int64), axis=None) & ((1 << SINGLE_ZEROS) - 1)


def _shift_exponents(keys: Array, n_bits: int, dtype: np.dtype[Any], scores: Array) -> bool:
    """Make room for bits below the magnitude of floats, if their exponents admit it."""
    n_fraction, highest = np.finfo(dtype).nmant, (1 << np.finfo(dtype).nexp) - 1
    lowest = highest // 2 - 3 * (highest >> n_bits) // 4
    # the bits of the float below the smallest one, and the value of an infinite one
    keys -= (lowest << n_fraction) - 1
    if keys.min() <= 0:
        if not np.array_equal(keys <= 0, scores == 0):
            return False
        np.maximum(keys, 0, out=keys)
    largest = (highest << n_fraction >> n_bits) - 1
    if keys.max() >= largest:
        if not np.array_equal(keys >= largest, np.isinf(scores)):
            return False
        np.minimum(keys, largest, out=keys)
    return True


def write_ranks(keys: Array, low_bits: Any, scores: Array, below: int) -> bool:
    """Write keys that begin with the rank of a score among the distinct ones, if these are few."""
    scores = scores.astype(np.float64, copy=False)
    first, counts = np.unique(scores[:TRIED], return_counts=True)
    if np.count_nonzero(counts == 1) > MOST_SINGLE * TRIED:
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
    if len(distinct) * (below + 1) > _infinity(keys.dtype):
        return False
    high_bits = np.zeros(SLOTS, keys.dtype)
    high_bits[used] = rank * (below + 1)
    high_bits.take(slots, out=keys, mode="clip")
    keys |= low_bits
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


def _infinity(integer: np.dtype[Any]) -> int:
    """The bits of an infinite float, which no key exceeds in its high bits."""
    floats = np.float32 if integer == np.int32 else np.float64
    return int(np.array(np.inf, floats).view(integer))


def pad(keys: Array, sizes: Array, below: int) -> None:
    """Overwrite what is beyond each query's end by keys that rank last and tie with nothing."""
    shortest, width = int(sizes.min()), keys.shape[1]
    if shortest == width:
        return
    columns = np.arange(shortest, width)
    # 32 bits have room for some 100,000 keys of padding; 64-bit keys resolve further collisions
    padding = _infinity(keys.dtype) + (columns - shortest + 1) * (below + 1)
    padding = np.minimum(padding, np.iinfo(keys.dtype).max & ~below).astype(keys.dtype)
    if keys.flags.fnc:  # stored by column
        np.copyto(keys.T[shortest:], padding[:, None], where=columns[:, None] >= sizes)
    else:
        np.copyto(keys[:, shortest:], padding, where=columns >= sizes[:, None])


def last_key(keys: Array, below: int) -> Array:
    """The highest key with the high bits of these, or of the last document if they are padding."""
    return np.asarray(np.minimum(keys, _infinity(keys.dtype)) | below)


def collides(sorted_keys: Array, below: int) -> Array:
    """Whether each sorted key has the same high bits as the next one."""
    return np.asarray(sorted_keys[:, 1:] <= (sorted_keys[:, :-1] | below))
