"""How all plots look: a color for each meaning, names and numbers as text, grids.

Most colors are those of Okabe and Ito for all types of color vision
(https://jfly.uni-koeln.de/color). Their light ones, orange and sky blue, fade on white; olive is
from the palette "muted" of Paul Tol (https://sronpersonalpages.nl/~pault). All have a contrast of
at least 3 on white and on dark backgrounds. What has no meaning of its own takes the color of the
text. matplotlib is imported only to draw.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

from .._table import clean, number_text
from ..metrics.names import canonical_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BLUE, VERMILLION, GREEN = "#0072B2", "#D55E00", "#009E73"
PURPLE, OLIVE, VIOLET = "#CC79A7", "#999933", "#8833EE"

# systems in the order in which they are given, the baseline first
SYSTEMS = (BLUE, PURPLE, OLIVE, VIOLET)
# the model compared with the baseline; what is neither is muted
BETTER, WORSE = GREEN, VERMILLION
# reference lines, ties and whatever is undecided: as far from white as from black
MUTED = "#808080"

ACRONYMS = ("dcg", "ndcg", "map", "mrr", "err", "rbp")
# the end of a longer name is as telling as its beginning
LONGEST_NAME = 100
# characters in a line of a name beside the axes
LINE = 30


def system_color(position: int) -> str:
    """The color of a system by its position; after four systems they repeat."""
    return SYSTEMS[position % len(SYSTEMS)]


def system_hatch(position: int) -> str:
    """The hatch of a system by its position, which tells systems of one color apart."""
    return ("", "///", "...", "xxx")[position // len(SYSTEMS) % 4]


def system_line(position: int) -> dict[str, Any]:
    """Color, dashes and marker of a system, which tell curves apart with and without color."""
    return {
        "color": system_color(position),
        "linestyle": ("-", "--", "-.", ":")[(position + position // len(SYSTEMS)) % 4],
        "marker": "os^Dv*P"[position % 7],
    }


def outcome_color(low: float, high: float) -> str:
    """The color of a difference by its interval."""
    return BETTER if low > 0 else WORSE if high < 0 else MUTED


def text_color() -> str:
    """The color of text in the current style of matplotlib."""
    from matplotlib import rcParams

    return str(rcParams["text.color"])


def small() -> float:
    """The size of names and numbers: 9 points, unless the font size was changed."""
    from matplotlib import rcParams

    return 0.9 * float(rcParams["font.size"])


def merged(defaults: dict[str, Any], kwargs: dict[str, Any], artist: Any = None) -> Any:
    """Properties of an artist, of lines if None; those given, also as ``lw``, come first."""
    from matplotlib import cbook, lines

    return defaults | cbook.normalize_kwargs(kwargs, artist or lines.Line2D)


def literal(name: object, width: int = 0, longest: int = LONGEST_NAME) -> str:
    """A name as matplotlib draws it, neither as a formula nor as a hidden label."""
    text = clean(name)
    if len(text) > longest:
        text = f"{text[: longest // 2]}…{text[-longest // 2 + 1 :]}"
    text = textwrap.fill(text, width) if width else text
    return (" " if text.startswith("_") else "") + text.replace("$", r"\$")


def metric_label(metric: str, cutoff: str = "") -> str:
    """The name of a metric in text: NDCG for ``"ndcg"``, Hit rate for ``"hit_rate"``."""
    name, at, rest = metric.partition("@")
    name, bracket, options = name.partition("(")
    name = canonical_name(name) or name
    text = name.upper() if name in ACRONYMS else name.replace("_", " ").capitalize()
    return literal(f"{text}{at}{rest}{cutoff}{bracket}{options}")


def numbers(values: Sequence[float], sign: str = "") -> list[str]:
    """Numbers side by side, with a minus sign, and not all written as 0."""
    largest = max(map(abs, values))
    spec = f"{sign}.2g" if 1e-12 < largest < 0.0005 else f"{sign}.3f"
    near = [0.0 if abs(value) <= 1e-12 else value for value in values]
    return [number_text(value, spec).replace("-", "−") for value in near]


def grid(ax: Axes, axis: Literal["x", "y", "both"]) -> None:
    """Faint lines, on light and on dark backgrounds."""
    ax.grid(axis=axis, color=MUTED, alpha=0.25, linewidth=0.8)


def categories(ax: Axes, names: Sequence[str], counts: Sequence[str]) -> None:
    """Names below the axes with their counts, upright if they are too wide side by side."""
    labels = [f"{literal(n, 20)}\n{count}" for n, count in zip(names, counts, strict=True)]
    ax.set_xticks(range(len(names)), labels, fontsize=small())
    ax.set_xlim(-0.5, len(names) - 0.5)
    boxes = [label.get_window_extent() for label in ax.get_xticklabels()]
    if any(left.x1 + 0.2 * left.width > right.x0 for left, right in pairwise(boxes)):
        ax.set_xticks(range(len(names)), labels, rotation=90, multialignment="right")
