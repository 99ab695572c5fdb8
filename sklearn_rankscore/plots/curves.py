"""Curves of systems with their confidence bands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._typing import Array
from .._validation import check_flag
from .axes import normalize_style, tick_points, width
from .palette import system_color
from .text import literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection
    from matplotlib.lines import Line2D

LINE_STYLES = ("-", "--", "-.", ":")
MARKERS = "os^Dv*P"


def draw_curves(
    ax: Axes,
    x: Array,
    values: Mapping[str, Array],
    intervals: Mapping[str, Array],
    bands: bool | None,
    style: dict[str, Any],
) -> tuple[list[Line2D], list[PolyCollection]]:
    """The curve of each system, and its band if asked for; None means for a single curve only."""
    is_alone = len(values) == 1 and not ax.lines
    with_bands = is_alone if bands is None else check_flag("bands", bands)
    # curves already on these axes have taken the first styles
    positions = range(len(ax.lines), len(ax.lines) + len(values))
    lines = [
        draw_curve(ax, position, x, of_system, name, style)
        for position, (name, of_system) in zip(positions, values.items(), strict=True)
    ]
    named = zip(values, lines, strict=True) if with_bands else ()
    return lines, [draw_band(ax, x, intervals[name], line) for name, line in named]


def draw_curve(
    ax: Axes, position: int, x: Array, values: Array, name: str, kwargs: dict[str, Any]
) -> Line2D:
    """The curve of a system; dashes and markers tell curves apart without color."""
    style: dict[str, Any] = {
        "linestyle": LINE_STYLES[position % len(LINE_STYLES)],
        "marker": MARKERS[position % len(MARKERS)],
        "markersize": 4.5,
        "linewidth": 1.8,
        "color": system_color(position),
        "label": literal(name),
    }
    (line,) = ax.plot(x, values, **(style | normalize_style(kwargs, "Line2D")))
    return line


def draw_band(ax: Axes, x: Array, intervals: Array, line: Line2D) -> Any:
    """The confidence band of a curve, given one interval per row."""
    return ax.fill_between(x, *intervals.T, color=line.get_color(), alpha=0.2, linewidth=0)


def without_overlap(ax: Axes, ticks: Array, labels: Sequence[str]) -> list[int]:
    """Positions of the first tick, the last one, and those between whose labels have room."""
    size = tick_points(ax)
    scale = ax.xaxis.get_transform()
    low, high = scale.transform(np.array(ax.get_xlim()))
    # the layout may shrink the axes, and digits are wider than the mean character
    at = 0.9 * width(ax) * scale.transform(ticks) / (high - low)
    half = [0.32 * size * (len(label) + 1) for label in labels]

    def overlap(left: int, right: int) -> bool:
        return bool(at[right] - at[left] < half[left] + half[right])

    kept, last = [0], len(ticks) - 1
    for tick in range(1, last):
        if not overlap(kept[-1], tick) and not overlap(tick, last):
            kept.append(tick)
    return [*kept, last] if last else kept
