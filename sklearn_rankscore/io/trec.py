"""TREC relevance judgments and runs as arguments of a metric."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from .._validation import check_choice
from ..query_ids import as_ids
from .join import ItemLists, MetricArguments, join_relevance
from .trec_records import QRELS, RUN, Records, Source


def from_trec(
    qrels: Source,
    run: Source,
    *,
    complete: bool = False,
    unjudged_queries: Literal["drop", "error"] = "drop",
) -> MetricArguments:
    r"""Arguments of a metric from TREC relevance judgments and a run.

    Parameters
    ----------
    qrels : path, file object or DataFrame
        Lines of ``query iteration document relevance``. Relevance is an integer; negative values
        count as 0. The columns of a DataFrame have one of the usual names: ``query_id`` or
        ``qid``, ``doc_id`` or ``docno``, ``relevance`` or ``label``.
    run : path, file object or DataFrame
        Lines of ``query Q0 document rank score tag``, of which query, document and score are used.
        The columns of a DataFrame are named as above, and ``score``.
    complete : bool, default=False
        Whether to include judged queries that are missing from the run, with nothing retrieved
        (``trec_eval -c``). By default they are left out, as in trec_eval.
    unjudged_queries : {"drop", "error"}, default="drop"
        What to do with queries of the run that have no judgments: leave them out, as trec_eval
        does, or raise an error.

    Returns
    -------
    dict
        ``y_true``, ``y_score`` (in single precision, as in trec_eval) and ``groups``, arrays
        of shape (n_documents,), to be passed on as
        ``evaluate(metrics=["map", "ndcg@10"], **from_trec(qrels, run), like="trec_eval")``. The
        documents of each query are adjacent: first those retrieved, then the others, each in
        ascending order of their ids.

    Raises
    ------
    ValueError
        If a line is malformed (the message gives its number), a document occurs twice for a query,
        or the run and the judgments have no query in common.
    TypeError
        If an argument is not a path, file object or DataFrame.

    See Also
    --------
    from_ranked_lists : From lists of items.

    Notes
    -----
    Fields are separated by spaces or tabs. Empty lines and lines that begin with ``#`` are
    skipped, and a path that ends in ``.gz`` is decompressed. Retrieved documents without a judgment
    have relevance 0; judged documents that were not retrieved have the score -inf, so that they
    count in recall, average precision and the ideal ranking. Like trec_eval this ignores the ranks
    in the file. trec_eval breaks ties by descending document id, which is what
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
    check_choice("unjudged_queries", unjudged_queries, ("drop", "error"))
    judged, retrieved = QRELS.read(qrels), RUN.read(run)
    if type(judged.query[0]) is not type(retrieved.query[0]):
        # numbers in a DataFrame are text in a file
        judged, retrieved = judged.with_text_ids(), retrieved.with_text_ids()
    queries = _select_queries(judged, retrieved, complete, unjudged_queries)
    names = sorted({*judged.document, *retrieved.document})
    documents = dict(zip(names, range(len(names)), strict=True))
    return join_relevance(
        as_ids(list(queries))[0],
        _sorted_lists(judged, queries, documents),
        _sorted_lists(retrieved, queries, documents),
    )


def _select_queries(
    judged: Records, retrieved: Records, complete: bool, unjudged_queries: str
) -> dict[Any, int]:
    """The queries to evaluate, and the position of each."""
    in_run = dict.fromkeys(retrieved.query)
    in_qrels = dict.fromkeys(judged.query)
    if in_run.keys().isdisjoint(in_qrels):
        raise ValueError(
            "the run and the qrels have no query in common: the first query of the run is "
            f"{retrieved.query[0]!r}, of the qrels {judged.query[0]!r}."
        )
    unjudged = [query for query in in_run if query not in in_qrels]
    if unjudged and unjudged_queries == "error":
        at = retrieved.query.index(unjudged[0])
        raise ValueError(
            f"{retrieved.locate(at)}: the qrels have no judgments of query {unjudged[0]!r} "
            f"({len(unjudged)} such queries in the run). Use unjudged_queries='drop' to leave them "
            "out."
        )
    selected = [query for query in in_qrels if complete or query in in_run]
    return {query: position for position, query in enumerate(selected)}


def _sorted_lists(
    records: Records, queries: dict[Any, int], documents: dict[str, int]
) -> ItemLists:
    """The records of the selected queries, by query and document id."""
    query = np.array([queries.get(name, -1) for name in records.query], dtype=np.int64)
    document = np.array([documents[name] for name in records.document], dtype=np.int64)
    order = np.lexsort((document, query))
    order = order[query[order] >= 0]
    query, document = query[order], document[order]
    duplicate = (query[1:] == query[:-1]) & (document[1:] == document[:-1])
    if duplicate.any():
        at = int(order[1:][duplicate].min())
        raise ValueError(
            f"{records.locate(at)}: duplicate document {records.document[at]!r} for query "
            f"{records.query[at]!r}."
        )
    return ItemLists(query, document, records.value[order])
