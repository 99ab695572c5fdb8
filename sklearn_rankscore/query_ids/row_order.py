"""Whether the rows of labels and scores are the same documents, by their pandas indexes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


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
