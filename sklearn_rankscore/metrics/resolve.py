"""From names, metric functions and functions of a block to metrics."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from typing import Any

import numpy as np

from .._validation import check_number, did_you_mean, is_integer
from ..ranking import Block
from .conventions import convention
from .metric import Metric, select
from .names import METRICS, display_name, name_of_function, parse_name
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
    metric, bound = unbound(metric)
    options |= bound
    function_name = name_of_function(metric)
    if callable(metric) and function_name is None:
        return _resolve_function_of_block(metric, like, options, recipe)
    if not isinstance(metric, str) and function_name is None:
        raise TypeError(
            "a metric is a name such as 'ndcg@10', a metric function or a function of a block; got "
            f"{metric!r}."
        )
    name, in_name = parse_name(function_name or metric)
    given = {**options, **dict(in_name)}
    for option, value in options.items():
        # the comparison of arrays has no truth value
        if given[option] is not value and not np.array_equal(given[option], value):
            raise ValueError(
                f"{option}={value!r} contradicts the name {metric!r}, which sets {option} to "
                f"{given[option]!r}. Leave one of them out."
            )
    like = given.pop("like", like)
    known = METRICS[name].options
    for option in given:
        if option not in known:
            check_data_option(name, option)
            raise ValueError(
                f"{name!r} has no option {option!r}; it has {', '.join(known)} and like."
                f"{did_you_mean(option, known)}"
            )
    if function_name is not None:
        metric = name if given.get("k") is None else f"{name}@{given['k']}"
    if METRICS[name].is_own:
        recipe = partial(_resolve_own, METRICS[name].function, metric, like, **options)
    return select(METRICS[name], str(metric), {**convention(like, name), **given}, recipe)


def _resolve_own(function: Any, metric: Any, like: str | None, **options: Any) -> Metric:
    """As `resolve`; unpickling the function of a registered metric registers it."""
    return resolve(metric, like, **options)


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
    average = options.pop("average", "macro")
    replacement = check_number(
        "replace_undefined_by", options.pop("replace_undefined_by", math.nan), allow_nan=True
    )
    unjudged = check_unjudged(options.pop("unjudged", "error"))
    if options or like is not None:
        raise ValueError(
            f"options go with the metrics of this package; bind those of {name!r} with "
            f"functools.partial. Got {', '.join(options) or 'like'}."
        )
    average = check_average(average, ratio=False)
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
        own = {name: value for name, value in options.items() if _applies(metric, name)}
        used |= own.keys()
        resolved.append(resolve(metric, like, **own))
    if unused := options.keys() - used:
        raise _unused_error(listed, sorted(unused)[0])
    return resolved


def _unused_error(listed: list[Any], option: str) -> ValueError:
    known: dict[str, None] = {}
    for metric in listed:
        name, of_metric, own = _options(metric)
        if option in own:
            sets = f"{metric!r} sets {option!r} in its name"
            if not isinstance(metric, str):
                sets = f"a partial of {name or 'a function of a block'} sets {option!r}"
            return ValueError(f"{sets}, and {option}= is given as well. Leave one of them out.")
        known |= dict.fromkeys(of_metric)
    hint = _ELSEWHERE.get(option.lower()) or did_you_mean(option, known)
    return ValueError(f"none of the metrics has an option {option!r:.100}.{hint}")


def _applies(metric: Any, option: str) -> bool:
    """Whether a metric is given an option; a propensity is never left out silently."""
    name, known, fixed = _options(metric)
    if option == "propensity" and option not in known and option not in fixed:
        raise no_propensity_error(name or "a function of a block")
    return option in known and option not in fixed


def has_option(metric: Any, option: str) -> bool:
    """Whether an option can be given to a metric: it has it, and does not set it itself."""
    _, known, fixed = _options(metric)
    return option in known and option not in fixed


def _options(metric: Any) -> tuple[str | None, Collection[str], dict[str, Any]]:
    """The name of a metric, the options it has, and those its name or a `partial` sets."""
    if isinstance(metric, str):
        name, in_name = parse_name(metric)
        return name, METRICS[name].options, dict(in_name)
    function, bound = unbound(metric)
    name_or_none = name_of_function(function)
    known = OF_FUNCTIONS if name_or_none is None else METRICS[name_or_none].options
    return name_or_none, known, bound
