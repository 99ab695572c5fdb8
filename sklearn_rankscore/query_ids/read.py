"""Query ids of any library as NumPy arrays, and the rows grouped by them, in linear time."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import date, datetime, time
from typing import Any

import numpy as np
from scipy import sparse

from .._columns import large_integers, to_numpy
from .._typing import Array

# from this many rows on, text is encoded by its own library; each call takes some 100 microseconds
_ENCODED_TEXT = 5_000

# units of no fixed length, and that of NaT alone
_CALENDAR = ("Y", "M", "generic")

# types of most ids, among which nothing is missing
_NEVER_MISSING = {str, bytes, int, bool}

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
            by_start = np.argsort(self.starts, kind="stable")
            codes = np.empty(self.n_rows, dtype=np.intp)
            rows = slice(None) if self.rows is None else self.rows
            codes[rows] = np.repeat(by_start, self.sizes[by_start])
            self._codes.append(codes)
        return self._codes[0]

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
    sample = ids[:1024]
    changes = np.count_nonzero(sample[1:] != sample[:-1])
    try:
        return bool(2 * changes > len(sample) and len(set(sample.tolist())) <= changes)
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
    if ids.dtype.kind in "US" and 0 < ids.itemsize <= LONGEST_TEXT and ids.itemsize % 4 == 0:
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
    except TypeError:
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
    """Text or bytes of fixed width, without an object for each id; None if two of them collide."""
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


def as_ids(given: Any, name: str = "groups") -> tuple[Array, Array | None]:
    """Ids and None, or the codes of a column of text or categories and its sorted values.

    `name` is what errors call them: that of an argument, or a description in the plural.
    """
    encoded = None if isinstance(given, np.ndarray | list | tuple) else _encoded(given, name)
    if encoded is not None:
        categories, codes = encoded
        if (codes.size and codes.min() < 0) or any_missing(categories.tolist()):
            raise missing_ids_error(name)
        if categories.dtype.kind == "f":
            _check_not_rounded(categories[np.unique(codes)], name)
        try:
            values, codes = in_sorted_order(categories, codes)
        except TypeError:  # they cannot be compared
            return categories[codes], None
        return codes, values
    ids = _unencoded(given, name)
    if ids.ndim != 1:
        what = f"shape {ids.shape}" if ids.ndim else f"{type(given).__name__} {given!r:.40}"
        raise ValueError(
            f"{name} must be one-dimensional, one id per row; got {what}. Pass the column itself, "
            "such as X['qid'], or list(zip(X['a'], X['b'])) for ids of several columns."
        )
    _check_not_rounded(ids, name)
    return ids, None


def as_id_column(given: Any, name: str = "groups") -> Array:
    """Ids, one value per row, none of them NaN."""
    ids, values = as_ids(given, name)
    check_no_nan(ids, name)
    return ids if values is None else values[ids]


def _encoded(column: Any, name: str) -> tuple[Array, Array] | None:
    """(values, codes) of a column of text or categories, by its own library; None for others."""
    dtype = str(getattr(column, "dtype", getattr(column, "type", ""))).lower()
    is_text = dtype == "str" or dtype.removeprefix("large_").startswith("string")
    is_text = is_text and len(column) >= _ENCODED_TEXT
    if hasattr(column, "to_physical"):  # polars
        is_encoded = is_text or dtype.startswith(("categorical", "enum"))
        return _encoded_by_polars(column, is_text, name) if is_encoded else None
    if hasattr(column, "dictionary_encode"):  # pyarrow
        if is_text:
            column = column.dictionary_encode()
        if hasattr(column, "combine_chunks"):
            column = column.combine_chunks()
        if not hasattr(column, "indices"):
            return None
        if column.null_count:
            raise missing_ids_error(name)
        if column.dictionary.null_count or len(column.dictionary.unique()) < len(column.dictionary):
            return None  # its indices are not codes of distinct ids
        return np.asarray(column.dictionary), np.asarray(column.indices)
    if is_text and getattr(column.dtype, "storage", "pyarrow") == "pyarrow":  # pandas
        column = column.astype("category")
    if hasattr(getattr(column, "dtype", None), "categories"):
        data = column.cat if hasattr(column, "cat") else column
        return np.asarray(data.categories), np.asarray(data.codes)
    return None


def _encoded_by_polars(column: Any, is_text: bool, name: str) -> tuple[Array, Array]:
    if column.null_count():
        raise missing_ids_error(name)
    if is_text:
        import narwhals

        text = narwhals.from_native(column, series_only=True)
        column = text.cast(narwhals.Categorical()).to_native()
    # physical codes are shared by all columns of the process, so few of them may occur here
    used, physical = column.unique(), column.to_physical().to_numpy()
    table = np.zeros(int(physical.max(initial=0)) + 1, dtype=np.int32)
    table[used.to_physical().to_numpy()] = np.arange(len(used))
    return as_objects(used.to_list()), table[physical]


def _unencoded(given: Any, name: str) -> Array:
    """Ids as an array, of objects where NumPy would change them."""
    if isinstance(given, np.ma.MaskedArray):
        if np.ma.is_masked(given):
            raise ValueError(f"{name} must not have masked values; every row needs an id.")
        given = given.data
    is_list = isinstance(given, list | tuple)
    if is_list and _would_be_changed(given):
        return as_objects(given)
    try:
        ids = to_numpy(given, name)
    except ValueError as error:
        raise ValueError(f"{name} must hold one hashable id per row ({error}).") from error
    if is_list and ids.dtype.kind == "f" and large_integers(ids, given):
        return as_objects(given)  # the conversion has rounded them
    return ids


def _would_be_changed(given: list[Any] | tuple[Any, ...]) -> bool:
    """Whether NumPy would change the ids: tuples into rows, 1 and "1" into the same text."""
    kinds = set(map(type, given))
    if kinds <= {int, float, bool}:
        return False
    mixed = len(kinds) > 1 and any(issubclass(kind, str | bytes | None) for kind in kinds)
    if mixed or any(issubclass(kind, tuple | frozenset) for kind in kinds):
        return True
    # NumPy removes zeros at the end of text
    zeros = {str: "\0", bytes: b"\0"}
    ends = (zero for of_text, zero in zeros.items() if any(issubclass(k, of_text) for k in kinds))
    return any(value.endswith(zero) for zero in ends for value in given)


def _check_not_rounded(ids: Array, name: str) -> None:
    """Refuse floats so large that they cannot tell neighboring integers apart."""
    if ids.dtype.kind != "f":
        return
    n_bits = np.finfo(ids.dtype).nmant + 1
    largest = np.max(np.abs(ids), initial=0, where=np.isfinite(ids))
    if largest >= 2.0**n_bits:
        raise ValueError(
            f"{name} must not hold {ids.dtype.name} up to {largest:.6g}; from 2**{n_bits} on it "
            "rounds different integers to the same number. Pass integers or strings."
        )


def check_no_row_numbers(given: Any, name: str) -> None:
    """Refuse the index of a table whose rows have no names."""
    if hasattr(given, "get_level_values") and hasattr(given, "step") and given.name is None:
        raise ValueError(f"{name} must not be row numbers of a table: pass ids, such as X['qid'].")


def check_no_nan(ids: Array, name: str) -> None:
    """Refuse NaN and NaT; `factorize` refuses missing values among objects."""
    if ids.dtype.kind in "fmM" and (ids != ids).any():
        raise missing_ids_error(name)


def missing_ids_error(name: str) -> ValueError:
    """The error for rows without an id."""
    return ValueError(f"{name} must not have missing values; every row needs an id.")


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, NaT or pandas.NA, or a tuple that holds one of them."""
    if isinstance(value, tuple):
        return any(map(is_missing, value))
    if value is None or type(value).__name__ == "NAType":
        return True
    differs = value != value  # of an array, an array
    return isinstance(differs, bool | np.bool_) and bool(differs)


def any_missing(values: Collection[Any]) -> bool:
    """Whether some of several objects are missing."""
    return not set(map(type, values)) <= _NEVER_MISSING and any(map(is_missing, values))


def which_missing(values: Array) -> Array:
    """Which values of a one-dimensional array of any dtype are missing."""
    if values.dtype.kind in "fcmM":
        return np.asarray(values != values)
    if values.dtype.kind not in "biuUS" and any_missing(listed := values.tolist()):
        return np.array(list(map(is_missing, listed)), dtype=bool)
    return np.zeros(len(values), dtype=bool)


def in_sorted_order(unique: Array, codes: Array) -> tuple[Array, Array]:
    """Distinct ids in sorted order, and codes that refer to them."""
    order = np.argsort(unique, kind="stable")
    position = np.empty(len(order), dtype=np.result_type(codes.dtype, np.int32))
    position[order] = np.arange(len(order))
    return unique[order], position[codes]


def as_objects(ids: Any) -> Array:
    """A one-dimensional array of Python objects; tuples stay tuples."""
    return np.fromiter(ids, dtype=object, count=len(ids))


def python_values(values: Iterable[Any], *, dates: bool = True) -> list[Any]:
    """Values as objects of Python, among which equal ones of different types of NumPy are equal.

    Days are dates or, with ``dates=False``, times at midnight, which equal those of other units.
    """
    if not isinstance(values, np.ndarray):
        values = as_objects(list(values))
    if values.dtype.kind == "O":
        listed: list[Any] = values.tolist()
        if set(map(type, listed)) <= _NEVER_MISSING:
            return listed
        return [
            python_values(np.array([value]), dates=dates)[0]
            if isinstance(value, np.generic)
            else value
            for value in listed
        ]
    is_instant = values.dtype.kind in "mM" and np.datetime_data(values.dtype)[0] not in _CALENDAR
    if not is_instant or (dates and values.dtype == "M8[D]"):
        return list(values.tolist())
    # those in nanoseconds would become integers
    in_microseconds = values.astype(f"{values.dtype.kind}8[us]")
    are_exact = in_microseconds.astype(values.dtype) == values
    if are_exact.all():
        return list(in_microseconds.tolist())
    triples = zip(in_microseconds.tolist(), are_exact.tolist(), values, strict=True)
    return [value if is_exact else scalar for value, is_exact, scalar in triples]


def comparable_ids(ids: Iterable[Any]) -> list[Any]:
    """Ids by which queries match: equal dates, times and durations of any type are equal."""
    return [
        datetime.combine(value, time())
        if isinstance(value, date) and not isinstance(value, datetime)
        else value
        for value in python_values(ids, dates=False)
    ]
