"""What is in a report, and how it is shown: one sequence of parts, as text and as HTML."""

from __future__ import annotations

import io
import math
import platform
import sys
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from typing import Any, Self, TypeAlias, overload

import numpy as np

from .._table import Number, Table, clean
from .._typing import Array
from .._validation import check_flag
from ..comparison import Comparison, QueryScores, SegmentScores
from ..comparison.compare import paired_differences
from ..metrics.segment import ALL_QUERIES
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
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title><style>{css}</style></head>
<body class='rankscore'><h1>{title}</h1>
{parts}
</body></html>
"""


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
    rows : dict of str to dict of int or None to str
        The metrics of each row by cut-off, which is None without one.
    comparison : Comparison or None
        All other systems compared with the first.
    inference : dict
        Arguments of all intervals: `confidence`, `method`, `n_resamples` and `random_state`.
    digits : int
        Number of decimals.
    like : str or None
        The library whose conventions were asked for.
    conventions : dict of str to str
        All options of the metrics of each row.
    """

    systems: Mapping[str, System]
    rows: Mapping[str, Mapping[int | None, str]]
    comparison: Comparison | None
    inference: Mapping[str, Any]
    digits: int
    like: str | None
    conventions: Mapping[str, str]

    @property
    def main_metrics(self) -> list[str]:
        """One metric of each row: that with the largest cut-off, or without any."""
        return [at[max(at, key=lambda k: k or 0)] for at in self.rows.values()]


# tables, and names above them
Sections: TypeAlias = dict[str, list[Table | str]]


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
        sections = _sections(contents)
        texts = [
            part.text() if isinstance(part, Table) else clean(part)
            for parts in sections.values()
            for part in parts
        ]
        html = f"<style>{_css()}</style><div class='rankscore'>{_html(sections)}</div>"
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
        of = self._contents
        conventions = f"Conventions of {of.like or 'this package'}"
        options = Table(conventions, ["metric", "options"], [*of.conventions.items()], n_labels=2)
        more: Sections = {
            "Queries": [*_worst_queries(of)], "Conventions": [options], "Versions": [_versions()]
        }  # fmt: skip
        figures = _figures(of) if check_flag("plots", plots) else ""
        parts = "\n".join([_html(_sections(of)), figures, _html(more)])
        html = PAGE.format(title=clean(title, "html"), css=_css(), parts=parts)
        if path is None:
            return html
        Path(path).write_text(html, encoding="utf-8")
        return None


def _css() -> str:
    return Path(__file__).with_name("report.css").read_text("utf-8")


def _html(sections: Sections) -> str:
    """Tables and the names above them, each of which scrolls within itself where it is too wide."""
    shown = []
    for title, parts in sections.items():
        shown.append(f"<h2>{title}</h2>")
        for part in parts:
            if isinstance(part, Table):
                shown.append(f"<div class='scroll'>{part.html()}</div>")
            else:
                shown.append(f"<h3>{clean(part, 'html')}</h3>")
    return "\n".join(shown)


def _sections(contents: Contents) -> Sections:
    """Data, means of each system and differences between them."""
    metrics: list[Table | str] = []
    for name, system in contents.systems.items():
        metrics += [str(name)] if name != "" else []
        metrics += _system_tables(system, contents)
    sections: Sections = {"Data": [_facts_table(contents)], "Metrics": metrics}
    if contents.comparison is not None:
        differences = contents.comparison._table()
        sections["Differences"] = [differences.narrowed(digits=contents.digits)]
    return sections


def _facts_table(contents: Contents) -> Table:
    """Properties of the data; one column if they are the same for all systems."""
    columns = [_facts(system.facts) for system in contents.systems.values()]
    if all(column == columns[0] for column in columns):
        return Table("", ["", ""], list(columns[0].items()), n_labels=2)
    names = dict.fromkeys(name for column in columns for name in column)
    rows = [[name, *(column.get(name, "") for column in columns)] for name in names]
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


def _system_tables(system: System, contents: Contents) -> Iterator[Table]:
    """Means of a system by cut-off, with what they are compared with, and means by segment."""
    spec, means, bounds = f".{contents.digits}f", [], []
    for label, at in contents.rows.items():
        of = {k: system.metrics[name] for k, name in at.items()}
        shown = {k: Number(m["mean"], spec, (m["low"], m["high"])) for k, m in of.items()}
        means.append((label, shown))
        known = {k: m["random_order"] for k, m in of.items() if not math.isnan(m["random_order"])}
        if known:
            means.append(("  random order", {k: Number(m, spec) for k, m in known.items()}))
        ends = {k: (m["lowest"], m["highest"]) for k, m in of.items() if "lowest" in m}
        if ends:
            bounds.append((label, {k: Number(pair, spec) for k, pair in ends.items()}))
    yield _by_cutoff(f"mean [{contents.inference['confidence'] * 100:g} % interval]", means)
    if bounds:
        yield _by_cutoff("[lowest, highest mean of any missing labels]", bounds)
    if system.segments is not None:
        yield system.segments._table().narrowed(digits=contents.digits)


def _by_cutoff(corner: str, rows: list[tuple[str, dict[int | None, Number]]]) -> Table:
    """A table with one column per cut-off, the last one without."""
    cutoffs = sorted({k for _, cells in rows for k in cells}, key=lambda k: (k is None, k))
    header = [corner, *("all" if k is None else f"@{k}" for k in cutoffs)]
    return Table("", header, [[name, *(of.get(k, "") for k in cutoffs)] for name, of in rows])


def _worst_queries(contents: Contents) -> Iterator[Table]:
    """The queries on which each model loses most, or those of a single system that score lowest."""
    metric, spec = contents.main_metrics[0], f".{contents.digits}f"
    (name, first), *others = contents.systems.items()
    segments = first.scores.segments or {}
    labels = {"query": first.scores.ids, **segments}

    def table(title: str, order: Array, columns: list[tuple[str, Array, str]]) -> Table:
        rows = np.argsort(order, kind="stable")[: min(N_QUERIES, np.isfinite(order).sum())]
        body = [
            [
                *(str(column[row]) for column in labels.values()),
                int(first.sizes[row]), int(first.relevant[row]),
                *(Number(float(column[row]), spec) for _, column, spec in columns),
            ]
            for row in rows
        ]  # fmt: skip
        header = [*labels, "documents", "relevant", *(str(name) for name, *_ in columns)]
        return Table(title, header, body, len(labels), "" if body else "none")

    values = first.scores[metric]
    if not others:
        yield table(f"Queries with the lowest {metric}", values, [(metric, values, spec)])
    for model, system in others:
        change = paired_differences(first.scores, system.scores)[metric]
        both = [(name, values, spec), (model, system.scores[metric], spec)]
        losses = np.where(change < 0, change, np.nan)
        columns = [*both, ("difference", change, f"+{spec}")]
        yield table(f"Queries on which {model} loses most, by {metric}", losses, columns)


def _versions() -> Table:
    """Versions of Python and of the packages that computed and drew the numbers."""
    used = {package: sys.modules.get(package) for package in PACKAGES}
    rows = [[package, str(module.__version__)] for package, module in used.items() if module]
    return Table("", ["", ""], [["python", platform.python_version()], *rows], n_labels=2)


def _figures(contents: Contents) -> str:
    """The plots that these measurements allow, as HTML."""
    if find_spec("matplotlib") is None:
        figures = ["<p>The plots require matplotlib, which was not installed.</p>"]
    else:
        figures = [_figure(*of) for of in _displays(contents)]
    return "\n".join(["<h2>Plots</h2>", *figures]) if figures else ""


def _figure(title: str, draw: Callable[..., Any], height: float = 4.5) -> str:
    """A plot as an image in vector graphics, without a background."""
    from matplotlib import rcParams, style
    from matplotlib.figure import Figure

    # names in other scripts than the default font has need one that the user has chosen
    fonts: Any = rcParams.find_all(r"^font\.(family|sans-serif|serif|monospace)$")
    with style.context(["default", {**fonts, "svg.hashsalt": title}]):
        figure, svg = Figure(figsize=(7, height), layout="constrained"), io.BytesIO()
        draw(ax=figure.subplots())
        figure.savefig(svg, format="svg", transparent=True, metadata={"Date": None})
    source, shown = b64encode(svg.getvalue()).decode(), clean(title, "html")
    image = f"<img alt='{shown}' src='data:image/svg+xml;base64,{source}'>"
    return f"<figure><figcaption>{shown}</figcaption>{image}</figure>"


def _displays(contents: Contents) -> Iterator[tuple[Any, ...]]:
    """Title, how it is drawn and height of each plot that these measurements allow."""
    main, inference = contents.main_metrics[0], contents.inference
    label, at = next(iter(contents.rows.items()))
    scores = {name or label: system.scores for name, system in contents.systems.items()}
    baseline, *models = scores
    first, comparison = next(iter(contents.systems.values())), contents.comparison
    if comparison is not None:
        shown = contents.main_metrics if first.segments is None else [main]
        n_rows = sum(d.metric in shown for d in comparison)
        draw: Any = partial(ForestDisplay.from_comparison, comparison, metric=shown)
        yield "Differences", draw, 0.3 * n_rows + 2
    for model in models:
        pair = {name: scores[name] for name in (baseline, model)}
        if comparison is not None and comparison[main, model].queries:
            draw = partial(QueryDeltaDisplay.from_query_scores, pair, metric=main, **inference)
            yield f"Queries on which {model} wins and loses", draw
            draw = partial(QueryScatterDisplay.from_query_scores, pair, metric=main)
            yield f"Each query, {baseline} and {model}", draw, 5.5
    if len({*at} - {None}) > 1:
        given = {"metric": label, **inference}
        yield "By cut-off", partial(CutoffCurveDisplay.from_query_scores, scores, **given)
        if models:
            draw = partial(DifferenceCurveDisplay.from_query_scores, scores, **given)
            yield "Differences by cut-off", draw
    given = {"metric": main, **inference}
    if first.segments is not None:
        draw = partial(ForestDisplay.from_query_scores, scores, means=True, **given)
        n_rows = len({s.segment for s in first.segments}) * (1 + len(scores))
        yield "Means by segment", draw, 0.3 * n_rows + 2
    for kind, values in (("documents", first.sizes), ("relevant", first.relevant)):
        if values.min() < values.max():
            of = {LABELS[kind]: values}
            draw = partial(QueryPropertyDisplay.from_query_scores, scores, of, **given)
            yield f"By number of {LABELS[kind]}", draw
