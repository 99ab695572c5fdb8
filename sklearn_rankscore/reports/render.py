"""What is in a report, and how it is shown: one sequence of parts, as text and as HTML."""

from __future__ import annotations

import importlib
import io
import math
import platform
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, Self, TypeAlias, overload

import numpy as np

from .._table import Number, Table, clean
from .._typing import Array
from .._validation import check_flag
from ..inspection import Comparison, Interval, QueryScores, SegmentScores
from ..inspection.compare import paired_differences
from ..inspection.comparison import few_distinct_note
from ..metrics.conventions import convention
from ..metrics.names import METRICS, parse_name
from ..metrics.segment import ALL_QUERIES, Segment
from ..plots import (
    CutoffCurveDisplay,
    DifferenceCurveDisplay,
    ForestDisplay,
    QueryDeltaDisplay,
    QueryPropertyDisplay,
    QueryScatterDisplay,
)
from ..plots.queries import LABELS

N_QUERIES = 10
PACKAGES = (__name__.partition(".")[0], "sklearn", "numpy", "scipy", "matplotlib")
# the row below that of a metric
RANDOM_ORDER = Segment("", "random order")
FONTS = r"^font\.(family|sans-serif|serif|monospace)$"
# replaced by the color of the surrounding text
TEXT_COLOR = "#010203"
STYLE: dict[str, Any] = {
    **dict.fromkeys(
        ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color"),
        TEXT_COLOR,
    ),
    "figure.facecolor": "none", "axes.facecolor": "none", "savefig.facecolor": "none",
    "svg.fonttype": "path", "savefig.bbox": None,
}  # fmt: skip

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
.rankscore tbody th + th { white-space: normal; }
.rankscore thead th { vertical-align: bottom; white-space: normal; }
.rankscore figure { margin: 1.2em 0 2em; } .rankscore figcaption { font-weight: 600; }
.rankscore svg { display: block; width: 100%; min-width: 30rem; max-width: 52rem; height: auto; }
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


class Cell(NamedTuple):
    """Row and column of a metric in the table; the cut-off None is the last column."""

    label: str
    k: int | None


@dataclass(frozen=True)
class SystemMeasurements:
    """Measurements of one system.

    Parameters
    ----------
    facts : dict of str to float
        Properties of the data: the entry "data" of a report.
    sizes, relevant : array of shape (n_queries,)
        Number of documents and of relevant documents of each query.
    scores : QueryScores
        The values of each query.
    intervals : dict of str to Interval
        The interval of each mean.
    random_order : dict of str to float
        The mean of each metric for random orders of the documents, where it is known.
    bounds : dict of str to Interval
        The least and the greatest mean that any labels of unjudged documents give.
    segments : SegmentScores or None
        Means by segment.
    """

    facts: Mapping[str, float]
    sizes: Array
    relevant: Array
    scores: QueryScores
    intervals: dict[str, Interval]
    random_order: Mapping[str, float]
    bounds: Mapping[str, Interval]
    segments: SegmentScores | None

    def summary(self, comparison: Comparison | None, name: str) -> dict[str, Any]:
        """Unrounded numbers, with the differences from the baseline by segment."""
        means, counts = self.scores.mean(), self.scores.included().sum(axis=0).tolist()
        metrics = {
            metric: {
                "mean": means[metric], **self.intervals[metric]._asdict(), "queries": count,
                "random_order": self.random_order.get(metric, math.nan),
            }
            for metric, count in zip(self.scores.metrics, counts, strict=True)
        }  # fmt: skip
        for metric, (low, high) in self.bounds.items():
            metrics[metric] |= {"lowest": low, "highest": high}
        summary = {"data": self.facts, "metrics": metrics}
        if self.segments is None:
            return summary
        differences = {
            (d.metric, d.segment): {
                "difference": d.difference,
                "difference_low": d.interval.low,
                "difference_high": d.interval.high,
                "adjusted_p_value": d.adjusted_p_value,
            }
            for d in comparison or ()
            if d.model == name
        }
        rows = [
            {
                "metric": s.metric, **s.segment._asdict(), "queries": s.queries, "share": s.share,
                "mean": s.mean, **s.interval._asdict(), "rest_p_value": s.rest_p_value,
                **differences.get((s.metric, s.segment), {}),
            }
            for s in self.segments
        ]  # fmt: skip
        return {**summary, "segments": rows}


@dataclass(frozen=True)
class Measurements:
    """All that is in a report.

    Parameters
    ----------
    systems : dict of str to SystemMeasurements
        By name; a single system that was not given by name has the name "".
    cells : dict of str to Cell
        Row and column of each metric.
    comparison : Comparison or None
        All other systems compared with the first.
    inference : dict
        Arguments of all intervals: `confidence`, `method`, `n_resamples` and `random_state`.
    digits : int
        Number of decimals.
    conventions : dict
        Options that were given, and `like`.
    """

    systems: Mapping[str, SystemMeasurements]
    cells: Mapping[str, Cell]
    comparison: Comparison | None
    inference: Mapping[str, Any]
    digits: int
    conventions: Mapping[str, Any] = field(default_factory=dict)

    @property
    def main_metrics(self) -> list[str]:
        """One metric of each row: that with the largest cut-off, or without any."""
        largest: dict[str, str] = {}
        for metric, cell in self.cells.items():
            current = largest.get(cell.label)
            if current is None or (cell.k or 0) > (self.cells[current].k or 0):
                largest[cell.label] = metric
        return list(largest.values())


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
        self = super().__new__(cls, _text(measured))
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
        html = _document(self._measured, title, with_plots=check_flag("plots", plots))
        if path is None:
            return html
        Path(path).write_text(html, encoding="utf-8")
        return None

    def _repr_html_(self) -> str:
        return f"<style>{CSS}</style><div class='rankscore'>{_html(_tables(self._measured))}</div>"

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


class Figure(NamedTuple):
    """A display that is drawn in the HTML, and its height in inches."""

    title: str
    draw: Callable[..., Any]
    height: float = 4.5


class Heading(NamedTuple):
    """The title of the parts below it; those of level 2 are in the HTML alone."""

    text: str
    level: int = 2


Part: TypeAlias = Heading | Table | Figure | str


def _text(measured: Measurements) -> str:
    """The tables below the names of their systems."""
    texts = [
        part.text() if isinstance(part, Table) else clean(part.text)
        for part in _tables(measured)
        if isinstance(part, Table) or (isinstance(part, Heading) and part.level > 2)
    ]
    return "\n\n".join(texts)


def _html(parts: Iterator[Part]) -> str:
    """Parts as HTML; a table scrolls within itself where it is too wide, as does a figure."""
    shown = []
    for i, part in enumerate(parts):
        if isinstance(part, Heading):
            shown.append(f"<h{part.level}>{clean(part.text, 'html')}</h{part.level}>")
        elif isinstance(part, Table):
            shown.append(f"<div class='scroll'>{part.html()}</div>")
        elif isinstance(part, Figure):
            title = clean(part.title, "html")
            shown.append(
                f"<figure><figcaption>{title}</figcaption>"
                f"<div class='scroll'>{_svg(part, f'figure{i}')}</div></figure>"
            )
        else:
            shown.append(f"<p>{clean(part, 'html')}</p>")
    return "\n".join(shown)


def _document(measured: Measurements, title: str, *, with_plots: bool) -> str:
    """A complete file that refers to no other."""

    def parts() -> Iterator[Part]:
        yield from _tables(measured)
        if with_plots:
            yield from _figures(measured)
        yield Heading("Queries")
        yield from _worst_queries(measured)
        yield Heading("Conventions")
        yield _convention_table(measured)
        yield Heading("Versions")
        yield _version_table()

    name = clean(title, "html")
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{name}</title><style>{DOCUMENT_CSS}{CSS}</style></head>"
        f"<body><main class='rankscore'><h1>{name}</h1>\n{_html(parts())}\n</main></body></html>\n"
    )


def _tables(measured: Measurements) -> Iterator[Part]:
    """Data, means of each system and differences between them."""
    yield Heading("Data")
    yield _facts_table(measured)
    yield Heading("Metrics")
    for name, system in measured.systems.items():
        if name != "":
            yield Heading(str(name), 3)
        yield from _system_tables(system, measured)
    if measured.comparison is not None:
        yield Heading("Differences")
        for model in list(measured.systems)[1:]:
            yield _difference_table(measured.comparison, model, measured)


def _facts_table(measured: Measurements) -> Table:
    """One column if all systems have the same facts."""
    columns = [_facts_rows(system) for system in measured.systems.values()]
    names = dict.fromkeys(name for column in columns for name in column)
    rows = [[name, *(column.get(name, "") for column in columns)] for name in names]
    if all(len({*row[1:]}) == 1 for row in rows):
        return Table("", ["", ""], [row[:2] for row in rows], n_labels=2)
    return Table("", ["", *map(str, measured.systems)], rows, n_labels=1 + len(columns))


def _facts_rows(system: SystemMeasurements) -> dict[str, str]:
    """Names and values of the properties of the data."""
    data = system.facts
    facts = {
        "queries": f"{data['queries']:,}",
        "documents": f"{data['documents']:,}",
        "documents of a query": _sizes(data, "documents"),
        "queries without relevant documents": f"{data['queries_without_relevant']:.1%}",
        "queries of one document": f"{data['queries_of_one_document']:.1%}",
        "queries with all scores tied": f"{data['queries_all_tied']:.1%}",
        "documents tied with another one": f"{data['documents_tied']:.1%}",
    }
    if (of_query := _sizes(data, "retrieved")) != facts["documents of a query"]:
        facts["retrieved documents of a query"] = of_query
        facts["queries without results"] = f"{data['queries_without_results']:.1%}"
    if data["documents_unjudged"]:
        facts["documents without a judgment"] = f"{data['documents_unjudged']:.1%}"
    if "clicks" in data:
        facts["clicks, and their effective number"] = (
            f"{data['clicks']:,}, {data['effective_clicks']:,.0f}"
        )
        facts["documents with a clipped propensity"] = f"{data['documents_clipped']:.1%}"
    return facts


def _sizes(data: Mapping[str, float], what: str) -> str:
    fewest, median, most = (data[f"{which}_{what}"] for which in ("fewest", "median", "most"))
    return f"{fewest:,} to {most:,}, median {median:g}"


def _system_tables(system: SystemMeasurements, measured: Measurements) -> Iterator[Table]:
    """Means of a system, with those of random orders, their bounds and those by segment."""
    means, spec = system.scores.mean(), f".{measured.digits}f"
    level = f"[{measured.inference['confidence'] * 100:g} % interval]"
    entries = []
    for name, cell in measured.cells.items():
        entries.append(Entry(cell, Number(means[name], spec, system.intervals[name])))
        if name in system.random_order:
            entries.append(Entry(cell, Number(system.random_order[name], spec), RANDOM_ORDER))
    yield _by_cutoff(entries, f"mean {level}")
    if system.bounds:
        bounds = [Entry(measured.cells[n], Number(b, spec)) for n, b in system.bounds.items()]
        yield _by_cutoff(bounds, "[lowest, highest mean of any missing labels]")
    if system.segments is not None:
        by_segment = [
            Entry(
                measured.cells[s.metric], Number(s.mean, spec, s.interval), s.segment, s.queries,
                s.share,
            )
            for s in system.segments
        ]  # fmt: skip
        yield _by_cutoff(by_segment, f"mean by segment {level}", with_segments=True)


def _difference_table(comparison: Comparison, model: str, measured: Measurements) -> Table:
    """Differences of one model: one row per metric and segment, one column per cut-off."""
    own = [d for d in comparison if d.model == model]
    spec = f"+.{measured.digits}f"
    entries = [
        Entry(
            measured.cells[d.metric],
            Number(d.difference, spec, d.interval, "*" if d.few_distinct else ""),
            d.segment, d.queries, d.share,
        )
        for d in own
    ]  # fmt: skip
    title = f"{model} compared with {comparison.baseline} by the {comparison.test} test"
    note = few_distinct_note(own, comparison.method)
    with_segments = any(d.segment != ALL_QUERIES for d in own)
    corner = f"difference [{comparison.confidence * 100:g} % interval]"
    return _by_cutoff(entries, corner, with_segments=with_segments, title=title, note=note)


class Entry(NamedTuple):
    """A number of the table: its cell, and for a segment the queries that it is about."""

    cell: Cell
    number: Number
    segment: Segment = ALL_QUERIES
    queries: int = 0
    share: float = 1.0


def _by_cutoff(
    entries: list[Entry],
    corner: str,
    *,
    with_segments: bool = False,
    title: str = "",
    note: str = "",
) -> Table:
    """One row per metric and segment, one column per cut-off."""
    cutoffs = sorted({entry.cell.k for entry in entries}, key=lambda k: (k is None, k))
    rows: dict[tuple[str, Segment], dict[int | None, Entry]] = {}
    for entry in entries:
        rows.setdefault((entry.cell.label, entry.segment), {})[entry.cell.k] = entry
    labels = dict.fromkeys(label for label, _ in rows)
    header = [corner, *("all" if k is None else f"@{k}" for k in cutoffs)]
    if with_segments:
        header[1:1] = ["", "", "queries", "share"]
    body = [
        [
            key[0] if key[1] != RANDOM_ORDER else f"  {key[1].value}",
            *(_about(key[1], list(rows[key].values())) if with_segments else ()),
            *(rows[key][k].number if k in rows[key] else "" for k in cutoffs),
        ]
        for label in labels
        for key in rows
        if key[0] == label
    ]
    return Table(title, header, body, n_labels=3 if with_segments else 1, note=note)


def _about(segment: Segment, entries: list[Entry]) -> list[str]:
    """Column, value, number and share of the queries, which may depend on the cut-off."""
    counts = sorted({entry.queries for entry in entries})
    shares = sorted({f"{entry.share:.1%}" for entry in entries}, key=lambda text: float(text[:-1]))
    number = f"{counts[0]:,}" if len(counts) == 1 else f"{counts[0]:,}–{counts[-1]:,}"
    share = shares[0] if len(shares) == 1 else f"{shares[0]}–{shares[-1]}"
    return [segment.column, str(segment.value), number, share]


def _worst_queries(measured: Measurements) -> Iterator[Table]:
    """The queries on which each model loses most, or those of a single system that score lowest."""
    metric = measured.main_metrics[0]
    (name, first), *others = measured.systems.items()
    if not others:
        values = first.scores[metric]
        title = f"Queries with the lowest {metric}"
        yield _query_table(title, first, {metric: values}, values, measured.digits)
    for model, system in others:
        difference = paired_differences(first.scores, system.scores)[metric]
        columns = {name: first.scores[metric], model: system.scores[metric]}
        title = f"Queries on which {model} loses most, by {metric}"
        losses = np.where(difference < 0, difference, np.nan)
        yield _query_table(title, first, columns, losses, measured.digits, difference)


def _query_table(
    title: str,
    system: SystemMeasurements,
    columns: dict[str, Array],
    order: Array,
    digits: int,
    difference: Array | None = None,
) -> Table:
    """The queries with the lowest values of `order`, without those where it is nan."""
    rows = np.argsort(order, kind="stable")[: min(N_QUERIES, int((~np.isnan(order)).sum()))]
    segments = system.scores.segments or {}
    header = ["query", *segments, "documents", "relevant", *map(str, columns)]
    body = [
        [
            str(system.scores.ids[row]),
            *(str(column[row]) for column in segments.values()),
            int(system.sizes[row]),
            int(system.relevant[row]),
            *(Number(float(column[row]), f".{digits}f") for column in columns.values()),
            *([] if difference is None else [Number(float(difference[row]), f"+.{digits}f")]),
        ]
        for row in rows
    ]
    header += [] if difference is None else ["difference"]
    note = "" if len(body) else "none"
    return Table(title, header, body, n_labels=1 + len(segments), note=note)


def _convention_table(measured: Measurements) -> Table:
    """All options of each metric."""
    labels = {cell.label: metric for metric, cell in reversed(list(measured.cells.items()))}
    rows = [[label, _options_text(m, measured.conventions)] for label, m in labels.items()]
    like = measured.conventions.get("like")
    title = "Conventions of this package" if like is None else f"Conventions of {like}"
    return Table(title, ["metric", "options"], rows[::-1], n_labels=2)


def _options_text(metric: str, conventions: Any) -> str:
    """``"gain=linear, ties=average, …"`` for a named metric."""
    try:
        name, in_name = parse_name(metric)
    except ValueError:
        return "a function of a block"
    known = METRICS[name].options
    like = dict(in_name).get("like", conventions.get("like"))
    given = {o: v for o, v in conventions.items() if o in known and v is not None}
    options = {**known, **convention(like, name), **given, **dict(in_name)}
    return ", ".join(
        f"{option}={getattr(value, '__name__', value)}"
        for option, value in options.items()
        if option in known and option not in ("k", "average")
    )


def _version_table() -> Table:
    """Versions of Python and of the packages that computed the numbers."""
    rows = [["python", platform.python_version()]]
    for package in PACKAGES:
        try:
            rows.append([package, str(importlib.import_module(package).__version__)])
        except ImportError:
            continue
    return Table("", ["", ""], rows, n_labels=2)


def _svg(figure: Figure, name: str) -> str:
    """The display as SVG that takes the text color of its surroundings; `name` is unique."""
    from matplotlib import rcParams, style
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Canvas

    # names in other scripts than the default font has need one that the user has chosen
    fonts: Any = rcParams.find_all(FONTS)
    with style.context(["default", {**STYLE, **fonts, "svg.hashsalt": name}]):
        canvas = Canvas(figsize=(7, figure.height), layout="constrained")
        FigureCanvasAgg(canvas)
        figure.draw(ax=canvas.subplots())
        text = io.StringIO()
        canvas.savefig(text, format="svg", metadata={"Date": None})
    return _inline(text.getvalue(), figure.title, name)


def _inline(svg: str, title: str, name: str) -> str:
    """An SVG image for HTML, without header, comments, fixed size and text color."""
    body = re.sub(r"<!--.*?-->|<metadata>.*?</metadata>", "", svg[svg.index("<svg") :], flags=re.S)
    body = re.sub(r'\b(id="|href="#|url\(#)', rf"\g<1>{name}-", body)
    opening, rest = body.split(">", 1)
    opening = re.sub(r' (width|height)="[^"]*"', "", opening)
    name_of = clean(title, "html")
    label = f' role="img" aria-label="{name_of}"'
    return f"{opening}{label}>{rest}".replace(TEXT_COLOR, "currentColor").strip()


def _figures(measured: Measurements) -> Iterator[Part]:
    """The plots that these measurements allow."""
    try:
        import matplotlib as _  # noqa: F401
    except ImportError:
        yield Heading("Plots")
        yield "The plots require matplotlib, which was not installed."
        return
    figures = list(_displays(measured))
    if figures:
        yield Heading("Plots")
        yield from figures


def _displays(measured: Measurements) -> Iterator[Figure]:
    main, label = measured.main_metrics[0], measured.cells[measured.main_metrics[0]].label
    scores = {name or label: system.scores for name, system in measured.systems.items()}
    baseline, *models = scores
    first, inference = next(iter(measured.systems.values())), measured.inference
    has_curve = len({c.k for c in measured.cells.values() if c.label == label} - {None}) > 1
    if measured.comparison is not None:
        shown = measured.main_metrics if first.segments is None else [main]
        rows = [d for d in measured.comparison if d.metric in shown]
        draw: Any = partial(ForestDisplay.from_comparison, measured.comparison, metric=shown)
        yield Figure("Differences", draw, 0.3 * len(rows) + 2)
        for model in models:
            pair = {baseline: scores[baseline], model: scores[model]}
            included = paired_differences(*pair.values()).included()
            if included[:, scores[baseline].column(main)].any():
                draw = partial(QueryDeltaDisplay.from_query_scores, pair, metric=main, **inference)
                yield Figure(f"Queries on which {model} wins and loses", draw)
                draw = partial(QueryScatterDisplay.from_query_scores, pair, metric=main)
                yield Figure(f"Each query, {baseline} and {model}", draw, 5.5)
    if has_curve:
        given = {"metric": label, **inference}
        yield Figure("By cut-off", partial(CutoffCurveDisplay.from_query_scores, scores, **given))
        if models:
            draw = partial(DifferenceCurveDisplay.from_query_scores, scores, **given)
            yield Figure("Differences by cut-off", draw)
    if first.segments is not None:
        draw = partial(
            ForestDisplay.from_query_scores, scores, metric=main, means=True, **inference
        )
        n_rows = len({s.segment for s in first.segments}) * (1 + len(scores))
        yield Figure("Means by segment", draw, 0.3 * n_rows + 2)
    of_query = {"documents": first.sizes, "relevant": first.relevant.astype(int)}
    for kind, values in of_query.items():
        if values.min() < values.max():
            draw = partial(
                QueryPropertyDisplay.from_query_scores, scores, {LABELS[kind]: values},
                metric=main, **inference,
            )  # fmt: skip
            yield Figure(f"By number of {LABELS[kind]}", draw)
