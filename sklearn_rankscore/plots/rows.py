"""Rows of points with their intervals, below one another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..inspection.intervals import Interval, number_text
from .axes import draw_grid, font_points, is_narrow, normalize_style, width, wrap_for_ticks
from .palette import text_color
from .text import number_spec, wrap

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D
    from matplotlib.text import Text

ROW_HEIGHT, LINE_HEIGHT, MARGIN = 0.3, 0.2, 1.3
LABEL_WIDTH = 40  # characters in a line of a label beside axes of that size


class RowArtists(NamedTuple):
    """What is drawn for each row; no texts on narrow axes."""

    points: list[Line2D]
    intervals: list[Line2D]
    texts: list[Text]


def size_of_rows(labels: Sequence[str]) -> tuple[float, float]:
    """Width and height in inches of a figure with room for the rows."""
    n_lines = max(len(wrap(label, LABEL_WIDTH).splitlines()) for label in labels)
    return 7, max(ROW_HEIGHT, LINE_HEIGHT * n_lines) * len(labels) + MARGIN


def draw_rows(
    ax: Axes,
    labels: list[str],
    values: NDArray[np.float64],
    intervals: NDArray[np.float64],
    colors: Sequence[str],
    *,
    is_signed: bool,
    style: Mapping[str, Any],
) -> RowArtists:
    """Draw a point and an interval for each row, from top to bottom, and write their numbers.

    Signed values have a line at 0, and their signs are written.
    """
    n_rows, rows = len(labels), RowArtists([], [], [])
    ax.set_yticks(np.arange(n_rows), wrap_for_ticks(ax, labels))
    ax.set_ylim(n_rows - 0.5, -0.5)
    line_style = {"linewidth": 2, "solid_capstyle": "butt", **normalize_style({**style}, "Line2D")}
    for y, (value, ends, color) in enumerate(zip(values, intervals, colors, strict=True)):
        (line,) = ax.plot(ends, [y, y], **{"color": color, **line_style})
        (point,) = ax.plot(value, y, "o", color=color, markersize=5)
        rows.intervals.append(line)
        rows.points.append(point)
        if not is_narrow(ax):
            rows.texts.append(_write_numbers(ax, y, value, ends, "+" if is_signed else ""))
    if is_signed:
        ax.axvline(0, color=text_color(), linewidth=1, linestyle=":", zorder=0)
    # beside names that take half of the width
    ax.locator_params(axis="x", nbins=max(int(width(ax) / (9 * font_points("small"))), 2))
    draw_grid(ax, "x")
    return rows


def _write_numbers(ax: Axes, y: int, value: float, ends: NDArray[np.float64], sign: str) -> Text:
    """Write the numbers of one row to the right of the axes."""
    spec = number_spec([value, *ends.tolist()], sign)
    return ax.annotate(
        f"{number_text(value, spec)} {Interval(*ends.tolist()):{spec}}", (1, y), (6, 0),
        xycoords=ax.get_yaxis_transform(), textcoords="offset points", va="center",
        fontsize=font_points("x-small"), family="monospace", annotation_clip=False,
    )  # fmt: skip
