"""Where query ids are found: the only lookup, for scorers, splitters, QueryRanker and displays."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import IdSource

QID = "qid"


class NoGroupsError(ValueError):
    """No query ids reached a ranking metric, splitter or ranker."""


def find_query_ids(
    X: Any = None, y: Any = None, *, groups: Any = None, qid: Any = None, id_source: IdSource = None
) -> Any:
    """Row-aligned query ids, or None if there are none.

    Looked up in this order: explicit or routed `qid`; the column, index level or callable given by
    `id_source`; a column or index level ``qid`` of `X`; an index level ``qid`` of `y`; `groups`.
    Ids in the data take precedence over `groups`, which may be a coarser key meant for
    the splitter alone. `X` takes precedence over `y`, because a permutation test shuffles `y`
    together with its index.
    """
    if qid is not None:
        return qid
    if callable(id_source):
        return id_source(X)
    name = QID if id_source is None else id_source
    for data in (X, y):
        ids = column_or_level(data, name)
        if ids is not None:
            return ids
    if id_source is not None:
        raise NoGroupsError(
            f"groups={id_source!r} names no column or index level of X and no index level of y. "
            "Pass the name of one of them, or the query ids themselves."
        )
    return groups


def source_or_ids(groups: Any) -> tuple[IdSource, Any]:
    """What `groups` means: a string names a column or index level, an array holds ids."""
    return (groups, None) if isinstance(groups, str) else (None, groups)


def no_groups_error(caller: str, *, hint: str = "") -> NoGroupsError:
    """The error for missing query ids, which lists the ways to pass them; `hint` adds one."""
    return NoGroupsError(
        f"No query ids reached {caller}. Give them as a column or index level 'qid' of X, as an "
        "index level 'qid' of y (y = pd.Series(labels, index=pd.Index(ids, name='qid'))), as "
        "groups=ids or params={'groups': ids} with "
        "sklearn.set_config(enable_metadata_routing=True), by the name of another column as "
        "groups='column' of QueryRanker, the splitters and the scorer, "
        f"make_ranking_scorer(..., groups='column'){hint}."
    )


def drop_id_column(X: Any, id_source: IdSource = None) -> Any:
    """`X` without the column of query ids, which is not a feature."""
    column = id_source if isinstance(id_source, str) else QID
    if column not in _columns(X):
        return X
    return X.drop(columns=column) if hasattr(X, "iloc") else X.drop(column)


def column_or_level(data: Any, name: str) -> Any:
    """The column of that name, or else the index level; None without either."""
    if name in _columns(data):
        return data[name]
    index = getattr(data, "index", None)
    if name in (getattr(index, "names", None) or ()):
        return index.get_level_values(name)  # type: ignore[union-attr]
    return None


def _columns(data: Any) -> list[Any]:
    columns = getattr(data, "columns", None)
    return [] if columns is None or callable(columns) else list(np.asarray(columns, dtype=object))
