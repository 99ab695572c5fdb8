"""Dicts of dicts, ``{query: {document: value}}``, and the objects of ranx that hold them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol


class ToDict(Protocol):
    """A Qrels or Run of ranx."""

    def to_dict(self) -> Any:
        """A dict of dicts."""


def as_nested(source: Any) -> Any:
    """The dict of dicts of an object of ranx; anything else unchanged."""
    if hasattr(source, "to_dict") and not hasattr(source, "columns") and not _is_series(source):
        return source.to_dict()
    return source


def _is_series(source: Any) -> bool:
    return hasattr(source, "dtype") or hasattr(source, "to_numpy")


def is_nested(source: Any) -> bool:
    """Whether it is a dict of dicts of numbers, for one system."""
    if not isinstance(source, Mapping) or not source:
        return False
    if not all(isinstance(of_query, Mapping) for of_query in source.values()):
        return False
    values = (next(iter(of_query.values()), None) for of_query in source.values())
    return not any(_holds_more(value) for value in values)


def _holds_more(value: Any) -> bool:
    if getattr(value, "ndim", 1) == 0:  # a score as an array or tensor
        return False
    return isinstance(value, Mapping | list | tuple | set | frozenset) or hasattr(value, "__len__")


def wrong_entry(source: Mapping[Any, Any], system: str) -> str:
    """What keeps a dict from being a dict of dicts of numbers, and what to do about it."""
    key, of_key = next((k, v) for k, v in source.items() if not is_nested({k: v}))
    if not isinstance(of_key, Mapping):
        is_score = system and isinstance(of_key, str)
        advice = f" If {system!r} is a query, convert its scores to numbers." if is_score else ""
        return f"the value of {key!r} is the {_kind(of_key)}.{advice}"
    document, value = next(iter(of_key.items()))
    advice = " Convert text to numbers." if isinstance(value, str | bytes) else ""
    return f"the value of query {key!r} and document {document!r} is the {_kind(value)}.{advice}"


def _kind(value: Any) -> str:
    return f"{'text' if isinstance(value, str) else type(value).__name__} {value!r:.60}"


def flatten(nested: Mapping[Any, Mapping[Any, Any]]) -> tuple[list[Any], list[int], list[Any]]:
    """Documents, the number of those of each query, and their values."""
    sizes = [len(of_query) for of_query in nested.values()]
    documents = [document for of_query in nested.values() for document in of_query]
    values = [value for of_query in nested.values() for value in of_query.values()]
    return documents, sizes, values
