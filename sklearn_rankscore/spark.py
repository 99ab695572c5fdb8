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
from .large.accumulator import RankingAccumulator, StreamedScores
from .large.tables import Reader, read_options
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
        For a missing column, and for metrics and options that `sklearn_rankscore.evaluate` refuses.
        Invalid rows, as those with missing values, raise a PythonException of PySpark.

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
    total, reader, partitions = _partition_by_query(df, metrics, **options)

    def states(batches: Iterator[Any]) -> Iterator[Any]:
        # without functions: one of a notebook cannot be sent back
        yield pa.record_batch([[pickle.dumps(reader.count(_tables(batches, reader)))]], ["state"])

    rows = partitions.mapInArrow(states, "state binary").collect()
    return total._collect(pickle.loads(row["state"]) for row in rows)


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

    _, reader, partitions = _partition_by_query(df, metrics, per_query=True, **options)

    def values(batches: Iterator[Any]) -> Iterator[Any]:
        for table in reader.query_values(_tables(batches, reader)):
            yield from table.to_batches()

    doubles = [StructField(name, DoubleType()) for name in reader.values]
    of_queries = StructType([*(df.schema[name] for name in reader.of_queries), *doubles])
    return partitions.mapInArrow(values, of_queries)


def _partition_by_query(
    df: Any, metrics: Any, *, n_partitions: int | None = None, **options: Any
) -> tuple[RankingAccumulator, Reader, DataFrame]:
    """Sorted partitions of whole queries, with column names that need no quotes."""
    total, reader = read_options(metrics, **options)
    reader.check(df.columns, "the DataFrame")
    # by position, because Spark ignores the case of names
    plain = {name: f"c{i}" for i, name in enumerate(df.columns)}
    renamed = df.toDF(*plain.values()).select(*(plain[name] for name in reader.columns))
    ids = [plain[name] for name in reader.ids]
    number = [] if n_partitions is None else [n_partitions]
    return total, reader, renamed.repartition(*number, *ids).sortWithinPartitions(*ids)


def _tables(batches: Iterable[Any], reader: Reader) -> Iterator[Any]:
    """The rows of a partition, with the column names of the DataFrame."""
    for batch in batches:
        yield reader.plain(batch.rename_columns(reader.columns), "a partition")
