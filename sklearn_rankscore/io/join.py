"""The join of long tables of judgments and of the results of systems."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NotRequired, TypedDict

import numpy as np

from .._typing import Array, Unjudged
from .._validation import counted, shown, warn
from .table import Table, in_common

# the name of a system that was not given one
ALONE = ""
# fewer items may have nothing in common by chance
MANY = 10


class Documents(TypedDict):
    """Labels, scores and query ids of documents, and a rule for labels of NaN.

    Scores are an array, or a dict of arrays by system.
    """

    y_true: Array
    y_score: Any
    groups: Array
    unjudged: NotRequired[Unjudged]


def arguments(labels: Array, scores: dict[str, Array], groups: Array, unjudged: Any) -> Documents:
    """What readers return; scores by system if the systems have names."""
    of_systems = scores if scores.keys() != {ALONE} else scores[ALONE]
    documents: Documents = {"y_true": labels, "y_score": of_systems, "groups": groups}
    if unjudged != "nan":
        documents["unjudged"] = unjudged
    return documents


def join(
    judged: Table,
    systems: Mapping[str, Table],
    *,
    unjudged: str,
    complete: bool | None = True,
    exclude: Table | None = None,
    own_document: Callable[[Any], Any] | None = None,
    advice: str | None = None,
    by_id: bool = False,
) -> Documents:
    """Label the documents of each system with their relevance, and add those that were missed.

    Parameters
    ----------
    judged : Table
        The relevance. A document that it holds twice has the first one.
    systems : dict of str to Table
        The results of each system.
    unjudged : {"irrelevant", "drop", "nan"}
        The rule that the arguments carry.
    complete : bool or None, default=True
        Whether judged queries without results of any system count; None is False with a warning.
    exclude : Table, default=None
        Queries and documents that do not count.
    own_document : callable, default=None
        The id of the document, of each query, that is left out of results.
    advice : str, default=None
        The end of the error for a document that a table has twice for a query; by default it is
        none, and later results are irrelevant documents.
    by_id : bool, default=False
        Whether documents are ordered by id, as in trec_eval, instead of by their first rows.

    Returns
    -------
    dict
        Arguments of a metric. The documents of each query are adjacent: first those that some
        system retrieved, then the others. A query without any gets one that is neither relevant
        nor retrieved, so that it counts in means.
    """
    tables = [judged, *systems.values(), *([] if exclude is None else [exclude])]
    ids, queries = in_common([table.queries for table in tables], "the query ids")
    items, documents = in_common([table.documents for table in tables], "the document ids",
                                 by_id=by_id)  # fmt: skip
    is_judged = np.ones(len(ids), dtype=bool)
    if queries[0] is not None:
        is_judged = np.bincount(queries[0], minlength=len(ids)) > 0
    tables = list(map(_with_codes, tables, queries, documents))
    counts = _which_count(ids, is_judged, systems, tables, complete)
    if not counts.all():
        ids, position = ids[counts], np.cumsum(counts) - 1
        tables = [table.rows(counts[table.query]) for table in tables]
        tables = [replace(table, query=position[table.query]) for table in tables]
    if exclude is not None:
        step = 2 * max(1 + int(np.abs(table.document).max(initial=0)) for table in tables)
        *pairs, left_out = [table.query * np.int64(step) + table.document for table in tables]
        kept = [~np.isin(pair, left_out) for pair in pairs]
        tables = [table.rows(of) for table, of in zip(tables, kept, strict=False)]
    judged, *results = tables
    if own_document is not None:
        code = {item: code for code, item in enumerate(items)}
        own = np.array([code.get(own_document(query), len(items)) for query in ids.tolist()])
        results = [table.rows(table.document != own[table.query]) for table in results]
    _warn_of_other_ids(items, judged, dict(zip(systems, results, strict=True)))
    return _labelled(ids, items, judged, dict(zip(systems, results, strict=True)),
                     unjudged, advice, by_id)  # fmt: skip


def _with_codes(table: Table, queries: Array | None, documents: Array | None) -> Table:
    """The rows with other codes, if any; each array has the new code of each code."""
    query, document = table.query, table.document
    if queries is not None:
        query = queries[query]
    if documents is not None:
        document = np.append(documents, 0)[np.maximum(document, -1)]
        if (is_gap := table.document < 0).any():
            document[is_gap] = table.document[is_gap]
    return replace(table, query=query, document=document)


def _which_count(
    ids: Array, is_judged: Array, systems: Iterable[str], tables: Sequence[Table],
    complete: bool | None,
) -> Array:  # fmt: skip
    """Whether each query counts: it is judged and, unless `complete`, has results of a system."""
    has_results = {
        system: np.bincount(table.query, minlength=len(ids)) > 0
        for system, table in zip(systems, tables[1:], strict=False)
    }
    judged = tables[0]
    for has, table in zip(has_results.values(), tables[1:], strict=False):
        if has.any() and not (is_judged & has).any():
            raise ValueError(
                f"{judged.name} and {table.name} have no query in common: {judged.name} has "
                f"{shown(ids[is_judged][0])}, {table.name} has {shown(ids[has][0])}."
            )
    if complete:
        return is_judged
    selected = np.asarray(is_judged & np.logical_or.reduce(list(has_results.values())))
    if complete is None and (n_lacking := int(is_judged.sum() - selected.sum())):
        warn(
            f"no run has results for {counted(n_lacking, 'judged query')} of {is_judged.sum():,}, "
            "left out of the means as by trec_eval; complete=True (-c on the command line) counts "
            "them, and complete=False leaves them out without this note."
        )
    for system, has in has_results.items() if complete is None else ():
        if n_lacking := int((selected & ~has).sum()):
            of_all = f"{n_lacking:,} of {selected.sum():,} queries, where it retrieved nothing."
            warn(f"{system} has no results for {of_all}")
    return selected


def _warn_of_other_ids(items: Any, judged: Table, systems: Mapping[str, Table]) -> None:
    """Warn if a system retrieved many items and none of the many that have a relevance."""
    is_known = np.zeros(len(items), dtype=bool)
    is_known[judged.document[~np.isnan(judged.value)]] = True
    for system, table in systems.items():
        given = table.document[(table.document >= 0) & (table.value > -np.inf)]
        if is_known[given].any() or is_known.sum() < MANY:
            continue
        retrieved = np.unique(given)
        if len(retrieved) >= MANY:
            has, lacks = (min((items[code] for code in codes), key=str)
                          for codes in (np.flatnonzero(is_known), retrieved))  # fmt: skip
            warn(
                f"none of the {len(retrieved):,} items that "
                f"{repr(system) if system else 'the system'} retrieved is among the "
                f"{is_known.sum():,} that have a relevance. Check that both have ids of the same "
                f"kind: retrieved are such as {shown(lacks)}, and {shown(has)} has a relevance."
            )


def _labelled(
    ids: Array, items: Any, judged: Table, systems: Mapping[str, Table], unjudged: str,
    advice: str | None, by_id: bool,
) -> Documents:  # fmt: skip
    """What `join` returns, of tables whose codes are positions in `ids` and `items`."""
    tables = [*systems.values(), _with_empty_queries(ids, items, judged, systems)]
    query, document = (
        np.concatenate([getattr(t, of) for t in tables]) for of in ("query", "document")
    )
    ends = np.cumsum([len(table.query) for table in tables])
    n_retrieved, n_rows = ends[-1] - len(tables[-1].query), len(query)
    row, is_first = _sorted_pairs(query, document)
    pair, first = np.cumsum(is_first) - 1, row[is_first]
    n_pairs = len(first)
    repeated = _repeated(row, is_first, ends)
    if len(repeated) and advice is not None:
        at = int(row[repeated].min())
        of = int(np.searchsorted(ends, at, side="right"))
        start = int(ends[of]) - len(tables[of].query)
        raise _duplicate(tables[of], at - start, ids, items, advice)
    original = first[:0]
    if len(repeated):  # of results, each copy is a document of its own
        repeated = repeated[row[repeated] < n_retrieved]
        starts = np.flatnonzero(np.diff(repeated, prepend=-2) != 1)
        nth = np.arange(len(repeated)) - np.repeat(starts, np.diff(starts, append=len(repeated)))
        _, example, copy = np.unique(
            pair[repeated] + n_pairs * nth, return_index=True, return_inverse=True
        )
        original = first[pair[repeated[example]]]
        pair[repeated] = n_pairs + copy
        first = np.append(first, row[repeated[example]])
    # results, then their copies, then what was missed
    part = 2 * (first >= n_retrieved)
    part[n_pairs:] = 1
    within = np.arange(len(first)) if by_id else first
    bits = n_rows.bit_length()
    keys = (3 * query[first] + part) << bits
    keys |= within
    keys.sort()
    keys &= (1 << bits) - 1
    first_in_order = first[keys] if by_id else keys
    place = np.empty(n_rows, dtype=np.intp)
    place[first_in_order] = np.arange(len(first))
    place[row] = place[first][pair]
    *retrieved, relevant = np.split(place, ends[:-1])
    has_label = np.zeros(len(first), dtype=bool)
    has_label[relevant] = True
    has_label[place[first[n_pairs:]]] = has_label[place[original]]
    dtype = np.result_type(judged.value, int if has_label.all() else float)
    labels = np.where(has_label, dtype.type(0), dtype.type(np.nan if dtype.kind == "f" else 0))
    labels[relevant[::-1]] = tables[-1].value[::-1]  # of several writes the last one stays
    scores = {}
    for system, table, places in zip(systems, tables, retrieved, strict=False):
        of_system = np.full(len(first), -np.inf, np.promote_types(table.value.dtype, np.float32))
        of_system[places] = table.value
        scores[system] = of_system
    return arguments(labels, scores, ids[query[first_in_order]], unjudged)


def _with_empty_queries(
    ids: Array, items: Any, judged: Table, systems: Mapping[str, Table]
) -> Table:
    """The judgments, and an irrelevant document of queries without any."""
    has_rows = np.zeros(len(ids), dtype=bool)
    for table in (judged, *systems.values()):
        has_rows[table.query] = True
    empty = np.flatnonzero(~has_rows)
    return replace(
        judged,
        query=np.append(judged.query, empty),
        document=np.append(judged.document, np.full_like(empty, len(items))),
        value=np.append(judged.value, np.zeros_like(empty, dtype=judged.value.dtype)),
    )


def _sorted_pairs(query: Array, document: Array) -> tuple[Array, Array]:
    """Row numbers by query, document and row, and which of them are the first of a pair."""
    n_rows, low = len(query), min(0, int(document.min(initial=0)))
    n_queries, n_items = (1 + int(codes.max(initial=0)) for codes in (query, document - low))
    bits = n_rows.bit_length()
    if n_queries * n_items < 2 ** (63 - bits):  # the row in the lowest bits of an integer
        keys = query * np.int64(n_items)
        keys += document
        keys -= low
        keys <<= bits
        keys |= np.arange(n_rows)
        keys.sort()  # several times faster than lexsort
        rows = keys & (2**bits - 1)
        keys >>= bits
        return rows, np.append(True, keys[1:] != keys[:-1])[:n_rows]
    rows = np.lexsort((document, query))
    pairs = np.stack([query[rows], document[rows]])
    return rows, np.append(True, (pairs[:, 1:] != pairs[:, :-1]).any(axis=0))[:n_rows]


def _repeated(rows: Array, is_first: Array, ends: Array) -> Array:
    """Positions in `rows` of those whose pair an earlier row of the same table has.

    `ends` are the numbers of rows up to the end of each table.
    """
    again = np.flatnonzero(~is_first)
    here, before = (np.searchsorted(ends, rows[at], side="right") for at in (again, again - 1))
    return np.asarray(again[here == before])


def refuse_repeated(table: Table) -> None:
    """Refuse a table that has a document twice for a query."""
    rows, is_first = _sorted_pairs(table.query, table.document)
    if not is_first.all():
        row = int(rows[~is_first].min())
        raise _duplicate(table, row, table.queries, table.documents, " Remove it.")


def _duplicate(table: Table, row: int, ids: Any, items: Any, advice: str) -> ValueError:
    return ValueError(
        f"{table.where(row)}: duplicate document {shown(items[table.document[row]])} for query "
        f"{shown(ids[table.query[row]])}.{advice}"
    )
