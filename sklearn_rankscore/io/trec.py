"""TREC relevance judgments and runs as arguments of a metric."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import IO, Any, Literal, NamedTuple, Protocol, TypeAlias, get_args, overload

import numpy as np

from .._columns import LARGEST_EXACT_INTEGER, as_numbers, check_in_memory, column_names
from .._typing import Array, UnjudgedDocuments
from .._validation import check_choice, counted, shown
from ..query_ids.read import as_ids, as_objects, of_python
from .ids import as_texts, as_utf8, encode
from .table import ALONE, MetricArguments, SystemArguments, Table, join
from .text import Lines, source_name


class Frame(Protocol):
    """A DataFrame of pandas or polars, or a table of pyarrow."""

    @property
    def columns(self) -> Any:
        """The columns, or their names."""


class ToDict(Protocol):
    """A Qrels or Run of ranx."""

    def to_dict(self) -> Any:
        """A dict of dicts."""


Nested: TypeAlias = Mapping[Any, Mapping[Any, float]]
Records: TypeAlias = Iterable[Sequence[Any] | Mapping[str, Any]]
Source: TypeAlias = str | os.PathLike[str] | IO[str] | IO[bytes] | Frame | Nested | ToDict | Records
Lists: TypeAlias = Mapping[Any, Sequence[Any]]


class Field(NamedTuple):
    """A field: its position in the lines of a file, and its possible names in a DataFrame."""

    position: int
    names: tuple[Any, ...]


# read_csv(header=None) names columns by their positions; PyTerrier has both docno and docid, which
# is a number of its index
QUERY = Field(
    0,
    (
        *("query_id", "qid", "q_id", "query", "topic", "query-id"),
        *("user", "user_id", "userId", "session", "session_id", "group", 0),
    ),
)
# the column of documents in the judgments of BEIR, whose relevance is called score
BEIR = "corpus-id"
DOCUMENT = Field(
    2,
    (
        *("doc_id", "docno", "docid", "document_id", "document", BEIR),
        *("item", "item_id", "itemId", "movieId", "product_id", 2),
    ),
)


@dataclass(frozen=True)
class Format:
    """What a source holds.

    Parameters
    ----------
    kind : str
        "qrels" or "run".
    layout : str
        The names of the fields of a line of a file.
    value : Field
        The relevance or score.
    convert : callable
        ``convert(table)`` checks the values and converts them as trec_eval does.
    """

    kind: str
    layout: str
    value: Field
    convert: Callable[[Table], Array]

    def name(self, system: str = "") -> str:
        """The source in a message."""
        return f"{self.kind} {system!r}" if system else self.kind

    def read(self, source: Any, system: str = "", *, may_be_empty: bool = False) -> Table:
        """The table of a path, file object, DataFrame, dict by query or iterable of records."""
        name = self.name(system)
        check_in_memory(source, name)
        source = as_nested(source)
        if isinstance(source, str | os.PathLike) or hasattr(source, "read"):
            name, is_run = source_name(source, self.kind), self.kind == "run"
            table = Lines(name, self.layout, self.value.position, is_run).read(source)
        elif hasattr(source, "columns"):
            table = self._of_columns(column_names(source), source.__getitem__, name)
        elif isinstance(source, Mapping):
            table = self._of_dict(source, name)
        elif isinstance(source, Iterable) and all(map(_is_record, rows := list(source))):
            columns = self._columns_of_records(rows)
            table = self._of_columns(list(columns), columns.__getitem__, name)
        else:
            raise TypeError(
                f"{name} must be a path, a file object, a DataFrame, records such as (query, "
                f"document, number), or a dict {{query: {{document: number}}}}; got a "
                f"{type(source).__name__}."
            )
        if not len(table.query) and not may_be_empty:
            raise ValueError(f"the {name} has no rows; at least one is needed.")
        return replace(table, value=self.convert(table))

    def _of_columns(self, present: list[Any], column: Callable[[Any], Any], name: str) -> Table:
        def of(field: Field) -> Any:
            is_beir = self.kind == "qrels" and field is self.value and BEIR in present
            names = (*field.names, "score") if is_beir else field.names
            if usual := [known for known in names if known in present]:
                return column(usual[0])
            known = ", ".join(repr(name) for name in names if isinstance(name, str))
            raise ValueError(
                f"the {name} needs a column named one of {known}; it has {present}. Rename one, "
                "or use from_frames, which takes any names, and ranks in place of scores."
            )

        (query,), queries = encode([of(QUERY)], f"{name}: the query ids")
        (number,), documents = encode([of(DOCUMENT)], f"{name}: the document ids")
        texts = as_utf8(of_python(documents, dates=False), name)
        value = as_numbers(of(self.value), f"{name} column") if len(query) else np.zeros(0)
        return Table(
            query, texts[number], value.astype(np.float64), lambda row: f"{name}, row {row}",
            of_python(queries, dates=False),
        )  # fmt: skip

    def _of_dict(self, source: Mapping[Any, Any], name: str) -> Table:
        entries = [self._by_document(entry, query, name) for query, entry in source.items()]
        documents = list(chain.from_iterable(entries))
        values = list(chain.from_iterable(entry.values() for entry in entries))
        queries = of_python(as_objects(source))
        query = np.repeat(np.arange(len(entries)), list(map(len, entries)))
        return Table(
            query, as_utf8(documents, name),
            as_numbers(values, name).astype(np.float64) if values else np.zeros(0),
            lambda row: f"{name}, query {queries[query[row]]!r}, document {documents[row]!r}",
            queries,
        )  # fmt: skip

    def _by_document(self, entry: Any, query: Any, name: str) -> Mapping[Any, Any]:
        """A dict; of a run also pairs of a document and its score, or documents, best first."""
        if isinstance(entry, Mapping):
            return entry
        if self.kind == "qrels" or not isinstance(entry, list | tuple):
            raise TypeError(
                f"{name} must have a dict {{document: number}} for each query; got the "
                f"{type(entry).__name__} {entry!r:.60} for {shown(query)}. from_ranked_lists takes "
                "lists of relevant documents."
            )
        is_scored = all(isinstance(item, list | tuple) and len(item) == 2 for item in entry)
        scores = dict(entry) if is_scored else {item: -rank for rank, item in enumerate(entry)}
        if len(scores) < len(entry):
            raise ValueError(f"{name} has a document twice for the query {shown(query)}.")
        return scores

    def _columns_of_records(self, rows: list[Any]) -> dict[Any, list[Any]]:
        """Columns by their names in named tuples and dicts, or their positions in a line."""
        first = rows[0] if rows else (None,) * 3
        if isinstance(first, Mapping):
            return {name: [row[name] for row in rows] for name in first}
        names = getattr(first, "_fields", range(len(first)))
        if names == range(3):
            names = [QUERY.names[0], DOCUMENT.names[0], self.value.names[0]]
        return {name: [row[at] for row in rows] for at, name in enumerate(names)}


def as_nested(source: Any) -> Any:
    """The dict of dicts of an object of ranx; anything else unchanged."""
    of_other_libraries = ("columns", "dtype", "to_numpy")
    if hasattr(source, "to_dict") and not any(hasattr(source, of) for of in of_other_libraries):
        return source.to_dict()
    return source


def _is_record(row: Any) -> bool:
    return isinstance(row, Mapping) or (isinstance(row, list | tuple) and len(row) >= 3)


def _is_of_query(entry: Any) -> bool:
    """Whether it is the run of a query, rather than the run of a system."""
    if isinstance(entry, Mapping):
        return not isinstance(next(iter(entry.values()), None), Mapping | list | tuple | set)
    is_list = isinstance(entry, list | tuple) and not hasattr(entry, "columns")
    return is_list and not any(map(_is_record, entry[:1]))


def _as_grades(qrels: Table) -> Array:
    """Relevance as integers; negative means not judged."""
    relevance = qrels.value
    valid = (np.abs(relevance) < LARGEST_EXACT_INTEGER) & (relevance == np.floor(relevance))
    if not valid.all():
        at = int(valid.argmin())
        raise ValueError(
            f"{qrels.locate(at)}: relevance must be an integer of less than 2**53; got "
            f"{relevance[at]}. from_frames and from_ranked_lists take other numbers."
        )
    return np.asarray(relevance.astype(np.int64))


def _as_scores(run: Table) -> Array:
    """Scores; -inf, which would mean not retrieved, becomes the lowest number."""
    if (missing := np.isnan(run.value)).any():
        raise ValueError(f"{run.locate(int(missing.argmax()))}: the score is NaN.")
    return np.maximum(run.value, np.finfo(np.float64).min, out=run.value)


QRELS = Format(
    "qrels",
    "query iteration document relevance",
    Field(3, ("relevance", "rel", "label", "grade", "rating", 3)),
    _as_grades,
)
RUN = Format(
    "run",
    "query Q0 document rank score tag",
    Field(4, ("score", "sim", "prediction", 4)),
    _as_scores,
)


@overload
def from_trec(
    qrels: Source,
    run: Mapping[str, Source],
    *,
    complete: bool = ...,
    unjudged_queries: Literal["drop", "error"] = ...,
    unjudged: UnjudgedDocuments = ...,
) -> SystemArguments: ...
@overload
def from_trec(
    qrels: Source,
    run: Source | Nested | Lists,
    *,
    complete: bool = ...,
    unjudged_queries: Literal["drop", "error"] = ...,
    unjudged: UnjudgedDocuments = ...,
) -> MetricArguments: ...
def from_trec(
    qrels: Source,
    run: Source | Mapping[str, Source] | Lists,
    *,
    complete: bool = False,
    unjudged_queries: Literal["drop", "error"] = "drop",
    unjudged: UnjudgedDocuments = "irrelevant",
) -> Any:
    r"""Build the arguments of a metric from TREC relevance judgments and one or several runs.

    Parameters
    ----------
    qrels : path, file object, DataFrame, dict of dicts or iterable of records
        Lines of ``query iteration document relevance``. Relevance is an integer; negative values
        mean not judged. The columns of a DataFrame have one of the usual names: ``query_id`` or
        ``user``, ``doc_id`` or ``item``, ``relevance`` or ``label``; also those of BEIR. Dicts as
        pytrec_eval takes them, ``{query: {document: relevance}}``, and ranx's Qrels. Records are
        named tuples, as of ir_datasets and ir_measures, or ``(query, document, relevance)``.
    run : path, file object, DataFrame, dict, iterable of records, or dict of str to them
        Lines of ``query Q0 document rank score tag``, of which query, document and score are used;
        text after the tag is ignored, unless it may result from a space in the document id, which
        is an error. The columns of a DataFrame are named as above, and ``score``. Dicts ``{query:
        {document: score}}``, and ranx's Run; instead of a dict of scores also pairs ``[(document,
        score), ...]``, or a list of documents, best first. Records are named tuples or ``(query,
        document, score)``. Several runs are given as a dict by name.
    complete : bool, default=False
        Whether to include judged queries that are missing from the run, with nothing retrieved
        (``trec_eval -c``), also if the run is empty. By default they are excluded, as in trec_eval
        9; trec_eval 10 stops with an error unless ``-c`` is given.
    unjudged_queries : {"drop", "error"}, default="drop"
        How to treat queries of the run that have no judgments: exclude them, as trec_eval does, or
        raise an error.
    unjudged : {"irrelevant", "drop", "nan"}, default="irrelevant"
        What metrics do with documents that were not judged, which are absent from the qrels or have
        a negative relevance there: give them the label 0, as in trec_eval; remove them, as
        ``trec_eval -J`` does; or leave it to the option `unjudged` of the metric. `bpref`, `infap`
        and `judged` themselves distinguish these documents.

    Returns
    -------
    dict
        ``y_true``, ``y_score`` and ``groups``, arrays of shape (n_documents,), and ``unjudged``
        unless it is "nan", to be passed on as
        ``evaluate(metrics=["map", "ndcg@10"], **from_trec(qrels, run), like="trec_eval")``. The
        documents of each query are adjacent: first those retrieved, then the others, each in
        ascending order of their ids. With several runs, ``y_score`` is a dict of such arrays. The
        label of documents that were not judged is NaN, or -inf if the qrels have a negative
        relevance, which marks the pool for `infap`; with ``unjudged="nan"`` it is always NaN.

    Raises
    ------
    ValueError
        If a line is malformed (the message names the file and the line), a file is not UTF-8 text,
        a document occurs twice for a query, or the run and the judgments have no query in common.
    TypeError
        If an argument is none of these.

    Warns
    -----
    UserWarning
        If none of ten or more documents that a system retrieved has a relevance for any query.

    See Also
    --------
    from_frames : From DataFrames with other column names, or with ranks.
    from_ranked_lists : From lists of items.

    Notes
    -----
    Query ids that are numbers in one source and text in another are compared as text, and document
    ids always; bytes are UTF-8. Fields are separated by spaces or tabs. Empty lines and, as in
    trec_eval, those that begin with ``#`` are skipped. A path that ends in ``.gz``, ``.bz2`` or
    ``.xz`` is decompressed. Judged documents that were not retrieved have the score -inf, so that
    they count in recall, average precision and the ideal ranking. Ranks are ignored. trec_eval
    breaks ties by descending document id, and so does ``like="trec_eval"``; otherwise ties are
    averaged. Scores have double precision, as in trec_eval 10; trec_eval 9 and pytrec_eval round
    them to single precision.

    All runs are evaluated on the same queries: those of at least one run, or all judged queries if
    `complete`. If a run does not contain one of them, it retrieved nothing for this query and
    scores 0.

    References
    ----------
    .. [1] trec_eval. https://github.com/usnistgov/trec_eval

    Examples
    --------
    >>> from io import StringIO
    >>> from sklearn_rankscore import evaluate, from_trec
    >>> qrels = StringIO("301 0 doc-a 1\n301 0 doc-b 0\n301 0 doc-c 2\n")
    >>> run = StringIO("301 Q0 doc-b 1 9.5 tag\n301 Q0 doc-a 2 7.25 tag\n")
    >>> evaluate(metrics=["map", "recall@2"], **from_trec(qrels, run), like="trec_eval")
    {'map': 0.25, 'recall@2': 0.5}
    """
    check_choice("unjudged_queries", unjudged_queries, ("drop", "error"))
    check_choice("unjudged", unjudged, get_args(UnjudgedDocuments))
    tables = read_tables(qrels, run, complete)
    return arguments_of_tables(*tables, complete, unjudged_queries, unjudged)


def read_tables(
    qrels: Any, run: Any, complete: bool = False, judgments: Format = QRELS
) -> tuple[Table, dict[str, Table]]:
    """The judgments and the runs by name, with query ids of one type."""
    run = as_nested(run)
    if isinstance(run, Mapping) and not all(map(_is_of_query, run.values())):
        if not all(isinstance(name, str) and name for name in run):
            raise TypeError(
                "a dict of runs must have names as keys, which are strings that are not empty; got "
                f"{list(run)!r:.80}. A single run may be {{query: {{document: score}}}}."
            )
        runs = {name: RUN.read(of, name, may_be_empty=complete) for name, of in run.items()}
    elif isinstance(run, list | tuple) and not all(map(_is_record, run[:1])):
        raise TypeError(
            "several runs are given as a dict by name, such as {'bm25': path, 'dense': path}; got "
            f"a {type(run).__name__} of {len(run)}."
        )
    else:
        runs = {ALONE: RUN.read(run, may_be_empty=complete)}
    judged = judgments.read(qrels)
    if len({type(query) for table in (judged, *runs.values()) for query in table.queries}) > 1:
        # numbers in a DataFrame are text in a file
        judged = _with_text_ids(judged, judgments.name())
        runs = {name: _with_text_ids(table, RUN.name(name)) for name, table in runs.items()}
    return judged, runs


def _with_text_ids(table: Table, name: str) -> Table:
    """The same table, with query ids as text, which may be that of several ids."""
    texts = as_texts(table.queries, "query", name)
    position = {text: at for at, text in enumerate(dict.fromkeys(texts))}
    codes = np.array([position[text] for text in texts])
    return replace(table, queries=list(position), query=codes[table.query])


def arguments_of_tables(
    judged: Table,
    runs: dict[str, Table],
    complete: bool = False,
    unjudged_queries: str = "drop",
    unjudged: Any = "irrelevant",
) -> Any:
    """What `from_trec` returns, of judgments and runs that have been read."""
    if judged.value.min() < 0:  # in the pool, but not judged
        label = np.nan if unjudged == "nan" else -np.inf
        judged = replace(judged, value=np.where(judged.value < 0, label, judged.value))
    selected = _select_queries(judged, runs, complete, unjudged_queries)
    position = {query: at for at, query in enumerate(selected)}
    judged, *systems = (
        table.of_queries(np.array([position.get(query, -1) for query in table.queries], int))
        for table in (judged, *runs.values())
    )
    named = dict(zip(runs, systems, strict=True))
    return join(as_ids(selected)[0], judged, named, unjudged, items=(), advice="")


def _select_queries(
    judged: Table, runs: dict[str, Table], complete: bool, unjudged_queries: str
) -> list[Any]:
    """The queries to evaluate."""
    in_qrels, in_runs = set(judged.queries), {q for run in runs.values() for q in run.queries}
    for name, run in runs.items():
        if run.queries and in_qrels.isdisjoint(run.queries):
            raise ValueError(
                f"the {RUN.name(name)} and the qrels have no query in common: the first query of "
                f"the run is {shown(run.queries[0])}, of the qrels {shown(judged.queries[0])}."
            )
        unjudged = [code for code, query in enumerate(run.queries) if query not in in_qrels]
        if unjudged and unjudged_queries == "error":
            at = int(np.isin(run.query, unjudged).argmax())
            raise ValueError(
                f"{run.locate(at)}: the qrels have no judgments of query "
                f"{shown(run.queries[run.query[at]])} ({counted(len(unjudged), 'such query')} in "
                f"the {RUN.name(name)}). Use unjudged_queries='drop' to leave them out."
            )
    return [query for query in judged.queries if complete or query in in_runs]
