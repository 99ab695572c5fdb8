"""TREC relevance judgments and runs as arguments of a metric."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Set
from dataclasses import replace
from operator import itemgetter
from typing import Any, get_args

import numpy as np

from .._columns import LARGEST_EXACT_INTEGER, check_in_memory
from .._typing import Array, UnjudgedDocuments
from .._validation import check_choice, check_flag, check_system_names, shown
from ..query_ids.read import as_objects, python_values
from .columns import Columns, columns_of
from .join import ALONE, Arguments, join
from .table import LongTable, row_of
from .text import as_bytes, has_columns, read_columns, read_lines


def from_trec(
    qrels: Any,
    run: Any,
    *,
    complete: bool | None = None,
    unjudged: UnjudgedDocuments = "irrelevant",
    ignore_identical_ids: bool = False,
) -> Arguments:
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
        If judged queries are missing from all runs or from one of several, or if ten or more
        documents have a relevance, and none of ten or more that a system retrieved.

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
    if complete is not None:
        check_flag("complete", complete)
    return join_trec(qrels, run, {}, complete, unjudged, ignore_identical_ids)


def join_trec(
    qrels: Any,
    run: Any,
    columns: Mapping[str, str],
    complete: bool | None,
    unjudged: Any,
    ignore_identical_ids: bool,
) -> Arguments:
    """What `from_trec` returns; `columns` are the names of columns in files by field."""
    runs = {
        name: read_source(of, "run", f"run {name!r}" if name else "run", columns, bool(complete))
        for name, of in _named_runs(run).items()
    }
    judged = read_source(qrels, "qrels", "qrels", columns)
    if judged.value.min() < 0:  # in the pool, but not judged
        label = np.nan if unjudged == "nan" else -np.inf
        judged = replace(judged, value=np.where(judged.value < 0, label, judged.value))
    tables = [judged, *runs.values()]
    if any(isinstance(id, str | bytes) for table in tables for id in table.query[0].tolist()):
        # numbers in a DataFrame are text in a file
        tables = [replace(t, query=(as_objects(_texts(t.query[0])), t.query[1])) for t in tables]
    judged, *results = tables
    return join(
        judged, dict(zip(runs, results, strict=True)), unjudged=unjudged, complete=complete,
        own_document=(lambda query: str(query).encode()) if ignore_identical_ids else None,
        by_id=True,
    )  # fmt: skip


def _named_runs(run: Any) -> Mapping[str, Any]:
    """The runs by name."""
    run = as_nested(run)
    if not isinstance(run, Mapping) or all(map(_is_of_query, run.values())):
        return {ALONE: run}
    hint = " A single run may be {query: {document: score}}."
    check_system_names("run", run, hint)
    return run


def _is_of_query(entry: Any) -> bool:
    """Whether it is the run of a query, rather than the run of a system."""
    if isinstance(entry, Mapping):
        return not isinstance(next(iter(entry.values()), None), Mapping | list | tuple | set)
    if isinstance(entry, list | tuple):
        return not (entry[:1] and _is_record(entry[0]))
    return isinstance(entry, Set) or hasattr(entry, "dtype")  # which are refused as such


def _is_record(row: Any) -> bool:
    return isinstance(row, list | tuple) and len(row) >= 3


def as_nested(source: Any) -> Any:
    """The dict of dicts of an object of ranx; anything else unchanged."""
    of_other_libraries = ("columns", "dtype", "to_numpy")
    if hasattr(source, "to_dict") and not any(hasattr(source, of) for of in of_other_libraries):
        return source.to_dict()
    return source


def read_source(
    source: Any, kind: str, name: str, given: Mapping[str, str], may_be_empty: bool = False
) -> LongTable:
    """The table of a path, file object, DataFrame, dict by query or iterable of records.

    `kind` is "qrels" or "run"; `given` has the names of columns by field. Document ids are bytes.
    """
    check_in_memory(source, name)
    source = as_nested(source)
    is_file = has_columns(source)
    if is_file:
        table = _of_columns(read_columns(source), kind, given)
    elif isinstance(source, str | os.PathLike) or hasattr(source, "read"):
        table = read_lines(source, kind)
    elif hasattr(source, "columns"):
        table = _of_columns(columns_of(name, source), kind, {})
    else:
        table = _of_columns(_of_records(source, kind, name), kind, {})
    if not len(table.value) and not may_be_empty:
        raise ValueError(f"the {table.name} has no rows; at least one is needed.")
    (queries, query), (documents, document) = table.query, table.document
    if is_file:
        queries = as_objects(_texts(queries))
    if document is not None:  # not the bytes of a TREC file
        texts = _texts(documents)
        documents = as_bytes([text.encode(errors="surrogateescape") for text in texts])
    table = replace(table, query=(queries, query), document=(documents, document))
    value = table.value
    if kind == "run":
        if (missing := np.isnan(value)).any():
            raise ValueError(f"{table.where(int(missing.argmax()))}: the score is NaN.")
        # -inf would mean not retrieved
        return replace(table, value=np.maximum(value, np.finfo(np.float64).min))
    is_whole = (np.abs(value) < LARGEST_EXACT_INTEGER) & (value == np.floor(value))
    is_valid = is_whole | (np.isfinite(value) & (value >= 0)) if is_file else is_whole
    if not is_valid.all():
        at = int(is_valid.argmin())
        raise ValueError(
            f"{table.where(at)}: relevance must be an integer of less than 2**53, or, in a file "
            f"with named columns, a number from 0 on; got {value[at]}. from_frames and "
            "from_ranked_lists take other numbers."
        )
    return replace(table, value=value.astype(np.int64) if is_whole.all() else value)


def _of_columns(columns: Columns, kind: str, given: Mapping[str, str]) -> LongTable:
    field = "relevance" if kind == "qrels" else "score"
    if field == "score" and "score" not in given:
        has_score = columns.usual("score") is not None
        has_rank = "rank" in given or (not has_score and "rank" in columns.names)
        field = "rank" if has_rank else "score"
    query, document, value = (columns.find(of, given) for of in ("query", "document", field))
    return columns.table(query, document, value, field)


def _of_records(source: Any, kind: str, name: str) -> Columns:
    """Columns by their names in named tuples, or their positions in a line."""
    rows, where = list(source) if isinstance(source, Iterable) else [source], row_of(name)
    if isinstance(source, Mapping):
        entries = [
            _documents(entry, kind, f"{name}, query {shown(of)}") for of, entry in source.items()
        ]
        rows = [(query, *pair) for query, of in zip(rows, entries, strict=True) for pair in of]

        def of_query(row: int) -> str:
            return f"{name}, query {shown(rows[row][0])}"

        where = of_query
    if not all(map(_is_record, rows)):
        raise TypeError(
            f"{name} must be a path, a file object, a DataFrame, records such as (query, "
            f"document, number), or a dict {{query: {{document: number}}}}; got a "
            f"{type(source).__name__}. Several runs are a dict by name, {{'bm25': path}}."
        )
    first = rows[0] if rows else (None,) * 3
    names = list(getattr(first, "_fields", range(len(first))))
    if names == [0, 1, 2]:
        names = ["query", "document", "relevance" if kind == "qrels" else "score"]
    place = {of: at for at, of in enumerate(names)}
    return Columns(name, names, lambda of: list(map(itemgetter(place[of]), rows)), where)


def _documents(entry: Any, kind: str, where: str) -> Iterable[Any]:
    """Documents and numbers of a dict; of a run also pairs, or documents, best first."""
    if isinstance(entry, Mapping):
        return entry.items()
    if kind == "qrels" or not isinstance(entry, list | tuple):
        or_list = ", or a list of documents, best first" if kind == "run" else ""
        raise TypeError(
            f"{where}: must be a dict {{document: number}}{or_list}; got the "
            f"{type(entry).__name__} {entry!r:.60}. from_ranked_lists takes relevant documents as "
            "lists or sets, and predicted ones as lists or arrays."
        )
    if all(isinstance(item, list | tuple) and len(item) == 2 for item in entry):
        return entry
    return zip(entry, range(0, -len(entry), -1), strict=True)


def _texts(ids: Array) -> list[str]:
    """The text of each id as in a file, in which a column with missing ids has floats."""
    return [
        one if type(one) is str
        else one.decode(errors="surrogateescape") if isinstance(one, bytes)
        else str(int(one) if isinstance(one, float) and one.is_integer() else one)
        for one in python_values(ids, dates=False)
    ]  # fmt: skip
