"""Ranking metrics over Dask DataFrames.

Dask's shuffle brings the rows of each query together; every partition becomes one small
`RankingAccumulator`, and these are merged. As usual in Dask, a partition has to fit into the memory
of a worker.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ._typing import Library
from .large.accumulator import RankingAccumulator, State, StreamedScores
from .large.tables import Reader, read_options
from .metrics.evaluate import Metrics

if TYPE_CHECKING:
    from dask.dataframe import DataFrame

__all__ = ["accumulate", "evaluate", "query_scores"]


def evaluate(
    df: DataFrame,
    metrics: Metrics,
    *,
    label: str = "label",
    score: str | Mapping[str, str] = "score",
    groups: str | Sequence[str] = "qid",
    weight: str | None = None,
    like: Library | None = None,
    by: str | Sequence[str] | None = None,
    n_partitions: int | None = None,
    **options: Any,
) -> StreamedScores:
    """Compute ranking metrics over the queries of a Dask DataFrame.

    Parameters
    ----------
    df : dask.dataframe.DataFrame
        One row per document, in any order and partitioning.
    metrics : str, callable or iterable of them
        As in `sklearn_rankscore.evaluate`; functions may be defined in a notebook.
    label : str
        Name of the column of relevance.
    score : str or dict of str to str
        Name of the column of scores; for several systems, a dict from their names to the columns.
    groups : str or list of str
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
    StreamedScores
        As from `sklearn_rankscore.evaluate_parquet`: the value of each metric under its name, equal
        to that of `sklearn_rankscore.evaluate`, with standard errors and differences.

    Raises
    ------
    ValueError
        For a missing column or missing values, and for any input that `sklearn_rankscore.evaluate`
        refuses.

    See Also
    --------
    accumulate : The same as an accumulator, which can be merged.
    query_scores : The value of every query.

    Notes
    -----
    A shuffle does not preserve the order of the rows, so that ``ties="stable"`` and ``"reversed"``
    rank tied documents in the order that results from it.

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
    options |= {"label": label, "score": score, "groups": groups, "weight": weight}
    options |= {"like": like, "by": by, "n_partitions": n_partitions}
    return StreamedScores(accumulate(df, metrics, **options))


def accumulate(df: DataFrame, metrics: Metrics, **options: Any) -> RankingAccumulator:
    """Add all queries of a Dask DataFrame to one accumulator.

    Parameters
    ----------
    df, metrics, **options
        As in `evaluate`, with the same keyword arguments.

    Returns
    -------
    RankingAccumulator
        It can be merged with other accumulators, for example of another day.

    Raises
    ------
    ValueError
        As in `evaluate`.
    """
    from dask.base import compute
    from dask.delayed import delayed

    total, reader, partitions = _partition_by_query(df, metrics, **options)
    tasks = [delayed(_count)(part, reader) for part in partitions.to_delayed()]
    return total._collect(compute(*tasks))  # type: ignore[no-untyped-call]


def query_scores(df: DataFrame, metrics: Metrics, **options: Any) -> DataFrame:
    """Compute the value of every query of a Dask DataFrame, as a Dask DataFrame.

    Parameters
    ----------
    df, metrics, **options
        As in `evaluate`, with the same keyword arguments.

    Returns
    -------
    dask.dataframe.DataFrame
        One row per query: its id, its columns of `by`, then a column of floats for each metric,
        under its name after that of one of several systems. It is lazy. A query for which
        a metric is undefined has the value `replace_undefined_by`, which may be NaN.

    Raises
    ------
    ValueError
        For a missing column. Invalid rows raise an error when the values are computed.
    """
    _, reader, partitions = _partition_by_query(df, metrics, per_query=True, **options)
    meta = partitions._meta[reader.of_queries].assign(**dict.fromkeys(reader.values, 0.0))
    values: DataFrame = partitions.map_partitions(_query_values, reader, meta, meta=meta)
    return values


def _partition_by_query(
    df: Any, metrics: Any, *, n_partitions: int | None = None, **options: Any
) -> tuple[RankingAccumulator, Reader, Any]:
    """Partitions of whole queries."""
    total, reader = read_options(metrics, **options)
    reader.check(df.columns, "the DataFrame")
    rows = df[reader.columns]
    checked = rows.map_partitions(_check_types, rows._meta[reader.ids], meta=rows._meta)
    return total, reader, checked.shuffle(on=reader.ids, npartitions=n_partitions)


def _check_types(part: Any, ids: Any) -> Any:
    """Refuse ids of other types than the DataFrame's, whose hash values the shuffle compares."""
    from dask.dataframe.utils import check_meta

    check_meta(part[[*ids]], ids, numeric_equal=False)  # type: ignore[no-untyped-call]
    return part


def _count(part: Any, reader: Reader) -> State:
    """What is counted in a partition, without functions: one of a notebook cannot be sent back."""
    return reader.count(_tables(part, reader))


def _query_values(part: Any, reader: Reader, meta: Any) -> Any:
    values = [*reader.query_values(_tables(part, reader))]
    return pa.concat_tables(values).to_pandas().astype(meta.dtypes) if values else meta


def _tables(part: Any, reader: Reader) -> list[Any]:
    """A partition, which is a pandas DataFrame, as a table sorted by query, if it has rows."""
    rows = pa.Table.from_pandas(part[reader.columns], preserve_index=False).combine_chunks()
    order = [(name, "ascending") for name in reader.ids]
    return [reader.plain(batch, "a partition").sort_by(order) for batch in rows.to_batches()]
