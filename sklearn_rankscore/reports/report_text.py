"""The text of a ranking report."""

from __future__ import annotations

from .measurements import Measurements, SystemMeasurements
from .tables import difference_tables, facts_rows, system_tables


def report_text(measured: Measurements) -> str:
    """Each system, then the differences between them."""
    systems = {name: _system(system, measured) for name, system in measured.systems.items()}
    texts = [f"{name}\n\n{text}" if name else text for name, text in systems.items()]
    return "\n\n".join([*texts, *(table.text() for table in difference_tables(measured))])


def _system(system: SystemMeasurements, measured: Measurements) -> str:
    facts = "\n".join(f"{name:<36}{value}" for name, value in facts_rows(system).items())
    return "\n\n".join([facts, *(table.text() for table in system_tables(system, measured))])
