"""Ranking metrics over Spark DataFrames.

Spark's shuffle and sort bring the rows of each query together, and every partition streams through
a `RankingAccumulator` in Arrow batches: no partition has to fit into memory, only the largest
query. Each partition returns a few numbers per metric to the driver. The workers need this package,
and the Python of the driver (``PYSPARK_PYTHON``).

>>> from sklearn_rankscore import spark  # needs the extra "spark"
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ._typing import Library
from .large import tables
from .large.accumulator import RankingAccumulator, StreamedScores
from .metrics.evaluate import Metrics

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

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
    """Compute ranking metrics over the queries of a Spark DataFrame.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
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
        Number of partitions to shuffle into; None uses Spark's default
        (``spark.sql.shuffle.partitions``).
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
    The rows of a Spark DataFrame have no order, so that ``ties="stable"`` and ``"reversed"`` rank
    tied documents in the order that results from the shuffle.

    Examples
    --------
    ::

        from sklearn_rankscore import spark

        scored = session.read.parquet("s3a://logs/scored")  # qid, label, score
        spark.evaluate(scored, ["ndcg@10", "map@10"])
    """
    options |= {"label": label, "score": score, "groups": groups, "weight": weight}
    options |= {"like": like, "by": by, "n_partitions": n_partitions}
    return StreamedScores(accumulate(df, metrics, **options))


def accumulate(df: DataFrame, metrics: Metrics, **options: Any) -> RankingAccumulator:
    """Add all queries of a Spark DataFrame to one accumulator.

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
    n_partitions = options.pop("n_partitions", None)
    accumulator, columns = tables.read_options(metrics, **options)
    total = accumulator._empty()

    def counted(batches: Iterator[Any]) -> Iterator[Any]:
        part = tables.add_sorted(total._empty(), _tables(batches, columns), columns)
        # without functions: one of a notebook cannot be sent back
        yield pa.record_batch([[pickle.dumps(part._state)]], ["state"])

    partitions = _partition_by_query(df, columns, n_partitions)
    for row in partitions.mapInArrow(counted, "state binary").collect():
        total._state += pickle.loads(row["state"])
    return accumulator.merge(total)


def query_scores(df: DataFrame, metrics: Metrics, **options: Any) -> DataFrame:
    """Compute the value of every query of a Spark DataFrame, as a Spark DataFrame.

    Parameters
    ----------
    df, metrics, **options
        As in `evaluate`, with the same keyword arguments.

    Returns
    -------
    pyspark.sql.DataFrame
        One row per query: its id, its columns of `by`, then a column of doubles for each metric,
        under its name after that of one of several systems. It is evaluated lazily. A query
        for which a metric is undefined has the value `replace_undefined_by`, which may be NaN.

    Raises
    ------
    ValueError
        For a missing column, and for metrics that `sklearn_rankscore.evaluate` refuses. Invalid
        rows raise a PythonException of PySpark when the values are computed.
    """
    from pyspark.sql.types import DoubleType, StructField, StructType

    n_partitions = options.pop("n_partitions", None)
    empty, columns = tables.read_options(metrics, per_query=True, **options)

    def values(batches: Iterator[Any]) -> Iterator[Any]:
        for table in tables.query_values(empty, _tables(batches, columns), columns):
            yield from table.to_batches()

    names = tables.query_columns(columns, empty.names)
    doubles = [StructField(name, DoubleType()) for name in names]
    of_queries = StructType([*(df.schema[name] for name in columns.of_queries), *doubles])
    return _partition_by_query(df, columns, n_partitions).mapInArrow(values, of_queries)


def _partition_by_query(df: Any, columns: tables.Columns, n_partitions: int | None) -> DataFrame:
    """Sorted partitions of whole queries, with column names that need no quotes."""
    columns.check(df.columns, "the DataFrame")
    # by position, because Spark ignores the case of names
    plain = {name: f"c{i}" for i, name in enumerate(df.columns)}
    all_columns: Any = df.toDF(*plain.values())
    renamed = all_columns.select(*(plain[name] for name in columns.distinct))
    ids = [plain[name] for name in columns.ids]
    number = [] if n_partitions is None else [n_partitions]
    sorted_rows: DataFrame = renamed.repartition(*number, *ids).sortWithinPartitions(*ids)
    return sorted_rows


def _tables(batches: Iterable[Any], columns: tables.Columns) -> Iterator[Any]:
    """The rows of a partition, with the column names of the DataFrame."""
    for batch in batches:
        yield tables.plain_table(batch.rename_columns(columns.distinct), columns, "a partition")
