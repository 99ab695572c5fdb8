"""Errors that name the file, or the batch, and the row in which they occur."""

from __future__ import annotations

import re
from copy import copy
from typing import Any, Protocol

from .._typing import QueryOrder
from .accumulator import RankingAccumulator
from .arrow import add_table
from .column_names import ColumnNames


class Source(Protocol):
    """Files or batches."""

    def place(self, row: int) -> str:
        """The part in which a row of the stream is, and its number there."""
        ...


def add_located(
    accumulator: RankingAccumulator,
    columns: ColumnNames,
    table: Any,
    source: Source,
    order: QueryOrder,
) -> None:
    """Add the next rows of a source; an error names the part of it and the row."""
    start = accumulator.n_documents
    try:
        add_table(accumulator, columns, table, order)
    except (TypeError, ValueError) as error:
        row = start + _first_bad_row(accumulator, columns, table, order)
        kind = ValueError if isinstance(error, ValueError) else TypeError
        message = re.sub(r" \(first at position [0-9]+\)", "", str(error))
        raise kind(f"{source.place(row)} (counted from 0): {message}") from error
    except Exception as error:  # of a function of the user
        rows = f"{source.place(start)}, one of the next {table.num_rows} rows"
        error.add_note(f"in {rows}, or a query that they complete")
        raise


def _first_bad_row(
    accumulator: RankingAccumulator, columns: ColumnNames, table: Any, order: QueryOrder
) -> int:
    """The last row of the shortest part of the table that cannot be added, by bisection."""
    fine, bad = 0, table.num_rows
    while bad - fine > 1:
        middle = (fine + bad) // 2
        try:
            add_table(copy(accumulator), columns, table[:middle], order)
        except (TypeError, ValueError):
            bad = middle
        else:
            fine = middle
    return int(bad - 1)
