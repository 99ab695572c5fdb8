"""Tables as text, HTML, Markdown and LaTeX, and results that are shown as one."""

from __future__ import annotations

import importlib
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from numbers import Integral, Real
from textwrap import indent
from typing import TYPE_CHECKING, Any, Literal, get_args, overload

import numpy as np

from .._html import html_table
from .._typing import DataFrameLibrary
from .._validation import check_choice

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

LATEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
LATEX |= {character: f"\\{character}" for character in "&%$#_{}"}
LATEX |= {"≤": r"$\leq$", "<": "$<$", ">": "$>$"}


@dataclass(frozen=True)
class Cell:
    """A number with a raised mark, which is the best of its column or not."""

    number: str
    mark: str = ""
    is_best: bool = False

    def __str__(self) -> str:
        return f"{self.number}{' ' if self.mark else ''}{self.mark}"


@dataclass(frozen=True)
class Table:
    """Rows of text under a header; the first `n_labels` columns are left-aligned.

    The note stands below.
    """

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str | Cell]]
    n_labels: int = 1
    note: str = ""

    def text(self) -> str:
        """Columns padded to equal width, two spaces apart."""
        lines = _aligned([self.header, *self._rendered(str)], self.n_labels)
        return "\n".join(filter(None, [self.title, *lines, self.note]))

    def html(self) -> str:
        """An HTML table."""
        rows = self._rendered(_html)
        note = f"<p>{escape(self.note)}</p>" if self.note else ""
        return html_table(self.header, rows, title=self.title, n_labels=self.n_labels) + note

    def markdown(self) -> str:
        """A table of GitHub's Markdown, with the title above and the note below."""
        header = [_markdown(cell) for cell in self.header]
        rule = ["---" if i < self.n_labels else "---:" for i in range(len(header))]
        rows = [header, rule, *self._rendered(_markdown)]
        table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
        texts = [_markdown(self.title), table, _markdown(self.note)]
        return "\n\n".join(filter(None, texts))

    def latex(self, caption: str | None = None, label: str | None = None) -> str:
        """A table environment for the package booktabs, by default with the title as caption."""
        title = latex_text(self.title) if caption is None else caption
        heading = [f"  \\caption{{{title}}}"] if title else []
        heading += [] if label is None else [f"  \\label{{{label}}}"]
        note = [f"  \\par\\smallskip {latex_text(self.note)}"] if self.note else []
        tabular = indent(self.tabular(), "  ")
        lines = [r"\begin{table}", r"  \centering", *heading, tabular, *note, r"\end{table}"]
        return "\n".join(lines)

    def tabular(self) -> str:
        """The same without title and note, which is a tabular environment."""
        columns = "l" * self.n_labels + "r" * (len(self.header) - self.n_labels)
        rows = [[latex_text(cell) for cell in self.header], *self._rendered(_latex)]
        header, *body = [f"  {' & '.join(row)} \\\\" for row in rows]
        lines = [
            f"\\begin{{tabular}}{{{columns}}}",
            *(r"  \toprule", header, r"  \midrule", *body, r"  \bottomrule"),
            r"\end{tabular}",
        ]
        return "\n".join(lines)

    def _rendered(self, render: Callable[[str | Cell], str]) -> list[list[str]]:
        # names of systems may be numbers
        return [[render(c if isinstance(c, Cell) else str(c)) for c in row] for row in self.rows]


def _aligned(rows: Sequence[Sequence[str]], n_labels: int) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    padded = (
        [
            cell.ljust(width) if i < n_labels else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        for row in rows
    )
    return ["  ".join(cells).rstrip() for cells in padded]


def _html(cell: str | Cell) -> str:
    if isinstance(cell, str):  # indented, or padded to align columns of text
        return escape(cell.strip()) if cell[:1] != " " else f"\N{EM SPACE}{escape(cell.strip())}"
    number = f"<b>{escape(cell.number)}</b>" if cell.is_best else escape(cell.number)
    return number + (f"<sup>{escape(cell.mark)}</sup>" if cell.mark else "")


def markdown_text(text: str) -> str:
    """Text in which Markdown's own characters are escaped."""
    return re.sub(r"([\\|*_`<>\[\]])", r"\\\1", text)


def _markdown(cell: str | Cell) -> str:
    if isinstance(cell, str):
        return markdown_text(cell)
    number = f"**{cell.number}**" if cell.is_best else cell.number
    return number + (f"<sup>{cell.mark}</sup>" if cell.mark else "")


def latex_text(text: str) -> str:
    """Text in which LaTeX's own characters are escaped."""
    return "".join(LATEX.get(character, character) for character in text)


def _latex(cell: str | Cell) -> str:
    if isinstance(cell, str):
        return latex_text(cell)
    number = f"\\textbf{{{cell.number}}}" if cell.is_best else cell.number
    return number + (f"$^{{{cell.mark}}}$" if cell.mark else "")


def p_text(p_value: float, digits: int = 4) -> str:
    """A p-value with some decimals; one that would be rounded to 0 as a bound."""
    least = 10.0**-digits
    return f"<{least:.{digits}f}" if p_value < least else f"{p_value:.{digits}f}"


def _of_one_type(column: Any) -> Any:
    """A column as floats if it mixes numbers, and as text if it mixes other types."""
    if not isinstance(column, list) and column.dtype != object:
        return column
    present = [value for value in column if value is not None]
    types = {_general_type(value) for value in present}
    if types == {int, float}:
        return [None if value is None else float(value) for value in column]
    if len(types) <= 1:
        return column
    return [None if value is None else str(value) for value in column]


def _general_type(value: Any) -> type:
    """The type of a value in Python, also of a number of NumPy."""
    if isinstance(value, bool | np.bool_):
        return bool
    if isinstance(value, Real):
        return int if isinstance(value, Integral) else float
    return type(value)


class Tabular(ABC):
    """Results that are printed as a table and convert to a DataFrame, Markdown and LaTeX."""

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
            Its columns are listed in the Notes of the class. In polars, where all values of a
            column have the same type, values of several types, such as those of different
            segments, become text.
        """
        check_choice("library", library, get_args(DataFrameLibrary))
        columns = self._columns()
        if library == "polars":
            columns = {name: _of_one_type(column) for name, column in columns.items()}
        return importlib.import_module(library).DataFrame(columns)

    def to_markdown(self) -> str:
        """Return the printed table as a Markdown table.

        Returns
        -------
        str
            A table of GitHub's Markdown.
        """
        return self._table().markdown()

    def to_latex(self, *, caption: str | None = None, label: str | None = None) -> str:
        """Return the printed table as LaTeX.

        Parameters
        ----------
        caption : str, default=None
            Caption, which may contain commands of LaTeX; None means the title of the table, if it
            has one.
        label : str, default=None
            Label for references to the table, which needs a caption.

        Returns
        -------
        str
            A table environment, which requires the package booktabs.
        """
        table = self._table()
        if label is not None and not (table.title or caption):
            raise ValueError(f"label={label!r} refers to a caption, and the table has none.")
        return table.latex(caption, label)

    def __repr__(self) -> str:
        return self._table().text()

    def _repr_html_(self) -> str:
        return self._table().html()
