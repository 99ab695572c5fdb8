"""Errors that name the file and the row in which they occur."""

from __future__ import annotations

import re
from copy import copy
from typing import Any

from .._typing import QueryOrder
from .accumulator import RankingAccumulator
from .arrow import add_table
from .column_names import ColumnNames
from .parquet_files import ParquetFiles


def add_located(
    accumulator: RankingAccumulator,
    columns: ColumnNames,
    table: Any,
    files: ParquetFiles,
    order: QueryOrder,
) -> None:
    """Add the next rows of the files; an error names the file and the row."""
    start = accumulator.n_documents
    try:
        add_table(accumulator, columns, table, order)
    except (TypeError, ValueError) as error:
        row = start + _first_bad_row(accumulator, columns, table, order)
        kind = ValueError if isinstance(error, ValueError) else TypeError
        message = re.sub(r" \(first at position [0-9]+\)", "", str(error))
        raise kind(f"{files.place(row)} (counted from 0): {message}") from error
    except Exception as error:  # of a function of the user
        error.add_note(f"in {files.place(start)} or one of the next {table.num_rows} rows")
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
