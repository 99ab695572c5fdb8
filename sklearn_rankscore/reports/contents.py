"""What is in a ranking report: its tables and plots."""

from __future__ import annotations

import math
import platform
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from .._table import Number, Table
from .._typing import Array
from ..comparison import Comparison, QueryScores, SegmentScores
from ..comparison.compare import paired_differences
from ..plots import (
    CutoffCurveDisplay,
    DifferenceCurveDisplay,
    ForestDisplay,
    QueryDeltaDisplay,
    QueryPropertyDisplay,
    QueryScatterDisplay,
)
from ..plots.queries import LABELS
from .render import Plot, Section

N_QUERIES = 10
PACKAGES = (__name__.partition(".")[0], "sklearn", "numpy", "scipy", "matplotlib")
SHARES = {
    "queries_without_relevant": "queries without relevant documents",
    "queries_of_one_document": "queries of one document",
    "queries_all_tied": "queries with all scores tied",
    "documents_tied": "documents tied with another one",
}


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
        known: dict[str, Any] = {"data": self.facts, "metrics": self.metrics}
        if self.segments is None:
            return known
        columns = self.segments._columns()
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        own = {(d.metric, *d.segment): d for d in comparison or () if d.model == name}
        for row in rows if own else ():
            d = own[row["metric"], row["column"], row["value"]]
            row |= {
                "difference": d.difference, "difference_low": d.interval.low,
                "difference_high": d.interval.high, "adjusted_p_value": d.adjusted_p_value,
            }  # fmt: skip
        return known | {"segments": rows}


@dataclass(frozen=True)
class Contents:
    """All that is known of the systems.

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
    """

    systems: Mapping[str, System]
    rows: Mapping[str, Mapping[int | None, str]]
    comparison: Comparison | None
    inference: Mapping[str, Any]
    digits: int

    @property
    def main_metrics(self) -> list[str]:
        """One metric of each row: that with the largest cut-off, or without any."""
        return [at[max(at, key=lambda k: k or 0)] for at in self.rows.values()]

    def sections(self, conventions: Table) -> Iterator[Section]:
        """The sections of the report, of which the first ones are in the text as well."""
        metrics: list[Table | str] = []
        for name, system in self.systems.items():
            metrics += [str(name)] if name != "" else []
            metrics += self.means(system)
        yield Section("Data", [self.facts()], is_in_text=True)
        yield Section("Metrics", metrics, is_in_text=True)
        if self.comparison is not None:
            table = self.comparison._table().narrowed(digits=self.digits)
            yield Section("Differences", [table], is_in_text=True)
        if plots := list(self.plots()):
            yield Section("Plots", plots)
        yield Section("Queries", list(self.worst_queries()))
        yield Section("Conventions", [conventions])
        yield Section("Versions", [versions()])

    def facts(self) -> Table:
        """Properties of the data; one column if they are the same for all systems."""
        columns = [_facts(system.facts) for system in self.systems.values()]
        if all(column == columns[0] for column in columns):
            return Table("", ["", ""], list(columns[0].items()), n_labels=2)
        names = dict.fromkeys(name for column in columns for name in column)
        rows = [[name, *(column.get(name, "") for column in columns)] for name in names]
        return Table("", ["", *map(str, self.systems)], rows, n_labels=1 + len(columns))

    def means(self, system: System) -> Iterator[Table]:
        """Means by cut-off, with what they are compared with, and means by segment."""
        spec = f".{self.digits}f"
        means: list[tuple[str, dict[int | None, Number]]] = []
        bounds: list[tuple[str, dict[int | None, Number]]] = []
        for label, at in self.rows.items():
            of = {k: system.metrics[name] for k, name in at.items()}
            mean = {k: Number(m["mean"], spec, (m["low"], m["high"])) for k, m in of.items()}
            orders = {k: m["random_order"] for k, m in of.items()}
            chance = {k: Number(v, spec) for k, v in orders.items() if not math.isnan(v)}
            means += [(label, mean), ("  random order", chance)]
            ends = {k: (m["lowest"], m["highest"]) for k, m in of.items() if "lowest" in m}
            bounds.append((label, {k: Number(pair, spec) for k, pair in ends.items()}))
        level = f"{self.inference['confidence'] * 100:g} %"
        tables = {
            f"mean [{level} interval]": means,
            "[lowest, highest mean of any missing labels]": bounds,
        }
        for title, rows in tables.items():
            cutoffs = sorted({k for _, of in rows for k in of}, key=lambda k: (k is None, k))
            header = [title, *("all" if k is None else f"@{k}" for k in cutoffs)]
            cells = [[name, *(of.get(k, "") for k in cutoffs)] for name, of in rows if of]
            if cells:
                yield Table("", header, cells)
        if system.segments is not None:
            yield system.segments._table().narrowed(digits=self.digits)

    def worst_queries(self) -> Iterator[Table]:
        """Where each model loses most, or the lowest scores of a single system."""
        metric, spec = self.main_metrics[0], f".{self.digits}f"
        (name, first), *others = self.systems.items()
        labels = {"query": first.scores.ids, **(first.scores.segments or {})}

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

    def plots(self) -> Iterator[Plot]:
        """The plots that these measurements allow."""
        main, comparison = self.main_metrics[0], self.comparison
        given: Any = {"metric": main, **self.inference}
        label, at = next(iter(self.rows.items()))
        scores = {name or label: system.scores for name, system in self.systems.items()}
        baseline, *models = scores
        first = next(iter(self.systems.values()))
        if comparison is not None:
            shown = self.main_metrics if first.segments is None else [main]
            n_rows = sum(d.metric in shown for d in comparison)
            draw: Any = partial(ForestDisplay.from_comparison, comparison, metric=shown)
            yield Plot("Differences", draw, 0.3 * n_rows + 2)
        for model in models:
            pair = {name: scores[name] for name in (baseline, model)}
            if comparison is not None and comparison[main, model].queries:
                draw = partial(QueryDeltaDisplay.from_query_scores, pair, **given)
                yield Plot(f"Queries on which {model} wins and loses", draw)
                draw = partial(QueryScatterDisplay.from_query_scores, pair, metric=main)
                yield Plot(f"Each query, {baseline} and {model}", draw, 5.5)
        if len({*at} - {None}) > 1:
            of_curve: Any = {**given, "metric": label}
            draw = partial(CutoffCurveDisplay.from_query_scores, scores, **of_curve)
            yield Plot("By cut-off", draw)
            if models:
                draw = partial(DifferenceCurveDisplay.from_query_scores, scores, **of_curve)
                yield Plot("Differences by cut-off", draw)
        counts = {LABELS["documents"]: first.sizes, LABELS["relevant"]: first.relevant}
        shown_by: dict[str, Any] = {f"By {name}": name for name in first.scores.segments or ()}
        shown_by |= {f"By number of {n}": {n: v} for n, v in counts.items() if len({*v}) > 1}
        for title, values in shown_by.items():
            draw = partial(QueryPropertyDisplay.from_query_scores, scores, values, **given)
            yield Plot(title, draw)


def versions() -> Table:
    """Versions of Python and of the packages that computed and drew the numbers."""
    used = {package: sys.modules.get(package) for package in PACKAGES}
    rows = [[package, str(module.__version__)] for package, module in used.items() if module]
    return Table("", ["", ""], [["python", platform.python_version()], *rows], n_labels=2)


def _facts(data: Mapping[str, float]) -> dict[str, str]:
    """Names and values of the properties of the data."""
    of_query, retrieved = (
        f"{data[f'fewest_{of}']:,} to {data[f'most_{of}']:,}, median {data[f'median_{of}']:g}"
        for of in ("documents", "retrieved")
    )
    facts = {of: f"{data[of]:,}" for of in ("queries", "documents")}
    facts["documents of a query"] = of_query
    facts |= {label: f"{data[share]:.1%}" for share, label in SHARES.items()}
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
