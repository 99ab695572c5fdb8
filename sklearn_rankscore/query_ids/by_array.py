"""A weak mapping from arrays to facts about them."""

from __future__ import annotations

import weakref
from typing import Any, Generic, TypeVar

from .._typing import Array

T = TypeVar("T")


class ByArray(Generic[T]):
    """One value for each of some arrays, which is forgotten together with the array."""

    def __init__(self) -> None:
        # by id of the array, because arrays are not hashable
        self._entries: dict[int, tuple[weakref.ref[Array], T]] = {}

    def __setitem__(self, array: Array, value: T) -> None:
        key = id(array)

        def forget(_: Any) -> None:
            self._entries.pop(key, None)

        self._entries[key] = weakref.ref(array, forget), value

    def get(self, array: Any) -> T | None:
        """The value of an array, None if it has none."""
        reference, value = self._entries.get(id(array), (None, None))
        return value if reference is not None and reference() is array else None

    def __len__(self) -> int:
        return len(self._entries)
