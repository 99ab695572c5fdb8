"""Which metrics a ranking report computes, and where its table shows them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

from .._typing import Library
from .._validation import check_cutoff
from ..inspection.query_scores import resolve_per_query
from ..metrics.evaluate import MetricLike, Metrics
from ..metrics.metric import Metric
from ..metrics.names import METRICS, display_name, name_of_function, parse_name
from ..metrics.resolve import has_option, list_metrics

Cutoffs: TypeAlias = int | Iterable[int | None] | None


class Cell(NamedTuple):
    """Row and column of a metric in the table; the cut-off None is the last column."""

    label: str
    k: int | None


def read_cells(
    metrics: Metrics, k: Cutoffs, *, threshold: float | None, like: Library | None, **options: Any
) -> tuple[dict[str, Metric], dict[str, Cell]]:
    """Metrics by name, and the cell of each in the table."""
    cells = dict(metric_cells(metrics, k))
    if threshold is not None and any(has_option(metric, "threshold") for metric in cells):
        options["threshold"] = threshold
    resolved = resolve_per_query(list(cells), like=like, **options)
    return resolved, dict(zip(resolved, cells.values(), strict=True))


def metric_cells(metrics: Metrics, k: Cutoffs) -> Iterator[tuple[MetricLike, Cell]]:
    """Each metric to compute, and its cell in the table."""
    cutoffs = [check_cutoff(cutoff) for cutoff in (k if isinstance(k, Iterable) else [k])]
    if not cutoffs:
        raise ValueError("k is empty; name at least one cut-off, or None for no cut-off.")
    for metric in list_metrics(metrics):
        metric = name_of_function(metric) or metric
        if isinstance(metric, str):
            yield from _cells_of_name(metric, cutoffs)
        else:
            yield metric, Cell(display_name(metric), None)


def _cells_of_name(metric: str, cutoffs: list[int | None]) -> Iterator[tuple[str, Cell]]:
    name, pairs = parse_name(metric)
    options = dict(pairs)
    has_own_cutoff, own = "k" in options, options.pop("k", None)
    listed = ", ".join(f"{option}={value}" for option, value in options.items())
    label = f"{name}({listed})" if listed else name
    if has_own_cutoff or "k" not in METRICS[name].options:
        yield metric, Cell(label, own)
        return
    for k in cutoffs:
        yield metric if k is None else label.replace(name, f"{name}@{k}", 1), Cell(label, k)


def cutoffs_of(cells: Iterable[Cell]) -> list[int | None]:
    """The columns of the table, ascending, None last."""
    return sorted({cell.k for cell in cells}, key=lambda k: (k is None, k))


def main_metrics(cells: Mapping[str, Cell]) -> list[str]:
    """One metric of each row: that with the largest cut-off, or without any."""
    largest: dict[str, str] = {}
    for metric, cell in cells.items():
        current = largest.get(cell.label)
        if current is None or (cell.k or 0) > (cells[current].k or 0):
            largest[cell.label] = metric
    return list(largest.values())
