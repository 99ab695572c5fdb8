"""What is in a report, and how it is shown: one sequence of parts, as text and as HTML."""

from __future__ import annotations

import importlib
import io
import math
import platform
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, Self, TypeAlias, overload

import numpy as np

from .._table import Number, Table, clean
from .._typing import Array
from .._validation import check_flag
from ..comparison import Comparison, QueryScores, SegmentScores
from ..comparison.compare import paired_differences
from ..metrics.segment import ALL_QUERIES, Segment
from ..plots import (
    CutoffCurveDisplay,
    DifferenceCurveDisplay,
    ForestDisplay,
    QueryDeltaDisplay,
    QueryPropertyDisplay,
    QueryScatterDisplay,
)  # fmt: skip
from ..plots.queries import LABELS

N_QUERIES = 10
PACKAGES = (__name__.partition(".")[0], "sklearn", "numpy", "scipy", "matplotlib")
# the row below that of a metric
RANDOM_ORDER = Segment("", "random order")
# replaced by the color of the surrounding text
TEXT_COLOR = "#010203"
COLORED = ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color")
CLEAR = ("figure.facecolor", "axes.facecolor", "savefig.facecolor")
FONTS = r"^font\.(family|sans-serif|serif|monospace)$"


class Cell(NamedTuple):
    """Row and column of a metric in the table, the cut-off None being the last; its options."""

    label: str
    k: int | None
    options: str = ""


@dataclass(frozen=True)
class System:
    """Measurements of one system.

    Parameters
    ----------
    facts : dict of str to float
        Properties of the data: the entry "data" of a report.
    metrics : dict of str to dict of str to float
        What is known of the mean of each metric: the entry "metrics" of a report.
    sizes, relevant : array of shape (n_queries,)
        Number of documents and of relevant documents of each query.
    scores : QueryScores
        The values of each query.
    segments : SegmentScores or None
        Means by segment.
    """

    facts: Mapping[str, float]
    metrics: Mapping[str, Mapping[str, float]]
    sizes: Array
    relevant: Array
    scores: QueryScores
    segments: SegmentScores | None

    def summary(self, comparison: Comparison | None, name: str) -> dict[str, Any]:
        """Unrounded numbers, with the differences from the baseline by segment."""
        if self.segments is None:
            return {"data": self.facts, "metrics": self.metrics}
        rows = {
            (s.metric, s.segment): {
                "metric": s.metric, **s.segment._asdict(), "queries": s.queries, "share": s.share,
                "mean": s.mean, **s.interval._asdict(), "rest_p_value": s.rest_p_value,
            }
            for s in self.segments
        }  # fmt: skip
        for d in comparison or ():
            if d.model == name and d.segment != ALL_QUERIES:
                rows[d.metric, d.segment] |= {
                    "difference": d.difference, "difference_low": d.interval.low,
                    "difference_high": d.interval.high, "adjusted_p_value": d.adjusted_p_value,
                }  # fmt: skip
        return {"data": self.facts, "metrics": self.metrics, "segments": list(rows.values())}


@dataclass(frozen=True)
class Contents:
    """All that is in a report.

    Parameters
    ----------
    systems : dict of str to System
        By name; a single system that was not given by name has the name "".
    cells : dict of str to Cell
        The cell of each metric.
    comparison : Comparison or None
        All other systems compared with the first.
    inference : dict
        Arguments of all intervals: `confidence`, `method`, `n_resamples` and `random_state`.
    digits : int
        Number of decimals.
    like : str or None
        The library whose conventions were asked for.
    """

    systems: Mapping[str, System]
    cells: Mapping[str, Cell]
    comparison: Comparison | None
    inference: Mapping[str, Any]
    digits: int
    like: str | None

    @property
    def main_metrics(self) -> list[str]:
        """One metric of each row: that with the largest cut-off, or without any."""
        by_cutoff = sorted(self.cells, key=lambda metric: self.cells[metric].k or 0)
        largest = {self.cells[metric].label: metric for metric in by_cutoff}
        return [largest[label] for label in dict.fromkeys(c.label for c in self.cells.values())]


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

    _contents: Contents
    scores: dict[str, QueryScores]
    segments: dict[str, SegmentScores]
    comparison: Comparison | None

    @classmethod
    def _of(cls, contents: Contents) -> RankingReport:
        tables = list(_tables(contents))
        texts = [
            part.text() if isinstance(part, Table) else clean(part.text)
            for part in tables
            if isinstance(part, Table) or part.level > 2
        ]
        html = f"<style>{_css()}</style><div class='rankscore'>{_html(tables)}</div>"
        self = cls("\n\n".join(texts), html)
        systems = contents.systems.items()
        self._contents, self.comparison = contents, contents.comparison
        self.scores = {name: system.scores for name, system in systems}
        self.segments = {name: s.segments for name, s in systems if s.segments is not None}
        return self

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
        of, name = self._contents, clean(title, "html")
        parts: list[Part] = [*_tables(of)]
        if check_flag("plots", plots):
            parts += _figures(of)
        parts += [Heading("Queries"), *_worst_queries(of), Heading("Conventions"), _options(of)]
        parts += [Heading("Versions"), _versions()]
        html = (
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>{name}</title><style>{_css()}</style></head>"
            f"<body class='rankscore'><h1>{name}</h1>\n{_html(parts)}\n</body></html>\n"
        )
        if path is None:
            return html
        Path(path).write_text(html, encoding="utf-8")
        return None


class Heading(NamedTuple):
    """The title of the parts below it; those of level 2 are in the HTML alone."""

    text: str
    level: int = 2


# a text is HTML
Part: TypeAlias = Heading | Table | str


def _css() -> str:
    return Path(__file__).with_name("report.css").read_text("utf-8")


def _html(parts: Iterable[Part]) -> str:
    """Parts as HTML; a table scrolls within itself where it is too wide."""
    shown = []
    for part in parts:
        if isinstance(part, Heading):
            shown.append(f"<h{part.level}>{clean(part.text, 'html')}</h{part.level}>")
        elif isinstance(part, Table):
            shown.append(f"<div class='scroll'>{part.html()}</div>")
        else:
            shown.append(part)
    return "\n".join(shown)


def _tables(contents: Contents) -> Iterator[Heading | Table]:
    """Data, means of each system and differences between them."""
    yield Heading("Data")
    yield _facts_table(contents)
    yield Heading("Metrics")
    for name, system in contents.systems.items():
        if name != "":
            yield Heading(str(name), 3)
        yield from _system_tables(system, contents)
    if contents.comparison is not None:
        yield Heading("Differences")
        yield contents.comparison._table().narrowed(digits=contents.digits)


def _facts_table(contents: Contents) -> Table:
    """One column if all systems have the same facts."""
    columns = [_facts(system.facts) for system in contents.systems.values()]
    names = dict.fromkeys(name for column in columns for name in column)
    rows = [[name, *(column.get(name, "") for column in columns)] for name in names]
    if all(len({*row[1:]}) == 1 for row in rows):
        return Table("", ["", ""], [row[:2] for row in rows], n_labels=2)
    return Table("", ["", *map(str, contents.systems)], rows, n_labels=1 + len(columns))


def _facts(data: Mapping[str, float]) -> dict[str, str]:
    """Names and values of the properties of the data."""
    of_query, retrieved = (
        f"{data[f'fewest_{of}']:,} to {data[f'most_{of}']:,}, median {data[f'median_{of}']:g}"
        for of in ("documents", "retrieved")
    )
    facts = {
        "queries": f"{data['queries']:,}",
        "documents": f"{data['documents']:,}",
        "documents of a query": of_query,
        "queries without relevant documents": f"{data['queries_without_relevant']:.1%}",
        "queries of one document": f"{data['queries_of_one_document']:.1%}",
        "queries with all scores tied": f"{data['queries_all_tied']:.1%}",
        "documents tied with another one": f"{data['documents_tied']:.1%}",
    }
    if retrieved != of_query:
        facts["retrieved documents of a query"] = retrieved
        facts["queries without results"] = f"{data['queries_without_results']:.1%}"
    if data["documents_unjudged"]:
        facts["documents without a judgment"] = f"{data['documents_unjudged']:.1%}"
    if "clicks" in data:
        effective = f"{data['clicks']:,}, {data['effective_clicks']:,.0f}"
        facts["clicks, and their effective number"] = effective
        facts["documents with a clipped propensity"] = f"{data['documents_clipped']:.1%}"
    return facts


class Entry(NamedTuple):
    """A number of the table: its cell, and for a segment the queries that it is about."""

    cell: Cell
    number: Number
    segment: Segment = ALL_QUERIES
    queries: int = 0
    share: float = 1.0


def _system_tables(system: System, contents: Contents) -> Iterator[Table]:
    """Means of a system, with those of random orders, their bounds and those by segment."""
    spec, cells = f".{contents.digits}f", contents.cells
    level = f"[{contents.inference['confidence'] * 100:g} % interval]"
    entries, bounds = [], []
    for name, of in system.metrics.items():
        number = Number(of["mean"], spec, (of["low"], of["high"]))
        entries.append(Entry(cells[name], number))
        if not math.isnan(of["random_order"]):
            entries.append(Entry(cells[name], Number(of["random_order"], spec), RANDOM_ORDER))
        if "lowest" in of:
            bounds.append(Entry(cells[name], Number((of["lowest"], of["highest"]), spec)))
    yield _by_cutoff(entries, f"mean {level}")
    if bounds:
        yield _by_cutoff(bounds, "[lowest, highest mean of any missing labels]")
    if system.segments is not None:
        by_segment = [
            Entry(cells[s.metric], Number(s.mean, spec, s.interval), s.segment, s.queries, s.share)
            for s in system.segments
        ]
        yield _by_cutoff(by_segment, f"mean by segment {level}", with_segments=True)


def _by_cutoff(entries: list[Entry], corner: str, *, with_segments: bool = False) -> Table:
    """One row per metric and segment, one column per cut-off."""
    cutoffs = sorted({entry.cell.k for entry in entries}, key=lambda k: (k is None, k))
    labels = list(dict.fromkeys(entry.cell.label for entry in entries))
    rows: dict[tuple[str, Segment], dict[int | None, Entry]] = {}
    for entry in entries:
        rows.setdefault((entry.cell.label, entry.segment), {})[entry.cell.k] = entry
    header = [corner, *("all" if k is None else f"@{k}" for k in cutoffs)]
    if with_segments:
        header[1:1] = ["", "", "queries", "share"]
    body = [
        [
            label if segment != RANDOM_ORDER else f"  {segment.value}",
            *(_about(segment, list(row.values())) if with_segments else ()),
            *(row[k].number if k in row else "" for k in cutoffs),
        ]
        for (label, segment), row in sorted(rows.items(), key=lambda r: labels.index(r[0][0]))
    ]
    return Table("", header, body, n_labels=3 if with_segments else 1)


def _about(segment: Segment, entries: list[Entry]) -> list[str]:
    """Column, value, number and share of the queries, which may depend on the cut-off."""
    number = _range([entry.queries for entry in entries], ",d")
    share = _range([entry.share for entry in entries], ".1%")
    return [segment.column, str(segment.value), number, share]


def _range(values: list[Any], spec: str) -> str:
    """The smallest and the largest value, or one if they look the same."""
    return "–".join(dict.fromkeys(f"{value:{spec}}" for value in (min(values), max(values))))


def _worst_queries(contents: Contents) -> Iterator[Table]:
    """The queries on which each model loses most, or those of a single system that score lowest."""
    metric, spec = contents.main_metrics[0], f".{contents.digits}f"
    (name, first), *others = contents.systems.items()
    segments = first.scores.segments or {}

    def table(title: str, order: Array, columns: list[tuple[str, Array, str]]) -> Table:
        rows = np.argsort(order, kind="stable")[: min(N_QUERIES, int((~np.isnan(order)).sum()))]
        body = [
            [
                str(first.scores.ids[row]), *(str(column[row]) for column in segments.values()),
                int(first.sizes[row]), int(first.relevant[row]),
                *(Number(float(column[row]), spec) for _, column, spec in columns),
            ]
            for row in rows
        ]  # fmt: skip
        header = ["query", *segments, "documents", "relevant", *(str(name) for name, *_ in columns)]
        return Table(title, header, body, 1 + len(segments), "" if body else "none")

    values = first.scores[metric]
    if not others:
        yield table(f"Queries with the lowest {metric}", values, [(metric, values, spec)])
    for model, system in others:
        difference = paired_differences(first.scores, system.scores)[metric]
        columns = [
            (name, values, spec), (model, system.scores[metric], spec),
            ("difference", difference, f"+{spec}"),
        ]  # fmt: skip
        title = f"Queries on which {model} loses most, by {metric}"
        yield table(title, np.where(difference < 0, difference, np.nan), columns)


def _options(contents: Contents) -> Table:
    """All options of each metric."""
    options = {cell.label: cell.options for cell in contents.cells.values()}
    title = f"Conventions of {contents.like or 'this package'}"
    return Table(title, ["metric", "options"], list(options.items()), n_labels=2)


def _versions() -> Table:
    """Versions of Python and of the packages that computed the numbers."""
    rows = [["python", platform.python_version()]]
    for package in PACKAGES:
        try:
            rows.append([package, str(importlib.import_module(package).__version__)])
        except ImportError:
            continue
    return Table("", ["", ""], rows, n_labels=2)


def _figures(contents: Contents) -> list[Part]:
    """The plots that these measurements allow."""
    try:
        import matplotlib as _  # noqa: F401
    except ImportError:
        return [Heading("Plots"), "<p>The plots require matplotlib, which was not installed.</p>"]
    figures = [_figure(f"figure{i}", *of) for i, of in enumerate(_displays(contents))]
    return [Heading("Plots"), *figures] if figures else []


def _figure(name: str, title: str, draw: Callable[..., Any], height: float = 4.5) -> str:
    """The display as SVG that takes the text color of its surroundings; `name` is unique."""
    from matplotlib import rcParams, style
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Canvas

    # names in other scripts than the default font has need one that the user has chosen
    fonts: Any = rcParams.find_all(FONTS)
    settings: Any = {
        **dict.fromkeys(COLORED, TEXT_COLOR), **dict.fromkeys(CLEAR, "none"),
        "svg.fonttype": "path", "savefig.bbox": None, "svg.hashsalt": name,
        **fonts,
    }  # fmt: skip
    with style.context(["default", settings]):
        canvas, text = Canvas(figsize=(7, height), layout="constrained"), io.StringIO()
        FigureCanvasAgg(canvas)
        draw(ax=canvas.subplots())
        canvas.savefig(text, format="svg", metadata={"Date": None})
    svg = text.getvalue()
    svg = re.sub(r"<!--.*?-->|<metadata>.*?</metadata>", "", svg[svg.index("<svg") :], flags=re.S)
    svg = re.sub(r'\b(id="|href="#|url\(#)', rf"\g<1>{name}-", svg)
    svg = re.sub(r' (width|height)="[^"]*"', "", svg, count=2).replace(TEXT_COLOR, "currentColor")
    shown = clean(title, "html")
    svg = svg.replace("<svg", f'<svg role="img" aria-label="{shown}"', 1)
    caption = f"<figcaption>{shown}</figcaption>"
    return f"<figure>{caption}<div class='scroll'>{svg.strip()}</div></figure>"


def _displays(contents: Contents) -> Iterator[tuple[Any, ...]]:
    """Title, how it is drawn and height of each plot that these measurements allow."""
    main, label = contents.main_metrics[0], contents.cells[contents.main_metrics[0]].label
    scores = {name or label: system.scores for name, system in contents.systems.items()}
    baseline, *models = scores
    first, inference = next(iter(contents.systems.values())), contents.inference
    has_curve = len({c.k for c in contents.cells.values() if c.label == label} - {None}) > 1
    if contents.comparison is not None:
        shown = contents.main_metrics if first.segments is None else [main]
        rows = [d for d in contents.comparison if d.metric in shown]
        draw: Any = partial(ForestDisplay.from_comparison, contents.comparison, metric=shown)
        yield ("Differences", draw, 0.3 * len(rows) + 2)
        for model in models:
            pair = {baseline: scores[baseline], model: scores[model]}
            included = paired_differences(*pair.values()).included()
            if included[:, scores[baseline].column(main)].any():
                draw = partial(QueryDeltaDisplay.from_query_scores, pair, metric=main, **inference)
                yield (f"Queries on which {model} wins and loses", draw)
                draw = partial(QueryScatterDisplay.from_query_scores, pair, metric=main)
                yield (f"Each query, {baseline} and {model}", draw, 5.5)
    if has_curve:
        given = {"metric": label, **inference}
        yield ("By cut-off", partial(CutoffCurveDisplay.from_query_scores, scores, **given))
        if models:
            draw = partial(DifferenceCurveDisplay.from_query_scores, scores, **given)
            yield ("Differences by cut-off", draw)
    if first.segments is not None:
        draw = partial(
            ForestDisplay.from_query_scores, scores, metric=main, means=True, **inference
        )
        n_rows = len({s.segment for s in first.segments}) * (1 + len(scores))
        yield ("Means by segment", draw, 0.3 * n_rows + 2)
    of_query = {"documents": first.sizes, "relevant": first.relevant.astype(int)}
    for kind, values in of_query.items():
        if values.min() < values.max():
            draw = partial(
                QueryPropertyDisplay.from_query_scores, scores, {LABELS[kind]: values},
                metric=main, **inference,
            )  # fmt: skip
            yield (f"By number of {LABELS[kind]}", draw)
