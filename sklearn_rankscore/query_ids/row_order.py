"""Which arrays of labels and scores have rows of the same documents.

The functions that convert rankings lay out the rows of each call in an order of its own. Arrays of
two calls may have the same length and still mean different documents, so they are remembered, as
long as they live, and refused together.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from typing import Any

from .._typing import Array
from .by_array import ByArray

_calls = itertools.count()
# the number of the call that made an array
_calls_by_array: ByArray[int] = ByArray()


def record_row_order(arrays: Iterable[Array]) -> None:
    """Remember that the rows of these arrays are the same documents in the same order."""
    call = next(_calls)
    for array in arrays:
        _calls_by_array[array] = call


def check_same_call(arrays: Iterable[Any]) -> None:
    """Refuse arrays that different calls made."""
    if len({*map(_calls_by_array.get, arrays)} - {None}) > 1:
        raise ValueError(
            "labels or scores come from different calls, whose rows are different documents. "
            "Convert all systems in one call, as in from_trec(qrels, {'a': run_a, 'b': run_b}), "
            "and pass on its arrays together."
        )


def check_same_index(y_true: Any, scores: Mapping[str, Any], name_of_true: str) -> None:
    """Refuse pandas Series whose indexes show that their rows differ."""
    index = getattr(y_true, "index", None)
    index = index if hasattr(index, "equals") else None
    for name, values in scores.items():
        other = getattr(values, "index", None)
        if not hasattr(other, "equals"):
            continue
        if index is not None and not index.equals(other):
            raise ValueError(
                f"the scores of {name!r} have another index than {name_of_true} or the other "
                "systems, so their rows may be different documents. Align them, for example by "
                f"scores.loc[{name_of_true}.index], or pass to_numpy() if the rows are in the same "
                "order."
            )
        index = other


def check_same_order(**columns: Any) -> None:
    """Refuse pandas objects whose indexes hold the same row labels in different orders.

    A Series of scores without a name and with plain row numbers may be predictions for shuffled
    rows; one with a name may be a column of the table before it was shuffled.
    """
    known: dict[str, Any] = {}
    for name, values in columns.items():
        index: Any = getattr(values, "index", None)
        if not hasattr(index, "get_indexer"):
            continue
        if name == "y_score" and _has_row_numbers(index) and getattr(values, "name", None) is None:
            continue
        other = next((n for n, earlier in known.items() if _is_permutation(index, earlier)), None)
        if other is not None:
            raise ValueError(
                f"the indexes of {other} and {name} hold the same row labels in different orders, "
                f"but rows are combined by position. Align them, as in {name}.loc[{other}.index], "
                "or pass to_numpy() if the positions are right."
            )
        known[name] = index


def _has_row_numbers(index: Any) -> bool:
    return getattr(index, "start", None) == 0 and index.step == 1


def _is_permutation(index: Any, other: Any) -> bool:
    if len(index) != len(other) or index.equals(other):
        return False
    if not (index.is_unique and other.is_unique) or index.nlevels != other.nlevels:
        return False
    # pandas does not look up intervals that overlap
    if hasattr(index, "overlaps") or hasattr(other, "overlaps"):
        index, other = (i.astype(object) for i in (index, other))
    return bool((other.get_indexer(index) >= 0).all())
