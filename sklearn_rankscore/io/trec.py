"""TREC relevance judgments and runs as arguments of a metric."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal, get_args, overload

import numpy as np

from .._typing import UnjudgedDocuments
from .._validation import check_choice, counted, shown
from ..query_ids import as_ids
from .join import (
    ALONE,
    MetricArguments,
    SystemArguments,
    metric_arguments,
    warn_of_other_ids,
)
from .nested import as_nested, is_nested
from .record_lists import runs_by_name
from .trec_join import Runs, join_records
from .trec_records import QRELS, RUN, Format, Nested, Records, Source


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
    run: Source | Nested,
    *,
    complete: bool = ...,
    unjudged_queries: Literal["drop", "error"] = ...,
    unjudged: UnjudgedDocuments = ...,
) -> MetricArguments: ...
def from_trec(
    qrels: Source,
    run: Source | Mapping[str, Source],
    *,
    complete: bool = False,
    unjudged_queries: Literal["drop", "error"] = "drop",
    unjudged: UnjudgedDocuments = "irrelevant",
) -> Any:
    r"""Build the arguments of a metric from TREC relevance judgments and one or several runs.

    Parameters
    ----------
    qrels : path, file object, DataFrame or dict of dicts
        Lines of ``query iteration document relevance``. Relevance is an integer; negative values
        mean not judged. The columns of a DataFrame have one of the usual names: ``query_id`` or
        ``user``, ``doc_id`` or ``item``, ``relevance`` or ``label``; also those of BEIR. Dicts as
        pytrec_eval takes them, ``{query: {document: relevance}}``, and ranx's Qrels.
    run : path, file object, DataFrame, dict of dicts, or dict of str to them
        Lines of ``query Q0 document rank score tag``, of which query, document and score are used;
        text after the tag is ignored, unless it may result from a space in the document id, which
        is an error. The columns of a DataFrame are named as above, and ``score``. Dicts ``{query:
        {document: score}}``, and ranx's Run. Several runs are given as a dict by name.
    complete : bool, default=False
        Whether to include judged queries that are missing from the run, with nothing retrieved
        (``trec_eval -c``). By default they are excluded, as in trec_eval 9; trec_eval 10 stops with
        an error unless ``-c`` is given.
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
    return arguments_of_records(*read_records(qrels, run), complete, unjudged_queries, unjudged)


def arguments_of_records(
    judged: Records,
    runs: Runs,
    complete: bool = False,
    unjudged_queries: str = "drop",
    unjudged: str = "irrelevant",
) -> Any:
    """What `from_trec` returns, of judgments and runs that have been read."""
    if judged.value.min() < 0:  # in the pool, but not judged
        label = np.nan if unjudged == "nan" else -np.inf
        judged = replace(judged, value=np.where(judged.value < 0, label, judged.value))
    selected = _select_queries(judged, runs, complete, unjudged_queries)
    joined, texts = join_records(judged, runs, selected)
    warn_of_other_ids(joined, texts)
    return metric_arguments(as_ids(selected)[0], joined, unjudged)


def read_records(qrels: Any, run: Any, judgments: Format = QRELS) -> tuple[Records, Runs]:
    """The judgments and the runs by name, with query ids of one type."""
    run = as_nested(run)
    if isinstance(run, list | tuple) and RUN.as_frame(run) is None:
        raise TypeError(
            f"several runs are given as a dict by name, such as {runs_by_name(run)}; got a "
            f"{type(run).__name__} of {len(run)}."
        )
    if isinstance(run, Mapping) and not is_nested(run):
        if not run or not all(isinstance(name, str) and name for name in run):
            raise TypeError(
                "a dict of runs must have names as keys and at least one run; got "
                f"{list(run)!r:.80}. A single run may be {{query: {{document: score}}}}."
            )
        runs = {name: RUN.read(source, name) for name, source in run.items()}
    else:
        runs = {ALONE: RUN.read(run)}
    judged = judgments.read(qrels)
    if len({type(query) for records in (judged, *runs.values()) for query in records.queries}) > 1:
        # numbers in a DataFrame are text in a file
        judged = judged.with_text_ids(judgments.name())
        runs = {name: records.with_text_ids(RUN.name(name)) for name, records in runs.items()}
    return judged, runs


def _select_queries(
    judged: Records, runs: Runs, complete: bool, unjudged_queries: str
) -> list[Any]:
    """The queries to evaluate."""
    in_qrels, in_runs = set(judged.queries), {q for run in runs.values() for q in run.queries}
    for name, run in runs.items():
        called = f"the run {name!r}" if name else "the run"
        if in_qrels.isdisjoint(run.queries):
            raise ValueError(
                f"{called} and the qrels have no query in common: the first query of the run is "
                f"{shown(run.queries[0])}, of the qrels {shown(judged.queries[0])}."
            )
        unjudged = [code for code, query in enumerate(run.queries) if query not in in_qrels]
        if unjudged and unjudged_queries == "error":
            at = int(np.isin(run.query, unjudged).argmax())
            raise ValueError(
                f"{run.locate(at)}: the qrels have no judgments of query "
                f"{run.queries[run.query[at]]!r} ({counted(len(unjudged), 'such query')} in "
                f"{called}). Use unjudged_queries='drop' to leave them out."
            )
    return [query for query in judged.queries if complete or query in in_runs]
