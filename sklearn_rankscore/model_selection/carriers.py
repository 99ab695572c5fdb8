"""Where query ids come from: the one reader for scorers, splitters and QueryRanker."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..ranking import NoGroupsError

QID = "qid"

Bound = str | Callable[[Any], Any] | None


def find_groups(
    X: Any = None, y: Any = None, *, groups: Any = None, qid: Any = None, bound: Bound = None
) -> Any:
    """Row-aligned query ids, or None where none came along.

    The first of: explicit or routed `qid`; the bound column, index level or callable; a column
    or index level ``qid`` of `X`; an index level ``qid`` of `y`; routed `groups`. Ids that travel
    with the data come before `groups`, which may be a coarser key that only the splitter is
    meant to use. `X` comes before `y`, because a permutation test shuffles `y` with its index.
    """
    if qid is not None:
        return qid
    if callable(bound):
        return bound(X)
    name = QID if bound is None else bound
    for data in (X, y):
        ids = carried_ids(data, name)
        if ids is not None:
            return ids
    if bound is not None:
        raise NoGroupsError(
            f"groups={bound!r} names no column or index level of X and no index level of y. Give "
            "the name of a column that reaches the scorer, a callable on X, or the ids themselves."
        )
    return groups


def missing_groups(who: str, *, also: str = "") -> NoGroupsError:
    """The error where no ids came along: it says every way to give them, and `also` one more."""
    return NoGroupsError(
        f"No query ids reached {who}. Give them as a column or index level 'qid' of X, as an index "
        "level 'qid' of y (y = pd.Series(labels, index=pd.Index(ids, name='qid'))), as groups=ids "
        "or params={'groups': ids} with sklearn.set_config(enable_metadata_routing=True), by the "
        "name of another column as groups='column' of QueryRanker, the splitters and the scorer, "
        f"make_ranking_scorer(..., groups='column'){also}."
    )


def drop_ids(X: Any, name: Bound = None) -> Any:
    """`X` without the column of query ids, which is no feature."""
    column = name if isinstance(name, str) else QID
    if column not in _columns(X):
        return X
    return X.drop(columns=column) if hasattr(X, "iloc") else X.drop(column)


def carried_ids(data: Any, name: str = QID) -> Any:
    """Ids in a column of that name, or else in an index level; None without either."""
    if name in _columns(data):
        return data[name]
    index = getattr(data, "index", None)
    if name in (getattr(index, "names", None) or ()):
        return index.get_level_values(name)  # type: ignore[union-attr]
    return None


def _columns(data: Any) -> list[Any]:
    columns = getattr(data, "columns", None)
    return [] if columns is None or callable(columns) else list(np.asarray(columns, dtype=object))
