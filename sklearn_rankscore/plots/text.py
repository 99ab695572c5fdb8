"""Text of plots: names that fit where they are drawn, and numbers."""

from __future__ import annotations

import textwrap
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from ..inspection.intervals import TOLERANCE

SHORTEST_LINE = 8


def literal(name: object) -> str:
    """A name as matplotlib draws it, neither as a formula nor as a hidden label."""
    text = str(name).replace("$", r"\$")
    return f" {text}" if text.startswith("_") else text


def number_spec(numbers: Iterable[float], sign: str = "") -> str:
    """The format of numbers side by side, so that they are not all written as 0."""
    largest = max(map(abs, numbers), default=0.0)
    return f"{sign}.2g" if TOLERANCE < largest < 0.0005 else f"{sign}.3f"


def wrap(text: str, n_characters: int) -> str:
    """A text in lines of that many characters; words that are longer are broken."""
    lines = textwrap.wrap(text, max(n_characters, SHORTEST_LINE), break_on_hyphens=False)
    return "\n".join(lines) or text


def shortened(name: str, n_characters: int, n_last: int | None = None) -> str:
    """A name without its middle if it is longer; the end has half of the characters, or `n_last`.

    Names often differ at the end only.
    """
    if len(name) <= n_characters:
        return name
    kept = max(n_characters - 1, 2)
    n_last = kept // 2 if n_last is None else max(n_last, 1)
    return f"{name[: kept - n_last]}…{name[-n_last:]}"


def fit_names(names: Sequence[str], n_characters: int, n_lines: int = 1) -> list[str]:
    """Names in at most that many lines; those that are shortened still differ from all others."""
    size = max(n_characters, SHORTEST_LINE), n_lines
    rows = {name: row for row, name in reversed([*enumerate(names, 1)])}
    fitted = {name: _fit(name, partial(shortened, name), *size) for name in rows}
    for equal in _collisions(fitted):
        start = _first_difference(equal)
        for name in equal:
            fitted[name] = _fit(name, partial(_with_difference, name, start), *size)
    # names that differ in several places
    for equal in _collisions(fitted):
        for name in equal:
            fitted[name] = _fit(name, partial(_with_number, name, rows[name]), *size)
    return [fitted[name] for name in names]


def _fit(name: str, shorten: Callable[[int], str], n_characters: int, n_lines: int) -> str:
    """The name in that many lines, shortened to as many characters as they hold."""
    for length in range(min(len(name), n_characters * n_lines), 0, -1):
        text = wrap(shorten(length), n_characters)
        if text.count("\n") < n_lines:
            return text
    return name


def _collisions(fitted: dict[str, str]) -> list[list[str]]:
    """Names with the same text."""
    by_text = defaultdict(list)
    for name, text in fitted.items():
        by_text[text].append(name)
    return [equal for equal in by_text.values() if len(equal) > 1]


def _first_difference(names: Sequence[str]) -> int:
    """The first position at which the characters of the names differ."""
    columns = enumerate(zip(*names, strict=False))
    shortest = min(map(len, names))
    return next((i for i, characters in columns if len({*characters}) > 1), shortest)


def _with_difference(name: str, start: int, n_characters: int) -> str:
    """The beginning and end of a name, and what is at `start`, where it differs from others."""
    quarter = n_characters // 4
    begin = start - quarter
    if begin <= quarter + 1:
        return shortened(name, n_characters, quarter)
    return f"{name[:quarter]}…{shortened(name[begin:], n_characters - quarter - 1, quarter)}"


def _with_number(name: str, number: int, n_characters: int) -> str:
    """The name with the number of its row."""
    return f"{shortened(name, n_characters - len(f' ({number})'))} ({number})"
