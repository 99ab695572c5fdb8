"""Long DataFrames, one row per query and document, as arguments of a metric."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, get_args, overload

import numpy as np

from .._typing import Array, UnjudgedDocuments
from .._validation import check_choice, check_system_names, counted, shown
from .codes import encode
from .frame_rows import ColumnName, Duplicates, FrameRows, Kind, check_names
from .join import ALONE, MetricArguments, SystemArguments, arguments, join
from .trec_records import Frame

MissingQueries: TypeAlias = Literal["count", "drop", "error"]
UnjudgedQueries: TypeAlias = Literal["drop", "error"]


@overload
def from_frames(
    truth: Frame,
    predictions: Mapping[str, Frame],
    *,
    query: ColumnName,
    document: ColumnName | None = ...,
    relevance: ColumnName | None = ...,
    score: ColumnName | Mapping[str, ColumnName] | None = ...,
    rank: ColumnName | None = ...,
    duplicates: Duplicates = ...,
    missing_queries: MissingQueries = ...,
    unjudged_queries: UnjudgedQueries = ...,
    unjudged: UnjudgedDocuments = ...,
) -> SystemArguments: ...
@overload
def from_frames(
    truth: Frame,
    predictions: Frame | None = ...,
    *,
    query: ColumnName,
    document: ColumnName | None = ...,
    relevance: ColumnName | None = ...,
    score: Mapping[str, ColumnName],
    rank: None = ...,
    duplicates: Duplicates = ...,
    missing_queries: MissingQueries = ...,
    unjudged_queries: UnjudgedQueries = ...,
    unjudged: UnjudgedDocuments = ...,
) -> SystemArguments: ...
@overload
def from_frames(
    truth: Frame,
    predictions: Frame | None = ...,
    *,
    query: ColumnName,
    document: ColumnName | None = ...,
    relevance: ColumnName | None = ...,
    score: ColumnName | None = ...,
    rank: ColumnName | None = ...,
    duplicates: Duplicates = ...,
    missing_queries: MissingQueries = ...,
    unjudged_queries: UnjudgedQueries = ...,
    unjudged: UnjudgedDocuments = ...,
) -> MetricArguments: ...
def from_frames(
    truth: Frame,
    predictions: Frame | Mapping[str, Frame] | None = None,
    *,
    query: ColumnName,
    document: ColumnName | None = None,
    relevance: ColumnName | None = None,
    score: ColumnName | Mapping[str, ColumnName] | None = None,
    rank: ColumnName | None = None,
    duplicates: Duplicates = "error",
    missing_queries: MissingQueries = "count",
    unjudged_queries: UnjudgedQueries = "drop",
    unjudged: UnjudgedDocuments = "irrelevant",
) -> Any:
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
    query : str or int
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
        Column of `predictions` with the ranks, 1 for the best, instead of `score`.
    duplicates : {"error", "drop", "keep"}, default="error"
        How to treat a document that occurs more than once for a query. Both "drop" and "keep" use
        its highest relevance. Of its predictions, "drop" retains only the best one; with "keep",
        only the best one is relevant, and each other one keeps its rank as an irrelevant document.
    missing_queries : {"count", "drop", "error"}, default="count"
        How to treat queries of `truth` without predictions: "count" includes them, with nothing
        retrieved; "drop" excludes them, which favors a system that makes predictions for easy
        queries only.
    unjudged_queries : {"drop", "error"}, default="drop"
        How to treat queries of `predictions` that `truth` does not contain.
    unjudged : {"irrelevant", "drop", "nan"}, default="irrelevant"
        What metrics do with predicted documents that `truth` does not contain, whose label is NaN
        because nobody judged them: give them the label 0, remove them, or leave it to the option
        `unjudged` of the metric. If it is not "irrelevant", the relevance in `truth` may be missing
        as well. See :doc:`/guide/labels`.

    Returns
    -------
    dict
        ``y_true``, ``y_score`` and ``groups``, arrays of shape (n_documents,), and ``unjudged``
        unless it is "nan", to be passed on as ``recall_at_k(**from_frames(log, top, query="user",
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
        two frames, or a single one has no `relevance` or an option for two, such as `duplicates`.

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
    evaluated on the same queries: those of `truth`, or with ``missing_queries="drop"`` those with
    predictions of at least one system. A system without any for one of them retrieved nothing.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn_rankscore import from_frames, recall_at_k
    >>> log = pd.DataFrame({"user": ["ann", "ann", "bob"], "item": ["tea", "jam", "tea"]})
    >>> top = pd.DataFrame({"user": ["ann", "ann"], "item": ["tea", "oil"], "rank": [1, 2]})
    >>> documents = from_frames(log, top, query="user", document="item", rank="rank")
    >>> recall_at_k(**documents, k=2)
    0.25
    """
    check_choice("duplicates", duplicates, get_args(Duplicates))
    check_choice("missing_queries", missing_queries, get_args(MissingQueries))
    check_choice("unjudged_queries", unjudged_queries, get_args(UnjudgedQueries))
    check_choice("unjudged", unjudged, get_args(UnjudgedDocuments))
    _check_score_or_rank(score, rank)
    if predictions is None:
        _refuse_joining(duplicates, missing_queries, unjudged_queries)
        return _from_one(truth, query, document, relevance, score, rank, unjudged)
    if document is None:
        raise TypeError("document= is needed to match the rows of truth and predictions.")
    systems = _systems(predictions, score, rank)
    judged = FrameRows("truth", truth, relevance, may_be_nan=unjudged != "irrelevant")
    check_names(tables := [judged, *systems.values()], (query, document))
    queries, query_ids = encode(
        [rows.query_ids(query) for rows in tables], f"the query ids in column {query!r}"
    )
    documents, items = encode(
        [rows.column(document) for rows in tables], f"the document ids in column {document!r}"
    )
    selected = _select_queries(tables, queries, query_ids, missing_queries, unjudged_queries)
    position = np.where(selected, np.cumsum(selected) - 1, -1)
    first, *lists = (
        rows.item_lists(position[of_query], of_document, duplicates)
        for rows, of_query, of_document in zip(tables, queries, documents, strict=True)
    )
    return join(query_ids[selected], first, dict(zip(systems, lists, strict=True)), unjudged, items)


def _refuse_joining(duplicates: str, missing_queries: str, unjudged_queries: str) -> None:
    """Refuse options without effect on a single frame."""
    given = {
        f"duplicates={duplicates!r}": duplicates != "error",
        f"missing_queries={missing_queries!r}": missing_queries != "count",
        f"unjudged_queries={unjudged_queries!r}": unjudged_queries != "drop",
    }
    if any(given.values()):
        raise TypeError(
            f"{next(option for option, is_given in given.items() if is_given)} needs two frames, "
            "of relevance and of predictions; got one. Pass predictions= as well, or prepare the "
            "rows of the frame and leave the option out."
        )


def _check_score_or_rank(score: Any, rank: Any) -> None:
    if (score is None) == (rank is None):
        raise TypeError(
            "pass either score=, the column of the scores, or rank=, the column of the ranks; "
            f"got {'neither' if rank is None else 'both'}."
        )


def _columns_of(score: Any, rank: Any) -> tuple[Mapping[str, Any], Kind]:
    """The column of each system, and what it holds."""
    kind: Kind = "score" if rank is None else "rank"
    column = score if rank is None else rank
    if not isinstance(column, Mapping):
        return {ALONE: column}, kind
    check_system_names(kind, column)
    return column, kind


def _systems(
    predictions: Any, score: ColumnName | Mapping[str, ColumnName] | None, rank: ColumnName | None
) -> dict[str, FrameRows]:
    """The predictions of each system by name."""
    columns, kind = _columns_of(score, rank)
    if isinstance(predictions, Mapping):
        if columns.keys() != {ALONE}:
            raise TypeError("only one of predictions and score can be a dict of systems; got two.")
        check_system_names("predictions", predictions)
        return {
            name: FrameRows(f"predictions[{name!r}]", frame, columns[ALONE], kind)
            for name, frame in predictions.items()
        }
    return {
        name: FrameRows("predictions", predictions, of_system, kind)
        for name, of_system in columns.items()
    }


def _select_queries(
    tables: list[FrameRows], codes: list[Array], ids: Array, missing: str, unjudged: str
) -> Array:
    """Whether each query is evaluated."""
    present = [np.bincount(of_table, minlength=len(ids)) > 0 for of_table in codes]
    judged, predicted = present[0], np.logical_or.reduce(present[1:])
    for rows, of_system in zip(tables[1:], present[1:], strict=True):
        if not (judged & of_system).any():
            raise ValueError(
                f"truth and {rows.name} have no query in common: truth has "
                f"{shown(ids[judged][0])}, {rows.name} has {shown(ids[of_system][0])}."
            )
    for allowed, problem, queries in (
        (missing, "the predictions lack {} of truth", judged & ~predicted),
        (unjudged, "truth lacks {} of the predictions", predicted & ~judged),
    ):
        if allowed == "error" and queries.any():
            raise ValueError(
                f"{problem.format(counted(queries.sum(), 'query'))}; the first is "
                f"{shown(ids[queries.argmax()])}."
            )
    return np.asarray(judged & predicted if missing == "drop" else judged)


def _from_one(
    frame: Any,
    query: ColumnName,
    document: ColumnName | None,
    relevance: ColumnName | None,
    score: ColumnName | Mapping[str, ColumnName] | None,
    rank: ColumnName | None,
    unjudged: UnjudgedDocuments,
) -> Any:
    """Arguments of a metric from a frame with one row per document."""
    if relevance is None:
        raise TypeError(
            "relevance= is needed for a single frame, which has one row per document. To compare "
            "a list of relevant documents with predictions, pass both frames."
        )
    labels = FrameRows("truth", frame, relevance, may_be_nan=unjudged != "irrelevant")
    query_column = labels.query_ids(query)
    columns, kind = _columns_of(score, rank)
    scores = {
        name: FrameRows("truth", frame, of_system, kind).values()
        for name, of_system in columns.items()
    }
    (codes,), ids = encode([query_column], f"the query ids in column {query!r}")
    values = labels.values()
    if document is not None:
        (documents,), _ = encode(
            [labels.column(document)], f"the document ids in column {document!r}"
        )
        labels.refuse_duplicates(codes, documents)
    return arguments(values, scores, ids[codes], unjudged)
