"""Judgments and runs in the formats of TREC."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from ..ranking.arrays import Array, as_ids, as_numbers
from .documents import Listed, merge

# position in a file's line, and the names that columns of a frame go by
Column = tuple[int, tuple[Any, ...]]
QUERY: Column = (0, ("query_id", "qid", "q_id", "query", "topic", 0))
DOCUMENT: Column = (2, ("doc_id", "docid", "docno", "document_id", "document", 2))


@dataclass(frozen=True)
class Format:
    """The columns of a file: how many, and which holds the value."""

    name: str
    line: str
    value: Column

    @property
    def width(self) -> int:
        """Number of fields in a line."""
        return len(self.line.split())


QRELS = Format(
    "qrels",
    "query iteration document relevance",
    (3, ("relevance", "rel", "label", "grade", 3)),
)
RUN = Format("run", "query Q0 document rank score tag", (4, ("score", "sim", 4)))


@dataclass(frozen=True)
class Table:
    """Rows of a file or frame; `where` names the place of a row in an error."""

    query: list[Any]
    document: list[str]
    value: Array
    where: Callable[[int], str]


def from_trec(
    qrels: Any, run: Any, *, complete: bool = False, unjudged_queries: str = "drop"
) -> dict[str, Any]:
    r"""Arguments of a metric from TREC relevance judgments and a run.

    Parameters
    ----------
    qrels : path, file object or DataFrame
        Lines of ``query iteration document relevance``; relevance is an integer, and below 0 it
        counts as 0. The columns of a frame go by one of the usual names: ``query_id`` or ``qid``,
        ``doc_id`` or ``docno``, ``relevance`` or ``label``.
    run : path, file object or DataFrame
        Lines of ``query Q0 document rank score tag``, of which query, document and score count.
        The columns of a frame are named as above, and ``score``.
    complete : bool, default=False
        Whether queries of the judgments that the run lacks count, with nothing retrieved
        (``trec_eval -c``). If not they are left out, as trec_eval does.
    unjudged_queries : {"drop", "error"}, default="drop"
        What to do about queries of the run that have no judgments: leave them out, as trec_eval
        does, or refuse the run.

    Returns
    -------
    dict
        ``y_true``, ``y_score`` (in single precision, as trec_eval holds it) and ``groups``, arrays
        of shape (n_documents,), to be passed on as
        ``evaluate(metrics=["map", "ndcg@10"], **from_trec(qrels, run), like="trec_eval")``. The
        documents of a query come in ascending order of their ids.

    Raises
    ------
    ValueError
        If a line is malformed (its number is named), a document is named twice for a query,
        or the run and the judgments have no query in common.
    TypeError
        If an argument is no path, file object or DataFrame.

    See Also
    --------
    from_ranked_lists : The same for lists of items.

    Notes
    -----
    Fields are separated by spaces or tabs. Empty lines and lines that begin with ``#`` are passed
    over, and a path that ends in ``.gz`` is decompressed. Retrieved documents without a judgment
    have relevance 0; judged ones that were not retrieved have the score -inf, so that they count
    in recall, average precision and the ideal order. Like trec_eval this ignores the rank in
    the file. trec_eval puts equal scores into descending order of document ids, which is what
    ``like="trec_eval"`` does here; without it ties are averaged.

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
    if unjudged_queries not in ("drop", "error"):
        raise ValueError(f"unjudged_queries must be 'drop' or 'error'; got {unjudged_queries!r}.")
    judged, ranked = _read(qrels, QRELS), _read(run, RUN)
    if type(judged.query[0]) is not type(ranked.query[0]):  # numbers here, their digits there
        judged, ranked = _with_text_ids(judged), _with_text_ids(ranked)
    queries = _queries(judged, ranked, complete, unjudged_queries)
    names = sorted({*judged.document, *ranked.document})
    documents = dict(zip(names, range(len(names)), strict=True))
    return merge(
        as_ids(list(queries))[0],
        _listed(judged, queries, documents),
        _listed(ranked, queries, documents),
    )


def _queries(judged: Table, ranked: Table, complete: bool, unjudged_queries: str) -> dict[Any, int]:
    """Number of each query that counts."""
    in_run = dict.fromkeys(ranked.query)
    all_judged = dict.fromkeys(judged.query)
    if in_run.keys().isdisjoint(all_judged):
        raise ValueError(
            "the run and the qrels have no query in common: the first query of the run is "
            f"{ranked.query[0]!r}, of the qrels {judged.query[0]!r}."
        )
    unjudged = [query for query in in_run if query not in all_judged]
    if unjudged and unjudged_queries == "error":
        at = ranked.query.index(unjudged[0])
        raise ValueError(
            f"{ranked.where(at)}: the qrels have no judgments of query {unjudged[0]!r}, nor of "
            f"{len(unjudged) - 1} more queries of the run. unjudged_queries='drop' leaves them out."
        )
    kept = [query for query in all_judged if complete or query in in_run]
    return {query: number for number, query in enumerate(kept)}


def _listed(table: Table, queries: dict[Any, int], documents: dict[str, int]) -> Listed:
    """Rows of the queries that count, by query and document id."""
    query = np.array([queries.get(name, -1) for name in table.query], dtype=np.int64)
    document = np.array([documents[name] for name in table.document], dtype=np.int64)
    order = np.lexsort((document, query))
    order = order[query[order] >= 0]
    query, document = query[order], document[order]
    twice = (query[1:] == query[:-1]) & (document[1:] == document[:-1])
    if twice.any():
        at = int(order[1:][twice].min())
        raise ValueError(
            f"{table.where(at)}: document {table.document[at]!r} is named for the second time "
            f"for query {table.query[at]!r}."
        )
    return Listed(query, document, table.value[order])


def _read(source: Any, form: Format) -> Table:
    if hasattr(source, "columns"):
        table = _from_frame(source, form)
    else:
        table = _from_text(_text(source, form), form)
    if not table.query:
        raise ValueError(f"the {form.name} has no rows; at least one is needed.")
    values = _labels(table, form) if form is QRELS else _scores(table)
    return Table(table.query, table.document, values, table.where)


def _labels(table: Table, form: Format) -> Array:
    labels = table.value
    if (odd := ~np.isfinite(labels) | (labels != np.floor(labels))).any():
        at = int(odd.argmax())
        raise ValueError(f"{table.where(at)}: relevance must be an integer; got {labels[at]}.")
    return np.maximum(labels, 0).astype(np.int64)


def _scores(table: Table) -> Array:
    """Scores as trec_eval holds them; none is -inf, which would mean not retrieved."""
    if (odd := np.isnan(table.value)).any():
        raise ValueError(f"{table.where(int(odd.argmax()))}: the score is NaN.")
    with np.errstate(over="ignore"):
        scores = table.value.astype(np.float32)
    return np.maximum(scores, np.finfo(np.float32).min)


def _text(source: Any, form: Format) -> str:
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        source = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    elif hasattr(source, "read"):
        source = source.read()
    else:
        raise TypeError(
            f"{form.name} must be a path, a file object or a DataFrame; got a "
            f"{type(source).__name__}."
        )
    if isinstance(source, bytes):
        return source.decode("utf-8-sig", errors="surrogateescape")
    return str(source)


def _from_text(text: str, form: Format) -> Table:
    lines = text.split("\n")
    numbers = [i for i, line in enumerate(lines) if line.lstrip()[:1] not in ("", "#")]
    rows = [lines[i] for i in numbers]

    def where(row: int) -> str:
        return f"{form.name}, line {numbers[row] + 1}"

    # lists of a row's fields are never kept: millions of them would busy the garbage collector
    widths = np.fromiter(map(len, map(str.split, rows)), dtype=np.intp, count=len(rows))
    if (odd := widths != form.width).any():
        at = int(odd.argmax())
        raise ValueError(
            f"{where(at)}: a line must have {form.width} fields, '{form.line}'; got {rows[at]!r}."
        )
    flat = list(chain.from_iterable(map(str.split, rows)))
    query, document, value = (
        flat[position :: form.width] for position in (QUERY[0], DOCUMENT[0], form.value[0])
    )
    return Table(query, document, _numbers(value, form, where), where)


def _numbers(texts: list[str], form: Format, where: Callable[[int], str]) -> Array:
    try:
        return np.fromiter(map(float, texts), dtype=np.float64, count=len(texts))
    except ValueError as error:
        at = next(i for i, text in enumerate(texts) if not _is_number(text))
        what = form.line.split()[form.value[0]]
        raise ValueError(f"{where(at)}: {what} must be a number; got {texts[at]!r}.") from error


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _from_frame(frame: Any, form: Format) -> Table:
    query, document = (_values(_column(frame, c[1], form)) for c in (QUERY, DOCUMENT))
    for ids in (query, document):
        if any(name is None or name != name for name in ids):
            raise ValueError(f"the {form.name} has rows without a query or document id.")
    if unnamed := [name for name in document if isinstance(name, float)]:
        raise ValueError(
            f"the {form.name} has floats as document ids, such as {unnamed[0]!r}, which no text "
            "names alike. Make them integers or strings."
        )
    column = _column(frame, form.value[1], form)
    values = as_numbers(column, f"{form.name} column") if query else np.zeros(0)
    floats = values.astype(np.float64)
    return Table(query, list(map(str, document)), floats, lambda row: f"{form.name}, row {row}")


def _column(frame: Any, names: Sequence[Any], form: Format) -> Any:
    present = list(getattr(frame, "column_names", frame.columns))
    for name in names:
        if name in present:
            return frame[name]
    known = ", ".join(repr(name) for name in names if isinstance(name, str))
    raise ValueError(f"the {form.name} needs a column named one of {known}; it has {present}.")


def _values(column: Any) -> list[Any]:
    return list(column.to_pylist() if hasattr(column, "to_pylist") else column.to_list())


def _with_text_ids(table: Table) -> Table:
    return Table(list(map(str, table.query)), table.document, table.value, table.where)
