"""Lists of items, or of their relevance, in the order of their rank."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from itertools import chain, repeat
from typing import Any

import numpy as np

from ..ranking.arrays import Array, as_ids, as_numbers
from .documents import Listed, flatten, merge, places


def from_ranked_lists(actual: Any, predicted: Any) -> dict[str, Any]:
    """Arguments of a metric from relevant items and predicted items in rank order.

    Parameters
    ----------
    actual : sequence or mapping of n_queries entries
        The relevant items of each query: a list, tuple, array or set of items, a dict of each
        item's grade, or a single item. Items may be of any hashable type; an item listed twice
        counts once. Queries come as a sequence, a Series, or a dict of them by query id.
    predicted : sequence or mapping of n_queries entries
        The items predicted for each query, from best to worst: lists, a two-dimensional array, a
        dict of lists by query id, or a DataFrame with columns from best to worst, whose missing
        cells are no predictions.

    Returns
    -------
    dict
        ``y_true``, ``y_score`` and ``groups``, arrays of shape (n_documents,), to be passed on as
        ``ndcg_score(**from_ranked_lists(actual, predicted), k=10)``. The query ids are the
        keys of a dict, the index of a Series and a DataFrame, else 0, 1, 2, …; the documents of
        a query stand together.

    Raises
    ------
    ValueError
        If the numbers of queries differ, a prediction is made for a query that `actual` does not
        name, or an item is missing (None or NaN).
    TypeError
        If an item is not hashable, or predicted items have no order.

    See Also
    --------
    from_relevance_lists : The relevance in rank order instead of the items.
    from_recommendations : The same for a sparse matrix and an array of item numbers.
    from_trec : Judged and retrieved documents with scores.

    Notes
    -----
    A relevant item that was never predicted counts in recall, in average precision and in the
    ideal order: it becomes a document with score -inf. An item predicted twice counts at its
    first place, and its later places are taken up by a document that is not relevant. A query
    of a dict `actual` that `predicted` does not name has no predictions. A query without relevant
    items counts too; what for is up to `replace_undefined_by` of the metric.

    Examples
    --------
    >>> from sklearn_rankscore import from_ranked_lists, map_score
    >>> actual = [["a", "b", "c"], {"d"}]
    >>> predicted = [["a", "b", "e"], ["f", "d"]]
    >>> round(map_score(**from_ranked_lists(actual, predicted), k=3, average=None)[0], 4)
    np.float64(0.6667)
    """
    ids, relevant, ranked = _pair(actual, predicted)
    relevant = _collections(relevant)
    _check_ordered(ranked)
    grades: Array = np.ones(sum(map(len, relevant)), dtype=np.int64)
    if any(isinstance(items, Mapping) for items in relevant) and len(grades):
        grades = as_numbers(list(chain.from_iterable(map(_grades, relevant))), "actual")
    codes, ranked_codes = _encode(relevant, ranked)
    query, ranked_query, sizes = _owners(relevant), _owners(ranked), _sizes(ranked)
    return merge(
        ids,
        Listed(query, codes, grades),
        Listed(ranked_query, ranked_codes, _descending(sizes)),
    )


def from_relevance_lists(relevances: Any) -> dict[str, Any]:
    """Arguments of a metric from the relevance of ranked documents.

    Parameters
    ----------
    relevances : sequence or mapping of n_queries sequences
        For each query the relevance of its documents from the first rank to the last, of any
        lengths; also a dict of them by query id, or a two-dimensional array.

    Returns
    -------
    dict
        ``y_true``, ``y_score`` and ``groups``, arrays of shape (n_documents,), to be passed on as
        ``ndcg_score(**from_relevance_lists(relevances))``. The query ids are the keys of a
        dict, else 0, 1, 2, ….

    Raises
    ------
    ValueError
        If there is no query, or a relevance is missing.
    TypeError
        If a query is no sequence of numbers.

    See Also
    --------
    from_ranked_lists : Items instead of their relevance; relevant items that were not predicted
        count too.

    Notes
    -----
    Recall, average precision and the ideal order know only the relevant documents listed here. An
    empty list is a query on which a metric is undefined.

    Examples
    --------
    >>> from sklearn_rankscore import from_relevance_lists, mrr_score
    >>> mrr_score(**from_relevance_lists([[0, 1], [0, 0, 0, 1], [2]]))
    0.5833333333333334
    """
    keys = list(relevances) if isinstance(relevances, Mapping) else None
    lists = _entries(relevances if keys is None else list(relevances.values()), "relevances")
    _check_ordered(lists, "relevances", "the relevance of its documents")
    values = list(chain.from_iterable(lists))
    label = as_numbers(values, "relevances") if values else np.zeros(0, dtype=np.int64)
    if label.ndim != 1:
        raise ValueError(
            "relevances must hold one list of numbers per query; its lists hold lists."
        )
    none = np.zeros(0, dtype=np.intp)
    ids = np.arange(len(lists)) if keys is None else as_ids(keys)[0]
    return flatten(ids, _owners(lists), label, _descending(_sizes(lists)), none, label[:0])


def _pair(actual: Any, predicted: Any) -> tuple[Array, list[Any], list[Any]]:
    """Ids of the queries, and each one's entry on both sides."""
    if isinstance(actual, Mapping) != isinstance(predicted, Mapping):
        raise TypeError(
            "actual and predicted must both be dicts by query id, or neither; got "
            f"{type(actual).__name__} and {type(predicted).__name__}."
        )
    if isinstance(actual, Mapping):
        if unknown := [query for query in predicted if query not in actual]:
            raise ValueError(
                f"predicted names {len(unknown)} queries that actual does not, the first is "
                f"{unknown[0]!r}. Leave them out, or give them an empty list of relevant items."
            )
        ranked = [predicted.get(query, ()) for query in actual]
        return as_ids(list(actual))[0], _entries(list(actual.values()), "actual"), ranked
    relevant, ranked = _entries(actual, "actual"), _entries(predicted, "predicted")
    if len(relevant) != len(ranked):
        raise ValueError(
            f"actual has {len(relevant)} queries, predicted has {len(ranked)}; both need one entry "
            "per query, an empty list where there is none."
        )
    index, other = getattr(actual, "index", None), getattr(predicted, "index", None)
    if hasattr(index, "is_unique") and hasattr(other, "is_unique"):
        return _shared_index(index, other), relevant, ranked
    return np.arange(len(relevant)), relevant, ranked


def _shared_index(index: Any, other: Any) -> Array:
    if not index.equals(other):
        raise ValueError(
            "the index of actual differs from the index of predicted. Bring them into one order, "
            "such as actual.loc[predicted.index], or pass actual.to_list() to go by position."
        )
    if not index.is_unique:
        raise ValueError(
            "the index of actual and predicted names a query twice; use reset_index(drop=True)."
        )
    return as_ids(index.to_list())[0]


def _entries(queries: Any, name: str) -> list[Any]:
    """One entry per query, from a sequence, an array, a Series, or the rows of a DataFrame."""
    if isinstance(queries, Set | str | bytes) or not isinstance(queries, Iterable):
        raise TypeError(
            f"{name} must be a sequence or dict with one entry per query; got a "
            f"{type(queries).__name__}."
        )
    entries = _rows(queries)
    if not entries:
        raise ValueError(f"{name} is empty; at least one query is needed.")
    return entries


def _rows(queries: Any) -> list[Any]:
    if hasattr(queries, "iloc"):  # pandas, whose missing values have several faces
        queries = queries.astype(object).where(queries.notna(), None)
        if queries.ndim == 1:
            return list(queries.array)
        return _without_missing(queries.itertuples(index=False, name=None))
    if hasattr(queries, "rows"):  # a polars frame
        return _without_missing(queries.rows())
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(queries, method):
            return list(getattr(queries, method)())
    return list(queries)


def _without_missing(rows: Iterable[Any]) -> list[Any]:
    return [[item for item in row if item is not None] for row in rows]


def _is_collection(entry: type) -> bool:
    return issubclass(entry, Collection) and not issubclass(entry, str | bytes)


def _collections(entries: list[Any]) -> list[Any]:
    """Entries with a single item as a collection of one."""
    single = {kind for kind in set(map(type, entries)) if not _is_collection(kind)}
    if not single:
        return entries
    return [(entry,) if type(entry) in single else entry for entry in entries]


def _check_ordered(
    entries: list[Any], name: str = "predicted", what: str = "its items from best to worst"
) -> None:
    """Refuse strings, sets, dicts and single values where a list is needed."""
    for kind in set(map(type, entries)):
        if _is_collection(kind) and not issubclass(kind, Set | Mapping):
            continue
        at = next(i for i, entry in enumerate(entries) if type(entry) is kind)
        raise TypeError(
            f"{name} must hold, for each query, a list of {what}; query number {at} "
            f"is the {kind.__name__} {entries[at]!r}."
        )


def _grades(items: Collection[Any]) -> Iterable[Any]:
    return items.values() if isinstance(items, Mapping) else repeat(1, len(items))


def _encode(relevant: list[Any], ranked: list[Any]) -> tuple[Array, Array]:
    """A number for each item on both sides, the same for equal items."""
    try:
        table = dict.fromkeys(chain.from_iterable(chain(relevant, ranked)))
    except TypeError as error:
        raise TypeError(_unhashable(relevant, ranked)) from error
    if _any_missing(table):
        raise ValueError(
            "an item of actual or predicted is missing (None or NaN). Leave it out; a query "
            "without items has an empty list."
        )
    code: Callable[[Any], int] = dict(zip(table, range(len(table)), strict=True)).__getitem__
    flat = [map(code, chain.from_iterable(lists)) for lists in (relevant, ranked)]
    return np.fromiter(flat[0], dtype=np.int64), np.fromiter(flat[1], dtype=np.int64)


def _any_missing(items: Iterable[Any]) -> bool:
    try:
        return any(item is None or bool(item != item) for item in items)
    except TypeError:  # pandas' NA is neither equal nor unequal to itself
        return True


def _unhashable(relevant: list[Any], ranked: list[Any]) -> str:
    for name, lists in (("actual", relevant), ("predicted", ranked)):
        for at, items in enumerate(lists):
            for item in items:
                try:
                    hash(item)
                except TypeError:
                    return (
                        f"items must be hashable; query number {at} of {name} holds the "
                        f"{type(item).__name__} {item!r}. A tuple or a string can stand for it."
                    )
    return "items must be hashable."


def _sizes(lists: Sequence[Any]) -> Array:
    return np.fromiter(map(len, lists), dtype=np.intp, count=len(lists))


def _owners(lists: Sequence[Any]) -> Array:
    """Position of the query of each item."""
    return np.repeat(np.arange(len(lists)), _sizes(lists))


def _descending(sizes: Array) -> Array:
    """Scores that rank each list in its own order."""
    return -places(sizes).astype(np.float64)
