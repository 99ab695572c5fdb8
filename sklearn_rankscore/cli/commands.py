"""The commands, each a function from arguments to the text to print."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Callable
from typing import Any

from ..inspection import QueryScores, compare, query_scores
from ..inspection.comparison import Comparison, few_distinct_note
from ..inspection.significance import significance_level
from ..metrics.names import METRICS
from .output import PValue, ValueTable, render, render_json
from .sources import read_scored, read_sources


def evaluate(arguments: Namespace) -> str:
    """The metrics of each run."""
    documents = _documents(arguments)
    scores = query_scores(metrics=arguments.metrics, like=arguments.like, **documents)
    comparison = None if arguments.baseline is None else _compare(scores, arguments)
    if arguments.format == "json":
        result = _as_dict(scores, comparison, per_query=arguments.per_query)
        return render_json(result, arguments.digits)
    tables = [_means(scores, comparison, per_query=arguments.per_query)]
    if comparison is not None:
        table = _comparison(comparison, for_programs=arguments.format == "csv")
        tables = [table] if arguments.format == "csv" else [*tables, table]
    digits = arguments.digits
    if digits is None and arguments.format != "csv":
        digits = 4
    return "\n".join(render(table, arguments.format, digits) for table in tables)


def _documents(arguments: Namespace) -> dict[str, Any]:
    """Labels, scores by system and ids; what one should know of the files is printed."""
    if not arguments.runs:
        return read_scored(arguments.qrels, arguments.columns, arguments.scores)
    documents, notes = read_sources(
        arguments.qrels, arguments.runs, arguments.columns,
        complete=arguments.complete, unjudged=arguments.unjudged or "irrelevant",
    )  # fmt: skip
    for note in notes:
        print(f"rankscore: note: {note}", file=sys.stderr)
    return documents


def _compare(scores: dict[str, QueryScores], arguments: Namespace) -> Comparison:
    return compare(
        scores,
        baseline=arguments.baseline,
        test=arguments.test,
        confidence=arguments.confidence,
        method=arguments.method,
        random_state=arguments.seed,
    )


def _means(
    scores: dict[str, QueryScores], comparison: Comparison | None, *, per_query: bool
) -> ValueTable:
    """One row per run, after one per query if asked for; a star marks significant differences."""
    level = 0 if comparison is None else significance_level(comparison.confidence)
    stars = {} if comparison is None else {
        (d.model, d.metric): "*" for d in comparison.differences if d.adjusted_p_value <= level
    }  # fmt: skip
    metrics = next(iter(scores.values())).metrics
    rows: list[list[Any]] = []
    for name, of_run in scores.items():
        if per_query:
            for query, values in zip(of_run.ids.tolist(), of_run.values.tolist(), strict=True):
                rows.append([name, str(query), *values])
        means = of_run.mean()
        cells = [(means[metric], stars.get((name, metric), "")) for metric in metrics]
        rows.append([name, *(["all"] if per_query else []), *cells])
    note = "" if comparison is None else (
        f"* differs from {comparison.baseline} (p ≤ {level:g}, {comparison.test} test, Holm)"
    )  # fmt: skip
    return ValueTable(["run", *(["query"] if per_query else []), *metrics], rows, note)


def _comparison(comparison: Comparison, *, for_programs: bool) -> ValueTable:
    """One row per metric and run; programs read the p-value before the correction as well."""
    p = ["p", "p_holm"] if for_programs else ["p (holm)"]
    header = ["metric", "run", "baseline", "mean", "difference", "low", "high", *p,
              "wins", "ties", "losses"]  # fmt: skip
    rows = [
        [d.metric, d.model, d.baseline_mean, d.model_mean, d.difference, d.interval.low,
         d.interval.high if for_programs else (d.interval.high, "*" if d.few_distinct else ""),
         *map(PValue, [d.p_value, d.adjusted_p_value][-len(p):]), d.wins, d.ties, d.losses]
        for d in comparison.differences
    ]  # fmt: skip
    return ValueTable(header, rows, few_distinct_note(comparison, comparison.method))


def _as_dict(
    scores: dict[str, QueryScores], comparison: Comparison | None, *, per_query: bool
) -> dict[str, Any]:
    result: dict[str, Any] = {"runs": {name: of_run.mean() for name, of_run in scores.items()}}
    if per_query:
        result["queries"] = {
            name: {
                str(query): dict(zip(of_run.metrics, values, strict=True))
                for query, values in zip(of_run.ids.tolist(), of_run.values.tolist(), strict=True)
            }
            for name, of_run in scores.items()
        }
    if comparison is not None:
        table = _comparison(comparison, for_programs=True)
        result["baseline"] = comparison.baseline
        result["test"], result["adjustment"] = comparison.test, "holm"
        result["comparison"] = [dict(zip(table.header, row, strict=True)) for row in table.rows]
    return result


def metrics(_: Namespace) -> str:
    """The names of the metrics, with their options and defaults."""
    rows: list[list[Any]] = []
    for name, metric in METRICS.items():
        options = ", ".join(f"{o}={v}" for o, v in metric.options.items() if o != "k")
        cutoff = "@k" if "k" in metric.options else ""
        summary = (metric.function.__doc__ or "").strip().partition("\n")[0]
        rows.append([f"{name}{cutoff}", summary, options])
    return render(ValueTable(["metric", "", "options"], rows, left=3), "table", None)


COMMANDS: dict[str, Callable[[Namespace], str]] = {"evaluate": evaluate, "metrics": metrics}
