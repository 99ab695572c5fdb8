"""Tables as text, HTML, Markdown and LaTeX."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, is_dataclass
from dataclasses import fields as fields_of
from html import escape
from textwrap import indent
from typing import Any

LATEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
LATEX |= {character: f"\\{character}" for character in "&%$#_{}"}
LATEX |= {"≤": r"$\leq$", "<": "$<$", ">": "$>$"}


@dataclass(frozen=True)
class MarkedNumber:
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
    rows: Sequence[Sequence[str | MarkedNumber]]
    n_labels: int = 1
    note: str = ""

    def text(self) -> str:
        """Columns padded to equal width, two spaces apart."""
        lines = _aligned([self.header, *self._rendered(str)], self.n_labels)
        return "\n".join(filter(None, [self.title, *lines, self.note]))

    def html(self) -> str:
        """An HTML table."""
        rows = self._rendered(_html_cell)
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

    def _rendered(self, render: Callable[[str | MarkedNumber], str]) -> list[list[str]]:
        # names of systems may be numbers
        return [
            [render(c if isinstance(c, MarkedNumber) else str(c)) for c in row] for row in self.rows
        ]


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


def _html_cell(cell: str | MarkedNumber) -> str:
    if isinstance(cell, str):  # indented, or padded to align columns of text
        return escape(cell.strip()) if cell[:1] != " " else f"\N{EM SPACE}{escape(cell.strip())}"
    number = f"<b>{escape(cell.number)}</b>" if cell.is_best else escape(cell.number)
    return number + (f"<sup>{escape(cell.mark)}</sup>" if cell.mark else "")


def markdown_text(text: str) -> str:
    """Text in which Markdown's own characters are escaped."""
    return re.sub(r"([\\|*_`<>\[\]])", r"\\\1", text)


def _markdown(cell: str | MarkedNumber) -> str:
    if isinstance(cell, str):
        return markdown_text(cell)
    number = f"**{cell.number}**" if cell.is_best else cell.number
    return number + (f"<sup>{cell.mark}</sup>" if cell.mark else "")


def latex_text(text: str) -> str:
    """Text in which LaTeX's own characters are escaped."""
    return "".join(LATEX.get(character, character) for character in text)


def _latex(cell: str | MarkedNumber) -> str:
    if isinstance(cell, str):
        return latex_text(cell)
    number = f"\\textbf{{{cell.number}}}" if cell.is_best else cell.number
    return number + (f"$^{{{cell.mark}}}$" if cell.mark else "")


def html_table(
    header: Sequence[str], rows: Iterable[Sequence[str]], *, title: str = "", n_labels: int = 1
) -> str:
    """A table of cells that are HTML already; the first `n_labels` columns are headers of rows."""
    tags = ["th" if i < n_labels else "td" for i in range(len(header))]
    body = "".join(
        f"<tr>{''.join(f'<{t}>{c}</{t}>' for t, c in zip(tags, row, strict=True))}</tr>"
        for row in rows
    )
    # a corner above all labels of the rows
    span = n_labels if header[0] and n_labels > 1 and not any(header[1:n_labels]) else 1
    corner = f'<th colspan="{span}">' if span > 1 else "<th>"
    head = corner + "</th><th>".join(map(escape, [header[0], *header[span:]])) + "</th>"
    caption = f"<caption>{escape(title)}</caption>" if title else ""
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def html_of_fields(record: Any) -> str:
    """A table of the names and values of a dataclass or a named tuple."""
    if is_dataclass(record):
        fields = {field.name: getattr(record, field.name) for field in fields_of(record)}
    else:
        fields = record._asdict()
    rows = [(escape(name), escape(_text(value))) for name, value in fields.items()]
    return html_table(["", "value"], rows, title=type(record).__name__)


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if hasattr(value, "_asdict"):  # an interval or a segment
        return ", ".join(f"{name}: {_text(part)}" for name, part in value._asdict().items())
    if isinstance(value, tuple):
        return ", ".join(map(_text, value))
    return str(value)
