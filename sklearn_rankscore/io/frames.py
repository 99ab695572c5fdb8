"""Long DataFrames, one row per query and document, as arguments of a metric."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias, get_args

import numpy as np

from .._columns import check_in_memory, column_names
from .._typing import Array, UnjudgedDocuments
from .._validation import check_choice, check_flag, check_system_names, did_you_mean, shown
from ..query_ids.lookup import index_level
from .join import ALONE, Documents, arguments, find_repeated, join, match, select_queries
from .table import Table, at_ranks
from .text import Columns

ColumnName: TypeAlias = str | int


def from_frames(
    truth: Any,
    predictions: Any = None,
    *,
    groups: ColumnName,
    document: ColumnName | None = None,
    relevance: ColumnName | None = None,
    score: ColumnName | Mapping[str, ColumnName] | None = None,
    rank: ColumnName | None = None,
    complete: bool = True,
    unjudged: UnjudgedDocuments = "irrelevant",
    exclude: Any = None,
    ignore_identical_ids: bool = False,
) -> Documents:
    """Build the arguments of a metric from long DataFrames, such as a log and a top-N list.

    Parameters
    ----------
    truth : DataFrame
        One row per query (user, session) and relevant document (item), of pandas, polars, pyarrow
        or any other library whose data frames have an attribute `columns` and columns that can be
        converted to NumPy arrays.
    predictions : DataFrame, dict of str to DataFrame, or None, default=None
        One row per query and predicted document; several systems as a dict by name. None if `truth`
        contains the scores as well, with one row per document.
    groups : str or int
        Column (or index level) of the query ids, in both frames.
    document : str or int, default=None
        Column of the document ids, in both frames. Optional for a single frame.
    relevance : str or int, default=None
        Column of `truth` with the relevance. None means that every row of `truth` is relevant,
        with relevance 1.
    score : str, int or dict of str to these, default=None
        Column of `predictions` with the scores, higher is better, -inf for a document that was not
        retrieved; or the columns of several systems, by name.
    rank : str or int, default=None
        Column of `predictions` with the ranks, 1 for the best, instead of `score`. Ranks are
        positions: one that is missing belongs to a document that nobody judged. A single frame
        must have all of them.
    complete : bool, default=True
        Whether to include queries of `truth` without predictions, with nothing retrieved. False
        excludes them, which favors a system that makes predictions for easy queries only. Queries
        of `predictions` that `truth` does not contain are excluded.
    unjudged : {"irrelevant", "drop", "nan"}, default="irrelevant"
        What metrics do with predicted documents that `truth` does not contain, whose label is NaN
        because nobody judged them: give them the label 0, remove them, or leave it to the option
        `unjudged` of the metric. If it is not "irrelevant", the relevance in `truth` may be missing
        as well. See :doc:`/guide/labels`.
    exclude : DataFrame, default=None
        Queries and documents that do not count, whether relevant, predicted or both, such as the
        interactions that a recommender was trained on. Later predictions move up.
    ignore_identical_ids : bool, default=False
        Whether to leave out predictions whose document id is the query id, as BEIR does.

    Returns
    -------
    dict
        ``y_true``, ``y_score`` and ``groups``, arrays of shape (n_documents,), and ``unjudged``
        unless it is "nan", to be passed on as ``recall_at_k(**from_frames(log, top, groups="user",
        document="item", rank="rank"), k=10)``. With several systems, ``y_score`` is a dict of such
        arrays.

    Raises
    ------
    ValueError
        If a frame has no rows, a column is missing, an id, a relevance or a score is missing, a
        document is duplicated, or the frames have no query in common.
    TypeError
        If an argument is not a DataFrame, both or neither of `score` and `rank` are given, systems
        lack names, ids are numbers in one frame and text in the other, `document` is missing for
        two frames, or a single one has no `relevance` or an option for two.

    Warns
    -----
    UserWarning
        If none of ten or more documents that a system retrieved has a relevance for any query.

    See Also
    --------
    from_ranked_lists : From one list of documents per query.
    from_trec : From relevance judgments and runs in files.

    Notes
    -----
    Relevant documents that were not predicted count as missed, with score -inf. All systems are
    evaluated on the same queries: those of `truth`, or with ``complete=False`` those with
    predictions of at least one system. A system without any for one of them retrieved nothing.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn_rankscore import from_frames, recall_at_k
    >>> log = pd.DataFrame({"user": ["ann", "ann", "bob"], "item": ["tea", "jam", "tea"]})
    >>> top = pd.DataFrame({"user": ["ann", "ann"], "item": ["tea", "oil"], "rank": [1, 2]})
    >>> documents = from_frames(log, top, groups="user", document="item", rank="rank")
    >>> recall_at_k(**documents, k=2)
    0.25
    """
    check_flag("complete", complete)
    check_choice("unjudged", unjudged, get_args(UnjudgedDocuments))
    check_flag("ignore_identical_ids", ignore_identical_ids)
    if (score is None) == (rank is None):
        raise TypeError(
            "pass either score=, the column of the scores, or rank=, the column of the ranks; "
            f"got {'neither' if rank is None else 'both'}."
        )
    value, field = (score, "score") if rank is None else (rank, "rank")
    labels = (relevance, "relevance")
    may_be_nan = unjudged != "irrelevant"
    if predictions is None:
        if relevance is None or exclude is not None or not complete:
            raise TypeError(
                "a single frame has one row per document: relevance= is needed, and exclude= and "
                "complete= are options for two frames, of relevance and of predictions."
            )
        systems = {
            name: frame.table(groups, document, column, field)
            for name, (frame, column) in _by_system("truth", truth, value).items()
        }
        values = _columns("truth", truth).numbers(*labels, allow_nan=may_be_nan)
        return _of_one_frame(values, systems, unjudged, has_documents=document is not None)
    if document is None:
        raise TypeError("document= is needed to match the rows of truth and predictions.")
    judged = _columns("truth", truth).table(groups, document, *labels, allow_nan=may_be_nan)
    systems = {
        name: frame.table(groups, document, column, field)
        for name, (frame, column) in _by_system("predictions", predictions, value).items()
    }
    left_out = []
    if exclude is not None:
        left_out = [_columns("exclude", exclude).table(groups, document, None, "relevance")]
    _refuse_empty([judged, *systems.values(), *left_out])
    ids, items, tables = match(
        [judged, *systems.values(), *left_out],
        f"the query ids in column {groups!r}", f"the document ids in column {document!r}",
    )  # fmt: skip
    advice = (
        f" Keep one row, such as by drop_duplicates([{groups!r}, {document!r}]). Rows of several "
        "systems are passed as a dict of DataFrames by name."
    )
    named = dict(zip(systems, tables[1:], strict=False))
    return join(
        ids, items, tables[0], named, unjudged=unjudged,
        selected=select_queries(ids, tables[0], named, complete),
        exclude=tables[-1] if left_out else None,
        identical=ids.tolist() if ignore_identical_ids else None, advice=advice,
    )  # fmt: skip


def _refuse_empty(tables: Iterable[Table]) -> None:
    for table in tables:
        if not len(table.query):
            raise ValueError(f"{table.name} has no rows; at least one is needed.")


def _by_system(name: str, frames: Any, column: Any) -> dict[str, tuple[Columns, ColumnName]]:
    """The frame and the column of values of each system."""
    if isinstance(column, Mapping) and isinstance(frames, Mapping):
        raise TypeError("only one of predictions and score can be a dict of systems; got two.")
    if isinstance(column, Mapping):
        check_system_names("score", column)
        return {system: (_columns(name, frames), of) for system, of in column.items()}
    if isinstance(frames, Mapping) and name == "predictions":
        check_system_names(name, frames)
        return {
            system: (_columns(f"{name}[{system!r}]", frame), column)
            for system, frame in frames.items()
        }
    return {ALONE: (_columns(name, frames), column)}


def _columns(name: str, frame: Any) -> Columns:
    check_in_memory(frame, name)
    present = [] if isinstance(frame, Mapping) else column_names(frame)
    if not present:
        raise TypeError(
            f"{name} must be a DataFrame in memory with one row per query and document; got a "
            f"{type(frame).__name__}. pandas.DataFrame takes columns and records; lists by query "
            "go into from_ranked_lists, files into from_trec, and several systems are a dict of "
            "DataFrames by name."
        )
    return Columns(name, present, lambda column: _column(name, frame, present, column))


def _column(name: str, frame: Any, present: list[Any], column: Any) -> Any:
    """A column, or a level of the index of a pandas DataFrame."""
    if present.count(column) == 1:
        return frame[column]
    if column in present:
        raise ValueError(f"{name} has more than one column {column!r}; its columns are {present}.")
    if (level := index_level(frame, column)) is not None:
        return level
    fix = did_you_mean(column, present)
    if isinstance(column, list | tuple):
        fix = " Name one column, in which ids of several are tuples, or score= as a dict."
    elif same := [one for one in present if str(one).lower() == str(column).lower()]:
        fix = f" Did you mean {same[0]!r}?"
    raise ValueError(
        f"{name} has no column {column!r}; its columns are {present}.{fix} Columns of ids need the "
        "same name in all frames."
    )


def _of_one_frame(
    labels: Array, systems: dict[str, Table], unjudged: str, *, has_documents: bool
) -> Documents:
    """Arguments of a metric, in the order of the rows."""
    _refuse_empty(systems.values())
    for table in systems.values():
        if table.has_ranks and len(at_ranks(table, 0).query) > len(labels):
            raise ValueError(
                "truth, the column of ranks, lacks ranks of some query, which a single frame must "
                "have. Pass the negatives as score= if they are ranks among more documents."
            )
        pairs = table.query * (1 + np.int64(table.document.max())) + table.document
        row = find_repeated(np.unique(pairs, return_inverse=True)[1]) if has_documents else None
        if row is not None:
            raise ValueError(
                f"{table.where(row)}: duplicate document "
                f"{shown(table.documents[table.document[row]])} for query "
                f"{shown(table.queries[table.query[row]])}. Remove it."
            )
    first = next(iter(systems.values()))
    scores = {
        name: -table.value.astype(np.float64) if table.has_ranks else table.value
        for name, table in systems.items()
    }
    ids: Any = first.queries
    return arguments(labels, scores, ids[first.query], unjudged)
