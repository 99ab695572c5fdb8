"""One long table for every form of input, and the join of such tables."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from numbers import Number
from typing import Any, NotRequired, TypedDict

import numpy as np

from .._typing import Array, Unjudged, UnjudgedDocuments
from .._validation import shown, stacklevel_of_caller
from ..query_ids.read import as_ids, as_objects, check_no_nan, factorize, order_by_code

# the name of a system that was not given one
ALONE = ""
# fewer items may have nothing in common by chance
MANY = 10
# possible pairs of a query and a document that are looked up at a time, within the fast memory
LOOKED_UP = 2**19
# rows of whole queries whose texts are sorted at a time: sorting few at a time is faster
BATCH = 2**13
# begins the id of a rank without a document: no byte of UTF-8
NOWHERE = b"\xff"
# dtypes that NumPy brings to one without loss; integers and floats together would be rounded
ALIKE = (set("bi"), set("bu"), set("f"), set("M"), set("m"))


class MetricArguments(TypedDict):
    """Labels, scores and query ids, each of shape (n_documents,), and a rule for labels of NaN."""

    y_true: Array
    y_score: Array
    groups: Array
    unjudged: NotRequired[Unjudged]


class SystemArguments(TypedDict):
    """Labels and query ids of the same documents, and the scores that each system gave them."""

    y_true: Array
    y_score: dict[str, Array]
    groups: Array
    unjudged: NotRequired[Unjudged]


@dataclass(frozen=True)
class Table:
    """Judgments, or the results of a system: one row per query and document.

    Parameters
    ----------
    query : int array of shape (n_rows,)
        Position of the query among the query ids.
    document : array of shape (n_rows,)
        Code of the document, or its id in UTF-8.
    value : array of shape (n_rows,)
        Relevance or score.
    locate : callable, default=repr
        ``locate(row)`` says where a row stands, such as in which line of a file.
    queries : sequence, default=()
        The query ids, if they are those of this table alone.
    """

    query: Array
    document: Array
    value: Array
    locate: Callable[[int], str] = repr
    queries: Sequence[Any] = ()

    @property
    def has_text(self) -> bool:
        """Whether documents are ids in UTF-8, of which an empty table has none."""
        return self.document.dtype.kind == "S"

    def of_queries(self, position: Array) -> Table:
        """The rows of some queries; `position` has the new place of each query, or -1."""
        query = position[self.query]
        moved = replace(self, query=query)
        return moved.rows(query >= 0) if query.min(initial=0) < 0 else moved

    def without(self, seen: Table) -> Table:
        """The rows whose query and document do not occur in another table."""
        n_items = 1 + max(int(t.document.max(initial=0)) for t in (self, seen))
        keys, others = (t.query.astype(np.int64) * n_items + t.document for t in (self, seen))
        return self.rows(~np.isin(keys, others))

    def without_query_itself(self, ids: Array, items: Iterable[Any]) -> Table:
        """The rows whose document has another id than the query."""
        if self.has_text:
            own = np.array([str(query).encode() for query in ids.tolist()])
        else:
            code = {item: code for code, item in enumerate(items)}
            own = np.array([code.get(query, -1) for query in ids.tolist()])
        return self.rows(self.document != own[self.query]) if len(self.query) else self

    def rows(self, selected: Array) -> Table:
        """Some of the rows."""
        rows = np.flatnonzero(selected)
        locate = self.locate
        return replace(
            self, query=self.query[rows], document=self.document[rows], value=self.value[rows],
            locate=lambda row: locate(int(rows[row])),
        )  # fmt: skip


def encode(columns: Sequence[Any], name: str) -> tuple[list[Array], Array]:
    """The code of each id in each column, and the distinct ids.

    Numbers and text are different ids, and columns of both are refused.
    """
    codes, distinct = zip(*(_encode(column, name) for column in columns), strict=True)
    if len(distinct) == 1:
        return list(codes), distinct[0]
    kinds = {kind: ids[0] for ids in distinct if len(ids) and (kind := _kind(ids))}
    if len(kinds) > 1:
        both = " and ".join(f"{kind}, such as {shown(of)}," for kind, of in sorted(kinds.items()))
        of_pairs = " Pairs of an item and its score become a dict: {query: dict(pairs)}."
        raise TypeError(
            f"{name} are {both} which are never equal. Convert one of them."
            f"{of_pairs if 'tuples' in kinds else ''}"
        )
    if any({ids.dtype.kind for ids in distinct} <= alike for alike in ALIKE):
        common, position = np.unique(np.concatenate(distinct), return_inverse=True)
    else:
        listed = [value for ids in distinct for value in ids.tolist()]
        number = {value: code for code, value in enumerate(dict.fromkeys(listed))}
        common, position = as_objects(number), np.array([number[value] for value in listed], int)
        _refuse_lookalikes(number, name)
    starts = np.cumsum([len(ids) for ids in distinct])[:-1]
    return [at[own] for at, own in zip(np.split(position, starts), codes, strict=True)], common


def _encode(column: Any, name: str) -> tuple[Array, Array]:
    ids, categories = as_ids(column, name)
    check_no_nan(ids, name)
    if not len(ids):
        return np.zeros(0, dtype=np.intp), ids
    values, codes = factorize(ids, name)
    return codes, values if categories is None else categories[values]


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


def join(
    ids: Array,
    judged: Table,
    systems: Mapping[str, Table],
    unjudged: UnjudgedDocuments,
    items: Any = None,
    advice: str | None = None,
) -> Any:
    """Label the documents of each system with their relevance, and add those that were missed.

    Parameters
    ----------
    ids : array of shape (n_queries,)
        The query ids.
    judged : Table
        Relevance. If a document occurs more than once for a query, its first row counts.
    systems : dict of str to Table
        The results by system. A document that occurs again for a query keeps its rank as an
        irrelevant one, which is the same document in all systems that repeat it.
    unjudged : {"irrelevant", "drop", "nan"}
        The rule for documents without a relevance, whose label is NaN.
    items : sequence, default=None
        The id of each code of a document, for messages; None if codes have no meaning.
    advice : str, default=None
        What to do about a document that occurs again, which is refused; None accepts it.

    Returns
    -------
    dict
        Arguments of a metric. The documents of each query are adjacent: first those that some
        system retrieved, then the others, both in the order of their first rows, or if documents
        are given by their ids in ascending order, as in trec_eval. A query without any gets one
        that is neither relevant nor retrieved, so that it counts in means.
    """
    tables = [*systems.values(), judged]
    query = np.concatenate([table.query for table in tables])
    document = np.concatenate([table.document for table in tables])
    ends = np.cumsum([len(table.query) for table in tables])[:-1]
    first, number = (_number_text if judged.has_text else _number)(query, document, len(ids))
    *retrieved, relevant = np.split(number, ends)

    def name(number: int) -> Any:
        code: Any = document[first[number]]
        if judged.has_text:
            return None if code.startswith(NOWHERE) else code
        return items[code] if code < len(items) else None

    if advice is not None:
        for table, numbers in zip([judged, *systems.values()], [relevant, *retrieved], strict=True):
            if (row := find_repeated(numbers)) is not None:
                raise ValueError(
                    f"{table.locate(row)}: duplicate document {_shown(name(numbers[row]))} for "
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
    if judged.has_text or len(query) > len(first):
        order = order_by_code(2 * query + is_missed, 2 * len(ids))
        labels, query = labels[order], query[order]
        scores = {system: values[order] for system, values in scores.items()}
    return arguments(labels, scores, ids[query], unjudged)


def arguments(labels: Array, scores: dict[str, Array], groups: Array, unjudged: str) -> Any:
    """`MetricArguments`, or `SystemArguments` if the systems have names."""
    named = scores if scores.keys() != {ALONE} else scores[ALONE]
    rule = {} if unjudged == "nan" else {"unjudged": unjudged}
    return {"y_true": labels, "y_score": named, "groups": groups, **rule}


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


def _number_text(query: Array, text: Array, n_queries: int) -> tuple[Array, Array]:
    """The same, in ascending order of the text of each query."""
    order = order_by_code(query, n_queries)
    ends = np.cumsum(np.bincount(query, minlength=n_queries))
    cuts = [0, *ends[:-1][np.diff(ends // BATCH) > 0].tolist(), len(query)]
    for start, end in pairwise(cuts):
        rows = order[start:end]
        order[start:end] = rows[np.lexsort((text[rows], query[rows]))]
    text, query = text[order], query[order]
    is_new = np.append(True, (text[1:] != text[:-1]) | (query[1:] != query[:-1]))[: len(query)]
    number = np.empty_like(order)
    number[order] = np.cumsum(is_new) - 1
    return order[is_new], number


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
    return shown(item.decode() if isinstance(item, bytes) else item)
