"""The text of a ranking report."""

from __future__ import annotations

from .measurements import Measurements, SystemMeasurements
from .tables import bounds_table, difference_table, facts_rows, mean_table, segment_table


def report_text(measured: Measurements) -> str:
    """Each system, then the differences between them."""
    texts = [
        f"{name}\n\n{system}" if name else system
        for name, system in ((n, _system(s, measured)) for n, s in measured.systems.items())
    ]
    if measured.comparison is not None:
        texts += [
            difference_table(measured.comparison, model, measured.cells, measured.spec).text()
            for model in list(measured.systems)[1:]
        ]
    return "\n\n".join(texts)


def _system(system: SystemMeasurements, measured: Measurements) -> str:
    facts = facts_rows(system.facts.summary())
    table = mean_table(
        system.scores.mean(),
        system.intervals,
        system.random_order,
        measured.cells,
        measured.confidence,
        measured.spec,
    )
    texts = ["\n".join(f"{name:<36}{value}" for name, value in facts.items()), table.text()]
    if system.bounds:
        texts.append(bounds_table(system.bounds, measured.cells, measured.spec).text())
    if system.segments is not None:
        shown = segment_table(system.segments, measured.cells, measured.confidence, measured.spec)
        texts.append(shown.text())
    return "\n\n".join(texts)
