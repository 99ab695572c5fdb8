"""Arrow batches of a stream in which the rows of each query are adjacent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from .._typing import QueryOrder
from .accumulator import RankingAccumulator
from .arrow_queries import adjacent_queries
from .column_names import ColumnNames
from .column_types import converted

# rows ranked at a time: enough that queries of similar length fill a block, in a few megabytes
BATCH_ROWS = 2**21


def add_table(
    accumulator: RankingAccumulator, columns: ColumnNames, table: Any, order: QueryOrder
) -> None:
    """Add the next rows of a stream to an accumulator."""
    columns.check_missing({name: table[name].null_count for name in columns.distinct})
    label, score = table[columns.label].to_numpy(), table[columns.score].to_numpy()
    weight = None if columns.weight is None else table[columns.weight].to_numpy()
    queries: Any = adjacent_queries(table, columns)
    accumulator.update_sorted(label, score, queries, sample_weight=weight, order=order)


def as_tables(batches: Iterable[Any], n_rows: int) -> Iterator[Any]:
    """Tables of exactly `n_rows` rows, except for the last, however the rows arrive.

    A run that resumes after some of them therefore divides the rest as the first run would have.
    A batch may have wider types than those before it.
    """
    import pyarrow as pa

    waiting: list[Any] = []
    n_waiting = 0
    for batch in batches:
        if waiting and waiting[0].schema != batch.schema:
            types = dict(zip(batch.schema.names, batch.schema.types, strict=True))
            waiting = [converted(earlier, types, "the batches before") for earlier in waiting]
        waiting.append(batch)
        n_waiting += batch.num_rows
        if n_waiting < n_rows:
            continue
        table = pa.Table.from_batches(waiting)
        while n_waiting >= n_rows:
            yield table[:n_rows]
            table, n_waiting = table[n_rows:], n_waiting - n_rows
        waiting = table.to_batches()
    if n_waiting:
        yield pa.Table.from_batches(waiting)
