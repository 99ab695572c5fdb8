"""The last tables of a report: the worst queries, conventions and versions."""

from __future__ import annotations

import importlib
import platform
from collections.abc import Iterator
from typing import Any

import numpy as np

from .._table import Table
from .._typing import Array
from ..inspection.compare import paired_differences
from ..metrics.conventions import convention
from ..metrics.names import METRICS, parse_name
from .cells import main_metrics
from .measurements import Measurements, SystemMeasurements

N_QUERIES = 10
PACKAGES = (__name__.partition(".")[0], "sklearn", "numpy", "scipy", "matplotlib")


def worst_query_tables(measured: Measurements) -> Iterator[Table]:
    """The queries on which each model loses most, or those of a single system that score lowest."""
    metric = main_metrics(measured.cells)[0]
    (name, first), *others = measured.systems.items()
    if not others:
        values = first.scores[metric]
        title = f"Queries with the lowest {metric}"
        yield _query_table(title, first, {metric: values}, values, f"{measured.spec}")
    for model, system in others:
        difference = paired_differences(first.scores, system.scores)[metric]
        columns = {name: first.scores[metric], model: system.scores[metric]}
        title = f"Queries on which {model} loses most, by {metric}"
        losses = np.where(difference < 0, difference, np.nan)
        yield _query_table(title, first, columns, losses, measured.spec, difference)


def _query_table(
    title: str,
    system: SystemMeasurements,
    columns: dict[str, Array],
    order: Array,
    spec: str,
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
            f"{system.facts.sizes[row]:,}",
            f"{system.facts.relevant[row]:,.0f}",
            *(f"{column[row]:{spec}}" for column in columns.values()),
            *([] if difference is None else [f"{difference[row]:+{spec}}"]),
        ]
        for row in rows
    ]
    header += [] if difference is None else ["difference"]
    note = "" if len(body) else "none"
    return Table(title, header, body, n_labels=1 + len(segments), note=note)


def convention_table(measured: Measurements) -> Table:
    """All options of each metric."""
    labels = {cell.label: metric for metric, cell in reversed(list(measured.cells.items()))}
    rows = [[label, options_text(metric, measured.conventions)] for label, metric in labels.items()]
    like = measured.conventions.get("like")
    title = "Conventions of this package" if like is None else f"Conventions of {like}"
    return Table(title, ["metric", "options"], rows[::-1], n_labels=2)


def options_text(metric: str, conventions: Any) -> str:
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


def version_table() -> Table:
    """Versions of Python and of the packages that computed the numbers."""
    rows = [["python", platform.python_version()]]
    for package in PACKAGES:
        try:
            rows.append([package, str(importlib.import_module(package).__version__)])
        except ImportError:
            continue
    return Table("", ["", ""], rows)
