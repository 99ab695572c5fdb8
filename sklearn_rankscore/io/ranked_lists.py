"""Lists of items by rank."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, TypeAlias, get_args, overload

from numpy.typing import ArrayLike

from .._typing import UnjudgedDocuments
from .._validation import check_choice
from .align import align_queries
from .entries import as_collections
from .items import item_lists
from .join import MetricArguments, SystemArguments, join
from .nested import ToDict, as_nested

# one entry per query, by position or by query id
QueryLists: TypeAlias = Sequence[Any] | Mapping[Hashable, Any] | ArrayLike
# the predictions of one of several systems
NamedSystem: TypeAlias = Mapping[Any, Sequence[Any]] | Mapping[Any, Mapping[Any, float]] | ToDict


@overload
def from_ranked_lists(
    actual: QueryLists | ToDict,
    predicted: Mapping[str, NamedSystem],
    *,
    unjudged: UnjudgedDocuments = ...,
) -> SystemArguments: ...
@overload
def from_ranked_lists(
    actual: QueryLists | ToDict,
    predicted: QueryLists | ToDict,
    *,
    unjudged: UnjudgedDocuments = ...,
) -> MetricArguments: ...
def from_ranked_lists(
    actual: Any, predicted: Any, *, unjudged: UnjudgedDocuments = "irrelevant"
) -> Any:
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
    ids, relevant, systems = align_queries(as_nested(actual), as_nested(predicted))
    relevance, predictions, items = item_lists(as_collections(relevant), systems)
    return join(ids, relevance, predictions, unjudged, items)
