"""Ranking metrics over Spark DataFrames.

Spark's shuffle and sort bring the rows of each query together, and every partition streams through
a `RankingAccumulator` in Arrow batches: no partition has to fit into memory, only the largest
query. Each partition returns a few numbers per metric to the driver.

>>> from sklearn_rankscore import spark  # needs the extra "spark"
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING, Any, overload

from ._typing import Library
from ._validation import check_count
from .metrics.evaluate import Metrics
from .streaming import RankingAccumulator
from .streaming.arrow import BATCH_ROWS, add_table, as_tables
from .streaming.column_names import ColumnNames, refuse_segments
from .streaming.runs import ScoresBySegment, scores_of
from .streaming.state import State

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

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
    batch_rows: int = BATCH_ROWS,
    **options: Any,
) -> dict[str, float] | ScoresBySegment:
    """Compute ranking metrics over the queries of a Spark DataFrame.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
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
        Number of partitions to shuffle into; None uses Spark's default
        (``spark.sql.shuffle.partitions``).
    batch_rows : int, default=2097152
        Number of rows that an executor ranks at a time.
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
    The rows of a Spark DataFrame have no order, so that ``ties="stable"`` and ``"reversed"`` rank
    tied documents in the order that results from the shuffle.

    Examples
    --------
    ::

        from sklearn_rankscore import spark

        scored = session.read.parquet("s3a://logs/scored")  # qid, label, score
        spark.evaluate(scored, ["ndcg@10", "map@10"])
    """
    check_count("batch_rows", batch_rows, 1)
    empty = RankingAccumulator(metrics, like=like, by=by, **options)
    columns = ColumnNames(label, score, group, weight, empty.by)
    return scores_of(_accumulate(df, empty, columns, n_partitions, batch_rows), by)


def accumulate(df: DataFrame, metrics: Metrics, **options: Any) -> RankingAccumulator:
    """Add all queries of a Spark DataFrame to one accumulator.

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
    columns, n_partitions, batch_rows = _pop_keywords(options)
    empty = RankingAccumulator(metrics, **options)
    columns = replace(columns, by=empty.by)
    return _accumulate(df, empty, columns, n_partitions, batch_rows)


def query_scores(df: DataFrame, metrics: Metrics, **options: Any) -> DataFrame:
    """Compute the value of every query of a Spark DataFrame, as a Spark DataFrame.

    Parameters
    ----------
    df, metrics, **options
        As in `evaluate`, with the same keyword arguments.

    Returns
    -------
    pyspark.sql.DataFrame
        One row per query: its id, then a column of doubles for each metric, under its name. It is
        evaluated lazily. A query for which a metric is undefined has the value
        `replace_undefined_by`, which may be NaN.

    Raises
    ------
    ValueError
        For a missing column, and for metrics that `sklearn_rankscore.evaluate` refuses. Invalid
        rows raise a PythonException of PySpark when the values are computed.
    """
    from pyspark.sql.types import DoubleType, StructField, StructType

    columns, n_partitions, batch_rows = _pop_keywords(options)
    empty = RankingAccumulator(metrics, per_query=True, **options)
    columns.check_not_among(empty.names, ignore_case=True)
    refuse_segments(empty.by)
    partitions = _partition_by_query(df, columns, n_partitions)

    def values(batches: Iterator[Any]) -> Iterator[Any]:
        yield from _query_values(empty, columns, batches, batch_rows)

    doubles = [StructField(name, DoubleType()) for name in empty.names]
    ids = [df.schema[name] for name in columns.ids]
    return partitions.mapInArrow(values, StructType([*ids, *doubles]))


def _pop_keywords(options: dict[str, Any]) -> tuple[ColumnNames, int | None, int]:
    """Column names, `n_partitions` and `batch_rows`, which are removed from the options."""
    columns = ColumnNames.pop_from(options)
    batch_rows = check_count("batch_rows", options.pop("batch_rows", BATCH_ROWS), 1)
    return columns, options.pop("n_partitions", None), batch_rows


def _accumulate(
    df: DataFrame,
    empty: RankingAccumulator,
    columns: ColumnNames,
    n_partitions: int | None,
    batch_rows: int,
) -> RankingAccumulator:
    def accumulated(batches: Iterator[Any]) -> Iterator[Any]:
        yield _record(*_attempt(lambda: _state_of(empty, columns, batches, batch_rows)))

    partitions = _partition_by_query(df, columns, n_partitions)
    parts = partitions.mapInArrow(accumulated, "state binary, error string").collect()
    for part in parts:
        if part["error"]:
            raise ValueError(part["error"])
    states = [pickle.loads(part["state"]) for part in parts]
    empty._state = reduce(State.merged, states, empty._state)
    return empty


def _partition_by_query(df: DataFrame, columns: ColumnNames, n_partitions: int | None) -> DataFrame:
    """Sorted partitions of complete queries, with column names that need no quotes."""
    _check_frame(df, columns)
    # by position, because Spark ignores the case of names
    numbered = [f"c{i}" for i in range(len(df.columns))]
    plain = dict(zip(df.columns, numbered, strict=True))
    renamed = df.toDF(*numbered).select(*(plain[name] for name in columns.distinct))
    group = [plain[name] for name in columns.ids]
    number: list[Any] = []
    if n_partitions is not None:
        number = [check_count("n_partitions", n_partitions, 1)]
    return renamed.repartition(*number, *group).sortWithinPartitions(*group)


def _check_frame(df: Any, columns: ColumnNames) -> None:
    """Refuse what is no Spark DataFrame, or compares query ids in a way of its own."""
    if not hasattr(df, "mapInArrow"):
        raise TypeError(
            f"df must be a Spark DataFrame; got {type(df).__name__}. Create one with "
            "session.createDataFrame, or use sklearn_rankscore.evaluate."
        )
    columns.check(df.columns, "the DataFrame")
    for name in columns.ids:
        collation = getattr(df.schema[name].dataType, "collation", "UTF8_BINARY")
        if collation != "UTF8_BINARY":
            raise ValueError(
                f"column {name!r} has the collation {collation}, by which different strings may be "
                "the same query. Normalize the ids, for example by lower(qid), and use the "
                "collation UTF8_BINARY."
            )


def _add_batches(
    accumulator: RankingAccumulator, columns: ColumnNames, batches: Iterator[Any], batch_rows: int
) -> Iterator[Any]:
    """Add a partition, with the column names of the DataFrame; yield each table that was added."""
    import pyarrow as pa

    named = (pa.RecordBatch.from_arrays(b.columns, columns.distinct) for b in batches)
    for table in as_tables(named, batch_rows):
        add_table(accumulator, columns, table, "ascending")
        yield table


def _state_of(
    accumulator: RankingAccumulator, columns: ColumnNames, batches: Iterator[Any], batch_rows: int
) -> State:
    """The numbers of a partition, without functions: one of a notebook cannot be sent back."""
    for _ in _add_batches(accumulator, columns, batches, batch_rows):
        pass
    return accumulator.close()._state


def _attempt(evaluate: Callable[[], State]) -> tuple[bytes | None, str | None]:
    """A pickled state, or the message of an error, which Spark would hide in a trace."""
    try:
        return pickle.dumps(evaluate()), None
    except (TypeError, ValueError) as error:
        return None, str(error)


def _record(state: bytes | None, error: str | None) -> Any:
    import pyarrow as pa

    arrays = [pa.array([state], pa.binary()), pa.array([error], pa.string())]
    return pa.record_batch(arrays, ["state", "error"])


def _query_values(
    accumulator: RankingAccumulator, columns: ColumnNames, batches: Iterator[Any], batch_rows: int
) -> Iterator[Any]:
    """Batches of the values of queries, as the queries are completed."""
    types: dict[str, Any] = {}
    for table in _add_batches(accumulator, columns, batches, batch_rows):
        types = {name: table.schema.field(name).type for name in columns.ids}
        yield from _completed(accumulator, columns, types)
    yield from _completed(accumulator.close(), columns, types)


def _completed(
    accumulator: RankingAccumulator, columns: ColumnNames, types: dict[str, Any]
) -> Iterator[Any]:
    import pyarrow as pa

    taken = accumulator.take_values()
    if taken is not None:
        ids, values = taken
        of_ids = {n: pa.array(part, types[n]) for n, part in columns.id_columns(ids).items()}
        yield pa.RecordBatch.from_pydict({**of_ids, **values})
