"""From names, metric functions and functions of a block to metrics."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import numpy as np

from .._validation import check_number, did_you_mean, is_integer
from ..ranking import Block
from .conventions import convention
from .definition import METRICS, Definition
from .metric import Metric, select
from .names import display_name, name_of_function, parse_name
from .options import check_average, check_unjudged
from .propensity import check_data_option, no_propensity_error

# the options of a function of a block
OF_FUNCTIONS = ("average", "replace_undefined_by", "unjudged")

# what to pass instead of the arguments of other functions and libraries
_GROUPS = " Pass the query ids of the rows as groups=."
_CUTOFFS = " Cut-offs are part of the names, such as ['ndcg@5', 'ndcg@10']."
_THRESHOLD = " Labels above threshold= are relevant: to count from 4 on, pass threshold=3."
_SEGMENTS = " Segments are passed to query_scores as segments=, to ranking_report as by=."
_BASELINE = " The first system is the baseline of ranking_report; compare has baseline=."
_COLUMNS = " Pass the columns themselves, such as df['label'] and df['score']."
_ELSEWHERE = {
    **dict.fromkeys(("data", "df", "frame"), _COLUMNS),
    **dict.fromkeys(("qid", "query_id", "query", "group", "group_id", "indexes"), _GROUPS),
    **dict.fromkeys(("ks", "k_list", "top_k", "topk", "at", "cutoff", "cutoffs"), _CUTOFFS),
    **dict.fromkeys(("relevance_threshold", "rating_threshold", "relevance_level"), _THRESHOLD),
    **dict.fromkeys(("by", "segments", "segment"), _SEGMENTS),
    **dict.fromkeys(("baseline", "reference"), _BASELINE),
}


def resolve(metric: Any, like: str | None = None, **options: Any) -> Metric:
    """A metric from a name, one of the metric functions, or a function of a block.

    Options take precedence in this order: those in the name or given here, which must not
    contradict each other, those of the convention `like`, the function's defaults.
    """
    recipe = partial(resolve, metric, like, **options)
    definition, fixed = _read(metric)
    if definition is None:
        return _resolve_function_of_block(metric, like, options, recipe)
    for option in options.keys() & fixed.keys():
        given = options[option]
        # the comparison of arrays has no truth value
        if fixed[option] is not given and not np.array_equal(fixed[option], given):
            raise ValueError(
                f"{option}={given!r} contradicts the name {metric!r}, which sets {option} to "
                f"{fixed[option]!r}. Leave one of them out."
            )
    name, given = definition.name, options | fixed
    like = given.pop("like", like)
    for option in given:
        if option not in definition.options:
            check_data_option(name, option)
            raise ValueError(
                f"{name!r} has no option {option!r}; it has {', '.join(definition.options)} and "
                f"like.{did_you_mean(option, definition.options)}"
            )
    if definition.is_own:
        recipe = partial(_resolve_own, definition.function, metric, like, **options)
    named = name if given.get("k") is None else f"{name}@{given['k']}"
    shown = metric if isinstance(metric, str) else named
    return select(definition, shown, {**convention(like, name), **given}, recipe)


def _resolve_own(function: Any, metric: Any, like: str | None, **options: Any) -> Metric:
    """As `resolve`; unpickling the function of a registered metric registers it."""
    return resolve(metric, like, **options)


def _read(metric: Any) -> tuple[Definition | None, dict[str, Any]]:
    """What is declared of a metric, and the options that its name or a `partial` sets.

    Nothing is declared of a function of a block.
    """
    if isinstance(metric, str):
        name, in_name = parse_name(metric)
        return METRICS[name], dict(in_name)
    function, bound = unbound(metric)
    if known := name_of_function(function):
        return METRICS[known], bound
    if callable(metric):
        return None, {}
    raise TypeError(
        "a metric is a name such as 'ndcg@10', a metric function or a function of a block; got "
        f"{metric!r:.200}."
    )


def unbound(metric: Any) -> tuple[Any, dict[str, Any]]:
    """A metric function and the options that `functools.partial` has bound to it."""
    if isinstance(metric, partial) and not metric.args and name_of_function(metric.func):
        return metric.func, metric.keywords
    return metric, {}


def _resolve_function_of_block(
    metric: Callable[[Block], Any], like: str | None, options: dict[str, Any], recipe: Any
) -> Metric:
    name = display_name(metric)
    _check_takes_a_block(metric, name)
    others = [option for option in options if option not in OF_FUNCTIONS]
    if others or like is not None:
        raise ValueError(
            f"options go with the metrics of this package; bind those of {name!r} with "
            f"functools.partial. Got {', '.join(others) or 'like'}."
        )
    average = check_average(options.get("average", "macro"), ratio=False)
    replacement = options.get("replace_undefined_by", math.nan)
    replacement = check_number("replace_undefined_by", replacement, allow_nan=True)
    unjudged = check_unjudged(options.get("unjudged", "error"))
    return Metric(name, metric, None, average, replacement, unjudged=unjudged, recipe=recipe)


def _check_takes_a_block(metric: Callable[..., Any], name: str) -> None:
    """Refuse functions of labels and scores, such as those of other libraries."""
    try:
        inspect.signature(metric).bind(None)
    except ValueError:  # it has no signature to inspect
        return
    except TypeError as error:
        raise TypeError(
            f"a user-defined metric is a function of one argument, a block; {name} is not "
            f"({error}). The metrics of this package go by name, such as 'ndcg@10'."
        ) from error


def list_metrics(metrics: Any) -> list[Any]:
    """The metrics of an argument that takes one or several."""
    if _is_renamed(metrics):
        raise TypeError(
            "metrics must be a name, a function of a block, or a list of them here; got a dict. "
            f"Pass metrics={[*metrics.values()]!r}."
        )
    several = isinstance(metrics, Iterable) and not isinstance(metrics, str)
    return list(metrics) if several and not callable(metrics) else [metrics]


def _is_renamed(metrics: Any) -> bool:
    """Whether metrics are a dict as in scikit-learn's `scoring`, by names of the caller's own."""
    if not isinstance(metrics, Mapping):
        return False
    for name, cutoffs in metrics.items():
        listed = cutoffs if isinstance(cutoffs, list | tuple | range) else [cutoffs]
        # the values of earlier results are float, arrays or lists of them, and summaries
        are_integers = all(map(is_integer, listed))
        if are_integers and listed and "@" not in str(name):
            raise TypeError(
                "a dict of metrics has names or functions as values, such as {'ndcg_5': 'ndcg@5'}; "
                f"got {cutoffs!r} for {name!r}. Cut-offs are part of the names: pass "
                f"{[f'{name}@{k}' for k in listed]!r}."
            )
    return len(metrics) > 0 and all(isinstance(m, str) or callable(m) for m in metrics.values())


def resolve_all(metrics: Any, *, like: str | None = None, **options: Any) -> dict[str, Metric]:
    """Metrics by their names, or by those of a dict; an option applies to every one that has it."""
    names = list(metrics) if _is_renamed(metrics) else []
    listed = list_metrics([*metrics.values()] if names else metrics)
    resolved: dict[str, Metric] = {}
    for i, ready in enumerate(resolve_each(listed, like=like, **options)):
        name = names[i] if names else ready.name
        if name in resolved:
            raise ValueError(f"metrics names {name!r} twice.")
        resolved[name] = ready
    return resolved


def resolve_each(listed: list[Any], *, like: str | None = None, **options: Any) -> list[Metric]:
    """Metrics in the order given, which may have equal names."""
    if not listed:
        raise ValueError("metrics is empty; name at least one, such as 'ndcg@10'.")
    if options.get("propensity", ...) is None:  # as if it were not given
        del options["propensity"]
    resolved: list[Metric] = []
    used: set[str] = set(OF_FUNCTIONS)  # nearly every metric has these
    for metric in listed:
        definition, fixed = _read(metric)
        known = OF_FUNCTIONS if definition is None else definition.options
        # a propensity is never left out silently
        if "propensity" in options and "propensity" not in {*known, *fixed}:
            raise no_propensity_error(definition.name if definition else "a function of a block")
        own = {o: value for o, value in options.items() if o in known and o not in fixed}
        used |= own.keys()
        resolved.append(resolve(metric, like, **own))
    if unused := options.keys() - used:
        raise _unused_error(listed, sorted(unused)[0])
    return resolved


def _unused_error(listed: list[Any], option: str) -> ValueError:
    known: dict[str, None] = {}
    for metric in listed:
        definition, fixed = _read(metric)
        if option in fixed:
            name = definition.name if definition else "a function of a block"
            by_name = f"{metric!r} sets {option!r} in its name"
            sets = by_name if isinstance(metric, str) else f"a partial of {name} sets {option!r}"
            return ValueError(f"{sets}, and {option}= is given as well. Leave one of them out.")
        known |= dict.fromkeys(definition.options if definition else OF_FUNCTIONS)
    hint = _ELSEWHERE.get(option.lower()) or did_you_mean(option, known)
    return ValueError(f"none of the metrics has an option {option!r:.100}.{hint}")


def has_option(metric: Any, option: str) -> bool:
    """Whether an option can be given to a metric: it has it, and does not set it itself."""
    definition, fixed = _read(metric)
    return option in (definition.options if definition else OF_FUNCTIONS) and option not in fixed
