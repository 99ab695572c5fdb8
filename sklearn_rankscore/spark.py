"""Ranking metrics over Spark DataFrames.

Queries are brought together by Spark's own shuffle and sort, and every partition streams through a
`RankingAccumulator` in Arrow batches: no partition has to fit into memory, only the largest query.
What comes back to the driver is one small accumulator a partition.

>>> from sklearn_rankscore import spark  # needs the extra "spark"
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from functools import reduce
from typing import Any

from .streaming import RankingAccumulator
from .streaming.columns import BATCH_ROWS, Columns

__all__ = ["accumulate", "evaluate", "query_scores"]


def evaluate(
    df: Any,
    metrics: Any,
    *,
    label: str = "label",
    score: str = "score",
    group: str = "qid",
    weight: str | None = None,
    like: str | None = None,
    n_partitions: int | None = None,
    batch_rows: int = BATCH_ROWS,
    **options: Any,
) -> dict[str, float]:
    """Compute ranking metrics over the queries of a Spark DataFrame.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        One row a document, in any order and partitioning.
    metrics : str, callable or iterable of them
        What `sklearn_rankscore.evaluate` takes; functions must be importable by the executors.
    label, score, group : str
        Names of the columns of relevance, score and query id.
    weight : str, default=None
        Name of the column of weights, constant within a query.
    like : str, default=None
        Take another library's conventions, as in `sklearn_rankscore.evaluate`.
    n_partitions : int, default=None
        Number of partitions to shuffle into; None leaves it to Spark
        (``spark.sql.shuffle.partitions``).
    batch_rows : int, default=2097152
        Number of rows that an executor ranks at a time.
    **options
        Options of the metrics; `average` is ``"macro"`` or ``"micro"``.

    Returns
    -------
    dict of str to float
        The value of each metric under its name, as `sklearn_rankscore.evaluate` gives it in memory.

    Raises
    ------
    ValueError
        For a missing column or missing values, and for what `sklearn_rankscore.evaluate` refuses.

    See Also
    --------
    accumulate : Standard errors and numbers of queries too.
    query_scores : The value of every query.

    Notes
    -----
    Rows of a Spark DataFrame have no order, so ``ties="stable"`` and ``"reversed"`` rank equal
    scores in the order in which the shuffle brings them.

    Examples
    --------
    ::

        from sklearn_rankscore import spark

        scored = session.read.parquet("s3a://logs/scored")  # qid, label, score
        spark.evaluate(scored, ["ndcg@10", "map@10"])
    """
    return accumulate(
        df,
        metrics,
        label=label,
        score=score,
        group=group,
        weight=weight,
        like=like,
        n_partitions=n_partitions,
        batch_rows=batch_rows,
        **options,
    ).scores()


def accumulate(
    df: Any,
    metrics: Any,
    *,
    label: str = "label",
    score: str = "score",
    group: str = "qid",
    weight: str | None = None,
    like: str | None = None,
    n_partitions: int | None = None,
    batch_rows: int = BATCH_ROWS,
    **options: Any,
) -> RankingAccumulator:
    """Take all queries of a Spark DataFrame into one accumulator.

    Parameters
    ----------
    df, metrics, label, score, group, weight, like, n_partitions, batch_rows, **options
        As in `evaluate`.

    Returns
    -------
    RankingAccumulator
        Its ``result()`` has means, standard errors and numbers of queries; it can be merged with
        that of another day.

    Raises
    ------
    ValueError
        As `evaluate`.
    """
    empty = RankingAccumulator(metrics, like=like, **options)
    columns = Columns(label, score, group, weight)

    def partition(batches: Iterator[Any]) -> Iterator[Any]:
        yield _record(*_attempt(lambda: _collect(empty, columns, batches, batch_rows)))

    together = _together(df, columns, n_partitions)
    parts = together.mapInArrow(partition, "accumulator binary, error string").collect()
    for part in parts:
        if part["error"]:
            raise ValueError(part["error"])
    return reduce(RankingAccumulator.merge, (pickle.loads(p["accumulator"]) for p in parts), empty)


def query_scores(
    df: Any,
    metrics: Any,
    *,
    label: str = "label",
    score: str = "score",
    group: str = "qid",
    weight: str | None = None,
    like: str | None = None,
    n_partitions: int | None = None,
    batch_rows: int = BATCH_ROWS,
    **options: Any,
) -> Any:
    """Compute the value of every query of a Spark DataFrame, as a Spark DataFrame.

    Parameters
    ----------
    df, metrics, label, score, group, weight, like, n_partitions, batch_rows, **options
        As in `evaluate`.

    Returns
    -------
    pyspark.sql.DataFrame
        One row a query: its id, then a column of doubles for each metric, under its name. It is
        computed when an action asks for it. A query on which a metric is undefined has the value
        `replace_undefined_by`, which may be NaN.

    Raises
    ------
    ValueError
        For a missing column, and for what `sklearn_rankscore.evaluate` refuses about metrics. What
        is wrong with rows comes up as PySpark's PythonException when they are computed.
    """
    from pyspark.sql.types import DoubleType, StructField, StructType

    empty = RankingAccumulator(metrics, like=like, per_query=True, **options)
    columns = Columns(label, score, group, weight)
    columns.check(df.columns, "the DataFrame")

    def partition(batches: Iterator[Any]) -> Iterator[Any]:
        yield from _query_batches(empty, columns, batches, batch_rows)

    doubles = [StructField(name, DoubleType()) for name in empty.names]
    schema = StructType([df.schema[group], *doubles])
    return _together(df, columns, n_partitions).mapInArrow(partition, schema)


def _together(df: Any, columns: Columns, n_partitions: int | None) -> Any:
    """Partitions that hold whole queries, sorted; column names that need no quotes."""
    from pyspark.sql.functions import col

    columns.check(df.columns, "the DataFrame")
    quoted = ["`" + name.replace("`", "``") + "`" for name in columns.names]
    plain = [f"c{i}" for i in range(len(quoted))]
    renamed = df.select(*(col(old).alias(new) for old, new in zip(quoted, plain, strict=True)))
    group = plain[columns.names.index(columns.group)]
    wanted = () if n_partitions is None else (n_partitions,)
    return renamed.repartition(*wanted, group).sortWithinPartitions(group)


def _feed(
    accumulator: RankingAccumulator, columns: Columns, batches: Iterator[Any], batch_rows: int
) -> Iterator[Any]:
    """Take in a partition under the names of the DataFrame; yield each batch."""
    import pyarrow as pa

    named = (pa.RecordBatch.from_arrays(b.columns, columns.names) for b in batches)
    return columns.feed(accumulator, named, batch_rows)


def _collect(
    accumulator: RankingAccumulator, columns: Columns, batches: Iterator[Any], batch_rows: int
) -> RankingAccumulator:
    for _ in _feed(accumulator, columns, batches, batch_rows):
        pass
    return accumulator.close()


def _attempt(work: Callable[[], RankingAccumulator]) -> tuple[bytes | None, str | None]:
    """Pickled accumulator and no error, or the message of one: Spark would bury it in a trace."""
    try:
        return pickle.dumps(work()), None
    except (TypeError, ValueError) as error:
        return None, str(error)


def _record(accumulator: bytes | None, error: str | None) -> Any:
    import pyarrow as pa

    names = ["accumulator", "error"]
    return pa.record_batch(
        [pa.array([accumulator], pa.binary()), pa.array([error], pa.string())], names
    )


def _query_batches(
    accumulator: RankingAccumulator, columns: Columns, batches: Iterator[Any], batch_rows: int
) -> Iterator[Any]:
    """Values of queries as they become whole."""
    kind = None
    for table in _feed(accumulator, columns, batches, batch_rows):
        kind = table.schema.field(columns.group).type
        yield from _taken(accumulator, columns.group, kind)
    yield from _taken(accumulator.close(), columns.group, kind)


def _taken(accumulator: RankingAccumulator, group: str, kind: Any) -> Iterator[Any]:
    import pyarrow as pa

    taken = accumulator.take_values()
    if taken is not None:
        ids, values = taken
        yield pa.RecordBatch.from_pydict({group: pa.array(ids, kind), **values})
