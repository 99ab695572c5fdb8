"""Lists of the relevance of documents by rank."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from itertools import chain
from typing import Any, overload

import numpy as np

from .._columns import as_numbers
from .._typing import Array
from .._validation import check_system_names
from ..query_ids import as_ids
from .entries import check_ordered, read_entries, without_tensors
from .items import query_positions, scores_by_rank
from .join import (
    ItemLists,
    MetricArguments,
    SystemArguments,
    append_missed,
    join,
    metric_arguments,
)
from .ranked_lists import QueryLists


@overload
def from_relevance_lists(relevances: Mapping[str, Mapping[Hashable, Any]]) -> SystemArguments: ...
@overload
def from_relevance_lists(relevances: QueryLists) -> MetricArguments: ...
def from_relevance_lists(relevances: Any) -> Any:
    """Build the arguments of a metric from the relevance of documents by rank.

    Parameters
    ----------
    relevances : sequence or mapping of n_queries sequences, or dict of str to them
        For each query the relevance of its documents, best rank first, in lists of any length;
        also a dict of lists by query id, or a two-dimensional array or DataFrame. NaN means that
        nobody judged the document. Several systems are given as a dict by name, ``{"knn":
        lists_of_knn, ...}``.

    Returns
    -------
    dict
        ``y_true``, ``y_score`` and ``groups``, arrays of shape (n_documents,), to be passed on as
        ``ndcg_score(**from_relevance_lists(relevances))``. The query ids are the keys of a
        dict, and otherwise 0, 1, 2, …. With several systems, ``y_score`` is a dict of arrays.

    Raises
    ------
    ValueError
        If there are no queries, or systems without query ids have different numbers of queries.
    TypeError
        If the entry of a query is not a sequence of numbers, or only some systems have query ids.

    See Also
    --------
    from_ranked_lists : From the items themselves; includes relevant items that were not predicted.

    Notes
    -----
    Recall, average precision and the ideal ranking take only the listed documents into account. For
    a query with an empty list, all metrics are undefined.

    The lists do not identify documents, so that the n-th document of a query with a given relevance
    is assumed to be the same in all systems. This is correct if all systems rank the same
    documents. If one system retrieved more relevant documents of a query than another one, the
    other one is assumed to have missed some. If a system does not contain one of the query ids, it
    retrieved nothing for this query.

    Examples
    --------
    >>> from sklearn_rankscore import evaluate, from_relevance_lists, mrr_score
    >>> mrr_score(**from_relevance_lists([[0, 1], [0, 0, 0, 1], [2]]))
    0.5833333333333334
    >>> systems = {"knn": [[0, 1], [1, 0]], "popular": [[1, 0], [1, 0]]}
    >>> evaluate(metrics="mrr", **from_relevance_lists(systems))
    {'knn': {'mrr': 0.75}, 'popular': {'mrr': 1.0}}
    """
    if _holds_systems(relevances):
        return _from_systems(relevances)
    ids, lists = _read(relevances, "relevances")
    labels, query = _labels(lists, "relevances"), query_positions(lists)
    no_codes = np.zeros(0, dtype=np.intp)
    retrieved = ItemLists(query, np.arange(len(query)), scores_by_rank(lists))
    missed = ItemLists(no_codes, no_codes, labels[:0])
    documents = append_missed(len(ids), retrieved, labels, missed)
    return metric_arguments(as_ids(ids)[0], documents, "nan")


def _holds_systems(relevances: Any) -> bool:
    """Whether it is a dict of systems by name, each with lists by query."""
    return isinstance(relevances, Mapping) and any(map(_holds_lists, relevances.values()))


def _holds_lists(entry: Any) -> bool:
    if isinstance(entry, Mapping) or hasattr(entry, "columns") or getattr(entry, "ndim", 1) == 2:
        return True
    if not isinstance(entry, list | tuple):  # a Series, or a column of polars or PyArrow
        entry = list(entry)[:1] if hasattr(entry, "__iter__") and not hasattr(entry, "read") else []
    return any(
        hasattr(item, "__len__") and not isinstance(item, str | bytes)
        for item in without_tensors(list(entry))
    )


def _read(relevances: Any, name: str) -> tuple[list[Any], list[Any]]:
    """Query ids, and the list of each query."""
    lists = read_entries(relevances, name, with_missing=True)
    check_ordered(lists, name, "numbers, the relevance at each rank,")
    ids = list(relevances) if isinstance(relevances, Mapping) else list(range(len(lists)))
    return ids, lists


def _labels(lists: list[Any], name: str) -> Array:
    values = list(chain.from_iterable(lists))
    labels = as_numbers(values, name, allow_nan=True) if values else np.zeros(0, dtype=np.int64)
    if labels.ndim != 1:
        raise ValueError(f"{name} must hold one list of numbers per query; got nested lists.")
    return labels


def _from_systems(relevances: Mapping[Any, Any]) -> Any:
    hint = " Lists of relevance by query id hold numbers, not lists."
    check_system_names("relevances", relevances, hint)
    read = {name: _read(entry, f"relevances[{name!r}]") for name, entry in relevances.items()}
    _check_same_queries(relevances, read)
    ids = list(dict.fromkeys(chain.from_iterable(own for own, _ in read.values())))
    aligned = {}
    for name, (own, lists) in read.items():
        by_id = dict(zip(own, lists, strict=True))
        aligned[name] = [by_id.get(query, ()) for query in ids]
    labels = {name: _labels(lists, f"relevances[{name!r}]") for name, lists in aligned.items()}
    documents = _number_documents(aligned, labels)
    query, document = (np.concatenate(parts) for parts in zip(*documents.values(), strict=True))
    relevant = ItemLists(query, document, np.concatenate(list(labels.values())))
    systems = {
        name: ItemLists(*documents[name], scores_by_rank(lists)) for name, lists in aligned.items()
    }
    return join(as_ids(ids)[0], relevant, systems)


def _check_same_queries(relevances: Mapping[str, Any], read: Mapping[str, Any]) -> None:
    """Refuse systems whose queries cannot be matched."""
    have_ids = {name: isinstance(entry, Mapping) for name, entry in relevances.items()}
    if len(set(have_ids.values())) > 1:
        raise TypeError(
            "all systems must be dicts by query id, or none; got dicts for "
            f"{[name for name, has_ids in have_ids.items() if has_ids]} only."
        )
    sizes = {name: len(ids) for name, (ids, _) in read.items()}
    if not any(have_ids.values()) and len(set(sizes.values())) > 1:
        raise ValueError(
            f"the systems have different numbers of queries, {sizes}; each needs one list per "
            "query, or a dict of lists by query id."
        )


def _number_documents(
    aligned: Mapping[str, list[Any]], labels: Mapping[str, Array]
) -> dict[str, tuple[Array, Array]]:
    """By system, the position of the query of each document, and a number that identifies it.

    Documents of a query with equal labels are numbered by rank, alike in all systems.
    """
    grades = np.unique(np.concatenate(list(labels.values())))
    numbered = {}
    for name, lists in aligned.items():
        query, grade = query_positions(lists), np.searchsorted(grades, labels[name])
        pairs = query * (len(grades) + 1) + grade
        order = np.argsort(pairs, kind="stable")
        ordered = pairs[order]
        occurrence = np.empty_like(order)
        occurrence[order] = np.arange(len(order)) - np.searchsorted(ordered, ordered)
        numbered[name] = query, occurrence * (len(grades) + 1) + grade
    return numbered
