"""Formulas, metrics made of them, and the one way from options to values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import Any

from .._typing import Array
from .._validation import check_choice, check_number
from ..ranking import Block, MetricValues, Queries, Ranking, aggregate, read_queries
from ..ranking.queries import AS_GIVEN, apply_rule
from .adjusted import Adjustable, adjusted, of_block, refuse_adjusted_clicks
from .fixed_values import relevance_of, warn_of_fixed_values
from .limits import UNKNOWN, Limits, from_0_to_1, with_value
from .options import check_average, check_order, check_unjudged, read_gain, read_options
from .propensity import (
    SELF_NORMALIZED,
    check_clip,
    click_weights,
    clips_nothing_error,
    read_propensity,
    weight_no_clicks,
    weighted_gains,
)

# the types of options that a name can hold
OF_NAMES = {str, int, float, bool, type(None)}


def _accept_labels(queries: Queries, **options: Any) -> None:
    """Accept labels of any size."""


def _up_to_the_cut_off(k: int | None = None, **options: Any) -> int | None:
    """All ranks up to the cut-off, if there is one."""
    return k


@dataclass(frozen=True, eq=False)
class Formula:
    """A formula and what it allows.

    Parameters
    ----------
    function : callable
        ``function(block, **options)``, which returns numerator, denominator and whether the metric
        is defined, each with one entry per query of the block (the denominator may be a scalar).
    ratio : bool
        Whether it is a ratio of sums, so that ``average="micro"`` is meaningful.
    check_labels : callable
        ``check_labels(queries, **options)`` raises if the labels do not suit the options.
    denominators : tuple of str
        The values of the option `denominator`, if there is one.
    ranks : callable
        ``ranks(**options)``, the number of ranks it needs; None for all of them.
    reads_unjudged : bool
        Whether it distinguishes unjudged documents, whose label is NaN, from irrelevant ones.
    best_order : bool
        Whether ties may be ranked by label, which gives the best and the worst order.
    adjustable : {"always", "within cut-off", "is adjusted"}
        Whether the option `adjusted` rescales it: always; only with a cut-off, without which all
        orders have the same value; or never, because random orders have the expectation 0 and the
        ideal order is 1.
    limits : callable
        ``limits(**options)``, the lowest and the highest value, infinite if that is not known.
    """

    function: Callable[..., tuple[Array, Any, Array]]
    ratio: bool = False
    check_labels: Callable[..., None] = _accept_labels
    denominators: tuple[str, ...] = ()
    ranks: Callable[..., int | None] = _up_to_the_cut_off
    reads_unjudged: bool = False
    best_order: bool = True
    adjustable: Adjustable = "always"
    limits: Callable[..., Limits] = from_0_to_1

    def with_options(
        self,
        name: str,
        average: Any,
        replace_undefined_by: Any,
        options: dict[str, Any],
        recipe: Callable[[], Metric] | None = None,
    ) -> Metric:
        """The metric that these options select; each is checked."""
        given = {"average": average, "replace_undefined_by": replace_undefined_by, **options}
        if recipe is None and set(map(type, given.values())) <= OF_NAMES:
            return _with_simple_options(self, name, **given)
        return self._select(name, average, replace_undefined_by, options, recipe)

    def _select(
        self,
        name: str,
        average: Any,
        replace_undefined_by: Any,
        options: dict[str, Any],
        recipe: Callable[[], Metric] | None,
    ) -> Metric:
        rule = check_unjudged(**options)
        options = {o: value for o, value in read_gain(options).items() if o != "unjudged"}
        propensity, clip = options.pop("propensity", None), check_clip(options.pop("clip", None))
        ready = read_options(options)
        if not self.best_order:
            check_order(ready["ties"])
        if "denominator" in ready:
            check_choice("denominator", ready["denominator"], self.denominators)
        adjust = ready.pop("adjusted", False)
        refuse_adjusted_clicks(adjust, propensity)
        function, chance = of_block(self.function, self.adjustable, name, ready, adjust=adjust)
        return Metric(
            name,
            function,
            cutoff=self.ranks(**ready),
            average=check_average(average, ratio=self.ratio and ready.get("denominator") != "hits"),
            replace_undefined_by=check_number(
                "replace_undefined_by", replace_undefined_by, allow_nan=True
            ),
            check_labels=partial(self.check_labels, **options),
            unjudged=AS_GIVEN if self.reads_unjudged else rule,
            recipe=recipe,
            propensity=propensity,
            clip=clip,
            weight_clicks=partial(weighted_gains, self.function, ready),
            chance=chance,
            ties=ready.get("ties", "average"),
            limits=with_value(self._limits(propensity, options), replace_undefined_by),
            relevance=relevance_of(options),
        )

    def _limits(self, propensity: Any, options: dict[str, Any]) -> Limits:
        is_estimate = propensity is not None and self.function.__name__ not in SELF_NORMALIZED
        return UNKNOWN if is_estimate else self.limits(**options)


@lru_cache(maxsize=256, typed=True)
def _with_simple_options(
    formula: Formula, name: str, average: Any, replace_undefined_by: Any, **options: Any
) -> Metric:
    """The metric of options that a name can hold: reading them takes longer than a small call."""
    return formula._select(name, average, replace_undefined_by, options, None)


def formula(**allowed: Any) -> Callable[[Callable[..., tuple[Array, Any, Array]]], Formula]:
    """Declare a function of a block to be a formula, with the fields of `Formula` that differ."""
    return partial(Formula, **allowed)


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
    check_labels : callable
        ``check_labels(queries)`` raises if the labels do not suit the metric.
    unjudged : str
        The rule for documents with the label NaN.
    recipe : callable or None
        A call that creates an equal metric: what pickle and skops store, and not gains and
        discounts, which are functions.
    propensity : array-like, str or None
        The probability that each document was examined, or the column that holds it.
    clip : float or None
        The least propensity that counts.
    weight_clicks : callable
        ``weight_clicks(queries, weights)`` returns the function of a block of numbered documents
        that multiplies gains by these weights, or raises if the metric admits none.
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
    check_labels: Callable[[Queries], None] = _accept_labels
    unjudged: str = "error"
    recipe: Callable[[], Metric] | None = field(default=None, repr=False)
    propensity: Any = None
    clip: float | None = None
    weight_clicks: Callable[[Queries, Array], Callable[[Block], Any]] = weight_no_clicks
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
        if len(ready.y_true):
            self.check_labels(ready)

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
        if len(ranking.queries.y_true):
            self.check_labels(ranking.queries)
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
        return ranking.numbered(), self.weight_clicks(ranking.queries, weights)


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


def score(
    formula: Formula,
    y_true: Any,
    y_score: Any,
    *,
    groups: Any,
    sample_weight: Any,
    labels: Any,
    n_jobs: int | None,
    average: Any,
    replace_undefined_by: Any,
    **options: Any,
) -> float | Array:
    """The result of a metric function, which passes all its arguments by ``**locals()``.

    That call must be its first statement, so that there are no other local variables.
    """
    metric = formula.with_options("", average, replace_undefined_by, options)
    queries = read_queries(
        y_true, y_score, groups=groups, sample_weight=sample_weight, labels=labels, n_jobs=n_jobs
    )
    warn_of_fixed_values(queries, [metric])
    (values,) = measure(queries, [metric], n_jobs=n_jobs, data=(y_true, y_score))
    return metric.aggregate(values, queries)
