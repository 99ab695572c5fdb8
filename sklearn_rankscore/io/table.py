"""One long table for every form of input, and the join of such tables."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NotRequired, TypedDict

import numpy as np

from .._columns import descending
from .._typing import Array, Unjudged, UnjudgedDocuments
from .._validation import shown, stacklevel_of_caller
from ..query_ids.read import order_by_code

# the name of a system that was not given one
ALONE = ""
# fewer items may have nothing in common by chance
MANY = 10
# up to this many possible keys per row, a table of all of them is faster than a sort
DENSE = 16
# rows of whole queries whose texts are sorted at a time: sorting few at a time is faster
BATCH = 2**13


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
    locate : callable
        ``locate(row)`` says where a row stands, such as in which line of a file.
    queries : sequence, default=()
        The query ids, if they are those of this table alone.
    """

    query: Array
    document: Array
    value: Array
    locate: Callable[[int], str]
    queries: Sequence[Any] = ()

    @property
    def has_text(self) -> bool:
        """Whether documents are ids in UTF-8, of which an empty table has none."""
        return self.document.dtype.kind == "S"

    def of_queries(self, position: Array) -> Table:
        """The rows of some queries; `position` has the new place of each query, or -1."""
        query = position[self.query]
        moved = replace(self, query=query)
        return moved._take(np.flatnonzero(query >= 0)) if query.min(initial=0) < 0 else moved

    def best_first(self, *, drop: bool) -> Table:
        """If a document occurs twice for a query, the rows by descending value; all, or first."""
        pairs = self._pairs()
        if len(np.unique(pairs)) == len(pairs):
            return self
        rows = np.argsort(descending(self.value), kind="stable")
        first = np.sort(np.unique(pairs[rows], return_index=True)[1])
        return self._take(rows[first] if drop else rows)

    def refuse_repeats(
        self, ids: Array, items: Any, advice: str, codes: Array | None = None
    ) -> None:
        """Refuse a document that occurs twice for a query; `codes` may number their pairs."""
        codes = np.unique(self._pairs(), return_inverse=True)[1] if codes is None else codes
        if np.bincount(codes).max(initial=0) > 1:
            row = int((occurrences(codes) > 0).argmax())
            item = self.document[row]
            raise ValueError(
                f"{self.locate(row)}: duplicate document "
                f"{_shown(item if self.has_text else items[item])} for query "
                f"{shown(ids[self.query[row]])}.{advice}"
            )

    def _pairs(self) -> Array:
        """A query and the code of a document as one integer."""
        return self.query * (1 + int(self.document.max(initial=0))) + self.document

    def _take(self, rows: Array) -> Table:
        locate = self.locate
        return replace(
            self, query=self.query[rows], document=self.document[rows], value=self.value[rows],
            locate=lambda row: locate(int(rows[row])),
        )  # fmt: skip


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
    if judged.has_text:
        first, number = _number_by_text(query, document, len(ids))
    else:
        n_items = 1 + int(document.max(initial=0))
        first, number = _number(query.astype(np.int64) * n_items + document, len(ids) * n_items)
    *retrieved, relevant = np.split(number, ends)

    def name(number: int) -> Any:
        code = document[first[number]]
        return code if judged.has_text else items[code]

    if advice is not None:
        for table, numbers in zip([judged, *systems.values()], [relevant, *retrieved], strict=True):
            table.refuse_repeats(ids, items, advice, numbers)
    known = np.zeros(len(first), dtype=bool)
    known[relevant] = True
    is_copy = np.zeros(len(first), dtype=bool)
    if any(np.bincount(numbers).max(initial=0) > 1 for numbers in retrieved):
        repeat = np.concatenate([*map(occurrences, retrieved), np.zeros_like(relevant)])
        n_keys = len(first) * (1 + int(repeat.max()))
        first, of_row = _number(repeat * len(first) + number, n_keys)
        known, is_copy = known[number[first]], repeat[first] > 0
        *retrieved, relevant = np.split(of_row, ends)

    query = query[first]
    empty = np.flatnonzero(np.bincount(query, minlength=len(ids)) == 0)
    query = np.append(query, empty).astype(np.intp)
    is_missed = np.ones(len(query), dtype=bool)
    scores = {}
    for (system, table), numbers in zip(systems.items(), retrieved, strict=True):
        dtype = np.promote_types(table.value.dtype, np.float32)
        scores[system] = np.full(len(query), -np.inf, dtype)
        scores[system][numbers] = table.value
        is_missed[numbers] = False
    is_unjudged = np.append(~known, np.zeros(len(empty), dtype=bool))
    dtype = np.result_type(judged.value, float if is_unjudged.any() else int)
    labels = np.zeros(len(query), dtype)
    labels[relevant[::-1]] = judged.value[::-1]  # of several writes the last one stays
    labels[: len(first)][is_copy] = 0
    if is_unjudged.any():
        labels[is_unjudged] = np.nan
    if items is not None:
        _warn_of_other_ids(labels[: len(first)], scores, name)
    order = order_by_code(2 * query + is_missed, 2 * len(ids))
    by_system = {system: values[order] for system, values in scores.items()}
    return arguments(labels[order], by_system, ids[query[order]], unjudged)


def arguments(labels: Array, scores: dict[str, Array], groups: Array, unjudged: str) -> Any:
    """`MetricArguments`, or `SystemArguments` if the systems have names."""
    named = scores if scores.keys() != {ALONE} else scores[ALONE]
    rule = {} if unjudged == "nan" else {"unjudged": unjudged}
    return {"y_true": labels, "y_score": named, "groups": groups, **rule}


def _number(keys: Array, n_keys: int) -> tuple[Array, Array]:
    """The first row of each distinct key, in ascending order, and the number of each row's key."""
    rows = np.arange(len(keys))
    if n_keys <= DENSE * len(keys):
        table = np.empty(n_keys, dtype=np.intp)
        table[keys[::-1]] = rows[::-1]
        first_row = table[keys]
        is_first = first_row == rows
        return np.flatnonzero(is_first), (np.cumsum(is_first) - 1)[first_row]
    distinct, number = np.unique(keys, return_inverse=True)
    first = np.empty(len(distinct), dtype=np.intp)
    first[number[::-1]] = rows[::-1]
    order = np.argsort(first)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return first[order], place[number]


def _number_by_text(query: Array, text: Array, n_queries: int) -> tuple[Array, Array]:
    """The first row of each query and text, in ascending order of both, and each row's number."""
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


def occurrences(keys: Array) -> Array:
    """The number of earlier rows with the same key."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    repeat = np.empty_like(order)
    repeat[order] = np.arange(len(order)) - np.searchsorted(ordered, ordered)
    return repeat


def _warn_of_other_ids(labels: Array, scores: dict[str, Array], name: Callable[[int], Any]) -> None:
    """Warn if a system retrieved many items and none of the many that have a relevance."""
    has_relevance = ~np.isnan(labels)
    for system, values in scores.items():
        is_retrieved = values[: len(labels)] > -np.inf
        if (has_relevance & is_retrieved).any():
            continue  # as nearly always; what follows is slow
        known, retrieved = (
            set(map(name, np.flatnonzero(which).tolist()))
            for which in (has_relevance, is_retrieved)
        )
        if min(len(known), len(retrieved)) < MANY or not known.isdisjoint(retrieved):
            continue
        warnings.warn(
            f"none of the {len(retrieved):,} items that {repr(system) if system else 'the system'} "
            f"retrieved is among the {len(known):,} that have a relevance, so that none of them "
            "counts as relevant. Check that both have ids of the same kind: retrieved are ids such "
            f"as {_shown(min(retrieved, key=str))}, and {_shown(min(known, key=str))} has a "
            "relevance.",
            UserWarning,
            stacklevel=stacklevel_of_caller(),
        )


def _shown(item: Any) -> str:
    return shown(item.decode() if isinstance(item, bytes) else item)
