"""The objects that reports return: texts that notebooks show as tables."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any, overload

from .._validation import check_flag
from ..inspection.comparison import Comparison
from ..inspection.query_scores import QueryScores
from ..inspection.segments import SegmentScores
from .measurements import Measurements
from .report_html import document, fragment
from .report_text import report_text
from .table_text import TableText


class RankingReport(TableText):
    """What `ranking_report` returns: a text that notebooks show as tables.

    It is a string, so that it can be printed, searched and written like one.

    Parameters
    ----------
    measured : Measurements
        Contents of the report; the format of this object is private.

    Attributes
    ----------
    scores : dict of str to QueryScores
        The values of each query, by system; the name of a single system is "".
    segments : dict of str to SegmentScores
        Means by segment, by system; empty without `by`.
    comparison : Comparison or None
        All systems compared with the first; None for a single system.
    """

    _measured: Measurements

    def __new__(cls, measured: Measurements) -> RankingReport:  # noqa: D102
        self = super().__new__(cls, report_text(measured))
        self._measured = measured
        return self

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return type(self), (self._measured,)

    @overload
    def to_html(self, path: None = None, *, title: str = ..., plots: bool = ...) -> str: ...
    @overload
    def to_html(
        self, path: str | PathLike[str], *, title: str = ..., plots: bool = ...
    ) -> None: ...
    def to_html(
        self,
        path: str | PathLike[str] | None = None,
        *,
        title: str = "Ranking report",
        plots: bool = True,
    ) -> str | None:
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
        html = document(self._measured, title, with_plots=check_flag("plots", plots))
        if path is None:
            return html
        Path(path).write_text(html, encoding="utf-8")
        return None

    def _repr_html_(self) -> str:
        return fragment(self._measured)

    @property
    def scores(self) -> dict[str, QueryScores]:
        """The values of each query by system."""
        return {name: system.scores for name, system in self._measured.systems.items()}

    @property
    def segments(self) -> dict[str, SegmentScores]:
        """Means by segment by system."""
        systems = self._measured.systems.items()
        return {name: s.segments for name, s in systems if s.segments is not None}

    @property
    def comparison(self) -> Comparison | None:
        """All systems compared with the first."""
        return self._measured.comparison
