"""The entries of each query in relevant items and in the predictions of one or several systems."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .._typing import Array
from .._validation import check_system_names, counted, shown
from ..query_ids import as_ids
from .entries import (
    check_ordered,
    is_items_and_scores,
    read_entries,
    refuse_long_frame,
    without_tensors,
)
from .join import ALONE
from .nested import as_nested, is_nested

Aligned = tuple[Array, list[Any], dict[str, list[Any]]]


def align_queries(actual: Any, predicted: Any) -> Aligned:
    """Query ids, the entry of each query in `actual`, and by system those in `predicted`."""
    refuse_long_frame(actual, "actual")
    predicted = _in_one_form(actual, predicted, "predicted")
    if not _holds_systems(actual, predicted):
        ids, relevant, ranked = _align_one(actual, predicted, "predicted")
        return ids, relevant, {ALONE: ranked}
    check_system_names("predicted", predicted)
    systems = {}
    for name, of_system in predicted.items():
        label = f"predicted {name!r}"
        of_system = _in_one_form(actual, as_nested(of_system), label)
        ids, relevant, systems[name] = _align_one(actual, of_system, label)
    return ids, relevant, systems


def _in_one_form(actual: Any, predicted: Any, name: str) -> Any:
    """Scores by query id, in which an empty list stands for no documents."""
    if not isinstance(actual, Mapping) or not isinstance(predicted, Mapping):
        return predicted
    lists = {query: entry for query, entry in predicted.items() if not isinstance(entry, Mapping)}
    if not lists or len(lists) == len(predicted) or any(query not in actual for query in predicted):
        return predicted
    for query, entry in lists.items():
        if np.size(entry):
            scored = next(query for query in predicted if query not in lists)
            raise TypeError(
                f"{name} has a dict of scores for the query {shown(scored)} and a "
                f"{type(entry).__name__} for {shown(query)}. Use dicts of scores for all queries, "
                "or for all of them lists of items, best first."
            )
    return {**predicted, **{query: {} for query in lists}}


def _holds_systems(actual: Any, predicted: Any) -> bool:
    """Whether `predicted` is a dict of systems by name, and not of queries by id."""
    if not isinstance(predicted, Mapping):
        return False
    if not isinstance(actual, Mapping):
        return not predicted or any(_holds_lists(entry) for entry in predicted.values())
    return not is_nested(predicted) and any(
        isinstance(as_nested(entry), Mapping)
        or hasattr(entry, "columns")
        or _is_series_of_lists(entry)
        for entry in predicted.values()
    )


def _is_series_of_lists(entry: Any) -> bool:
    return hasattr(entry, "index") and hasattr(entry, "dtype") and _holds_lists(entry)


def _holds_lists(entry: Any) -> bool:
    """Whether it has one entry per query, each of them a list."""
    if hasattr(entry, "columns") or getattr(entry, "ndim", 1) == 2:
        return True
    first = next(iter(entry), None) if hasattr(entry, "__iter__") else None
    (first,) = without_tensors([first])
    return isinstance(first, list | tuple) or hasattr(first, "shape")


def _align_one(actual: Any, predicted: Any, name: str) -> tuple[Array, list[Any], list[Any]]:
    refuse_long_frame(predicted, name)
    if is_items_and_scores(predicted):
        raise TypeError(
            f"{name} is a tuple of item numbers and scores, as returned by implicit. "
            "With a sparse matrix of interactions, use from_recommendations(interactions, items, "
            "scores); otherwise pass the item numbers alone, which are in order."
        )
    if is_nested(predicted) and isinstance(actual, Mapping):
        return _align_by_id(actual, predicted, name)
    if isinstance(actual, Mapping) and isinstance(predicted, Mapping):
        aligned = _align_by_id(actual, predicted, name)
    elif isinstance(actual, Mapping) or isinstance(predicted, Mapping):
        raise TypeError(
            f"actual and {name} must both be dicts by query id, or neither; got "
            f"{type(actual).__name__} and {type(predicted).__name__}."
            + _series_to_dict(actual, predicted)
        )
    else:
        aligned = _align_by_position(actual, predicted, name)
    check_ordered(aligned[2], name, "items, best first,")
    return aligned


def _align_by_position(
    actual: Any, predicted: Any, name: str
) -> tuple[Array, list[Any], list[Any]]:
    relevant, ranked = read_entries(actual, "actual"), read_entries(predicted, name)
    if len(relevant) != len(ranked):
        raise ValueError(
            f"actual has {len(relevant)} queries, {name} has {len(ranked)}; both need one entry "
            "per query, an empty list for a query without items."
            + _series_to_dict(actual, predicted)
        )
    index, other = getattr(actual, "index", None), getattr(predicted, "index", None)
    if hasattr(index, "is_unique") and hasattr(other, "is_unique"):
        return _ids_of_index(index, other, name), relevant, ranked
    return np.arange(len(relevant)), relevant, ranked


def _series_to_dict(actual: Any, predicted: Any) -> str:
    """How to match Series with a dict, or with Series of other queries."""
    sources = [source for source in (actual, predicted) if not isinstance(source, Mapping)]
    if not all(hasattr(source, "to_dict") and hasattr(source, "index") for source in sources):
        return ""
    if any(hasattr(source, "columns") for source in sources):
        return ""
    return " To match the queries of a Series by its index, pass it as a dict, series.to_dict()."


def _align_by_id(actual: Any, predicted: Any, name: str) -> tuple[Array, list[Any], list[Any]]:
    if unknown := [query for query in predicted if query not in actual]:
        known = next(iter(actual), unknown[0])
        if isinstance(known, str) != isinstance(unknown[0], str):
            raise TypeError(
                f"the query ids are text in one and not in the other: actual has {shown(known)}, "
                f"{name} has {shown(unknown[0])}. Convert one of them; the keys of JSON are text."
            )
        raise ValueError(
            f"`actual` lacks {counted(len(unknown), 'query')} of `{name}`; the first is "
            f"{shown(unknown[0])}. Choose what they count:\n"
            "- remove them from `predicted`: they do not count in the mean;\n"
            "- give them an empty list in `actual`: they count as queries without relevant items, "
            "with a value of 0 in most metrics (option replace_undefined_by)."
        )
    ranked = without_tensors([predicted.get(query, ()) for query in actual])
    return as_ids(list(actual))[0], read_entries(actual, "actual"), ranked


def _ids_of_index(index: Any, other: Any, name: str) -> Array:
    """Query ids from the common index of two Series or DataFrames."""
    if not index.equals(other):
        raise ValueError(
            f"actual and {name} have different indexes. Align them, for example by "
            "actual.loc[predicted.index], pass Series as dicts, series.to_dict(), to match queries "
            "by id, or pass actual.to_list() to match them by position."
        )
    if not index.is_unique:
        raise ValueError(
            f"the index of actual and {name} has duplicate query ids; use "
            "reset_index(drop=True) on both to match queries by position."
        )
    return as_ids(index.to_list())[0]
