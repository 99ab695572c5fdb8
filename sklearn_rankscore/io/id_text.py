"""Query and document ids as text, as they stand in a file."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, timedelta
from numbers import Number
from typing import Any

import numpy as np

from .._typing import Array

# the text of these depends on their format: 1 and 1.0, a date with and without the time of day
FORMATTED = (float, np.floating, date, timedelta, np.datetime64, np.timedelta64)


def as_texts(ids: Iterable[Any], kind: str, name: str) -> list[str]:
    """The text of each id; `kind` and `name` say in a message what they are and of which source."""
    return [value if type(value) is str else _as_text(value, kind, name) for value in ids]


def _as_text(value: Any, kind: str, name: str) -> str:
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError as error:
            raise ValueError(
                f"the {kind} id {value!r} of the {name} is not UTF-8. Decode the ids first."
            ) from error
    if isinstance(value, FORMATTED):
        raise ValueError(
            f"the {name} has {kind} ids of the type {type(value).__name__}, such as {value!r}, "
            "which cannot be matched with ids in text. Convert them to integers or strings."
        )
    return str(value)


def as_utf8(ids: Iterable[Any], name: str) -> Array:
    """Document ids in UTF-8."""
    texts = as_texts(ids, "document", name)
    try:
        encoded = [text.encode() for text in texts]
    except UnicodeEncodeError as error:
        raise ValueError(
            f"the document id {error.object!r} of the {name} is not valid text ({error.reason})."
        ) from error
    if wrong := [text for text in encoded if b"\0" in text]:
        raise ValueError(f"the {name} has the document id {wrong[0]!r}, which holds a NUL.")
    return np.array(encoded, dtype=f"S{max(map(len, encoded), default=1) or 1}")


def mixes_text(ids: Iterable[Any]) -> bool:
    """Whether some of the ids are text and others are not."""
    return len({issubclass(kind, str) for kind in set(map(type, ids))}) > 1


def refuse_lookalikes(sources: Iterable[Iterable[Any]], name: str) -> None:
    """Refuse 2 in one source and "2" in another: different ids, which were meant as one."""
    distinct = list(map(set, sources))
    for at, ids in enumerate(distinct):
        others = set().union(*distinct[:at], *distinct[at + 1 :])
        for value in ids - others:
            if isinstance(value, Number | bytes) and (text := _printed(value)) in others:
                raise TypeError(
                    f"{name} are {value!r} in one place and {text!r} in another, which are never "
                    "equal. Convert all of them to the same type."
                )


def _printed(value: Any) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)
