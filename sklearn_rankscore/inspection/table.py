"""Tables as text and HTML, and results that are shown as one."""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, Literal, get_args, overload

from .._typing import DataFrameLibrary
from .._validation import check_choice

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


@dataclass(frozen=True)
class Table:
    """Rows of text under a header; the first `n_labels` columns are left-aligned.

    The note stands below.
    """

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    n_labels: int = 1
    note: str = ""

    def text(self) -> str:
        """Columns padded to equal width, two spaces apart."""
        widths = [max(map(len, column)) for column in zip(self.header, *self.rows, strict=True)]
        lines = [self._line(row, widths) for row in (self.header, *self.rows)]
        return "\n".join(filter(None, [self.title, *lines, self.note]))

    def _line(self, row: Sequence[str], widths: Sequence[int]) -> str:
        cells = [
            cell.ljust(width) if i < self.n_labels else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        return "  ".join(cells).rstrip()

    def html(self) -> str:
        """An HTML table."""
        rows = "".join(f"<tr>{self._cells(row)}</tr>" for row in self.rows)
        header = "".join(f"<th>{escape(cell)}</th>" for cell in self.header)
        caption = f"<caption>{escape(self.title)}</caption>" if self.title else ""
        note = f"<p>{escape(self.note)}</p>" if self.note else ""
        return (
            f"<table>{caption}<thead><tr>{header}</tr></thead><tbody>{rows}</tbody></table>{note}"
        )

    def _cells(self, row: Sequence[str]) -> str:
        tags = ["th" if i < self.n_labels else "td" for i in range(len(row))]
        return "".join(f"<{t}>{escape(cell)}</{t}>" for t, cell in zip(tags, row, strict=True))


class Tabular(ABC):
    """Results that are printed as a table and convert to a DataFrame."""

    @abstractmethod
    def _table(self) -> Table: ...

    @abstractmethod
    def _columns(self) -> dict[str, Any]:
        """The columns of the DataFrame."""

    @overload
    def to_frame(self, library: Literal["pandas"] = "pandas") -> pd.DataFrame: ...
    @overload
    def to_frame(self, library: Literal["polars"]) -> pl.DataFrame: ...
    def to_frame(self, library: DataFrameLibrary = "pandas") -> Any:
        """Convert the results to a DataFrame.

        Parameters
        ----------
        library : {"pandas", "polars"}, default="pandas"
            DataFrame library.

        Returns
        -------
        DataFrame
            With the columns that the class lists under Notes.
        """
        check_choice("library", library, get_args(DataFrameLibrary))
        return importlib.import_module(library).DataFrame(self._columns())

    def __repr__(self) -> str:
        return self._table().text()

    def _repr_html_(self) -> str:
        return self._table().html()
