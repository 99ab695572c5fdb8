"""The HTML of a ranking report: tables for notebooks, and a file with everything."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from .._table import Table
from .details import convention_table, version_table, worst_query_tables
from .figures import NARROW, WIDE, report_figures
from .measurements import UNNAMED, Measurements
from .tables import difference_tables, facts_rows, system_tables

CSS = """
.rankscore { color: inherit; font: 15px/1.5 system-ui, sans-serif; }
.rankscore h1 { font-size: 1.7em; } .rankscore h2 { font-size: 1.25em; margin: 1.8em 0 .4em; }
.rankscore h3 { font-size: 1em; margin: 1.2em 0 .3em; }
.rankscore .scroll { overflow-x: auto; }
.rankscore table { border-collapse: collapse; margin: .3em 0; font-variant-numeric: tabular-nums; }
.rankscore caption { text-align: left; padding: .2em 0; opacity: .8; }
.rankscore th, .rankscore td { padding: .2em .7em; text-align: right; white-space: nowrap;
  border-bottom: 1px solid rgba(128, 128, 128, .3); }
.rankscore tbody th { text-align: left; font-weight: normal; }
.rankscore thead th:first-child { text-align: left; }
.rankscore .prose th { white-space: normal; }
.rankscore thead th { vertical-align: bottom; white-space: normal; }
.rankscore figure { margin: 1.2em 0 2em; } .rankscore figcaption { font-weight: 600; }
.rankscore svg { display: block; width: 100%; height: auto; }
.rankscore .narrow svg { max-width: 30rem; } .rankscore .wide { display: none; }
@media (min-width: 700px) {
  .rankscore .wide { display: block; } .rankscore .narrow { display: none; }
}
@media print {
  .rankscore .scroll { overflow: visible; }
  .rankscore th, .rankscore td { white-space: normal; }
}
"""
DOCUMENT_CSS = """
:root { color-scheme: light dark; }
body { margin: 0 auto; max-width: 64rem; padding: 1rem; background: #fff; color: #1a1a1a; }
@media (prefers-color-scheme: dark) { body { background: #14181e; color: #e8e8e8; } }
"""


def fragment(measured: Measurements) -> str:
    """The tables, for a notebook."""
    return f"<style>{CSS}</style><div class='rankscore'>{''.join(_tables(measured))}</div>"


def document(measured: Measurements, title: str, *, with_plots: bool) -> str:
    """A complete file that refers to no other."""
    sections = [
        *_tables(measured), _plots(measured) if with_plots else "", *_queries(measured),
        "<h2>Conventions</h2>", f"<div class='prose'>{convention_table(measured).html()}</div>",
        "<h2>Versions</h2>", _scroll(version_table()),
    ]  # fmt: skip
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{DOCUMENT_CSS}{CSS}</style></head>"
        f"<body><main class='rankscore'><h1>{escape(title)}</h1>\n"
        + "\n".join(sections)
        + "\n</main></body></html>\n"
    )


def _tables(measured: Measurements) -> Iterator[str]:
    yield f"<h2>Data</h2>{_scroll(_facts_table(measured))}<h2>Metrics</h2>"
    for name, system in measured.systems.items():
        yield f"<h3>{escape(str(name))}</h3>" if name != UNNAMED else ""
        yield from map(_scroll, system_tables(system, measured))
    if measured.comparison is not None:
        yield "<h2>Differences</h2>"
        yield from map(_scroll, difference_tables(measured))


def _facts_table(measured: Measurements) -> Table:
    columns = [facts_rows(system) for system in measured.systems.values()]
    names = dict.fromkeys(name for column in columns for name in column)
    rows = [[name, *(column.get(name, "") for column in columns)] for name in names]
    if all(len({*row[1:]}) == 1 for row in rows):
        return Table("", ["", ""], [row[:2] for row in rows])
    return Table("", ["", *map(str, measured.systems)], rows)


def _plots(measured: Measurements) -> str:
    try:
        import matplotlib as _  # noqa: F401
    except ImportError:
        return "<h2>Plots</h2><p>The plots require matplotlib, which was not installed.</p>"
    figures = [
        f"<figure><figcaption>{escape(figure.title)}</figcaption>"
        f"<div class='wide'>{figure.svg(WIDE, f'wide{i}')}</div>"
        f"<div class='narrow'>{figure.svg(NARROW, f'narrow{i}')}</div></figure>"
        for i, figure in enumerate(report_figures(measured))
    ]
    return "\n".join(["<h2>Plots</h2>", *figures]) if figures else ""


def _queries(measured: Measurements) -> Iterator[str]:
    yield "<h2>Queries</h2>"
    yield from map(_scroll, worst_query_tables(measured))


def _scroll(table: Table) -> str:
    """A table that scrolls within itself where it is too wide."""
    return f"<div class='scroll'>{table.html()}</div>"
