"""The join of long tables of judgments and of the results of systems."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from numbers import Number
from typing import Any, NotRequired, TypedDict

import numpy as np

from .._typing import Array, Unjudged
from .._validation import counted, shown, stacklevel_of_caller
from ..query_ids.read import as_objects, order_by_code
from .table import Table, at_ranks

# the name of a system that was not given one
ALONE = ""
# fewer items may have nothing in common by chance
MANY = 10
# possible pairs of a query and a document that are looked up at a time, within the fast memory
LOOKED_UP = 2**19
# dtypes that NumPy brings to one without loss; integers and floats together would be rounded
ALIKE = (set("bi"), set("bu"), set("f"), set("M"), set("m"))


def in_common(columns: Sequence[Array], name: str) -> tuple[Array, list[Array]]:
    """All ids of several columns of distinct ids, and where those of each are among them.

    Numbers and text are different ids, and columns of both are refused.
    """
    kinds = {kind: ids[0] for ids in columns if len(ids) and (kind := _kind(ids))}
    if len(kinds) > 1:
        both = " and ".join(f"{kind}, such as {shown(of)}," for kind, of in sorted(kinds.items()))
        of_pairs = " Pairs of an item and its score become a dict: {query: dict(pairs)}."
        raise TypeError(
            f"{name} are {both} which are never equal. Convert one of them."
            f"{of_pairs if 'tuples' in kinds else ''}"
        )
    if any({ids.dtype.kind for ids in columns} <= alike for alike in ALIKE):
        common, position = np.unique(np.concatenate(columns), return_inverse=True)
    else:
        listed = [value for ids in columns for value in ids.tolist()]
        number = {value: code for code, value in enumerate(dict.fromkeys(listed))}
        common, position = as_objects(number), np.array([number[value] for value in listed], int)
        _refuse_lookalikes(number, name)
    return common, np.split(position, np.cumsum([len(ids) for ids in columns])[:-1])


def _kind(ids: Array) -> str | None:
    """What all ids are; None for several kinds, and for any other."""
    kinds = {"numbers": Number, "text": str, "bytes": bytes, "tuples": tuple}
    types = set(map(type, ids.tolist()))
    return next((k for k, of in kinds.items() if all(issubclass(t, of) for t in types)), None)


def _refuse_lookalikes(ids: Iterable[Any], name: str) -> None:
    """Refuse 2 and "2" among ids, which were meant as one."""
    text = {value for value in ids if isinstance(value, str)}
    for value in ids if text else ():
        printed = value.decode(errors="replace") if isinstance(value, bytes) else str(value)
        if isinstance(value, Number | bytes) and printed in text:
            raise TypeError(
                f"{name} are {value!r} in one place and {printed!r} in another, which are never "
                "equal. Convert all of them to the same type."
            )


def match(tables: list[Table], queries: str, documents: str) -> tuple[Array, Array, list[Table]]:
    """All query ids and document ids, and the tables with codes that are positions among them.

    `queries` and `documents` are what errors call the ids.
    """
    ids, of_queries = in_common([table.queries for table in tables], queries)
    items, of_documents = in_common([table.documents for table in tables], documents)
    matched = [
        replace(table, query=at[table.query], document=of[table.document])
        for table, at, of in zip(tables, of_queries, of_documents, strict=True)
    ]
    return ids, items, matched


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
    selected = np.ones(len(ids), dtype=bool) if selected is None else selected
    position = np.where(selected, np.cumsum(selected) - 1, -1)
    n_items = 0 if items is None else len(items)
    tables = [at_ranks(of, n_items) if of.has_ranks else of for of in (judged, *systems.values())]
    judged, *retrieved = [table.of_queries(position) for table in tables]
    if exclude is not None:
        exclude = exclude.of_queries(position)
        judged, *retrieved = [table.without(exclude) for table in (judged, *retrieved)]
    if identical is not None:
        code = {item: code for code, item in enumerate(() if items is None else items)}
        own = np.array([code.get(query, -1) for query in identical])[selected]
        retrieved = [table.rows(table.document != own[table.query]) for table in retrieved]
    named = dict(zip(systems, retrieved, strict=True))
    return _label(ids[selected], items, judged, named, unjudged, advice, by_id)


class Documents(TypedDict):
    """Labels, scores and query ids of documents, and a rule for labels of NaN.

    Scores are an array, or a dict of arrays by system.
    """

    y_true: Array
    y_score: Any
    groups: Array
    unjudged: NotRequired[Unjudged]


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
    if complete:
        return np.asarray(is_judged)
    selected = is_judged & np.logical_or.reduce(has_results)
    if complete is not None:
        return np.asarray(selected)
    if n_lacking := int(is_judged.sum() - selected.sum()):
        warn(
            f"no run has results for {counted(n_lacking, 'judged query')} of {is_judged.sum():,}, "
            "left out of the means as by trec_eval; complete=True (-c on the command line) counts "
            "them, and complete=False leaves them out without this note."
        )
    for name, has in zip(systems, has_results, strict=True):
        if n_lacking := int((selected & ~has).sum()):
            warn(
                f"{name} has no results for {n_lacking:,} of {selected.sum():,} queries, where it "
                "retrieved nothing."
            )
    return np.asarray(selected)


def _label(
    ids: Array, items: Any, judged: Table, systems: dict[str, Table], unjudged: str,
    advice: str | None, by_id: bool,
) -> Documents:  # fmt: skip
    tables = [*systems.values(), judged]
    query = np.concatenate([table.query for table in tables])
    document = np.concatenate([table.document for table in tables])
    first, number = _number(query, document, len(ids))
    *retrieved, relevant = np.split(number, np.cumsum([len(table.query) for table in tables])[:-1])

    def name(number: int) -> Any:
        code = document[first[number]]
        return items[code] if code < len(items) else None

    if advice is not None:
        for table, numbers in zip([judged, *systems.values()], [relevant, *retrieved], strict=True):
            if (row := find_repeated(numbers)) is not None:
                raise ValueError(
                    f"{table.where(row)}: duplicate document {_shown(name(numbers[row]))} for "
                    f"query {shown(ids[table.query[row]])}.{advice}"
                )
    known = np.bincount(relevant, minlength=len(first)) > 0
    copied, retrieved = _copies(retrieved, len(first))
    empty = np.flatnonzero(np.bincount(query, minlength=len(ids)) == 0)
    query = np.concatenate([query[first], query[first][copied], empty]).astype(np.intp)
    known = np.concatenate([known, known[copied], np.ones(len(empty), dtype=bool)])

    is_missed = np.ones(len(query), dtype=bool)
    scores = {}
    for (system, table), numbers in zip(systems.items(), retrieved, strict=True):
        dtype = np.promote_types(table.value.dtype, np.float32)
        scores[system] = np.full(len(query), -np.inf, dtype)
        scores[system][numbers] = table.value
        is_missed[numbers] = False
    labels = np.zeros(len(query), np.result_type(judged.value, int if known.all() else float))
    labels[relevant[::-1]] = judged.value[::-1]  # of several writes the last one stays
    if not known.all():
        labels[~known] = np.nan
    if items is not None:
        _warn_of_other_ids(labels[: len(first)], scores, name)
    if by_id or len(query) > len(first):
        place = 2 * query + is_missed
        if by_id:
            codes = np.append(document[first], np.zeros(len(empty), document.dtype))
            order = np.argsort(place * (1 + np.int64(document.max(initial=0))) + codes)
        else:
            order = order_by_code(place, 2 * len(ids))
        labels, query = labels[order], query[order]
        scores = {system: values[order] for system, values in scores.items()}
    return arguments(labels, scores, ids[query], unjudged)


def arguments(labels: Array, scores: dict[str, Array], groups: Array, unjudged: Any) -> Documents:
    """What readers return; scores by system if the systems have names."""
    of_systems = scores if scores.keys() != {ALONE} else scores[ALONE]
    documents: Documents = {"y_true": labels, "y_score": of_systems, "groups": groups}
    if unjudged != "nan":
        documents["unjudged"] = unjudged
    return documents


def _number(query: Array, document: Array, n_queries: int) -> tuple[Array, Array]:
    """The first row of each distinct query and document by query, and the number of each row's."""
    order = order_by_code(query, n_queries)
    n_items = 1 + int(document.max(initial=0))
    at_a_time = max(1, LOOKED_UP // n_items)
    sizes = np.bincount(query, minlength=n_queries)
    cuts = [0, *np.cumsum(sizes)[at_a_time - 1 :: at_a_time].tolist(), len(query)]
    keys = (query[order] % at_a_time) * np.int64(n_items) + document[order]
    # the place of some row with each pair, of which no more is written than is read
    dtype = np.int32 if len(query) < 2**31 else np.int64
    place = np.empty(at_a_time * n_items, dtype)
    places = np.arange(len(query), dtype=dtype)
    first = np.empty(len(query), dtype)
    for start, end in pairwise(cuts):
        place[keys[start:end][::-1]] = places[start:end][::-1]
        first[start:end] = place[keys[start:end]]
    is_first = first == places
    number = np.empty(len(query), dtype=np.int64)
    number[order] = (np.cumsum(is_first) - 1)[first]
    return order[is_first], number


def find_repeated(numbers: Array) -> int | None:
    """The first row whose number an earlier row has; None if there is none."""
    repeated = occurrences(numbers) > 0
    return int(repeated.argmax()) if repeated.any() else None


def occurrences(numbers: Array) -> Array:
    """How many earlier rows have the same number."""
    several = np.flatnonzero((np.bincount(numbers) > 1)[numbers])
    order = np.argsort(numbers[several], kind="stable")
    ordered = numbers[several][order]
    earlier = np.zeros(len(numbers), dtype=np.int64)
    earlier[several[order]] = np.arange(len(order)) - np.searchsorted(ordered, ordered)
    return earlier


def _copies(retrieved: list[Array], n: int) -> tuple[Array, list[Array]]:
    """The document of which each copy is one, and the numbers in which copies have own ones."""
    repeats = [occurrences(numbers) for numbers in retrieved]
    keys = [
        numbers[repeat > 0] + n * repeat[repeat > 0]
        for numbers, repeat in zip(retrieved, repeats, strict=True)
    ]
    distinct = np.unique(np.concatenate(keys))
    if len(distinct):
        retrieved = [numbers.copy() for numbers in retrieved]
    for numbers, repeat, key in zip(retrieved, repeats, keys, strict=True):
        numbers[repeat > 0] = n + np.searchsorted(distinct, key)
    return distinct % n if n else distinct, retrieved


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
                "that have a relevance, so that none of them counts as relevant. Check that both "
                f"have ids of the same kind: retrieved are ids such as "
                f"{_shown(min(retrieved, key=str))}, and {_shown(min(known, key=str))} has a "
                "relevance."
            )


def warn(message: str) -> None:
    """Warn of the call of a user."""
    warnings.warn(message, UserWarning, stacklevel=stacklevel_of_caller())


def _shown(item: Any) -> str:
    return shown(item.decode(errors="replace") if isinstance(item, bytes) else item)
