"""Texts that a prompt and a notebook show as tables."""

from __future__ import annotations

from typing import Self


class TableText(str):
    """A text that is shown as printed, unquoted, at a prompt, and as HTML in a notebook.

    Parameters
    ----------
    text : str
        The text.
    html : str, default=""
        The same as HTML.
    """

    _html: str

    def __new__(cls, text: str, html: str = "") -> Self:  # noqa: D102
        self = super().__new__(cls, text)
        self._html = html
        return self

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return self._html
