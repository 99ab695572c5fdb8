"""Documents without a judgment on the command line."""

from __future__ import annotations

from typing import Any

from .._typing import Array
from ..io.trec import UnjudgedInPool
from ..metrics.names import METRICS, parse_name


def unjudged_documents(
    metrics: list[str], rule: str | None
) -> tuple[UnjudgedInPool, dict[str, Any]]:
    """How to label these documents, and the option of the metrics that do not set their own."""
    parsed = [parse_name(metric) for metric in metrics]
    if rule is None and not any(_reads(name, dict(options)) for name, options in parsed):
        return "irrelevant", {}
    labels: UnjudgedInPool = "pool" if any(name == "infap" for name, _ in parsed) else "nan"
    return labels, {"unjudged": rule or "irrelevant"}


def check_pool(metrics: list[str], labels: Array) -> None:
    """Refuse other metrics beside infap if negative labels mark the pool."""
    names = [parse_name(metric)[0] for metric in metrics]
    others = [name for name in names if "unjudged" in METRICS[name].options]
    if "infap" in names and others and (labels < 0).any():
        raise ValueError(
            "infap distinguishes documents of the pool, which the qrels list with a negative "
            f"relevance, from all others, and {others[0]} does not. Compute infap by a separate "
            "command, which may include bpref and judged."
        )


def _reads(name: str, options: dict[str, Any]) -> bool:
    """Whether a metric distinguishes documents without a judgment."""
    return "unjudged" in options or "unjudged" not in METRICS[name].options
