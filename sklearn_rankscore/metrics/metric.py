"""Metrics with their options, and the one way from options to values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import Any

from .._typing import Array
from .._validation import check_choice, check_number, did_you_mean
from ..ranking import Block, MetricValues, Queries, Ranking, aggregate, read_queries
from ..ranking.queries import AS_GIVEN, apply_rule
from .adjusted import adjusted, random_order
from .definition import METRICS, SELF_NORMALIZED, Definition
from .labels import UNKNOWN, Limits, relevance_of, warn_of_fixed_values, with_value
from .options import DATA, check_average, check_order, check_unjudged, read_gain, read_options
from .propensity import (
    check_clip,
    click_weights,
    clips_nothing_error,
    read_propensity,
    refuse_adjusted_clicks,
    weighted_gains,
)

# the types of options that a name can hold
OF_NAMES = {str, int, float, bool, type(None)}


@dataclass(frozen=True)
class Metric:
    """A metric with its options: a function of a block, and how its values are averaged.

    Parameters
    ----------
    name : str
        The name to show.
    function : callable
        A function of a block, which returns one value per query, or what a formula returns.
    cutoff : int or None
        The number of ranks it needs; None for all of them.
    average : str or None
        "macro", "micro" or None.
    replace_undefined_by : float
        The value of a query for which the metric is undefined.
    unjudged : str
        The rule for documents with the label NaN.
    recipe : callable or None
        A call that creates an equal metric: what pickle and skops store, and not gains and
        discounts, which are functions.
    definition : Definition or None
        What is declared about the metric; None for a user's function of a block.
    options : dict
        The options as given, with defaults.
    propensity : array-like, str or None
        The probability that each document was examined, or the column that holds it.
    clip : float or None
        The least propensity that counts.
    chance : callable or None
        As `function`, but the expectation over random orders of the documents.
    ties : str
        How the function ranks equal scores; one by input order asks a block for no other rule.
    limits : tuple of float or None
        The lowest and the highest value; None if they are not known, as of a user's function.
    relevance : callable or None
        What the metric tells apart in labels; None if that is not known, as of a user's function.
    """

    name: str
    function: Callable[[Block], Any]
    cutoff: int | None
    average: str | None
    replace_undefined_by: float
    unjudged: str = "error"
    recipe: Callable[[], Metric] | None = field(default=None, repr=False)
    definition: Definition | None = None
    options: dict[str, Any] = field(default_factory=dict, compare=False)
    propensity: Any = None
    clip: float | None = None
    chance: Callable[[Block], Any] | None = field(default=None, repr=False)
    ties: str = "average"
    limits: Limits | None = None
    relevance: Callable[[Array], Array] | None = None

    def __getstate__(self) -> Any:
        return self.recipe

    def __setstate__(self, recipe: Callable[[], Metric]) -> None:
        vars(self).update(vars(recipe()))

    def check(self, queries: Queries) -> None:
        """Raise an error if the labels do not suit the metric or its rule for unjudged ones."""
        ready = apply_rule(queries, self.unjudged)
        if self.definition and self.definition.labels and len(ready.y_true):
            self.definition.labels(ready, **self.options)

    @property
    def is_adjusted(self) -> bool:
        """Whether it is adjusted for chance."""
        return getattr(self.function, "func", None) is adjusted

    def of_random_order(self) -> Metric | None:
        """The metric whose values are those of random orders; None if they are 0 or not known."""
        if self.chance is None or self.propensity is not None:
            return None
        return replace(self, function=self.chance, chance=None)

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
        if self.definition and self.definition.labels and len(ranking.queries.y_true):
            self.definition.labels(ranking.queries, **self.options)
        if self.propensity is None:
            if self.clip is not None:
                raise clips_nothing_error(self.clip)
            return ranking, self.function
        propensity = read_propensity(self.propensity, given, data)
        # in the place of scores, so that the rule leaves out the same documents
        propensity = apply_rule(replace(given, y_score=propensity), self.unjudged).y_score
        if not len(propensity):
            return ranking.numbered(), self.function
        weights = click_weights(propensity, self.clip)
        return ranking.numbered(), weighted_gains(self, ranking.queries, weights)


def select(
    definition: Definition,
    name: str,
    given: dict[str, Any],
    recipe: Callable[[], Metric] | None = None,
) -> Metric:
    """The metric that the given options select, with defaults for the others; each is checked."""
    if recipe is None and set(map(type, given.values())) <= OF_NAMES:
        return _select_simple(definition, name, **given)
    return _select(definition, name, given, recipe)


@lru_cache(maxsize=256, typed=True)
def _select_simple(definition: Definition, name: str, **given: Any) -> Metric:
    """The metric of options that a name can hold: reading them takes longer than a small call."""
    return _select(definition, name, given, None)


def _select(
    definition: Definition,
    name: str,
    given: dict[str, Any],
    recipe: Callable[[], Metric] | None,
) -> Metric:
    for option in given:
        if option not in definition.options:
            raise TypeError(
                f"{definition.function.__name__}() got an unexpected keyword argument {option!r}."
                f"{did_you_mean(option, (*definition.options, *DATA))}"
            )
    options = read_gain({**definition.options, **given})
    average, replacement = options.pop("average"), options.pop("replace_undefined_by")
    rule = check_unjudged(**options)
    propensity, clip = options.pop("propensity", None), check_clip(options.pop("clip", None))
    del options["unjudged"]
    ready = read_options(options)
    if not definition.best_order:
        check_order(ready["ties"])
    if definition.denominators:
        check_choice("denominator", ready["denominator"], definition.denominators)
    function, chance = _of_block(definition, name, ready, propensity)
    is_estimate = propensity is not None and definition.clicks != SELF_NORMALIZED
    limits = definition.limits if definition.limits is None else definition.limits(**options)
    replacement = check_number("replace_undefined_by", replacement, allow_nan=True)
    is_ratio = definition.ratio and ready.get("denominator") != "hits"
    return Metric(
        name,
        function,
        cutoff=definition.ranks(**ready),
        average=check_average(average, ratio=is_ratio),
        replace_undefined_by=replacement,
        unjudged=AS_GIVEN if definition.reads_unjudged else rule,
        recipe=recipe,
        definition=definition,
        options=options,
        propensity=propensity,
        clip=clip,
        chance=chance,
        ties=ready.get("ties", "average"),
        limits=limits and with_value(UNKNOWN if is_estimate else limits, replacement),
        relevance=relevance_of(options, is_own=definition.is_own),
    )


def _of_block(
    definition: Definition, name: str, options: dict[str, Any], propensity: Any
) -> tuple[Callable[[Block], Any], Callable[[Block], Any] | None]:
    """A formula with its options, adjusted for chance or not, and what it is for chance."""
    formula, adjustable = definition.formula, definition.adjustable
    adjust = options.pop("adjusted", False)
    refuse_adjusted_clicks(adjust, propensity)
    if adjustable in ("is adjusted", "never"):
        return partial(formula, **options), None
    if not adjust:
        return partial(formula, **options), partial(random_order, formula, options)
    if adjustable == "within cut-off" and options["k"] is None:
        example = f", or '{name.partition('(')[0]}@10' in a name" if name else ""
        raise ValueError(
            f"adjusted=True compares with a random order, but without a cut-off {name or 'it'} "
            f"has the same value for all orders. Give a cut-off: k=10{example}."
        )
    return partial(adjusted, formula, options), None


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


def score(name: str, y_true: Any, y_score: Any, options: dict[str, Any]) -> float | Array:
    """The result of a metric function."""
    data = {
        "groups": options.pop("groups", None),
        "sample_weight": options.pop("sample_weight", None),
        "labels": options.pop("labels", None),
        "n_jobs": options.pop("n_jobs", None),
    }
    metric = select(METRICS[name], "", options)
    queries = read_queries(y_true, y_score, **data)
    warn_of_fixed_values(queries, [metric])
    ranking = Ranking(queries, metric.cutoff)
    ranking, function = metric.prepare(ranking, queries, (y_true, y_score))
    (values,) = ranking.apply([function], data["n_jobs"])
    return aggregate(values, metric.average, metric.replace_undefined_by, queries.weights)
