"""Relevant and predicted items, joined into the arguments of a metric function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict

import numpy as np

from .._typing import Array


class MetricArguments(TypedDict):
    """Labels, scores and query ids, each of shape (n_documents,)."""

    y_true: Array
    y_score: Array
    groups: Array


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


def join_relevance(ids: Array, relevant: ItemLists, predicted: ItemLists) -> MetricArguments:
    """Label predicted items with their relevance, and add the relevant items that were missed.

    `predicted` is sorted by query. If an item is predicted more than once for a query, only the
    first occurrence has its relevance, and later ones have relevance 0.
    """
    # a query and an item as one integer
    n_items = 1 + max(int(lists.item.max(initial=0)) for lists in (relevant, predicted))
    relevant_pairs, entries = np.unique(relevant.query * n_items + relevant.item, return_index=True)
    relevance = relevant.value[entries]
    pairs = predicted.query * n_items
    pairs += predicted.item
    position = np.searchsorted(relevant_pairs, pairs)
    hits = np.flatnonzero(np.append(relevant_pairs, -1)[position] == pairs)
    # first occurrences, which alone are relevant
    retrieved, first = np.unique(position[hits], return_index=True)
    labels = np.zeros(len(pairs), dtype=relevance.dtype)
    labels[hits[first]] = relevance[retrieved]
    missed_query = np.delete(relevant_pairs, retrieved) // n_items
    missed_relevance = np.delete(relevance, retrieved)
    return metric_arguments(
        ids, predicted.query, labels, predicted.value, missed_query, missed_relevance
    )


def metric_arguments(
    ids: Array, query: Array, label: Array, score: Array, missed_query: Array, missed_label: Array
) -> MetricArguments:
    """For each query its retrieved documents, then the missed ones with score -inf.

    `query`, the position of the query of each retrieved document, is in ascending order. A query
    without documents gets one that is neither relevant nor retrieved, so that it counts in means.
    """
    sizes = np.bincount(np.append(query, missed_query), minlength=len(ids))
    empty = np.flatnonzero(sizes == 0)
    added_query = np.append(missed_query, empty).astype(np.intp)
    added_label = np.append(missed_label, np.zeros(len(empty), dtype=label.dtype))
    order = np.argsort(added_query, kind="stable")
    ends = np.searchsorted(query, added_query[order], side="right")
    return {
        "y_true": np.insert(label, ends, added_label[order]),
        "y_score": np.insert(score, ends, -np.inf),
        "groups": np.repeat(ids, np.maximum(sizes, 1)),
    }
