"""Lists of items of any hashable type as integer codes, query by query."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from itertools import chain, repeat
from numbers import Integral, Number, Real
from typing import Any

import numpy as np

from .._columns import INSTANTS, as_numbers
from .._typing import Array
from .._validation import shown
from ..query_ids.read import any_missing, as_key
from .id_text import mixes_text, refuse_lookalikes
from .join import ItemLists

_PAIRS = (
    "Of pairs of an item and its score, make a dict: {query: dict(pairs)}; actual and predicted "
    "are then both dicts by query id."
)


def item_lists(
    relevant: list[Any], systems: Mapping[str, list[Any]]
) -> tuple[ItemLists, dict[str, ItemLists], list[Any]]:
    """The relevant items of each query, those that each system predicted, and all items by code.

    Predicted items are a collection by rank for each query, or for all queries of a system a dict
    from item to score.
    """
    lists = {"actual": relevant, **{f"predicted {n}": r for n, r in systems.items()}}
    codes, items = _encode(lists)
    relevance: Array = np.ones(sum(map(len, relevant)), dtype=np.int64)
    if any(isinstance(items, Mapping) for items in relevant) and len(relevance):
        relevance = as_numbers(list(chain.from_iterable(map(_relevance, relevant))), "actual")
    predicted = {
        name: ItemLists(query_positions(ranked), of_system, _scores(ranked, name))
        for (name, ranked), of_system in zip(systems.items(), codes[1:], strict=True)
    }
    return ItemLists(query_positions(relevant), codes[0], relevance), predicted, items


def _relevance(items: Collection[Any]) -> Iterable[Any]:
    return items.values() if isinstance(items, Mapping) else repeat(1, len(items))


def _scores(ranked: list[Any], name: str) -> Array:
    if not any(isinstance(items, Mapping) for items in ranked):
        return scores_by_rank(ranked)
    scores = list(chain.from_iterable(items.values() for items in ranked if len(items)))
    name = f"predicted[{name!r}]" if name else "predicted"
    return as_numbers(scores, name).astype(np.float64) if scores else np.zeros(0)


def _encode(lists: Mapping[str, list[Any]]) -> tuple[list[Array], list[Any]]:
    """Integer codes of the items of several lists of queries, and the item of each code."""
    _check_same_type(lists)
    try:
        items = dict.fromkeys(chain.from_iterable(chain.from_iterable(lists.values())))
    except TypeError as error:
        raise TypeError(_unhashable(lists)) from error
    if any_missing(items):
        raise ValueError(
            "an item of actual or predicted is missing (None or NaN). Remove it; a query without "
            "items has an empty list."
        )
    if mixes_text(items):
        sources = map(chain.from_iterable, lists.values())
        refuse_lookalikes(sources, "the items of actual and predicted")
    numbers = dict(zip(items, range(len(items)), strict=True))
    if any(issubclass(of_item, INSTANTS) for of_item in set(map(type, items))):
        numbers = _equal_instants(numbers)
    code: Callable[[Any], int] = numbers.__getitem__
    return [
        np.fromiter(map(code, chain.from_iterable(queries)), dtype=np.int64)
        for queries in lists.values()
    ], list(items)


def _equal_instants(numbers: dict[Any, int]) -> dict[Any, int]:
    """The same number for equal dates and times of different types, the first of them."""
    first: dict[Any, int] = {}
    return {item: first.setdefault(as_key(item), number) for item, number in numbers.items()}


def _check_same_type(lists: Mapping[str, list[Any]]) -> None:
    """Refuse numbers in one and text in another list, as after a round trip through JSON."""
    actual, *systems = (
        dict(zip(map(type, items), items, strict=True))
        for items in (list(chain.from_iterable(queries)) for queries in lists.values())
    )
    for of_type, item in chain.from_iterable(types.items() for types in (actual, *systems)):
        if hasattr(of_type, "detach") or hasattr(of_type, "as_py"):
            raise TypeError(
                f"items must be Python objects or values of NumPy; got the {of_type.__name__} "
                f"{item!r}, which does not equal other items. Convert the lists, for example by "
                "tolist() or to_pylist()."
            )
    kind = _kind(actual)
    for predicted in systems:
        other = _kind(predicted)
        if None in (kind, other) or kind == other:
            continue
        both = sorted(
            f"{name}, such as {shown(next(iter(examples.values())))}"
            for name, examples in ((kind, actual), (other, predicted))
        )
        fix = "Convert one of them."
        if other == "tuples":
            fix = _PAIRS
        raise TypeError(
            f"the items of actual and predicted are {both[0]}, and {both[1]}, which are never "
            f"equal. {fix}"
        )


def _kind(examples: Mapping[type, Any]) -> str | None:
    """The kind of all items, by their types; None for several kinds, and for any other."""
    kinds = {"numbers": Number, "text": str, "tuples": tuple, "bytes": bytes}
    for name, kind in kinds.items():
        if examples and all(issubclass(of_item, kind) for of_item in examples):
            return name
    return None


def _unhashable(lists: Mapping[str, list[Any]]) -> str:
    """An error message about the first item that is not hashable."""
    for name, queries in lists.items():
        for at, items in enumerate(queries):
            for item in items:
                try:
                    hash(item)
                except TypeError:
                    return (
                        f"items must be hashable; query number {at} of {name.strip()} holds the "
                        f"{type(item).__name__} {item!r:.100}. {_instead_of(item)}"
                    )
    return "items must be hashable."


def _instead_of(item: Any) -> str:
    """What to pass instead of an item that is not hashable."""
    if isinstance(item, Mapping):
        key = next((key for key in item if str(key).lower().endswith("id")), "id")
        return f"Pass the id of the item alone, such as hit[{key!r}]."
    if isinstance(item, list) and len(item) == 2 and isinstance(item[1], Real):
        is_id = isinstance(item[1], Integral)
        return _PAIRS + (" If the pair itself is the item, make it a tuple." if is_id else "")
    way = "frozenset" if isinstance(item, Set) else "tuple or a string"
    return f"Convert it to a {way}, in both arguments."


def _sizes(lists: Sequence[Any]) -> Array:
    return np.fromiter(map(len, lists), dtype=np.intp, count=len(lists))


def query_positions(lists: Sequence[Any]) -> Array:
    """The position of the query of each entry."""
    return np.repeat(np.arange(len(lists)), _sizes(lists))


def scores_by_rank(lists: Sequence[Any]) -> Array:
    """0, -1, -2, … within each list, which ranks it in its own order."""
    sizes = _sizes(lists)
    starts = np.cumsum(sizes) - sizes
    return (np.repeat(starts, sizes) - np.arange(sizes.sum())).astype(np.float64)
