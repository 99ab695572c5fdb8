"""Long DataFrames, one row per query and document, as arguments of a metric."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, TypedDict, Unpack, get_args, overload

import numpy as np

from .._columns import as_numbers, check_in_memory, column_names
from .._typing import Array, UnjudgedDocuments
from .._validation import check_choice, check_system_names, counted, did_you_mean, shown
from ..query_ids.lookup import index_level
from .ids import encode
from .table import ALONE, MetricArguments, SystemArguments, Table, arguments, join
from .trec import Frame

ColumnName: TypeAlias = str | int
Duplicates: TypeAlias = Literal["error", "drop", "keep"]
MissingQueries: TypeAlias = Literal["count", "drop", "error"]
UnjudgedQueries: TypeAlias = Literal["drop", "error"]

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
MUST_BE_RANKS = "must hold ranks, 1 for the best, or means of two ranks from 1 on"
# names of columns of ranks, unlike pagerank
_RANK = re.compile(r"(?<![a-z])(rank|position)(?![a-z])", re.IGNORECASE)


class _Options(TypedDict, total=False):
    document: ColumnName | None
    relevance: ColumnName | None
    duplicates: Duplicates
    missing_queries: MissingQueries
    unjudged_queries: UnjudgedQueries
    unjudged: UnjudgedDocuments


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
    if (score is None) == (rank is None):
        raise TypeError(
            "pass either score=, the column of the scores, or rank=, the column of the ranks; "
            f"got {'neither' if rank is None else 'both'}."
        )
    may_be_nan, is_single = unjudged != "irrelevant", predictions is None
    judged = _Frame("truth", truth, relevance, "relevance", may_be_nan)
    systems = _systems("truth" if is_single else "predictions",
                       truth if is_single else predictions, score, rank)  # fmt: skip
    if is_single:
        if (duplicates, missing_queries, unjudged_queries) != ("error", "count", "drop"):
            raise TypeError(
                "duplicates, missing_queries and unjudged_queries are options for two frames, of "
                "relevance and of predictions; got one."
            )
        if relevance is None:
            raise TypeError(
                "relevance= is needed for a single frame, which has one row per document. To "
                "compare a list of relevant documents with predictions, pass both frames."
            )
        return _of_one_frame(judged, systems, query, document, unjudged)
    if document is None:
        raise TypeError("document= is needed to match the rows of truth and predictions.")
    frames = [judged, *systems.values()]
    query_codes, ids = encode(
        [frame.ids(query) for frame in frames], f"the query ids in column {query!r}"
    )
    codes, items = encode(
        [frame.ids(document) for frame in frames], f"the document ids in column {document!r}"
    )
    selected = _select_queries(frames, query_codes, ids, missing_queries, unjudged_queries)
    position = np.where(selected, np.cumsum(selected) - 1, -1)
    tables = [
        Table(query_code, code, frame.values(len(code)), frame.locate).of_queries(position)
        for frame, query_code, code in zip(frames, query_codes, codes, strict=True)
    ]
    if duplicates != "error":
        drop = duplicates == "drop"
        tables = [table.best_first(drop=drop or table is tables[0]) for table in tables]
    advice = (
        " Remove it, or choose with duplicates='drop' or 'keep'. Rows of several systems are "
        "passed as a dict of DataFrames by name."
        if duplicates == "error"
        else None
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
        several = isinstance(name, list | tuple) and all(column in present for column in name)
        fix = (
            " Name one column: combine those of ids into one of tuples; those of scores of "
            "several systems are a dict by name."
            if several
            else did_you_mean(name, present)
        )
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
    if document is not None:
        (documents,), items = encode(
            [judged.ids(document)], f"the document ids in column {document!r}"
        )
        table = Table(codes, documents, values, judged.locate)
        table.refuse_repeats(ids, items, " Remove it, or pass two frames with duplicates='drop'.")
    return arguments(values, scores, ids[codes], unjudged)


def _select_queries(
    frames: list[_Frame], codes: list[Array], ids: Array, missing: str, unjudged: str
) -> Array:
    """Whether each query is evaluated."""
    judged, *of_systems = [np.bincount(of_frame, minlength=len(ids)) > 0 for of_frame in codes]
    predicted = np.logical_or.reduce(of_systems)
    for frame, of_system in zip(frames[1:], of_systems, strict=True):
        if not (judged & of_system).any():
            raise ValueError(
                f"truth and {frame.name} have no query in common: truth has "
                f"{shown(ids[judged][0])}, {frame.name} has {shown(ids[of_system][0])}."
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


def find_no_rank(values: Array) -> float | None:
    """The first value that is no rank, nor the mean of two; None if all may be."""
    with np.errstate(invalid="ignore"):
        part = values % (0.5 if values.min() >= 1 else 1)  # nan of infinity
    wrong = (values < 0) | (part != 0)
    return float(values[wrong.argmax()]) if wrong.any() else None


def are_ranks(name: Any, values: Array) -> bool:
    """Whether a column of scores has the name and the values of ranks."""
    is_named = _RANK.search(str(name)) is not None
    return is_named and values.min() >= 0 and np.array_equal(values, np.floor(values))
