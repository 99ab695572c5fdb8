"""Ranking metrics over Dask DataFrames.

Dask's shuffle brings the rows of each query together; every partition becomes one small
`RankingAccumulator`, and these are merged. As usual in Dask, a partition has to fit into the memory
of a worker.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING, Any, overload

from ._typing import Library
from ._validation import check_count
from .metrics.evaluate import Metrics
from .streaming import RankingAccumulator
from .streaming.column_names import ColumnNames, refuse_segments
from .streaming.runs import ScoresBySegment, scores_of
from .streaming.state import State

if TYPE_CHECKING:
    from dask.dataframe import DataFrame

# types of one family, in which equal ids may have different hash values
_FAMILIES = {**dict.fromkeys("biuf", "number"), "m": "duration", "M": "date"}

__all__ = ["accumulate", "evaluate", "query_scores"]


@overload
def evaluate(
    df: DataFrame, metrics: Metrics, *, by: None = None, **options: Any
) -> dict[str, float]: ...
@overload
def evaluate(
    df: DataFrame, metrics: Metrics, *, by: str | Sequence[str], **options: Any
) -> ScoresBySegment: ...
def evaluate(
    df: DataFrame,
    metrics: Metrics,
    *,
    label: str = "label",
    score: str = "score",
    group: str | Sequence[str] = "qid",
    weight: str | None = None,
    like: Library | None = None,
    by: str | Sequence[str] | None = None,
    n_partitions: int | None = None,
    **options: Any,
) -> dict[str, float] | ScoresBySegment:
    """Compute ranking metrics over the queries of a Dask DataFrame.

    Parameters
    ----------
    df : dask.dataframe.DataFrame
        One row per document, in any order and partitioning.
    metrics : str, callable or iterable of them
        As in `sklearn_rankscore.evaluate`; functions may be defined in a notebook.
    label, score : str
        Names of the columns of relevance and score.
    group : str or list of str
        Name of the column of query ids, or of several columns that together identify a query.
    weight : str, default=None
        Name of the column of query weights, constant within each query.
    like : str, default=None
        Library whose conventions to use, as in `sklearn_rankscore.evaluate`.
    by : str or list of str, default=None
        Names of columns that define segments, constant within each query: strings, or at most ten
        distinct numbers.
    n_partitions : int, default=None
        Number of partitions to shuffle into; None uses as many as `df` has.
    **options
        Options of the metrics; `average` is ``"macro"`` or ``"micro"``.

    Returns
    -------
    dict of str to float, or dict of Segment to dict of str to float
        The value of each metric under its name, equal to that of `sklearn_rankscore.evaluate`; with
        `by`, such a dict for ``("", "all queries")`` and for each ``(column, value)``.

    Raises
    ------
    ValueError
        For a missing column or missing values, and for any input that `sklearn_rankscore.evaluate`
        refuses.

    See Also
    --------
    accumulate : Also returns standard errors and numbers of queries.
    query_scores : The value of every query.

    Notes
    -----
    A shuffle does not preserve the order of the rows, so that ``ties="stable"`` and ``"reversed"``
    rank tied documents in the order that results from it.

    Dask converts columns of objects to text, unless its option ``dataframe.convert-string`` is off,
    and its shuffle tells apart objects of different types. In such a column, query ids such as 1
    and 1.0, which are equal in memory, may be two queries: convert them to one type before.

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> import pandas as pd
    >>> from sklearn_rankscore import dask
    >>> columns = {"qid": [1, 2, 1, 2, 1], "label": [2, 0, 0, 1, 1], "score": [3, 9, 2, 2, 1]}
    >>> df = dd.from_pandas(pd.DataFrame(columns), npartitions=2)
    >>> dask.evaluate(df, ["mrr", "precision@2"])
    {'mrr': 0.75, 'precision@2': 0.5}
    """
    empty = RankingAccumulator(metrics, like=like, by=by, **options)
    columns = ColumnNames(label, score, group, weight, empty.by)
    return scores_of(_accumulate(df, empty, columns, n_partitions), by)


def accumulate(df: DataFrame, metrics: Metrics, **options: Any) -> RankingAccumulator:
    """Add all queries of a Dask DataFrame to one accumulator.

    Parameters
    ----------
    df, metrics, **options
        As in `evaluate`, with the same keyword arguments.

    Returns
    -------
    RankingAccumulator
        Its method `result` returns means, standard errors and numbers of queries, and with `by`,
        `by_segment` returns those of each segment. It can be merged with other accumulators, for
        example of another day.

    Raises
    ------
    ValueError
        As in `evaluate`.
    """
    columns, n_partitions = ColumnNames.pop_from(options), options.pop("n_partitions", None)
    empty = RankingAccumulator(metrics, **options)
    return _accumulate(df, empty, replace(columns, by=empty.by), n_partitions)


def query_scores(df: DataFrame, metrics: Metrics, **options: Any) -> DataFrame:
    """Compute the value of every query of a Dask DataFrame, as a Dask DataFrame.

    Parameters
    ----------
    df, metrics, **options
        As in `evaluate`, with the same keyword arguments.

    Returns
    -------
    dask.dataframe.DataFrame
        One row per query: its id, then a column of floats for each metric, under its name. It is
        lazy. A query for which a metric is undefined has the value `replace_undefined_by`, which
        may be NaN.

    Raises
    ------
    ValueError
        For a missing column. Invalid rows raise an error when the values are computed.
    """
    columns, n_partitions = ColumnNames.pop_from(options), options.pop("n_partitions", None)
    empty = RankingAccumulator(metrics, per_query=True, **options)
    columns.check_not_among(empty.names)
    refuse_segments(empty.by)
    partitions = _partition_by_query(df, columns, n_partitions)
    meta = partitions._meta[columns.ids].assign(**dict.fromkeys(empty.names, 0.0))
    values: DataFrame = partitions.map_partitions(_query_values, empty, columns, meta=meta)
    return values


def _accumulate(
    df: DataFrame, empty: RankingAccumulator, columns: ColumnNames, n_partitions: int | None
) -> RankingAccumulator:
    partitions = _partition_by_query(df, columns, n_partitions).to_delayed()
    from dask.base import compute
    from dask.delayed import delayed

    states = compute(*(delayed(_state_of)(part, empty, columns) for part in partitions))  # type: ignore[no-untyped-call]
    empty._state = reduce(State.merged, states, empty._state)
    return empty


def _partition_by_query(df: Any, columns: ColumnNames, n_partitions: int | None) -> Any:
    """Partitions of complete queries."""
    if not hasattr(df, "map_partitions"):
        raise TypeError(
            f"df must be a Dask DataFrame; got {type(df).__name__}. Create one with "
            "dask.dataframe.from_pandas or read_parquet, or use sklearn_rankscore.evaluate."
        )
    index = df.index.name
    if index in columns.distinct and index not in df.columns:
        raise ValueError(f"{index!r} is the index of the DataFrame: pass df.reset_index().")
    columns.check(df.columns, "the DataFrame")
    if n_partitions is not None:
        check_count("n_partitions", n_partitions, 1)
    rows = df[columns.distinct]
    typed = rows.map_partitions(_with_types, rows._meta[columns.ids].dtypes, meta=rows._meta)
    return typed.shuffle(on=columns.ids, npartitions=n_partitions)


def _with_types(part: Any, types: Any) -> Any:
    """A partition whose ids have the types of the DataFrame.

    The shuffle divides rows by hash values, which differ for equal ids of two types.
    """
    for name, kind in types.items():
        ids = part[name]
        if any(isinstance(value, list) for value in ids[:1]):
            raise TypeError(
                f"query ids must be hashable; column {name!r} holds lists. Convert them to tuples, "
                f"for example by df[{name!r}].map(tuple), or to text."
            )
        families = {_FAMILIES.get(one.kind) for one in (ids.dtype, kind)}
        if ids.dtype == kind or None in families or ids.isna().any():
            continue
        converted = _exactly(ids, kind) if len(families) == 1 else None
        if converted is None:
            raise ValueError(
                f"column {name!r} of a partition has the type {ids.dtype} and cannot be converted "
                f"exactly to {kind}, that of the DataFrame. Convert it to one type that holds all "
                "ids, before the partitions are put together, for example by astype(str)."
            )
        part = part.assign(**{name: converted})
    return part


def _exactly(ids: Any, kind: Any) -> Any:
    """A column of ids as another type, or None if it does not hold them."""
    try:
        converted = ids.astype(kind)
        return converted if (converted.astype(ids.dtype) == ids).all() else None
    except (TypeError, ValueError):
        return None


def _add_partition(
    part: Any, empty: RankingAccumulator, columns: ColumnNames
) -> RankingAccumulator:
    """An accumulator of the queries of one partition, a pandas DataFrame."""
    accumulator = copy(empty)
    if not len(part):
        return accumulator
    columns.check_missing(part[columns.distinct].isna().sum().to_dict())
    label, score = part[columns.label], part[columns.score]
    weight = None if columns.weight is None else part[columns.weight]
    segments = part[list(columns.by)] if columns.by else None
    ids = _ids(part, columns)
    return accumulator.update(label, score, ids, sample_weight=weight, segments=segments)


def _ids(part: Any, columns: ColumnNames) -> Any:
    # the shuffle turns tuples into lists
    ids = [
        list(map(_as_tuple, part[name])) if part[name].dtype == object else part[name]
        for name in columns.ids
    ]
    return ids[0] if isinstance(columns.group, str) else list(zip(*ids, strict=True))


def _as_tuple(value: Any) -> Any:
    return tuple(map(_as_tuple, value)) if isinstance(value, list) else value


def _state_of(part: Any, empty: RankingAccumulator, columns: ColumnNames) -> State:
    """The numbers of a partition, without functions: one of a notebook cannot be sent back."""
    return _add_partition(part, empty, columns)._state


def _query_values(part: Any, empty: RankingAccumulator, columns: ColumnNames) -> Any:
    import pandas as pd

    taken = _add_partition(part, empty, columns).take_values()
    if taken is None:
        return part[columns.ids].assign(**dict.fromkeys(empty.names, 0.0))
    ids, values = taken
    series = {
        name: pd.Series(column, name=name).astype(part[name].dtype)
        for name, column in columns.id_columns(ids).items()
    }
    return pd.DataFrame({**series, **values})
