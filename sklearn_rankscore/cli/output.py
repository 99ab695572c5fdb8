"""Tables of the command line as text, Markdown, LaTeX, CSV and JSON."""

from __future__ import annotations

import csv
import io
import json
import math
from dataclasses import dataclass
from typing import Any

from .._table import Table, latex_text, markdown_text
from ..inspection.tabular import p_text


class PValue(float):
    """A p-value, which is not rounded to 0 in a table."""


@dataclass(frozen=True)
class ValueTable:
    """A header and rows of text and numbers; a number may come with a mark, (number, mark)."""

    header: list[str]
    rows: list[list[Any]]
    note: str = ""
    left: int = 1


def render(table: ValueTable, form: str, digits: int | None) -> str:
    """A table in one of the formats, ended by a newline."""
    if form == "csv":
        return _csv(table, digits)
    cells = [[_cell(value, digits) for value in row] for row in table.rows]
    n_labels = max(table.left, sum(isinstance(value, str) for value in table.rows[0]))
    shown = Table("", table.header, cells, n_labels)
    text = {"table": shown.text, "markdown": shown.markdown, "latex": shown.tabular}[form]()
    has_marks = any(isinstance(value, tuple) and value[1] for row in table.rows for value in row)
    escaped = {"markdown": markdown_text(table.note), "latex": latex_text(table.note)}
    note = escaped.get(form, table.note)
    return f"{text}\n\n{note}\n" if has_marks else f"{text}\n"


def render_json(result: dict[str, Any], digits: int | None) -> str:
    """JSON without NaN, which its standard does not have."""
    return json.dumps(_json_value(result, digits), indent=2, ensure_ascii=False) + "\n"


def _json_value(value: Any, digits: int | None) -> Any:
    if isinstance(value, dict):
        return {name: _json_value(entry, digits) for name, entry in value.items()}
    if isinstance(value, list):
        return [_json_value(entry, digits) for entry in value]
    if not isinstance(value, float):
        return value
    if math.isnan(value):
        return None
    return value if digits is None else round(float(value), digits)


def _cell(value: Any, digits: int | None) -> str:
    if isinstance(value, tuple):
        number, mark = value
        return f"{_cell(number, digits)}{mark}"
    if isinstance(value, PValue) and digits is not None:
        return p_text(value, digits)
    if isinstance(value, float):
        return repr(float(value)) if digits is None else f"{value:.{digits}f}"
    return str(value)


def _csv(table: ValueTable, digits: int | None) -> str:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(table.header)
    for row in table.rows:
        numbers = (value[0] if isinstance(value, tuple) else value for value in row)
        # a bound of a p-value is no number
        plain = (float(value) if isinstance(value, PValue) else value for value in numbers)
        writer.writerow(_cell(value, digits) for value in plain)
    return buffer.getvalue()
