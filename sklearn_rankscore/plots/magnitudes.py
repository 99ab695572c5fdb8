"""Labels of ticks that have the power of ten of very large or small numbers, as 2e6.

This file imports matplotlib, and is imported only to draw.
"""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.ticker import ScalarFormatter


def write_magnitudes_at_ticks(ax: Axes) -> None:
    """Write no common power of ten at the ends of the axes, where the legend and names are.

    Formatters that are not the default of matplotlib are kept.
    """
    for axis in (ax.xaxis, ax.yaxis):
        if type(axis.get_major_formatter()) is ScalarFormatter:
            axis.set_major_formatter(MagnitudeFormatter())


class MagnitudeFormatter(ScalarFormatter):
    """The default formatter of matplotlib, but each label has the power of ten."""

    def __init__(self) -> None:
        super().__init__(useOffset=False)

    def __call__(self, x: float, pos: int | None = None) -> str:
        """The label of a tick."""
        label = super().__call__(x, pos)
        power = super().get_offset()
        if not power or x == 0:
            return label
        # a power without mathematical notation begins with 1, as 1e6
        return (label + power.removeprefix("1")).replace("$$", "")

    def get_offset(self) -> str:
        """No common power."""
        return ""
