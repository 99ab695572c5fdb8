"""Judgments and runs of the command line as the arguments of a metric."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from .._validation import did_you_mean
from ..io.table import Table
from ..io.trec import QRELS, arguments_of_tables, read_tables
from .header import SEPARATORS
from .tables import GRADES, TableFile, TrecTable, read_csv, read_parquet

COMPRESSED = (".gz", ".bz2", ".xz")


def read_sources(
    qrels: str,
    runs: dict[str, str],
    columns: dict[str, str],
    *,
    complete: bool,
    unjudged: str,
) -> tuple[dict[str, Any], list[str]]:
    """Arguments of a metric for all runs by name, and notes about missing queries."""
    judged = _read(qrels, "relevance", columns)
    systems = {name: _read(path, "score", columns) for name, path in runs.items()}
    _check_named([run for run in systems.values() if isinstance(run, TrecTable)], columns)
    # unlike in TREC files, relevance need not be an integer
    judgments, results = read_tables(
        judged, systems, complete, GRADES if is_table(qrels) else QRELS
    )
    judgments = _located(judgments, judged)
    results = {name: _located(run, systems[name]) for name, run in results.items()}
    documents = arguments_of_tables(judgments, results, complete, unjudged=unjudged)
    queries, of_runs = judgments.queries, [run.queries for run in results.values()]
    excluded = [] if complete else _excluded(queries, of_runs)
    return documents, [*excluded, *_missing(documents)]


def read_scored(path: str, columns: dict[str, str], scores: dict[str, str]) -> dict[str, Any]:
    """Arguments of a metric from one file with labels and scores; a system without a column, ""."""
    return _table_file(path).scored(columns, scores or {_stem(path): ""})


def _check_named(runs: list[TrecTable], columns: dict[str, str]) -> None:
    """Refuse a column of scores and one of ranks of which no run has one."""
    present = [*dict.fromkeys(name for run in runs for name in run.names)]
    for field in ("score", "rank"):
        name = columns.get(field)
        if runs and name is not None and name not in present:
            raise ValueError(
                f"--columns {field}={name}: no run has this column; they have "
                f"{', '.join(present)}.{did_you_mean(name, present) or ' Leave it out.'}"
            )


def _located(records: Table, source: Any) -> Table:
    """Records whose errors name the line of a file."""
    return replace(records, locate=source.locate) if isinstance(source, TrecTable) else records


def _excluded(judged: Iterable[Any], runs: Iterable[Iterable[Any]]) -> Iterator[str]:
    """A note about judged queries that no run contains."""
    queries = set(judged)
    if excluded := queries.difference(*runs):
        yield (
            f"{len(excluded)} of {len(queries)} judged queries occur in no run and are excluded; "
            "-c counts them"
        )


def _missing(documents: dict[str, Any]) -> Iterator[str]:
    """A note for each run without results for some of the queries."""
    _, codes = np.unique(documents["groups"], return_inverse=True)
    n_queries = int(codes.max()) + 1
    for name, scores in documents["y_score"].items():
        present = len(np.unique(codes[scores > -np.inf]))
        if present < n_queries:
            yield (
                f"{name} has no results for {n_queries - present} of {n_queries} queries, where it "
                "retrieved nothing"
            )


def named_runs(runs: list[str]) -> dict[str, str]:
    """Paths by the name of the run."""
    named: dict[str, str] = {}
    for run in runs:
        name, equals, path = run.partition("=")
        if not equals or os.path.exists(run):
            name, path = "stdin" if run == "-" else _stem(run), run
        if not name.strip():
            raise ValueError(f"the run {run!r} has an empty name. Name runs by NAME=PATH.")
        if name in named:
            raise ValueError(
                f"two runs are named {name!r}: {named[name]} and {path}. Name them by NAME=PATH."
            )
        named[name] = path
    return named


def _stem(path: str) -> str:
    """The name of a file without its suffixes."""
    name = Path(path)
    while name.suffix in (*COMPRESSED, *SEPARATORS, ".parquet", ".txt", ".run", ".trec", ".res"):
        name = name.with_suffix("")
    return name.name or path


def is_table(path: str) -> bool:
    """Whether a file has named columns."""
    return _suffix(path) in (*SEPARATORS, ".parquet")


def _suffix(path: str) -> str:
    suffixes = [s for s in Path(path).suffixes if s not in COMPRESSED]
    return suffixes[-1] if suffixes else ""


def _read(path: str, value: str, columns: dict[str, str]) -> Any:
    """A table of CSV or Parquet, or what `read_tables` reads itself."""
    if path == "-":
        if sys.stdin is None:
            raise OSError("standard input is closed.")
        return sys.stdin.buffer
    return _table_file(path).standard(value, columns) if is_table(path) else path


def _table_file(path: str) -> TableFile:
    suffix = _suffix(path)
    return read_csv(path, SEPARATORS[suffix]) if suffix in SEPARATORS else read_parquet(path)
