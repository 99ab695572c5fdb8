"""Axes that fit their width: text sizes, wrapped names, and legends that cover nothing.

matplotlib is imported only to draw.
"""

from __future__ import annotations

from collections.abc import Sequence
from inspect import signature
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from .._validation import did_you_mean, installed
from ..metrics.names import canonical_name
from .palette import MUTED
from .text import fit_names, literal, wrap

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# axes of fewer points have smaller text
NARROW = 260
# mean width of a character, in units of the font size
CHARACTER = 0.56
# height of a line, likewise
LINE = 1.25
ARTISTS = {
    "Line2D": "lines", "StepPatch": "patches", "PathCollection": "collections",
    "Patch": "patches",
}  # fmt: skip


# arguments under the names of other libraries, and what they are called here
OTHER_NAMES = {
    "max_k": "Cut-offs are given as k=.",
    "top_k": "Cut-offs are given as k=.",
    "labels": "Names of documents are given as names=, and those of models as the keys of a dict.",
}


def prepare_axes(ax: Axes | None, caller: str, size: tuple[float, float] = (7, 4.5)) -> Axes:
    """The given axes, or those of a new figure, without the top and right spines."""
    if ax is None:
        installed("matplotlib", caller)
        from matplotlib import pyplot

        _, ax = pyplot.subplots(figsize=size, layout="constrained")
    elif not hasattr(ax, "spines"):
        raise TypeError(f"ax must be matplotlib Axes, such as axes[0]; got {type(ax).__name__}.")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def finish_axes(
    ax: Axes, title: str = "", *, legend_title: str | None = None, title_width: float = 0.9
) -> None:
    """Set the sizes of the text, a legend above the axes, and the title above the legend.

    The title takes at most that part of the width of the axes.
    """
    from .magnitudes import write_magnitudes_at_ticks

    write_magnitudes_at_ticks(ax)
    small, medium = ("x-small", "small") if is_narrow(ax) else ("small", "medium")
    ax.tick_params(labelsize=small)
    for label in (ax.xaxis.label, ax.yaxis.label):
        label.set_fontsize(medium)
    ax.set_axisbelow(True)
    legend_height = 0.0
    handles, labels = ax.get_legend_handles_labels()
    if labels:
        columns, wrapped = _in_columns(ax, labels, font_points(small))
        legend = ax.legend(
            handles, wrapped, ncols=columns, loc="lower left", bbox_to_anchor=(0, 1),
            title=legend_title, fontsize=small, title_fontsize=small, alignment="left",
            frameon=False, borderaxespad=0.2, borderpad=0.2, columnspacing=1.5, handlelength=2.5,
        )  # fmt: skip
        legend_height = legend.get_window_extent().height / ax.figure.dpi * 72
        _make_room(ax, legend_height)
    if title:
        wrapped_title = wrap(
            title, int(title_width * width(ax) / (CHARACTER * font_points(medium)))
        )
        ax.set_title(wrapped_title, fontsize=medium, pad=legend_height + 6)


def _make_room(ax: Axes, legend_height: float) -> None:
    """Enlarge a figure of these axes alone if the legend takes over half of its height."""
    from matplotlib.figure import Figure

    figure = ax.figure
    if not isinstance(figure, Figure) or figure.axes != [ax] or not figure.get_layout_engine():
        return
    missing = legend_height / 72 - figure.get_figheight() / 2
    if missing > 0:
        figure.set_figheight(figure.get_figheight() + missing)


def draw_grid(ax: Axes, axis: Literal["x", "y"]) -> None:
    """Faint lines, on light and on dark backgrounds."""
    ax.grid(axis=axis, color=MUTED, alpha=0.25, linewidth=0.8)


def count_in_integers(ax: Axes) -> None:
    """Whole numbers below the axes, unless the ticks were chosen before."""
    from matplotlib.ticker import MaxNLocator

    locator = ax.xaxis.get_major_locator()
    if isinstance(locator, MaxNLocator):
        locator.set_params(integer=True)


def width(ax: Axes) -> float:
    """Width of the axes in points, before their layout."""
    return float(ax.get_window_extent().width / ax.figure.dpi * 72)


def height(ax: Axes) -> float:
    """Height of the axes in points, before their layout."""
    return float(ax.get_window_extent().height / ax.figure.dpi * 72)


def is_narrow(ax: Axes) -> bool:
    """Whether the axes have little room for text."""
    return width(ax) < NARROW


def font_points(size: str) -> float:
    """Size of a font in points."""
    from matplotlib.font_manager import FontProperties

    return float(FontProperties(size=size).get_size_in_points())


def tick_points(ax: Axes) -> float:
    """The font size of names at ticks and beside curves, in points."""
    return font_points("x-small" if is_narrow(ax) else "small")


def wrap_for_ticks(ax: Axes, names: list[str]) -> list[str]:
    """Names of rows, which take at most half of the width of the axes and the height of a row."""
    size = tick_points(ax)
    n_characters = int(0.55 * width(ax) / (CHARACTER * size))
    n_lines = max(int(height(ax) / len(names) / (LINE * size)), 1)
    return [literal(name) for name in fit_names(names, n_characters, n_lines)]


def set_categories(ax: Axes, names: list[str], counts: Sequence[str]) -> None:
    """Names below the axes with their counts, upright where they are too wide side by side."""
    ax.set_xlim(-0.5, len(names) - 0.5)
    size = tick_points(ax)
    room = int(width(ax) / len(names) / (CHARACTER * size))
    longest = 9 if is_narrow(ax) else 20
    wrapped = [wrap(literal(name), min(longest, room)) for name in names]
    longest_word = max(len(word) for name in names for word in name.split() or [""])
    longest_count = max(map(len, counts))
    is_upright = longest_word > max(room, 9) or longest_count > max(room, 6) or room < 5
    if is_upright:  # and no longer than leaves some height to the axes
        n_characters = min(2 * longest, int((height(ax) - 60) / (CHARACTER * size)))
        wrapped = [literal(name) for name in fit_names(names, n_characters)]
    labels = [f"{name}\n{count}" for name, count in zip(wrapped, counts, strict=True)]
    ax.set_xticks(
        np.arange(len(names)), labels, rotation=90 if is_upright else 0,
        multialignment="right" if is_upright else "center",
    )  # fmt: skip


def _in_columns(ax: Axes, labels: list[str], size: float) -> tuple[int, list[str]]:
    """As many labels side by side as the axes have room for, wrapped if one is too long."""
    handle = 6 * size
    longest = int((width(ax) - handle) / (CHARACTER * size))
    wrapped = [wrap(label, longest) for label in labels]
    widest = max(len(line) for label in wrapped for line in label.splitlines())
    columns = int(width(ax) / (widest * CHARACTER * size + handle))
    return min(max(columns, 1), len(labels)), wrapped


def normalize_style(kwargs: dict[str, Any], artist: str) -> dict[str, Any]:
    """Properties of an artist under their full names, ``linewidth`` for ``lw``."""
    if "metrics" in kwargs:
        raise TypeError(
            f"this display shows one metric, as metric='ndcg'; got metrics={kwargs['metrics']!r}."
        )
    import importlib

    from matplotlib import cbook

    module = importlib.import_module(f"matplotlib.{ARTISTS[artist]}")
    style = dict(cbook.normalize_kwargs(kwargs, getattr(module, artist)))
    _check_style(style, getattr(module, artist))
    return style


def _check_style(style: dict[str, Any], artist: type) -> None:
    """Refuse names that neither the artist nor what draws it knows."""
    from matplotlib.axes import Axes

    properties = {name.removeprefix("set_") for name in dir(artist) if name.startswith("set_")}
    for draw in (Axes.errorbar, Axes.scatter, Axes.stairs):
        properties |= signature(draw).parameters.keys()
    for name in style:
        if name not in properties:
            hint = OTHER_NAMES.get(name) or did_you_mean(name, sorted(properties)).strip()
            raise TypeError(
                f"{name!r} is no argument of this display, and no property of matplotlib's "
                f"{artist.__name__}. {hint}".rstrip()
            )


def axis_label(metric: str, cutoff: str = "") -> str:
    """The name of a metric in text: NDCG for ``"ndcg"``, Hit rate for ``"hit_rate"``."""
    name, at, rest = metric.partition("@")
    name, bracket, options = name.partition("(")
    name = canonical_name(name) or name
    is_acronym = name in ("dcg", "ndcg", "map", "mrr", "err", "rbp")
    text = name.upper() if is_acronym else name.replace("_", " ").capitalize()
    return literal(f"{text}{at}{rest}{cutoff}{bracket}{options}")
