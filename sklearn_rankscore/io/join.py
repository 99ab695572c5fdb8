"""The join of long tables of judgments and of the results of systems."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NotRequired, TypedDict

import numpy as np

from .._typing import Array, Unjudged
from .._validation import counted, shown, stacklevel_of_caller
from ..query_ids.read import order_by_code
from .table import Table

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


def select_queries(
    ids: Array, judged: Table, systems: Mapping[str, Table], complete: bool | None
) -> Array:
    """Whether each query counts: it is judged and, unless `complete`, has results of some system.

    None is False with a warning.
    """
    is_judged, *has_results = [
        np.bincount(table.query, minlength=len(ids)) > 0 for table in (judged, *systems.values())
    ]
    for table, has in zip(systems.values(), has_results, strict=True):
        if has.any() and not (is_judged & has).any():
            raise ValueError(
                f"{judged.name} and {table.name} have no query in common: {judged.name} has "
                f"{shown(ids[is_judged][0])}, {table.name} has {shown(ids[has][0])}."
            )
    selected = np.asarray(is_judged if complete else is_judged & np.logical_or.reduce(has_results))
    if complete is not None:
        return selected
    if n_lacking := int(is_judged.sum() - selected.sum()):
        warn(
            f"no run has results for {counted(n_lacking, 'judged query')} of {is_judged.sum():,}, "
            "left out of the means as by trec_eval; complete=True (-c on the command line) counts "
            "them, and complete=False leaves them out without this note."
        )
    for name, has in zip(systems, has_results, strict=True):
        if n_lacking := int((selected & ~has).sum()):
            of_all = f"{n_lacking:,} of {selected.sum():,} queries, where it retrieved nothing."
            warn(f"{name} has no results for {of_all}")
    return selected


def join(
    ids: Array,
    items: Any,
    judged: Table,
    systems: Mapping[str, Table],
    *,
    unjudged: str,
    selected: Array | None = None,
    exclude: Table | None = None,
    identical: Sequence[Any] | None = None,
    advice: str | None = None,
    by_id: bool = False,
) -> Documents:
    """Label the documents of each system with their relevance, and add those that were missed.

    Parameters
    ----------
    ids : array of shape (n_queries,)
        The query ids.
    items : sequence
        The document ids; None if they have no meaning.
    judged : Table
        Relevance. If a document occurs more than once for a query, its first row counts.
    systems : dict of str to Table
        The results by system. A document that occurs again for a query keeps its rank as an
        irrelevant one, which is the same document in all systems that repeat it.
    unjudged : {"irrelevant", "drop", "nan"}
        The rule for documents without a relevance, whose label is NaN.
    selected : bool array of shape (n_queries,), default=None
        The queries that count; None means all.
    exclude : Table, default=None
        Queries and documents that do not count.
    identical : sequence of n_queries ids, default=None
        The document that is the query itself, which is left out of its results.
    advice : str, default=None
        What to do about a document that occurs again, which is refused; None accepts it.
    by_id : bool, default=False
        Whether documents are ordered by their codes, as in trec_eval.

    Returns
    -------
    dict
        Arguments of a metric. The documents of each query are adjacent: first those that some
        system retrieved, then the others, both in the order of their first rows or of their codes.
        A query without any gets one that is neither relevant nor retrieved, so that it counts in
        means.
    """
    tables = [*systems.values(), judged]
    if selected is not None:
        tables = [table.rows(selected[table.query]) for table in tables]
    if exclude is not None:
        step = 2 * max(1 + int(np.abs(t.document).max(initial=0)) for t in (exclude, *tables))
        seen, *pairs = [t.query * np.int64(step) + t.document for t in (exclude, *tables)]
        tables = [t.rows(~np.isin(pair, seen)) for t, pair in zip(tables, pairs, strict=True)]
    if identical is not None:
        code = {item: code for code, item in enumerate(items)}
        own = np.array([code.get(query, len(items)) for query in identical])
        tables[:-1] = [table.rows(table.document != own[table.query]) for table in tables[:-1]]
    return _labelled(ids, items, systems, tables, selected, unjudged, advice, by_id)


def _labelled(
    ids: Array, items: Any, systems: Iterable[str], tables: list[Table], selected: Array | None,
    unjudged: str, advice: str | None, by_id: bool,
) -> Documents:  # fmt: skip
    """What `join` returns, of the tables of the systems and of the judgments."""
    judged = tables[-1]
    query, document = (
        np.concatenate([getattr(t, of) for t in tables]) for of in ("query", "document")
    )
    first, number = number_pairs(query, document, by_id)
    *retrieved, relevant = np.split(number, np.cumsum([len(table.query) for table in tables])[:-1])

    def name(number: int) -> Any:
        code = document[first[number]]
        return items[code] if code >= 0 else None

    for table, numbers in ((judged, relevant), *zip(tables, retrieved, strict=False)):
        row = None if advice is None else find_repeated(numbers)
        if row is not None:
            raise ValueError(
                f"{table.where(row)}: duplicate document {shown(name(numbers[row]))} for "
                f"query {shown(ids[table.query[row]])}.{advice}"
            )
    has_label = np.bincount(relevant, minlength=len(first)) > 0
    copied = _set_copies_apart(retrieved, len(first))
    is_empty = np.bincount(query, minlength=len(ids)) == 0
    empty = np.flatnonzero(is_empty if selected is None else is_empty & selected)
    query = np.concatenate([query[first], query[first][copied], empty])
    has_label = np.concatenate([has_label, has_label[copied], np.ones(len(empty), dtype=bool)])

    is_missed = np.ones(len(query), dtype=bool)
    scores = {}
    for system, table, numbers in zip(systems, tables, retrieved, strict=False):
        dtype = np.promote_types(table.value.dtype, np.float32)
        scores[system] = np.full(len(query), -np.inf, dtype)
        scores[system][numbers] = table.value
        is_missed[numbers] = False
    labels = np.zeros(len(query), np.result_type(judged.value, int if has_label.all() else float))
    labels[relevant[::-1]] = judged.value[::-1]  # of several writes the last one stays
    if not has_label.all():
        labels[~has_label] = np.nan
    if items is not None:
        _warn_of_other_ids(labels[: len(first)], scores, name)
    if by_id or len(query) > len(first):  # otherwise those retrieved are before the others
        order = order_by_code(2 * query + is_missed, 2 * len(ids))
        labels, query = labels[order], query[order]
        scores = {system: values[order] for system, values in scores.items()}
    return arguments(labels, scores, ids[query], unjudged)


def number_pairs(query: Array, document: Array, by_id: bool) -> tuple[Array, Array]:
    """The first row of each distinct query and document by query, and the number of each row's.

    Those of a query are in the order of their rows or, `by_id`, of their codes.
    """
    n_rows, low = len(query), min(0, int(document.min(initial=0)))
    n_queries, n_items = (1 + int(codes.max(initial=0)) for codes in (query, document - low))
    bits = n_rows.bit_length()
    if n_queries * n_items < 2 ** (63 - bits):  # the row in the lowest bits of an integer
        keys = query * np.int64(n_items)
        keys += document - low
        keys <<= bits
        keys |= np.arange(n_rows)
        keys.sort()  # several times faster than lexsort
        order = keys & (2**bits - 1)
        keys >>= bits
        is_first = np.append(True, keys[1:] != keys[:-1])[:n_rows]
    else:
        order = np.lexsort((document, query))
        pairs = np.stack([query[order], document[order]])
        is_first = np.append(True, (pairs[:, 1:] != pairs[:, :-1]).any(axis=0))
    first, pair = order[is_first], np.cumsum(is_first) - 1
    number = np.empty(n_rows, dtype=np.int64)
    if not by_id:
        number[first] = np.arange(len(first))
        first = np.sort(first)
        first = first[order_by_code(query[first], n_queries)]
        place = np.empty(len(first), dtype=np.int64)
        place[number[first]] = np.arange(len(first))
        pair = place[pair]
    number[order] = pair
    return first, number


def find_repeated(numbers: Array) -> int | None:
    """The first row whose number an earlier row has; None if there is none."""
    repeated = occurrences(numbers) > 0
    return int(repeated.argmax()) if repeated.any() else None


def occurrences(numbers: Array) -> Array:
    """How many earlier rows have the same number."""
    several = np.flatnonzero((np.bincount(numbers) > 1)[numbers])
    order = np.argsort(numbers[several], kind="stable")
    ordered = numbers[several][order]
    earlier = np.zeros(len(numbers), dtype=np.intp)
    earlier[several[order]] = np.arange(len(order)) - np.searchsorted(ordered, ordered)
    return earlier


def _set_copies_apart(retrieved: list[Array], n: int) -> Array:
    """The document of which each copy is one; copies get numbers of their own, from `n` on."""
    repeats = [occurrences(numbers) for numbers in retrieved]
    rows = [np.flatnonzero(repeat) for repeat in repeats]
    of_rows = list(zip(retrieved, repeats, rows, strict=True))
    keys = [numbers[at] + n * repeat[at] for numbers, repeat, at in of_rows]
    distinct = np.unique(np.concatenate(keys))
    for (numbers, _, at), key in zip(of_rows, keys, strict=True):
        numbers[at] = n + np.searchsorted(distinct, key)
    return np.asarray(distinct % max(n, 1))


def _warn_of_other_ids(labels: Array, scores: dict[str, Array], name: Callable[[int], Any]) -> None:
    """Warn if a system retrieved many items and none of the many that have a relevance."""
    has_relevance = ~np.isnan(labels)
    for system, values in scores.items():
        is_retrieved = values[: len(labels)] > -np.inf
        if (has_relevance & is_retrieved).any():
            continue  # as nearly always; what follows is slow
        known, retrieved = (
            set(map(name, np.flatnonzero(which).tolist())) - {None}
            for which in (has_relevance, is_retrieved)
        )
        if min(len(known), len(retrieved)) >= MANY and known.isdisjoint(retrieved):
            warn(
                f"none of the {len(retrieved):,} items that "
                f"{repr(system) if system else 'the system'} retrieved is among the {len(known):,} "
                "that have a relevance. Check that both have ids of the same kind: retrieved are "
                f"such as {shown(min(retrieved, key=str))}, and {shown(min(known, key=str))} has a "
                "relevance."
            )


def warn(message: str) -> None:
    """Warn of the call of a user."""
    warnings.warn(message, UserWarning, stacklevel=stacklevel_of_caller())
