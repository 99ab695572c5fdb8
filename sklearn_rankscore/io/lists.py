"""Lists of items or of labels by rank, and item numbers, as arguments of a metric."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Set
from dataclasses import replace
from itertools import chain, repeat
from typing import Any, NamedTuple, get_args

import numpy as np
from scipy.sparse import csr_array

from .._columns import as_column, as_numbers, check_in_memory, check_range, column_names, names_ids
from .._typing import Array, UnjudgedDocuments
from .._validation import check_choice, check_flag, check_system_names, counted, shown
from ..query_ids.read import as_ids, as_objects, is_missing
from .columns import distinct
from .join import ALONE, Documents, join
from .table import Table
from .trec import as_nested

NO_ITEM = -1


def from_ranked_lists(
    actual: Any,
    predicted: Any,
    *,
    unjudged: UnjudgedDocuments = "irrelevant",
    exclude: Any = None,
    ignore_identical_ids: bool = False,
) -> Documents:
    """Build the arguments of a metric from relevant items and predicted items by rank.

    Parameters
    ----------
    actual : sequence or mapping of n_queries entries
        The relevant items of each query: a list, tuple, array or set of items, a dict from item to
        relevance, or a single item. Items may be of any hashable type; duplicates count once.
        Queries are given as a sequence, a Series, or a dict by query id.
    predicted : sequence or mapping of n_queries entries
        The items predicted for each query, best first: lists, a two-dimensional array, a dict of
        lists by query id, or a DataFrame with one column per rank, best first, in which missing
        values are ignored. A dict of dicts, ``{query: {item: score}}``, ranks by score. Several
        systems are given as a dict by name, ``{"knn": predicted_by_knn, ...}``.
    unjudged : {"irrelevant", "drop", "nan"}, default="irrelevant"
        What metrics do with predicted items that are not in `actual`, whose label is NaN because
        nobody judged them: give them the label 0, remove them, or leave it to the option `unjudged`
        of the metric. Items that were judged irrelevant are passed in dicts, with the relevance 0.
        See :doc:`/guide/labels`.
    exclude : sequence or mapping, default=None
        Items of each query, in the form of `actual`, that do not count, whether relevant, predicted
        or both, such as those that a recommender was trained on. Later predictions move up.
    ignore_identical_ids : bool, default=False
        Whether to leave out predictions that equal the query id, as BEIR does.

    Returns
    -------
    dict
        ``y_true``, ``y_score`` and ``groups``, arrays of shape (n_documents,), and ``unjudged``
        unless it is "nan", to be passed on as
        ``ndcg_score(**from_ranked_lists(actual, predicted), k=10)``. The query ids are the
        keys of a dict or the index of a Series and a DataFrame, and otherwise 0, 1, 2, …; the
        documents of each query are adjacent. With several systems, ``y_score`` is a dict of
        arrays, one for each system.

    Raises
    ------
    ValueError
        If the numbers of queries differ, a query of `predicted` is missing from `actual`, or an
        item is missing (None or NaN).
    TypeError
        If an item is not hashable, predicted items have no order, or a DataFrame has one row per
        query and item, as in a log of ratings.

    Warns
    -----
    UserWarning
        If none of ten or more items that a system retrieved has a relevance for any query.

    See Also
    --------
    from_frames : From DataFrames with one row per query and item.
    from_relevance_lists : From the relevance of the item at each rank.
    from_recommendations : From a sparse matrix and an array of item numbers.
    from_trec : From relevance judgments and a run with scores.

    Notes
    -----
    A relevant item that was not predicted counts in recall, in average precision and in the ideal
    ranking: it becomes a document with score -inf. If an item is predicted more than once, only the
    first occurrence is relevant; each later one keeps its rank as an irrelevant document. A query
    of a dict `actual` that is missing from `predicted` has no predictions. A query without relevant
    items is included, with the value `replace_undefined_by` of the metric.

    The documents of several systems are those that at least one of them predicted. If a system did
    not predict an item, its score is -inf.

    Examples
    --------
    >>> from sklearn_rankscore import from_ranked_lists, map_score
    >>> actual = [["a", "b", "c"], {"d"}]
    >>> predicted = [["a", "b", "e"], ["f", "d"]]
    >>> map_score(**from_ranked_lists(actual, predicted), k=3, average=None).round(4)
    array([0.6667, 0.5   ])
    """
    check_choice("unjudged", unjudged, get_args(UnjudgedDocuments))
    check_flag("ignore_identical_ids", ignore_identical_ids)
    actual, predicted = as_nested(actual), as_nested(predicted)
    systems = {ALONE: predicted}
    if _holds_systems(actual, predicted):
        check_system_names("predicted", predicted)
        systems = {name: as_nested(lists) for name, lists in predicted.items()}
    truth = _by_query(actual, "actual")
    lists = [[entry if _is_collection(entry) else (entry,) for entry in truth.entries]]
    names = ["actual", *(f"predicted {system!r}" if system else "predicted" for system in systems)]
    for name, of_system in zip(names[1:], systems.values(), strict=True):
        _refuse_items_and_scores(of_system, name)
        lists.append(_aligned(truth, _by_query(of_system, name)))
        _check_ordered(truth, lists[-1], name, Set)
    if exclude is not None:
        names.append("exclude")
        lists.append(_aligned(truth, _by_query(as_nested(exclude), "exclude"), has_others=True))
    ids = as_ids(truth.ids)[0]
    tables = [_long(name, ids, of) for name, of in zip(names, lists, strict=True)]
    return join(
        tables[0], dict(zip(systems, tables[1:], strict=False)), unjudged=unjudged,
        exclude=None if exclude is None else tables[-1],
        own_document=(lambda query: query) if ignore_identical_ids else None,
    )  # fmt: skip


def _holds_systems(actual: Any, predicted: Any) -> bool:
    """Whether `predicted` is a dict of systems by name, and not of queries by id."""
    if not isinstance(predicted, Mapping) or not isinstance(actual, Mapping):
        return isinstance(predicted, Mapping)
    nested = [entry for entry in map(as_nested, predicted.values()) if isinstance(entry, Mapping)]
    return any(_is_collection(next(iter(entry.values()), None)) for entry in nested)


class _Lists(NamedTuple):
    """The entries of queries; their ids are keys, an index or positions."""

    name: str
    ids: list[Any]
    entries: list[Any]
    has_ids: bool
    is_dict: bool


def _by_query(queries: Any, name: str, *, with_missing: bool = False) -> _Lists:
    """The entries of queries in a dict, sequence, array, Series or DataFrame, arrays as lists.

    Missing cells of a DataFrame are no items, but have a rank among labels.
    """
    check_in_memory(queries, name)
    index: Any = getattr(queries, "index", None)
    is_dict, has_index = isinstance(queries, Mapping), hasattr(index, "is_unique")
    if is_dict:
        entries = list(queries.values())
    elif columns := column_names(queries):
        if names_ids(columns):
            raise TypeError(
                f"{name} is a DataFrame with the columns {columns}; here each row would be a query "
                "and each cell an item. from_frames takes one row per query and item."
            )
        import narwhals

        rows = narwhals.from_native(queries, eager_only=True).rows()
        entries = [[item for item in row if with_missing or not is_missing(item)] for row in rows]
    else:
        entries = _as_list(queries)
        if isinstance(entries, Set | str | bytes) or not isinstance(entries, Collection):
            raise TypeError(
                f"{name} must be a sequence or dict with one entry per query; got a "
                f"{type(queries).__name__}; a sparse matrix goes into from_recommendations."
            )
    ids = list(queries) if is_dict else index.to_list() if has_index else range(len(entries))
    if not is_dict and len(set(ids)) < len(ids):
        raise ValueError(f"{name} has an index with duplicates; each query needs one entry.")
    return _Lists(name, list(ids), list(map(_as_list, entries)), is_dict or has_index, is_dict)


def _as_list(values: Any) -> Any:
    """An array of any library as a list; anything else unchanged."""
    if not isinstance(values, list | tuple | Mapping) and getattr(values, "ndim", 1) != 0:
        for way in ("as_py", "to_pylist", "to_list", "tolist"):
            if hasattr(values, way):
                return getattr(values, way)()
    return values


def _is_collection(entry: Any) -> bool:
    is_one = isinstance(entry, str | bytes) or getattr(entry, "ndim", 1) == 0
    return hasattr(entry, "__len__") and not is_one


def _aligned(truth: _Lists, other: _Lists, *, has_others: bool = False) -> list[Any]:
    """The entry of each query of `truth`; none means no items."""
    if not truth.ids:
        raise ValueError(f"{truth.name} is empty; at least one query is needed.")
    has_same_number = truth.is_dict or len(other.ids) == len(truth.ids)
    if truth.is_dict != other.is_dict or not has_same_number:
        raise ValueError(
            f"{truth.name} has {len(truth.ids)} queries, {other.name} has {len(other.ids)}; both "
            "must be dicts by query id, or have one entry for each query in the same order, an "
            "empty list for one without items. A Series becomes a dict by series.to_dict()."
        )
    if truth.has_ids and other.has_ids:
        known = set(truth.ids)
        unknown = [] if has_others else [query for query in other.ids if query not in known]
        if unknown:
            raise ValueError(
                f"`{truth.name}` lacks {counted(len(unknown), 'query')} of `{other.name}`; the "
                f"first is {shown(unknown[0])}, where `{truth.name}` has ids such as "
                f"{shown(truth.ids[0])}. Remove them from `{other.name}` if they do not count, or "
                f"give them an empty list in `{truth.name}`, with which they count 0 in most "
                "metrics (option replace_undefined_by)."
            )
        by_id = dict(zip(other.ids, other.entries, strict=True))
        return [by_id.get(query, ()) for query in truth.ids]
    return other.entries


def _check_ordered(truth: _Lists, entries: list[Any], name: str, unordered: Any) -> None:
    for query, entry in zip(truth.ids, entries, strict=True):
        if not _is_collection(entry) or isinstance(entry, unordered):
            raise TypeError(
                f"{name} must hold a list for each query, best first, an empty one if it has none; "
                f"that of query {shown(query)} is the {type(entry).__name__} {entry!r:.60}."
            )


def _long(name: str, queries: Array, lists: list[Any]) -> Table:
    """One row per query and item, with its relevance or its score; by rank if there is none."""
    items = list(chain.from_iterable(lists))
    query, by_rank = _positions(lists)
    may_be_wrong = not set(map(type, items)) <= {str, bytes, int, bool}
    for at, item in zip(query.tolist(), items, strict=True) if may_be_wrong else ():
        is_array = (
            not isinstance(item, Hashable) or hasattr(item, "detach") or hasattr(item, "as_py")
        )
        if is_array or is_missing(item):
            error, fix = (TypeError, "Convert") if is_array else (ValueError, "Remove")
            raise error(
                f"items must be hashable ids, such as strings, none of them missing; query "
                f"{shown(queries[at])} of {name} holds the {type(item).__name__} {item!r:.100}. "
                f"{fix} it; pairs of an item and its score become a dict, {{query: dict(pairs)}}."
            )
    code, distinct_items = distinct(as_objects(items), "the items")
    is_actual = name == "actual"
    values = np.ones(len(items), dtype=np.int64) if is_actual else by_rank
    if items and any(isinstance(of, Mapping) for of in lists):
        given = (
            of.values() if isinstance(of, Mapping)
            else repeat(1, len(of)) if is_actual else range(0, -len(of), -1)
            for of in lists
        )  # fmt: skip
        values = as_numbers(list(chain.from_iterable(given)), name)
        values = values if is_actual else values.astype(np.float64)
    return Table(name, query, code, values, queries, distinct_items)


def _positions(lists: list[Any]) -> tuple[Array, Array]:
    """The position of the query of each item, and 0, -1, -2, … within each list."""
    sizes = np.array(list(map(len, lists)), dtype=np.intp)
    starts = np.cumsum(sizes) - sizes
    by_rank = np.repeat(starts, sizes) - np.arange(sizes.sum())
    return np.repeat(np.arange(len(lists)), sizes), by_rank.astype(np.float64)


def from_relevance_lists(relevances: Any) -> Documents:
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
        If there are no queries, systems without query ids have different numbers of queries, or
        only some systems have query ids.
    TypeError
        If the entry of a query is not a sequence of numbers.

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
    systems = {ALONE: relevances}
    if isinstance(relevances, Mapping) and any(map(_holds_lists, relevances.values())):
        check_system_names("relevances", relevances)
        systems = dict(relevances)
    names = {system: f"relevances[{system!r}]" if system else "relevances" for system in systems}
    lists = [_by_query(of, names[system], with_missing=True) for system, of in systems.items()]
    truth = lists[0]
    if all(of_system.has_ids for of_system in lists):
        every = chain.from_iterable(of_system.ids for of_system in lists)
        truth = truth._replace(ids=list(dict.fromkeys(every)))
    queries, tables = as_ids(truth.ids)[0], {}
    for (system, name), of_system in zip(names.items(), lists, strict=True):
        entries = _aligned(truth, of_system)
        _check_ordered(truth, entries, name, Set | Mapping)
        values = list(chain.from_iterable(entries))
        labels = as_numbers(values, name, allow_nan=True) if values else np.zeros(0, dtype=int)
        if labels.ndim != 1:
            raise ValueError(f"{name} must hold one list of numbers per query; got nested lists.")
        query, by_rank = _positions(entries)
        tables[system] = Table(name, query, labels, by_rank, queries)
    # a document has no id: the n-th of a query with a label is the same one in all systems
    labels = np.concatenate([table.document for table in tables.values()])
    grades = np.unique(labels)
    for system, table in tables.items():
        grade = np.searchsorted(grades, table.document)
        nth = _occurrences(table.query * len(grades) + grade)
        tables[system] = replace(table, document=nth * len(grades) + grade)
    query = np.concatenate([table.query for table in tables.values()])
    document = np.concatenate([table.document for table in tables.values()])
    documents = np.arange(1 + document.max(initial=0))
    tables = {system: replace(table, documents=documents) for system, table in tables.items()}
    judged = Table("relevances", query, document, labels, queries, documents)
    return join(judged, tables, unjudged="nan")


def _occurrences(numbers: Array) -> Array:
    """How many earlier rows have the same number."""
    order = np.argsort(numbers, kind="stable")
    ordered = numbers[order]
    earlier = np.empty(len(numbers), dtype=np.intp)
    earlier[order] = np.arange(len(order)) - np.searchsorted(ordered, ordered)
    return earlier


def _holds_lists(entry: Any) -> bool:
    """Whether it has an entry per query, rather than per item of a query."""
    if isinstance(entry, Mapping) or hasattr(entry, "columns"):
        return True
    return isinstance(entry, Iterable) and any(map(_is_collection, entry))


def from_recommendations(
    interactions: Any,
    recommended: Any,
    scores: Any = None,
    *,
    unjudged: UnjudgedDocuments = "irrelevant",
    exclude: Any = None,
) -> Documents:
    """Build the arguments of a metric from a user-item matrix and recommended items.

    Parameters
    ----------
    interactions : sparse matrix or array of shape (n_users, n_items)
        Relevance of each item to each user.
    recommended : int array of shape (n_users, n_recommendations)
        Column numbers of the items recommended to each user, best first, as returned by
        `implicit`, LightFM or a nearest-neighbor index; -1 means no recommendation. Several
        systems are given as a dict of such arrays by name.
    scores : array of shape (n_users, n_recommendations), default=None
        Scores of the recommendations. Higher ranks first, and equal scores are ties; the order of
        the columns is not used. None ranks by column. With several systems, a dict with the same
        names.
    unjudged : {"irrelevant", "drop", "nan"}, default="irrelevant"
        What metrics do with recommended items without an entry, whose label is NaN because nobody
        judged them: give them the label 0, remove them, or leave it to the option `unjudged` of the
        metric. A stored 0 is a judgment, but no entry with "irrelevant". See :doc:`/guide/labels`.
    exclude : sparse matrix or array of shape (n_users, n_items), default=None
        Items that do not count for a user, those with an entry other than 0, such as the
        interactions that a recommender was trained on. Later recommendations move up.

    Returns
    -------
    dict
        ``y_true``, ``y_score`` and ``groups``, arrays of shape (n_documents,), and ``unjudged``
        unless it is "nan", to be passed on as
        ``recall_at_k(**from_recommendations(interactions, recommended), k=10)``. The query ids
        are the row numbers of the users. With several systems, ``y_score`` is a dict of arrays.

    Raises
    ------
    ValueError
        If the numbers of users or the shapes differ, or an item number is not a column of
        `interactions`.
    TypeError
        If the item numbers are not integers.

    Warns
    -----
    UserWarning
        If none of ten or more items that a system retrieved has a relevance for any query.

    See Also
    --------
    from_ranked_lists : From lists of items of any type.

    Notes
    -----
    Relevant items that were not recommended count in recall, in average precision and in the ideal
    ranking, with score -inf. If an item is recommended more than once, only its best position is
    relevant; each other one keeps its rank as an irrelevant document. To evaluate some users only,
    pass their rows: ``interactions[users]``.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from sklearn_rankscore import from_recommendations, recall_at_k
    >>> interactions = csr_array([[1, 0, 0, 1], [0, 1, 0, 0]])
    >>> recommended = [[0, 2], [1, -1]]
    >>> recall_at_k(**from_recommendations(interactions, recommended), k=2)
    0.75
    """
    check_choice("unjudged", unjudged, get_args(UnjudgedDocuments))
    systems, of_systems = {ALONE: recommended}, {ALONE: scores}
    if isinstance(recommended, Mapping):
        check_system_names("recommended", recommended)
        systems = dict(recommended)
        of_systems = dict.fromkeys(systems) if scores is None else scores
        if not isinstance(of_systems, Mapping) or of_systems.keys() != systems.keys():
            raise TypeError("recommended and scores must be dicts with the same names of systems.")
    shape, judged = _stored(interactions, "interactions", with_zeros=unjudged != "irrelevant")
    seen = None
    if exclude is not None:
        other, seen = _stored(exclude, "exclude", with_zeros=False)
        if other != shape:
            raise ValueError(
                f"exclude has shape {other}, interactions {shape}; both need one row per user and "
                "one column per item."
            )
    tables = {name: _recommended(of, of_systems[name], *shape) for name, of in systems.items()}
    ids, items = map(np.arange, shape)
    judged, *results = [
        replace(table, queries=ids, documents=items) for table in (judged, *tables.values())
    ]
    return join(
        judged, dict(zip(tables, results, strict=True)), unjudged=unjudged,
        exclude=None if seen is None else replace(seen, queries=ids, documents=items),
    )  # fmt: skip


def _refuse_items_and_scores(predicted: Any, name: str) -> None:
    if isinstance(predicted, tuple) and [getattr(of, "ndim", 0) for of in predicted] == [2, 2]:
        raise TypeError(
            f"{name} is a tuple of item numbers and scores, as returned by implicit. With a matrix "
            "of interactions, use from_recommendations(interactions, *model.recommend(...)), with "
            "several systems, as two dicts."
        )


def _stored(values: Any, name: str, *, with_zeros: bool) -> tuple[tuple[int, int], Table]:
    """The shape and the entries of a matrix, which is not changed."""
    matrix = csr_array(values if hasattr(values, "tocsr") else as_numbers(values, name), copy=True)
    if matrix.ndim != 2:
        raise ValueError(
            f"{name} must be a sparse matrix or a two-dimensional array of numbers, with one row "
            f"per user and one column per item; got the shape {matrix.shape}."
        )
    matrix.sum_duplicates()
    if not with_zeros:
        matrix.eliminate_zeros()
    if matrix.nnz:
        as_numbers(matrix.data, name)
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    return matrix.shape, Table(name, rows, matrix.indices, matrix.data)


def _recommended(recommended: Any, scores: Any, n_users: int, n_items: int) -> Table:
    """The items recommended to each user, best first."""
    _refuse_items_and_scores(recommended, "recommended")
    items = as_column(recommended, "recommended")
    by_rank: Array = -np.arange(items.shape[-1], dtype=np.float32)
    values = (
        np.broadcast_to(by_rank, items.shape) if scores is None else as_column(scores, "scores")
    )
    if items.ndim != 2 or len(items) != n_users or values.shape != items.shape:
        raise ValueError(
            "recommended and scores must have one row per user and one column per recommendation; "
            f"interactions has {n_users} users, recommended has shape {items.shape}, scores "
            f"{values.shape}. Of some users only, pass their rows, interactions[users]."
        )
    is_right = (items >= NO_ITEM) & (items < n_items)
    if items.dtype.kind == "f":  # of a frame in which some were missing
        is_right &= items == np.floor(items)
    if not is_right.all():
        raise ValueError(
            f"recommended must hold column numbers of interactions, 0 to {n_items - 1}, or -1 for "
            f"no recommendation; got {items[~is_right][0]}. Ids go into from_ranked_lists, and "
            "a score for each item into evaluate(interactions.toarray(), scores, metrics)."
        )
    given = items != NO_ITEM
    if scores is not None:
        if values.dtype.kind == "f":  # without an item, a score may be missing
            values = np.where(given, values, values.dtype.type(-np.inf))
        check_range(values, scores, "scores")
        values = values.astype(np.result_type(values, np.float32), copy=False)
        order = np.argsort(-values, axis=1, kind="stable")  # an item counts with its best score
        items, values, given = (np.take_along_axis(x, order, 1) for x in (items, values, given))
    users = np.repeat(np.arange(n_users), given.sum(axis=1))
    return Table("recommended", users, items[given].astype(np.int64), values[given])
