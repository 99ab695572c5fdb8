"""Metrics with their options, and the one way from options to values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from math import isnan
from typing import Any

import numpy as np

from .._typing import Array, ArrayFunction
from .._validation import check_choice, did_you_mean
from ..ranking import Block, MetricValues, Queries, Ranking, aggregate, read_queries
from ..ranking.derived import in_ideal_order, in_random_order
from ..ranking.label_functions import linear
from ..ranking.queries import AS_GIVEN, apply_rule
from ..ranking.ties import BY_INPUT_ORDER
from .definition import METRICS, SELF_NORMALIZED, Definition, definition_of
from .labels import UNKNOWN, Limits, warn_of_fixed_values
from .options import DATA, gain_by_label, read_options
from .propensity import check_clicks, of_clicks

# the part of the maximum that rounding may leave between it and an equal expectation
ROUNDING = 1e-12

# the types of options that a name can hold
OF_NAMES = {str, int, float, bool, type(None)}

# what a metric itself does with its options; a formula receives the others
OF_METRICS = (
    "average", "replace_undefined_by", "unjudged", "propensity", "clip", "adjusted",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Metric:
    """A metric with its options: a function of a block, and how its values are averaged.

    Parameters
    ----------
    name : str
        The name to show.
    definition : Definition
        What is declared about the metric.
    options : dict
        All options in the form that was given: what pickle and skops store, and not gains and
        discounts, which are functions.
    formula : callable
        Its formula, adjusted for chance or not, ``formula(block, **ready)``.
    ready : dict
        The options as the formula receives them.
    average : str or None
        "macro", "micro" or None.
    replace_undefined_by : float
        The value of a query for which the metric is undefined.
    unjudged : str
        The rule for documents with the label NaN.
    propensity : array-like, str or None
        The probability that each document was examined, or the column that holds it.
    clip : float or None
        The least propensity that counts.
    """

    name: str
    definition: Definition
    options: dict[str, Any]
    formula: Callable[..., Any]
    ready: dict[str, Any]
    average: str | None
    replace_undefined_by: float
    unjudged: str
    propensity: Any = None
    clip: float | None = None

    def __post_init__(self) -> None:
        if self.propensity is not None:
            check_clicks(self)

    def __getstate__(self) -> Any:
        return self.definition.function, self.name, self.options

    def __setstate__(self, state: Any) -> None:
        function, name, options = state
        vars(self).update(vars(select(definition_of(function), name, options)))

    @cached_property
    def function(self) -> Callable[[Block], Any]:
        """The formula with its options, a function of a block."""
        return partial(self.formula, **self.ready)

    @cached_property
    def cutoff(self) -> int | None:
        """The number of ranks it needs; None for all of them."""
        return self.definition.ranks(**self.ready)

    @cached_property
    def ties(self) -> str:
        """How it ranks equal scores."""
        return str(self.ready.get("ties", "average"))

    @property
    def is_adjusted(self) -> bool:
        """Whether it is rescaled for chance."""
        return getattr(self.formula, "func", None) is adjusted

    @property
    def limits(self) -> Limits | None:
        """The lowest and the highest value; None if they are not known."""
        known = self.definition
        if known.limits is None:
            return None
        low, high = known.limits(self.options) if callable(known.limits) else known.limits
        if self.is_adjusted:
            low, high = known.adjusted_limits
        if self.propensity is not None and known.clicks != SELF_NORMALIZED:
            low, high = UNKNOWN
        undefined = self.replace_undefined_by
        return (low, high) if isnan(undefined) else (min(low, undefined), max(high, undefined))

    @cached_property
    def relevance(self) -> ArrayFunction | None:
        """What it tells apart in labels, of which an unjudged one has none; None if not known."""
        gain = self.options.get("gain", "binary" if "threshold" in self.options else None)
        if self.definition.is_own and gain is None:
            return None
        if isinstance(gain, str) and gain == "binary":
            return partial(np.less, self.options.get("threshold", 0.0))
        return partial(np.nan_to_num, neginf=0.0)

    def check(self, queries: Queries) -> None:
        """Raise an error if the labels do not suit the metric or its rule for unjudged ones."""
        ready = apply_rule(queries, self.unjudged)
        if self.definition.labels and len(ready.y_true):
            self.definition.labels(ready, **self.options)

    def of_random_order(self) -> Metric | None:
        """The metric whose values are those of random orders; None if they are 0 or not known."""
        has_chance = self.definition.adjustable in ("always", "within cut-off")
        if not has_chance or self.is_adjusted or self.propensity is not None:
            return None
        return replace(self, formula=partial(random_order, self.formula))

    def aggregate(self, values: MetricValues, queries: Queries) -> float | Array:
        """The result, from the values of all queries."""
        return aggregate(values, self.average, self.replace_undefined_by, queries.weights)

    def prepare(
        self, ranking: Ranking, given: Queries, data: Sequence[Any]
    ) -> tuple[Ranking, Callable[[Block], Any]]:
        """The ranking that the metric needs, and its function of a block of that ranking.

        `given` are the documents as they were given. Propensities rank numbered documents.
        """
        ranking = ranking.under_rules(self.unjudged, self.ties)
        if self.definition.labels and len(ranking.queries.y_true):
            self.definition.labels(ranking.queries, **self.options)
        if self.propensity is not None:
            return ranking.numbered(), of_clicks(self, given, ranking.queries, data)
        if self.clip is not None:
            raise ValueError(
                f"clip={self.clip:g} raises small propensities, but propensity= is not given."
            )
        return ranking, self.function


def select(definition: Definition, name: str, given: Mapping[str, Any]) -> Metric:
    """The metric that the given options select, with defaults for the others; each is checked."""
    # reading options takes longer than a small call, so that those of names are read once
    is_known = METRICS.get(definition.name) is definition
    is_cached = is_known and set(map(type, given.values())) <= OF_NAMES
    return (_select if is_cached else _select.__wrapped__)(definition, name, **given)


@lru_cache(maxsize=256, typed=True)
def _select(definition: Definition, name: str, /, **given: Any) -> Metric:
    for option in given:
        if option not in definition.options:
            raise TypeError(
                f"{definition.function.__name__}() got an unexpected keyword argument {option!r}."
                f"{did_you_mean(option, (*definition.options, *DATA))}"
            )
    options = {**definition.options, **given}
    if "gain" in options:
        options["gain"] = gain_by_label(options["gain"])
    ready = read_options(options)
    _check_together(definition, name, ready)
    own = {option: ready.pop(option) for option in OF_METRICS if option in ready}
    if definition.reads_unjudged:
        own["unjudged"] = AS_GIVEN
    is_rescaled = own.pop("adjusted", False) and definition.adjustable != "is adjusted"
    formula = partial(adjusted, definition.formula) if is_rescaled else definition.formula
    return Metric(name, definition, options, formula, ready, **own)


def _check_together(definition: Definition, name: str, ready: dict[str, Any]) -> None:
    """Refuse options that the metric does not have, or not together."""
    if definition.denominators:
        check_choice("denominator", ready["denominator"], definition.denominators)
    if not definition.best_order:
        check_choice("ties", ready["ties"], ("average", *BY_INPUT_ORDER))
    is_ratio = definition.ratio and ready.get("denominator") != "hits"
    refused = {
        "average='micro' requires a metric that is a ratio of sums, which this one is not with "
        "these options; use 'macro' or None.": ready["average"] == "micro" and not is_ratio,
        "unjudged='irrelevant' gives documents the label 0, which a negative threshold makes "
        "relevant. Use unjudged='drop', or a threshold of at least 0.": (
            ready["unjudged"] == "irrelevant" and ready.get("threshold", 0) < 0
        ),
        f"adjusted=True compares with a random order, but without a cut-off {name or 'it'} "
        "has the same value for all orders. Give a cut-off, such as k=10.": (
            definition.adjustable == "within cut-off" and ready["adjusted"] and ready["k"] is None
        ),
    }
    for message, applies in refused.items():
        if applies:
            raise ValueError(message)


def measure(
    queries: Queries,
    metrics: Iterable[Metric],
    *,
    n_jobs: int | None = None,
    ranking: Ranking | None = None,
    data: Sequence[Any] = (),
) -> list[MetricValues]:
    """The value of each metric for every query, from a single sort, or from a given ranking.

    Unjudged documents need one sort for each rule that the metrics have for them, and metrics with
    propensities, which rank numbered documents, another one. Propensities that are given by name
    are looked up in `data`.
    """
    metrics = list(metrics)
    if ranking is None:
        depth: int | None = 0
        for metric in metrics:
            depth = max(depth, metric.cutoff) if depth is not None and metric.cutoff else None
        ranking = Ranking(queries, depth)
    members: dict[Ranking, dict[int, Callable[[Block], Any]]] = {}
    for position, metric in enumerate(metrics):
        ranked, function = metric.prepare(ranking, queries, data)
        members.setdefault(ranked, {})[position] = function
    values: list[Any] = [None] * len(metrics)
    for ranked, functions in members.items():
        measured = ranked.apply([*functions.values()], n_jobs)
        for position, of_metric in zip(functions, measured, strict=True):
            values[position] = of_metric
    return values


def score(name: str, y_true: Any, y_score: Any, given: Mapping[str, Any]) -> Any:
    """The result of a metric function: a float, or one value per query with ``average=None``."""
    options = dict(given)
    data = {}
    for argument in DATA:
        data[argument] = options.pop(argument, None)
    metric, n_jobs = select(METRICS[name], "", options), data["n_jobs"]
    queries = read_queries(y_true, y_score, **data)
    warn_of_fixed_values(queries, [metric])
    (values,) = measure(queries, [metric], n_jobs=n_jobs, data=(y_true, y_score))
    return metric.aggregate(values, queries)


def adjusted(formula: Callable[..., Any], block: Block, **options: Any) -> Any:
    """What a formula returns, rescaled to (value - expected) / (best - expected).

    `expected` is the expectation over all orders of the documents of the query, retrieved or not,
    and `best` the value of the ideal order, by descending gain. A query of which all orders are
    equal is undefined. Numerator and denominator have the scale of those of the ideal order, so
    that a ratio of their sums adjusts the ratio of sums.
    """
    ideal = in_ideal_order(block, options.get("gain", linear))
    numerator, scale, is_defined = formula(ideal, **{**options, "ties": "average"})
    best, (expected, _, _) = _ratios(numerator, scale), random_order(formula, block, **options)
    possible = (best - expected) * scale
    measured, denominator, of_scores = formula(block, **options)
    is_defined = is_defined & of_scores & (best - expected > ROUNDING * np.abs(best))
    gained = (_ratios(measured, denominator) - expected) * scale
    return np.where(is_defined, gained, 0.0), np.where(is_defined, possible, 0.0), is_defined


def random_order(formula: Callable[..., Any], block: Block, **options: Any) -> Any:
    """The expectation of a formula over all orders of the documents of each query."""
    tied, options = in_random_order(block), {**options, "ties": "average"}
    numerator, denominator, is_defined = formula(tied, **options)
    return _ratios(numerator, denominator), 1.0, is_defined


def _ratios(numerator: Array, denominator: Any) -> Array:
    zeros = np.zeros(len(numerator))
    return np.asarray(np.divide(numerator, denominator, out=zeros, where=denominator != 0))
