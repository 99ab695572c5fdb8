"""Relevant and predicted items, joined into the arguments of a metric function."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NotRequired, TypedDict

import numpy as np

from .._typing import Array, Unjudged, UnjudgedDocuments
from .._validation import shown, stacklevel_of_caller


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
class ItemLists:
    """The items listed for some queries, one entry per item.

    Parameters
    ----------
    query : int array of shape (n_entries,)
        Position of the query among the query ids.
    item : int array of shape (n_entries,)
        Code of the item.
    value : array of shape (n_entries,)
        Relevance or score of the item.
    """

    query: Array
    item: Array
    value: Array


@dataclass(frozen=True)
class JoinedDocuments:
    """Documents by query: for each query those retrieved, then those that were missed.

    Parameters
    ----------
    labels : array of shape (n_documents,)
        Relevance.
    scores : dict of str to array of shape (n_documents,)
        Scores by system; -inf if it did not retrieve the document.
    sizes : int array of shape (n_queries,)
        Number of documents of each query.
    items : int array of shape (n_documents,)
        Code of the item; -1 for the document of a query without items.
    """

    labels: Array
    scores: dict[str, Array]
    sizes: Array
    items: Array


# up to this many pairs of a query and an item per entry, a table of all pairs is faster than a sort
DENSE = 16
# fewer items may have nothing in common by chance
MANY = 10
# the name of a system that was not given one
ALONE = ""


def join(
    ids: Array,
    relevant: ItemLists,
    predicted: ItemLists | Mapping[str, ItemLists],
    unjudged: UnjudgedDocuments = "nan",
    items: Sequence[Any] | Array | None = None,
) -> Any:
    """Arguments of a metric, for the predictions of one system or of several by name.

    Predicted items that are not among the relevant ones have the label NaN. `items` holds the id
    of each code of an item.
    """
    systems = predicted if isinstance(predicted, Mapping) else {ALONE: predicted}
    documents = join_relevance(len(ids), relevant, systems)
    if items is not None:
        warn_of_other_ids(documents, items)
    return metric_arguments(ids, documents, unjudged)


def join_relevance(
    n_queries: int,
    relevant: ItemLists,
    systems: Mapping[str, ItemLists],
    *,
    sorted_items: bool = False,
) -> JoinedDocuments:
    """Label predicted items with their relevance, and add the relevant items that were missed.

    Predicted items without a relevance have the label NaN. The entries of each system are
    sorted by query. If an item is predicted more than once for a query, only the first occurrence
    has its relevance, and later ones have relevance 0. The documents of several systems are those
    that at least one of them retrieved, in the order of the first that did so, or in ascending
    order of items if `sorted_items`.
    """
    if len(systems) == 1:
        ((name, only),) = systems.items()
        return _join_one(n_queries, relevant, only, name)
    merged, positions = _merge(list(systems.values()), sorted_items)
    documents = _join_one(n_queries, relevant, merged)
    entries = documents.scores[ALONE]
    missed = np.isneginf(entries)
    entries[missed] = len(merged.query)
    order, scores_of = entries.astype(np.intp), {}
    for (name, lists), position in zip(systems.items(), positions, strict=True):
        scores = np.full(len(merged.query) + 1, -np.inf)
        scores[position] = lists.value
        scores_of[name] = scores[order]
    return replace(documents, scores=scores_of)


def _merge(systems: list[ItemLists], sorted_items: bool) -> tuple[ItemLists, list[Array]]:
    """The items of all systems, and the position of each system's entries among them.

    The n-th occurrence of an item in one system is the same document as the n-th in another.
    """
    query, item = (
        np.concatenate([getattr(s, name) for s in systems]) for name in ("query", "item")
    )
    n_items = 1 + int(item.max(initial=0))
    occurrence = np.concatenate([_occurrence(s, n_items) for s in systems])
    pairs = query * (n_items * (1 + int(occurrence.max(initial=0)))) + n_items * occurrence + item
    _, first, position = np.unique(pairs, return_index=True, return_inverse=True)
    if not sorted_items:
        order = np.lexsort((first, query[first]))
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        first, position = first[order], place[position]
    merged = ItemLists(query[first], item[first], np.arange(len(first), dtype=np.float64))
    return merged, np.split(position, np.cumsum([len(s.query) for s in systems])[:-1])


def _occurrence(lists: ItemLists, n_items: int) -> Array:
    """The number of earlier entries of the same item for the same query."""
    pairs = lists.query * n_items + lists.item
    order = np.argsort(pairs, kind="stable")
    ordered = pairs[order]
    is_first = np.append(True, ordered[1:] != ordered[:-1])[: len(pairs)]
    position = np.arange(len(pairs))
    occurrence = np.empty_like(position)
    occurrence[order] = position - np.maximum.accumulate(np.where(is_first, position, 0))
    return occurrence


def _join_one(
    n_queries: int, relevant: ItemLists, predicted: ItemLists, system: str = ALONE
) -> JoinedDocuments:
    """The documents of one system."""
    # a query and an item as one integer
    n_items = 1 + max(int(lists.item.max(initial=0)) for lists in (relevant, predicted))
    relevant_pairs, pairs = (
        lists.query.astype(np.int64) * n_items + lists.item for lists in (relevant, predicted)
    )
    entries, position = _match(relevant_pairs, pairs, n_queries * n_items)
    hits = np.flatnonzero(position >= 0)
    # the first occurrence, which alone is relevant: of several writes the last one stays
    first = np.full(len(relevant_pairs), -1)
    first[position[hits][::-1]] = hits[::-1]
    retrieved = entries[first[entries] >= 0]
    is_unjudged = position < 0
    number = float if is_unjudged.any() else int
    labels = np.zeros(len(pairs), dtype=np.result_type(relevant.value, number))
    labels[is_unjudged] = np.nan if number is float else 0
    labels[first[retrieved]] = relevant.value[retrieved]
    missed = entries[first[entries] < 0]
    others = ItemLists(relevant.query[missed], relevant.item[missed], relevant.value[missed])
    return append_missed(n_queries, predicted, labels, others, system)


def _match(relevant: Array, predicted: Array, n_pairs: int) -> tuple[Array, Array]:
    """The entries of distinct relevant pairs, and the entry of each predicted pair, -1 if none."""
    numbers = np.arange(len(relevant))
    if n_pairs <= DENSE * (len(relevant) + len(predicted)):
        table = np.full(n_pairs, -1, dtype=np.int32)
        table[relevant[::-1]] = numbers[::-1]
        return np.flatnonzero(table[relevant] == numbers), table[predicted].astype(np.intp)
    pairs, entries = np.unique(relevant, return_index=True)
    position = np.searchsorted(pairs, predicted)
    is_hit = np.append(pairs, -1)[position] == predicted
    return np.sort(entries), np.where(is_hit, np.append(entries, -1)[position], -1)


def append_missed(
    n_queries: int, retrieved: ItemLists, label: Array, missed: ItemLists, system: str = ALONE
) -> JoinedDocuments:
    """Each query's retrieved documents, which have the given labels, then those it missed.

    The retrieved documents are sorted by query, and their values are scores. A query without
    documents gets one that is neither relevant nor retrieved, so that it counts in means.
    """
    n_retrieved = np.bincount(retrieved.query, minlength=n_queries)
    sizes = n_retrieved + np.bincount(missed.query, minlength=n_queries)
    empty = np.flatnonzero(sizes == 0)
    if len(empty) or (missed.query[1:] < missed.query[:-1]).any():
        query = np.append(missed.query, empty).astype(np.intp)
        order = np.argsort(query, kind="stable")
        item = np.append(missed.item, np.full(len(empty), -1))[order]
        value = np.append(missed.value, np.zeros(len(empty), dtype=label.dtype))[order]
        missed, sizes = ItemLists(query[order], item, value), np.maximum(sizes, 1)
    is_missed = np.zeros(len(label) + len(missed.query), dtype=bool)
    is_missed[np.cumsum(n_retrieved)[missed.query] + np.arange(len(missed.query))] = True
    labels = np.empty(len(is_missed), dtype=np.result_type(label, missed.value))
    dtype = np.promote_types(retrieved.value.dtype, np.float32)
    scores, items = np.full(len(is_missed), -np.inf, dtype), np.empty(len(is_missed), dtype=int)
    labels[is_missed], labels[~is_missed] = missed.value, label
    items[is_missed], items[~is_missed] = missed.item, retrieved.item
    scores[~is_missed] = retrieved.value
    return JoinedDocuments(labels, {system: scores}, sizes, items)


def warn_of_other_ids(documents: JoinedDocuments, items: Any) -> None:
    """Warn if a system retrieved many items and none of the many that have a relevance.

    Items without a relevance have the label NaN.
    """
    has_relevance = ~np.isnan(documents.labels) & (documents.items >= 0)
    for system, scores in documents.scores.items():
        is_retrieved = scores > -np.inf
        if (has_relevance & is_retrieved).any():
            continue  # as nearly always; what follows is slow
        known, retrieved = (
            {items[code] for code in np.unique(documents.items[rows]).tolist()}
            for rows in (has_relevance, is_retrieved)
        )
        if min(len(known), len(retrieved)) < MANY or not known.isdisjoint(retrieved):
            continue
        warnings.warn(
            f"none of the {len(retrieved):,} items that {repr(system) if system else 'the system'} "
            f"retrieved is among the {len(known):,} that have a relevance, so that none of them "
            "counts as relevant. Check that both have ids of the same kind: retrieved are ids such "
            f"as {_least(retrieved)}, and {_least(known)} has a relevance.",
            UserWarning,
            stacklevel=stacklevel_of_caller(),
        )


def _least(ids: set[Any]) -> str:
    """The first id in the order of their texts."""
    least = min(ids, key=str)
    return shown(least.decode() if isinstance(least, bytes) else least)


def metric_arguments(ids: Array, documents: JoinedDocuments, unjudged: str) -> Any:
    """Arguments of a metric for documents by query, whose ids are given once for each query."""
    groups = np.repeat(ids, documents.sizes)
    return arguments(documents.labels, documents.scores, groups, unjudged)


def arguments(labels: Array, scores: dict[str, Array], groups: Array, unjudged: str) -> Any:
    """`MetricArguments`, or `SystemArguments` if the systems have names."""
    named = scores if scores.keys() != {ALONE} else scores[ALONE]
    rule = {} if unjudged == "nan" else {"unjudged": unjudged}
    return {"y_true": labels, "y_score": named, "groups": groups, **rule}
