"""Tables for people: as text, as HTML, as a data frame."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from ..metrics.options import choice

LIBRARIES = ("pandas", "polars")


@dataclass(frozen=True)
class Table:
    """Rows of words under a header; the first `n_labels` columns are aligned to the left."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    n_labels: int = 1

    def text(self) -> str:
        """Columns of even width, two spaces apart."""
        widths = [max(map(len, column)) for column in zip(self.header, *self.rows, strict=True)]
        lines = [self._line(row, widths) for row in (self.header, *self.rows)]
        return "\n".join(([self.title] if self.title else []) + lines)

    def _line(self, row: Sequence[str], widths: Sequence[int]) -> str:
        cells = [
            cell.ljust(width) if i < self.n_labels else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        return "  ".join(cells).rstrip()

    def html(self) -> str:
        """A table element."""
        rows = "".join(f"<tr>{self._cells(row)}</tr>" for row in self.rows)
        header = "".join(f"<th>{escape(cell)}</th>" for cell in self.header)
        return (
            f"<table><caption>{escape(self.title)}</caption><thead><tr>{header}</tr></thead>"
            f"<tbody>{rows}</tbody></table>"
        )

    def _cells(self, row: Sequence[str]) -> str:
        tags = ["th" if i < self.n_labels else "td" for i in range(len(row))]
        return "".join(f"<{t}>{escape(cell)}</{t}>" for t, cell in zip(tags, row, strict=True))


def frame(columns: dict[str, Any], library: str) -> Any:
    """A DataFrame of pandas or polars."""
    return importlib.import_module(choice("library", library, LIBRARIES)).DataFrame(columns)
