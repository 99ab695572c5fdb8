"""The file format of checkpoints: JSON and NumPy arrays, of which nothing is executed.

A file consists of a line with the number of the format, a line with the SHA-256 checksum of
everything else, and an npz archive without pickled objects, whose entry "json" refers to its other
entries by name.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from hashlib import sha256
from typing import Any, TypeGuard
from uuid import UUID

import numpy as np

from .._typing import Array
from ..metrics.segment import Segment
from .grouped_queries import GroupedQueries
from .instants import array_of_one
from .key_set import KeySet
from .moments import Moments
from .open_queries import OpenQueries
from .rows import Rows
from .state import State
from .totals import StoredValues, Totals

_START = b"sklearn_rankscore checkpoint, format "
_FIRST_LINE = _START + b"1\n"
_HEADER_LENGTH = len(_FIRST_LINE) + 65  # the checksum has 64 digits

# Python objects that may be query ids, as text and back
_IDS: dict[type, tuple[Callable[[Any], str], Callable[[str], Any]]] = {
    str: (str, str),
    bytes: (bytes.hex, bytes.fromhex),
    bool: (str, "True".__eq__),
    int: (str, int),
    float: (float.hex, float.fromhex),
    Decimal: (str, Decimal),
    date: (date.isoformat, date.fromisoformat),
    datetime: (datetime.isoformat, datetime.fromisoformat),
    time: (time.isoformat, time.fromisoformat),
    timedelta: (
        lambda value: str(value // timedelta(microseconds=1)),
        lambda text: timedelta(microseconds=int(text)),
    ),
    UUID: (str, UUID),
}
_READERS = {kind.__name__: read for kind, (_, read) in _IDS.items()}


def to_bytes(header: dict[str, Any], state: State) -> bytes:
    """The content of a checkpoint."""
    arrays: dict[str, Array] = {}
    tree = {"header": header, "state": _write_state(state, arrays)}
    arrays["json"] = np.frombuffer(json.dumps(tree).encode(), dtype=np.ubyte)
    file = io.BytesIO()
    np.savez(file, **arrays)  # type: ignore[arg-type, unused-ignore]
    return _FIRST_LINE + _checksum(file.getvalue()) + file.getvalue()


def has_begun(content: bytes) -> bool:
    """Whether this may be a checkpoint, or the first bytes of one."""
    return content.startswith(_START[: len(content)])


def is_intact(content: bytes) -> bool:
    """Whether this is a checkpoint of this format with the right checksum."""
    checksum = content[len(_FIRST_LINE) : _HEADER_LENGTH]
    return content.startswith(_FIRST_LINE) and checksum == _checksum(content[_HEADER_LENGTH:])


def from_bytes(content: bytes) -> tuple[dict[str, Any], State]:
    """The header and the state of a checkpoint.

    Raises
    ------
    ValueError
        If it is not a checkpoint, of another format or damaged; to be preceded by its path.
    """
    if not content.startswith(_START):
        raise ValueError("is not a checkpoint of sklearn_rankscore, or it is damaged")
    if not content.startswith(_FIRST_LINE):
        line = content[: len(_FIRST_LINE)].decode("ascii", "replace").strip()
        raise ValueError(f"is damaged or of another version: it starts with {line!r}")
    if not is_intact(content):
        raise ValueError("is damaged: its checksum is wrong")
    try:
        with np.load(io.BytesIO(content[_HEADER_LENGTH:]), allow_pickle=False) as archive:
            arrays = dict(archive)
        tree = json.loads(arrays["json"].tobytes())
        return tree["header"], _read_state(tree["state"], arrays)
    except Exception as error:  # a file that someone has made
        raise ValueError(f"is damaged: {type(error).__name__}: {error}") from error


def check_ids(ids: Array) -> None:
    """Refuse query ids, and values of segments, that a checkpoint cannot store."""
    if ids.dtype.hasobject:
        for query_id in {type(value): value for value in ids.tolist()}.values():
            _write_id(query_id)


def _checksum(payload: bytes) -> bytes:
    return sha256(_FIRST_LINE + payload).hexdigest().encode() + b"\n"


def _write_state(state: State, arrays: dict[str, Array]) -> dict[str, Any]:
    def write(ids: Any) -> Any:
        return _write_array(np.asarray(ids), arrays)

    def one(query_id: Any) -> Any:
        return None if query_id is None else write(array_of_one(query_id))

    def rows(part: Rows) -> Any:
        columns = {name: write(column) for name, column in part.columns.items()}
        segments = {name: write(column) for name, column in part.segments.items()}
        return [columns, write(part.ids), write(part.sizes), segments]

    values = state.totals.values.concatenated()
    return {
        "n_documents": state.n_documents,
        "origins": list(map(write, state.origins.levels)),
        "has_positive_weight": state.totals.has_positive_weight,
        "moments": {name: _write_moments(m) for name, m in state.totals.moments.items()},
        "values": values and [write(values[0]), {n: write(v) for n, v in values[1].items()}],
        "rows": [[one(name), list(map(rows, parts))] for name, parts in state.open.rows.items()],
        "intervals": [list(map(one, interval)) for interval in state.open.intervals],
        "last_id": one(state.open.last_id),
        "ended": list(map(write, state.open.ended.levels)) if _is_grouped(state.open) else None,
        "segments": [
            [s.column, one(s.value), {name: _write_moments(m) for name, m in moments.items()}]
            for s, moments in state.totals.segments.items()
        ],
    }


def _is_grouped(opened: OpenQueries) -> TypeGuard[GroupedQueries]:
    return isinstance(opened, GroupedQueries)


def _read_state(tree: dict[str, Any], arrays: dict[str, Array]) -> State:
    def read(entry: Any) -> Array:
        return _read_array(entry, arrays)

    def one(entry: Any) -> Any:
        return None if entry is None else read(entry)[0]

    def rows(entry: Any) -> Rows:
        columns, ids, sizes, segments = entry
        columns, segments = ({n: read(c) for n, c in part.items()} for part in (columns, segments))
        return Rows(columns, read(ids), read(sizes), segments)

    values = StoredValues()
    if tree["values"] is not None:
        ids, of_metrics = tree["values"]
        values = StoredValues(((read(ids), {n: read(v) for n, v in of_metrics.items()}),))
    moments = {name: _read_moments(entry) for name, entry in tree["moments"].items()}
    segments = {
        Segment(column, one(value)): {name: _read_moments(m) for name, m in entries.items()}
        for column, value, entries in tree["segments"]
    }
    totals = Totals(moments, values, tree["has_positive_weight"], segments)
    opened = OpenQueries(
        {one(name): list(map(rows, parts)) for name, parts in tree["rows"]},
        [(one(start), one(end)) for start, end in tree["intervals"]],
        one(tree["last_id"]),
    )
    if tree["ended"] is not None:
        opened = GroupedQueries(**vars(opened), ended=KeySet(tuple(map(read, tree["ended"]))))
    origins = KeySet(tuple(map(read, tree["origins"])))
    return State(totals, opened, tree["n_documents"], origins)


def _write_moments(moments: Moments) -> list[Any]:
    fractions = moments.numerator, moments.denominator
    # hexadecimal, because Python refuses decimal integers of more than 4,300 digits
    sums = [[hex(part) for part in f.as_integer_ratio()] for f in fractions]
    counts = [moments.n_queries, moments.n_undefined, moments.n_counted]
    return [counts, sums, [value.hex() for value in moments.products]]


def _read_moments(entry: list[Any]) -> Moments:
    counts, sums, products = entry
    numerator, denominator = (Fraction(*(int(part, 16) for part in pair)) for pair in sums)
    n_queries, n_undefined, n_counted = counts
    factors = tuple(map(float.fromhex, products))
    return Moments(n_queries, n_undefined, n_counted, numerator, denominator, factors)


def _write_array(array: Array, arrays: dict[str, Array]) -> Any:
    if not array.dtype.hasobject:
        name = f"array{len(arrays)}"
        arrays[name] = array
        return name
    return [_write_id(value) for value in array.tolist()]


def _write_id(value: Any) -> list[str]:
    if type(value) is tuple:
        return ["tuple", json.dumps(list(map(_write_id, value)))]
    if type(value) not in _IDS:
        known = ", ".join(kind.__name__ for kind in _IDS)
        raise TypeError(
            f"a checkpoint stores query ids and segments of the types {known}, of NumPy, and "
            f"tuples of these; got {value!r} of type {type(value).__name__}. Convert the column, "
            "for example to text, or run without a checkpoint."
        )
    return [type(value).__name__, _IDS[type(value)][0](value)]


def _read_array(entry: Any, arrays: dict[str, Array]) -> Array:
    if isinstance(entry, str):
        return arrays[entry]
    return np.fromiter(map(_read_id, entry), dtype=object, count=len(entry))


def _read_id(entry: list[str]) -> Any:
    kind, text = entry
    if kind == "tuple":
        return tuple(map(_read_id, json.loads(text)))
    return _READERS[kind](text)
