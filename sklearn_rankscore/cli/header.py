"""The first line of a CSV file, and the usual names of columns."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..io.text import NOT_TEXT, NOT_UTF8
from ..io.trec import DOCUMENT, QRELS, QUERY, RUN

SEPARATORS = {".csv": ",", ".tsv": "\t"}
# the usual names of each field's column
NAMES = {
    "query": QUERY.names,
    "document": DOCUMENT.names,
    "relevance": QRELS.value.names,
    "score": RUN.value.names,
    "rank": ("rank",),
}
_KNOWN = {name for names in NAMES.values() for name in names if isinstance(name, str)}


@dataclass(frozen=True)
class Header:
    """The first line of a file, which must name its columns.

    Parameters
    ----------
    path : str
        The file, for messages.
    cells : list of str
        The fields of the line.
    separator : str
        What separates them.
    """

    path: str
    cells: list[str]
    separator: str

    def columns(self) -> dict[str, list[str]]:
        """An empty column for each name."""
        cells = self.cells
        if not cells:
            raise ValueError(f"{self.path}: the file is empty; its first line must name columns.")
        check_text(self.path, 1, cells)
        one = len(cells) == 1 and not self._is_of_trec
        if one and (others := [mark for mark in ",;\t|" if mark in cells[0]]):
            raise ValueError(
                f"{self.path}: the fields of the first line are separated by {others[0]!r}, but "
                "those of a .csv file must be by ',', and those of a .tsv file by tabs. "
                f"{'Rename it' if others[0] in SEPARATORS.values() else 'Convert it'}."
            )
        if len(set(cells)) < len(cells):
            self.refuse_data()
            raise ValueError(f"{self.path}, line 1: a column is named twice: {', '.join(cells)}.")
        return {name: [] for name in cells}

    def refuse_data(self, name: str | None = None) -> None:
        """Refuse a first line of data, of which one cell may have been named as a column."""
        if name is not None and not _is_number(name):
            return
        if self._is_of_trec:
            raise ValueError(
                f"{self.path}: the first line names no columns. A TREC file has no header, but its "
                "name must not end in .csv or .tsv: rename it, as to .txt."
            )
        if self._is_data:
            raise ValueError(
                f"{self.path}: the first line names no columns; it has "
                f"{', '.join(self.cells):.100}. Add a line before it, of {len(self.cells)} names, "
                "among them query_id, doc_id and relevance (in a run score, or rank if 1 is the "
                "best). If these are names, rename those that are numbers."
            )

    @property
    def _is_of_trec(self) -> bool:
        """Whether it is a line of a file of judgments or of a run, which has no names."""
        if len(self.cells) > 1 and self.separator != "\t":
            return False
        fields = " ".join(self.cells).split()
        return len(fields) in (4, 6) and fields[1] in ("0", "Q0")

    @property
    def _is_data(self) -> bool:
        # pandas names columns by their positions, after the empty name of an index
        names = self.cells[1:] if self.cells[0] == "" else self.cells
        if names == [str(position) for position in range(len(names))]:
            return False
        return _KNOWN.isdisjoint(names) and any(map(_is_number, names))


def _is_number(cell: str) -> bool:
    try:
        return math.isfinite(float(cell))
    except ValueError:
        return False


def check_text(path: str, line: int, cells: list[str]) -> None:
    """Refuse bytes that are not UTF-8, which were read as surrogates, and NUL bytes."""
    text = "".join(cells)
    if "\0" in text:
        raise ValueError(f"{path}, line {line}: {NOT_TEXT}")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        wrong = NOT_UTF8.format(ord(text[error.start]) - 0xDC00)
        raise ValueError(f"{path}, line {line}: {wrong}") from error
