"""What is declared about a metric, in one place: with its public function, or by its user."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, Literal, TypeAlias, TypeVar

from .labels import UNKNOWN, Limits, check_gains
from .options import DATA, OPTIONS

Function = TypeVar("Function", bound=Callable[..., Any])

# estimates from clicks without bias, which are sums over documents, and ratios of such sums
UNBIASED: Literal["unbiased"] = "unbiased"
SELF_NORMALIZED: Literal["self-normalized"] = "self-normalized"

# the options of all metrics
OF_ALL = {"average", "replace_undefined_by", "unjudged"}

Adjustable: TypeAlias = Literal["always", "within cut-off", "is adjusted", "never"]


def _up_to_the_cut_off(k: int | None = None, **options: Any) -> int | None:
    """All ranks up to the cut-off, if there is one."""
    return k


@dataclass(frozen=True, eq=False)
class Definition:
    """A metric: its names, its formula, and what it allows.

    Parameters
    ----------
    name : str
        The name by which it is shown.
    formula : callable
        ``formula(block, **options)``, which returns numerator, denominator and whether the metric
        is defined, each with one entry per query of the block (the denominator may be a scalar).
        Its parameters are the options of the metric.
    aliases : tuple of str
        What papers and libraries call it; case, "_" and "-" do not matter.
    ratio : bool
        Whether it is a ratio of sums, so that ``average="micro"`` is meaningful.
    labels : callable or None
        ``labels(queries, **options)`` raises if the labels do not suit the options. The default is
        to accept those that the gain admits, or all if there is none.
    denominators : tuple of str
        The values of the option `denominator`, the default first.
    defaults : dict
        Defaults of options that differ from those of other metrics.
    ranks : callable
        ``ranks(**options)``, the number of ranks it needs; None for all of them.
    reads_unjudged : bool
        Whether it distinguishes unjudged documents, whose label is NaN, from irrelevant ones.
    best_order : bool
        Whether ties may be ranked by label, which gives the best and the worst order.
    adjustable : {"always", "within cut-off", "is adjusted", "never"}
        Whether the option `adjusted` rescales it: always; only with a cut-off, without which all
        orders have the same value; not, because random orders have the expectation 0 and the ideal
        order is 1; or there is no such option.
    limits : tuple of float, callable or None
        The lowest and the highest value, infinite if they depend on the labels, or
        ``limits(options)`` that returns them; None if nothing is known.
    adjusted_limits : tuple of float
        Those of the metric adjusted for chance, of which a query may have any value below 0.
    clicks : {"unbiased", "self-normalized"} or None
        How clicks estimate it; None if they cannot, because it is no sum over documents.
    clicks_lack : str
        The denominator that clicks cannot estimate.
    bounds : {"rising", "by count"} or None
        What is known of the labels that give its least and greatest value: it never falls if a
        label rises, or its denominator depends on the number of relevant documents (graded
        NDCG: on the grades) alone.
    is_own : bool
        Whether a user has registered it.
    function : callable
        The public function that computes it.
    """

    name: str
    formula: Callable[..., Any]
    aliases: tuple[str, ...] = ()
    ratio: bool = False
    labels: Callable[..., None] | None = None
    denominators: tuple[str, ...] = ()
    defaults: Mapping[str, Any] = field(default_factory=dict)
    ranks: Callable[..., int | None] = _up_to_the_cut_off
    reads_unjudged: bool = False
    best_order: bool = True
    adjustable: Adjustable = "always"
    limits: Limits | Callable[[dict[str, Any]], Limits] | None = (0.0, 1.0)
    adjusted_limits: Limits = UNKNOWN
    clicks: Literal["unbiased", "self-normalized"] | None = None
    clicks_lack: str = ""
    bounds: Literal["rising", "by count"] | None = None
    is_own: bool = False
    function: Callable[..., Any] = field(default=NotImplemented, repr=False)

    def __post_init__(self) -> None:
        if self.labels is None and "gain" in self.options:
            object.__setattr__(self, "labels", check_gains)

    @cached_property
    def options(self) -> dict[str, Any]:
        """The options with their defaults, in the order of the function's parameters."""
        parameters = [*inspect.signature(self.formula).parameters.values()][1:]
        names = {parameter.name for parameter in parameters} | OF_ALL
        names |= {"adjusted"} if self.adjustable != "never" else set()
        names |= {"propensity", "clip"} if self.clicks else set()
        first = {"denominator": self.denominators[0]} if self.denominators else {}
        own = {p.name: p.default for p in parameters if p.default is not p.empty}
        defaults = {name: default for name, (default, _) in OPTIONS.items()}
        defaults |= first | dict(self.defaults) | own
        known = defaults.keys() - (set() if first else {"denominator"})
        for option in (p.name for p in parameters if p.name not in {*known, *own}):
            hint = ", the first of denominators=" if option == "denominator" else ""
            raise ValueError(
                f"the option {option!r} of the formula needs a default{hint}; those of this "
                "package have it in the table OPTIONS."
            )
        return {name: default for name, default in defaults.items() if name in names}

    @property
    def is_known(self) -> bool:
        """Whether its name stands for it, which is not so of a function of a block."""
        return METRICS.get(self.name) is self

    @property
    def meaning(self) -> str:
        """The metric in one line, the first of the documentation of its function."""
        return (inspect.getdoc(self.function) or "").partition("\n")[0]

    @property
    def signature(self) -> inspect.Signature:
        """The parameters of the public function."""
        parameter = inspect.Parameter
        data = [parameter(n, parameter.POSITIONAL_OR_KEYWORD) for n in ("y_true", "y_score")]
        defaults = dict.fromkeys(OPTIONS) | self.options
        options = [
            parameter(name, parameter.KEYWORD_ONLY, default=default)
            for name, default in defaults.items()
            if name in DATA or name in self.options
        ]
        return inspect.Signature([*data, *options])


METRICS: dict[str, Definition] = {}
# the metric of each spelling of a name
SPELLINGS: dict[str, str] = {}


def declare(definition: Definition) -> None:
    """Make a metric known by its name and its aliases."""
    METRICS[definition.name] = definition
    for spelling in [s for s, name in SPELLINGS.items() if name == definition.name]:
        del SPELLINGS[spelling]
    for spelling in (definition.name, *definition.aliases):
        SPELLINGS[key(spelling)] = definition.name


def metric(
    name: str, formula: Callable[..., Any], **declared: Any
) -> Callable[[Function], Function]:
    """Declare that a function computes a metric, with the fields of `Definition`."""

    def declare_function(function: Function) -> Function:
        definition = Definition(name, formula, **declared, function=function)
        function.__signature__ = definition.signature  # type: ignore[attr-defined]
        declare(definition)
        return function

    return declare_function


def key(name: str) -> str:
    """A name without what does not matter in it."""
    letters = re.sub("[_ ]", "", name.lower())
    # not "-" at an end, as in XGBoost's "ndcg-" or a negated "-ndcg"
    return re.sub(r"(?<=\w)-+(?=\w)", "", letters)


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


def definition_of(function: Callable[..., Any]) -> Definition:
    """What is declared about a metric function.

    A function of a block is a metric of which nothing is known, with the options of all metrics.
    """
    if name := name_of_function(function):
        return METRICS[name]
    return Definition(
        display_name(function),
        lambda block: function(block),
        defaults={"replace_undefined_by": math.nan},
        adjustable="never",
        limits=None,
        is_own=True,
        function=function,
    )
