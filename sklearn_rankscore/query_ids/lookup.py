"""Where query ids are, and whether rows of several objects are the same: the only lookup."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, Self

import numpy as np

from .._columns import check_in_memory, column_names
from .._typing import Array, IdSource
from .._validation import shown
from .read import as_id_column, as_objects, group_rows, python_values

QID = "qid"
# usual names of the query ids, to find the column that an error message proposes
USUAL_NAMES = {
    *("qid", "query", "query_id", "queryid", "q_id", "session", "session_id", "sessionid"),
    *("search_id", "srch_id", "user", "user_id", "userid", "group", "group_id", "list_id"),
}


_PASSED_OR_IN_DATA = (
    "groups=ids; where scikit-learn does not pass them on, have them in the index of X or y, as by "
    "X.set_index('qid') or pd.Series(numpy.asarray(y), index=pd.Index(ids, name='qid')), or enable "
    "metadata routing by sklearn.set_config(enable_metadata_routing=True)."
)
DEFAULT_FIX = (
    f"in cross-validation pass groups=ids and cv=QueryKFold(5), elsewhere {_PASSED_OR_IN_DATA}"
)
# of a scorer outside of cross-validation, which refuses the call before any scorer runs
FIX_OF_SCORER = f"pass {_PASSED_OR_IN_DATA}"


class NoGroupsError(ValueError):
    """No query ids reached a ranking metric, splitter or ranker."""


def find_query_ids(
    X: Any, y: Any, *, groups: Any = None, qid: Any = None, id_source: IdSource
) -> Any:
    """Row-aligned query ids for a metric, or None if there are none.

    Looked up in this order: explicit or routed `qid`; the columns or index levels named by
    `id_source`; a column or index level ``qid`` of `X`; an index level ``qid`` of `y`; `groups`.
    Ids in the data take precedence over `groups`, which may be a coarser key meant for
    the splitter alone. `X` takes precedence over `y`, because a permutation test shuffles `y`
    together with its index.
    """
    check_in_memory(X, "X")
    check_place(id_source)
    check_same_order(X=X, groups=groups, qid=qid)
    check_same_rows(X=X, y=y)
    if qid is not None:
        return qid
    for data in (X, y):
        ids = ids_in(data, QID if id_source is None else id_source)
        if ids is not None:
            return ids
    if id_source is not None:
        known = any(ids_in(data, QID) is not None for data in (X, y))
        fix = f"Leave it out: the data have {QID!r}." if known else "Name one, or pass the ids."
        raise NoGroupsError(
            f"groups={id_source!r} names no column or index level of X and no index level of y. "
            + fix
        )
    return groups


def check_place(source: Any) -> None:
    """Refuse a source that is no place, such as the ids themselves, even if none is needed."""
    names = list(source) if isinstance(source, list | tuple) else [source]
    are_names = all(isinstance(name, str) for name in names) and len(names) > 0
    if source is not None and not are_names:
        raise TypeError(
            "groups must be the name of a column or index level, or a list of such names; got "
            f"{type(source).__name__}. Pass query ids to fit, split or score, as groups=ids."
        )


def find_explicit_ids(X: Any, y: Any, *, groups: Any, qid: Any = None, id_source: IdSource) -> Any:
    """Row-aligned query ids for an object that is given `groups` itself, or None.

    `groups` takes precedence over `qid` and over ids in the data.
    """
    ids, _ = ids_of_splits_and_queries(X, y, groups=groups, qid=qid, id_source=id_source)
    return ids


def ids_of_splits_and_queries(
    X: Any, y: Any, *, groups: Any, qid: Any = None, id_source: IdSource
) -> tuple[Any, Any]:
    """`groups`, and the finer ids in the data or `qid`, each standing for the other if missing.

    `groups` may be coarser than the queries, as users are than their sessions, but must not divide
    any of them.
    """
    check_same_order(X=X, groups=groups)
    if groups is None:
        ids = find_query_ids(X, y, qid=qid, id_source=id_source)
        return ids, ids
    try:
        queries = find_query_ids(X, y, qid=qid, id_source=id_source)
    except NoGroupsError:  # the named column is absent, as in an array
        queries = None
    if queries is None or queries is groups or not len(queries):
        return groups, groups
    by_query = group_rows(queries, len(queries))
    divided = by_query.varies(group_rows(groups, len(queries)).codes)
    if divided.any():
        raise ValueError(
            f"groups would divide {divided.sum()} of the {len(by_query)} queries in the data, such "
            f"as {shown(by_query.ids[divided][0])}; pass groups that do not, or leave them out."
        )
    return groups, queries


def source_or_ids(groups: Any, *data: Any) -> tuple[Any, Any]:
    """What `groups` means: a place in `data` where ids are found, or the ids themselves.

    A string is a place, and so is a list if all of its strings are names of columns or index levels
    of `data`, each once.
    """
    if isinstance(groups, str):
        return groups, None
    if np.isscalar(groups) or callable(groups):
        check_place(groups)
    names = list(groups) if isinstance(groups, list | tuple) else []
    are_names = all(isinstance(name, str) for name in names) and len(set(names)) == len(names) > 0
    if are_names and any(_has_all(table, groups) for table in data):
        return groups, None
    return None, groups


def no_groups_error(caller: str, *, X: Any = None, fix: str | None = None) -> NoGroupsError:
    """The error for missing query ids, with the shortest change to this call.

    Without `fix`, it is the one that suits the names of columns and index levels of `X`.
    """
    return NoGroupsError(f"No query ids reached {caller}: {fix or fix_by_name(X) or DEFAULT_FIX}")


def fix_by_name(X: Any) -> str | None:
    """The change that makes the ids known which `X` probably holds under another name, if any."""
    levels = [name for name in level_names(X) if isinstance(name, str)]
    columns = [name for name in column_names(X) if str(name).lower() in USUAL_NAMES]
    if not levels and not columns:
        return None
    name = (levels or columns)[0]
    if levels:
        fix = f"the index level {name!r}, rename it: X.rename_axis(index={{{name!r}: 'qid'}})."
    elif hasattr(X, "iloc"):  # a frame of pandas
        fix = f"the column {name!r}, write X.set_index({name!r}).rename_axis('qid')."
    else:
        fix = f"the column {name!r}, rename it to 'qid'."
    return (
        f"if they are {fix} Or name them in each object: QueryKFold(5, groups={name!r}), "
        f"QueryRanker(..., groups={name!r}) and 'ndcg@10(groups={name})'."
    )


def ids_in(data: Any, source: Any) -> Any:
    """The column at `source`, one or several names; None if a name is absent."""
    if isinstance(source, str):
        return column_or_level(data, source)
    if not _has_all(data, source):
        return None
    columns = [python_values(as_id_column(column_or_level(data, name))) for name in source]
    return as_objects(list(zip(*columns, strict=True)))  # one tuple for each row


def column_or_level(data: Any, name: str) -> Any:
    """The column of that name, or the index level; None without either."""
    level = index_level(data, name)
    if name not in column_names(data):
        return level
    column = data[name]
    if level is not None and not _are_equal(column, level):
        raise ValueError(
            f"{name!r} is both a column and an index level, and they differ: remove one, by "
            f"drop(columns={name!r}) or reset_index({name!r}, drop=True)."
        )
    return column


def index_level(data: Any, name: Any) -> Any:
    """The level of that name of a pandas index; None without it."""
    is_level = name is not None and name in level_names(data)
    return data.index.get_level_values(name) if is_level else None


def ids_in_index(data: Any, source: Any) -> Any:
    """The ids at `source`, one or several names of index levels; None if one is no level."""
    names = [source] if isinstance(source, str) else list(source)
    if not set(names) <= set(level_names(data)):
        return None
    return index_level(data, source) if isinstance(source, str) else ids_in(data, source)


def level_names(data: Any) -> list[Any]:
    """Names of the levels of a pandas index; empty for anything else."""
    return list(getattr(getattr(data, "index", None), "names", None) or ())


def _has_all(data: Any, names: Any) -> bool:
    return all(column_or_level(data, name) is not None for name in names)


def index_ids(**tables: Any) -> Any:
    """Query ids in an index level ``qid`` of labels, scores or features; None without any."""
    levels = ((name, index_level(table, QID)) for name, table in tables.items())
    known = [(name, ids) for name, ids in levels if ids is not None]
    for (one, ids), (other, others) in pairwise(known):
        if len(ids) == len(others) and not _are_equal(ids, others):
            raise ValueError(
                f"{one} and {other} have different query ids in their index levels 'qid', so that "
                "their rows are not the same documents: take both from one table, in one order."
            )
    return known[0][1] if known else None


def _are_equal(ids: Any, others: Any) -> bool:
    ids, others = np.asarray(ids), np.asarray(others)
    # nullable integers are not equal to others of the same values
    return np.array_equal(ids, others) or ids.tolist() == others.tolist()


def check_same_rows(**tables: Any) -> None:
    """Refuse pandas objects whose row labels or query ids show that their rows differ."""
    check_same_order(**tables)
    index_ids(**tables)


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
                f"the scores of {name!r} have another index than {name_of_true} or other systems: "
                f"align them by scores.loc[{name_of_true}.index], or pass to_numpy()."
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
        are_row_numbers = getattr(index, "start", None) == 0 and index.step == 1
        if name == "y_score" and are_row_numbers and getattr(values, "name", None) is None:
            continue
        other = next((n for n, earlier in known.items() if _is_permutation(index, earlier)), None)
        if other is not None:
            raise ValueError(
                f"the indexes of {other} and {name} hold the same row labels in different orders: "
                f"align them by {name}.loc[{other}.index], or pass to_numpy()."
            )
        known[name] = index


def _is_permutation(index: Any, other: Any) -> bool:
    if len(index) != len(other) or index.equals(other):
        return False
    if not (index.is_unique and other.is_unique) or index.nlevels != other.nlevels:
        return False
    return bool((other.get_indexer(index) >= 0).all())


class FoldRows(np.ndarray):
    """Row indices; `query_ids` holds the id of every row of X, not only of the fold's.

    `is_whole` tells that they are all rows of some queries; a part of them may be others.

    scikit-learn hands `groups` to the splitter alone. The indices that the splitter returns are
    what reaches each fit and score of a search, and so these bring the ids along. Some of the
    indices, as successive halving draws them, and copies, as clones of a search have them, carry
    them too; results of arithmetic and pickles are ordinary arrays.
    """

    query_ids: Any = None
    is_whole: bool = False

    def __getitem__(self, key: Any) -> Any:
        chosen = super().__getitem__(key)
        if isinstance(chosen, FoldRows):
            chosen.query_ids = self.query_ids
        return chosen

    def __deepcopy__(self, memo: Any) -> Self:
        copied = self.copy()
        copied.query_ids, copied.is_whole = self.query_ids, self.is_whole
        return copied

    def __repr__(self) -> str:
        return repr(self.view(np.ndarray))

    def __reduce__(self) -> Any:
        return self.view(np.ndarray).__reduce__()


def with_query_ids(rows: Array, query_ids: Any) -> Array:
    """The same indices, carrying the ids of all rows."""
    fold = rows.view(FoldRows)
    fold.query_ids, fold.is_whole = query_ids, True
    return fold
