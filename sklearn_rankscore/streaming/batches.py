"""evaluate_batches: metrics over batches of rows that any library streams."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, get_args, overload

from .._typing import Library, QueryOrder
from .._validation import check_choice, check_count
from ..metrics.evaluate import Metrics
from .accumulator import RankingAccumulator
from .arrow import BATCH_ROWS, as_tables
from .column_names import ColumnNames
from .column_types import common_types, converted
from .row_errors import add_located
from .runs import ScoresBySegment, accumulator_of, add_run, emptied


@overload
def evaluate_batches(
    batches: Any, metrics: Metrics | RankingAccumulator, *, by: None = None, **options: Any
) -> dict[str, float]: ...
@overload
def evaluate_batches(
    batches: Any, metrics: Metrics, *, by: str | Sequence[str], **options: Any
) -> ScoresBySegment: ...
def evaluate_batches(
    batches: Any,
    metrics: Metrics | RankingAccumulator,
    *,
    label: str = "label",
    score: str = "score",
    group: str | Sequence[str] = "qid",
    weight: str | None = None,
    by: str | Sequence[str] | None = None,
    like: Library | None = None,
    order: QueryOrder = "ascending",
    batch_rows: int = BATCH_ROWS,
    n_jobs: int | None = None,
    **options: Any,
) -> dict[str, float] | ScoresBySegment:
    """Compute ranking metrics over batches of rows that are sorted or grouped by query.

    Batches may end within a query; memory holds a few batches and the incomplete queries. Requires
    pyarrow.

    Parameters
    ----------
    batches : Arrow stream, or iterable of tables
        Any object with the method ``__arrow_c_stream__``, such as a result of DuckDB, a
        ``pyarrow.RecordBatchReader`` or a table of polars; or an iterable of such tables, Arrow
        record batches and pandas DataFrames, with the rows of each query next to one another.
    metrics : str, callable, iterable of them, or RankingAccumulator
        As in `evaluate_parquet`.
    label, score : str
        Names of the columns of relevance and score.
    group : str or list of str
        Name of the column of query ids, or of several columns that together identify a query.
    weight : str, default=None
        Name of the column of query weights, constant within each query.
    by : str or list of str, default=None
        Names of columns that define segments, constant within each query: strings, or at most ten
        distinct numbers.
    like : str, default=None
        Library whose conventions to use, as in `evaluate`.
    order : {"ascending", "grouped"}, default="ascending"
        Order of the query ids, as in `RankingAccumulator.update_sorted`; with "grouped", the rows
        of each query are adjacent and queries are in any order, which requires eight bytes per
        query.
    batch_rows : int, default=2097152
        Number of rows to rank at a time.
    n_jobs : int, default=None
        Number of threads for the metrics; None means 1 unless in a joblib context.
    **options
        Options of the metrics, as in `evaluate`; `average` is ``"macro"`` or ``"micro"``.

    Returns
    -------
    dict of str to float, or dict of Segment to dict of str to float
        The value of each metric under its name; with `by`, such a dict for
        ``("", "all queries")`` and for each ``(column, value)``.

    Raises
    ------
    ValueError
        If the rows are not sorted by query, if a column is missing, has missing values, or has
        types in two batches without a common type, and for any input that `evaluate` refuses. An
        error in a row names the batch and the row, counted from 0.
    TypeError
        If `batches` is neither a stream nor an iterable of tables.

    See Also
    --------
    evaluate_parquet : Parquet files, with checkpoints.

    Examples
    --------
    >>> import pyarrow
    >>> from sklearn_rankscore import evaluate_batches
    >>> first = pyarrow.table({"qid": [1, 1], "label": [0, 1], "score": [0.5, 0.2]})
    >>> second = pyarrow.table({"qid": [1, 2], "label": [0, 1], "score": [0.1, 0.3]})
    >>> evaluate_batches(iter([first, second]), "mrr")
    {'mrr': 0.75}
    """
    accumulator = accumulator_of("evaluate_batches", metrics, like, by, n_jobs, options)
    check_choice("order", order, get_args(QueryOrder))
    check_count("batch_rows", batch_rows, 1)
    columns = ColumnNames(label, score, group, weight, accumulator.by)
    run = emptied(accumulator)
    source = _Batches(batches, columns)
    for table in as_tables(source, batch_rows):
        add_located(run, columns, table, source, order)
    return add_run(accumulator, run, by)


class _Batches:
    """Arrow batches of the columns to read, each of the types that it has with those before it."""

    def __init__(self, batches: Any, columns: ColumnNames) -> None:
        self.batches, self.columns = batches, columns
        self.ends: list[int] = []

    def __iter__(self) -> Iterator[Any]:
        types: dict[str, Any] = {}
        for number, batch in enumerate(_each(self.batches)):
            place = f"batch {number}"
            self.columns.check(batch.schema.names, place)
            theirs = {name: batch.schema.field(name).type for name in self.columns.distinct}
            before = "batch 0" if number == 1 else "the batches before"
            known = [(before, types)] if types else []
            types = common_types([*known, (place, theirs)], self.columns.ids)
            self.ends.append(batch.num_rows + (self.ends[-1] if self.ends else 0))
            yield converted(batch.select(list(types)), types, place)

    def place(self, row: int) -> str:
        """The batch of a row of the stream and its number there, for messages."""
        i = bisect_right(self.ends, row)
        return f"batch {i}, row {row - (self.ends[i - 1] if i else 0)}"


def _each(batches: Any) -> Iterable[Any]:
    """Arrow record batches of a stream, a table, or an iterable of tables."""
    import pyarrow as pa

    if isinstance(batches, pa.RecordBatch):
        yield batches
    elif hasattr(batches, "__arrow_c_stream__"):
        yield from _stream_of(batches)
    elif hasattr(batches, "iloc"):
        yield from pa.Table.from_pandas(batches, preserve_index=False).to_batches()
    elif isinstance(batches, Iterable) and not isinstance(batches, str | bytes | dict):
        for batch in batches:
            if not (_is_table(batch) or isinstance(batch, pa.RecordBatch)):
                raise TypeError(_message(batch))
            yield from _each(batch)
    else:
        raise TypeError(_message(batches))


def _stream_of(batches: Any) -> Any:
    import pyarrow as pa

    try:
        return pa.RecordBatchReader.from_stream(batches)
    except pa.ArrowInvalid as error:  # one column, or a type of one library only
        raise ValueError(
            f"pyarrow cannot read the Arrow stream of a {type(batches).__name__}: {error}. Pass a "
            "table, and convert columns of types that pyarrow does not have."
        ) from error


def _is_table(value: Any) -> bool:
    return hasattr(value, "__arrow_c_stream__") or hasattr(value, "iloc")


def _message(value: Any) -> str:
    fixes = {
        "collect_schema": " A LazyFrame is read by collect() or, in parts, by collect_batches().",
        "to_batches": " A dataset of pyarrow is read by to_batches().",
        "fetchall": " A result of DuckDB is that of con.sql(query).",
    }
    fix = next((text for name, text in fixes.items() if hasattr(value, name)), "")
    return (
        "batches must be an Arrow stream, such as a result of DuckDB or a RecordBatchReader, or an "
        f"iterable of tables or record batches; got {type(value).__name__}. For arrays use "
        "RankingAccumulator.update_sorted, for files evaluate_parquet." + fix
    )
