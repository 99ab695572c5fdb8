"""HTML tables, as which notebooks show results."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any


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
    if dataclasses.is_dataclass(record):
        fields = {field.name: getattr(record, field.name) for field in dataclasses.fields(record)}
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
