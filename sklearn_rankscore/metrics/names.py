"""Metrics by name: the table of names and their grammar, ``name[@k][(option=value, ...)]``."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import Any

from .._validation import did_you_mean
from . import (
    auc,
    average_precision,
    cascade,
    correlation,
    cumulative_gain,
    formulas,
    hits,
    precision_recall,
    rank_biased_precision,
    reciprocal_rank,
)
from .metric import Formula

INPUTS = ("y_true", "y_score", "groups", "sample_weight", "labels", "n_jobs")


@dataclass(frozen=True)
class NamedFormula:
    """A formula and the public function that computes it."""

    function: Callable[..., Any]
    formula: Formula

    @cached_property
    def options(self) -> dict[str, Any]:
        """Options that a name may set, with their defaults, from the function's signature."""
        parameters = inspect.signature(self.function).parameters
        return {name: p.default for name, p in parameters.items() if name not in INPUTS}


METRICS = {
    "dcg": NamedFormula(cumulative_gain.dcg_score, formulas.dcg),
    "ndcg": NamedFormula(cumulative_gain.ndcg_score, formulas.ndcg),
    "map": NamedFormula(average_precision.map_score, formulas.average_precision),
    "mrr": NamedFormula(reciprocal_rank.mrr_score, formulas.reciprocal_rank),
    "precision": NamedFormula(precision_recall.precision_at_k, formulas.precision),
    "recall": NamedFormula(precision_recall.recall_at_k, formulas.recall),
    "f1": NamedFormula(precision_recall.f1_at_k, formulas.f1),
    "hits": NamedFormula(hits.hits_at_k, formulas.hits),
    "hit_rate": NamedFormula(hits.hit_rate_at_k, formulas.hit_rate),
    "r_precision": NamedFormula(average_precision.r_precision_score, formulas.r_precision),
    "err": NamedFormula(cascade.err_score, formulas.err),
    "rbp": NamedFormula(rank_biased_precision.rbp_score, formulas.rbp),
    "pfound": NamedFormula(cascade.pfound_score, formulas.pfound),
    "query_auc": NamedFormula(auc.query_auc_score, formulas.query_auc),
    "kendall_tau": NamedFormula(correlation.kendall_tau_score, formulas.kendall_tau),
    "spearman": NamedFormula(correlation.spearman_score, formulas.spearman),
}

_NAME = re.compile(r"(?P<name>[a-z][a-z0-9_]*)(?:@(?P<k>[^()]*))?(?:\((?P<options>[^()]*)\))?")
_WORDS = {"none": None, "nan": math.nan}


@lru_cache(maxsize=4096)
def parse_name(name: str) -> tuple[str, tuple[tuple[str, Any], ...]]:
    """``"ndcg@10(gain=exponential)"`` as ``("ndcg", (("k", 10), ("gain", "exponential")))``."""
    match = _NAME.fullmatch(name.replace(" ", ""))
    if match is None:
        raise ValueError(
            f"{name!r} is not the name of a metric. Names are written 'metric', 'metric@k' or "
            "'metric@k(option=value, ...)', such as 'ndcg@10' or 'map@5(threshold=1)'."
        )
    if match["name"] not in METRICS:
        hint = did_you_mean(match["name"], METRICS)
        raise ValueError(f"{name!r} is not a known metric.{hint} Known are {', '.join(METRICS)}.")
    options: dict[str, Any] = {}
    if match["k"] is not None:
        options["k"] = _parse_cutoff(name, match["k"])
    for part in filter(None, (match["options"] or "").split(",")):
        option, equals, value = part.partition("=")
        if not equals or not option or not value:
            raise ValueError(f"{name!r}: options are written option=value, got {part!r}.")
        if option in options:
            raise ValueError(f"{name!r} gives {option!r} twice.")
        options[option] = _parse_value(value)
    return match["name"], tuple(options.items())


def _parse_cutoff(name: str, text: str) -> int:
    if not re.fullmatch(r"[0-9]+", text) or int(text) < 1:
        raise ValueError(f"{name!r}: the cut-off after @ must be a positive integer, got {text!r}.")
    return int(text)


def _parse_value(text: str) -> Any:
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def name_of_function(metric: Any) -> str | None:
    """The name of one of the public metric functions; None for anything else."""
    # compared by identity, because a callable of the user's need not be hashable
    return next((name for name, known in METRICS.items() if known.function is metric), None)


def display_name(metric: Callable[..., Any]) -> str:
    """The name of a function, with the arguments that `functools.partial` has bound."""
    if not isinstance(metric, partial):
        return str(getattr(metric, "__name__", type(metric).__name__))
    bound = [*map(repr, metric.args), *(f"{name}={v!r}" for name, v in metric.keywords.items())]
    return f"{display_name(metric.func)}({', '.join(bound)})"
