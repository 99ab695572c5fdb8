"""The join of long tables of judgments and of the results of systems."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NotRequired, TypedDict

import numpy as np

from .._typing import Array, Unjudged
from .._validation import counted, shown, warn
from ..query_ids.read import order_by_code
from .table import CodedRows, LongTable, are_distinct, are_in, at_ranks, in_common, in_order

# the name of a system that was not given one
ALONE = ""
# fewer items may have nothing in common by chance
MANY = 10


class Arguments(TypedDict):
    """What metrics are given: labels, scores and query ids, and a rule for labels of NaN.

    Scores are an array, or a dict of arrays by system.
    """

    y_true: Array
    y_score: Any
    groups: Array
    unjudged: NotRequired[Unjudged]


def arguments(labels: Array, scores: dict[str, Array], groups: Array, unjudged: Any) -> Arguments:
    """What readers return; scores by system if the systems have names."""
    of_systems = scores if scores.keys() != {ALONE} else scores[ALONE]
    given: Arguments = {"y_true": labels, "y_score": of_systems, "groups": groups}
    if unjudged != "nan":
        given["unjudged"] = unjudged
    return given


def join(
    judged: LongTable,
    systems: Mapping[str, LongTable],
    *,
    complete: bool | None,
    advice: str = "",
    exclude: LongTable | None = None,
    **options: Any,
) -> Arguments:
    """What `labelled` returns of tables with ids.

    Parameters
    ----------
    judged : LongTable
        The relevance.
    systems : dict of str to LongTable
        The results of each system.
    complete : bool or None
        Whether judged queries without results of any system count; None is False with a warning.
    advice : str, default=""
        The end of the error for a document that a table has twice for a query.
    exclude : LongTable, default=None
        Queries and documents that do not count.
    **options
        Of `labelled`.
    """
    tables = [judged, *systems.values(), *([] if exclude is None else [exclude])]
    ids, queries = in_common([table.query for table in tables], "the query ids")
    items, documents = in_common([table.document for table in tables], "the document ids")
    counts = _which_count(ids, queries, tables, list(systems), complete)
    every = []
    for table, query, document in zip(tables, queries, documents, strict=True):
        rows = CodedRows(query, document, table.value)
        refuse_repeated(table, rows, counts[query], ids, items, advice)
        every.append(at_ranks(table.name, rows, len(items)) if table.is_ranked else rows)
    relevant, *results = every
    options["exclude"] = None if exclude is None else results[-1]
    of_systems = dict(zip(systems, results, strict=False))
    return labelled(ids, items, relevant, of_systems, counts=counts, **options)


def labelled(
    ids: Array,
    items: Array,
    judged: CodedRows,
    systems: Mapping[str, CodedRows],
    *,
    unjudged: str,
    counts: Array | None = None,
    exclude: CodedRows | None = None,
    own_document: Callable[[Any], Any] | None = None,
    by_id: bool = False,
) -> Arguments:
    """Label the documents of each system with their relevance, and add those that were missed.

    Parameters
    ----------
    ids, items : arrays
        The ids of queries and of documents. A document beyond them is one without an id.
    judged : CodedRows
        The relevance.
    systems : dict of str to CodedRows
        The results of each system; no rows have a document twice for a query.
    unjudged : {"irrelevant", "drop", "nan"}
        The rule that the arguments carry.
    counts : bool array, default=None
        Which queries count; by default all of them.
    exclude : CodedRows, default=None
        Queries and documents that do not count.
    own_document : callable, default=None
        The id of the document, of each query, that is left out of results.
    by_id : bool, default=False
        Whether documents are ordered by id, as in trec_eval, instead of by their first rows.

    Returns
    -------
    dict
        Arguments of a metric. The documents of each query are adjacent: first those that some
        system retrieved, then the others. A query without any gets one that is neither relevant
        nor retrieved, so that it counts in means.
    """
    every = [*systems.values(), judged]
    empty = np.ones(len(ids), dtype=bool) if counts is None else counts.copy()
    every = [rows.where(empty[rows.query]) for rows in every]
    # a pair of a query and a document is one number
    n_items = np.int64(2 + max(int(rows.document.max(initial=len(items))) for rows in every))
    if exclude is not None:
        known = np.concatenate([rows.document for rows in every])
        which = "that have a relevance or were retrieved"
        _warn_if_disjoint(items, exclude.document, known, "of exclude", which)
        left_out = exclude.query * n_items + exclude.document
        every = [
            rows.where(~are_in(rows.query * n_items + rows.document, left_out)) for rows in every
        ]
    *results, judged = every
    if own_document is not None:
        place = {item: at for at, item in enumerate(items.tolist())}
        own = np.array([place.get(own_document(query), -1) for query in ids.tolist()])
        results = [rows.where(rows.document != own[rows.query]) for rows in results]
    for rows in (judged, *results):
        empty[rows.query] = False
    (lacking,) = empty.nonzero()
    judged = judged.and_more(lacking, np.full_like(lacking, n_items - 1), np.zeros(len(lacking)))
    every = [*results, judged]
    query, document = (np.concatenate(of) for of in zip(*(rows[:2] for rows in every), strict=True))
    row, is_first = in_order(query * n_items + document)
    # the first row of each document, by id; of those retrieved it is before all that are judged
    first = row[is_first]
    if by_id:
        is_missed = first >= len(row) - len(judged.query)
        order = np.concatenate([first[~is_missed], first[is_missed]])
    else:
        is_new = np.empty_like(is_first)
        is_new[row] = is_first
        order = np.flatnonzero(is_new)
    of_document = query[order]
    order = order[order_by_code(of_document, len(ids))]
    position, again = np.empty_like(row), np.flatnonzero(~is_first)
    position[order] = np.arange(len(order))
    position[row[again]] = position[first[again - np.arange(len(again)) - 1]]
    ends = np.cumsum([len(rows.query) for rows in results])
    *retrieved, relevant = np.split(position, ends)
    labels = np.full(len(order), np.nan)
    labels[relevant] = judged.value
    is_judged = ~np.isnan(labels)
    if judged.value.dtype.kind in "biu" and is_judged.all():
        labels = labels.astype(np.int64)
    scores = {}
    for system, rows, at in zip(systems, results, retrieved, strict=True):
        dtype = np.promote_types(rows.value.dtype, np.float32)
        scores[system] = np.full(len(order), -np.inf, dtype)
        scores[system][at] = rows.value
        if not (is_judged & (scores[system] > -np.inf)).any():
            known = judged.document[~np.isnan(judged.value)]
            found = rows.document[rows.value > -np.inf]
            which = f"that {repr(system) if system else 'the system'} retrieved"
            _warn_if_disjoint(items, found, known, which, "that have a relevance")
    sizes = np.bincount(of_document, minlength=len(ids))
    return arguments(labels, scores, np.repeat(ids, sizes), unjudged)


def _which_count(
    ids: Array, queries: Sequence[Array], tables: Sequence[LongTable], systems: Sequence[str],
    complete: bool | None,
) -> Array:  # fmt: skip
    """Whether each query counts: it is judged and, unless `complete`, has results of a system."""
    is_judged, *has_results = [
        np.bincount(of, minlength=len(ids)) > 0 for of in queries[: 1 + len(systems)]
    ]
    judged = tables[0]
    for has, table in zip(has_results, tables[1:], strict=False):
        if has.any() and not (is_judged & has).any():
            raise ValueError(
                f"{judged.name} and {table.name} have no query in common: {judged.name} has "
                f"{shown(ids[is_judged][0])}, {table.name} has {shown(ids[has][0])}."
            )
    if complete:
        return is_judged
    selected = np.asarray(is_judged & np.logical_or.reduce(has_results))
    if complete is None and (n_lacking := int(is_judged.sum() - selected.sum())):
        warn(
            f"no run has results for {counted(n_lacking, 'judged query')} of {is_judged.sum():,}, "
            "left out of the means as by trec_eval; complete=True (-c on the command line) counts "
            "them, and complete=False leaves them out without this note."
        )
    for system, has in zip(systems, has_results, strict=True) if complete is None else ():
        if n_lacking := int((selected & ~has).sum()):
            of_all = f"{n_lacking:,} of {selected.sum():,} queries"
            warn(f"{system} has no results for {of_all}, which count as if it retrieved nothing.")
    return selected


def _warn_if_disjoint(
    items: Array, documents: Array, others: Array, which: str, which_others: str
) -> None:
    """Warn if none of many documents is among many others, as if their ids were of two kinds."""
    first, second = (np.unique(of[of < len(items)]) for of in (documents, others))
    if min(len(first), len(second)) >= MANY and not are_in(first, second).any():
        one, other = (_shown(min(items[of].tolist(), key=str)) for of in (first, second))
        warn(
            f"none of the {len(first):,} items {which} is among the {len(second):,} "
            f"{which_others}. Check that both have ids of the same kind; the former are such as "
            f"{one}, the latter such as {other}."
        )


def refuse_repeated(
    table: LongTable, rows: CodedRows, selected: Array, ids: Array, items: Array, advice: str
) -> None:
    """Refuse a table that has a document twice for a query, among the rows that are selected."""
    pair = (rows.query * np.int64(len(items)) + rows.document)[selected]
    if are_distinct(pair):
        return
    order, is_first = in_order(pair)
    row = int(selected.nonzero()[0][order[~is_first].min()])
    raise ValueError(
        f"{table.where(row)}: duplicate document {_shown(items[rows.document[row]])} for query "
        f"{shown(ids[rows.query[row]])}.{advice}"
    )


def _shown(item: Any) -> str:
    """An id in a message; bytes of a file are text."""
    if isinstance(item, bytes):
        with suppress(UnicodeDecodeError):
            return shown(item.decode())
    return shown(item)
