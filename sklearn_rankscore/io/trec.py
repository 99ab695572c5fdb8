"""TREC relevance judgments and runs as arguments of a metric."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from itertools import chain
from typing import IO, Any, Protocol, TypeAlias, TypedDict, Unpack, get_args, overload

import numpy as np

from .._columns import LARGEST_EXACT_INTEGER, as_numbers, check_in_memory, column_names
from .._typing import Array, UnjudgedDocuments
from .._validation import check_choice, check_flag, counted, shown
from ..query_ids.read import as_ids, as_objects, of_python
from .columns import NAMES, ColumnFile, find_column, has_columns, read_columns
from .ranks import MUST_BE_RANKS, are_ranks, at_ranks, find_no_rank
from .table import ALONE, MetricArguments, SystemArguments, Table, encode, join, warn
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

# the text of these depends on their format: 1 and 1.0, a date with and without the time of day
FORMATTED = (float, np.floating, date, timedelta, np.datetime64, np.timedelta64)


@dataclass(frozen=True)
class Format:
    """What a source holds: its kind, the fields of a line, and the position of the value in it."""

    kind: str
    layout: str
    field: str
    position: int

    def name(self, system: str = "") -> str:
        """The source in a message."""
        return f"{self.kind} {system!r}" if system else self.kind

    def read(
        self, source: Any, system: str = "", columns: dict[str, str] | None = None, *,
        may_be_empty: bool = False,
    ) -> Table:  # fmt: skip
        """The table of a path, file object, DataFrame, dict by query or iterable of records.

        `columns` are the names of columns in a file by field.
        """
        name = self.name(system)
        check_in_memory(source, name)
        source = as_nested(source)
        if has_columns(source):
            return self._of_file(read_columns(source), columns or {})
        if isinstance(source, str | os.PathLike) or hasattr(source, "read"):
            name, is_run = source_name(source, self.kind), self.kind == "run"
            table = Lines(name, self.layout, self.position, is_run).read(source)
        elif hasattr(source, "columns"):
            table = self._of_columns(column_names(source), source.__getitem__, name)
        elif isinstance(source, Mapping):
            table = self._of_dict(source, name)
        elif isinstance(source, Iterable) and all(map(_is_record, rows := list(source))):
            by_name = self._columns_of_records(rows)
            table = self._of_columns(list(by_name), by_name.__getitem__, name)
        else:
            raise TypeError(
                f"{name} must be a path, a file object, a DataFrame, records such as (query, "
                f"document, number), or a dict {{query: {{document: number}}}}; got a "
                f"{type(source).__name__}."
            )
        if not len(table.query) and not may_be_empty:
            raise ValueError(f"the {name} has no rows; at least one is needed.")
        return replace(table, value=(as_scores if self.kind == "run" else _as_grades)(table))

    def _of_file(self, file: ColumnFile, given: dict[str, str]) -> Table:
        field = self.field
        if field == "score" and "score" not in given:
            is_rank = "rank" in given or find_column(field, file.columns) is None
            field = "rank" if is_rank and (given or "rank" in file.columns) else field
        names = [file.name(of, given) for of in ("query", "document", field)]
        numbers = file.numbers(names[2])
        where = f"{file.path}, column {names[2]}"
        if field == "rank" and (wrong := find_no_rank(numbers)) is not None:
            raise ValueError(
                f"{where}: {MUST_BE_RANKS}; got {wrong!r}. Name scores, of which higher is "
                f"better, by --columns score={names[2]}."
            )
        check_scores_of_file(file, names[2], numbers, field)
        # relevance need not be an integer, unlike in TREC files; a negative one is no relevance
        if (wrong := (numbers < 0) & (numbers != np.floor(numbers))).any() and field == "relevance":
            row = int(wrong.argmax())
            raise ValueError(
                f"{file.locate(row)}, column {names[2]}: a negative relevance means not judged "
                f"and must be an integer; got {numbers[row]}. Add a constant to labels that are "
                "meant."
            )
        (query,), queries = encode([file.ids(names[0])], f"{file.path}: the query ids")
        documents = as_utf8(file.ids(names[1]), file.path)
        table = Table(query, documents, numbers, file.locate, queries.tolist())
        return at_ranks(table, numbers, 0, where) if field == "rank" else table

    def _of_columns(self, present: list[Any], column: Callable[[Any], Any], name: str) -> Table:
        def of(field: str) -> Any:
            if (usual := find_column(field, present)) is not None:
                return column(usual)
            known = ", ".join(repr(name) for name in NAMES[field] if isinstance(name, str))
            raise ValueError(
                f"the {name} needs a column named one of {known}; it has {present}. Rename one, "
                "or use from_frames, which takes any names, and ranks in place of scores."
            )

        (query,), queries = encode([of("query")], f"{name}: the query ids")
        (number,), documents = encode([of("document")], f"{name}: the document ids")
        texts = as_utf8(of_python(documents, dates=False), name)
        value = as_numbers(of(self.field), f"{name} column") if len(query) else np.zeros(0)
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
            names = ("query", "document", self.field)
        return {name: [row[at] for row in rows] for at, name in enumerate(names)}


QRELS = Format("qrels", "query iteration document relevance", "relevance", 3)
RUN = Format("run", "query Q0 document rank score tag", "score", 4)


def as_nested(source: Any) -> Any:
    """The dict of dicts of an object of ranx; anything else unchanged."""
    of_other_libraries = ("columns", "dtype", "to_numpy")
    if hasattr(source, "to_dict") and not any(hasattr(source, of) for of in of_other_libraries):
        return source.to_dict()
    return source


def as_texts(ids: Iterable[Any], kind: str, name: str) -> list[str]:
    """The text of each id as in a file; `kind` and `name` say in a message what they are."""
    return [value if type(value) is str else _as_text(value, kind, name) for value in ids]


def _as_text(value: Any, kind: str, name: str) -> str:
    if isinstance(value, float | np.floating) and float(value).is_integer():
        value = int(value)  # a column with missing ids has floats
    if isinstance(value, FORMATTED):
        raise ValueError(
            f"the {name} has {kind} ids of the type {type(value).__name__}, such as {value!r}, "
            "which cannot be matched with ids in text. Convert them to integers or strings."
        )
    return value.decode() if isinstance(value, bytes) else str(value)


def as_utf8(ids: Iterable[Any], name: str) -> Array:
    """Document ids in UTF-8."""
    return np.array([text.encode() for text in as_texts(ids, "document", name)], dtype="S")


def check_scores_of_file(file: ColumnFile, name: str, numbers: Array, field: str = "score") -> None:
    """Refuse ranks as scores, which would reverse the ranking."""
    if field == "score" and are_ranks(name, numbers):
        raise ValueError(
            f"{file.path}, column {name}: its name and values are those of ranks, but higher "
            f"scores are better. Name it by --columns rank={name}."
        )


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


def as_scores(run: Table) -> Array:
    """Scores; -inf, which would mean not retrieved, becomes the lowest number."""
    if (missing := np.isnan(run.value)).any():
        raise ValueError(f"{run.locate(int(missing.argmax()))}: the score is NaN.")
    return np.maximum(run.value, np.finfo(np.float64).min, out=run.value)


class _Options(TypedDict, total=False):
    complete: bool | None
    unjudged: UnjudgedDocuments
    ignore_identical_ids: bool


@overload
def from_trec(
    qrels: Source, run: Mapping[str, Source], **options: Unpack[_Options]
) -> SystemArguments: ...
@overload
def from_trec(
    qrels: Source, run: Source | Nested | Lists, **options: Unpack[_Options]
) -> MetricArguments: ...
def from_trec(
    qrels: Source,
    run: Source | Mapping[str, Source] | Lists,
    *,
    complete: bool | None = None,
    unjudged: UnjudgedDocuments = "irrelevant",
    ignore_identical_ids: bool = False,
) -> Any:
    r"""Build the arguments of a metric from TREC relevance judgments and one or several runs.

    Parameters
    ----------
    qrels : path, file object, DataFrame, dict of dicts or iterable of records
        Lines of ``query iteration document relevance``. Relevance is an integer; negative values
        mean not judged. The columns of a DataFrame have one of the usual names: ``query_id`` or
        ``user``, ``doc_id`` or ``item``, ``relevance`` or ``label``; also those of BEIR. So do
        those of files whose names end in ``.csv``, ``.tsv`` or ``.parquet``, in which relevance may
        be a fraction. Dicts as
        pytrec_eval takes them, ``{query: {document: relevance}}``, and ranx's Qrels. Records are
        named tuples, as of ir_datasets and ir_measures, or ``(query, document, relevance)``.
    run : path, file object, DataFrame, dict, iterable of records, or dict of str to them
        Lines of ``query Q0 document rank score tag``, of which query, document and score are used;
        text after the tag is ignored, unless it may result from a space in the document id, which
        is an error. The columns of a DataFrame are named as above, and ``score``. Dicts ``{query:
        {document: score}}``, and ranx's Run; instead of a dict of scores also pairs ``[(document,
        score), ...]``, or a list of documents, best first. Records are named tuples or ``(query,
        document, score)``. Several runs are given as a dict by name.
    complete : bool or None, default=None
        Whether to include judged queries that are missing from the run, with nothing retrieved
        (``trec_eval -c``), also if the run is empty. By default they are excluded, as in trec_eval
        9, with a warning that states their number; trec_eval 10 stops with an error unless ``-c``
        is given.
    unjudged : {"irrelevant", "drop", "nan"}, default="irrelevant"
        What metrics do with documents that were not judged, which are absent from the qrels or have
        a negative relevance there: give them the label 0, as in trec_eval; remove them, as
        ``trec_eval -J`` does; or leave it to the option `unjudged` of the metric. `bpref`, `infap`
        and `judged` themselves distinguish these documents.
    ignore_identical_ids : bool, default=False
        Whether to leave out results whose document id is the query id, as BEIR does by default: in
        some data sets (ArguAna, Quora) the queries are documents as well.

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
        If judged queries are missing from all runs or from one of several, or none of ten or more
        documents that a system retrieved has a relevance for any query.

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
    check_choice("unjudged", unjudged, get_args(UnjudgedDocuments))
    check_flag("ignore_identical_ids", ignore_identical_ids)
    return join_trec(qrels, run, {}, complete, unjudged, ignore_identical_ids)


def join_trec(
    qrels: Any,
    run: Any,
    columns: dict[str, str],
    complete: bool | None,
    unjudged: Any,
    ignore_identical_ids: bool,
) -> Any:
    """What `from_trec` returns; `columns` are the names of columns in files by field."""
    judged, runs = _read(qrels, run, columns, bool(complete))
    if judged.value.min() < 0:  # in the pool, but not judged
        label = np.nan if unjudged == "nan" else -np.inf
        judged = replace(judged, value=np.where(judged.value < 0, label, judged.value))
    selected = _select_queries(judged, runs, complete)
    position = {query: at for at, query in enumerate(selected)}
    judged, *systems = (
        table.of_queries(np.array([position.get(query, -1) for query in table.queries], int))
        for table in (judged, *runs.values())
    )
    ids = as_ids(selected)[0]
    if ignore_identical_ids:
        systems = [table.without_query_itself(ids, ()) for table in systems]
    return join(ids, judged, dict(zip(runs, systems, strict=True)), unjudged, items=(), advice="")


def _read(
    qrels: Any, run: Any, columns: dict[str, str], complete: bool
) -> tuple[Table, dict[str, Table]]:
    """The judgments and the runs by name, with query ids of one type."""
    run = as_nested(run)
    if isinstance(run, Mapping) and not all(map(_is_of_query, run.values())):
        if not all(isinstance(name, str) and name for name in run):
            raise TypeError(
                "a dict of runs must have names as keys, which are strings that are not empty; got "
                f"{list(run)!r:.80}. A single run may be {{query: {{document: score}}}}."
            )
    elif isinstance(run, list | tuple) and not all(map(_is_record, run[:1])):
        raise TypeError(
            "several runs are given as a dict by name, such as {'bm25': path, 'dense': path}; got "
            f"a {type(run).__name__} of {len(run)}."
        )
    else:
        run = {ALONE: run}
    runs = {name: RUN.read(of, name, columns, may_be_empty=complete) for name, of in run.items()}
    judged = QRELS.read(qrels, columns=columns)
    if len({type(query) for table in (judged, *runs.values()) for query in table.queries}) > 1:
        # numbers in a DataFrame are text in a file
        judged = _with_text_ids(judged, QRELS.name())
        runs = {name: _with_text_ids(table, RUN.name(name)) for name, table in runs.items()}
    return judged, runs


def _with_text_ids(table: Table, name: str) -> Table:
    """The same table, with query ids as text, which may be that of several ids."""
    texts = as_texts(table.queries, "query", name)
    position = {text: at for at, text in enumerate(dict.fromkeys(texts))}
    codes = np.array([position[text] for text in texts], int)
    return replace(table, queries=list(position), query=codes[table.query])


def _select_queries(judged: Table, runs: dict[str, Table], complete: bool | None) -> list[Any]:
    """The queries to evaluate: judged ones of any run; what is missing is said once."""
    in_runs = {query for run in runs.values() for query in run.queries}
    for name, run in runs.items():
        if run.queries and set(judged.queries).isdisjoint(run.queries):
            raise ValueError(
                f"the {RUN.name(name)} and the qrels have no query in common: the first query of "
                f"the run is {shown(run.queries[0])}, of the qrels {shown(judged.queries[0])}."
            )
    n = len(judged.queries)
    selected = [query for query in judged.queries if complete or query in in_runs]
    if complete is not None:
        return selected
    if n_lacking := n - len(selected):
        warn(
            f"no run has results for {counted(n_lacking, 'judged query')} of {n:,}, left out of "
            "the means as by trec_eval; complete=True (-c on the command line) counts them, and "
            "complete=False leaves them out without this note."
        )
    for name, run in runs.items():
        if n_lacking := len(set(selected).difference(run.queries)):
            warn(
                f"{name} has no results for {n_lacking:,} of {len(selected):,} queries, where it "
                "retrieved nothing."
            )
    return selected
