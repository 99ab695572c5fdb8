"""Metrics by name: the table of names and their grammar, ``name[@k][(option=value, ...)]``."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from typing import Any

from . import (
    auc,
    cascade,
    cumulative_gain,
    formulas,
    hits,
    incomplete_judgments,
    precision_recall,
)
from .aliases import (
    ambiguity,
    canonical_name,
    is_near,
    needs_cutoff,
    split_cutoff,
    suggestions,
    translation,
    without_rel,
)
from .metric import Formula

# options of scorers that name a column
OF_DATA = ("groups", "propensity", "target")
INPUTS = ("y_true", "y_score", "groups", "sample_weight", "labels", "n_jobs")


@dataclass(frozen=True)
class NamedFormula:
    """A formula and the public function that computes it."""

    function: Callable[..., Any]
    formula: Formula

    @property
    def options(self) -> dict[str, Any]:
        """Options that a name may set, with their defaults, from the function's signature."""
        return _options_of(self.function)


@cache
def _options_of(function: Callable[..., Any]) -> dict[str, Any]:
    parameters = inspect.signature(function).parameters
    return {name: p.default for name, p in parameters.items() if name not in INPUTS}


METRICS = {
    "dcg": NamedFormula(cumulative_gain.dcg_score, formulas.dcg),
    "ndcg": NamedFormula(cumulative_gain.ndcg_score, formulas.ndcg),
    "map": NamedFormula(precision_recall.map_score, formulas.average_precision),
    "mrr": NamedFormula(hits.mrr_score, formulas.reciprocal_rank),
    "precision": NamedFormula(precision_recall.precision_at_k, formulas.precision),
    "recall": NamedFormula(precision_recall.recall_at_k, formulas.recall),
    "f1": NamedFormula(precision_recall.f1_at_k, formulas.f1),
    "hits": NamedFormula(hits.hits_at_k, formulas.hits),
    "hit_rate": NamedFormula(hits.hit_rate_at_k, formulas.hit_rate),
    "r_precision": NamedFormula(precision_recall.r_precision_score, formulas.r_precision),
    "err": NamedFormula(cascade.err_score, formulas.err),
    "rbp": NamedFormula(cumulative_gain.rbp_score, formulas.rbp),
    "pfound": NamedFormula(cascade.pfound_score, formulas.pfound),
    "query_auc": NamedFormula(auc.query_auc_score, formulas.query_auc),
    "pair_accuracy": NamedFormula(auc.pair_accuracy_score, formulas.pair_accuracy),
    "kendall_tau": NamedFormula(auc.kendall_tau_score, formulas.kendall_tau),
    "spearman": NamedFormula(auc.spearman_score, formulas.spearman),
    "judged": NamedFormula(incomplete_judgments.judged_at_k, formulas.judged_share),
    "bpref": NamedFormula(incomplete_judgments.bpref_score, formulas.bpref),
    "infap": NamedFormula(incomplete_judgments.infap_score, formulas.inferred_ap),
}

_NAME = re.compile(r"(?P<name>[^@()]+)(?:@(?P<k>[^()]*))?(?:\((?P<options>[^()]*)\))?")
_WORDS = {"none": None, "nan": math.nan, "true": True, "false": False}
LONGEST_NAME = 500


@lru_cache(maxsize=4096)
def parse_name(name: str) -> tuple[str, tuple[tuple[str, Any], ...]]:
    """``"NDCG@10(gain=exponential)"`` as ``("ndcg", (("k", 10), ("gain", "exponential")))``."""
    if len(name) > LONGEST_NAME:
        raise ValueError(f"{name[:20]!r}... of {len(name):,} letters is not the name of a metric.")
    match = _NAME.fullmatch(without_rel(name).strip())
    if match is None or not match["name"].strip():
        raise ValueError(
            f"{name!r} is not the name of a metric. Names are written 'metric', 'metric@k' or "
            "'metric@k(option=value, ...)', such as 'ndcg@10' or 'map@5(threshold=1)'."
        )
    metric, cutoff = _parse_metric(name, match["name"].strip(), match["k"])
    options: dict[str, Any] = {} if cutoff is None else {"k": _parse_cutoff(name, cutoff)}
    if any(bracket in (match["options"] or "") for bracket in "[{"):
        raise ValueError(
            f"{name!r}: a name holds numbers and words only. Lists and dicts are arguments of "
            f"evaluate and make_ranking_scorer, as in make_ranking_scorer({metric!r}, gain=[0, 1])."
        )
    for part in filter(None, map(str.strip, (match["options"] or "").split(","))):
        option, equals, value = (text.strip() for text in part.partition("="))
        option = option.lower()
        if not equals or not option or not value:
            raise ValueError(f"{name!r}: options are written option=value, got {part!r}.")
        if option in options:
            raise ValueError(f"{name!r} gives {option!r} twice.")
        options[option] = _parse_value(option, value)
    return metric, tuple(options.items())


def is_metric(name: str) -> bool:
    """Whether a name, with any cut-off and options, is that of a metric of this package."""
    if len(name) > LONGEST_NAME:
        return False
    match = _NAME.fullmatch(without_rel(name).strip())
    spelling = match["name"].strip() if match else ""
    return canonical_name(split_cutoff(spelling)[0], METRICS) is not None


def _parse_metric(name: str, spelling: str, cutoff: str | None) -> tuple[str, str | None]:
    """The canonical name of the metric, and the text of its cut-off."""
    if cutoff is None:
        spelling, cutoff = split_cutoff(spelling)
    metric = canonical_name(spelling, METRICS)
    if metric is None:
        raise _unknown_metric(name, spelling)
    if cutoff is None and needs_cutoff(spelling):
        raise ValueError(f"{name!r} needs a cut-off, such as '{spelling}@5', or is {metric!r}.")
    return metric, cutoff


def _suggested(metric: str, rest: str) -> str:
    """A similar name, with the cut-off and the options that were given, if it has a cut-off."""
    name, _, number = metric.partition("@")
    if name not in METRICS:  # it has options of its own
        return metric
    cutoff, options = re.fullmatch(r"(@[^()]*)?(.*)", rest).groups("")  # type: ignore[union-attr]
    cutoff = f"@{number}" if number else cutoff
    return name + (cutoff if "k" in METRICS[name].options else "") + options


def _unknown_metric(name: str, spelling: str) -> ValueError:
    if translated := translation(name, METRICS):
        return ValueError(translated)
    if choices := ambiguity(spelling):
        return ValueError(f"{name!r} has several meanings: use {choices}.")
    if several := _if_several(spelling):
        return ValueError(f"{name!r} is not the name of a metric.{several}")
    rest = name.strip().removeprefix(spelling)
    near = [_suggested(metric, rest) for metric in suggestions(spelling, METRICS)]
    hint = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
    return ValueError(
        f"{name!r} is not a known metric.{hint} Known are "
        f"{', '.join(METRICS)}, and the aliases that metric_names() lists."
    )


def _if_several(text: str) -> str:
    """How to name several metrics or cut-offs, if a comma or the like separates them."""
    separated = "=" not in text and re.search(r"[,;]|[0-9]\s+\S", text)
    # only the command line splits a string into names
    return " Give several as a list, such as ['ndcg@5', 'ndcg@10']." if separated else ""


def _parse_cutoff(name: str, text: str) -> int:
    digits = text.strip()
    if translated := translation(name, METRICS):
        raise ValueError(translated)
    if not re.fullmatch(r"[0-9]+", digits) or int(digits) < 1:
        raise ValueError(
            f"{name!r}: the cut-off after @ must be a positive integer, got {text!r}."
            f"{_if_several(digits)}"
        )
    return int(digits)


def _parse_value(option: str, text: str) -> Any:
    if option in OF_DATA and not text.removeprefix("-").isdecimal() and text.lower() not in _WORDS:
        return text  # the name of a column, of which case and blanks are kept
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text.lower()


def with_cutoff(metric: str, k: int) -> str:
    """``"MAP(threshold=1)"`` at 5 as ``"map@5(threshold=1)"``."""
    name, _ = parse_name(metric)
    _, parenthesis, options = without_rel(metric).partition("(")
    return f"{name}@{k}{parenthesis}{options.strip()}"


def with_options(name: str, options: Mapping[str, Any]) -> str:
    """``"ndcg@5"`` as ``"ndcg@5(gain=exponential)"``; None and what the name sets is left out."""
    in_name = dict(parse_name(name)[1]) if is_metric(name) else {}
    shown = [f"{o}={v}" for o, v in options.items() if v is not None and o not in in_name]
    if not shown:
        return name
    head = f"{name[:-1]}," if name.endswith(")") else f"{name}("
    return f"{head}{','.join(shown)})"


def names_metric(name: Any, others: Collection[str] = ()) -> bool:
    """Whether a string is meant to be the name of one of these metrics, well formed or not.

    Anything with "@" is, names of other libraries are, and any name that is more similar to one
    of these than to `others`.
    """
    if not isinstance(name, str):
        return False
    if len(name) > LONGEST_NAME:
        return "@" in name
    base = without_rel(name).partition("(")[0].strip()
    if "@" in base or translation(base, METRICS):
        return True
    spelling, _ = split_cutoff(base)
    functions = {known.function.__name__ for known in METRICS.values()}
    if canonical_name(spelling, METRICS) or base in functions:
        return True
    if base.lower() in others:  # "R2" and "Accuracy"
        return False
    return bool(ambiguity(base) or is_near(base, METRICS, others))


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
