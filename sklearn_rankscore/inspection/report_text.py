"""The text of a ranking report."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

from .intervals import Interval
from .table import Table

# row and column of a metric in the table
Cell: TypeAlias = tuple[str, int | None]


def report_text(report: Any, cells: Iterable[Cell], digits: int, confidence: float) -> str:
    """Properties of the data, then the mean and the interval of each metric."""
    spec, metrics = f".{digits}f", report["metrics"].values()
    texts = [f"{m['mean']:{spec}} {Interval(m['low'], m['high']):{spec}}" for m in metrics]
    by_cell = dict(zip(cells, texts, strict=True))
    table = _table(by_cell, f"mean [{confidence * 100:g} % interval]")
    return f"{_data_text(report['data'])}\n\n{table.text()}"


def titled(texts: dict[str, str]) -> str:
    """Several texts, each under its name."""
    return "\n\n".join(f"{name}\n\n{text}" for name, text in texts.items())


def _data_text(data: dict[str, float]) -> str:
    sizes = f"{data['fewest_documents']:,} to {data['most_documents']:,}"
    lines = {
        "queries": f"{data['queries']:,}",
        "documents": f"{data['documents']:,}",
        "documents of a query": f"{sizes}, median {data['median_documents']:g}",
        "queries without relevant documents": f"{data['queries_without_relevant']:.1%}",
        "queries of one document": f"{data['queries_of_one_document']:.1%}",
        "queries with all scores tied": f"{data['queries_all_tied']:.1%}",
        "documents tied with another one": f"{data['documents_tied']:.1%}",
    }
    if data["documents_unjudged"]:
        lines["documents without a judgment"] = f"{data['documents_unjudged']:.1%}"
    return "\n".join(f"{name:<36}{value}" for name, value in lines.items())


def _table(texts: dict[Cell, str], corner: str) -> Table:
    """One row per metric, one column per cut-off."""
    labels = dict.fromkeys(label for label, _ in texts)
    cutoffs = sorted({k for _, k in texts}, key=lambda k: (k is None, k))
    header = (corner, *("all" if k is None else f"@{k}" for k in cutoffs))
    rows = [(label, *(texts.get((label, k), "") for k in cutoffs)) for label in labels]
    return Table("", header, rows)
