"""Long DataFrames, one row per query and document, as arguments of a metric."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias, get_args

import numpy as np

from .._typing import UnjudgedDocuments
from .._validation import check_choice, check_flag, check_system_names
from .columns import Columns, columns_of
from .join import ALONE, Arguments, arguments, join, refuse_repeated
from .table import CodedRows, at_ranks, in_common

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
) -> Arguments:
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
        If ten or more documents have a relevance, and none of ten or more that a system retrieved.

    See Also
    --------
    from_ranked_lists : From one list of documents per query.
    from_trec : From relevance judgments and runs in files.

    Notes
    -----
    Relevant documents that were not predicted count as missed, with score -inf. All systems are
    evaluated on the same queries: those of `truth`, or with ``complete=False`` those with
    predictions of at least one system. A system without any for one of them retrieved nothing.

    The documents of a query are in the order of their first rows, which breaks ties where a library
    breaks them by order: ``like="trec_eval"`` ranks the last one first. `from_trec`, which takes
    frames as well, orders documents by their ids, as trec_eval does.

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
    field, value = ("score", score) if rank is None else ("rank", rank)
    systems = _by_system(predictions, value)
    log = columns_of("truth", truth)
    if predictions is None:
        if relevance is None or exclude is not None or not complete:
            raise TypeError(
                "a single frame has one row per document: relevance= is needed, and exclude= and "
                "complete= are options for two frames, of relevance and of predictions."
            )
        columns = {system: column for system, (_, _, column) in systems.items()}
        return of_one_table(log, groups, document, relevance, columns, field, unjudged)
    if document is None:
        raise TypeError("document= is needed to match the rows of truth and predictions.")
    judged = log.table(groups, document, relevance, "relevance", allow_nan=unjudged != "irrelevant")
    tables = [judged]
    for name, frame, column in systems.values():
        tables.append(columns_of(name, frame).table(groups, document, column, field))
    if exclude is not None:
        tables.append(columns_of("exclude", exclude).table(groups, document, None, "relevance"))
    if empty := [table.name for table in tables if not len(table.value)]:
        raise ValueError(f"{empty[0]} has no rows; at least one is needed.")
    return join(
        judged, dict(zip(systems, tables[1:], strict=False)), unjudged=unjudged, complete=complete,
        exclude=None if exclude is None else tables[-1],
        own_document=(lambda query: query) if ignore_identical_ids else None,
        advice=f" Keep one row, such as by drop_duplicates([{groups!r}, {document!r}]). Rows of "
        "several systems are passed as a dict of DataFrames by name.",
    )  # fmt: skip


def _by_system(predictions: Any, column: Any) -> dict[str, tuple[str, Any, Any]]:
    """The name of the frame of each system, the frame, and its column of scores or ranks."""
    if isinstance(column, Mapping) and isinstance(predictions, Mapping):
        raise TypeError("only one of predictions and score can be a dict of systems; got two.")
    if isinstance(predictions, Mapping):
        check_system_names("predictions", predictions)
        return {of: (f"predictions[{of!r}]", frame, column) for of, frame in predictions.items()}
    if isinstance(column, Mapping):
        check_system_names("score", column)
        return {of: ("predictions", predictions, name) for of, name in column.items()}
    return {ALONE: ("predictions", predictions, column)}


def of_one_table(
    rows: Columns, query: Any, document: Any, relevance: Any, systems: Mapping[str, Any],
    field: str, unjudged: str,
) -> Arguments:  # fmt: skip
    """Arguments of a metric, in the order of the rows, of columns of labels and of scores."""
    labels = rows.numbers(relevance, "relevance", allow_nan=unjudged != "irrelevant")
    if not len(labels):
        raise ValueError(f"{rows.name} has no rows; at least one is needed.")
    table = rows.table(query, document, None, field)
    ids, (code,) = in_common([table.query], "the query ids")
    items, (item,) = in_common([table.document], "the document ids")
    given = CodedRows(code, item, labels)
    if document is not None:
        refuse_repeated(table, given, np.full(len(code), True), ids, items, " Remove it.")
    scores = {}
    for system, column in systems.items():
        ranked = given._replace(value=rows.numbers(column, field))
        ranked = at_ranks(rows.name, ranked, len(items)) if table.is_ranked else ranked
        if len(ranked.query) > len(labels):
            raise ValueError(
                f"{rows.name}, the column of ranks, lacks ranks of some query, which a single "
                "frame must have. Pass the negatives as score= if they are ranks among more "
                "documents."
            )
        scores[system] = ranked.value
    return arguments(labels, scores, ids[code], unjudged)
