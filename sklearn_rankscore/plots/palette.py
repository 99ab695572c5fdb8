"""One color for each meaning, the same in all plots.

Most are those of Okabe and Ito for all types of color vision (https://jfly.uni-koeln.de/color).
Their light ones, orange and sky blue, fade on white; olive is from the palette "muted" of Paul Tol
(https://sronpersonalpages.nl/~pault). All have a contrast of at least 3 on white and on dark
backgrounds. What has no meaning of its own takes the color of the text.
"""

from __future__ import annotations

BLUE, VERMILLION, GREEN = "#0072B2", "#D55E00", "#009E73"
PURPLE, OLIVE, VIOLET = "#CC79A7", "#999933", "#8833EE"

# systems in the order in which they are given, the baseline first
SYSTEMS = (BLUE, PURPLE, OLIVE, VIOLET)
# the model compared with the baseline; what is neither is muted
BETTER, WORSE = GREEN, VERMILLION
# reference lines, ties and whatever is undecided: as far from white as from black
MUTED = "#808080"


def system_color(position: int) -> str:
    """The color of a system by its position; after four systems they repeat."""
    return SYSTEMS[position % len(SYSTEMS)]


def system_hatch(position: int) -> str:
    """The hatch of a system by its position, which tells systems of one color apart."""
    return ("", "///", "...", "xxx")[position // len(SYSTEMS) % 4]


def outcome_color(low: float, high: float) -> str:
    """The color of a difference by its interval."""
    if low > 0:
        return BETTER
    return WORSE if high < 0 else MUTED


def text_color() -> str:
    """The color of text in the current style of matplotlib."""
    from matplotlib import rcParams

    return str(rcParams["text.color"])


def line_style(position: int) -> dict[str, str]:
    """Color, dashes and marker of a system, which tell curves apart with and without color."""
    return {
        "color": system_color(position),
        "linestyle": ("-", "--", "-.", ":")[(position + position // len(SYSTEMS)) % 4],
        "marker": "os^Dv*P"[position % 7],
    }
