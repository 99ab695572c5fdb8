"""What to pass instead of a list of records or of runs."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


def records_as_frame(records: Sequence[Any], kind: str, layout: str, value: str) -> str | None:
    """The DataFrame of records, as code; None if these are no records."""
    first = records[0] if len(records) else None
    if isinstance(first, Mapping):
        return None if _holds_dicts(first) else f"pd.DataFrame({kind})"
    if not isinstance(first, list | tuple):
        return None
    if hasattr(first, "_fields") or len(first) == len(layout.split()):
        return f"pd.DataFrame({kind})"
    names = f'columns=["query_id", "doc_id", "{value}"]'
    return f"pd.DataFrame({kind}, {names})" if len(first) == 3 else None


def runs_by_name(runs: Sequence[Any]) -> str:
    """Several runs as a dict by name, as code."""
    if runs and all(isinstance(run, tuple) and len(run) == 2 for run in runs):
        return "dict(run)"
    if not runs or not all(isinstance(run, str | os.PathLike) for run in runs):
        return '{"a": run_a, "b": run_b}'
    paths = [os.fspath(run) for run in runs]
    stems = [Path(path).stem for path in paths]
    names = stems if len(set(stems)) == len(stems) else paths
    named = (f"{name!r}: {path!r}" for name, path in zip(names[:2], paths[:2], strict=True))
    return f"{{{', '.join(named)}{', …' if len(paths) > 2 else ''}}}"


def _holds_dicts(entry: Mapping[Any, Any]) -> bool:
    return any(isinstance(value, Mapping) for value in entry.values())
