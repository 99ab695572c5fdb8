"""One table for Python, the command line and reports: text, HTML, Markdown, LaTeX and CSV.

A cell is text, or a number that the table formats: an int, a float, a `PValue`, or a `Number` with
an interval, a mark or a format of its own. None is a missing number.
"""

from __future__ import annotations

import csv
import io
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any, Literal, TypeAlias

Form: TypeAlias = Literal["text", "html", "markdown", "latex", "csv"]
# what is aligned, and what stands behind it
Parts: TypeAlias = tuple[str, str]

# control characters, ends of lines, marks that turn the direction of text, and halves of characters
UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)
LATEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
LATEX |= {character: f"\\{character}" for character in "&%$#_{}"}
LATEX |= {"≤": r"$\leq$", "−": "$-$", "<": "$<$", ">": "$>$", "|": r"\textbar{}"}
MARKDOWN = re.compile(r"([\\|*_`~$<>\[\]]|&(?=#?\w+;))")
# what spreadsheets take for a formula, but no number
FORMULA = re.compile(r"(?![+-][\d.]+(e[+-]\d+)?$)\s*[=+\-@＝＋－＠]")
NUMERIC = re.compile(r"\s*([<≤]?[+\-−]?(\.?\d|nan\b|inf\b)|\[|-?\s*$)")


def clean(text: object, form: Form = "text") -> str:
    """Text from outside as one harmless line: names, ids and labels say what they are, and no more.

    Characters that break a line, move the cursor or turn the direction of the text are written as
    escapes; those with a meaning in the form are escaped as it wants.
    """
    shown = UNSAFE.sub(lambda match: match[0].encode("unicode_escape").decode(), str(text))
    if form == "html":
        return escape(shown)
    if form == "markdown":
        return MARKDOWN.sub(r"\\\1", shown)
    if form == "latex":
        quoted = re.sub(r"(?<!\w)'", "`", shown)  # that opens a quotation
        return "".join(LATEX.get(character, character) for character in quoted)
    return f"'{shown}" if form == "csv" and FORMULA.match(shown) else shown


class PValue(float):
    """A p-value; in a table, one at or below the last decimal is a bound.

    The smallest p-value that 9,999 random flips can give is such a bound.
    """


def number_text(number: float, spec: str) -> str:
    """A formatted number; nan and what is rounded to 0 have no sign."""
    if math.isnan(number):
        return "nan"
    text = f"{number:{spec}}"
    return f"{0.0:{spec.lstrip('+')}}" if not re.search("[1-9]|inf", text) else text


@dataclass(frozen=True)
class Number:
    """A number of a table: its format, and what stands behind it.

    Parameters
    ----------
    value : float or tuple of two floats
        A number, or the ends of an interval.
    spec : str, default=".4f"
        Its format, of which a table may replace the number of decimals.
    interval : tuple of two floats, default=None
        An interval behind the number.
    mark : str, default=""
        A mark behind both: an asterisk, or letters.
    is_best : bool, default=False
        Whether it is the best of its column.
    """

    value: float | tuple[float, float]
    spec: str = ".4f"
    interval: tuple[float, float] | None = None
    mark: str = ""
    is_best: bool = False


@dataclass(frozen=True)
class Table:
    """Rows under a header, with a title above and a note below.

    Numbers are aligned on the right; text, and the first `n_labels` columns, on the left.

    Parameters
    ----------
    title : str
        The title.
    header : sequence of str
        Names of the columns.
    rows : sequence of sequence
        The cells.
    n_labels : int, default=1
        Number of columns that name the rows, and are always shown.
    note : str or sequence of str, default=""
        What the marks mean: sentences without the last period, of which each begins a line of text.
    digits : int, default=None
        Decimals of all numbers; None means those of each number.
    """

    title: str
    header: Sequence[object]
    rows: Sequence[Sequence[Any]]
    n_labels: int = 1
    note: str | Sequence[str] = ""
    digits: int | None = None

    def narrowed(self, columns: Iterable[str] | None = None, digits: int | None = None) -> Table:
        """The table with some of its columns behind the labels, and with other decimals."""
        table = self if digits is None else replace(self, digits=digits)
        if columns is None:
            return table
        names = list(map(str, self.header))
        known = names[self.n_labels :]
        chosen = [columns] if isinstance(columns, str) else list(columns)
        if unknown := [name for name in chosen if name not in known]:
            raise ValueError(
                f"columns must be among {', '.join(map(repr, known))}; got {unknown[0]!r}."
            )
        kept = [*range(self.n_labels), *(names.index(n, self.n_labels) for n in chosen)]
        header, *rows = [[row[i] for i in kept] for row in (self.header, *self.rows)]
        return replace(table, header=header, rows=rows)

    def text(self) -> str:
        """Columns padded to equal width, two spaces apart."""
        columns = zip(*self._cells("text"), strict=True)
        padded = [_padded(*of) for of in zip(columns, self._are_left(), strict=True)]
        lines = ["  ".join(line).rstrip() for line in zip(*padded, strict=True)]
        return "\n".join(filter(None, [clean(self.title), *lines, self._note("text", "\n")]))

    def html(self) -> str:
        """An HTML table, whose labels are headers of the rows."""
        # labels have a style of their own
        words = [is_left and i >= self.n_labels for i, is_left in enumerate(self._are_left())]

        def line(cells: Iterable[str], n_headers: int) -> str:
            shown = ""
            for i, (cell, is_words) in enumerate(zip(cells, words, strict=True)):
                tag, style = "th" if i < n_headers else "td", ' style="text-align: left"'
                shown += f"<{tag}{style if is_words else ''}>{cell}</{tag}>"
            return f"<tr>{shown}</tr>"

        names, *rows = self._joined("html")
        head = f"<thead>{line(names, len(names))}</thead>" if any(names) else ""
        caption = f"<caption>{clean(self.title, 'html')}</caption>" if self.title else ""
        body = "".join(line(row, self.n_labels) for row in rows)
        note = f"<p>{self._note('html', '<br>')}</p>" if self.note else ""
        return f"<table>{caption}{head}<tbody>{body}</tbody></table>{note}"

    def markdown(self) -> str:
        """A table of GitHub's Markdown, with the title above and the note below."""
        header, *rows = self._joined("markdown")
        rule = ["---" if is_left else "---:" for is_left in self._are_left()]
        table = "\n".join(f"| {' | '.join(row)} |" for row in (header, rule, *rows))
        texts = [clean(self.title, "markdown"), table, self._note("markdown", " ")]
        return "\n\n".join(filter(None, texts))

    def latex(self, caption: str | None = None, label: str | None = None) -> str:
        """A table environment for the package booktabs, by default with the title as caption."""
        title = clean(self.title, "latex") if caption is None else caption
        columns = "".join("l" if is_left else "r" for is_left in self._are_left())
        header, *body = [f"    {' & '.join(row)} \\\\" for row in self._joined("latex")]
        lines = [
            r"\begin{table}", r"  \centering",
            f"  \\caption{{{title}}}" if title else "",
            "" if label is None else f"  \\label{{{label}}}",
            f"  \\begin{{tabular}}{{{columns}}}",
            r"    \toprule", header, r"    \midrule", *body, r"    \bottomrule",
            r"  \end{tabular}",
            f"  \\par\\smallskip {self._note('latex', ' ')}" if self.note else "",
            r"\end{table}",
        ]  # fmt: skip
        return "\n".join(filter(None, lines))

    def csv(self) -> str:
        """Comma-separated values without title, marks and note; full precision without `digits`."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(clean(name, "csv") for name in self.header)
        for row in self.rows:
            writer.writerow(_csv_cell(cell, self.digits) for cell in row)
        return text.getvalue()

    def _cells(self, form: Form) -> list[list[Parts]]:
        """The header and the rows."""
        header = [(clean(name, form), "") for name in self.header]
        return [header, *([_parts(cell, form, self.digits) for cell in row] for row in self.rows)]

    def _joined(self, form: Form) -> list[list[str]]:
        return [["".join(parts) for parts in row] for row in self._cells(form)]

    def _are_left(self) -> list[bool]:
        """Whether each column is aligned on the left: labels, and columns with words."""
        _, *rows = self._cells("text")
        has_words = [
            not all(NUMERIC.match(row[i][0]) for row in rows) for i in range(len(self.header))
        ]
        return [True] * self.n_labels + has_words[self.n_labels :]

    def _note(self, form: Form, between: str) -> str:
        sentences = [self.note] if isinstance(self.note, str) else self.note
        return f".{between}".join(clean(sentence, form) for sentence in sentences if sentence)


BOLD = {"text": "{}", "html": "<b>{}</b>", "markdown": "**{}**", "latex": r"\textbf{{{}}}"}
LETTERS = {
    "text": " {}", "html": "<sup>{}</sup>", "markdown": "<sup>{}</sup>", "latex": "$^{{{}}}$"
}  # fmt: skip


class Printed(ABC):
    """What is shown as a table, in notebooks as one of HTML."""

    @abstractmethod
    def _table(self) -> Table: ...

    def __repr__(self) -> str:
        return self._table().text()

    def _repr_html_(self) -> str:
        return self._table().html()


def _parts(cell: Any, form: Form, digits: int | None) -> Parts:
    """A cell: what is aligned, and what stands behind it; the best is bold, letters are raised."""
    if not isinstance(cell, Number):
        text = _plain(cell, digits)
        if form == "html" and text.startswith(" "):  # the label of a row below another
            text = f"\N{EM SPACE}{text.strip()}"
        return text if form == "text" else clean(text, form), ""
    spec = cell.spec if digits is None else re.sub(r"\.\d+f", f".{digits}f", cell.spec)
    number = _formatted(cell.value, spec)
    behind = "" if cell.interval is None else f" {_formatted(cell.interval, spec)}"
    if form == "latex":
        number, behind = number.replace("-", "$-$"), behind.replace("-", "$-$")
    mark = clean(cell.mark, form) if cell.mark in ("", "*") else LETTERS[form].format(cell.mark)
    return BOLD[form].format(number) if cell.is_best else number, behind + mark


def _plain(cell: Any, digits: int | None) -> str:
    if cell is None:
        return "-"
    if not isinstance(cell, float):
        return f"{cell:,}" if type(cell) is int else clean(cell)
    spec = f".{4 if digits is None else digits}f"
    least = float(f"1e-{spec[1:-1]}")
    is_bound = isinstance(cell, PValue) and cell <= least * (1 + 1e-9)
    return f"<{least:{spec}}" if is_bound else number_text(float(cell), spec)


def _formatted(value: Any, spec: str) -> str:
    """A number, or an interval."""
    if isinstance(value, tuple):
        return f"[{', '.join(number_text(end, spec) for end in value)}]"
    return number_text(value, spec)


def _padded(cells: Sequence[Parts], is_left: bool) -> list[str]:
    """The lines of a column; on the right, what stands behind numbers does not move them."""
    (name, _), *numbers = cells
    if not is_left and numbers:
        wide, behind = (max(len(parts[i]) for parts in numbers) for i in (0, 1))
        cells = [(name, ""), *((f"{text:>{wide}}{after:<{behind}}", "") for text, after in numbers)]
    lines = ["".join(parts) for parts in cells]
    width = max(map(len, lines))
    return [line.ljust(width) if is_left else line.rjust(width) for line in lines]


def _csv_cell(cell: Any, digits: int | None) -> str:
    value = cell.value if isinstance(cell, Number) else cell
    if isinstance(value, float) and digits is None:
        return repr(float(value))
    if isinstance(value, float | tuple):
        return _formatted(value, ".17g" if digits is None else f".{digits}f")
    return "" if value is None else clean(value, "csv")


def html_of_fields(record: Any) -> str:
    """A table of the names and values of a dataclass or a named tuple."""
    names = record._fields if hasattr(record, "_fields") else record.__dataclass_fields__
    rows = [(name, _in_words(getattr(record, name))) for name in names]
    return Table(type(record).__name__, ["", "value"], rows).html()


def _in_words(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if hasattr(value, "_asdict"):  # an interval or a segment
        return ", ".join(f"{name}: {_in_words(part)}" for name, part in value._asdict().items())
    if isinstance(value, tuple):
        return ", ".join(map(_in_words, value))
    return str(value)
