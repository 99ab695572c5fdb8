"""Text and HTML representation of an accumulator."""

from __future__ import annotations

from abc import ABC, abstractmethod
from html import escape

from .._html import html_table
from .moments import MetricSummary

HEADER = ["", "mean", "std. error", "queries", "undefined"]


class Shown(ABC):
    """An object that shows the summaries of its metrics."""

    @property
    @abstractmethod
    def n_documents(self) -> int:
        """Number of documents so far."""

    @property
    @abstractmethod
    def names(self) -> list[str]:
        """The metrics."""

    @abstractmethod
    def result(self) -> dict[str, MetricSummary]:
        """The summary of each metric."""

    def __repr__(self) -> str:
        rows = [HEADER, *self._rows()]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            "  ".join([label.ljust(widths[0]), *map(str.rjust, numbers, widths[1:])])
            for label, *numbers in rows
        ]
        return "\n".join([self._title(), *lines])

    def _repr_html_(self) -> str:
        rows = [list(map(escape, row)) for row in self._rows()]
        return html_table(HEADER, rows, title=self._title())

    def _title(self) -> str:
        return f"{type(self).__name__} of {self.n_documents:,} documents"

    def _rows(self) -> list[list[str]]:
        try:
            result = self.result()
        except ValueError:  # no documents so far, or none with a weight
            return [[name, *["-"] * (len(HEADER) - 1)] for name in self.names]
        return [
            [
                name,
                f"{summary.mean:.4f}",
                f"{summary.standard_error:.4f}",
                f"{summary.n_queries:,}",
                f"{summary.n_undefined:,}",
            ]
            for name, summary in result.items()
        ]
