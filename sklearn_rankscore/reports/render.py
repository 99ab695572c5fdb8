"""How a report is shown: one list of sections, as text, in a notebook and as a page of HTML."""

from __future__ import annotations

import io
from base64 import b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from typing import Any, Self

from .._table import Table, clean
from .._validation import check_flag
from ..comparison import Comparison, QueryScores, SegmentScores

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title><style>{css}</style></head>
<body class='rankscore'><h1>{title}</h1>
{parts}
</body></html>
"""


@dataclass(frozen=True)
class Plot:
    """A plot under its title, which `draw` draws on the axes that it is given."""

    title: str
    draw: Callable[..., Any]
    height: float = 4.5

    def html(self) -> str:
        """An image in vector graphics, without a background."""
        from matplotlib import rcParams, style
        from matplotlib.figure import Figure

        # names in other scripts than the default font has need one that the user has chosen
        fonts: Any = rcParams.find_all(r"^font\.(family|sans-serif|serif|monospace)$")
        with style.context(["default", {**fonts, "svg.hashsalt": self.title}]):
            figure, svg = Figure(figsize=(7, self.height), layout="constrained"), io.BytesIO()
            self.draw(ax=figure.subplots())
            figure.savefig(svg, format="svg", transparent=True, metadata={"Date": None})
        source, title = b64encode(svg.getvalue()).decode(), clean(self.title, "html")
        image = f"<img alt='{title}' src='data:image/svg+xml;base64,{source}'>"
        return f"<figure><figcaption>{title}</figcaption>{image}</figure>"


@dataclass(frozen=True)
class Section:
    """Tables, names above them and plots, under a title in HTML."""

    title: str
    parts: Sequence[Table | Plot | str]
    is_in_text: bool = False

    def html(self) -> str:
        """The parts; a table scrolls within itself where it is too wide."""
        shown = [f"<h2>{self.title}</h2>"]
        for part in self.parts:
            if isinstance(part, Table):
                shown.append(f"<div class='scroll'>{part.html()}</div>")
            else:
                shown.append(
                    part.html() if isinstance(part, Plot) else f"<h3>{clean(part, 'html')}</h3>"
                )
        return "\n".join(shown)


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


class RankingReport(TableText):
    """What `ranking_report` returns: a text that notebooks show as tables.

    It is a string, so that it can be printed, searched and written like one.

    Parameters
    ----------
    text, html : str
        The report, and the same as tables.

    Attributes
    ----------
    scores : dict of str to QueryScores
        The values of each query, by system; the name of a single system is "".
    segments : dict of str to SegmentScores
        Means by segment, by system; empty without `by`.
    comparison : Comparison or None
        All systems compared with the first; None for a single system.
    """

    _sections: Sequence[Section]
    scores: dict[str, QueryScores]
    segments: dict[str, SegmentScores]
    comparison: Comparison | None

    @classmethod
    def _of(cls, sections: Sequence[Section], **attributes: Any) -> RankingReport:
        of_text = [section for section in sections if section.is_in_text]
        parts: list[Any] = [part for section in of_text for part in section.parts]
        text = "\n\n".join(p.text() if isinstance(p, Table) else clean(p) for p in parts)
        html = "\n".join(section.html() for section in of_text)
        self = cls(text, f"<style>{_css()}</style><div class='rankscore'>{html}</div>")
        vars(self).update(attributes, _sections=sections)
        return self

    def to_html(
        self,
        path: str | PathLike[str] | None = None,
        *,
        title: str = "Ranking report",
        plots: bool = True,
    ) -> str | Any:
        """Write the report to a single HTML file, which can be read without a network connection.

        The file contains the tables, plots if matplotlib is installed, the queries with the largest
        losses, the options of all metrics, and the versions of the packages.

        Parameters
        ----------
        path : str or path, default=None
            The file, which is overwritten; None returns the HTML instead.
        title : str, default="Ranking report"
            The title.
        plots : bool, default=True
            Whether to include the plots, each of which takes about half a second.

        Returns
        -------
        str or None
            The HTML if there is no path.
        """
        sections = self._sections
        if not check_flag("plots", plots):
            sections = [section for section in sections if section.title != "Plots"]
        elif find_spec("matplotlib") is None:
            missing = Section("Plots", ["The plots require matplotlib, which was not installed."])
            sections = [missing if s.title == "Plots" else s for s in sections]
        parts = "\n".join(section.html() for section in sections)
        html = PAGE.format(title=clean(title, "html"), css=_css(), parts=parts)
        if path is None:
            return html
        Path(path).write_text(html, encoding="utf-8")
        return None


def _css() -> str:
    return Path(__file__).with_name("report.css").read_text("utf-8")
