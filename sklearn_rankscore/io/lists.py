"""Lists of items or of labels by rank, and item numbers, as arguments of a metric."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Set
from itertools import chain
from typing import Any, NamedTuple, get_args

import numpy as np
from scipy.sparse import csr_array

from .._columns import as_column, as_numbers, check_in_memory, check_range, column_names, names_ids
from .._typing import Array, UnjudgedDocuments
from .._validation import check_choice, check_flag, check_system_names, counted, shown
from ..query_ids.read import as_ids, as_objects, is_missing, python_values
from .join import ALONE, Arguments, labelled
from .table import CodedRows, are_distinct, are_in, in_common, in_order

NO_ITEM = -1


def from_ranked_lists(
    actual: Any,
    predicted: Any,
    *,
    unjudged: UnjudgedDocuments = "irrelevant",
    exclude: Any = None,
    ignore_identical_ids: bool = False,
) -> Arguments:
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
        If ten or more items have a relevance, and none of ten or more that a system retrieved.

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
    systems = {ALONE: predicted}
    if _holds_systems(actual, predicted):
        check_system_names("predicted", predicted)
        systems = dict(predicted)
    truth = _by_query(actual, "actual")
    of_names = {"actual": [of if _is_collection(of) else (of,) for of in truth.entries.values()]}
    for system, of_system in systems.items():
        name = f"predicted {system!r}" if system else "predicted"
        _refuse_items_and_scores(of_system, name)
        of_names[name] = _aligned(truth, _by_query(of_system, name), unordered=(Set,))
    if exclude is not None:
        of_names["exclude"] = _aligned(truth, _by_query(exclude, "exclude"))
    columns = [(_items(truth, lists, name), None) for name, lists in of_names.items()]
    items, codes = in_common(columns, "the items")
    judged, *results = map(_rows, of_names.values(), codes, of_names)
    judged = _numbered(judged, len(items))
    judged = judged.where(judged.document < len(items))
    return _labelled(
        as_ids(list(truth.entries))[0], items, judged, dict(zip(systems, results, strict=False)),
        unjudged=unjudged, exclude=None if exclude is None else results[-1],
        own_document=(lambda query: query) if ignore_identical_ids else None,
    )  # fmt: skip


def _holds_systems(actual: Any, predicted: Any) -> bool:
    """Whether `predicted` is a dict of systems by name, and not of queries by id."""
    if not isinstance(predicted, Mapping):
        return False
    if not isinstance(actual, Mapping):
        index: Any = getattr(actual, "index", None)  # of a Series; a method of a list
        return not hasattr(index, "is_unique") or not predicted.keys() <= set(index)
    nested = [entry for entry in predicted.values() if isinstance(entry, Mapping)]
    return any(_is_collection(next(iter(entry.values()), None)) for entry in nested)


class _Lists(NamedTuple):
    """The entries by query id, which are the keys of a dict, an index, or positions."""

    name: str
    entries: dict[Any, Any]
    ids: str


def _by_query(queries: Any, name: str, *, with_missing: bool = False) -> _Lists:
    """The entries of queries in a dict, sequence, array, Series or DataFrame, arrays as lists.

    Missing cells of a DataFrame are no items, but have a rank among labels.
    """
    check_in_memory(queries, name)
    if isinstance(queries, Mapping):
        return _Lists(name, {query: _as_list(of) for query, of in queries.items()}, "keys")
    if columns := column_names(queries):
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
    index: Any = getattr(queries, "index", None)
    has_index = hasattr(index, "is_unique")
    ids = index.to_list() if has_index else range(len(entries))
    by_id = dict(zip(ids, map(_as_list, entries), strict=True))
    if len(by_id) < len(entries):
        raise ValueError(f"{name} has an index with duplicates; each query needs one entry.")
    return _Lists(name, by_id, "index" if has_index else "positions")


def _as_list(values: Any) -> Any:
    """An array of any library as a list; anything else unchanged."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "mM" and values.ndim == 1:
        return python_values(values)  # tolist makes integers of nanoseconds
    if not isinstance(values, list | tuple | Mapping) and getattr(values, "ndim", 1) != 0:
        for way in ("as_py", "to_pylist", "to_list", "tolist"):
            if hasattr(values, way):
                return getattr(values, way)()
    return values


def _is_collection(entry: Any) -> bool:
    is_one = isinstance(entry, str | bytes) or getattr(entry, "ndim", 1) == 0
    return hasattr(entry, "__len__") and not is_one


def _aligned(
    truth: _Lists, other: _Lists, *, unordered: tuple[type, ...] | None = None
) -> list[Any]:
    """The list of each query of `truth`, which are of no type that is unordered; () if it has none.

    By default they may be, and those of other queries do not matter.
    """
    known, entries = truth.entries, other.entries
    if not known:
        raise ValueError(f"{truth.name} is empty; at least one query is needed.")
    kinds = {truth.ids, other.ids}
    if kinds == {"keys", "positions"} or ("keys" not in kinds and len(entries) != len(known)):
        raise ValueError(
            f"{truth.name} has {len(known)} queries, {other.name} has {len(entries)}; both must be "
            "dicts by query id, or have one entry for each query in the same order, an empty list "
            "for one without items. A Series becomes a dict by series.to_dict()."
        )
    if "positions" in kinds:
        entries = dict(zip(known, entries.values(), strict=True))
    if unordered is None:
        of_no_query = known.keys().isdisjoint(entries)
        if of_no_query and not {*map(str, known)}.isdisjoint(map(str, entries)):
            raise TypeError(
                f"{other.name} has query ids such as {next(iter(entries))!r}, where {truth.name} "
                f"has {next(iter(known))!r}. Convert all of them to one type."
            )
        return [entries.get(query, ()) for query in known]
    if unknown := [query for query in entries if query not in known]:
        raise ValueError(
            f"`{truth.name}` lacks {counted(len(unknown), 'query')} of `{other.name}`; the first "
            f"is {shown(unknown[0])}, where `{truth.name}` has ids such as "
            f"{shown(next(iter(known)))}. Remove them from `{other.name}`, or give them an empty "
            f"list in `{truth.name}`, with which they count 0 in most metrics (option "
            "replace_undefined_by)."
        )
    for query, entry in entries.items():
        if not _is_collection(entry) or isinstance(entry, unordered):
            raise TypeError(
                f"{other.name} must hold a list for each query, best first, an empty one if it has "
                f"none; that of query {shown(query)} is the {type(entry).__name__} {entry!r:.60}."
            )
    return [entries.get(query, ()) for query in known]


def _items(truth: _Lists, lists: list[Any], name: str) -> Array:
    """All items of the lists of a system, none of them missing."""
    items = list(chain.from_iterable(lists))
    if not set(map(type, items)) <= {str, bytes, int, bool}:
        for query, entry in zip(truth.entries, lists, strict=True):
            for item in entry:
                _check_item(item, f"query {shown(query)} of {name}")
    return as_objects(items)


def _check_item(item: Any, where: str) -> None:
    is_no_id = not isinstance(item, Hashable) or isinstance(item, Iterator)
    is_no_id = is_no_id or hasattr(item, "detach") or hasattr(item, "as_py")  # arrays of one value
    if is_no_id or is_missing(item):
        raise (TypeError if is_no_id else ValueError)(
            f"items must be hashable ids, such as strings, none of them missing; {where} holds the "
            f"{type(item).__name__} {item!r:.100}. Pairs of an item and its score become a dict, "
            "{query: dict(pairs)}."
        )


def _rows(lists: list[Any], documents: Array, name: str) -> CodedRows:
    """One row per query and item, with the values of dicts, 1 in `actual`, or scores by rank."""
    sizes = np.array(list(map(len, lists)), dtype=np.intp)
    query = np.repeat(np.arange(len(lists)), sizes)
    by_rank = np.repeat(np.cumsum(sizes) - sizes, sizes) - np.arange(len(query))
    values = np.ones(len(query), dtype=np.int64) if name == "actual" else by_rank.astype(float)
    if len(query) and any(isinstance(of, Mapping) for of in lists):
        parts = np.split(values, np.cumsum(sizes)[:-1])
        given = (
            of.values() if isinstance(of, Mapping) else part
            for of, part in zip(lists, parts, strict=True)
        )
        values = as_numbers(list(chain.from_iterable(given)), name)
        values = values if name == "actual" else values.astype(np.float64)
    return CodedRows(query, documents, values)


def _numbered(rows: CodedRows, n_items: int) -> CodedRows:
    """Rows in which each repeated document of a query is another one, by `n_items` further on."""
    pairs = rows.query * n_items + rows.document
    if are_distinct(pairs):
        return rows
    row, is_first = in_order(pairs)
    nth, at = np.empty_like(row), np.arange(len(row))
    nth[row] = at - np.maximum.accumulate(at * is_first)
    return rows._replace(document=rows.document + n_items * nth)


def _queries_and_documents(systems: Mapping[str, CodedRows]) -> tuple[Array, Array]:
    """The distinct pairs of a query and a document of all systems."""
    n_items = 1 + max(int(rows.document.max(initial=0)) for rows in systems.values())
    every = np.concatenate([rows.query * n_items + rows.document for rows in systems.values()])
    return np.divmod(np.unique(every), n_items)


def _labelled(
    ids: Array, items: Array, judged: CodedRows, systems: Mapping[str, CodedRows], **options: Any
) -> Arguments:
    """`labelled` of rows that may have an item again, which then is another, irrelevant one."""
    n_items = len(items)
    systems = {name: _numbered(rows, n_items) for name, rows in systems.items()}
    copies = {name: rows.where(rows.document >= n_items) for name, rows in systems.items()}
    query, document = _queries_and_documents(copies)
    if len(query):
        of_judged = judged.query * n_items + judged.document
        is_known = are_in(query * n_items + document % n_items, of_judged)
        judged = judged.and_more(query[is_known], document[is_known], np.zeros(is_known.sum()))
    return labelled(ids, items, judged, systems, **options)


def from_relevance_lists(relevances: Any) -> Arguments:
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
    lists = [
        _by_query(of, f"relevances[{system!r}]" if system else "relevances", with_missing=True)
        for system, of in systems.items()
    ]
    truth = lists[0]
    if "positions" not in {of.ids for of in lists}:
        truth = truth._replace(entries=dict.fromkeys(chain.from_iterable(of[1] for of in lists)))
    results = []
    for of_system in lists:
        name, entries = of_system.name, _aligned(truth, of_system, unordered=(Set, Mapping))
        values = list(chain.from_iterable(entries))
        labels = as_numbers(values, name, allow_nan=True) if values else np.zeros(0, dtype=int)
        if labels.ndim != 1:
            raise ValueError(f"{name} must hold one list of numbers per query; got nested lists.")
        results.append(_rows(entries, labels, name))
    # a document has no id: the n-th of a query with a label is the same one in all systems
    grades = np.unique(np.concatenate([rows.document for rows in results]))
    by_system = {}
    for system, rows in zip(systems, results, strict=True):
        grade = np.searchsorted(grades, rows.document)
        by_system[system] = _numbered(rows._replace(document=grade), len(grades))
    query, document = _queries_and_documents(by_system)
    judged = CodedRows(
        query, document, grades[document % len(grades)] if len(query) else np.zeros(0)
    )
    items = np.arange(1 + document.max(initial=0))
    return labelled(as_ids(list(truth.entries))[0], items, judged, by_system, unjudged="nan")


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
) -> Arguments:
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
        If the item numbers are no numbers.

    Warns
    -----
    UserWarning
        If ten or more items have a relevance, and none of ten or more that a system retrieved.

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
    results = {name: _recommended(of, of_systems[name], *shape) for name, of in systems.items()}
    ids, items = map(np.arange, shape)
    return _labelled(ids, items, judged, results, unjudged=unjudged, exclude=seen)


def _refuse_items_and_scores(predicted: Any, name: str) -> None:
    if isinstance(predicted, tuple) and [getattr(of, "ndim", 0) for of in predicted] == [2, 2]:
        raise TypeError(
            f"{name} is a tuple of item numbers and scores, as returned by implicit. With a matrix "
            "of interactions, use from_recommendations(interactions, *model.recommend(...)), with "
            "several systems, as two dicts."
        )


def _stored(values: Any, name: str, *, with_zeros: bool) -> tuple[tuple[int, int], CodedRows]:
    """The shape and the entries of a matrix, which is not changed."""
    given = values if hasattr(values, "tocsr") else as_numbers(values, name)
    if given.dtype.kind in "biu" and given.dtype.itemsize < 8:  # sums of a log's events overflow
        given = given.astype(np.int64)
    matrix = csr_array(given, copy=True)
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
    users = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    return matrix.shape, CodedRows(users, matrix.indices, matrix.data)


def _recommended(recommended: Any, scores: Any, n_users: int, n_items: int) -> CodedRows:
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
    is_right = (items >= NO_ITEM) & (items < n_items) & (items.dtype.kind != "b")
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
    return CodedRows(users, items[given].astype(np.int64), values[given])
