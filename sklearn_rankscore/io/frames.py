"""Long DataFrames, one row per query and document, as arguments of a metric."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, TypedDict, Unpack, get_args, overload

import numpy as np

from .._columns import as_numbers, check_in_memory, column_names
from .._typing import Array, UnjudgedDocuments
from .._validation import check_choice, check_flag, check_system_names, did_you_mean, shown
from ..query_ids.lookup import index_level
from .ranks import MUST_BE_RANKS, are_ranks, at_ranks, find_no_rank
from .table import (
    ALONE,
    MetricArguments,
    SystemArguments,
    Table,
    arguments,
    encode,
    find_repeated,
    join,
)
from .trec import Frame

ColumnName: TypeAlias = str | int
MissingQueries: TypeAlias = Literal["count", "drop"]

# how to replace NaN
_REMEDIES = {
    "relevance": "Drop or fill these documents first, or use unjudged='drop' if they are unjudged.",
    "score": (
        "A document that was not retrieved, as after a left join, has the score -inf: fill these "
        "values with -inf. Without its row, a relevant document would not count as missed."
    ),
    "rank": (
        "A document that was not retrieved has no rank: leave out its row in a frame of "
        "predictions. In a single frame, pass -rank as score=, with -inf for such documents."
    ),
}


class _Options(TypedDict, total=False):
    document: ColumnName | None
    relevance: ColumnName | None
    missing_queries: MissingQueries
    unjudged: UnjudgedDocuments
    exclude: Frame | None
    ignore_identical_ids: bool


@overload
def from_frames(
    truth: Frame,
    predictions: Mapping[str, Frame],
    *,
    query: ColumnName,
    score: ColumnName | Mapping[str, ColumnName] | None = ...,
    rank: ColumnName | None = ...,
    **options: Unpack[_Options],
) -> SystemArguments: ...
@overload
def from_frames(
    truth: Frame,
    predictions: Frame | None = ...,
    *,
    query: ColumnName,
    score: Mapping[str, ColumnName],
    **options: Unpack[_Options],
) -> SystemArguments: ...
@overload
def from_frames(
    truth: Frame,
    predictions: Frame | None = ...,
    *,
    query: ColumnName,
    score: ColumnName | None = ...,
    rank: ColumnName | None = ...,
    **options: Unpack[_Options],
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
    missing_queries: MissingQueries = "count",
    unjudged: UnjudgedDocuments = "irrelevant",
    exclude: Frame | None = None,
    ignore_identical_ids: bool = False,
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
        Column of `predictions` with the ranks, 1 for the best, instead of `score`. Ranks are
        positions: one that is missing belongs to a document that nobody judged. A single frame
        must have all of them.
    missing_queries : {"count", "drop"}, default="count"
        How to treat queries of `truth` without predictions: "count" includes them, with nothing
        retrieved; "drop" excludes them, which favors a system that makes predictions for easy
        queries only. Queries of `predictions` that `truth` does not contain are excluded.
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
    check_choice("missing_queries", missing_queries, get_args(MissingQueries))
    check_choice("unjudged", unjudged, get_args(UnjudgedDocuments))
    check_flag("ignore_identical_ids", ignore_identical_ids)
    if (score is None) == (rank is None):
        raise TypeError(
            "pass either score=, the column of the scores, or rank=, the column of the ranks; "
            f"got {'neither' if rank is None else 'both'}."
        )
    judged = _Frame("truth", truth, relevance, "relevance", unjudged != "irrelevant")
    if predictions is None:
        if relevance is None or exclude is not None or missing_queries != "count":
            raise TypeError(
                "a single frame has one row per document: relevance= is needed, and exclude= and "
                "missing_queries= are options for two frames, of relevance and of predictions."
            )
        systems = _systems("truth", truth, score, rank)
        return _of_one_frame(judged, systems, query, document, unjudged)
    if document is None:
        raise TypeError("document= is needed to match the rows of truth and predictions.")
    systems = _systems("predictions", predictions, score, rank)
    left_out = [] if exclude is None else [_Frame("exclude", exclude, None, "relevance")]
    frames = [judged, *systems.values(), *left_out]
    queries, ids = encode(
        [frame.ids(query) for frame in frames], f"the query ids in column {query!r}"
    )
    codes, items = encode(
        [frame.ids(document) for frame in frames], f"the document ids in column {document!r}"
    )
    selected = _select_queries(frames[: 1 + len(systems)], queries, ids, missing_queries)
    position = np.where(selected, np.cumsum(selected) - 1, -1)
    tables = []
    for frame, of_query, code in zip(frames, queries, codes, strict=True):
        table = Table(of_query, code, frame.values(len(code)), frame.locate)
        if frame.kind == "rank":
            table = at_ranks(table, -table.value, len(items), frame.name)
        tables.append(table.of_queries(position))
    if left_out:
        tables = [table.without(tables[-1]) for table in tables[:-1]]
    if ignore_identical_ids:
        tables[1:] = [table.without_query_itself(ids[selected], items) for table in tables[1:]]
    advice = (
        f" Keep one row, such as by drop_duplicates([{query!r}, {document!r}]). Rows of several "
        "systems are passed as a dict of DataFrames by name."
    )
    named = dict(zip(systems, tables[1:], strict=True))
    return join(ids[selected], tables[0], named, unjudged, items, advice)


@dataclass(frozen=True)
class _Frame:
    """A long DataFrame and the column of its values; None means a relevance of 1."""

    name: str
    frame: Any
    value: ColumnName | None
    kind: Literal["relevance", "score", "rank"]
    may_be_nan: bool = False

    def locate(self, row: int) -> str:
        """A row in a message."""
        return f"{self.name}, row {row}"

    def column(self, name: Any) -> Any:
        """A column, or a level of the index of a pandas DataFrame."""
        check_in_memory(self.frame, self.name)
        present = [] if isinstance(self.frame, Mapping) else column_names(self.frame)
        if not present:
            raise TypeError(
                f"{self.name} must be a DataFrame in memory with one row per query and document; "
                f"got a {type(self.frame).__name__}. pandas.DataFrame takes columns and records; "
                "lists by query go into from_ranked_lists, files into from_trec, and several "
                "systems are a dict of DataFrames by name."
            )
        if present.count(name) == 1:
            return self.frame[name]
        if name in present:
            raise ValueError(
                f"{self.name} has more than one column {name!r}; its columns are {present}."
            )
        if (level := index_level(self.frame, name)) is not None:
            return level
        fix = did_you_mean(name, present)
        if isinstance(name, list | tuple):
            fix = " Name one column, in which ids of several are tuples, or score= as a dict."
        elif same := [column for column in present if str(column).lower() == str(name).lower()]:
            fix = f" Did you mean {same[0]!r}?"
        raise ValueError(
            f"{self.name} has no column {name!r}; its columns are {present}.{fix} Columns of ids "
            "need the same name in all frames."
        )

    def ids(self, name: ColumnName) -> Any:
        """The column of the query or document ids, of which there must be at least one."""
        column = self.column(name)
        if not len(column):
            raise ValueError(f"{self.name} has no rows; at least one is needed.")
        return column

    def values(self, n_rows: int) -> Array:
        """Relevance, or scores of which higher is better."""
        if self.value is None:
            return np.ones(n_rows, dtype=np.int64)
        name = f"{self.name}, column {self.value!r},"
        column, remedy = self.column(self.value), _REMEDIES[self.kind]
        values = as_numbers(column, name, allow_nan=self.may_be_nan, remedy=remedy)
        if self.kind == "score" and are_ranks(self.value, values):
            raise ValueError(
                f"{name} is given as score=, of which higher is better, but its name and values "
                f"are those of ranks. Pass it as rank={self.value!r}, or rename it if higher is "
                "better."
            )
        if self.kind != "rank":
            return values
        if (wrong := find_no_rank(values)) is not None:
            raise ValueError(
                f"{name} {MUST_BE_RANKS}; got {wrong!r}. Pass scores, of which higher is better, "
                "as score=, and the negatives of other numbers of which lower is better."
            )
        return -values.astype(np.float64)


def _systems(name: str, frames: Any, score: Any, rank: Any) -> dict[str, _Frame]:
    """The frame and the column of each system by name."""
    kind: Literal["score", "rank"] = "score" if rank is None else "rank"
    column = score if rank is None else rank
    if isinstance(column, Mapping) and isinstance(frames, Mapping):
        raise TypeError("only one of predictions and score can be a dict of systems; got two.")
    if isinstance(column, Mapping):
        check_system_names(kind, column)
        return {system: _Frame(name, frames, of, kind) for system, of in column.items()}
    if isinstance(frames, Mapping) and name == "predictions":
        check_system_names(name, frames)
        return {
            system: _Frame(f"{name}[{system!r}]", frame, column, kind)
            for system, frame in frames.items()
        }
    return {ALONE: _Frame(name, frames, column, kind)}


def _of_one_frame(
    judged: _Frame, systems: dict[str, _Frame], query: Any, document: Any, unjudged: str
) -> Any:
    """Arguments of a metric, in the order of the rows."""
    (codes,), ids = encode([judged.ids(query)], f"the query ids in column {query!r}")
    values = judged.values(len(codes))
    scores = {name: frame.values(len(codes)) for name, frame in systems.items()}
    for name, frame in systems.items():
        table = Table(codes, codes, scores[name])
        n_ranks = len(codes)
        if frame.kind == "rank":
            n_ranks = len(at_ranks(table, -scores[name], 0, frame.name).query)
        if n_ranks > len(codes):
            raise ValueError(
                f"truth, column {frame.value!r}, lacks ranks of some query, which a single frame "
                "must have. Pass the negatives as score= if they are ranks among more documents."
            )
    if document is not None:
        (documents,), items = encode(
            [judged.ids(document)], f"the document ids in column {document!r}"
        )
        pairs = codes * (1 + np.int64(documents.max())) + documents
        if (row := find_repeated(np.unique(pairs, return_inverse=True)[1])) is not None:
            raise ValueError(
                f"{judged.locate(row)}: duplicate document {shown(items[documents[row]])} for "
                f"query {shown(ids[codes[row]])}. Remove it."
            )
    return arguments(values, scores, ids[codes], unjudged)


def _select_queries(
    frames: list[_Frame], codes: list[Array], ids: Array, missing_queries: str
) -> Array:
    """Whether each query is evaluated."""
    judged, *of_systems = [
        np.bincount(of_frame, minlength=len(ids)) > 0
        for _, of_frame in zip(frames, codes, strict=False)
    ]
    for frame, of_system in zip(frames[1:], of_systems, strict=True):
        if not (judged & of_system).any():
            raise ValueError(
                f"truth and {frame.name} have no query in common: truth has "
                f"{shown(ids[judged][0])}, {frame.name} has {shown(ids[of_system][0])}."
            )
    return judged & np.logical_or.reduce(of_systems) if missing_queries == "drop" else judged
