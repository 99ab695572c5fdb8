"""The tables of a ranking report, which its text and its HTML share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from .._table import Table
from ..inspection.comparison import Comparison, Difference, few_distinct_note
from ..inspection.intervals import number_text
from ..inspection.segments import SegmentScores
from ..metrics.segment import ALL_QUERIES, Segment
from .cells import Cell, cutoffs_of
from .measurements import Measurements, SystemMeasurements

# the row below that of a metric
RANDOM_ORDER = Segment("", "random order")


class Entry(NamedTuple):
    """A text of the table: its cell, and for a segment the queries that it is about."""

    cell: Cell
    text: str
    segment: Segment = ALL_QUERIES
    queries: int = 0
    share: float = 1.0


def facts_rows(system: SystemMeasurements) -> dict[str, str]:
    """Names and values of the properties of the data."""
    data = system.facts.summary()
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


def system_tables(system: SystemMeasurements, measured: Measurements) -> Iterator[Table]:
    """Means of a system and, if they were asked for, their bounds and those by segment."""
    yield _mean_table(system, measured)
    if system.bounds:
        yield _bounds_table(system, measured)
    if system.segments is not None:
        yield _segment_table(system.segments, measured)


def difference_tables(measured: Measurements) -> Iterator[Table]:
    """Differences of each other system from the first."""
    if measured.comparison is not None:
        for model in list(measured.systems)[1:]:
            yield _difference_table(measured.comparison, model, measured)


def _mean_table(system: SystemMeasurements, measured: Measurements) -> Table:
    """One row per metric, with that of random orders below it, and one column per cut-off."""
    entries, means, spec = [], system.scores.mean(), measured.spec
    for name, cell in measured.cells.items():
        interval = f" {system.intervals[name]:{spec}}"
        entries.append(Entry(cell, f"{means[name]:{spec}}{interval}"))
        if name in system.random_order:
            # as far to the left as the mean above it
            chance = f"{system.random_order[name]:{spec}}{' ' * len(interval)}"
            entries.append(Entry(cell, chance, RANDOM_ORDER))
    return _by_cutoff(entries, f"mean {_level(measured.confidence)}", with_segments=False)


def _bounds_table(system: SystemMeasurements, measured: Measurements) -> Table:
    """One row per metric that has bounds, one column per cut-off."""
    entries = [
        Entry(measured.cells[name], f"{interval:{measured.spec}}")
        for name, interval in system.bounds.items()
    ]
    corner = "[lowest, highest mean of any missing labels]"
    return _by_cutoff(entries, corner, with_segments=False)


def _segment_table(scores: SegmentScores, measured: Measurements) -> Table:
    """One row per metric and segment, one column per cut-off."""
    cells, spec = measured.cells, measured.spec
    entries = [
        Entry(
            cells[s.metric], f"{s.mean:{spec}} {s.interval:{spec}}", s.segment, s.queries, s.share
        )
        for s in scores
    ]
    corner = f"mean by segment {_level(measured.confidence)}"
    return _by_cutoff(entries, corner, with_segments=True)


def _difference_table(comparison: Comparison, model: str, measured: Measurements) -> Table:
    """Differences of one model: one row per metric and segment, one column per cut-off."""
    own = [d for d in comparison if d.model == model]
    spec = f"+{measured.spec}"
    entries = [
        Entry(measured.cells[d.metric], _difference_text(d, spec), d.segment, d.queries, d.share)
        for d in own
    ]
    title = f"{model} compared with {comparison.baseline} by the {comparison.test} test"
    note = few_distinct_note(own, comparison.method)
    with_segments = any(d.segment != ALL_QUERIES for d in own)
    corner = f"difference {_level(comparison.confidence)}"
    return _by_cutoff(entries, corner, with_segments=with_segments, title=title, note=note)


def _difference_text(d: Difference, spec: str) -> str:
    mark = "*" if d.few_distinct else ""
    return f"{number_text(d.difference, spec)} {d.interval:{spec}}{mark}"


def _level(confidence: float) -> str:
    return f"[{confidence * 100:g} % interval]"


def _by_cutoff(
    entries: list[Entry], corner: str, *, with_segments: bool, title: str = "", note: str = ""
) -> Table:
    cutoffs = cutoffs_of(entry.cell for entry in entries)
    rows: dict[tuple[str, Segment], dict[int | None, Entry]] = {}
    for entry in entries:
        rows.setdefault((entry.cell.label, entry.segment), {})[entry.cell.k] = entry
    labels = dict.fromkeys(label for label, _ in rows)
    ordered = [key for label in labels for key in rows if key[0] == label]
    header = [corner, *("all" if k is None else f"@{k}" for k in cutoffs)]
    if with_segments:
        header[1:1] = ["", "", "queries", "share"]
    body = [
        [
            key[0] if key[1] != RANDOM_ORDER else f"  {key[1].value}",
            *(_about(key[1], list(rows[key].values())) if with_segments else ()),
            *(rows[key][k].text if k in rows[key] else "" for k in cutoffs),
        ]
        for key in ordered
    ]
    return Table(title, header, body, n_labels=3 if with_segments else 1, note=note)


def _about(segment: Segment, entries: list[Entry]) -> list[str]:
    """Column, value, number and share of the queries, which may depend on the cut-off."""
    counts = sorted({entry.queries for entry in entries})
    shares = sorted({f"{entry.share:.1%}" for entry in entries}, key=lambda text: float(text[:-1]))
    number = f"{counts[0]:,}" if len(counts) == 1 else f"{counts[0]:,}–{counts[-1]:,}"
    share = shares[0] if len(shares) == 1 else f"{shares[0]}–{shares[-1]}"
    return [segment.column, str(segment.value), number, share]
