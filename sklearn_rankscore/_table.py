"""One table for Python, the command line and reports: text, HTML, Markdown, LaTeX and CSV.

A cell is text, or a number that the table formats: an int, a float, a `PValue`, or a `Number` with
an interval, a mark or a format of its own. None is a missing number.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any, Literal, TypeAlias

Form: TypeAlias = Literal["text", "html", "markdown", "latex", "csv"]

# control characters, ends of lines, marks that turn the direction of text, and halves of characters
UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)
LATEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
LATEX |= {character: f"\\{character}" for character in "&%$#_{}"}
LATEX |= {"≤": r"$\leq$", "−": "$-$", "<": "$<$", ">": "$>$"}
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
        return "".join(LATEX.get(character, character) for character in shown)
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
        return replace(
            table,
            header=[self.header[i] for i in kept],
            rows=[[row[i] for i in kept] for row in self.rows],
        )

    def _note(self, form: Form = "text", between: str = "\n") -> str:
        sentences = [self.note] if isinstance(self.note, str) else self.note
        return f".{between}".join(clean(sentence, form) for sentence in sentences if sentence)

    def text(self) -> str:
        """Columns padded to equal width, two spaces apart."""
        cells = self._cells("text")
        columns = [
            _padded(clean(name), [row[i] for row in cells], is_left)
            for i, (name, is_left) in enumerate(zip(self.header, self._are_left(), strict=True))
        ]
        lines = ["  ".join(line).rstrip() for line in zip(*columns, strict=True)]
        return "\n".join(filter(None, [clean(self.title), *lines, self._note()]))

    def html(self) -> str:
        """An HTML table, whose labels are headers of the rows."""
        # labels have a style of their own
        are_words = [is_left and i >= self.n_labels for i, is_left in enumerate(self._are_left())]
        styles = [' style="text-align: left"' if is_words else "" for is_words in are_words]

        def line(cells: Iterable[str], n_headers: int) -> str:
            tags = ["th" if i < n_headers else "td" for i in range(len(styles))]
            of = zip(tags, styles, cells, strict=True)
            return f"<tr>{''.join(f'<{tag}{style}>{cell}</{tag}>' for tag, style, cell in of)}</tr>"

        names = line([clean(name, "html") for name in self.header], len(self.header))
        head = f"<thead>{names}</thead>" if any(self.header) else ""
        caption = f"<caption>{clean(self.title, 'html')}</caption>" if self.title else ""
        body = "".join(line(row, self.n_labels) for row in self._rendered("html"))
        note = f"<p>{self._note('html', '<br>')}</p>" if self.note else ""
        return f"<table>{caption}{head}<tbody>{body}</tbody></table>{note}"

    def markdown(self) -> str:
        """A table of GitHub's Markdown, with the title above and the note below."""
        header = [clean(name, "markdown") for name in self.header]
        rule = ["---" if is_left else "---:" for is_left in self._are_left()]
        rows = [header, rule, *self._rendered("markdown")]
        table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
        texts = [clean(self.title, "markdown"), table, self._note("markdown", " ")]
        return "\n\n".join(filter(None, texts))

    def latex(self, caption: str | None = None, label: str | None = None) -> str:
        """A table environment for the package booktabs, by default with the title as caption."""
        title = clean(self.title, "latex") if caption is None else caption
        columns = "".join("l" if is_left else "r" for is_left in self._are_left())
        rows = [[clean(name, "latex") for name in self.header], *self._rendered("latex")]
        header, *body = [f"    {' & '.join(row)} \\\\" for row in rows]
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

    def _are_left(self) -> list[bool]:
        """Whether each column is aligned on the left: labels, and columns with words."""

        def is_number(cell: Any) -> bool:
            return NUMERIC.match(_parts(cell, "text", None)[0]) is not None

        return [
            i < self.n_labels or not all(is_number(row[i]) for row in self.rows)
            for i in range(len(self.header))
        ]

    def _cells(self, form: Form) -> list[list[tuple[str, str]]]:
        return [[_parts(cell, form, self.digits) for cell in row] for row in self.rows]

    def _rendered(self, form: Form) -> list[list[str]]:
        return [["".join(parts) for parts in row] for row in self._cells(form)]


BOLD = {"text": "{}", "html": "<b>{}</b>", "markdown": "**{}**", "latex": r"\textbf{{{}}}"}
LETTERS = {
    "text": " {}", "html": "<sup>{}</sup>", "markdown": "<sup>{}</sup>", "latex": "$^{{{}}}$"
}  # fmt: skip


def _parts(cell: Any, form: Form, digits: int | None) -> tuple[str, str]:
    """A cell in two parts: what is aligned, and what stands behind it.

    The best is bold, and letters behind numbers are raised.
    """
    if not isinstance(cell, Number):
        text = _plain(cell, digits)
        if form == "html" and text.startswith(" "):  # the label of a row below another
            text = f"\N{EM SPACE}{text.strip()}"
        return text if form == "text" else clean(text, form), ""
    spec = cell.spec if digits is None else re.sub(r"\.\d+f", f".{digits}f", cell.spec)
    value = cell.value
    number = _interval(value, spec) if isinstance(value, tuple) else number_text(value, spec)
    behind = "" if cell.interval is None else f" {_interval(cell.interval, spec)}"
    if form == "latex":
        number, behind = number.replace("-", "$-$"), behind.replace("-", "$-$")
    mark = clean(cell.mark, form) if cell.mark in ("", "*") else LETTERS[form].format(cell.mark)
    return BOLD[form].format(number) if cell.is_best else number, behind + mark


def _plain(cell: Any, digits: int | None) -> str:
    if cell is None:
        return "-"
    if not isinstance(cell, float):
        return f"{cell:,}" if type(cell) is int else clean(cell)
    digits = 4 if digits is None else digits
    least = 10.0**-digits
    is_bound = isinstance(cell, PValue) and cell <= least * (1 + 1e-9)
    return f"<{least:.{digits}f}" if is_bound else number_text(float(cell), f".{digits}f")


def _interval(ends: Any, spec: str) -> str:
    return f"[{number_text(ends[0], spec)}, {number_text(ends[1], spec)}]"


def _padded(name: str, cells: Sequence[tuple[str, str]], is_left: bool) -> list[str]:
    """The lines of a column; on the right, what stands behind numbers does not move them."""
    if is_left:
        lines = [name, *("".join(parts) for parts in cells)]
        width = max(map(len, lines))
        return [line.ljust(width) for line in lines]
    wide, behind = (max((len(parts[i]) for parts in cells), default=0) for i in (0, 1))
    lines = [f"{text:>{wide}}{after:<{behind}}" for text, after in cells]
    width = max(len(name), wide + behind)
    return [line.rjust(width) for line in [name, *lines]]


def _csv_cell(cell: Any, digits: int | None) -> str:
    value = cell.value if isinstance(cell, Number) else cell
    if isinstance(value, tuple):
        return _interval(value, ".17g" if digits is None else f".{digits}f")
    if isinstance(value, float):
        return repr(float(value)) if digits is None else f"{value:.{digits}f}"
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
