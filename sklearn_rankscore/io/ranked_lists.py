"""Lists of items, or of their relevance, by rank."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from itertools import chain, repeat
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from .._columns import as_numbers
from .._typing import Array
from ..query_ids import as_ids
from .entries import as_collections, check_ordered, read_entries
from .join import ItemLists, MetricArguments, join_relevance, metric_arguments

# one entry per query, by position or by query id
QueryLists: TypeAlias = Sequence[Any] | Mapping[Hashable, Any] | ArrayLike


def from_ranked_lists(actual: QueryLists, predicted: QueryLists) -> MetricArguments:
    """Arguments of a metric from relevant items and predicted items by rank.

    Parameters
    ----------
    actual : sequence or mapping of n_queries entries
        The relevant items of each query: a list, tuple, array or set of items, a dict from item to
        relevance, or a single item. Items may be of any hashable type; duplicates count once.
        Queries are given as a sequence, a Series, or a dict by query id.
    predicted : sequence or mapping of n_queries entries
        The items predicted for each query, best first: lists, a two-dimensional array, a dict of
        lists by query id, or a DataFrame with one column per rank, best first, in which missing
        values are ignored.

    Returns
    -------
    dict
        ``y_true``, ``y_score`` and ``groups``, arrays of shape (n_documents,), to be passed on as
        ``ndcg_score(**from_ranked_lists(actual, predicted), k=10)``. The query ids are the
        keys of a dict or the index of a Series and a DataFrame, and otherwise 0, 1, 2, …; the
        documents of each query are adjacent.

    Raises
    ------
    ValueError
        If the numbers of queries differ, a query of `predicted` is missing from `actual`, or an
        item is missing (None or NaN).
    TypeError
        If an item is not hashable, or predicted items have no order.

    See Also
    --------
    from_relevance_lists : From the relevance of each ranked item.
    from_recommendations : From a sparse matrix and an array of item numbers.
    from_trec : From relevance judgments and a run with scores.

    Notes
    -----
    A relevant item that was not predicted counts in recall, in average precision and in the ideal
    ranking: it becomes a document with score -inf. If an item is predicted more than once, only
    the first occurrence is relevant; each later one keeps its rank as an irrelevant document. A
    query of a dict `actual` that is missing from `predicted` has no predictions. A query without
    relevant items counts too, with the value `replace_undefined_by` of the metric.

    Examples
    --------
    >>> from sklearn_rankscore import from_ranked_lists, map_score
    >>> actual = [["a", "b", "c"], {"d"}]
    >>> predicted = [["a", "b", "e"], ["f", "d"]]
    >>> round(map_score(**from_ranked_lists(actual, predicted), k=3, average=None)[0], 4)
    np.float64(0.6667)
    """
    ids, relevant, ranked = _align_queries(actual, predicted)
    relevant = as_collections(relevant)
    check_ordered(ranked, "predicted", "items, best first,")
    relevance: Array = np.ones(sum(map(len, relevant)), dtype=np.int64)
    if any(isinstance(items, Mapping) for items in relevant) and len(relevance):
        relevance = as_numbers(list(chain.from_iterable(map(_relevance, relevant))), "actual")
    codes, ranked_codes = _encode(relevant, ranked)
    return join_relevance(
        ids,
        ItemLists(_query_positions(relevant), codes, relevance),
        ItemLists(_query_positions(ranked), ranked_codes, _scores_by_rank(ranked)),
    )


def from_relevance_lists(relevances: QueryLists) -> MetricArguments:
    """Arguments of a metric from the relevance of documents by rank.

    Parameters
    ----------
    relevances : sequence or mapping of n_queries sequences
        For each query the relevance of its documents, best rank first, in lists of any length;
        also a dict of lists by query id, or a two-dimensional array.

    Returns
    -------
    dict
        ``y_true``, ``y_score`` and ``groups``, arrays of shape (n_documents,), to be passed on as
        ``ndcg_score(**from_relevance_lists(relevances))``. The query ids are the keys of a
        dict, and otherwise 0, 1, 2, ….

    Raises
    ------
    ValueError
        If there are no queries, or a relevance is missing.
    TypeError
        If the entry of a query is not a sequence of numbers.

    See Also
    --------
    from_ranked_lists : From the items themselves; relevant items that were not predicted count
        too.

    Notes
    -----
    Recall, average precision and the ideal ranking know only the relevant documents listed here.
    On a query with an empty list a metric is undefined.

    Examples
    --------
    >>> from sklearn_rankscore import from_relevance_lists, mrr_score
    >>> mrr_score(**from_relevance_lists([[0, 1], [0, 0, 0, 1], [2]]))
    0.5833333333333334
    """
    keys = list(relevances) if isinstance(relevances, Mapping) else None
    lists = read_entries(relevances, "relevances")
    check_ordered(lists, "relevances", "numbers, the relevance at each rank,")
    values = list(chain.from_iterable(lists))
    labels = as_numbers(values, "relevances") if values else np.zeros(0, dtype=np.int64)
    if labels.ndim != 1:
        raise ValueError("relevances must hold one list of numbers per query; got nested lists.")
    ids = np.arange(len(lists)) if keys is None else as_ids(keys)[0]
    query, missed = _query_positions(lists), np.zeros(0, dtype=np.intp)
    return metric_arguments(ids, query, labels, _scores_by_rank(lists), missed, labels[:0])


def _align_queries(actual: QueryLists, predicted: QueryLists) -> tuple[Array, list[Any], list[Any]]:
    """Query ids, and the entry of each query in `actual` and in `predicted`."""
    if isinstance(actual, Mapping) and isinstance(predicted, Mapping):
        return _align_by_id(actual, predicted)
    if isinstance(actual, Mapping) or isinstance(predicted, Mapping):
        raise TypeError(
            "actual and predicted must both be dicts by query id, or neither; got "
            f"{type(actual).__name__} and {type(predicted).__name__}."
        )
    relevant, ranked = read_entries(actual, "actual"), read_entries(predicted, "predicted")
    if len(relevant) != len(ranked):
        raise ValueError(
            f"actual has {len(relevant)} queries, predicted has {len(ranked)}; both need one entry "
            "per query, an empty list for a query without items."
        )
    index, other = getattr(actual, "index", None), getattr(predicted, "index", None)
    if hasattr(index, "is_unique") and hasattr(other, "is_unique"):
        return _ids_of_index(index, other), relevant, ranked
    return np.arange(len(relevant)), relevant, ranked


def _align_by_id(
    actual: Mapping[Any, Any], predicted: Mapping[Any, Any]
) -> tuple[Array, list[Any], list[Any]]:
    if unknown := [query for query in predicted if query not in actual]:
        raise ValueError(
            f"{len(unknown)} queries in `predicted` are missing from `actual`; the first is "
            f"{unknown[0]!r}. Remove them, or give them an empty list in `actual`."
        )
    ranked = [predicted.get(query, ()) for query in actual]
    return as_ids(list(actual))[0], read_entries(actual, "actual"), ranked


def _ids_of_index(index: Any, other: Any) -> Array:
    """Query ids from the common index of two Series or DataFrames."""
    if not index.equals(other):
        raise ValueError(
            "actual and predicted have different indexes. Align them, for example by "
            "actual.loc[predicted.index], or pass actual.to_list() to match queries by position."
        )
    if not index.is_unique:
        raise ValueError(
            "the index of actual and predicted has duplicate query ids; use "
            "reset_index(drop=True) on both to match queries by position."
        )
    return as_ids(index.to_list())[0]


def _relevance(items: Collection[Any]) -> Iterable[Any]:
    return items.values() if isinstance(items, Mapping) else repeat(1, len(items))


def _encode(relevant: list[Any], ranked: list[Any]) -> tuple[Array, Array]:
    """Integer codes of the relevant and of the ranked items, equal for equal items."""
    try:
        items = dict.fromkeys(chain.from_iterable(chain(relevant, ranked)))
    except TypeError as error:
        raise TypeError(_unhashable(relevant, ranked)) from error
    if _any_missing(items):
        raise ValueError(
            "an item of actual or predicted is missing (None or NaN). Remove it; a query without "
            "items has an empty list."
        )
    code: Callable[[Any], int] = dict(zip(items, range(len(items)), strict=True)).__getitem__
    flat = [map(code, chain.from_iterable(lists)) for lists in (relevant, ranked)]
    return np.fromiter(flat[0], dtype=np.int64), np.fromiter(flat[1], dtype=np.int64)


def _any_missing(items: Iterable[Any]) -> bool:
    try:
        return any(item is None or bool(item != item) for item in items)
    except TypeError:  # pandas' NA compared with itself is NA, which has no truth value
        return True


def _unhashable(relevant: list[Any], ranked: list[Any]) -> str:
    """An error message about the first item that is not hashable."""
    for name, lists in (("actual", relevant), ("predicted", ranked)):
        for at, items in enumerate(lists):
            for item in items:
                try:
                    hash(item)
                except TypeError:
                    return (
                        f"items must be hashable; query number {at} of {name} holds the "
                        f"{type(item).__name__} {item!r}. Convert it to a tuple or a string."
                    )
    return "items must be hashable."


def _sizes(lists: Sequence[Any]) -> Array:
    return np.fromiter(map(len, lists), dtype=np.intp, count=len(lists))


def _query_positions(lists: Sequence[Any]) -> Array:
    """The position of the query of each entry."""
    return np.repeat(np.arange(len(lists)), _sizes(lists))


def _scores_by_rank(lists: Sequence[Any]) -> Array:
    """0, -1, -2, … within each list, which ranks it in its own order."""
    sizes = _sizes(lists)
    starts = np.cumsum(sizes) - sizes
    return (np.repeat(starts, sizes) - np.arange(sizes.sum())).astype(np.float64)
