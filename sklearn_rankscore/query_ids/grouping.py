"""Rows grouped by query, for ids of any kind in any order, in linear time."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from .._typing import Array
from .read import (
    any_missing,
    as_ids,
    as_objects,
    check_no_nan,
    check_no_row_numbers,
    in_sorted_order,
    missing_ids_error,
)

# Fibonacci hashing (Knuth, The Art of Computer Programming, vol. 3, section 6.4):
# 2**64 over the golden ratio, whose multiples are spread evenly
HASH_FACTOR = np.uint64(0x9E3779B97F4A7C15)

# bytes of text up to which ids are hashed column by column; a column of longer ones is one letter
# of each cache line
LONGEST_TEXT = 4 * 64


@dataclass(frozen=True)
class Grouping:
    """Which rows belong to which query.

    Query ``q`` owns the entries ``starts[q] : starts[q] + sizes[q]`` of `rows`, which holds row
    numbers; if `rows` is None, the rows of each query are adjacent and entries are row numbers.

    Parameters
    ----------
    ids : array of shape (n_queries,)
        The distinct ids in sorted order, or in order of appearance if they cannot be compared.
    starts, sizes : int arrays of shape (n_queries,)
        Where each query starts, and its number of rows.
    rows : int array of shape (n_rows,) or None
        Row numbers by query, in input order within each query.
    """

    ids: Array
    starts: Array
    sizes: Array
    rows: Array | None = None
    _codes: list[Array] = field(default_factory=list, init=False, repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def n_rows(self) -> int:
        """Number of rows of all queries."""
        return int(self.sizes.sum())

    @property
    def codes(self) -> Array:
        """Position in `ids` of the query of each row."""
        # no cached_property: before Python 3.12 its lock is one of the class, held meanwhile
        if not self._codes:
            self._codes.append(self._number_rows())
        return self._codes[0]

    def _number_rows(self) -> Array:
        by_start = np.argsort(self.starts, kind="stable")
        codes = np.empty(self.n_rows, dtype=np.intp)
        rows = slice(None) if self.rows is None else self.rows
        codes[rows] = np.repeat(by_start, self.sizes[by_start])
        return codes

    @property
    def first_rows(self) -> Array:
        """The first row of each query."""
        return self.rows_at(self.starts)

    def rows_of(self, queries: Array) -> Array:
        """The rows of queries of equal size, one query per line."""
        return self.rows_at(self.starts[queries][:, None] + np.arange(int(self.sizes[queries[0]])))

    def rows_at(self, entries: Array) -> Array:
        """Row numbers of entries."""
        return entries if self.rows is None else self.rows[entries]

    def by_entry(self, values: Array) -> Array:
        """One value per row in the order of the entries, those of each query together."""
        return values if self.rows is None else values[self.rows]

    def varies(self, values: Array) -> Array:
        """Whether the rows of each query have different numbers, besides NaN."""
        values = self.by_entry(values)
        by_start = np.argsort(self.starts)
        starts, varies = self.starts[by_start], np.empty(len(self), dtype=bool)
        varies[by_start] = np.fmax.reduceat(values, starts) > np.fmin.reduceat(values, starts)
        return varies

    def by_appearance(self) -> Grouping:
        """The same queries in the order of their first rows."""
        order = np.argsort(self.first_rows, kind="stable")
        return Grouping(self.ids[order], self.starts[order], self.sizes[order], self.rows)


def group_rows(groups: Any, n_rows: int, name: str = "groups") -> Grouping:
    """Group rows by their ids, which errors call `name`."""
    check_no_row_numbers(groups, name)
    ids, values = as_ids(groups, name)
    _check_ids(ids, n_rows, name)
    try:
        return _group(ids, values, n_rows, name)
    except OverflowError:  # NumPy 2.5 does not compare times that no unit can express
        return _gathered(*factorize(ids, name))
    except TypeError as error:
        if any_missing(ids.tolist()):
            raise missing_ids_error(name) from error
        raise


def vary_within_queries(values: Any, ids: Any) -> bool:
    """Whether the rows of some query have different numbers, besides NaN."""
    numbers = np.asarray(values)
    return bool(group_rows(ids, len(numbers)).varies(numbers).any())


def _group(ids: Array, values: Array | None, n_rows: int, name: str) -> Grouping:
    if _is_scattered(ids):
        unique, codes = factorize(ids, name)
        return _gathered(unique if values is None else values[unique], codes)
    edges = np.concatenate([[0], np.flatnonzero(ids[1:] != ids[:-1]) + 1, [n_rows]])
    starts, sizes = edges[:-1], edges[1:] - edges[:-1]
    firsts = ids[starts]
    if values is None and ids.dtype.kind in "biuf" and (firsts[1:] > firsts[:-1]).all():
        return Grouping(firsts, starts, sizes)
    unique, codes = factorize(firsts, name)
    names = unique if values is None else values[unique]
    if len(unique) < len(starts):
        return _gathered(names, np.repeat(codes, sizes))
    position = np.empty_like(starts)
    position[codes] = np.arange(len(starts))
    return Grouping(names, starts[position], sizes[position])


def _gathered(ids: Array, codes: Array) -> Grouping:
    """Bring the rows of each query together."""
    sizes = np.bincount(codes, minlength=len(ids))
    return Grouping(ids, np.cumsum(sizes) - sizes, sizes, order_by_code(codes, len(ids)))


def order_by_code(codes: Array, n_codes: int) -> Array:
    """Row numbers in ascending order of code, by a stable counting sort in linear time."""
    n_rows = len(codes)
    # converting a sparse matrix with one entry per row from CSR to CSC is such a sort
    ones, row_ends = np.empty(n_rows, dtype=np.int8), np.arange(n_rows + 1)
    matrix = sparse.csr_array((ones, codes, row_ends), shape=(n_rows, n_codes))
    return np.asarray(matrix.tocsc().indices, dtype=np.intp)


def _is_scattered(ids: Array) -> bool:
    """Whether the rows of queries are so far apart that few neighbors have the same id."""
    sample = ids[:1024].tolist()
    changes = sum(a != b for a, b in pairwise(sample))
    try:
        return bool(2 * changes > len(sample) and len(set(sample)) <= changes)
    except TypeError:  # unhashable ids are refused by factorize
        return False


def _check_ids(ids: Array, n_rows: int, name: str) -> None:
    if len(ids) != n_rows:
        message = f"{name} must hold one id per row: got {len(ids)} for {n_rows} rows."
        if ids.dtype.kind in "iuf" and len(ids) and ids.sum() == n_rows:
            message += " These look like group sizes: pass np.repeat(np.arange(len(sizes)), sizes)."
        raise ValueError(message)
    check_no_nan(ids, name)


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
