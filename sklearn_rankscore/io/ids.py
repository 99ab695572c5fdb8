"""Ids of queries and documents as codes, and as text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from numbers import Number
from typing import Any

import numpy as np

from .._typing import Array
from .._validation import shown
from ..query_ids.read import as_ids, as_objects, check_no_nan, factorize

# the text of these depends on their format: 1 and 1.0, a date with and without the time of day
FORMATTED = (float, np.floating, date, timedelta, np.datetime64, np.timedelta64)
# dtypes that NumPy brings to one without loss; integers and floats together would be rounded
ALIKE = (set("bi"), set("bu"), set("f"), set("M"), set("m"))


def encode(columns: Sequence[Any], name: str) -> tuple[list[Array], Array]:
    """The code of each id in each column, and the distinct ids.

    Numbers and text are different ids, and columns of both are refused.
    """
    codes, distinct = zip(*(_encode(column, name) for column in columns), strict=True)
    if len(distinct) == 1:
        return list(codes), distinct[0]
    kinds = {kind: ids[0] for ids in distinct if len(ids) and (kind := _kind(ids))}
    if len(kinds) > 1:
        both = " and ".join(f"{kind}, such as {shown(of)}," for kind, of in sorted(kinds.items()))
        of_pairs = " Pairs of an item and its score become a dict: {query: dict(pairs)}."
        raise TypeError(
            f"{name} are {both} which are never equal. Convert one of them."
            f"{of_pairs if 'tuples' in kinds else ''}"
        )
    if any({ids.dtype.kind for ids in distinct} <= alike for alike in ALIKE):
        common, position = np.unique(np.concatenate(distinct), return_inverse=True)
    else:
        listed = [value for ids in distinct for value in ids.tolist()]
        number = {value: code for code, value in enumerate(dict.fromkeys(listed))}
        common, position = as_objects(number), np.array([number[value] for value in listed], int)
        _refuse_lookalikes(number, name)
    starts = np.cumsum([len(ids) for ids in distinct])[:-1]
    return [at[own] for at, own in zip(np.split(position, starts), codes, strict=True)], common


def _encode(column: Any, name: str) -> tuple[Array, Array]:
    ids, categories = as_ids(column, name)
    check_no_nan(ids, name)
    if not len(ids):
        return np.zeros(0, dtype=np.intp), ids
    values, codes = factorize(ids, name)
    return codes, values if categories is None else categories[values]


def _kind(ids: Array) -> str | None:
    """What all ids are; None for several kinds, and for any other."""
    kinds = {"numbers": Number, "text": str, "bytes": bytes, "tuples": tuple}
    types = set(map(type, ids.tolist()))
    return next((k for k, of in kinds.items() if all(issubclass(t, of) for t in types)), None)


def _refuse_lookalikes(ids: Iterable[Any], name: str) -> None:
    """Refuse 2 and "2" among ids, which were meant as one."""
    text = {value for value in ids if isinstance(value, str)}
    for value in ids if text else ():
        printed = value.decode(errors="replace") if isinstance(value, bytes) else str(value)
        if isinstance(value, Number | bytes) and printed in text:
            raise TypeError(
                f"{name} are {value!r} in one place and {printed!r} in another, which are never "
                "equal. Convert all of them to the same type."
            )


def as_texts(ids: Iterable[Any], kind: str, name: str) -> list[str]:
    """The text of each id as in a file; `kind` and `name` say in a message what they are."""
    return [value if type(value) is str else _as_text(value, kind, name) for value in ids]


def _as_text(value: Any, kind: str, name: str) -> str:
    if isinstance(value, FORMATTED):
        raise ValueError(
            f"the {name} has {kind} ids of the type {type(value).__name__}, such as {value!r}, "
            "which cannot be matched with ids in text. Convert them to integers or strings."
        )
    return value.decode() if isinstance(value, bytes) else str(value)


def as_utf8(ids: Iterable[Any], name: str) -> Array:
    """Document ids in UTF-8."""
    return np.array([text.encode() for text in as_texts(ids, "document", name)], dtype="S")
